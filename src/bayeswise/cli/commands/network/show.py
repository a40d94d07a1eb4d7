"""`bayeswise network show`: the nodes of a network in words, or a drawing with the beliefs in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.commands.network import (
    Given,
    NetworkFile,
    Soft,
    evidence_from,
    mixed_network_from,
    network_from,
    soft_from,
    strength_facts,
)
from bayeswise.cli.options.command import AsJson
from bayeswise.cli.options.pairs import by_name
from bayeswise.cli.options.reading import Reading
from bayeswise.cli.output.writing import check_output, json_document, saved, say
from bayeswise.foundation.atomic import write_bytes
from bayeswise.foundation.errors import UsageError
from bayeswise.foundation.progress import StepsBar
from bayeswise.render.numbers import plural

if TYPE_CHECKING:
    from bayeswise.networks import BeliefNetwork
    from bayeswise.networks.learning import EdgeStrengths
    from bayeswise.networks.mixed import MixedNetwork
    from bayeswise.render.graph.picture import Picture

_MOST_LINES = 20  # of one node in words


def show(
    file: NetworkFile,
    names: Annotated[list[str] | None, typer.Argument(help="Nodes to show (default: all).")] = None,
    svg: Annotated[str | None, typer.Option(metavar="FILE", help="Write an SVG drawing; - for stdout.")] = None,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Write an HTML page with the drawing.")] = None,
    dot: Annotated[bool, typer.Option("--dot", help="Print the graph in Graphviz DOT.")] = False,
    given: Given = None,
    soft: Soft = None,
    around: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE", help="Show only a node with its parents and children, and theirs."),
    ] = None,
    no_beliefs: Annotated[bool, typer.Option("--no-beliefs", help="Draw the names only, without posteriors.")] = False,
    title: Annotated[str, typer.Option(help="Title of the drawing.")] = "",
    strengths: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Draw each edge as wide as its strength in this table."),
    ] = None,
    score: Annotated[str, typer.Option(help="With --strengths: bic, aic, mdl, bdeu or k2.")] = "bic",
    resamples: Annotated[
        int,
        typer.Option(
            min=0,
            help="With --strengths: number of bootstrap samples; the width is the share of them that have the edge.",
        ),
    ] = 0,
    weight: Annotated[
        str | None, typer.Option("--weight", metavar="COL", help="With --strengths: column of row weights.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the nodes of a network, or draw it with the posterior of each node.

    bayeswise network show asia.bif

    bayeswise network show asia.bif --svg asia.svg --given asia=yes dysp=yes

    bayeswise network show learned.bif --svg learned.svg --strengths table.csv --resamples 100
    """
    if strengths is None and (resamples or weight is not None or score != "bic"):
        raise UsageError("--score, --resamples and --weight are about --strengths", fix="add --strengths TABLE")
    if as_json and (svg or html or dot):
        raise UsageError("--json lists the nodes and does not draw them", fix="drop --json, or --dot, --svg and --html")
    mixed = mixed_network_from(file)
    if mixed is not None:
        unused = soft or strengths or no_beliefs or ((names or around) and (svg or html or dot))
        if unused:
            raise UsageError(
                "a network with numbers is drawn whole, and without strengths",
                fix="use --svg, --html, --dot, --given and --title, or --json",
            )
        _show_mixed(mixed, file, _selected(mixed, names or [], around or []), given, svg, html, dot, title, as_json)
        return
    network = network_from(file)
    nodes = _selected(network, names or [], around or [])
    found = None if strengths is None else _strengths(network, strengths, score, resamples, weight)
    if svg is None and html is None and not dot:
        if given or soft:
            raise UsageError("evidence is shown in a drawing", fix="add --svg drawing.svg, or use `network query`")
        print(json_document(_facts(network, nodes, found)) if as_json else _page(network, nodes, found))
        return
    _check_places(svg, html, [file, *([] if strengths is None else [strengths])])
    evidence, likelihoods = evidence_from(network, given), soft_from(network, soft)
    beliefs = not no_beliefs and not (dot and svg is None and html is None and not evidence and not likelihoods)
    picture = network.picture(evidence, soft=likelihoods, nodes=nodes, beliefs=beliefs, title=title, strengths=found)
    _draw(picture, dot, svg, html)


def _show_mixed(
    network: MixedNetwork,
    file: str,
    nodes: list[str],
    given: list[str] | None,
    svg: str | None,
    html: str | None,
    dot: bool,
    title: str,
    as_json: bool,
) -> None:
    """Nodes of a network with numbers, in words or drawn."""
    if svg is None and html is None and not dot:
        if given:
            raise UsageError("evidence is shown in a drawing", fix="add --svg drawing.svg, or use `network query`")
        words = "\n".join(line for name in nodes for line in _mixed_lines(network, name))
        print(json_document(_mixed_facts(network, nodes)) if as_json else words)
        return
    _check_places(svg, html, [file])
    picture = network.picture(by_name(given or [], network.names, "--given", "NODE=STATE"), title=title)
    _draw(picture, dot, svg, html)


def _mixed_lines(network: MixedNetwork, name: str) -> list[str]:
    """A node with states in one line; a number with its line for each configuration of states."""
    from itertools import islice, product

    from bayeswise.networks.mixed import GaussianNode

    node = network.node(name)
    above = f" | {', '.join(node.parents)}" if node.parents else ""
    if not isinstance(node, GaussianNode):
        return [f"{name}{above}: {', '.join(map(str, node.states))}"]
    cases = islice(product(*(network.discrete.states(parent) for parent in node.given)), _MOST_LINES)
    lines = [f"{name}{above}"]
    for row, case in enumerate(cases):
        terms = "".join(f" {weight[row]:+.6g} {parent}" for parent, weight in node.weights.items())
        where = f"{', '.join(map(str, case))}: " if case else ""
        lines.append(f"  {where}{node.intercept[row]:.6g}{terms} \N{PLUS-MINUS SIGN} {node.stddev[row]:.6g}")
    more = len(node.stddev) - _MOST_LINES
    return [*lines, f"  ... {more:,} more"] if more > 0 else lines


def _mixed_facts(network: MixedNetwork, names: list[str]) -> dict[str, Any]:
    """A node with states by these and its rows; a number by its line for each configuration of states above it."""
    from itertools import product

    from bayeswise.networks.mixed import GaussianNode

    nodes: list[dict[str, Any]] = []
    for name in names:
        node = network.node(name)
        facts: dict[str, Any] = {"name": name, "parents": list(node.parents)}
        if not isinstance(node, GaussianNode):
            rows = len(network.discrete.table(name))
            nodes.append({**facts, "kind": "states", "states": list(node.states), "rows": rows})
            continue
        cases = product(*(network.discrete.states(parent) for parent in node.given))
        lines = [
            {
                "given": dict(zip(node.given, case, strict=True)),
                "intercept": float(node.intercept[row]),
                "weights": {parent: float(weight[row]) for parent, weight in node.weights.items()},
                "stddev": float(node.stddev[row]),
            }
            for row, case in enumerate(cases)
        ]
        nodes.append({**facts, "kind": "number", "lines": lines})
    return {"name": network.name, "nodes": nodes, "parameters": network.n_parameters}


def _strengths(network: BeliefNetwork, table: str, score: str, resamples: int, weight: str | None) -> EdgeStrengths:
    """What the edges are worth in the rows of a table."""
    from bayeswise.networks.learning import strengths_in_table

    source = Reading().open([table])
    with StepsBar() as bar:
        return strengths_in_table(source, network, score=score, resamples=resamples, weight=weight, progress=bar)


def _check_places(svg: str | None, html: str | None, inputs: list[str]) -> None:
    for path, form in ((svg, "svg"), (html, "html")):
        if path is not None and path != "-":
            check_output(path, inputs, form)


def _draw(picture: Picture, dot: bool, svg: str | None, html: str | None) -> None:
    """The drawing in each requested form; - is stdout."""
    if dot:
        print(picture.dot())
    for path, text in ((svg, picture.svg), (html, picture.html)):
        if path == "-":
            print(text())
        elif path is not None:
            write_bytes(path, text().encode("utf-8"))
            say(saved(path, False))


def _selected(network: BeliefNetwork | MixedNetwork, names: list[str], around: list[str]) -> list[str]:
    """The nodes named or around named ones, in the order of the network; all if none is."""
    chosen = {network.names[network.place(name)] for name in names}
    for name in around:
        chosen |= {name, *network.markov_blanket(name)}
    return [name for name in network if name in chosen] if chosen else list(network)


def _facts(network: BeliefNetwork, names: list[str], found: EdgeStrengths | None) -> dict[str, Any]:
    nodes = [
        {
            "name": name,
            "states": list(network.states(name)),
            "parents": list(network.parents(name)),
            "rows": len(network.table(name)),
        }
        for name in names
    ]
    facts = {"name": network.name, "nodes": nodes, "parameters": network.n_parameters, "notes": list(network.notes)}
    return facts if found is None else {**facts, "strengths": strength_facts(found)}


def _page(network: BeliefNetwork, names: list[str], found: EdgeStrengths | None) -> str:
    size = ((len(network), "node"), (len(network.edges), "edge"), (network.n_parameters, "free number"))
    lines = [", ".join(plural(n, what) for n, what in size)]
    for name in names:
        above = f" | {', '.join(network.parents(name))}" if network.parents(name) else ""
        lines.append(f"  {name}{above}: {', '.join(map(str, network.states(name)))}")
    edges = [edge for edge in network.edges if set(names).issuperset(edge)]
    if found is not None and edges:
        from bayeswise.networks.plots import lines_of, widths_of

        lines += lines_of(*widths_of(found, edges))
    return "\n".join([*lines, *(f"note: {note}" for note in network.notes)])
