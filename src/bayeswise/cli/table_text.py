"""Tables as text: CSV that no spreadsheet takes for a program, and JSON lines."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from bayeswise.explanations.plain import json_value
from bayeswise.tables.sources.dialect import Dialect

_STARTS = "=+-@\t\r"
_NUMBER = re.compile(r"[+-]?[0-9.,][0-9.,' ]*([eE][+-]?[0-9]+)?%?\s*")  # with any marks between the digits


def guarded(cells: Sequence[Any]) -> Sequence[Any]:
    """Text cells that a spreadsheet would run get an apostrophe in front; numbers stay numbers.

    >>> guarded(["=1+1", "-5", "-5+cmd", "@sum", "a=b", None, -2.5])
    ["'=1+1", '-5', "'-5+cmd", "'@sum", 'a=b', None, -2.5]
    """
    try:  # one search over all cells is much faster than a look at each
        joined = "\0" + "\0".join(cells)
        if not any(f"\0{start}" in joined for start in _STARTS):
            return cells
    except TypeError:  # some cells are no text
        pass
    return [f"'{cell}" if _is_formula(cell) else cell for cell in cells]


def _is_formula(cell: Any) -> bool:
    return isinstance(cell, str) and cell[:1] in _STARTS and cell != "" and not _NUMBER.fullmatch(cell)


class CsvText:
    """Columns as records of CSV, in the dialect of the table they come from."""

    def __init__(self, dialect: Dialect | None = None, *, raw: bool = False) -> None:
        self._dialect = dialect or Dialect()
        self._raw = raw

    def begin(self, names: Sequence[str]) -> bytes:
        """The header."""
        return self._records([names if self._raw else guarded(names)])

    def rows(self, columns: Sequence[Sequence[Any]], safe: Sequence[bool]) -> bytes:
        """One record for each row; columns that are `safe` hold nothing that could be a formula."""
        return self._records(zip(*map(self._column, columns, safe), strict=True))

    def end(self) -> bytes:
        return b""

    def _column(self, cells: Sequence[Any], safe: bool) -> Sequence[Any]:
        if self._dialect.decimal == "," and cells and isinstance(cells[0], float):
            return [repr(number).replace(".", ",") for number in cells]
        return cells if safe or self._raw else guarded(cells)

    def _records(self, records: Iterable[Iterable[Any]]) -> bytes:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=self._dialect.delimiter, lineterminator="\n").writerows(records)
        return text.getvalue().encode("utf-8", "surrogatepass")


class JsonLines:
    """Columns as one JSON object for each row; text stays text, infinities are text, a missing cell is null."""

    def __init__(self) -> None:
        self._names: Sequence[str] = ()

    def begin(self, names: Sequence[str]) -> bytes:
        """No header: every line has the names."""
        self._names = names
        return b""

    def rows(self, columns: Sequence[Sequence[Any]], safe: Sequence[bool]) -> bytes:
        """One line for each row."""
        return b"".join(f"{line}\n".encode("utf-8", "surrogatepass") for line in self.objects(columns))

    def end(self) -> bytes:
        return b""

    def objects(self, columns: Sequence[Sequence[Any]]) -> Iterable[str]:
        """The rows as JSON objects."""
        for row in zip(*columns, strict=True):
            yield as_json(dict(zip(self._names, map(json_value, row), strict=True)))


class JsonDocument(JsonLines):
    """One JSON document around the rows, written as they come; `ending` is asked when all rows have passed."""

    def __init__(self, beginning: dict[str, Any], ending: Any) -> None:
        super().__init__()
        self._beginning = beginning
        self._ending = ending
        self._separator = b"\n"

    def begin(self, names: Sequence[str]) -> bytes:
        super().begin(names)
        return as_json(self._beginning)[:-1].encode() + b', "rows": ['

    def rows(self, columns: Sequence[Sequence[Any]], safe: Sequence[bool]) -> bytes:
        lines = b",\n".join(line.encode("utf-8", "surrogatepass") for line in self.objects(columns))
        if not lines:
            return b""
        separator, self._separator = self._separator, b",\n"
        return separator + lines

    def end(self) -> bytes:
        return b"\n], " + as_json(self._ending())[1:].encode() + b"\n"


def as_json(value: Any, indent: int | None = None) -> str:
    """JSON with the letters of the user's language, and nothing that is no JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
