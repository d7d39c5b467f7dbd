"""New models that are copies: they equal clones, and other estimators are cloned."""

import threading
import warnings
import weakref

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from toys import Curve

from sklearn_sha._engine.template import Template
from sklearn_sha.candidates.space import with_params


class Numbered(BaseEstimator):
    n_made = 0

    def __init__(self, tag=0):
        self.tag = tag
        Numbered.n_made += 1
        self.number_ = Numbered.n_made


class Warns(BaseEstimator):
    def __init__(self, tag=0):
        self.tag = tag
        warnings.warn("tag is deprecated", FutureWarning, stacklevel=2)


class Printing(BaseEstimator):
    def __init__(self, tag=0):
        self.tag = tag
        print("made")


class Setting(BaseEstimator):
    def __init__(self, tag=0):
        self.tag = tag

    def set_params(self, **params):
        return super().set_params(**{name: value + 1 for name, value in params.items()})


class Slotted(BaseEstimator):
    __slots__ = ("extra_",)

    def __init__(self, tag=0):
        self.tag = tag
        self.extra_ = object()


MISSING, LOCK = object(), threading.Lock()


class Sentinel(BaseEstimator):
    """The sentinel of a model that was pickled is another one than that of its module."""

    def __init__(self, tag=0):
        self.tag = tag
        self.cache_ = MISSING


class Locked(BaseEstimator):
    """Is pickled without its lock."""

    def __init__(self, tag=0):
        self.tag = tag
        self.lock_ = LOCK

    def __getstate__(self):
        return {"tag": self.tag}


class Elsewhere:
    def __init__(self):
        self.values = weakref.WeakKeyDictionary()

    def __get__(self, model, kind=None):
        return self if model is None else self.values[model]

    def __set__(self, model, value):
        self.values[model] = value


class Described(BaseEstimator):
    """Has a parameter that is not among its attributes."""

    tag = Elsewhere()

    def __init__(self, tag=0):
        self.tag = tag


class OwnPipeline(Pipeline):
    pass


class Counting(BaseEstimator):
    """Has an attribute that is no parameter, and is equal in all clones."""

    def __init__(self, tag=0):
        self.tag = tag
        self.n_calls = 0


def requesting():
    with config_context(enable_metadata_routing=True):
        return LogisticRegression().set_fit_request(sample_weight=True)


@pytest.mark.parametrize(
    ("estimator", "params"),
    [
        (SGDClassifier(random_state=3), {"alpha": 0.5, "loss": "log_loss"}),
        (MLPClassifier((5, 3)), {"hidden_layer_sizes": (7,)}),
        (Ridge(), {}),
        (SVC().fit([[0], [1]], [0, 1]), {"kernel": np.float64}),
        (AdaBoostClassifier(), {"estimator": SGDClassifier()}),
        (Counting(), {"tag": [1, 2]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_copy_equals_a_clone(estimator, params):
    model = Template.of(estimator, trains_last_step=False).new_model(params)
    expected = with_params(estimator, params)
    assert type(model) is type(expected)
    assert list(vars(model)) == list(vars(expected))
    assert str(model.get_params()) == str(expected.get_params())
    for name, value in params.items():
        if isinstance(value, list | BaseEstimator):
            assert vars(model)[name] is not value


def test_copies_are_independent():
    template = Template.of(Counting(), trains_last_step=False)
    first, second = template.new_model({"tag": 1}), template.new_model({})
    first.n_calls += 1
    assert (second.tag, second.n_calls, template.new_model({}).n_calls) == (0, 0, 0)


@pytest.mark.parametrize(
    "estimator",
    [
        AdaBoostClassifier(SGDClassifier()),
        SGDClassifier(random_state=np.random.RandomState(0)),
        SGDClassifier(class_weight={0: 1, 1: 2}),
        MLPClassifier(hidden_layer_sizes=([5],)),
        requesting(),
        StandardScaler().set_output(transform="pandas"),
        RandomForestClassifier(),  # makes a tree
        Numbered(),
        Printing(),
        Setting(),
        Slotted(),
        Sentinel(),
        Locked(),
        Described(),
        make_pipeline(StandardScaler(), SGDClassifier()),
        "passthrough",
        None,
    ],
    ids=lambda value: type(value).__name__,
)
def test_estimators_without_a_template(estimator, capsys):
    assert Template.of(estimator, trains_last_step=False) is None
    pipeline = Pipeline([("scale", StandardScaler()), ("last", estimator)])
    assert Template.of(pipeline, trains_last_step=True) is None


def test_an_estimator_whose_constructor_warns_has_no_template():
    with pytest.warns(FutureWarning, match="tag"):
        estimator = Warns()
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        assert Template.of(estimator, trains_last_step=False) is None
    assert shown == []


def test_the_last_step_of_a_pipeline_has_a_template():
    pipeline = make_pipeline(StandardScaler(), Curve())
    template = Template.of(pipeline, trains_last_step=True)
    model = template.new_model(
        {"standardscaler__with_mean": False, "standardscaler": MinMaxScaler(), "curve__limit": 0.5}
    )
    assert model.get_params() == clone(Curve(limit=0.5)).get_params()
    pipeline = OwnPipeline(pipeline.steps)
    assert Template.of(pipeline, trains_last_step=True) is None


@pytest.mark.parametrize(
    ("estimator", "params"),
    [
        (Curve(), {"limits": 1}),
        (Curve(), {"limit": SGDClassifier(), "limit__alpha": 1}),
        (make_pipeline(StandardScaler(), Curve()), {"curve": Curve(limit=2)}),
        (make_pipeline(StandardScaler(), Curve()), {"curve__limit": 1, "curves__limit": 2}),
        (make_pipeline(StandardScaler(), Curve()), {"memory": None}),
        (make_pipeline(StandardScaler(), Curve()), {"curve__limit__alpha": 1}),
    ],
)
def test_other_parameters_are_left_to_set_params(estimator, params):
    template = Template.of(estimator, trains_last_step=isinstance(estimator, Pipeline))
    assert template.new_model(params) is None
