"""`bayeswise network show`: the nodes of a network in words, or a drawing with the beliefs in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.network import as_json_text, network_from
from bayeswise.cli.network_evidence import GIVEN, SOFT, evidence_from, soft_from
from bayeswise.cli.writing import check_output, saved, say
from bayeswise.foundation.errors import UsageError

if TYPE_CHECKING:
    from bayeswise.networks import BeliefNetwork


def show(
    file: Annotated[str, typer.Argument(help="A network (.bif, .xmlbif, .net, .bayeswise).")],
    names: Annotated[list[str] | None, typer.Argument(help="The nodes to show, else all.")] = None,
    svg: Annotated[str | None, typer.Option(metavar="FILE", help="Draw it into a file; - is standard output.")] = None,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Draw it into a page.")] = None,
    dot: Annotated[bool, typer.Option("--dot", help="The graph in the language of Graphviz.")] = False,
    given: Annotated[list[str] | None, GIVEN] = None,
    soft: Annotated[list[str] | None, SOFT] = None,
    around: Annotated[
        list[str] | None, typer.Option(metavar="NODE", help="Show a node with its parents, children and theirs.")
    ] = None,
    no_beliefs: Annotated[bool, typer.Option("--no-beliefs", help="Draw names only.")] = False,
    title: Annotated[str, typer.Option(help="The title of the drawing.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Show the nodes of a network, or draw them with the beliefs in them.

    bayeswise network show asia.bif

    bayeswise network show asia.bif --svg asia.svg --given asia=yes dysp=yes
    """
    network = network_from(file)
    wanted = _wanted(network, names or [], around or [])
    if svg is None and html is None and not dot:
        if given or soft:
            raise UsageError("evidence is shown in a drawing", fix="add --svg drawing.svg, or ask `network query`")
        print(as_json_text(_facts(network, wanted)) if as_json else _page(network, wanted))
        return
    for path in (svg, html):
        if path is not None and path != "-":
            check_output(path, [file])
    evidence, likelihoods = evidence_from(network, given), soft_from(network, soft)
    beliefs = not no_beliefs and not (dot and svg is None and html is None and not evidence and not likelihoods)
    picture = network.picture(evidence, soft=likelihoods, nodes=wanted, beliefs=beliefs, title=title)
    if dot:
        print(picture.dot())
    for path, text in ((svg, picture.svg), (html, picture.html)):
        if path is not None:
            _write(path, text())


def _write(path: str, text: str) -> None:
    if path == "-":
        print(text)
        return
    from bayeswise.store.atomic import write_bytes

    write_bytes(path, text.encode("utf-8"))
    say(saved(path, False))


def _wanted(network: BeliefNetwork, names: list[str], around: list[str]) -> list[str]:
    """The nodes asked for, in the order of the network; all if none is."""
    chosen = {network.names[network.place(name)] for name in names}
    for name in around:
        chosen |= {name, *network.markov_blanket(name)}
    return [name for name in network if name in chosen] if chosen else list(network)


def _facts(network: BeliefNetwork, wanted: list[str]) -> dict[str, Any]:
    nodes = [
        {
            "name": name,
            "states": list(network.states(name)),
            "parents": list(network.parents(name)),
            "rows": len(network.table(name)),
        }
        for name in wanted
    ]
    return {"name": network.name, "nodes": nodes, "parameters": network.n_parameters, "notes": list(network.notes)}


def _page(network: BeliefNetwork, wanted: list[str]) -> str:
    lines = [f"{len(network)} nodes, {len(network.edges)} edges, {network.n_parameters} free numbers"]
    for name in wanted:
        above = f" | {', '.join(network.parents(name))}" if network.parents(name) else ""
        lines.append(f"  {name}{above}: {', '.join(map(str, network.states(name)))}")
    return "\n".join([*lines, *(f"note: {note}" for note in network.notes)])
