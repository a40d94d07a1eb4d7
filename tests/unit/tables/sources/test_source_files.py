"""Files other than CSV, several files, standard input, and files that cannot be read."""

from __future__ import annotations

import io
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from sweeps import labels_of, numbers_of, typed

from bayeswise.foundation.errors import NotInstalledError, SchemaError, SourceError, UsageError
from bayeswise.tables.source import open_source
from bayeswise.tables.sources.memory.polars_frame import LazySource

GOLF = pd.DataFrame({"outlook": ["sunny", "rain", None], "degrees": [29.5, None, -3.0], "day": [1, 2, 3]})


def check_golf(table: Any, **options: Any) -> None:
    assert labels_of(table, "outlook", **options) == ["sunny", "rain", None]
    assert numbers_of(table, "degrees", **options) == pytest.approx([29.5, float("nan"), -3.0], nan_ok=True)
    assert numbers_of(table, "day", **options) == [1.0, 2.0, 3.0]


def storages_of(table: Any) -> list[str]:
    return [column.storage for column in open_source(table).columns]


def test_parquet_is_read_with_its_types(tmp_path: Path) -> None:
    GOLF.to_parquet(tmp_path / "golf.parquet")
    check_golf(tmp_path / "golf.parquet")
    assert storages_of(tmp_path / "golf.parquet") == ["text", "float", "integer"]
    assert not open_source(tmp_path / "golf.parquet").textual


def test_a_suffix_may_lie_about_parquet(tmp_path: Path) -> None:
    GOLF.to_parquet(tmp_path / "golf.csv")
    check_golf(tmp_path / "golf.csv")


def test_parquet_keeps_the_order_of_many_row_groups(tmp_path: Path) -> None:
    path = tmp_path / "long.parquet"
    pq.write_table(pa.table({"n": range(400_000)}), path, row_group_size=10_000)
    assert numbers_of(path, "n") == list(range(400_000))


def test_parquet_names_may_differ_in_case_only(tmp_path: Path) -> None:
    path = tmp_path / "case.parquet"
    pq.write_table(pa.table({"a": [1], "list": [[{"x": 1}]], "A": [2]}), path)
    assert [column.name for column in open_source(path).columns] == ["a", "list", "A"]
    assert (numbers_of(path, "a"), numbers_of(path, "A")) == ([1.0], [2.0])


def test_parquet_names_may_hold_anything(tmp_path: Path) -> None:
    names = ['say "hi"', "it's", "a.b", "ü 🦄", "select"]
    pq.write_table(pa.table({name: [k] for k, name in enumerate(names)}), tmp_path / "it's [1].parquet")
    assert [numbers_of(tmp_path / "it's [1].parquet", name) for name in names] == [[0.0], [1.0], [2.0], [3.0], [4.0]]


@pytest.mark.parametrize("cut", [4, 300])
def test_parquet_that_is_cut_off_is_an_error(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "golf.parquet"
    GOLF.to_parquet(path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(SourceError, match=r"golf.parquet cannot be read"):
        numbers_of(path, "day")


def test_json_lines_are_read_with_their_types(tmp_path: Path) -> None:
    GOLF.to_json(tmp_path / "golf.jsonl", orient="records", lines=True)
    check_golf(tmp_path / "golf.jsonl")
    GOLF.to_json(tmp_path / "golf.json", orient="records")
    check_golf(tmp_path / "golf.json")


def test_json_cells_of_several_types_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    path.write_text('{"m": 1}\n{"m": "1"}\n{"m": true}\n{"m": 1.0}\n{"m": null}\n{}\n')
    assert storages_of(path) == ["object"]
    cells = [("int", 1), ("str", "1"), ("bool", True), ("float", 1.0), ("NoneType", None), ("NoneType", None)]
    assert typed(labels_of(path, "m")) == cells


def test_json_keys_that_differ_in_case_only_are_refused(tmp_path: Path) -> None:
    """Not read under a name that the file does not have."""
    path = tmp_path / "case.jsonl"
    path.write_text('{"a": 1, "A": 2}\n')
    with pytest.raises(SchemaError, match=r"case.jsonl has keys that differ in case only, as 'A'"):
        open_source(path)
    path.write_text('{"a": 1, "A_1": 2}\n{"a": 3}\n')
    assert [column.name for column in open_source(path).columns] == ["a", "A_1"]


def test_json_text_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "text.jsonl"
    path.write_text('{"zip": "0007", "ok": "yes", "w": "NA"}\n{"zip": "1234", "ok": "no", "w": ""}\n')
    assert labels_of(path, "zip") == ["0007", "1234"]
    assert labels_of(path, "ok") == ["yes", "no"]
    assert labels_of(path, "w") == ["NA", ""]


def test_json_types_are_decided_from_all_rows(tmp_path: Path) -> None:
    path = tmp_path / "late.jsonl"
    path.write_text('{"x": 1}\n' * 70_000 + '{"x": "3a"}\n')
    assert typed(labels_of(path, "x")[-2:]) == [("int", 1), ("str", "3a")]


@pytest.mark.parametrize("content", ['{"a": 1}\n{"a": \n', '{"a": 1}\nnonsense\n'])
def test_broken_json_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "broken.jsonl").write_text(content)
    with pytest.raises(SourceError, match=r"broken.jsonl cannot be read"):
        labels_of(tmp_path / "broken.jsonl", "a")


def test_arrow_files_are_read_by_polars(tmp_path: Path) -> None:
    pl.from_pandas(GOLF).write_ipc(tmp_path / "golf.arrow")
    check_golf(tmp_path / "golf.arrow")
    pl.from_pandas(GOLF).write_ipc(tmp_path / "golf.feather", compression="zstd")
    check_golf(tmp_path / "golf.feather")


def test_arrow_files_need_polars_or_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pl.from_pandas(GOLF).write_ipc(tmp_path / "golf.arrow")
    monkeypatch.setitem(sys.modules, "polars", None)
    check_golf(tmp_path / "golf.arrow")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(NotInstalledError, match="pip install polars"):
        open_source(tmp_path / "golf.arrow")


def test_arrow_files_that_are_cut_off_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "golf.arrow"
    pl.from_pandas(GOLF).write_ipc(path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(SourceError, match=r"golf.arrow cannot be read"):
        labels_of(path, "outlook")


def test_workbooks_are_read_by_sheet(tmp_path: Path) -> None:
    path = tmp_path / "golf.xlsx"
    with pd.ExcelWriter(path) as workbook:
        GOLF.to_excel(workbook, sheet_name="golf", index=False)
        pd.DataFrame({"a": ["NA", "x"]}).to_excel(workbook, sheet_name="other", index=False)
    check_golf(path)
    check_golf(path, table_name="golf")
    assert labels_of(path, "a", table_name="other") == [None, "x"]
    assert storages_of(path) == ["text", "float", "integer"]
    with pytest.raises(SourceError, match=r"no sheet 'gulf'; it has golf, other"):
        open_source(path, table_name="gulf")


def test_workbooks_without_calamine_say_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    GOLF.to_excel(tmp_path / "golf.xlsx", index=False)
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(NotInstalledError, match=r"bayeswise\[excel\]"):
        open_source(tmp_path / "golf.xlsx")


def test_a_zip_that_is_not_a_workbook_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(SourceError, match=r"x.zip cannot be read as a workbook"):
        open_source(tmp_path / "x.zip")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "club.db"
    connection = sqlite3.connect(path)
    GOLF.to_sql("golf", connection, index=False)
    connection.execute("CREATE TABLE mixed (m)")
    connection.executemany("INSERT INTO mixed VALUES (?)", [(1,), ("1",), (1.0,), (None,), (2**60 + 1,)])
    connection.commit()
    connection.close()
    yield path


def test_sqlite_tables_are_read_by_name(database: Path) -> None:
    check_golf(database, table_name="golf")
    cells = [("int", 1), ("str", "1"), ("float", 1.0), ("NoneType", None), ("int", 2**60 + 1)]
    assert typed(labels_of(database, "m", table_name="mixed")) == cells


def test_sqlite_queries_are_read(database: Path) -> None:
    query = 'SELECT outlook, degrees * 2 AS twice, "day" FROM golf WHERE degrees IS NOT NULL;'
    assert numbers_of(database, "twice", query=query) == [59.0, -6.0]
    assert [column.storage for column in open_source(database, query=query).columns] == ["text", "float", "integer"]


def test_sqlite_errors_name_the_tables(database: Path) -> None:
    with pytest.raises(SourceError, match=r"no table 'gold'; it has golf, mixed. Fix: use table_name='golf'"):
        open_source(database, table_name="gold")
    with pytest.raises(SourceError, match=r"not one table but 2: golf, mixed"):
        open_source(database)
    with pytest.raises(SourceError, match=r"club.db cannot be read: no such column: nope"):
        open_source(database, query="SELECT nope FROM golf")
    with pytest.raises(UsageError, match="both a table and a query"):
        open_source(database, table_name="golf", query="SELECT 1")


def test_sqlite_is_never_written(database: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        open_source(database, query="DELETE FROM golf RETURNING *")
    check_golf(database, table_name="golf")


def test_many_sqlite_rows_come_in_order(database: Path) -> None:
    query = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999) SELECT i FROM n"
    assert numbers_of(database, "i", query=query) == list(range(100_000))


def test_several_files_are_one_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,p\n2,q\n")
    (tmp_path / "b.csv").write_text("y;x\nq;3,5\n")
    GOLF.rename(columns={"day": "x", "outlook": "y"})[["x", "y"]].to_parquet(tmp_path / "c.parquet")
    paths = [tmp_path / "a.csv", str(tmp_path / "b.csv")]
    assert numbers_of(paths, "x") == [1.0, 2.0, 3.5]
    assert labels_of(str(tmp_path / "*.csv"), "y") == ["p", "q", "q"]
    assert numbers_of([*paths, tmp_path / "c.parquet"], "x") == [1.0, 2.0, 3.5, 1.0, 2.0, 3.0]
    assert [column.storage for column in open_source([*paths, tmp_path / "c.parquet"]).columns] == ["object", "text"]


def test_rows_are_counted_over_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,p\n2,q\n")
    (tmp_path / "b.csv").write_text("x,y\n3,p\noops,q\n")
    chunks = list(open_source(str(tmp_path / "?.csv")).chunks(["x"]))
    assert [chunk.first_row for chunk in chunks] == [0, 2]
    (invalid,) = chunks[1].numbers("x")[1]
    assert (invalid.row, invalid.line, invalid.text) == (3, 3, "oops")


def test_files_with_other_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,p\n")
    (tmp_path / "b.csv").write_text("x,z\n3,p\n")
    with pytest.raises(SchemaError, match=r"b.csv has no column 'y', but a.csv has"):
        open_source([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_a_missing_file_is_named_with_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "golf.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match=r"there is no file .*gulf.csv. Fix: did you mean .*golf.csv"):
        open_source(tmp_path / "gulf.csv")
    with pytest.raises(SourceError, match=r"no directory"):
        open_source(tmp_path / "nowhere" / "golf.csv")
    with pytest.raises(SourceError, match=r"is a directory.*\*.csv"):
        open_source(tmp_path)
    with pytest.raises(SourceError, match=r"no file matches"):
        open_source(str(tmp_path / "*.parquet"))


ODD_NAMES = [
    "run[1]/d",
    "x?",
    "*",
    "y[!a]",
    "back\\slash",
    "q\\?[z]",
    "year=2020/d",
    "~t",
    "~/d",
    "s3:/b",
    "it's",
    "a\nb",
    "%41",
]


@pytest.mark.skipif(os.name == "nt", reason="such names are not allowed")
@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".jsonl", ".csv", ".xlsx", ".db"])
def test_a_file_is_read_under_its_own_name_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    """No reader expands a path a second time: brackets, stars, folders such as year=2020 and ~ are plain letters."""
    monkeypatch.chdir(tmp_path)
    odd = [*ODD_NAMES, os.fsdecode(b"bad\xff")] if suffix != ".xlsx" else ODD_NAMES
    for k, name in enumerate([*odd, "run1/d", "x1", "ya"]):
        Path(name).parent.mkdir(exist_ok=True)
        write_one_cell(tmp_path / f"plain{suffix}", f"cell {k}")
        (tmp_path / f"plain{suffix}").rename(name + suffix)
    for k, name in enumerate(odd):
        assert [column.name for column in open_source(name + suffix).columns] == ["x"]
        assert labels_of(name + suffix, "x") == [f"cell {k}"], name


def write_one_cell(path: Path, cell: str) -> None:
    frame = pl.DataFrame({"x": [cell]})
    if path.suffix == ".db":
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE t (x)")
            database.execute("INSERT INTO t VALUES (?)", [cell])
            database.commit()
    elif path.suffix == ".xlsx":
        pd.DataFrame({"x": [cell]}).to_excel(path, index=False)
    else:
        writers = {".parquet": frame.write_parquet, ".arrow": frame.write_ipc, ".jsonl": frame.write_ndjson}
        writers.get(path.suffix, frame.write_csv)(path)


def test_an_unknown_home_is_a_missing_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match=r"there is no file ~nobody-of-that-name.csv"):
        open_source("~nobody-of-that-name.csv")


@pytest.mark.parametrize("name", ["decimal256", "interval", "run ends", "union", "list view"])
def test_arrow_types_that_polars_lacks_are_read_by_pyarrow(tmp_path: Path, name: str) -> None:
    odd = {
        "decimal256": pa.array([Decimal("1.50"), None, Decimal("2.50")], pa.decimal256(50, 2)),
        "interval": pa.array([pa.MonthDayNano([1, 2, 3]), None, pa.MonthDayNano([0, 0, 0])]),
        "run ends": pa.RunEndEncodedArray.from_arrays([2, 3], [1, 2]),
        "union": pa.UnionArray.from_sparse(
            pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])]
        ),
        "list view": pa.array([[1], [2], None], pa.list_view(pa.int64())),
    }[name]
    table = pa.table({"x": [1.0, 2.0, 3.0], name: odd})
    with pa.ipc.new_file(str(tmp_path / "odd.arrow"), table.schema) as file:
        file.write_table(table)
    assert numbers_of(tmp_path / "odd.arrow", "x") == [1.0, 2.0, 3.0]
    expected = "float" if name == "decimal256" else "nested"
    assert storages_of(tmp_path / "odd.arrow") == storages_of(table) == ["float", expected]
    if name == "decimal256":
        assert numbers_of(tmp_path / "odd.arrow", name) == pytest.approx([1.5, float("nan"), 2.5], nan_ok=True)


def test_a_panic_of_polars_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    panic = type("PanicException", (BaseException,), {})

    class Frame:
        def head(self, n: int) -> Any:
            raise panic("not implemented: Int256\nstack backtrace")

    with pytest.raises(SourceError, match=r"polars stopped at 'not implemented: Int256'. Fix: "):
        LazySource(Frame())


def test_a_file_with_brackets_in_its_name_is_not_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "a[1].csv").write_text("x,y\n1,p\n")
    assert numbers_of(str(tmp_path / "a[1].csv"), "x") == [1.0]


def test_an_unknown_suffix_is_read_as_text(tmp_path: Path) -> None:
    (tmp_path / "golf.data").write_text("x,y\n1,p\n")
    assert numbers_of(tmp_path / "golf.data", "x") == [1.0]


@pytest.mark.parametrize("content", [b"x,y\n1,p\n", b'{"x": 1, "y": "p"}\n'])
def test_standard_input_is_spooled_and_cleaned_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    source = open_source("-")
    assert source.description == "standard input"
    assert numbers_of(source, "x") == numbers_of(source, "x") == [1.0]
    assert len(list(tmp_path.iterdir())) == 1
    del source
    assert list(tmp_path.iterdir()) == []


def test_standard_input_that_is_empty_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(SourceError, match="standard input is empty"):
        open_source("-")
    assert list(tmp_path.iterdir()) == []


ENDLESS = "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize("script", ["open_source(path)", "list(SqliteSource.of_rows(path).chunks(['i']))"])
def test_an_endless_view_ends_at_ctrl_c(tmp_path: Path, script: str) -> None:
    """SQLite is deaf while it works: the watch hears the signal, in the first look at the cells and in a sweep."""
    path = tmp_path / "endless.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(ENDLESS)
    code = f"""
import os, signal, sys, threading
from pathlib import Path
from bayeswise.tables.source import open_source, RawColumn
from bayeswise.tables.sources import sqlite
from bayeswise.tables.sources.table import TableSource
class SqliteSource(sqlite.SqliteSource):
    @classmethod
    def of_rows(cls, path):
        source = cls.__new__(cls)
        source._path, source._name, source._query = Path(path), "endless.db", "SELECT i FROM endless WHERE i < 0"
        TableSource.__init__(source, "endless.db", [RawColumn("i", "integer")])
        return source
path = {str(path)!r}
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background of a script
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    {script}
except KeyboardInterrupt:
    sys.exit(130)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (130, b"")


def test_garbage_in_a_database_is_not_repeated_whole(tmp_path: Path) -> None:
    path = tmp_path / "garbage.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (aaaaaaaaaaaaaaaaaaaa" + "x" * 5000 + ")")
        database.commit()
    path.write_bytes(path.read_bytes().replace(b"aaaaaaaaaaaaaaaaaaaa", b"\xff\x00\x1b[31m\xfe" * 2 + b"aaaa"))
    with pytest.raises(SourceError) as error:
        open_source(path)
    assert len(str(error.value)) < 1000 and str(error.value).isprintable()
