"""`bayeswise network conflict`: whether findings go together, and what would explain that they do not."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeswise.cli.commands.network import GIVEN, evidence_from, network_from
from bayeswise.cli.output.writing import json_document


def conflict(
    file: Annotated[
        str, typer.Argument(help="Network file: .bif, .xmlbif, .net, .xdsl, .dne, .uai (also .gz), or .bayeswise.")
    ],
    given: Annotated[list[str] | None, GIVEN] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure the conflict between findings: log2 prod P(finding) / P(all); above 0 they disagree.

    bayeswise network conflict asia.bif --given smoke=no xray=yes bronc=no
    """
    network = network_from(file)
    found = network.conflict(evidence_from(network, given))
    if not as_json:
        print(found)
        return
    explained = [{"node": name, "state": state, "bits": bits} for name, state, bits in found.explained_by]
    print(json_document({"bits": found.bits, "without": found.without, "explained_by": explained}))
