"""Array types named by what they hold; the shape stands in the comment where one is born.

Beside them a quick look whether all cells of a matrix are there, and the border through which settings come in: a
number that NumPy made is a plain Python number behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayeswise.foundation.threads import each

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
CodeArray: TypeAlias = NDArray[np.int32]  # positions in a vocabulary; -1 = missing
BoolArray: TypeAlias = NDArray[np.bool_]
ObjectArray: TypeAlias = NDArray[Any]  # Python integers of any size

CELLS_OF_A_SUM = 1 << 19


def has_finite_sum(values: FloatArray) -> bool:
    """Whether a matrix adds up to a finite number: then none of its cells is missing or infinite. On all threads.

    >>> has_finite_sum(np.ones((2, 3))), has_finite_sum(np.array([[1.0, np.nan]]))
    (True, False)
    """
    step = max(1, CELLS_OF_A_SUM // max(1, values.shape[1]))

    def is_finite(first: int) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(values[first : first + step].sum()))

    return all(each(is_finite, range(0, len(values), step)))


def plain(value: Any) -> Any:
    """A setting without NumPy scalars, also inside a mapping, a list or a tuple; anything else passes as it is.

    >>> plain(np.int64(2)), plain({np.str_("a"): np.float32(0.5)}), plain((np.bool_(True), "auto"))
    (2, {'a': 0.5}, (True, 'auto'))
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {plain(key): plain(each) for key, each in value.items()}
    return type(value)(map(plain, value)) if type(value) in (list, tuple) else value


def make_plain(settings: Any) -> None:
    """Every field of a frozen dataclass of settings made `plain`; the first line of its `__post_init__`."""
    for field in fields(settings):
        object.__setattr__(settings, field.name, plain(getattr(settings, field.name)))
