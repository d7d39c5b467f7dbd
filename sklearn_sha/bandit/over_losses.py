"""Algorithms run over any losses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_sha.bandit.promotion import promote
from sklearn_sha.bandit.requests import Algorithm, Losses, LossesError, Pull, Result, went_on


def run_over_losses(algorithms: list[Algorithm], losses: Losses) -> Result:
    """Run algorithms one after the other over the same losses; the best is of them all."""
    history: list[dict[str, Any]] = []
    told: dict[tuple[int, int], float] = {}
    furthest: dict[int, int] = {}
    finalists: list[tuple[int, float]] = []
    for algorithm in algorithms:
        pull = next(algorithm)
        while True:
            new = pull.new
            answer = _checked(losses(new, pull.resource), new, pull, history) if new else []
            told.update({(arm, pull.resource): loss for arm, loss in zip(new, answer, strict=True)})
            furthest |= {arm: max(pull.resource, furthest.get(arm, 0)) for arm in pull.arms}
            now = np.array([told[arm, pull.resource] for arm in pull.arms])
            row = {"bracket": pull.bracket, "arms": pull.arms, "resource": pull.resource}
            history.append(row | {"losses": now})
            try:
                following = algorithm.send(now)
            except StopIteration as end:
                history[-1]["kept"] = (end.value,)
                finalists.append((end.value, told[end.value, pull.resource]))
                break
            history[-1]["kept"] = went_on(pull, now, following)
            pull = following
    best, _ = finalists[int(promote([loss for _, loss in finalists], 1)[0])]
    return Result(best, sum(furthest.values()), history)


def _checked(
    answer: ArrayLike, arms: tuple[int, ...], pull: Pull, history: list[dict[str, Any]]
) -> list[float]:
    values = np.asarray(answer, dtype=float)
    if values.shape != (len(arms),):
        raise LossesError(
            f"losses returned shape {values.shape} for {len(arms)} arms at resource "
            f"{pull.resource}; return one loss per arm, in the order of the arms.",
            history,
        )
    if np.isnan(values).all() and not pull.known:
        raise LossesError(
            f"losses returned NaN for all of {len(arms)} arms at resource {pull.resource}, so "
            "there is nothing to choose by; return a number for at least one.",
            history,
        )
    return values.tolist()
