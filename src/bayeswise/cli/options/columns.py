"""The options by which every command that reads a table asks for kinds of columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, TypeAlias

import typer

PANEL = "Columns"

Categories: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--category", metavar="COL[=A,B,C]", help="A category, with its levels if they are to be declared."),
]
Numbers: TypeAlias = Annotated[list[str] | None, typer.Option("--number", metavar="COL", help="A number.")]
Counts: TypeAlias = Annotated[list[str] | None, typer.Option("--count", metavar="COL", help="A count: 0, 1, 2, ...")]
Flags: TypeAlias = Annotated[list[str] | None, typer.Option("--binary", metavar="COL", help="A flag with two states.")]
Texts: TypeAlias = Annotated[list[str] | None, typer.Option("--text", metavar="COL", help="Free text.")]
Ignored: TypeAlias = Annotated[list[str] | None, typer.Option("--ignore", metavar="COL", help="A column to leave out.")]
NullWords: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--null", metavar="WORD", help="A word that means missing, in place of the usual ones; models remember it."
    ),
]


def asked_for(
    names: Iterable[str],
    *,
    category: list[str] | None = None,
    number: list[str] | None = None,
    count: list[str] | None = None,
    binary: list[str] | None = None,
    text: list[str] | None = None,
    ignore: list[str] | None = None,
) -> dict[str, Any]:
    """What `examine` takes, from what was typed.

    >>> asked_for(["zip", "size"], category=["zip", "size=S,M,L"], ignore=["id"])
    {'kinds': {'zip': 'category'}, 'levels': {'size': ['S', 'M', 'L']}, 'ignore': ['id']}
    """
    known = set(names)
    plain = {"number": number, "count": count, "binary": binary, "text": text}
    kinds = {name: kind for kind, asked in plain.items() for name in asked or ()}
    levels: dict[str, list[str]] = {}
    for word in category or ():
        name, equals, declared = word.partition("=")
        if equals and word not in known:
            levels[name] = declared.split(",")
        else:
            kinds[word] = "category"
    return {"kinds": kinds, "levels": levels, "ignore": list(ignore or ())}
