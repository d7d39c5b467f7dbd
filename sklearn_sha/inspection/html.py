"""HTML of a search: scikit-learn's diagram, followed by the rungs."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from sklearn_sha._compat import search_block
from sklearn_sha._formatting import format_params, format_score, html_sentences
from sklearn_sha.inspection.search_state import is_interrupted


class HTMLReprMixin:
    """Adds the rungs of a fitted search to scikit-learn's HTML diagram.

    Its methods have the names that IPython and scikit-learn look up.
    """

    @property
    def _repr_html_(self) -> Callable[[], str]:
        diagram = super()._repr_html_  # type: ignore[misc]  # missing with display="text"
        return lambda: diagram() + self._rungs_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._rungs_html()
        return bundle

    def _sk_visual_block_(self) -> Any:
        return search_block(self)

    def _rungs_html(self) -> str:
        if not hasattr(self, "rung_history_"):
            return ""
        best = ""
        if hasattr(self, "best_params_"):
            best = f"Best: <code>{escape(format_params(self.best_params_))}</code>"
            if hasattr(self, "best_score_"):
                best += f", mean test score {format_score(self.best_score_)}"
            best = f"<p>{best}</p>"
        interrupted = "<p>The search was interrupted.</p>" if is_interrupted(self) else ""
        schedule = getattr(self, "schedule_", None)
        training = html_sentences([schedule.training]) if schedule and schedule.training else ""
        notes = f"{best}{interrupted}{training}"
        return f"<div>{notes}{self.rung_history_._repr_html_()}</div>"
