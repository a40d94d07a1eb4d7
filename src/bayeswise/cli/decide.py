"""bayeswise decide MODEL FILE --costs decision.toml: the table again, with the best action beside each row."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Literal

import typer

from bayeswise.cli import columns, costs_option, reading
from bayeswise.cli.progress import Bar
from bayeswise.cli.writing import check_output, output, say


def run(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file, made by `bayeswise fit`.")],
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="A table: files, globs, or - for stdin.")],
    costs: costs_option.CostsFile,
    prior: costs_option.Prior = None,
    at_most: Annotated[
        list[str] | None,
        typer.Option(
            "--at-most", metavar="ACTION=N|P% ...", help="At most so many rows, or a percentage, in an action."
        ),
    ] = None,
    novelty: Annotated[
        float | None,
        typer.Option(
            "--novelty", metavar="P", help="Call rows `unknown` that the model finds less likely than this share."
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("-o", "--output", metavar="OUT", help="A file instead of standard output.")
    ] = None,
    keep: Annotated[
        str, typer.Option("--columns", metavar="all|none|A,B", help="The columns of the table to keep.")
    ] = "all",
    form: Annotated[Literal["csv", "jsonl"], typer.Option("--format", help="How to write the rows.")] = "csv",
    raw: Annotated[
        bool, typer.Option("--raw", help="Write text that begins with = + - @ without an apostrophe before it.")
    ] = False,
    null: columns.NullWords = None,
    delimiter: reading.Delimiter = None,
    decimal: reading.Decimal = None,
    encoding: reading.Encoding = None,
    table: reading.TableName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document: rows and totals.")] = False,
) -> None:
    """Write a table again with the action of least expected cost beside each row.

    \b
    bayeswise decide loan.bayeswise new.csv --costs decision.toml > actions.csv
    bayeswise decide mail.bayeswise - --costs decision.toml --prior spam=.2 < mail.csv
    bayeswise decide mail.bayeswise mail.csv --costs decision.toml --at-most ask=5% --novelty 0.001

    Adds action, expected_cost, runner_up and p_CLASS. Costs may name columns of the table, as in "0.1 * amount". With
    --at-most the rows that save most get the places, at the least expected cost together; the table is read as a whole
    first.
    """
    from bayeswise.cli.answers import kept_columns
    from bayeswise.cli.decided_rows import DecidedLayout, DecidedRows
    from bayeswise.cli.limits import Limits
    from bayeswise.cli.loading import load_for
    from bayeswise.cli.predict import one_behind
    from bayeswise.cli.table_text import CsvText, JsonDocument, JsonLines

    fitted = load_for("decide", model, "predict_proba", "classes", "schema")
    decision = costs_option.read_decision(costs, fitted)
    limits = Limits.typed(at_most or [], novelty, decision.costs)
    if out is not None and out != reading.STDIN:
        check_output(out, [model, costs, *files])
    source = reading.open_table(
        files, null=null, delimiter=delimiter, decimal=decimal, encoding=encoding, table=table, once=True
    )
    kept, _ = kept_columns(keep, source.columns, source.description)
    layout = DecidedLayout.named(kept, fitted.classes, novelty=novelty is not None)
    shifted = costs_option.new_prior(decision, prior, fitted.classes)
    with Bar(f"deciding {source.description}", shown=out is not None) as bar:
        rows = DecidedRows(fitted, source, bar, layout, decision.costs.aligned(fitted.classes), shifted, limits)
        about = {"classes": list(fitted.classes), "actions": list(decision.costs.actions)}
        text = (
            JsonDocument(about, rows.totals)
            if as_json
            else JsonLines()
            if form == "jsonl"
            else CsvText(getattr(source, "dialect", None), raw=raw)
        )
        chunks = one_behind(rows)
        first = next(chunks, None)  # a table that does not fit gets no header
        with output(out) as stream:
            stream.write(text.begin(layout.names))
            for cells, safe in chain([] if first is None else [first], chunks):
                stream.write(text.rows(cells, safe))
            stream.write(text.end())
    say(rows.summary())
    if out is not None and out != reading.STDIN:
        say(f"Saved {out}.")
