"""`bayeswise network learn`: a network from a table."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeswise.cli.network import as_json_text
from bayeswise.cli.writing import check_output, saved, say
from bayeswise.foundation.errors import UsageError


def learn(
    table: Annotated[str, typer.Argument(help="A table.")],
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Where the network goes.")
    ] = None,
    method: Annotated[str, typer.Option(help="hill-climbing, k2 or chow-liu.")] = "hill-climbing",
    score: Annotated[str, typer.Option(help="bic, aic, bdeu or k2.")] = "bic",
    order: Annotated[str | None, typer.Option(metavar="A,B,...", help="The order of k2, causes first.")] = None,
    max_parents: Annotated[int | None, typer.Option(min=0, help="How many parents a node may have.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Leave a column out.")] = None,
    missing: Annotated[str, typer.Option(help="Rows with holes are an error, or drop them.")] = "error",
    strength: Annotated[float, typer.Option(min=0.0, help="Imagined rows of the prior.")] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Learn a network from a table: its graph by a score, its tables by counting.

    bayeswise network learn table.csv -o table.bif --score bdeu
    """
    from bayeswise.networks import BeliefNetwork

    if output is None:
        raise UsageError("the network needs a place", fix="add -o network.bif")
    check_output(output, [table])
    network = BeliefNetwork.learn(
        table,
        method=method,
        score=score,
        order=order.split(",") if order else None,
        max_parents=max_parents,
        ignore=ignore or (),
        missing=missing,
        strength=strength,
    )
    network.write(output)
    if as_json:
        edges = [list(edge) for edge in network.edges]
        print(as_json_text({"nodes": list(network.names), "edges": edges, "file": output}))
    else:
        for parent, child in network.edges:
            print(f"{parent} -> {child}")
    say(saved(output, False))
