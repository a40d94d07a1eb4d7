"""Text for a terminal: aligned columns, bars, wrapped lines, and letters for terminals that lack some characters."""

from __future__ import annotations

import codecs
import io
import math
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from bayeswise.render.labels import padded

if TYPE_CHECKING:
    from rich.table import Table

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_PLAIN = {
    **dict.fromkeys("█▉▊▋▌▐", "#"),
    **dict.fromkeys("▍▎▏░", "."),
    **dict.fromkeys("─–—", "-"),
    "│": "|",
    "◄": "<",
    "►": ">",
    "×": "x",
    "·": "*",
    "±": "+-",
    "…": "...",
    "∞": "inf",
    "→": "->",
    "✗": "x",
}


def plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """What to write instead; a letter of the user's own, such as é or 😀, as \\xe9 or \\U0001f600.

    >>> codecs.register_error("plain", plain)
    >>> "◄ 0.5 é".encode("ascii", "plain")
    b'< 0.5 \\\\xe9'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    letters = (_PLAIN.get(letter) or letter.encode("ascii", "backslashreplace").decode() for letter in missing)
    return "".join(letters), error.end


def write_what_the_terminal_can() -> None:
    """Let both streams replace what their encoding lacks."""
    codecs.register_error("plain", plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] | None = None, *, indent: str = "") -> list[str]:
    """Lines of columns of equal width; those of numbers are aligned to the right, by default all but the first.

    >>> aligned([["report", "p"], ["open", "0.35"]])
    ['report     p', 'open    0.35']
    """
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    numbers = range(1, len(widths)) if right is None else right
    lines = ([padded(cell, widths[k], right=k in numbers) for k, cell in enumerate(row)] for row in rows)
    return [(indent + "  ".join(line)).rstrip() for line in lines]


def bar(share: float, cells: int) -> str:
    """A bar that fills its share of the cells, in eighths; a share above 0 is always visible.

    >>> bar(0.5, 24), bar(0.0, 24), bar(1e-9, 24)
    ('████████████', '', '▏')
    """
    eighths = max(round(8 * cells * min(share, 1.0)), 1 if share > 0.0 else 0)
    return _EIGHTHS[8] * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def two_sided_bar(share: float, half: int) -> tuple[str, str]:
    """The halves on both sides of a middle: to the right if positive; an infinite one is full and ends in an arrow.

    >>> two_sided_bar(0.5, 4), two_sided_bar(-0.625, 4)
    (('    ', '██  '), (' ▐██', '    '))
    """
    halves = round(2 * half * min(abs(share), 1.0)) if math.isfinite(share) else 2 * half
    full, rest = divmod(halves, 2)
    if share > 0:
        right = "█" * full + "▌" * rest
        return " " * half, (right[:-1] + "►" if math.isinf(share) else right).ljust(half)
    left = "▐" * rest + "█" * full
    return ("◄" + left[1:] if math.isinf(share) else left).rjust(half), " " * half


def plain_table(*heads: str, gap: int = 2, style: str = "bold") -> Table:
    """A table for `rich`, without lines; columns are added with `add_column`."""
    from rich.table import Table

    return Table(*heads, box=None, pad_edge=False, show_edge=False, padding=(0, gap, 0, 0), header_style=style)


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
