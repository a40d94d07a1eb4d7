"""Tables as text: CSV that no spreadsheet takes for a program, and JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

from bayeswise.explanations.plain import json_value
from bayeswise.tables.sources.dialect import Dialect

_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?[0-9.,][0-9.,' ]*([eE][+-]?[0-9]+)?%?\s*")  # with any marks between the digits


def guarded(cell: str) -> str:
    """Text that a spreadsheet would run gets an apostrophe in front; numbers stay numbers.

    >>> [guarded(cell) for cell in ("=1+1", "-5", "-5+cmd", "@sum", "a=b", "")]
    ["'=1+1", '-5', "'-5+cmd", "'@sum", 'a=b', '']
    """
    return f"'{cell}" if cell.startswith(_STARTS) and not _NUMBER.fullmatch(cell) else cell


def each(change: Callable[[str], str], cells: Sequence[str]) -> list[str]:
    """The changed cells; of equal ones only the first is changed."""
    changed = {cell: change(cell) for cell in set(cells)}
    return list(map(changed.__getitem__, cells))


class CsvText:
    r"""Columns as records of CSV, in the dialect of the table they come from.

    >>> text = CsvText()
    >>> text.begin(["size", "=p"]) + text.rows([["5, or 6", "0007"], [0.25, 1.0]], safe=[False, True])
    b'size,\'=p\n"5, or 6",0.25\n0007,1.0\n'
    """

    def __init__(self, dialect: Dialect | None = None, *, raw: bool = False) -> None:
        self._dialect = dialect or Dialect()
        self._raw = raw
        self._quoted = (self._dialect.delimiter, '"', "\n", "\r")

    def begin(self, names: Sequence[str]) -> bytes:
        """The header."""
        return self.rows([[name] for name in names], [False] * len(names))

    def rows(self, columns: Sequence[Sequence[Any]], safe: Sequence[bool]) -> bytes:
        """One record for each row; columns that are `safe` hold nothing that could be a formula."""
        texts = list(map(self._column, columns, safe))
        if len(texts) == 1:  # a record that is an empty line would be overlooked
            texts = [[cell or '""' for cell in texts[0]]]
        lines = map(self._dialect.delimiter.join, zip(*texts, strict=True))
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")

    def end(self) -> bytes:
        return b""

    def _column(self, cells: Sequence[Any], safe: bool) -> Sequence[str]:
        """The cells as they stand in a record; one search over all of them is faster than a look at each."""
        texts = self._texts(cells)
        joined = "\0" + "\0".join(texts)
        if not safe and not self._raw and any(f"\0{start}" in joined for start in _STARTS):
            texts = each(guarded, texts)
        if any(mark in joined for mark in self._quoted):
            texts = each(self._in_quotes, texts)
        return texts

    def _texts(self, cells: Sequence[Any]) -> Sequence[str]:
        kinds = set(map(type, cells))
        if kinds <= {str}:
            return cells
        if kinds == {float}:
            numbers = list(map(repr, cells))
            return (
                numbers if self._dialect.decimal == "." else [number.replace(".", ",") for number in numbers]
            )
        return ["" if cell is None else str(cell) for cell in cells]

    def _in_quotes(self, text: str) -> str:
        if any(mark in text for mark in self._quoted):
            return '"' + text.replace('"', '""') + '"'
        return text


class JsonLines:
    """Columns as one JSON object for each row; text stays text, infinities are text, null is missing."""

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
    """One JSON document around the rows, written as they come; `ending` is asked after the last row."""

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


Text: TypeAlias = CsvText | JsonLines


def text_for(
    source: Any, *, as_json: bool, form: Literal["csv", "jsonl"], raw: bool, about: dict[str, Any], totals: Any
) -> Text:
    """How the rows of a source are written again: as asked for, CSV as the source itself is written.

    `about` and `totals` stand before and after the rows of a JSON document.
    """
    if as_json:
        return JsonDocument(about, totals)
    return JsonLines() if form == "jsonl" else CsvText(getattr(source, "dialect", None), raw=raw)


def as_json(value: Any, indent: int | None = None) -> str:
    """JSON with the letters of the user's language, and nothing that is no JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
