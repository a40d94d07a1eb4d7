"""The options by which every command that reads a table asks for kinds of columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import typer

Categories: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--category", metavar="COL[=A,B,C]", help="Read a column as a category, optionally with its levels."),
]
Numbers: TypeAlias = Annotated[
    list[str] | None, typer.Option("--number", metavar="COL", help="Read a column as a number.")
]
Ignored: TypeAlias = Annotated[list[str] | None, typer.Option("--ignore", metavar="COL", help="Leave a column out.")]
NullWords: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--null", metavar="WORD", help="Word for a missing value, instead of the usual ones; stored in the model."
    ),
]


@dataclass(frozen=True)
class Kinds:
    """The columns of each kind, as they were typed."""

    category: Categories = None
    number: Numbers = None
    count: Annotated[list[str] | None, typer.Option(metavar="COL", help="Read a column as a count.")] = None
    binary: Annotated[list[str] | None, typer.Option(metavar="COL", help="Read a column as a flag.")] = None
    text: Annotated[list[str] | None, typer.Option(metavar="COL", help="Read a column as free text.")] = None
    ignore: Ignored = None

    def asked_for(self, names: Iterable[str]) -> dict[str, Any]:
        """What `examine` takes.

        >>> Kinds(category=["zip", "size=S,M,L"], ignore=["id"]).asked_for(["zip", "size"])
        {'kinds': {'zip': 'category'}, 'levels': {'size': ['S', 'M', 'L']}, 'ignore': ['id']}
        """
        known = set(names)
        plain = {"number": self.number, "count": self.count, "binary": self.binary, "text": self.text}
        kinds = {name: kind for kind, asked in plain.items() for name in asked or ()}
        levels: dict[str, list[str]] = {}
        for word in self.category or ():
            name, equals, declared = word.partition("=")
            if equals and word not in known:
                levels[name] = declared.split(",")
            else:
                kinds[word] = "category"
        return {"kinds": kinds, "levels": levels, "ignore": list(self.ignore or ())}
