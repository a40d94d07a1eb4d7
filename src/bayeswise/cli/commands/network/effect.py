"""`bayeswise network effect`: what setting one node does to another, and how to tell it from observations."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from bayeswise.cli.commands.network import network_from
from bayeswise.cli.options.command import AsJson
from bayeswise.cli.output.writing import json_document


def effect(
    file: Annotated[str, typer.Argument(help="A network whose edges are causes.")],
    cause: Annotated[str, typer.Argument(help="The node that is set.")],
    outcome: Annotated[str, typer.Argument(metavar="EFFECT", help="The node that may change.")],
    observed: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Nodes that a study can measure [all].")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare P(effect | do(cause)) with P(effect | cause), and name the nodes to adjust for.

    bayeswise network effect asia.bif smoke lung --observed smoke,lung,xray
    """
    network = network_from(file)
    found = network.causal_effect(cause, outcome, observed=None if observed is None else observed.split(","))
    if not as_json:
        print(found)
        return
    seen = {
        str(x): {str(state): None if math.isnan(p) else p for state, p in row.items()} for x, row in found.seen.items()
    }
    answer = {
        "done": {str(x): {str(state): p for state, p in row.items()} for x, row in found.done.items()},
        "seen": seen,
        "adjusted_by": found.adjusted_by,
        "through": found.through,
    }
    print(json_document(answer))
