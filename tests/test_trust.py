"""trust_report: its numbers computed independently, and how often its advice is right."""

import re
import warnings
from dataclasses import replace
from functools import partial
from math import exp

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import kendalltau, sem, spearmanr, uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import (
    class_likelihood_ratios,
    fbeta_score,
    get_scorer,
    get_scorer_names,
    make_scorer,
    mutual_info_score,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from test_stopping import Stopped, ctrl_c
from toys import CALLS, Curve, curve

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._formatting import quantity
from sklearn_sha._search.bracket_times import BracketTimes
from sklearn_sha.bandit import FixedSchedule, SuccessiveHalving
from sklearn_sha.inspection import envelope, trust_report
from sklearn_sha.inspection.evidence import evidence_of
from sklearn_sha.inspection.highest_score import WITHOUT_MAXIMUM, highest_score
from sklearn_sha.inspection.possible_scores import (
    PossibleScore,
    PossibleScores,
    possible_scores,
)
from sklearn_sha.inspection.risk import (
    MAX_MARGIN,
    Eliminated,
    RungScores,
    expected_loss,
    hazards,
    highest_leads,
    probability,
)
from sklearn_sha.inspection.risk_coefficients import COEFFICIENTS

# A call costs more than an epoch of so few samples.
pytestmark = pytest.mark.filterwarnings("ignore:Including the fixed cost")

X = np.arange(12.0).reshape(-1, 1)
COMMON = {"resource": "partial_fit", "refit": False}


class Noisy(Curve):
    """Scores that differ between folds."""

    def score(self, X, y=None):
        return super().score(X, y) + 0.1 * np.sin(X[0, 0] + 1e3 * self.limit + self.units_)


class Unpredictable(Curve):
    """Random scores, which differ between folds and units."""

    def score(self, X, y=None):
        return float(np.random.default_rng(abs(hash((self.limit, self.units_, X[0, 0])))).random())


class Parallel(Curve):
    """All candidates have the same gains."""

    def score(self, X, y=None):
        return self.limit - 1 / self.units_


def search_of(estimator=None, seed=0, speed=20, **params):
    space = {"limit": uniform(0, 1), "speed": uniform(0, speed)}
    params = COMMON | {"n_candidates": 32, "max_resources": 64, "cv": KFold(2)} | params
    return SuccessiveHalvingSearchCV(estimator or Curve(), space, random_state=seed, **params)


def hyperband_of(estimator=None, seed=0, **params):
    space = params.pop("space", {"limit": uniform(0, 1), "speed": uniform(0, 20)})
    params = COMMON | {"max_resources": 27, "cv": KFold(3)} | params
    return HyperbandSearchCV(estimator or Noisy(), space, random_state=seed, **params)


def test_the_name_of_one_metric_can_end_with_that_of_another():
    scoring = {"a": Curve.score, "my_test_a": lambda model, X, y=None: -model.limit}
    search = search_of(scoring=scoring, refit="a").fit(X)
    assert str(trust_report(search)) == str(trust_report(search_of(scoring=Curve.score).fit(X)))


def test_candidates_whose_scores_are_nan_did_not_fail():
    def half(model, X, y=None):
        return model.score(X) if model.limit > 0.5 else np.nan

    search = search_of(scoring=half)
    with pytest.warns(UserWarning, match="non-finite"):
        report = trust_report(search.fit(X))
    assert search.failures_ == []
    n = len(report.unscored)
    assert n > 1
    about = (
        f"{n} candidates were eliminated without a finite score, and this report leaves them out. "
    )
    assert report.advice.startswith(about)


@pytest.mark.slow
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
        at = row["n_resources"]
        ranked = rows.sort_values("mean_test_score", ascending=False)["candidate"].tolist()
        promoted, eliminated = ranked[: row["promoted"]], ranked[row["promoted"] :]
        correlations = {"spearman": [], "kendall": []}
        for r in later:
            both = table[(table["bracket"] == row["bracket"]) & (table["iter"] == r["iter"])]
            a, b = score.loc[both["candidate"], at], score.loc[both["candidate"], r["n_resources"]]
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
    best = by_fold.loc[search.best_candidate_, search.best_n_resources_]
    assert report.tolerance == pytest.approx(sem(best))
    hazards = hazards_of(report, table, by_fold, search)
    assert len(report.eliminated) == len(hazards)
    for one in report.eliminated:
        hazard = hazards[one["candidate"], one["bracket"], one["iter"]]
        assert one["risk"] == pytest.approx(1 - exp(-hazard))
    assert report.probability == pytest.approx(exp(-sum(hazards.values())))
    assert report.enough == (report.probability >= 0.95)
    for row in report.rungs:
        of_rung = [h for (_, *at), h in hazards.items() if at == [row["bracket"], row["iter"]]]
        if np.isfinite(row["risk"]):
            assert row["risk"] == pytest.approx(1 - exp(-sum(of_rung)))
        else:
            assert not of_rung


def hazards_of(report, table, by_fold, search):
    """The model of the report, written as loops over the table of all scores."""
    at, hazards = COEFFICIENTS, {}
    brackets = sorted({row["bracket"] for row in report.rungs})
    final = by_fold.loc[search.best_candidate_, search.best_n_resources_].mean()
    first = {
        bracket: table[(table["bracket"] == bracket) & (table["iter"] == 0)] for bracket in brackets
    }
    n_all = sum(map(len, first.values()))
    for bracket in brackets:
        rungs = [row for row in report.rungs if row["bracket"] == bracket]
        members = [
            table[(table["bracket"] == bracket) & (table["iter"] == row["iter"])] for row in rungs
        ]
        last = members[-1].set_index("candidate")["mean_test_score"]
        is_selected = search.best_candidate_ in last.index
        best = search.best_candidate_ if is_selected else last.idxmax()
        gap = final - last[best]
        everything = [
            sem(by_fold.loc[best, row["n_resources"]] - by_fold.loc[c, row["n_resources"]])
            for row, here in zip(rungs, members, strict=True)
            for c in here["candidate"]
            if c != best
        ]
        typical = np.median([error for error in everything if error > 1e-6 * report.tolerance])
        for row, here, after in zip(rungs, members, members[1:], strict=False):
            resource, following = row["n_resources"], after["n_resources"].iloc[0]
            moved = [
                (by_fold.loc[best, following] - by_fold.loc[c, following]).mean()
                - (by_fold.loc[best, resource] - by_fold.loc[c, resource]).mean()
                for c in after["candidate"]
                if c != best
            ]
            if not moved:
                moved = [(by_fold.loc[best, following] - by_fold.loc[best, resource]).mean()]
            changes = np.mean(np.square(moved))
            ratio = members[-1]["n_resources"].iloc[0] / resource
            for candidate in set(here["candidate"]) - set(after["candidate"]):
                difference = by_fold.loc[best, resource] - by_fold.loc[candidate, resource]
                lead = difference.mean()
                n_folds = len(difference)
                squares = (n_folds - 1) * sem(difference) ** 2 + 2 * typical**2
                squares /= n_folds + 1
                variance = exp(at["folds"]) * squares + ratio ** at["spread_ratio"] * (
                    exp(at["changes"]) * changes + exp(at["lead"]) * lead**2
                )
                behind = max(0, report.tolerance + gap + at["carried_over"] * lead)
                hazards[candidate, bracket, row["iter"]] = (
                    exp(at["constant"] + at["continues"])
                    * ratio ** at["ratio"]
                    * exp(at["share"] / ratio)
                    * (len(here) * n_all / len(first[bracket])) ** at["n_candidates"]
                    * (1 + report.tolerance**2 / variance) ** at["tolerance"]
                    * (1 + behind**2 / variance) ** (-at["tail"] / 2)
                )
    return hazards


@pytest.mark.parametrize("seed", range(5))
def test_little_is_at_risk_if_all_candidates_have_the_same_gains(seed):
    report = trust_report(search_of(Parallel(), seed).fit(X))
    assert report.probability > 0.9
    assert [row["spearman"] for row in report.rungs[:-1]] == [pytest.approx(1)] * 4
    assert report.rungs[0]["envelope"] == pytest.approx(1 / 4 - 1 / 64)


def _is_wrong(search):
    best = max(curve(p["limit"], p["speed"], 64) for p in search.all_cv_results_["params"])
    return best - search.best_score_ > 1e-9


@pytest.mark.slow
def test_the_probability_and_the_advice_are_right_on_curves_that_cross():
    """No coefficients were fitted on such curves."""
    probability, wrong, after_advice = [], [], []
    for seed in range(150):
        search = search_of(seed=seed).fit(X)
        report = trust_report(search)
        probability.append(report.probability)
        wrong.append(_is_wrong(search))
        if not report.enough:
            advised = int(report.advice.rsplit("min_resources=", 1)[1].rstrip("."))
            after_advice.append(_is_wrong(search.set_params(min_resources=advised).fit(X)))
    wrong, is_high = np.array(wrong), probability >= np.median(probability)
    assert np.mean(probability) == pytest.approx(1 - wrong.mean(), abs=0.06)
    assert wrong[is_high].mean() < wrong[~is_high].mean() / 2
    assert len(after_advice) >= 100
    assert np.mean(after_advice) < wrong.mean() / 2


def test_no_audit_is_recommended_if_an_iterator_has_yielded_the_splits():
    search = search_of(Noisy(), cv=KFold(4), min_folds="all")
    assert " audit(X, y, n_candidates=4) trains " in trust_report(search.fit(X)).advice
    search.set_params(cv=KFold(4).split(X)).fit(X)
    with pytest.raises(ValueError, match="audit requires the splits of fit"):
        search.audit(X, n_candidates=4)
    advice = trust_report(search).advice
    assert "audit(" not in advice
    assert "Next time set " in advice


def test_most_of_the_risk_is_more_than_half_of_it():
    shares = set()
    for n_candidates in (4, 8, 32):
        params = {"min_resources": 1, "min_folds": "all", "cv": KFold(4)}
        report = trust_report(search_of(Noisy(), n_candidates=n_candidates, **params).fit(X))
        risks = {row["n_resources"]: -np.log1p(-row["risk"]) for row in report.rungs[:-1]}
        riskiest = max(risks, key=risks.get)
        is_most = risks[riskiest] > sum(risks.values()) / 2
        share = "most" if is_most else "the largest share"
        about = f"eliminated at {quantity(riskiest, 'epochs')} carry {share} of the risk. "
        assert about in report.advice
        shares.add(share)
    assert len(shares) == 2


@pytest.mark.filterwarnings("ignore:The last rung did not have all folds")
def test_folds_are_recommended_if_they_are_the_resource(monkeypatch):
    monkeypatch.setitem(COEFFICIENTS, "constant", 3.0)
    rows = np.arange(1000.0).reshape(-1, 1)
    search = search_of(
        Unpredictable(), resource="folds", max_resources=6, min_resources=1, cv=KFold(10)
    ).fit(rows)
    report, settings = advised_by(search)
    assert re.search(r"Candidates eliminated at \d folds? carry most of the risk", report.advice)
    assert settings["min_resources"] > 1
    after = search.set_params(**settings).plan(rows)
    assert after.relative_cost() > search.schedule_.relative_cost()


def advised_by(search):
    """The report of a search, and the settings that it recommends."""
    report = trust_report(search)
    start = r"Next time,? (?:set|use SuccessiveHalvingSearchCV with) "
    (text,) = re.findall(start + r"(.*)\.$", report.advice)
    return report, eval(f"dict({text.replace(' and ', ', ')})")


ADVISED = {
    "epochs": {},
    "a budget": {"budget": 200, "n_candidates": 13},
    "a budget, growing folds": {"budget": 300, "n_candidates": 13, "min_folds": 2},
    "samples": {"resource": "n_samples", "max_resources": "auto", "min_folds": 2},
    "a schedule": {"algorithm": FixedSchedule([13, 5, 2], [4, 9, 27]), "n_candidates": 13},
    "a factor": {"algorithm": SuccessiveHalving(factor=4), "min_folds": "all", "n_candidates": 64},
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ADVISED)
def test_the_recommended_search_is_accepted_has_rungs_and_costs_more(name):
    """Random scores, so that there is a risk in every rung."""
    rows = np.arange(1000.0).reshape(-1, 1)
    params = {"n_candidates": 16, "max_resources": 32, "cv": KFold(10)} | ADVISED[name]
    n_advised = 0
    for seed in range(5):
        search = search_of(Unpredictable(), seed=seed, **params).fit(rows)
        report = trust_report(search)
        if report.enough or "a grid search at full resource" in report.advice:
            continue
        report, settings = advised_by(search)
        before, after = search.schedule_, search.set_params(**settings).plan(rows)
        assert after.n_candidates[0] == before.n_candidates[0]
        assert len(after.rungs) > 1
        assert after.relative_cost() > before.relative_cost()
        n_advised += 1
    assert n_advised


@pytest.mark.parametrize("min_folds", ["auto", 2])
def test_after_brackets_with_all_samples_the_first_one_gets_them_too(min_folds, monkeypatch):
    """A larger first rung would apply to all brackets."""
    monkeypatch.setitem(COEFFICIENTS, "constant", 3.0)
    rows = np.arange(1000.0).reshape(-1, 1)
    first = set()
    for seed in range(6):
        search = search_of(
            Unpredictable(), seed, resource="n_samples", max_resources="auto", sampler="model",
            n_candidates=48, cv=KFold(10), min_folds=min_folds,
        ).fit(rows)  # fmt: skip
        brackets = search.schedule_.brackets
        assert [bracket.n_resources[0] < 900 for bracket in brackets] == [True, *[False] * 3]
        _, settings = advised_by(search)
        assert settings.pop("min_folds", "auto") == "auto"
        first.add(settings.get("min_resources", 1))
        assert {"resource", "min_resources"} >= settings.keys()
        plan = search.set_params(**settings, min_folds="auto").plan(rows)
        assert len(plan.brackets) == 4
        assert plan.relative_cost() > search.schedule_.relative_cost()
    assert first <= {1, 2, 4}
    assert max(first) > 1


def test_a_first_rung_with_all_samples_gets_more_folds(monkeypatch):
    # With real coefficients, so little is at risk there that nothing is recommended.
    monkeypatch.setitem(COEFFICIENTS, "constant", 3.0)
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(500, 5)), rng.integers(0, 2, 500)
    grid = {"n_neighbors": [1, 3, 5, 7]}
    search = SuccessiveHalvingSearchCV(
        KNeighborsClassifier(), grid, resource="n_samples", random_state=0
    ).fit(rows, labels)
    report, settings = advised_by(search)
    assert "Candidates eliminated at 400 training samples on 2 folds carry most" in report.advice
    assert [(r.n_resources, len(r.folds)) for r in search.schedule_.rungs] == [(400, 2), (400, 5)]
    assert settings == {"min_folds": 4}
    rungs = search.set_params(**settings).plan(rows, labels).rungs
    assert [(r.n_resources, len(r.folds)) for r in rungs] == [(400, 4), (400, 5)]


@pytest.mark.filterwarnings("ignore:param_distributions holds", "ignore:Including the fixed cost")
def test_instead_of_hyperband_as_many_candidates_as_are_different_are_recommended(monkeypatch):
    monkeypatch.setitem(COEFFICIENTS, "constant", 3.0)
    space = {"limit": [0.2, 0.4, 0.6, 0.8], "speed": [1, 2]}
    search = hyperband_of(Unpredictable(), space=space, seed=2).fit(X)
    assert len(set(search.all_cv_results_["candidate"])) > 8
    _, settings = advised_by(search)
    assert (settings["n_candidates"], settings["min_folds"]) == (8, "all")


def test_a_report_on_an_anytime_search_recommends_time(monkeypatch):
    monkeypatch.setattr(
        BracketTimes, "refusal", lambda self, bracket, results: "No time." if bracket else ""
    )
    params = {"budget": "anytime", "max_time": 1000, "max_resources": 27}
    advice = "call resume, with a larger max_time."
    for seed in range(20):
        search = search_of(Unpredictable(), seed, **params).fit(X)
        report = trust_report(search)
        assert report.enough != report.advice.lower().endswith(advice)
        if not report.enough:
            break
    assert not report.enough
    monkeypatch.undo()
    assert advice not in trust_report(search.resume(X)).advice.lower()


def test_a_report_on_a_search_that_ended_below_its_maximum_says_so():
    params = {"budget": "double", "patience": 1, "n_candidates": 4, "max_resources": 27}
    reached = set()
    for seed in range(10):
        search = search_of(Unpredictable(), seed, **params).fit(X)
        at = search.best_n_resources_
        reached.add(at)
        said = f"The search ended at {at} of 27 epochs, so that full resource is {at} epochs here."
        assert trust_report(search).advice.startswith(said) == (at < 27)
    assert len(reached) > 1


def test_runs_with_one_rung_are_not_one_bracket():
    """Two candidates with 1, 2, 4 and so on: each run compares them with the same resource."""
    search = search_of(budget="double", n_candidates=2, max_resources=16, factor=4).fit(X)
    assert {row["n_candidates"] for row in search.rung_history_} == {2}
    report = trust_report(search)
    results = search.all_cv_results_
    in_last_run = results["bracket"] == results["bracket"].max()
    assert set(results["n_resources"][in_last_run]) == {16}
    assert [row["n_resources"] for row in report.rungs] == [16]
    assert report.advice.startswith("There is a single rung")


def test_instead_of_hyperband_one_bracket_is_recommended():
    search = hyperband_of(Unpredictable(), seed=1).fit(X)
    _, settings = advised_by(search)
    assert settings["n_candidates"] == len(set(search.all_cv_results_["candidate"]))
    other = search_of(cv=KFold(3), max_resources=27, **settings).plan(X)
    assert len(other.rungs) > 1
    assert other.total_cost > search.schedule_.total_cost


def test_a_report_prints_its_advice_and_then_a_table_and_converts_to_a_frame():
    report = trust_report(hyperband_of().fit(X))
    lines = str(report).splitlines()
    assert repr(report) == str(report)
    head, *rows = lines[-len(report.rungs) - 1 :]
    assert head.split()[:4] == ["bracket", "rung", "n_resources", "candidates"]
    assert {len(row) for row in rows} == {len(head)}
    assert " ".join(lines[: -len(report.rungs) - 1]) == report.advice
    assert max(map(len, lines)) == len(head)
    frame = report.to_frame()
    assert frame["n_resources"].tolist() == [row["n_resources"] for row in report.rungs]
    assert "bracket" not in str(trust_report(search_of().fit(X)))


def test_advice_for_one_rung_and_for_few_candidates():
    report = trust_report(search_of(min_resources=1.0).fit(X))
    assert report.enough
    assert report.advice == (
        "There is a single rung, so that no candidate was eliminated before full resource."
    )
    several = search_of(min_resources=1.0, n_candidates=8, budget="anytime").fit(X)
    assert trust_report(several).advice.startswith("Each bracket has a single rung, so that no")
    two = search_of(n_candidates=2, budget=40, max_resources=30, factor=2).fit(X)
    assert len(trust_report(two).rungs) == 1
    few = search_of(n_candidates=2, min_resources=1, max_resources=8).fit(X)
    report = trust_report(few)
    assert 0.5 < report.probability < 0.6  # only the change of a single score is known
    assert "would have exceeded the best score is 0.5" in report.advice  # no noise is known


def test_the_last_rung_of_an_algorithm_that_ends_before_it_has_not_failed():
    class EndsEarly(SuccessiveHalving):
        def requests(self, plan, propose):
            inner = super().requests(plan, propose)
            losses = yield next(inner)
            request = inner.send(losses)
            return request.candidate_ids[0]

    search = search_of(algorithm=EndsEarly(), n_candidates=8, max_resources=16).fit(X)
    advice = trust_report(search).advice
    assert advice.startswith("The last rung was not reached")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("resource", ["partial_fit", "folds"])
def test_a_fold_on_which_the_selected_candidate_failed_is_no_evidence(resource):
    """In all rungs, and for the tolerance too."""

    class FailsOnAFold(Noisy):
        def score(self, X, y=None):
            if X[0, 0] == 3:
                raise RuntimeError("not this fold")
            return super().score(X, y) + self.limit

    bounds = {"max_resources": "auto", "min_resources": 1} if resource == "folds" else {}
    search = search_of(
        FailsOnAFold(), resource=resource, cv=KFold(4), error_score=-50.0, min_folds="all",
        n_candidates=8, **bounds,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search.fit(np.arange(400.0).reshape(-1, 1) // 100 * 3)
    evidence = evidence_of(search, "test")
    failed = [key for key, scores in evidence.folds.items() if (scores == -50).any()]
    assert failed == []
    assert np.isnan(evidence.final_scores).sum() == 1
    assert trust_report(search).tolerance < 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("fails", ["fit", "score"])
def test_a_failed_candidate_is_no_risk_whatever_score_it_is_assigned(fails):
    space = {"limit": [0.1, 0.3, 0.5, 0.7, 0.9], "speed": [1, 2], "fails": [False, fails]}
    reports = []
    for error_score in (np.nan, -1e6):
        search = search_of(
            n_candidates=16, min_resources=4, error_score=error_score
        ).set_params(param_distributions=space)  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            reports.append(trust_report(search.fit(X)))
    one, other = reports
    assert other.probability == one.probability < 1
    assert other.expected_loss == one.expected_loss
    assert other.eliminated == one.eliminated


class FailsOnFirstFold(Noisy):
    """If it is good, in the second rung."""

    def score(self, X, y=None):
        if X[0, 0] == 0 and self.units_ == 8 and 0.7 < self.limit < 0.9:
            raise RuntimeError("not this fold")
        return super().score(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("seed", range(3))
def test_the_table_of_a_report_does_not_depend_on_error_score(seed):
    reports = []
    for error_score in (np.nan, -1e6):
        search = search_of(FailsOnFirstFold(), seed, min_resources=4, error_score=error_score)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            search.fit(np.arange(60.0).reshape(-1, 1))
        assert search.failures_
        reports.append(trust_report(search))
    one, other = reports
    assert str(one.rungs) == str(other.rungs)


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.filterwarnings("ignore:invalid value encountered")  # of a standard deviation
def test_infinite_scores_are_missing_in_the_table_of_a_report():
    search = search_of(scoring=lambda model, X, y=None: model.limit if model.speed > 9 else -np.inf)
    report = trust_report(search.fit(X))
    assert -np.inf in search.rung_history_[0]["scores"]
    assert not any(np.isinf(row[name]) for row in report.rungs for name in ("gap", "envelope"))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_candidates_of_a_bracket_that_failed_are_named_too():
    failing = [{"limit": k / 8, "fails": "fit"} for k in range(8)]
    search = search_of(n_candidates=16, initial_candidates=failing, budget="anytime", patience=1)
    report = trust_report(search.fit(X))
    assert report.unscored == (*range(8),)
    assert 0 not in {row["bracket"] for row in report.rungs}
    about = "8 candidates were eliminated without a finite score (see failures_)"
    assert report.advice.startswith(about)
    assert re.search(r"by bracket is [\w. ]+ in bracket 1, [\w. ]+ in bracket 2\.", report.advice)


@pytest.mark.parametrize("error_score", [np.nan, -1.0])
@pytest.mark.parametrize("n_rungs", [3, 4, 5])
def test_a_last_rung_whose_candidates_all_failed_is_named_as_the_reason(n_rungs, error_score):
    """It can be one before that of the plan, since then there are no others."""

    class FailsLater(Curve):
        def partial_fit(self, X, y=None):
            if getattr(self, "units_", 0) >= 2 ** (n_rungs - 2):
                raise RuntimeError("too long")
            return super().partial_fit(X, y)

    params = {"n_candidates": 16, "min_resources": 1, "max_resources": 16, "min_folds": "all"}
    search = search_of(FailsLater(), error_score=error_score, **params)
    with (
        pytest.warns(FitFailedWarning),
        pytest.warns(UserWarning, match="No candidate of the last rung has a score"),
    ):
        search.fit(X)
    assert search.n_iterations_ == n_rungs <= len(search.schedule_.rungs) == 5
    report = trust_report(search)
    assert np.isnan(report.probability)
    assert report.advice.startswith("No candidate of the last rung has a score")
    assert "resume" not in report.advice


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_scores_that_are_all_infinite_have_no_probability():
    search = search_of(scoring=lambda model, X, y=None: np.inf)
    with pytest.warns(UserWarning, match="non-finite"):
        search.fit(X)
    report = trust_report(search)
    assert report.enough is None
    assert np.isnan([report.probability, report.expected_loss]).all()
    assert report.advice.startswith("All scores of the selected candidate failed or are non-fin")


def interrupted(after, **params):
    """A search that was interrupted after this rung."""
    search = search_of(Stopped(), **params)
    CALLS.clear()
    with ctrl_c(at=2 * search.plan(X).rungs[after].total_cost):
        search.fit(X)
    assert search.n_iterations_ == after + 1
    return search


@pytest.mark.parametrize("after", [0, 2])
def test_nothing_is_said_of_a_search_that_was_interrupted(after):
    search = interrupted(after=after)
    report = trust_report(search)
    assert report.enough is None
    assert np.isnan([report.probability, report.expected_loss]).all()
    assert report.advice.startswith("The last rung was not reached")
    assert np.isnan(report.rungs[-1]["risk"])
    assert trust_report(search.resume(X)).probability > 0


def test_a_rung_that_promotes_one_candidate_is_not_the_last_one():
    params = {"n_candidates": 4, "min_resources": 2, "max_resources": 8, "min_folds": "all"}
    assert [rung.n_candidates for rung in search_of(**params).plan(X).rungs] == [4, 2, 1]
    search = interrupted(after=1, **params)
    assert len(search.rung_history_[-1]["promoted"]) == 1
    report = trust_report(search)
    assert np.isnan(report.probability)
    assert report.advice.startswith("The last rung was not reached")
    assert trust_report(search.resume(X)).probability > 0


def test_folds_as_the_resource_have_the_report_of_growing_folds_at_full_resource():
    many = np.arange(1200.0).reshape(-1, 1)
    params = {"cv": KFold(6), "max_resources": "auto", "n_candidates": 24}
    sizes, folds = [24, 12, 6], [1, 2, 6]
    growing = search_of(
        Noisy(), resource="n_samples", algorithm=FixedSchedule(sizes, [1000] * 3), min_folds=1,
        **params,
    ).fit(many)  # fmt: skip
    assert [rung["n_folds"] for rung in growing.rung_history_] == folds
    by_folds = search_of(
        Noisy(), resource="folds", algorithm=FixedSchedule(sizes, folds), **params
    ).fit(many)
    expected, found = trust_report(growing), trust_report(by_folds)
    assert found.probability == expected.probability
    assert found.expected_loss == expected.expected_loss
    assert [one["risk"] for one in found.eliminated] == [one["risk"] for one in expected.eliminated]


@pytest.mark.parametrize(
    ("highest", "is_audited", "kind"),
    [
        (0.90, False, "eliminated"),
        (0.92, False, "eliminated"),  # better, but by less than the tolerance
        (0.94, False, "could have been better"),
        (0.94, True, "audited"),
    ],
)
def test_a_candidate_could_have_been_better_if_its_bound_exceeds_the_tolerance(
    highest, is_audited, kind
):
    rung = {"n_resources": 1, "n_folds": 2}
    one = PossibleScore.of(0, rung, expected=0.8, highest=highest, is_audited=is_audited)
    possible = PossibleScores([one], selected_score=0.9, tolerance=0.03, probability=0.9)
    assert possible.kind_of(one) == kind
    assert possible.kinds() == [kind]


@pytest.mark.parametrize("expected", [0.895, 0.95])
def test_the_trust_figure_shows_the_selected_score_and_its_standard_error(expected):
    """Also if all eliminated candidates are expected to be near it, or above."""
    one = PossibleScore(1, 0, 4, 2, expected, expected + 0.01, is_audited=False)
    possible = PossibleScores([one], selected_score=0.9, tolerance=0.01, probability=0.9)
    low, high = possible.visible_range()
    assert low < 0.89
    assert high > 0.91


def test_the_trust_figure_has_a_margin_and_no_room_for_unknown_ends():
    def one(expected, highest):
        return PossibleScore(1, 0, 4, 2, expected, highest, is_audited=False)

    possible = PossibleScores(
        [one(0.5, 0.95), one(0.86, np.inf)], selected_score=0.9, tolerance=0.01, probability=0.9
    )
    # From two standard errors below the median of 0.68 to the upper end of 0.95, with 1/20 each.
    low, high = possible.visible_range()
    assert high == pytest.approx(0.95 + 0.05 * (0.95 - 0.5))
    assert low == pytest.approx(0.5 - 0.05 * (0.95 - 0.5))
    alike = PossibleScores([one(0.9, 0.9)], selected_score=0.9, tolerance=0.0, probability=1)
    assert alike.visible_range() is None


@pytest.mark.parametrize("n_brackets", [1, 2])
def test_labels_of_rungs_have_their_bracket_if_there_are_several(n_brackets):
    eliminated = [PossibleScore(k, k, 4, 2, 0.5, 0.6, is_audited=False) for k in range(n_brackets)]
    possible = PossibleScores(eliminated, selected_score=0.9, tolerance=0.01, probability=0.9)
    labels = possible.rung_labels("epochs", ", ")
    ends = [label.endswith(f", bracket {k}") for k, label in enumerate(labels)]
    assert ends == [n_brackets == 2] * n_brackets


@pytest.mark.parametrize("search", [search_of(Noisy()), hyperband_of()], ids=["one", "brackets"])
def test_the_risk_of_a_rung_is_that_any_candidate_that_it_eliminated_was_better(search):
    report = trust_report(search.fit(np.arange(60.0).reshape(-1, 1)))
    for row in report.rungs:
        place = {name: row[name] for name in ("bracket", "iter")}
        own = [one["risk"] for one in report.eliminated if place.items() <= one.items()]
        if np.isnan(row["risk"]):
            assert own == []
        else:
            assert row["risk"] == pytest.approx(1 - np.prod(1 - np.array(own)))
    assert sum(row["risk"] > 0 for row in report.rungs) > 1


@pytest.mark.parametrize("audits", [0, 3])
def test_the_trust_figure_has_the_probability_of_the_report(audits):
    search = search_of(Noisy(), max_resources=32).fit(many := np.arange(60.0).reshape(-1, 1))
    if audits:
        search.audit(many, n_candidates=audits)
    report, possible = trust_report(search), possible_scores(search)
    assert 0 < report.probability < 1
    assert possible.probability == report.probability
    assert possible.tolerance == report.tolerance
    assert f"{np.floor(100 * report.probability) / 100:.2f}" in possible.headline


def test_rungs_that_differ_in_folds_only_are_named_by_them():
    many = np.arange(600.0).reshape(-1, 1)
    algorithm = FixedSchedule([32, 16, 8], [4, 4, 4])
    search = search_of(algorithm=algorithm, cv=KFold(3), min_folds=1, max_resources="auto")
    (last_fold,) = {0, 1, 2} - {*search.plan(many).rungs[1].folds}

    class BetterOnLastFold(Noisy):
        def score(self, X, y=None):
            return super().score(X) + 4 * (1 - self.limit) * (X[0, 0] == 200 * last_fold)

    search.set_params(estimator=BetterOnLastFold()).fit(many)
    possible = possible_scores(search)
    assert possible.rung_labels("trees", ", ") == ["4, 1 fold", "4, 2 folds"]
    assert [len(possible.members(rung)) for rung in possible.rungs()] == [16, 8]
    assert {one["folds"] for one in trust_report(search).eliminated} == {1, 2}
    report = trust_report(search.audit(many, n_candidates=24))
    better = [one for one in report.audited if one["is_selected"]]
    for one in better:
        assert f"eliminated at 4 epochs on {one['folds']} fold" in report.advice
    assert better


@pytest.mark.filterwarnings("ignore:.*non-finite")
def test_infinite_scores_are_ignored():
    def report_with(value):
        def score(model, X, y=None):
            return model.score(X) if model.limit < 0.5 else value

        with np.errstate(invalid="ignore"):  # their standard deviation, as in GridSearchCV
            return trust_report(search_of(scoring=score).fit(X))

    infinite, missing = report_with(-np.inf), report_with(np.nan)
    assert infinite.probability == missing.probability
    assert infinite.expected_loss == missing.expected_loss


RUNGS = st.integers(0, 2**32 - 1).map(lambda seed: rungs_of(np.random.default_rng(seed)))


def rungs_of(rng):
    """Scores of three rungs on growing numbers of folds."""
    scores = rng.normal(size=(9, 5)).cumsum(axis=0)
    first = np.where([True, True, False, False, False], scores, np.nan)
    later = scores[:4] + rng.normal(size=(4, 5))
    second = np.where([True, True, True, False, False], later, np.nan)
    last = scores[:2] + rng.normal(size=(2, 5))
    return [
        RungScores(range(9), 10, first),
        RungScores(range(4), 30, second),
        RungScores(range(2), 90, last),
    ]


def known_of(rungs, change=lambda scores: scores):
    changed = [RungScores(r.candidates, r.n_resources, change(r.scores)) for r in rungs]
    return Eliminated.of([changed], 0, changed[-1].scores[0], continues=False)


def probability_of(known):
    return probability(known, known.tolerance)


@pytest.mark.slow
@given(rungs=RUNGS, factor=st.sampled_from([1e-6, 0.5, 3, 1e6]))
def test_the_unit_of_the_scores_and_what_a_fold_has_in_common_do_not_matter(rungs, factor):
    shifts = np.array([0.3, -2, 1.1, 0.7, -0.1])
    before, scaled = known_of(rungs), known_of(rungs, lambda scores: factor * scores)
    assert probability_of(scaled) == pytest.approx(probability_of(before))
    assert expected_loss(scaled) == pytest.approx(factor * expected_loss(before), rel=1e-6)
    # The tolerance is of the scores themselves, with what folds have in common.
    shifted = known_of(rungs, lambda scores: scores + shifts)
    for name in ("lead", "fold_variance", "missing_variance", "changes"):
        np.testing.assert_allclose(getattr(shifted, name), getattr(before, name), atol=1e-9)


@given(rungs=RUNGS, candidate=st.integers(4, 8))
def test_a_better_eliminated_candidate_is_a_larger_risk(rungs, candidate):
    rungs[0].scores[candidate] = rungs[0].scores[0] - 1.0
    low = hazards(known_of(rungs), 0.1)
    rungs[0].scores[candidate] = rungs[0].scores[0] - 0.5
    known = known_of(rungs)
    high = hazards(known, 0.1)
    assert (high > low).tolist() == (known.candidate == candidate).tolist()


@pytest.mark.parametrize(("n_unscored", "n_last"), [(1, 2), (2, 2), (1, 1)])
@given(seed=st.integers(0, 2**32 - 1))
def test_a_best_candidate_without_a_score_in_early_rungs_hides_no_risk(n_unscored, n_last, seed):
    """If no score changes, it is known how far all of them are behind it."""
    scores = -np.sort(np.random.default_rng(seed).exponential(size=(9, 1)), axis=0) + np.zeros(5)
    rungs = [RungScores(range(n), n, scores[:n].copy()) for n in (9, 4, n_last)]
    expected = known_of(rungs)
    for rung in rungs[:n_unscored]:
        rung.scores[0] = np.nan
    known = known_of(rungs)
    assert known.candidate.tolist() == expected.candidate.tolist()
    np.testing.assert_allclose(known.lead + known.gap, expected.lead)


@given(rungs=RUNGS)
@pytest.mark.slow
def test_a_larger_margin_is_a_smaller_risk_and_their_integral_is_the_expected_loss(rungs):
    known = known_of(rungs)
    assert np.all(np.diff([probability(known, margin) for margin in np.arange(50)]) > 0)
    highest = MAX_MARGIN * known.tolerance[0]
    area, _ = quad(lambda margin: 1 - probability(known, margin), 0, highest, limit=500)
    assert expected_loss(known) == pytest.approx(area, rel=0.02)


@given(rungs=RUNGS, n_diverged=st.integers(1, 5))
def test_diverged_candidates_change_the_expected_loss_little(rungs, n_diverged):
    """By at most the largest margin, which is of the size of the noise, however far they are."""
    losses = []
    for score in (-1e6, -1e8, -1e20):
        rungs[0].scores[-n_diverged:] = score
        known = known_of(rungs)
        losses.append(expected_loss(known))
        assert 0 < losses[-1] <= MAX_MARGIN * known.tolerance[0]
    assert losses[1] == pytest.approx(losses[0], rel=0.02)


def test_without_a_tolerance_the_expected_loss_is_in_the_unit_of_the_leads():
    scores = np.array([[0.9], [0.8], [0.7], [-1e9]])
    rungs = [RungScores(range(4), 1, scores), RungScores([0, 1], 4, scores[:2])]
    known = Eliminated.of([rungs], 0, scores[0], continues=True)
    assert known.tolerance.tolist() == [0, 0]
    assert 0 < expected_loss(known) < MAX_MARGIN * 0.2


@given(rungs=RUNGS, level=st.sampled_from([0.01, 0.05, 0.3]))
def test_the_highest_scores_of_a_rung_are_exceeded_with_the_given_probability(rungs, level):
    known = known_of(rungs)
    expected, highest = highest_leads(known, level)
    assert (highest >= expected).all()
    at = hazards(known, highest)
    for rung in (0, 1):
        inside = known.rung == rung
        wanted = -np.log1p(-level) / inside.sum()
        # One that is not expected to reach it anyway has no interval.
        is_open = inside & (hazards(known, expected) > wanted)
        np.testing.assert_allclose(at[is_open], wanted, rtol=1e-4)
        assert (at[inside] <= wanted * 1.001).all()


def test_leads_can_be_larger_than_the_precision_of_the_smallest_interval():
    """Squared errors of prices: 1e9 + 1e-9 is 1e9 in floating point."""
    scores = -1e12 * np.random.default_rng(0).uniform(0.1, 1, size=(9, 5))
    rungs = [RungScores(range(9), 10, scores), RungScores(range(2), 90, scores[:2])]
    known = Eliminated.of([rungs], 0, scores[0], continues=False)
    expected, highest = highest_leads(known)
    assert np.abs(expected).min() > 1e9
    assert (highest > expected).any()
    assert (hazards(known, highest) <= -np.log1p(-0.05) / 7 * 1.001).all()


def test_candidates_without_a_score_are_left_out_and_one_fold_is_enough():
    scores = np.array([[0.9], [0.8], [np.nan], [0.7]])
    rungs = [RungScores(range(4), 1, scores), RungScores([0, 1], 4, scores[:2])]
    known = Eliminated.of([rungs], 0, scores[0], continues=True)
    assert known.candidate.tolist() == [3]
    assert np.isfinite(hazards(known, 0.0)).all()
    same = [RungScores(range(4), 1, np.ones((4, 3))), RungScores([0, 1], 4, np.ones((2, 3)))]
    assert 0 < probability(Eliminated.of([same], 0, np.ones(3), continues=True), 0.0) < 1


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


@pytest.mark.parametrize("name", ["estimators", "roc_auc", "continues"])
def test_what_is_known_of_a_search_multiplies_all_hazards(name):
    scores = np.array([[0.9, 0.8], [0.7, 0.6], [0.5, 0.5]])
    rungs = [RungScores(range(3), 1, scores), RungScores([0, 1], 4, scores[:2])]
    known = Eliminated.of([rungs], 0, scores[0], continues=False)
    assert getattr(known, name).tolist() == [0.0]
    one = replace(known, **{name: np.ones(1)})
    factor = hazards(one, 0.1) / hazards(known, 0.1)
    assert factor == pytest.approx(exp(COEFFICIENTS[name]))
    assert abs(COEFFICIENTS[name]) > 0.2


@pytest.mark.parametrize(
    ("scoring", "refit", "is_area"),
    [
        (None, True, False),
        ("accuracy", True, False),
        ("roc_auc", True, True),
        ("roc_auc_ovr_weighted", True, True),
        (make_scorer(roc_auc_score, response_method="decision_function"), True, True),
        (
            make_scorer(partial(roc_auc_score, max_fpr=0.5), response_method="predict_proba"),
            True,
            True,
        ),
        (make_scorer(partial(fbeta_score, beta=2)), True, False),
        ({"roc_auc": "accuracy", "other": "roc_auc"}, "roc_auc", False),
        ({"roc_auc": "accuracy", "other": "roc_auc"}, "other", True),
        (lambda model, X, y: model.score(X, y), True, False),
    ],
)
def test_the_metric_is_known_by_its_function_and_not_by_its_name(scoring, refit, is_area):
    X, y = make_classification(200, random_state=0)
    search = SuccessiveHalvingSearchCV(
        LogisticRegression(),
        {"C": [0.01, 1.0, 100.0]},
        scoring=scoring,
        refit=refit,
        min_resources=50,
    ).fit(X, y)
    known = evidence_of(search, "test").known
    assert known.roc_auc.tolist() == [float(is_area)] * len(known.candidate)
    assert len(known.candidate) > 0


@pytest.mark.parametrize(
    ("space", "several"),
    [
        (
            [
                {"model": [LogisticRegression()]},
                {"model": [GaussianNB(), DecisionTreeClassifier()]},
            ],
            1,
        ),
        ({"model": [DecisionTreeClassifier(max_depth=k) for k in (1, 2, 3)]}, 0),
        ({"scale": [StandardScaler(), MinMaxScaler()], "model__C": [0.1, 1.0]}, 0),
        ({"model": [make_pipeline(MinMaxScaler(), m) for m in (GaussianNB(), BernoulliNB())]}, 1),
        ({"model": [make_pipeline(MinMaxScaler(), BernoulliNB(alpha=k)) for k in (1, 2)]}, 0),
    ],
)
def test_estimators_of_different_classes_are_known_by_their_values(space, several):
    X, y = make_classification(200, random_state=0)
    pipeline = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])
    search = SuccessiveHalvingSearchCV(pipeline, space, min_resources=50).fit(X, y)
    known = evidence_of(search, "test").known
    assert known.estimators.tolist() == [several] * len(known.candidate)
    assert len(known.candidate) > 0


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
    for wrong in (search.cv_results_, search.results_frame(), 3):
        with pytest.raises(TypeError, match="envelope requires all_cv_results_ or rung_history_"):
            envelope(wrong)
    with pytest.raises(ValueError, match=r"metric='f1' is none of the metrics \['score'\]"):
        envelope(search.all_cv_results_, metric="f1")


class Oracle(ClassifierMixin, BaseEstimator):
    """Predicts what is in the first columns of X."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return X[:, 0] if X.shape[1] == 1 else X

    def predict_proba(self, X):
        return (self.classes_ == X[:, :1]).astype(float)


# The other likelihood ratio is undefined.
@pytest.mark.filterwarnings("ignore:.*positive_likelihood_ratio")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", sorted({*get_scorer_names()} - {*WITHOUT_MAXIMUM}))
def test_perfect_predictions_have_the_highest_score(name):
    y = np.array([0.0, 1.0, 0.0, 1.0, 1.0])
    if "deviance" in name:
        y += 1
    elif name.endswith("_samples"):
        y = np.column_stack([y, 1 - y])
    elif name == "top_k_accuracy":
        y[0] = 2.0
    X = y.reshape(len(y), -1)
    score = get_scorer(name)(Oracle().fit(X, y), X, y)
    assert score == pytest.approx(highest_score("score", name, None), abs=1e-12)


def test_some_scores_have_no_maximum():
    y = np.arange(20)
    assert mutual_info_score(y, y) > 1
    y_true, y_predicted = [0] * 9 + [1] * 9, [0] * 8 + [1] * 10
    assert class_likelihood_ratios(y_true, y_predicted)[0] > 1
    assert {highest_score("score", name, None) for name in WITHOUT_MAXIMUM} == {np.inf}


@pytest.mark.parametrize(
    ("metric", "scoring", "estimator", "highest"),
    [
        ("score", None, GaussianNB(), 1.0),
        ("score", None, make_pipeline(MinMaxScaler(), LinearRegression()), 1.0),
        ("score", None, Curve(), np.inf),
        ("score", make_scorer(fbeta_score, beta=2), GaussianNB(), np.inf),
        ("f1", ["f1", "neg_log_loss"], GaussianNB(), 1.0),
        ("neg_log_loss", ("f1", "neg_log_loss"), GaussianNB(), 0.0),
        ("f1", {"f1": "neg_log_loss"}, GaussianNB(), 0.0),
        ("neg_mine", {"neg_mine": make_scorer(fbeta_score, beta=2)}, GaussianNB(), np.inf),
        ("f1", lambda *args: {"f1": 2.0}, GaussianNB(), np.inf),
    ],
)
def test_the_highest_score_is_known_by_the_name_of_the_scorer(metric, scoring, estimator, highest):
    assert highest_score(metric, scoring, estimator) == highest


@given(final=st.floats(0.5, 1), margin=st.floats(0, 0.6))
def test_no_candidate_ends_above_the_highest_score(final, margin):
    scores = np.array([[0.4, 0.3], [0.3, 0.1]])
    rungs = [RungScores([0, 1], 1, scores), RungScores([0], 4, np.full((1, 2), final))]
    known, free = (
        Eliminated.of([rungs], 0, np.full(2, final), continues=False, highest_score=highest)
        for highest in (1.0, np.inf)
    )
    expected = hazards(free, margin) if margin < 1 - final else [0.0]
    assert hazards(free, margin) > 0
    assert hazards(known, margin) == pytest.approx(expected)
    assert final + highest_leads(known)[1] <= 1 + 1e-9
    assert expected_loss(known) <= expected_loss(free)


def test_nothing_is_better_than_an_accuracy_of_one():
    """A function may have higher scores."""
    X = np.repeat([[0.0], [1.0]], 200, axis=0)
    y = X.ravel().astype(int)
    search = SuccessiveHalvingSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9, 1e-8, 1e-7, 1e-6]}, min_resources=40
    )
    report = trust_report(search.fit(X, y))
    assert (report.probability, report.expected_loss, report.enough) == (1.0, 0.0, True)
    search.set_params(scoring=lambda model, X, y: model.score(X, y))
    assert trust_report(search.fit(X, y)).probability < 0.9


def test_diverged_candidates_do_not_overflow():
    scores = np.array([[0.9, 0.8], [0.7, 0.6], [-1e200, -1e300], [-1e200, -1e150]])
    rungs = [
        RungScores(range(4), 1, scores),
        RungScores([0, 1, 2], 2, scores[:3]),
        RungScores([0], 4, scores[:1]),
    ]
    known = Eliminated.of([rungs], 0, scores[0], continues=False)
    assert 0 < probability(known, 0.01) < 1
    assert np.isfinite(expected_loss(known))


def test_after_an_error_there_is_no_report():
    class Breaks(Curve):
        def partial_fit(self, X, y=None):
            if getattr(self, "units_", 0) == 4:
                raise RuntimeError("no more")
            return super().partial_fit(X, y)

    search = search_of(Breaks(), error_score="raise", min_resources=4, max_resources=8)
    with pytest.raises(RuntimeError, match="no more"):
        search.fit(X)
    assert search.rung_history_[0]["promoted"]
    with pytest.raises(NotFittedError):
        trust_report(search)
