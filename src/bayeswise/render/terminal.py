"""Terminals whose encoding lacks some characters: bars and arrows are written by letters that all of them have."""

from __future__ import annotations

import codecs
import io
import sys
from collections.abc import Iterable, Iterator

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
