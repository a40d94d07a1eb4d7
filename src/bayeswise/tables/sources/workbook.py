"""Excel and OpenDocument workbooks, through python-calamine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bayeswise.foundation.errors import NotInstalledError, SourceError
from bayeswise.tables.sources.records import ListsSource
from bayeswise.tables.sources.table import TableSource


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
    try:
        workbook = python_calamine.CalamineWorkbook.from_path(str(path))
    except (python_calamine.CalamineError, OSError) as problem:
        raise SourceError(f"{name} cannot be read as a workbook: {problem}", fix="check the file") from None
    if sheet is not None and sheet not in workbook.sheet_names:
        raise SourceError(f"{name} has no sheet {sheet!r}; it has {', '.join(workbook.sheet_names)}", fix="name one")
    chosen = sheet or workbook.sheet_names[0]
    rows = workbook.get_sheet_by_name(chosen).to_python()
    if not rows:
        raise SourceError(f"the sheet {chosen!r} of {name} is empty", fix="name another sheet")
    return WorkbookSource(name, rows, null_words)
