"""The parents of columns besides the class: a graph, the tree of most information, and k-dependence.

Both searches take one matrix of information per model, so that the structures of a thousand leave-one-out models are
found together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.directed_graph import ancestral_order
from bayeswise.foundation.errors import NetworkError
from bayeswise.foundation.special import xlogy

if TYPE_CHECKING:
    from bayeswise.networks.classifiers.counted import PairTable


@dataclass(frozen=True)
class Graph:
    """The parents of each column by position, without the class.

    >>> tree = Graph.of_forest(np.array([-1, 0, 0]))
    >>> tree.parents, tree.is_forest, tree.order
    (((), (0,), (0,)), True, (0, 1, 2))
    """

    parents: tuple[tuple[int, ...], ...]
    given_class: tuple[bool, ...]  # whether the column's table is by class
    class_parents: tuple[int, ...] = ()

    @classmethod
    def of_forest(cls, parents: IntArray) -> Graph:
        """One parent each, -1 for none."""
        return cls.of_parents([(int(parent),) if parent >= 0 else () for parent in parents])

    @classmethod
    def of_parents(cls, parents: Sequence[Sequence[int]]) -> Graph:
        """Every column depends on the class."""
        return cls(tuple(map(tuple, parents)), (True,) * len(parents))

    @classmethod
    def of_names(cls, by_name: Mapping[str, Sequence[str]], columns: Sequence[str], target: str) -> Graph:
        """From names of parents, the class among them."""
        places = {name: place for place, name in enumerate(columns)}
        if set(by_name) != {*columns, target} or not {*places, target} >= {p for up in by_name.values() for p in up}:
            raise NetworkError("the graph is about other columns than the table", fix="name each column and the target")
        ancestral_order([[list(by_name).index(p) for p in up] for up in by_name.values()], list(by_name))
        return cls(
            tuple(tuple(places[p] for p in by_name[name] if p != target) for name in columns),
            tuple(target in by_name[name] for name in columns),
            tuple(places[p] for p in by_name[target]),
        )

    def to_names(self, columns: Sequence[str], target: str) -> dict[str, tuple[str, ...]]:
        """The names of the parents of the class and of each column; the class comes first."""
        named = {target: tuple(columns[place] for place in self.class_parents)}
        for name, above, given in zip(columns, self.parents, self.given_class, strict=True):
            named[name] = (*((target,) if given else ()), *(columns[place] for place in above))
        return named

    @cached_property
    def is_forest(self) -> bool:
        """Whether every column depends on the class and on at most one other column."""
        return all(self.given_class) and not self.class_parents and all(len(above) <= 1 for above in self.parents)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The columns, each after its parents."""
        return tuple(ancestral_order(self.parents, [str(place) for place in range(len(self.parents))]))

    @cached_property
    def forest(self) -> IntArray:
        """(n_columns,) the only parent of each column, -1 for none."""
        return np.array([above[0] if above else -1 for above in self.parents], dtype=np.int64)


_DIGITS = 12  # information is rounded, so that the order of summation does not break ties


@dataclass(frozen=True, eq=False)
class Information:
    """The information of columns about each other given the class, and about the class, in nats."""

    table: PairTable

    @cached_property
    def margins(self) -> FloatArray:
        """(n_states, n_slots, n_columns) the weight of a level in rows that have the other column's cell."""
        return np.add.reduceat(self.table.present, self.table.starts, axis=2)

    @cached_property
    def totals(self) -> FloatArray:
        """(n_states, n_columns, n_columns) the weight of rows that have both cells."""
        return np.add.reduceat(self.margins, self.table.starts, axis=1)

    @cached_property
    def _excess(self) -> FloatArray:
        """(n_columns, n_columns) sum n_abc log(n_abc n_c / (n_ac n_bc))."""
        starts, present = self.table.starts, self.table.present
        pairs = np.add.reduceat(np.add.reduceat(_h(present), starts, axis=2), starts, axis=1)
        margins = np.add.reduceat(_h(self.margins), starts, axis=1)
        return np.asarray((pairs - margins - margins.transpose(0, 2, 1) + _h(self.totals)).sum(axis=0))

    @cached_property
    def between(self) -> FloatArray:
        """(n_columns, n_columns) I(one; other | class) = sum p(a, b, c) log[p(a, b | c) / p(a | c) p(b | c)]."""
        return _per_row(self._excess, self.totals.sum(axis=0))

    @cached_property
    def singles(self) -> FloatArray:
        """(n_states, n_slots) the weight of each level."""
        single: FloatArray = np.einsum("css->cs", self.table.weight).copy()
        single[:, self.table.starts + self.table.sizes] = 0.0
        return single

    @cached_property
    def of_columns(self) -> tuple[FloatArray, FloatArray]:
        """(n_states, n_columns) and (n_columns,) the weight of rows that have the cell."""
        by_class = np.add.reduceat(self.singles, self.table.starts, axis=1)
        return by_class, by_class.sum(axis=0)

    @cached_property
    def _excess_of_class(self) -> FloatArray:
        starts, (by_class, total) = self.table.starts, self.of_columns
        cells = np.add.reduceat(_h(self.singles).sum(axis=0) - _h(self.singles.sum(axis=0)), starts)
        return np.asarray(cells - _h(by_class).sum(axis=0) + _h(total))

    @cached_property
    def about_class(self) -> FloatArray:
        """(n_columns,) I(column; class)."""
        return _per_row(self._excess_of_class, self.of_columns[1])

    def without(self, codes: CodeArray, groups: CodeArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n_rows, n_columns, n_columns) and (n_rows, n_columns): both kinds of information without each row."""
        here = codes >= 0
        slot = self.table.starts + np.where(here, codes, 0)  # (n_rows, n_columns)
        columns = np.arange(codes.shape[1])
        both, g, w = here[:, :, None] & here[:, None, :], groups[:, None, None], weights[:, None, None]
        falls = self._falls
        pairs = falls["pairs"].at((g, slot[:, :, None], slot[:, None, :]), w)
        margins = falls["margins"].at((g, slot[:, :, None], columns), w)
        change = margins + margins.transpose(0, 2, 1) - pairs - falls["totals"].at((groups,), w)
        between = _per_row(self._excess + change * both, self.totals.sum(axis=0) - w * both)

        g1, w1, total = groups[:, None], weights[:, None], self.of_columns[1]
        cells = falls["singles"].at((g1, slot), w1) - falls["levels"].at((slot,), w1)
        change = falls["by class"].at((groups,), w1) - falls["all"].at((), w1) - cells
        return between, _per_row(self._excess_of_class + change * here, total - w1 * here)

    @cached_property
    def _falls(self) -> dict[str, Fall]:
        by_class, total = self.of_columns
        return {
            "pairs": Fall(self.table.weight),
            "margins": Fall(self.margins),
            "totals": Fall(self.totals),
            "singles": Fall(self.singles),
            "levels": Fall(self.singles.sum(axis=0)),
            "by class": Fall(by_class),
            "all": Fall(total),
        }


class Fall:
    """The decrease of n log n in the cells of a table when weights are removed; computed once for equal weights."""

    def __init__(self, table: FloatArray) -> None:
        self.table = table
        self._known: tuple[float, FloatArray] | None = None

    def at(self, index: tuple[Any, ...], gone: FloatArray) -> FloatArray:
        """In the chosen cells."""
        weight = float(gone.flat[0]) if gone.size else 0.0
        if not (gone == weight).all():
            before = self.table[index]
            return _h(before) - _h(np.maximum(before - gone, 0.0))
        if self._known is None or self._known[0] != weight:
            self._known = weight, _h(self.table) - _h(np.maximum(self.table - weight, 0.0))
        return np.asarray(self._known[1][index])


def _h(weight: FloatArray) -> FloatArray:
    """n log n, with 0 log 0 = 0."""
    return np.asarray(xlogy(weight, weight))


def _per_row(excess: FloatArray, total: FloatArray) -> FloatArray:
    nothing = np.zeros(np.broadcast_shapes(excess.shape, total.shape))
    information = np.divide(excess, total, out=nothing, where=total > 0.0)
    return np.asarray(np.maximum(np.round(information, _DIGITS), 0.0))


def tree(between: FloatArray, about_class: FloatArray) -> IntArray:
    """(n_models, n_columns) the parent of each column in the spanning tree of most information, -1 for none.

    Friedman, Geiger and Goldszmidt (1997). The root is the column with most information about the class. Columns
    without information about each other are not joined.

    >>> tree(np.array([[[0, 0.1, 0.3], [0.1, 0, 0.2], [0.3, 0.2, 0]]]), np.array([[0.5, 0.1, 0.2]])).tolist()
    [[-1, 2, 0]]
    """
    n_models, n_columns = about_class.shape
    models = np.arange(n_models)
    node = np.argmax(about_class, axis=1)
    parents = np.full((n_models, n_columns), -1, dtype=np.int64)
    inside = np.zeros((n_models, n_columns), dtype=bool)
    best = np.full((n_models, n_columns), -1.0)
    link = np.zeros((n_models, n_columns), dtype=np.int64)
    for _ in range(n_columns - 1):
        inside[models, node] = True
        closer = between[models, node] > best
        best = np.where(closer, between[models, node], best)
        link = np.where(closer, node[:, None], link)
        node = np.argmax(np.where(inside, -np.inf, best), axis=1)
        parents[models, node] = np.where(best[models, node] > 0.0, link[models, node], -1)
    return parents


def k_parents(between: FloatArray, about_class: FloatArray, k: int) -> IntArray:
    """(n_models, n_columns, k) the parents of each column, -1 for none (Sahami 1996).

    Columns are ranked by their information about the class; each depends on the k most informative ones before it.

    >>> between = np.array([[[0, 0.1, 0.3], [0.1, 0, 0.2], [0.3, 0.2, 0]]])
    >>> k_parents(between, np.array([[0.5, 0.4, 0.2]]), 1).ravel().tolist()
    [-1, 0, 0]
    """
    n_models, n_columns = about_class.shape
    order = np.argsort(-about_class, axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(n_columns), order.shape), axis=1)
    earlier = rank[:, None, :] < rank[:, :, None]  # [model, column, other]
    information = np.where(earlier & (between > 0.0), between, 0.0)
    chosen = np.argsort(-information, axis=2, kind="stable")[:, :, :k]
    kept = np.take_along_axis(information, chosen, axis=2) > 0.0
    parents = np.full((n_models, n_columns, k), -1, dtype=np.int64)
    parents[:, :, : chosen.shape[2]] = np.where(kept, chosen, -1)
    return parents
