r"""TOML from a file, measured before it is parsed: a parser takes kilobytes for each part of a dotted key.

>>> check_toml("[costs.keep]\nspam = 1.5", deepest=8, most_keys=100)
>>> check_toml("a.b.c.d = 1", deepest=3, most_keys=100)
Traceback (most recent call last):
ValueError: a key has more than 3 parts
"""

from __future__ import annotations

import re

# Each of them ends at the end of the text at the latest, so that a hostile text is passed over once.
_STRINGS = (
    r'"""(?:[^"\\]++|\\(?:.|\Z)|"(?!""))*+(?:"""|\Z)',
    r"'''(?:[^']++|'(?!''))*+(?:'''|\Z)",
    r'"(?:[^"\\\n]++|\\(?:.|\Z))*+(?:"|(?=\n)|\Z)',
    r"'[^'\n]*+(?:'|(?=\n)|\Z)",
)
_STRING = re.compile(rf"(?P<comment>#[^\n]*+)|{'|'.join(_STRINGS)}", re.DOTALL)
_PART = re.compile(r"(?<![\w-])[\w-]++(?=[ \t]*+\.)")  # what stands before a dot: a part of a key, or of a number
_BRACKET = re.compile(r"[\[\]{}]")


def check_toml(text: str, *, deepest: int, most_keys: int) -> None:
    """Refuse a text whose tables nest too deeply, or that has too many keys, with `ValueError`."""
    skeleton = _STRING.sub(lambda found: "" if found["comment"] else "q", text)
    if re.search(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{deepest}}}", skeleton):
        raise ValueError(f"a key has more than {deepest} parts")
    depth = most = 0
    for mark in _BRACKET.findall(skeleton):
        depth = depth + 1 if mark in "[{" else max(depth - 1, 0)
        most = max(most, depth)
    if most > deepest:
        raise ValueError(f"lists and tables are nested too deeply: {most} levels; {deepest} are allowed")
    n_dotted = sum(not part.lstrip("+-").isdigit() for part in _PART.findall(skeleton))
    n_keys = skeleton.count("=") + skeleton.count("[") + 10 * n_dotted
    if n_keys > most_keys:
        raise ValueError(f"there are too many keys and lists: {n_keys:,}, where one with a dot counts for ten")
