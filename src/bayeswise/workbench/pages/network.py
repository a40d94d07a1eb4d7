"""The Network page: beliefs under evidence and interventions, reasons for them, and what to observe next."""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from pydantic import Field

from bayeswise.foundation.errors import TooLargeError
from bayeswise.networks.network import BeliefNetwork
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.messages import PROBLEMS, FileName, Message, Name, SameAs, call, python, shell
from bayeswise.workbench.workspace import version_of

Share = Annotated[float, Field(ge=0, le=1e300, allow_inf_nan=False)]
"""A probability or a likelihood."""

Findings = Annotated[dict[Name, str], Field(max_length=10_000)]
Likelihoods = Annotated[dict[Name, dict[str, Share]], Field(max_length=10_000)]
_MOST_NODES = 2_000
_MOST_TABLE_ROWS = 4_096
_MOST_PATHS = 12
_MOST_IN_CONFLICT = 30  # findings; each is left out once


class NodeView(Message):
    """A node, its states and its parents."""

    name: str
    states: list[str]
    parents: list[str]
    table_rows: int


class NetworkView(Message):
    """The graph of a network; `influence` is how much each edge matters, from 0 to 1."""

    network: str
    version: str
    nodes: list[NodeView]
    edges: list[tuple[str, str]]
    influence: list[float]
    parameters: int
    notes: list[str]
    same_as: SameAs


class TableView(Message):
    """The table of a node: a row of probabilities for each configuration of its parents."""

    node: str
    states: list[str]
    parents: list[str]
    configurations: list[list[str]]
    rows: list[list[float]]


class Question(Message):
    """What is observed: states, states that are excluded, and likelihoods of states; `do` is set from outside."""

    network: FileName
    evidence: Findings = Field(default_factory=dict)
    excluded: Annotated[dict[Name, list[str]], Field(max_length=10_000)] = Field(default_factory=dict)
    soft: Likelihoods = Field(default_factory=dict)
    do: Findings = Field(default_factory=dict)
    target: Name | None = None
    state: str | None = None


class FindingView(Message):
    """The weight of a finding for a state of the target, as the change of its log-odds; null where it was certain.

    An infinite change, of a finding that settles the matter, is the text "inf" or "-inf".
    """

    node: str
    value: str | dict[str, float]
    alone: float | str | None
    beside: float | str | None
    relevant: bool


class PathView(Message):
    """Nodes from a finding to the target, and the bits that pass at most."""

    finding: str
    nodes: list[str]
    bits: float


class StateView(Message):
    """A state of a node, and the bits of conflict that are left with it."""

    node: str
    state: str
    bits: float


class ConflictView(Message):
    """log2 prod P(finding) / P(all findings): above 0 they conflict, unless a state explains them."""

    bits: float
    explained_by: list[StateView]


class BeliefsView(Message):
    """The belief in each state of each node, and how a target relates to the others.

    separated    nodes that are independent of the target, given what is observed
    worth        mutual information of each node and the target, in bits
    findings     the weight of each finding for `state` of the target: alone, and beside the others
    paths        by which paths they do
    explained_as the shell command that explains it, where there are findings
    """

    beliefs: dict[str, list[float]]
    probability: float
    log_evidence: float | None
    separated: list[str]
    worth: dict[str, float]
    state: str | None
    findings: list[FindingView]
    paths: list[PathView]
    conflict: ConflictView | None
    explained_as: str | None
    most_probable: dict[str, str]
    same_as: SameAs


class EffectView(Message):
    """P(effect | do(cause)) beside P(effect | cause), for each state of the cause; null if that never happens."""

    cause: str
    effect: str
    states: list[str]
    causes: list[str]
    done: list[list[float]]
    seen: list[list[float | None]]
    adjusted_by: list[str] | None
    through: list[str] | None
    same_as: SameAs


def routes(bench: Bench) -> APIRouter:
    """GET /api/network, its tables and effects; POST /api/network/query."""
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
    def query(request: Question) -> BeliefsView:
        """The beliefs in all nodes, given what is observed."""
        return beliefs_view(network_of(bench, request.network), request)

    @router.get("/effect")
    def effect(
        network: Annotated[FileName, Query()], cause: Annotated[Name, Query()], effect: Annotated[Name, Query()]
    ) -> EffectView:
        """What setting one node does to another, the edges taken for causes."""
        return effect_view(network_of(bench, network), network, cause, effect)

    return router


def network_of(bench: Bench, name: str) -> BeliefNetwork:
    """The network in a file, read once as long as the file stays as it is."""
    path = bench.workspace.file(name)
    network = bench.workspace.remembered(path, "network", lambda: BeliefNetwork.read(path))
    if len(network) > _MOST_NODES:
        what = f"{name!r} has {len(network):,} nodes; the page shows up to {_MOST_NODES:,}"
        raise TooLargeError(what, fix="use `bayeswise network`, which has no limit")
    return network


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


def beliefs_view(network: BeliefNetwork, request: Question) -> BeliefsView:
    """All beliefs, and for a target its separated nodes, values of information and findings."""
    actions = {name: state_of(network, name, state) for name, state in request.do.items()}
    network = network.do(actions) if actions else network
    evidence, soft = findings_of(network, request)
    marginals = network.marginals(evidence, soft=soft or None)
    beliefs = {name: [float(p) for p in marginals[name].probability.ravel()] for name in marginals}
    for name, state in evidence.items():
        beliefs.setdefault(name, [float(each == state) for each in network.states(name)])
    log_evidence = network.log_evidence(evidence, soft=soft or None)
    best = network.most_probable(evidence, soft=soft or None)
    about: dict[str, Any] = {"separated": [], "worth": {}, "state": None, "findings": [], "paths": []}
    if request.target is not None and request.target not in evidence:
        about.update(_about_target(network, request.target, request.state, evidence, soft))
    return BeliefsView(
        beliefs=beliefs,
        probability=float(np.exp(log_evidence)),
        log_evidence=log_evidence,
        **about,
        conflict=_conflict(network, evidence),
        explained_as=_explained_as(request, soft) if about["findings"] and not actions else None,
        most_probable={name: str(state) for name, state in best.states.items()},
        same_as=_same(request, actions, evidence, soft),
    )


def _about_target(
    network: BeliefNetwork, target: str, text: str | None, evidence: dict[str, Any], soft: dict[str, dict[Any, float]]
) -> dict[str, Any]:
    """Nodes separated from a target, the mutual information of the others, and the weights of the findings."""
    joined = {target, *evidence, *network.d_connected(target, evidence, soft=soft)}
    about: dict[str, Any] = {
        "separated": [name for name in network if name not in joined],
        "worth": network.mutual_information(target, evidence, soft=soft or None),
    }
    if not evidence and not soft:
        return about
    state = None if text is None else state_of(network, target, text)
    account = network.explain(target, evidence, state=state, soft=soft or None)
    findings = account.to_dict()["findings"]
    for each in findings:
        each["value"] = each["value"] if isinstance(each["value"], dict) else str(each["value"])
    paths = [PathView.model_validate(path) for path in account.paths(_MOST_PATHS)]
    return about | {"state": str(account.state), "findings": [FindingView(**each) for each in findings], "paths": paths}


def _conflict(network: BeliefNetwork, evidence: dict[str, Any]) -> ConflictView | None:
    if not 2 <= len(evidence) <= _MOST_IN_CONFLICT:
        return None
    conflict = network.conflict(evidence)
    explanations = [
        StateView(node=name, state=str(state), bits=bits) for name, state, bits in conflict.explained_by[:3]
    ]
    return ConflictView(bits=conflict.bits, explained_by=explanations)


def effect_view(network: BeliefNetwork, name: str, cause: str, effect: str) -> EffectView:
    """The effect of each state of the cause."""
    causal = network.causal_effect(cause, effect)
    states = network.states(effect)
    return EffectView(
        cause=cause,
        effect=effect,
        states=list(map(str, states)),
        causes=list(map(str, causal.done)),
        done=[[float(row[state]) for state in states] for row in causal.done.values()],
        seen=[
            [None if np.isnan(row[state]) else float(row[state]) for state in states] for row in causal.seen.values()
        ],
        adjusted_by=None if causal.adjusted_by is None else list(causal.adjusted_by),
        through=None if causal.through is None else list(causal.through),
        same_as=SameAs(
            shell=shell("network", "effect", name, cause, effect),
            python=python(
                f"network = {call('bw.BeliefNetwork.read', name)}",
                f"print(network.causal_effect({cause!r}, {effect!r}))",
            ),
        ),
    )


def findings_of(network: BeliefNetwork, request: Question) -> tuple[dict[str, Any], dict[str, dict[Any, float]]]:
    """Evidence and likelihoods with the labels of the network; an excluded state has likelihood 0."""
    evidence = {name: state_of(network, name, state) for name, state in request.evidence.items()}
    soft = {
        name: {state_of(network, name, state): share for state, share in shares.items()}
        for name, shares in request.soft.items()
        if name not in evidence
    }
    for name, states in request.excluded.items():
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


def _same(
    request: Question, actions: dict[str, Any], evidence: dict[str, Any], soft: dict[str, dict[Any, float]]
) -> SameAs:
    nodes = [request.target] if request.target is not None else []
    setting = [f"{name}={state}" for name, state in actions.items()]
    query = f"network.query({request.target!r}, {evidence!r}" if nodes else f"network.marginals({evidence!r}"
    return SameAs(
        shell=shell(
            "network", "query", request.network, *nodes, options={"--do": setting, **_typed_findings(evidence, soft)}
        ),
        python=python(
            f"network = {call('bw.BeliefNetwork.read', request.network)}",
            *([f"network = network.do({actions!r})"] if actions else []),
            query + (f", soft={soft!r})" if soft else ")"),
        ),
    )


def _explained_as(request: Question, soft: dict[str, dict[Any, float]]) -> str:
    options = {"--state": request.state, **_typed_findings(request.evidence, soft), "--paths": str(_MOST_PATHS)}
    return shell("network", "explain", request.network, str(request.target), options=options)


def _typed_findings(evidence: dict[str, Any], soft: dict[str, dict[Any, float]]) -> dict[str, list[str]]:
    return {
        "--given": [f"{name}={state}" for name, state in evidence.items()],
        "--soft": [f"{name}:{state}={share:g}" for name, each in soft.items() for state, share in each.items()],
    }
