"""Learning curves of many learners with fixed parameters, over training samples, stored.

    python docs/benchmarks/learner_curves.py
    python docs/benchmarks/learner_curves.py --data turnout treatment

takes about two hours on one core and writes results/curves/learners/<data>.npz, and
results/curves/large_learners/<data>.npz for large data sets. Files that exist are kept, so it can
be interrupted and continued. trust.py replays searches on them: a search for the best learner, as
on LCDB, but on other data sets and with ROC AUC and R2 too.

Each learner is refit from scratch on the nested, stratified subsamples that a search uses, on five
folds of at most 1,250 samples. The data sets with at least 4,000 samples are measured once more, on
up to 12,500: what a first rung tells depends on how much larger full resource is.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import warnings
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
import real_data
from learning_curves import (
    FOLDER,
    N_FOLDS,
    decoded,
    encoded,
    predictions,
    resource_grid,
    samples,
    scores_of,
    some_folds,
    store,
)
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    BayesianRidge,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

FOLDERS = {"learners": FOLDER / "learners", "large learners": FOLDER / "large_learners"}
N_SAMPLES = {"learners": 1250, "large learners": 12_500}
MIN_SAMPLES = 30
MAX_RATIO = 1.6
"""Of neighbouring numbers of training samples."""

CLASSIFICATION = {
    "turnout": ("Zelig/turnout.csv", "vote"),
    "disputes": ("Zelig/mid.csv", "conflict"),
    "mexico": ("Zelig/mexico.csv", "vote88"),
    "personality": ("psych/bfi.csv", "gender"),
    "mortality": ("survival/flchain.csv", "death", "futime", "chapter"),
    "relapse": ("survival/nwtco.csv", "rel", "seqno", "edrel"),
    "unions": ("plm/Males.csv", "union", "nr"),
    "collars": ("plm/Wages.csv", "bluecol"),
    "treatment": ("Ecdat/Treatment.csv", "treat"),
    "ownership": ("Ecdat/Workinghours.csv", "owned", "mortgage"),
    "benefits": ("Ecdat/Benefits.csv", "ui"),
    "insurance": ("Ecdat/DoctorAUS.csv", "insurance"),
    "drives": ("Ecdat/Computers.csv", "cd"),
    "coverage": ("Ecdat/HI.csv", "whi", "hhi2"),
    "private": ("Ecdat/OFP.csv", "privins"),
    "fishing": ("Ecdat/Fishing.csv", "mode", "price", "catch"),
    "farms": ("Ecdat/VietNamH.csv", "farm"),
    "yogurt": ("Ecdat/Yogurt.csv", "choice", "id"),
    "crackers": ("Ecdat/Cracker.csv", "choice", "id"),
    "trains": ("Ecdat/Train.csv", "choice", "id"),
    "park": ("Ecdat/Kakadu.csv", "answer"),
    "procedures": ("COUNT/azpro.csv", "procedure"),
    "work": ("COUNT/rwm1984.csv", "outwork"),
    "words": ("lme4/VerbAgg.csv", "r2", "resp", "id"),
    "cities": ("KMsurv/pneumon.csv", "urban"),
    "plebiscite": ("car/Chile.csv", "vote"),
    "cuts": ("ggplot2/diamonds.csv", "cut"),
}
"""Path of a table, target, and ignored columns: numbers of rows, and what reveals the target."""

REGRESSION = {
    "computers": ("Ecdat/Computers.csv", "price"),
    "wages": ("plm/Wages.csv", "lwage"),
    "men": ("plm/Males.csv", "wage", "nr"),
    "schooling": ("Ecdat/Schooling.csv", "wage76", "lwage76"),
    "households": ("Ecdat/VietNamH.csv", "lntotal", "lnrlfood", "lnexp12m"),
    "food": ("Ecdat/BudgetFood.csv", "wfood"),
    "britain": ("Ecdat/BudgetUK.csv", "wfood"),
    "italy": ("Ecdat/BudgetItaly.csv", "wfood"),
    "hours": ("Ecdat/Workinghours.csv", "hours"),
    "labor": ("car/SLID.csv", "wages"),
    "proteins": ("survival/flchain.csv", "kappa", "flc.grp", "chapter"),
    "languages": ("MASS/nlschools.csv", "lang"),
    "patents": ("Ecdat/PatentsHGH.csv", "logr", "obsno", "cusip"),
    "cigarettes": ("Ecdat/Cigar.csv", "sales"),
    "municipalities": ("Ecdat/MunExp.csv", "expend", "id"),
    "firms": ("plm/Snmesp.csv", "y", "firm"),
    "classes": ("Ecdat/Star.csv", "tmathssk", "schidkn"),
    "expenditure": ("Ecdat/Tobacco.csv", "lnx"),
    "companies": ("plm/EmplUK.csv", "output", "firm"),
    "nations": ("Ecdat/SumHes.csv", "gdp"),
    "movies": ("ggplot2/movies.csv", "rating", "title"),
    "baseball": ("plyr/baseball.csv", "r", "id"),
    "emissions": ("robustbase/NOxEmissions.csv", "LNOx"),
    "radar": ("robustbase/radarImage.csv", "Band.1"),
    "contacts": ("Ecdat/DoctorContacts.csv", "mdu"),
    "medicine": ("Ecdat/MedExp.csv", "med"),
    "earnings": ("Ecdat/PSID.csv", "earnings", "intnum", "persnum"),
    "stays": ("COUNT/medpar.csv", "los", "provnum"),
    "vietnam": ("Ecdat/VietNamI.csv", "lnhhexp"),
    "jobless": ("Ecdat/UnempDur.csv", "spell"),
    "incomes": ("Zelig/voteincome.csv", "income"),
    "vocabulary": ("car/Vocab.csv", "vocabulary"),
    "births": ("gap/mfblong.csv", "bwt", "familyid"),
    "market": ("HSAUR/Forbes2000.csv", "marketvalue", "rank", "name"),
}

KEEL = (
    *("banana", "letter", "magic", "marketing", "mushroom", "penbased", "ring", "spambase"),
    *("texture", "titanic", "twonorm"),
)
"""Tasks of KEEL with at least 2,000 samples that neither LCDB nor scikit-learn has."""

LARGE = (
    *("relapse", "collars", "benefits", "insurance", "drives", "coverage", "private", "farms"),
    *("words", "cuts", "computers", "wages", "households", "food", "firms", "classes"),
    *("baseball", "emissions", "contacts", "medicine", "earnings", "vietnam", "vocabulary"),
    *("mortality", "proteins"),
    *(name for name in KEEL if name != "titanic"),
)
"""Data sets with at least 4,000 samples."""

CLASSIFIERS = [
    LogisticRegression(max_iter=200),
    LogisticRegression(C=0.01),
    LinearDiscriminantAnalysis(),
    QuadraticDiscriminantAnalysis(reg_param=0.1),
    GaussianNB(),
    BernoulliNB(),
    KNeighborsClassifier(5),
    KNeighborsClassifier(15),
    DecisionTreeClassifier(random_state=0),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    ExtraTreeClassifier(random_state=0),
    RandomForestClassifier(50, random_state=0),
    ExtraTreesClassifier(50, random_state=0),
    BaggingClassifier(random_state=0),
    AdaBoostClassifier(random_state=0),
    GradientBoostingClassifier(n_estimators=50, random_state=0),
    HistGradientBoostingClassifier(max_iter=50, random_state=0),
    MLPClassifier(hidden_layer_sizes=(50,), max_iter=100, random_state=0),
    SGDClassifier("log_loss", random_state=0),
    SGDClassifier(random_state=0),
    Perceptron(random_state=0),
    RidgeClassifier(),
    LinearSVC(random_state=0),
    SVC(),
    SVC(kernel="poly"),
    SVC(kernel="sigmoid"),
    NearestCentroid(),
]
REGRESSORS = [
    Ridge(),
    Ridge(100.0),
    Lasso(0.01),
    Lasso(0.1),
    BayesianRidge(),
    HuberRegressor(),
    KNeighborsRegressor(5),
    KNeighborsRegressor(15),
    DecisionTreeRegressor(random_state=0),
    DecisionTreeRegressor(max_depth=3, random_state=0),
    ExtraTreeRegressor(random_state=0),
    RandomForestRegressor(50, random_state=0),
    ExtraTreesRegressor(50, random_state=0),
    BaggingRegressor(random_state=0),
    AdaBoostRegressor(random_state=0),
    GradientBoostingRegressor(n_estimators=50, random_state=0),
    HistGradientBoostingRegressor(max_iter=50, random_state=0),
    MLPRegressor(hidden_layer_sizes=(50,), max_iter=100, random_state=0),
    SGDRegressor(random_state=0),
    LinearSVR(random_state=0),
    SVR(),
    SVR(C=10.0),
    SVR(kernel="poly"),
    SVR(kernel="sigmoid"),
]


def main() -> None:
    """Measure what has no file yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = [*CLASSIFICATION, *KEEL, *REGRESSION]
    parser.add_argument("--data", nargs="+", choices=every, default=every)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of models that have not converged
    np.seterr(all="ignore")
    for family, folder in FOLDERS.items():
        folder.mkdir(parents=True, exist_ok=True)
        for data in options.data:
            path = folder / f"{data}.npz"
            if path.exists() or (family == "large learners" and data not in LARGE):
                continue
            start = perf_counter()
            arrays = measure(data, N_SAMPLES[family])
            store(path, arrays)
            print(f"{data}: {arrays['scores'].shape}, {perf_counter() - start:.0f} s", flush=True)


def measure(data: str, n_samples: int) -> dict[str, Any]:
    """Return the arrays of a file, measured on at most `n_samples` samples."""
    is_regression = data in REGRESSION
    if data in KEEL:
        X, y = real_data.keel(data)
    else:
        path, target, *ignored = (REGRESSION if is_regression else CLASSIFICATION)[data]
        X, y = real_data.columns(path, target, is_regression, ignored)
    folds = some_folds(X, y, n_samples, is_regression)
    n_classes = 1 if is_regression else len(np.unique(y))
    minimum = max(MIN_SAMPLES, 4 * n_classes)
    resources = resource_grid(min(len(fold.train) for fold in folds), minimum, MAX_RATIO)
    learners = REGRESSORS if is_regression else CLASSIFIERS
    found = np.full((3, len(learners), N_FOLDS, len(resources)), np.nan)
    for j, fold in enumerate(folds):
        for k, n in enumerate(resources):
            X_train, y_train, X_test, y_test = samples(fold.subsampled(n))
            for i, learner in enumerate(learners):
                model = make_pipeline(StandardScaler(), clone(learner))
                try:
                    predicted = predictions(model.fit(X_train, y_train), X_test)
                except ValueError:  # too few samples for it: the learner has no curve
                    continue
                found[:, i, j, k] = scores_of(predicted, y_test, is_regression)
    is_missing = np.isnan(found[0, :, :, -1]).any(axis=1)
    if is_missing.any():
        names = [repr(learners[i]) for i in np.flatnonzero(is_missing)]
        raise ValueError(f"{data}: no scores at full resource of {', '.join(names)}")
    return {
        "learners": np.array([repr(learner) for learner in learners]),
        "resources": np.array(resources, dtype=np.int32),
        "scores": encoded(found[0]),
        "neg_log_loss": encoded(found[1]),
        "roc_auc": encoded(found[2]),
    }


def learner_scores(
    family: str, metric: str
) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.float64]]]:
    """Read data sets, resources and scores of shape (n_learners, n_folds, n_resources).

    Parameters
    ----------
    family : {"learners", "large learners"}
    metric : {"scores", "neg_log_loss", "roc_auc"}
        As in learning_curves.py. Learners without such scores are left out.
    """
    for path in sorted(FOLDERS[family].glob("*.npz")):
        with np.load(path) as file:
            scores = decoded(file[metric])
            resources = file["resources"].astype(np.int64)
        whole = ~np.isnan(scores).any(axis=(1, 2))
        if whole.any():
            yield path.stem, resources, scores[whole]


if __name__ == "__main__":
    main()
