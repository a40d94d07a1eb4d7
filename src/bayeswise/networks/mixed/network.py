"""A conditional Gaussian network: nodes with states and nodes that are numbers, and its queries."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.errors import NetworkError, ParameterError
from bayeswise.foundation.late import LateFunction
from bayeswise.networks.mixed.node import GaussianNode, Lines, lines_of
from bayeswise.networks.network import BeliefNetwork
from bayeswise.networks.node import Evidence, Node
from bayeswise.networks.structure import NamedGraph
from bayeswise.render.numbers import plural

if TYPE_CHECKING:
    from bayeswise.networks.inference.distribution import Distribution
    from bayeswise.networks.inference.estimate import Estimate
    from bayeswise.networks.mixed.answering import Moments
    from bayeswise.networks.mixed.learning import learn as _learn
    from bayeswise.networks.mixed.node import NormalMixture
    from bayeswise.render.graph.picture import Picture


class MixedNetwork(NamedGraph):
    """Nodes with states and Gaussian nodes; a number may depend on states and numbers, a state on states only.

    >>> network = MixedNetwork([
    ...     Node("sex", ["f", "m"], 0.5),
    ...     GaussianNode("height", {"f": 165, "m": 178}, stddev=6, given=["sex"]),
    ...     GaussianNode("weight", -90, {"height": 0.95}, stddev=10),
    ... ])
    >>> network
    MixedNetwork(3 nodes, 2 of them numbers, 2 edges: sex, height, weight)
    >>> network.query("weight")
    NormalMixture(weight: mean 72.93, stddev 13.06)
    >>> round(network.query("sex", {"weight": 60})["f"], 3)
    0.769
    """

    def __init__(self, nodes: Iterable[Node | GaussianNode], *, name: str = "network") -> None:
        given = list(nodes)
        for node in given:
            if not isinstance(node, Node | GaussianNode):
                raise NetworkError(
                    f"a mixed network is made of nodes; found {node!r:.80}", fix="write Node(...) or GaussianNode(...)"
                )
        super().__init__([(node.name, node.parents) for node in given], name=name)
        for node in given:
            self._check_kinds(node, given)
        self.discrete = BeliefNetwork([node for node in given if isinstance(node, Node)], name=name)
        self.lines: dict[int, Lines] = {}  # of the nodes that are numbers, by position
        self._n_given: dict[int, int] = {}
        for place, node in enumerate(given):
            if isinstance(node, GaussianNode):
                levels = [(parent, self.discrete.node(parent).states) for parent in node.given]
                self.lines[place], self._n_given[place] = lines_of(node, levels), len(node.given)
        self.notes: tuple[str, ...] = ()

    def _check_kinds(self, node: Node | GaussianNode, given: list[Node | GaussianNode]) -> None:
        for parent in node.parents:
            is_number = isinstance(given[self._places[parent]], GaussianNode)
            if is_number and isinstance(node, Node):
                raise NetworkError(
                    f"node {node.name!r} has states, and its parent {parent!r} is a number",
                    fix=f"let {parent!r} depend on {node.name!r} instead, or cut {parent!r} into states",
                )
            if isinstance(node, GaussianNode) and is_number != (parent in node.weights):
                place = "weights" if is_number else "given"
                kind = "is a number" if is_number else "has states"
                raise NetworkError(f"the parent {parent!r} of {node.name!r} {kind}", fix=f"put it into {place}")

    # -- properties ---------------------------------------------------------------------------------------------
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MixedNetwork):
            return NotImplemented
        (_, nodes, _, lines), (_, other_nodes, _, other_lines) = self.to_plain(), other.to_plain()
        return nodes == other_nodes and np.array_equal(lines, other_lines) and self.discrete == other.discrete

    __hash__ = None  # type: ignore[assignment]

    def _counts(self) -> str:
        return f"{plural(len(self), 'node')}, {len(self.lines)} of them numbers, {plural(len(self.edges), 'edge')}"

    @property
    def numbers(self) -> tuple[str, ...]:
        """The nodes that are numbers."""
        return tuple(self.names[place] for place in self.lines)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: those of tables, and of each line its intercept, weights and deviation."""
        return self.discrete.n_parameters + sum(
            line.weights.size + 2 * len(line.stddev) for line in self.lines.values()
        )

    def node(self, name: str) -> Node | GaussianNode:
        """The node, from which the network can be built again."""
        place = self.place(name)
        if place not in self.lines:
            return self.discrete.node(name)
        line, above = self.lines[place], [self.names[each] for each in self.numbers_above(place)]
        weights = dict(zip(above, line.weights.T, strict=True))
        given = [self.names[each] for each in self.states_above(place)]
        return GaussianNode(name, line.intercept, weights, line.stddev, given)

    def states_above(self, place: int) -> tuple[int, ...]:
        """The parents with states of a node that is a number."""
        return self._parents[place][: self._n_given[place]]

    def numbers_above(self, place: int) -> tuple[int, ...]:
        """The parents of such a node that are numbers."""
        return self._parents[place][self._n_given[place] :]

    def size(self, place: int) -> int:
        """How many states a node has."""
        return len(self.discrete.states(self.names[place]))

    # -- queries ------------------------------------------------------------------------------------------------
    def query(
        self, node: str, evidence: Evidence | None = None, *, do: Evidence | None = None
    ) -> Distribution | NormalMixture:
        """P(node | evidence), exactly: a distribution over states, or a mixture of normals for a number.

        `do` {node: state or number} intervenes on nodes before anything is observed.
        """
        from bayeswise.networks.mixed.answering import MixedQuery, known_of

        query = MixedQuery(self, [node], known_of(self, evidence, do))
        return query.mixture() if self.place(node) in self.lines else query.distribution()

    def marginals(
        self, evidence: Evidence | None = None, *, do: Evidence | None = None
    ) -> dict[str, Distribution | NormalMixture]:
        """P(node | evidence) of every node."""
        return {node: self.query(node, evidence, do=do) for node in self.names}

    def moments(self, nodes: Iterable[str], evidence: Evidence | None = None, *, do: Evidence | None = None) -> Moments:
        """The mean and the covariance of several numbers given the evidence, exactly."""
        from bayeswise.networks.mixed.answering import MixedQuery, known_of

        names = [nodes] if isinstance(nodes, str) else list(nodes)
        for name in names:
            if self.place(name) not in self.lines:
                raise ParameterError(f"node {name!r} has states: it has no mean", fix="use query(...)")
        if not names or len(set(names)) < len(names):
            raise ParameterError(f"moments are of different nodes; found {names}", fix="name each node once")
        return MixedQuery(self, names, known_of(self, evidence, do)).moments()

    def log_evidence(self, evidence: Evidence) -> float:
        """log P(observed states) plus the log density of the observed numbers given them."""
        from bayeswise.networks.mixed.answering import MixedQuery, known_of

        return MixedQuery(self, [], known_of(self, evidence)).log_evidence()

    def estimate(
        self, node: str, evidence: Evidence | None = None, *, n_rows: int = 100_000, seed: int = 0
    ) -> Estimate | NormalMixture:
        """P(node | evidence) with a standard error, where numbers depend on too many configurations for `query`.

        Rows of states are drawn and weighted by the density of the observed numbers; the numbers are integrated out.
        """
        from bayeswise.networks.mixed.answering import estimate

        return estimate(self, node, evidence, n_rows, seed)

    def sample(self, n_rows: int, seed: int = 0) -> dict[str, Any]:
        """Rows drawn from the network, as columns: lists of states, arrays of numbers."""
        from bayeswise.networks.mixed.answering import sample

        return sample(self, n_rows, seed)

    # -- from rows, pictures, files -----------------------------------------------------------------------------
    if TYPE_CHECKING:
        learn = staticmethod(_learn)
    else:
        learn = LateFunction("bayeswise.networks.mixed.learning", "learn")

    def picture(self, evidence: Evidence | None = None, *, title: str = "") -> Picture:
        """The graph with the distribution of each node; `.svg()`, `.html()`, `.dot()`, `.save(path)`."""
        from bayeswise.networks.plots import picture_of_mixed

        return picture_of_mixed(self, evidence, title)

    def _repr_html_(self) -> str:
        from bayeswise.render.page import fragment, picture

        return fragment(picture(self.picture().svg()))

    def save(self, path: str | os.PathLike[str]) -> None:
        """A model file, which `bw.load` reads."""
        from bayeswise.models.files import save_model

        save_model(self, path)

    def to_plain(self) -> tuple[Any, ...]:
        """The content of a model file: the name, the nodes in their order, the discrete network, and all lines."""
        nodes = tuple(
            (name, self.parents(name), self._n_given[place] if place in self.lines else -1)
            for place, name in enumerate(self.names)
        )
        lines = [np.column_stack([line.intercept, line.weights, line.stddev]).ravel() for line in self.lines.values()]
        return self.name, nodes, self.discrete.to_plain(), np.concatenate([np.zeros(0), *lines])

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> MixedNetwork:
        """The inverse of `to_plain`, checked like any new network."""
        name, nodes, states, cells = plain
        discrete = BeliefNetwork.from_plain(states)
        made: list[Node | GaussianNode] = []
        start = 0
        for node, parents, n_given in nodes:
            if n_given < 0:
                made.append(discrete.node(node))
                continue
            given, numbers = parents[:n_given], parents[n_given:]
            n_lines = int(np.prod([len(discrete.states(parent)) for parent in given], dtype=np.int64))
            size = n_lines * (len(numbers) + 2)
            line = cells[start : start + size].reshape(n_lines, len(numbers) + 2)
            start += size
            weights = {parent: line[:, 1 + k] for k, parent in enumerate(numbers)}
            made.append(GaussianNode(node, line[:, 0], weights, line[:, -1], given))
        return cls(made, name=name)
