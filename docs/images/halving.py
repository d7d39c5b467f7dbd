"""The figure of the README and of the user guide: ``python docs/images/halving.py``.

Left, the scores of all candidates of the search of the user guide; right, its cost and that of a
grid search. ``halving.svg`` is for light pages, ``halving_dark.svg`` for dark ones.
"""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

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
    model = make_pipeline(MinMaxScaler(), MLPClassifier(batch_size=32, max_iter=32, random_state=0))
    grid = {
        "mlpclassifier__hidden_layer_sizes": [(8,), (16,), (32,), (64,)],
        "mlpclassifier__learning_rate_init": [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1],
    }
    search = SuccessiveHalvingSearchCV(model, grid, cv=3).fit(*load_digits(return_X_y=True))
    with plt.rc_context(LIGHT):
        draw(search, "halving.svg")
    with plt.style.context("dark_background"), plt.rc_context(DARK):
        draw(search, "halving_dark.svg")
