"""An influence diagram: a belief network, decisions that are made on what is known of it, and what they gain."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.diagrams.attitude import Attitude, checked_attitude
from bayeswise.diagrams.attributes import Attribute, Weighing
from bayeswise.diagrams.forbidden import Allowed, allowed_options
from bayeswise.diagrams.nested import chance_table, utility_values
from bayeswise.diagrams.nodes import Decision, Piece, Utility, checked_pieces, pieces_of_network
from bayeswise.diagrams.solving import ordering
from bayeswise.diagrams.solving.solver import Numbers, Solver, Structure
from bayeswise.diagrams.solving.sums import with_utility_of_sum
from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import CostError, NetworkError, ParameterError
from bayeswise.networks import BeliefNetwork, Node
from bayeswise.render.labels import guess
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state

if TYPE_CHECKING:
    from bayeswise.diagrams.analysis.information import InformationValue, InformationValues
    from bayeswise.diagrams.analysis.sensitivity import Sensitivity
    from bayeswise.diagrams.analysis.tornado import Tornado
    from bayeswise.diagrams.solving.policy import Policy
    from bayeswise.diagrams.solving.solution import Solution
    from bayeswise.diagrams.solving.stochastic import Comparison
    from bayeswise.render.graph.picture import Picture
    from bayeswise.render.graph.plot import GraphDisplay

Evidence = Mapping[str, Any]

_LARGEST = 1e300  # sums beyond it would not be finite


class InfluenceDiagram:
    """Chance nodes, decisions in sequence and utilities that add up; the best policy is the one of greatest mean.

    >>> from bayeswise.diagrams import Chance, Decision, Utility
    >>> diagram = InfluenceDiagram([
    ...     Chance("weather", ["rain", "sun"], 0.3),
    ...     Chance("forecast", ["bad", "good"], {"rain": 0.8, "sun": 0.1}, parents=["weather"]),
    ...     Decision("umbrella", ["take", "leave"], knows=["forecast"]),
    ...     Utility("comfort", {"take": {"rain": 70, "sun": 20}, "leave": {"rain": 0, "sun": 100}},
    ...             parents=["umbrella", "weather"]),
    ... ])
    >>> diagram
    InfluenceDiagram(2 chance nodes, 1 decision, 1 utility: umbrella given forecast)
    >>> print(diagram.solve())
    expected utility 81.2
    umbrella: take if forecast is bad, else leave
    """

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
        self._solvers: dict[Any, Solver] = {}  # the plans of the questions that were asked
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
                    f"{piece.name!r} depends on the utility {parent!r}; nothing can follow from a utility",
                    fix="depend on the parents of that utility instead",
                )
            if parent not in self._places:
                word = "knows" if isinstance(piece, Decision) else "has the parent"
                raise NetworkError(
                    f"{piece.name!r} {word} {parent!r}, which is not a node", fix=guess(parent, self.names)
                )
        return tuple(self._places[parent] for parent in parents)

    def _forgotten(self, decision: Decision) -> tuple[int, ...] | None:
        """The places of what is forgotten; None for everything."""
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
        found = {}
        for name, decision in self._decisions.items():
            masked = allowed_options(decision, self.known(name), lambda node: self._states[self._places[node]])
            if masked is not None:
                found[name] = masked
        return found

    def _network(self, pieces: Sequence[Piece]) -> BeliefNetwork:
        """Decisions as nodes that depend on nothing and are as open as a coin."""
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

    # -- other ways to make one -------------------------------------------------------------------------------
    @classmethod
    def from_network(
        cls,
        network: BeliefNetwork,
        *,
        decisions: Iterable[Decision],
        costs: Any = None,
        about: str | None = None,
        utilities: Iterable[Utility] = (),
        nodes: Iterable[Node] = (),
        name: str | None = None,
        attitude: Attitude | None = None,
        attributes: Iterable[Attribute] | Mapping[str, float] = (),
    ) -> InfluenceDiagram:
        """A learned or loaded network with decisions and costs; `costs` are {action: {state: cost}} `about` a node.

        `nodes` are added, or take the place of those with their name, as where an action changes what happens.

        >>> ill = BeliefNetwork([Node("ill", ["yes", "no"], 0.1), Node("test", ["+", "-"], [0.9, 0.2], ["ill"])])
        >>> diagram = InfluenceDiagram.from_network(
        ...     ill, decisions=[Decision("care", ["treat", "wait"], knows=["test"])],
        ...     costs={"treat": {"yes": 0, "no": 1}, "wait": {"yes": 5, "no": 0}}, about="ill")
        >>> print(diagram.solve())
        expected utility -0.23
        care: treat if test is +, else wait
        """
        pieces = pieces_of_network(network, decisions, costs, about, utilities, nodes)
        return cls(pieces, name=name or network.name, attitude=attitude, attributes=attributes)

    def changed(self, nodes: Iterable[Piece]) -> InfluenceDiagram:
        """The same diagram with these nodes in place of those of their names, or added."""
        replaced = {piece.name: piece for piece in nodes}
        kept: list[Piece] = [replaced.pop(piece.name, piece) for piece in self.pieces()]
        return self._with(pieces=[*kept, *replaced.values()])

    def with_attitude(self, attitude: Attitude | None) -> InfluenceDiagram:
        """The same diagram, solved for somebody of this attitude to risk; None is for the mean."""
        return self._with(attitude=attitude)

    def with_weights(self, weights: Mapping[str, float]) -> InfluenceDiagram:
        """The same diagram with other weights for some of its attributes."""
        return self._with(attributes=self._weighing.with_weights(weights))

    def _with(self, **changes: Any) -> InfluenceDiagram:
        kept = {"pieces": self.pieces(), "attitude": self.attitude, "attributes": self.attributes.values(), **changes}
        return InfluenceDiagram(kept.pop("pieces"), name=self.name, **kept)

    @cached_property
    def with_utility_of_sum(self) -> InfluenceDiagram:
        """The same diagram with one utility: what the sum of all is worth under the attitude."""
        return with_utility_of_sum(self, self.attitude.utility) if self.attitude else self

    def pieces(self) -> list[Piece]:
        """The nodes as they can be written down again."""
        inner: list[Piece] = [self._decisions[n] if n in self._decisions else self.network.node(n) for n in self.names]
        about = self._weighing.attribute_of
        gains = [Utility(n, self._outcomes[n], self.parents(n), attribute=about.get(n)) for n in self.utilities]
        return [*inner, *gains]

    # -- what it is -------------------------------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self.names) + len(self.utilities)

    def __iter__(self) -> Iterator[str]:
        return iter((*self.names, *self.utilities))

    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._utilities

    def __eq__(self, other: object) -> bool:
        """Equal nodes by name; their order says nothing."""
        if not isinstance(other, InfluenceDiagram):
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

    def _same_options(self, other: InfluenceDiagram, decision: str) -> bool:
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
        """The position of a chance node or a decision, or an error that guesses what was meant."""
        if name not in self._places:
            raise ParameterError(f"the diagram has no chance node or decision {name!r}", fix=guess(name, self.names))
        return self._places[name]

    def decision_place(self, name: str) -> int:
        """The position of a decision, or an error that guesses what was meant."""
        if name not in self._knows:
            raise ParameterError(f"the diagram has no decision {name!r}", fix=guess(name, self.decisions))
        return self._places[name]

    def states(self, name: str) -> tuple[Label, ...]:
        """The states of a chance node, or the options of a decision."""
        return self._states[self.place(name)].labels

    def parents(self, name: str) -> tuple[str, ...]:
        """What a table is given: the parents of a chance node or a utility, what a decision knows."""
        if name in self._utilities:
            return self._utilities[name][0]
        return self._knows[name] if name in self._knows else self.network.parents(name)

    def known(self, decision: str) -> tuple[str, ...]:
        """All that is known when a decision is made: what it knows, and what is remembered of earlier ones."""
        return tuple(self.names[v] for v in self._past[self.decision_place(decision)])

    @cached_property
    def forgets(self) -> bool:
        """Whether a decision does not know all that was known before it."""
        return any(set(self._past[d]) != set(known) for d, known in self._full_past.items())

    def decision(self, name: str) -> Decision:
        """A decision as it was written down."""
        self.decision_place(name)
        return self._decisions[name]

    def allowed(self, decision: str) -> Allowed | None:
        """Which options there are in which case; none if nothing is forbidden."""
        self.decision_place(decision)
        return self._allowed.get(decision)

    def utility(self, name: str) -> FloatArray:
        """(states of each parent ...) what a utility node adds to the total, weighed by its attribute."""
        if name not in self._utilities:
            raise ParameterError(f"the diagram has no utility {name!r}", fix=guess(name, self.utilities))
        return self._utilities[name][1]

    def outcome(self, name: str) -> FloatArray:
        """(states of each parent ...) the table of a utility in the unit of its attribute."""
        self.utility(name)
        return self._outcomes[name]

    def weighed(self, name: str, outcome: FloatArray) -> FloatArray:
        """What outcomes of a utility node add to the total."""
        return self._weighing.weighed(name, outcome)

    @property
    def attributes(self) -> dict[str, Attribute]:
        """The attributes by name; empty if utilities are added up as they are."""
        return self._weighing.attributes

    def _table(self, name: str) -> FloatArray:
        return self.utility(name) if name in self._utilities else self.network.table(name)

    def code(self, name: str, state: Any) -> int:
        """The position of a state of a node, or an error that guesses what was meant."""
        word = "option" if name in self._knows else "state"
        return find_state(state, self._states[self.place(name)], what=f"{name!r} has no {word}")

    @cached_property
    def largest_utility(self) -> float:
        """The sum of the largest entries of all utilities, whatever their sign."""
        with np.errstate(over="ignore"):
            return float(sum(np.abs(values).max() for _, values in self._utilities.values()))

    @cached_property
    def sequence(self) -> tuple[int, ...]:
        """The nodes in the order in which they become known; what no decision knows comes last."""
        known: list[int] = []
        for decision in self.decisions:
            known += [*(self.place(node) for node in self._knows[decision]), self.place(decision)]
        return tuple(dict.fromkeys([*known, *self.network.order]))

    @cached_property
    def ranks(self) -> dict[int, int]:
        """The place of each node in the sequence."""
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

    def preferring(self, decision: str, option: Any) -> InfluenceDiagram:
        """The diagram in which an option is taken wherever it is allowed; elsewhere the decision is open."""
        masked = self._allowed.get(decision)
        if masked is None:
            masked = Allowed((), np.ones(len(self.states(decision)), dtype=bool))
        made = self._with()
        made._allowed = {**self._allowed, decision: masked.preferring(self.code(decision, option))}
        return made

    # -- questions --------------------------------------------------------------------------------------------
    def solve(
        self,
        evidence: Evidence | None = None,
        *,
        policies: Mapping[str, Any] | None = None,
        starts: int = 20,
        recall: int | None = None,
        exact: bool = False,
    ) -> Solution:
        """The best policy of each decision given what is known already; decisions in `policies` follow these.

        Evidence may be about chance nodes that no open decision can change, and about decisions that are made. Where
        decisions forget, the best policies may have to be searched, from so many starts; `proof` says what is certain.
        Where the best policies need tables that are too large, decisions recall what became known from `recall`
        decisions before them on (as many as fit), and `bounds` has what these policies lead to and what no policies
        exceed; `exact` refuses instead.
        """
        from bayeswise.diagrams.solving.solve import solve

        return solve(self, evidence, policies, starts, recall, exact)

    def evaluate(self, policies: Mapping[str, Any], evidence: Evidence | None = None) -> Solution:
        """What given policies lead to: for each decision an option, or a table by what it knows."""
        missing = [d for d in self.decisions if d not in policies and d not in (evidence or {})]
        if missing:
            raise ParameterError(f"there is no policy for {missing[0]!r}", fix="give one, or use solve(policies=...)")
        return self.solve(evidence, policies=policies)

    def compare(self, policies: Mapping[str, Any], evidence: Evidence | None = None) -> Comparison:
        """What given policies lead to beside the best ones; decisions that are not named respond at their best."""
        from bayeswise.diagrams.solving.stochastic import Comparison

        return Comparison(self.solve(evidence, policies=policies, exact=True), self.solve(evidence, exact=True))

    def policy(self, decision: str, rule: Any, *, knows: Sequence[str] | None = None) -> Policy:
        """A policy of one's own, by what the decision knows or by other nodes that are known then."""
        from bayeswise.diagrams.solving.policy import given_policy

        return given_policy(self, decision, rule, knows)

    def regret(self, policies: Mapping[str, Any], evidence: Evidence | None = None) -> float:
        """How much less given policies gain on average than the best ones; decisions not named are optimised."""
        return self.compare(policies, evidence).regret

    def value_of_information(
        self,
        nodes: str | Iterable[str],
        decision: str,
        *,
        price: float = 0.0,
        evidence: Evidence | None = None,
    ) -> InformationValue:
        """What knowing chance nodes before a decision is worth; never below 0 before its price."""
        from bayeswise.diagrams.analysis.information import value_of_information

        return value_of_information(self, nodes, decision, price=price, evidence=evidence)

    def information_values(
        self,
        decision: str | None = None,
        *,
        prices: Mapping[str, float] | None = None,
        evidence: Evidence | None = None,
    ) -> InformationValues:
        """What each node that could be looked at before a decision is worth, the most valuable first."""
        from bayeswise.diagrams.analysis.information import information_values

        return information_values(self, decision, prices=prices, evidence=evidence)

    def perfect_information(self, decision: str | None = None, evidence: Evidence | None = None) -> InformationValue:
        """What knowing every chance node that a decision cannot change is worth; the first decision unless named."""
        from bayeswise.diagrams.analysis.information import perfect_information

        return perfect_information(self, decision, evidence=evidence)

    def value_of_control(self, node: str, evidence: Evidence | None = None) -> dict[Label, float]:
        """What setting a chance node to each of its states, before anything is decided, would be worth."""
        from bayeswise.diagrams.analysis.information import value_of_control

        return value_of_control(self, node, evidence=evidence)

    def sensitivity(
        self,
        node: str,
        state: Any = None,
        *,
        given: Evidence | None = None,
        low: float | None = None,
        high: float | None = None,
        evidence: Evidence | None = None,
    ) -> Sensitivity:
        """The greatest expected utility as a function of one entry of a table, and where the best policy changes."""
        from bayeswise.diagrams.analysis.sensitivity import sensitivity

        return sensitivity(self, node, state, given=given, low=low, high=high, evidence=evidence)

    def weight_sensitivity(
        self,
        attribute: str,
        *,
        low: float | None = None,
        high: float | None = None,
        evidence: Evidence | None = None,
    ) -> Sensitivity:
        """The greatest total as a function of one weight, and where the best policy changes.

        The other weights keep their proportions, and the sum of all weights stays.
        """
        from bayeswise.diagrams.analysis.sensitivity import weight_sensitivity

        return weight_sensitivity(self, attribute, low=low, high=high, evidence=evidence)

    def tornado(
        self,
        spread: float = 0.1,
        *,
        nodes: Iterable[str] | None = None,
        ranges: Mapping[Any, tuple[float, float]] | None = None,
        evidence: Evidence | None = None,
    ) -> Tornado:
        """How far the utility moves as each entry of the tables moves within its range, the widest first."""
        from bayeswise.diagrams.analysis.tornado import tornado

        return tornado(self, spread, nodes=nodes, ranges=ranges, evidence=evidence)

    # -- pictures ---------------------------------------------------------------------------------------------
    def picture(self, solution: Solution | None = None, *, title: str = "") -> Picture:
        """The graph, laid out; with a solution also beliefs and what is gained: `.svg()`, `.dot()`, `.save(path)`."""
        from bayeswise.diagrams.plots import picture_of

        return picture_of(self, solution, title)

    def plot(self, solution: Solution | None = None, ax: Any = None, *, title: str = "") -> GraphDisplay:
        """Draw the picture by matplotlib."""
        return self.picture(solution, title=title).plot(ax)

    def _repr_html_(self) -> str:
        from bayeswise.diagrams.plots import notebook_html

        return notebook_html(self)

    # -- files ------------------------------------------------------------------------------------------------
    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> InfluenceDiagram:
        """The diagram in a TOML, JSON, GeNIe .xdsl, Hugin .net, Netica .dne or XMLBIF file."""
        from bayeswise.diagrams.files import read

        return read(path)

    def write(self, path: str | os.PathLike[str]) -> tuple[str, ...]:
        """A file in the format of its suffix; what the format cannot hold is answered, TOML and JSON hold all."""
        from bayeswise.diagrams.files import write

        return write(self, path)


def _levels(piece: Piece) -> Vocabulary:
    return piece.options if isinstance(piece, Decision) else piece.states  # type: ignore[union-attr]
