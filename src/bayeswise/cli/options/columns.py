"""The options by which every command that reads a table asks for kinds of columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, TypeAlias

import typer

PANEL = "Columns"

Categories: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--category", metavar="COL[=A,B,C]", help="Read a column as a category, optionally with its levels."),
]
Numbers: TypeAlias = Annotated[
    list[str] | None, typer.Option("--number", metavar="COL", help="Read a column as a number.")
]
Counts: TypeAlias = Annotated[
    list[str] | None, typer.Option("--count", metavar="COL", help="Read a column as a count.")
]
Flags: TypeAlias = Annotated[list[str] | None, typer.Option("--binary", metavar="COL", help="Read a column as a flag.")]
Texts: TypeAlias = Annotated[
    list[str] | None, typer.Option("--text", metavar="COL", help="Read a column as free text.")
]
Ignored: TypeAlias = Annotated[list[str] | None, typer.Option("--ignore", metavar="COL", help="Leave a column out.")]
NullWords: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--null", metavar="WORD", help="Word for a missing value, instead of the usual ones; stored in the model."
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
