"""bayeswise look FILE -t TARGET: what the columns of a table are taken for, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeswise.cli.options import reading
from bayeswise.cli.options.command import AsJson
from bayeswise.cli.output.writing import json_document
from bayeswise.tables.schema.inference import examine
from bayeswise.tables.schema.leaks import find_leaks
from bayeswise.tables.schema.notes import report, stops


def run(
    files: reading.Files,
    target: reading.Target = None,
    weight: Annotated[str | None, typer.Option("--weight", metavar="COL", help="The weight of each row.")] = None,
    *,
    kinds: reading.Kinds,
    reader: reading.Reading,
    as_json: AsJson = False,
) -> None:
    """Show the inferred kind of each column and the reason, the share of each class, and warnings.

    Exits with code 3 if no model can be fitted to the table as it is.
    """
    source = reader.open(files)
    names = [column.name for column in source.columns]
    examination = examine(source, target, weight=weight, **kinds.overrides(names))
    answer = report(examination, names, (*examination.advice, *find_leaks(source, examination)))
    found = [problem for _, problem in stops(examination)]
    if as_json:
        print(json_document(answer))
    else:
        from bayeswise.cli.output.look_page import show

        answer["warnings"] = answer["warnings"][bool(found) :]  # the first is the error below
        show(answer, {finding.column.name: finding.note for finding in examination.findings})
    for problem in found:
        raise problem
