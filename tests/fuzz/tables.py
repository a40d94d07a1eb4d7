"""Odd tables: cells of every type, names of every kind, no rows or no columns, in every form that a table can come in.

A case makes a table, looks at it, fits a model and predicts the rows again. Files are made whole, and some of them are
damaged afterwards.
"""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import enum
import fractions
import io
import json
import random
import sqlite3
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import bayeswise as bw
from bayeswise.cli import main
from bayeswise.foundation.errors import BayeswiseError
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.inference import examine
from bayeswise.tables.schema.leaks import find_leaks
from bayeswise.tables.schema.notes import report
from bayeswise.tables.source import open_source
from tests.fuzz.answers import check_finite, check_posterior

Columns: TypeAlias = dict[Any, list[Any]]
Random: TypeAlias = random.Random
LONG = "long " * 2000


class Colour(enum.Enum):
    RED = 1


class Odd:
    """An object without a text of its own."""


# -- cells ----------------------------------------------------------------------------------------------------
TEXTS = ["a", "b", "", " a", "nan", "None", "NA", "é", "e\u0301", "🦄", "x\ny", "x\x00y", "\ud800", "\ufeff", "'", '"']
TEXTS += ["=1+1", "-", "0007", "1e5", "1_000", "１", "true", "\x1b[31m", "\u202e", LONG, "2024-02-29", "12:30", "1,5"]
TEXTS += ["inf", "∞", ",", ";"]
NUMBERS = [0.0, -0.0, 1.0, 1.5, -3.25, 1e300, -1e300, 1e-310, 5e-324, 1.7976931348623157e308, 3.0, 2.0**53, 1e15]
INTEGERS = [0, 1, 2, 3, -1, 7, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64, 10**30, -(10**30)]
EXOTIC: list[Any] = [
    *(b"ab", b"\xff", bytearray(b"x"), [1, 2], [], (1, "a"), {"a": 1}, {1, 2}, frozenset(), 1 + 2j, complex("nan")),
    *(dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12), dt.datetime.max, dt.time(12), dt.timedelta(-1, 0, 1)),
    *(dt.datetime(2024, 1, 1, tzinfo=dt.UTC), Decimal("1.50"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")),
    *(Decimal("1E+400"), fractions.Fraction(1, 3), uuid.UUID(int=5), Path("/x"), Colour.RED, Odd(), range(3)),
    *(np.int8(3), np.float16(1.5), np.float32("nan"), np.bool_(True), np.str_("s"), np.bytes_(b"s"), np.nan),
    *(np.datetime64("NaT"), np.datetime64("2024-01-01"), np.timedelta64(3, "D"), np.complex64(1j), np.longdouble(1.5)),
    *(np.array([1, 2]), np.float64("-inf"), float("inf")),
]


def some(values: Sequence[Any], most: int) -> Callable[[Random, int], list[Any]]:
    """Cells that repeat a few of the values."""

    def cells(rng: Random, n_rows: int) -> list[Any]:
        few = rng.sample(list(values), min(len(values), rng.randint(1, most)))
        return [rng.choice(few) for _ in range(n_rows)]

    return cells


def mixed(rng: Random, n_rows: int) -> list[Any]:
    return [rng.choice([*TEXTS, *NUMBERS, *INTEGERS, True, False, None, *EXOTIC]) for _ in range(n_rows)]


CELLS: dict[str, Callable[[Random, int], list[Any]]] = {
    "text": some(["red", "green", "blue"], 3),
    "labels": some(["yes", "no"], 2),
    "numbers": lambda rng, n: [rng.gauss(0, 1) for _ in range(n)],
    "floats": some(NUMBERS, 6),
    "integers": some(INTEGERS, 4),
    "counts": lambda rng, n: [rng.randint(0, 9) for _ in range(n)],
    "ids": lambda rng, n: list(range(1000, 1000 + n)),
    "flags": some([True, False], 2),
    "odd text": some(TEXTS, 5),
    "numerals": some(["1", "2.5", "-3", "1e3", "3a", "", "007", "1,5"], 5),
    "sentences": lambda rng, n: [" ".join(rng.choices(["good", "bad", "day", "rain"], k=5)) for _ in range(n)],
    "dates": lambda rng, n: [dt.date(2024, 1, 1) + dt.timedelta(days=rng.randint(0, 99)) for _ in range(n)],
    "moments": lambda rng, n: [dt.datetime(2024, 1, 1) + dt.timedelta(seconds=rng.randint(0, 10**6)) for _ in range(n)],
    "durations": lambda rng, n: [dt.timedelta(seconds=rng.randint(-9, 9)) for _ in range(n)],
    "decimals": some([Decimal("1.50"), Decimal("-2"), Decimal("1E+3"), Decimal("0")], 3),
    "exotic": some(EXOTIC, 3),
    "one exotic": some(EXOTIC, 1),
    "mixed": mixed,
    "nothing": lambda rng, n: [None] * n,
    "constant": some(["same"], 1),
    "infinite": some([float("inf"), 1.0, float("-inf"), float("nan")], 4),
    "types": some([1, "1", True, 1.0], 4),
    "lists": some([[1], [1, 2], []], 3),
    "bytes": some([b"a", b"\xff\x00"], 2),
}
PLAIN = ["text", "numbers", "counts", "flags", "numerals", "integers", "floats", "odd text", "sentences", "types"]
NAMES: list[Any] = ["x", "size", "y ", " x", "", "a b", "é", "e\u0301", "x\ny", "x\x00", "\ud800", LONG, "select", "="]
NAMES += ["X", "p_yes", "predicted", "1", "true", "null", 0, 1, None, 1.5, True, ("a", "b"), "a.b", "[1]", "*", "{}"]
NAMES += ['say "hi"', "it's", "\x1b[31m"]


def make_columns(rng: Random) -> tuple[Columns, str]:
    """Columns by name, the target among them, and what they are called together."""
    n_rows = rng.choice([0, 1, 2, 3, 5, 12, 12, 40, 40])
    n_columns = rng.choice([0, 1, 1, 2, 2, 3, 5])
    plain = rng.random() < 0.4
    kinds = [rng.choice(PLAIN if plain else list(CELLS)) for _ in range(n_columns)]
    odd_names = not plain and rng.random() < 0.4
    columns: Columns = {}
    for k, kind in enumerate(kinds):
        cells = CELLS[kind](rng, n_rows)
        if rng.random() < 0.3:
            cells = [None if rng.random() < 0.2 else cell for cell in cells]
        columns[rng.choice(NAMES) if odd_names else f"c{k}"] = cells
    target_kind = "labels" if plain else rng.choice(["labels"] * 20 + list(CELLS))
    if rng.random() < 0.95:
        columns["y"] = CELLS[target_kind](rng, n_rows)
    return columns, f"{n_rows} rows of {', '.join(kinds)} -> {target_kind}"


# -- forms ----------------------------------------------------------------------------------------------------
def texts_of(columns: Columns) -> tuple[list[str], list[list[str]]]:
    """A table as text; what cannot be encoded is escaped."""

    def plain(cell: Any) -> str:
        return "" if cell is None else str(cell).encode("utf-8", "backslashreplace").decode()

    rows = zip(*columns.values(), strict=True)
    return [plain(name) for name in columns], [[plain(cell) for cell in row] for row in rows]


def as_csv(columns: Columns, folder: Path, rng: Random) -> Path:
    names, rows = texts_of(columns)
    text = io.StringIO(newline="")
    quoting: Any = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    ending = rng.choice(["\n", "\r\n"])
    writer = csv.writer(text, delimiter=rng.choice(",,,;\t|"), quoting=quoting, lineterminator=ending)
    writer.writerows([names, *rows])
    path = folder / rng.choice(["t.csv", "t.tsv", "t.data", "t[1].csv"])
    path.write_bytes(text.getvalue().encode(rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"]), "backslashreplace"))
    return path


def as_json_lines(columns: Columns, folder: Path, rng: Random) -> Path:
    rows = [dict(zip(map(str, columns), row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path = folder / rng.choice(["t.jsonl", "t.ndjson", "t.json"])
    lines = [json.dumps(row, default=str, skipkeys=True) for row in rows]
    path.write_text("[" + ",".join(lines) + "]" if path.suffix == ".json" and rng.random() < 0.5 else "\n".join(lines))
    return path


def as_sqlite(columns: Columns, folder: Path, rng: Random) -> Path:
    path = folder / "t.db"
    with contextlib.closing(sqlite3.connect(path)) as database:
        names = ", ".join('"' + str(name).replace('"', '""').replace("\x00", "") + '"' for name in columns)
        database.execute(f"CREATE TABLE t ({names})")
        for row in zip(*columns.values(), strict=True):
            values = [cell if isinstance(cell, str | int | float | bytes | None) else str(cell) for cell in row]
            database.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(values))})", values)
        database.commit()
    return path


def as_workbook(columns: Columns, folder: Path, rng: Random) -> Path:
    import openpyxl

    path = folder / "t.xlsx"
    names, rows = texts_of(columns)
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("sheet")
    sheet.append(names)
    for row, texts in zip(zip(*columns.values(), strict=True), rows, strict=True):
        kinds = (str, float, int, bool, dt.date, type(None))
        sheet.append([cell if type(cell) in kinds else text for cell, text in zip(row, texts, strict=True)])
    book.save(path)
    return path


def as_pandas(columns: Columns, folder: Path, rng: Random) -> Any:
    import pandas as pd

    frame = pd.DataFrame(columns)
    way = rng.randrange(5)
    if way == 1:
        return frame.convert_dtypes()
    if way == 2:
        return frame.astype({name: "category" for name in frame.columns if rng.random() < 0.5})
    if way == 3:
        return arrow_table(columns).to_pandas(types_mapper=pd.ArrowDtype)
    if way == 4:
        frame.index = pd.Index(rng.choices("ab", k=len(frame)))
    return frame


def as_polars(columns: Columns, folder: Path, rng: Random) -> Any:
    import polars as pl

    frame = pl.DataFrame({str(name): cells for name, cells in columns.items()}, strict=False)
    if rng.random() < 0.3:
        frame = frame.with_columns(pl.col(pl.String).cast(pl.Categorical))
    return frame.lazy() if rng.random() < 0.3 else frame


def arrow_table(columns: Columns) -> Any:
    """A table of pyarrow, which crashes at some mixtures of cells: these become text."""
    import pyarrow as pa

    safe = (str, int, float, bool, bytes, list, dict, dt.date, dt.datetime, dt.time, dt.timedelta, Decimal)

    def plain(cells: list[Any]) -> list[Any]:
        kinds = set(map(type, cells)) - {type(None)}
        finite = all(cell.is_finite() for cell in cells if isinstance(cell, Decimal))
        if len(kinds) < 2 and kinds <= set(safe) and finite:
            return cells
        return [None if cell is None else str(cell).encode("utf-8", "backslashreplace").decode() for cell in cells]

    return pa.table({str(name): plain(cells) for name, cells in columns.items()})


def as_arrow(columns: Columns, folder: Path, rng: Random) -> Any:
    table = arrow_table(columns)
    return rng.choice([table, table.combine_chunks(), table.to_reader()])


def as_arrow_file(columns: Columns, folder: Path, rng: Random) -> Path:
    import pyarrow.feather as feather

    path = folder / rng.choice(["t.arrow", "t.feather"])
    feather.write_feather(arrow_table(columns), str(path), "uncompressed")
    return path


def as_parquet(columns: Columns, folder: Path, rng: Random) -> Path:
    import pyarrow.parquet as pq

    path = folder / rng.choice(["t.parquet", "t?.parquet", "t.csv"])
    pq.write_table(arrow_table(columns), path)
    return path


def as_structured(columns: Columns, folder: Path, rng: Random) -> Any:
    arrays = {str(name): np.array(cells) for name, cells in columns.items()}
    whole = np.empty(len(next(iter(columns.values()))), dtype=[(name, array.dtype) for name, array in arrays.items()])
    for name, array in arrays.items():
        whole[name] = array
    return whole


def as_matrix(columns: Columns, folder: Path, rng: Random) -> Any:
    kind = rng.choice([object, None, float, np.float32, np.int64, np.complex128, np.longdouble, "U5", "S3"])
    matrix = np.array(list(columns.values()), dtype=kind).T
    return np.asfortranarray(matrix) if rng.random() < 0.5 else matrix[::-1]


def as_sparse(columns: Columns, folder: Path, rng: Random) -> Any:
    import scipy.sparse as sparse

    kind = rng.choice([float, int, bool, complex, np.float32])
    return sparse.csr_array(np.array(list(columns.values()), dtype=kind).T)


def as_relation(columns: Columns, folder: Path, rng: Random) -> Any:
    import duckdb

    return duckdb.read_parquet(str(as_parquet(columns, folder, random.Random(2))).replace("?", "[?]"))


FORMS: dict[str, Callable[[Columns, Path, Random], Any]] = {
    "csv": as_csv,
    "json": as_json_lines,
    "sqlite": as_sqlite,
    "xlsx": as_workbook,
    "pandas": as_pandas,
    "polars": as_polars,
    "arrow": as_arrow,
    "arrow file": as_arrow_file,
    "parquet": as_parquet,
    "structured": as_structured,
    "matrix": as_matrix,
    "sparse": as_sparse,
    "duckdb": as_relation,
    "dict of lists": lambda columns, folder, rng: columns,
    "dict of arrays": lambda columns, folder, rng: {name: np.array(cells) for name, cells in columns.items()},
    "list of dicts": lambda columns, folder, rng: [
        {name: cell for name, cell in zip(columns, row, strict=True) if rng.random() < 0.95}
        for row in zip(*columns.values(), strict=True)
    ],
}
MODELS = ["naive-bayes"] * 4 + ["averaged", "gaussian", "logistic", "linear", "tan", "aode"]


def made(form: str, columns: Columns, folder: Path, rng: Random) -> Any:
    """The table in this form; where the library of the form cannot hold it, the columns themselves."""
    try:
        return FORMS[form](columns, folder, rng)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return columns


def damaged(path: Path, rng: Random) -> None:
    """Change, cut or repeat some bytes of a file."""
    data = bytearray(path.read_bytes())
    for _ in range(rng.randint(1, 8)):
        place = rng.randrange(len(data) + 1)
        way = rng.randrange(4)
        if way == 0 and data:
            data[place % len(data)] = rng.randrange(256)
        elif way == 1:
            del data[place : place + rng.randint(1, 50)]
        elif way == 2:
            data[place:place] = rng.randbytes(rng.randint(1, 9))
        elif rng.random() < 0.1:
            del data[place:]
    path.write_bytes(data)


# -- what is done with it -------------------------------------------------------------------------------------
def use(table: Any, folder: Path, rng: Random) -> None:
    """Look at the table, fit a model, predict the rows, and do one thing more with the model."""
    source = open_source(table, **rng.choice([{}, {}, {}, {"chunk_rows": 2}]))
    target = "y" if isinstance(table, Mapping) else source.columns[-1].name
    target = target if rng.random() < 0.95 else rng.choice(["y", "x0", "c0", "x", LONG, "\ud800", "nowhere"])
    if rng.random() < 0.4:
        examination = examine(source, target)
        advice = (*examination.advice, *find_leaks(source, examination))
        json.dumps(report(examination, [column.name for column in source.columns], advice), allow_nan=False)
    model = bw.fit(source, target=target, **options(source, rng))
    rows = source if rng.random() < 0.7 or not isinstance(table, Mapping) else dict(list(table.items())[:-2])
    if hasattr(model, "classes"):
        check_posterior(model.predict_proba(rows))
        model.predict(rows)
    else:
        check_finite(model.predict(rows))
    rng.choice([saved, explained, merged, forgotten, left_out])(model, source, folder)


def options(source: Any, rng: Random) -> dict[str, Any]:
    """What a user may ask of a fit, now and then."""
    options: dict[str, Any] = {"model": rng.choice(MODELS)}
    if rng.random() < 0.15:
        options["missing"] = rng.choice(["ignore", "level", "error", "mean"])
    names = [column.name for column in source.columns if column.name != "y"]
    if names and rng.random() < 0.3:
        options["kinds"] = {rng.choice(names): rng.choice(["number", "count", "category", "binary", "text", "ignored"])}
    if names and rng.random() < 0.1:
        options["weight"] = rng.choice(names)
    return options


def saved(model: Any, source: Any, folder: Path) -> None:
    model.save(folder / "saved.bayeswise")
    assert repr(bw.load(folder / "saved.bayeswise")) == repr(model)


def explained(model: Any, source: Any, folder: Path) -> None:
    if hasattr(model, "explain"):
        vocabularies = getattr(model, "vocabularies", {})
        batch = next(iter(Encoder(model.schema, learning=False, vocabularies=vocabularies).batches(source)))
        account = model.explain(batch.rows(slice(0, 1)))
        assert str(account)
        json.dumps(account.to_dict(), allow_nan=False)


def merged(model: Any, source: Any, folder: Path) -> None:
    if hasattr(model, "merge"):
        repr(model.merge(model))


def forgotten(model: Any, source: Any, folder: Path) -> None:
    if hasattr(model, "forget"):
        repr(model.merge(model).forget(source))


def left_out(model: Any, source: Any, folder: Path) -> None:
    if hasattr(model, "classes") and hasattr(model, "leave_one_out"):
        check_posterior(model.leave_one_out(source))


def command(path: Path, folder: Path, rng: Random) -> None:
    """The same by commands, which never end in a bug."""
    model, out = folder / "m.bayeswise", folder / f"out.{rng.choice(['csv', 'jsonl', 'parquet', 'json', 'tsv.gz'])}"
    look = ["look", path, "-t", "y", *(["--json"] if rng.random() < 0.3 else [])]
    runs = [
        look,
        ["fit", path, "-t", "y", "--model", "naive-bayes", "-o", model],
        ["predict", model, path, "--proba", "-o", out],
    ]
    for words in runs:
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")):
            code = main([str(word) for word in words])
        assert code in (0, 2, 3, 4), f"{words[0]} ended with {code}: {said.getvalue()[-1000:]}"
        assert len(said.getvalue()) < 10_000, f"{words[0]} said {len(said.getvalue())} characters"
        if code:
            raise BayeswiseError(said.getvalue())


def cases(seed: int, count: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Tables in all forms."""
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        form = rng.choice(list(FORMS))
        columns, what = make_columns(rng)
        yield f"{form}: {what}", _case(form, columns, rng)


def _case(form: str, columns: Columns, rng: Random) -> Callable[[], None]:
    def run() -> None:
        with tempfile.TemporaryDirectory(prefix="bayeswise-fuzz-") as name:
            folder = Path(name)
            table = made(form, columns, folder, rng)
            is_file = isinstance(table, Path)
            if is_file and rng.random() < 0.3:
                damaged(table, rng)
            if is_file and rng.random() < 0.3:
                command(table, folder, rng)
            else:
                use(table, folder, rng)

    return run
