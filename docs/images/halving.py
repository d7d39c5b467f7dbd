"""The picture of the user guide, of the search there: ``python docs/images/halving.py``."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier

from sklearn_sha import SearchDisplay, SuccessiveHalvingSearchCV

if __name__ == "__main__":
    grid = {"alpha": np.logspace(-6, 1, 16), "penalty": ["l2", "l1"]}
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0), grid, resource="partial_fit", max_resources=48, cv=3
    )
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    display = SearchDisplay.from_search(search.fit(*load_digits(return_X_y=True)), ax=left)
    display.plot(ax=right, kind="cost")
    plt.rcParams["svg.hashsalt"] = "halving"
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
