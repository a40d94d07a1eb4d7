"""Logistic regression of a sparse matrix (text), which is never written out with its zeros.

The objective is that of dense rows: z = (x - mean) / unit for every cell. The means are subtracted from sums and not
from cells: z . v = (x / unit) . v - (mean / unit) . v. The weights are found as those of any table of many columns.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.regression.features import Features, refuse_extreme
from bayeswise.models.regression.row_blocks import SPREADS
from bayeswise.models.regression.solving.folds import dealt_in
from bayeswise.models.regression.solving.logistic_fit import LogisticFit, fit_many_columns
from bayeswise.models.regression.solving.many_columns import ManyColumnsLoss, WideRows
from bayeswise.models.row_order import mixed_bits, odd_factors
from bayeswise.models.settings.regression import LogisticSettings


def refuse_unsupported(settings: LogisticSettings) -> None:
    """`ParameterError` for settings whose solvers need the cells of dense rows, or the Hessian of all columns."""
    found = fix = None
    if settings.prior is None:
        found, fix = "prior=None", "choose prior='gaussian', 'laplace' or 'student-t'"
    elif settings.scale == "evidence":
        found, fix = "scale='evidence'", "choose scale='cv', or give the scale as a number"
    elif settings.scale == "cv" and settings.prior == "laplace":
        found, fix = "scale='cv' with prior='laplace'", "give the scale as a number, or choose prior='gaussian'"
    elif settings.marginalize:
        found, fix = "marginalize=True", "choose marginalize=False"
    elif settings.missing == "mean":
        found, fix = "missing='mean'", "choose missing='error', since no cell of it may be missing"
    if found is not None:
        raise ParameterError(
            f"logistic regression of a sparse matrix does not take {found}", fix=f"{fix}; or give X.toarray()"
        )


def fit_sparse_logistic(
    features: Features,
    matrix: Any,
    targets: CodeArray,
    n_classes: int,
    weights: FloatArray | None,
    settings: LogisticSettings,
) -> LogisticFit:
    """Maximum a posteriori, the scale given or chosen by folds; `matrix` is CSR, each cell once and in order."""
    matrix, targets, by = sparse_in_own_order(matrix, targets, weights)

    def rows_of(by: FloatArray) -> SparseRows:
        return SparseRows.of(matrix, by, features, standardise=settings.standardise, centred=settings.fit_intercept)

    rows = rows_of(by)
    folds = dealt_in(_sorted_rows(matrix, targets), targets, by) if settings.scale == "cv" else None
    return fit_many_columns(ManyColumnsLoss(rows, targets, n_classes, settings.fit_intercept), settings, folds, rows_of)


@dataclass(frozen=True)
class SparseRows(WideRows):
    """z = (x - centre) / unit for each row, followed by a one for the intercept; x is 0 where no cell is stored."""

    cells: Any  # scipy.sparse CSR, (n_rows, n): x / unit
    weights: FloatArray  # (n_rows,)
    centre: FloatArray  # (n,) the means, or 0
    unit: FloatArray  # (n,)

    @classmethod
    def of(
        cls, matrix: Any, weights: FloatArray, features: Features, *, standardise: bool, centred: bool
    ) -> SparseRows:
        """Centre and unit as `Rows` has them, from the cells that are stored and the weight of those that are not."""
        mean, spread = _mean_and_spread(matrix, weights)
        refuse_extreme([name for name, _ in features.names], spread, *SPREADS)
        unit = np.where((spread > 0) & standardise, spread, 1.0)
        cells = csr_array((matrix.data / unit[matrix.indices], matrix.indices, matrix.indptr), shape=matrix.shape)
        return cls(cells, weights, mean if centred else np.zeros_like(mean), unit)

    @cached_property
    def shift(self) -> FloatArray:
        """(n,) the centre in units of the columns."""
        return self.centre / self.unit

    @cached_property
    def squares(self) -> Any:
        return csr_array((self.cells.data**2, self.cells.indices, self.cells.indptr), shape=self.cells.shape)

    def scores(self, weights: FloatArray) -> FloatArray:
        slopes = weights[:, :-1]
        return np.asarray(self.cells @ slopes.T + (weights[:, -1] - slopes @ self.shift))

    def moment(self, amounts: FloatArray) -> FloatArray:
        total = amounts.sum(axis=0)  # (n_vectors,)
        return np.column_stack([(self.cells.T @ amounts).T - np.outer(total, self.shift), total])

    def square_moment(self, amounts: FloatArray) -> FloatArray:
        total = amounts.sum(axis=0)
        crossed = (self.cells.T @ amounts).T * (2.0 * self.shift)
        inside = (self.squares.T @ amounts).T - crossed + np.outer(total, self.shift**2)
        return np.column_stack([np.maximum(inside, 0.0), total])

    def _written_out(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        return self.cells[:, columns].toarray(), self.shift[columns]


def _mean_and_spread(matrix: Any, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n,) mean and standard deviation of each column, zeros included; 0 where all cells are one value."""
    n = matrix.shape[1]
    total, by = math.fsum(weights), np.repeat(weights, np.diff(matrix.indptr))

    def sums(amounts: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(matrix.indices, weights=amounts, minlength=n), dtype=np.float64)

    with np.errstate(over="ignore", invalid="ignore"):
        mean = sums(by * matrix.data) / total
        away = matrix.data - mean[matrix.indices]
        stored = np.bincount(matrix.indices, minlength=n)
        unstored = np.where(stored < matrix.shape[0], np.maximum(total - sums(by), 0.0), 0.0)
        spread = np.sqrt((sums(by * away**2) + unstored * mean**2) / total)
    first = np.zeros(n)
    first[matrix.indices] = matrix.data
    others = np.bincount(matrix.indices, weights=matrix.data != first[matrix.indices], minlength=n)
    constant = (stored == 0) | ((stored == matrix.shape[0]) & (others == 0))
    return np.where(constant, first, mean), np.where(constant, 0.0, np.nan_to_num(spread, nan=np.inf))


# -- an order that the rows give themselves -------------------------------------------------------------------


def sparse_in_own_order(
    matrix: Any, targets: CodeArray, weights: FloatArray | None
) -> tuple[Any, CodeArray, FloatArray]:
    """Rows by the hash that they have as dense rows, equal ones as one with the sum of their weights, without zeros.

    >>> rows = csr_array(np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]]))
    >>> matrix, targets, by = sparse_in_own_order(rows, np.array([1, 1, 0]), None)
    >>> matrix.toarray().tolist(), targets.tolist(), by.tolist()
    ([[0.0, 0.0], [0.0, 1.0]], [0, 1], [1.0, 2.0])
    """
    matrix = csr_array(matrix, copy=True)
    matrix.eliminate_zeros()
    by = np.ones(matrix.shape[0]) if weights is None else weights
    hashes = _sparse_hashes(matrix, targets)
    order = np.lexsort([by, hashes])
    again = np.flatnonzero(np.diff(hashes[order]) == 0) + 1  # where a row may be the one before it
    same = _is_the_one_before(matrix, targets, order, again)
    if not same.all():  # two rows with one hash: the cells decide
        keys = [(int(hashes[k]), *_row(matrix, targets, int(k)), float(by[k])) for k in range(matrix.shape[0])]
        order = np.array(sorted(range(len(keys)), key=keys.__getitem__))
        again = np.arange(1, len(order))
        same = _is_the_one_before(matrix, targets, order, again)
    first = np.ones(len(order), dtype=np.bool_)
    first[again[same]] = False
    kept = order[first]
    return matrix[kept], targets[kept], np.add.reduceat(by[order], np.flatnonzero(first))


def _sparse_hashes(matrix: Any, targets: CodeArray) -> Any:
    """(n_rows,) 64 bits of each row: a cell of 0 adds nothing, so they are those of dense rows."""
    odd = odd_factors(matrix.shape[1] + 1)
    cells = mixed_bits(matrix.data.view(np.uint64).copy(), odd[matrix.indices])
    sums = np.append(np.uint64(0), np.cumsum(cells, dtype=np.uint64))  # modulo 2^64, so that differences are exact
    of_rows = sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]]
    return of_rows + mixed_bits((targets + 0.0).view(np.uint64), odd[-1])


def _sorted_rows(matrix: Any, targets: CodeArray) -> IntArray:
    """The places of rows by class and then as dense rows are sorted: by their first cell, then by the next."""
    ends = [(0, 0, 0.0)]  # what follows is 0: above cells below 0, and below those above

    def key(row: int) -> tuple[int, list[tuple[int, int, float]]]:
        target, indices, data = _row(matrix, targets, row)
        cells = [(1, -c, x) if x > 0 else (-1, c, x) for c, x in zip(indices, data, strict=True)]
        return target, cells + ends

    return np.array(sorted(range(len(targets)), key=key), dtype=np.int64)


def _row(matrix: Any, targets: CodeArray, row: int) -> tuple[int, list[int], list[float]]:
    cells = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return int(targets[row]), matrix.indices[cells].tolist(), matrix.data[cells].tolist()


def _is_the_one_before(matrix: Any, targets: CodeArray, order: IntArray, places: IntArray) -> BoolArray:
    """(n_places,) whether the row at a place of the order equals the row before it."""
    if not len(places):
        return np.ones(0, dtype=np.bool_)
    one, other = order[places], order[places - 1]
    differs = (matrix[one] != matrix[other]).sum(axis=1) > 0
    return np.asarray(~differs & (targets[one] == targets[other]))
