"""The posterior of every row of a pool, kept up to date label by label.

A label changes the parameters of one class, so that of a plain naive Bayes model only that class's log-likelihoods are
recomputed, and only on demand. Where all columns are numbers and the labelled set began empty, the
parameters come from the few labelled rows themselves, and the exact sums can wait; other models predict again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from bayeswise import _kernels
from bayeswise.acquisition.pool import Parts, Pool, Work
from bayeswise.acquisition.uncertainty import UNCERTAINTY, Screen
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.models.naive_bayes.categories import Categories, CategoryScores
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.naive_bayes.normal_columns import ClassMoments, NormalScores, Numbers
from bayeswise.posteriors.normalise import normalise
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.schema import positions_in

_FEW_ROWS = 2_000  # that are looked at by themselves
_LARGE_POOL = 20_000  # is worth a screen
_ROWS_ON_A_SCREEN = 131_072  # fewer are done before another thread has begun
_ROUNDING = 1e-12
_LOG_LEAD = 3  # of the kernel: minus the log odds of the two most probable states
_CERTAIN = -20.0  # log odds below which 1 less the lead has few digits left


class Beliefs(Protocol):
    """The posterior of a pool under the model that was last given."""

    def follow(self, model: Any, state: int | None = None) -> None:
        """Use this model; it differs from the last one by rows of one state, or by anything."""
        ...

    def posterior(self, rows: IntArray | None = None) -> FloatArray:
        """(n_rows, n_states) of these rows, or of all."""
        ...

    def contenders(self, strategy: str, is_open: BoolArray, weight: FloatArray | None = None) -> IntArray:
        """The open rows among which the most uncertain one is; ties are among them. Rows may have a weight up to 1."""
        ...


def beliefs_of(pool: Pool, model: Any) -> Beliefs:
    """The quickest beliefs there are for the kind of the model."""
    by_class = type(model) is NaiveBayesModel and all(isinstance(f, Numbers | Categories) for f in model.factors)
    beliefs: Beliefs = PlainBeliefs(pool)
    if by_class:
        quick = _is_empty_of_numbers(model) and _is_ordinary(pool)
        beliefs = BeliefsOfFewRows(pool) if quick else BeliefsByClass(pool)
    beliefs.follow(model)
    return beliefs


def _is_empty_of_numbers(model: NaiveBayesModel) -> bool:
    settings = model.settings
    plain = settings.variance_divisor == "n" and not settings.shared_variance
    return plain and not model.class_weight.any() and all(isinstance(factor, Numbers) for factor in model.factors)


def _is_ordinary(pool: Pool) -> bool:
    """Whether squares of all numbers stay in range."""
    size = np.abs(pool.batch.values)
    return not ((size > 1e100) | ((size > 0) & (size < 1e-100))).any()


class PlainBeliefs:
    """Of any classifier: all rows are predicted again after each label."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._model: Any = None
        self._all: FloatArray | None = None

    def follow(self, model: Any, state: int | None = None) -> None:
        self._model, self._all = model, None

    def posterior(self, rows: IntArray | None = None) -> FloatArray:
        if self._all is None:
            self._all = np.asarray(self._model.probability(self._pool.for_model(self._model)))
        return self._all if rows is None else self._all[rows]

    def contenders(self, strategy: str, is_open: BoolArray, weight: FloatArray | None = None) -> IntArray:
        rows = np.flatnonzero(is_open)
        score = UNCERTAINTY[strategy](self.posterior(rows)) * (1.0 if weight is None else weight[rows])
        return np.asarray(rows[score >= score.max() - _ROUNDING])


class BeliefsByClass:
    """Of naive Bayes over numbers and categories: log_states (n_states, n_rows), a line for each class."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._model: Any = None
        self._batch: Batch = pool.batch
        self._columns: FloatArray | None = None  # (n_columns, n_rows)
        self._moments: ClassMoments | None = None
        self._parameters: FloatArray | None = None  # (n_states, ...) all that a class's log-likelihood depends on
        self._log_states = np.empty((0, pool.n_rows))
        self._log_prior = np.empty(0)
        self._score = np.empty(pool.n_rows)  # rewritten for each query: fresh memory costs as much as a sweep of it
        self._latest: tuple[Any, ...] = ()  # scores by factor
        self._stale: set[int] = set()  # classes whose log-likelihoods are not those of the latest scores
        self._in_parts = Parts(pool.n_rows)

    def follow(self, model: Any, state: int | None = None) -> None:
        self._follow_codes(model)
        scores = tuple(self._scores(model, factor, state) for factor in model.factors)
        self._believe(scores, model.log_prior)
        self._model = model

    def _believe(self, scores: tuple[Any, ...], log_prior: FloatArray) -> set[int]:
        """Note the classes whose parameters have changed."""
        parameters = np.concatenate([_parameters(each) for each in scores], axis=1)
        if self._parameters is None or self._parameters.shape != parameters.shape:
            self._log_states = np.empty((len(parameters), self._pool.n_rows))
            changed = set(range(len(parameters)))
        else:
            changed = set(np.flatnonzero((self._parameters != parameters).any(axis=1)).tolist())
        self._parameters, self._log_prior = parameters, np.ascontiguousarray(log_prior)
        self._latest = scores
        self._stale |= changed
        return changed

    def _settle(self, then: Work | None = None) -> None:
        """Recompute what is stale, and go on with each part of the rows while they are at hand."""
        stale, self._stale = sorted(self._stale), set()
        works = [work for state in stale for work in self._sums(state)]
        if then is not None:
            works.append(then)

        def all_works(rows: slice) -> None:
            for work in works:
                work(rows)

        self._in_parts(all_works)

    def posterior(self, rows: IntArray | None = None) -> FloatArray:
        if rows is not None and len(rows) < self._pool.n_rows:
            log_joint = self._log_joint(rows)
            if np.isfinite(log_joint.max(axis=1)).all():
                return normalise(log_joint).probability
            return self.posterior()[rows]
        log_joint = self._log_joint()
        if not np.isfinite(log_joint.max(axis=1)).all():
            return np.asarray(self._exact_model().probability(self._batch))  # rows beyond the range of floats
        return normalise(log_joint, out=log_joint).probability

    def _log_joint(self, rows: IntArray | None = None) -> FloatArray:
        """(n_rows, n_states)."""
        if self._stale:
            self._settle()
        log_states = self._log_states if rows is None else self._log_states.take(rows, axis=1)
        return log_states.T + self._log_prior

    def contenders(self, strategy: str, is_open: BoolArray, weight: FloatArray | None = None) -> IntArray:
        kind = list(UNCERTAINTY).index(strategy)
        if strategy == "margin" and weight is None:
            kind = _LOG_LEAD
        score = self._scored(kind, is_open)
        if weight is not None:
            np.multiply(score, weight, out=score, where=is_open)
        best = float(score[np.argmax(score)])
        if np.isnan(best):  # a row outside the range of floats
            score = UNCERTAINTY[strategy](self.posterior()) * (1.0 if weight is None else weight)
            score = np.where(is_open, score, -np.inf)
            return np.flatnonzero(score >= score.max() - _ROUNDING)
        if kind != _LOG_LEAD:
            return np.flatnonzero(score >= best - _ROUNDING)
        if best < _CERTAIN:
            return np.flatnonzero(is_open)
        return np.flatnonzero(score >= _least_log_odds(best, len(self._log_prior)))

    def _scored(self, kind: int, is_open: BoolArray) -> FloatArray:
        """(n_rows,) to a few units in the last place; minus infinity where the row is not open."""
        score, log_states, log_prior = self._score, self._log_states, self._log_prior

        def work(rows: slice) -> None:
            _kernels.uncertainty(score[rows], log_states[:, rows], log_prior, is_open[rows], kind)

        self._settle(work)
        return score

    def _follow_codes(self, model: Any) -> None:
        """Levels that were learned meanwhile move the codes."""
        if self._model is None or model.vocabularies != self._model.vocabularies:
            self._batch = self._pool.for_model(model)
            self._parameters = None

    def _scores(self, model: Any, factor: Any, state: int | None) -> Any:
        statistic = model.statistics.part[factor.name]
        if not isinstance(factor, Numbers):
            return factor.scores(statistic, model.settings, model.schema)
        settings = model.settings
        if self._moments is None or state is None or settings.shared_variance or self._parameters is None:
            self._moments = ClassMoments.of(statistic, settings)
        else:
            one = ClassMoments.of(statistic.take(np.array([state])), settings)
            self._moments = _with_state(self._moments, state, one)
        positions = positions_in(model.schema.numbers, factor.columns)
        parameters = self._moments.within(statistic.pooled(), settings)
        return NormalScores(factor.columns, positions, statistic, settings, parameters)

    def _sums(self, state: int) -> Iterator[Work]:
        """The log-likelihoods of one class, factor by factor, for the rows of each part."""
        line = self._log_states[state]
        numbers = [each for each in self._latest if isinstance(each, NormalScores)]
        yield self._sum_of_numbers(numbers[0], state) if numbers else lambda rows: line[rows].fill(0.0)
        for each in self._latest:
            if isinstance(each, CategoryScores):
                yield self._sum_of_categories(each, state)

    def _sum_of_numbers(self, scores: NormalScores, state: int) -> Work:
        line, p = self._log_states[state], scores.parameters
        if not scores.is_ordinary:
            line[:] = scores.by_column(self._batch)[:, :, state].sum(axis=1)
            return lambda rows: None
        if self._columns is None:
            self._columns = np.ascontiguousarray(scores.values(self._batch).T, dtype=np.float64)
        columns = self._columns
        constants = (p.mean[state], np.asarray(p.mean_low)[state], scores.precision[state], scores.log_peak[state])
        return lambda rows: _kernels.normal_column(line[rows], columns[:, rows], *constants)

    def _sum_of_categories(self, scores: CategoryScores, state: int) -> Work:
        line, table = self._log_states[state], np.ascontiguousarray(scores.log_table[:, state : state + 1])
        codes = scores.own(self._batch.codes)
        return lambda rows: _kernels.add_table(line[rows, None], codes[rows], scores.sizes, table)

    def _exact_model(self) -> Any:
        return self._model


class BeliefsOfFewRows(BeliefsByClass):
    """Of normal columns and a labelled set that began empty: means and stddevs of the labelled rows, in two passes."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self._rows: list[IntArray] = []  # by state
        self._empty: Any = None
        self._screen: Screen | None = None  # made when it is needed

    def follow(self, model: Any, state: int | None = None) -> None:
        """The model of no rows; labels come by `learn`."""
        super().follow(model)
        self._empty, self._rows = model, [np.empty(0, dtype=np.int64) for _ in model.classes]
        self._values = self._latest[0].values(self._batch)  # (n_rows, n_columns)

    def _believe(self, scores: tuple[Any, ...], log_prior: FloatArray) -> set[int]:
        changed = super()._believe(scores, log_prior)
        if self._screen is not None:
            self._screen.stale |= changed
        return changed

    def _log_joint(self, rows: IntArray | None = None) -> FloatArray:
        """Of a few rows by themselves, without a sweep of all."""
        if rows is None or len(rows) > _FEW_ROWS:
            return super()._log_joint(rows)
        log_joint = np.repeat(self._log_prior[None], len(rows), axis=0)
        self._latest[0].add_to(log_joint, self._pool.subset(rows).batch)
        return log_joint

    def contenders(self, strategy: str, is_open: BoolArray, weight: FloatArray | None = None) -> IntArray:
        large = strategy == "margin" and weight is None and self._pool.n_rows > _LARGE_POOL
        near = self._seen_on_the_screen(is_open) if large else None
        return super().contenders(strategy, is_open, weight) if near is None else near

    def _seen_on_the_screen(self, is_open: BoolArray) -> IntArray | None:
        """All rows whose log odds may reach those of the row that seems best; None where that does not help."""
        if self._screen is None:
            self._screen = Screen(self._values, len(self._rows), Parts(self._pool.n_rows, _ROWS_ON_A_SCREEN))
        seen = self._screen.upper_log_odds(self._latest[0], self._log_prior, is_open)
        if seen is None:
            return None
        upper, blur = seen
        *_, second, top = np.sort(self._log_joint(np.argmax(upper, keepdims=True))[0])
        if not second - top >= _CERTAIN:
            return None
        least = _least_log_odds(second - top, len(self._log_prior)) - blur
        near = np.flatnonzero(upper >= np.float32(least))
        return near if len(near) <= _FEW_ROWS else None

    def learn(self, *labels: tuple[int, int]) -> None:
        """Rows with their states."""
        states = {state for _, state in labels}
        for state in states:
            self._rows[state] = np.append(self._rows[state], [row for row, its in labels if its == state])
        self._renew(states)

    def forget(self, row: int, state: int) -> None:
        """Take a row back."""
        last = np.flatnonzero(self._rows[state] == row)[-1]
        self._rows[state] = np.delete(self._rows[state], last)
        self._renew({state})

    def _renew(self, states: set[int]) -> None:
        assert self._moments is not None
        for state in states:
            self._moments = _with_state(self._moments, state, self._moments_of(self._rows[state]))
        [latest] = self._latest
        parameters = self._moments.inside(self._moments_of(np.concatenate(self._rows)), latest.settings)
        weight = np.array([len(rows) for rows in self._rows], dtype=np.float64)
        self._believe((replace(latest, parameters=parameters),), self._empty.log_prior_of(weight))

    def _moments_of(self, rows: IntArray) -> ClassMoments:
        """Of the present cells of some rows, (1, n_columns)."""
        moments = np.empty((4, self._values.shape[1]))
        _kernels.moments_of_rows(moments, self._values.take(rows, axis=0))
        count, mean, mean_low, stddev = moments[:, None]
        return ClassMoments(count == 0, mean, mean_low, stddev)

    def _exact_model(self) -> Any:
        rows = np.concatenate(self._rows).tolist()
        labels = [self._empty.classes[state] for state, rows in enumerate(self._rows) for _ in rows]
        return self._empty.learn(self._pool.rows(rows, labels, self._empty.classes)) if rows else self._empty


def _least_log_odds(log_odds: float, n_states: int) -> float:
    """The log odds of the second state against the first from which on a row may be as uncertain as one with these.

    With odds of t : 1, 1 less the lead is at least s = 2 t / (1 + t), where no other state is possible, and at most
    n t / (1 + (n - 1) t), where all n - 1 of them are as probable as the second; this is s at t = s / (n - (n - 1) s).
    """
    t = np.exp(log_odds)
    score = 2.0 * t / (1.0 + t)
    return float(np.log(score / (n_states - (n_states - 1) * score)) - 1e-15 / score - _ROUNDING)


def _parameters(scores: Any) -> FloatArray:
    """(n_states, ...) the numbers that the log-likelihoods of each class depend on."""
    if isinstance(scores, CategoryScores):
        return scores.log_table.T
    p = scores.parameters
    return np.concatenate([p.mean, np.asarray(p.mean_low), p.stddev, scores.log_peak], axis=1)


def _with_state(moments: ClassMoments, state: int, one: ClassMoments) -> ClassMoments:
    changed = {name: getattr(moments, name).copy() for name in ("none", "mean", "mean_low", "stddev")}
    for name, values in changed.items():
        values[state] = getattr(one, name)[0]
    return replace(moments, **changed)
