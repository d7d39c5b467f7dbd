"""Figures of a search that can be zoomed and show candidates under the pointer, by plotly."""

from __future__ import annotations

from typing import Any

from sklearn_sha.inspection.interactive import KINDS
from sklearn_sha.inspection.search_data import check_kind, figure_data


def interactive_figure(search: Any, *, kind: str = "curves", metric: str | None = None) -> Any:
    """Return a figure of a fitted search as a figure of plotly.

    It shows the same data as `SearchDisplay`. In addition, it can be zoomed, and shows the score
    and the parameters of the candidate under the pointer. With ``kind="parallel"`` ranges of the
    axes can be selected instead, which grays out the other candidates. Requires plotly, which the
    extra ``plotly`` installs.

    Parameters
    ----------
    search : SuccessiveHalvingSearchCV or HyperbandSearchCV
        Fitted search.
    kind : str, default="curves"
        "curves", "rungs", "params", "parallel", "importance", "cost" or "trust", as in
        `SearchDisplay.plot`.
    metric : str or None, default=None
        Metric to show. None: the metric that promotes.

    Returns
    -------
    plotly.graph_objects.Figure
        Shown at the end of a cell of a notebook, or by ``figure.show()``;
        ``figure.write_html("search.html")`` saves it.

    Raises
    ------
    ImportError
        If plotly is not installed.
    NotFittedError
        If the search is not fitted.
    TypeError
        If the search has no rungs, such as GridSearchCV.
    ValueError
        As `SearchDisplay.from_search` does.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn_sha import SuccessiveHalvingSearchCV
    >>> from sklearn_sha.inspection import interactive_figure
    >>> X, y = load_digits(return_X_y=True)
    >>> search = SuccessiveHalvingSearchCV(
    ...     SGDClassifier(random_state=0),
    ...     {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]},
    ...     resource="partial_fit",
    ...     max_resources=8,
    ... ).fit(X, y)
    >>> figure = interactive_figure(search, kind="cost")
    >>> figure.layout.xaxis.title.text
    'epochs over all folds'
    """
    check_kind(kind, KINDS)
    data = figure_data(search, kind, metric, "interactive_figure")
    try:
        return KINDS[kind](data)
    except ImportError as error:
        raise ImportError(
            'interactive_figure requires plotly. Install it with pip install "sklearn_sha[plotly]".'
        ) from error
