"""Terminals whose encoding lacks some characters: bars and arrows are written by letters that all of them have."""

from __future__ import annotations

import codecs
import io
import sys

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
