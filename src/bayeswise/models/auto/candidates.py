"""The models that are tried, which of them apply to a table, and what it takes to learn them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.auto.boosted_trees import AsTrees
from bayeswise.models.auto.inputs import AsNumbers, WithoutTexts
from bayeswise.models.auto.text_words import most_words
from bayeswise.models.registry import kind_of_name
from bayeswise.models.settings.network import MOST_IN_TRIPLES
from bayeswise.posteriors.calibration import turns
from bayeswise.posteriors.normalise import log_posterior
from bayeswise.render.numbers import plural
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label, Vocabulary
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.models.auto.boosting import TreesInFolds

MOST_NUMBERS = 300  # columns and indicators of Gaussian classes, whose covariances grow with their square
MOST_WEIGHTS = 3_000  # columns and indicators of a regression, for all classes together
MOST_CELLS = 5e7  # of a step of a regression
MANY_COMPLETED, MOST_COMPLETED = (
    3e5,
    1e7,
)  # patterns of missing cells, times the cube of the columns, that EM completes in each step
MOST_TRIED = 5e7  # cells times classes of all folds in which a regression is tried, some ten seconds of one core
MANY_TRIED = 1e7  # from here on one width of the prior is enough
MANY_SOLVED, MOST_SOLVED = 2e9, 5e9  # folds times the cube of the weights: of one width of the prior, and of none
MOST_PAIRS = 250_000  # pairs of columns that a network counts
LEVELS_OF_A_NUMBER = 6  # as a guess, before cuts are found
MOST_TRIPLE_CELLS = 3e5  # of the tables of triples of columns
FEW_FOR_TRIPLES = 500  # rows: fewer say too little about triples
MOST_PARENTS = 60  # columns among which a search looks for parents
FEW_FOR_TREES = 100  # rows: fewer say too little about what trees find
MANY_GROWN, MOST_GROWN = 2e5, 1e6  # rows times numbers and indicators times classes of trees: in fewer folds, and none
FOLDS_OF_MANY = 5  # of expensive trees
MANY_FOR_TREES = 50_000  # rows: what leaves of trees add is learned tree by tree
TOO_FAR = 1.1  # times the least log-loss so far: trees of more on rows that they never saw are not tried in folds

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


@dataclass(frozen=True)
class Extent:
    """How large a table is, for what applies and what it takes."""

    n_rows: int
    n_numbers: int
    n_categories: int
    n_texts: int
    n_indicators: int  # of categories
    n_classes: int
    n_patterns: int  # of missing numbers: 1 where none is missing
    n_triple_cells: float = 0.0  # of the tables of all triples of columns, numbers cut into LEVELS_OF_A_NUMBER
    n_words: int = 0  # of texts, with an indicator at most

    @classmethod
    def of(cls, schema: Schema, batch: Batch) -> Extent:
        indicators = sum(max(len(levels) - 1, 0) for levels in batch.vocabularies)
        missing = np.isnan(batch.values)
        n_patterns = len(np.unique(np.packbits(missing, axis=1), axis=0)) if missing.any() else 1
        sizes = (len(schema.numbers), len(schema.categories), len(schema.texts), indicators)
        n_classes = len(batch.group_labels)
        levels = [LEVELS_OF_A_NUMBER] * len(schema.numbers) + [len(known) for known in batch.vocabularies]
        n_words = sum(min(len(text.vocabulary), most_words(n_classes)) for text in batch.texts)
        return cls(batch.n_rows, *sizes, n_classes, n_patterns, n_classes * _products_of_three(levels), n_words)

    def seen_by(self, candidate: Candidate) -> Extent:
        """With the indicators of words, where the candidate sees them."""
        return replace(self, n_indicators=self.n_indicators + self.n_words) if candidate.sees == "words" else self

    @property
    def n_columns(self) -> int:
        """Those that are not text."""
        return self.n_numbers + self.n_categories

    @property
    def n_features(self) -> int:
        """Numbers and indicators."""
        return self.n_numbers + self.n_indicators

    @property
    def n_vectors(self) -> int:
        """Weights of a regression for each feature: of two classes one is enough."""
        return 1 if self.n_classes == 2 else self.n_classes


def _products_of_three(sizes: list[int]) -> float:
    """The sum over all triples of the product of their sizes.

    >>> _products_of_three([2, 3, 4, 5])
    154.0
    """
    sums = [float(sum(size**power for size in sizes)) for power in (1, 2, 3)]
    return (sums[0] ** 3 - 3.0 * sums[0] * sums[1] + 2.0 * sums[2]) / 6.0


Sees = Literal["all", "columns", "numbers", "filled", "cut", "crossed", "words", "trees"]


@dataclass(frozen=True)
class Candidate:
    """A kind of model with its settings, and what it sees of a row."""

    name: str
    kind: str
    sees: Sees
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def suited(self, extent: Extent) -> Candidate:
        """Itself; or with means in the place of missing numbers, where EM would take too long to complete them."""
        return replace(self, sees="filled") if self._completed(extent) > MOST_COMPLETED else self

    def folds(self, extent: Extent, folds: IntArray) -> IntArray:
        """(n_rows,) the folds that it is tried in: fewer where trees or the completion of numbers by EM take long."""
        if self.sees == "trees":
            return folds % FOLDS_OF_MANY if self._grown(extent) > MANY_GROWN else folds
        return folds % 3 if self.sees == "numbers" and self._completed(extent) > MANY_COMPLETED else folds

    def _grown(self, extent: Extent) -> float:
        """How many cells trees read in a round, those of each class."""
        return float(extent.n_rows) * extent.n_features * extent.n_vectors

    def _completed(self, extent: Extent) -> float:
        """How much EM would have to complete in each step; 0 where nothing is missing."""
        is_slow = self.kind == "gaussian" and extent.n_patterns > 1
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

    def refusal(self, extent: Extent) -> str:
        """Why the candidate does not apply to a table; empty where it does."""
        if extent.n_columns == 0 and self.sees not in ("all", "words"):
            return "there is nothing but free text"
        if self.sees == "words" and extent.n_texts == 0:
            return "there is no free text"
        if self.sees == "cut" and extent.n_numbers == 0:
            return "there are no numbers to cut"
        if self.name in ("naive-bayes, families", "naive-bayes, cut") and extent.n_numbers == 0:
            return "there are no numbers"
        if extent.n_columns < 2 and self._needs_two_columns:
            return "there is one column only"
        if self.sees == "crossed" and extent.n_columns > MOST_PARENTS:
            return f"{extent.n_columns:,} columns, and at most {MOST_PARENTS} are crossed"
        if self.kind == "gaussian":
            if extent.n_numbers == 0:
                return "there are no numbers"
            if extent.n_features > MOST_NUMBERS:
                return f"{extent.n_features:,} columns and indicators, and at most {MOST_NUMBERS:,} are correlated"
        if self.sees == "trees":
            if extent.n_rows < FEW_FOR_TREES:
                return f"{extent.n_rows:,} rows, and trees are grown from {FEW_FOR_TREES} on"
            cells = self._grown(extent)
            what = "rows x numbers and indicators" + " x classes" * (extent.n_vectors > 1)
            return f"{what} are {cells:,.0f}; trees are grown up to {MOST_GROWN:,.0f}" if cells > MOST_GROWN else ""
        if self.kind == "logistic" and extent.n_features * extent.n_vectors > MOST_WEIGHTS:
            return f"{extent.n_features * extent.n_vectors:,} weights, and at most {MOST_WEIGHTS:,} are fitted"
        if self.name in ("tan", "aode") and extent.n_columns * (extent.n_columns - 1) // 2 > MOST_PAIRS:
            return f"more than {MOST_PAIRS:,} pairs of columns"
        if self.name == "a2de":
            if not 3 <= extent.n_columns <= MOST_IN_TRIPLES:
                return f"{extent.n_columns:,} columns, and triples of 3 to {MOST_IN_TRIPLES} columns are counted"
            if extent.n_rows < FEW_FOR_TRIPLES:
                return f"{extent.n_rows:,} rows, and at least {FEW_FOR_TRIPLES} are needed to count triples of columns"
            if extent.n_triple_cells > MOST_TRIPLE_CELLS:
                return (
                    f"the tables of triples of columns have some {extent.n_triple_cells:,.0f} cells; at most "
                    f"{MOST_TRIPLE_CELLS:,.0f} are counted"
                )
        if self.name in ("k-dependence", "markov-blanket") and extent.n_columns > MOST_PARENTS:
            return f"{extent.n_columns:,} columns, and parents are searched for among at most {MOST_PARENTS}"
        return ""

    @property
    def _needs_two_columns(self) -> bool:
        """Whether it is of use only where columns depend on each other."""
        return self.sees == "crossed" or self.name in ("tan", "aode", "a2de", "k-dependence", "markov-blanket")

    def refusal_of_inputs(self, inputs: Inputs | None, extent: Extent, n_folds: int) -> str:
        """Why the candidate would cost more than it can gain, given its inputs; empty where it would not.

        Indicators and products count here: with many classes they make regressions expensive.
        """
        if self.kind != "logistic" or not isinstance(inputs, AsNumbers):
            return ""
        if self.sees == "crossed" and not (inputs.crossed and inputs.crossed.pairs):
            return "no two columns say more together than one by one"
        if self.sees == "cut" and not inputs.cuts:
            return "no cut of a number is worth its bits"
        n_weights = (len(inputs.features) + 1) * extent.n_vectors
        if n_weights > MOST_WEIGHTS:
            return f"{n_weights:,} weights, and at most {MOST_WEIGHTS:,} are fitted"
        cells = float(extent.n_rows) * n_weights * n_folds
        if cells > MOST_TRIED:
            return f"rows x weights x folds are {cells:,.0f}; at most {MOST_TRIED:,.0f} are tried"
        n_unknown = min(n_weights, extent.n_rows) if extent.n_vectors == 1 else n_weights
        solved = float(n_folds) * n_unknown**3
        if solved > MOST_SOLVED:
            return f"{n_weights:,} weights in {plural(n_folds, 'fold')}, whose equations would take too long to solve"
        if self.settings["scale"] != self._first_scale:
            if cells > MANY_TRIED:
                many = f"rows x weights x folds are {cells:,.0f}, more than {MANY_TRIED:,.0f}"
                return f"{many}: one width of the prior is tried"
            if solved > MANY_SOLVED:
                return f"one width of the prior is tried for {n_weights:,} weights in {plural(n_folds, 'fold')}"
        return ""

    def refusal_of_many(self, extent: Extent, n_rows: int) -> str:
        """Why the candidate would take too long to be learned from all rows, where only some choose."""
        if self.kind != "logistic" or n_rows == extent.n_rows:
            return ""
        if self.sees == "trees":
            return (
                f"{n_rows:,} rows, and trees learn from at most {MANY_FOR_TREES:,}" if n_rows > MANY_FOR_TREES else ""
            )
        if self.settings["scale"] != self._first_scale:
            return "so many rows leave nothing to the width of the prior"
        cells = n_rows * (extent.n_features + 1) * extent.n_vectors * {"cut": 5, "crossed": 20}.get(self.sees, 1)
        return f"each step reads {cells:,.0f} cells; at most {MOST_CELLS:,.0f} are read" if cells > MOST_CELLS else ""

    @property
    def _first_scale(self) -> float:
        """The width of the prior that is tried where only one is."""
        return SCALES_OF_WORDS[0] if self.sees == "words" else 1.0

    def cost(self, extent: Extent) -> float:
        """How much work it is to learn it with each row left out, in the work of naive Bayes; for an order only."""
        rows, columns = extent.n_rows, extent.n_columns + extent.n_texts + 1
        if self.sees == "trees":
            return 5e3 * rows * (extent.n_features + 1) ** 2 * extent.n_vectors
        if self.kind == "logistic":
            wider = {"cut": 5.0, "crossed": 50.0}.get(self.sees, 1.0)
            return 20.0 * wider * rows * (extent.n_features + 1) ** 2 * extent.n_vectors
        if self.kind == "gaussian":
            return 10.0 * rows * (extent.n_features + 1) ** 2
        if self.kind in ("k-dependence", "markov-blanket"):
            return 40.0 * rows * columns**2
        if self.name == "a2de":
            return 20.0 * rows * columns**3
        if self.kind in ("tan", "aode") and "cut" not in self.name:
            return 20.0 * rows * columns**2
        return {"naive-bayes": 1.0, "naive-bayes, families": 5.0, "naive-bayes, cut": 10.0}.get(self.name, 8.0) * (
            rows * columns
        )


SCALES = (0.3, 1.0, 3.0)
"""Of the prior of the weights of regressions: one member for each, so that left-out rows average over them."""

SCALES_OF_WORDS = (0.1, 0.3)  # where there are many indicators, each says little


def _logistic(name: str, sees: Sees, scale: float) -> Candidate:
    return Candidate(f"{name}, scale {scale:g}", "logistic", sees, {"scale": scale}, {"only_weights": True})


def _trees(name: str, **growth: float) -> Candidate:
    return Candidate(name, "logistic", "trees", options=growth)


CANDIDATES = (
    Candidate("naive-bayes", "naive-bayes", "all"),
    Candidate("naive-bayes, families", "naive-bayes", "all", options={"families": "select"}),
    Candidate("naive-bayes, cut", "tan", "columns", {"structure": "naive"}),
    Candidate("averaged", "averaged", "all"),
    Candidate("gaussian", "gaussian", "numbers", {"covariance": "per-class"}),
    Candidate("gaussian, shared", "gaussian", "numbers", {"covariance": "shared"}),
    Candidate("gaussian, shrunk", "gaussian", "numbers", {"covariance": "per-class", "shrinkage": "auto"}),
    *(_logistic("logistic", "filled", scale) for scale in SCALES),
    *(_logistic("logistic, cut", "cut", scale) for scale in SCALES[:2]),
    *(_logistic("logistic, crossed", "crossed", scale) for scale in SCALES[:2]),
    *(_logistic("logistic, words", "words", scale) for scale in SCALES_OF_WORDS),
    _trees("trees, 8 leaves", n_leaves=8, rate=0.2),
    _trees("trees, 16 leaves", n_leaves=16, rate=0.2),
    _trees("trees, 16 leaves of 20 rows", n_leaves=16, rate=0.1, least_rows=20.0, ridge=0.1),
    _trees("trees, half of the features", n_leaves=8, rate=0.1, share_of_features=0.5),
    Candidate("tan", "tan", "columns", {"structure": "tan"}),
    Candidate("aode", "aode", "columns", {"structure": "aode"}),
    Candidate("a2de", "aode", "columns", {"structure": "a2de"}),
    Candidate("k-dependence", "k-dependence", "columns", {"structure": "k-dependence"}),
    Candidate("markov-blanket", "markov-blanket", "columns", {"structure": "markov-blanket"}),
)
