"""The structure of an influence diagram: chance nodes, decisions in their order with their pasts, and utilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bayeswise.diagrams.attitude import Attitude, checked_attitude
from bayeswise.diagrams.attributes import Attribute, Weighing
from bayeswise.diagrams.nested import chance_table, utility_values
from bayeswise.diagrams.nodes import Allowed, Decision, Piece, Utility, allowed_options, checked_pieces
from bayeswise.diagrams.solving import ordering
from bayeswise.diagrams.solving.solver import Numbers, Solver, Structure
from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import CostError, NetworkError
from bayeswise.networks import BeliefNetwork, Node
from bayeswise.render.labels import guess, refuse_unknown
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state

_LARGEST = 1e300  # sums beyond it would not be finite


class DiagramStructure:
    """Nodes, checked together, and what follows from them before anything is solved."""

    def __init__(
        self,
        nodes: Iterable[Piece],
        *,
        name: str = "diagram",
        attitude: Attitude | None = None,
        attributes: Iterable[Attribute] | Mapping[str, float] = (),
    ) -> None:
        given = checked_pieces(nodes)
        self.name = name
        self.attitude = checked_attitude(attitude)
        inner = [piece for piece in given if not isinstance(piece, Utility)]
        self.names: tuple[str, ...] = tuple(piece.name for piece in inner)  # chance nodes and decisions
        self._places = {name: place for place, name in enumerate(self.names)}
        self._states: tuple[Vocabulary, ...] = tuple(_levels(piece) for piece in inner)
        utilities = [piece for piece in given if isinstance(piece, Utility)]
        self.utilities: tuple[str, ...] = tuple(piece.name for piece in utilities)
        above = [self._above(piece) for piece in inner]
        order = graph.ancestral_order(above, self.names)
        deciding = {place: piece for place, piece in enumerate(inner) if isinstance(piece, Decision)}
        forgets = {place: self._forgotten(piece) for place, piece in deciding.items() if piece.forgets}
        apart = [place for place, lost in forgets.items() if lost is None]
        sequence = ordering.decision_order(above, order, deciding, self.names, apart)
        self.decisions: tuple[str, ...] = tuple(self.names[place] for place in sequence)
        self.chances: tuple[str, ...] = tuple(piece.name for piece in inner if not isinstance(piece, Decision))
        self._knows = {self.names[p]: tuple(self.names[v] for v in above[p]) for p in sequence}
        self._decisions = {deciding[place].name: deciding[place] for place in sequence}
        if forgets:
            self._refuse_never_known(forgets, ordering.memories(above, sequence, forgets))
        self._past = ordering.pasts(above, sequence, forgets)
        self._full_past = ordering.pasts(above, sequence)
        self.network = self._network(inner)
        self._allowed = self._masks()
        self._solvers: dict[Any, Solver] = {}  # the plans of earlier queries
        self._weighing = Weighing(attributes, utilities)
        self._outcomes = {piece.name: self._outcome(piece) for piece in utilities}
        self._utilities: dict[str, tuple[tuple[str, ...], FloatArray]] = {
            piece.name: (piece.parents, self.weighed(piece.name, self._outcomes[piece.name])) for piece in utilities
        }
        if self.largest_utility > _LARGEST:
            raise CostError(
                f"the utilities add up to {self.largest_utility:.3g}",
                fix=f"choose a unit in which it is below {_LARGEST:g}",
            )

    def _above(self, piece: Piece) -> tuple[int, ...]:
        parents = piece.knows if isinstance(piece, Decision) else piece.parents
        for parent in parents:
            if parent in self.utilities:
                raise NetworkError(
                    f"{piece.name!r} depends on the utility {parent!r}; a utility cannot have children",
                    fix="depend on the parents of that utility instead",
                )
            if parent not in self._places:
                word = "knows" if isinstance(piece, Decision) else "has the parent"
                raise NetworkError(
                    f"{piece.name!r} {word} {parent!r}, which is not a node", fix=guess(parent, self.names)
                )
        return tuple(self._places[parent] for parent in parents)

    def _forgotten(self, decision: Decision) -> tuple[int, ...] | None:
        """The positions of forgotten nodes; None for everything."""
        if isinstance(decision.forgets, str):
            return None
        for node in decision.forgets:
            if node not in self._places:
                raise NetworkError(
                    f"{decision.name!r} forgets {node!r}, which is not a node", fix=guess(node, self.names)
                )
        return tuple(self._places[node] for node in decision.forgets)

    def _refuse_never_known(
        self, forgets: Mapping[int, tuple[int, ...] | None], remembered: Mapping[int, set[int]]
    ) -> None:
        for place, lost in forgets.items():
            for node in lost or ():
                if node not in remembered[place]:
                    raise NetworkError(
                        f"{self.names[place]!r} forgets {self.names[node]!r}, which it would not know anyway",
                        fix=guess(self.names[node], [self.names[v] for v in sorted(remembered[place])])
                        if remembered[place]
                        else "leave it out",
                    )

    def _masks(self) -> dict[str, Allowed]:
        masks = {}
        for name, decision in self._decisions.items():
            masked = allowed_options(decision, self.known(name), lambda node: self._states[self._places[node]])
            if masked is not None:
                masks[name] = masked
        return masks

    def _network(self, pieces: Sequence[Piece]) -> BeliefNetwork:
        """Decisions as nodes without parents and with uniform options."""
        nodes = []
        for piece in pieces:
            if isinstance(piece, Decision):
                uniform = np.full((1, len(piece.options)), 1.0 / len(piece.options))
                nodes.append(Node(piece.name, piece.options, uniform))
            elif isinstance(piece, Node):
                above = self._levels_of(piece.parents)
                table = chance_table(piece.name, piece.states, above, piece.table)
                nodes.append(Node(piece.name, piece.states, table, piece.parents))
        return BeliefNetwork(nodes, name=self.name)

    def _outcome(self, piece: Utility) -> FloatArray:
        self._above(piece)
        values = utility_values(piece.name, self._levels_of(piece.parents), piece.table, is_cost=piece.is_cost)
        values.flags.writeable = False
        return values

    def _levels_of(self, names: Iterable[str]) -> list[tuple[str, Vocabulary]]:
        return [(name, self._states[self._places[name]]) for name in names]

    def pieces(self) -> list[Piece]:
        """The nodes, from which the diagram can be built again."""
        inner: list[Piece] = [self._decisions[n] if n in self._decisions else self.network.node(n) for n in self.names]
        about = self._weighing.attribute_of
        gains = [Utility(n, self._outcomes[n], self.parents(n), attribute=about.get(n)) for n in self.utilities]
        return [*inner, *gains]

    # -- properties -------------------------------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self.names) + len(self.utilities)

    def __iter__(self) -> Iterator[str]:
        return iter((*self.names, *self.utilities))

    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._utilities

    def __eq__(self, other: object) -> bool:
        """Equal nodes by name; their order does not matter."""
        if not isinstance(other, DiagramStructure):
            return NotImplemented
        if set(self.names) != set(other.names) or set(self.utilities) != set(other.utilities):
            return False
        if self.attitude != other.attitude or self._weighing != other._weighing:
            return False
        if self.decisions != other.decisions or any(self.states(n) != other.states(n) for n in self.names):
            return False
        if any(set(self.known(d)) != set(other.known(d)) or not self._same_options(other, d) for d in self.decisions):
            return False
        return all(
            self.parents(n) == other.parents(n) and np.array_equal(self._table(n), other._table(n)) for n in self
        )

    def _same_options(self, other: DiagramStructure, decision: str) -> bool:
        mine, theirs = self._allowed.get(decision), other._allowed.get(decision)
        if mine is None or theirs is None:
            return mine is theirs
        order = [theirs.knows.index(node) for node in mine.knows] if set(mine.knows) == set(theirs.knows) else None
        return order is not None and np.array_equal(mine.mask, theirs.mask.transpose(*order, -1))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{n} {word if n == 1 else many}"
            for n, word, many in (
                (len(self.chances), "chance node", "chance nodes"),
                (len(self.decisions), "decision", "decisions"),
                (len(self.utilities), "utility", "utilities"),
            )
        )
        decided = [f"{d} given {', '.join(self._knows[d])}" if self._knows[d] else d for d in self.decisions[:6]]
        return f"InfluenceDiagram({counts}: {'; '.join(decided)})"

    def place(self, name: str) -> int:
        """The position of a chance node or a decision, or an error with a suggestion."""
        refuse_unknown(name, self._places, "the diagram has no chance node or decision")
        return self._places[name]

    def decision_place(self, name: str) -> int:
        """The position of a decision, or an error with a suggestion."""
        refuse_unknown(name, self._knows, "the diagram has no decision")
        return self._places[name]

    def states(self, name: str) -> tuple[Label, ...]:
        """The states of a chance node, or the options of a decision."""
        return self._states[self.place(name)].labels

    def parents(self, name: str) -> tuple[str, ...]:
        """The parents of a chance node or a utility, or what a decision knows."""
        if name in self._utilities:
            return self._utilities[name][0]
        return self._knows[name] if name in self._knows else self.network.parents(name)

    def known(self, decision: str) -> tuple[str, ...]:
        """The past of a decision: what it knows, and what is remembered from earlier ones."""
        return tuple(self.names[v] for v in self._past[self.decision_place(decision)])

    @cached_property
    def forgets(self) -> bool:
        """Whether a decision lacks perfect recall: it does not know all that was known before it."""
        return any(set(self._past[d]) != set(known) for d, known in self._full_past.items())

    def decision(self, name: str) -> Decision:
        """A decision as it was given."""
        self.decision_place(name)
        return self._decisions[name]

    def allowed(self, decision: str) -> Allowed | None:
        """The options that are allowed in each case; None if nothing is forbidden."""
        self.decision_place(decision)
        return self._allowed.get(decision)

    def utility(self, name: str) -> FloatArray:
        """(states of each parent ...) the contribution of a utility node to the total, weighted by its attribute."""
        refuse_unknown(name, self._utilities, "the diagram has no utility")
        return self._utilities[name][1]

    def outcome(self, name: str) -> FloatArray:
        """(states of each parent ...) the table of a utility in the unit of its attribute."""
        self.utility(name)
        return self._outcomes[name]

    def weighed(self, name: str, outcome: FloatArray) -> FloatArray:
        """The contribution of outcomes of a utility node to the total."""
        return self._weighing.weighed(name, outcome)

    @property
    def attributes(self) -> dict[str, Attribute]:
        """The attributes by name; empty if utilities are added up without weights."""
        return self._weighing.attributes

    def _table(self, name: str) -> FloatArray:
        return self.utility(name) if name in self._utilities else self.network.table(name)

    def code(self, name: str, state: Any) -> int:
        """The position of a state of a node, or an error with a suggestion."""
        word = "option" if name in self._knows else "state"
        return find_state(state, self._states[self.place(name)], what=f"{name!r} has no {word}")

    @cached_property
    def largest_utility(self) -> float:
        """The sum over all utilities of their largest absolute entry."""
        with np.errstate(over="ignore"):
            return float(sum(np.abs(values).max() for _, values in self._utilities.values()))

    @cached_property
    def sequence(self) -> tuple[int, ...]:
        """The nodes in the order in which they are observed; those that no decision knows come last."""
        known: list[int] = []
        for decision in self.decisions:
            known += [*(self.place(node) for node in self._knows[decision]), self.place(decision)]
        return tuple(dict.fromkeys([*known, *self.network.order]))

    @cached_property
    def ranks(self) -> dict[int, int]:
        """The position of each node in the sequence."""
        return {node: rank for rank, node in enumerate(self.sequence)}

    @cached_property
    def structure(self) -> Structure:
        """The graph by position, for the solver."""
        parents = tuple(tuple(above) for above in self.network._parents)
        utilities = tuple(tuple(sorted(map(self.place, p))) for p, _ in self._utilities.values())
        allowed = {
            self.place(decision): tuple(sorted(map(self.place, masked.knows)))
            for decision, masked in self._allowed.items()
        }
        return Structure(tuple(len(levels) for levels in self._states), parents, self._past, utilities, allowed)

    @cached_property
    def numbers(self) -> Numbers:
        """The tables with axes ascending by position, for the solver."""
        chances = {
            self.place(n): self._axes(self.network.table(n), [*self.network.parents(n), n]) for n in self.chances
        }
        allowed = {}
        for decision, (knows, mask) in self._allowed.items():
            order = np.argsort([self.place(node) for node in knows]).tolist()
            allowed[self.place(decision)] = mask.transpose(*order, -1)
        utilities = [self._axes(values, parents) for parents, values in self._utilities.values()]
        return Numbers(chances, utilities, allowed)

    def _axes(self, table: FloatArray, names: Sequence[str]) -> FloatArray:
        places = [self.place(name) for name in names]
        shaped = table.reshape([len(self._states[place]) for place in places])
        return np.ascontiguousarray(np.transpose(shaped, np.argsort(places)))


def _levels(piece: Piece) -> Vocabulary:
    return piece.options if isinstance(piece, Decision) else piece.states  # type: ignore[union-attr]
