"""How a long search tells where it is, and how it ends early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[[str, int, int | None], None]
"""Called with what is done, how much of it is done, and how much there is if that is known."""

Parents = list[tuple[int, ...]]


@dataclass(frozen=True)
class Search:
    """A graph that was found: the parents of each node, its score, and whether Ctrl-C ended the search."""

    parents: Parents
    score: float
    interrupted: bool = False


def silent(what: str, done: int, total: int | None) -> None:
    """Tell nothing."""
