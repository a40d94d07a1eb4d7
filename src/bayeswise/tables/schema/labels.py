"""Labels of states and levels: text, integer, number or flag, never silently merged.

Python says 1 == True == 1.0 and NumPy turns [1, 'a'] into text; here a label is known by its type and its value.

>>> Vocabulary.of(["b", True, 1, "1", 1.0, "a"])
Vocabulary(True, 1, 1.0, '1', 'a', 'b')
"""

from __future__ import annotations

import math
import operator
import re
import sys
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from itertools import repeat
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from bayeswise.foundation.arrays import CodeArray, IntArray
from bayeswise.foundation.errors import ParameterError, SchemaError, UsageError
from bayeswise.render import labels as shown_labels
from bayeswise.render.labels import guess

Label: TypeAlias = shown_labels.Label
LabelKey: TypeAlias = tuple[int, Label]

_RANKS: dict[type, int] = {bool: 0, int: 1, float: 2, str: 3}


def label_of(value: Any) -> Label:
    """A plain Python label from a Python or NumPy scalar.

    >>> label_of(np.int64(3)), label_of(np.str_("a")), label_of(-0.0)
    (3, 'a', 0.0)
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if type(plain) not in _RANKS:
        plain = _subclass_value(plain)
    if type(plain) is float:
        return _finite(plain)
    label: Label = plain
    return label


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise SchemaError(f"a label must be finite; found {number!r}", fix="leave the cell empty, or turn it into text")
    return number + 0.0  # -0.0 and 0.0 are one label


def _subclass_value(value: Any) -> Label:
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise SchemaError(
        f"a label must be text, a number or true/false; found {value!r} of type {type(value).__name__}",
        fix="turn the column into text first",
    )


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def label_key(label: Label) -> LabelKey:
    """What a label is known by, and sorted by: its type, then its value."""
    return _RANKS[type(label)], label


def _are_plain(types: Set[type]) -> bool:
    """Whether labels of these types are all texts or all integers, which are known by their value alone."""
    return types <= {str} or types <= {int}


class Vocabulary(Sequence[Label]):
    """Distinct labels in a fixed order; a label's position is its code.

    >>> Vocabulary(["no", "yes"]).encode(["yes", "maybe"]).tolist()
    [1, -1]
    """

    labels: tuple[Label, ...]

    def __init__(self, labels: Iterable[Any] = ()) -> None:
        given = tuple(labels)
        plain = _are_plain(set(map(type, given)))
        self.labels = given if plain else tuple(map(label_of, given))
        if len(set(given) if plain else self._codes) != len(self.labels):
            twice = next(label for k, label in enumerate(self.labels) if self._codes[label_key(label)] != k)
            raise SchemaError(f"the label {twice!r} is named twice", fix="name each label once")

    @classmethod
    def of(cls, labels: Iterable[Any]) -> Vocabulary:
        """The distinct labels in canonical order: flags, integers, numbers, text; each by value."""
        given = tuple(labels)
        if _are_plain(set(map(type, given))):
            return cls.trusted(tuple(sorted(set(given))))
        distinct = {label_key(label_of(label)) for label in given}
        return cls.trusted(tuple(label for _, label in sorted(distinct)))

    @classmethod
    def in_order(cls, labels: Iterable[Any], declared: Vocabulary) -> Vocabulary:
        """The distinct labels, the declared ones among them first and in their order, then the others by value.

        >>> Vocabulary.in_order(["c", "a", "b"], declared=Vocabulary(["b", "a", "z"]))
        Vocabulary('b', 'a', 'c')
        """
        if not declared:
            return cls.of(labels)
        seen = cls.of(labels)
        return cls.trusted(
            (*(label for label in declared if label in seen), *(label for label in seen if label not in declared))
        )

    @classmethod
    def trusted(cls, labels: tuple[Label, ...]) -> Vocabulary:
        """Labels that are known to be plain and distinct: nothing is checked, so a million of them cost nothing."""
        vocabulary = cls.__new__(cls)
        vocabulary.labels = labels
        return vocabulary

    @cached_property
    def _codes(self) -> dict[LabelKey, int]:
        return {label_key(label): code for code, label in enumerate(self.labels)}

    @cached_property
    def types(self) -> frozenset[type]:
        """The types of the labels."""
        return frozenset(map(type, self.labels))

    @property
    def is_text(self) -> bool:
        """Whether all labels are text."""
        return self.types <= {str}

    @cached_property
    def codes_by_value(self) -> dict[Label, int]:
        """The code of each label where all are of one type, which is then not needed: much faster with many labels."""
        return dict(zip(self.labels, range(len(self.labels)), strict=True))

    @cached_property
    def is_canonical(self) -> bool:
        """Whether the labels are in canonical order."""
        keys: Sequence[Any] = self.labels if _are_plain(self.types) else [label_key(label) for label in self.labels]
        return all(map(operator.lt, keys, keys[1:]))

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Label]:
        return iter(self.labels)

    def __getitem__(self, index: Any) -> Any:
        return self.labels[index]

    def __contains__(self, label: object) -> bool:
        plain = label.item() if isinstance(label, np.generic) else label
        return type(plain) in _RANKS and label_key(plain) in self._codes  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or self._equals(other.labels)

    def __hash__(self) -> int:
        return hash(tuple(map(label_key, self.labels)))

    def __repr__(self) -> str:
        return f"Vocabulary({', '.join(map(repr, self.labels))})"

    def code(self, label: Any) -> int:
        """The position of a label, -1 if it is not here."""
        return self._codes.get(label_key(label_of(label)), -1)

    def code_of_equal(self, label: Any) -> int:
        """The position of a label, or of the number that equals it: 1 and 1.0 are one state, True is neither.

        >>> [Vocabulary([0, 1]).code_of_equal(label) for label in (1, 1.0, True, "1")]
        [1, 1, -1, -1]
        """
        plain = label_of(label)
        code = self._codes.get(label_key(plain), -1)
        if code >= 0 or type(plain) not in (int, float):
            return code
        whole = isinstance(plain, float) and plain.is_integer()
        same: Label = int(plain) if whole else plain if isinstance(plain, float) else _as_float(plain)
        return self._codes.get(label_key(same), -1) if same == plain else -1

    def encode(self, labels: Iterable[Any]) -> CodeArray:
        """The positions of labels, -1 for those that are not here."""
        return np.array([self.code(label) for label in labels], dtype=np.int32)

    def union(self, other: Vocabulary) -> Vocabulary:
        """Both in canonical order."""
        if self.is_canonical and (self == other or self._has_all(other)):
            return self
        return Vocabulary.of((*self.labels, *other.labels))

    def declared_with(self, other: Vocabulary) -> Vocabulary:
        """What either declares: in the order of both where that is the same, else in canonical order.

        >>> Vocabulary(["low", "high"]).declared_with(Vocabulary(["low", "high"]))
        Vocabulary('low', 'high')
        """
        return self if self == other else self.union(other)

    def _has_all(self, other: Vocabulary) -> bool:
        if _are_plain(self.types | other.types):
            return self.codes_by_value.keys() >= set(other.labels)
        return all(label_key(label) in self._codes for label in other.labels)

    def positions_in(self, other: Vocabulary) -> IntArray:
        """For each label its position in the other vocabulary, -1 if it is not there."""
        if self.begins(other):
            return np.arange(len(self.labels))
        if _are_plain(self.types | other.types):
            found = map(other.codes_by_value.get, self.labels, repeat(-1))
            return np.fromiter(found, dtype=np.int64, count=len(self.labels))
        return np.array([other._codes.get(label_key(label), -1) for label in self.labels], dtype=np.int64)

    def begins(self, other: Vocabulary) -> bool:
        """Whether the other vocabulary has these labels first, in this order.

        >>> Vocabulary(["b", "a"]).begins(Vocabulary(["b", "a", "c"])), Vocabulary([1]).begins(Vocabulary([True]))
        (True, False)
        """
        return self._equals(other.labels[: len(self.labels)])

    def _equals(self, labels: tuple[Label, ...]) -> bool:
        """Whether these are the labels, of the same types: 1 == True == 1.0, but nothing else equals a text."""
        return self.labels == labels and (self.is_text or list(map(type, self.labels)) == list(map(type, labels)))

    def to_plain(self) -> tuple[Label, ...]:
        """The labels: what a document keeps."""
        return self.labels

    @classmethod
    def from_plain(cls, labels: Iterable[Any]) -> Vocabulary:
        """The inverse of `to_plain`, checked."""
        return cls(labels)


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
    """The cell as a label of the type, None if it is not one; text is parsed only if it comes from a text file.

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


_SPELLINGS = (("True", "False"), ("true", "false"), ("TRUE", "FALSE"))


def spelled_booleans(levels: Vocabulary) -> dict[Label, Label]:
    """The texts that spell True and False among some levels; empty unless exactly one pair does.

    >>> spelled_booleans(Vocabulary(["False", "True", "maybe"])), spelled_booleans(Vocabulary(["no", "yes"]))
    ({True: 'True', False: 'False'}, {})
    """
    found = [pair for pair in _SPELLINGS if all(levels.code_of_equal(text) >= 0 for text in pair)]
    return {True: found[0][0], False: found[0][1]} if len(found) == 1 else {}


def as_boolean(cell: Label) -> bool | None:
    """The boolean that a cell spells, or that 1 and 0 stand for; None if it does not.

    >>> as_boolean("TRUE"), as_boolean(0), as_boolean("yes"), as_boolean(2)
    (True, False, None, None)
    """
    if isinstance(cell, str):
        return {"true": True, "false": False}.get(cell.strip().lower())
    return bool(cell) if cell in (0, 1) else None


def as_levels(levels: Iterable[Label], label_type: LabelType, column: str) -> tuple[Label, ...]:
    """Declared levels as labels of the type of their column."""
    declared = tuple(map(label_of, levels))
    for level in declared:
        if as_label(level, label_type, textual=False) is None:
            raise SchemaError(
                f"the declared level {level!r} of column {column!r} is not a label of type {label_type} as its cells",
                fix=f"write the levels as {label_type} labels",
            )
    return tuple(as_label(level, label_type, textual=False) for level in declared)  # type: ignore[misc]


def _parsed(text: str, label_type: LabelType) -> Label | None:
    if label_type == "boolean":
        return {"true": True, "false": False, "1": True, "0": False}.get(text.lower())
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


def label_of_text(text: str, labels: Sequence[Label], what: str = "the model has no class") -> Label:
    """The label that was typed; 1 and True are typed like their text.

    >>> label_of_text("1", (0, 1)), label_of_text("yes", ("no", "yes"))
    (1, 'yes')
    """
    same = [label for label in labels if str(label) == text]
    if not same:
        same = [label for label in labels if not isinstance(label, str) and str(label).lower() == text.strip().lower()]
    if not same:
        raise ParameterError(f"{what} {text!r}", fix=guess(text, [str(label) for label in labels]))
    return same[0]


def find_state(
    label: object,
    states: Sequence[Label],
    *,
    what: str = "there is no state",
    error: type[UsageError] = ParameterError,
) -> int:
    """The position of a label among the states, or an error that guesses what was meant.

    >>> find_state("ham", ["spam", "ham"])
    1
    >>> find_state("Ham", ["spam", "ham"])
    Traceback (most recent call last):
    bayeswise.foundation.errors.ParameterError: there is no state 'Ham'. Fix: did you mean 'ham'?
    """
    try:
        key = label_key(label_of(label))
    except SchemaError:
        key = None
    if isinstance(states, Vocabulary):  # which knows them by heart, be they a million
        if key is not None and (code := states.code_of_equal(label)) >= 0:
            return code
    else:
        keys = [label_key(state) for state in states]
        if key in keys:
            return keys.index(key)
        if key is not None and (code := Vocabulary.trusted(tuple(states)).code_of_equal(label)) >= 0:
            return code
    raise error(f"{what} {label!r}", fix=guess(label, states))
