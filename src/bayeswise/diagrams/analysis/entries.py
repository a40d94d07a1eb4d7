"""One entry of a table of a diagram: a probability, which rescales its row, or a utility."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.diagrams.nodes import Utility
from bayeswise.diagrams.solving.solver import Numbers
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, listed
from bayeswise.networks import Node
from bayeswise.networks.node import configuration
from bayeswise.render.labels import guess, refuse_unknown, shown
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.diagrams.diagram import InfluenceDiagram


@dataclass(frozen=True)
class Entry:
    """P(node = state | given), or the utility of a case.

    If a probability is set to t, the others of its row covary in proportion: each becomes p (1 - t) / (1 - p_t); where
    all of them were 0, they become equal.
    """

    node: str
    state: Label | None  # none for a utility
    given: tuple[tuple[str, Label], ...]
    row: int
    column: int
    value: float

    @property
    def is_utility(self) -> bool:
        return self.state is None

    def __str__(self) -> str:
        case = ", ".join(f"{shown(name)} = {shown(state)}" for name, state in self.given)
        if self.is_utility:
            return f"{shown(self.node)} ({case})" if case else shown(self.node)
        return f"P({shown(self.node)} = {shown(self.state)}{f' | {case}' if case else ''})"

    def moved(self, diagram: InfluenceDiagram, value: float) -> Numbers:
        """The numbers of the diagram with another value of this entry."""
        numbers = diagram.numbers
        if self.is_utility:
            k = diagram.utilities.index(self.node)
            gains = list(numbers.utilities)
            gains[k] = diagram._axes(
                diagram.weighed(self.node, self._outcome(diagram, value)), diagram.parents(self.node)
            )
            return replace(numbers, utilities=gains)
        table = diagram.network.table(self.node).copy()
        table[self.row] = self._row(table[self.row], value)
        axes = diagram._axes(table, [*diagram.parents(self.node), self.node])
        return replace(numbers, chances={**numbers.chances, diagram.place(self.node): axes})

    def changed(self, diagram: InfluenceDiagram, value: float) -> InfluenceDiagram:
        """The diagram with another value of this entry."""
        if self.is_utility:
            old = next(piece for piece in diagram.pieces() if piece.name == self.node)
            assert isinstance(old, Utility)
            table = self._outcome(diagram, value)
            return diagram.changed([Utility(self.node, table, old.parents, attribute=old.attribute)])
        rows = diagram.network.table(self.node).copy()
        rows[self.row] = self._row(rows[self.row], value)
        return diagram.changed([Node(self.node, diagram.states(self.node), rows, diagram.parents(self.node))])

    def _outcome(self, diagram: InfluenceDiagram, value: float) -> FloatArray:
        table = diagram.outcome(self.node).copy()
        table.ravel()[self.row] = value
        return table

    def _row(self, row: Any, value: float) -> Any:
        others = np.arange(len(row)) != self.column
        left = float(row[others].sum())
        moved = row * (1.0 - value) / left if left > 0.0 else np.full(len(row), (1.0 - value) / (len(row) - 1))
        moved[self.column] = value
        return moved


@dataclass(frozen=True)
class WeightEntry:
    """The weight of an attribute; the others keep their proportions, and the sum of all weights stays."""

    attribute: str
    value: float

    def __str__(self) -> str:
        return f"weight of {shown(self.attribute)}"

    def moved(self, diagram: InfluenceDiagram, value: float) -> Numbers:
        """The numbers of the diagram with another weight."""
        return self.changed(diagram, value).numbers

    def changed(self, diagram: InfluenceDiagram, value: float) -> InfluenceDiagram:
        """The diagram with another weight."""
        moved = diagram._weighing.moved(self.attribute, value)
        return diagram.with_weights({each.name: each.weight for each in moved})


def entry_of(diagram: InfluenceDiagram, node: str, state: Any, given: Mapping[str, Any] | None) -> Entry:
    """The entry of a case, or an error that names what is missing."""
    names = (*diagram.chances, *diagram.utilities)
    refuse_unknown(node, names, "the diagram has no chance node or utility")
    parents = diagram.parents(node)
    for name in given or {}:
        refuse_unknown(name, parents, f"the table of {node!r} is not given")
    row = 0
    for name in parents:
        if name not in (given or {}):
            states = listed(map(repr, diagram.states(name)))
            raise ParameterError(f"the table of {node!r} is given {name!r} too", fix=f"name the case: {states}")
        row = row * len(diagram.states(name)) + diagram.code(name, (given or {})[name])
    if node in diagram.utilities:
        if state is not None:
            raise ParameterError(f"the utility {node!r} has no states", fix="name the case in given={...}")
        return _entry(diagram, node, row, None)
    if state is None:
        raise ParameterError(f"which state of {node!r} is meant", fix=guess("", diagram.states(node)))
    if len(diagram.states(node)) == 1:
        raise ParameterError(f"{node!r} has one state, which is certain", fix="choose another node")
    return _entry(diagram, node, row, diagram.code(node, state))


def entries(diagram: InfluenceDiagram, nodes: Any = None) -> Iterator[Entry]:
    """All entries that can vary; of two states one, as the other covaries."""
    names = (*diagram.chances, *diagram.utilities)
    for node in names if nodes is None else tuple(nodes):
        refuse_unknown(node, names, "the diagram has no chance node or utility")
        if node in diagram.utilities:
            for row in range(diagram.utility(node).size):
                yield _entry(diagram, node, row, None)
        else:
            table = diagram.network.table(node)
            n_shown = 1 if table.shape[1] <= 2 else table.shape[1]
            for row in range(len(table)) if table.shape[1] > 1 else ():
                for column in range(n_shown):
                    yield _entry(diagram, node, row, column)


def _entry(diagram: InfluenceDiagram, node: str, row: int, column: int | None) -> Entry:
    parents = diagram.parents(node)
    case = configuration([diagram._states[diagram.place(name)] for name in parents], row)
    given = tuple(zip(parents, case, strict=True))
    if column is None:
        return Entry(node, None, given, row, 0, float(diagram.outcome(node).ravel()[row]))
    value = float(diagram.network.table(node)[row, column])
    return Entry(node, diagram.states(node)[column], given, row, column, value)
