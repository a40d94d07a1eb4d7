"""Networks changed on the Network page: edits that are tried and saved, and graphs that are learned from a table."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter
from pydantic import Field

from bayeswise.foundation.errors import NetworkError, ParameterError
from bayeswise.networks.network import BeliefNetwork
from bayeswise.networks.node import Node
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.messages import FLAG, PROBLEMS, Code, FileName, Message, Name, SameAs, call, python, shell
from bayeswise.workbench.pages.jobs import JobView
from bayeswise.workbench.pages.network import (
    NetworkView,
    Share,
    TableView,
    network_of,
    network_view,
    state_of,
    table_view,
)
from bayeswise.workbench.workspace import kind_of, version_of

EdgeName = tuple[Name, Name]


class Edit(Message):
    """One change of a network; `name` is the new name of a node or a state."""

    change: Literal[
        "add-edge",
        "remove-edge",
        "set-table",
        "add-node",
        "remove-node",
        "rename-node",
        "add-state",
        "remove-state",
        "rename-state",
    ]
    node: Name
    parent: Name | None = None
    rows: Annotated[list[list[Share]], Field(max_length=100_000)] | None = None
    states: Annotated[list[Name], Field(max_length=1_000)] | None = None
    state: Name | None = None
    name: Name | None = None
    normalise: bool = False


class EditRequest(Message):
    """Changes of a network, in their order, and where they are written; without `output` they are only tried.

    Without `network` they begin with a network that has no node. `table` is a node whose table is shown.
    """

    network: FileName | None
    edits: Annotated[list[Edit], Field(max_length=1_000)] = Field(default_factory=list)
    table: Name | None = None
    output: FileName | None = None
    version: str | None = None


class EditedView(Message):
    """A network after its changes, and the table of one of its nodes."""

    graph: NetworkView
    table: TableView | None


class LearnRequest(Message):
    """A table, and what is known about the edges."""

    table: FileName
    output: FileName
    version: str | None = None
    method: Literal["auto", "hill-climbing", "exact", "chow-liu", "pc", "miic"] = "auto"
    score: Literal["bic", "aic", "mdl", "bdeu", "k2"] = "bic"
    require: Annotated[list[EdgeName], Field(max_length=1_000)] = Field(default_factory=list)
    forbid: Annotated[list[EdgeName], Field(max_length=1_000)] = Field(default_factory=list)
    ignore: Annotated[list[Name], Field(max_length=10_000)] = Field(default_factory=list)
    missing: Literal["error", "drop", "em"] = "error"
    max_parents: Annotated[int, Field(ge=0, le=20)] | None = None
    strengths: bool = True
    resamples: Annotated[int, Field(ge=0, le=1_000)] = 0


def routes(bench: Bench) -> APIRouter:
    """POST /api/network/edit and /api/network/learn."""
    router = APIRouter(prefix="/api/network", tags=["network"], responses=PROBLEMS)

    @router.post("/edit")
    def edit(request: EditRequest) -> EditedView:
        """Change a network: a cycle, an unknown name or a row that does not sum to 1 is an error that names it."""
        before = BeliefNetwork([]) if request.network is None else network_of(bench, request.network)
        network = edited(before, request.edits)
        if request.output is not None:
            _check_suffix(request.output)
            with bench.workspace.replacing(request.output, request.version) as path:
                network.write(path)
        name = request.output or request.network
        version = "" if name is None else version_of(bench.workspace.file(name))
        graph = network_view(network, name or "network.bif", version)
        table = None if request.table is None else table_view(network, request.table)
        return EditedView(graph=graph.model_copy(update={"same_as": _same_edits(request)}), table=table)

    @router.post("/learn", status_code=202)
    def learn(request: LearnRequest) -> JobView:
        """Learn a network from a table in the background."""
        bench.workspace.file(request.table)
        _check_suffix(request.output)
        words = "network", "learn", request.table
        chosen = _learn_options(request)
        return JobView.of(bench.jobs.start(*words, options=chosen, output=request.output, version=request.version))

    @router.post("/learn/same_as")
    def learn_same_as(request: LearnRequest) -> SameAs:
        """The same learning on the command line and in Python."""
        learning = call(
            "bw.BeliefNetwork.learn",
            request.table,
            method=None if request.method == "auto" else request.method,
            score=None if request.score == "bic" else request.score,
            required=list(request.require),
            forbidden=list(request.forbid),
            ignore=list(request.ignore),
            missing=None if request.missing == "error" else request.missing,
            max_parents=request.max_parents,
        )
        return SameAs(
            shell=shell(
                "network", "learn", request.table, options={**_learn_options(request), "--output": request.output}
            ),
            python=python(f"network = {learning}", f"network.write({request.output!r})"),
        )

    return router


def edited(network: BeliefNetwork, edits: list[Edit]) -> BeliefNetwork:
    """The network after some changes."""
    for edit in edits:
        network = _changed(network, edit)
    return network


def _changed(network: BeliefNetwork, edit: Edit) -> BeliefNetwork:
    match edit.change:
        case "add-edge":
            return network.edit.add_edge(_needed(edit.parent, "parent"), edit.node)
        case "remove-edge":
            return network.edit.remove_edge(_needed(edit.parent, "parent"), edit.node)
        case "add-node":
            states = edit.states or ["no", "yes"]
            return network.edit.add_node(Node(edit.node, states, [1.0 / len(states)] * len(states)))
        case "remove-node":
            return network.edit.remove_node(edit.node)
        case "rename-node":
            return network.edit.rename_node(edit.node, _needed(edit.name, "name"))
        case "add-state":
            return network.edit.add_state(edit.node, _needed(edit.name, "name"))
        case "remove-state":
            return network.edit.remove_state(edit.node, state_of(network, edit.node, _needed(edit.state, "state")))
        case "rename-state":
            state = state_of(network, edit.node, _needed(edit.state, "state"))
            return network.edit.rename_states(edit.node, {state: _needed(edit.name, "name")})
        case "set-table":
            return network.changed({edit.node: _rows(network, edit)})


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


def _same_edits(request: EditRequest) -> SameAs:
    """The edits in Python; the command line shows what was saved."""
    first = "bw.BeliefNetwork([])" if request.network is None else call("bw.BeliefNetwork.read", request.network)
    output = request.output or request.network or "network.bif"
    lines = ["from bayeswise.networks import Node"] if any(edit.change == "add-node" for edit in request.edits) else []
    lines += [f"network = {first}", *(f"network = {_edit_in_python(edit)}" for edit in request.edits)]
    if not request.edits:
        return SameAs(shell=shell("network", "show", output), python=python(*lines, "print(network)"))
    shown = f"# what Python has written, or this page has saved:\n{shell('network', 'show', output)}"
    return SameAs(shell=shown, python=python(*lines, f"network.write({output!r})"))


def _edit_in_python(edit: Edit) -> str:
    if edit.change == "set-table":
        rows = edit.rows or []
        if edit.normalise:
            rows = [[value / sum(row) for value in row] for row in rows]
        return call("network.changed", {edit.node: rows})
    states = edit.states or ["no", "yes"]
    given: dict[str, tuple[Any, ...]] = {
        "add-edge": (edit.parent, edit.node),
        "remove-edge": (edit.parent, edit.node),
        "add-node": (Code(f"Node({edit.node!r}, {states!r}, {[1.0 / len(states)] * len(states)!r})"),),
        "remove-node": (edit.node,),
        "rename-node": (edit.node, edit.name),
        "add-state": (edit.node, edit.name),
        "remove-state": (edit.node, edit.state),
        "rename-state": (edit.node, {edit.state: edit.name}),
    }
    method = "rename_states" if edit.change == "rename-state" else edit.change.replace("-", "_")
    return call(f"network.edit.{method}", *given[edit.change])


def _learn_options(request: LearnRequest) -> dict[str, Any]:
    return {
        "--method": None if request.method == "auto" else request.method,
        "--score": None if request.score == "bic" else request.score,
        "--require": [f"{parent} -> {child}" for parent, child in request.require],
        "--forbid": [f"{parent} -> {child}" for parent, child in request.forbid],
        "--ignore": request.ignore,
        "--missing": None if request.missing == "error" else request.missing,
        "--max-parents": None if request.max_parents is None else str(request.max_parents),
        "--strengths": [FLAG] if request.strengths or request.resamples else None,
        "--resamples": str(request.resamples) if request.resamples else None,
    }


def _check_suffix(output: str) -> None:
    if kind_of(output) != "network":
        raise ParameterError(f"{output!r} is not a network file", fix="end its name in .bif, .net or .xdsl")


def _needed(value: str | None, what: str) -> str:
    if value is None:
        raise ParameterError(f"the change needs a {what}", fix=f"send {what}")
    return value
