"""The Network page: beliefs under evidence, why, what to observe next, edits that are checked, and learning."""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query
from pydantic import Field

from bayeswise.foundation.errors import NetworkError, ParameterError, TooLargeError
from bayeswise.networks.network import BeliefNetwork
from bayeswise.networks.node import Node
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.messages import PROBLEMS, FileName, Name, Said, SameAs, arguments, call, python, shell
from bayeswise.workbench.pages.jobs import JobView
from bayeswise.workbench.workspace import kind_of, version_of

Share = Annotated[float, Field(ge=0, le=1e300, allow_inf_nan=False)]
Findings = Annotated[dict[Name, str], Field(max_length=10_000)]
Likelihoods = Annotated[dict[Name, dict[str, Share]], Field(max_length=10_000)]
_MOST_NODES = 2_000
_MOST_TABLE_ROWS = 4_096


class NodeView(Said):
    """A node, its states and its parents."""

    name: str
    states: list[str]
    parents: list[str]
    table_rows: int


class NetworkView(Said):
    """The graph of a network; `influence` is how much each edge matters, from 0 to 1."""

    network: str
    version: str
    nodes: list[NodeView]
    edges: list[tuple[str, str]]
    influence: list[float]
    parameters: int
    notes: list[str]
    same_as: SameAs


class TableView(Said):
    """The table of a node: a row of probabilities for each configuration of its parents."""

    node: str
    states: list[str]
    parents: list[str]
    configurations: list[list[str]]
    rows: list[list[float]]


class Question(Said):
    """What is observed: states, states that are excluded, and likelihoods of states."""

    network: FileName
    evidence: Findings = Field(default_factory=dict)
    excluded: Annotated[dict[Name, list[str]], Field(max_length=10_000)] = Field(default_factory=dict)
    soft: Likelihoods = Field(default_factory=dict)
    target: Name | None = None
    state: str | None = None


class BeliefsView(Said):
    """The belief in each state of each node, and what a target has to do with the others.

    separated    nodes that say nothing about the target, given what is observed
    worth        bits that observing each node would tell about the target
    findings     how much each finding speaks for the state of the target: alone, and beside the others
    """

    beliefs: dict[str, list[float]]
    probability: float
    log_evidence: float | None
    separated: list[str]
    worth: dict[str, float]
    findings: list[dict[str, Any]]
    most_probable: dict[str, str]
    same_as: SameAs


class Edit(Said):
    """One change of a network."""

    change: Literal["add-edge", "remove-edge", "set-table", "add-node", "remove-node", "rename-node"]
    node: Name
    parent: Name | None = None
    rows: Annotated[list[list[Share]], Field(max_length=100_000)] | None = None
    states: Annotated[list[Name], Field(max_length=1_000)] | None = None
    name: Name | None = None
    normalise: bool = False


class EditRequest(Said):
    """Changes of a network, in their order, and where they are written; without `output` they are only tried."""

    network: FileName
    edits: Annotated[list[Edit], Field(max_length=1_000)] = Field(default_factory=list)
    output: FileName | None = None
    version: str | None = None


class LearnRequest(Said):
    """A table, and what is known about the edges."""

    table: FileName
    output: FileName
    version: str | None = None
    method: Literal["auto", "hill-climbing", "exact", "chow-liu"] = "auto"
    score: Literal["bic", "aic", "mdl", "bdeu", "k2"] = "bic"
    require: Annotated[list[tuple[Name, Name]], Field(max_length=1_000)] = Field(default_factory=list)
    forbid: Annotated[list[tuple[Name, Name]], Field(max_length=1_000)] = Field(default_factory=list)
    ignore: Annotated[list[Name], Field(max_length=10_000)] = Field(default_factory=list)
    strengths: bool = True


def routes(bench: Bench) -> APIRouter:
    """GET /api/network and its table; POST query, edit and learn."""
    router = APIRouter(prefix="/api/network", tags=["network"], responses=PROBLEMS)

    @router.get("")
    def network(network: Annotated[FileName, Query()]) -> NetworkView:
        """The graph of a network."""
        return network_view(network_of(bench, network), network, version_of(bench.workspace.file(network)))

    @router.get("/table")
    def table(network: Annotated[FileName, Query()], node: Annotated[Name, Query()]) -> TableView:
        """The table of a node."""
        return table_view(network_of(bench, network), node)

    @router.post("/query")
    def query(asked: Question) -> BeliefsView:
        """The beliefs in all nodes, given what is observed."""
        return beliefs_view(network_of(bench, asked.network), asked)

    @router.post("/edit")
    def edit(asked: EditRequest) -> NetworkView:
        """Change a network: a cycle, an unknown name or a row that does not sum to 1 is an error that says where."""
        found = edited(network_of(bench, asked.network), asked.edits)
        if asked.output is None:
            return network_view(found, asked.network, version_of(bench.workspace.file(asked.network)))
        if kind_of(asked.output) != "network":
            raise ParameterError(f"{asked.output!r} is not a network file", fix="end its name in .bif, .net or .xdsl")
        with bench.workspace.replacing(asked.output, asked.version) as path:
            found.write(path)
        return network_view(found, asked.output, version_of(bench.workspace.file(asked.output)))

    @router.post("/learn", status_code=202)
    def learn(asked: LearnRequest) -> JobView:
        """Learn a network from a table in the background."""
        bench.workspace.file(asked.table)
        if kind_of(asked.output) != "network":
            raise ParameterError(f"{asked.output!r} is not a network file", fix="end its name in .bif, .net or .xdsl")
        chosen: dict[str, Any] = {
            "--method": asked.method,
            "--score": asked.score,
            "--require": [f"{parent} -> {child}" for parent, child in asked.require],
            "--forbid": [f"{parent} -> {child}" for parent, child in asked.forbid],
            "--ignore": asked.ignore,
        }
        flags = ["--strengths"] if asked.strengths else []

        def command(output: str | None) -> list[str]:
            words = arguments("learn", asked.table, options={**chosen, "--output": output})
            return ["network", *words, *flags, "--json"]

        return JobView.of(bench.jobs.start(command, output=asked.output, version=asked.version))

    return router


def network_of(bench: Bench, name: str) -> BeliefNetwork:
    """The network in a file, read once as long as the file stays as it is."""
    path = bench.workspace.file(name)
    found = bench.workspace.remembered(path, "network", lambda: BeliefNetwork.read(path))
    if len(found) > _MOST_NODES:
        what = f"{name!r} has {len(found):,} nodes; the page shows up to {_MOST_NODES:,}"
        raise TooLargeError(what, fix="use `bayeswise network`, which has no limit")
    return found


def network_view(network: BeliefNetwork, name: str, version: str) -> NetworkView:
    """The graph of a network."""
    influences = network.influences() if len(network) <= 200 else {}
    return NetworkView(
        network=name,
        version=version,
        nodes=[
            NodeView(
                name=node,
                states=list(map(str, network.states(node))),
                parents=list(network.parents(node)),
                table_rows=math.prod(len(network.states(parent)) for parent in network.parents(node)),
            )
            for node in network
        ],
        edges=list(network.edges),
        influence=[float(influences.get(edge, 1.0)) for edge in network.edges],
        parameters=network.n_parameters,
        notes=list(network.notes),
        same_as=SameAs(
            shell=shell("network", "show", name), python=python(f"network = {call('bw.BeliefNetwork.read', name)}")
        ),
    )


def table_view(network: BeliefNetwork, node: str) -> TableView:
    """The rows of a table, with the states of the parents that each is about."""
    parents = network.parents(network.names[network.place(node)])
    table = np.asarray(network.table(node))
    if len(table) > _MOST_TABLE_ROWS:
        raise TooLargeError(f"the table of {node!r} has {len(table):,} rows", fix="look at it in Python")
    return TableView(
        node=node,
        states=list(map(str, network.states(node))),
        parents=list(parents),
        configurations=[list(map(str, each)) for each in itertools.product(*(network.states(p) for p in parents))],
        rows=table.tolist(),
    )


def beliefs_view(network: BeliefNetwork, asked: Question) -> BeliefsView:
    """All beliefs, and about a target what else there is to know."""
    evidence, soft = findings_of(network, asked)
    marginals = network.marginals(evidence, soft=soft or None)
    beliefs = {name: [float(p) for p in marginals[name].probability.ravel()] for name in marginals}
    for name, state in evidence.items():
        beliefs.setdefault(name, [float(each == state) for each in network.states(name)])
    log_evidence = network.log_evidence(evidence, soft=soft or None)
    separated: list[str] = []
    worth: dict[str, float] = {}
    findings: list[dict[str, Any]] = []
    if asked.target is not None and asked.target not in evidence:
        given = list(evidence)
        others = [name for name in network if name != asked.target and name not in evidence]
        separated = [name for name in others if network.d_separated(asked.target, name, given)]
        worth = network.mutual_information(asked.target, evidence, soft=soft or None)
        if evidence or soft:
            state = None if asked.state is None else state_of(network, asked.target, asked.state)
            findings = network.explain(asked.target, evidence, state=state, soft=soft or None).to_dict()["findings"]
    best = network.most_probable(evidence, soft=soft or None)
    return BeliefsView(
        beliefs=beliefs,
        probability=float(np.exp(log_evidence)),
        log_evidence=log_evidence,
        separated=separated,
        worth=worth,
        findings=findings,
        most_probable={name: str(state) for name, state in best.states.items()},
        same_as=_same(asked, evidence, soft),
    )


def findings_of(network: BeliefNetwork, asked: Question) -> tuple[dict[str, Any], dict[str, dict[Any, float]]]:
    """Evidence and likelihoods with the labels of the network; an excluded state has likelihood 0."""
    evidence = {name: state_of(network, name, state) for name, state in asked.evidence.items()}
    soft = {
        name: {state_of(network, name, state): share for state, share in shares.items()}
        for name, shares in asked.soft.items()
        if name not in evidence
    }
    for name, states in asked.excluded.items():
        if name in evidence or not states:
            continue
        out = {state_of(network, name, state) for state in states}
        before = soft.get(name, {})
        soft[name] = {state: 0.0 if state in out else before.get(state, 1.0) for state in network.states(name)}
    return evidence, soft


def state_of(network: BeliefNetwork, name: str, text: str) -> Any:
    """The state of a node that is written like this."""
    states = network.states(network.names[network.place(name)])
    by_text = {str(state): state for state in states}
    return states[network.code(name, by_text.get(text, text))]


def _same(asked: Question, evidence: dict[str, Any], soft: dict[str, dict[Any, float]]) -> SameAs:
    nodes = [asked.target] if asked.target is not None else []
    options: dict[str, Any] = {
        "--given": [f"{name}={state}" for name, state in evidence.items()],
        "--soft": [f"{name}:{state}={share:g}" for name, each in soft.items() for state, share in each.items()],
    }
    asking = f"network.query({asked.target!r}, {evidence!r}" if nodes else f"network.marginals({evidence!r}"
    return SameAs(
        shell=shell("network", "query", asked.network, *nodes, options=options),
        python=python(
            f"network = {call('bw.BeliefNetwork.read', asked.network)}",
            asking + (f", soft={soft!r})" if soft else ")"),
        ),
    )


def edited(network: BeliefNetwork, edits: list[Edit]) -> BeliefNetwork:
    """The network after some changes."""
    for edit in edits:
        if edit.change == "add-edge":
            network = network.edit.add_edge(_needed(edit.parent, "parent"), edit.node)
        elif edit.change == "remove-edge":
            network = network.edit.remove_edge(_needed(edit.parent, "parent"), edit.node)
        elif edit.change == "remove-node":
            network = network.edit.remove_node(edit.node)
        elif edit.change == "rename-node":
            network = network.edit.rename_node(edit.node, _needed(edit.name, "name"))
        elif edit.change == "add-node":
            states = edit.states or ["no", "yes"]
            network = network.edit.add_node(Node(edit.node, states, [1.0 / len(states)] * len(states)))
        else:
            network = network.changed({edit.node: _rows(network, edit)})
    return network


def _rows(network: BeliefNetwork, edit: Edit) -> Any:
    if edit.rows is None:
        raise ParameterError("set-table needs rows", fix="send a row for each configuration of the parents")
    shape = np.asarray(network.table(edit.node)).shape
    if len(edit.rows) != shape[0] or any(len(row) != shape[1] for row in edit.rows):
        raise NetworkError(
            f"the table of {edit.node!r} has {shape[0]} rows of {shape[1]} numbers", fix="send as many as it has"
        )
    rows = np.asarray(edit.rows, dtype=np.float64)
    if edit.normalise:
        total = rows.sum(axis=1, keepdims=True)
        if (total <= 0).any() or not np.isfinite(total).all():
            raise NetworkError(f"a row of {edit.node!r} sums to 0", fix="give one of its states a number above 0")
        rows = rows / total
    return rows.tolist() if network.parents(edit.node) else rows[0].tolist()


def _needed(value: str | None, what: str) -> str:
    if value is None:
        raise ParameterError(f"the change needs a {what}", fix=f"send {what}")
    return value
