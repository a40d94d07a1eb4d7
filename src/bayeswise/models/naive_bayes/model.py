"""The fitted naive Bayes model: schema, settings and exact statistics, nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayeswise.engines import Request, summarise
from bayeswise.engines.ranges import over_ranges
from bayeswise.explanations.account import Account, Contribution
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import FitError, ImpossibleEvidenceError, KindError, NotFittedError, NotMergedError
from bayeswise.foundation.logspace import log
from bayeswise.models.naive_bayes.categories import Categories
from bayeswise.models.naive_bayes.counted_columns import CountedScores
from bayeswise.models.naive_bayes.factors import Factor, Scores
from bayeswise.models.naive_bayes.far_out import far_out
from bayeswise.models.naive_bayes.left_out import left_out
from bayeswise.models.naive_bayes.linear import LinearForm, linear_form
from bayeswise.models.naive_bayes.settings import NaiveBayesSettings
from bayeswise.models.naive_bayes.words import Words, WordScores
from bayeswise.posteriors.normalise import Posterior, log_posterior, normalise
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.statistics import Grouped, Product
from bayeswise.tables.batch import Batch
from bayeswise.tables.differences import difference
from bayeswise.tables.encoder import Encoder
from bayeswise.tables.labels import Label, Vocabulary
from bayeswise.tables.names import find_name
from bayeswise.tables.schema import Schema
from bayeswise.tables.source import open_source
from bayeswise.tables.sweep import rows_of


@dataclass(frozen=True)
class NaiveBayesModel:
    """p(state | row) = p(state) prod p(cell | state) / p(row), from exact counts and sums.

    A frozen value: `merge`, `forget` and `changed` give new models.
    """

    schema: Schema
    settings: NaiveBayesSettings
    factors: tuple[Factor, ...]
    statistics: Grouped[Product]

    # -- what it is -------------------------------------------------------------------------------------------
    @property
    def classes(self) -> tuple[Label, ...]:
        """The states, in canonical order."""
        return self.statistics.labels.labels

    @cached_property
    def class_weight(self) -> FloatArray:
        """(n_states,) the weight of the rows of each class."""
        return self.statistics.weight_of_rows.to_floats()

    @cached_property
    def log_prior(self) -> FloatArray:
        """(n_states,)."""
        return self.log_prior_of(self.class_weight)

    def log_prior_of(self, class_weight: FloatArray) -> FloatArray:
        """(..., n_states) from the weights of the classes, or as given."""
        settings = self.settings
        if settings.class_prior is not None:
            return np.broadcast_to(log(prior_by_state(settings.class_prior, self.classes)), class_weight.shape)
        above = class_weight + settings.prior_smoothing
        return log(above) - log(above.sum(axis=-1, keepdims=True))

    @cached_property
    def scores(self) -> tuple[Scores, ...]:
        """Each factor ready to score rows."""
        if not self.classes:
            raise NotFittedError("the model has learned no rows", fix="fit it to a table with a target")
        made = (
            factor.scores(self.statistics.part[factor.name], self.settings, self.schema) for factor in self.factors
        )
        of_words = (WordScores, CountedScores)
        return tuple(each.with_texts(self.class_weight) if isinstance(each, of_words) else each for each in made)

    def n_free_parameters(self) -> int:
        """Free parameters: those of each factor, and one fewer than classes for a counted prior."""
        prior = 0 if self.settings.class_prior is not None else len(self.classes) - 1
        return prior + sum(each.n_free_parameters() for each in self.scores)

    def __repr__(self) -> str:
        shares = ", ".join(f"{c!r}: {w:g}" for c, w in zip(self.classes[:6], self.class_weight, strict=False))
        more = f", ... {len(self.classes) - 6} more" if len(self.classes) > 6 else ""
        target = self.schema.target.name if self.schema.target else "?"
        inside = f"{target}: {{{shares}{more}}}, {len(self.schema.used)} columns, {self.settings.convention}"
        return f"{type(self).__name__}({inside})"

    # -- what it says about rows ------------------------------------------------------------------------------
    def log_joint(self, batch: Batch) -> FloatArray:
        """log p(state) + sum of log p(cell | state), (n_rows, n_states).

        A row so far out that even its logarithm leaves the range of floats is given up to a constant.
        """
        joint = self._sums(batch)
        far_out(joint, batch, self.log_prior, self.scores)
        return joint

    def _sums(self, batch: Batch) -> FloatArray:
        joint = np.empty((batch.n_rows, len(self.classes)))
        scores = self.scores

        def fill(rows: slice) -> None:
            view, part = joint[rows], rows_of(batch, rows)
            view[:] = self.log_prior
            for each in scores:
                each.add_to(view, part)

        over_ranges(fill, batch.n_rows)
        return joint

    def posterior(self, batch: Batch) -> Posterior:
        """Posterior and log-evidence of encoded rows; the log-evidence of rows beyond the range of floats is -inf."""
        try:
            return _normalised(self._sums(batch))
        except ImpossibleEvidenceError:
            joint = self._sums(batch)
            far = far_out(joint, batch, self.log_prior, self.scores)
            answer = _normalised(joint)
            answer.log_evidence[far] = -np.inf
            return answer

    def predict_proba(self, table: Any) -> FloatArray:
        """(n_rows, n_states) the posterior of each row, states in the order of `classes`."""
        return self._over(table, lambda batch: self.posterior(batch).probability, (len(self.classes),))

    def predict_log_proba(self, table: Any) -> FloatArray:
        """(n_rows, n_states) the logarithm of the posterior, exact in the tails."""
        return self._over(table, lambda batch: log_posterior(self.log_joint(batch)), (len(self.classes),))

    def predict(self, table: Any) -> list[Label]:
        """The most probable state of each row; the first one of `classes` where several are."""
        best = self._over(table, lambda batch: np.argmax(self.log_joint(batch), axis=1), ())
        return [self.classes[int(state)] for state in best]

    def log_evidence(self, table: Any) -> FloatArray:
        """(n_rows,) log p(row): small for rows unlike any that were learned."""
        return self._over(table, lambda batch: self.posterior(batch).log_evidence, ())

    def log_odds(self, table: Any, state: Any, against: Any) -> FloatArray:
        """(n_rows,) log p(state | row) - log p(against | row), without leaving log space."""
        one, other = (self._state(label) for label in (state, against))

        def odds(batch: Batch) -> FloatArray:
            joint = self.log_joint(batch)
            return np.asarray(joint[:, one] - joint[:, other])

        return self._over(table, odds, ())

    def explain(self, row: Any) -> Account:
        """Why: the prior and what each column adds, for one row (a mapping by column, or a table of one row)."""
        table = [dict(row)] if isinstance(row, Mapping) else row
        batch = next(self.batches(table), None)
        if batch is None or batch.n_rows != 1:
            found = 0 if batch is None else batch.n_rows
            raise FitError(f"explain takes one row; found {found}", fix="pick a row first")
        shown = self._shown_values(batch)
        parts = []
        for factor, each in zip(self.factors, self.scores, strict=True):
            log_cells = each.by_column(batch)[0]  # (n_columns, n_states)
            for c, column in enumerate(factor.columns):
                value, note = shown[column]
                parts.append(Contribution(column, value, log_cells[c], note))
        order = {name: k for k, name in enumerate(self.schema.used)}
        parts.sort(key=lambda part: order[part.column])
        return Account(self.classes, self.log_prior, tuple(parts), self.settings.convention)

    def alternatives(self, column: str) -> tuple[Contribution, ...]:
        """What the column could say instead: every level, or numbers across the range that was learned."""
        name = find_name(column, self.schema.used, where="the model")
        for factor, each in zip(self.factors, self.scores, strict=True):
            if name in factor.columns:
                return each.alternatives(name)
        return ()

    def linear_form(self) -> LinearForm:
        """The log joint as w . x + w0, where it is linear in the columns."""
        return linear_form(self.classes, self.log_prior, self.scores)

    # -- rows come and go -------------------------------------------------------------------------------------
    def request(self) -> Request:
        """What the model needs of rows."""
        return request_of(self.factors, self.schema)

    def learn(
        self, table: Any, *, targets: Any = None, weights: Any = None, threads: int | None = None
    ) -> NaiveBayesModel:
        """The model that has seen these rows too; new classes and levels are welcome unless they were declared."""
        return replace(self, statistics=self.statistics.merge(self._summary(table, targets, weights, threads, True)))

    def forget(
        self, table: Any, *, targets: Any = None, weights: Any = None, threads: int | None = None
    ) -> NaiveBayesModel:
        """The model that has never seen these rows, to the last byte."""
        gone = self._summary(table, targets, weights, threads, False)
        try:
            return replace(self, statistics=self.statistics.subtract(gone))
        except NotMergedError as error:
            raise NotMergedError(
                f"these rows cannot all have been learned by the model: {error.what}", fix=error.fix
            ) from None

    def merge(self, other: NaiveBayesModel) -> NaiveBayesModel:
        """The model of both sets of rows; schema, settings and families must be the same."""
        what = self._difference(other)
        if what:
            raise KindError(f"the models cannot be merged: {what}", fix="fit both with the same columns and settings")
        return replace(self, statistics=self.statistics.merge(other.statistics))

    def _difference(self, other: NaiveBayesModel) -> str:
        if self.schema != other.schema:
            return difference(self.schema, other.schema)
        if self.settings != other.settings:
            return f"their conventions are {self.settings.convention!r} and {other.settings.convention!r}"
        apart = [pair for pair in zip(self.factors, other.factors, strict=False) if pair[0] != pair[1]]
        return f"their families differ: {apart[0][0]} and {apart[0][1]}" if apart else ""

    def changed(self, **settings: Any) -> NaiveBayesModel:
        """The same rows under other beliefs: smoothing, priors, floors; no second pass."""
        return replace(self, settings=self.settings.changed(**settings))

    def leave_one_out(self, table: Any, *, targets: Any = None, weights: Any = None) -> FloatArray:
        """(n_rows, n_states) the posterior of each row under the model that never saw it.

        The table must hold rows that were learned; rows without a target or weight are left out of the answer too.
        """
        parts = [left_out(self, batch) for batch in self._learned(table, targets, weights)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.classes)))

    def sample(self, n: int, seed: int | np.random.Generator = 0) -> dict[str, list[Any]]:
        """n rows drawn from the model, the state first and then each cell given the state, as columns."""
        generator = np.random.default_rng(seed)
        states = generator.choice(len(self.classes), size=n, p=np.exp(self.log_prior)).astype(np.int32)
        drawn: dict[str, Any] = {}
        for each in self.scores:
            drawn.update(each.sample(states, generator))
        columns = {name: list(drawn[name]) for name in self.schema.used}
        target = self.schema.target.name if self.schema.target else "target"
        return {**columns, target: [self.classes[int(state)] for state in states]}

    # -- files ------------------------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: whole or not at all, the same bytes for the same model."""
        from bayeswise.models.files import save_model

        save_model(self, path)

    # -- encoding ---------------------------------------------------------------------------------------------
    @cached_property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """The levels and words that the model knows, by column."""
        known: dict[str, Vocabulary] = {}
        for factor in self.factors:
            part = self.statistics.part[factor.name]
            if isinstance(factor, Categories):
                known.update({name: part[name].levels for name in factor.columns})
            elif isinstance(factor, Words):
                known[factor.columns[0]] = part.levels
        return known

    def batches(self, table: Any) -> Iterator[Batch]:
        """A table to be predicted, encoded; a batch passes as it is."""
        if isinstance(table, Batch):
            return iter([table])
        encoder = Encoder(self.schema, learning=False, vocabularies=self.vocabularies)
        return encoder.batches(open_source(table))

    def _learned(self, table: Any, targets: Any, weights: Any) -> Iterator[Batch]:
        if isinstance(table, Batch):
            return iter([table])
        encoder = Encoder(self.schema, learning=True, vocabularies=dict(self.vocabularies), check_strays=False)
        return encoder.batches(open_source(table), targets=_as_targets(targets), weights=weights)

    def _summary(self, table: Any, targets: Any, weights: Any, threads: int | None, check: bool) -> Grouped[Product]:
        if isinstance(table, Batch):
            batches: Iterator[Batch] = iter([table])
        else:
            encoder = Encoder(self.schema, learning=True, check_strays=check)
            batches = encoder.batches(open_source(table), targets=_as_targets(targets), weights=weights)
        return summarise(batches, self.schema, self.request(), threads=threads).statistics

    def _over(self, table: Any, answer: Callable[[Batch], Any], shape: tuple[int, ...]) -> FloatArray:
        parts = [answer(batch) for batch in self.batches(table)]
        if len(parts) == 1:
            return np.asarray(parts[0])
        return np.concatenate(parts) if parts else np.zeros((0, *shape))

    def _state(self, label: Any) -> int:
        code = self.statistics.labels.code(label)
        if code < 0:
            raise FitError(f"there is no state {label!r}; there are {', '.join(map(repr, self.classes))}")
        return code

    def _shown_values(self, batch: Batch) -> dict[str, tuple[Any, str]]:
        """The cells of the first row as a reader would write them, with a note where one is missing or unseen."""
        shown: dict[str, tuple[Any, str]] = {}
        for c, name in enumerate(self.schema.numbers):
            value = float(batch.values[0, c])
            shown[name] = (None, "missing: skipped") if np.isnan(value) else (value, "")
        for c, name in enumerate(self.schema.categories):
            shown[name] = self._shown_level(name, int(batch.codes[0, c]), batch.vocabularies[c])
        for t, name in enumerate(self.schema.texts):
            shown[name] = (f"{int(batch.texts[t].counts[[0]].sum())} words", "")
        return shown

    def _shown_level(self, name: str, code: int, vocabulary: Vocabulary) -> tuple[Any, str]:
        column = self.schema[name]
        if code >= 0:
            return vocabulary[code], ""
        if code == -1:
            return None, "missing: a level of its own" if column.missing == "level" else "missing: skipped"
        return "(unseen)", "unseen: smoothed" if column.unseen == "smooth" else "unseen: skipped"


def _normalised(joint: FloatArray) -> Posterior:
    """The posterior in the place of the log joint."""
    log_evidence = np.empty(len(joint))

    def divide(rows: slice) -> None:
        view = joint[rows]
        log_evidence[rows] = normalise(view, out=view, first_row=rows.start).log_evidence

    over_ranges(divide, len(joint))
    return Posterior(joint, log_evidence)


def request_of(factors: tuple[Factor, ...], schema: Schema) -> Request:
    """What all factors need of rows."""
    request = Request({})
    for factor in factors:
        request = request | factor.request(schema)
    return request


def _as_targets(targets: Any) -> Any:
    if targets is None:
        return None
    values = targets if isinstance(targets, (list, np.ndarray)) else list(targets)
    return open_source({"target": values})
