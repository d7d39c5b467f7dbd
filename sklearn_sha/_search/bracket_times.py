"""Which brackets of an anytime search end in time."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, inf
from statistics import fmean
from time import time
from typing import Self

from sklearn_sha._data.slicing import n_samples_of
from sklearn_sha._parallel.workers import Workers
from sklearn_sha._results.results import Results
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha.bandit.anytime import Anytime
from sklearn_sha.resources.limits import WholeFit
from sklearn_sha.schedules import Schedule


class BracketTimes:
    """Predict the seconds of the next bracket of an anytime search, and of the refit after it.

    The seconds of a bracket are those so far, without the start of the workers, in proportion to
    its units. The refit takes the mean time of its units, on all samples; if it calls ``fit``, that
    of the maximum number of units, and if samples are the resource, that of all samples. Shared
    preprocessing takes the time of its longest fit on a fold, in proportion to the samples.

    Parameters
    ----------
    plan : Schedule
    samples_ratio : float
        Number of all samples, divided by the mean number of training samples of a fold.
    n_workers : int
    refits : bool
        Whether there is a refit.
    start_time, max_time : float
        Seconds.
    clock : callable, default=time.time
        Returns the time in seconds.
    whole_fit : WholeFit or None, default=None
        When the refit calls ``fit``.
    n_samples : int or None, default=None
        Number of all samples if they are the resource.
    start_seconds : callable, optional
        Returns how many seconds the workers took to start. 0 by default.
    """

    def __init__(
        self,
        plan: Schedule,
        samples_ratio: float,
        n_workers: int,
        *,
        refits: bool,
        start_time: float,
        max_time: float,
        clock: Callable[[], float] = time,
        whole_fit: WholeFit | None = None,
        n_samples: int | None = None,
        start_seconds: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._costs = [bracket.total_cost for bracket in plan.brackets]
        self._n_resources = plan.max_resources
        self._samples_ratio, self._n_workers = samples_ratio, n_workers
        self._counts_folds = plan.counts_folds
        self._refits, self._whole_fit, self._n_samples = refits, whole_fit, n_samples
        self._start_time, self._max_time, self._clock = start_time, max_time, clock
        self._start_seconds = start_seconds

    @classmethod
    def of(
        cls,
        spec: SearchSpec,
        workers: Workers,
        start_time: float,
        max_time: float,
        *,
        refits: bool,
    ) -> Self | None:
        """Return what decides whether further brackets are begun; None: all of them are."""
        if not isinstance(spec.algorithm, Anytime) or max_time == inf or spec.is_closed:
            return None
        n_samples = n_samples_of(spec.folds[0].X)
        return cls(
            spec.schedule,
            n_samples / fmean(len(fold.train) for fold in spec.folds),
            workers.n_workers,
            refits=refits,
            start_time=start_time,
            max_time=max_time,
            whole_fit=spec.config.whole_fit,
            n_samples=n_samples if spec.resource.counts_samples else None,
            start_seconds=lambda: workers.start_seconds,
        )

    def refusal(self, bracket: int, results: Results) -> str:
        """Return why a bracket is not begun, or "" if it and the refit should end in time.

        Parameters
        ----------
        bracket : int
            Number of the bracket. The first one is always begun.
        results : Results
            Results of the brackets before it.
        """
        if bracket == 0:
            return ""
        elapsed = self._clock() - self._start_time
        # Known results of an earlier process took their time too.
        so_far = max(elapsed - self._start_seconds(), results.seconds / self._n_workers)
        seconds = so_far * self._costs[bracket] / max(1, results.cost)
        if self._refits:
            seconds += self._refit_units() * results.seconds / max(1, results.n_units)
            seconds += self._samples_ratio * results.preprocessing_seconds
        left = max(0.0, self._max_time - elapsed)
        if seconds <= left:
            return ""
        # Rounded such that they differ.
        needed, left = ceil(10 * seconds) / 10, floor(10 * left) / 10
        return (
            f"Bracket {bracket} is not begun: it would take about {needed:.1f} s, and there are "
            f"{left:.1f} s left."
        )

    def _refit_units(self) -> float:
        """Return the units of a refit."""
        if self._counts_folds:
            return self._samples_ratio
        if self._n_samples is not None:
            return self._n_samples
        n_resources = self._n_resources
        if self._whole_fit is not None and self._whole_fit.replaces(n_resources):
            n_resources = self._whole_fit.max_units
        return n_resources * self._samples_ratio
