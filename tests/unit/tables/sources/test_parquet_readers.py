"""A Parquet file says the same through the kernel, polars and DuckDB: columns, cells, profiles, models, errors."""

from __future__ import annotations

import datetime as dt
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

import bayeswise as bw
from bayeswise.foundation import threads
from bayeswise.foundation.errors import BayeswiseError, SourceError
from bayeswise.models.files import bytes_of
from bayeswise.tables.schema.profile import profile
from bayeswise.tables.source import open_source
from bayeswise.tables.sources import opening, parquet
from bayeswise.tables.sources.duckdb_scan import ParquetSource
from bayeswise.tables.sources.parquet import DecodedParquet, PolarsParquet

NOON = dt.datetime(2024, 2, 29, 12, 30, 0, 125_000)
ALIKE: dict[str, Any] = {
    **{f"int{size}": pa.array([1, None, -3, 0], f"int{size}") for size in (8, 16, 32)},
    "int64": pa.array([2**63 - 1, None, -(2**63), 2**53 + 1], "int64"),
    **{f"uint{size}": pa.array([1, None, 3, 2**size - 1], f"uint{size}") for size in (8, 16, 32, 64)},
    "float": pa.array([0.1, None, float("nan"), float("inf")], "float32"),
    "double": pa.array([0.1, None, float("nan"), -0.0], "float64"),
    "boolean": pa.array([True, None, False, True]),
    "text": pa.array(["ä", None, "", "a\x00b"]),
    "long text": pa.array(["0007", None, "NA", " x "], "large_string"),
    "number in text": pa.array(["1", None, "2.5", "3"]),
    "date": pa.array([dt.date(1, 1, 1), None, dt.date(2024, 2, 29), dt.date(9999, 12, 31)]),
    "microseconds": pa.array([NOON, None, dt.datetime(1, 1, 1), NOON], pa.timestamp("us")),
}
BY_DUCKDB: dict[str, Any] = {
    "decimal": pa.array([Decimal("1.50"), None, Decimal("-2.25"), Decimal("0.00")]),
    "half": pa.array(np.array([1.5, 2.0, 3.0, 4.0], dtype=np.float16)),
    "milliseconds": pa.array([NOON, None, dt.datetime(1969, 12, 31), NOON], pa.timestamp("ms")),
    "nanoseconds": pa.array([NOON, None, NOON, NOON], pa.timestamp("ns")),
    "zone": pa.array([NOON, None, NOON, NOON], pa.timestamp("us", tz="Europe/Berlin")),
    "time": pa.array([dt.time(12, 30), None, dt.time(0), dt.time(23)]),
    "duration": pa.array([dt.timedelta(1), None, dt.timedelta(0), dt.timedelta(-1)]),
    "dictionary": pa.array(["b", None, "a", "b"]).dictionary_encode(),
    "binary": pa.array([b"a", None, b"\xff", b""]),
    "fixed binary": pa.array([b"ab", None, b"cd", b"ab"], pa.binary(2)),
    "list": pa.array([[1], None, [], [2, 3]]),
    "struct": pa.array([{"a": 1}, None, {"a": 2}, {"a": 3}]),
    "null": pa.nulls(4),
}


READERS = {"kernel": DecodedParquet, "polars": PolarsParquet}


@contextmanager
def read_by(reader: str) -> Iterator[None]:
    """Every file is a long one that this reader tries first, or none is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "LONG_FILE", 1 << 60 if reader == "duckdb" else 0)
        if reader == "duckdb":
            patch.setattr(parquet, "LONG_FOOTER", 1 << 60)
        else:
            patch.setattr(parquet, "READERS", [READERS[reader]])
        patch.setattr(opening, "LONG_TEXT", 0)
        patch.setattr(threads._process, "crew", threads._Crew(max(threads.cores(), os.cpu_count() or 1)))
        yield


def by_each(outcome: Callable[[], Any]) -> dict[str, Any]:
    """What comes of it through each reader; errors with their words."""
    found: dict[str, Any] = {}
    for reader in (*READERS, "duckdb"):
        with read_by(reader):
            try:
                found[reader] = outcome()
            except BayeswiseError as error:
                found[reader] = (type(error).__name__, str(error))
    return found


def by_all(outcome: Callable[[], Any]) -> Any:
    """What comes of it through each reader, which is the same."""
    found = by_each(outcome)
    for reader in READERS:
        assert found[reader] == found["duckdb"], reader
    return found["duckdb"]


def everything(path: Any) -> Any:
    source = open_source(path)
    cells = {
        column.name: [repr(cell) for chunk in source.chunks([column.name]) for cell in chunk.cells(column.name)]
        for column in source.columns
        if column.storage not in ("nested", "binary")
    }
    return source.description, source.columns, source.textual, cells, repr(profile(source))


def reader_of(path: Path, reader: str) -> type:
    with read_by(reader):
        return type(open_source(path))


@pytest.mark.parametrize("version", ["1.0", "2.6"])
@pytest.mark.parametrize("store_schema", [True, False])
def test_types_that_all_readers_know_are_read_without_duckdb(tmp_path: Path, version: Any, store_schema: bool) -> None:
    for name, cells in ALIKE.items():
        path = tmp_path / f"{name}.parquet"
        pq.write_table(pa.table({name: cells}), path, version=version, store_schema=store_schema)
        by_all(lambda path=path: everything(path))
        for reader, kind in READERS.items():
            assert reader_of(path, reader) is kind, name


@pytest.mark.parametrize("name", BY_DUCKDB)
@pytest.mark.parametrize("store_schema", [True, False])
def test_a_file_with_another_type_says_the_same(tmp_path: Path, name: str, store_schema: bool) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [1.0, 2.5, 3.0, 7.0], name: BY_DUCKDB[name]}), path, store_schema=store_schema)
    by_all(lambda: everything(path))
    assert reader_of(path, "polars") is ParquetSource or not store_schema  # which may be what makes a type another one
    assert reader_of(path, "kernel") is ParquetSource or name in (
        "dictionary",
        "duration",
    )  # which a file does not have


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([*ALIKE, *BY_DUCKDB]), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(0, 3), max_size=40),
    st.sampled_from([1, 3, 1000]),
    st.sampled_from(["none", "snappy", "zstd", "gzip"]),
    st.booleans(),
    st.sampled_from(["1.0", "2.0"]),
    st.sampled_from([1, 20, 1 << 20]),
)
def test_any_table_has_the_same_cells_and_model_by_all(
    tmp_path_factory: Any,
    names: list[str],
    rows: list[int],
    group: int,
    compression: str,
    dictionary: bool,
    version: Any,
    page: int,
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.parquet"
    table = pa.table({**ALIKE, **BY_DUCKDB}).select(names).take(pa.array(rows, "int64"))
    table = table.append_column("y", pa.array([("no", "yes")[k % 2] for k in range(len(rows))], "string"))
    pq.write_table(
        table,
        path,
        row_group_size=group,
        compression=compression,
        use_dictionary=dictionary,
        data_page_version=version,
        data_page_size=page,
        write_batch_size=2,  # after which a page may end
    )
    by_all(lambda: everything(path))
    by_all(lambda: bytes_of(bw.fit(path, "y", model="naive-bayes")))


@pytest.mark.parametrize("model", ["naive-bayes", "gaussian", "averaged", "logistic", "tan"])
def test_models_have_the_same_bytes(tmp_path: Path, model: str) -> None:
    path = written(tmp_path / "rows.parquet")
    assert isinstance(by_all(lambda: bytes_of(bw.fit(path, "y", model=model))), bytes)


def written(path: Path, n_rows: int = 3000, compression: str = "snappy") -> Path:
    rng = np.random.default_rng(1)
    table = {
        "u": rng.normal(size=n_rows),
        "v": rng.integers(0, 50, n_rows),
        "flag": rng.integers(0, 2, n_rows),
        "colour": rng.choice(["red", "blue"], n_rows),
        "left out": rng.choice(["a", "b", "c"], n_rows),
        "y": rng.choice(["no", "yes"], n_rows),
    }
    pq.write_table(pa.table(table), path, row_group_size=700, compression=compression)
    return path


LATE = {
    "flag": [*([0.0, 1.0] * 1000), 0.5],
    "not a flag": [0.5, *([0.0, 1.0] * 1000)],
    "constant at first": [*([3.0] * 1900), *range(101)],
    "row numbers": list(map(float, range(2001))),
    "beyond 2**53": [*(k * 0.5 for k in range(2000)), 2.0**60],
    "infinite": [*(k * 0.5 for k in range(2000)), float("inf")],
    "missing at first": [*([None] * 1900), *(k * 0.5 for k in range(101))],
    "texts that are numbers": [str(k % 7) for k in range(2001)],
}


@pytest.mark.parametrize("name", LATE)
def test_whatever_comes_late_the_model_is_the_same(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in READERS.values():
        monkeypatch.setattr(kind, "chunk_rows", 100)
    table = {name: LATE[name], "b": [k * 31 % 13 for k in range(2001)], "y": ["n", "y", "y"] * 667}
    pq.write_table(pa.table(table), tmp_path / "late.parquet", row_group_size=50)
    for options in ({}, {"ignore": ["b"]}, {"kinds": {"b": "category"}}, {"weight": "b"}):
        by_all(lambda options=options: model_of_late(tmp_path / "late.parquet", options))


def model_of_late(path: Path, options: Any) -> bytes:
    return bytes_of(bw.fit(path, "y", model="naive-bayes", **options))


@pytest.mark.parametrize(("reader", "method"), [("kernel", "_batches"), ("polars", "pieces")])
def test_a_file_is_read_once_and_only_the_requested_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str, method: str
) -> None:
    path = written(tmp_path / "rows.parquet")
    swept: list[list[str]] = []
    read = getattr(READERS[reader], method)

    def counted(source: Any, indices: Any) -> Any:
        swept.append([source.columns[k].name for k in indices])
        return read(source, indices)

    monkeypatch.setattr(READERS[reader], method, counted)
    done: list[int] = []
    with read_by(reader):
        bw.fit(path, "y", model="naive-bayes", ignore=["left out"], progress=done.append)
    assert len(swept) == 1  # the kernel goes on behind the first rows; of polars they come by a query of their own
    assert "left out" not in swept[0]
    assert sum(done) == 3000


def test_names_are_those_of_the_file(tmp_path: Path) -> None:
    names = ["a", "A", 'say "hi"', "it's", "a.b", "ü 🦄", "select", "^a.*$", "*", "x\x00y"]
    pq.write_table(pa.table({name: [float(k)] for k, name in enumerate(names)}), tmp_path / "names.parquet")
    found = by_all(lambda: everything(tmp_path / "names.parquet"))
    assert [column.name for column in found[1]] == names
    assert found[3] == {name: [repr(float(k))] for k, name in enumerate(names)}


@pytest.mark.parametrize("names", [["x", "x"], ["x", " x"], ["", "x"]])
def test_names_that_are_refused_are_refused_alike(tmp_path: Path, names: list[str]) -> None:
    pq.write_table(pa.Table.from_arrays([pa.array([1.0])] * 2, names=names), tmp_path / "names.parquet")
    assert by_all(lambda: everything(tmp_path / "names.parquet"))[0] == "SchemaError"


def test_names_and_texts_that_are_not_utf8_are_refused_alike(tmp_path: Path) -> None:
    path = tmp_path / "odd.parquet"
    pq.write_table(pa.table({"colname_abc": [1, 2]}), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"colname_abc", b"col\xffame_a\xfec"))
    assert "not UTF-8" in by_all(lambda: everything(path))[1]
    pq.write_table(pa.table({"y": ["n", "y"] * 500, "x": [f"cell_{k}" for k in range(1000)]}), path)
    path.write_bytes(path.read_bytes().replace(b"cell_7", b"cel\xff_7"))
    by_all(lambda: bytes_of(bw.fit(path, "y", model="naive-bayes")))


@pytest.mark.parametrize("cut", [4, 300, -1, -9])
def test_a_file_that_is_cut_off_is_the_same_error(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path / "cut.parquet")
    path.write_bytes(path.read_bytes()[:cut])
    assert by_all(lambda: everything(path))[0] == "SourceError"


def test_a_file_that_is_damaged_within_is_an_error_by_all(tmp_path: Path) -> None:
    path = written(tmp_path / "damaged.parquet")
    whole = path.read_bytes()
    for at in (40, 4000, 20_000):
        path.write_bytes(whole[:at] + b"\xff" * 200 + whole[at + 200 :])
        found = by_each(lambda: everything(path))
        for reader in READERS:
            one, other = found[reader], found["duckdb"]
            assert one == other or (one[0] == other[0] == "SourceError"), (reader, at)


@pytest.mark.parametrize("compression", ["none", "snappy"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_the_kernel_ends_well_whatever_bytes_are_wrong(tmp_path: Path, compression: str, version: Any) -> None:
    path, rng = tmp_path / "damaged.parquet", np.random.default_rng(0)
    table = pa.table(ALIKE).take(pa.array(rng.integers(0, 4, 200), "int64"))
    pq.write_table(table, path, row_group_size=70, compression=compression, data_page_version=version)
    whole = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    n_read = 0
    for _ in range(100):
        damaged = whole.copy()
        for at in rng.integers(4, len(whole) - 8, rng.integers(0, 4)):
            damaged[at] = rng.integers(0, 256)
        path.write_bytes(damaged.tobytes())
        found = parquet.footer_of(path)
        if found is None or not found.is_decodable or found.n_rows > 1_000_000:
            continue
        with suppress(BayeswiseError):
            source = DecodedParquet(path, "damaged", found)
            n_read += sum(batch.n_rows for batch in source._batches(range(len(source.columns)))) == 200
    assert n_read > 20  # those at least that nothing was changed in


def test_rows_that_polars_gave_before_an_error_are_not_given_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "rows.parquet")

    def frames(source: PolarsParquet, query: Any) -> Iterator[Any]:
        yield from (query.collect().head(n_rows) for n_rows in first)
        raise SourceError("it stopped", fix="go on")

    monkeypatch.setattr(PolarsParquet, "_frames", frames)
    for first, n_rows in (([], 3000), ([10], 10)):
        with read_by("polars"):
            source = open_source(path)
            seen = 0
            try:
                for chunk in source.chunks(["u"]):
                    seen += chunk.n_rows
            except SourceError as error:
                assert first and str(error).startswith("it stopped")
            assert seen == n_rows


def test_files_without_rows_or_row_groups_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "none.parquet"
    empty = pa.table({"x": pa.array([], "float64"), "y": pa.array([], "string")})
    pq.write_table(empty, path)
    by_all(lambda: everything(path))
    with pq.ParquetWriter(path, empty.schema):
        pass
    by_all(lambda: everything(path))


@pytest.mark.skipif(os.name == "nt", reason="such names are not allowed")
def test_a_path_is_not_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["run[1]/d", "run1/d", "x*", "x1", "y?", "ya", "year=2020/d", "a\\b", "~", os.fsdecode(b"bad\xff")]
    for k, name in enumerate(names):
        Path(name).parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"x": [float(k)]}), tmp_path / "plain.parquet")
        (tmp_path / "plain.parquet").rename(name + ".parquet")
    for k, name in enumerate(names):
        found = by_all(lambda name=name: everything(Path(name + ".parquet")))
        assert found[3] == {"x": [repr(float(k))]}, name
    assert by_all(lambda: everything("run*/d.parquet"))[3] == {"x": ["1.0", "0.0"]}


def test_threads_that_are_limited_or_lost_leave_the_file_to_duckdb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "rows.parquet")
    with read_by("polars"):
        source = open_source(path)
        assert type(source) is PolarsParquet
        monkeypatch.setattr(source, "_frames", None)
        monkeypatch.setattr(threads, "cores", lambda: 1 << 20)
        assert sum(chunk.n_rows for chunk in source.chunks(["u"])) == 3000
        assert type(open_source(path)) is ParquetSource
        monkeypatch.undo()
    with read_by("polars"):
        monkeypatch.setattr(threads._process, "is_forked", True)
        assert type(open_source(path)) is ParquetSource


def test_small_groups_may_not_hide_a_large_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal cells take next to nothing in a file; decoded they would fill the memory."""
    path = tmp_path / "equal.parquet"
    pq.write_table(pa.table({"x": np.ones(200_000)}), path, row_group_size=200_000)
    assert path.stat().st_size < 100_000
    for reader, kind in READERS.items():
        with pytest.MonkeyPatch.context() as patch:
            assert reader_of(path, reader) is kind
            patch.setattr(parquet, "LARGE_GROUP", 1_000_000)
            assert reader_of(path, reader) is ParquetSource
    monkeypatch.setattr(parquet, "LARGE_GROUP", 1_000_000)
    pq.write_table(pa.table({"x": np.ones(200_000)}), path, row_group_size=50_000)
    for reader, kind in READERS.items():
        assert reader_of(path, reader) is kind


def test_without_polars_duckdb_reads_what_the_kernel_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "rows.parquet", compression="zstd")
    monkeypatch.setattr(parquet, "LONG_FILE", 0)
    assert type(open_source(path)) is PolarsParquet
    monkeypatch.setitem(sys.modules, "polars", None)
    assert type(open_source(path)) is ParquetSource
    assert type(open_source(written(tmp_path / "rows.parquet"))) is DecodedParquet


@pytest.mark.parametrize("reader", READERS)
def test_a_wide_file_is_read_without_duckdb_however_few_rows_it_has(tmp_path: Path, reader: str) -> None:
    path = tmp_path / "wide.parquet"
    values = np.random.default_rng(0).normal(size=(4000, 8)).round(3)
    columns = {f"column{k}": pa.array(cells) for k, cells in enumerate(values)}
    pq.write_table(pa.table({**columns, "y": ["p", "q"] * 4}), path)
    assert path.stat().st_size < parquet.LONG_FILE
    with read_by(reader), pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "LONG_FILE", 1 << 60)
        assert type(open_source(path)) is READERS[reader]
        wide = bytes_of(bw.fit(path, "y", model="naive-bayes"))
    with read_by("duckdb"):
        assert type(open_source(path)) is ParquetSource
        assert bytes_of(bw.fit(path, "y", model="naive-bayes")) == wide
