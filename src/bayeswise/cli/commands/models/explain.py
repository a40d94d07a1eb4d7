"""bayeswise explain MODEL: why this answer, for one row."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayeswise.cli.options import costs as costs_option
from bayeswise.cli.options import reading
from bayeswise.cli.output.writing import Picture, check_output, check_picture, json_document, say
from bayeswise.foundation.atomic import replacing_text
from bayeswise.foundation.errors import KindError, UsageError


def run(
    model: reading.ModelFile,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Table that holds the row, or - for stdin.")
    ] = None,
    row: Annotated[
        list[str] | None,
        typer.Option("--row", metavar="COL=VALUE ...", help="Cells of the row; all others are missing."),
    ] = None,
    row_number: Annotated[
        int | None,
        typer.Option("--row-number", metavar="N", min=1, help="Row of the table, counted from 1 (default: 1)."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="CLASS", help="Compare with this class or action (default: the second best)."
        ),
    ] = None,
    costs: Annotated[
        str | None,
        typer.Option("--costs", metavar="FILE", help="decision.toml; explain the action instead of the class."),
    ] = None,
    prior: costs_option.Prior = None,
    flip: Annotated[
        bool, typer.Option("--flip", help="Add the least change of the row that changes the answer.")
    ] = False,
    steps: Annotated[
        bool,
        typer.Option("--steps", help="Show the calculation: every factor, the joint, the evidence, the posterior."),
    ] = False,
    html: Annotated[str | None, typer.Option("--html", metavar="OUT", help="Also write an HTML page.")] = None,
    png: Picture = None,
    *,
    reader: reading.Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole explanation as JSON.")] = False,
) -> None:
    """Explain the prediction or decision for one row: prior x evidence of each column = posterior.

    \b
    bayeswise explain play.bayeswise --row outlook=sunny wind=strong --flip
    bayeswise explain play.bayeswise new.csv --row-number 3 --html why.html
    bayeswise explain play.bayeswise --row outlook=sunny --steps --png why.png
    bayeswise explain loan.bayeswise new.csv --costs decision.toml --flip

    Bars are log-odds: to the right for the answer, to the left for its rival. With --against, --flip finds the least
    change that makes that class win: the fewest columns, and their nearest values. Gaussian Bayes weighs each column
    given the columns before it; a regression shows what each column adds, relative to its mean. With --costs the action
    is explained: the expected cost of each action, the distance of the posterior from the threshold, and what would
    change the action.
    """
    from bayeswise.cli.options.one_row import row_of_table, typed_row
    from bayeswise.cli.output.reasons import (
        action_explained,
        change_text,
        distances_of,
        facts_of,
        rival_in,
        show,
        steps_of,
    )
    from bayeswise.explanations import Account, change_of
    from bayeswise.explanations.flip import texts_of

    fitted = reading.load_for("explain", model)
    refuse_what_it_lacks(
        fitted, {"--against": against, "--costs": costs, "--flip": flip, "--steps": steps, "--html": html, "--png": png}
    )
    check_picture(png, [model, *(files or ()), *([costs] if costs else [])])
    if html is not None:
        check_output(html, [model, *(files or ()), *([costs] if costs else [])], "html")
    if bool(row) == bool(files):
        example = " ".join(f"{name}=..." for name in fitted.schema.used[:2])
        if row:
            raise UsageError("one row is needed; found a table and --row", fix="leave out one of them")
        raise UsageError("one row is needed", fix=f"add --row {example}, or a FILE and --row-number N")
    if prior and costs is None:
        raise UsageError("--prior changes the action, and no costs are given", fix="add --costs decision.toml")
    decision = None if costs is None else costs_option.read_decision(costs, fitted)
    also = () if decision is None else decision.costs.columns
    if row:
        one, title = typed_row(fitted, row, reader.null, also), ""
    else:
        source = reader.open(files or (), like=fitted.schema, once=True)
        one = row_of_table(fitted, source, row_number or 1, also)
        title = f"row {row_number or 1} of {source.description}"
    account = one.explained_by(fitted, title)
    if not isinstance(account, Account):
        print(json_document(account.to_dict()) if as_json else account.to_text())  # what columns add to a number
        return
    if steps and decision is not None:
        raise UsageError("--steps is about classes, and --costs about actions", fix="leave one of them out")
    if decision is not None:
        action_explained(fitted, one, account, decision, prior, against, flip, as_json, html, png)
        return
    calculation = steps_of(fitted, one.batch) if steps else None
    distances = distances_of(fitted, one.batch)
    rival = rival_in(account, against)
    change = change_of(fitted, account, rival if against is not None else None) if flip else None
    if html is not None:
        with replacing_text(html) as page:
            page.write(account.to_html(account.most_probable, rival))
    if png is not None:
        account.plot_panels().save(png)  # prior x contributions = posterior
    if as_json:
        written = {"steps": calculation.to_dict()} if calculation is not None else {}
        print(json_document({**facts_of(account, rival, flip, change), **distances, **written}))
        return
    if calculation is not None:
        print(calculation)
    else:
        show(account, rival, distances)
    if flip:
        texts = texts_of(fitted, account)
        print("", change_text(change, against, proven=account.additive, texts=texts), sep="\n")
    say(*(f"Saved {out}." for out in (html, png) if out is not None))


def refuse_what_it_lacks(model: Any, typed: dict[str, Any]) -> None:
    """Options about classes, for a model of a number; changes of one column, where columns go together."""
    about_classes = [name for name, value in typed.items() if value]
    if about_classes and not model.capabilities.classes:
        raise UsageError(
            f"{about_classes[0]} is about classes, and this model answers with a number", fix="leave it out"
        )
    if typed["--flip"] and not (model.capabilities.alternatives or model.capabilities.changes):
        raise KindError(
            "--flip changes columns one at a time, and in this model they interact",
            fix="leave it out, or use a model of fit --model auto, naive-bayes or logistic",
        )
