"""What calls are given as numbers, checked once."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from bayeswise.foundation.errors import ParameterError


def is_number(value: Any) -> bool:
    """Whether it is a number of Python or NumPy, and not a flag.

    >>> is_number(2), is_number(np.float32(0.5)), is_number(True), is_number("2")
    (True, True, False, False)
    """
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def whole_number(given: Any, what: str, least: int = 1) -> int:
    """A whole number that is large enough.

    >>> whole_number(3, "n_steps")
    3
    """
    if isinstance(given, bool) or not isinstance(given, Integral) or given < least:
        raise ParameterError(f"{what} is {given!r:.80}", fix=f"give a whole number of at least {least}")
    return int(given)
