"""The part of a page that is about a regression: its weights, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from bayeswise.tables.notes import shown

_MOST_WEIGHTS = 40
_MOST_CLASSES = 6


def weight_table(facts: Mapping[str, Any]) -> Table:
    """The intercept and the weights in original units; one column of them for each class, where there are several."""
    classes = list(facts["intercept"])[:_MOST_CLASSES] if isinstance(facts["intercept"], Mapping) else [None]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("column", overflow="fold", max_width=32)
    table.add_column("level", overflow="fold", max_width=24)
    for label in classes:
        table.add_column(Text("weight" if label is None else shown(label, 14)), justify="right", no_wrap=True)
    table.add_row(Text("intercept", "cyan"), "", *(_text(facts["intercept"], label) for label in classes))
    last = None
    for weight in facts["weights"][:_MOST_WEIGHTS]:
        name = weight["column"]
        if weight["level"] is not None and name != last:
            reference = Text(f"{shown(facts['references'][name], 16)} (reference)", "dim")
            table.add_row(Text(shown(name)), reference, *["0"] * len(classes))
        again = weight["level"] is not None
        level = "" if weight["level"] is None else shown(weight["level"])
        table.add_row(
            "" if again else Text(shown(name)), Text(level), *(_text(weight["weight"], label) for label in classes)
        )
        last = name
    more = len(facts["weights"]) - _MOST_WEIGHTS
    if more > 0:
        table.add_row(Text(f"and {more:,} more", "dim"), "")
    return table


def meaning(facts: Mapping[str, Any]) -> str:
    """What the score is that the weights add up to."""
    if facts["likelihood"] is None:
        classes = list(facts["classes"])
        if len(classes) == 2:
            return f"log-odds of {shown(classes[1])} against {shown(classes[0])} = intercept + weights . row"
        return "log p(class | row) = intercept + weights . row, up to a number"
    target = shown(facts["target"])
    if facts["likelihood"] in ("poisson", "exponential"):
        return f"log of the mean of {target} = intercept + weights . row"
    return f"{target} = intercept + weights . row"


def regression_lines(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What the weights rest on, line by line."""
    yield "score", meaning(facts)
    if facts["scale"] is not None:
        yield "prior scale", f"{float(facts['scale']):.6g}"
    if facts["noise"] is not None:
        yield "noise", f"{float(facts['noise']):.6g}"
    if facts["log_evidence"] is not None:
        yield "log evidence", f"{float(facts['log_evidence']):.6g}"
    certificate = facts["certificate"]
    if certificate is not None:
        word = "converged" if certificate["converged"] else "stopped"
        gradient = float(certificate["gradient_norm"])
        yield "gradient left", f"{gradient:.1e} ({word} after {certificate['iterations']:,} iterations)"
    elif facts["likelihood"] == "gaussian":
        yield "gradient left", "none: solved from exact moments"
    if facts["separable"]:
        yield "separable", "yes: weights separate the classes, and only the prior keeps them finite"


def _text(weight: Any, label: str | None) -> str:
    value = weight if label is None else weight[label]
    return f"{float(value):.6g}"
