"""Python objects as cells: each becomes text, an integer, a double, a flag or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.errors import SourceError, quoted
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.source import Storage

_PLAIN = {str, int, float, bool, type(None)}
_MISSING = {"NAType", "NaTType"}  # pandas is never imported here


def settle(cell: object) -> Label | None:
    """The plain value of a cell of any type; text is the last resort.

    >>> settle(np.float32(0.5)), settle(Decimal("1.50")), settle(date(2024, 2, 29)), settle(np.datetime64("NaT"))
    (0.5, '1.50', '2024-02-29', None)
    """
    if isinstance(cell, np.generic):
        cell = None if isinstance(cell, np.datetime64 | np.timedelta64) and np.isnat(cell) else cell.item()
    if cell is None or type(cell).__name__ in _MISSING:
        return None
    for plain in (bool, str, int, float):
        if isinstance(cell, plain):
            return plain(cell)
    return _as_text(cell)


def _as_text(cell: object) -> str | None:
    if isinstance(cell, Decimal):
        return None if cell.is_nan() else str(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return f"{cell / timedelta(seconds=1):.6f}".rstrip("0").rstrip(".") + " s"
    return str(cell)


def object_column(cells: Sequence[Any]) -> _kernels.Column:
    """A kernel column over Python objects."""
    return _kernels.object_column(cells if isinstance(cells, list | tuple) else list(cells), settle)


def complex_column(name: str) -> SourceError:
    """The error for a column of complex numbers, which are neither numbers in an order nor labels."""
    return SourceError(
        f"column {quoted(name)} holds complex numbers", fix="give their real and imaginary parts as two columns"
    )


def storage_of(cells: Sequence[Any], name: str = "x0") -> Storage:
    """How to call a column of Python objects: by the one kind of value it holds, or "object".

    >>> storage_of(["a", None, float("nan")]), storage_of([1, 2.5]), storage_of([1, "1"]), storage_of([[1], [2]])
    ('text', 'float', 'object', 'nested')
    """
    exotic = {_exotic_kind(kind) for kind in set(map(type, cells)) - _PLAIN} - {None}
    if "complex" in exotic:
        raise complex_column(name)
    if "nested" in exotic or "binary" in exotic:
        return "nested" if "nested" in exotic else "binary"
    kinds = {kind for kind, count in object_column(cells).kinds().items() if count and kind != "null"}
    return _named(kinds, exotic)


def _named(kinds: set[str], exotic: set[str | None]) -> Storage:
    if not kinds:
        return "null"
    if kinds == {"text"} and exotic:
        return "temporal" if exotic == {"temporal"} else "float" if exotic == {"decimal"} else "object"
    if kinds <= {"integer", "float"}:
        return "float" if "float" in kinds else "integer"
    return kinds.pop() if len(kinds) == 1 else "object"  # type: ignore[return-value]


def _exotic_kind(kind: type) -> str | None:
    """What a type that is not plain holds; None for subclasses of plain types and for markers of missing cells."""
    if issubclass(kind, complex | np.complexfloating):
        return "complex"
    if kind.__name__ in _MISSING or issubclass(kind, str | int | float | np.number | np.bool_):
        return None
    if issubclass(kind, date | time | timedelta | np.datetime64 | np.timedelta64):
        return "temporal"
    if issubclass(kind, Decimal):
        return "decimal"
    if issubclass(kind, bytes | bytearray | memoryview):
        return "binary"
    if issubclass(kind, list | tuple | dict | set | frozenset | np.ndarray):
        return "nested"
    return "other"
