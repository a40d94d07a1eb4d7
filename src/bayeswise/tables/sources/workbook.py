"""Excel and OpenDocument workbooks, through python-calamine."""

from __future__ import annotations

import re
import shlex
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

from bayeswise.foundation.errors import NotInstalledError, SourceError, listed, quoted, shortened
from bayeswise.tables.schema.names import with_index_named
from bayeswise.tables.sources.memory.records import ListsSource
from bayeswise.tables.sources.table import TableSource


class WorkbookSource(ListsSource):
    """One sheet, held in memory; its texts were typed by people, so null words apply."""

    textual = True

    def __init__(self, name: str, rows: Sequence[Sequence[Any]], null_words: Sequence[str]) -> None:
        header, *body = rows
        self.null_words = tuple(null_words)
        lists = [[_cell(row[k]) for row in body] for k in range(len(header))]
        super().__init__(name, with_index_named([str(title).strip() for title in header]), lists, len(body))


def _cell(cell: Any) -> Any:
    """Workbooks know one kind of number: whole ones become integers; an empty cell is missing."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    return None if cell == "" else cell


def from_workbook(path: Path, name: str, sheet: str | None, null_words: Sequence[str]) -> TableSource:
    """The named sheet, or the first."""
    try:
        import python_calamine
    except ImportError:
        raise NotInstalledError(f"{name} is a workbook", fix="pip install 'bayeswise[excel]'") from None
    if zipfile.is_zipfile(path):
        check_size(path, name)
    try:
        with path.open("rb") as file:
            workbook = python_calamine.CalamineWorkbook.from_filelike(file)
            rows = _rows(workbook, name, sheet)
    except (python_calamine.CalamineError, OSError, ValueError) as problem:
        if isinstance(problem, SourceError):
            raise
        raise SourceError(f"{name} cannot be read as a workbook: {shortened(problem)}", fix="check the file") from None
    except BaseException as problem:  # a panic of the reader is not an Exception
        if type(problem).__name__ != "PanicException":
            raise
        raise SourceError(f"{name} cannot be read as a workbook", fix="save or fetch the file again") from None
    return WorkbookSource(name, rows, null_words)


def _rows(workbook: Any, name: str, sheet: str | None) -> list[list[Any]]:
    sheets = workbook.sheet_names
    if not sheets:
        raise SourceError(f"{name} has no sheet", fix="save the table in a sheet")
    if sheet is not None and sheet not in sheets:
        raise SourceError(f"{name} has no sheet {quoted(sheet)}; it has {listed(sheets)}", fix="name one")
    chosen = sheets[0] if sheet is None else sheet
    rows: list[list[Any]] = workbook.get_sheet_by_name(chosen).to_python()
    if not rows:
        raise SourceError(f"the sheet {quoted(chosen)} of {name} is empty", fix=f"name another sheet: {listed(sheets)}")
    if sheet is None and len(sheets) > 1:
        others = listed(quoted(other) for other in sheets[1:])
        warnings.warn(
            f"the sheet {quoted(chosen)} of {name} is read; it also has {others}. "
            f"Fix: name the one to read, table_name={sheets[1]!r} or --table {shlex.quote(sheets[1])}",
            UserWarning,
            stacklevel=2,
        )
    return rows


MOST_CELLS = 1 << 26
"""Between the first and the last cell of a sheet; a reader takes about 32 bytes for each."""
MOST_UNPACKED = 1 << 32
_PIECE = 1 << 20
_LONGEST_TAG = 1 << 12
_ROW = re.compile(rb' r="([0-9]{1,8})"')  # a literal beginning is searched for at the speed of memory
_FAR_CELL = re.compile(rb' r="([A-Za-z]{2,3})([0-9]{1,8})"')
_CELL = re.compile(rb"""\sr\s*=\s*["']([A-Za-z]{0,3})([0-9]{1,8})["']""")  # however it is written
_UNUSUAL = (b" r='", b" r ", b"\tr", b"\nr", b"\rr")
_ROW_HEADER, _LAST_CELL = 0, 11  # types of records of .xlsb: a row, then its cells


def check_size(path: Path, name: str) -> None:
    """Refuse a workbook that is damaged, or whose sheets would not fit into memory."""
    try:
        with zipfile.ZipFile(path) as archive:
            for part in _parts(archive, name):
                _check_part(archive, part, name)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ElementTree.ParseError,
    ) as problem:
        raise SourceError(
            f"{name} cannot be read as a workbook: {shortened(str(problem))}", fix="save or fetch the file again"
        ) from None
    except OSError as problem:
        raise SourceError(f"{name} cannot be read: {problem.strerror or problem}", fix="check the file") from None


def _parts(archive: zipfile.ZipFile, name: str) -> list[zipfile.ZipInfo]:
    """What a reader unpacks: everything but pictures."""
    parts = [part for part in archive.infolist() if not part.is_dir() and "/media/" not in part.filename.lower()]
    if sum(part.file_size for part in parts) > MOST_UNPACKED:
        raise SourceError(
            f"{name} unpacks to more than {MOST_UNPACKED >> 30} GB", fix="save the sheet as CSV or Parquet"
        )
    return parts


def _check_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo, name: str) -> None:
    path = part.filename.lower().replace("\\", "/")
    with archive.open(part) as stream:
        if path.startswith("xl/worksheets/") and path.endswith((".xml", ".bin")):
            pieces = iter(lambda: stream.read(_PIECE), b"")
            n_cells = _cells_of_xml(pieces) if path.endswith(".xml") else _cells_of_records(pieces)
        elif path == "content.xml":
            n_cells = _cells_of_open_document(stream)
        else:
            n_cells = 0
        while stream.read(_PIECE):  # to the end, where the checksum is compared
            pass
    if n_cells > MOST_CELLS:
        raise SourceError(
            f"a sheet of {name} spans {n_cells:,} cells between its first and its last one",
            fix="delete the cells far from the table, or save the sheet as CSV",
        )


def _cells_of_xml(pieces: Iterator[bytes]) -> int:
    """An upper bound of the cells that the references of a sheet span, exact where that matters.

    >>> _cells_of_xml(iter([b'<row r="1"><c r="A1"/></row>', b'<row r="30"><c r="C30"/></row>']))
    780
    """
    rest, last_row, last_column = b"", 0, 26
    for piece in pieces:
        text = rest + piece
        last_row = max(last_row, *map(int, _ROW.findall(text)), 0)
        unusual = any(spelling in text for spelling in _UNUSUAL) or not last_row
        for letters, row in (_CELL if unusual and b"r" in text else _FAR_CELL).findall(text):
            last_column = max(last_column, _column(letters))
            last_row = max(last_row, int(row))
        rest = text[-_LONGEST_TAG:]
    return last_row * last_column


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def _cells_of_records(pieces: Iterator[bytes]) -> int:
    """The same for the records of a binary sheet: type, length and content of each."""
    data, last_row, last_column = b"", 0, 0
    for piece in pieces:
        data, place = data + piece, 0
        while (header := _record(data, place)) is not None:
            kind, begin, length = header
            if begin + max(length, 4) > len(data):
                break
            if kind == _ROW_HEADER:
                last_row = max(last_row, struct.unpack_from("<I", data, begin)[0] + 1)
            elif kind <= _LAST_CELL:
                last_column = max(last_column, struct.unpack_from("<I", data, begin)[0] + 1)
            place = begin + length
        data = data[place:]
    return last_row * last_column


def _record(data: bytes, place: int) -> tuple[int, int, int] | None:
    """Type, beginning and length of the record at a place; None if its header is cut off."""
    if place + 6 > len(data):
        return None
    kind = data[place]
    place += 1
    if kind & 0x80:
        kind = (kind & 0x7F) | (data[place] & 0x7F) << 7
        place += 1
    length = shift = 0
    while True:
        byte = data[place]
        length |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if not byte & 0x80 or shift == 28:
            return kind, place, length


def _cells_of_open_document(stream: IO[bytes]) -> int:
    """The largest sheet of an OpenDocument file; runs of empty cells and rows at its end count nothing."""
    largest = rows = wide = pending = column = width = 0
    for event, element in ElementTree.iterparse(stream, events=("start", "end")):
        tag = element.tag.rpartition("}")[2]
        if event == "start":
            if tag == "table":
                rows = wide = pending = 0
            elif tag == "table-row":
                column = width = 0
            continue
        if tag in ("table-cell", "covered-table-cell"):
            column += _repeated(element, "number-columns-repeated")
            width = column if _is_filled(element) else width
        elif tag == "table-row":
            pending += _repeated(element, "number-rows-repeated")
            if width:
                rows, pending, wide = rows + pending, 0, max(wide, width)
            element.clear()
        elif tag == "table":
            largest = max(largest, rows * wide)
            element.clear()
    return largest


def _repeated(element: ElementTree.Element, name: str) -> int:
    found = next((value for key, value in element.attrib.items() if key.endswith(name)), "1")
    return int(found) if found.isdecimal() and len(found) < 10 else 1


def _is_filled(element: ElementTree.Element) -> bool:
    return len(element) > 0 or any(key.endswith(("value-type", "formula")) for key in element.attrib)
