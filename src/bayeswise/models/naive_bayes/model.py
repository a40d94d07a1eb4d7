"""The fitted naive Bayes model: schema, settings and exact statistics, nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from bayeswise.engines import Request, summarise
from bayeswise.engines.local import over_ranges
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, KindError, NotFittedError, SchemaError
from bayeswise.models.base.classifier import Classifier, only_column, refuse_calibrated, with_targets
from bayeswise.models.base.probability_model import ParameterCounts, parameter_counts, shares_in_ranges
from bayeswise.models.base.table_model import Capabilities, ModelFacts, ScoredRows, where_rows_are
from bayeswise.models.forgetting import forgotten_by, with_ledger
from bayeswise.models.naive_bayes.categories import Categories
from bayeswise.models.naive_bayes.counted_columns import CountedScores
from bayeswise.models.naive_bayes.factors import Factor, Scores, SpeakingFactor
from bayeswise.models.naive_bayes.left_out import log_evidence_left_out, log_joint_left_out
from bayeswise.models.naive_bayes.normal_columns import far_out
from bayeswise.models.naive_bayes.words import Words, WordScores
from bayeswise.models.settings.naive_bayes import NaiveBayesSettings
from bayeswise.posteriors.normalise import Posterior, normalise
from bayeswise.statistics import Product
from bayeswise.store.fields import added_later
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.schema.notes import difference
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.explanations.account import Account, Contribution
    from bayeswise.explanations.class_densities import ClassDensities
    from bayeswise.explanations.nomogram import Nomogram
    from bayeswise.explanations.steps import Steps
    from bayeswise.models.naive_bayes.closed_forms import LinearForm
    from bayeswise.statistics.numbers.extents import Extents, Span


@dataclass(frozen=True, repr=False, eq=False)
class NaiveBayesModel(Classifier):
    """p(state | row) = p(state) prod p(cell | state) / p(row), from exact counts and sums.

    A frozen value: `merge`, `forget` and `changed` give new models.
    """

    settings: NaiveBayesSettings
    factors: tuple[Factor, ...]
    selected: bool = added_later(False)  # whether the families were chosen by the evidence of the rows
    capabilities: ClassVar[Capabilities] = replace(Classifier.capabilities, alternatives=True)

    def refuse_impossible(self) -> None:
        super().refuse_impossible()
        columns = [column for factor in self.factors for column in factor.columns]
        if sorted(columns) != sorted(self.schema.used):
            raise SchemaError("the families are not those of the columns")

    # -- what it is -------------------------------------------------------------------------------------------
    def facts(self) -> ModelFacts:
        families: dict[str, str] = {}
        for factor in self.factors:
            family, words = getattr(factor, "family", None), getattr(factor, "model", None)
            name = family.name if family is not None else words or {"categories": "categorical"}.get(factor.name)
            families.update(dict.fromkeys(factor.columns, str(name or factor.name)))
        return ModelFacts(families)

    def log_prior_of(self, class_weight: FloatArray) -> FloatArray:
        """(..., n_states) from the weights of the classes and pseudo-counts, or as given."""
        return super().log_prior_of(class_weight + self.settings.prior_smoothing)

    @property
    def speaking(self) -> tuple[SpeakingFactor, ...]:
        """The factors that say something about rows, in the order of their scores."""
        return tuple(cast(SpeakingFactor, factor) for factor in self.factors if factor.columns)

    @cached_property
    def scores(self) -> tuple[Scores, ...]:
        """Each speaking factor ready to score rows."""
        if not self.classes:
            raise NotFittedError("the model has learned no rows", fix="fit it to a table with a target")
        known = ((factor, self.statistics.part[factor.name]) for factor in self.speaking)
        made = (factor.scores(statistic, self.settings, self.schema) for factor, statistic in known)
        of_words = (WordScores, CountedScores)
        return tuple(each.with_texts(self.class_weight) if isinstance(each, of_words) else each for each in made)

    def n_free_parameters(self) -> int:
        """Free parameters: those of each factor, and one fewer than classes for a counted prior."""
        prior = 0 if self.settings.class_prior is not None else len(self.classes) - 1
        return prior + sum(each.n_free_parameters() for each in self.scores)

    def parameter_counts(self) -> ParameterCounts:
        """The readings of "how many parameters": free, written, |values| x |classes|, and the full joint table."""
        levels, per_class = {}, {}
        for factor in self.factors:
            part = self.statistics.part[factor.name]
            for name in factor.columns:
                if isinstance(factor, Categories):
                    levels[name] = int(part.levels.sizes[part.levels.positions[name]]) + (
                        self.schema[name].missing == "level"
                    )
                    per_class[name] = levels[name]
                elif isinstance(factor, Words):
                    per_class[name] = len(part.levels)
                else:
                    family = getattr(factor, "family", None)
                    per_class[name] = 2 if family is None else int(family.n_free_parameters())
        return parameter_counts(self, {name: per_class[name] for name in self.schema.used}, levels)

    # -- what it says about rows ------------------------------------------------------------------------------
    def log_joint(self, batch: Batch) -> FloatArray:
        """log p(state) + sum of log p(cell | state), (n_rows, n_states).

        A row so far out that even its logarithm leaves the range of floats is given up to a constant.
        """
        return self.scored(batch).log_relative

    def scored(self, batch: Batch) -> ScoredRows:
        joint = self._sums(batch)
        return ScoredRows(batch, joint, far_out(joint, batch, self.log_prior, self.scores))

    def _sums(self, batch: Batch) -> FloatArray:
        joint = np.empty((batch.n_rows, len(self.classes)))
        scores = self.scores

        def fill(rows: slice) -> None:
            view, part = joint[rows], batch.rows(rows)
            view[:] = self.log_prior
            for each in scores:
                each.add_to(view, part)

        over_ranges(fill, batch.n_rows)
        return joint

    def _posterior(self, batch: Batch) -> Posterior:
        """Posterior and log-evidence of encoded rows; the log-evidence of rows beyond the range of floats is -inf."""
        try:
            return _normalised(self._sums(batch))
        except ImpossibleEvidenceError:
            joint = self._sums(batch)
            far = far_out(joint, batch, self.log_prior, self.scores)
            answer = _normalised(joint)
            answer.log_evidence[far] = -np.inf
            return answer

    def log_relative(self, batch: Batch) -> FloatArray:
        return self.log_joint(batch)

    def probability(self, batch: Batch) -> FloatArray:
        try:
            joint = self._sums(batch)
            return shares_in_ranges(joint, joint)
        except ImpossibleEvidenceError:
            return self._posterior(batch).probability

    def log_evidence(self, table: Any) -> FloatArray:
        """(n_rows,) log p(row): small for rows unlike any that were learned."""
        return self.over(table, lambda batch: self._posterior(batch).log_evidence, ())

    @where_rows_are
    def explain(self, row: Any) -> Account:
        """Why: the prior and what each column adds, for one row (a mapping by column, or a table of one row)."""
        from bayeswise.explanations.account import Account, Contribution

        batch = self.row_of(row)
        parts = []
        for factor, each in zip(self.speaking, self.scores, strict=True):
            log_cells = each.by_column(batch)[0]  # (n_columns, n_states)
            for c, column in enumerate(factor.columns):
                value, note = self.shown_cell(column, batch, *self._notes_of(column))
                words = _words(each, batch, log_cells[c]) if isinstance(factor, Words) else ()
                parts.append(Contribution(column, value, log_cells[c], note, words))
        order = {name: k for k, name in enumerate(self.schema.used)}
        parts.sort(key=lambda part: order[part.column])
        return Account(self.classes, self.log_prior, tuple(parts), self.settings.convention)

    def steps(self, row: Any) -> Steps:
        from bayeswise.explanations.steps import Steps
        from bayeswise.models.naive_bayes.closed_forms import cell_counts, prior_counts

        batch = self.row_of(row)
        return Steps.of(self.explain(batch), prior_counts(self), cell_counts(self, batch))

    def _notes_of(self, name: str) -> tuple[str, str]:
        """What happens to a cell that is missing, and to one that was never seen."""
        column = self.schema[name]
        own = name in self.schema.categories and column.missing == "level"
        missing = "missing: a level of its own" if own else "missing: skipped"
        return missing, "unseen: smoothed" if column.unseen == "smooth" else "unseen: skipped"

    def class_densities(self, column: str | None = None) -> ClassDensities:
        from bayeswise.explanations.class_densities import ClassDensities
        from bayeswise.models.naive_bayes.closed_forms import distributions_of

        name = only_column(column, self.schema.used)
        owners = (each for factor, each in zip(self.speaking, self.scores, strict=True) if name in factor.columns)
        found = distributions_of(next(owners), name)
        return (
            super().class_densities(name)
            if found is None
            else ClassDensities(name, self.classes, np.exp(self.log_prior), *found)
        )

    def alternatives(self, column: str) -> tuple[Contribution, ...]:
        """What the column could say instead: every level, or numbers across the range that was learned."""
        name = find_name(column, self.schema.used, where="the model")
        for factor, each in zip(self.speaking, self.scores, strict=True):
            if name in factor.columns:
                return each.alternatives(name, self._span_of(name))
        return ()

    def _span_of(self, name: str) -> Span | None:
        """Where the values of a number column lie, as far as the statistics say."""
        extents: Extents | None = self.statistics.part.parts.get(EXTENTS)
        if extents is None or name not in self.schema.numbers:
            return None
        return extents.span(self.schema.numbers.index(name))

    def nomogram(self, row: Any, state: Any = None, against: Any = None) -> Nomogram:
        """Points for each value of each column, for reading by eye; the row is marked."""
        from bayeswise.explanations.nomogram import Nomogram

        return Nomogram.of_model(self, row, state, against)

    def linear_form(self) -> LinearForm:
        """The log joint as w . x + w0, where it is linear in the columns."""
        from bayeswise.models.naive_bayes.closed_forms import linear_form

        return linear_form(self.classes, self.log_prior, self.scores)

    # -- rows come and go -------------------------------------------------------------------------------------
    def request(self) -> Request:
        """What the model needs of rows."""
        return request_of(self.factors, self.schema, extents=self._keeps_extents)

    @property
    def _keeps_extents(self) -> bool:
        return EXTENTS in self.statistics.part.parts

    def merge(self, other: Self) -> Self:
        """The model of both sets of rows; schema, settings and families must be the same."""
        refuse_calibrated(other)
        what = self._difference(other)
        if what:
            raise KindError(f"the models cannot be merged: {what}", fix="fit both with the same columns and settings")
        if self._keeps_extents != other._keeps_extents:  # one of them was written by an earlier version
            return self._without_extents().merge(other._without_extents())
        return self._with_rows_of(other)

    def _without_extents(self) -> Self:
        parts = {name: part for name, part in self.statistics.part.parts.items() if name != EXTENTS}
        less = replace(self, statistics=replace(self.statistics, part=Product(parts)))
        return with_ledger(less, forgotten_by(self))

    def _difference(self, other: NaiveBayesModel) -> str:
        if self.schema != other.schema:
            return difference(self.schema, other.schema)
        if self.settings != other.settings:
            return f"their conventions are {self.settings.convention!r} and {other.settings.convention!r}"
        apart = [pair for pair in zip(self.factors, other.factors, strict=False) if pair[0] != pair[1]]
        return f"their families differ: {apart[0][0]} and {apart[0][1]}" if apart else ""

    def log_relative_left_out(self, batch: Batch) -> FloatArray:
        return log_joint_left_out(self, batch)

    def log_evidence_left_out(self, batch: Batch) -> FloatArray:
        return log_evidence_left_out(self, batch)

    def _drawn(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        return {name: cells for each in self.scores for name, cells in each.sample(states, generator).items()}

    @property
    def selected_by_rows(self) -> tuple[str, ...]:
        return ("families",) if self.selected and self.schema.numbers else ()

    def relearned(self, batches: Sequence[Batch]) -> Self:
        """The model of these rows alone: families that were chosen by evidence are chosen by theirs."""
        if not self.selected_by_rows:
            return super().relearned(batches)
        from bayeswise.models.naive_bayes.choices import extent_of, factors_for, select_families

        values = np.concatenate([batch.values for batch in batches])
        extents = {name: extent_of(values[:, c]) for c, name in enumerate(self.schema.numbers)}
        chosen = select_families(batches, self.schema, extents).families
        factors = self._asking(factors_for(self.schema, chosen))
        words = {each.columns: each for each in self.factors if isinstance(each, Words)}
        factors = tuple(words.get(each.columns, each) if isinstance(each, Words) else each for each in factors)
        request = request_of(factors, self.schema, extents=self._keeps_extents)
        found = summarise(batches, self.schema, request).statistics
        return replace(self, factors=factors, statistics=found)

    def _asking(self, factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
        """The factors with what the model needs of rows besides."""
        return factors

    # -- encoding ---------------------------------------------------------------------------------------------
    @cached_property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """The levels and words that the model knows, by column."""
        known: dict[str, Vocabulary] = {}
        for factor in self.factors:
            part = self.statistics.part[factor.name]
            if isinstance(factor, Categories):
                known.update(zip(part.levels.names, part.levels.each, strict=True))
            elif isinstance(factor, Words):
                known[factor.columns[0]] = part.levels
        return known

    def _known(self, table: Any, targets: Any, weights: Any) -> Iterator[Batch]:
        """Rows that the model has learned, in the codes of its own vocabularies."""
        return with_targets(table, self.schema, targets, weights, known=dict(self.vocabularies))


def _normalised(joint: FloatArray) -> Posterior:
    """The posterior in the place of the log joint."""
    log_evidence = np.empty(len(joint))

    def divide(rows: slice) -> None:
        view = joint[rows]
        log_evidence[rows] = normalise(view, out=view, first_row=rows.start).log_evidence

    over_ranges(divide, len(joint))
    return Posterior(joint, log_evidence)


def _words(scores: Any, batch: Batch, log_text: FloatArray) -> tuple[tuple[str, FloatArray], ...]:
    """The words of a text with what each says of the states, and the rest: absent words, or an average."""
    from bayeswise.explanations.account import REST_OF_TEXT

    words: list[tuple[str, FloatArray]] = scores.words_of(batch)
    if not words or not np.isfinite(log_text).all():
        return ()
    rest = log_text - np.sum([added for _, added in words], axis=0)
    common = float(np.ptp(rest)) <= 1e-12 * max(1.0, float(np.abs(log_text).max()))
    if common:  # a number that all states have alike belongs to any word
        (first, added), *others = words
        return ((first, added + rest), *others)
    return (*words, (REST_OF_TEXT, rest))


EXTENTS = "extents"
"""The part of the statistics that says where the values of number columns lie; models of earlier versions have none."""


def request_of(factors: tuple[Factor, ...], schema: Schema, *, extents: bool = False) -> Request:
    """What all factors need of rows, and where the values of number columns lie."""
    request = Request({})
    for factor in factors:
        request = request | factor.request(schema)
    return request | extents_of(schema) if extents else request


def extents_of(schema: Schema) -> Request:
    """Where the values of number columns lie, unless there are none or very many."""
    if not schema.numbers:
        return Request({})
    from bayeswise.statistics.numbers.extents import MOST_COLUMNS, Extents  # late: many tables have no numbers

    if len(schema.numbers) > MOST_COLUMNS:
        return Request({})
    return Request.numbers(EXTENTS, schema.numbers, Extents.of)
