"""bayeswise forget MODEL ROWS -o NEW: the model that never saw these rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.options import reading
from bayeswise.cli.options.command import AsJson
from bayeswise.cli.output.writing import check_model_output, json_document, reported_warnings, saved, say
from bayeswise.foundation.errors import UsageError
from bayeswise.foundation.progress import Bar

if TYPE_CHECKING:
    from bayeswise.tables.source import Source


def run(
    model: reading.ModelFile,
    files: Annotated[
        list[str],
        typer.Argument(metavar="ROWS", help="Table of training rows, with their target."),
    ],
    out: Annotated[str, typer.Option("-o", "--output", metavar="MODEL", help="Output file; may be the input file.")],
    again: Annotated[
        bool, typer.Option("--again", help="Allow rows that were forgotten before (they were learned more than once).")
    ] = False,
    remaining: Annotated[
        list[str] | None,
        typer.Option(
            "--rows",
            metavar="REMAINING",
            help="Table of the remaining rows, to select again what rows select: members and weights of auto, "
            "cuts, graphs, families, weights of a regression, trees.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is not a model.")] = False,
    *,
    reader: reading.Reading,
    as_json: AsJson = False,
) -> None:
    """Remove rows from a model: the result is the model that never saw them, byte for byte.

    Where learning selects something by looking at rows (the graph and cuts of tan, aode, k-dependence, markov-blanket,
    families by evidence, members and weights of auto) that holds with --rows only; without, it is kept, and a note
    says so.

    \b
    bayeswise forget play.bayeswise withdrawn.csv -o play.bayeswise
    bayeswise forget m.bayeswise withdrawn.csv --rows remaining.csv -o m.bayeswise

    Refuses rows that cannot have been training rows, as far as the counts show, and rows that were forgotten before
    (recorded in MODEL.forgotten beside the model); nothing is written then. With --rows, any model of classes
    is learned again; a table that is not that of the remaining rows is refused (regressions and trees know it by the
    number of rows of each class).
    """
    from bayeswise.models.base.facts import (
        calibration_lines,
        calibration_of,
        class_weights,
        count_of,
        selection_lines,
        weight_of,
    )

    fitted = reading.load_for("forget", model, *(("forgets",) if remaining is None else ()))
    if remaining is not None and not fitted.capabilities.classes:
        raise UsageError(
            "--rows is for models of classes: a regression of a number forgets exactly without it, or not at all",
            fix="leave --rows out",
        )
    replaced = check_model_output(out, files, force=force, updated=[model])
    with Bar("forgetting") as bar:
        opened = reader.open(files, like=fitted.schema, once=True)
        source = reading.Watched(opened, bar)
        if remaining is None:
            with reported_warnings():
                after = fitted.forget(source, again=again)
        else:
            kept = reader.open(remaining, like=fitted.schema)
            fitted.refuse_other_parts(source, kept, again=again)
            with reported_warnings():
                after = relearned(fitted, kept)
    after.save(out)
    gone = count_of(weight_of(fitted) - weight_of(after))
    facts: dict[str, Any] = {
        "model": out,
        "replaced": replaced,
        "source": source.description,
        "rows": source.rows,
        "weight_forgotten": gone,
        "target": fitted.schema.target.name,
        "rows_left": count_of(weight_of(after)),
        "classes": class_weights(after),
        "kept_selection": list(fitted.selected_by_rows) if remaining is None and fitted.capabilities.classes else [],
        **calibration_of(after),
    }
    if as_json:
        print(json_document(facts))
        return
    show(facts, weighted=fitted.schema.weight is not None)
    say(*calibration_lines(facts), *selection_lines(facts["kept_selection"]))
    say(saved(out, replaced))


def relearned(fitted: Any, source: Source) -> Any:
    """The model of the rows that remain, everything that rows choose chosen again; the kinds of columns stay."""
    from bayeswise.tables.encoding.encoder import Encoder

    return fitted.relearned(list(Encoder(fitted.schema, learning=True).batches(source)))


def show(facts: dict[str, Any], weighted: bool) -> None:
    """How many rows are gone, and what is left of each class."""
    from rich.console import Console

    from bayeswise.cli.output.look_page import class_table

    page = Console(highlight=False, emoji=False)
    rows, gone = facts["rows"], facts["weight_forgotten"]
    lines = [f"Forgot {gone:,} row{'s' * (gone != 1)} of {facts['source']}."]
    if weighted:
        lines = [f"Forgot {rows:,} row{'s' * (rows != 1)} of {facts['source']}, of weight {gone:,}."]
    elif gone != rows:
        lines.append(
            f"{rows - gone:,} row{'s' * (rows - gone != 1)} without a target"
            f"{'' if facts['classes'] else ' or with missing values'} had never been learned."
        )
    page.print(*lines, sep="\n", markup=False)
    if facts["classes"]:
        page.print("", class_table(facts, "weight" if weighted else "rows"), sep="\n")
    elif facts["rows_left"]:
        page.print(f"{facts['rows_left']:,} {'weight' if weighted else 'rows'} left.")
    else:
        page.print("The model has no rows left, and no answer to anything.")
