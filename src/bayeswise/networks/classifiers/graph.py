"""Which columns a column depends on, beside the class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswise.foundation.arrays import IntArray
from bayeswise.foundation.directed_graph import ancestral_order
from bayeswise.foundation.errors import NetworkError


@dataclass(frozen=True)
class Graph:
    """The parents of each column by position, the class apart.

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
