"""Units of training are counted as by a list of the fits of each candidate and fold."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sklearn_sha._results.trained_units import TrainedUnits

RUNGS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 5), min_size=1, unique=True).map(sorted),  # candidates
        st.lists(st.integers(0, 3), min_size=1, unique=True).map(sorted),  # folds
        st.integers(0, 4),  # added to the resource
        st.integers(0, 2**24 - 1),  # which jobs are new
        st.booleans(),  # whether models were discarded before
    ),
    max_size=6,
)


@given(RUNGS, st.booleans())
@settings(deadline=None)
def test_units_are_those_of_a_dict_of_models(rungs, continues):
    units, models, from_scratch, target = TrainedUnits(4, continues), {}, set(), 1
    for candidates, folds, step, bits, discards in rungs:
        target += step
        if discards:
            units.discard_models()
            from_scratch |= {candidate for candidate, _ in models}
        jobs = [(candidate, fold) for candidate in candidates for fold in folds]
        new = [job for position, job in enumerate(jobs) if bits >> position & 1]
        is_new = np.reshape([job in new for job in jobs], (len(candidates), len(folds)))
        before = {
            (candidate, fold): units_before if continues and candidate not in from_scratch else 0
            for (candidate, fold), units_before in models.items()
        }
        expected = sum(target - before.get(job, 0) for job in new)
        assert units.add(candidates, folds, target, is_new) == expected
        everyone = range(max(candidates) + 1)
        models = dict.fromkeys(product(everyone, range(4)), 0) | models | dict.fromkeys(new, target)
        for candidate in everyone:
            continued = continues and candidate not in from_scratch
            trained = [models[candidate, fold] for fold in folds]
            expected = sum(target - continued * one for one in trained if one < target)
            assert units.missing_of(candidate, folds, target) == expected


@pytest.mark.parametrize("continues", [True, False])
def test_what_is_trained_is_not_missing(continues):
    units = TrainedUnits(2, continues)
    assert units.add([3], [0], 5, np.array([[True]])) == 5
    assert units.missing_of(3, [0], 5) == 0
    assert units.missing_of(3, [0, 1], 5) == 5
    assert units.missing_of(3, [0], 8) == (3 if continues else 8)
    units.discard_models()
    assert units.missing_of(3, [0], 8) == 8
