"""Runs algorithms over arbitrary losses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_sha.bandit.promotion import promote
from sklearn_sha.bandit.requests import (
    Losses,
    LossesError,
    Requests,
    Result,
    promoted_ids,
)


def run_over_losses(runs: list[Requests], losses: Losses) -> Result:
    """Run generators of requests one after the other over the same losses.

    Parameters
    ----------
    runs : list of generator
    losses : callable
        As in `successive_halving`.

    Returns
    -------
    Result
        The best of all runs.
    """
    history: list[dict[str, Any]] = []
    known: dict[tuple[int, int], float] = {}
    trained: dict[int, int] = {}
    finalists: list[tuple[int, float]] = []
    for run in runs:
        request = next(run)
        while True:
            arms, resource = request.candidate_ids, request.n_resources
            new = tuple(arm for arm in arms if (arm, resource) not in known)
            new_losses = _checked(losses(new, resource), new, resource, history) if new else []
            known.update({(arm, resource): loss for arm, loss in zip(new, new_losses, strict=True)})
            trained |= {arm: max(resource, trained.get(arm, 0)) for arm in arms}
            rung_losses = np.array([known[arm, resource] for arm in arms])
            if np.isnan(rung_losses).all():
                raise LossesError(
                    f"losses returned NaN for all of {len(arms)} arms at resource {resource}. "
                    "Return a number for at least one of them.",
                    history,
                )
            row = {"bracket": request.bracket, "arms": arms, "n_resources": resource}
            history.append(row | {"losses": rung_losses})
            try:
                following = run.send(rung_losses)
            except StopIteration as end:
                history[-1]["kept"] = (end.value,)
                finalists.append((end.value, known[end.value, resource]))
                break
            history[-1]["kept"] = promoted_ids(request, rung_losses, following)
            request = following
    best, _ = finalists[int(promote([loss for _, loss in finalists], 1)[0])]
    return Result(best, sum(trained.values()), history)


def _checked(
    losses: ArrayLike, new: tuple[int, ...], resource: int, history: list[dict[str, Any]]
) -> list[float]:
    values, n_arms = np.asarray(losses, dtype=float), len(new)
    if values.shape != (n_arms,):
        raise LossesError(
            f"losses returned shape {values.shape} for {n_arms} arms at resource "
            f"{resource}. Return one loss per arm, in the order of the arms.",
            history,
        )
    return values.tolist()
