"""The page that `look` shows in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bayeswise.render.labels import quoted
from bayeswise.render.numbers import percent
from bayeswise.render.terminal import bar, plain_table
from bayeswise.tables.schema.profile import counted_values

_STYLES = {
    "number": "cyan",
    "count": "cyan",
    "category": "green",
    "binary": "green",
    "text": "magenta",
    "ignored": "dim",
    "target": "bold",
    "weight": "bold",
}
_MOST_CLASSES = 20
_BAR_CELLS = 24
_RULED = box.Box("    \n    \n ── \n    \n    \n    \n    \n    \n")


def show(report: Mapping[str, Any], notes: Mapping[str, str], console: Console | None = None) -> None:
    """Print the columns with their short notes, the classes and the warnings."""
    page = console or Console(highlight=False, emoji=False)
    page.print(headline(report), "", column_table(report["columns"], notes), sep="\n")
    if any(column["kind"] == "ignored" for column in report["columns"]):
        page.print(Text("Keep a column that is ignored with --category COL, or another kind.", "dim"))
    if report["classes"]:
        page.print("", class_table(report), sep="\n")
    for warning in report["warnings"]:
        page.print("", warning_lines(warning), sep="\n")


def headline(report: Mapping[str, Any]) -> Text:
    """What table this is, and how large."""
    rows, n_columns = report["rows"], len(report["columns"])
    size = f"{rows:,} row{'s' * (rows != 1)}, {n_columns:,} column{'s' * (n_columns != 1)}"
    return Text.assemble((report["source"], "bold"), f": {size}", overflow="fold")


def column_table(columns: Sequence[Mapping[str, Any]], notes: Mapping[str, str]) -> Table:
    """One line for each column; nothing is cut off, long cells go on below."""
    table = Table(box=_RULED, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("column", overflow="fold", max_width=20)
    table.add_column("kind", no_wrap=True)
    table.add_column("missing", justify="right", no_wrap=True)
    table.add_column("distinct", justify="right", no_wrap=True)
    table.add_column("note", overflow="fold")
    for column in columns:
        style = _STYLES[column["kind"]]
        table.add_row(
            Text(quoted(column["name"], width=200), style),
            Text(column["kind"], style),
            Text(f"{column['missing']:,}", "" if column["missing"] else "dim"),
            counted_values(column["distinct"], column["distinct_exact"]),
            Text(notes.get(column["name"], ""), "dim" if column["kind"] == "ignored" else ""),
        )
    return table


def class_table(report: Mapping[str, Any], unit: str = "rows") -> Table:
    """The classes with their rows (or their weight) and shares, as bars."""
    classes = report["classes"]
    total = sum(classes.values())
    most = max(classes.values())
    table = plain_table()
    table.add_column(Text(quoted(report["target"])), overflow="fold", max_width=32)
    table.add_column(unit, justify="right")
    table.add_column("share", justify="right")
    table.add_column("")
    for label, rows in list(classes.items())[:_MOST_CLASSES]:
        share, length = (rows / total, rows / most) if most else (0.0, 0.0)
        table.add_row(Text(quoted(label)), f"{rows:,}", percent(share), Text(bar(length, _BAR_CELLS), "cyan"))
    if len(classes) > _MOST_CLASSES:
        table.add_row(Text(f"and {len(classes) - _MOST_CLASSES:,} more", "dim"))
    return table


def warning_lines(warning: Mapping[str, Any]) -> Table:
    """What is wrong, and below it what to do, beside a sign."""
    sign, style = ("✗", "bold red") if warning["stops"] else ("!", "bold yellow")
    where = "" if warning["stops"] or warning["column"] is None else f"{quoted(warning['column'])}: "
    lines = Table.grid(padding=(0, 1, 0, 0))
    lines.add_column(no_wrap=True)
    lines.add_column(overflow="fold")
    lines.add_row(Text(sign, style), Text.assemble((where, "bold"), warning["what"]))
    if warning["fix"]:
        lines.add_row("", Text(f"Fix: {warning['fix']}", "dim"))
    return lines
