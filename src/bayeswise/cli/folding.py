"""Text in lines of at most so many cells of the terminal; wide characters take two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def folded(items: Iterable[str], width: int, gap: str = "  ") -> list[str]:
    """As many items on a line as fit, with a gap between them; an item that is too long is cut in pieces.

    >>> folded(["[1] no", "[2] yes", "[3] maybe"], 16)
    ['[1] no  [2] yes', '[3] maybe']
    """
    from rich.cells import cell_len

    lines: list[str] = []
    for piece in (piece for item in items for piece in _pieces(item, width)):
        if lines and cell_len(lines[-1]) + len(gap) + cell_len(piece) <= width:
            lines[-1] += gap + piece
        else:
            lines.append(piece)
    return lines


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """A sentence in lines, broken at its blanks; all lines but the first are indented.

    >>> wrapped("why: drawn at random", 12, "  ")
    ['why: drawn', '  at random']
    """
    first, *rest = folded(text.split(" "), width, " ")
    return [first, *(indent + line for line in folded(" ".join(rest).split(" "), width - len(indent), " ") if line)]


def _pieces(text: str, width: int) -> Iterator[str]:
    from rich.cells import chop_cells

    yield from chop_cells(text, max(width, 2)) or [""]
