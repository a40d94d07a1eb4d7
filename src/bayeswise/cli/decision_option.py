"""--decision for `fit`: the target and the kinds of columns from the file that `decide` reads too."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

Decision: TypeAlias = Annotated[
    str | None,
    typer.Option("--decision", metavar="FILE", help="decision.toml: its target and kinds, unless they are typed."),
]
Kinds: TypeAlias = dict[str, list[str] | None]  # the columns of each kind, as they were typed


def target_and_kinds(path: str | None, target: str | None, kinds: Kinds) -> tuple[str | None, Kinds]:
    """What was typed, and what the file adds to it; a column that was typed keeps its kind.

    >>> target_and_kinds(None, "play", {"category": ["zip"], "number": None})
    ('play', {'category': ['zip'], 'number': None})
    """
    if path is None:
        return target, dict(kinds)
    from bayeswise.decisions.decision_file import read_columns

    named_target, named_kinds = read_columns(path)
    typed = {name for columns in kinds.values() for name in columns or ()}
    found = dict(kinds)
    for column, named in named_kinds.items():
        kind = "ignore" if named == "ignored" else named  # as the options are called
        if column not in typed:
            found[kind] = [*(found[kind] or ()), column]
    return target or named_target, found
