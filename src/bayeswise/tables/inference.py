"""From a source to its schema: one pass for the profile, then one judgement for each column.

`examine` never stops at a bad column, so that `look` can show all of them; `infer_schema` raises the first problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Unpack

from bayeswise.foundation.errors import BayeswiseError, SchemaError
from bayeswise.tables.kinds import Finding, judge
from bayeswise.tables.notes import Advice, no_column
from bayeswise.tables.profile import ColumnProfile, profile
from bayeswise.tables.schema import Schema
from bayeswise.tables.sight import judged_at_sight
from bayeswise.tables.source import Source
from bayeswise.tables.targets import TargetFinding, judge_target
from bayeswise.tables.wishes import Asked, Names, Wishes, wishes_for


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
    null_words: tuple[str, ...] | None

    @property
    def profiles(self) -> dict[str, ColumnProfile]:
        """What was counted in each column: the target first, then the weight, then the columns in their order."""
        return {found.profile.name: found.profile for found in self._found}

    @property
    def problems(self) -> dict[str, BayeswiseError]:
        """What keeps a model from learning, by column."""
        return {found.profile.name: found.problem for found in self._found if found.problem is not None}

    @property
    def nothing_to_learn(self) -> BayeswiseError | None:
        """What keeps a model from learning, although each column is as it may be."""
        used = any(finding.column.kind != "ignored" for finding in self.findings)
        return None if used or self.target is None else no_column(finding.column for finding in self.findings)

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
            self.null_words,
        )


def examine(source: Source, target: str | None = None, **asked: Unpack[Asked]) -> Examination:
    """Judge every column from its full profile."""
    wishes = _wishes(source, target, asked)
    return _judged(source, wishes, wishes.features, profile(source))


def infer_schema(source: Source, target: str | None = None, **asked: Unpack[Asked]) -> Schema:
    """The schema that `examine` finds, sooner: most columns of plain numbers need no full profile."""
    wishes = _wishes(source, target, asked)
    quick = judged_at_sight(source, wishes)
    slow = tuple(name for name in wishes.features if name not in quick)
    names = [*slow, *(name for name in (wishes.target, wishes.weight) if name is not None)]
    schema = _judged(source, wishes, slow, profile(source, names) if names else {}).schema
    columns = {**quick, **{column.name: column for column in schema}}
    return replace(schema, columns=tuple(columns[name] for name in wishes.features))


def _wishes(source: Source, target: str | None, asked: Asked) -> Wishes:
    return wishes_for(Names(tuple(column.name for column in source.columns), source.description), target, asked)


def _judged(
    source: Source, wishes: Wishes, features: tuple[str, ...], profiles: Mapping[str, ColumnProfile]
) -> Examination:
    textual, target, weight = source.textual, wishes.target, wishes.weight
    return Examination(
        source.description,
        next((column.rows for column in profiles.values()), 0),
        tuple(judge(profiles[name], textual, wishes[name]) for name in features),
        None if target is None else judge_target(profiles[target], textual, wishes[target]),
        None if weight is None else WeightFinding(profiles[weight], _weight_problem(profiles[weight])),
        source.null_words if textual else None,
    )


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
