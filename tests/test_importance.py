"""Shares of variance of parameters: exact for a tree, and near known ones for a search."""

import itertools
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.tree import DecisionTreeRegressor
from toys import Curve

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.inspection import parameter_importance
from sklearn_sha.inspection.importance import main_effects, rung_ranks

X = np.arange(24.0).reshape(12, 2)

pytestmark = pytest.mark.filterwarnings("ignore:Including the fixed cost")


def anova(tree, columns):
    """Main effects by their definition, over all combinations of the values of the features."""
    n_samples, n_features = columns.shape
    grid = np.array([*itertools.product(*columns.T)])
    predicted = tree.predict(grid).reshape([n_samples] * n_features)
    effects = [
        predicted.mean(axis=tuple(k for k in range(n_features) if k != feature)).var()
        for feature in range(n_features)
    ]
    return np.array(effects) / predicted.var()


@given(st.integers(0, 1000), st.integers(2, 9), st.integers(1, 4))
def test_main_effects_are_those_of_the_full_factorial(seed, n_samples, n_features):
    rng = np.random.RandomState(seed)
    columns = rng.randint(0, 6, (n_samples, n_features)).astype(float)
    tree = DecisionTreeRegressor(random_state=0, max_depth=4).fit(columns, rng.rand(n_samples))
    if tree.get_n_leaves() == 1:
        assert np.isnan(main_effects(tree.tree_, columns)).all()
        return
    found = main_effects(tree.tree_, columns)
    np.testing.assert_allclose(found, anova(tree, columns), atol=1e-9)
    assert found.sum() <= 1 + 1e-9


def test_main_effects_of_many_candidates_need_little_memory():
    rng = np.random.RandomState(0)
    columns = rng.rand(5000, 4)
    tree = DecisionTreeRegressor(random_state=0).fit(columns, rng.rand(5000)).tree_
    tracemalloc.start()
    try:
        main_effects(tree, columns)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert tree.n_leaves == len(columns)
    assert peak < 0.1 * tree.n_leaves * columns.size  # bytes of one truth value for each pair


class Additive(Curve):
    """Its score is 4 a + 2 b + c; `d` does not matter, and nothing depends on the resource."""

    def __init__(self, a=0, b=0, c=0, d=0):
        super().__init__()
        self.a, self.b, self.c, self.d = a, b, c, d

    def score(self, X, y=None):
        return 4.0 * self.a + 2 * self.b + self.c


ADDITIVE = {"a": [0, 1], "b": [0, 1], "c": [0, 1], "d": list(range(16))}


def search_of(kind=SuccessiveHalvingSearchCV, space=ADDITIVE, estimator=None, **params):
    common = {"resource": "partial_fit", "cv": KFold(2), "max_resources": 8}
    return kind(estimator or Additive(), space, **common | params)


def test_shares_are_those_of_an_additive_function():
    """The eight scores have equally many candidates, so that ranks are linear in the score.

    The variance of a sum of independent terms is 16 + 4 + 1 times that of one bit.
    """
    search = search_of(min_resources=8).fit(X)
    importance = parameter_importance(search)
    assert importance.names[:3] == ["a", "b", "c"]
    assert importance.stds.max() < 0.05
    np.testing.assert_allclose(
        importance.shares, np.array([16, 4, 1, 0]) / 21, atol=0.02 + 2 * importance.stds.max()
    )
    assert importance.rest == pytest.approx(0, abs=0.02)
    assert importance.shares.sum() + importance.rest == pytest.approx(1)
    assert (importance.stds[:2] > 0).all()


@pytest.mark.parametrize(("kind", "n"), [(SuccessiveHalvingSearchCV, 256), (HyperbandSearchCV, 81)])
def test_eliminated_candidates_count_too(kind, n):
    space = ADDITIVE | {"d": list(range(32))}
    search = search_of(kind, space, max_resources=n, random_state=0).fit(X)
    assert len(search.rung_history_) > 1
    importance = parameter_importance(search)
    assert importance.names[0] == "a"
    assert importance.shares[0] > 0.5
    assert importance.shares[importance.names.index("d")] < 0.1


class Interacting(Additive):
    def score(self, X, y=None):
        return float(self.a != self.b)


def test_an_interaction_is_the_share_of_no_parameter():
    importance = parameter_importance(search_of(estimator=Interacting(), min_resources=8).fit(X))
    assert importance.shares.max() < 0.15
    assert importance.rest > 0.8


def test_parameters_that_not_all_candidates_have_and_constant_ones():
    space = [{"a": [0, 1], "b": [1]}, {"a": [0, 1], "b": [1], "c": [0, 1, 2]}]
    importance = parameter_importance(search_of(space=space, min_resources=8).fit(X))
    assert {*importance.names} == {"a", "c"}


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(0, 100))
def test_ranks_are_by_the_last_rung_and_then_by_score(scores, seed):
    """A candidate that was promoted is above all that were not, whatever its later score."""
    n, rng = len(scores), np.random.RandomState(seed)
    promoted = np.flatnonzero(rng.rand(n) < 0.5)
    later = rng.randint(-9, 9, len(promoted))
    results = {
        "bracket": np.zeros(n + len(promoted), dtype=int),
        "iter": np.array([0] * n + [1] * len(promoted)),
        "candidate": np.array([*range(n), *promoted]),
        "mean_test_score": np.array([*scores, *later], dtype=float),
    }
    rows, ranks = rung_ranks(results, "score")
    key = {c: (0, scores[c]) for c in range(n)}
    key |= {c: (1, s) for c, s in zip(promoted.tolist(), later.tolist(), strict=True)}
    by_candidate = dict(zip(results["candidate"][rows].tolist(), ranks, strict=True))
    assert sorted(by_candidate) == list(range(n))
    for one, other in itertools.product(range(n), repeat=2):
        assert (by_candidate[one] < by_candidate[other]) == (key[one] < key[other])
    assert ranks.mean() == pytest.approx(0.5)


def test_an_audit_does_not_change_the_ranks():
    search = search_of(max_resources=128).fit(X)
    before = parameter_importance(search)
    after = parameter_importance(search.audit(X, n_candidates=2))
    np.testing.assert_array_equal(before.shares, after.shares)


def test_equal_scores_and_a_single_candidate():
    importance = parameter_importance(search_of(space={"d": [0, 1, 2, 3]}, min_resources=8).fit(X))
    assert importance.names == ["d"]
    assert np.isnan([*importance.shares, importance.rest]).all()
    importance = parameter_importance(search_of(space={"a": [1]}, min_resources=8).fit(X))
    assert importance.names == []


@pytest.mark.parametrize("min_resources", [1, 8])
def test_an_order_of_equal_scores_is_no_importance(min_resources):
    search = SuccessiveHalvingSearchCV(
        Curve(), {"limit": [0.5], "speed": [1.0], "growth": [*range(8)]}, resource="partial_fit",
        min_resources=min_resources, max_resources=8, cv=3, refit=False,
        scoring=lambda model, X, y=None: 1.0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All 8 candidates of rung 0 have the same score")
        importance = parameter_importance(search.fit(X))
    assert np.isnan(importance.shares).all()
    assert importance.headline == "All candidates have the same score: no parameter matters."


def test_a_single_parameter_leaves_no_negative_rest():
    for seed in range(8):
        space = {"a": list(np.random.default_rng(seed).random(6))}
        importance = parameter_importance(search_of(space=space, min_resources=2).fit(X))
        assert importance.names == ["a"]
        assert importance.rest >= 0


def test_it_prints_as_a_table_and_is_reproducible():
    search = search_of(space={"a": [0, 1], "b": [0, 1]}, min_resources=8).fit(X)
    importance = parameter_importance(search)
    lines = str(importance).splitlines()
    assert [line.split()[0] for line in lines] == ["parameter", "a", "b", "interactions"]
    assert importance.to_frame()["parameter"].tolist() == ["a", "b", "interactions and noise"]
    assert "<td" in importance._repr_html_()
    again = parameter_importance(search)
    np.testing.assert_array_equal(again.shares, importance.shares)
    other = parameter_importance(search, random_state=1)
    assert not np.array_equal(other.shares, importance.shares)


def test_invalid_arguments_raise():
    with pytest.raises(NotFittedError):
        parameter_importance(search_of())
    grid = GridSearchCV(Curve(), {"limit": [0.1, 0.2]}, cv=KFold(2)).fit(X)
    with pytest.raises(TypeError, match="parameter_importance requires a search with rungs"):
        parameter_importance(grid)
    search = search_of(space={"a": [0, 1]}, min_resources=8).fit(X)
    with pytest.raises(ValueError, match="metric='auc' is none of the metrics"):
        parameter_importance(search, metric="auc")


def test_candidates_that_are_kept_have_no_rank():
    """They are in the last rung whatever their scores are."""
    kept = {"initial_candidates": [{"limit": 0.01}, {"limit": 0.02}], "keep_initial": True}
    search = search_of(
        estimator=Curve(), space={"limit": [0.1 * k for k in range(1, 9)]}, n_candidates=10, **kept
    ).fit(X)
    assert search.n_resources_[-1] > search.n_resources_[0]
    rows, ranks = rung_ranks(search.all_cv_results_, "score", search.schedule_.n_kept)
    limits = [search.all_cv_results_["params"][row]["limit"] for row in rows[np.argsort(ranks)]]
    assert limits == sorted(limits)
    assert min(limits) == 0.1
    assert parameter_importance(search).shares[0] > 0.9


@pytest.mark.parametrize("min_resources", ["auto", 8])
@pytest.mark.parametrize("n_kept", [7, 8])
def test_in_a_single_rung_or_without_two_others_all_candidates_count(n_kept, min_resources):
    space = {"limit": [0.1 * k for k in range(1, 9)]}
    kept = [{"limit": limit} for limit in space["limit"][:n_kept]]
    search = search_of(
        estimator=Curve(), space=space, n_candidates=8, initial_candidates=kept, keep_initial=True,
        min_resources=min_resources,
    ).fit(X)  # fmt: skip
    assert (len(search.n_resources_) == 1) == (min_resources == 8)
    assert parameter_importance(search).shares[0] > 0.9
