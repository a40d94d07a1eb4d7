"""bayeswise explain MODEL: why this answer, for one row."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated, Any

import typer

from bayeswise.cli import columns, reading
from bayeswise.cli.one_row import row_of_table, typed_row
from bayeswise.cli.pairs import class_of
from bayeswise.cli.table_text import as_json as json_text
from bayeswise.cli.writing import check_output, say
from bayeswise.explanations import Account, Flip, alternatives_of, least_change
from bayeswise.explanations.plain import balance_dict, json_value
from bayeswise.explanations.wording import value_text
from bayeswise.foundation.errors import ParameterError, UsageError
from bayeswise.models.files import load
from bayeswise.models.naive_bayes import NaiveBayesModel
from bayeswise.posteriors.wording import shown
from bayeswise.store.atomic import replacing, replacing_text
from bayeswise.tables.labels import Label


def run(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file, made by `bayeswise fit`.")],
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="A table with the row, or - for stdin.")
    ] = None,
    row: Annotated[
        list[str] | None, typer.Option("--row", metavar="COL=VALUE ...", help="The row, typed; the rest is missing.")
    ] = None,
    row_number: Annotated[
        int | None, typer.Option("--row-number", metavar="N", min=1, help="Which row of the table, from 1 on [1].")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", metavar="CLASS", help="Why not this class? [the second best]")
    ] = None,
    flip: Annotated[bool, typer.Option("--flip", help="Add the least change that changes the answer.")] = False,
    html: Annotated[str | None, typer.Option("--html", metavar="OUT", help="Write a page too.")] = None,
    png: Annotated[
        str | None, typer.Option("--png", metavar="OUT", help="Draw a picture too; needs matplotlib.")
    ] = None,
    null: columns.NullWords = None,
    delimiter: reading.Delimiter = None,
    encoding: reading.Encoding = None,
    table: reading.TableName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole reckoning as JSON.")] = False,
) -> None:
    """Show why a model answers as it does for one row: prior x evidence of each column = posterior.

    \b
    bayeswise explain play.bayeswise --row outlook=sunny wind=strong --flip
    bayeswise explain play.bayeswise new.csv --row-number 3 --html why.html

    The bars are log-odds: to the right they speak for the answer, to the left for its rival. With --against,
    --flip looks for the least change that makes that class win.
    """
    fitted = load(model)
    for out in (html, png):
        if out is not None:
            check_output(out, [model, *(files or ())])
    if bool(row) == bool(files):
        example = " ".join(f"{name}=..." for name in fitted.schema.used[:2])
        raise UsageError("one row is needed", fix=f"add --row {example}, or a FILE and --row-number N")
    if row:
        batch, title = typed_row(fitted, row, null), ""
    else:
        source = reading.open_table(
            files or (), null=null, delimiter=delimiter, encoding=encoding, table=table, once=True
        )
        batch, title = row_of_table(fitted, source, row_number or 1), f"row {row_number or 1} of {source.description}"
    account = replace(fitted.explain(batch), title=title)
    rival = _rival(account, against)
    change = _change(fitted, account, rival if against is not None else None) if flip else None
    if html is not None:
        with replacing_text(html) as page:
            page.write(account.to_html(account.most_probable, rival))
    if png is not None:
        _draw(account, rival, png)
    if as_json:
        print(json_text(_facts(account, rival, flip, change), indent=2))
        return
    _show(account, rival)
    if flip:
        print("", _change_text(change, against), sep="\n")
    say(*(f"Saved {out}." for out in (html, png) if out is not None))


def _rival(account: Account, against: str | None) -> Label:
    if against is None:
        return account.rival_of(account.most_probable)
    rival = class_of(against, account.states)
    if rival == account.most_probable:
        raise ParameterError(f"{against!r} is the answer itself", fix="name another class, or leave out --against")
    return rival


def _show(account: Account, rival: Label) -> None:
    """Bars in colour on a terminal, plain in a pipe."""
    from rich.console import Console

    from bayeswise.explanations.text import Bars

    console = Console(highlight=False, emoji=False)
    if sys.stdout.isatty():
        console.print(Bars(account, account.weigh(account.most_probable, rival)))
    else:
        print(account.to_text(account.most_probable, rival, width=console.width))


def _draw(account: Account, rival: Label, path: str) -> None:
    from bayeswise.explanations.displays import WaterfallDisplay

    display = WaterfallDisplay.from_account(account, account.most_probable, rival).plot()
    with replacing(path) as file:
        display.figure_.savefig(file, format="png", dpi=150, bbox_inches="tight")


# -- the least change ---------------------------------------------------------------------------------------


def _change(model: NaiveBayesModel, account: Account, to: Label | None) -> Flip | None:
    return least_change(account, alternatives_of(model, account.columns), to)


def _change_text(change: Flip | None, against: str | None) -> str:
    if change is None:
        to = "the answer" if against is None else f"the answer to {against}"
        return f"No change of the columns changes {to}."
    steps = [f"{shown(c.column)}: {value_text(c.before)} -> {value_text(c.after)}" for c in change.changes]
    least = "Least change" if change.proven else "A change"
    share = float(change.account.posterior[change.account.states.index(change.to)])
    return f"{least} that makes it {shown(change.to)} ({share:.4g}): " + "; ".join(steps)


def _facts(account: Account, rival: Label, flip: bool, change: Flip | None) -> dict[str, Any]:
    facts = account.to_dict()
    facts["balance"] = balance_dict(account.weigh(account.most_probable, rival))
    if flip:
        facts["flip"] = None if change is None else _flip_facts(change)
    return facts


def _flip_facts(change: Flip) -> dict[str, Any]:
    return {
        "to": json_value(change.to),
        "proven": change.proven,
        "changes": [
            {"column": step.column, "before": json_value(step.before), "after": json_value(step.after)}
            for step in change.changes
        ],
        "posterior": [float(share) for share in change.account.posterior],
    }
