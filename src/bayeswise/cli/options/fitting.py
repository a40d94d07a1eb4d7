"""What `fit` is asked for, from what was typed: kinds, families, smoothing, priors; and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bayeswise.cli.options import columns
from bayeswise.cli.options.pairs import by_name, by_number, class_of
from bayeswise.cli.options.settings import NETWORKS, REGRESSIONS, missing_of, numbers_of, option, weights_prior
from bayeswise.cli.output.model_facts import (
    calibration_of,
    class_prior,
    class_weights,
    columns_of,
    convention_of,
    regression_of,
    temper_of,
)
from bayeswise.cli.output.writing import say
from bayeswise.foundation.errors import ParameterError, PriorError, UsageError
from bayeswise.models.fitting import learned
from bayeswise.models.naive_bayes import select
from bayeswise.posteriors.prior import SUM_TOLERANCE
from bayeswise.render.numbers import exact
from bayeswise.tables.encoding.encoder import Report
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.schema.notes import shown
from bayeswise.tables.source import Source


@dataclass(frozen=True)
class FitRequest:
    """What was typed about the model, its columns and its beliefs."""

    kind: str
    kinds: dict[str, list[str] | None]
    levels: list[str] | None
    weight: str | None
    missing: list[str] | None
    unseen: list[str] | None
    family: list[str] | None
    beliefs: dict[str, Any]
    prior: list[str] | None

    def learned(self, source: Source, target: str) -> tuple[Any, Report]:
        """The model of a table, and what was met on the way; why a family was selected is said on stderr."""
        if self.kind in REGRESSIONS:
            asked = {**self.about_columns(source), **missing_of(self.missing), **weights_prior(self.kind, self.prior)}
            return learned(source, target, model=self.kind, **asked, **self.beliefs)
        check_prior(self.prior or ())
        about_columns = self.about_columns(source)
        if self.kind == "gaussian":
            model, report = learned(source, target, model="gaussian", **about_columns, **self.beliefs)
            return self.with_prior(model), report
        if self.kind in NETWORKS:
            return self._network(source, target, about_columns)
        model, report = self._naive(source, target, about_columns)
        return self.with_prior(model), report

    def _naive(self, source: Source, target: str, about_columns: dict[str, Any]) -> tuple[Any, Report]:
        asked: dict[str, Any] = {**about_columns, "families": families(self.family)}
        if asked["families"] == "select":
            schema = infer_schema(source, target, **about_columns)
            selection = select(source, schema)
            say(*(f"{shown(choice.column)}: {choice.reason}." for choice in selection.choices))
            asked = {"schema": schema, "families": selection}
        return learned(source, target, model=self.kind, **asked, **self.beliefs)

    def _network(self, source: Source, target: str, about_columns: dict[str, Any]) -> tuple[Any, Report]:
        """A given prior is part of the search for a graph: the class then has no parents."""
        names = [column.name for column in source.columns]
        cuts = by_name(self.beliefs.get("cuts", ()), names, "--cuts", "age=30,50")
        numbers = {name: numbers_of(text, f"--cuts {name}={text}") for name, text in cuts.items()}
        asked = {**about_columns, **self.beliefs, "cuts": numbers}
        model, report = learned(source, target, model=self.kind, **asked)
        if self.prior and self.kind == "markov-blanket":
            return learned(source, target, model=self.kind, class_prior=prior_of(self.prior, model.classes), **asked)
        return self.with_prior(model), report

    def about_columns(self, source: Source) -> dict[str, Any]:
        """What was typed about the columns of this table."""
        names = [column.name for column in source.columns]
        asked = columns.asked_for(names, **self.kinds)
        declared = by_name(self.levels or (), names, "--levels", "size=S,M,L")
        asked["levels"] |= {name: levels.split(",") for name, levels in declared.items()}
        asked |= {"weight": self.weight, "unseen": policies(self.unseen, names, "--unseen")}
        if self.kind not in REGRESSIONS:
            asked["missing"] = policies(self.missing, names, "--missing")
        return asked

    def with_prior(self, model: Any) -> Any:
        """The model with the prior that was typed, if there was one."""
        return model.changed(class_prior=prior_of(self.prior, model.classes)) if self.prior else model

    def nothing_beside(self, like: Any, target: str | None) -> None:
        """Refuse what was typed beside a model whose columns and settings are to be taken."""
        apart = {name: value for name, value in vars(self).items() if name not in ("kind", "kinds", "beliefs")}
        typed = [name for name, value in {**self.kinds, **apart, **self.beliefs}.items() if value is not None]
        if typed:
            raise UsageError(
                f"--like takes columns and settings from a model, so {option(typed[0])} has no say",
                fix="leave out either of them",
            )
        if target is not None and like.schema.target is not None:
            find_name(target, [like.schema.target.name], where="the model of --like", role="target")


def families(pieces: Sequence[str] | None) -> str | dict[str, str]:
    """COL=FAMILY for some columns, or one FAMILY for all numbers.

    >>> families(["visits=poisson", "age=gamma"]), families(["laplace"]), families(None)
    ({'visits': 'poisson', 'age': 'gamma'}, 'laplace', 'auto')
    """
    if not pieces:
        return "auto"
    if len(pieces) == 1 and "=" not in pieces[0]:
        return pieces[0]
    return by_number(pieces, "--family", "visits=poisson")


def policies(pieces: Sequence[str] | None, names: Sequence[str], option: str) -> dict[str, str]:
    """POLICY for all columns, COL=POLICY for one.

    >>> policies(["level", "age=ignore"], ["age", "wind"], "--missing")
    {'age': 'ignore', 'wind': 'level'}
    """
    general = [piece for piece in pieces or () if "=" not in piece]
    if len(general) > 1:
        raise ParameterError(f"{option} is given twice: {general[0]} and {general[1]}", fix="give it once")
    special = by_name([piece for piece in pieces or () if "=" in piece], names, option, f"COL={'ignore'}")
    return {**(dict.fromkeys(names, general[0]) if general else {}), **special}


def check_prior(pieces: Sequence[str]) -> None:
    """Refuse what is not a probability before the rows are read."""
    total = sum((_share(text, number) for text, number in by_number(pieces, "--prior", "yes=.6").items()), Fraction(0))
    if total - 1 > SUM_TOLERANCE:
        raise PriorError(f"--prior sums to {float(total):.12g}, more than 1", fix="divide each entry by the sum")


def _share(text: str, number: str) -> Fraction:
    share = exact(number, f"the prior of {text}", PriorError)
    if not 0 <= share <= 1:
        beyond = "more than 1" if share > 1 else "less than 0"
        raise PriorError(f"the prior of {text} is {number}, {beyond}", fix="give a probability from 0 to 1")
    return share


def prior_of(pieces: Sequence[str], classes: tuple[Label, ...]) -> Mapping[Label, float]:
    """CLASS=P for all classes but at most one, which gets the rest.

    >>> prior_of(["yes=3/5"], ("no", "yes"))
    {'no': 0.4, 'yes': 0.6}
    """
    typed = by_number(pieces, "--prior", "yes=.6")
    given: dict[Label, Fraction] = {}
    for text, number in typed.items():
        label = class_of(text, classes, what="--prior names a class that the rows do not have:")
        given[label] = _share(text, number)
    left = [label for label in classes if label not in given]
    total = sum(given.values(), Fraction(0))
    if len(left) == 1 and total <= 1:
        given[left[0]] = 1 - total
    return {label: float(given[label]) for label in classes if label in given}


def facts_of(model: Any, report: Report, source: str, path: str, replaced: bool) -> dict[str, Any]:
    """What was learned, as plain data."""
    target = model.schema.target
    return {
        "model": path,
        "replaced": replaced,
        "source": source,
        "rows": report.rows - report.without_target - report.without_weight,
        "rows_without_target": report.without_target,
        "rows_without_weight": report.without_weight,
        "target": None if target is None else target.name,
        "weight": model.schema.weight,
        "classes": class_weights(model),
        "prior": class_prior(model),
        "columns": columns_of(model),
        **temper_of(model),
        "no_numbers": {name: str(count) for name, count in report.invalid.items() if count.invalid},
        "convention": convention_of(model),
        **calibration_of(model),
        "n_free_parameters": model.n_free_parameters(),
        **regression_of(model),
    }
