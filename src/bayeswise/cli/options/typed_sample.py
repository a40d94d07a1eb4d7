"""A sample that is typed or read from a column, and what is typed as NAME:PARAMETER=NUMBER,... of a distribution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from bayeswise.foundation.errors import DataError, UsageError
from bayeswise.render.labels import guess
from bayeswise.render.numbers import exact

if TYPE_CHECKING:
    from bayeswise.cli.options.reading import Reading
    from bayeswise.tables.source import Chunk

Data: TypeAlias = Annotated[list[str] | None, typer.Option("--data", metavar="VALUE ...", help="Values of the sample.")]
Rows: TypeAlias = Annotated[
    str | None, typer.Option("--rows", metavar="FILE", help="Table with the sample in --column, instead of --data.")
]
InColumn: TypeAlias = Annotated[str | None, typer.Option("--column", metavar="NAME", help="Column of --rows.")]


def named_numbers(text: str, what: str, example: str) -> tuple[str, dict[str, float]]:
    """A name and its numbers.

    >>> named_numbers("beta:successes=1/2,failures=.5", "--prior", "beta:successes=1,failures=1")
    ('beta', {'successes': 0.5, 'failures': 0.5})
    """
    name, _, listed = text.partition(":")
    pairs = [part.partition("=") for part in listed.split(",")] if listed else []
    if not name or any(not sign or not key.strip() for key, sign, _ in pairs):
        raise UsageError(f"{what} {text} is not a name with numbers", fix=f"type it as in {example}")
    return name.strip(), {key.strip(): float(exact(value.strip(), f"{what} {key}")) for key, _, value in pairs}


def family_of(text: str) -> Any:
    """The family of one number that was typed.

    >>> family_of("poisson"), family_of("normal-mean:stddev=2")
    (Poisson(), NormalMean(stddev=2.0))
    """
    from dataclasses import MISSING, fields

    from bayeswise.families.distributions import kinds_of_one_number

    name, given = named_numbers(text, "family", "normal, or binomial:trials=5")
    kinds = {each.replace(" ", "-"): kind for each, kind in kinds_of_one_number().items()}
    if name not in kinds:
        raise UsageError(f"{name!r} is not a family of one number", fix=guess(name, tuple(kinds)))
    known = {each.name: each.type for each in fields(kinds[name]) if each.default is MISSING}  # type: ignore[arg-type]
    if set(given) != set(known):
        typed = ":".join([name, *([",".join(f"{each}=..." for each in known)] if known else [])])
        raise UsageError(f"the family {text} has no value for what is known beforehand", fix=f"type {typed}")
    whole = {key: int(value) if known[key] == "int" and value.is_integer() else value for key, value in given.items()}
    return kinds[name](**whole)


def numbers_of(data: Sequence[str] | None, rows: str | None, column: str | None, reader: Reading) -> list[float]:
    """The numbers of a sample; missing ones of a table are left out."""
    import math

    if rows is None:
        return [float(exact(text, "--data")) for text in _typed(data, column)]
    name, chunks = _cells_of(data, rows, column, reader)
    found: list[float] = []
    for chunk in chunks:
        values, invalid = chunk.numbers(name)
        if len(invalid):
            raise DataError(f"column {name!r} has cells that are not numbers", fix="name a column of numbers")
        found += [float(value) for value in values if not math.isnan(value)]
    return found


def labels_of(data: Sequence[str] | None, rows: str | None, column: str | None, reader: Reading) -> list[Any]:
    """The levels of a sample; missing ones of a table are left out."""
    if rows is None:
        return list(_typed(data, column))
    name, chunks = _cells_of(data, rows, column, reader)
    found: list[Any] = []
    for chunk in chunks:
        codes, levels = chunk.labels(name)
        found += [str(levels[code]) for code in codes.tolist() if code >= 0]
    return found


def _cells_of(
    data: Sequence[str] | None, rows: str, column: str | None, reader: Reading
) -> tuple[str, Iterable[Chunk]]:
    """The column of a table that holds the sample, and its chunks."""
    _refuse_both(data, column)
    source = reader.open([rows])
    name = _column(column, source)
    return name, source.chunks([name])


def _typed(data: Sequence[str] | None, column: str | None) -> Sequence[str]:
    if not data or column is not None:
        raise UsageError("there is no sample", fix="type --data 3 5 4, or --rows FILE --column NAME")
    return data


def _refuse_both(data: Sequence[str] | None, column: str | None) -> None:
    if data or column is None:
        raise UsageError("a table needs the name of one column", fix="type --rows FILE --column NAME, without --data")


def _column(column: str | None, source: Any) -> str:
    from bayeswise.tables.schema.names import find_name

    return find_name(column or "", [each.name for each in source.columns], where=source.description)
