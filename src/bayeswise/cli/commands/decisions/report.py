"""bayeswise report MODEL FILE --costs decision.toml: an evaluation as one page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from bayeswise.cli.commands.decisions.check import Checking, evaluated
from bayeswise.cli.options import reading
from bayeswise.cli.output.writing import check_output, json_document, say
from bayeswise.foundation.atomic import replacing_text

if TYPE_CHECKING:
    from bayeswise.decisions.costs.costs import Costs
    from bayeswise.decisions.policy.action_account import ActionAccount
    from bayeswise.tables.source import Source


def run(
    model: reading.ModelFile,
    files: reading.LabelledFiles,
    out: Annotated[str, typer.Option("-o", "--output", metavar="OUT", help="Output file.")] = "report.html",
    *,
    checking: Checking,
    reader: reading.Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Also print the figures as JSON.")] = False,
) -> None:
    """Write an HTML report on decision cost: baselines, rows by action, calibration, curves.

    \b
    bayeswise report loan.bayeswise test.csv --costs decision.toml -o report.html

    The page is a single file without scripts or external resources. It ends with an explanation of the closest call of
    each action, except under another prior than the model's.
    """
    from bayeswise.evaluation.report import report_page

    fitted = reading.load_for("report", model, "classes")
    decision = checking.decision(fitted)
    check_output(out, [model, *files, *(each for each in (checking.costs, checking.calibrate) if each)], "html")
    found, used, source, learned = evaluated(fitted, files, decision, checking, reader)
    title = f"Decisions about {fitted.schema.target.name}: {source.description}"
    with replacing_text(out) as page:
        stories: list[ActionAccount] = []
        if not checking.prior and (decision is None or decision.prior is None):
            stories = closest_calls(used, source, found.decisions.costs)
        page.write(report_page(found, title=title, calibrated=used.capabilities.calibrated, stories=stories))
    if as_json:
        print(json_document({**found.to_dict(), "rows_were_learned": learned}))
    say(f"Saved {out}.")


def closest_calls(model: Any, source: Source, costs: Costs) -> list[ActionAccount]:
    """Of each action that is taken, the row in which the next best one is nearest, explained."""
    from bayeswise.decisions.decide import decide

    if len(costs.actions) < 2:
        return []
    decisions = decide(model, source, costs)
    stories = []
    for action in range(len(decisions.actions)):
        rows = np.flatnonzero(decisions.best == action)
        if len(rows):
            row = int(rows[np.argmin(decisions.margin[rows])])
            story = decisions.explain(row)
            title = f"row {row + 1} of {source.description}, the closest call"
            stories.append(replace(story, account=replace(story.account, title=title)))
    return stories
