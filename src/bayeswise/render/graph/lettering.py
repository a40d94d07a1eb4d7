"""How wide a text is likely to be, and how it is cut where it is too wide."""

from __future__ import annotations

import math
import re
import unicodedata

# shares of the height of the letters, on the wide side, since fonts differ from machine to machine
_NARROW = frozenset("iljtfrI.,;:'`|!()[]{}/\\-\" ")
_WIDE = frozenset("mwMWQ@%")
_MOST_SHOWN = 400  # letters; no box has room for more
_SPACES = re.compile(r"[\t\r\n\u2028\u2029]+")


def width(text: str, size: float) -> float:
    """How many pixels a text of letters of that size takes, about; of a very long one, its beginning.

    >>> width("", 10), width("ill", 10) < width("mmm", 10) < width("\u4e2d\u6587\u5b57", 10)
    (0.0, True)
    """
    return math.fsum(map(_share, text[:_MOST_SHOWN])) * size


def _share(letter: str) -> float:
    if letter in _NARROW:
        return 0.40
    if letter in _WIDE:
        return 0.95
    if letter.isascii():
        return 0.72 if letter.isupper() else 0.63
    if unicodedata.combining(letter):
        return 0.0
    return 1.05 if unicodedata.east_asian_width(letter) in "WF" else 0.75


def shortened(text: str, size: float, room: float) -> str:
    """The text in one line, its middle left out where it is wider than the room.

    >>> shortened("a long name that nobody reads", 10, 100)
    'a long n\u2026dy reads'
    """
    text = _SPACES.sub(" ", text)
    if len(text) <= _MOST_SHOWN and width(text, size) <= room:
        return text

    def cut(keep: int) -> str:
        return f"{text[: (keep + 1) // 2]}\u2026{text[len(text) - keep // 2 :]}"

    low, high = 0, min(len(text) - 1, _MOST_SHOWN)
    while low < high:  # the most letters that fit
        keep = (low + high + 1) // 2
        low, high = (keep, high) if width(cut(keep), size) <= room else (low, keep - 1)
    return cut(low)
