"""Figures of a search, drawn with matplotlib."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from sklearn_sha.inspection.figures import KINDS
from sklearn_sha.inspection.search_data import SearchData, check_kind, figure_data


class SearchDisplay:
    """Figures of a fitted search.

    Use `from_search` to create it. In figures of candidates, the selected one is orange. The others
    are blue, darker if they reached a later rung; in "trust", darker if their risk is higher.

    Parameters
    ----------
    data : SearchData
        What the figures show, as plain data.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the figure. With ``kind="params"`` the first panel.
    axes_ : ndarray of matplotlib Axes
        All axes.
    figure_ : matplotlib Figure
        Figure that contains them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn_sha import SearchDisplay, SuccessiveHalvingSearchCV
    >>> X, y = load_digits(return_X_y=True)
    >>> search = SuccessiveHalvingSearchCV(
    ...     SGDClassifier(random_state=0),
    ...     {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]},
    ...     resource="partial_fit",
    ...     max_resources=8,
    ... ).fit(X, y)
    >>> SearchDisplay.from_search(search, kind="cost").ax_.get_xlabel()
    'epochs over all folds'
    """

    def __init__(self, data: SearchData) -> None:
        self.data = data
        self._kind = "curves"

    @classmethod
    def from_search(
        cls, search: Any, *, kind: str = "curves", metric: str | None = None, ax: Any = None,
        spread: bool = False,
    ) -> Self:  # fmt: skip
        """Create a display from a fitted search and plot it.

        Parameters
        ----------
        search : SuccessiveHalvingSearchCV or HyperbandSearchCV
            Fitted search.
        kind, ax, spread
            As in `plot`.
        metric : str or None, default=None
            Metric to show. None: the one by which candidates were promoted, ``promote_by_``.

        Returns
        -------
        SearchDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        NotFittedError
            If the search is not fitted.
        TypeError
            If the search has no rungs, such as GridSearchCV, or if `ax` is not an Axes.
        ValueError
            If the search does not have the metric; if `kind` is unknown; if `ax` cannot be divided
            into panels; or, for "trust", if the metric does not promote, or if eliminated
            candidates cannot be compared with the selected one, for example since the search did
            not reach its last rung.
        """
        check_kind(kind, KINDS)
        data = figure_data(search, kind, metric, "SearchDisplay")
        return cls(data).plot(ax, kind=kind, spread=spread)

    def plot(self, ax: Any = None, *, kind: str | None = None, spread: bool = False) -> Self:
        """Plot the figure.

        Requires matplotlib, which the extra ``plot`` installs.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to plot on. None: a new figure. With ``kind="params"`` the axes are divided into
            panels.
        kind : str or None, default=None
            None: that of the last plot, such as the one by `from_search`.

            - "curves": score of each candidate by rung. The numbers above are those of the
              candidates.
            - "rungs": scores of each rung, their median, and the lowest promoted score.
            - "params": one panel per searched parameter, with the last score of each candidate by
              value.
            - "parallel": one line per candidate through the values of its parameters and its last
              score.
            - "importance": share of the variance of the ranks that each parameter explains, as in
              `parameter_importance`.
            - "cost": cost of each rung, compared with a grid search.
            - "trust": expected score at full resource of each eliminated candidate, by the rung
              that eliminated it, and an upper bound that no candidate of the rung exceeds with a
              probability of 0.95. For comparison, the score of the selected candidate with its
              standard error. Scores of audited candidates are known.
        spread : bool, default=False
            Whether "curves" shows the standard deviation over the folds.

        Returns
        -------
        SearchDisplay
            The display itself, with ``ax_``, ``axes_`` and ``figure_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        TypeError
            If `ax` is not an Axes.
        ValueError
            If `kind` is unknown, if `ax` cannot be divided into panels, or if "trust" or
            "importance" is plotted on a display of another kind.

        Notes
        -----
        The axis of the scores follows the candidates of the last two rungs. Scores far below are
        compressed into the shaded part, and the candidates that ended there are counted.
        """
        kind = self._kind if kind is None else kind
        check_kind(kind, KINDS)
        if (kind == "trust" and self.data.possible is None) or (
            kind == "importance" and self.data.importance is None
        ):
            raise ValueError(
                f'kind="{kind}" requires a display of this kind. Call '
                f'SearchDisplay.from_search(search, kind="{kind}").'
            )
        self.ax_ = _new_axes(self.data, kind) if ax is None else _checked(ax)
        self.figure_ = self.ax_.figure
        options = {"spread": spread} if kind == "curves" else {}
        self.axes_ = np.array(KINDS[kind].plot(self.data, self.ax_, **options))
        self.ax_ = self.axes_[0]
        self._kind = kind
        return self


def _new_axes(data: SearchData, kind: str) -> Any:
    """Return the axes of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'SearchDisplay requires matplotlib. Install it with pip install "sklearn_sha[plot]".'
        ) from error
    return plt.subplots(figsize=KINDS[kind].size(data), layout="constrained")[1]


def _checked(ax: Any) -> Any:
    """Return given axes, or raise a TypeError if they are something else."""
    from matplotlib.axes import Axes  # and not pyplot, which chooses a backend

    if not isinstance(ax, Axes):
        raise TypeError(
            f"ax={ax!r} must be a matplotlib Axes, or None for a new figure. Pass a single one of "
            "the Axes that plt.subplots returns."
        )
    return ax
