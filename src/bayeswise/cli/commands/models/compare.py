"""bayeswise compare FILE -t TARGET: every kind of model by rows that it never saw, or by description length."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import typer

from bayeswise.cli.options import reading
from bayeswise.cli.options.command import AsJson
from bayeswise.cli.options.costs import OptionalCosts, naming, read_decision
from bayeswise.cli.output.writing import json_document, say
from bayeswise.foundation.errors import FitError, UsageError, listed
from bayeswise.foundation.file_bytes import is_stream
from bayeswise.foundation.progress import Bar
from bayeswise.render.labels import quoted
from bayeswise.render.numbers import interval, number, percent, plural
from bayeswise.render.plain import json_number
from bayeswise.render.terminal import aligned

if TYPE_CHECKING:
    from bayeswise.decisions.costs.decision_file import DecisionFile
    from bayeswise.evaluation.model_comparison import Compared, Comparison
    from bayeswise.foundation.arrays import FloatArray
    from bayeswise.statistics.intervals import Estimate
    from bayeswise.tables.source import Source


def run(
    files: reading.Files,
    target: Annotated[
        str | None, typer.Option("-t", "--target", metavar="COL", help="The column to predict [that of --costs].")
    ] = None,
    costs: OptionalCosts = None,
    by: Annotated[
        Literal["log-loss", "cost", "bits"] | None,
        typer.Option("--by", help="Criterion [cost with --costs, else log-loss]; bits: description length."),
    ] = None,
    models: Annotated[
        str | None, typer.Option("--models", metavar="A,B", help="Kinds of models to compare [all classifiers].")
    ] = None,
    cv: Annotated[int, typer.Option("--cv", metavar="N", min=2, help="Number of folds.")] = 5,
    *,
    kinds: reading.Kinds,
    reader: reading.Reading,
    as_json: AsJson = False,
) -> None:
    """Compare all kinds of models on a table by cross-validated log-loss, or by the cost of their decisions.

    \b
    bayeswise compare golf.csv -t play
    bayeswise compare loans.csv --costs decision.toml --models naive-bayes,logistic,tan
    bayeswise compare golf.csv -t play --by bits

    Everything that rows select (cuts, graphs, families, weights) is selected again in each fold. The best model comes
    first, marked with *; = marks models that do not differ significantly from it (paired by row). The baseline predicts
    the class shares of the other folds. Intervals are 95 %, corrected for shared training rows. With --by bits variants
    of naive Bayes are compared by description length (bits of the model plus bits of the rows): as it is, averaged over
    its columns, that with families by evidence where a number has a choice of them, and the class shares alone.
    """
    source = reader.open(files)
    overrides = kinds.overrides([column.name for column in source.columns])
    if by == "cost" and costs is None:
        raise UsageError("--by cost needs costs", fix="add --costs decision.toml")
    decision = None if costs is None else read_decision(costs)
    target = _target(target, decision, costs)
    if by == "bits":
        if models is not None:
            raise UsageError(
                "--models is for --by log-loss and cost: by bits only variants of naive Bayes are compared",
                fix="leave out --models, or --by bits",
            )
        _by_bits(source, target, decision, overrides, as_json)
        return
    from bayeswise.evaluation.model_comparison import compare_models

    named = nullcontext() if costs is None else naming(costs)
    with Bar(f"comparing models of {source.description}") as bar, warnings.catch_warnings(), named:
        warnings.simplefilter("ignore")  # of models that are only tried
        found = compare_models(
            source,
            target,
            None if decision is None or by == "log-loss" else decision.costs,
            models=None if models is None else [name.strip() for name in models.split(",")],
            cv=cv,
            progress=lambda kind: bar.rename(f"comparing: {kind}"),
            **{name: value for name, value in overrides.items() if value},
        )
    command = fit_command(files, target, found.best.name, vars(kinds), vars(reader), costs)
    if as_json:
        print(json_document(comparison_facts(found, target, command)))
        return
    print("\n".join(comparison_lines(found)))
    say(*(f"{name}: {error.what}." for name, error in found.failed.items()))
    say(*baseline_notes(found))
    say(f"{found.n_rows:,} rows, {found.how}; intervals are 95 %, corrected for shared training rows.")
    say(f"Take it: {command}")


def fit_command(
    files: Sequence[str],
    target: str,
    model: str,
    kinds: Mapping[str, Any],
    reader: Mapping[str, Any],
    costs: str | None,
) -> str:
    """What to type to learn the winner: the options about reading go along, and what was piped is a FILE.

    >>> fit_command(["-"], "play", "tan", {"ignore": ["id"]}, {"null": [""], "header": False, "table": "a b"}, None)
    "bayeswise fit FILE -t play --model tan --ignore id --null '' --no-header --table 'a b'"
    """
    words = ["bayeswise", "fit", *("FILE" if is_stream(file) else file for file in files)]
    words += ["-t", target, "--model", model]
    for option, value in {**kinds, **reader}.items():
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            values = [value] if isinstance(value, str) else value or ()
            words += [word for each in values for word in (f"--{option}", each)]
    return shlex.join([*words, *(["--decision", costs] if costs is not None and costs.endswith(".toml") else [])])


def baseline_notes(found: Comparison) -> Iterator[str]:
    """Where no model is better than the class shares, and where rows count for less than they cost."""
    if not found.beats_baseline:
        what = "cost" if found.by == "cost" else "log-loss"
        yield f"No model has a {what} clearly below that of the baseline, the class shares alone."
    if found.unlearned:
        rows = sum(found.unlearned.values())
        classes = listed([quoted(label) for label in found.unlearned])
        yield (
            f"{plural(rows, 'row')} of a class without a row outside the fold ({classes}): no model can know it, and "
            f"the row counts log({found.n_rows:,}) = {np.log(found.n_rows):.4g} nats."
        )


def comparison_lines(found: Comparison) -> Iterator[str]:
    """The table, the best first."""
    with_cost = found.by == "cost"
    rows = [["", "model", *(["cost per case"] if with_cost else []), "log-loss", "errors", "worse than the best by"]]

    def value_of(line: Compared) -> float:
        return (line.cost if with_cost else line.log_loss).mean

    for line in sorted([*found.models, found.baseline], key=value_of):
        mark = "*" if line is found.best else "=" if line.as_good else ""
        worse = ""
        if line.difference is not None:
            worse = f"{number(line.difference.mean)} ({interval(line.difference.low, line.difference.high, 3)})"
        cost = [f"{number(line.cost.mean)} ({interval(line.cost.low, line.cost.high, 3)})"] if with_cost else []
        loss = f"{line.log_loss.mean:.4f} ({interval(line.log_loss.low, line.log_loss.high, 3)})"
        rows.append([mark, line.name, *cost, loss, percent(line.error), worse])
    yield from aligned(rows)


def comparison_facts(found: Comparison, target: str, command: str) -> dict[str, Any]:
    """The same as plain data."""

    def estimate(each: Estimate | None) -> dict[str, Any] | None:
        if each is None:
            return None
        return {"mean": json_number(each.mean), "low": json_number(each.low), "high": json_number(each.high)}

    def facts_of(line: Compared) -> dict[str, Any]:
        return {
            "model": line.name,
            "log_loss": estimate(line.log_loss),
            "error": line.error,
            "cost": estimate(line.cost) if found.by == "cost" else None,
            "difference": estimate(line.difference),
            "as_good_as_the_best": line.as_good,
        }

    return {
        "target": target,
        "by": found.by,
        "rows": found.n_rows,
        "how": found.how,
        "interval": found.best.evaluation.interval,
        "best": found.best.name,
        "fit": command,
        "models": [facts_of(line) for line in found.models],
        "baseline": facts_of(found.baseline),
        "beats_baseline": found.beats_baseline,
        "unlearned_rows": sum(found.unlearned.values()),
        "failed": {name: {"what": error.what, "fix": error.fix} for name, error in found.failed.items()},
    }


def _by_bits(
    source: Source, target: str, decision: DecisionFile | None, overrides: dict[str, Any], as_json: bool
) -> None:
    from bayeswise.models.description_length.comparing import LEVEL, compare_table

    interval = f"{100 * LEVEL:.4g} % interval, corrected for shared training rows"
    lines = compare_table(source, target, _costs_of(decision), **overrides)
    if as_json:
        left_out = {"target": target, "left_out": lines[0].n_rows, "interval": interval}
        facts = {**left_out, "models": [_facts(line) for line in lines]}
        print(json_document(facts))
        return
    print("\n".join(_page(lines)))
    notes = {"of each fold": "in ten folds that choose their own", "of all rows": "with the families of all rows"}
    chosen = [f"; for families by evidence {notes[each.families]}" for each in lines if each.families in notes]
    say(f"Each of {lines[0].n_rows:,} rows was left out in turn{''.join(chosen)}.")
    say("Intervals are 95 %, corrected for shared training rows.")


def _target(typed: str | None, decision: DecisionFile | None, path: str | None) -> str:
    """The target that was typed, or that of the decision file; both must be the same."""
    named = None if decision is None else decision.target
    if typed is not None and named is not None and named != typed:
        raise FitError(f"{path} is about {named!r}, not about {typed!r}", fix=f"use -t {named}")
    found = typed or named
    if found is None:
        missing = "" if path is None else f", and {path} names none"
        raise UsageError(f"there is no target{missing}", fix="add -t COL; `bayeswise look FILE` shows the columns")
    return found


def _costs_of(decision: DecisionFile | None) -> Callable[[tuple[Any, ...]], FloatArray] | None:
    if decision is None:
        return None
    return lambda classes: decision.costs.aligned(classes).table


_FITTED: dict[str, dict[str, Any]] = {
    "baseline (prior only)": {"model": "averaged", "settings": {"relevance": 0}},
    "naive Bayes": {"model": "naive-bayes", "settings": {}},
    "averaged": {"model": "averaged", "settings": {}},
    "averaged, families by evidence": {"model": "averaged", "settings": {"family": "select"}},
}
"""The --model and options with which `bayeswise fit` learns a variant of naive Bayes."""


def _facts(line: Any) -> dict[str, Any]:
    return {
        "model": line.name,
        "fit": _FITTED[line.name],
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
    with_cost = lines[0].cost is not None
    rows = [["model", "bits", "log-loss", "errors", *(["cost"] if with_cost else [])]]
    for line in lines:
        low, high = line.error_interval
        errors = f"{percent(line.error)} ({interval(100 * low, 100 * high, 3)})"
        low, high = line.cost_interval or (0.0, 0.0)
        cost = [f"{number(line.cost)} ({interval(low, high, 3)})"] if with_cost else []
        rows.append([line.name, f"{line.bits:,.1f}", f"{line.log_loss:.4f}", errors, *cost])
    yield from aligned(rows)
