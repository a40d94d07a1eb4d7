"""bayeswise compare FILE -t TARGET: which model describes a table in the fewest bits, and predicts it best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.options import columns, reading
from bayeswise.foundation.errors import FitError

if TYPE_CHECKING:
    from bayeswise.foundation.arrays import FloatArray


def run(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="A table: files, globs, or - for stdin.")],
    target: Annotated[str, typer.Option("-t", "--target", metavar="COL", help="The column to predict.")],
    costs: Annotated[
        str | None, typer.Option("--costs", metavar="FILE", help="decision.toml, or a CSV: action,STATE,...")
    ] = None,
    category: columns.Categories = None,
    number: columns.Numbers = None,
    count: columns.Counts = None,
    binary: columns.Flags = None,
    ignore: columns.Ignored = None,
    null: columns.NullWords = None,
    delimiter: reading.Delimiter = None,
    encoding: reading.Encoding = None,
    table: reading.TableName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare models of a table by description length and leave-one-out log-loss, errors and cost.

    \b
    bayeswise compare golf.csv -t play
    bayeswise compare golf.csv -t play --costs decision.toml --json

    Bits are the description length of model and rows together; fewer is better. Log-loss, errors and cost are
    leave-one-out (ten folds where the rows choose the families); of a large table, 4,096 to 8,192 rows are left out,
    with the families chosen from all rows. Intervals are 95 %, corrected for shared training rows.
    """
    from bayeswise.cli.output.table_text import as_json as json_text
    from bayeswise.cli.output.writing import say
    from bayeswise.models.description_length.comparing import compare_table

    source = reading.open_table(files, null=null, delimiter=delimiter, encoding=encoding, table=table)
    overrides = columns.asked_for(
        [column.name for column in source.columns],
        category=category,
        number=number,
        count=count,
        binary=binary,
        ignore=ignore,
    )
    lines = compare_table(source, target, _costs_of(costs, target), **overrides)
    if as_json:
        facts = {"target": target, "left_out": lines[0].n_rows, "models": [_facts(line) for line in lines]}
        print(json_text(facts, indent=2))
    else:
        print("\n".join(_page(lines)))
        notes = {"of each fold": "in ten folds that choose their own", "of all rows": "with the families of all rows"}
        chosen = [f"; for families by evidence {notes[each.families]}" for each in lines if each.families in notes]
        say(f"Each of {lines[0].n_rows:,} rows was left out in turn{''.join(chosen)}.")
        say("Intervals are 95 %, corrected for shared training rows.")


def _costs_of(path: str | None, target: str) -> Callable[[tuple[Any, ...]], FloatArray] | None:
    if path is None:
        return None
    from bayeswise.cli.options.costs import read_decision

    decision = read_decision(path)
    if decision.target is not None and decision.target != target:
        raise FitError(f"{path} is about {decision.target!r}, not about {target!r}", fix=f"use -t {decision.target}")
    return lambda classes: decision.costs.aligned(classes).table


def _facts(line: Any) -> dict[str, Any]:
    return {
        "model": line.name,
        "bits": line.bits,
        "log_loss": _finite(line.log_loss),
        "log_loss_interval": list(map(_finite, line.log_loss_interval)),
        "error": line.error,
        "error_interval": list(line.error_interval),
        "cost": line.cost,
        "cost_interval": None if line.cost_interval is None else list(line.cost_interval),
        "families": line.families,
        "parts": [{"name": part.name, "bits": part.bits} for part in line.parts],
    }


def _finite(number: float) -> float | None:
    return number if abs(number) < float("inf") else None


def _page(lines: Sequence[Any]) -> Iterator[str]:
    from bayeswise.render.numbers import interval, number, percent
    from bayeswise.render.terminal import aligned

    with_cost = lines[0].cost is not None
    rows = [["model", "bits", "log-loss", "errors", *(["cost"] if with_cost else [])]]
    for line in lines:
        low, high = line.error_interval
        errors = f"{percent(line.error)} ({interval(100 * low, 100 * high, 3)})"
        low, high = line.cost_interval or (0.0, 0.0)
        cost = [f"{number(line.cost)} ({interval(low, high, 3)})"] if with_cost else []
        rows.append([line.name, f"{line.bits:,.1f}", f"{line.log_loss:.4f}", errors, *cost])
    yield from aligned(rows)
