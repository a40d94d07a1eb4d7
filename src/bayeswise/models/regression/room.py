"""How much memory a regression takes, estimated before it is taken; one limit for all models (engines/local.py)."""

from __future__ import annotations

from bayeswise.engines.local import MOST_ENTRIES
from bayeswise.foundation.errors import TooLargeError

LIMBS = 6  # 8-byte words of an exact sum of products, in the middle of a merge


def refuse_no_room(n_entries: float, what: str, fix: str) -> None:
    """`TooLargeError` with the estimate, before the memory is taken."""
    if n_entries > MOST_ENTRIES:
        raise TooLargeError(
            f"{what} would take {8 * n_entries / 1e9:,.1f} GB; at most {8 * MOST_ENTRIES / 1e9:.1f} are taken", fix=fix
        )


def entries_of_moments(n_features: int) -> float:
    """The memory of exact cross products of all pairs of columns."""
    return LIMBS * 0.5 * n_features * (n_features + 1.0)


def is_wide(n_features: int) -> bool:
    """Whether exact cross products of all columns have no room."""
    return entries_of_moments(n_features) > MOST_ENTRIES
