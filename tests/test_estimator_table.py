"""The table of docs/estimators.md: each line is what the estimator does here.

    python tests/test_estimator_table.py

writes the lines of the installed libraries again.
"""

import pickle
import re
import warnings
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
import pytest
from conftest import ROOT
from sklearn.base import ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.cluster import Birch
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.utils import all_estimators, get_tags

from sklearn_sha._data.slicing import FoldSamples
from sklearn_sha.resources import IntegerParameter, PartialFit
from sklearn_sha.resources.contract_check import _outputs, _same

PAGE = ROOT / "docs" / "estimators.md"
GROWING = {"n_estimators", "max_iter", "max_iter_predict"}
FEW, MANY = 3, 12
BATCH = 30  # samples of a call of partial_fit
X, LABELS = make_classification(120, 8, n_informative=5, n_classes=3, random_state=0)
VALUES = np.abs(3 * X[:, 0] + np.sin(X[:, 1]) + 5)

CONTINUES, REFIT = "continues", "refit from scratch"
STATE = "a call continues from the current state"
ADDS = "warm start adds to the model"
WITHIN = "warm start applies within a single fit"
AGAIN = "warm start starts again, from the old solution"
FROM_A_BOOSTER = "its fit takes the existing booster"
ROUNDED = "its fit takes the existing model; equal up to the rounding of sums"
SAMPLES = "samples at random in every fit"
CAT = {"verbose": 0, "allow_writing_files": False, "random_seed": 0}
NO_SAMPLING = CAT | {"bootstrap_type": "No", "random_strength": 0, "learning_rate": 0.1}
# Of another library: its module, the class, its settings, how they are shown, and the reason.
OTHERS = [
    ("skorch", "NeuralNetClassifier", {}, ", `max_epochs=1`", "a call is one more epoch"),
    ("xgboost", "XGBClassifier", {}, "", FROM_A_BOOSTER),
    ("xgboost", "XGBRegressor", {}, "", FROM_A_BOOSTER),
    ("lightgbm", "LGBMClassifier", {"verbose": -1}, "", FROM_A_BOOSTER),
    ("lightgbm", "LGBMRegressor", {"verbose": -1}, "", FROM_A_BOOSTER),
    ("catboost", "CatBoostClassifier", CAT, "", SAMPLES),
    ("catboost", "CatBoostRegressor", CAT, "", SAMPLES),
    ("catboost", "CatBoostClassifier", NO_SAMPLING, ", no random sampling", ROUNDED),
    ("catboost", "CatBoostRegressor", NO_SAMPLING, ", no random sampling", ROUNDED),
]


if find_spec("torch"):
    import torch

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.layer = torch.nn.Linear(X.shape[1], 3)

        def forward(self, X):
            return self.layer(X.float())


def of_class(library, name, params):
    """An estimator of another library."""
    if library == "skorch":
        loss = torch.nn.CrossEntropyLoss
        once = {"max_epochs": 1, "train_split": None, "verbose": 0}
        params = {"module": Network, "criterion": loss} | once
    return getattr(import_module(library), name)(**params)


def default(cls):
    """An estimator as it is made without arguments, or around one that has partial_fit."""
    try:
        model = cls()
    except TypeError:
        try:
            around = SGDClassifier if issubclass(cls, ClassifierMixin) else SGDRegressor
            model = cls(around(random_state=0))
        except TypeError:  # of several estimators, none of which continues
            return None
    # None is to stop before its last iteration, and a mixture of one has nothing to learn.
    own = {"random_state": 0, "tol": 1e-30, "n_components": 3, "min_categories": 20}
    return model.set_params(**{key: own[key] for key in own.keys() & model.get_params().keys()})


def name_of(model):
    return type(model).__name__


def samples_of(model):
    tags = get_tags(model)
    y = VALUES if is_regressor(model) else LABELS
    if not tags.target_tags.single_output:
        y = np.c_[y, y > 1]
    return FoldSamples.for_training(np.abs(X) if tags.input_tags.positive_only else X, y, {})


def trained(resource, model, samples, *stops):
    """A model that is pickled at each stop, as models are between processes."""
    model, start = clone(model), 0
    for target in stops:
        resource.advance(model, samples, start, target)
        model, start = pickle.loads(pickle.dumps(model)), target
    return model


def same(model, other, samples):
    said, by_other = _outputs(model, samples.X_train), _outputs(other, samples.X_train)
    if name_of(model).startswith("CatBoost"):
        return all(np.allclose(*pair, rtol=1e-10) for pair in zip(said, by_other, strict=True))
    return _same(said, by_other)


def at_once_and_in_parts(resource, model, samples):
    """Two models, and whether they are equal, which `continues` must predict."""
    once, on = trained(resource, model, samples, MANY), trained(resource, model, samples, FEW, MANY)
    is_same = same(once, on, samples)
    assert is_same == resource.continues(clone(model), len(LABELS)), (name_of(model), is_same)
    return once, on, is_same


def partial_fit_line(library, model, shown, why):
    samples = samples_of(model)
    y = samples.y_train
    classes = np.unique(y) if y.ndim == 1 else [np.unique(column) for column in y.T]
    settings = {"seed": 0, "classes": classes if is_classifier(model) else None}
    resource = PartialFit(BATCH, **settings)
    once, _, is_same = at_once_and_in_parts(resource, model, samples)
    assert is_same, name_of(model)
    # The last call is not all that counts.
    last = resource.batch(MANY - 1, len(X))
    last_alone = FoldSamples.for_training(samples.X_train[last], y[last], {})
    forgetful = trained(PartialFit(None, **settings), model, last_alone, 1)
    assert not same(forgetful, once, samples), name_of(model)
    return line_of(library, model, shown, "partial_fit", CONTINUES, why)


def parameter_line(library, model, shown, name, why):
    resource, samples = IntegerParameter(name), samples_of(model)
    _, on, is_same = at_once_and_in_parts(resource, model, samples)
    if is_same:
        return line_of(library, model, shown, name, CONTINUES, why or ADDS)
    if library == "scikit-learn":
        warm = clone(model).set_params(warm_start=True)
        why = WITHIN if same(on, trained(resource, warm, samples, MANY), samples) else AGAIN
    return line_of(library, model, shown, name, REFIT, why)


def line_of(library, model, shown, resource, how, why):
    return f"| {name_of(model)}{shown} | {library} | `{resource}` | {how} | {why} |"


def lines_of(library, model, shown="", why=""):
    """A line for each resource that is one of the model's."""
    params = model.get_params()
    # What takes texts, HashingVectorizer, learns nothing.
    can_train = hasattr(model, "partial_fit") and type(model) is not Birch  # refused
    if can_train and get_tags(model).input_tags.two_d_array:
        yield partial_fit_line(library, model, shown, why or STATE)
    if library == "catboost":
        growing = {"iterations"}  # its get_params has only what was set
    elif library != "scikit-learn" or "warm_start" in params:
        growing = GROWING & params.keys()
    else:
        growing = set()
    for name in sorted(growing):
        yield parameter_line(library, model, shown, name, why)


def of_scikit_learn():
    for _, cls in all_estimators():
        if (model := default(cls)) is not None:
            yield from lines_of("scikit-learn", model)


def of_others():
    for library, name, params, shown, why in OTHERS:
        if find_spec(library):
            yield from lines_of(library, of_class(library, name, params), shown, why)


def made_here():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*of_scikit_learn(), *of_others()]


def on_the_page():
    return [line for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:]


def of_libraries(lines, libraries):
    return {line for line in lines if line.split(" | ")[1] in libraries}


@pytest.mark.slow
def test_every_line_is_as_it_comes_out_here():
    made, shown = made_here(), on_the_page()
    assert len(shown) == len(set(shown)) > 60
    libraries = {line.split(" | ")[1] for line in made}
    (tabled,) = re.findall(r"every estimator of scikit-learn ([\d.]+\d)", PAGE.read_text())
    if version("scikit-learn").startswith(f"{tabled}."):
        assert of_libraries(shown, libraries) == set(made)
    else:  # another version has estimators more or less; those that both have do the same
        known = {line.split(" | ")[0] for line in shown}
        assert {line for line in made if line.split(" | ")[0] in known} <= set(shown)


if __name__ == "__main__":
    lines = made_here()
    kept = set(on_the_page()) - of_libraries(on_the_page(), {x.split(" | ")[1] for x in lines})
    above, head, _ = PAGE.read_text().partition("|---|---|---|---|---|\n")
    order = sorted({*lines, *kept}, key=lambda x: (" scikit-learn " not in x, x))
    PAGE.write_text(above + head + "\n".join(order) + "\n")
