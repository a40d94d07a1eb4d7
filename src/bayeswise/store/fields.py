"""Which fields of a dataclass a document holds: those of its constructor, but none that came later and says nothing.

A field that is added to a class makes no older file unreadable, and no newer one different where it is not used.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Reading:
...     delimiter: str
...     null_word: str | None = added_later(None)
>>> written(Reading(",")), written(Reading(",", "?"))
(['delimiter'], ['delimiter', 'null_word'])
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import field, fields
from typing import Any

_LATER = "bayeswise: added later"


def added_later(default: Any) -> Any:
    """A field that older files do not have; its default stands for its absence, and is never written."""
    return field(default=default, metadata={_LATER: True})


def written(value: Any) -> list[str]:
    """The fields that a document of the value has."""
    return [
        each.name
        for each in fields(value)
        if each.init and not (_LATER in each.metadata and getattr(value, each.name) == each.default)
    ]


def expected(kind: type[Any], found: Container[str]) -> list[str]:
    """The fields that a document of the class must have, given those that were found in it."""
    return [each.name for each in fields(kind) if each.init and (_LATER not in each.metadata or each.name in found)]
