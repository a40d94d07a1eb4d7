"""Workbooks that are damaged, or that ask for more memory than there is."""

from __future__ import annotations

import re
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from sweeps import numbers_of

from bayeswise.foundation.errors import SourceError
from bayeswise.tables.source import open_source
from bayeswise.tables.sources import workbook as workbook_size

SHEET = "xl/worksheets/sheet1.xml"


@pytest.fixture
def changed(tmp_path: Path) -> Callable[[str, Callable[[bytes], bytes | None]], Path]:
    """A workbook of two columns, one part of it replaced or left out."""
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_excel(tmp_path / "plain.xlsx", index=False)

    def change(name: str, replaced: Callable[[bytes], bytes | None]) -> Path:
        path = tmp_path / "changed.xlsx"
        with (
            zipfile.ZipFile(tmp_path / "plain.xlsx") as old,
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new,
        ):
            for part in old.namelist():
                content = replaced(old.read(part)) if part == name else old.read(part)
                if content is not None:
                    new.writestr(part, content)
        return path

    return change


FAR_CELLS = [
    b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
    b'<row><c r="XFD1048576"><v>1</v></c></row>',
    b"<row r='1048576'><c r='xfd1048576'><v>1</v></c></row>",
    b'<row\nr = "1048576"><c\tr= "XFD1048576" ><v>1</v></c></row>',
    b'<row r="1048576"><c r="A1048576"><v>1</v></c></row><row r="3"><c r="XFD3"><v>1</v></c></row>',
]


@pytest.mark.parametrize("far", FAR_CELLS)
def test_cells_in_opposite_corners_are_refused_before_the_sheet_between_them_is_made(
    changed: Callable[..., Path], far: bytes
) -> None:
    path = changed(SHEET, lambda sheet: sheet.replace(b"</sheetData>", far + b"</sheetData>"))
    with pytest.raises(SourceError, match=r"changed.xlsx spans 17,179,869,184 cells .* save the sheet as CSV"):
        open_source(path)


def test_a_long_or_a_wide_sheet_is_read(tmp_path: Path) -> None:
    pd.DataFrame({"a": range(3000), "b": 1.5}).to_excel(tmp_path / "long.xlsx", index=False)
    assert numbers_of(tmp_path / "long.xlsx", "a") == list(range(3000))
    pd.DataFrame([range(900)], columns=[f"c{k}" for k in range(900)]).to_excel(tmp_path / "wide.xlsx", index=False)
    assert numbers_of(tmp_path / "wide.xlsx", "c899") == [899.0]


def test_an_archive_that_unpacks_without_end_is_refused(
    changed: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook_size, "MOST_UNPACKED", 1 << 22)
    path = changed(SHEET, lambda sheet: sheet + b" " * (1 << 23))
    with pytest.raises(SourceError, match="unpacks to more than"):
        open_source(path)


def test_a_wrong_checksum_is_an_error(changed: Callable[..., Path]) -> None:
    path = changed(SHEET, lambda sheet: sheet)
    data = bytearray(path.read_bytes())
    place = zipfile.ZipFile(path).getinfo(SHEET).header_offset
    for start in (place, data.index(SHEET.encode(), place + 60) - 46):  # local header, directory
        data[start + (14 if start == place else 16)] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(SourceError, match=r"changed.xlsx cannot be read as a workbook: Bad CRC-32"):
        open_source(path)


@pytest.mark.parametrize("part", [SHEET, "xl/workbook.xml"])
def test_a_workbook_without_a_sheet_is_an_error(changed: Callable[..., Path], part: str) -> None:
    with pytest.raises(SourceError, match=r"changed.xlsx (cannot be read as a workbook|has no sheet)"):
        open_source(changed(part, lambda content: None))
    no_sheets = changed("xl/workbook.xml", lambda book: re.sub(rb"<sheets>.*</sheets>", b"<sheets></sheets>", book))
    with pytest.raises(SourceError, match="has no sheet"):
        open_source(no_sheets)


def test_binary_sheets_are_measured_too() -> None:
    def record(kind: int, content: bytes) -> bytes:
        return bytes([kind, len(content)]) + content

    rows = record(0, struct.pack("<I", 1_048_575)) + record(2, struct.pack("<IIQ", 16_383, 0, 0)) + bytes(8)
    assert workbook_size._cells_of_records(iter([rows[:9], rows[9:]])) == 2**34


def test_repeated_cells_of_open_documents_are_measured(tmp_path: Path) -> None:
    space = 'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:office="urn:o"'
    cell = '<table:table-cell table:number-columns-repeated="16384" office:value-type="float" office:value="1"/>'
    full = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    empty = '<table:table-row table:number-rows-repeated="1048576"><table:table-cell/></table:table-row>'
    for row, n_cells in ((full, 2**34), (empty, 0)):
        (tmp_path / "content.xml").write_text(f"<x {space}><table:table>{row}</table:table></x>")
        with (tmp_path / "content.xml").open("rb") as stream:
            assert workbook_size._cells_of_open_document(stream) == n_cells


def test_the_other_sheets_of_a_workbook_are_named_with_the_option_that_reads_them(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "bank.xlsx") as book:
        for sheet in ("loans", "old loans"):
            pd.DataFrame({"size": [1, 2], "y": ["a", "b"]}).to_excel(book, sheet_name=sheet, index=False)
    with pytest.warns(UserWarning, match=r"the sheet 'loans' of bank.xlsx is read; it also has 'old loans'") as found:
        open_source(tmp_path / "bank.xlsx")
    assert str(found[0].message).endswith(
        "Fix: name the one to read, table_name='old loans' or --table 'old loans'"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        open_source(tmp_path / "bank.xlsx", table_name="loans")
