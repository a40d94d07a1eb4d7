"""`bayeswise network explain`, `effect` and `conflict`: why a node has the posterior that it has.

`effect` says what setting one node does to another, and how to estimate it from observations; `conflict` whether
findings go together, and what would explain that they do not.
"""

from __future__ import annotations

import math
import shutil
from typing import Annotated

import typer

from bayeswise.cli.commands.network import Given, NetworkFile, Soft, evidence_from, network_from, soft_from
from bayeswise.cli.options.command import AsJson
from bayeswise.cli.output.writing import check_output, json_document, saved, say
from bayeswise.foundation.atomic import write_bytes
from bayeswise.render.numbers import interval, number
from bayeswise.render.terminal import aligned


def explain(
    file: NetworkFile,
    node: Annotated[str, typer.Argument(help="Node to explain.")],
    given: Given = None,
    soft: Soft = None,
    state: Annotated[str | None, typer.Option(help="State to explain (default: the most probable).")] = None,
    sensitivity: Annotated[
        int, typer.Option(min=0, metavar="N", help="Add the N table entries to which the posterior is most sensitive.")
    ] = 0,
    paths: Annotated[
        int, typer.Option(min=0, metavar="N", help="Add the N strongest paths from findings to the node.")
    ] = 0,
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Also write an HTML page with a drawing.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole explanation as JSON.")] = False,
) -> None:
    """Explain the posterior of a node: the weight of each finding, and what to observe next.

    bayeswise network explain asia.bif lung --given asia=yes dysp=yes --state yes

    Weights are log-odds. "Alone" compares the finding with no evidence, "with the others" with all other findings.
    """
    network = network_from(file)
    if html is not None:
        check_output(html, [file], "html")
    evidence, likelihoods = evidence_from(network, given), soft_from(network, soft)
    account = network.explain(node, evidence, state=state, soft=likelihoods)
    entries = network.sensitivity(node, evidence, soft=likelihoods)[:sensitivity] if sensitivity else []
    if html is not None:
        write_bytes(html, account.to_html().encode("utf-8"))
        say(saved(html, False))
    if as_json:
        found = [
            {
                "entry": each.entry,
                "value": each.value,
                "derivative": each.derivative(account.state),
                "stable_range": list(each.stable_range()),
            }
            for each in entries
        ]
        trails = [{"finding": each.finding, "nodes": each.nodes, "bits": each.bits} for each in account.paths(paths)]
        more = ({"sensitivity": found} if sensitivity else {}) | ({"paths": trails} if paths else {})
        print(json_document(account.to_dict() | more))
        return
    print(account.to_text(width=min(110, shutil.get_terminal_size().columns)))
    if paths:
        print("\nPaths of the findings, and the bits that pass each of them at most:")
        trails_shown = [(number(each.bits, 3), " - ".join(each.nodes)) for each in account.paths(paths)]
        print(*aligned(trails_shown, [0], indent="  "), sep="\n")
    if not entries:
        return
    print(f"\nDerivative of P({node} = {account.state}) by an entry, and where {entries[0].best} stays most probable:")
    rows = [
        (
            number(each.derivative(account.state), 3, signed=True),
            interval(*each.stable_range(), 3),
            f"{each.entry} = {number(each.value)}",
        )
        for each in entries
    ]
    print(*aligned(rows, [0], indent="  "), sep="\n")


def effect(
    file: Annotated[str, typer.Argument(help="Network file whose edges are causal.")],
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
        "is_cause": found.is_cause,
    }
    print(json_document(answer))


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
