"""How large a table is, and what it must have and may not exceed for a candidate to be tried on it.

A need is a function of the extent, and of what a regression sees of a row where that counts. It gives the reason for
which a candidate is not tried, or no text; a model keeps the reasons in its notes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.auto.inputs import AsNumbers
from bayeswise.models.auto.text_words import most_words
from bayeswise.models.settings.network import MOST_IN_TRIPLES
from bayeswise.models.settings.regression import n_weight_vectors
from bayeswise.render.numbers import plural
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.schema import Schema

MOST_NUMBERS = 300  # columns and indicators of Gaussian classes, whose covariances grow with their square
MANY_NUMBERS = 100  # with fewer of them, a variance for each class costs little
MOST_WEIGHTS = 3_000  # columns and indicators of a regression, for all classes together
MOST_CELLS = 5e7  # of a step of a regression
MOST_TRIED = 5e7  # cells times classes of all folds in which a regression is tried, some ten seconds of one core
MANY_TRIED = 1e7  # from here on one width of the prior is enough
MANY_SOLVED, MOST_SOLVED = 2e9, 5e9  # folds times the cube of the weights: of one width of the prior, and of none
MOST_PAIRS = 250_000  # pairs of columns that a network counts
LEVELS_OF_A_NUMBER = 6  # as a guess, before cuts are found
MOST_TRIPLE_CELLS = 3e5  # of the tables of triples of columns
FEW_FOR_TRIPLES = 500  # rows: fewer say too little about triples
MOST_CONTRASTED = 3e8  # numbers of all pairs of classes for each row left out, some ten seconds of one core
OF_A_PAIR = 8  # numbers take as long as what is done once for a pair of classes
MOST_PARENTS = 60  # columns among which a search looks for parents
FEW_FOR_TREES = 100  # rows: fewer say too little about what trees find
MANY_FOR_TREES = 50_000  # rows: what leaves of trees add is learned tree by tree
MOST_GROWN = 1e6  # rows times numbers and indicators times classes of trees


@dataclass(frozen=True)
class Extent:
    """How large a table is, for what applies and what it takes."""

    n_rows: int  # that choose
    n_numbers: int
    n_categories: int
    n_texts: int
    n_indicators: int  # of categories
    n_classes: int
    n_patterns: int  # of missing numbers: 1 where none is missing
    n_triple_cells: float = 0.0  # of the tables of all triples of columns, numbers cut into LEVELS_OF_A_NUMBER
    n_words: int = 0  # of texts, with an indicator at most
    n_all_rows: int = 0  # where only some of the rows choose, else 0

    @classmethod
    def of(cls, schema: Schema, chosen: Batch, rows: Batch) -> Extent:
        """That of the rows that choose, among all rows."""
        indicators = sum(max(len(levels) - 1, 0) for levels in chosen.vocabularies)
        missing = np.isnan(chosen.values)
        n_patterns = len(np.unique(np.packbits(missing, axis=1), axis=0)) if missing.any() else 1
        sizes = (len(schema.numbers), len(schema.categories), len(schema.texts), indicators)
        n_classes = len(chosen.group_labels)
        levels = [LEVELS_OF_A_NUMBER] * len(schema.numbers) + [len(known) for known in chosen.vocabularies]
        n_triple_cells = n_classes * _products_of_three(levels)
        n_words = sum(min(len(text.vocabulary), most_words(n_classes)) for text in chosen.texts)
        n_all_rows = rows.n_rows if rows.n_rows > chosen.n_rows else 0
        return cls(chosen.n_rows, *sizes, n_classes, n_patterns, n_triple_cells, n_words, n_all_rows)

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
        """Weights of a regression for each feature."""
        return n_weight_vectors(self.n_classes)

    @property
    def n_contrasted(self) -> float:
        """The numbers by which pairs of classes are contrasted, once without each row."""
        return float(self.n_rows) * self.n_classes**2 * (self.n_numbers + OF_A_PAIR) if self.n_numbers else 0.0

    @property
    def n_grown(self) -> float:
        """The cells that trees read in a round, those of each class."""
        return float(self.n_rows) * self.n_features * self.n_vectors


def _products_of_three(sizes: list[int]) -> float:
    """The sum over all triples of the product of their sizes.

    >>> _products_of_three([2, 3, 4, 5])
    154.0
    """
    sums = [float(sum(size**power for size in sizes)) for power in (1, 2, 3)]
    return (sums[0] ** 3 - 3.0 * sums[0] * sums[1] + 2.0 * sums[2]) / 6.0


Need = Callable[[Extent], str]
NeedOfInputs = Callable[[AsNumbers, Extent, int], str]
"""Of what a regression sees of a row, and of the number of folds."""


# -- columns ----------------------------------------------------------------------------------------------------
def a_column(extent: Extent) -> str:
    return "there is nothing but free text" if extent.n_columns == 0 else ""


def two_columns(extent: Extent) -> str:
    """For what is of use only where columns depend on each other."""
    return "there is one column only" if extent.n_columns < 2 else ""


def a_text(extent: Extent) -> str:
    return "there is no free text" if extent.n_texts == 0 else ""


def a_number(extent: Extent) -> str:
    return "there are no numbers" if extent.n_numbers == 0 else ""


def a_number_to_cut(extent: Extent) -> str:
    return "there are no numbers to cut" if extent.n_numbers == 0 else ""


def many_numbers(extent: Extent) -> str:
    """For what has fewer parameters for each of them."""
    if extent.n_numbers >= MANY_NUMBERS:
        return ""
    return f"{plural(extent.n_numbers, 'number')}, and classes share variances from {MANY_NUMBERS} on"


def few_pairs_of_classes(extent: Extent) -> str:
    if extent.n_contrasted <= MOST_CONTRASTED:
        return ""
    return (
        f"{extent.n_rows:,} rows, {extent.n_numbers:,} numbers and {extent.n_classes:,} classes, whose pairs would be "
        "contrasted without each row"
    )


def few_to_correlate(extent: Extent) -> str:
    if extent.n_features <= MOST_NUMBERS:
        return ""
    return f"{extent.n_features:,} columns and indicators, and at most {MOST_NUMBERS:,} are correlated"


def few_to_cross(extent: Extent) -> str:
    if extent.n_columns <= MOST_PARENTS:
        return ""
    return f"{extent.n_columns:,} columns, and at most {MOST_PARENTS} are crossed"


# -- networks ---------------------------------------------------------------------------------------------------
def few_pairs(extent: Extent) -> str:
    n_pairs = extent.n_columns * (extent.n_columns - 1) // 2
    return f"more than {MOST_PAIRS:,} pairs of columns" if n_pairs > MOST_PAIRS else ""


def few_triples(extent: Extent) -> str:
    if not 3 <= extent.n_columns <= MOST_IN_TRIPLES:
        return f"{extent.n_columns:,} columns, and triples of 3 to {MOST_IN_TRIPLES} columns are counted"
    if extent.n_rows < FEW_FOR_TRIPLES:
        return f"{extent.n_rows:,} rows, and at least {FEW_FOR_TRIPLES} are needed to count triples of columns"
    if extent.n_triple_cells > MOST_TRIPLE_CELLS:
        return (
            f"the tables of triples of columns have some {extent.n_triple_cells:,.0f} cells; at most "
            f"{MOST_TRIPLE_CELLS:,.0f} are counted"
        )
    return ""


def few_parents(extent: Extent) -> str:
    if extent.n_columns <= MOST_PARENTS:
        return ""
    return f"{extent.n_columns:,} columns, and parents are searched for among at most {MOST_PARENTS}"


# -- trees ------------------------------------------------------------------------------------------------------
def rows_for_trees(extent: Extent) -> str:
    if extent.n_rows < FEW_FOR_TREES:
        return f"{extent.n_rows:,} rows, and trees are grown from {FEW_FOR_TREES} on"
    if extent.n_grown > MOST_GROWN:
        what = "rows x numbers and indicators" + " x classes" * (extent.n_vectors > 1)
        return f"{what} are {extent.n_grown:,.0f}; trees are grown up to {MOST_GROWN:,.0f}"
    if extent.n_all_rows > MANY_FOR_TREES:
        return f"{extent.n_all_rows:,} rows, and trees learn from at most {MANY_FOR_TREES:,}"
    return ""


# -- regressions ------------------------------------------------------------------------------------------------
def few_weights(extent: Extent) -> str:
    n_weights = extent.n_features * extent.n_vectors
    return f"{n_weights:,} weights, and at most {MOST_WEIGHTS:,} are fitted" if n_weights > MOST_WEIGHTS else ""


def every_row_chooses(extent: Extent) -> str:
    """For a second width of the prior."""
    return "so many rows leave nothing to the width of the prior" if extent.n_all_rows else ""


def short_steps(times: int) -> Need:
    """Few cells in each step of a fit to all rows, of so many features for each that the table has."""

    def need(extent: Extent) -> str:
        n_cells = extent.n_all_rows * (extent.n_features + 1) * extent.n_vectors * times
        if n_cells <= MOST_CELLS:
            return ""
        return f"each step reads {n_cells:,.0f} cells; at most {MOST_CELLS:,.0f} are read"

    return need


def pairs_that_say_more(inputs: AsNumbers, extent: Extent, n_folds: int) -> str:
    has_pairs = inputs.crossed is not None and inputs.crossed.pairs
    return "" if has_pairs else "no two columns say more together than one by one"


def cuts_worth_their_bits(inputs: AsNumbers, extent: Extent, n_folds: int) -> str:
    return "" if inputs.cuts else "no cut of a number is worth its bits"


def weights_to_solve(inputs: AsNumbers, extent: Extent, n_folds: int) -> str:
    """Indicators and products count here: with many classes they make regressions expensive."""
    n_weights, n_cells, n_solved = _work(inputs, extent, n_folds)
    if n_weights > MOST_WEIGHTS:
        return f"{n_weights:,} weights, and at most {MOST_WEIGHTS:,} are fitted"
    if n_cells > MOST_TRIED:
        return f"rows x weights x folds are {n_cells:,.0f}; at most {MOST_TRIED:,.0f} are tried"
    if n_solved > MOST_SOLVED:
        return f"{n_weights:,} weights in {plural(n_folds, 'fold')}, whose equations would take too long to solve"
    return ""


def weights_for_two_widths(inputs: AsNumbers, extent: Extent, n_folds: int) -> str:
    """For a second width of the prior."""
    n_weights, n_cells, n_solved = _work(inputs, extent, n_folds)
    if n_cells > MANY_TRIED:
        many = f"rows x weights x folds are {n_cells:,.0f}, more than {MANY_TRIED:,.0f}"
        return f"{many}: one width of the prior is tried"
    if n_solved > MANY_SOLVED:
        return f"one width of the prior is tried for {n_weights:,} weights in {plural(n_folds, 'fold')}"
    return ""


def _work(inputs: AsNumbers, extent: Extent, n_folds: int) -> tuple[int, float, float]:
    """Weights; rows times weights of all folds; folds times the cube of what is solved for."""
    n_weights = (len(inputs.features) + 1) * extent.n_vectors
    n_unknown = min(n_weights, extent.n_rows) if extent.n_vectors == 1 else n_weights
    return n_weights, float(extent.n_rows) * n_weights * n_folds, float(n_folds) * n_unknown**3
