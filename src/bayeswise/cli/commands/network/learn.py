"""`bayeswise network learn`: a network from a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.commands.network import edge_from, network_from, strength_facts
from bayeswise.cli.options.command import AsJson
from bayeswise.cli.options.pairs import by_name
from bayeswise.cli.options.reading import Categories, Kinds, Numbers, Reading, Watched
from bayeswise.cli.output.writing import check_output, json_document, saved, say
from bayeswise.foundation.errors import UsageError
from bayeswise.foundation.progress import Bar, StepsBar

if TYPE_CHECKING:
    from bayeswise.networks import BeliefNetwork
    from bayeswise.networks.learning import EdgeStrengths
    from bayeswise.networks.learning.coded_rows import CodedRows
    from bayeswise.tables.source import Source

TABLES_ONLY = ("em", "gradient")


def learn(
    file: Annotated[str, typer.Argument(metavar="TABLE", help="Table file, or - for stdin.")],
    output: Annotated[str | None, typer.Option("-o", "--output", metavar="FILE", help="Output file.")] = None,
    method: Annotated[
        str,
        typer.Option(
            help="hill-climbing, exact, k2, chow-liu, pc (tests of independence), miic (information); auto: exact up "
            "to 15 columns. With --graph also em or gradient."
        ),
    ] = "auto",
    score: Annotated[
        str | None, typer.Option(help="bic, aic, mdl, bdeu or k2; nml with miic. [default: bic, or nml with miic]")
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Use the graph of this network and learn only its tables; nodes without a column are hidden.",
        ),
    ] = None,
    order: Annotated[str | None, typer.Option(metavar="A,B,...", help="Node order for k2, causes first.")] = None,
    root: Annotated[str | None, typer.Option(metavar="COLUMN", help="Root of the Chow-Liu tree.")] = None,
    alpha: Annotated[float, typer.Option(min=1e-300, max=0.999, help="Significance level of the tests of pc.")] = 0.05,
    require: Annotated[list[str] | None, typer.Option(metavar="'A -> B'", help="Require an edge.")] = None,
    forbid: Annotated[list[str] | None, typer.Option(metavar="'A -> B'", help="Forbid an edge.")] = None,
    tier: Annotated[
        list[str] | None,
        typer.Option(
            "--tier",
            "--tiers",
            metavar="A,B,...",
            help="Temporal tier: later tiers have no edges into it. Repeat for each tier, earliest first.",
        ),
    ] = None,
    max_parents: Annotated[int | None, typer.Option(min=0, help="Maximum number of parents per node.")] = None,
    restarts: Annotated[
        int | None,
        typer.Option(
            min=0, help="Climb again from random changes of the best graph; by default until nothing improves."
        ),
    ] = None,
    missing: Annotated[
        str, typer.Option(help="Rows with missing values: error, drop, or use them all by em or gradient.")
    ] = "error",
    starts: Annotated[int, typer.Option(min=1, help="Number of random starts for em and gradient.")] = 3,
    prior: Annotated[str, typer.Option(help="Prior of the tables: bdeu, m-estimate or none.")] = "bdeu",
    smoothing: Annotated[float, typer.Option(min=0.0, help="Pseudo-counts of the prior.")] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    strengths: Annotated[bool, typer.Option("--strengths", help="Print the strength of each edge.")] = False,
    resamples: Annotated[
        int,
        typer.Option(
            min=0, help="With --strengths: number of bootstrap samples; adds the share of them that have the edge."
        ),
    ] = 0,
    averaged: Annotated[
        bool,
        typer.Option(
            "--averaged", help="With --strengths: posterior probability of each edge, averaged over all graphs."
        ),
    ] = False,
    gaussian: Annotated[
        bool,
        typer.Option(
            "--gaussian",
            help="Keep numbers as Gaussian nodes instead of cutting them, the graph by hill-climbing or pc; "
            "writes a .bayeswise file.",
        ),
    ] = False,
    category: Categories = None,
    number: Numbers = None,
    cuts: Annotated[
        list[str] | None,
        typer.Option("--cuts", metavar="COL=5,7", help="Cut points of a number column [its quintiles]."),
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Leave a column out.")] = None,
    weight: Annotated[
        str | None,
        typer.Option("--weight", metavar="COL", help="Column of row weights; a weight of k counts as k rows."),
    ] = None,
    *,
    reader: Reading,
    as_json: AsJson = False,
) -> None:
    """Learn a network from a table: the graph by score, the tables from counts or by EM.

    bayeswise network learn table.csv -o table.bif --score bdeu --restarts 10

    bayeswise network learn table.csv -o table.bif --method exact --strengths --resamples 100

    bayeswise network learn incomplete.csv -o full.bif --graph table.bif --method em

    bayeswise network learn table.csv -o table.bayeswise --gaussian

    A column of more than 20 distinct numbers is cut into intervals, at its quintiles or at --cuts; --number cuts a
    column of fewer, --category keeps the numbers as they are. Every other column is a node whose states are its values,
    unless --ignore leaves it out.
    """
    from bayeswise.networks.learning.learned_network import coded_rows, reading_notes

    if output is None:
        raise UsageError("no output file is named", fix="add -o network.bif")
    check_output(output, [file])
    if (resamples or averaged) and not strengths:
        raise UsageError("--resamples and --averaged are about --strengths", fix="add --strengths")
    source = reader.open([file])
    names = [column.name for column in source.columns]
    overrides: dict[str, Any] = {
        "score": score,
        "max_parents": max_parents,
        "prior": prior,
        "smoothing": smoothing,
        "seed": seed,
        "starts": starts,
        "restarts": restarts,
        "root": root,
        "alpha": alpha,
        "order": order.split(",") if order else None,
        "required": [edge_from(text, names, "--require") for text in require or []],
        "forbidden": [edge_from(text, names, "--forbid") for text in forbid or []],
        "tiers": [group.split(",") for group in tier or []],
        **_method(method, missing, graph, names),
    }
    if strengths and overrides.get("states"):
        raise UsageError(
            f"{next(iter(overrides['states']))} has no column, and rows cannot show the strength of its edges",
            fix="leave --strengths out",
        )
    columns = Kinds(category=category, number=number).overrides(names)
    if gaussian:
        unused = {"--strengths": strengths, "--graph": graph, "--order": order, "--root": root, "--cuts": cuts}
        _learn_gaussian(source, output, overrides, columns, ignore or (), weight, unused, as_json)
        return
    hidden = overrides.get("states") or {}
    with Bar("Reading") as bar:
        rows = coded_rows(
            Watched(source, bar),
            ignore=ignore or (),
            states={**columns["levels"], **hidden},
            may_be_hidden=hidden,
            weight=weight,
            kinds=columns["kinds"],
            cuts=_cuts_of(cuts, names),
            may_be_soft=overrides["missing"] in TABLES_ONLY,
        )
    notes = reading_notes(rows)
    say(*(f"{note}." for note in notes))
    with StepsBar() as steps:
        network, found = _learned(rows, overrides, steps, (resamples, averaged) if strengths else None)
    losses = network.write(output)
    print(json_document(_facts(network, found, notes, output, weight)) if as_json else _shown(network, found))
    about_edges = () if found is None else found.notes
    say(*(f"Note: {note}." for note in (*network.notes, *about_edges, *losses)), saved(output, False))


def _learn_gaussian(
    source: Source,
    output: str,
    overrides: dict[str, Any],
    columns: dict[str, Any],
    ignore: Sequence[str],
    weight: str | None,
    unused: dict[str, Any],
    as_json: bool,
) -> None:
    """A network in which numbers stay numbers."""
    from bayeswise.networks.mixed import MixedNetwork
    from bayeswise.networks.mixed.learning import METHODS

    given = next((option for option, value in unused.items() if value), None)
    if given or overrides["method"] not in METHODS:
        raise UsageError(
            f"--gaussian makes no use of {given or '--method ' + overrides['method']}", fix="leave one of them out"
        )
    if not output.lower().endswith(".bayeswise"):
        raise UsageError(f"{output}: other formats have no Gaussian nodes", fix="name a file that ends in .bayeswise")
    kept = ("method", "score", "alpha", "required", "forbidden", "tiers", "max_parents", "restarts", "seed")
    options = {name: overrides[name] for name in (*kept, "prior", "smoothing", "missing")}
    options["score"] = options["score"] or "bic"
    with StepsBar() as bar:
        network = MixedNetwork.learn(
            source, ignore=ignore, kinds=columns["kinds"], weight=weight, **options, progress=bar
        )
    network.save(output)
    facts = {"nodes": list(network.names), "numbers": list(network.numbers), "notes": list(network.notes)}
    edges = [list(edge) for edge in network.edges]
    shown = "\n".join(f"{parent} -> {child}" for parent, child in network.edges)
    print(json_document({**facts, "edges": edges, "weight": weight, "file": output}) if as_json else shown)
    say(*(f"Note: {note}." for note in network.notes), saved(output, False))


def _method(method: str, missing: str, graph: str | None, names: Sequence[str]) -> dict[str, Any]:
    """How the graph and the tables are found, and what is hidden."""
    if graph is None:
        if method in TABLES_ONLY:
            raise UsageError(
                f"{method} finds tables, not a graph", fix=f"add --graph NETWORK, or search with --missing {method}"
            )
        return {"method": method, "missing": missing}
    given = network_from(graph)
    hidden = {name: given.states(name) for name in given if name not in names}
    way = method if method in TABLES_ONLY else missing
    return {"parents": {name: given.parents(name) for name in given}, "states": hidden, "missing": way}


def _cuts_of(typed: Sequence[str] | None, names: Sequence[str]) -> dict[str, list[float]]:
    from bayeswise.cli.options.fitting import numbers_of

    pairs = by_name(typed or (), names, "--cuts", "age=30,50")
    return {name: list(numbers_of(text, f"--cuts {name}={text}")) for name, text in pairs.items()}


def _learned(
    rows: CodedRows, overrides: dict[str, Any], bar: StepsBar, strengths: tuple[int, bool] | None
) -> tuple[BeliefNetwork, EdgeStrengths | None]:
    from bayeswise.networks import BeliefNetwork
    from bayeswise.networks.learning import Constraints, best_graph, hill_climbing, strengths_in_table
    from bayeswise.networks.learning.graph_search import chosen_method

    network = BeliefNetwork.learn(rows, **overrides, progress=bar)
    if strengths is None:
        return network, None
    rules = Constraints.of(*(overrides[name] for name in ("required", "forbidden", "tiers", "max_parents")))
    resamples, averaged = strengths
    method = chosen_method(overrides.get("method", "auto"), len(rows.names), overrides["restarts"])
    found = strengths_in_table(
        rows,
        network,
        score=overrides["score"] or "bic",
        smoothing=overrides["smoothing"],
        seed=overrides["seed"],
        search=best_graph if method == "exact" else hill_climbing,
        constraints=rules,
        resamples=resamples,
        averaged=averaged,
        progress=bar,
    )
    return network, found


def _shown(network: BeliefNetwork, found: EdgeStrengths | None) -> str:
    return "\n".join(f"{parent} -> {child}" for parent, child in network.edges) if found is None else str(found)


def _facts(
    network: BeliefNetwork, found: EdgeStrengths | None, notes: Sequence[str], output: str, weight: str | None
) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "nodes": list(network.names),
        "edges": [list(edge) for edge in network.edges],
        "notes": [*notes, *network.notes],
        "weight": weight,
        "file": output,
    }
    if found is not None:
        facts["resamples"] = found.n_resamples
        facts["strengths"] = strength_facts(found)
        facts["notes"] += found.notes
    return facts
