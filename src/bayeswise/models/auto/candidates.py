"""The models that are tried: what each sees of a row, what it needs of a table, and what it takes to learn it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.auto.boosted_trees import AsTrees
from bayeswise.models.auto.extent import (
    Extent,
    Need,
    NeedOfInputs,
    a_column,
    a_number,
    a_number_to_cut,
    a_text,
    cuts_worth_their_bits,
    every_row_chooses,
    few_pairs,
    few_pairs_of_classes,
    few_parents,
    few_to_correlate,
    few_to_cross,
    few_triples,
    few_weights,
    many_numbers,
    pairs_that_say_more,
    rows_for_trees,
    short_steps,
    two_columns,
    weights_for_two_widths,
    weights_to_solve,
)
from bayeswise.models.auto.inputs import AsNumbers, WithoutTexts
from bayeswise.models.registry import kind_of_name
from bayeswise.posteriors.calibration import turns
from bayeswise.posteriors.normalise import log_posterior
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label, Vocabulary
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.models.auto.boosting import TreesInFolds

# Patterns of missing cells, times the cube of the columns, that EM completes in each step.
MANY_COMPLETED, MOST_COMPLETED = 3e5, 1e7
MANY_GROWN = 2e5  # rows times numbers and indicators times classes of trees that are grown in fewer folds
FOLDS_OF_MANY = 5  # of expensive trees

Inputs = WithoutTexts | AsNumbers | AsTrees


@dataclass(frozen=True, eq=False)
class Member:
    """One model and what it sees of a row."""

    name: str
    inputs: Inputs | None  # None: the row as it is
    model: Any

    def rows(self, batch: Batch) -> Batch:
        """Rows of the table in the columns of the model."""
        return batch if self.inputs is None else self.inputs.batch(batch)

    def seen(self, batch: Batch) -> Batch:
        """Rows of the table as the model takes them, in its own codes."""
        rows = self.rows(batch)
        return rows if self.learns_weights else self.model.recoded(rows)

    def of_no_rows(self) -> Any:
        """The model before any row: what rows select (cuts, graph, families) stays."""
        return replace(self.model, statistics=self.model.statistics.zero())

    @property
    def learns_weights(self) -> bool:
        """Whether it keeps weights and not statistics: rows cannot be taken out of it."""
        return not self.model.capabilities.leave_one_out

    @property
    def fills_by_rows(self) -> bool:
        """Whether means of the rows stand where numbers are missing."""
        return isinstance(self.inputs, AsNumbers) and self.inputs.fill is not None

    @property
    def keeps_categories(self) -> bool:
        """Whether its model knows the categories of the table as they are, and so their levels."""
        return self.inputs is None or self.inputs.keeps_categories

    @property
    def word_indicators(self) -> dict[str, Vocabulary]:
        """The words that it sees by indicators, by text."""
        if not isinstance(self.inputs, AsNumbers) or not self.inputs.words:
            return {}
        return dict(zip(self.inputs.table.texts, self.inputs.words, strict=True))

    def log_posterior(self, batch: Batch, classes: tuple[Label, ...]) -> FloatArray:
        """(n_rows, n_states) log p(state | row), -inf for a state that the member never saw."""
        return self.answered(batch, classes)[0]

    def answered(self, batch: Batch, classes: tuple[Label, ...]) -> tuple[FloatArray, BoolArray]:
        """The log posteriors, and (n_rows,) which rows are impossible in every state: those get the prior.

        A number outside a family's support (0 under a log-normal) says nothing to the member; others may read it.
        """
        log_joint = np.asarray(self.model.log_relative(self.seen(batch)))
        impossible: BoolArray = np.asarray(np.isneginf(log_joint).all(axis=1))
        if impossible.any():
            log_joint = np.where(impossible[:, None], self.model.log_prior, log_joint)
        log_own = log_posterior(log_joint)
        if self.model.classes == classes:
            return log_own, impossible
        log_all = np.full((len(log_own), len(classes)), -np.inf)
        log_all[:, Vocabulary(self.model.classes).positions_in(Vocabulary(classes))] = log_own
        return log_all, impossible

    def estimated(self, batch: Batch) -> Member:
        """The same choices (cuts, graph, families, indicators), everything else learned from other rows."""
        if isinstance(self.inputs, AsTrees):
            trees = self.inputs.estimated(batch)
            return replace(self, inputs=trees, model=trees.regression(batch))
        rows = [self.rows(batch)]
        if self.learns_weights:
            learn = kind_of_name("logistic").learner_of_batches()
            return replace(self, model=learn(rows, self.model.schema, self.model.settings, only_weights=True))
        return replace(self, model=self.of_no_rows().learn(rows))

    def columns_of(self, name: str) -> tuple[str, ...]:
        """The columns of the table that a column of the model belongs to."""
        return (name,) if self.inputs is None else self.inputs.columns_of(name)


Sees = Literal["all", "columns", "numbers", "filled", "cut", "crossed", "words", "trees"]


class Work(NamedTuple):
    """factor x rows x size^power: how much it is to learn a candidate with each row left out.

    The size is the number of columns or features; weights are features for each class. Naive Bayes has a factor of 1.
    """

    factor: float
    power: int = 1
    of: Literal["columns", "features", "weights"] = "columns"


@dataclass(frozen=True)
class Candidate:
    """A kind of model with its settings, what it sees of a row, and what it needs of a table."""

    name: str
    kind: str
    sees: Sees
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()
    needs_of_inputs: tuple[NeedOfInputs, ...] = ()  # where it sees numbers
    work: Work = Work(1.0)

    def suited(self, extent: Extent) -> Candidate:
        """Itself; or with means in the place of missing numbers, where EM would take too long to complete them."""
        return replace(self, sees="filled") if self._completed(extent) > MOST_COMPLETED else self

    def folds(self, extent: Extent, folds: IntArray) -> IntArray:
        """(n_rows,) the folds that it is tried in: fewer where trees or the completion of numbers by EM take long."""
        if self.sees == "trees":
            return folds % FOLDS_OF_MANY if extent.n_grown > MANY_GROWN else folds
        return folds % 3 if self._completed(extent) > MANY_COMPLETED else folds

    def _completed(self, extent: Extent) -> float:
        """How much EM would have to complete in each step; 0 where nothing is missing, or means stand there."""
        is_slow = self.sees == "numbers" and extent.n_patterns > 1
        return extent.n_patterns * float(extent.n_features) ** 3 if is_slow else 0.0

    def learned(self, batch: Batch, schema: Schema, inputs: Inputs | None = None) -> Member:
        """The member of these rows alone; what it chooses by rows is chosen by these. `inputs`: those of the rows."""
        inputs = inputs or self.inputs(batch, schema)
        if isinstance(inputs, AsTrees):
            return Member(self.name, inputs, inputs.regression(batch))
        rows, columns = (batch, schema) if inputs is None else (inputs.batch(batch), inputs.schema)
        learn, settings = kind_of_name(self.kind).learner_of_batches(), self._checked_settings
        with warnings.catch_warnings():  # a singular covariance is weighed by its left-out rows like all else
            warnings.simplefilter("ignore")
            return Member(self.name, inputs, learn([rows], columns, settings, **self.options))

    @cached_property
    def _checked_settings(self) -> Any:
        """Those of its kind of model, checked once for all folds."""
        return kind_of_name(self.kind).settings_type()(**self.settings)

    def inputs(self, batch: Batch, schema: Schema) -> Inputs | None:
        """What it sees of a row, chosen by these rows; None where it sees the row as it is."""
        if self.sees == "numbers":
            return AsNumbers.of(schema, batch, filled=False)
        if self.sees == "trees":
            return self.trees_in_folds(batch, schema, turns(np.asarray(batch.groups), FOLDS_OF_MANY)).of_all_rows()
        if self.sees in ("filled", "cut", "crossed", "words"):
            crossed = self.sees == "crossed"
            cut, words = crossed or self.sees == "cut", self.sees == "words"
            return AsNumbers.of(schema, batch, cut=cut, crossed=crossed, words=words)
        return WithoutTexts.of(schema, batch) if self.sees == "columns" and schema.texts else None

    def trees_in_folds(self, batch: Batch, schema: Schema, folds: IntArray) -> TreesInFolds:
        """Its trees without the rows of each fold, not grown yet."""
        from bayeswise.models.auto.boosting import Growth, TreesInFolds

        return TreesInFolds(schema, batch, folds, Growth(**self.options))

    def extent_of(self, table: Extent) -> Extent:
        """That of a table with the indicators of words, where the candidate sees them."""
        return replace(table, n_indicators=table.n_indicators + table.n_words) if self.sees == "words" else table

    def refusal(self, extent: Extent) -> str:
        """Why the candidate does not apply to a table; empty where it does."""
        return next(filter(None, (need(extent) for need in self.needs)), "")

    def refusal_of_inputs(self, inputs: Inputs | None, extent: Extent, n_folds: int) -> str:
        """Why the candidate would cost more than it can gain, given its inputs; empty where it would not."""
        if not isinstance(inputs, AsNumbers):
            return ""
        return next(filter(None, (need(inputs, extent, n_folds) for need in self.needs_of_inputs)), "")

    def cost(self, extent: Extent) -> float:
        """How much work it is to learn it with each row left out, for an order only."""
        factor, power, of = self.work
        size = extent.n_columns + extent.n_texts + 1 if of == "columns" else extent.n_features + 1
        work: float = factor * extent.n_rows * size**power * (extent.n_vectors if of == "weights" else 1)
        return work


SCALES = (0.3, 1.0, 3.0)
"""Of the prior of the weights of regressions: one member for each, so that left-out rows average over them."""

SCALES_OF_WORDS = (0.1, 0.3)  # where there are many indicators, each says little

FEW_RELEVANT = 0.03  # of many columns, as a prior
PSEUDO_ROWS_OF_MANY = 10.0  # a tenth of them behind means: those of classes lie about a stddev apart, if at all


def _gaussian(name: str, **settings: Any) -> Candidate:
    needs = (a_column, a_number, few_to_correlate)
    return Candidate(name, "gaussian", "numbers", settings, needs=needs, work=Work(10.0, 2, "features"))


def _regressions(
    name: str,
    sees: Sees,
    scales: tuple[float, ...],
    first: float,
    needs: tuple[Need, ...],
    of_inputs: tuple[NeedOfInputs, ...] = (),
    factor: float = 20.0,
    times: int = 1,
) -> Iterator[Candidate]:
    """One for each width of the prior; `first` is the one that is tried where one is enough."""
    for scale in scales:
        second, second_of_inputs = ((), ()) if scale == first else ((every_row_chooses,), (weights_for_two_widths,))
        yield Candidate(
            f"{name}, scale {scale:g}",
            "logistic",
            sees,
            {"scale": scale},
            {"only_weights": True},
            (*needs, few_weights, *second, short_steps(times)),
            (*of_inputs, weights_to_solve, *second_of_inputs),
            Work(factor, 2, "weights"),
        )


def _trees(name: str, **growth: float) -> Candidate:
    needs = (a_column, rows_for_trees)
    return Candidate(name, "logistic", "trees", options=growth, needs=needs, work=Work(5e3, 2, "weights"))


def _network(structure: str, kind: str, work: Work, *needs: Need) -> Candidate:
    every = (a_column, two_columns, *needs)
    return Candidate(structure, kind, "columns", {"structure": structure}, needs=every, work=work)


CANDIDATES = (
    Candidate("naive-bayes", "naive-bayes", "all"),
    Candidate(
        "naive-bayes, families",
        "naive-bayes",
        "all",
        options={"families": "select"},
        needs=(a_number,),
        work=Work(5.0),
    ),
    Candidate(
        "naive-bayes, cut", "tan", "columns", {"structure": "naive"}, needs=(a_column, a_number), work=Work(10.0)
    ),
    Candidate("averaged", "averaged", "all", needs=(few_pairs_of_classes,), work=Work(8.0)),
    Candidate(
        "averaged, shared",
        "averaged",
        "all",
        {"shared_variance": True, "relevance": FEW_RELEVANT, "smoothing": PSEUDO_ROWS_OF_MANY},
        needs=(many_numbers, few_pairs_of_classes),
        work=Work(8.0),
    ),
    _gaussian("gaussian", covariance="per-class"),
    _gaussian("gaussian, shared", covariance="shared"),
    _gaussian("gaussian, shrunk", covariance="per-class", shrinkage="auto"),
    *_regressions("logistic", "filled", SCALES, 1.0, (a_column,)),
    *_regressions(
        "logistic, cut",
        "cut",
        SCALES[:2],
        1.0,
        (a_column, a_number_to_cut),
        (cuts_worth_their_bits,),
        factor=100.0,
        times=5,
    ),
    *_regressions(
        "logistic, crossed",
        "crossed",
        SCALES[:2],
        1.0,
        (a_column, two_columns, few_to_cross),
        (pairs_that_say_more,),
        factor=1e3,
        times=20,
    ),
    *_regressions("logistic, words", "words", SCALES_OF_WORDS, SCALES_OF_WORDS[0], (a_text,)),
    _trees("trees, 8 leaves", n_leaves=8, rate=0.2),
    _trees("trees, 16 leaves", n_leaves=16, rate=0.2),
    _trees("trees, 16 leaves of 20 rows", n_leaves=16, rate=0.1, least_rows=20.0, ridge=0.1),
    _trees("trees, half of the features", n_leaves=8, rate=0.1, share_of_features=0.5),
    _network("tan", "tan", Work(20.0, 2), few_pairs),
    _network("aode", "aode", Work(20.0, 2), few_pairs),
    _network("a2de", "aode", Work(20.0, 3), few_triples),
    _network("k-dependence", "k-dependence", Work(40.0, 2), few_parents),
    _network("markov-blanket", "markov-blanket", Work(40.0, 2), few_parents),
)
