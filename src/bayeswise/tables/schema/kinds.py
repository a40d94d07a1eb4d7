"""The kind of a column, inferred from its profile: the first rule that applies decides, and gives its reason.

    the first column of a file, without a name               ignored
    all cells missing, lists, structs, bytes, dates          ignored
    declared levels (pandas categories, Enum)                category, all its declared levels kept
    a single value                                           ignored
    true and false, or 0 and 1                               binary
    more than half of the cells are numbers                  number, or ignored if it is an id or too wide for doubles
    several words, mostly different                          text
    every text different, or more than a million             ignored
    other text, also of two levels and of leading zeros      category

Two-level text is a category and not binary: a third level may come later, while a flag always has two states.
Other whole numbers stay numbers; `count` is never inferred, since a Poisson count and a score of 1 to 5 look alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import compress

import numpy as np

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, NonFiniteError, SchemaError
from bayeswise.render.numbers import plural
from bayeswise.tables.partitions import NearSource
from bayeswise.tables.schema import column_evidence as evidence
from bayeswise.tables.schema.column_evidence import places_of
from bayeswise.tables.schema.columns import LABELLED, Column, Kind
from bayeswise.tables.schema.labels import Vocabulary, label_type_of
from bayeswise.tables.schema.likenesses import formatted_numbers, placeholder
from bayeswise.tables.schema.names import NAMELESS
from bayeswise.tables.schema.notes import IS_FLAG, ON_REQUEST, Advice, advice_on, keep, leave_out, note_on
from bayeswise.tables.schema.overrides import Override, Overrides
from bayeswise.tables.schema.profile import ColumnProfile, Extremes, extremes, is_plain, of_zero_and_one
from bayeswise.tables.source import Source

NO_NAME = "no name: probably a row index"
ONE_VALUE = "only one value"
FLAG = Vocabulary([0, 1])


@dataclass(frozen=True)
class Finding:
    """An inferred column; `problem` keeps a model from learning. Note, hint and advice are computed on access."""

    column: Column
    profile: ColumnProfile
    textual: bool
    problem: BayeswiseError | None = None
    is_readable: bool = True

    @property
    def note(self) -> str:
        """What these rows are like."""
        return note_on(self.column, self.profile) if self.is_readable else ""

    @property
    def has_one_value(self) -> bool:
        """Whether it is ignored because all cells that are not missing are equal."""
        return self.column.reason == ONE_VALUE

    @property
    def hint(self) -> str:
        """How to keep a column that is ignored."""
        return _hint(self.profile, self.column) if self.is_readable else ""

    @property
    def advice(self) -> tuple[Advice, ...]:
        """What a user should look at."""
        return advice_on(self.column, self.profile, self.textual) if self.is_readable else ()


def infer_kind(profile: ColumnProfile, textual: bool, override: Override, null_words: Sequence[str] = ()) -> Finding:
    """The column with its kind and reason, and what a reader should know about it.

    `null_words` are those by which a text file was read.
    """
    kind, reason = _overridden(override) or _inferred(profile, textual, override.flag_is_number)
    try:
        column = _column(profile, textual, override, kind, reason)
    except SchemaError as error:
        return Finding(Column(profile.name, "ignored", reason="it cannot be read"), profile, textual, error, False)
    return Finding(column, profile, textual, _problem(column, profile, null_words if textual else None))


def unlabelled_column(name: str, kind: Kind, override: Override) -> Column:
    """The column that `infer_kind` makes of one without labels, whose kind is known without a profile."""
    reason = _overridden(override)
    return Column(
        name, kind, missing=override.missing, unseen=override.unseen, reason=reason[1] if reason else "numbers"
    )


def _flag(name: str, override: Override) -> Column:
    """The column that `infer_kind` makes of one of 0 and 1."""
    return Column(name, "binary", "integer", FLAG, override.missing, override.unseen, IS_FLAG)


def _overridden(override: Override) -> tuple[Kind, str] | None:
    if override.kind == "ignored":
        return "ignored", ON_REQUEST
    if override.kind is None and override.levels is not None:
        return "category", "its levels are declared"
    return (override.kind, "declared") if override.kind is not None else None


def _inferred(profile: ColumnProfile, textual: bool, flag_is_number: bool) -> tuple[Kind, str]:
    reason = NO_NAME if profile.name == NAMELESS else _unreadable(profile)
    if reason:
        return "ignored", reason
    if profile.declared:
        return "category", "its levels are declared"
    if profile.distinct <= 1:
        return "ignored", ONE_VALUE
    if profile.booleans == profile.present:
        return "binary", "true or false"
    if evidence.is_numeric(profile, textual):
        return ("binary", IS_FLAG) if evidence.is_flag(profile) and not flag_is_number else _inferred_number(profile)
    return _inferred_text(profile)


def _unreadable(profile: ColumnProfile) -> str:
    if profile.present == 0:
        return "every cell is missing"
    if profile.storage == "nested":
        return "lists and structs are not single values"
    if profile.storage == "binary":
        return "bytes have no meaning of their own"
    return "dates and times" if evidence.is_moment(profile) else ""


def _inferred_number(profile: ColumnProfile) -> tuple[Kind, str]:
    if profile.wide_integers:
        return "ignored", "whole numbers beyond 2^53 are ids rather than amounts"
    if evidence.is_index(profile):
        return "ignored", "every value is different"
    return "number", "numbers"


def _inferred_text(profile: ColumnProfile) -> tuple[Kind, str]:
    if evidence.is_free_text(profile):
        return "text", "free text"
    if evidence.all_different(profile):
        return "ignored", "every value is different"
    if profile.distinct > evidence.MOST_LEVELS:
        return "ignored", "more than a million different values"
    return "category", "labels with leading zeros" if profile.zero_padded else "labels"


def _column(profile: ColumnProfile, textual: bool, override: Override, kind: Kind, reason: str) -> Column:
    if reason == IS_FLAG:
        return _flag(profile.name, override)
    labels = evidence.label_type(profile, textual)
    levels = override.levels or profile.declared
    if override.levels and (textual or not profile.present):
        labels = label_type_of(override.levels)
    if kind == "binary" and not levels and labels == "boolean":
        levels = (False, True)
    return Column(
        profile.name,
        kind,
        labels if kind in LABELLED else None,
        levels if kind in LABELLED else None,  # type: ignore[arg-type]
        override.missing,
        override.unseen,
        reason,
    )


def _hint(profile: ColumnProfile, column: Column) -> str:
    """How to keep a column that was ignored by inference."""
    if column.kind != "ignored" or column.reason == ON_REQUEST:
        return ""
    if profile.storage in ("nested", "binary"):
        return "turn it into text or numbers first to keep it"
    if profile.present == 0 or profile.distinct <= 1:
        return ""
    return f"keep it with {keep(column.name, 'category')}"


def _problem(column: Column, profile: ColumnProfile, null_words: Sequence[str] | None) -> BayeswiseError | None:
    if column.kind in ("number", "count"):
        return _number_problem(column, profile, null_words)
    if column.kind in LABELLED and profile.storage in ("nested", "binary"):
        return SchemaError(
            f"column {column.name!r} holds {profile.storage} cells, which are not labels",
            fix="turn it into text first, or ignore it",
        )
    if column.kind in LABELLED and profile.infinite and column.labels != "text":
        return _infinite(column, profile)
    if column.kind == "binary" and column.levels is None and profile.distinct > 2:
        return SchemaError(
            f"column {column.name!r} has {profile.n_distinct} different values and cannot be binary",
            fix=keep(column.name, "category"),
        )
    return None


def _number_problem(column: Column, profile: ColumnProfile, null_words: Sequence[str] | None) -> BayeswiseError | None:
    if profile.storage in ("nested", "binary", "temporal"):
        return SchemaError(
            f"column {column.name!r} holds {profile.storage} cells, which are not numbers",
            fix="turn it into numbers first, or ignore it",
        )
    invalid = evidence.invalid(profile)
    if evidence.too_many_invalid(invalid, profile.present):
        taken = "is declared numeric" if column.reason == "declared" else "looks numeric"
        formatted = formatted_numbers(profile)
        look = "" if formatted is None else f"; they look like numbers with {formatted.oddity}"
        correction = _correction(profile, null_words) if formatted is None else formatted.fix
        return SchemaError(
            f"column {column.name!r} {taken}, but {invalid:,} of its {profile.present:,} cells are not: "
            + places_of(profile.invalid_examples, invalid)
            + look,
            fix=f"{correction}, or {keep(column.name, 'category')}",
        )
    if profile.infinite:
        return _infinite(column, profile)
    if column.kind == "count" and (profile.minimum < 0 or not evidence.all_whole(profile)):
        return SchemaError(
            f"column {column.name!r} holds {profile.minimum:g} to {profile.maximum:g} and cannot be a count",
            fix=keep(column.name, "number"),
        )
    return None


def _correction(profile: ColumnProfile, null_words: Sequence[str] | None) -> str:
    """What to do about cells that are not numbers; maybe one word stands for missing values."""
    missing = "" if null_words is None else placeholder(profile, null_words)
    return f"{missing}; else correct these cells" if missing else "correct these cells"


def _infinite(column: Column, profile: ColumnProfile) -> NonFiniteError:
    return NonFiniteError(
        f"column {column.name!r} has {plural(profile.infinite, 'infinite cell')}",
        fix=f"leave these cells empty, or {leave_out(column.name)}",
    )


def inferred_from_extremes(source: Source, overrides: Overrides) -> dict[str, Column]:
    """The columns whose full profile would say the same; one stands for all that differ from it by name only."""
    names = maybe_numbers(source, overrides)
    found = ignored_on_request(overrides)
    if not names:
        return found
    return {**found, **sure_numbers(names, extremes(source, names), overrides, partial(_of_zero_and_one, source))}


def ignored_on_request(overrides: Overrides) -> dict[str, Column]:
    """Columns that are ignored by an override, for which no profile is needed."""
    return _alike([name for name in overrides.features if overrides[name].kind == "ignored"], "ignored", overrides)


def maybe_numbers(source: Source, overrides: Overrides) -> list[str]:
    """Columns whose extremes may be enough to know that they are numbers."""
    storages = {column.name: column.storage for column in source.columns}
    is_near_text = source.textual and isinstance(source, NearSource)
    possible = ("integer", "float", "text") if is_near_text else ("integer", "float")
    return [
        name for name in overrides.features if storages[name] in possible and _could_be_number(overrides[name], name)
    ]


def _could_be_number(override: Override, name: str) -> bool:
    if override.kind == "number":
        return True
    is_named = name != NAMELESS and not evidence.named_like_an_id(name)
    return override.kind is None and override.levels is None and is_named


def sure_numbers(
    names: list[str], found: Extremes, overrides: Overrides, flags_in: Callable[[list[str]], list[str]]
) -> dict[str, Column]:
    """Those of the columns that are certainly numbers, or flags: `flags_in` finds these among some names."""
    low, high, present = found
    plain = is_plain(low, high, present)
    finite = np.isfinite(low) & np.isfinite(high)
    sure = plain if plain.all() else plain | (finite & [overrides[name].kind == "number" for name in names])
    open_to = [overrides[name].kind is None and not overrides[name].flag_is_number for name in names]
    between = plain & (low == 0.0) & (high == 1.0) & np.array(open_to, dtype=np.bool_)
    flags = flags_in(list(compress(names, between)))
    return {**_alike(list(compress(names, sure)), "number", overrides), **_alike(flags, "binary", overrides)}


def flags_among(source: Source, names: list[str]) -> list[str]:
    """Those of the columns of numbers that hold 0 and 1 and nothing else.

    >>> from bayeswise.tables.source import open_source
    >>> table = {"paid": [0, 1, 1], "share": [0.0, 0.5, 1.0], "none": [0, 0, 0]}
    >>> flags_among(open_source(table), list(table))
    ['paid']
    """
    low, high, _ = extremes(source, names)
    return _of_zero_and_one(source, list(compress(names, (low == 0.0) & (high == 1.0))))


def _of_zero_and_one(source: Source, names: list[str]) -> list[str]:
    """Those of the columns between 0 and 1 that hold nothing else; one more pass, over them alone."""
    whole = np.ones(len(names), dtype=np.bool_)
    for chunk in source.chunks(names) if names else ():
        whole &= of_zero_and_one(chunk.block(names)[0])
    return list(compress(names, whole))


def _alike(names: list[str], kind: Kind, overrides: Overrides) -> dict[str, Column]:
    """A column for each name, made once for each override."""
    first = {id(overrides[name]): name for name in reversed(names)}
    made = {
        key: _flag(name, overrides[name]) if kind == "binary" else unlabelled_column(name, kind, overrides[name])
        for key, name in first.items()
    }
    return {name: made[id(overrides[name])] for name in names}
