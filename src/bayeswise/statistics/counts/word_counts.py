"""How often each word occurs in the texts of each group, from a dense or sparse matrix of counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import SchemaError
from bayeswise.foundation.exact import ExactArray
from bayeswise.statistics.counts.level_counts import Counts
from bayeswise.statistics.protocol import Additive, Weights, refuse_amounts, refuse_negative
from bayeswise.tables.schema.labels import Vocabulary


@dataclass(frozen=True)
class Cells:
    """The cells of a matrix that are not zero: their rows, columns and values."""

    n_rows: int
    n_columns: int
    row: IntArray  # (n_cells,) ascending
    column: CodeArray  # (n_cells,)
    value: FloatArray  # (n_cells,)

    @classmethod
    def of(cls, matrix: Any) -> Cells:
        """From an array, or anything of scipy.sparse; equal cells are added."""
        from scipy.sparse import csr_matrix, issparse

        sparse = csr_matrix(matrix) if issparse(matrix) else csr_matrix(np.atleast_2d(np.asarray(matrix, np.float64)))
        if not sparse.has_canonical_format:
            sparse = sparse.copy()
            sparse.sum_duplicates()
        row = np.repeat(np.arange(sparse.shape[0]), np.diff(sparse.indptr))
        kept = sparse.data != 0
        chosen = slice(None) if kept.all() else kept
        column, value = sparse.indices.astype(np.int32), sparse.data.astype(np.float64)
        return cls(sparse.shape[0], sparse.shape[1], row[chosen], column[chosen], value[chosen])

    def sums(self, terms: FloatArray) -> FloatArray:
        """(n_rows,) the sum of a term of each cell."""
        return np.asarray(np.bincount(self.row, weights=terms, minlength=self.n_rows), dtype=np.float64)

    def is_incomplete(self) -> BoolArray:
        """(n_rows,) whether a row has a missing cell."""
        return self.sums(np.isnan(self.value).astype(np.float64)) > 0


@dataclass(frozen=True)
class WordCounts(Additive):
    """The words of complete rows counted, and the logarithms of n! / (x_1! x_2! ...) added up over rows.

    >>> seen = WordCounts.of(np.array([[2.0, 1.0], [0.0, 1.0]]), Vocabulary(["buy", "now"]))
    >>> seen.words, round(np.exp(seen.log_coefficient.to_floats()).item(), 12)       # 3! / (2! 1!)
    (Counts(buy=2, now=2), 3.0)
    """

    rows: ExactArray  # (n_groups,) the weight of all rows
    words: Counts  # its `missing` is the weight of incomplete rows
    log_coefficient: ExactArray  # (n_groups,)

    sums = ("rows", "words", "log_coefficient")

    def __post_init__(self) -> None:
        if not self.rows.shape == self.words.missing.shape == self.log_coefficient.shape:
            raise SchemaError("counts of words and groups do not match in number")

    def refuse_impossible(self) -> None:
        refuse_amounts([self.rows, self.rows.sum(), self.log_coefficient], "a count of texts")

    @classmethod
    def of(
        cls,
        counts: Any,
        words: Vocabulary,
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
        declared: Vocabulary | None = None,
    ) -> WordCounts:
        """Whole counts (n_rows, n_words); a negative group is left out, a weight of k counts as k rows."""
        cells = Cells.of(counts)
        if cells.n_columns != len(words):
            raise SchemaError(f"{len(words)} words need as many columns of counts; found {cells.n_columns}")
        group = np.zeros(cells.n_rows, np.int32) if groups is None else np.asarray(groups, np.int32)
        incomplete = cells.is_incomplete()
        missing = Weights.of(cells.n_rows, np.where(incomplete, group, -1).astype(np.int32), n_groups, weights)
        kept = np.where(incomplete, -1, group).astype(np.int32)
        counted = _counted(cells, words, kept, n_groups, weights, declared)
        return cls(
            Weights.of(cells.n_rows, groups, n_groups, weights).weight,
            replace(counted, missing=missing.weight),
            _log_coefficient(cells, kept, n_groups, weights),
        )

    @property
    def weight_of_rows(self) -> ExactArray:
        return self.rows

    def _refuse_unmerged(self) -> None:
        refuse_negative([self.rows], "a count of rows")

    def __repr__(self) -> str:
        return f"WordCounts({self.rows.sum().to_floats():g} rows, {len(self.words.levels)} words)"


def _counted(
    cells: Cells,
    words: Vocabulary,
    groups: CodeArray,
    n_groups: int,
    weights: FloatArray | None,
    declared: Vocabulary | None,
) -> Counts:
    """The sum of weight times count for each word, exactly: a count alone is the weight of its word."""
    group = groups[cells.row]
    kept = np.flatnonzero(group >= 0)
    column, group, value = cells.column[kept], group[kept], cells.value[kept]
    if weights is None:
        return Counts.of(column, words, group, n_groups, value, declared)
    different, code = np.unique(group * np.int64(len(words)) + column, return_inverse=True)
    weigh = np.ascontiguousarray(weights[cells.row[kept]])
    sums = _kernels.moments(value[:, None], code.astype(np.int32), len(different), weigh)[1]
    table = ExactArray.from_limbs(*sums)[:, 0].scatter_to(different, n_groups * len(words))
    return Counts.of_table(words, table.reshape(n_groups, len(words)), ExactArray.zeros(n_groups), declared)


def _log_coefficient(cells: Cells, groups: CodeArray, n_groups: int, weights: FloatArray | None) -> ExactArray:
    """sum of log n! over rows less that of log x! over cells; each term is rounded once, their order cannot matter."""
    from scipy.special import gammaln  # late: loading scipy costs more than all other statistics

    totals = cells.sums(np.where(np.isnan(cells.value), 0.0, cells.value))
    several = np.flatnonzero(cells.value > 1)  # log 0! = log 1! = 0
    weigh = None if weights is None else np.ascontiguousarray(weights[cells.row[several]])
    of_rows = _kernels.moments(gammaln(totals + 1.0)[:, None], groups, n_groups, weights)[1]
    terms = gammaln(cells.value[several] + 1.0)[:, None]
    of_cells = _kernels.moments(terms, np.ascontiguousarray(groups[cells.row[several]]), n_groups, weigh)[1]
    return (ExactArray.from_limbs(*of_rows) - ExactArray.from_limbs(*of_cells))[:, 0]
