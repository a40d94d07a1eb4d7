"""The type that the labels of one column share, and how a stored cell becomes a label of that type.

A text file knows only text, so `1` is read as the integer 1 where the schema says "integer". A string in a dataframe is
a string: '1' is never the integer 1.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

from bayeswise.foundation.errors import SchemaError
from bayeswise.tables.labels import Label, label_of

LabelType: TypeAlias = Literal["text", "integer", "number", "boolean", "mixed"]
LABEL_TYPES: tuple[LabelType, ...] = get_args(LabelType)

_NAMES: dict[type, LabelType] = {str: "text", int: "integer", float: "number", bool: "boolean"}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?")
_DIGITS = 4000  # Python refuses to read longer integers
_LARGEST = sys.float_info.max


def label_type_of(labels: Iterable[Label]) -> LabelType:
    """The type that all labels share.

    >>> label_type_of(["S", "M"]), label_type_of([1, 2]), label_type_of([1, 2.5]), label_type_of([1, "a"])
    ('text', 'integer', 'number', 'mixed')
    """
    found = {_NAMES[type(label_of(label))] for label in labels}
    if found == {"integer", "number"}:
        return "number"
    return found.pop() if len(found) == 1 else "mixed"


def as_label(cell: Label, label_type: LabelType, *, textual: bool) -> Label | None:
    """The cell as a label of the type, None if it is none; text is parsed only if it comes from a text file.

    >>> as_label("7", "integer", textual=True), as_label("7", "text", textual=True)
    (7, '7')
    >>> as_label(7.0, "integer", textual=False), as_label("7", "integer", textual=False)
    (7, None)
    """
    if label_type == "mixed":
        return label_of(cell)
    if isinstance(cell, str):
        return cell if label_type == "text" else _parsed(cell.strip(), label_type) if textual else None
    if label_type == "text" or (label_type == "boolean") != isinstance(cell, bool):
        return None
    return _converted(cell, label_type)


def as_levels(levels: Iterable[Label], label_type: LabelType, column: str) -> tuple[Label, ...]:
    """Declared levels as labels of the type of their column."""
    declared = tuple(map(label_of, levels))
    for level in declared:
        if as_label(level, label_type, textual=False) is None:
            raise SchemaError(
                f"the declared level {level!r} of column {column!r} is no {label_type} label, but its cells are",
                fix=f"write the levels as {label_type} labels",
            )
    return tuple(as_label(level, label_type, textual=False) for level in declared)  # type: ignore[misc]


def _parsed(text: str, label_type: LabelType) -> Label | None:
    if label_type == "boolean":
        return {"true": True, "false": False}.get(text.lower())
    if _INTEGER.fullmatch(text) and len(text) <= _DIGITS:
        return _converted(int(text), label_type)
    return _converted(float(text.replace(",", ".")), label_type) if _NUMBER.fullmatch(text) else None


def _converted(number: float, label_type: LabelType) -> Label | None:
    """Between integer and number where nothing is lost."""
    if label_type == "boolean":
        return number
    if not -_LARGEST <= number <= _LARGEST:
        return number if type(number) is int and label_type == "integer" else None
    converted = int(number) if label_type == "integer" else float(number)
    return label_of(converted) if converted == number else None
