"""Categories and flags, by counting: p(level | state) = (n_level + alpha) / (n + alpha |levels|)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from bayeswise import _kernels
from bayeswise.engines import Request
from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.logspace import log
from bayeswise.foundation.sparse import SparseExact
from bayeswise.models.naive_bayes.factors import Leaving, LinearTerm, OfColumns
from bayeswise.models.settings.naive_bayes import MEstimate, NaiveBayesSettings
from bayeswise.statistics import ColumnCounts, Counts
from bayeswise.tables.batch import MISSING, Batch
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema, positions_in

if TYPE_CHECKING:
    from bayeswise.explanations.account import Contribution
    from bayeswise.models.naive_bayes.sparse_levels import SparseLogTable, SparseTables
    from bayeswise.statistics.numbers.extents import Span


@dataclass(frozen=True)
class Categories:
    """All category and binary columns of a table."""

    columns: tuple[str, ...]

    name = "categories"

    def request(self, schema: Schema) -> Request:
        return Request.counts(self.name, self.columns, schema.levels_of(self.columns))

    def scores(self, statistic: ColumnCounts, settings: NaiveBayesSettings, schema: Schema) -> CategoryScores:
        tables = ColumnTables(self.columns, statistic, settings, schema)
        return CategoryScores(tables, positions_in(schema.categories, self.columns))


class ColumnCells:
    """One column, whose counts are held in some form: what a cell says of each state, also without a row."""

    column: Column
    pseudo_rows: PseudoRows

    @property
    def levels(self) -> Vocabulary:
        raise NotImplementedError

    @property
    def declared(self) -> Vocabulary:
        raise NotImplementedError

    @property
    def n_cells(self) -> int:
        """The levels, and "missing" where that is one."""
        raise NotImplementedError

    @property
    def total(self) -> FloatArray:
        """(n_states,) the weight of the cells that count."""
        raise NotImplementedError

    def counted(self, cells: IntArray) -> FloatArray:
        """(len(cells), n_states) the counts of some cells, as an array of its own."""
        raise NotImplementedError

    @property
    def n_levels(self) -> int:
        return len(self.levels)

    def log_unseen(self) -> FloatArray:
        """(n_states,) a level that no row showed: as if the column had one more level, with its own pseudo-counts."""
        return self._log_other(self.total, self.n_cells)

    def _log_other(self, total: FloatArray, n_cells: int) -> FloatArray:
        if self.column.unseen == "ignore":
            return np.zeros(total.shape)
        below = total + self.pseudo_rows.below_with_another(n_cells)
        return log_ratio(np.full(total.shape, self.pseudo_rows.of_another(n_cells)), below, n_cells + 1)

    def left_out(self, codes: CodeArray, leaving: Leaving) -> FloatArray:
        """(n_rows, n_states) log-likelihoods of the rows' own cells, each row taken out of its class first.

        A level whose last row this is vanishes (unless declared): its cell is then unseen, and one level fewer is
        smoothed.
        """
        cells = self._cells(codes)
        if not (cells >= 0).any():
            return np.zeros((len(codes), len(self.total)))
        rows = np.arange(len(codes))
        present = cells >= 0
        at = np.where(present, cells, 0)
        count = self.counted(at)  # (n_rows, n_states)
        weight = np.where(present, leaving.weights, 0.0)
        vanishes = present & ~self._is_fixed(at) & (count.sum(axis=1) <= weight)
        total = np.broadcast_to(self.total, count.shape).copy()
        count[rows, leaving.groups] -= weight
        total[rows, leaving.groups] -= weight
        n_cells = self.n_cells
        above = count + self.pseudo_rows.by_cell(n_cells)[at][:, None]
        log_cell = log_ratio(above, total + self.pseudo_rows.below(n_cells), n_cells)
        if vanishes.any():
            log_cell[vanishes] = self._log_other(total[vanishes], n_cells - 1)
        return np.where(present[:, None], log_cell, 0.0)

    def _cells(self, codes: CodeArray) -> IntArray:
        """Codes as positions in the counts; -1 for cells that say nothing."""
        missing = self.n_levels if self.column.missing == "level" else -1
        return np.where(codes == MISSING, missing, codes).astype(np.int64)

    def _is_fixed(self, cells: IntArray) -> Any:
        """Cells that stay though no row shows them: declared levels, "missing", and where shares are given, all."""
        if self.pseudo_rows.shares is not None:
            return np.ones(len(cells), dtype=bool)
        fixed = np.zeros(self.n_levels + 1, dtype=bool)
        fixed[self.declared.positions_in(self.levels)] = True
        fixed[-1] = True
        return fixed[cells]


@dataclass(frozen=True, eq=False)
class CategoryTable(ColumnCells):
    """One column: counts of its cells (levels, then "missing" where that is a level) and the pseudo-counts of each."""

    column: Column
    counts: Counts
    count: FloatArray  # (n_states, n_cells)
    pseudo_rows: PseudoRows

    @classmethod
    def of(cls, counts: Counts, settings: NaiveBayesSettings, column: Column) -> CategoryTable:
        count = counts.weight.to_floats()
        if column.missing == "level":
            count = np.concatenate([count, counts.missing.to_floats()[:, None]], axis=1)
        return cls(column, counts, count, PseudoRows.of(counts.levels, settings, column, n_states=count.shape[0]))

    @property
    def levels(self) -> Vocabulary:
        return self.counts.levels

    @property
    def declared(self) -> Vocabulary:
        return self.counts.declared

    @property
    def n_cells(self) -> int:
        return int(self.count.shape[1])

    def counted(self, cells: IntArray) -> FloatArray:
        return self.count[:, cells].T.copy()

    @cached_property
    def total(self) -> FloatArray:
        """(n_states,) the weight of the cells that count."""
        return np.asarray(self.count.sum(axis=1))

    def log_probability(self) -> FloatArray:
        """(n_cells, n_states)."""
        n_cells = self.count.shape[1]
        above = self.count.T + self.pseudo_rows.by_cell(n_cells)[:, None]
        return log_ratio(above, self.total + self.pseudo_rows.below(n_cells), n_cells)

    def with_ends(self) -> FloatArray:
        """(n_levels + 2, n_states): the levels, then missing, then unseen: the table the kernel needs."""
        log_cells = self.log_probability()
        missing = log_cells[self.n_levels :] if self.column.missing == "level" else np.zeros((1, len(self.total)))
        return np.concatenate([log_cells[: self.n_levels], missing, self.log_unseen()[None]])


@dataclass(frozen=True)
class PseudoRows:
    """The pseudo-counts of a column with a given number of cells: alpha for each, or m in all."""

    each: float | None  # Lidstone's alpha; None: m rows shared out
    all: float  # m
    shares: FloatArray | None = None  # (n_cells,) how the m rows are shared out; evenly if None
    printed: float | None = None  # the rows below the line, where they are not the sum of those above it

    @classmethod
    def of(cls, levels: Vocabulary, settings: NaiveBayesSettings, column: Column, n_states: int) -> PseudoRows:
        printed = settings.pseudo_rows * n_states if settings.denominator == "classes" else None
        smoothing = settings.smoothing
        if not isinstance(smoothing, MEstimate):
            return cls(float(smoothing), 0.0, None, printed)
        given = smoothing.p.get(column.name)
        if given is None:
            return cls(None, float(smoothing.m), None, printed)
        from bayeswise.families.priors import Dirichlet

        shares = Dirichlet.m_estimate(levels, 1.0, given).weight
        missing = np.zeros(1 if column.missing == "level" else 0)
        return cls(None, float(smoothing.m), np.concatenate([shares, missing]), printed)

    def by_cell(self, n_cells: int) -> FloatArray:
        if self.each is not None:
            return np.full(n_cells, self.each)
        return self.all * (np.full(n_cells, 1.0 / max(n_cells, 1)) if self.shares is None else self.shares)

    def below(self, n_cells: int) -> float:
        if self.printed is not None:
            return self.printed
        return self.all if self.each is None else self.each * n_cells

    def of_another(self, n_cells: int) -> float:
        """The pseudo-counts of one more level."""
        return self.all / max(n_cells, 1) if self.each is None else self.each

    def below_with_another(self, n_cells: int) -> float:
        return self.printed if self.printed is not None else self.below(n_cells) + self.of_another(n_cells)


def log_ratio(above: FloatArray, below: FloatArray, n_cells: int) -> FloatArray:
    """log above - log below; a class of which nothing is known spreads its mass evenly."""
    unknown = np.broadcast_to(below <= 0, above.shape)
    safe = np.where(below <= 0, 1.0, below)
    return np.where(unknown, -np.log(max(n_cells, 1)), log(above) - np.log(safe))


def _with_ends(one: CategoryTable, count: FloatArray) -> FloatArray:
    """(n_tables, n_levels + 2, n_states) of tables as the one is, with counts (n_tables, n_states, n_cells)."""
    pseudo_rows = one.pseudo_rows
    total, n_cells = count.sum(axis=2), count.shape[2]
    above = count.transpose(0, 2, 1) + pseudo_rows.by_cell(n_cells)[:, None]
    log_cells = log_ratio(above, (total + pseudo_rows.below(n_cells))[:, None, :], n_cells)
    log_ends = np.zeros((len(count), one.n_levels + 2, len(one.count)))
    log_ends[:, :n_cells] = log_cells
    log_ends[:, -1] = one._log_other(total, n_cells)
    return log_ends


class ColumnTables(Sequence[CategoryTable]):
    """The tables of all columns, each made on access: there may be 20,000."""

    def __init__(
        self, columns: tuple[str, ...], statistic: ColumnCounts, settings: NaiveBayesSettings, schema: Schema
    ) -> None:
        self.columns, self.statistic, self.settings, self.schema = columns, statistic, settings, schema

    @property
    def sizes(self) -> IntArray:
        """(n_columns,) how many levels each column has."""
        return self.statistic.levels.sizes

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, index: int) -> CategoryTable: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[CategoryTable, ...]: ...
    def __getitem__(self, index: int | slice) -> CategoryTable | tuple[CategoryTable, ...]:
        if isinstance(index, slice):
            return tuple(self[k] for k in range(*index.indices(len(self))))
        name = self.columns[index]
        return CategoryTable.of(self.statistic[name], self.settings, self.schema[name])

    @cached_property
    def sparse(self) -> SparseTables | None:
        """The same without zeros, where the counts are held so."""
        if not isinstance(self.statistic.table, SparseExact):
            return None
        from bayeswise.models.naive_bayes.sparse_levels import SparseTables  # late: few models are so large

        return SparseTables(self, self.statistic.table)

    def cells(self, index: int) -> ColumnCells:
        """The cells of a column, in the form that its counts have."""
        return self[index] if self.sparse is None else self.sparse[index]

    def n_cells(self) -> IntArray:
        """(n_columns,) how many cells each column has."""
        missing = [self.schema[name].missing == "level" for name in self.columns]
        return self.sizes + np.array(missing, dtype=np.int64)

    def alike(self) -> Iterator[tuple[IntArray, FloatArray]]:
        """Columns whose log-probabilities are one function of their counts, and these (n, n_levels + 2, n_states)."""
        table = self.statistic.table
        dense = table.dense() if isinstance(table, SparseExact) else table
        levels, count = self.statistic.levels, dense.to_floats()  # (n_states, n_slots)
        form_of = np.array(list(map(self.schema.form_of.__getitem__, self.columns)))
        both = levels.form_of_columns * len(self.schema.forms) + form_of
        smoothing = self.settings.smoothing
        given = smoothing.p if isinstance(smoothing, MEstimate) else {}
        own = np.array([levels.positions[name] for name in given if name in levels.positions], dtype=np.int64)
        both[own] = -1 - own  # a column whose shares were given is like no other
        for kind in sorted(set(both.tolist())):  # np.unique would import numpy.ma
            columns = np.flatnonzero(both == kind)
            one = self[int(columns[0])]
            slots = levels.slots(columns, one.count.shape[1])
            counts = np.ascontiguousarray(count[:, slots].transpose(1, 0, 2))
            yield columns, _with_ends(one, counts) if kind >= 0 else one.with_ends()[None]


@dataclass(frozen=True, eq=False)
class CategoryScores(OfColumns):
    """The tables of all columns, as one table for the kernel."""

    tables: Sequence[CategoryTable]
    positions: IntArray  # of the columns in Batch.codes

    @cached_property
    def sizes(self) -> IntArray:
        if isinstance(self.tables, ColumnTables):
            return self.tables.sizes
        return np.array([table.n_levels for table in self.tables], dtype=np.int64)

    @cached_property
    def log_table(self) -> FloatArray:
        """(sum of sizes + 2, n_states); columns of as many cells, treated alike, are answered together."""
        if self.sparse_table is not None:
            return self.sparse_table.dense()
        table = np.empty((int((self.sizes + 2).sum()), len(self.tables[0].count)))
        for columns, log_ends in self._alike():
            table[self.starts[columns][:, None] + np.arange(log_ends.shape[1])] = log_ends
        return table

    @cached_property
    def sparse_table(self) -> SparseLogTable | None:
        """The same where counts are mostly zero."""
        sparse = self.tables.sparse if isinstance(self.tables, ColumnTables) else None
        return None if sparse is None else sparse.log_table()

    def _alike(self) -> Iterator[tuple[IntArray, FloatArray]]:
        if isinstance(self.tables, ColumnTables):
            return self.tables.alike()
        return ((np.array([k]), table.with_ends()[None]) for k, table in enumerate(self.tables))

    @cached_property
    def starts(self) -> IntArray:
        return np.concatenate([[0], np.cumsum(self.sizes + 2)[:-1]]).astype(np.int64)

    def add_to(self, log_joint: FloatArray, batch: Batch) -> None:
        if self.sparse_table is not None:
            self.sparse_table.add_to(log_joint, self.own(batch.codes), self.sizes)
        else:
            _kernels.add_table(log_joint, self.own(batch.codes), self.sizes, self.log_table)

    def by_column(self, batch: Batch) -> FloatArray:
        codes = self.own(batch.codes).astype(np.int64)
        slots = np.where(codes >= 0, codes, self.sizes - 1 - codes) + self.starts
        return np.asarray((self.log_table if self.sparse_table is None else self.sparse_table)[slots])

    def left_out(self, batch: Batch, groups: CodeArray, weights: FloatArray | None) -> FloatArray:
        codes, leaving = self.own(batch.codes), Leaving.of(groups, weights)
        cells = map(self.column_cells, range(len(self.tables)))
        return np.asarray(sum(each.left_out(codes[:, c], leaving) for c, each in enumerate(cells)))

    def column_cells(self, column: int) -> ColumnCells:
        """One column, in the form that its counts have."""
        return self.tables.cells(column) if isinstance(self.tables, ColumnTables) else self.tables[column]

    def sample(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        return {table.column.name: _drawn(table, states, generator) for table in self.tables}

    def alternatives(self, column: str, span: Span | None = None) -> tuple[Contribution, ...]:
        from bayeswise.explanations.account import Contribution

        table = next(table for table in self.tables if table.column.name == column)
        log_cells = table.log_probability()
        return tuple(Contribution(column, level, log_cells[k]) for k, level in enumerate(table.counts.levels))

    def linear_terms(self) -> Iterator[LinearTerm]:
        for table in self.tables:
            log_cells = table.log_probability()
            nothing = np.zeros(log_cells.shape[1])
            for k, level in enumerate(table.counts.levels):
                yield LinearTerm(table.column.name, level, log_cells[k], nothing)

    def n_free_parameters(self) -> int:
        if isinstance(self.tables, ColumnTables):
            return int(np.maximum(self.tables.n_cells() - 1, 0).sum()) * self.tables.statistic.table.shape[0]
        return sum(max(table.count.shape[1] - 1, 0) * table.count.shape[0] for table in self.tables)


def _drawn(table: CategoryTable, states: CodeArray, generator: np.random.Generator) -> list[Any]:
    """One level for each state, by inversion; None for a missing cell."""
    probability = np.exp(table.log_probability().T)  # (n_states, n_cells)
    edges = np.cumsum(probability / probability.sum(axis=1, keepdims=True), axis=1)
    drawn = (generator.random(len(states))[:, None] > edges[states]).sum(axis=1)
    labels: list[Any] = [*table.counts.levels, None]
    return [labels[min(int(cell), len(labels) - 1)] for cell in drawn]
