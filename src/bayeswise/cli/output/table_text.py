"""Tables as text: CSV that no spreadsheet takes for a program, and JSON lines."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from bayeswise.cli.output.writing import json_document
from bayeswise.foundation.dataclass import dataclass
from bayeswise.render.plain import json_value
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.schema.names import normal_name
from bayeswise.tables.sources.text.dialect import Dialect

if TYPE_CHECKING:
    from bayeswise.tables.schema.schema import Schema

_FORMULAS = "=+-@"
_ALIKE = (
    "\u207a\u207c\u208a\u208c\u2a75\u2a76\ufb29\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20"  # wide and small forms
)
_PASSED_OVER = r"\s\x00-\x1f\x7f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff"  # before a formula
_STARTS = rf"(?:[\t\r]|[{_PASSED_OVER}]*[{re.escape(_FORMULAS)}{_ALIKE}])"
_STARTS_A_CELL = re.compile(_STARTS)
_STARTS_AFTER_ZERO = re.compile(r"\0" + _STARTS)
_NUMBER = re.compile(r"\s*[+-]?[0-9.,][0-9.,' ]*([eE][+-]?[0-9]+)?%?\s*")  # with any marks between the digits
_NUMERAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


def guarded(cell: str) -> str:
    """Text that a spreadsheet would run gets an apostrophe in front; numbers stay numbers.

    Blanks and line ends before the sign do not hide it, nor do its wide forms, which spreadsheets read alike.

    >>> [guarded(cell) for cell in ("=1+1", "-5", "-5+cmd", "@sum", "a=b", "", " =1", "\uff1d1")]
    ["'=1+1", '-5', "'-5+cmd", "'@sum", 'a=b', '', "' =1", "'\uff1d1"]
    """
    return f"'{cell}" if _STARTS_A_CELL.match(cell) and not _NUMBER.fullmatch(cell) else cell


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

    def __init__(self, dialect: Dialect | None = None, *, raw: bool = False, delimiter: str | None = None) -> None:
        written = dialect or Dialect()
        self._dialect = written if delimiter is None else replace(written, delimiter=delimiter)
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

    def end(self) -> Iterable[bytes]:
        return ()

    def _column(self, cells: Sequence[Any], safe: bool) -> Sequence[str]:
        """The cells as they are in a record; one search over all of them is faster than a look at each."""
        texts = self._texts(cells)
        joined = "\0" + "\0".join(texts)
        if not safe and not self._raw and _STARTS_AFTER_ZERO.search(joined):
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
            return numbers if self._dialect.decimal == "." else [number.replace(".", ",") for number in numbers]
        return ["" if cell is None else str(cell) for cell in cells]

    def _in_quotes(self, text: str) -> str:
        if any(mark in text for mark in self._quoted):
            return '"' + text.replace('"', '""') + '"'
        return text


@dataclass(frozen=True)
class Reading:
    """How the cells of a text file become values: which columns are numbers, and which words mean missing."""

    textual: bool = False
    numbers: frozenset[str] = frozenset()
    null_words: frozenset[str] = frozenset()
    decimal: str = "."
    declared: Mapping[str, frozenset[Label]] = field(default_factory=dict)
    """Levels by column, which are values even if they are null words."""

    @classmethod
    def of(cls, source: Any, schema: Schema) -> Reading:
        """Numbers are the columns that the model takes for such, or whose labels are numbers."""
        numeric = [column.name for column in schema.columns if column.kind in ("number", "count")]
        numeric += [column.name for column in schema.columns if column.labels in ("integer", "number")]
        if schema.target is not None and schema.target.labels in ("integer", "number"):
            numeric.append(schema.target.name)
        known = {normal_name(name) for name in numeric}
        numbers = frozenset(column.name for column in source.columns if normal_name(column.name) in known)
        words = frozenset(word.strip().lower() for word in source.null_words)
        levels = {normal_name(column.name): column.levels for column in schema.columns if column.levels}
        if schema.target is not None and schema.target.classes:
            levels[normal_name(schema.target.name)] = schema.target.classes
        named = {column.name: levels.get(normal_name(column.name)) for column in source.columns}
        declared = {name: frozenset(own) for name, own in named.items() if own} if source.textual else {}
        decimal = getattr(getattr(source, "dialect", None), "decimal", ".")
        return cls(source.textual, numbers, words, decimal, declared)

    def values(self, name: str, cells: Sequence[Any]) -> Sequence[Any]:
        """The cells as values: numbers where the column is one, None where a cell is missing, else as they are."""
        if not self.textual or not set(map(type, cells)) <= {str, type(None)}:
            return cells
        read = self._number if name in self.numbers else self._text
        levels = self.declared.get(name, frozenset())
        known = {cell: cell if cell in levels and cell else None if cell is None else read(cell) for cell in set(cells)}
        return [known[cell] for cell in cells]

    def _text(self, cell: str) -> str | None:
        return None if cell.strip().lower() in self.null_words else cell

    def _number(self, cell: str) -> Label | None:
        plain = cell.strip().replace(self.decimal, ".")
        if not _NUMERAL.fullmatch(plain):
            return self._text(cell)
        number = float(plain)
        if not math.isfinite(number):
            return cell
        return int(plain) if plain.lstrip("+-").isdecimal() and len(plain) < 4000 else number


class JsonLines:
    r"""Columns as one JSON object for each row; text stays text, infinities are text, null is missing.

    >>> text = JsonLines(Reading(textual=True, numbers=frozenset({"size"}), null_words=frozenset({"na"})))
    >>> text.begin(["size", "zip"]) + text.rows([["1.50", "NA", "7"], ["0007", "12", "na"]], [True, False])
    b'{"size": 1.5, "zip": "0007"}\n{"size": null, "zip": "12"}\n{"size": 7, "zip": null}\n'
    """

    def __init__(self, reading: Reading | None = None) -> None:
        self._reading = reading or Reading()
        self._names: Sequence[str] = ()

    def begin(self, names: Sequence[str]) -> bytes:
        """No header: every line has the names."""
        self._names = names
        return b""

    def rows(self, columns: Sequence[Sequence[Any]], safe: Sequence[bool]) -> bytes:
        """One line for each row."""
        return b"".join(f"{line}\n".encode("utf-8", "surrogatepass") for line in self.objects(columns))

    def end(self) -> Iterable[bytes]:
        return ()

    def objects(self, columns: Sequence[Sequence[Any]]) -> Iterable[str]:
        """The rows as JSON objects."""
        values = [self._reading.values(name, cells) for name, cells in zip(self._names, columns, strict=True)]
        for row in zip(*values, strict=True):
            yield as_json(dict(zip(self._names, map(json_value, row), strict=True)))


class JsonArray(JsonLines):
    """One JSON array of the rows, written as they come."""

    def __init__(self, reading: Reading | None = None) -> None:
        super().__init__(reading)
        self._separator = b"\n"

    def begin(self, names: Sequence[str]) -> bytes:
        super().begin(names)
        return b"["

    def rows(self, columns: Sequence[Sequence[Any]], safe: Sequence[bool]) -> bytes:
        lines = b",\n".join(line.encode("utf-8", "surrogatepass") for line in self.objects(columns))
        if not lines:
            return b""
        separator, self._separator = self._separator, b",\n"
        return separator + lines

    def end(self) -> Iterable[bytes]:
        yield b"\n]\n"


class JsonDocument(JsonArray):
    """One JSON document around the rows; `ending` is read after the last row."""

    def __init__(self, beginning: dict[str, Any], ending: Any, reading: Reading | None = None) -> None:
        super().__init__(reading)
        self._beginning = beginning
        self._ending = ending

    def begin(self, names: Sequence[str]) -> bytes:
        super().begin(names)
        return json_document(self._beginning, indent=None)[:-1].encode("utf-8", "surrogatepass") + b', "rows": ['

    def end(self) -> Iterable[bytes]:
        yield b"\n], " + as_json(self._ending())[1:].encode("utf-8", "surrogatepass") + b"\n"


def as_json(value: Any) -> str:
    """JSON with the letters of the user's language, and nothing that is not JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
