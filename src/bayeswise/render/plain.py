"""Plain data: columns as a dataframe of the library in use, numbers and cells as JSON has them."""

from __future__ import annotations

import math
import sys
from importlib import import_module
from typing import Any

import numpy as np

_FRAMES = ("pandas", "polars")


def as_frame(columns: dict[str, list[Any]]) -> Any:
    """A dataframe of the library in use, else of one that is installed, else the columns as they are."""
    in_use = [name for name in _FRAMES if name in sys.modules]
    for name in dict.fromkeys([*in_use, *_FRAMES]):
        try:
            return import_module(name).DataFrame(columns)
        except ImportError:
            continue
    return columns


class Tabular:
    """What can be written as columns is a dataframe, too."""

    def to_columns(self) -> dict[str, list[Any]]:
        """Columns of equal length, by name."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """`to_columns` in the dataframe library that is installed (the one in use first), or as it is."""
        return as_frame(self.to_columns())


def json_number(number: float) -> float | str:
    """Infinities as text, which float() reads back: JSON has none.

    >>> json_number(-math.inf), json_number(0.5)
    ('-inf', 0.5)
    """
    return float(number) if math.isfinite(number) else str(float(number))


def json_value(value: Any) -> Any:
    """A cell as JSON has it; a missing one is null, what JSON does not know is its text."""
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or (isinstance(plain, float) and math.isnan(plain)):
        return None
    if isinstance(plain, float):
        return json_number(plain)
    return plain if isinstance(plain, bool | int | str) else str(plain)
