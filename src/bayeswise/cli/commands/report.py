"""bayeswise report MODEL FILE --costs decision.toml: an evaluation as one page."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeswise.cli.commands.check import CrossValidation, evaluated
from bayeswise.cli.options import calibration as calibrating
from bayeswise.cli.options import columns, reading
from bayeswise.cli.options import costs as costs_option
from bayeswise.cli.output.writing import check_output, say


def run(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file, made by `bayeswise fit`.")],
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Labelled rows: files, globs, or - for stdin.")],
    costs: Annotated[
        str | None, typer.Option("--costs", metavar="FILE", help="decision.toml or a CSV of costs [0-1 loss].")
    ] = None,
    out: Annotated[str, typer.Option("-o", "--output", metavar="OUT", help="The HTML file.")] = "report.html",
    prior: costs_option.Prior = None,
    cv: CrossValidation = None,
    calibrate: calibrating.LearnedTable = None,
    null: columns.NullWords = None,
    delimiter: reading.Delimiter = None,
    decimal: reading.Decimal = None,
    encoding: reading.Encoding = None,
    table: reading.TableName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON too.")] = False,
) -> None:
    """Write an HTML report on decision cost: baselines, rows by action, calibration, curves.

    \b
    bayeswise report loan.bayeswise test.csv --costs decision.toml -o report.html

    The page is one file without scripts, and loads nothing.
    """
    from bayeswise.cli.options.loading import load_for
    from bayeswise.cli.output.table_text import as_json as json_text
    from bayeswise.evaluation.report import report_page
    from bayeswise.foundation.atomic import replacing_text

    fitted = load_for("report", model, "predict_proba", "classes", "schema")
    decision = None if costs is None else costs_option.read_decision(costs, fitted)
    check_output(out, [model, *files, *(each for each in (costs, calibrate) if each)])
    found, described, learned = evaluated(
        fitted,
        files,
        decision,
        prior=prior,
        cv=cv,
        calibrate=calibrate,
        reader={"null": null, "delimiter": delimiter, "decimal": decimal, "encoding": encoding, "table": table},
    )
    with replacing_text(out) as page:
        page.write(report_page(found, title=f"Decisions about {fitted.schema.target.name}: {described}"))
    if as_json:
        print(json_text({**found.to_dict(), "rows_were_learned": learned}, indent=2))
    say(f"Saved {out}.")
