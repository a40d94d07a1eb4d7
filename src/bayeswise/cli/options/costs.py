"""Options of the verbs about decisions: a decision.toml or a table of costs, and --calibrate."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from bayeswise.cli.options.reading import Kinds
from bayeswise.cli.output.writing import say
from bayeswise.foundation.errors import CostError, FitError, PriorError, UsageError, listed
from bayeswise.foundation.progress import Bar

if TYPE_CHECKING:
    from bayeswise.decisions.costs.costs import Costs
    from bayeswise.decisions.costs.decision_file import DecisionFile
    from bayeswise.foundation.arrays import FloatArray
    from bayeswise.tables.source import Source


CostsFile: TypeAlias = Annotated[
    str, typer.Option("--costs", metavar="FILE", help="decision.toml, or a CSV with action,STATE,... columns.")
]
OptionalCosts: TypeAlias = Annotated[
    str | None, typer.Option("--costs", metavar="FILE", help="decision.toml, or a CSV: action,STATE,...")
]
Prior: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--prior", metavar="CLASS=P ...", help="Class priors of these rows, if they differ from the model's."),
]


def read_decision(path: str, model: Any = None) -> DecisionFile:
    """The file, its warnings on stderr; of a model: its target checked, its costs in the order of the classes.

    What is wrong with the file comes before any warning, which may be about the same mistake.
    """
    from bayeswise.decisions import CostWarning
    from bayeswise.decisions.costs.decision_file import DecisionFile

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CostWarning)
        decision = DecisionFile.read(path, None if model is None else model.classes)
        if model is not None:
            decision = _about_model(decision, path, model)
    say(*(f"{path}: {each.message}." for each in caught))
    return decision


def _about_model(decision: DecisionFile, path: str, model: Any) -> DecisionFile:
    """Target and prior checked, the costs in the order of the classes; errors name the file."""
    target = model.schema.target.name
    if decision.target is not None and decision.target != target:
        raise FitError(
            f"{path} is about {decision.target!r}; the model is about {target!r}",
            fix=f"write target = {json.dumps(target)} in {path}, or name another model",
        )
    with naming(path):
        decision.prior_of(model.classes)
        return replace(decision, costs=decision.costs.aligned(model.classes))


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Put the name of the file before errors about its costs and its prior."""
    try:
        yield
    except (CostError, PriorError) as error:
        if error.what.startswith(path):
            raise
        raise type(error)(f"{path}: {error.what}", fix=error.fix) from None


def new_prior(
    decision: DecisionFile | None, typed: Sequence[str] | None, classes: tuple[Any, ...]
) -> FloatArray | None:
    """(n_states,) the prior that was typed, else that of the file, else none."""
    if typed:
        from bayeswise.cli.options.fitting import prior_of
        from bayeswise.posteriors.prior import prior_by_state

        return prior_by_state(prior_of(typed, classes), classes)
    return None if decision is None else decision.prior_of(classes)


Decision: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--decision",
        metavar="FILE",
        help="decision.toml: take target and kinds from it, unless given as options, and for --choose best the costs.",
    ),
]


def target_and_kinds(path: str | None, target: str | None, kinds: Kinds) -> tuple[str | None, Kinds]:
    """What was typed, and what the file adds to it; a column that was typed keeps its kind.

    >>> target_and_kinds(None, "play", Kinds(category=["zip"]))[1].category
    ['zip']
    """
    if path is None:
        return target, kinds
    from bayeswise.decisions.costs.decision_file import read_columns

    named_target, named_kinds = read_columns(path)
    found = dict(vars(kinds))
    typed = {name for columns in found.values() for name in columns or ()}
    for column, named in named_kinds.items():
        kind = "ignore" if named == "ignored" else named  # as the options are called
        if column not in typed:
            found[kind] = [*(found[kind] or ()), column]
    return target or named_target, Kinds(**found)


def costs_to_choose_by(path: str | None) -> str | None:
    """The decision file again if its costs can choose a model; with a note where they differ from row to row."""
    from bayeswise.decisions.costs.decision_file import DecisionFile

    if path is None or not has_costs(path):
        return None
    with warnings.catch_warnings(action="ignore"):  # said where the costs are used
        costs = DecisionFile.read(path).costs
    if costs.constant:
        return path
    columns = listed(map(repr, costs.columns))
    say(
        f"Note: --choose best: the costs of {path} depend on {columns}, and costs that differ from row to row choose "
        "no model: it is the one of least log-loss."
    )
    return None


def has_costs(path: str) -> bool:
    """Whether a decision file that can be read again has costs, and not only a target and kinds."""
    from bayeswise.decisions.costs.tables import read_document
    from bayeswise.foundation.file_bytes import is_stream

    if is_stream(path):
        return False
    document = read_document(path)
    return not isinstance(document, dict) or not document.keys().isdisjoint(("costs", "utilities", "number"))


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
    from bayeswise.evaluation.reliability import calibrated

    source = opened([learned])
    with Bar(f"leaving out the rows of {source.description}") as bar:
        found = calibrated(model, source, costs, progress=bar.advance)
    kind = "leave-one-out predictions" if found.how == "leave-one-out" else f"predictions in {found.how}"
    rows = f"{found.n_rows:,} {kind} of {source.description} ({model.class_weight.sum():,.10g} rows learned)"
    say(f"Calibrated on {rows}." if found.changes else f"Calibration on {rows} leaves the posteriors as they are.")
    return found
