"""What `look` says about a table: a note on each column, advice on what to do, all as plain data; schemas compared."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, SchemaError, listed
from bayeswise.render.labels import keyed, quoted
from bayeswise.tables.schema import column_evidence as evidence
from bayeswise.tables.schema.column_evidence import places_of
from bayeswise.tables.schema.columns import LABELLED, Column, Kind
from bayeswise.tables.schema.likenesses import formatted_numbers, two_spellings
from bayeswise.tables.schema.null_words import described, without
from bayeswise.tables.schema.profile import ColumnProfile, counted_values
from bayeswise.tables.schema.schema import Schema, Target

if TYPE_CHECKING:
    from bayeswise.tables.schema.inference import Examination

IS_FLAG = "a flag: 0 or 1"
"""The reason for the kind of a column of 0 and 1."""
ON_REQUEST = "ignored on request"
WRITE_ALIKE = "write them alike if they mean the same"
_SHOWN_LEVELS = 5
_MANY_LEVELS = 1000


@dataclass(frozen=True)
class Advice:
    """Something to know about a column (or about the table), and what to do about it."""

    column: str | None
    what: str
    fix: str

    def __str__(self) -> str:
        where = "" if self.column is None else f"column {quoted(self.column)}: "
        end = "" if self.what.endswith("?") else "."
        text = f"{where}{self.what}{end} Fix: {self.fix}"
        return text.encode("utf-8", "backslashreplace").decode()  # half of a surrogate pair cannot be printed


def cells_of(count: int) -> str:
    """A number of cells, in words.

    >>> cells_of(1), cells_of(1200)
    ('1 cell is', '1,200 cells are')
    """
    return "1 cell is" if count == 1 else f"{count:,} cells are"


def no_column(columns: Iterable[Column]) -> SchemaError:
    """The error for a table of which no column is of use."""
    ignored = [f"{quoted(column.name)} ({column.reason})" for column in columns]
    why = f": {listed(ignored)}" if ignored else ""
    return SchemaError(
        f"the table has no column to learn from{why}",
        fix="keep one with kinds={...: 'number'} (--number COL) or kinds={...: 'category'} (--category COL)",
    )


def note_on(column: Column, profile: ColumnProfile) -> str:
    """One line: the reason if it is ignored, else what its cells look like."""
    parts = [column.reason] if column.kind == "ignored" else _cells(column, profile)
    return "; ".join(part for part in [*parts, _null_words(profile)] if part)


def _cells(column: Column, profile: ColumnProfile) -> list[str]:
    if column.reason == IS_FLAG:
        return [IS_FLAG]
    if column.kind in LABELLED:
        return _levels(column, profile)
    if column.kind == "text":
        return [f"about {profile.words:.0f} words in a cell"]
    parts = []
    if not math.isnan(profile.minimum):
        if column.kind == "number" and evidence.has_few_values(profile):
            parts.append(f"number ({profile.distinct} values) - category?")
        parts.append(f"{profile.minimum:g} to {profile.maximum:g}")
    if profile.invalid:
        parts.append(
            f"{cells_of(profile.invalid)} not numeric: {places_of(profile.invalid_examples[:1], profile.invalid)}"
        )
    return parts


def _levels(column: Column, profile: ColumnProfile) -> list[str]:
    declared = list(column.levels) if column.levels is not None and column.labels != "boolean" else None
    levels = declared or sorted((level for level, _ in profile.levels[:_SHOWN_LEVELS]), key=str)
    more = max(len(declared) if declared else profile.distinct, len(levels)) - min(len(levels), _SHOWN_LEVELS)
    others = counted_values(more, exact=bool(declared) or profile.distinct_exact)
    words = ", ".join([*map(quoted, levels[:_SHOWN_LEVELS]), *([f"{others} more"] if more > 0 else [])])
    words = words if levels else f"{profile.n_distinct} levels"
    return [f"declared: {words}" if declared else words]


def _null_words(profile: ColumnProfile) -> str:
    counts = [f"{quoted(word) if word else 'empty'} {count}" for word, count in sorted(profile.null_words.items())]
    return f"null words: {', '.join(counts)}" if counts else ""


def keep(name: str, kind: Kind) -> str:
    """How to override a kind, in Python and in the shell.

    >>> keep("id", "category")
    "kinds={'id': 'category'} or --category id"
    """
    return f"kinds={{{name!r}: {kind!r}}} or --{kind} {shlex.quote(name)}"


def leave_out(name: str) -> str:
    """How to ignore a column.

    >>> leave_out("zip code")
    "ignore=['zip code'] or --ignore 'zip code'"
    """
    return f"ignore=[{name!r}] or --ignore {shlex.quote(name)}"


def advice_on(column: Column, profile: ColumnProfile, textual: bool) -> tuple[Advice, ...]:
    """What may be wrong with a column, each with its fix; of one that is ignored, what a fit warns of."""
    in_fit = advice_in_fit(column, profile)
    if column.kind == "ignored":
        return in_fit
    found = [*_advice_on_numbers(column, profile), *_advice_on_labels(column, profile, textual)]
    if 2 * profile.present < profile.rows:
        share = 100 * (profile.rows - profile.present) / profile.rows
        found.append((f"{share:.0f} % of the cells are missing", leave_out(column.name)))
    return (*in_fit, *(Advice(column.name, what, fix) for what, fix in found))


def advice_in_fit(column: Column, profile: ColumnProfile) -> tuple[Advice, ...]:
    """What a fit warns of: a category, or a column that is ignored, that looks like numbers; a category like an id."""
    if column.kind not in (*LABELLED, "ignored") or column.reason in ("declared", ON_REQUEST):
        return ()
    formatted = formatted_numbers(profile)
    if formatted is not None:
        return (Advice(column.name, formatted.what, formatted.fix),)
    if column.kind in LABELLED and column.levels is None and _has_many_levels(profile):
        what = f"{profile.n_distinct} different values in {profile.present:,} cells: an id?"
        return (Advice(column.name, what, leave_out(column.name)),)
    return ()


_SHARE_OF_A_LEVEL = 20  # a null word that takes fewer than one in so many rows is hardly a level that was lost
_OF_WRITERS = {"NA", "N/A", "n/a", "<NA>", "NULL", "null", "NaN", "nan", "None"}  # what programs write for missing


def words_like_levels(profile: ColumnProfile, null_words: Sequence[str]) -> Iterator[Advice]:
    """Null words that a person may have written for a level, and that are as frequent among labels as a label is."""
    if not profile.present or 2 * profile.invalid <= profile.present:
        return
    rarest = min((count for _, count in profile.levels), default=0)
    counts = Counter[str]()
    for word, count in profile.null_words.items():
        counts[word.strip()] += count
    for word, count in sorted(counts.items()):
        is_word = word not in _OF_WRITERS and re.search(r"[^\W\d_]", word)
        if is_word and count >= max(rarest, profile.rows / _SHARE_OF_A_LEVEL):
            others = without(null_words, [word])
            typed = " ".join(f"--null {shlex.quote(each)}" for each in others) or "--null ''"
            what = f"{cells_of(count)} {quoted(word)}, which means missing"
            yield Advice(profile.name, what, f"if it is a level: null_words={others!r} ({typed})")


def _advice_on_numbers(column: Column, profile: ColumnProfile) -> Iterator[tuple[str, str]]:
    few = profile.invalid and not evidence.too_many_invalid(profile.invalid, profile.present)
    if column.kind in ("number", "count") and few:
        invalid = places_of(profile.invalid_examples, profile.invalid)
        what = f"{cells_of(profile.invalid)} not numeric and taken as missing: {invalid}"
        yield what, f"correct them, or {keep(column.name, 'category')}"


def _advice_on_labels(column: Column, profile: ColumnProfile, textual: bool) -> Iterator[tuple[str, str]]:
    if column.kind not in LABELLED:
        return
    if column.reason != "declared" and _could_be_number(profile, textual):
        yield "the cells are text that reads as numbers", f"if they are amounts: {keep(column.name, 'number')}"
    spellings = two_spellings(profile) if column.levels is None else ""
    if spellings:
        yield spellings, WRITE_ALIKE


def _could_be_number(profile: ColumnProfile, textual: bool) -> bool:
    """Strings of a dataframe, or a number column of a text file that few cells with leading zeros made text."""
    few_zeros = profile.zero_padded and not evidence.too_many_invalid(profile.zero_padded, profile.present)
    strings = evidence.holds_strings(profile, textual) and not profile.zero_padded
    return bool(few_zeros or strings) and not evidence.too_many_invalid(profile.invalid, profile.present)


def _has_many_levels(profile: ColumnProfile) -> bool:
    return profile.distinct > _MANY_LEVELS or (profile.present >= 20 and 2 * profile.distinct > profile.present)


def difference(one: Schema, other: Schema) -> str:
    """The first difference, "" if there is none.

    >>> mine = Schema((Column("age", "number"), Column("size", "category", "text")))
    >>> difference(mine, Schema((Column("age", "count"), Column("size", "category", "text"))))
    "column 'age' is a number in one and a count in the other"
    >>> difference(mine, Schema((Column("age", "number"),)))
    "column 'size' is in one of them only"
    """
    if one == other:
        return ""
    names, others = ([column.name for column in schema] for schema in (one, other))
    apart = [name for name in (*names, *others) if name not in names or name not in others]
    if apart:
        return f"column {apart[0]!r} is in one of them only"
    if names != others:
        return f"their columns are in another order: {', '.join(names[:4])} and {', '.join(others[:4])}"
    changed = [(column, other[column.name]) for column in one if column != other[column.name]]
    if changed:
        return _of_columns(*changed[0])
    if one.weight != other.weight:
        return f"one is weighted by {one.weight!r}, the other by {other.weight!r}"
    if one.null_words != other.null_words:
        return f"one takes {described(one.null_words)} for missing, the other {described(other.null_words)}"
    return _of_targets(one.target, other.target)


def _of_columns(one: Column, other: Column) -> str:
    if one.kind != other.kind:
        kinds = [f"a {each.kind}" if each.kind != "ignored" else "ignored" for each in (one, other)]
        return f"column {one.name!r} is {kinds[0]} in one and {kinds[1]} in the other"
    name = next(each.name for each in fields(one) if getattr(one, each.name) != getattr(other, each.name))
    return f"column {one.name!r} has {name} {getattr(one, name)!r} in one and {getattr(other, name)!r} in the other"


def _of_targets(one: Target | None, other: Target | None) -> str:
    if one is None or other is None or one.name != other.name:
        names = [None if each is None else each.name for each in (one, other)]
        return f"one predicts {names[0]!r}, the other {names[1]!r}"
    if one.labels != other.labels:
        return f"the target {one.name!r} has {one.labels} labels in one and {other.labels} labels in the other"
    return f"the target {one.name!r} has the declared classes {one.classes!r} and {other.classes!r}"


def report(examination: Examination, names: list[str], advice: tuple[Advice, ...]) -> dict[str, Any]:
    """Everything that was found, as plain data."""
    target = examination.target
    order = {name: position for position, name in enumerate(names)}
    return {
        "source": examination.description,
        "rows": examination.rows,
        "columns": sorted(_columns(examination), key=lambda column: order[column["name"]]),
        "target": None if target is None else target.target.name,
        "classes": {} if target is None else keyed(target.classes),
        "rows_without_target": 0 if target is None else target.without,
        "warnings": list(_warnings(examination, advice)),
    }


def _columns(examination: Examination) -> Iterator[dict[str, Any]]:
    if examination.target is not None:
        yield _column("target", examination.target.profile)
    if examination.weight is not None:
        yield _column("weight", examination.weight.profile)
    for finding in examination.findings:
        yield _column(finding.column.kind, finding.profile, finding.note, finding.hint)


def _column(kind: str, profile: ColumnProfile, note: str = "", hint: str = "") -> dict[str, Any]:
    return {
        "name": profile.name,
        "kind": kind,
        "missing": profile.rows - profile.present,
        "distinct": profile.distinct,
        "distinct_exact": profile.distinct_exact,
        "note": "; ".join(part for part in (note, hint) if part),
    }


def _warnings(examination: Examination, advice: tuple[Advice, ...]) -> Iterator[dict[str, Any]]:
    """What stops a model first; each with its fix."""
    for name, problem in stops(examination):
        yield {"column": name, "what": problem.what, "fix": problem.fix, "stops": True}
    for hint in advice:
        yield {"column": hint.column, "what": hint.what, "fix": hint.fix, "stops": False}


def stops(examination: Examination) -> list[tuple[str | None, BayeswiseError]]:
    """What keeps a model from learning, by column; or that there is no column to learn from."""
    nothing = examination.nothing_to_learn
    return [*examination.problems.items()] or ([] if nothing is None else [(None, nothing)])
