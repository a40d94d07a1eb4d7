"""Dynamic networks: one slice of nodes for each time step, the same tables at every step.

The future depends on the past through the interface: the nodes of a slice that a node of the next one depends
on. Its joint states are the states of one node, `INTERFACE`, so a step is a query of an ordinary network: a belief
about the interface before goes in as a likelihood, the belief about the one after comes out. Filtering takes the memory
of one step, whatever the length. Hidden Markov models are the special case of one hidden node.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arguments import whole_number
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, NetworkError, ParameterError, TooLargeError
from bayeswise.foundation.late import LateFunction
from bayeswise.networks.arguments import names_of
from bayeswise.networks.inference.distribution import Distribution
from bayeswise.networks.inference.engine import Finding
from bayeswise.networks.network import BeliefNetwork
from bayeswise.networks.node import Node
from bayeswise.render.labels import refuse_unknown
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.networks.learning.slices import learn as _learn

INTERFACE, NEXT = "(interface)", "(next interface)"
MOST_INTERFACE_STATES = 1024
BEFORE = "[-1]"

Steps = Sequence[Mapping[str, Any]]


def before(name: str) -> str:
    """A node of the previous slice, as a parent.

    >>> before("rain")
    'rain[-1]'
    """
    if not isinstance(name, str):
        raise ParameterError(f"the name of a node is a string; found {name!r:.80}", fix="give the name of a node")
    return name + BEFORE


@dataclass(frozen=True)
class StepBelief:
    """The beliefs at a step: P(node | evidence) of each node, and log P(evidence up to this step)."""

    step: int
    marginals: dict[str, Distribution]
    log_evidence: float

    def __getitem__(self, name: str) -> Distribution:
        return self.marginals[name]


class DynamicNetwork:
    """Nodes of the first slice, and the nodes of every later one, whose parents may be in the previous slice.

    >>> umbrella = DynamicNetwork(
    ...     [Node("rain", ["yes", "no"], 0.5), Node("umbrella", ["yes", "no"], [0.9, 0.2], ["rain"])],
    ...     [Node("rain", ["yes", "no"], [0.7, 0.3], [before("rain")]),
    ...      Node("umbrella", ["yes", "no"], [0.9, 0.2], ["rain"])])
    >>> umbrella
    DynamicNetwork(2 nodes, interface: rain)
    >>> [round(step["rain"]["yes"], 3) for step in umbrella.filtered([{"umbrella": "yes"}] * 2)]
    [0.818, 0.883]
    """

    def __init__(self, first: Iterable[Node], later: Iterable[Node], *, name: str = "dynamic network") -> None:
        self.name = name
        self.notes: tuple[str, ...] = ()
        self.first = BeliefNetwork(first, name=f"{name}, first slice")
        self._later = _nodes(later)
        self.names = self.first.names
        self._check_slices()
        above = {parent for node in self._later for parent in node.parents if parent.endswith(BEFORE)}
        self.interface: tuple[str, ...] = tuple(node for node in self.names if before(node) in above)
        self._sizes = [len(self.first.states(node)) for node in self.interface]
        if math.prod(self._sizes) > MOST_INTERFACE_STATES:
            raise TooLargeError(
                f"the nodes that the next slice depends on ({', '.join(self.interface)}) have "
                f"{math.prod(self._sizes):,} joint states; {MOST_INTERFACE_STATES:,} are allowed",
                fix="let fewer nodes point to the next slice, or use network.unrolled(n_steps)",
            )

    def _check_slices(self) -> None:
        names = [node.name for node in self._later]
        if sorted(names) != sorted(self.names):
            odd = sorted({*names} ^ {*self.names})[:3] or names
            raise NetworkError(f"the slices have different nodes: {', '.join(odd)}", fix="name the same nodes in both")
        for node in self._later:
            if node.states.labels != self.first.states(node.name):
                raise NetworkError(f"{node.name!r} has other states in later slices", fix="give it the same states")
            for parent in node.parents:
                known = [*self.names, *map(before, self.names)]
                refuse_unknown(parent, known, f"{node.name!r} has the unknown parent", NetworkError)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.names)} nodes, interface: {', '.join(self.interface) or 'none'})"

    # -- slices as networks -------------------------------------------------------------------------------------
    @cached_property
    def _first_step(self) -> BeliefNetwork:
        return BeliefNetwork([*(self.first.node(name) for name in self.names), self._next_node()])

    @cached_property
    def _later_step(self) -> BeliefNetwork:
        """The previous interface as one node, its parts, a slice, and the next interface as one node."""
        n_states = math.prod(self._sizes)
        nodes = [Node(INTERFACE, range(n_states), np.full((1, n_states), 1.0 / n_states))]
        codes = np.indices(self._sizes).reshape(len(self._sizes), -1)
        for part, name in zip(codes, self.interface, strict=True):
            states = self.first.states(name)
            nodes.append(Node(before(name), states, np.eye(len(states))[part], [INTERFACE]))
        return BeliefNetwork([*nodes, *self._later, self._next_node()])

    def _next_node(self) -> Node:
        n_states = math.prod(self._sizes)
        return Node(NEXT, range(n_states), np.eye(n_states), self.interface)

    def unrolled(self, n_steps: int) -> BeliefNetwork:
        """An ordinary network of `n_steps` slices; its nodes are called rain[0], rain[1], ..."""
        whole_number(n_steps, "n_steps")

        def placed(parent: str, step: int) -> str:
            return f"{parent.removesuffix(BEFORE)}[{step - 1 if parent.endswith(BEFORE) else step}]"

        nodes = []
        for step in range(n_steps):
            for node in map(self.first.node, self.names) if step == 0 else self._later:
                parents = [placed(parent, step) for parent in node.parents]
                nodes.append(Node(f"{node.name}[{step}]", node.states, node.table, parents))
        return BeliefNetwork(nodes, name=self.name)

    # -- queries ------------------------------------------------------------------------------------------------
    def filtered(self, evidence: Iterable[Mapping[str, Any]]) -> Iterator[StepBelief]:
        """P(node at t | evidence up to t) for each step; steps are read one at a time and not kept."""
        for step, found, _, log_evidence in self._forward(evidence):
            yield StepBelief(step, self._marginals(step, found), log_evidence)

    def predicted(self, evidence: Steps, n_steps: int) -> list[StepBelief]:
        """P(node | all evidence) for the steps after the last one."""
        seen, n_steps = steps_of(evidence), whole_number(n_steps, "n_steps", 0)
        return list(self.filtered([*seen, *({} for _ in range(n_steps))]))[len(seen) :]

    def smoothed(self, evidence: Steps) -> list[StepBelief]:
        """P(node at t | evidence of all steps) for each step: forward, then backward."""
        forward = list(self._forward(evidence))
        total = forward[-1][3] if forward else 0.0
        answers: list[StepBelief] = []
        from_later = np.ones(math.prod(self._sizes))
        for step, found, _, _ in reversed(forward):
            network = self._first_step if step == 0 else self._later_step
            both = Finding(found.states, {**found.likelihoods, network.place(NEXT): from_later}, 0.0)
            answers.append(StepBelief(step, self._marginals(step, both), total))
            if step:
                place = network.place(INTERFACE)
                likelihoods = {each: given for each, given in both.likelihoods.items() if each != place}
                from_later, _ = self._posterior(network, place, Finding(found.states, likelihoods, 0.0))
                from_later = from_later / from_later.max()
        return answers[::-1]

    def log_evidence(self, evidence: Iterable[Mapping[str, Any]]) -> float:
        """log P(evidence of all steps)."""
        log_evidence = 0.0
        for _, _, _, log_evidence in self._forward(evidence):  # noqa: B007 the last one is the answer
            pass
        return log_evidence

    def most_probable(self, evidence: Steps) -> list[dict[str, Label]]:
        """The most probable states of all nodes at all steps together (for one hidden node: Viterbi's path)."""
        seen = steps_of(evidence)
        if not seen:
            return []
        found = self.unrolled(len(seen)).most_probable(
            {f"{self._known(name)}[{step}]": state for step, given in enumerate(seen) for name, state in given.items()}
        )
        return [{name: found.states[f"{name}[{step}]"] for name in self.names} for step in range(len(seen))]

    def sample(self, n_sequences: int, n_steps: int, seed: int = 0) -> dict[str, list[Any]]:
        """Sequences drawn from the network, in long format: columns sequence, time and the nodes."""
        whole_number(n_sequences, "n_sequences", 0)
        drawn = self.unrolled(n_steps).sample(n_sequences, seed=seed)
        table: dict[str, list[Any]] = {
            "sequence": [k for k in range(n_sequences) for _ in range(n_steps)],
            "time": list(range(n_steps)) * n_sequences,
        }
        for name in self.names:
            columns = [drawn[f"{name}[{step}]"] for step in range(n_steps)]
            table[name] = [column[k] for k in range(n_sequences) for column in columns]
        return table

    # -- steps --------------------------------------------------------------------------------------------------
    def _forward(self, evidence: Iterable[Mapping[str, Any]]) -> Iterator[tuple[int, Finding, FloatArray, float]]:
        """For each step: its evidence by position, the posterior of the next interface, and log P(evidence so far)."""
        belief, log_evidence = np.ones(1), 0.0
        for step, given in enumerate(_each_step(evidence)):
            network = self._first_step if step == 0 else self._later_step
            states = {network.place(self._known(name)): network.code(name, state) for name, state in given.items()}
            likelihoods: dict[int, FloatArray] = {}
            if step:
                top = float(belief.max())
                likelihoods[network.place(INTERFACE)] = belief / top
                log_evidence += math.log(len(belief)) + math.log(top)  # the interface was uniform
            finding = Finding(dict(sorted(states.items())), likelihoods, 0.0)
            belief, log_step = self._posterior(network, network.place(NEXT), finding)
            if log_step == -math.inf:
                raise ImpossibleEvidenceError(
                    f"the evidence of step {step} is impossible given that of earlier steps", fix="correct that step"
                )
            log_evidence += log_step
            yield step, finding, belief, log_evidence

    def _known(self, name: str) -> str:
        return self.names[self.first.place(name)]

    @staticmethod
    def _posterior(network: BeliefNetwork, target: int, finding: Finding) -> tuple[FloatArray, float]:
        tree = network.engine.tree([target], finding)
        cells, log_evidence = tree.posterior(finding.codes(len(network)), finding.pairs())
        return cells, float(log_evidence)

    def _marginals(self, step: int, found: Finding) -> dict[str, Distribution]:
        network = self._first_step if step == 0 else self._later_step
        marginals = network.engine.marginals_given(found)
        return {name: marginals[name] for name in self.names}

    # -- learning -----------------------------------------------------------------------------------------------
    if TYPE_CHECKING:
        learn = staticmethod(_learn)
    else:
        learn = LateFunction("bayeswise.networks.learning.slices", "learn")


def _nodes(nodes: Iterable[Node]) -> list[Node]:
    """The nodes of later slices, which are a network only together with those of the previous slice."""
    given = names_of(nodes)
    for node in given:
        if not isinstance(node, Node):
            raise NetworkError(f"a slice is made of nodes; found {node!r:.80}", fix="write Node(name, states, table)")
    return given


def _each_step(evidence: Any) -> Iterator[Mapping[str, Any]]:
    """Steps as they come, each checked when it is read."""
    if isinstance(evidence, str | Mapping) or not isinstance(evidence, Iterable):
        raise ParameterError(f"the steps are {evidence!r:.80}", fix="give a list with {node: state} for each step")
    for step, given in enumerate(evidence):
        if not isinstance(given, Mapping):
            raise ParameterError(f"step {step} is {given!r:.80}", fix="give {node: state} for each step, or {}")
        yield given


def steps_of(evidence: Any) -> list[Mapping[str, Any]]:
    """All steps of a sequence."""
    return list(_each_step(evidence))
