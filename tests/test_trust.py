"""trust_report: its numbers computed independently, and how often its advice is right."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, sem, spearmanr, uniform
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold
from test_stopping import Stopped, ctrl_c
from toys import CALLS, Curve, curve

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.inspection import envelope, trust_report

# A call costs more than an epoch of so few samples.
pytestmark = pytest.mark.filterwarnings("ignore:Including the fixed cost")

X = np.arange(12.0).reshape(-1, 1)
COMMON = {"resource": "partial_fit", "refit": False}


class Noisy(Curve):
    """Scores that differ between folds."""

    def score(self, X, y=None):
        return super().score(X, y) + 0.1 * np.sin(X[0, 0] + 1e3 * self.limit + self.units_)


class Parallel(Curve):
    """All candidates have the same gains."""

    def score(self, X, y=None):
        return self.limit - 1 / self.units_


def search_of(estimator=None, seed=0, speed=20, **params):
    space = {"limit": uniform(0, 1), "speed": uniform(0, speed)}
    params = COMMON | {"n_candidates": 32, "max_resources": 64, "cv": KFold(2)} | params
    return SuccessiveHalvingSearchCV(estimator or Curve(), space, random_state=seed, **params)


def hyperband_of(estimator=None, seed=0, **params):
    space = {"limit": uniform(0, 1), "speed": uniform(0, 20)}
    params = COMMON | {"max_resources": 27, "cv": KFold(3)} | params
    return HyperbandSearchCV(estimator or Noisy(), space, random_state=seed, **params)


@settings(max_examples=25)
@given(seed=st.integers(0, 999), hyperband=st.booleans(), double=st.booleans())
def test_numbers_equal_an_independent_computation(seed, hyperband, double):
    if hyperband:
        search = hyperband_of(seed=seed).fit(X)
    else:
        budget = {"budget": "double", "patience": None} if double else {}
        search = search_of(Noisy(), seed, n_candidates=11, cv=KFold(4), **budget).fit(X)
    report = trust_report(search)
    table = pd.DataFrame(search.all_cv_results_)
    if not hyperband:
        table["bracket"] = 0
    splits = [name for name in table if name.startswith("split")]
    score = table.pivot_table(index="candidate", columns="n_resources", values="mean_test_score")
    by_fold = table.groupby(["candidate", "n_resources"])[splits].first()
    gamma = dict(zip(*envelope(search.all_cv_results_), strict=True))
    wanted = {b.rungs[0].bracket: len(b.rungs) for b in search.schedule_.brackets}
    if not hyperband:
        wanted = {0: list(wanted.values())[-1]}
    assert [sum(r["bracket"] == b for r in report.rungs) for b in wanted] == list(wanted.values())
    for row in report.rungs:
        rungs = [r for r in report.rungs if r["bracket"] == row["bracket"]]
        rows = table[(table["bracket"] == row["bracket"]) & (table["iter"] == row["iter"])]
        later = [r for r in rungs if r["iter"] > row["iter"]]
        assert len(rows) == row["candidates"]
        at = row["resource"]
        ranked = rows.sort_values("mean_test_score", ascending=False)["candidate"].tolist()
        promoted, eliminated = ranked[: row["promoted"]], ranked[row["promoted"] :]
        correlations = {"spearman": [], "kendall": []}
        for r in later:
            both = table[(table["bracket"] == row["bracket"]) & (table["iter"] == r["iter"])]
            a, b = score.loc[both["candidate"], at], score.loc[both["candidate"], r["resource"]]
            if len(both) > 1:
                correlations["spearman"].append((spearmanr(a, b)[0], len(both)))
                correlations["kendall"].append((kendalltau(a, b)[0], len(both)))
        for name, values in correlations.items():
            weights = [n for _, n in values]
            expected = np.average([v for v, _ in values], weights=weights) if values else np.nan
            np.testing.assert_allclose(row[name], expected)
        np.testing.assert_allclose(row["envelope"], gamma.get(at, np.nan))
        if eliminated:
            worst = by_fold.loc[promoted[-1], at]
            np.testing.assert_allclose(row["gap"], worst.mean() - score.loc[eliminated[0], at])
            np.testing.assert_allclose(row["noise"], sem(worst - by_fold.loc[eliminated[0], at]))
            differences = {c: worst - by_fold.loc[c, at] for c in eliminated}
            close = {
                c for c, difference in differences.items() if difference.mean() <= sem(difference)
            }
            assert set(row["close"]) == close
        else:
            assert row["close"] == []
        if later and eliminated:
            gains = [score[r] - score[at] for r in score.columns if r > at]
            spread = max(gain.max() - gain.min() for gain in gains if gain.count() > 1)
            last = table[(table["bracket"] == row["bracket"])].sort_values("iter")
            last = last[last["iter"] == last["iter"].max()]
            best_candidate = last.loc[last["mean_test_score"].idxmax(), "candidate"]
            risk = spread + score.loc[eliminated[0], at] - score.loc[best_candidate, at]
            np.testing.assert_allclose(row["at_risk"], max(0, risk), atol=1e-12)
        else:
            assert np.isnan(row["at_risk"])
    best = by_fold.loc[search.best_candidate_, search.best_n_resources_]
    assert report.tolerance == pytest.approx(sem(best))
    risks = [row["at_risk"] for row in report.rungs]
    largest = np.nanmax(risks)
    assert report.enough == (largest <= report.tolerance)
    if report.enough and largest:
        error = f"{report.tolerance:.3g}"
        assert (
            f"more than {largest:.3g} above the best one, whose score has a standard error of "
            f"{error}." in report.advice
        )


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_at_risk_if_all_candidates_have_the_same_gains(seed):
    report = trust_report(search_of(Parallel(), seed).fit(X))
    assert report.enough
    assert max(row["at_risk"] for row in report.rungs[:-1]) < 1e-12
    assert [row["spearman"] for row in report.rungs[:-1]] == [pytest.approx(1)] * 4
    assert report.rungs[0]["envelope"] == pytest.approx(1 / 4 - 1 / 64)
    assert report.advice.startswith("The budget is sufficient for the observed gaps")


def _is_wrong(search):
    best = max(curve(p["limit"], p["speed"], 64) for p in search.all_cv_results_["params"])
    return best - search.best_score_ > 1e-9


def test_wrong_results_are_rarer_if_the_budget_is_reported_as_sufficient():
    """Over many searches among learning curves that cross."""
    wrong = {True: [], False: []}
    after_advice = []
    for seed in range(150):
        search = search_of(seed=seed).fit(X)
        report = trust_report(search)
        wrong[report.enough].append(_is_wrong(search))
        if not report.enough:
            advised = int(report.advice.rsplit("min_resources=", 1)[1].rstrip("."))
            after_advice.append(_is_wrong(search.set_params(min_resources=advised).fit(X)))
    assert min(map(len, wrong.values())) >= 30
    assert np.mean(wrong[True]) < 0.1
    assert np.mean(wrong[False]) > 2 * np.mean(wrong[True])
    assert np.mean(after_advice) < np.mean(wrong[False]) / 2


def test_the_recommended_budget_has_the_recommended_first_rung():
    for seed in range(20):
        search = search_of(seed=seed, max_resources="auto", budget=200, n_candidates=13).fit(X)
        report = trust_report(search)
        if not report.enough:
            break
    budget = int(report.advice.rsplit("Next time set budget=", 1)[1].rstrip("."))
    risky = [row["resource"] for row in report.rungs if row["at_risk"] > report.tolerance]
    safe = min(r for r in search.n_resources_ if r > max(risky))
    assert search.set_params(budget=budget).plan(X).n_resources[0] == safe
    assert search.set_params(budget=budget - 1).plan(X).n_resources[0] == safe - 1


def test_a_report_prints_as_a_table_and_converts_to_a_frame():
    report = trust_report(hyperband_of().fit(X))
    lines = str(report).splitlines()
    assert repr(report) == str(report)
    assert lines[0].split()[:4] == ["bracket", "iter", "resource", "candidates"]
    assert len({len(line) for line in lines[: len(report.rungs) + 1]}) == 1
    assert " ".join(lines[1 + len(report.rungs) :]) == report.advice
    assert max(map(len, lines)) == len(lines[0])
    frame = report.to_frame()
    assert frame["resource"].tolist() == [row["resource"] for row in report.rungs]
    assert not str(trust_report(search_of().fit(X))).startswith("bracket")


def test_advice_for_one_rung_and_for_too_few_candidates():
    report = trust_report(search_of(min_resources=1.0).fit(X))
    assert report.enough
    assert report.advice == (
        "There is a single rung, so that no candidate was eliminated before full resource."
    )
    two = search_of(n_candidates=2, budget=40, max_resources=30, factor=2).fit(X)
    assert len(trust_report(two).rungs) == 1
    few = search_of(n_candidates=2, min_resources=1, max_resources=8).fit(X)
    assert trust_report(few).enough is None
    assert trust_report(few).advice.startswith("Too few candidates were promoted to judge")


def interrupted(after, **params):
    """A search that was interrupted after this rung."""
    search = search_of(Stopped(), **params)
    CALLS.clear()
    with ctrl_c(at=2 * search.plan(X).rungs[after].spent):
        search.fit(X)
    assert search.n_iterations_ == after + 1
    return search


def test_a_search_interrupted_after_one_rung_is_not_a_search_with_one_rung():
    report = trust_report(interrupted(after=0))
    assert report.enough is None
    assert report.advice.startswith("Too few candidates were promoted to judge")


@pytest.mark.parametrize("seed", range(5))
def test_the_best_candidate_of_an_interrupted_search_has_the_best_score_of_its_last_rung(seed):
    search = interrupted(after=2, seed=seed)
    first, second, last = trust_report(search).rungs
    assert last["promoted"] > 1
    scores = [dict(zip(r["candidates"], r["scores"], strict=True)) for r in search.rung_history_]
    best = max(scores[2], key=scores[2].get)
    for k, row in enumerate((first, second)):
        best_eliminated = max(s for c, s in scores[k].items() if c not in scores[k + 1])
        ranges = [
            np.ptp([later[c] - scores[k][c] for c in later]) for later in scores[k + 1 :]
        ]  # fmt: skip
        risk = max(0, max(ranges) + best_eliminated - scores[k][best])
        assert row["at_risk"] == pytest.approx(risk)
    assert np.isnan(last["at_risk"])


def test_failed_candidates_are_ignored():
    grid = {"limit": [0.1, 0.5, 0.9, 0.3], "fails": ["nan", False]}
    search = SuccessiveHalvingSearchCV(Curve(), grid, max_resources=8, cv=KFold(2), **COMMON)
    with pytest.warns(UserWarning, match="non-finite"):
        search.fit(X)
    report = trust_report(search)
    assert report.enough
    assert report.rungs[0]["close"] == []


def test_the_report_is_about_the_metric_that_promotes():
    def scoring(model, X, y=None):
        score = model.score(X)
        return {"good": score, "bad": -score}

    single = search_of().fit(X)
    for refit, promote_by in [("good", None), ("bad", "good"), (False, None)]:
        search = search_of(scoring=scoring, refit=refit, promote_by=promote_by).fit(X)
        assert search.promote_by_ == "good"
        assert [r["gap"] for r in trust_report(search).rungs[:-1]] == [
            r["gap"] for r in trust_report(single).rungs[:-1]
        ]


def test_invalid_searches_raise():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        trust_report(search_of())
    grid = GridSearchCV(Curve(), {"limit": [0.1, 0.2]}, cv=KFold(2)).fit(X)
    with pytest.raises(TypeError, match="requires a search with rungs, and GridSearchCV has none"):
        trust_report(grid)


def test_envelopes_of_all_cv_results_and_rung_history_are_equal():
    search = hyperband_of().fit(X)
    for a, b in zip(envelope(search.all_cv_results_), envelope(search.rung_history_), strict=True):
        np.testing.assert_array_equal(a, b)
