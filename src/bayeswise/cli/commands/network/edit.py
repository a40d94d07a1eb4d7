"""`bayeswise network edit`: nodes, states and edges removed, renamed or added; `convert`: another format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.commands.network import NetworkFile, edge_from, network_from
from bayeswise.cli.options.command import AsJson
from bayeswise.cli.options.pairs import by_name
from bayeswise.cli.output.writing import check_output, json_document, saved, say
from bayeswise.foundation.errors import ParameterError, UsageError
from bayeswise.render.numbers import plural

if TYPE_CHECKING:
    from bayeswise.networks import BeliefNetwork


_EDGE = "'A -> B'"


def edit(
    file: NetworkFile,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Output file; the suffix chooses the format.")
    ],
    remove_edge: Annotated[
        list[str] | None,
        typer.Option(metavar=_EDGE, help="Remove an edge; the child is averaged over the parent."),
    ] = None,
    remove_node: Annotated[
        list[str] | None, typer.Option(metavar="NODE", help="Remove a node; its children are averaged over it.")
    ] = None,
    remove_state: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE=STATE ...", help="Remove a state; the others take over its probability."),
    ] = None,
    rename_node: Annotated[list[str] | None, typer.Option(metavar="NODE=NEW ...", help="Rename a node.")] = None,
    rename_state: Annotated[
        list[str] | None, typer.Option(metavar="NODE:STATE=NEW ...", help="Rename a state of a node.")
    ] = None,
    add_state: Annotated[
        list[str] | None, typer.Option(metavar="NODE=STATE ...", help="Add a state, of probability 0.")
    ] = None,
    add_node: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE=STATE,STATE ...", help="Add a node whose states are equally probable."),
    ] = None,
    add_edge: Annotated[
        list[str] | None,
        typer.Option(metavar=_EDGE, help="Add an edge; the child's table is repeated for each state of the parent."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Remove, rename and add nodes, states and edges of a network, in this order; tables are carried over.

    bayeswise network edit asia.bif -o new.bif --rename-node lung=cancer --remove-node xray

    bayeswise network edit asia.bif -o new.bif --add-node age=young,old --add-edge 'age -> smoke'
    """
    network = network_from(file)
    check_output(output, [file])
    before = network
    removed = _removed(network, remove_edge or [], remove_node or [], remove_state or [])
    renamed = _renamed(removed, rename_node or [], rename_state or [])
    network = _added(renamed, add_state or [], add_node or [], add_edge or [])
    if network is before:
        raise UsageError("no change is given", fix="add --rename-node NODE=NEW, --remove-edge 'A -> B', ...")
    losses = network.write(output)
    if as_json:
        print(json_document(_facts(network, output, losses)))
    for lost in losses:
        say(lost)
    say(f"{plural(len(network), 'node')}, {plural(len(network.edges), 'edge')}")
    say(saved(output, False))


def _removed(network: BeliefNetwork, edges: list[str], nodes: list[str], states: list[str]) -> BeliefNetwork:
    for text in edges:
        network = network.edit.remove_edge(*edge_from(text, network.names, "--remove-edge", "node"))
    for name in nodes:
        network = network.edit.remove_node(name)
    for name, state in _pairs(states, network, "--remove-state", "NODE=STATE"):
        network = network.edit.remove_state(name, state)
    return network


def _renamed(network: BeliefNetwork, nodes: list[str], states: list[str]) -> BeliefNetwork:
    for name, new in _pairs(nodes, network, "--rename-node", "NODE=NEW"):
        network = network.edit.rename_node(name, new)
    for text in states:
        node, state, new = _state(text, network)
        network = network.edit.rename_states(node, {network.states(node)[network.code(node, state)]: new})
    return network


def _state(text: str, network: BeliefNetwork) -> tuple[str, str, str]:
    """'wet:yes=soaked' -> ('wet', 'yes', 'soaked'); names may contain colons, states '='."""
    node = next((name for name in sorted(network.names, key=len, reverse=True) if text.startswith(f"{name}:")), None)
    if node is None or "=" not in text[len(node) :]:
        raise ParameterError(
            f"--rename-state {text} is not NODE:STATE=NEW", fix="write it as wet:yes=soaked, with a node of the network"
        )
    words = text[len(node) + 1 :]
    known = [str(state) for state in network.states(node)]
    ((state, new),) = by_name([words], known, "--rename-state", "NODE:STATE=NEW").items()
    return node, state, new


def _added(network: BeliefNetwork, states: list[str], nodes: list[str], edges: list[str]) -> BeliefNetwork:
    from bayeswise.networks import Node

    for name, state in _pairs(states, network, "--add-state", "NODE=STATE"):
        network = network.edit.add_state(name, state)
    for text in nodes:
        name, _, words = text.partition("=")
        labels = [word.strip() for word in words.split(",") if word.strip()]
        if not name or not labels:
            raise ParameterError(f"--add-node {text!r} names no states", fix="write it as --add-node age=young,old")
        network = network.edit.add_node(Node(name, labels, [1.0 / len(labels)] * len(labels)))
    for text in edges:
        network = network.edit.add_edge(*edge_from(text, network.names, "--add-edge", "node"))
    return network


def _pairs(pieces: list[str], network: BeliefNetwork, option: str, example: str) -> Iterator[tuple[str, str]]:
    """NODE=VALUE in the order typed; a node may be named more than once."""
    for piece in pieces:
        yield from by_name([piece], network.names, option, example).items()


def _facts(network: BeliefNetwork, output: str, losses: tuple[str, ...]) -> dict[str, Any]:
    nodes = [{"name": n, "states": list(network.states(n)), "parents": list(network.parents(n))} for n in network]
    return {"output": output, "nodes": nodes, "lost": list(losses)}


def convert(
    file: NetworkFile,
    new: Annotated[str, typer.Argument(help="Output file; the suffix chooses the format.")],
) -> None:
    """Convert a network to another file format; all probabilities stay the same to the last bit.

    bayeswise network convert asia.bif asia.xdsl
    """
    network = network_from(file)
    check_output(new, [file])
    for lost in network.write(new):
        say(lost)
    say(saved(new, False))
