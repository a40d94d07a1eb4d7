"""The files of the workspace, and the Data page: what columns are taken for, and why, with a small picture by class."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query

from bayeswise import __version__
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.tables.schema.columns import LABELLED
from bayeswise.tables.schema.inference import Examination, examine
from bayeswise.tables.schema.leaks import find_leaks
from bayeswise.tables.schema.notes import report
from bayeswise.tables.source import Source
from bayeswise.workbench.bench import Bench, TableChoice
from bayeswise.workbench.messages import PROBLEMS, Code, Message, SameAs, call, python, shell
from bayeswise.workbench.workspace import FileView, version_of

Remedy = Literal["category", "number", "count", "binary", "text", "ignore"]
_REMEDY = re.compile(r"--(category|number|count|binary|text|ignore)\b")


class WorkspaceView(Message):
    """The folder, and what in it a page can open."""

    folder: str
    version: str
    files: list[FileView]


class PictureView(Message):
    """Counts in bins by group: `edges` (one more than bins) of numbers, or `levels`; `others` are not drawn."""

    counts: list[list[int]]
    edges: list[float]
    levels: list[str]
    others: int


class ColumnView(Message):
    """A column, what it is taken for and why; the number of different values may be an estimate."""

    name: str
    kind: str
    missing: int
    distinct: int
    distinct_exact: bool
    note: str
    chosen: bool
    picture: PictureView | None


class ClassView(Message):
    """A class of the target and its rows."""

    label: str
    rows: int


class WarningView(Message):
    """What to look at: remedies are kinds that the column can be given; `invalid` are cells that are not numbers."""

    column: str | None
    what: str
    fix: str | None
    stops: bool
    remedies: list[Remedy]
    invalid: list[str]


class DataView(Message):
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
        return WorkspaceView(
            folder=bench.workspace.root.name or "/", version=__version__, files=bench.workspace.files()
        )

    @router.get("/data", tags=["data"])
    def data(choice: Annotated[TableChoice, Query()]) -> DataView:
        """What the columns of a table are taken for, and why."""
        path = bench.workspace.file(choice.table)
        return bench.workspace.remembered(path, ("data", choice.model_dump_json()), lambda: data_view(bench, choice))

    return router


def data_view(bench: Bench, choice: TableChoice) -> DataView:
    """Two passes: one that counts, one that draws; a third looks for columns that give the target away."""
    version = version_of(bench.workspace.file(choice.table))
    source = choice.opened(bench.workspace, bench.limits)
    examination = examine(source, choice.target, **choice.overrides)
    profile = report(
        examination,
        [column.name for column in source.columns],
        (*examination.advice, *find_leaks(source, examination)),
    )
    pictures = pictures_of(source, examination)
    chosen = {*choice.kinds, *choice.ignore}
    return DataView(
        table=choice.table,
        version=version,
        rows=profile["rows"],
        columns=[_column(each, pictures, each["name"] in chosen) for each in profile["columns"]],
        target=profile["target"],
        classes=[ClassView(label=label, rows=rows) for label, rows in profile["classes"].items()],
        rows_without_target=profile["rows_without_target"],
        warnings=[_warning(each, examination) for each in profile["warnings"]],
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


def _column(column: dict[str, Any], pictures: Pictures, chosen: bool) -> ColumnView:
    name = column["name"]
    picture = pictures.by_column.get(name)
    drawn = None if picture is None else PictureView(**{**vars(picture), "counts": picture.counts.tolist()})
    counted = {"distinct": pictures.distinct[name], "distinct_exact": True} if name in pictures.distinct else {}
    return ColumnView(**{**column, **counted}, chosen=chosen, picture=drawn)


def _warning(warning: dict[str, Any], examination: Examination) -> WarningView:
    profile = examination.profiles.get(warning["column"] or "")
    invalid = sorted({cell.text for cell in profile.invalid_examples}) if profile and profile.invalid else []
    return WarningView(
        **warning,
        remedies=list(dict.fromkeys(_REMEDY.findall(warning["fix"] or ""))),
        invalid=invalid if profile and profile.integers + profile.decimals else [],
    )


SAMPLE = 20_000  # rows that are drawn, of any number
MOST_GROUPS = 6
MOST_LEVELS = 12
MOST_COLUMNS = 300
MOST_DISTINCT = 10_000_000
BINS = 24
_NUMERIC = ("number", "count")


@dataclass(frozen=True)
class Picture:
    """Counts of a column in some bins, for each group of rows; `edges` of numbers, `levels` of everything else."""

    counts: IntArray  # (n_groups, n_bins)
    edges: tuple[float, ...] = ()
    levels: tuple[str, ...] = ()
    others: int = 0  # rows of levels that are not drawn


@dataclass(frozen=True)
class Pictures:
    """The pictures of a table, the groups of rows in them, and how many rows they are drawn from."""

    groups: tuple[str, ...]
    rows: int
    by_column: dict[str, Picture]
    distinct: dict[str, int]  # exact counts of different numbers, where a profile has estimates


class Distinct:
    """The different numbers of a column, counted exactly up to `MOST_DISTINCT` of them."""

    def __init__(self) -> None:
        self._known: FloatArray = np.zeros(0)
        self._waiting: list[FloatArray] = []

    def add(self, numbers: FloatArray) -> None:
        if len(self._known) <= MOST_DISTINCT:
            self._waiting.append(np.unique(numbers[~np.isnan(numbers)]))
            if sum(map(len, self._waiting)) > max(len(self._known), 100_000):
                self._merge()

    def _merge(self) -> None:
        self._known, self._waiting = np.unique(np.concatenate([self._known, *self._waiting])), []

    @property
    def count(self) -> int | None:
        """None where there are too many to be counted.

        >>> found = Distinct()
        >>> found.add(np.array([1.0, 2.5, np.nan]))
        >>> found.add(np.array([2.5, 4.0]))
        >>> found.count
        3
        """
        self._merge()
        return len(self._known) if len(self._known) <= MOST_DISTINCT else None


def pictures_of(source: Source, examination: Examination) -> Pictures:
    """Pictures of every k-th row, at most `SAMPLE` rows; with a target, rows that miss it are left out."""
    step = max(1, -(-examination.rows // SAMPLE))
    target = None if examination.target is None else examination.target.profile.name
    kinds = {found.column.name: found.column.kind for found in examination.findings[:MOST_COLUMNS]}
    numeric = [name for name, kind in kinds.items() if kind in _NUMERIC]
    labelled = [name for name, kind in kinds.items() if kind in LABELLED]
    numbers: dict[str, list[FloatArray]] = {name: [] for name in numeric}
    codes: dict[str, list[IntArray]] = {name: [] for name in labelled}
    names: dict[str, Sequence[object]] = {}
    groups: list[IntArray] = []
    profiles = examination.profiles
    estimated = [name for name in numeric if not profiles[name].distinct_exact and not profiles[name].invalid]
    distinct = {name: Distinct() for name in estimated}
    for chunk in source.chunks(list(dict.fromkeys([*numeric, *labelled, *([target] if target else [])]))):
        some = slice(-chunk.first_row % step, None, step)
        for name in numeric:
            every = chunk.numbers(name)[0]
            numbers[name].append(every[some])
            if name in distinct:
                distinct[name].add(every)
        for name in [*labelled, *([target] if target else [])]:
            found, names[name] = chunk.labels(name)
            (groups if name == target else codes[name]).append(found[some].astype(np.int64))
        if target is None:
            groups.append(np.zeros(len(range(*some.indices(chunk.n_rows))), dtype=np.int64))
    group = np.concatenate(groups) if groups else np.zeros(0, dtype=np.int64)
    labels = [""] if target is None else [str(each) for each in names.get(target, ())]
    group, labels = _merged(group, labels)
    by_column = {
        name: _of_numbers(np.concatenate(parts), group, len(labels)) for name, parts in numbers.items() if parts
    }
    for name, parts in codes.items():
        if parts:
            by_column[name] = _of_levels(np.concatenate(parts), [str(each) for each in names[name]], group, len(labels))
    counted = {name: found.count for name, found in distinct.items()}
    exact = {name: count for name, count in counted.items() if count is not None}
    return Pictures(tuple(labels), len(group), by_column, exact)


def _merged(group: IntArray, labels: list[str]) -> tuple[IntArray, list[str]]:
    """The most frequent groups under their names in alphabetical order, the rest as one."""
    counts = np.bincount(group[group >= 0], minlength=len(labels))
    order = sorted(range(len(labels)), key=lambda place: -counts[place])
    kept = sorted(order[: MOST_GROUPS if len(labels) <= MOST_GROUPS else MOST_GROUPS - 1], key=labels.__getitem__)
    new = np.full(len(labels) + 1, len(kept))  # the last entry is for -1, missing
    new[kept], new[-1] = np.arange(len(kept)), -1
    rest = len(labels) - len(kept)
    return new[group], [labels[place] for place in kept] + ([f"{rest} other classes"] if rest else [])


def _of_numbers(values: FloatArray, group: IntArray, n_groups: int) -> Picture:
    """Bins between the outer half percents; what lies beyond counts in the first and the last bin."""
    kept = np.isfinite(values) & (group >= 0)
    values, group = values[kept], group[kept]
    if not len(values):
        return Picture(np.zeros((n_groups, 0), dtype=np.int64))
    low, high = (float(each) for each in np.quantile(values, [0.005, 0.995]))
    distinct = np.unique(values)
    if len(distinct) == 1 or low == high:
        low, high = float(distinct[0]), float(distinct[-1])
    if low == high:
        return Picture(np.bincount(group, minlength=n_groups)[:, None], edges=(low, high))
    n_bins = min(BINS, max(2, len(distinct)))
    with np.errstate(over="ignore", invalid="ignore"):
        share = (values / 2 - low / 2) / (high / 2 - low / 2)  # halves: the range may not be a double
    place = np.clip((share * n_bins).astype(np.int64), 0, n_bins - 1)
    counts = np.bincount(group * n_bins + place, minlength=n_groups * n_bins).reshape(n_groups, n_bins)
    edges = low * (1 - np.arange(n_bins + 1) / n_bins) + high * (np.arange(n_bins + 1) / n_bins)
    return Picture(counts, edges=tuple(edges.tolist()))


def _of_levels(codes: IntArray, levels: list[str], group: IntArray, n_groups: int) -> Picture:
    kept = (codes >= 0) & (group >= 0)
    codes, group = codes[kept], group[kept]
    table = np.bincount(group * max(1, len(levels)) + codes, minlength=n_groups * max(1, len(levels)))
    table = table.reshape(n_groups, -1)
    order = sorted(range(len(levels)), key=lambda place: (-int(table[:, place].sum()), levels[place]))
    drawn, rest = order[:MOST_LEVELS], order[MOST_LEVELS:]
    return Picture(table[:, drawn], levels=tuple(levels[place] for place in drawn), others=int(table[:, rest].sum()))
