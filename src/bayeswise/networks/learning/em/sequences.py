"""Sequences with missing cells and hidden nodes: the Baum-Welch algorithm for two slices of any graph.

The future depends on the past through the interface, the nodes of a slice that a node of the next one depends on. Equal
rows are one kind of step: a matrix P(cells, next interface | previous interface) over the unobserved states of the
interface. The forward-backward algorithm gives the expected count of each entry, and each entry is a row whose
interface is known: its families are counted as those of any row with missing cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, TooLargeError
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.constraints import Progress, silent
from bayeswise.networks.learning.em.fitted_tables import best_of_starts, check_settings, em_steps, start_tables
from bayeswise.networks.learning.em.incomplete import Group, IncompleteRows, Layout, Point, counted, grouped, log_sum
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.source import Source

_MOST_ENTRIES = 1 << 22  # of all matrices together


# -- rows in order ----------------------------------------------------------------------------------------------
def order_of(source: Source, sequence: str, time: str) -> tuple[IntArray, BoolArray]:
    """The order of the rows by sequence and time, and which of them begin a sequence; times are numbers, or texts."""
    of: list[Label | None] = []
    numbers: list[float] = []
    texts: list[str | None] = []
    for chunk in source.chunks([sequence, time]):
        of += chunk.cells(sequence)
        texts += chunk.texts(time)
        numbers += chunk.numbers(time)[0].tolist()
    for name, cells in ((sequence, of), (time, texts)):
        if None in cells:
            raise ParameterError(f"{name!r} is missing in row {cells.index(None) + 1}", fix="fill the cell in")
    place = {label: k for k, label in enumerate(dict.fromkeys(of))}
    which = np.array([place[label] for label in of], dtype=np.int64)
    at = np.array(numbers) if not np.isnan(numbers).any() else np.array([str(text) for text in texts])
    order = np.lexsort((at, which))
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = which[order[1:]] != which[order[:-1]]
    return order, starts


# -- slices -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Entries:
    """The entries of the matrices of all kinds of steps in one slice, each a row whose interface is known."""

    layout: Layout  # the interface before, as nodes without parents, and the slice
    shapes: IntArray  # (n_kinds, 3) the first entry, states of the previous and the next interface
    available: FloatArray  # counts of each cell in rows in which its family has no missing value
    groups: list[Group] = field(repr=False)  # whose weights are the positions of their rows

    @classmethod
    def of(cls, layout: Layout, n_before: int, after: Sequence[int], codes: CodeArray) -> tuple[_Entries, IntArray]:
        """From (n_rows, n_nodes) codes in the order of the layout; `after` are the columns of the next interface. Also
        the kind of each row."""
        kinds, kind_of_row, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
        shapes = np.zeros((len(kinds), 3), dtype=np.int64)
        rows, n_rows = [kinds[:0]], 0
        interface = [*range(n_before), *after]
        for pattern, here in _by_pattern(kinds[:, interface] < 0):
            free = [column for column, is_free in zip(interface, pattern, strict=True) if is_free]
            sizes = [layout.sizes[column] for column in free]
            n_above = math.prod(layout.sizes[column] for column in free if column < n_before)
            size = math.prod(sizes)
            if n_rows + size * len(here) > _MOST_ENTRIES:
                raise TooLargeError(
                    f"the steps have more than {_MOST_ENTRIES:,} pairs of hidden states before and after",
                    fix="give hidden nodes fewer states, or let fewer of them point to the next slice",
                )
            shapes[here, 0] = n_rows + size * np.arange(len(here))
            shapes[here, 1:] = n_above, size // n_above
            expanded = np.repeat(kinds[here], size, axis=0)
            if free:
                expanded[:, free] = np.tile(np.indices(sizes).reshape(len(sizes), -1).T, (len(here), 1))
            rows.append(expanded)
            n_rows += len(expanded)
        entries = np.concatenate(rows)
        groups = list(grouped(layout, entries, np.arange(n_rows, dtype=np.float64)))
        shown = counted(layout, kinds, counts.astype(np.float64))
        return cls(layout, shapes, shown, groups), kind_of_row.ravel().astype(np.int64)

    @property
    def n_entries(self) -> int:
        return int((self.shapes[:, 1] * self.shapes[:, 2]).sum())

    def log_entries(self, tables: FloatArray) -> FloatArray:
        """log P(cells, next interface | previous interface) of each entry, under these tables."""
        log_entries = np.zeros(self.n_entries)
        for group in self.groups:
            group.tree.use(tables)
            log_p = np.empty(len(group.codes))
            group.tree.log_evidence(group.codes, group.columns, group.soft, log_p)
            log_entries[group.weights.astype(np.int64)] = log_p
        return log_entries

    def expected(self, tables: FloatArray, weights: FloatArray) -> FloatArray:
        """The expected count of each cell of the tables; entries have these weights."""
        groups = [replace(group, weights=weights[group.weights.astype(np.int64)]) for group in self.groups]
        none = np.zeros(self.layout.starts[-1])
        return IncompleteRows(self.layout, none, none, groups).at(tables, none).counts


def _by_pattern(free: BoolArray) -> list[tuple[list[bool], IntArray]]:
    """Rows in which the same columns are free."""
    patterns, which = np.unique(free, axis=0, return_inverse=True)
    which = which.ravel()
    return [(pattern.tolist(), np.flatnonzero(which == k)) for k, pattern in enumerate(patterns)]


@dataclass(frozen=True)
class Sequences:
    """The statistics of all sequences for the tables of the first slice, followed by those of later ones."""

    layout: Layout  # two slices; a parent in the previous slice is a node of the first
    shared: tuple[int, ...]  # nodes of the first slice whose table is that of later ones
    first: _Entries
    later: _Entries
    steps: IntArray  # the kind of each row, those of the first slice coming first
    ends: IntArray  # of each sequence

    @classmethod
    def of(
        cls,
        rows: CodedRows,
        order: IntArray,
        starts: BoolArray,
        parents: Sequence[Sequence[int]],
        shared: Sequence[int],
    ) -> Sequences:
        """Rows with their order; `parents` of both slices, by position in two slices."""
        n_nodes, sizes = len(rows.sizes), tuple(rows.sizes)
        layout = Layout(sizes * 2, tuple(map(tuple, parents)))
        interface = sorted({p for above in parents[n_nodes:] for p in above if p < n_nodes})
        m = len(interface)
        above = [
            tuple(interface.index(p) if p < n_nodes else p - n_nodes + m for p in each) for each in parents[n_nodes:]
        ]
        step = Layout(tuple(sizes[k] for k in interface) + sizes, ((),) * m + tuple(above))
        codes = np.ascontiguousarray(rows.codes[order], dtype=np.int32)
        follows = np.flatnonzero(~starts)
        slice_before = np.concatenate([codes[follows - 1][:, interface], codes[follows]], axis=1)
        first, kinds = _Entries.of(Layout(sizes, layout.parents[:n_nodes]), 0, interface, codes[starts])
        later, later_kinds = _Entries.of(step, m, [m + k for k in interface], slice_before)
        steps = np.empty(len(codes), dtype=np.int64)
        steps[starts], steps[follows] = kinds, later_kinds + len(first.shapes)
        ends = np.append(np.flatnonzero(starts)[1:], len(codes)).astype(np.int64)
        return cls(layout, tuple(shared), first, later, steps, ends)

    @property
    def _n_first(self) -> int:
        """Cells of the tables of the first slice."""
        return self.first.layout.starts[-1]

    def _parts(self, flat: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The tables of each slice; those of the previous interface are 1 for each state."""
        n_before = self.later.layout.starts[-1] - (len(flat) - self._n_first)
        return flat[: self._n_first], np.concatenate([np.ones(n_before), flat[self._n_first :]])

    def _whole(self, first: FloatArray, later: FloatArray) -> FloatArray:
        n_later = self.layout.starts[-1] - self._n_first
        return self.tied(np.concatenate([first, later[len(later) - n_later :]]))

    def tied(self, flat: FloatArray) -> FloatArray:
        """Shared tables replaced by their mean over both slices: equal numbers stay, counts are split evenly."""
        tables = self.layout.tables(flat)
        for node in self.shared:
            twin = node + len(tables) // 2
            tables[node][:] = tables[twin][:] = 0.5 * (tables[node] + tables[twin])
        return flat

    def pseudo_counts(self, prior: str, smoothing: float) -> FloatArray:
        """The pseudo-counts of each cell; a shared table has one prior."""
        flat = self.layout.pseudo_counts(prior, smoothing)
        for node in self.shared:
            for table in (node, node + len(self.layout.sizes) // 2):
                self.layout.tables(flat)[table][:] *= 0.5
        return flat

    @property
    def available(self) -> FloatArray:
        return self._whole(self.first.available, self.later.available)

    def at(self, tables: FloatArray, pseudo_counts: FloatArray) -> Point:
        """Expected counts under these tables: of the entries by forward-backward, then of the cells of the tables."""
        parts = self._parts(tables)
        log_entries = np.concatenate([each.log_entries(part) for each, part in zip(self._slices, parts, strict=True)])
        shapes = np.concatenate([self.first.shapes, self.later.shapes])
        shapes[len(self.first.shapes) :, 0] += self.first.n_entries
        by_start = np.argsort(shapes[:, 0], kind="stable")
        log_top = np.empty(len(shapes))
        log_top[by_start] = np.maximum.reduceat(log_entries, shapes[by_start, 0])
        sizes = shapes[by_start, 1] * shapes[by_start, 2]
        log_top[np.isneginf(log_top)] = 0.0
        entries = np.exp(log_entries - np.repeat(log_top[by_start], sizes))
        used = np.zeros(len(entries))
        log_likelihood = _kernels.expected_moves(entries, shapes, self.steps, self.ends, used)
        log_likelihood += float(log_top[self.steps].sum())
        shares = used[: self.first.n_entries], used[self.first.n_entries :]
        counts = [each.expected(*both) for each, *both in zip(self._slices, parts, shares, strict=True)]
        objective = log_likelihood + log_sum(pseudo_counts, tables)
        return Point(tables, self._whole(*counts), log_likelihood, objective)

    @property
    def _slices(self) -> tuple[_Entries, _Entries]:
        return self.first, self.later


@dataclass(frozen=True)
class FittedSequences:
    """Tables of the nodes of the first slice and of later ones; `trace` is the objective after each step."""

    first: list[FloatArray]
    later: list[FloatArray]
    log_likelihood: float
    trace: tuple[float, ...]
    converged: bool
    interrupted: bool = False


def fit_sequences(
    rows: CodedRows,
    order: IntArray,
    begins: BoolArray,
    parents: Sequence[Sequence[int]],
    *,
    shared: Sequence[int] = (),
    prior: str = "bdeu",
    smoothing: float = 1.0,
    starts: int = 3,
    seed: int = 0,
    tolerance: float = 1e-8,
    most_steps: int = 2_000,
    progress: Progress = silent,
) -> FittedSequences:
    """Tables of greatest posterior density, the best of several starts; no step goes down."""
    check_settings(prior, smoothing, starts, most_steps)
    seen = Sequences.of(rows, order, begins, parents, shared)
    pseudo_counts = seen.pseudo_counts(prior, smoothing)
    hidden = np.tile(np.asarray((rows.codes < 0).all(axis=0)), 2)

    def tables(start: int) -> FloatArray:
        drawn = start_tables(seen.layout, seen.available, hidden, start, np.random.default_rng([seed, start]))
        return seen.tied(drawn)

    n_starts = starts if (rows.codes < 0).any() else 1
    best, interrupted = best_of_starts(
        n_starts, lambda start: em_steps(seen, tables(start), pseudo_counts), tolerance, most_steps, progress
    )
    found, n_nodes = seen.layout.tables(best.point.tables), len(rows.sizes)
    return FittedSequences(
        found[:n_nodes],
        found[n_nodes:],
        best.point.log_likelihood,
        tuple(best.trace),
        best.converged,
        interrupted=interrupted,
    )
