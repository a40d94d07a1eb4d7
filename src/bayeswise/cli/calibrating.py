"""The option --calibrate of the verbs about decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from bayeswise.cli.writing import say
from bayeswise.foundation.progress import Bar

if TYPE_CHECKING:
    from bayeswise.decisions.costs import Costs
    from bayeswise.tables.source import Source

LearnedTable: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--calibrate",
        metavar="LEARNED",
        help="The table that the model learned: its rows, each left out, mend posteriors that are too sure.",
    ),
]


def mended(model: Any, learned: str | None, opened: Callable[[list[str]], Source], costs: Costs | None) -> Any:
    """The model as it is without a table; else with its calibration, which is told of; `opened` reads tables."""
    if learned is None:
        return model
    from bayeswise.evaluation.calibrated import calibrated

    source = opened([learned])
    with Bar(f"leaving out the rows of {source.description}") as bar:
        found = calibrated(model, source, costs, progress=bar.advance)
    verdict = "mend the posteriors" if found.changes else "find the posteriors right as they are"
    say(f"Calibrated: {found.n_rows:,} learned rows of {source.description}, each left out, {verdict}.")
    return found
