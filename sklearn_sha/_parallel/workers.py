"""Calls through joblib, in this process or in workers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from time import monotonic, sleep
from typing import Any, Self

from joblib import effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from sklearn_sha._parallel.captured_output import CapturedWarning, RepeatedOutput
from sklearn_sha._parallel.monitoring import CallMonitor, WorkerDeath, location

CALLS_AT_ONCE = 4
"""Per worker, where a backend hands back nothing before all that was sent is done."""

_WORKER_DEATHS = {
    ("distributed", "KilledWorker"),
    ("ray", "RayActorError"),
    ("ray", "WorkerCrashedError"),
    ("ray", "OutOfMemoryError"),
}
_OF_ONE_MACHINE = {"LokyBackend", "MultiprocessingBackend", "SequentialBackend", "ThreadingBackend"}
_RESTART_SECONDS = 60.0
Function = Callable[..., Any]


@dataclass(frozen=True)
class _Stored:
    """What lies in Ray's object store."""

    reference: Any

    def take(self) -> Any:
        """Itself, of which arrays are not copied."""
        import ray

        return ray.get(self.reference)


class Workers:
    """Runs calls through joblib.

    Used as a context: its workers and files are there as long, and at its end it shows what calls
    have warned of and printed.

    Parameters
    ----------
    n_jobs, pre_dispatch
        As of joblib.Parallel.
    fit_timeout : float or None
        Seconds that a part of a call may take.
    folder : Path or None
        Where workers note what they are at; None for the machine's folder of temporary files.

    Attributes
    ----------
    n : int
        How many workers there are.
    share_memory : bool
        Whether they are all of this process.
    fit_timeout : float or None
    folder_of_all : Path or None
        Where each of several processes finds what another leaves there: on one machine.
    """

    def __init__(
        self,
        *,
        n_jobs: int | None,
        pre_dispatch: int | str,
        fit_timeout: float | None,
        folder: Path | None,
    ) -> None:
        self.n = effective_n_jobs(n_jobs)
        backend, _ = get_active_backend()
        self.share_memory = self.n == 1 or getattr(backend, "supports_sharedmem", False)
        self._n_jobs = n_jobs
        self.fit_timeout = fit_timeout
        # Large arrays reach workers as memory maps. Parameters of models may be among them, which
        # train in place: copy on write, where joblib's own default would be read-only.
        options = {"n_jobs": n_jobs, "pre_dispatch": pre_dispatch, "mmap_mode": "c"}
        try:
            self._parallel = Parallel(**options, return_as="generator_unordered")
            self._streams = True
        except ValueError:  # multiprocessing and ray hand back all results at once
            self._parallel = Parallel(**options)
            self._streams = False
        self._numbers = count()
        self._stored: dict[int, tuple[Any, _Stored]] = {}
        self._said = RepeatedOutput()
        self._parent = folder
        self._folder: Path | None = None
        self.folder_of_all: Path | None = None
        self._is_one_machine = _is_one_machine(backend)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.callback(self._said.show)
            stack.enter_context(self._parallel)
            if self.fit_timeout is not None:
                self._check_timeout()
            if self.n > 1:
                self._folder = Path(mkdtemp(prefix="workers-", dir=self._parent))
                stack.callback(rmtree, self._folder, ignore_errors=True)
                if self._is_one_machine and not self.share_memory:
                    self.folder_of_all = Path(mkdtemp(prefix="first-steps-"))
                    stack.callback(rmtree, self.folder_of_all, ignore_errors=True)
            self._opened = stack.pop_all()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stored.clear()
        self._opened.__exit__(*exception)

    def run(self, calls: Sequence[tuple[Function, tuple[Any, ...]]]) -> Iterator[tuple[int, Any]]:
        """Run calls, and give what comes back as it comes.

        Parameters
        ----------
        calls : sequence of (callable, tuple)
            Functions of a module, and their arguments after the first, which is a `CallMonitor`.

        Yields
        ------
        (int, object)
            The number of a call and its result, or the `WorkerDeath` of its worker. Calls of which
            nothing is given were not done; there is at least one that was.
        """
        if not self._streams:
            calls = calls[: CALLS_AT_ONCE * self.n]
        watches = [self._watch() for _ in calls]
        positions = {watch.number: position for position, watch in enumerate(watches)}

        def sent(thing: Any) -> Any:
            return self._stored[id(thing)][1] if id(thing) in self._stored else thing

        tasks = (
            delayed(_call)(watch, function, *map(sent, args))
            for watch, (function, args) in zip(watches, calls, strict=True)
        )
        try:
            for number, result, said in self._parallel(tasks):
                self._said.add(said)
                # joblib may hand on what comes late of a run that a death has ended.
                if number not in positions:
                    continue
                yield positions.pop(number), result
                if isinstance(result, WorkerDeath):
                    self._await_restart()
        except Exception as error:
            if not _is_worker_death(error):
                if "pickle" in str(error):
                    error.add_note(
                        "What processes send each other, trained models too, has to be pickled; "
                        'use joblib.parallel_config(backend="threading"), or n_jobs=1.'
                    )
                raise
            self._await_restart()
            deaths = [(position, watches[position].death()) for position in positions.values()]
            if all(death is None for _, death in deaths):
                # It died before it began, or where its file can't be seen: any may be it.
                deaths = [(position, WorkerDeath(0, "")) for position, _ in deaths]
            yield from ((position, death) for position, death in deaths if death is not None)

    def share(self, *things: Any) -> None:
        """Have what many calls take as an argument sent just once, where the backend can.

        joblib does so for large arrays on dask, but a call at a time, and in a way that loses
        them with the worker that has them. What a task returned is made again instead. On Ray
        they go into its object store.
        """
        backend, _ = get_active_backend()
        if type(backend).__name__ == "RayBackend":
            import ray

            for thing in things:
                if id(thing) not in self._stored:
                    # The thing stays alive as well: no other can have its number meanwhile.
                    self._stored[id(thing)] = (thing, _Stored(ray.put(thing)))
        elif hasattr(backend, "data_futures"):
            for thing in things:
                if id(thing) not in backend.data_futures:
                    with warnings.catch_warnings():
                        warnings.filterwarnings("ignore", "Sending large graph")
                        future = backend.client.submit(_itself, thing, pure=False)
                    backend.data_futures[id(thing)] = future
                    self._opened.callback(lambda kept: backend.data_futures.pop(id(kept)), thing)

    def _await_restart(self) -> None:
        """Wait for workers that a cluster starts anew.

        joblib runs calls in this process where there is one worker, and the next call may be
        the one that kills.
        """
        until = monotonic() + _RESTART_SECONDS
        while effective_n_jobs(self._n_jobs) == 1:
            if monotonic() > until:
                raise RuntimeError(
                    f"Of {self.n} workers less than two are left after one died; start more, and "
                    "call resume. What is finished is kept."
                )
            sleep(0.1)

    def _watch(self) -> CallMonitor:
        number = next(self._numbers)
        path = None if self._folder is None else self._folder / str(number)
        return CallMonitor(number, path, self.fit_timeout, hears_prints=not self.share_memory)

    def _check_timeout(self) -> None:
        ((host, process, parent),) = self._parallel([delayed(location)()])
        here, this, _ = location()
        if (host, process) == (here, this):
            why = "here fits run in this very process"
        elif (host, parent) == (here, this) and not self._streams:
            why = "joblib's multiprocessing backend does not notice when a worker ends"
        else:
            return
        raise ValueError(
            f"fit_timeout={self.fit_timeout} ends the worker process of a fit that takes too "
            f"long, but {why}; set n_jobs=2 or more with joblib's loky backend, or leave "
            "fit_timeout=None."
        )


def on_this_machine() -> AbstractContextManager[Any]:
    """A context in which what calls joblib is not sent to a cluster.

    What an estimator computes there comes back in arrays of another layout, of which the last
    bit of a sum depends.
    """
    backend, _ = get_active_backend()
    return nullcontext() if _is_one_machine(backend) else parallel_config(backend="threading")


def _is_one_machine(backend: Any) -> bool:
    return type(backend).__name__ in _OF_ONE_MACHINE


def _call(
    watch: CallMonitor, function: Function, *args: Any
) -> tuple[int, Any, Sequence[CapturedWarning | str]]:
    # dask sends a call again whose worker died; then that is the result.
    if (death := watch.death()) is not None:
        return watch.number, death, ()
    with on_this_machine():
        things = [arg.take() if isinstance(arg, _Stored) else arg for arg in args]
        return watch.number, function(watch, *things), watch.said


def _itself(thing: Any) -> Any:
    return thing


def _is_worker_death(error: Exception) -> bool:
    """Whether an error says that a worker is dead; dask's and ray's are known by their names."""
    names = {(cls.__module__.partition(".")[0], cls.__name__) for cls in type(error).__mro__}
    return isinstance(error, BrokenExecutor) or not names.isdisjoint(_WORKER_DEATHS)
