"""Which metadata of fit goes where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import process_routing

from sklearn_sha._engine.scoring import Scoring


@dataclass(frozen=True)
class _Routed:
    """Parameters of fit, by who gets them; not yet cut to folds."""

    fit: dict[str, Any]
    prefix: dict[str, Any]
    split: dict[str, Any]
    score: dict[str, Any]


def routing_enabled() -> bool:
    return bool(get_config()["enable_metadata_routing"])


def route(
    search: Any,
    params: dict[str, Any],
    scoring: Scoring,
    training_method: str,
    shares_preprocessing: bool,
) -> _Routed:
    if routing_enabled():
        routed = process_routing(search, "fit", **params)
        return _Routed(
            dict(routed.estimator[training_method]),
            dict(routed.get("prefix", {}).get("fit_transform", {})),
            dict(routed.splitter["split"]),
            dict(routed.scorer["score"]),
        )
    fit = dict(params)
    split = {"groups": fit.pop("groups", None)}
    weight = fit.get("sample_weight")
    score = {}
    if weight is not None and scoring.passes_sample_weight(type(search).__name__):
        score["sample_weight"] = weight
    if not shares_preprocessing:
        return _Routed(fit, {}, split, score)
    last = search.estimator.steps[-1][0]
    for name in fit:
        if "__" not in name:
            raise ValueError(
                f"{name} was passed to fit, but a Pipeline takes the parameters of its steps "
                f"as stepname__parameter; pass {last}__{name} for the last step."
            )
    to_last = {k: v for k, v in fit.items() if k.startswith(f"{last}__")}
    return _Routed(
        {k.removeprefix(f"{last}__"): v for k, v in to_last.items()},
        {k: v for k, v in fit.items() if k not in to_last},
        split,
        score,
    )
