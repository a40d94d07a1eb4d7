"""Chow-Liu trees: mutual information of all pairs of columns, and its maximum spanning tree."""

from __future__ import annotations

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.threads import available, each
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.constraints import Parents
from bayeswise.render.labels import refuse_unknown
from bayeswise.statistics.counts.pair_counts import PairCounts

_ROWS_FOR_THREADS = 1 << 17


def chow_liu(rows: CodedRows, root: str | None = None) -> Parents:
    """The tree of maximum likelihood: a spanning tree over mutual information, edges pointing away from the root.

    >>> rows = CodedRows.of({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0], "c": [0, 1, 0, 1]})
    >>> chow_liu(rows)
    [(), (0,), (1,)]
    """
    if root is not None:
        refuse_unknown(root, rows.names, "the rows have no column")
    information = mutual_information(pair_counts(rows))
    return spanning_tree(information, 0 if root is None else rows.names.index(root))


def pair_counts(rows: CodedRows) -> PairCounts:
    """The counts of all pairs of columns; halves of many rows are counted in parallel."""
    n_parts = 1 if len(rows.codes) < _ROWS_FOR_THREADS else min(2, available())
    parts = np.array_split(rows.codes, n_parts)
    weights = [None] * n_parts if rows.weights is None else np.array_split(rows.weights, n_parts)

    def counted(part: tuple[CodeArray, FloatArray | None]) -> PairCounts:
        codes, weigh = part
        return PairCounts.of(codes, rows.states, weights=weigh, declared=rows.states)

    first, *others = each(counted, zip(parts, weights, strict=True))
    for other in others:
        first = first.merge(other)
    return first


def mutual_information(counts: PairCounts) -> FloatArray:
    """(n, n) in nats, of every pair of columns given the group: sum p(x, y, g) log p(x, y | g) / p(x | g) p(y | g).

    Each pair counts the rows that have both cells.
    """
    n_columns = len(counts.levels)
    if n_columns == 0:
        return np.zeros((0, 0))
    levels = np.concatenate([np.arange(slots.start, slots.stop) for slots in counts.slots])
    column = np.repeat(np.arange(n_columns), [len(vocabulary) for vocabulary in counts.levels])
    joint = counts.weight[:, levels[:, None], levels].to_floats()  # (n_groups, n_levels, n_levels)
    member = (column[:, None] == np.arange(n_columns)).astype(np.float64)  # (n_levels, n_columns)
    beside = joint @ member  # (n_groups, n_levels, n_columns) a level with any cell of the other column
    both = member.T @ beside  # (n_groups, n_columns, n_columns)
    expected = beside[:, :, column] * np.swapaxes(beside, 1, 2)[:, column, :]
    ratio = np.divide(joint * both[:, column[:, None], column], expected, out=np.ones_like(joint), where=joint > 0.0)
    information = member.T @ (joint * np.log(ratio)).sum(axis=0) @ member
    total = both.sum(axis=0)
    found = np.divide(information, total, out=np.zeros_like(total), where=total > 0.0)
    np.fill_diagonal(found, 0.0)
    return np.asarray(np.maximum((found + found.T) / 2.0, 0.0))


def spanning_tree(weight: FloatArray, root: int = 0) -> Parents:
    """Prim: the maximum spanning tree, each node with its parent, the root with none; ties go to the first.

    >>> spanning_tree(np.array([[0.0, 0.1, 0.5], [0.1, 0.0, 0.4], [0.5, 0.4, 0.0]]))
    [(), (2,), (0,)]
    """
    n = len(weight)
    parents: Parents = [()] * n
    outside = np.ones(n, dtype=bool)
    best, link, node = np.full(n, -np.inf), np.full(n, root), root
    for _ in range(n - 1):
        outside[node] = False
        closer = weight[node] > best
        best, link = np.where(closer, weight[node], best), np.where(closer, node, link)
        node = int(np.argmax(np.where(outside, best, -np.inf)))
        parents[node] = (int(link[node]),)
    return parents
