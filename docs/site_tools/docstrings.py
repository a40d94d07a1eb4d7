"""A docstring in the style of this project, taken apart.

A sentence comes first. A block of lines `name   what it means` describes parameters, examples begin with `>>>`, lines
that are indented are shown as they are, and all other lines are paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_ENTRY = re.compile(r"^( *)(\**\w+(?:, \w+)*)  +(\S.*)$")
_CODE = re.compile(r"(``[^`]+``|`[^`]+`)")
_SPECIAL = re.compile(r"([\\*_<>\[\]${}~|#])")


@dataclass(frozen=True)
class Docstring:
    """The parts of a docstring, and what it says about parameters."""

    parts: tuple[tuple[str, str], ...] = ()  # ("text" | "code" | "literal", lines)
    meanings: dict[str, str] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The first sentence, or the first formula."""
        return next((text for kind, text in self.parts if kind == "text"), "")


def taken_apart(text: str | None, parameters: list[str]) -> Docstring:
    """The parts of a docstring of a callable with these parameters.

    >>> shown = taken_apart("A sentence.\\n\\nfirst   one\\n        of two\\n\\n>>> 1 + 1\\n2", ["first", "second"])
    >>> shown.meanings, shown.parts
    ({'first': 'one of two'}, (('text', 'A sentence.'), ('code', '>>> 1 + 1\\n2')))
    """
    parts: list[tuple[str, str]] = []
    meanings: dict[str, str] = {}
    for block in _blocks(text or ""):
        if block[0].startswith(">>>"):
            parts.append(("code", "\n".join(block)))
            continue
        found, rest = _described(block, parameters)
        meanings.update(found)
        if rest and all(line.startswith("    ") for line in rest):
            parts.append(("literal", "\n".join(line[4:] for line in rest)))
        elif rest:
            parts.append(("text", "\n".join(rest)))
    return Docstring(tuple(parts), meanings)


def _blocks(text: str) -> Iterator[list[str]]:
    """What blank lines separate; an example goes on until the next blank line."""
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.strip():
            block.append(line.rstrip())
        elif block:
            yield block
            block = []


def _described(block: list[str], parameters: list[str]) -> tuple[dict[str, str], list[str]]:
    """The parameters that a block describes, and its other lines."""
    meanings: dict[str, str] = {}
    rest: list[str] = []
    current: list[str] = []
    depth = 0
    for line in block:
        entry = _ENTRY.match(line)
        names = [name.lstrip("*") for name in entry[2].split(", ")] if entry else []
        if entry and names and all(name in parameters for name in names):
            current, depth = names, len(entry[1])
            meanings.update(dict.fromkeys(names, entry[3]))
        elif current and len(line) - len(line.lstrip()) > depth:
            for name in current:
                meanings[name] += " " + line.strip()
        else:
            current = []
            rest.append(line)
    return meanings, rest if not meanings else [line for line in rest if not line[:1].isupper() or " " in line]


def markdown(text: str) -> str:
    """Plain text as Markdown that shows it as it is; what stands in backquotes is code.

    >>> print(markdown("p(x | C) * 2 <= `a_b`"))
    p(x \\| C) \\* 2 \\<= `a_b`
    """
    return "".join(piece if piece.startswith("`") else _SPECIAL.sub(r"\\\1", piece) for piece in _CODE.split(text))
