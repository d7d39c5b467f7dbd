"""Calls of workers: sending them, and what happens when a worker crashes or is terminated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn_sha._engine.jobs import Job
from sklearn_sha._parallel.monitoring import WorkerDeath
from sklearn_sha._parallel.workers import Workers
from sklearn_sha._user_warning import warn_user


@dataclass(frozen=True)
class WorkerCall:
    """Function call for a worker.

    Attributes
    ----------
    function : callable
    args : tuple
    receive : callable, optional
        Called with what the function returns. By default, that is ignored.
    jobs_of : callable, optional
        Returns the jobs that fail with a part of the call. By default, there are none.
    only : callable or None, default=None
        Returns the call for one part alone. None: the call has a single part.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    receive: Callable[[Any], None] = lambda result: None
    jobs_of: Callable[[int], Sequence[Job]] = lambda part: ()
    only: Callable[[int], WorkerCall] | None = None


def run_calls(
    workers: Workers, calls: Sequence[WorkerCall], fail: Callable[[Sequence[Job], Exception], None]
) -> None:
    """Run calls, and pass on what they return as it arrives.

    If a worker crashes or is terminated, the part of the call that it was at is run once more on
    its own, and fails if that happens again. A part that exceeds ``fit_timeout`` is not run again.

    Parameters
    ----------
    workers : Workers
    calls : sequence of WorkerCall
    fail : callable
        ``fail(jobs, error)`` is called with the jobs of a part that fails.
    """
    died = [
        (call, death, jobs)
        for call, death in _deaths(workers, calls)
        if (jobs := call.jobs_of(death.part))  # a part without jobs is not run again
    ]
    if not died:
        return
    timeout = workers.fit_timeout
    _warn([(jobs, death) for _, death, jobs in died], timeout)
    timed_out = any(death.traceback for _, death, _ in died)
    for call, death, jobs in died:
        if death.traceback:
            fail(jobs, _death_error(timeout, death))
        elif not timed_out:
            again = call if call.only is None else call.only(death.part)
            for _, second in _deaths(workers, [again]):
                fail(jobs, _death_error(timeout, second))


def _deaths(workers: Workers, calls: Sequence[WorkerCall]) -> list[tuple[WorkerCall, WorkerDeath]]:
    """Run calls; return each call whose worker crashed, and how."""
    deaths = []
    for number, result in workers.run([(call.function, call.args) for call in calls]):
        if isinstance(result, WorkerDeath):
            deaths.append((calls[number], result))
        else:
            calls[number].receive(result)
    return deaths


def _death_error(fit_timeout: float | None, death: WorkerDeath) -> Exception:
    if death.traceback:
        return TimeoutError(
            f"The fit exceeded fit_timeout={fit_timeout} seconds. Its worker "
            f"process was terminated at:\n{death.traceback}"
        )
    return RuntimeError(
        "The worker process crashed or was terminated twice, for example because it ran "
        "out of memory or because of an error in compiled code. Lower n_jobs if memory is "
        "short."
    )


def _warn(died: Sequence[tuple[Sequence[Job], WorkerDeath]], fit_timeout: float | None) -> None:
    too_long = [jobs for jobs, death in died if death.traceback]
    where = ", ".join(
        f"candidate {jobs[0].candidate} on fold {jobs[0].fold}"
        for jobs in too_long or [jobs for jobs, _ in died]
    )
    warn_user(
        f"Some fits exceeded fit_timeout={fit_timeout} seconds: {where}. Their worker processes "
        "were restarted, and the search continues."
        if too_long
        else f"A worker process crashed or was terminated while the workers evaluated {where}. The "
        "workers were restarted, and each of these fits is run once more on its own.",
        RuntimeWarning,
    )
