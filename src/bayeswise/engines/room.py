"""Whether what is asked of rows has room in memory, before it is taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayeswise.engines.request import Ask
from bayeswise.foundation.errors import TooLargeError
from bayeswise.tables.labels import Vocabulary

MOST_ENTRIES = 1 << 28
"""Entries of 8 bytes in one table of counts or sums; threads and merges hold a few such tables at a time."""

_LIMBS = 6  # 8-byte words of an exact sum of products, in the middle of a merge
_WORDS = {"numbers": "columns of numbers", "categories": "levels", "text": "words"}
_ENTRIES = {"numbers": 16, "categories": 1, "text": 1}  # a number has the limbs of a weight, a sum and a sum of squares


def refuse_too_large(ask: Ask, block: tuple[Any, ...], n_groups: int) -> None:
    """`TooLargeError` for more classes times levels than an ordinary machine holds: often the target is an id."""
    if ask.in_pairs:
        _refuse_pairs(len(ask.columns), max(n_groups, 1))
        return
    width = len(ask.columns) if ask.block == "numbers" else sum(map(len, _vocabularies(ask, block)))
    n_entries = n_groups * width * _ENTRIES[ask.block]
    if n_entries <= MOST_ENTRIES:
        return
    widths = _widths(ask, block)
    widest = max(widths, key=lambda name: widths[name])
    raise TooLargeError(
        f"{n_groups:,} classes and {width:,} {_WORDS[ask.block]} would take {8 * n_entries / 1e9:,.1f} GB; "
        f"at most {8 * MOST_ENTRIES / 1e9:.1f} are taken",
        fix=f"choose a target with fewer classes, or ignore=[{widest!r}] (--ignore {widest})",
    )


def _refuse_pairs(n_columns: int, n_groups: int) -> None:
    """Covariances have an exact sum for each pair of columns in each class."""
    n_entries = n_groups * _LIMBS * 0.5 * n_columns * (n_columns + 1.0)
    if n_entries > MOST_ENTRIES:
        raise TooLargeError(
            f"covariances of {n_columns:,} columns in {n_groups:,} classes would take {8 * n_entries / 1e9:,.1f} GB; "
            f"at most {8 * MOST_ENTRIES / 1e9:.1f} are taken",
            fix="choose bw.NaiveBayes (--model naive-bayes), which keeps variances only, or fewer columns",
        )


def _widths(ask: Ask, block: tuple[Any, ...]) -> dict[str, int]:
    """How many entries of a class each column has."""
    if ask.block == "numbers":
        return dict.fromkeys(ask.columns, 1)
    return {name: len(known) for name, known in zip(ask.columns, _vocabularies(ask, block), strict=True)}


def _vocabularies(ask: Ask, block: tuple[Any, ...]) -> Sequence[Vocabulary]:
    return block[1] if ask.block == "categories" else [block[1]]
