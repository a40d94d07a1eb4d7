"""Excel and OpenDocument workbooks, through python-calamine."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bayeswise.foundation.errors import NotInstalledError, SourceError, listed, quoted, shortened
from bayeswise.tables.sources.records import ListsSource
from bayeswise.tables.sources.table import TableSource
from bayeswise.tables.sources.workbook_size import check_size


class WorkbookSource(ListsSource):
    """One sheet, held in memory; its texts were typed by people, so null words apply."""

    textual = True

    def __init__(self, name: str, rows: Sequence[Sequence[Any]], null_words: Sequence[str]) -> None:
        header, *body = rows
        self.null_words = tuple(null_words)
        lists = [[_cell(row[k]) for row in body] for k in range(len(header))]
        super().__init__(name, [str(title).strip() for title in header], lists, len(body))


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
    except BaseException as problem:  # a panic of the reader is no Exception
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
        raise SourceError(f"the sheet {quoted(chosen)} of {name} is empty", fix="name another sheet")
    return rows
