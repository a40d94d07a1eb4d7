"""An influence diagram: chance nodes, decisions with the nodes observed before them, and utilities."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.diagrams.analysis import information as _information
from bayeswise.diagrams.analysis import sensitivity as _sensitivity
from bayeswise.diagrams.analysis.tornado import tornado as _tornado
from bayeswise.diagrams.attitude import Attitude, with_utility_of_sum
from bayeswise.diagrams.attributes import Attribute
from bayeswise.diagrams.nodes import Allowed, Decision, Piece, Utility, pieces_of_network
from bayeswise.diagrams.solving.policy import given_policy
from bayeswise.diagrams.solving.solution import Comparison
from bayeswise.diagrams.solving.solve import solve as _solve
from bayeswise.diagrams.structure import DiagramStructure
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks import BeliefNetwork, Node

if TYPE_CHECKING:
    from bayeswise.diagrams.solving.solution import Solution
    from bayeswise.render.graph.picture import Picture
    from bayeswise.render.graph.plot import GraphDisplay

Evidence = Mapping[str, Any]


class InfluenceDiagram(DiagramStructure):
    """Chance nodes, decisions in sequence and additive utilities; the best policy has maximum expected utility.

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

        `nodes` are added, or replace those of the same name, as where an action has an effect.

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
        """The same diagram with these nodes added, or in place of those of the same name."""
        replaced = {piece.name: piece for piece in nodes}
        kept: list[Piece] = [replaced.pop(piece.name, piece) for piece in self.pieces()]
        return self._with(pieces=[*kept, *replaced.values()])

    def with_attitude(self, attitude: Attitude | None) -> InfluenceDiagram:
        """The same diagram with this attitude to risk; None maximizes the mean."""
        return self._with(attitude=attitude)

    def with_weights(self, weights: Mapping[str, float]) -> InfluenceDiagram:
        """The same diagram with other weights for some of its attributes."""
        return self._with(attributes=self._weighing.with_weights(weights))

    def _with(self, **changes: Any) -> InfluenceDiagram:
        kept = {"pieces": self.pieces(), "attitude": self.attitude, "attributes": self.attributes.values(), **changes}
        return InfluenceDiagram(kept.pop("pieces"), name=self.name, **kept)

    @cached_property
    def with_utility_of_sum(self) -> InfluenceDiagram:
        """The same diagram with one utility: the utility of the sum of all under the attitude."""
        return with_utility_of_sum(self, self.attitude.utility) if self.attitude else self

    def preferring(self, decision: str, option: Any) -> InfluenceDiagram:
        """The diagram in which an option is taken wherever it is allowed; elsewhere the decision is open."""
        masked = self._allowed.get(decision)
        if masked is None:
            masked = Allowed((), np.ones(len(self.states(decision)), dtype=bool))
        made = self._with()
        made._allowed = {**self._allowed, decision: masked.preferring(self.code(decision, option))}
        return made

    # -- queries: each is a function of the diagram, in a file of its own ---------------------------------------
    solve = _solve
    policy = given_policy
    value_of_information = _information.value_of_information
    information_values = _information.information_values
    perfect_information = _information.perfect_information
    value_of_control = _information.value_of_control
    sensitivity = _sensitivity.sensitivity
    weight_sensitivity = _sensitivity.weight_sensitivity
    tornado = _tornado

    def evaluate(self, policies: Mapping[str, Any], evidence: Evidence | None = None) -> Solution:
        """The outcome of given policies: for each decision an option, or a table by what it knows."""
        missing = [d for d in self.decisions if d not in policies and d not in (evidence or {})]
        if missing:
            raise ParameterError(f"there is no policy for {missing[0]!r}", fix="give one, or use solve(policies=...)")
        return self.solve(evidence, policies=policies)

    def compare(self, policies: Mapping[str, Any], evidence: Evidence | None = None) -> Comparison:
        """The outcome of given policies beside that of the best ones; decisions that are not named are optimised."""
        return Comparison(self.solve(evidence, policies=policies, exact=True), self.solve(evidence, exact=True))

    def regret(self, policies: Mapping[str, Any], evidence: Evidence | None = None) -> float:
        """The loss of expected utility of given policies against the best; decisions not named are optimised."""
        return self.compare(policies, evidence).regret

    # -- pictures ---------------------------------------------------------------------------------------------
    def picture(self, solution: Solution | None = None, *, title: str = "") -> Picture:
        """The graph, laid out; with a solution also beliefs and utilities: `.svg()`, `.dot()`, `.save(path)`."""
        from bayeswise.diagrams.plots import picture_of

        return picture_of(self, solution, title)

    def plot(self, solution: Solution | None = None, ax: Any = None, *, title: str = "") -> GraphDisplay:
        """Draw the picture with matplotlib."""
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
        """A file in the format of its suffix; returns what the format cannot store; TOML and JSON store all."""
        from bayeswise.diagrams.files import write

        return write(self, path)
