"""Text: an expensive vectorizer is fitted once per fold, not once per candidate
=============================================================================

The texts are the paragraphs of scikit-learn's own docstrings; the task is to predict from
which part of the library a paragraph comes. Turning text into numbers takes most of the
time here, and no searched parameter belongs to it. Therefore the search fits the vectorizer once
per fold, on its training samples, and trains all candidates on the output.

Expect: 3 vectorizers for 8 candidates on 3 folds, and one more for the final model, compared with
25 of a grid search; and a score that differs by less than 0.01.
Limits: a searched parameter of the vectorizer requires one fit per fold and value. Its output is
kept in memory for every fold.
"""

import importlib
import inspect
from time import perf_counter

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline

from sklearn_sha import SearchDisplay, SuccessiveHalvingSearchCV

PARTS = ["cluster", "decomposition", "ensemble", "linear_model", "metrics", "preprocessing"]


def paragraphs():
    """Pairs of a paragraph and the part of scikit-learn that it comes from."""
    for part in PARTS:
        module = importlib.import_module(f"sklearn.{part}")
        for name in module.__all__:
            for text in (inspect.getdoc(getattr(module, name)) or "").split("\n\n"):
                if len(text) > 80:
                    yield text, part


class CountingVectorizer(TfidfVectorizer):
    """Counts how often it is fitted."""

    n_fits = 0

    def fit_transform(self, raw_documents, y=None):
        """Count, and fit."""
        CountingVectorizer.n_fits += 1
        return super().fit_transform(raw_documents, y)


def fits_of(search, texts, labels):
    """Fit a search; return the seconds and the vectorizer's fits that it took."""
    CountingVectorizer.n_fits = 0
    start = perf_counter()
    search.fit(texts, labels)
    return perf_counter() - start, CountingVectorizer.n_fits


texts, labels = zip(*paragraphs(), strict=True)
train, test, labels_train, labels_test = train_test_split(
    texts, labels, random_state=0, stratify=labels
)
print(f"{len(train)} paragraphs to learn from, {len(test)} held out")

pipeline = Pipeline(
    [
        ("vectorizer", CountingVectorizer(analyzer="char_wb", ngram_range=(2, 4))),
        ("classifier", SGDClassifier(max_iter=16, tol=None, random_state=0)),
    ]
)
grid = {
    "classifier__alpha": list(np.logspace(-6, -3, 4)),
    "classifier__loss": ["hinge", "modified_huber"],
}

halving = SuccessiveHalvingSearchCV(
    pipeline, grid, resource="partial_fit", max_resources=16, cv=3, random_state=0
)
halving_time, halving_fits = fits_of(halving, train, labels_train)
exhaustive = GridSearchCV(pipeline, grid, cv=3)
grid_time, grid_fits = fits_of(exhaustive, train, labels_train)

for name, search, seconds, n_fits in [
    ("successive halving", halving, halving_time, halving_fits),
    ("grid search", exhaustive, grid_time, grid_fits),
]:
    score = search.score(test, labels_test)
    print(
        f"{name:18}  {seconds:5.1f} s   {n_fits:2} vectorizers fitted   "
        f"held-out accuracy {score:.3f}   {search.best_params_['classifier__loss']}"
    )

# %%
# The cost of the search, compared with a grid search over the same candidates:

display = SearchDisplay.from_search(halving, kind="cost")
