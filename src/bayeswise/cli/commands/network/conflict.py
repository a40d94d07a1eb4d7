"""`bayeswise network conflict`: whether findings go together, and what would explain that they do not."""

from __future__ import annotations

from bayeswise.cli.commands.network import Given, NetworkFile, evidence_from, network_from
from bayeswise.cli.options.command import AsJson
from bayeswise.cli.output.writing import json_document


def conflict(
    file: NetworkFile,
    given: Given = None,
    as_json: AsJson = False,
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
