"""From a source to its schema: one pass for the profile, then one judgement for each column.

`examine` never stops at a bad column, so that `look` can show all of them; `infer_schema` raises the first problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bayeswise.foundation.errors import BayeswiseError, ParameterError, SchemaError
from bayeswise.tables.kinds import Finding, judge
from bayeswise.tables.labels import Label
from bayeswise.tables.notes import Advice
from bayeswise.tables.profile import ColumnProfile, profile
from bayeswise.tables.schema import Kind, MissingPolicy, Schema, UnseenPolicy
from bayeswise.tables.source import Source
from bayeswise.tables.targets import TargetFinding, judge_target
from bayeswise.tables.wishes import Names, Wish, wishes_for


@dataclass(frozen=True)
class WeightFinding:
    """The column of weights."""

    profile: ColumnProfile
    problem: BayeswiseError | None


@dataclass(frozen=True)
class Examination:
    """Everything that one pass told about a table."""

    description: str
    rows: int
    findings: tuple[Finding, ...]
    target: TargetFinding | None
    weight: WeightFinding | None

    @property
    def profiles(self) -> dict[str, ColumnProfile]:
        """What was counted in each column: the target first, then the weight, then the columns in their order."""
        return {found.profile.name: found.profile for found in self._found}

    @property
    def problems(self) -> dict[str, BayeswiseError]:
        """What keeps a model from learning, by column."""
        return {found.profile.name: found.problem for found in self._found if found.problem is not None}

    @property
    def _found(self) -> list[TargetFinding | WeightFinding | Finding]:
        return [found for found in (self.target, self.weight, *self.findings) if found is not None]

    @property
    def advice(self) -> tuple[Advice, ...]:
        """What a user should look at."""
        of_columns = tuple(advice for finding in self.findings for advice in finding.advice)
        return (*(self.target.advice if self.target else ()), *of_columns)

    @property
    def schema(self) -> Schema:
        """The schema, or the first problem as an error."""
        for problem in self.problems.values():
            raise problem
        return Schema(
            tuple(finding.column for finding in self.findings),
            None if self.target is None else self.target.target,
            None if self.weight is None else self.weight.profile.name,
        )


def infer_schema(source: Source, target: str | None = None, **asked: Any) -> Schema:
    """The schema of a table; takes what `examine` takes."""
    return examine(source, target, **asked).schema


def examine(
    source: Source,
    target: str | None = None,
    *,
    weight: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    levels: Mapping[str, Iterable[Label]] | None = None,
    ignore: Iterable[str] = (),
    missing: MissingPolicy | Mapping[str, MissingPolicy] = "ignore",
    unseen: UnseenPolicy | Mapping[str, UnseenPolicy] = "smooth",
) -> Examination:
    """Judge every column; what was asked for beats what was inferred, `levels` of the target are its classes."""
    names = Names(tuple(column.name for column in source.columns), source.description)
    target = None if target is None else names.find(target, role="target")
    weight = None if weight is None else names.find(weight, role="weight column")
    wishes = wishes_for(names, kinds or {}, levels or {}, ignore, missing, unseen)
    _check_roles(target, weight, wishes)
    profiles = profile(source)
    features = [name for name in names.names if name not in (target, weight)]
    return Examination(
        source.description,
        next((column.rows for column in profiles.values()), 0),
        tuple(judge(profiles[name], source.textual, wishes[name]) for name in features),
        None if target is None else judge_target(profiles[target], source.textual, wishes[target]),
        None if weight is None else WeightFinding(profiles[weight], _weight_problem(profiles[weight])),
    )


def _check_roles(target: str | None, weight: str | None, wishes: Mapping[str, Wish]) -> None:
    if target is not None and target == weight:
        raise ParameterError(f"column {target!r} cannot be both target and weight", fix="name two columns")
    if target is not None and wishes[target].kind not in (None, "category", "binary"):
        raise ParameterError(
            f"column {target!r} is the target and cannot be {wishes[target].kind}", fix="ask for 'category' or nothing"
        )
    if weight is not None and wishes[weight].kind is not None:
        raise ParameterError(f"column {weight!r} is the weight and has no kind", fix="leave it out of kinds and ignore")


def _weight_problem(column: ColumnProfile) -> BayeswiseError | None:
    wrong = {
        "no number": column.strays + column.booleans,
        "missing": column.rows - column.present,
        "infinite": column.infinite,
        "negative": int(column.minimum < 0),
    }
    found = next((f"a weight in column {column.name!r} is {what}" for what, count in wrong.items() if count), None)
    if found is None and column.rows and not column.maximum > 0:
        found = f"all weights in column {column.name!r} are zero"
    return SchemaError(found, fix="give each row a weight of 0 or more, and one row more than 0") if found else None
