"""What `bayeswise diagram` shows: facts for JSON, and lines for a reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayeswise.foundation.errors import ParameterError, listed
from bayeswise.render.labels import shown as text
from bayeswise.render.numbers import number
from bayeswise.render.plain import json_value
from bayeswise.render.terminal import aligned

if TYPE_CHECKING:
    from bayeswise.diagrams import InfluenceDiagram, Solution
    from bayeswise.diagrams.analysis.sensitivity import Sensitivity
    from bayeswise.diagrams.solving.solution import Comparison

Answer = tuple[Any, list[str]]


def solved(solution: Solution, *, scenarios: bool, risk: bool) -> Answer:
    """The policies in words and as tables; scenarios and risks if requested."""
    facts = solution.to_dict()
    lines = [str(solution)]
    for name in solution.policies:
        policy = solution.policy(name)
        if policy.knows:
            lines += ["", *table(policy.to_columns())]
    if scenarios:
        found = solution.scenarios().to_columns()
        facts["scenarios"], _ = columns(found)
        lines += ["", *table(found)]
    if risk:
        profile = solution.risk()
        facts["risk"] = {
            "mean": profile.mean,
            "stddev": profile.stddev,
            "probability_of_loss": profile.probability_of_loss,
            "outcomes": columns(profile.to_columns())[0],
        }
        lines += [
            "",
            f"probability of a loss {number(profile.probability_of_loss)}",
            *table(profile.to_columns()),
        ]
    return facts, lines


def compared(found: Comparison) -> Answer:
    """What policies lead to beside the best ones, and each of them."""
    facts = {
        "expected_utility": found.utility,
        "best": found.best.utility,
        "regret": found.regret,
        "given": found.given.to_dict(),
        "optimal": found.best.to_dict(),
    }
    lines = [str(found), *found.given.in_words()]
    for name in found.given.policies:
        policy = found.given.policy(name)
        if policy.knows and not policy.is_certain:
            lines += ["", *table(policy.to_columns())]
    return facts, lines


def valued(
    diagram: InfluenceDiagram,
    nodes: list[str],
    before: str | None,
    prices: Mapping[str, float],
    evidence: Mapping[str, Any],
) -> Answer:
    """Some nodes together before one decision, or each node before each."""
    if nodes:
        decision = before or next((name for name in diagram.decisions if name not in evidence), None)
        if decision is None:
            raise ParameterError("no decision is open", fix="leave one out of --given")
        price = sum(prices.get(node, 0.0) for node in nodes)
        found = diagram.value_of_information(nodes, decision, price=price, evidence=evidence)
        facts = {"nodes": list(found.nodes), "decision": found.decision, "value": found.value}
        return {**facts, "price": found.price, "net": found.net, "expected_utility": found.utility}, [str(found)]
    each = diagram.information_values(before, prices=prices, evidence=evidence).to_columns()
    perfect = diagram.perfect_information(before, evidence)
    facts, lines = columns(each)
    said = f"knowing everything before {text(perfect.decision)} is worth {number(perfect.value, 6)}"
    return {"nodes": facts, "perfect_information": perfect.value}, [*lines, said]


def sensitive(found: Sensitivity) -> Answer:
    """The pieces and the thresholds between them."""
    facts = {
        "entry": str(found.entry),
        "value": found.entry.value,
        "thresholds": list(found.thresholds),
        "pieces": columns(found.to_columns())[0],
    }
    return facts, [str(found)]


def shown(diagram: InfluenceDiagram) -> Answer:
    """The nodes, what they depend on, and what is known when."""
    from bayeswise.diagrams.documents import to_document

    nodes = []
    for name in (*diagram.names, *diagram.utilities):
        kind = "utility" if name in diagram.utilities else "decision" if name in diagram.decisions else "chance"
        above = ", ".join(map(text, diagram.parents(name)))
        states = "" if kind == "utility" else f": {listed(map(text, diagram.states(name)))}"
        nodes.append((kind, f"{text(name)}{f' | {above}' if above else ''}{states}"))
    lines = [repr(diagram), *aligned(nodes, (), indent="  ")]
    return {**to_document(diagram), "order": list(diagram.decisions)}, lines


def columns(found: Mapping[str, list[Any]]) -> Answer:
    """Columns as a list of rows, and as a table."""
    rows = zip(*([json_value(cell) for cell in column] for column in found.values()), strict=True)
    return [dict(zip(found, row, strict=True)) for row in rows], table(found)


def table(found: Mapping[str, list[Any]]) -> list[str]:
    """Columns with their names above; numbers to the right.

    >>> table({"report": ["open", "closed"], "p": [0.35, 0.25]})
    ['report     p', 'open    0.35', 'closed  0.25']
    """
    cells = [[text(name, 30), *map(_cell, column)] for name, column in found.items()]
    numeric = [all(cell is None or isinstance(cell, int | float) for cell in column) for column in found.values()]
    right = [k for k, is_numeric in enumerate(numeric) if is_numeric]
    return aligned(list(zip(*cells, strict=True)), right)


def _cell(cell: Any) -> str:
    if cell is None:
        return "-"
    return ("yes" if cell else "no") if isinstance(cell, bool) else text(cell, 60)
