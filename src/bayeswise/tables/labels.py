"""Labels of states and levels: text, integer, number or flag, never silently merged.

Python says 1 == True == 1.0 and NumPy turns [1, 'a'] into text; here a label is known by its type and its value.

>>> Vocabulary.of(["b", True, 1, "1", 1.0, "a"])
Vocabulary(True, 1, 1.0, '1', 'a', 'b')
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from bayeswise.foundation.arrays import CodeArray, IntArray
from bayeswise.foundation.errors import SchemaError

Label: TypeAlias = str | int | float | bool
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


def label_key(label: Label) -> LabelKey:
    """What a label is known by, and sorted by: its type, then its value."""
    return _RANKS[type(label)], label


class Vocabulary(Sequence[Label]):
    """Distinct labels in a fixed order; a label's position is its code.

    >>> Vocabulary(["no", "yes"]).encode(["yes", "maybe"]).tolist()
    [1, -1]
    """

    labels: tuple[Label, ...]

    def __init__(self, labels: Iterable[Any] = ()) -> None:
        self.labels = tuple(label_of(label) for label in labels)
        if len(self._codes) != len(self.labels):
            twice = next(label for k, label in enumerate(self.labels) if self._codes[label_key(label)] != k)
            raise SchemaError(f"the label {twice!r} is named twice", fix="name each label once")

    @classmethod
    def of(cls, labels: Iterable[Any]) -> Vocabulary:
        """The distinct labels in canonical order: flags, integers, numbers, text; each by value."""
        distinct = {label_key(label_of(label)) for label in labels}
        return cls.trusted(tuple(label for _, label in sorted(distinct)))

    @classmethod
    def trusted(cls, labels: tuple[Label, ...]) -> Vocabulary:
        """Labels that are known to be plain and distinct: nothing is checked, so a million of them cost nothing."""
        vocabulary = cls.__new__(cls)
        vocabulary.labels = labels
        return vocabulary

    @cached_property
    def _codes(self) -> dict[LabelKey, int]:
        return {label_key(label): code for code, label in enumerate(self.labels)}

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
        return self is other or list(map(label_key, self.labels)) == list(map(label_key, other.labels))

    def __hash__(self) -> int:
        return hash(tuple(map(label_key, self.labels)))

    def __repr__(self) -> str:
        return f"Vocabulary({', '.join(map(repr, self.labels))})"

    def code(self, label: Any) -> int:
        """The position of a label, -1 if it is not here."""
        return self._codes.get(label_key(label_of(label)), -1)

    def encode(self, labels: Iterable[Any]) -> CodeArray:
        """The positions of labels, -1 for those that are not here."""
        return np.array([self.code(label) for label in labels], dtype=np.int32)

    def union(self, other: Vocabulary) -> Vocabulary:
        """Both in canonical order."""
        return self if self == other else Vocabulary.of((*self.labels, *other.labels))

    def positions_in(self, other: Vocabulary) -> IntArray:
        """For each label its position in the other vocabulary, -1 if it is not there."""
        return np.array([other._codes.get(label_key(label), -1) for label in self.labels], dtype=np.int64)

    def to_plain(self) -> tuple[Label, ...]:
        """The labels: what a document keeps."""
        return self.labels

    @classmethod
    def from_plain(cls, labels: Iterable[Any]) -> Vocabulary:
        """The inverse of `to_plain`, checked."""
        return cls(labels)
