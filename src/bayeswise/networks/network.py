"""A belief network: P(all nodes) = prod P(node | parents), a frozen value."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import NetworkError, ParameterError
from bayeswise.networks.node import Node, checked, table_of
from bayeswise.render.labels import guess
from bayeswise.tables.schema.labels import Label, Vocabulary, find_state

if TYPE_CHECKING:
    from bayeswise.networks.explaining.account import NetworkAccount
    from bayeswise.networks.explaining.sensitivity import Sensitivity
    from bayeswise.networks.inference.distribution import Distribution, Explanation
    from bayeswise.networks.inference.engine import Engine
    from bayeswise.networks.inference.estimate import Estimate
    from bayeswise.networks.learning.strengths import EdgeStrengths
    from bayeswise.render.graph.picture import Picture
    from bayeswise.render.graph.plot import GraphDisplay

Evidence = Mapping[str, Any]
Soft = Mapping[str, Mapping[Any, float]]


class BeliefNetwork:
    """Nodes with named states, each with a table given its parents; built by hand, from rows or from a file.

    >>> network = BeliefNetwork([
    ...     Node("Storm", ["yes", "no"], [0.2, 0.8]),
    ...     Node("Lightning", ["yes", "no"], {"yes": 0.7, "no": 0.01}, parents=["Storm"]),
    ... ])
    >>> network
    BeliefNetwork(2 nodes, 1 edges: Storm, Lightning)
    >>> round(network.query("Storm", {"Lightning": "yes"})["yes"], 4)
    0.9459
    """

    def __init__(self, nodes: Iterable[Node] | Mapping[str, Mapping[str, Any]], *, name: str = "network") -> None:
        given = _nodes(nodes)
        self.name = name
        self.names: tuple[str, ...] = tuple(node.name for node in given)
        self._places = {node: place for place, node in enumerate(self.names)}
        if len(self._places) < len(given):
            twice = next(node for place, node in enumerate(self.names) if self._places[node] != place)
            raise NetworkError(f"there are two nodes {twice!r}", fix="rename one of them")
        self._states: tuple[Vocabulary, ...] = tuple(node.states for node in given)
        self._parents: tuple[tuple[int, ...], ...] = tuple(self._parents_of(node) for node in given)
        self.order: tuple[int, ...] = tuple(graph.ancestral_order(self._parents, self.names))
        notes: list[str] = []
        tables: list[FloatArray] = []
        for node, places in zip(given, self._parents, strict=True):
            above = [(self.names[place], self._states[place]) for place in places]
            table, note = checked(node.name, table_of(node.name, node.states, above, node.table), above)
            tables.append(np.ascontiguousarray(table))
            tables[-1].flags.writeable = False
            notes += [note] if note else []
        self._tables: tuple[FloatArray, ...] = tuple(tables)
        self.notes: tuple[str, ...] = tuple(notes)

    def _parents_of(self, node: Node) -> tuple[int, ...]:
        for parent in node.parents:
            if parent not in self._places:
                raise NetworkError(
                    f"node {node.name!r} has the parent {parent!r}, which is not a node", fix=guess(parent, self.names)
                )
        return tuple(self._places[parent] for parent in node.parents)

    # -- what it is -------------------------------------------------------------------------------------------
    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BeliefNetwork):
            return NotImplemented
        same = self.names == other.names and self._parents == other._parents and self._states == other._states
        return same and all(map(np.array_equal, self._tables, other._tables))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:6]) + (f", ... {len(self) - 6} more" if len(self) > 6 else "")
        return f"BeliefNetwork({len(self)} nodes, {len(self.edges)} edges: {shown})"

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """(parent, child), in the order of the nodes."""
        names = self.names
        return tuple((names[p], name) for name, above in zip(names, self._parents, strict=True) for p in above)

    @property
    def n_parameters(self) -> int:
        """How many numbers are free: rows times states minus one."""
        return sum(len(table) * (table.shape[1] - 1) for table in self._tables)

    def place(self, name: str) -> int:
        """The position of a node, or an error that guesses what was meant."""
        if name not in self._places:
            raise ParameterError(f"the network has no node {name!r}", fix=guess(name, self.names))
        return self._places[name]

    def states(self, name: str) -> tuple[Label, ...]:
        """The states of a node."""
        return self._states[self.place(name)].labels

    def parents(self, name: str) -> tuple[str, ...]:
        """The nodes that a node's table is given."""
        return tuple(self.names[place] for place in self._parents[self.place(name)])

    def children(self, name: str) -> tuple[str, ...]:
        """The nodes whose table is given this one."""
        place = self.place(name)
        return tuple(child for child, above in zip(self.names, self._parents, strict=True) if place in above)

    def table(self, name: str) -> FloatArray:
        """(n_configurations, n_states) P(node | parents); the last parent changes fastest."""
        return self._tables[self.place(name)]

    def node(self, name: str) -> Node:
        """The node as it can be written down again."""
        return Node(name, self._states[self.place(name)], self.table(name), self.parents(name))

    def code(self, name: str, state: Any) -> int:
        """The position of a state of a node, or an error that guesses what was meant."""
        return find_state(state, self._states[self.place(name)], what=f"node {name!r} has no state")

    def changed(self, tables: Mapping[str, Any]) -> BeliefNetwork:
        """The same graph with other tables for some nodes."""
        for name in tables:
            self.place(name)
        kept = {name: self.table(name) for name in self.names}
        nodes = [Node(n, self.states(n), {**kept, **tables}[n], self.parents(n)) for n in self.names]
        return BeliefNetwork(nodes, name=self.name)

    # -- what follows from the graph alone --------------------------------------------------------------------
    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Parents, children and the children's other parents; given these, no other node matters.

        >>> BeliefNetwork([Node("a", [0, 1], 0.5), Node("b", [0, 1], [0.1, 0.2], ["a"])]).markov_blanket("a")
        ('b',)
        """
        found = graph.markov_blanket(self._parents, self.place(name))
        return tuple(self.names[place] for place in sorted(found))

    def d_separated(self, left: str | Iterable[str], right: str | Iterable[str], given: Iterable[str] = ()) -> bool:
        """Whether the two sides say nothing about each other once `given` is known, whatever the tables."""
        sides = [[self.place(name) for name in _as_names(side)] for side in (left, right, given)]
        return graph.d_separated(self._parents, *sides)

    # -- questions --------------------------------------------------------------------------------------------
    @cached_property
    def engine(self) -> Engine:
        """The compiled junction trees of this network; made once, used by every question."""
        from bayeswise.networks.inference.engine import Engine

        return Engine(self)

    def query(
        self,
        nodes: str | Iterable[str],
        evidence: Evidence | None = None,
        *,
        soft: Soft | None = None,
        distributions: Soft | None = None,
    ) -> Distribution:
        """P(nodes | evidence), joint if there are several; soft evidence is {node: {state: likelihood}}.

        `distributions` {node: {state: p}} are beliefs that shall hold afterwards, by Jeffrey's rule.
        """
        return self.engine.query(nodes, evidence, self._soft(evidence, soft, distributions))

    def marginals(
        self, evidence: Evidence | None = None, *, soft: Soft | None = None, distributions: Soft | None = None
    ) -> dict[str, Distribution]:
        """P(node | evidence) of every node."""
        return self.engine.marginals(evidence, self._soft(evidence, soft, distributions))

    def _soft(self, evidence: Evidence | None, soft: Soft | None, distributions: Soft | None) -> Soft | None:
        """Soft evidence, with what makes distributions hold."""
        if not distributions:
            return soft
        from bayeswise.networks.inference.jeffrey import likelihoods_for

        if set(distributions) & {*(soft or {}), *(evidence or {})}:
            raise ParameterError("a node has both evidence and a distribution", fix="give it one of them")
        return likelihoods_for(self, distributions, evidence, soft)

    def log_evidence(self, evidence: Evidence, *, soft: Soft | None = None) -> float:
        """log P(evidence); minus infinity if it is impossible."""
        return self.engine.log_evidence(evidence, soft)

    def evidence_probability(self, evidence: Evidence, *, soft: Soft | None = None) -> float:
        """P(evidence); `log_evidence` goes on where this becomes 0."""
        return float(np.exp(self.log_evidence(evidence, soft=soft)))

    def most_probable(
        self, evidence: Evidence | None = None, *, nodes: Iterable[str] | None = None, soft: Soft | None = None
    ) -> Explanation:
        """The most probable states of all nodes given the evidence, or of some, the others summed out."""
        return self.engine.most_probable(evidence, nodes, soft)

    def mutual_information(
        self, node: str, evidence: Evidence | None = None, *, soft: Soft | None = None
    ) -> dict[str, float]:
        """I(node; other | evidence) in bits for every node that is not observed, what tells most first."""
        from bayeswise.networks.explaining.account import mutual_information

        return mutual_information(self, node, evidence, soft)

    def sensitivity(
        self,
        node: str,
        evidence: Evidence | None = None,
        *,
        soft: Soft | None = None,
        tables: Iterable[str] | None = None,
    ) -> list[Sensitivity]:
        """P(node | evidence) as a function (a t + b) / (c t + d) of each entry t of the tables, what matters first."""
        from bayeswise.networks.explaining.sensitivity import sensitivities

        return sensitivities(self, node, evidence, soft, tables)

    def explain(self, node: str, evidence: Evidence, *, state: Any = None, soft: Soft | None = None) -> NetworkAccount:
        """Why a node is believed to be in a state: what each finding says, alone and beside the others."""
        from bayeswise.networks.explaining.account import account_of

        return account_of(self, node, evidence, state, soft)

    def predict_proba(self, node: str, rows: Any) -> FloatArray:
        """(n_rows, n_states) the posterior of a node for each row of a table; cells may be missing."""
        from bayeswise.networks.inference.rows import predict_proba

        return predict_proba(self, node, rows)

    def sample(self, n_rows: int, seed: int | np.random.Generator = 0) -> dict[str, list[Label]]:
        """Rows drawn from the network, as columns."""
        from bayeswise.networks.inference.sampling import sample

        return sample(self, n_rows, seed)

    def estimate(
        self,
        node: str,
        evidence: Evidence | None = None,
        *,
        soft: Soft | None = None,
        method: str = "importance",
        n_rows: int = 100_000,
        seed: int = 0,
    ) -> Estimate:
        """P(node | evidence) with standard errors, for networks too large for `query`.

        `method` is "importance" (rows drawn where the evidence points), "likelihood-weighting", "gibbs", "loopy"
        (belief propagation, no error bar), "exact", or "auto": exact if it can be, else importance sampling.
        """
        from bayeswise.networks.inference.estimate import answer

        return answer(self, node, evidence, soft, method=method, n_rows=n_rows, seed=seed)

    @classmethod
    def learn(cls, table: Any, **overrides: Any) -> BeliefNetwork:
        """A network from rows: tables by counting, the graph given (`parents=`) or found by a score (`score=`)."""
        from bayeswise.networks.learning import learn

        return learn(table, **overrides)

    # -- pictures ---------------------------------------------------------------------------------------------
    def picture(
        self,
        evidence: Evidence | None = None,
        *,
        soft: Soft | None = None,
        nodes: Iterable[str] | None = None,
        beliefs: bool = True,
        title: str = "",
        strengths: EdgeStrengths | Mapping[tuple[str, str], float] | None = None,
        by: str | None = None,
    ) -> Picture:
        """The graph with P(node | evidence) in each node; `.svg()`, `.html()`, `.dot()`, `.save(path)`.

        Edges are as wide as their `strengths`, those of `strengths_in_table` or any {(parent, child): number}; `by`
        chooses "score_gain", "support", "support_either_way" or "posterior".

        >>> BeliefNetwork([Node("a", [0, 1], 0.5), Node("b", [0, 1], [0.1, 0.2], ["a"])]).picture({"b": 0})
        Picture(2 nodes, 1 edges)
        """
        from bayeswise.networks.drawing import picture_of

        return picture_of(self, evidence, soft, nodes, beliefs, title, strengths, by)

    def plot(
        self,
        evidence: Evidence | None = None,
        ax: Any = None,
        *,
        soft: Soft | None = None,
        nodes: Iterable[str] | None = None,
        beliefs: bool = True,
        title: str = "",
    ) -> GraphDisplay:
        """Draw the picture by matplotlib."""
        return self.picture(evidence, soft=soft, nodes=nodes, beliefs=beliefs, title=title).plot(ax)

    def _repr_html_(self) -> str:
        from bayeswise.networks.drawing import notebook_html

        return notebook_html(self)

    # -- files ------------------------------------------------------------------------------------------------
    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> BeliefNetwork:
        """The network in a BIF, XMLBIF, Hugin .net, GeNIe .xdsl or UAI file, packed (.gz) or not."""
        from bayeswise.networks.formats import read

        return read(path)

    def write(self, path: str | os.PathLike[str]) -> tuple[str, ...]:
        """A file in the format of its suffix; reading it gives back the same network, to the last bit.

        What the format cannot hold (UAI files have no names) is answered, one text for each loss.
        """
        from bayeswise.networks.formats import write

        return write(self, path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """A model file, which `bw.load` reads: states keep their types, of any size."""
        from bayeswise.models.files import save_model

        save_model(self, path)

    def to_plain(self) -> tuple[Any, ...]:
        """What a model file holds: the name, the nodes, and all tables one after the other."""
        cells = np.concatenate([table.ravel() for table in self._tables]) if self._tables else np.zeros(0)
        return self.name, tuple((n, self._states[k], self.parents(n)) for k, n in enumerate(self.names)), cells

    @classmethod
    def from_plain(cls, plain: tuple[Any, ...]) -> BeliefNetwork:
        """The inverse of `to_plain`, checked like a network that is built by hand."""
        name, nodes, cells = plain
        sizes = {node: len(states) for node, states, _ in nodes}
        made, start = [], 0
        for node, states, parents in nodes:
            end = start + len(states) * math.prod(sizes[parent] for parent in parents)
            made.append(Node(node, states, cells[start:end].reshape(-1, len(states)), parents))
            start = end
        return cls(made, name=name)


def _nodes(nodes: Iterable[Node] | Mapping[str, Mapping[str, Any]]) -> list[Node]:
    if isinstance(nodes, Mapping):
        return [Node(name, **parts) for name, parts in nodes.items()]
    given = list(nodes)
    for node in given:
        if not isinstance(node, Node):
            raise NetworkError(f"a network is made of nodes; found {node!r}", fix="write Node(name, states, table)")
    return given


def _as_names(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
