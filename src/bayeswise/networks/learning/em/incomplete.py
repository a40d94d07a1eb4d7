"""Rows with missing values for EM: distinct rows with weights, complete rows counted, the others by pattern."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import TooLargeError
from bayeswise.foundation.threads import Shared
from bayeswise.networks.inference.engine import MEMORY_LIMIT
from bayeswise.networks.learning.coded_rows import CodedRows, summed_weights
from bayeswise.networks.soft_evidence import no_soft_cells

_CELLS_WORTH_A_TREE = 20_000  # patterns whose rows cost less than this share a tree for any pattern
_MOST_TREES = 10_000  # where there is such a tree
_CHUNK = 512  # rows that are summed together for any number of threads, so that the result is always the same
_BYTES_PER_CELL = 16


@dataclass(frozen=True)
class Layout:
    """All tables of a graph concatenated: `sizes` of the nodes and their `parents`, by position."""

    sizes: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]

    @cached_property
    def starts(self) -> list[int]:
        sizes = (self.sizes[k] * math.prod(self.sizes[p] for p in above) for k, above in enumerate(self.parents))
        return [0, *np.cumsum([*sizes], dtype=np.int64).tolist()]

    def tables(self, flat: FloatArray) -> list[FloatArray]:
        """Views (n_configurations, n_states) of each node's part."""
        ends = zip(self.starts, self.starts[1:], self.sizes, strict=False)
        return [flat[start:end].reshape(-1, size) for start, end, size in ends]

    def normalised(self, flat: FloatArray) -> FloatArray:
        """Each row divided by its sum; uniform where that is 0."""
        found = np.empty_like(flat)
        for table, shares in zip(self.tables(flat), self.tables(found), strict=True):
            total = table.sum(axis=1, keepdims=True)
            shares[:] = 1.0 / table.shape[1]
            np.divide(table, total, out=shares, where=total > 0.0)
        return found

    def pseudo_counts(self, prior: str, smoothing: float) -> FloatArray:
        """The pseudo-counts of each cell."""
        flat = np.zeros(self.starts[-1])
        for table in self.tables(flat):
            table[:] = {"bdeu": smoothing / table.size, "m-estimate": smoothing / table.shape[1], "none": 0.0}[prior]
        return flat


class Point(NamedTuple):
    """Tables, and the expected counts and the log-likelihood under them; `objective` adds the log prior."""

    tables: FloatArray
    counts: FloatArray
    log_likelihood: float
    objective: float


@dataclass(frozen=True)
class Group:
    tree: _kernels.ExpectedCounts
    columns: list[int]
    codes: CodeArray  # (n_rows, n_columns); n_states + k is the k-th likelihood of the column
    weights: FloatArray
    soft: Sequence[FloatArray]  # by column, (n_likelihoods, n_states)


@dataclass(frozen=True)
class IncompleteRows:
    """The statistics of all rows about the tables of one graph."""

    layout: Layout
    complete: FloatArray  # counts of each cell in complete rows
    available: FloatArray  # counts of each cell in all rows in which its family has no missing value
    groups: list[Group] = field(repr=False)

    @classmethod
    def of(cls, rows: CodedRows, parents: Sequence[Sequence[int]]) -> IncompleteRows:
        """Rows in the order of the columns; all cells of a hidden column are missing."""
        layout = Layout(tuple(rows.sizes), tuple(map(tuple, parents)))
        codes, weigh = _distinct(rows)
        seen = codes >= 0
        certain = np.where(codes < np.array(layout.sizes), codes, -1)
        whole = (certain >= 0).all(axis=1)
        some = seen.any(axis=1) & ~whole
        groups = list(grouped(layout, codes[some], weigh[some], rows.with_soft[1]))
        return cls(layout, counted(layout, certain[whole], weigh[whole]), counted(layout, certain, weigh), groups)

    def at(self, tables: FloatArray, pseudo_counts: FloatArray) -> Point:
        """Expected counts under these tables: sum over rows of P(cell of a table | row)."""
        counts = self.complete.copy()
        log_likelihood = log_sum(self.complete, tables)
        for group in self.groups:
            group.tree.use(tables)
        for part, log_part in self._parts():
            counts += part
            log_likelihood += log_part
        return Point(tables, counts, log_likelihood, log_likelihood + log_sum(pseudo_counts, tables))

    def _parts(self) -> Iterable[tuple[FloatArray, float]]:
        """The counts of some hundreds of rows at a time, of one group or of several small ones."""
        tasks: list[list[tuple[Group, slice]]] = []
        room = 0
        for group in self.groups:
            for first in range(0, len(group.codes), _CHUNK):
                n_rows = min(_CHUNK, len(group.codes) - first)
                if n_rows > room:
                    tasks.append([])
                    room = _CHUNK
                tasks[-1].append((group, slice(first, first + n_rows)))
                room -= n_rows
        return Shared(self._expected, tasks)

    def _expected(self, task: list[tuple[Group, slice]]) -> tuple[FloatArray, float]:
        part, log_likelihood = np.zeros(self.layout.starts[-1]), 0.0
        for group, here in task:
            log_likelihood += group.tree.add(group.codes[here], group.columns, group.soft, group.weights[here], part)
        return part, log_likelihood


def log_sum(counts: FloatArray, tables: FloatArray) -> float:
    """sum n log p, with 0 log 0 = 0."""
    used = counts > 0.0
    with np.errstate(divide="ignore"):
        return float(counts[used] @ np.log(tables[used]))


def _distinct(rows: CodedRows) -> tuple[CodeArray, FloatArray]:
    """Distinct rows, and the weight of each."""
    codes, _ = rows.with_soft
    if codes.shape[1] == 0 or len(codes) == 0:
        return codes[:0], np.zeros(0)
    packed = np.ascontiguousarray((codes + 1).astype(rows.code_type if rows.soft is None else np.int32))
    keys = packed.view(np.dtype((np.void, packed.itemsize * packed.shape[1]))).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return codes[first], summed_weights(which.ravel(), len(first), rows.weights)


def counted(layout: Layout, codes: CodeArray, weights: FloatArray) -> FloatArray:
    """Each family over the rows in which it has no missing value."""
    counts = np.zeros(layout.starts[-1])
    for node, table in enumerate(layout.tables(counts)):
        scope = [*layout.parents[node], node]
        there = (codes[:, scope] >= 0).all(axis=1)
        cell = np.zeros(int(there.sum()), dtype=np.int64)
        for member in scope:
            cell = cell * layout.sizes[member] + codes[there, member]
        table.ravel()[:] = np.bincount(cell, weights[there], table.size)
    return counts


def grouped(
    layout: Layout, codes: CodeArray, weights: FloatArray, soft: Sequence[FloatArray] | None = None
) -> Iterable[Group]:
    """Rows by their pattern of missing and soft cells, a tree for each; rare ones share one if it is not too large."""
    if not len(codes):
        return
    soft = no_soft_cells(layout.sizes) if soft is None else soft
    likely = codes >= np.array(layout.sizes)
    flags = np.packbits(np.hstack([(codes >= 0) & ~likely, likely]), axis=1)
    patterns, which, sizes = np.unique(flags, axis=0, return_inverse=True, return_counts=True)
    which = which.ravel()
    anywhere, nowhere = np.asarray((codes >= 0).any(axis=0)), np.zeros(codes.shape[1], dtype=bool)
    shared = _tree(layout, anywhere, nowhere) if len(patterns) > 1 else None
    common = np.arange(len(patterns))
    if shared is not None and not _too_large(shared):
        common = np.argsort(-sizes, kind="stable")[:_MOST_TREES]
        common = np.sort(common[sizes[common] * shared.n_cells >= _CELLS_WORTH_A_TREE])
    order, ends = np.argsort(which, kind="stable"), np.cumsum(sizes)
    for pattern in common:
        here = order[ends[pattern] - sizes[pattern] : ends[pattern]]
        has_state, is_soft = np.unpackbits(patterns[pattern], count=2 * codes.shape[1]).astype(bool).reshape(2, -1)
        seen = has_state | is_soft
        yield _group(_tree(layout, seen, has_state), codes[here], weights[here], seen, soft)
    rare = ~np.isin(which, common)
    if shared is not None and rare.any():
        yield _group(shared, codes[rare], weights[rare], anywhere, soft)


def _tree(layout: Layout, seen: BoolArray, cut: BoolArray) -> _kernels.ExpectedCounts:
    """A tree for rows with cells in these columns; columns in `cut` have a state in every row, and are reduced out.

    Tables of barren nodes are not used.
    """
    relevant = graph.ancestors_of(layout.parents, np.flatnonzero(seen).tolist())
    used = [int(node in relevant) for node in range(len(layout.sizes))]
    return _kernels.ExpectedCounts(layout.sizes, layout.parents, used, cut.astype(int).tolist())


def _too_large(tree: _kernels.ExpectedCounts) -> bool:
    return tree.n_cells * _BYTES_PER_CELL > MEMORY_LIMIT or not tree.planned


def _group(
    tree: _kernels.ExpectedCounts, codes: CodeArray, weights: FloatArray, seen: BoolArray, soft: Sequence[FloatArray]
) -> Group:
    if _too_large(tree):
        raise TooLargeError(
            f"the tables that EM needs have {'' if tree.planned else 'at least '}{tree.n_cells:.3g} cells, about "
            f"{tree.n_cells * _BYTES_PER_CELL / 1e9:.3g} GB",
            fix="give nodes fewer parents, or fill the missing values of the columns that have most",
        )
    columns = np.flatnonzero(seen).tolist()
    return Group(tree, columns, np.ascontiguousarray(codes[:, columns]), weights, [soft[k] for k in columns])
