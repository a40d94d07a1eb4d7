"""What is believed of every row of a pool, kept up to date label by label.

A label changes the parameters of one class, so that of a plain naive Bayes model only that class's log-likelihoods are
summed up anew; other models are asked again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from bayeswise import _kernels
from bayeswise.acquisition.pool import Pool
from bayeswise.acquisition.strategies import UNCERTAINTY
from bayeswise.engines.ranges import over_ranges
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.models.naive_bayes.categories import Categories, CategoryScores
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.naive_bayes.numbers import ClassMoments, NormalScores, Numbers
from bayeswise.posteriors.normalise import normalise
from bayeswise.tables.batch import Batch


class Beliefs(Protocol):
    """The posterior of a pool under the model that was last told."""

    def follow(self, model: Any, state: int | None = None) -> None:
        """Believe this model; it differs from the last one by rows of one state, or by anything."""
        ...

    def posterior(self, rows: IntArray | None = None) -> FloatArray:
        """(n_rows, n_states) of these rows, or of all."""
        ...

    def uncertainty(self, strategy: str) -> FloatArray:
        """(n_rows,) how uncertain the posterior of each row is, to a few units in the last place."""
        ...


def beliefs_of(pool: Pool, model: Any) -> Beliefs:
    """The quickest beliefs there are for the kind of the model."""
    by_class = type(model) is NaiveBayesModel and all(isinstance(f, Numbers | Categories) for f in model.factors)
    beliefs: Beliefs = BeliefsByClass(pool) if by_class else PlainBeliefs(pool)
    beliefs.follow(model)
    return beliefs


class PlainBeliefs:
    """Of any classifier: all rows are asked again after each label."""

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

    def uncertainty(self, strategy: str) -> FloatArray:
        return UNCERTAINTY[strategy](self.posterior())


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

    def follow(self, model: Any, state: int | None = None) -> None:
        self._follow_codes(model)
        scores = tuple(self._scores(model, factor, state) for factor in model.factors)
        parameters = np.concatenate([_parameters(each) for each in scores], axis=1)
        if self._parameters is None or self._parameters.shape != parameters.shape:
            self._log_states = np.empty((len(model.classes), self._pool.n_rows))
            changed = np.arange(len(model.classes))
        else:
            changed = np.flatnonzero((self._parameters != parameters).any(axis=1))
        for k in changed.tolist():
            self._sum_up(scores, k)
        self._model, self._parameters = model, parameters

    def posterior(self, rows: IntArray | None = None) -> FloatArray:
        if rows is not None and len(rows) < self._pool.n_rows:
            log_joint = self._log_states[:, rows].T + self._model.log_prior
            if np.isfinite(log_joint.max(axis=1)).all():
                return normalise(log_joint).probability
            return self.posterior()[rows]
        log_joint = self._log_states.T + self._model.log_prior  # (n_rows, n_states)
        if not np.isfinite(log_joint.max(axis=1)).all():
            return np.asarray(self._model.probability(self._batch))  # rows beyond the range of floats
        return normalise(log_joint, out=log_joint).probability

    def uncertainty(self, strategy: str) -> FloatArray:
        score = np.empty(self._pool.n_rows)
        kind = list(UNCERTAINTY).index(strategy)
        _kernels.uncertainty(score, self._log_states, np.ascontiguousarray(self._model.log_prior), kind)
        beyond = np.isnan(score.sum())  # a row outside the range of floats
        return UNCERTAINTY[strategy](self.posterior()) if beyond else score

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
        positions = np.array([model.schema.numbers.index(name) for name in factor.columns], dtype=np.int64)
        parameters = self._moments.within(statistic.pooled(), settings)
        return NormalScores(factor.columns, positions, statistic, settings, parameters)

    def _sum_up(self, scores: tuple[Any, ...], state: int) -> None:
        """The log-likelihoods of one class, factor by factor."""
        line = self._log_states[state]
        line[:] = 0.0
        for each in scores:
            if isinstance(each, CategoryScores):
                self._add_categories(line, each, state)
            elif each.is_ordinary:
                self._add_numbers(line, each, state)
            else:
                line += each.by_column(self._batch)[:, :, state].sum(axis=1)

    def _add_numbers(self, line: FloatArray, scores: NormalScores, state: int) -> None:
        if self._columns is None:
            self._columns = np.ascontiguousarray(scores.values(self._batch).T, dtype=np.float64)
        log_likelihood = np.empty(len(line))
        p = scores.parameters
        _kernels.normal_column(
            log_likelihood,
            self._columns,
            p.mean[state],
            np.ascontiguousarray(p.mean_low)[state],
            scores.precision[state],
            scores.log_peak[state],
        )
        line += log_likelihood

    def _add_categories(self, line: FloatArray, scores: CategoryScores, state: int) -> None:
        table = np.ascontiguousarray(scores.log_table[:, state : state + 1])
        codes = self._batch.codes if scores.takes_all else self._batch.codes[:, scores.positions]

        def add(rows: slice) -> None:
            _kernels.add_table(line[rows, None], codes[rows], scores.sizes, table)

        over_ranges(add, len(line))


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
