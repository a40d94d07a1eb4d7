"""One line about parameters and priors, in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

_SHOWN = 6


def one_line(name: str, parts: Mapping[str, ArrayLike]) -> str:
    """The name and its parts: a number where there is one, else the first few.

    >>> one_line("Dirichlet", {"red": 6.0, "blue": [[2.0]]}), one_line("Poisson", {"rate": np.arange(9.0)})
    ('Dirichlet(red=6, blue=2)', 'Poisson(rate=[0, 1, 2, 3, 4, 5, ...])')
    """
    listed = list(parts.items())
    words = [f"{part}={_numbers(value)}" for part, value in listed[:_SHOWN]]
    more = [f"{len(listed) - _SHOWN} more"] if len(listed) > _SHOWN else []
    return f"{name}({', '.join(words + more)})"


def _numbers(value: ArrayLike) -> str:
    flat = np.asarray(value, dtype=np.float64).ravel()
    if flat.size == 1:
        return f"{flat[0]:g}"
    shown = [f"{number:g}" for number in flat[:_SHOWN]]
    return f"[{', '.join(shown + ['...'] * (flat.size > _SHOWN))}]"
