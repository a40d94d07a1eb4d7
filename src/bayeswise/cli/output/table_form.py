"""The form in which rows are written: by --format, or by the suffix of the file; packed if the suffix says so."""

from __future__ import annotations

import bz2
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args

from bayeswise.cli.output.file_kinds import FILE_KINDS
from bayeswise.cli.output.table_text import CsvText, JsonArray, JsonDocument, JsonLines, Reading
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import StoreError, UsageError, quoted, shortened

if TYPE_CHECKING:
    from bayeswise.tables.schema.schema import Schema


Form: TypeAlias = Literal["csv", "tsv", "jsonl", "json", "parquet"]
FORMS: tuple[Form, ...] = get_args(Form)
_FORMS: dict[str, Form] = {f".{form}": form for form in FORMS} | {".ndjson": "jsonl", ".pq": "parquet", ".tab": "tsv"}
_PACKERS: dict[str, Callable[[], Any]] = {".gz": lambda: zlib.compressobj(wbits=31), ".bz2": bz2.BZ2Compressor}
_PACKED: dict[str, tuple[str, ...]] = {".csv": (".gz", ".bz2"), ".tsv": (".gz", ".bz2"), ".tab": (".gz", ".bz2")}
_PACKED |= {".jsonl": (".gz",), ".ndjson": (".gz",), ".json": (".gz",), ".parquet": (), ".pq": ()}  # what is read again
_NEVER_WRITTEN = frozenset((*FILE_KINDS["other"].suffixes, ".zst", ".xz", ".bayeswise"))


_ENDINGS = [(suffix, packing) for suffix, packings in _PACKED.items() for packing in ("", *packings)]
_KNOWN = ", ".join("".join(pair) for pair in _ENDINGS)


class Text(Protocol):
    """Columns as bytes: a beginning, rows as they come, and an end."""

    def begin(self, names: Sequence[str]) -> bytes: ...

    def rows(self, columns: Sequence[Sequence[Any]], safe: Sequence[bool]) -> bytes:
        """One record for each row; columns that are `safe` hold nothing that could be a formula."""
        ...

    def end(self) -> Iterable[bytes]: ...


@dataclass(frozen=True)
class TableForm:
    """A form, and the suffix of the packer if there is one."""

    form: Form
    packing: str | None = None

    @property
    def kind(self) -> str:
        """Its name in `FILE_KINDS`."""
        return "csv" if self.form == "tsv" else self.form

    @classmethod
    def of(cls, path: str | None, given: Form | None, *, as_json: bool = False) -> TableForm:
        """The given form, else that of the suffix, else CSV; a suffix that says something else is refused.

        >>> TableForm.of("rows.jsonl.gz", None), TableForm.of("rows", None)
        (TableForm(form='jsonl', packing='.gz'), TableForm(form='csv', packing=None))
        """
        if path is None or path == "-":
            return cls(given or "csv")
        *_, before, last = ["", "", *(suffix.lower() for suffix in Path(path).suffixes)]
        packing = last if last in _PACKERS else None
        suffix = before if packing else last
        promised = _FORMS.get(suffix)
        form: Form | None = "json" if as_json else given
        named = suffix not in _NEVER_WRITTEN and form is not None  # a given form allows any other suffix
        if (suffix and not promised and not named) or (packing and packing not in _PACKED.get(suffix, (packing,))):
            otherwise = "" if suffix in _NEVER_WRITTEN or packing else f", or add --format {'|'.join(FORMS)}"
            raise UsageError(
                f"{shortened(path)}: rows cannot be written as {suffix}{packing or ''}",
                fix=f"name a file that ends in {_KNOWN}{otherwise}",
            )
        if form is not None and promised is not None and form != promised and "parquet" in (form, promised):
            option = "--json" if as_json else f"--format {given}"
            raise UsageError(
                f"{shortened(path)} promises {promised}, and {option} writes something else",
                fix=f"leave out {option}, or give the file another suffix",
            )
        return cls(given or promised or "csv", packing)

    @classmethod
    def of_suffix(cls, path: str, *, otherwise: str) -> TableForm:
        """What the suffix says; one that says nothing is refused, and `otherwise` ends the fix.

        >>> TableForm.of_suffix("rows.tsv.gz", otherwise="")
        TableForm(form='tsv', packing='.gz')
        """
        if not any(path.lower().endswith(suffix + packing) for suffix, packing in _ENDINGS):
            raise UsageError(
                f"{shortened(path)}: rows cannot be written as {Path(path).suffix}",
                fix=f"name a file that ends in {_KNOWN}, or {otherwise}",
            )
        return cls.of(path, None)

    def text(
        self, source: Any, schema: Schema, *, as_json: bool, raw: bool, about: dict[str, Any], totals: Any
    ) -> Text:
        """How the rows of a source are written again; CSV as the source itself is written.

        `about` and `totals` stand before and after the rows of a JSON document.
        """
        text = self._plain(source, schema, as_json, raw, about, totals)
        return text if self.packing is None else PackedText(text, _PACKERS[self.packing]())

    def _plain(self, source: Any, schema: Schema, as_json: bool, raw: bool, about: dict[str, Any], totals: Any) -> Text:
        reading = Reading.of(source, schema)
        if as_json:
            return JsonDocument(about, totals, reading)
        if self.form == "parquet":
            return ParquetFile(reading)
        if self.form in ("jsonl", "json"):
            return JsonLines(reading) if self.form == "jsonl" else JsonArray(reading)
        return CsvText(getattr(source, "dialect", None), raw=raw, delimiter="\t" if self.form == "tsv" else None)


class PackedText:
    """A text, packed as it comes."""

    def __init__(self, text: Text, packer: Any) -> None:
        self._text = text
        self._packer = packer

    def begin(self, names: Sequence[str]) -> bytes:
        return bytes(self._packer.compress(self._text.begin(names)))

    def rows(self, columns: Sequence[Sequence[Any]], safe: Sequence[bool]) -> bytes:
        return bytes(self._packer.compress(self._text.rows(columns, safe)))

    def end(self) -> Iterable[bytes]:
        for piece in self._text.end():
            yield self._packer.compress(piece)
        yield self._packer.flush()


_PIECE = 1 << 20
_WIDEST = 1 << 63


class ParquetFile:
    """Columns of a Parquet file: of numbers where every cell is a number or missing, else of text."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._lines = JsonLines()
        folder = tempfile.TemporaryDirectory(prefix="bayeswise-")
        self._folder = Path(folder.name)
        self._clean_up = weakref.finalize(self, folder.cleanup)
        self._spool = (self._folder / "rows.jsonl").open("wb")
        self._names: Sequence[str] = ()
        self._kinds: list[set[str]] = []

    def begin(self, names: Sequence[str]) -> bytes:
        by_fold: dict[str, str] = {}
        for name in names:
            if (other := by_fold.setdefault(name.lower(), name)) != name:
                raise UsageError(
                    f"columns {quoted(other)} and {quoted(name)} would be one in a Parquet file of DuckDB",
                    fix="rename one of them, or write .csv or .jsonl",
                )
        self._names, self._kinds = names, [set() for _ in names]
        self._lines.begin([f"c{k}" for k in range(len(names))])
        return b""

    def rows(self, columns: Sequence[Sequence[Any]], safe: Sequence[bool]) -> bytes:
        """Nothing yet: one odd cell in the last row may make a column text."""
        values = [self._reading.values(name, cells) for name, cells in zip(self._names, columns, strict=True)]
        for kinds, cells in zip(self._kinds, values, strict=True):
            kinds.update(map(_kind, cells))
        self._spool.write(self._lines.rows(values, safe))
        return b""

    def end(self) -> Iterable[bytes]:
        self._spool.close()
        try:
            with self._written().open("rb") as file:
                yield from iter(lambda: file.read(_PIECE), b"")
        finally:
            self._clean_up()

    def _written(self) -> Path:
        import duckdb

        from bayeswise.tables.sources.duckdb_scan import database, literal, sql_name

        spool, path = Path(self._spool.name), self._folder / "rows.parquet"
        types = ", ".join(f"'c{k}': '{kind}'" for k, kind in enumerate(self._types()))
        columns = ", ".join(f"c{k} AS {sql_name(name)}" for k, name in enumerate(self._names))
        rows = f"read_json({literal(str(spool))}, format='newline_delimited', columns={{{types}}})"
        query = f"SELECT {columns} FROM {rows}" if spool.stat().st_size else f"SELECT {self._empty()} LIMIT 0"
        try:
            with database() as writing:
                writing.execute("SET preserve_insertion_order = true")
                writing.execute(f"COPY ({query}) TO {literal(str(path))} (FORMAT parquet)")
        except duckdb.Error as problem:
            sentence = shortened(" ".join(str(problem).split()))
            raise StoreError(f"the rows cannot be written as Parquet: {sentence}", fix="write .csv or .jsonl") from None
        return path

    def _types(self) -> Iterator[str]:
        for name, kinds in zip(self._names, self._kinds, strict=True):
            yield _sql_type(kinds - {"missing"} or ({"float"} if name in self._reading.numbers else {"text"}))

    def _empty(self) -> str:
        from bayeswise.tables.sources.duckdb_scan import sql_name

        columns = zip(self._names, self._types(), strict=True)
        return ", ".join(f"CAST(NULL AS {kind}) AS {sql_name(name)}" for name, kind in columns)


def _kind(cell: Any) -> str:
    if cell is None or cell != cell:
        return "missing"
    if isinstance(cell, bool):
        return "flag"
    if isinstance(cell, int):
        return "integer" if -_WIDEST <= cell < _WIDEST else "text"
    return "float" if isinstance(cell, float) else "text"


def _sql_type(kinds: set[str]) -> str:
    """
    >>> _sql_type({"integer"}), _sql_type({"integer", "float"}), _sql_type({"integer", "text"})
    ('BIGINT', 'DOUBLE', 'VARCHAR')
    """
    if kinds == {"flag"}:
        return "BOOLEAN"
    if kinds <= {"integer", "float"}:
        return "DOUBLE" if "float" in kinds else "BIGINT"
    return "VARCHAR"
