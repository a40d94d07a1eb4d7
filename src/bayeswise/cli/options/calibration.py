"""The option --calibrate of the verbs about decisions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from bayeswise.cli.output.writing import say
from bayeswise.foundation.errors import UsageError
from bayeswise.foundation.progress import Bar

if TYPE_CHECKING:
    from bayeswise.decisions.costs.costs import Costs
    from bayeswise.tables.source import Source

LearnedTable: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--calibrate",
        metavar="LEARNED",
        help="Calibrate posteriors on leave-one-out predictions of the training table.",
    ),
]


def refuse_its_own_rows(learned: str | None, evaluated: Sequence[str], cv: str | None) -> None:
    """Rows that a calibration was fitted to are not a test of it."""
    if learned is not None and (cv is not None or any(_same_file(learned, each) for each in evaluated)):
        raise UsageError(
            "--calibrate cannot be checked on the rows it is fitted to", fix="check rows that are new to the model"
        )


def _same_file(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def calibrated_model(
    model: Any, learned: str | None, opened: Callable[[list[str]], Source], costs: Costs | None
) -> Any:
    """The model as it is without a table; else with its calibration, which is reported; `opened` reads tables."""
    if learned is None:
        return model
    from bayeswise.evaluation.calibrated import calibrated

    source = opened([learned])
    with Bar(f"leaving out the rows of {source.description}") as bar:
        found = calibrated(model, source, costs, progress=bar.advance)
    kind = "leave-one-out predictions" if found.how == "leave-one-out" else f"predictions in {found.how}"
    rows = f"{found.n_rows:,} {kind} of {source.description} ({model.class_weight.sum():,.10g} rows learned)"
    say(f"Calibrated on {rows}." if found.changes else f"Calibration on {rows} leaves the posteriors as they are.")
    return found
