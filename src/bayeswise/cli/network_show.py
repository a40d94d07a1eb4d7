"""`bayeswise network show`: the nodes of a network, in words or as a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.network import as_json_text, network_from

if TYPE_CHECKING:
    from bayeswise.networks import BeliefNetwork


def show(
    file: Annotated[str, typer.Argument(help="A network (.bif, .xmlbif, .net).")],
    dot: Annotated[bool, typer.Option("--dot", help="The graph in the language of Graphviz.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Show the nodes of a network, or draw them.

    bayeswise network show asia.bif
    """
    network = network_from(file)
    if dot:
        print(_dot(network))
    else:
        print(as_json_text(_facts(network)) if as_json else _page(network))


def _facts(network: BeliefNetwork) -> dict[str, Any]:
    nodes = [
        {
            "name": name,
            "states": list(network.states(name)),
            "parents": list(network.parents(name)),
            "rows": len(network.table(name)),
        }
        for name in network
    ]
    return {"name": network.name, "nodes": nodes, "parameters": network.n_parameters, "notes": list(network.notes)}


def _page(network: BeliefNetwork) -> str:
    lines = [f"{len(network)} nodes, {len(network.edges)} edges, {network.n_parameters} free numbers"]
    for name in network:
        above = f" | {', '.join(network.parents(name))}" if network.parents(name) else ""
        lines.append(f"  {name}{above}: {', '.join(map(str, network.states(name)))}")
    return "\n".join([*lines, *(f"note: {note}" for note in network.notes)])


def _dot(network: BeliefNetwork) -> str:
    def word(name: str) -> str:
        escaped = name.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'

    lines = [f"  {word(name)};" for name in network]
    lines += [f"  {word(parent)} -> {word(child)};" for parent, child in network.edges]
    return "\n".join(["digraph network {", *lines, "}"])
