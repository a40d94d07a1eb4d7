"""What the profile of a column gives evidence of; every question is answered by whole-table counts, never by order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import row_number
from bayeswise.render.numbers import plural
from bayeswise.tables.schema.labels import Label, LabelType, label_type_of
from bayeswise.tables.schema.profile import ColumnProfile
from bayeswise.tables.source import InvalidValue

MOST_LEVELS = 1_000_000
"""A text column with more different values is not a category."""
FEW_VALUES = 20
"""An integer column with at most this many different values, each occurring twice on average, may be a category."""
INVALID_PER_HUNDRED = 1
"""Up to 1 % of the cells of a number column need not be numbers; they are missing cells then."""
_ROWS_OF_AN_ID = 4
_ROWS_OF_AN_INDEX = 10
_WORDS_OF_A_SENTENCE = 3.0

_ID_NAME = re.compile(r"(?i:(.*[\W_])?(id|ids|key|uuid|guid|index|idx|rowid|rownum|nr|no))|.*[a-z0-9](Id|ID|Key|Nr|No)")
_ID_ENDS = ("id", "ids", "key", "index", "idx", "rownum", "nr", "no")
_TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?"
_ZONE = r"( ?(Z|UTC|[+-]\d{2}:?\d{2}))?"
_DAY = r"(\d{4}(?P<a>[-/.])\d{1,2}((?P=a)\d{1,2})?|\d{1,2}(?P<b>[-/.])\d{1,2}(?P=b)(\d{4}|\d{2}))"
_MOMENT = re.compile(rf"({_DAY}([T ]+{_TIME}{_ZONE})?|{_TIME})")


def numerals(column: ColumnProfile) -> int:
    """The number of numeric cells; among Python objects, text that looks like a number is not one."""
    if column.storage == "object" and column.levels_complete:
        return sum(count for level, count in column.levels if type(level) in (int, float))
    return column.integers + column.decimals + column.infinite


def invalid(column: ColumnProfile) -> int:
    """The number of cells that are not numeric in a column of numbers; flags count as 0 and 1."""
    if column.storage == "object" and column.levels_complete:
        return column.present - numerals(column)
    return column.invalid


def holds_strings(column: ColumnProfile, textual: bool) -> bool:
    """True for strings of a dataframe, which are labels whatever they look like."""
    return column.storage == "text" and not textual


def is_numeric(column: ColumnProfile, textual: bool) -> bool:
    """More than half of the cells are numbers; text with leading zeros is a label, not a number."""
    return (
        not holds_strings(column, textual)
        and column.storage != "declared"
        and not column.zero_padded
        and 2 * numerals(column) > column.present
    )


def too_many_invalid(invalid: int, cells: int) -> bool:
    """The one rule for cells that are not numbers, for a whole table, when learning and when predicting."""
    return 100 * invalid > INVALID_PER_HUNDRED * cells


def all_different(column: ColumnProfile) -> bool:
    """Every cell has a value of its own, in enough rows for that to mean something; estimates may err by 3 %."""
    least = column.present if column.distinct_exact else 0.97 * column.present
    return column.present >= _ROWS_OF_AN_ID and column.distinct >= least


def is_index(column: ColumnProfile) -> bool:
    """Different numbers that are consecutive (a row number), or that are named like an id."""
    if not all_different(column):
        return False
    return named_like_an_id(column.name) or is_gapless(column.minimum, column.maximum, column.present)


def named_like_an_id(name: str) -> bool:
    """True for id, customer_id, customerId, key, index and the like."""
    plain = name.strip()
    if plain.isascii() and not plain.lower().endswith(_ID_ENDS):  # as nearly all names, which need no expression
        return False
    return _ID_NAME.fullmatch(plain) is not None


def is_gapless(minimum: float, maximum: float, present: int) -> bool:
    """As many cells as steps of 1 from the least to the largest."""
    return maximum - minimum + 1 == present >= _ROWS_OF_AN_INDEX


def is_moment(column: ColumnProfile) -> bool:
    """Dates and times, stored as such or written as text."""
    if column.storage == "temporal":
        return True
    levels = [level for level, _ in column.levels] or [invalid.text for invalid in column.invalid_examples]
    return column.invalid == column.present > 0 and all(
        isinstance(level, str) and _MOMENT.fullmatch(level.strip()) for level in levels
    )


def is_free_text(column: ColumnProfile) -> bool:
    """Several words in a cell, and most cells different."""
    return column.words >= _WORDS_OF_A_SENTENCE and 2 * column.distinct > column.present


def has_few_values(column: ColumnProfile) -> bool:
    """Whole numbers with few different values, each of them repeated."""
    return column.distinct <= FEW_VALUES and 2 * column.distinct <= column.present and all_whole(column)


def is_flag(column: ColumnProfile) -> bool:
    """Every cell is 0 or 1, and there are both."""
    extremes = column.minimum == 0.0 and column.maximum == 1.0
    return extremes and numerals(column) == column.present and not column.infinite and all_whole(column)


def all_whole(column: ColumnProfile) -> bool:
    """Every number is a whole one, also where it is stored or written as 3.0."""
    if column.decimals == 0:
        return True
    return column.levels_complete and all(_is_whole(level) for level, _ in column.levels)


def _is_whole(level: Label) -> bool:
    try:
        return float(level).is_integer()
    except ValueError:  # an invalid value, which counts apart
        return True


def label_type(column: ColumnProfile, textual: bool) -> LabelType:
    """The type of the labels of the column, if it is one of labels."""
    if column.declared:
        return label_type_of(column.declared)
    if column.storage == "object":
        return label_type_of(level for level, _ in column.levels) if column.levels else "mixed"
    if holds_strings(column, textual) or column.zero_padded:
        return "text"
    if not column.present:
        return "text" if textual else "mixed"  # numbers may come where all are missing
    if column.booleans == column.present:
        return "boolean"
    if column.integers == column.present and column.storage != "float":  # 1.0 is another label than 1
        return "integer"
    return "number" if numerals(column) == column.present else "text"


# -- cells that are not numbers in number columns: missing up to 1 % of a table's cells, an error above ---------
_KEPT = 5


def place_of(invalid: InvalidValue) -> str:
    """The cell and where it stands: `'3a' (line 17)`.

    >>> place_of(InvalidValue(row=15, line=17, text="3a"))
    "'3a' (line 17)"
    """
    text = invalid.text if len(invalid.text) <= 24 else invalid.text[:23] + "…"
    return f"{text!r} ({f'row {row_number(invalid.row)}' if invalid.line is None else f'line {invalid.line}'})"


def places_of(invalid: Sequence[InvalidValue], count: int) -> str:
    """The first of `count` invalid values."""
    return ", ".join(map(place_of, invalid)) + (", …" if count > len(invalid) else "")


@dataclass
class InvalidCount:
    """The invalid values of one column over one sweep; checked at its end, so that the order of rows plays no part."""

    cells: int = 0
    invalid: int = 0
    examples: list[InvalidValue] = field(default_factory=list)

    def observe(self, n_numbers: int, invalid: Sequence[InvalidValue]) -> None:
        self.cells += n_numbers + len(invalid)
        self.invalid += len(invalid)
        self.examples.extend(invalid[: _KEPT - len(self.examples)])

    def merge(self, other: InvalidCount) -> InvalidCount:
        """The invalid values of both sweeps."""
        examples = [*self.examples, *other.examples][:_KEPT]
        return InvalidCount(self.cells + other.cells, self.invalid + other.invalid, examples)

    @property
    def too_many(self) -> bool:
        return too_many_invalid(self.invalid, self.cells)

    @property
    def shown(self) -> str:
        """The first of them, and where they are."""
        return places_of(self.examples, self.invalid)

    def __str__(self) -> str:
        what = "is not a number" if self.invalid == 1 else "are not numbers"
        return f"{self.invalid:,} of {plural(self.cells, 'cell')} {what}: {self.shown}"
