"""Function calls through joblib, in this process or in workers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from itertools import count
from math import inf
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from time import monotonic, perf_counter, sleep
from typing import Any, Self
from weakref import finalize

from joblib import effective_n_jobs, parallel_config
from sklearn.utils.parallel import Parallel, delayed

from sklearn_sha._compat import active_backend, dask_futures
from sklearn_sha._parallel.captured_output import CapturedWarning, RepeatedOutput
from sklearn_sha._parallel.monitoring import CallMonitor, WorkerDeath, process_location

CALLS_PER_WORKER = 4
"""Calls sent at a time for each worker, if the backend returns all results at the end."""

_WORKER_DEATH_ERRORS = {
    ("distributed", "KilledWorker"),
    ("ray", "RayActorError"),
    ("ray", "WorkerCrashedError"),
    ("ray", "OutOfMemoryError"),
}
_CANNOT_UNPICKLE = "un-serialize"
_LOCAL_BACKENDS = {
    "LokyBackend",
    "MultiprocessingBackend",
    "SequentialBackend",
    "ThreadingBackend",
}
_RESTART_SECONDS = 60.0
Function = Callable[..., Any]


@dataclass(frozen=True)
class _RayReference:
    """Reference to an object in Ray's object store."""

    reference: Any

    def get(self) -> Any:
        """Return the object; its arrays are not copied."""
        import ray

        return ray.get(self.reference)


class Workers:
    """Runs function calls through joblib.

    As a context manager, it keeps its workers and temporary files until the end, and then shows
    the warnings and printed lines of all calls.

    Parameters
    ----------
    n_jobs, pre_dispatch
        As in joblib.Parallel.
    fit_timeout : float or None
        Maximum time of a part of a call, in seconds.
    folder : Path or None
        Parent of the folder in which workers note what they are running; None for the default
        folder of temporary files.

    Attributes
    ----------
    n_workers : int
    share_memory : bool
        Whether all calls run in this process.
    fit_timeout : float or None
    shared_folder : Path or None
        Temporary folder of all worker processes, if they run on this machine.
    busy_seconds : float
        Time that all completed calls took together.
    start_seconds : float
        Time until the first call began, in which worker processes were started and received its
        arguments. 0 if it is unknown: the backend returns all results at the end, or the worker
        of the first call crashed.
    """

    def __init__(
        self,
        *,
        n_jobs: int | None,
        pre_dispatch: int | str,
        fit_timeout: float | None,
        folder: Path | None,
    ) -> None:
        self.n_workers = effective_n_jobs(n_jobs)
        backend = active_backend()
        self.share_memory = self.n_workers == 1 or getattr(backend, "supports_sharedmem", False)
        self._n_jobs = n_jobs
        self.fit_timeout = fit_timeout
        self.busy_seconds = self.start_seconds = 0.0
        self._has_started = False
        # All other options are joblib's defaults. With others, joblib would end the workers that
        # scikit-learn has started and start new ones, and again at scikit-learn's next call.
        options: dict[str, Any] = {"n_jobs": n_jobs, "pre_dispatch": pre_dispatch}
        try:
            self._parallel = Parallel(**options, return_as="generator_unordered")
            self._streams = True
        except ValueError:  # multiprocessing and ray return all results at the end
            self._parallel = Parallel(**options)
            self._streams = False
        self._call_numbers = count()
        # Values that were broadcast, which are kept so that their ids are not reused.
        self._broadcast: dict[int, Any] = {}
        self._ray_references: dict[int, _RayReference] = {}
        self._output = RepeatedOutput()
        self._parent_folder = folder
        self._monitor_folder: Path | None = None
        self.shared_folder: Path | None = None
        self._is_local = _is_local(backend)

    def __enter__(self) -> Self:
        with ExitStack() as self._stack:
            self._stack.callback(self._output.show)
            self._stack.enter_context(self._parallel)
            if self.fit_timeout is not None:
                self._check_timeout()
            if not self.share_memory:
                self._monitor_folder = self.new_folder("workers-", self._parent_folder)
                if self._is_local:
                    self.shared_folder = self.new_folder("preprocessing-")
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *exception: Any) -> None:
        for value in [*self._broadcast.values()]:
            self.release(value)
        self._stack.__exit__(*exception)

    def new_folder(self, prefix: str, parent: Path | None = None) -> Path:
        """Return a new temporary folder, which is deleted at the end."""
        folder = Path(mkdtemp(prefix=prefix, dir=parent))
        # If Ctrl-C interrupts the deletion at the end, it is deleted with this object.
        finalizer = finalize(self, rmtree, folder, ignore_errors=True)

        def delete() -> None:
            rmtree(folder, ignore_errors=True)
            finalizer.detach()

        self._stack.callback(delete)
        return folder

    def run(self, calls: Sequence[tuple[Function, tuple[Any, ...]]]) -> Iterator[tuple[int, Any]]:
        """Run calls, and yield their results in the order of completion.

        Parameters
        ----------
        calls : sequence of (callable, tuple)
            Functions of a module, and their arguments after the first, which is a `CallMonitor`.

        Yields
        ------
        (int, object)
            Position of a call and its result, or the `WorkerDeath` of its worker. Calls for which
            nothing is yielded were not run. At least one call is yielded.

        Raises
        ------
        ValueError
            If joblib dispatches none of the calls.
        """
        if not self._streams:
            calls = calls[: CALLS_PER_WORKER * self.n_workers]
        monitors = [self._new_monitor() for _ in calls]
        positions = {monitor.number: position for position, monitor in enumerate(monitors)}

        def by_reference(value: Any) -> Any:
            return self._ray_references.get(id(value), value)

        tasks = (
            delayed(_call)(monitor, function, *map(by_reference, args))
            for monitor, (function, args) in zip(monitors, calls, strict=True)
        )
        begin = perf_counter()
        is_dispatched = False
        try:
            for number, result, output, seconds in self._parallel(tasks):
                is_dispatched = True
                self._output.add(output)
                # joblib can return late results of a previous run that a worker's death ended.
                if number not in positions:
                    continue
                self.busy_seconds += seconds
                # How long a call ran whose worker died is unknown, and so is the start then.
                self._note_start(begin, inf if isinstance(result, WorkerDeath) else seconds)
                yield positions.pop(number), result
                if isinstance(result, WorkerDeath):
                    self._wait_for_restart()
        except Exception as error:
            if not _is_worker_death(error):
                if "pickl" in str(error) and not self.share_memory:
                    error.add_note(
                        "Everything that is sent between processes, including trained models, "
                        'must be picklable; use joblib.parallel_config(backend="threading"), or '
                        "n_jobs=1."
                    )
                raise
            self._wait_for_restart()
            deaths = [(position, monitors[position].death()) for position in positions.values()]
            if all(death is None for _, death in deaths):
                # It ended before its call started, or on another machine: any call may be it.
                deaths = [(position, WorkerDeath(0, "")) for position, _ in deaths]
            yield from ((position, death) for position, death in deaths if death is not None)
        else:
            if not is_dispatched:  # a search would send the same calls again and again
                raise ValueError(
                    f"No fits were performed, since pre_dispatch={self._parallel.pre_dispatch!r} "
                    f"dispatches none with {self.n_workers} workers. Set it to at least 1, or "
                    'leave it "2*n_jobs".'
                )

    def broadcast(self, *values: Any) -> None:
        """Send values, which are arguments of many calls, to the workers once.

        This has an effect on dask and Ray only. joblib broadcasts large arrays to dask too, but
        once per call, and they are lost with their worker. Here they are the results of dask
        tasks, which dask computes again after a loss. On Ray they are put into the object store.
        They stay there until `release`, or until the end.
        """
        backend = active_backend()
        is_ray = type(backend).__name__ == "RayBackend"
        # The data_futures of dask include what the user scatters, which is not released here.
        known = self._ray_references if is_ray else dask_futures(backend)
        if known is None:
            return
        for value in values:
            if id(value) in known:
                continue
            self._broadcast[id(value)] = value
            if is_ray:
                import ray

                known[id(value)] = _RayReference(ray.put(value))
            else:
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", "Sending large graph")
                    known[id(value)] = backend.client.submit(_identity, value, pure=False)

    def release(self, value: Any) -> None:
        """Free the memory of a value that was broadcast and that no later call needs."""
        if id(value) not in self._broadcast:
            return
        del self._broadcast[id(value)]
        self._ray_references.pop(id(value), None)
        if (futures := dask_futures(active_backend())) is not None:
            futures.pop(id(value), None)

    def _wait_for_restart(self) -> None:
        """Wait until a cluster has restarted its workers.

        With a single worker, joblib runs calls in this process, which the next call could crash.
        """
        deadline = monotonic() + _RESTART_SECONDS
        while self._n_available() < 2:
            if monotonic() > deadline:
                raise RuntimeError(
                    f"Fewer than two of {self.n_workers} workers are left after a worker crashed "
                    "or was terminated. Start more workers and call resume. Completed results are "
                    "kept."
                )
            sleep(0.1)

    def _note_start(self, begin: float, seconds: float) -> None:
        """Set `start_seconds`, given when the first call was sent and how many seconds it took."""
        if self._streams and not self._has_started:
            self.start_seconds = max(0.0, perf_counter() - begin - seconds)
        self._has_started = True

    def _n_available(self) -> int:
        try:
            return int(effective_n_jobs(self._n_jobs))
        except TimeoutError:  # of dask, if it has no worker
            return 0

    def _new_monitor(self) -> CallMonitor:
        number = next(self._call_numbers)
        path = None if self._monitor_folder is None else self._monitor_folder / str(number)
        return CallMonitor(number, path, self.fit_timeout, captures_prints=not self.share_memory)

    def _check_timeout(self) -> None:
        begin = perf_counter()
        ((host, process, requested_by),) = self._parallel([delayed(process_location)()])
        self._note_start(begin, 0.0)
        this_host, this_process, _ = process_location()
        if (host, process) == (this_host, this_process):
            reason = "fits run in the process of the search"
        elif (host, requested_by) == (this_host, this_process) and not self._streams:
            reason = "joblib's multiprocessing backend does not notice when a worker ends"
        else:
            return
        raise ValueError(
            f"fit_timeout={self.fit_timeout} ends the worker process of a fit that takes too "
            f"long, but {reason}. Set n_jobs=2 or more with joblib's loky backend, or leave "
            "fit_timeout=None."
        )


def local_backend() -> AbstractContextManager[Any]:
    """Context manager in which calls of estimators to joblib are not sent to a cluster.

    A cluster returns arrays in another memory layout, which the rounding of sums depends on.
    """
    backend = active_backend()
    return nullcontext() if _is_local(backend) else parallel_config(backend="threading")


def _is_local(backend: Any) -> bool:
    return type(backend).__name__ in _LOCAL_BACKENDS


def _call(
    monitor: CallMonitor, function: Function, *args: Any
) -> tuple[int, Any, Sequence[CapturedWarning | str], float]:
    # dask runs a call again if its worker ended.
    if (death := monitor.death()) is not None:
        return monitor.number, death, (), 0.0
    with local_backend():
        values = [arg.get() if isinstance(arg, _RayReference) else arg for arg in args]
        start = perf_counter()
        result = function(monitor, *values)
        return monitor.number, result, monitor.output, perf_counter() - start


def _identity(value: Any) -> Any:
    return value


def _is_worker_death(error: Exception) -> bool:
    """Whether an error reports that a worker ended. Errors of dask and Ray are known by name."""
    # loky raises these as the error of a crashed worker. Without memory, another try can succeed.
    if _CANNOT_UNPICKLE in str(error) and "MemoryError" not in str(error.__cause__):
        return False
    names = {(cls.__module__.partition(".")[0], cls.__name__) for cls in type(error).__mro__}
    return isinstance(error, BrokenExecutor) or not names.isdisjoint(_WORKER_DEATH_ERRORS)
