"""The figure of the README and of the user guide: ``python docs/images/halving.py``.

Left, the scores of all candidates of the search of the user guide; right, its cost and that of a
grid search. ``halving.svg`` is for light pages, ``halving_dark.svg`` for dark ones.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier

from sklearn_sha import SearchDisplay, SuccessiveHalvingSearchCV

LIGHT = {"svg.hashsalt": "halving"}
DARK = LIGHT | {"figure.facecolor": "#0d1117", "axes.facecolor": "#0d1117"}


def draw(search, file_name):
    """Draw the figure in the current style of matplotlib."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    SearchDisplay.from_search(search, ax=left).plot(ax=right, kind="cost")
    figure.savefig(Path(__file__).with_name(file_name), metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    grid = {"alpha": np.logspace(-6, 1, 16), "penalty": ["l2", "l1"]}
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0), grid, resource="partial_fit", max_resources=48, cv=3
    ).fit(*load_digits(return_X_y=True))
    with plt.rc_context(LIGHT):
        draw(search, "halving.svg")
    with plt.style.context("dark_background"), plt.rc_context(DARK):
        draw(search, "halving_dark.svg")
