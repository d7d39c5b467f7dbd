"""Algorithms run over any losses."""

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
    RungRequest,
    promoted_ids,
)


def run_over_losses(algorithms: list[Requests], losses: Losses) -> Result:
    """Run algorithms one after the other over the same losses; the best is of them all."""
    history: list[dict[str, Any]] = []
    told: dict[tuple[int, int], float] = {}
    furthest: dict[int, int] = {}
    finalists: list[tuple[int, float]] = []
    for algorithm in algorithms:
        request = next(algorithm)
        while True:
            arms, resource, new = request.candidate_ids, request.n_resources, request.new_ids
            answer = _checked(losses(new, resource), request, history) if new else []
            told.update({(arm, resource): loss for arm, loss in zip(new, answer, strict=True)})
            furthest |= {arm: max(resource, furthest.get(arm, 0)) for arm in arms}
            now = np.array([told[arm, resource] for arm in arms])
            row = {"bracket": request.bracket, "arms": arms, "resource": resource}
            history.append(row | {"losses": now})
            try:
                following = algorithm.send(now)
            except StopIteration as end:
                history[-1]["kept"] = (end.value,)
                finalists.append((end.value, told[end.value, resource]))
                break
            history[-1]["kept"] = promoted_ids(request, now, following)
            request = following
    best, _ = finalists[int(promote([loss for _, loss in finalists], 1)[0])]
    return Result(best, sum(furthest.values()), history)


def _checked(answer: ArrayLike, request: RungRequest, history: list[dict[str, Any]]) -> list[float]:
    values, n_arms = np.asarray(answer, dtype=float), len(request.new_ids)
    if values.shape != (n_arms,):
        raise LossesError(
            f"losses returned shape {values.shape} for {n_arms} arms at resource "
            f"{request.n_resources}; return one loss per arm, in the order of the arms.",
            history,
        )
    if np.isnan(values).all() and not request.known:
        raise LossesError(
            f"losses returned NaN for all of {n_arms} arms at resource {request.n_resources}, so "
            "there is nothing to choose by; return a number for at least one.",
            history,
        )
    return values.tolist()
