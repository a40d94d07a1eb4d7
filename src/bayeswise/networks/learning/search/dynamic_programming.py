"""The optimal graph, by dynamic programming over sets of columns."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import TooLargeError
from bayeswise.foundation.threads import Shared, each
from bayeswise.networks.inference.engine import MEMORY_LIMIT
from bayeswise.networks.learning.constraints import Constraints, Parents, Progress, Search, silent
from bayeswise.networks.learning.search.climbing import hill_climbing
from bayeswise.networks.learning.search.scores import MOST_CELLS, Scores

MOST_COLUMNS = 20
MOST_COLUMNS_WITH_A_LIMIT = 25
_TASK_COLUMNS = 7  # sets are counted in 2^7 tasks
_RANGE = 1 << 18  # sets between two reports of progress


def memory_needed(n_columns: int, max_parents: int | None = None, n_sums: int = 1) -> int:
    """The peak memory of the search in bytes.

    >>> round(memory_needed(20) / 1e6)
    102
    """
    n_sets = 1 << n_columns
    best = 0 if _by_lists(n_columns, max_parents) else 8 * n_columns * n_sets // 2
    return n_sets * (8 * n_sums + 8 + 1) + best


def best_graph(scores: Scores, constraints: Constraints | None = None, *, progress: Progress = silent) -> Search:
    """The globally optimal graph (Silander and Myllymaki 2006).

    Up to 20 columns, up to 25 with `max_parents`. Ctrl-C returns what hill climbing finds instead.
    """
    rules = constraints or Constraints()
    n, n_sums = len(scores.names), len(set(scores.sizes)) + 1 if scores.score == "k2" else 1
    _refuse_too_large(n, rules.max_parents, n_sums)
    if n == 0:
        return Search([], 0.0)
    about = f", about {memory_needed(n, rules.max_parents, n_sums) / 1e6:.0f} MB"
    families = Families(scores, rules)
    try:
        families.count(lambda done, total: progress(f"sets of columns counted{about}", done, total))
        search = _Lists if _by_lists(n, rules.max_parents) else _Tables
        parents = search(families).solved(lambda done, total: progress(f"best graphs of sets{about}", done, total))
    except KeyboardInterrupt:
        climbed = hill_climbing(scores, rules)
        return Search(climbed.parents, climbed.score, interrupted=True)
    return Search(parents, scores.total(parents))


def _by_lists(n_columns: int, max_parents: int | None) -> bool:
    return n_columns > MOST_COLUMNS and max_parents is not None


def _refuse_too_large(n_columns: int, max_parents: int | None, n_sums: int) -> None:
    most = MOST_COLUMNS if max_parents is None else MOST_COLUMNS_WITH_A_LIMIT
    memory = memory_needed(n_columns, max_parents, n_sums)
    if n_columns > most or memory > MEMORY_LIMIT:
        limit = " with a limit on parents" if max_parents is not None else ""
        raise TooLargeError(
            f"the exact search over {n_columns} columns needs about {memory / 1e9:.3g} GB; "
            f"it goes up to {most} columns{limit}",
            fix="ignore some columns, give max_parents, or use method='hill-climbing' with restarts",
        )


class Families:
    """Every family's score from sums over the cells of sets: cells[P + v] - totals[P] - penalty."""

    def __init__(self, scores: Scores, rules: Constraints, *, only_the_best: bool = True) -> None:
        self.scores, self.n = scores, len(scores.names)
        self.allowed = [_mask(np.flatnonzero(column)) for column in rules.allowed(scores.names).T]
        self.required = [_mask(above) for above in rules.start(scores.names)]
        self.most = max(min(rules.most(self.n), self.n - 1), 0)
        self.columns, self.units = _distinct(scores.columns, scores.units)
        # K2 adds one pseudo-count to each cell, so as many as the node has states in each row of its table
        self.widths = sorted(set(scores.sizes)) if scores.score == "k2" else []
        self.sums = np.zeros((1 + len(self.widths), 1 << self.n))
        every = [float(MOST_CELLS)] * self.n
        self.most_cells = [self._most_cells(node) for node in range(self.n)] if only_the_best else every

    def _most_cells(self, node: int) -> float:
        """A family whose penalty alone is worse than the score of the fewest parents allowed cannot be the best."""
        if self.scores.penalty == 0.0 or self.scores.sizes[node] < 2:
            return float(MOST_CELLS)
        fewest = [k for k in range(self.n) if self.required[node] >> k & 1]
        size = self.scores.sizes[node]
        n_above = -self.scores.family(node, fewest) / (self.scores.penalty * (size - 1))
        return min(float(MOST_CELLS), math.ceil(n_above + 1.0) * size)

    def count(self, report: Callable[[int, int], None]) -> None:
        n_first = min(self.n, _TASK_COLUMNS)
        pseudo_counts = [1.0, *map(float, self.widths)] if self.widths else []
        smoothing = self.scores.smoothing if self.scores.score == "bdeu" else 0.0

        rows = self.columns, self.scores.sizes, self.units, pseudo_counts, smoothing

        def task(chosen: int) -> None:
            limits = self.most + 1, max(self.most_cells)
            _kernels.subset_sums(*rows, chosen, n_first, *limits, self.sums, self.scores.unit)

        for done, _ in enumerate(Shared(task, range(1 << n_first)), start=1):
            report(done, 1 << n_first)

    def scores_of(self, node: int) -> FloatArray:
        """(2^n,) the score of the node given every set of parents, minus infinity for those that are not allowed."""
        sets = np.arange(1 << self.n)
        n_above = np.ones(len(sets))
        for other, size in enumerate(self.scores.sizes):
            n_above[(sets >> other & 1) == 1] *= size
        size, known = self.scores.sizes[node], self.of(node)
        scores = known["cells"][sets | 1 << node] - known["totals"] - self.scores.penalty * n_above * (size - 1)
        wrong = (sets & ~self.allowed[node] != 0) | (self.required[node] & ~sets != 0)
        wrong |= (np.bitwise_count(sets) > self.most) | (n_above * size > self.most_cells[node])
        return np.where(wrong, -math.inf, scores)

    def of(self, node: int) -> dict[str, Any]:
        """The arguments of the kernels for a node."""
        return {
            "cells": self.sums[0],
            "totals": self.sums[1 + self.widths.index(self.scores.sizes[node])] if self.widths else self.sums[0],
            "sizes": self.scores.sizes,
            "node": node,
            "allowed": self.allowed[node],
            "required": self.required[node],
            "most": self.most,
            "penalty": self.scores.penalty,
            "most_cells": self.most_cells[node],
        }


class _Order(ABC):
    """The best graphs of all sets, each by its last node (sink), read back from the set of all."""

    def __init__(self, families: Families) -> None:
        self.families, self.n = families, families.n
        self.totals = np.zeros(1 << self.n)
        self.last = np.zeros(1 << self.n, dtype=np.uint8)

    def solved(self, report: Callable[[int, int], None]) -> Parents:
        n_sets = 1 << self.n
        for begin in range(0, n_sets, _RANGE):
            self.extend(begin, min(begin + _RANGE, n_sets))
            report(min(begin + _RANGE, n_sets), n_sets)
        parents: Parents = [()] * self.n
        rest = n_sets - 1
        while rest:
            node = int(self.last[rest])
            rest &= ~(1 << node)
            parents[node] = tuple(k for k in range(self.n) if self.chosen(node, rest) >> k & 1)
        return parents

    @abstractmethod
    def extend(self, begin: int, end: int) -> None:
        """The best graphs of the sets from begin to end, the earlier ones being known."""

    @abstractmethod
    def chosen(self, node: int, within: int) -> int:
        """The best parents of a node within a set."""


class _Tables(_Order):
    """The best parents of each node within every set of the others, for any number of parents."""

    def __init__(self, families: Families) -> None:
        super().__init__(families)
        self.best = np.empty((self.n, (1 << self.n) // 2))
        each(lambda node: _kernels.best_parents(**families.of(node), best=self.best), range(self.n))

    def extend(self, begin: int, end: int) -> None:
        _kernels.best_graphs(self.best, self.totals, self.last, begin, end)

    def chosen(self, node: int, within: int) -> int:
        """Columns are dropped as long as the score stays the same."""
        low = (1 << node) - 1
        place = (within & low) | ((within >> 1) & ~low)
        for k in range(self.n - 1):
            if place >> k & 1 and self.best[node, place & ~(1 << k)] == self.best[node, place]:
                place &= ~(1 << k)
        return (place & low) | ((place & ~low) << 1)


class _Lists(_Order):
    """The parent sets of each node that no subset beats, best first, for a limited number of parents."""

    def __init__(self, families: Families) -> None:
        super().__init__(families)
        lists = [_kernels.parent_list(**families.of(node)) for node in range(self.n)]
        self.starts = [0, *np.cumsum([len(sets) for sets, _ in lists]).tolist()]
        self.sets = np.concatenate([np.array(sets, dtype=np.uint32) for sets, _ in lists])
        self.scores = np.concatenate([np.array(each, dtype=np.float64) for _, each in lists])

    def extend(self, begin: int, end: int) -> None:
        _kernels.best_graphs_of_lists(self.sets, self.scores, self.starts, self.totals, self.last, begin, end)

    def chosen(self, node: int, within: int) -> int:
        mine = self.sets[self.starts[node] : self.starts[node + 1]]
        return int(mine[np.argmax((mine & ~np.uint32(within)) == 0)])


def _mask(places: Any) -> int:
    return sum(1 << int(place) for place in places)


def _distinct(columns: Any, units: IntArray | None) -> tuple[Any, IntArray]:
    """(n_columns, n_rows) the distinct rows, and the count of each."""
    if columns.shape[1] == 0:
        return columns, np.zeros(0, dtype=np.int64)
    rows = np.ascontiguousarray(columns.T)
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.zeros(len(first), dtype=np.int64)
    np.add.at(counts, which.ravel(), 1 if units is None else units)
    return np.ascontiguousarray(rows[first].T), counts
