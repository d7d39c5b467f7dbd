"""Base class of the searches to which `extend` adds candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from itertools import chain
from time import time
from typing import Any, Literal, Self

from numpy.random import RandomState

from sklearn_sha._search.aliases import n_candidates_of, search_space, space_name
from sklearn_sha._search.audited_search import AuditedSearch
from sklearn_sha._search.origin import Origin
from sklearn_sha._search.search_spec import search_seed
from sklearn_sha._search.selection_warnings import warn_about_lost_best
from sklearn_sha._search.states import Best, CompletedSearch, InterruptedSearch
from sklearn_sha._search.validation import check_given_data
from sklearn_sha.candidates.base import History
from sklearn_sha.candidates.further import GivenCandidates, further_candidates
from sklearn_sha.candidates.space import spaces_of


class ExtendableSearch(AuditedSearch):
    """Base class of the searches to which `extend` adds candidates."""

    # Whether `extend` has counted the candidates of the search over all of them. Discrete
    # distributions are counted by sampling, so that a second count can differ.
    _is_counted = False

    def extend(
        self,
        X: Any,
        y: Any = None,
        *,
        n_candidates: int | Literal["auto"] = "auto",
        n_iter: int | None = None,
        param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        **params: Any,
    ) -> Self:
        """Add candidates to a completed search, and search over all of them.

        The result is that of one search over all candidates, in the order in which they were added:
        its schedule is planned again for their number, and only what is not known yet is evaluated.
        Training samples and folds stay the resource if they were that of `fit`, also if
        ``resource="auto"`` would be another one for their number. With samplers that do not
        use the history and with distributions, ``n_candidates=32`` in `fit` and again in `extend`
        is the same as ``n_candidates=64`` in `fit`. Candidates are not repeated. The first rung can
        have less resource, and eliminate the best candidate of `fit`. If its score was higher than
        that of the new best one, a warning shows both. If a candidate of `fit` needs more resource,
        it is refit from scratch, since models of a completed search are not kept. With
        `keep_eliminated=True` they are, and continue training. `extend` requires the process of
        `fit`; with `checkpoint`, call `fit` and `extend` again in any process. Earlier audits are
        not repeated: audit the extended search, which reuses their results.

        If `max_time` or a callback ends it, the attributes are those of the incomplete search,
        whose best candidate can have less resource than that of `fit`. `resume` completes it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data of `fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets of `fit`.
        n_candidates : int or "auto", default="auto"
            Number of further candidates. "auto" tries all remaining combinations of a grid. With
            distributions it samples 64 candidates.
        n_iter : int or None, default=None
            Alternative name of `n_candidates`. If both are given, they have to be equal.
        param_distributions : dict or list of dict, default=None
            Search space of the further candidates. None: that of the search.
        param_grid : dict or list of dict, default=None
            Alternative name of `param_distributions`. Only one of the two can be given.
        **params : dict
            Parameters of `fit`.

        Returns
        -------
        self : object
            Fitted search, whose attributes describe the search over all candidates.

        Raises
        ------
        NotFittedError
            If `fit` has not been called.
        ValueError
            If there are no further candidates; if ``budget="anytime"``; if the search is a copy or
            was loaded from a file; if the last `fit`, `resume`, `extend` or `audit` was
            interrupted, so that `resume` has to be called first; or if the data, the splits or
            parameters on which the results depend have changed since `fit`.
        KeyboardInterrupt
            As in `fit`: the attributes are those of the incomplete search over all candidates,
            without ``best_estimator_``. There are none if no candidate was completed.
        TypeError
            If X is a number or a dict in the place of the data, or as in `fit`.
        TimeoutError, CheckpointError
            As in `fit`. After an error, the search is as before. `resume` continues an interrupted
            `extend`, or one that raised an error in training; with `checkpoint`, nothing else can
            follow the latter in this folder.

        Examples
        --------
        >>> from scipy.stats import loguniform
        >>> from sklearn.datasets import load_digits
        >>> from sklearn.linear_model import SGDClassifier
        >>> from sklearn_sha import SuccessiveHalvingSearchCV
        >>> X, y = load_digits(return_X_y=True)
        >>> search = SuccessiveHalvingSearchCV(
        ...     SGDClassifier(random_state=0),
        ...     {"alpha": loguniform(1e-6, 10)},
        ...     n_candidates=4,
        ...     resource="partial_fit",
        ...     max_resources=8,
        ...     random_state=0,
        ... )
        >>> search.fit(X, y).n_candidates_[0]
        4
        >>> search.extend(X, y, n_candidates=4).n_candidates_[0]
        8
        """
        start_time = time()
        check_given_data("extend", X, y, space_name(self))
        if self.budget == "anytime":
            raise ValueError(
                'budget="anytime" adds candidates itself, and cannot be extended. If max_time '
                "ended the search, raise max_time and call resume. Otherwise raise n_candidates, "
                "or set another budget, and call fit."
            )
        completed, data = self._completed("extend"), (X, y, params)
        if completed.is_part:
            raise ValueError(
                "extend requires that all brackets are completed, and the audit was of an "
                "interrupted search. Call fit to start a new search, and audit after extend."
            )
        self._check_unchanged("extend", completed.origin, data)
        n_name = "n_candidates" if n_iter is None else "n_iter"
        n_new = n_candidates_of(n_candidates, n_iter)
        union, space, origin = self._union(
            completed, n_new, n_name, param_distributions, param_grid
        )
        resource, kept = completed.spec.resource, None
        # "auto" depends on the number of candidates. All candidates have samples and folds.
        if self.resource == "auto" and (resource.counts_samples or resource.counts_folds):
            kept = resource
        spec = union._prepare(X, y, params, deepcopy(origin.random_state), kept)
        origin.check_unchanged_plan("extend", spec)
        if spec.source.sampler.uses_history:
            spec = replace(
                spec,
                source=replace(spec.source, space=space),
                candidates=[*completed.candidates],
                evaluations=completed.evaluations,
            )
        before = Best.of(self)
        with self._continued(completed.store.copy(), origin) as store:
            if not spec.has_models_of(completed.spec):
                store.clear_models()
            self._run(InterruptedSearch(origin, spec, store, before), start_time, data)
        warn_about_lost_best(self, before)
        return self

    def _union(
        self,
        completed: CompletedSearch,
        n_candidates: int | str,
        n_name: str,
        param_distributions: Any,
        param_grid: Any,
    ) -> tuple[Self, Any, Origin]:
        """Return the search over all candidates, the space of the further ones, and the origin."""
        union, origin, known = copy(self), completed.origin, completed.candidates
        source, is_other = self._source(), param_distributions is not None or param_grid is not None
        # In the state of fit, the sampler continues where it ended.
        further, rng = replace(source, initial=()), deepcopy(origin.random_state)
        if is_other:
            union.param_distributions, union.param_grid = param_distributions, param_grid
            further = replace(further, space=search_space(union), space_name=space_name(union))
            # In that state, it would repeat the quantiles of the first candidates.
            rng = RandomState([search_seed(rng), len(known)])
        n_new, new = further_candidates(
            further,
            n_candidates,
            History(tuple(known), tuple(completed.evaluations.values())),
            rng,
            n_name,
        )
        # Completed, as a list of dicts does not complete them.
        union.initial_candidates = source.initial
        extended = origin.extended(further.space if is_other else None, n_new)
        if extended.spaces:
            spaces = map(spaces_of, (source.space, *extended.spaces))
            union.param_distributions = [*chain.from_iterable(spaces)]
            union.param_grid = None
        union.n_candidates, union.n_iter = len(known) + n_new, None
        union._is_counted = True
        if new:
            union.sampler = GivenCandidates([*known, *new])
        return union, further.space, extended
