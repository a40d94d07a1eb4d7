"""bayeswise next-test MODEL --row COL=VALUE ... --costs decision.toml: which empty column to look up next, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.options import costs as costs_option
from bayeswise.cli.options import reading
from bayeswise.cli.options.pairs import numbers_by_name
from bayeswise.cli.options.reading import load_for
from bayeswise.cli.output.writing import json_document
from bayeswise.render.numbers import exact, number
from bayeswise.render.terminal import aligned

if TYPE_CHECKING:
    from bayeswise.decisions.information import NextTest


def run(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A naive or Gaussian Bayes model file.")],
    costs: costs_option.CostsFile,
    row: Annotated[
        list[str] | None,
        typer.Option("--row", metavar="COL=VALUE ...", help="Known cells of the row; all others are missing."),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(
            "--price", metavar="COL=COST ...", help="Price of looking up a column; overrides [prices] of the file."
        ),
    ] = None,
    prior: costs_option.Prior = None,
    depth: Annotated[
        int, typer.Option("--depth", metavar="N", min=1, max=4, help="Number of tests to plan ahead.")
    ] = 1,
    null: reading.NullWords = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every test with its value as JSON.")] = False,
) -> None:
    """Show which missing value of a row is most worth its price, and whether to stop.

    \b
    bayeswise next-test loan.bayeswise --row income=low --costs decision.toml
    bayeswise next-test loan.bayeswise --row income=low --costs decision.toml --price history=5 --depth 2

    The value of a test is the expected saving of the best action once the outcome is known. Columns without a price
    are free.
    """
    from bayeswise.cli.options.one_row import typed_row
    from bayeswise.evaluation.empty_columns import next_test_for

    fitted = load_for("next-test", model, "classes")
    decision = costs_option.read_decision(costs, fitted)
    one = typed_row(fitted, row or [], null)
    table = decision.costs
    if not table.constant:
        table = table.for_row(_numbers(one.cells, table.columns))
    answer = next_test_for(
        fitted,
        one.batch,
        table,
        {**decision.prices, **numbers_by_name(price or [], "--price", "lab=5")},
        prior=costs_option.new_prior(decision, prior, fitted.classes),
        depth=depth,
    )
    print(json_document(_facts(answer)) if as_json else "\n".join(_lines(answer)))


def _numbers(cells: Any, names: tuple[str, ...]) -> dict[str, float]:
    return {name: float(exact(cells[name], f"--row {name}")) for name in names if name in cells}


def _facts(answer: NextTest) -> dict[str, Any]:
    from bayeswise.render.plain import json_value

    return {
        "next": None if answer.best is None else answer.best.column,
        "stop": answer.best is None,
        "action": json_value(answer.action),
        "expected_cost": answer.expected_cost,
        "planned_cost": answer.planned_cost,
        "perfect_information": answer.perfect,
        "posterior": {str(state): p for state, p in answer.posterior.items()},
        "tests": [
            {"column": test.column, "value": test.value, "price": test.price, "net": test.net} for test in answer.tests
        ],
        "left_out": [{"column": name, "reason": reason} for name, reason in answer.left_out.items()],
    }


def _lines(answer: NextTest) -> list[str]:
    now, perfect = number(answer.expected_cost), number(answer.perfect)
    lines = [f"now: {answer.action} at {now}; knowing the state is worth {perfect}"]
    tests = [
        (
            test.column,
            f"worth {number(test.value)}",
            f"price {number(test.price)}",
            f"net {number(test.net, signed=True)}",
        )
        for test in answer.tests
    ]
    lines += aligned(tests, (), indent="  ")
    lines += [f"  {name}: left out, {reason}" for name, reason in answer.left_out.items()]
    return [*lines, f"next: {answer.best.column}" if answer.best else f"stop and {answer.action}"]
