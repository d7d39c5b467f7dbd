"""Folds: nested and stratified subsamples, slicing, and protection of shared samples."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit

from sklearn_sha._data.fold_order import is_series
from sklearn_sha._data.folds import MIN_TEST_SAMPLES, make_folds
from sklearn_sha._data.slicing import take
from sklearn_sha._data.subsampling import class_codes, with_subsampling


def folds_of(X, y, splitter, *, stratify, seed=0, pairwise=False, **params):
    splits = list(splitter.split(X, y))
    made = make_folds(
        X,
        y,
        splits,
        fit_params=params.get("fit_params", {}),
        preprocessing_params={},
        score_params={},
        pairwise=pairwise,
    )
    codes = class_codes(y) if stratify else None
    return with_subsampling(made, codes=codes, seed=seed, are_series=is_series(splits))


@given(
    st.lists(st.integers(3, 60), min_size=2, max_size=5),
    st.integers(0, 50),
    st.lists(st.integers(1, 300), min_size=2, max_size=5),
)
def test_subsamples_are_nested_stratified_and_in_order(counts, seed, sizes):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    X = np.arange(len(y))[:, None]
    fold = folds_of(X, y, StratifiedKFold(3), stratify=True, seed=seed)[0]
    inner = set()
    for size in sorted(min(size, len(fold.train)) for size in sizes):
        view = fold.subsampled(size)
        assert len(view.train) == size
        assert inner <= set(view.train)
        inner = set(view.train)
        positions = np.searchsorted(np.sort(fold.train), view.train)
        assert (np.diff(positions) > 0).all()
        present = np.bincount(y[view.train], minlength=len(counts))
        if size >= len(counts):
            assert (present >= 1).all()
        if size >= 2 * len(counts):
            assert (present >= 2).all()
        # Shares are as even as possible, apart from the minimum of two samples per class.
        shares = np.bincount(y[fold.train], minlength=len(counts)) * size / len(fold.train)
        assert (np.abs(present - shares) <= 1 + 2 * len(counts)).all()
    assert fold.subsampled(len(fold.train)) is fold


def test_large_subsamples_keep_the_class_proportions():
    y = np.repeat([0, 1, 2], [6000, 2700, 300])
    fold = folds_of(np.zeros((9000, 1)), y, StratifiedKFold(3), stratify=True)[0]
    for size in (300, 1000, 3000):
        shares = np.bincount(y[fold.subsampled(size).train]) / size
        np.testing.assert_allclose(shares, [6000 / 9000, 2700 / 9000, 300 / 9000], atol=2 / size)


def test_test_samples_are_proportional_to_training_samples_and_at_least_1000():
    y = np.tile([0, 1], 20_000)
    fold = folds_of(np.zeros((40_000, 1)), y, StratifiedKFold(4), stratify=True)[0]
    assert (len(fold.train), len(fold.test)) == (30_000, 10_000)
    sizes = {n: len(fold.subsampled(n).test) for n in (10, 2999, 3001, 15_000, 30_000)}
    assert sizes == {10: MIN_TEST_SAMPLES, 2999: 1000, 3001: 1001, 15_000: 5000, 30_000: 10_000}
    assert set(fold.subsampled(10).test) < set(fold.subsampled(15_000).test) < set(fold.test)


def test_a_small_test_fold_is_not_subsampled():
    fold = folds_of(np.zeros((900, 1)), np.tile([0, 1], 450), KFold(3), stratify=True)[0]
    assert len(fold.subsampled(4).test) == 300


def test_splits_with_one_test_set_are_of_no_time_series():
    samples = np.arange(9)
    assert is_series([(samples[:3], samples[3:6]), (samples[3:6], samples[6:])])
    assert not is_series([(samples[:3], samples[6:]), (samples[3:6], samples[6:])])
    assert not is_series([(samples[:6], samples[6:])])
    assert not is_series([(samples[:3], samples[6:]), (samples[:0], samples[3:6])])


def test_subsamples_of_a_time_series_are_the_latest_samples_in_order():
    X = np.arange(600)[:, None]
    for fold in folds_of(X, None, TimeSeriesSplit(4), stratify=False):
        assert fold.subsampled(50).train.tolist() == fold.train[-50:].tolist()


def test_subsamples_of_a_time_series_have_ten_of_each_class_and_the_latest_others():
    X, y = np.arange(1200)[:, None], (np.arange(1200) % 11 == 3).astype(int)
    y[100:] = 0
    for fold in folds_of(X, y, TimeSeriesSplit(4), stratify=True):
        rare = np.flatnonzero(y[fold.train])
        assert len(rare) == 9
        others = np.setdiff1d(fold.train, rare)
        for size in (20, 50, 100):
            view = fold.subsampled(size)
            assert view.train.tolist() == sorted([*rare, *others[9 - size :]])
    y[100:200] = 1
    for fold in folds_of(X, y, TimeSeriesSplit(4), stratify=True):
        view = fold.subsampled(50)
        for label in (0, 1):
            kept, known = (train[y[train] == label] for train in (view.train, fold.train))
            assert kept[-10:].tolist() == known[-10:].tolist()


def test_a_subsampled_test_fold_has_ten_samples_of_the_rarest_class():
    y = (np.arange(20_000) % 200 == 0).astype(int)
    for n_rare, least in ((100, 10), (60, 6), (5, 0)):  # at most half of those of the fold
        y[np.flatnonzero(y)[n_rare:]] = 0
        for fold in folds_of(np.zeros((20_000, 1)), y, StratifiedKFold(5), stratify=True):
            view = fold.subsampled(400)
            assert y[view.test].sum() >= least
            assert len(view.test) <= len(fold.test) / 2
            share = y[fold.test].mean()
            assert abs(y[view.test].sum() - share * len(view.test)) <= 2


@pytest.mark.parametrize("splitter", [KFold(3), TimeSeriesSplit(3)])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_subsamples_have_two_samples_of_every_class_of_each_output(n_classes, splitter):
    rng = np.random.default_rng(0)
    y = rng.choice(n_classes, size=(3000, 8), p=[0.99, *[0.01 / (n_classes - 1)] * (n_classes - 1)])
    per_class = 10 if isinstance(splitter, TimeSeriesSplit) else 2
    size = per_class * 8 * n_classes
    for fold in folds_of(np.zeros((3000, 1)), y, splitter, stratify=True):
        few, more = fold.subsampled(size).train, fold.subsampled(2 * size).train
        assert (len(few), len(more)) == (size, 2 * size)
        assert set(few) < set(more)
        for some, known in zip(y[few].T, y[fold.train].T, strict=True):
            for label in range(n_classes):
                assert sum(some == label) >= min(per_class, sum(known == label))


def test_without_classes_subsamples_are_random_and_depend_on_the_seed():
    X, y = np.zeros((300, 1)), np.linspace(0, 1, 300)
    one, same, other = (
        folds_of(X, y, KFold(3), stratify=False, seed=seed)[0].subsampled(40).train.tolist()
        for seed in (0, 0, 1)
    )
    assert one == same != other


@pytest.mark.parametrize(
    "X",
    [
        np.arange(12.0).reshape(6, 2),
        sparse.csr_matrix(np.arange(12.0).reshape(6, 2)),
        sparse.csr_array(np.arange(12.0).reshape(6, 2)),
        pd.DataFrame({"a": range(6), "b": list("abcdef")}, index=range(60, 0, -10)),
        list("abcdef"),
    ],
    ids=["array", "matrix", "sparse array", "frame", "list"],
)
def test_a_candidate_cannot_change_samples_of_another(X):
    samples = folds_of(X, np.arange(6), KFold(2), stratify=False)[0].samples()
    before = repr(take(samples.X_train, np.arange(3)))
    X_shared, y_shared, _ = samples.fitting()
    assert repr(take(X_shared, np.arange(3))) == before
    with pytest.raises(ValueError, match="read-only"):
        y_shared[0] = 99
    if isinstance(X, pd.DataFrame):
        X_shared["a"] = -1
        X_shared.iloc[0, 1] = "z"
        X_shared["new"] = 0
    elif isinstance(X, list):
        X_shared.reverse()
    else:
        with pytest.raises(ValueError, match="read-only"):
            (X_shared.data if sparse.issparse(X) else X_shared)[0] = 99
    assert repr(take(samples.fitting()[0], np.arange(3))) == before
    X_copy, y_copy, _ = samples.writable().fitting()
    y_copy[:] = 99
    if isinstance(X, np.ndarray):
        X_copy[:] = 99
    assert repr(take(samples.fitting()[0], np.arange(3))) == before
    assert samples.y_train.max() < 99


def test_parameters_with_one_value_per_sample_are_sliced_and_others_are_not():
    X = np.zeros((6, 1))
    params = {
        "w": np.arange(6),
        "series": pd.Series(range(6)),
        "n": 3,
        "name": "sixsix",
        "short": [1],
    }
    fold = folds_of(X, None, KFold(2), stratify=False, fit_params=params)[0]
    sliced = fold.samples().fit_params
    assert sliced["w"].tolist() == sliced["series"].tolist() == fold.train.tolist()
    assert (sliced["n"], sliced["name"], sliced["short"]) == (3, "sixsix", [1])


def test_a_pairwise_matrix_is_sliced_on_both_axes():
    X = np.arange(36.0).reshape(6, 6)
    samples = folds_of(X, None, KFold(3), stratify=False, pairwise=True)[0].subsampled(2).samples()
    assert samples.X_train.shape == (2, 2)
    assert samples.X_test.shape == (2, 2)
    assert samples.X_train[0, 0] % 7 == 0  # on the diagonal


def test_splits_can_be_boolean_masks_and_can_repeat_samples():
    X = np.arange(5)[:, None]
    splits = [(np.array([True, True, True, False, False]), [3, 4]), ([0, 0, 0, 1, 1], [2])]
    made = make_folds(
        X, None, splits, fit_params={}, preprocessing_params={}, score_params={}, pairwise=False
    )
    made = with_subsampling(made, codes=None, seed=0)
    assert made[0].samples().X_train.ravel().tolist() == [0, 1, 2]
    assert len(made[1].subsampled(3).samples().X_train) == 3
