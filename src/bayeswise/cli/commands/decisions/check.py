"""bayeswise check MODEL FILE --costs decision.toml: what decisions cost on labelled rows."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeswise.cli.options import costs as costs_option
from bayeswise.cli.options import reading
from bayeswise.cli.output.writing import json_document, say
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CheckFailed, UsageError
from bayeswise.foundation.progress import Bar
from bayeswise.render.numbers import number

if TYPE_CHECKING:
    from bayeswise.decisions.costs.decision_file import DecisionFile
    from bayeswise.evaluation.evaluate import Evaluation
    from bayeswise.tables.source import Source


@dataclass(frozen=True)
class Checking:
    """The options of an evaluation: by which costs, for which prior, on which rows, calibrated or not."""

    costs: Annotated[
        str | None, typer.Option("--costs", metavar="FILE", help="decision.toml or a CSV of costs (default: 0-1 loss).")
    ] = None
    prior: costs_option.Prior = None
    cv: Annotated[
        str | None,
        typer.Option("--cv", metavar="loo|K", help="Cross-validate on the training rows: leave-one-out or K folds."),
    ] = None
    calibrate: costs_option.LearnedTable = None

    def decision(self, model: Any) -> DecisionFile | None:
        """The costs, checked against the model."""
        return None if self.costs is None else costs_option.read_decision(self.costs, model)


def run(
    model: reading.ModelFile,
    files: reading.LabelledFiles,
    *,
    checking: Checking,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", metavar="X", help="Exit with code 5 if the mean cost is higher.")
    ] = None,
    reader: reading.Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure the cost per case of a model's decisions on labelled rows, beside baselines.

    \b
    bayeswise check loan.bayeswise test.csv --costs decision.toml --max-cost 3.5
    bayeswise check loan.bayeswise train.csv --costs decision.toml --cv loo
    bayeswise check loan.bayeswise test.csv --costs decision.toml --calibrate train.csv

    Without --cv the rows must not be training rows. --prior, or the prior of the costs file, applies to these rows.
    """
    if max_cost is not None and math.isnan(max_cost):
        raise UsageError("--max-cost is not a number", fix="write what a case may cost, such as 3.5")
    from bayeswise.evaluation.report import promise_lines

    fitted = reading.load_for("check", model, "classes")
    found, used, _, learned = evaluated(fitted, files, checking.decision(fitted), checking, reader)
    facts = {**found.to_dict(), "max_cost": max_cost, "rows_were_learned": learned}
    print(json_document(facts) if as_json else found.to_text())
    if checking.cv is not None or not learned:  # of learned rows as they are nothing follows
        say(*promise_lines(found, calibrated=used.capabilities.calibrated))
    if max_cost is not None and not found.cost_per_case.mean <= max_cost:
        raise CheckFailed(f"a case costs {number(found.cost_per_case.mean, 6)}, more than {max_cost:g}")


def evaluated(
    model: Any, files: list[str], decision: DecisionFile | None, checking: Checking, reader: reading.Reading
) -> tuple[Evaluation, Any, Source, bool]:
    """What `decide` would do with these rows and what that costs, by which model, the rows, and if they were learned.

    The model is the one that was evaluated: calibrated if --calibrate is given.
    """
    from bayeswise.evaluation.evaluate import evaluate

    opened = partial(reader.open, like=model.schema)
    costs_option.refuse_its_own_rows(checking.calibrate, files, checking.cv)
    folds = folds_of(checking.cv)
    source, costs = opened(files), decision.costs if decision else None
    calibrated = costs_option.calibrated_model(model, checking.calibrate, opened, costs)
    moved = costs_option.new_prior(decision, checking.prior, model.classes)
    if moved is not None and folds is not None and not checking.prior:
        say("The prior in the costs file is not that of the training rows; with --cv it is ignored.")
        moved = None
    named = None if moved is None else dict(zip(model.classes, moved.tolist(), strict=True))
    with Bar(f"checking {source.description}") as bar:
        found = evaluate(calibrated, source, costs, cv=folds, prior=named, progress=bar.advance)
    learned = folds is not None or are_learned_rows(model, found, source)
    if learned and folds is None:
        folded = "loo" if model.capabilities.leave_one_out and few_enough(model, len(found.truth)) else "10"
        say(
            f"These are the rows that the model has learned: what its decisions cost on new rows is not seen here. "
            f"Fix: add --cv {folded}, or check other rows than {source.description}."
        )
    return found, calibrated, source, learned


def are_learned_rows(model: Any, found: Evaluation, source: Source) -> bool:
    """Whether the model was made of just these rows; their number is seen at once, the rest by another sweep."""
    if not model.capabilities.forgets:  # weights alone do not identify the rows they were learned from
        return False
    same_number = math.isclose(found.weights.sum(), model.class_weight.sum(), rel_tol=1e-9)
    return same_number and bool(model.has_learned_exactly(source))


def few_enough(model: Any, n_rows: int) -> bool:
    """Whether each row can be left out by a fit of its own, where rows select something."""
    from bayeswise.models.relearning import MOST_CELLS

    return not model.selected_by_rows or n_rows * n_rows * int(model.cells_per_row) <= MOST_CELLS


def folds_of(cv: str | None) -> int | str | None:
    """--cv as it was typed.

    >>> folds_of("5"), folds_of("loo"), folds_of(None)
    (5, 'loo', None)
    """
    if cv is None or cv == "loo":
        return cv
    if not cv.isdecimal() or int(cv) < 2:
        raise UsageError(f"--cv is {cv!r}", fix="write loo, or at least 2 folds")
    return int(cv)
