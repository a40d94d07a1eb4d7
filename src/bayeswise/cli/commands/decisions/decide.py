"""bayeswise decide MODEL FILE --costs decision.toml: the table, with the best action in each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.options import costs as costs_option
from bayeswise.cli.options import reading
from bayeswise.cli.output.writing import TableOutput, say, write_rows
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, UsageError
from bayeswise.foundation.progress import Bar

if TYPE_CHECKING:
    from bayeswise.decisions.costs.costs import Costs


def run(
    model: reading.ModelFile,
    files: reading.Files,
    costs: costs_option.CostsFile,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            "--prior",
            metavar="CLASS=P ...|estimate",
            help="Class priors of these rows, or `estimate` to estimate them from the rows.",
        ),
    ] = None,
    at_most: Annotated[
        list[str] | None,
        typer.Option(
            "--at-most", metavar="ACTION=N|P% ...", help="Capacity: at most N rows, or P% of them, get an action."
        ),
    ] = None,
    novelty: Annotated[
        float | None,
        typer.Option(
            "--novelty",
            metavar="P",
            help="Mark a row `unknown` if less than this share of rows would be as unlikely under the model.",
        ),
    ] = None,
    calibrate: costs_option.LearnedTable = None,
    why: Annotated[
        bool, typer.Option("--why", help="Append the strongest reasons for and against the action.")
    ] = False,
    *,
    output: TableOutput,
    reader: reading.Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document: rows and totals.")] = False,
) -> None:
    """Append the action of least expected cost to a table.

    \b
    bayeswise decide loan.bayeswise new.csv --costs decision.toml > actions.csv
    bayeswise decide mail.bayeswise - --costs decision.toml --prior spam=.2 < mail.csv
    bayeswise decide mail.bayeswise mail.csv --costs decision.toml --at-most ask=5% --novelty 0.001
    bayeswise decide loan.bayeswise new.csv --costs decision.toml --calibrate train.csv
    bayeswise decide loan.bayeswise new.csv --costs decision.toml --why

    Appends action, expected_cost, runner_up and p_CLASS. Costs may be formulas over columns, such as "0.1 * amount".
    --at-most minimizes the total expected cost under the capacity, and reads the whole table first. For a regression
    the action is a number; [number] in the costs file gives the cost per unit of too little (under) and too much
    (over). --why appends the three columns with the largest effect on the odds: × 3 triples the odds in favour of the
    action, × 0.5 halves them. `bayeswise explain --costs` explains one row in full.
    """
    from bayeswise.cli.output.answer_stream import kept_columns

    fitted = reading.load_for("decide", model)
    written = output.checked([model, costs, *files, *([calibrate] if calibrate else [])], as_json=as_json)
    opened = partial(reader.open, like=fitted.schema)
    calibrated = None if calibrate is None else partial(costs_option.calibrated_model, fitted, calibrate, opened)
    route = deciding(fitted, costs, calibrated, prior=prior, at_most=at_most or [], novelty=novelty, why=why)
    source = opened(files, once=True)
    kept, _ = kept_columns(output.keep, source.columns, source.description)
    layout = route.layout(kept)
    with Bar(f"deciding {source.description}", shown=output.out is not None) as bar:
        rows = route.rows(source, bar, layout)
        text = written.text(
            source, fitted.schema, as_json=as_json, raw=output.raw, about=route.about, totals=rows.totals
        )
        write_rows(rows, layout.names, text, output.out)
    say(rows.summary())
    if output.is_file:
        say(f"Saved {output.out}.")


@dataclass(frozen=True)
class Route:
    """How a kind of model is decided on: which columns come out, what fills them, and what JSON says first."""

    layout: Callable[[list[str]], Any]
    rows: Callable[[Any, Bar, Any], Any]
    about: dict[str, Any]


def deciding(
    model: Any,
    costs: str,
    calibrated: Callable[[Costs], Any] | None = None,
    *,
    prior: list[str] | None,
    at_most: list[str],
    novelty: float | None,
    why: bool = False,
) -> Route:
    """How a model of classes decides, its posterior calibrated, or a regression of a number."""
    if not model.capabilities.classes:
        return _of_numbers(model, costs, bool(prior or at_most or calibrated or why or novelty is not None))
    from bayeswise.cli.output.decided_rows import DecidedLayout, DecidedRows, Limits

    decision = costs_option.read_decision(costs, model)
    limits = replace(Limits.typed(at_most, novelty, decision.costs), estimate=prior == ["estimate"])
    if why and (limits.at_most or limits.estimate):
        raise UsageError(
            "--why is about one row alone, and with --at-most or --prior estimate all rows decide together",
            fix="leave one of them out",
        )
    shifted = None if limits.estimate else costs_option.new_prior(decision, prior, model.classes)
    evaluated = model if calibrated is None else calibrated(decision.costs)
    return Route(
        lambda kept: DecidedLayout.named(kept, model.classes, novelty=novelty is not None, why=why),
        lambda source, bar, layout: DecidedRows(
            evaluated, source, bar, layout, decision.costs, shifted, limits, why=why
        ),
        {"classes": list(model.classes), "actions": list(decision.costs.actions)},
    )


def _of_numbers(model: Any, costs: str, has_class_options: bool) -> Route:
    from bayeswise.cli.output.decided_rows import DecidedNumbers, number_layout
    from bayeswise.decisions.costs.decision_file import read_number

    if has_class_options:
        raise UsageError(
            "--prior, --at-most, --novelty, --why and --calibrate are about classes, and this model predicts a number",
            fix="leave them out",
        )
    target, number = read_number(costs)
    if target is not None and target != model.schema.target.name:
        raise FitError(
            f"{costs} is about {target!r}; the model is about {model.schema.target.name!r}", fix="name another model"
        )
    return Route(
        number_layout,
        lambda source, bar, layout: DecidedNumbers(
            model, reading.Watched(source, bar, also=layout.kept), layout, number
        ),
        {"loss": number.loss, "under": number.under, "over": number.over},
    )
