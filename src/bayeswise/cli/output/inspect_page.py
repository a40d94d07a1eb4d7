"""The page that `inspect` shows in a terminal; long lists are shortened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bayeswise.cli.output.fit_page import (
    averaging_lines,
    family_heading,
    member_table,
    mixture_lines,
    regression_lines,
    tree_lines,
    weight_table,
)
from bayeswise.cli.output.look_page import class_table
from bayeswise.cli.output.writing import size_text
from bayeswise.foundation.errors import listed
from bayeswise.render.labels import quoted
from bayeswise.render.terminal import plain_table
from bayeswise.tables.schema.null_words import described

_MOST_CLASSES = 8
_MOST_LEVELS = 6
_MOST_COLUMNS = 30


def show(facts: Mapping[str, Any], console: Console | None = None) -> None:
    """Print the file, the settings, the classes and the columns."""
    page = console or Console(highlight=False, emoji=False)
    page.print(headline(facts), "", about(facts), sep="\n")
    n_classes = len(facts["classes"]) if "weights" in facts else 0
    if facts["classes"]:
        unit = "rows" if facts["weight"] is None else "weight"
        page.print("", class_table(facts, unit), "", sep="\n")
    if "weights" in facts:
        page.print(*([] if facts["classes"] else [""]), weight_table(facts), sep="\n")
    elif "mixture" in facts:
        n_classes = len(facts["classes"])
        page.print(member_table(facts), *mixture_lines(facts), sep="\n")
    elif "tree" in facts:
        n_classes = len(facts["classes"])
        page.print(tree_lines(facts))
    elif facts["classes"]:
        n_classes = fitting_classes(facts, page)
        if n_classes == 1 < len(facts["classes"]):  # two classes are compared, or there is nothing to see
            n_classes = min(len(facts["classes"]), _MOST_CLASSES)
            page.print(stacked_table(facts, n_classes))
        else:
            page.print(column_table(facts, n_classes))
    remark = left_out(facts, n_classes)
    if remark:
        page.print("", Text(remark, "dim"), sep="\n")


def headline(facts: Mapping[str, Any]) -> Text:
    """Which model this is."""
    kind = facts["kind"].replace("-", " ").replace("bayes", "Bayes")
    return Text.assemble((facts["model"], "bold"), f": {kind} model of ", (quoted(facts["target"]), "bold"))


def about(facts: Mapping[str, Any]) -> Table:
    """The file and the settings."""
    lines = Table.grid(padding=(0, 2, 0, 0))
    lines.add_column(no_wrap=True, style="bold")
    lines.add_column(overflow="fold")
    lines.add_row("file", f"format {facts['format']}, {size_text(facts['size'])}")
    lines.add_row("checksum", facts["checksum"])
    lines.add_row("convention", Text(facts["convention"]))
    given = facts["settings"].get("class_prior")
    if given is not None:
        lines.add_row("prior", Text(", ".join(f"{quoted(label)} {share:.4g}" for label, share in given.items())))
    if facts["weight"] is not None:
        lines.add_row("weight", Text(quoted(facts["weight"])))
    if facts["null_words"] is not None:
        lines.add_row("missing", Text(described(facts["null_words"])))
    lines.add_row("parameters", f"{facts['n_free_parameters']:,} free")
    if "calibration" in facts:
        lines.add_row("calibration", Text(facts["calibration"]["age"]))
    for name, line in averaging_lines(facts):
        lines.add_row(name, Text(line))
    for name, line in regression_lines(facts) if "weights" in facts else ():
        lines.add_row(name, Text(line))
    return lines


def fitting_classes(facts: Mapping[str, Any], console: Console) -> int:
    """For how many classes there is room."""
    boundless = console.options.update(max_width=10_000)
    for n_classes in range(min(len(facts["classes"]), _MOST_CLASSES), 1, -1):
        if console.measure(column_table(facts, n_classes), options=boundless).maximum <= console.width:
            return n_classes
    return 1


def column_table(facts: Mapping[str, Any], n_classes: int) -> Table:
    """Each column with what was learned about it, for the largest classes."""
    classes = largest(facts["classes"], n_classes)
    table = plain_table()
    table.add_column("column", overflow="fold", max_width=24)
    table.add_column("kind", no_wrap=True)
    table.add_column(family_heading(facts), no_wrap=True)
    for label in classes:
        table.add_column(Text(quoted(label, 16)), justify="right", no_wrap=True)
    for column in used(facts)[:_MOST_COLUMNS]:
        for k, (name, values) in enumerate(lines_of(column, classes)):
            kind, family = (column["kind"], column["family"] or "") if k == 0 else ("", "")
            table.add_row(name, Text(kind, "cyan"), Text(family, "cyan"), *values)
    return table


def stacked_table(facts: Mapping[str, Any], n_classes: int) -> Table:
    """Each column with a line for each of the largest classes, where they do not stand side by side."""
    classes = largest(facts["classes"], n_classes)
    table = plain_table()
    table.add_column("column", overflow="fold", max_width=30)
    table.add_column("learned", overflow="fold")
    for column in used(facts)[:_MOST_COLUMNS]:
        table.add_row(Text(quoted(column["name"], 40)), Text(f"{column['kind']}, {column['family'] or ''}", "cyan"))
        for label in classes:
            table.add_row(Text(f"  {quoted(label, 26)}", "dim"), Text(learned_text(column["learned"], label)))
    return table


def learned_text(learned: Mapping[str, Any], label: str) -> str:
    """What was learned of a column in one class, in one line: parameters, or the most frequent levels.

    >>> learned_text({"levels": ["a", "b"], "count": {"yes": [2, 5]}, "missing": {"yes": 0}}, "yes")
    'b 5, a 2'
    """
    levels = learned.get("levels", learned.get("words"))
    if levels is None:
        return parameters_text(learned, label)
    counts = learned["count"][label]
    order = sorted(range(len(levels)), key=lambda k: -counts[k])
    named = listed((f"{quoted(levels[k], 20)} {counts[k]:,.6g}" for k in order), _MOST_LEVELS)
    gone = [f"missing {learned['missing'][label]:,.6g}"] if "levels" in learned and learned["missing"][label] else []
    return ", ".join(filter(None, [named, *gone]))


def lines_of(column: Mapping[str, Any], classes: list[str]) -> Iterator[tuple[Text, list[str]]]:
    """One line for a number; one more for each level of a category, the most frequent first."""
    learned, name = column["learned"], Text(quoted(column["name"], 40))
    levels = learned.get("levels", learned.get("words"))
    if levels is None:
        yield name, [parameters_text(learned, label) for label in classes]
        return
    counts = learned["count"]
    totals = [f"{sum(counts[label]):,.6g}" for label in classes]
    yield name, totals
    order = sorted(range(len(levels)), key=lambda k: -sum(row[k] for row in counts.values()))
    for k in sorted(order[:_MOST_LEVELS]) if len(levels) <= _MOST_LEVELS else order[:_MOST_LEVELS]:
        yield Text(f"  {quoted(levels[k], 20)}", "dim"), [f"{counts[label][k]:,.6g}" for label in classes]
    if any(learned["missing"].values()) and "levels" in learned:
        yield Text("  missing", "dim"), [f"{learned['missing'][label]:,.6g}" for label in classes]
    if len(levels) > _MOST_LEVELS:
        what = "words" if "words" in learned else "levels"
        yield Text(f"  and {len(levels) - _MOST_LEVELS:,} more {what}", "dim"), [""] * len(classes)


def parameters_text(learned: Mapping[str, Mapping[str, Any]], label: str) -> str:
    """The parameters of one class in one line.

    >>> parameters_text({"mean": {"yes": 73.0}, "stddev": {"yes": 6.1644}}, "yes")
    '73 ± 6.164'
    >>> parameters_text({"rate": {"yes": 2.5}}, "yes")
    'rate 2.5'
    """
    numbers = {name: f"{float(values[label]):.4g}" for name, values in learned.items()}
    if list(numbers) == ["mean", "stddev"]:
        return f"{numbers['mean']} ± {numbers['stddev']}"
    return ", ".join(f"{name} {number}" for name, number in numbers.items())


def largest(classes: Mapping[str, float], most: int) -> list[str]:
    """The classes that are shown, in their order."""
    kept = sorted(classes, key=lambda label: -classes[label])[:most]
    return [label for label in classes if label in kept]


def used(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [column for column in facts["columns"] if column["learned"] is not None]


def left_out(facts: Mapping[str, Any], n_classes: int) -> str:
    """What the page does not show."""
    ignored = [quoted(column["name"]) for column in facts["columns"] if column["kind"] == "ignored"]
    parts = [f"ignored: {listed(ignored, 12)}"] if ignored else []
    classes, columns = len(facts["classes"]) - n_classes, len(used(facts)) - _MOST_COLUMNS
    parts += [f"{classes:,} more classes"] * (classes > 0) + [f"{columns:,} more columns"] * (columns > 0)
    return "; ".join(parts) + (" (--json shows all)" if classes > 0 or columns > 0 else "")
