"""How a text file writes a table: delimiter, quotes, header, decimal mark; sniffed from its first lines."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, pairwise

from bayeswise.foundation.dataclass import dataclass

DELIMITERS = (",", "\t", ";", "|", " ")
_RECORDS = 500
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
_COMMA_DECIMAL = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
_POINT_DECIMAL = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class Dialect:
    """The way a table is written."""

    delimiter: str = ","
    quote: str = '"'
    skip_space: bool = False
    header: bool = True
    decimal: str = "."


def sniff(
    sample: str,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    default: str = ",",
) -> Dialect:
    r"""The dialect of a file that begins with this text; what is given is not sniffed.

    >>> sniff("name;size\nAnna;1,5\nOtto;2,25\n")
    Dialect(delimiter=';', quote='"', skip_space=False, header=True, decimal=',')
    """
    quote = _quote(sample)
    chosen = delimiter or _delimiter(sample, quote) or default
    dialect = Dialect(chosen, quote)
    dialect = replace(dialect, skip_space=_space_follows(records_of(sample, dialect)))
    records = records_of(sample, dialect)
    mark = decimal or _decimal(records, chosen)
    return replace(dialect, header=_has_header(records, mark) if header is None else header, decimal=mark)


def records_of(sample: str, dialect: Dialect) -> list[list[str]]:
    """The first records of the sample, blank lines left out."""
    lines = io.StringIO(sample, newline="")
    reader = csv.reader(
        lines, delimiter=dialect.delimiter, quotechar=dialect.quote, skipinitialspace=dialect.skip_space
    )
    try:
        return list(islice((record for record in reader if record), _RECORDS))
    except csv.Error:  # a field beyond csv's limit: the kernel reports what is wrong
        return []


def _quote(sample: str) -> str:
    """Single quotes only where most lines have a field inside them and double quotes are absent."""
    if '"' in sample:
        return '"'
    lines = sample.splitlines()[1:_RECORDS]
    wrapped = sum(bool(re.search(r"(^|[,\t;|])\s*'([^']|'')*'\s*([,\t;|]|$)", line)) for line in lines)
    return "'" if wrapped * 2 > len(lines) else '"'


def _delimiter(sample: str, quote: str) -> str | None:
    """The one that cuts most records into as many fields as the first; then the one that yields most numbers."""
    scores = {}
    for delimiter in DELIMITERS:
        records = records_of(sample, Dialect(delimiter, quote))
        n_fields = len(records[0]) if records else 0
        if n_fields < 2:
            continue
        agreeing = Counter(map(len, records))[n_fields] / len(records)
        cells = [cell for record in records[1:] for cell in record]
        numeric = sum(bool(_NUMBER.fullmatch(cell)) for cell in cells) / max(1, len(cells))
        if delimiter != " " or (agreeing == 1 and numeric > 0.5):  # words are parted by blanks, too
            scores[delimiter] = (round(agreeing, 2), round(numeric, 2), n_fields)
    return max(scores, key=lambda delimiter: scores[delimiter]) if scores else None


def _space_follows(records: Sequence[Sequence[str]]) -> bool:
    """True when every delimiter of the sample is followed by a blank."""
    later = [cell for record in records for cell in record[1:]]
    return bool(later) and all(cell.startswith(" ") for cell in later)


def _decimal(records: Sequence[Sequence[str]], delimiter: str) -> str:
    cells = [cell for record in records[1:] for cell in record]
    commas = [cell for cell in cells if _COMMA_DECIMAL.fullmatch(cell)]
    points = sum(bool(_POINT_DECIMAL.fullmatch(cell)) for cell in cells)
    thousands = delimiter == "," and all(len(cell.strip()) - cell.strip().index(",") == 4 for cell in commas)
    return "," if commas and not points and not thousands else "."


def _has_header(records: Sequence[Sequence[str]], decimal: str) -> bool:
    """False when the first cell of a column of numbers is a number, unless whole ones count up (years, positions)."""
    if len(records) < 2:
        return True
    top = [_number(cell, decimal) for cell in records[0]]
    numbers = [value for value in top if value is not None]
    if len(numbers) > 1 and numbers[0].is_integer() and all(later - value == 1 for value, later in pairwise(numbers)):
        return True
    return not any(
        value is not None and _mostly_numbers([record[k] for record in records[1:] if k < len(record)], decimal)
        for k, value in enumerate(top)
    )


def _mostly_numbers(cells: Sequence[str], decimal: str) -> bool:
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and sum(_number(cell, decimal) is not None for cell in filled) * 10 >= len(filled) * 9


def _number(cell: str, decimal: str) -> float | None:
    if not _NUMBER.fullmatch(cell):
        return None
    try:
        return float(cell.replace(decimal, "."))
    except ValueError:
        return None
