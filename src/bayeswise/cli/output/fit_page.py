"""The page that `fit` shows: classes, columns by family, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bayeswise.cli.output.look_page import class_table, warning_lines
from bayeswise.foundation.errors import listed
from bayeswise.render.labels import quoted
from bayeswise.render.numbers import number
from bayeswise.render.terminal import plain_table

_MOST_NAMES = 24
_MOST_IGNORED = 8


def show(facts: Mapping[str, Any], console: Console | None = None) -> None:
    """Print what was learned."""
    page = console or Console(highlight=False, emoji=False)
    page.print(headline(facts), "", sep="\n")
    if facts["classes"]:
        page.print(class_table(facts, unit_of(facts)), "", sep="\n")
    page.print(column_lines(facts))
    if "weights" in facts:
        page.print("", weight_table(facts), sep="\n")
    if "mixture" in facts:
        page.print("", member_table(facts), *mixture_lines(facts), sep="\n")
    if "tree" in facts:
        page.print("", tree_lines(facts), sep="\n")
    for warning in warnings(facts):
        page.print("", warning_lines(warning), sep="\n")


def unit_of(facts: Mapping[str, Any]) -> str:
    """What the numbers of the classes are."""
    return "rows" if facts["weight"] is None else "weight"


def headline(facts: Mapping[str, Any]) -> Text:
    """What was learned from where."""
    rows = facts["rows"]
    size = f"{rows:,} row{'s' * (rows != 1)} learned"
    return Text.assemble((facts["source"], "bold"), f": {size}; target ", (quoted(facts["target"]), "bold"))


def family_heading(facts: Mapping[str, Any]) -> str:
    """What stands above the families of columns; above how many models of a mixture have learned them."""
    return "learned by" if facts.get("mixture") else "family"


def column_lines(facts: Mapping[str, Any]) -> Table:
    """The columns of each family, those that are ignored with the reason, and the convention."""
    lines = plain_table()
    lines.add_column(family_heading(facts), no_wrap=True)
    lines.add_column("columns", overflow="fold")
    by_family: dict[str, list[str]] = {}
    for column in facts["columns"]:
        if column["family"] is not None:
            by_family.setdefault(column["family"], []).append(quoted(column["name"]))
    for family, names in by_family.items():
        lines.add_row(Text(family, "cyan"), Text(listed(names, _MOST_NAMES)))
    for name, reason in _ignored(facts):
        lines.add_row(Text("ignored", "dim"), Text.assemble(name, (f" ({reason})" if reason else "", "dim")))
    lines.add_row("", "")
    lines.add_row(Text("convention", "bold"), Text(facts["convention"]))
    if "calibration" in facts:
        lines.add_row(Text("calibration", "bold"), Text(facts["calibration"]["age"]))
    for name, line in averaging_lines(facts):
        lines.add_row(Text(name, "bold"), Text(line))
    lines.add_row(Text("parameters", "bold"), f"{facts['n_free_parameters']:,} free")
    for name, line in regression_lines(facts) if "weights" in facts else ():
        lines.add_row(Text(name, "bold"), Text(line))
    return lines


def member_table(facts: Mapping[str, Any]) -> Table:
    """The candidates by their log-loss on rows that were left out, with their weights."""
    table = plain_table()
    table.add_column("model", no_wrap=True)
    for name in ("weight", "log-loss", "error"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("left out", no_wrap=True)
    for each in sorted(facts["mixture"]["candidates"], key=lambda each: float(each["log_loss"])):
        weight = f"{each['weight']:.3f}" if each["weight"] else ""
        table.add_row(each["name"], weight, _loss(each["log_loss"]), f"{each['error']:.4f}", each["how"])
    return table


def _loss(value: Any) -> str:
    """A log-loss; one that a few impossible rows make huge has no size that says anything.

    >>> _loss(0.43219), _loss(2.65e10)
    ('0.4322', '> 100')
    """
    return f"{float(value):.4f}" if float(value) <= 100.0 else "> 100"


_MOST_NODES = 60


def tree_lines(facts: Mapping[str, Any]) -> Text:
    """The questions of a tree with the bits of each node; of a large one the first, and what all nodes take."""
    *nodes, last = facts["tree"]["text"].split("\n")
    more = [f"... {len(nodes) - _MOST_NODES:,} more nodes (inspect --json shows all)"] * (len(nodes) > _MOST_NODES)
    return Text("\n".join([*nodes[:_MOST_NODES], *more, last]), overflow="fold")


def mixture_lines(facts: Mapping[str, Any]) -> Iterator[Text]:
    """How good the mixture is on left-out rows, its calibration, and what was not tried."""
    mixture = facts["mixture"]
    what = "The best model" if len(mixture["members"]) == 1 else "All together, weights chosen without the row"
    if mixture["gone"]:  # those that remain were never evaluated together
        what = "As it was fitted, with members that have left it since"
    elif mixture["age"]:
        what = "As it was fitted, before rows came or went"
    yield Text(f"\n{what}: log-loss {_loss(mixture['log_loss'])} on {mixture['rows']:,} left-out rows")
    shares = f"The class shares alone: {_loss(mixture['log_loss_of_shares'])}"
    is_better = mixture["log_loss"] is not None and mixture["log_loss"] < mixture["log_loss_of_shares"]
    yield Text(shares if is_better else f"{shares}, not more: these rows do not show that the columns say anything")
    if mixture["power"] is not None:
        yield Text(f"log-odds of the models are averaged, times {mixture['power']:.3g}")
    if mixture["calibration"] != "none":
        yield Text(f"calibrated: {mixture['calibration']}")
    if mixture["age"]:
        calibrated = " and calibration" * (mixture["calibration"] != "none")
        yield Text(f"weights{calibrated} are {mixture['age']}")
    if mixture["gone"]:
        yield Text(f"no longer in it, as they cannot take rows in or out: {'; '.join(mixture['gone'])}")
    if mixture["without_statistics"]:
        shown = "; ".join(mixture["without_statistics"])
        yield Text(f"merge and forget would drop {shown}: regressions and trees cannot take rows in or out", "dim")
    by_reason: dict[str, list[str]] = {}
    for name, reason in mixture["left_out"].items():
        by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        yield Text(f"not tried: {'; '.join(names)} ({reason})", "dim")


def averaging_lines(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The probability that each column is relevant, the most relevant first, and the exponent of normal ones."""
    columns = sorted((c for c in facts["columns"] if "relevance" in c), key=lambda column: -column["relevance"])
    if columns:
        shares = (f"{quoted(column['name'])} {number(column['relevance'], 3)}" for column in columns)
        yield "relevance", listed(shares, _MOST_NAMES)
    if facts.get("temper", 1.0) < 1.0:
        yield "temper", f"{number(facts['temper'], 3)}: columns say the same in part, and that is counted once"


def _ignored(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    ignored = [column for column in facts["columns"] if column["kind"] == "ignored"]
    for column in ignored[:_MOST_IGNORED]:
        yield quoted(column["name"]), column["reason"]
    if len(ignored) > _MOST_IGNORED:
        yield f"and {len(ignored) - _MOST_IGNORED:,} more", ""


def warnings(facts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What a user should know about the rows."""
    for what, count in (("target", facts["rows_without_target"]), ("weight", facts["rows_without_weight"])):
        if count:
            have, were = ("rows have", "were") if count > 1 else ("row has", "was")
            left_out = f"{count:,} {have} no {what} and {were} left out"
            yield {"column": None, "what": left_out, "fix": "", "stops": False}
    for name, what in facts["no_numbers"].items():
        yield {"column": name, "what": f"{what}; taken as missing", "fix": "", "stops": False}
    if len(facts["classes"]) == 1:
        what = "there is only one class, so every answer will be this one"
        yield {"column": facts["target"], "what": what, "fix": "add rows of another class", "stops": False}


_MOST_WEIGHTS = 40
_MOST_CLASSES = 6


def weight_table(facts: Mapping[str, Any]) -> Table:
    """The intercept and the weights in original units; one column of them for each class, where there are several."""
    classes = list(facts["intercept"])[:_MOST_CLASSES] if isinstance(facts["intercept"], Mapping) else [None]
    table = plain_table()
    table.add_column("column", overflow="fold", max_width=32)
    table.add_column("level", overflow="fold", max_width=24)
    for label in classes:
        table.add_column(Text("weight" if label is None else quoted(label, 14)), justify="right", no_wrap=True)
    table.add_row(Text("intercept", "cyan"), "", *(_text(facts["intercept"], label) for label in classes))
    last = None
    for weight in facts["weights"][:_MOST_WEIGHTS]:
        name = weight["column"]
        if weight["level"] is not None and name != last:
            reference = Text(f"{quoted(facts['references'][name], 16)} (reference)", "dim")
            table.add_row(Text(quoted(name)), reference, *["0"] * len(classes))
        again = weight["level"] is not None
        level = "" if weight["level"] is None else quoted(weight["level"])
        table.add_row(
            "" if again else Text(quoted(name)), Text(level), *(_text(weight["weight"], label) for label in classes)
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
            return f"log-odds of {quoted(classes[1])} against {quoted(classes[0])} = intercept + weights . row"
        return "log p(class | row) = intercept + weights . row, up to a number"
    target = quoted(facts["target"])
    if facts["likelihood"] in ("poisson", "exponential"):
        return f"log of the mean of {target} = intercept + weights . row"
    return f"{target} = intercept + weights . row"


def regression_lines(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What the weights rest on, line by line."""
    yield "score", meaning(facts)
    if facts["missing_indicators"]:
        columns = ", ".join(map(quoted, facts["missing_indicators"]))
        yield "missing", f"the mean of the column, and an indicator that a cell is missing, in {columns}"
    if facts["scale"] is not None:
        yield "prior scale", number(float(facts["scale"]), 6)
    if facts["noise"] is not None:
        yield "noise", number(float(facts["noise"]), 6)
    if facts["log_evidence"] is not None:
        yield "log evidence", number(float(facts["log_evidence"]), 6)
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
    return number(float(value), 6)
