"""How a search ends, to start again with more resource in its first rung."""

from __future__ import annotations

from sklearn_sha._formatting import quantity


class StartAgainError(Exception):
    """Ends a search of which no candidate has a score in the first rung.

    Parameters
    ----------
    n_enough : int
        Minimum of the first rung when it starts again.
    message : str
        Warning that explains it.
    """

    def __init__(self, n_enough: int, message: str) -> None:
        super().__init__(message)
        self.n_enough = n_enough
        self.message = message


def more_folds_message(metric: str, n_scored: int, n_folds: int) -> str:
    """Format that a search starts again on more folds, since the first ones have no scores.

    Parameters
    ----------
    metric : str
        The one that promotes.
    n_scored : int
        Folds of the first rung.
    n_folds : int
        Folds of the last rung.
    """
    first = f"first {quantity(n_scored, 'folds')}" if n_scored > 1 else "first fold"
    return (
        f"No candidate has a mean {metric} that is a number on the {first}, so that none can be "
        f"promoted: the search starts again with {n_folds} folds. Choose a metric that has values "
        "on each fold (scoring, or promote_by with several metrics), or a cv with other folds."
    )
