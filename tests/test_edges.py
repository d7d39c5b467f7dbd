"""Edge report: best values at the edge of a range that should be wider, and no others."""

import numpy as np
import pytest
from scipy.stats import geom, lognorm, loguniform, norm, poisson, randint, uniform
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.inspection import edge_report, trust_report
from sklearn_sha.inspection.edges import Edge, _edge, _improves, _Scale, _with_ranks

X = np.zeros((12, 1))
pytestmark = pytest.mark.filterwarnings("ignore:Including the fixed cost")


class Peak(BaseEstimator):
    """Its score is highest where log10(a) and b are at their optima; c has no influence."""

    def __init__(self, a=1.0, b=0.0, c=0.0, optimum=0.0, b_optimum=0.0, kind="peak"):
        self.a = a
        self.b = b
        self.c = c
        self.optimum = optimum
        self.b_optimum = b_optimum
        self.kind = kind

    def fit(self, X, y=None):
        return self

    def partial_fit(self, X, y=None):
        return self

    def score(self, X, y=None):
        distance = abs(np.log10(self.a) - self.optimum)
        if self.kind == "plateau":
            distance = max(0, self.optimum - np.log10(self.a))
        return -distance - 0.2 * abs(self.b - self.b_optimum)


@pytest.mark.parametrize(
    ("edge", "change"),
    [
        (Edge("b", 0.9995, 0.99, 0.9995, True, 1.00425), "Raise the upper bound to 1 if"),
        (Edge("b", 1002.0, 1000.0, 1002.0, True, 1003.0), "Raise the upper bound to 1003 if"),
        (Edge("b", 1000.0, 1000.0, 1002.0, False, 999.0), "Lower the lower bound to 999 if"),
        (Edge("b", 8.0, 1.0, 8.0, True, 22.6), "to 22.6 (multiplied by 2.83) if"),
    ],
)
def test_the_printed_bound_is_beyond_the_range(edge, change):
    assert change in str(edge)


@pytest.mark.parametrize("distribution", [poisson(3, loc=5), geom(0.3, loc=4)])
def test_positions_in_a_discrete_distribution_without_an_upper_bound(distribution):
    scale = _Scale.of(distribution)
    positions = [scale.position(value) for value in (5.0, 8.0, 60.0, np.inf)]
    assert positions[0] == pytest.approx(0)
    assert positions[-1] == pytest.approx(1)
    assert 0.4 < positions[1] < 0.9
    assert positions == sorted(positions)


class Unfit(Peak):
    """Its fits fail."""

    def partial_fit(self, X, y=None):
        raise RuntimeError("no fit today")


def report(space, search=SuccessiveHalvingSearchCV, seed=0, fixed=None, **params):
    defaults = {"resource": "partial_fit", "max_resources": 8, "min_resources": 1, "cv": 2}
    defaults |= {"random_state": seed, "refit": False}
    if search is SuccessiveHalvingSearchCV and any(hasattr(v, "rvs") for v in space.values()):
        defaults["n_candidates"] = 64
    return edge_report(search(Peak(**fixed or {}), space, **defaults | params).fit(X))


def found(*args, **params):
    return [(edge.name, edge.is_upper) for edge in report(*args, **params).edges]


@pytest.mark.parametrize("sampler", ["random", "sobol"])
@pytest.mark.parametrize(
    ("optimum", "expected"), [(0, []), (1, []), (4, [("a", True)]), (-4, [("a", False)])]
)
def test_an_optimum_outside_is_reported_and_one_inside_is_not(optimum, expected, sampler):
    space = {"a": loguniform(1e-2, 1e2), "b": uniform(-1, 2)}
    for seed in range(3):
        fixed = {"optimum": optimum}
        edges = report(space, seed=seed, fixed=fixed, sampler=sampler, n_candidates=128).edges
        # Of 128 values, one is nearly always in the outer 5 %.
        assert [(edge.name, edge.is_upper) for edge in edges] == expected
        for edge in edges:
            assert edge.bound == pytest.approx(1e3 if edge.is_upper else 1e-3)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.01, 0.1, 1, 10, 100], []),
        ([0.001, 0.01, 0.1], [("a", True)]),
        ([10, 100, 1000], [("a", False)]),
        ([100, 1000, 10], [("a", False)]),
        ([0.1, 0.2], []),  # one of two values is always at an edge
        ([0.1, 0.2, None], []),
        (["0.1", "0.2", "0.3"], []),
        ([np.nan, 0.1, 0.2, 0.3], []),
        ([True, False], []),
    ],
)
def test_lists_of_at_least_three_numbers(values, expected):
    class Tolerant(Peak):
        def score(self, X, y=None):
            return -abs(np.log10(float(self.a) if self.a and self.a == self.a else 0.01))

    search = SuccessiveHalvingSearchCV(
        Tolerant(), {"a": values}, resource="partial_fit", max_resources=4, cv=2
    ).fit(X)
    assert [(edge.name, edge.is_upper) for edge in edge_report(search).edges] == expected


@pytest.mark.parametrize("values", [range(1, 8), range(2, 10), range(9, 0, -2), range(1, 3)])
@pytest.mark.parametrize("optimum", [-3, 0.5, 3])
def test_a_range_is_reported_as_a_list(values, optimum):
    as_range, as_list = (
        report({"a": some}, fixed={"optimum": optimum}) for some in (values, [*values])
    )
    assert as_range.edges == as_list.edges


@pytest.mark.parametrize("end", [3, 4, 5, 8, 12])
@pytest.mark.parametrize("optimum", [-3, 0.3, 3])
def test_integers_of_a_distribution_are_reported_as_a_list(end, optimum):
    for values in (randint(1, end), [*range(1, end)]):
        space = {"a": values, "b": uniform(-1, 2)}
        edges = found(space, fixed={"optimum": optimum}, n_candidates=64)
        assert edges == ([("a", True)] if optimum == 3 and end > 3 else [])


@pytest.mark.parametrize(("best", "n_edges"), [(-1, 1), (-2, 0)])
def test_the_only_parameter_was_tried_beyond_its_best_value(best, n_edges):
    """The largest of 40 values is in the last rung, and can be worse than the one before it."""
    values = np.logspace(-2, 2, 40)
    fixed = {"optimum": np.log10(values[best])}
    assert len(report({"a": values}, fixed=fixed).edges) == n_edges


def test_a_long_range_is_not_listed():
    space = {"a": range(1, 10**15)}
    (edge,) = report(space, n_candidates=16, max_resources=64, fixed={"optimum": 20}).edges
    assert edge.upper == 10**15 - 1


def test_the_suggested_bounds():
    def bound(values, **fixed):
        (edge,) = report({"a": values}, fixed=fixed).edges
        return edge.bound

    assert bound([1.0, 2, 4, 8], optimum=3) == pytest.approx(8 * np.sqrt(8))
    assert bound([1e-3, 1e-1, 10], optimum=3) == pytest.approx(100)
    assert bound([1, 2, 3, 4, 5], optimum=3) == 7
    assert bound([6, 8, 10, 12], optimum=-3) == 3
    assert bound([2, 4, 6, 8, 10, 12], optimum=-3) == 1  # not beyond 0
    text = str(report({"a": [6, 8, 10, 12]}, fixed={"optimum": -3}))
    assert text.replace("\n", " ") == (
        "The best value, a=6, is at the lower edge of its range, 6 to 12. Lower the lower bound to "
        "3 (divided by 2) if such values are valid."
    )


def test_other_numbers_among_integers_are_kept():
    values = {"a": [5, 10, 20, 40]}
    fixed = {"optimum": -9}
    (edge,) = report(values, fixed=fixed, initial_candidates=[{"a": 0.5}]).edges
    assert edge.bound < edge.lower == 0.5
    assert report({"a": [1.0, 1e150, 1e300, 1e308]}, fixed={"optimum": 400}).edges == ()


@pytest.mark.parametrize(
    ("values", "optimum", "bound"),
    [
        ([1, 2, 4, 8], 9, 23),  # 22.6
        ([2, 8, 30, 60], -9, 1),  # 0.365, which is a share of the samples for some parameters
        (randint(3, 31), -9, 1),
        (randint(1, 31), -9, None),  # 0.5: no smaller positive integer
        (randint(1, 31), 9, 45),
        ([-4, -2, 0, 2], -9, -7),
    ],
)
def test_the_suggested_bounds_of_integers_are_integers(values, optimum, bound):
    name = "b" if bound == -7 else "a"
    space, fixed = {name: values}, {"optimum": optimum, "b_optimum": optimum}
    n_candidates = 28 if hasattr(values, "rvs") else "auto"
    edges = report(space, fixed=fixed, n_candidates=n_candidates).edges
    assert [edge.bound for edge in edges] == ([] if bound is None else [bound])
    assert all(isinstance(edge.bound, int) and f" to {bound}" in str(edge) for edge in edges)


def test_distributions_without_a_bound_and_a_lower_bound_of_0_are_not_reported():
    assert found({"b": norm()}, fixed={"b_optimum": 9}) == []
    assert found({"b": lognorm(1)}, fixed={"b_optimum": -9}) == []
    assert found({"b": uniform(0, 1)}, fixed={"b_optimum": -9}) == []
    assert found({"b": [0, 1, 2, 3, 4]}, fixed={"b_optimum": -9}) == []
    assert found({"b": uniform(0, 1)}, fixed={"b_optimum": 9}) == [("b", True)]
    assert found({"b": randint(2, 9)}, fixed={"b_optimum": 99}, n_candidates=7) == [("b", True)]
    assert found({"b": randint(2, 9)}, fixed={"b_optimum": -9}, n_candidates=7) == [("b", False)]
    assert found({"b": randint(2, 9)}, fixed={"b_optimum": 5}, n_candidates=7) == []


@pytest.mark.slow
@pytest.mark.parametrize("fixed", [{}, {"kind": "plateau", "optimum": -1}])
def test_a_parameter_that_does_not_matter_is_rarely_reported(fixed):
    # c has no influence; on the plateau, neither has a.
    space = {"a": loguniform(1e-2, 1e2), "b": uniform(-1, 2), "c": uniform(-1, 2)}
    edges = [edge for seed in range(20) for edge in found(space, seed=seed, fixed=fixed)]
    assert len(edges) <= 3  # of 60 parameters


def test_hyperband_and_values_beyond_the_range():
    space = {"a": loguniform(1e-2, 1e2)}
    assert found(space, HyperbandSearchCV, fixed={"optimum": 4}, max_resources=27) == [("a", True)]
    params = {"initial_candidates": [{"a": 1e3}], "keep_initial": True}
    (edge,) = report(space, fixed={"optimum": 4}, **params).edges
    assert (edge.value, edge.bound) == (1e3, pytest.approx(1e4))


def test_a_kept_candidate_is_no_evidence():
    """It is trained the furthest, so that it would count as good, although it has a bad score."""
    space = {"a": np.logspace(-2, 2, 9).tolist()}
    search = SuccessiveHalvingSearchCV(
        Peak(optimum=2), space, resource="partial_fit", max_resources=8, min_resources=1, cv=2,
        initial_candidates=[{"a": 0.01}], keep_initial=True, refit=False,
    ).fit(X)  # fmt: skip
    results = search.all_cv_results_
    ranks = {params["a"]: rank for params, rank in _with_ranks(results, "score", 0)}
    assert sorted(ranks, key=ranks.get)[-2] == 0.01
    n_kept = search.schedule_.n_kept
    ranks = {params["a"]: rank for params, rank in _with_ranks(results, "score", n_kept)}
    assert sorted(ranks, key=ranks.get) == sorted(space["a"])[-len(ranks) :]
    assert 0.01 not in ranks


def on_one_rung(estimator, values):
    """Search over values of `a` on a single rung."""
    return SuccessiveHalvingSearchCV(
        estimator, {"a": values, "b": [1]}, resource="partial_fit", max_resources=8,
        min_resources=8, cv=2, refit=False,
    ).fit(X)  # fmt: skip


@pytest.mark.parametrize("values", [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1], [4, 1, 6, 2, 5, 3]])
def test_equal_scores_do_not_rise(values):
    class Last(Peak):
        def score(self, X, y=None):
            return 0.6 if self.a == 6 else 0.5

    search = on_one_rung(Last(), values)
    assert search.best_params_["a"] == 6
    assert edge_report(search).edges == ()


def test_several_best_values_are_no_edge():
    class LowInTheMiddle(Peak):
        def score(self, X, y=None):
            return 0.5 if self.a in (3, 4, 5) else 0.6

    values = [11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9.5, 10]  # the first is selected, the last are near it
    search = on_one_rung(LowInTheMiddle(), values)
    assert search.best_params_["a"] == 11
    assert edge_report(search).edges == ()


def test_the_best_three_decide_whatever_the_correlation_is():
    positions = np.array([0.1, 0.2, 0.85, 0.9, 0.95])
    assert _improves(positions, np.array([0, 1, 4, 2, 3]))
    assert not _improves(positions, np.array([2, 1, 4, 0, 3]))
    assert not _improves(positions, np.array([2, 2, 4, 2, 3]))  # two more are as good


def test_an_audit_does_not_change_the_edges():
    space = {"a": np.linspace(0.1, 1, 7).tolist(), "b": [0.0, 1.0, 2.0]}
    search = HyperbandSearchCV(
        Peak(optimum=1), space, resource="partial_fit", max_resources=9, cv=2, refit=False,
        random_state=0,
    )  # fmt: skip
    before = edge_report(search.fit(X))
    assert [edge.name for edge in before.edges] == ["a"]
    audited = search.audit(X, n_candidates=10)
    assert audited.all_cv_results_["audited"].any()
    assert edge_report(audited).edges == before.edges


def test_what_is_printed_and_errors():
    nothing = report({"a": [0.1, 1, 10]})
    assert str(nothing) == "No best value is at an edge towards which the scores rise."
    assert nothing._repr_html_() == f"<p>{nothing}</p>"
    with pytest.raises(NotFittedError):
        edge_report(SuccessiveHalvingSearchCV(Peak(), {"a": [1, 2]}))
    with pytest.raises(TypeError, match="edge_report requires a search with rungs"):
        edge_report(GridSearchCV(Peak(), {"a": [1, 2]}, cv=2).fit(X))


def test_the_range_of_a_candidate_outside_the_space_is_not_known():
    initial = [{"a": 1e5, "b": 0.0}]
    found = report({"a": [1, 10, 100]}, fixed={"optimum": 5}, initial_candidates=initial)
    assert (found.edges, found.is_known) == ((), False)
    assert "The ranges of the best values are not known" in str(found)
    assert report({"a": [1, 10, 100]}).is_known


def test_of_alternative_spaces_the_one_of_the_best_candidate_counts():
    spaces = [{"a": [1, 10, 100, 1000]}, {"b": [1, 2, 3]}]
    search = SuccessiveHalvingSearchCV(
        Peak(optimum=5, b_optimum=2), spaces, resource="partial_fit", max_resources=4, cv=2
    ).fit(X)
    assert [(edge.name, edge.is_upper) for edge in edge_report(search).edges] == [("a", True)]


def test_of_alternative_spaces_with_the_same_names_the_values_of_the_best_candidate_decide():
    good = {"peak": [1e-4, 1e-3, 1e-2, 0.1, 1.0], "plateau": [10.0, 100.0, 1e3, 1e4, 1e5]}
    bad = [1e-9, 1e-8, 1e-7]
    for optimum, kind, upper in ((1, "peak", 1.0), (6, "plateau", 1e5)):
        spaces = [{"kind": [k], "a": a if k == kind else bad} for k, a in good.items()]
        search = SuccessiveHalvingSearchCV(
            Peak(optimum=optimum), spaces, resource="partial_fit", max_resources=4, cv=2
        ).fit(X)
        assert search.best_params_["kind"] == kind
        (edge,) = edge_report(search).edges
        assert (edge.name, edge.upper, edge.is_upper) == ("a", upper, True)


def test_without_a_score_no_value_is_the_best():
    search = SuccessiveHalvingSearchCV(
        Peak(), {"a": [1, 10, 100, 1000]}, scoring=lambda *args: float("nan"),
        resource="partial_fit", max_resources=4, min_resources=4, cv=2,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="non-finite"):
        search.fit(X)
    assert edge_report(search).edges == ()


def test_a_constant_distribution_has_no_edge():
    assert found({"a": uniform(1, 0), "b": [0, 1, 2]}, n_candidates=3) == []


def test_a_distribution_of_arrays_has_no_edge():
    assert _Scale.of(uniform([1, 2], 3)) is None


def test_the_trust_report_prints_it_after_its_advice():
    space = {"a": [1e-4, 1e-3, 1e-2, 0.1, 1.0]}
    for optimum, n_edges in ((3, 1), (-2, 0)):
        search = SuccessiveHalvingSearchCV(
            Peak(optimum=optimum), space, resource="partial_fit", max_resources=8, cv=2
        ).fit(X)
        edges, trust = edge_report(search).edges, trust_report(search)
        assert trust.edges == edges
        assert len(edges) == n_edges
        printed, html = " ".join(str(trust).split()), trust._repr_html_()
        assert printed.startswith(" ".join([trust.advice, *map(str, edges), "rung"]))
        assert all(str(edge) in html for edge in edges)


def test_no_more_is_advised_where_values_have_been_tried():
    space, initial = {"a": loguniform(0.05, 1)}, {"a": 1e-9}
    (edge,) = report(space, fixed={"optimum": -9}, initial_candidates=[initial]).edges
    assert (edge.lower, edge.upper) == (1e-9, 1)
    assert edge.bound < 1e-9
    # Worse values beyond the edge have been tried.
    assert report(space, fixed={"optimum": -1.3}, initial_candidates=[initial]).edges == ()
    search = SuccessiveHalvingSearchCV(
        Peak(optimum=-3), {"a": loguniform(0.1, 1)}, n_candidates=64, resource="partial_fit",
        min_resources=1, max_resources=8, random_state=0, refit=False, cv=2,
    ).fit(X)  # fmt: skip
    assert [edge.name for edge in edge_report(search).edges] == ["a"]
    search.extend(X, n_candidates=64, param_distributions={"a": loguniform(1e-6, 0.1)})
    assert edge_report(search).edges == ()


def test_a_kept_candidate_beyond_the_edge_has_been_tried_too():
    space = {"a": loguniform(1e-2, 1e2), "b": uniform(-1, 2)}
    search = SuccessiveHalvingSearchCV(
        Peak(optimum=2.2), space, n_candidates=48, resource="partial_fit", min_resources=1,
        max_resources=8, random_state=0, refit=False, cv=2,
    )  # fmt: skip
    assert [edge.name for edge in edge_report(search.fit(X)).edges] == ["a"]
    search.set_params(initial_candidates=[{"a": 1e5, "b": 0.0}], keep_initial=True).fit(X)
    assert search.best_params_["a"] > 50
    assert {"a": 1e5, "b": 0.0} in search.cv_results_["params"]
    assert edge_report(search).edges == ()


def test_0_and_less_are_no_edge_of_a_logarithmic_range():
    space = {"b": loguniform(0.05, 1)}
    for value in (0.0, -1.0):
        found = report(space, fixed={"b_optimum": value}, initial_candidates=[{"b": value}])
        assert found.edges == ()


def test_integers_of_numpy_do_not_overflow():
    values = np.array([10**5, 3 * 10**5, 10**6, 3 * 10**6, 10**7], dtype=np.int32)
    (edge,) = report({"a": values}, fixed={"optimum": 9}).edges
    assert (edge.lower, edge.upper, edge.bound) == (1e5, 1e7, 1e8)


@pytest.mark.filterwarnings("ignore:Scoring failed")
def test_integers_beyond_floats_are_left_out():
    assert report({"b": [1, 2, 3, 10**400]}, fixed={"b_optimum": 9}).edges == ()


@pytest.mark.filterwarnings("ignore:Scoring failed")
def test_a_search_whose_fits_all_failed_is_not_fitted():
    search = SuccessiveHalvingSearchCV(Peak(), {"a": ["x", "y"]}, resource="partial_fit", cv=2)
    with pytest.raises(ValueError, match="failed"):
        search.set_params(estimator=Unfit()).fit(X)
    with pytest.raises(NotFittedError):
        edge_report(search)


@pytest.mark.parametrize("is_upper", [False, True])
def test_no_edge_is_reported_if_the_others_are_not_better_towards_it(is_upper):
    values = 10 ** (4 * np.linspace(0.001, 0.999, 41) - 2)
    ranks, best = np.random.default_rng(0).permutation(41), 40 if is_upper else 0
    ranks[ranks == 40] = ranks[best]
    ranks[best] = 40

    def edge(ranks):
        tried = [({"alpha": value}, int(rank)) for value, rank in zip(values, ranks, strict=True)]
        return _edge("alpha", loguniform(1e-2, 1e2), values[best], tried, [])

    assert edge(ranks) is None
    assert edge(range(41) if is_upper else range(40, -1, -1)).is_upper == is_upper
