"""From a source to its schema: one pass for the profile, then a kind for each column.

`examine` never stops at a bad column, so that `look` can show all of them; `infer_schema` raises the first problem.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Unpack

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, NonFiniteError, SchemaError, listed
from bayeswise.render.labels import quoted
from bayeswise.render.numbers import plural
from bayeswise.tables.partitions import NearSource, SpreadSource
from bayeswise.tables.schema import column_evidence as evidence
from bayeswise.tables.schema.columns import LABELLED, Column, Columns
from bayeswise.tables.schema.kinds import (
    Finding,
    ignored_on_request,
    infer_kind,
    inferred_from_extremes,
    maybe_numbers,
    sure_numbers,
)
from bayeswise.tables.schema.labels import Label, LabelType, as_label, label_key, label_type_of
from bayeswise.tables.schema.leaks import copies_in_fit
from bayeswise.tables.schema.likenesses import formatted_numbers, names_that_are_numbers, two_spellings
from bayeswise.tables.schema.notes import WRITE_ALIKE, Advice, advice_in_fit, keep, no_column, words_like_levels
from bayeswise.tables.schema.null_words import words_among
from bayeswise.tables.schema.overrides import Names, Override, Overrides, SchemaOverrides, overrides_for
from bayeswise.tables.schema.profile import ColumnProfile, ProfilePass, profile, profiles_of
from bayeswise.tables.schema.schema import Schema, Target
from bayeswise.tables.source import Source

MOST_CODES = 50  # whole numbers in a target, before they are taken for measurements


@dataclass(frozen=True)
class WeightFinding:
    """The column of weights."""

    profile: ColumnProfile
    problem: BayeswiseError | None


@dataclass(frozen=True)
class Examination:
    """Everything that one pass found about a table."""

    description: str
    rows: int
    findings: tuple[Finding, ...]
    target: TargetFinding | None
    weight: WeightFinding | None
    null_words: tuple[str, ...] | None
    numeric_names: tuple[str, ...] = ()
    """Names in the header of a text file that read as numbers."""

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
        of_target = self.target.advice if self.target else ()
        return (*self._advice_on_names, *of_target, *of_columns, *self._advice_on_words)

    @property
    def advice_in_fit(self) -> tuple[Advice, ...]:
        """What a fit warns of."""
        of_columns = tuple(advice for each in self.findings for advice in advice_in_fit(each.column, each.profile))
        of_target = () if self.target is None else tuple(_advice_on_spelling(self.target.profile))
        return (*self._advice_on_names, *of_target, *of_columns, *self._advice_on_words)

    @property
    def _advice_on_words(self) -> Iterator[Advice]:
        """Null words that may be levels, or classes."""
        labelled = [] if self.target is None else [self.target.profile]
        labelled += [each.profile for each in self.findings if each.column.kind in LABELLED or each.has_one_value]
        for column in labelled if self.null_words else ():
            yield from words_like_levels(column, self.null_words or ())

    @property
    def _advice_on_names(self) -> tuple[Advice, ...]:
        if not self.numeric_names:
            return ()
        are = "name is a number" if len(self.numeric_names) == 1 else "names are numbers"
        what = f"column {are}: {listed(map(quoted, self.numeric_names), 3)}; is the first line a row and no header?"
        return (Advice(None, what, "if it is a row: header=False (--no-header)"),)

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


def examine(source: Source, target: str | None = None, **given: Unpack[SchemaOverrides]) -> Examination:
    """Infer every column from its full profile."""
    overrides = _overrides(source, target, given)
    return _inferred_column(source, overrides, overrides.features, profile(source, kept=_kept_words(source, overrides)))


def infer_schema(source: Source, target: str | None = None, **given: Unpack[SchemaOverrides]) -> Schema:
    """The schema that `examine` finds, but faster: most columns of plain numbers need no full profile."""
    return _inferred(source, target, given)[0]


def infer_with_advice(
    source: Source, target: str | None = None, **given: Unpack[SchemaOverrides]
) -> tuple[Schema, tuple[Advice, ...]]:
    """The same, with the advice that a fit warns of."""
    schema, examination, quick = _inferred(source, target, given)
    numbers = [name for name, column in quick.items() if column.kind != "ignored"]
    copies = copies_in_fit(source, examination, numbers)
    return schema, (*examination.advice_in_fit, *copies)


def _inferred(
    source: Source, target: str | None, given: SchemaOverrides
) -> tuple[Schema, Examination, dict[str, Column]]:
    """The schema, what was found of columns with a profile, and the columns without one."""
    overrides = _overrides(source, target, given)
    if isinstance(source, SpreadSource | NearSource):
        quick, profiles = _of_one_pass(source, overrides)
    else:
        quick = inferred_from_extremes(source, overrides)
        names = _to_profile(overrides, quick)
        profiles = profile(source, names, _kept_words(source, overrides)) if names else {}
    slow = tuple(name for name in overrides.features if name not in quick)
    examination = _inferred_column(source, overrides, slow, profiles)
    schema = examination.schema
    columns = {**quick, **{column.name: column for column in schema}}
    examples = list(map(columns.__getitem__, overrides.features))
    return replace(schema, columns=Columns.like(overrides.features, examples)), examination, quick


def _kept_words(source: Source, overrides: Overrides) -> dict[str, tuple[str, ...]]:
    """The null words that are declared levels, by column."""
    declared = {name: one.levels for name, one in overrides.by_column.items() if one.levels} if source.textual else {}
    kept = {name: words_among(levels, source.null_words) for name, levels in declared.items()}
    return {name: words for name, words in kept.items() if words}


def _to_profile(overrides: Overrides, quick: Collection[str]) -> list[str]:
    """The columns that are not known yet, then the target and the weight."""
    slow = [name for name in overrides.features if name not in quick]
    return [*slow, *(name for name in (overrides.target, overrides.weight) if name is not None)]


def _of_one_pass(
    source: SpreadSource | NearSource, overrides: Overrides
) -> tuple[dict[str, Column], Mapping[str, ColumnProfile]]:
    """The columns inferred from extremes and the profiles of all others, by one pass.

    There is a second one over columns whose numbers look plain in each partition, and are not in all of them together:
    numbers of rows in a shuffled table, or beyond 2**53 in some rows.
    """
    ignored = ignored_on_request(overrides)
    maybe = maybe_numbers(source, overrides)
    full = _to_profile(overrides, {*ignored, *maybe})
    shared_by = len(full) + len(maybe) if source.textual else 0  # as where every column of a text file is profiled
    kept = _kept_words(source, overrides)
    found = source.ask(ProfilePass(tuple(full), tuple(maybe), shared_by, kept), [*full, *maybe])
    quick = {**ignored, **sure_numbers(list(found.names), found.extremes, overrides, found.flags_in)}
    names = _to_profile(overrides, quick)
    late = [name for name in names if name not in found.states]
    if late:
        more = source.ask(ProfilePass(tuple(late), shared_by=shared_by, kept=kept), late)
        found = replace(found, states={**found.states, **more.states})
    return quick, profiles_of(source, found, names, shared_by)


def _overrides(source: Source, target: str | None, given: SchemaOverrides) -> Overrides:
    return overrides_for(Names(tuple(column.name for column in source.columns), source.description), target, given)


def _inferred_column(
    source: Source, overrides: Overrides, features: tuple[str, ...], profiles: Mapping[str, ColumnProfile]
) -> Examination:
    textual, target, weight = source.textual, overrides.target, overrides.weight
    return Examination(
        source.description,
        next((column.rows for column in profiles.values()), 0),
        tuple(infer_kind(profiles[name], textual, overrides[name], source.null_words) for name in features),
        None if target is None else infer_target(profiles[target], textual, overrides[target]),
        None if weight is None else WeightFinding(profiles[weight], _weight_problem(profiles[weight])),
        source.null_words if textual else None,
        tuple(names_that_are_numbers(column.name for column in source.columns)) if textual else (),
    )


def _weight_problem(column: ColumnProfile) -> BayeswiseError | None:
    wrong = {
        "not a number": column.invalid + column.booleans,
        "missing": column.rows - column.present,
        "infinite": column.infinite,
        "negative": int(column.minimum < 0),
    }
    found = next((f"a weight in column {column.name!r} is {what}" for what, count in wrong.items() if count), None)
    if found is None and column.rows and not column.maximum > 0:
        found = f"all weights in column {column.name!r} are zero"
    return SchemaError(found, fix="give each row a weight of 0 or more, and one row more than 0") if found else None


@dataclass(frozen=True)
class TargetFinding:
    """The target, and what is wrong with it; its classes and its advice are computed on access."""

    target: Target
    profile: ColumnProfile
    textual: bool
    problem: BayeswiseError | None = None

    @cached_property
    def classes(self) -> tuple[tuple[Label, int], ...]:
        """The rows of each class, in canonical order or as declared."""
        return _classes(self.profile, self.target, self.textual)

    @property
    def without(self) -> int:
        """How many rows have no target and are left out."""
        return self.profile.rows - self.profile.present

    @property
    def advice(self) -> tuple[Advice, ...]:
        """What a user should look at."""
        return tuple(_advice(self.profile, self.classes, self.without))


def infer_target(profile: ColumnProfile, textual: bool, override: Override) -> TargetFinding:
    """The target, and what is wrong with it."""
    declared = override.levels or profile.declared
    labels = evidence.label_type(profile, textual)
    if override.levels and textual:
        labels = label_type_of(override.levels)
    problem = _problem(profile, labels, override)
    try:
        target = Target(profile.name, labels, declared)  # type: ignore[arg-type]
    except SchemaError as error:
        target, problem = Target(profile.name, labels), error
    return TargetFinding(target, profile, textual, problem)


def _classes(profile: ColumnProfile, target: Target, textual: bool) -> tuple[tuple[Label, int], ...]:
    counts: dict[tuple[int, Label], int] = {label_key(label): 0 for label in target.classes or ()}
    order = list(counts)
    for level, count in profile.levels:
        label = as_label(level, target.labels, textual=textual)
        if label is not None:
            counts[label_key(label)] = counts.get(label_key(label), 0) + count
    late = sorted(key for key in counts if key not in order)
    return tuple((key[1], counts[key]) for key in [*order, *late])


def _problem(profile: ColumnProfile, labels: LabelType, override: Override) -> BayeswiseError | None:
    name = profile.name
    if profile.rows == 0:
        return SchemaError("the table has columns but no rows", fix="give a table with rows to learn from")
    if profile.present == 0:
        return SchemaError(f"the target {name!r} is missing in all {profile.rows} rows", fix="fill it in")
    if profile.storage in ("nested", "binary", "temporal"):
        return SchemaError(f"the target {name!r} holds {profile.storage} cells", fix="turn it into text first")
    if profile.infinite and labels != "text":
        infinite = plural(profile.infinite, "infinite cell")
        return NonFiniteError(f"the target {name!r} has {infinite}", fix="leave them empty")
    if override.kind is None and override.levels is None and _is_measured(profile, labels):
        whole = "whole " if evidence.all_whole(profile) else ""
        return SchemaError(
            f"the target {name!r} is a measurement with {profile.n_distinct} different {whole}values, not a class",
            fix="predict it by regression, model='linear' (--model linear), cut it into classes, or insist with "
            f"{keep(name, 'category')}",
        )
    return None


def _is_measured(profile: ColumnProfile, labels: LabelType) -> bool:
    """Numbers with many different values: few are enough for fractions; whole numbers with few may be codes."""
    if labels not in ("number", "integer"):
        return False
    if not evidence.all_whole(profile):
        return profile.distinct > evidence.FEW_VALUES
    return profile.distinct > MOST_CODES


def _advice(profile: ColumnProfile, classes: tuple[tuple[Label, int], ...], without: int) -> list[Advice]:
    name = profile.name
    found = []
    if without:
        what = f"{without:,} of {profile.rows:,} rows have no target and are left out"
        found.append(Advice(name, what, "fill it in, or leave it: these rows can be predicted later"))
    seen = [(label, count) for label, count in classes if count]
    if len(seen) == 1:
        found.append(Advice(name, f"there is only the class {quoted(seen[0][0])}", "add rows of another class"))
    single = [quoted(label) for label, count in seen if count == 1]
    if single and profile.present > len(seen):
        what = f"a single row has the class {listed(single, 3)}"
        found.append(Advice(name, what, "collect more rows, or merge rare classes"))
    found += _advice_on_spelling(profile)
    if evidence.all_different(profile):
        found.append(Advice(name, "every row has a class of its own: an id?", "choose another target with -t"))
    return found


def _advice_on_spelling(profile: ColumnProfile) -> Iterator[Advice]:
    """Of a target: classes that look like numbers, or like one class written in two ways."""
    formatted = formatted_numbers(profile)
    if formatted is not None:
        yield Advice(profile.name, formatted.what, formatted.fix)
    spellings = two_spellings(profile)
    if spellings:
        yield Advice(profile.name, spellings, WRITE_ALIKE)
