"""The files of the workspace, and the Data page: what columns are taken for, and why, with a small picture by class."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from bayeswise import __version__
from bayeswise.tables.schema.inference import Examination, examine, find_leaks
from bayeswise.tables.schema.report import report
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.distributions import Pictures, pictures_of
from bayeswise.workbench.messages import PROBLEMS, Code, FileView, Said, SameAs, call, python, shell
from bayeswise.workbench.table_choice import TableChoice

Remedy = Literal["category", "number", "count", "binary", "text", "ignore"]
_REMEDY = re.compile(r"--(category|number|count|binary|text|ignore)\b")


class WorkspaceView(Said):
    """The folder, and what in it a page can open."""

    folder: str
    version: str
    files: list[FileView]


class PictureView(Said):
    """Counts in bins by group: `edges` (one more than bins) of numbers, or `levels`; `others` are not drawn."""

    counts: list[list[int]]
    edges: list[float]
    levels: list[str]
    others: int


class ColumnView(Said):
    """A column, what it is taken for and why; the number of different values may be an estimate."""

    name: str
    kind: str
    missing: int
    distinct: int
    distinct_exact: bool
    note: str
    chosen: bool
    picture: PictureView | None


class ClassView(Said):
    """A class of the target and its rows."""

    label: str
    rows: int


class WarningView(Said):
    """What to look at: remedies are kinds that the column can be given; `invalid` are cells that are not numbers."""

    column: str | None
    what: str
    fix: str | None
    stops: bool
    remedies: list[Remedy]
    invalid: list[str]


class DataView(Said):
    """A table: counts are exact, pictures are of `drawn_rows` of its rows."""

    table: str
    version: str
    rows: int
    columns: list[ColumnView]
    target: str | None
    classes: list[ClassView]
    rows_without_target: int
    warnings: list[WarningView]
    groups: list[str]
    drawn_rows: int
    same_as: SameAs


def routes(bench: Bench) -> APIRouter:
    """GET /api/files and /api/data."""
    router = APIRouter(prefix="/api", responses=PROBLEMS)

    @router.get("/files", tags=["files"])
    def files() -> WorkspaceView:
        """The tables, models, decisions, networks, label sessions and reports of the workspace."""
        found = [FileView.model_validate(entry) for entry in bench.workspace.files()]
        return WorkspaceView(folder=bench.workspace.root.name or "/", version=__version__, files=found)

    @router.get("/data", tags=["data"])
    def data(choice: Annotated[TableChoice, Query()]) -> DataView:
        """What the columns of a table are taken for, and why."""
        path = bench.workspace.file(choice.table)
        return bench.workspace.remembered(path, ("data", choice.model_dump_json()), lambda: data_view(bench, choice))

    return router


def data_view(bench: Bench, choice: TableChoice) -> DataView:
    """Two passes: one that counts, one that draws; a third looks for columns that give the target away."""
    from bayeswise.workbench.workspace import version_of

    version = version_of(bench.workspace.file(choice.table))
    source = choice.opened(bench.workspace, bench.limits)
    examination = examine(source, choice.target, **choice.asked)
    found = report(
        examination,
        [column.name for column in source.columns],
        (*examination.advice, *find_leaks(source, examination)),
    )
    pictures = pictures_of(source, examination)
    chosen = {*choice.kinds, *choice.ignore}
    return DataView(
        table=choice.table,
        version=version,
        rows=found["rows"],
        columns=[_column(each, pictures, each["name"] in chosen) for each in found["columns"]],
        target=found["target"],
        classes=[ClassView(label=label, rows=rows) for label, rows in found["classes"].items()],
        rows_without_target=found["rows_without_target"],
        warnings=[_warning(each, examination) for each in found["warnings"]],
        groups=list(pictures.groups),
        drawn_rows=pictures.rows,
        same_as=SameAs(
            shell=shell("look", choice.table, options=choice.options),
            python=_in_python(choice),
        ),
    )


def _in_python(choice: TableChoice) -> str:
    """What `look` prints, and with a target the model of these columns."""
    opening, table = choice.in_python
    columns = {name: value for name, value in choice.keywords.items() if name != "target"}
    source = Code(call("open_source", table)) if choice.null is None else table
    found = call("examine", source, *([] if choice.target is None else [choice.target]), **columns)
    return python(
        "from bayeswise.tables.schema.inference import examine",
        *(opening or ["from bayeswise.tables.source import open_source"]),
        f"for found in {found}.findings:",
        "    print(found.column, found.note)",
        *([] if choice.target is None else ["model = " + call("bw.fit", table, **choice.keywords)]),
    )


def _column(found: dict[str, Any], pictures: Pictures, chosen: bool) -> ColumnView:
    name = found["name"]
    picture = pictures.by_column.get(name)
    drawn = None if picture is None else PictureView(**{**vars(picture), "counts": picture.counts.tolist()})
    counted = {"distinct": pictures.distinct[name], "distinct_exact": True} if name in pictures.distinct else {}
    return ColumnView(**{**found, **counted}, chosen=chosen, picture=drawn)


def _warning(found: dict[str, Any], examination: Examination) -> WarningView:
    profile = examination.profiles.get(found["column"] or "")
    invalid = sorted({cell.text for cell in profile.invalid_examples}) if profile and profile.invalid else []
    return WarningView(
        **found,
        remedies=list(dict.fromkeys(_REMEDY.findall(found["fix"] or ""))),
        invalid=invalid if profile and profile.integers + profile.decimals else [],
    )
