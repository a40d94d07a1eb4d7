"""Tables in memory: a string is a string, and what is missing is missing in every library's way."""

from __future__ import annotations

import datetime
import decimal
import enum
import math
from pathlib import Path
from typing import Any

import duckdb
import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sweeps import invalid_values_of, labels_of, numbers_of, typed

import bayeswise as bw
from bayeswise.foundation.errors import MissingColumnError, ParameterError, SchemaError, SourceError, UsageError
from bayeswise.models.files import bytes_of
from bayeswise.tables.source import RawColumn, open_source


def storage_of(table: Any, column: str) -> str:
    return {raw.name: raw.storage for raw in open_source(table).columns}[column]


WORDS = ["NA", "", "nan", None, " a", "None", "?"]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"w": WORDS}),
        pd.DataFrame({"w": pd.array(WORDS, dtype="string")}),
        pd.DataFrame({"w": pd.Series(WORDS, dtype=object)}),
        pl.DataFrame({"w": WORDS}),
        pl.DataFrame({"w": WORDS}).lazy(),
        pl.DataFrame({"w": pl.Series(WORDS, dtype=pl.Categorical)}),
        pa.table({"w": WORDS}),
        pa.table({"w": pa.array(WORDS, pa.large_string())}),
        pa.table({"w": pa.array(WORDS, pa.string_view())}),
        pa.table({"w": pa.array(WORDS).dictionary_encode()}),
        {"w": WORDS},
        [{"w": word} for word in WORDS],
        {"w": np.array(WORDS, dtype=object)},
    ],
)
def test_in_a_dataframe_a_string_is_a_string(table: Any) -> None:
    assert labels_of(table, "w") == WORDS
    assert storage_of(table, "w") == "text"
    assert not open_source(table).textual


WITH_MISSING = [1.5, math.nan, None, -0.0, 3.0]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"x": WITH_MISSING}),
        pd.DataFrame({"x": pd.array([1.5, None, None, -0.0, 3.0], dtype="Float64")}),
        pd.DataFrame({"x": pd.arrays.SparseArray([1.5, math.nan, math.nan, -0.0, 3.0])}),
        pd.DataFrame({"x": pd.array([1.5, None, None, -0.0, 3.0], dtype=pd.ArrowDtype(pa.float64()))}),
        pd.DataFrame({"x": pd.Series(WITH_MISSING, dtype=object)}),
        pl.DataFrame({"x": WITH_MISSING}, strict=False),
        pl.DataFrame({"x": pl.Series(WITH_MISSING, dtype=pl.Float32, strict=False)}),
        pa.table({"x": pa.array(WITH_MISSING, from_pandas=False)}),
        pa.table({"x": pa.array([1.5, math.nan, None, -0.0, 3.0], pa.float32())}),
        pa.table({"x": pa.array([None if v is None else np.float16(v) for v in WITH_MISSING], pa.float16())}),
        pa.table({"x": pa.array([decimal.Decimal("1.5"), None, None, 0, 3], pa.decimal128(5, 2))}),
        {"x": WITH_MISSING},
        [{"x": 1.5}, {"x": math.nan}, {}, {"x": -0.0}, {"x": 3.0}],
        {"x": np.array([1.5, math.nan, math.nan, -0.0, 3.0], dtype=">f8")},
        {"x": np.array([1.5, math.nan, math.nan, -0.0, 3.0], dtype="f2")},
    ],
)
def test_null_and_nan_are_both_missing(table: Any) -> None:
    assert numbers_of(table, "x") == pytest.approx([1.5, math.nan, math.nan, 0.0, 3.0], nan_ok=True, abs=0)
    assert storage_of(table, "x") == "float"
    assert invalid_values_of(table, "x") == []


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_of_every_width_are_integers(kind: str) -> None:
    top = int(np.iinfo(kind).max)
    for table in (
        {"n": np.array([0, 1, top], dtype=kind)},
        pd.DataFrame({"n": np.array([0, 1, top], dtype=kind)}),
        pl.DataFrame({"n": np.array([0, 1, top], dtype=kind)}),
        pa.table({"n": np.array([0, 1, top], dtype=kind)}),
    ):
        assert typed(labels_of(table, "n")) == [("int", 0), ("int", 1), ("int", top)]
        assert numbers_of(table, "n") == [0.0, 1.0, float(top)]
        assert storage_of(table, "n") == "integer"


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"n": pd.array([2**62 + 1, None], dtype="Int64")}),
        pd.DataFrame({"n": pd.array([2**62 + 1, None], dtype=pd.ArrowDtype(pa.int64()))}),
        pl.DataFrame({"n": [2**62 + 1, None]}),
        pa.table({"n": [2**62 + 1, None]}),
        {"n": [2**62 + 1, None]},
    ],
)
def test_nullable_integers_keep_every_digit(table: Any) -> None:
    assert typed(labels_of(table, "n")) == [("int", 2**62 + 1), ("NoneType", None)]


def test_integers_beyond_64_bits_keep_every_digit_as_labels() -> None:
    big = [2**64 + 1, -(2**70), 10**400]
    assert labels_of({"n": big}, "n") == big
    assert numbers_of({"n": big}, "n") == [2.0**64, -(2.0**70), math.inf]


@pytest.mark.parametrize(
    "table",
    [
        {"f": [True, False, None]},
        {"f": np.array([True, False, None], dtype=object)},
        pd.DataFrame({"f": pd.array([True, False, None], dtype="boolean")}),
        pl.DataFrame({"f": [True, False, None]}),
        pa.table({"f": [True, False, None]}),
    ],
)
def test_flags_are_flags(table: Any) -> None:
    assert typed(labels_of(table, "f")) == [("bool", True), ("bool", False), ("NoneType", None)]
    assert numbers_of(table, "f") == pytest.approx([1.0, 0.0, math.nan], nan_ok=True)
    assert storage_of(table, "f") == "boolean"


def test_one_as_text_integer_double_and_flag_are_four_labels() -> None:
    mixed = [1, "1", True, 1.0, 1, 0.0, -0.0]
    for table in ({"m": mixed}, pd.DataFrame({"m": pd.Series(mixed, dtype=object)}), [{"m": cell} for cell in mixed]):
        (chunk,) = open_source(table).chunks(["m"])
        codes, levels = chunk.labels("m")
        assert codes.tolist() == [0, 1, 2, 3, 0, 4, 4]
        assert typed(list(levels)) == [("int", 1), ("str", "1"), ("bool", True), ("float", 1.0), ("float", 0.0)]
        assert storage_of(table, "m") == "object"


class Colour(enum.StrEnum):
    RED = "red"


def test_cells_of_other_types_are_settled() -> None:
    cells = [
        np.int64(1),
        np.float32(0.5),
        np.bool_(True),
        np.str_("a"),
        Colour.RED,
        pd.NA,
        pd.NaT,
        np.datetime64("NaT"),
    ]
    settled = [("int", 1), ("float", 0.5), ("bool", True), ("str", "a"), ("str", "red"), *([("NoneType", None)] * 3)]
    assert typed(labels_of({"m": cells}, "m")) == settled


def test_lone_surrogates_survive() -> None:
    assert labels_of({"m": ["\ud800", "ok"]}, "m") == ["\ud800", "ok"]


SIZES = ["small", "medium", "large"]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"s": pd.Categorical(["large", None, "small"], categories=SIZES)}),
        pl.DataFrame({"s": pl.Series(["large", None, "small"], dtype=pl.Enum(SIZES))}),
        pl.DataFrame({"s": pl.Series(["large", None, "small"], dtype=pl.Enum(SIZES))}).lazy(),
        pa.table({"s": pa.DictionaryArray.from_arrays(pa.array([2, None, 0]), SIZES, ordered=True)}),
    ],
)
def test_declared_levels_keep_their_order_even_unseen(table: Any) -> None:
    source = open_source(table)
    assert source.columns == (RawColumn("s", "declared", tuple(SIZES)),)
    (chunk,) = source.chunks(["s"])
    codes, levels = chunk.labels("s")
    assert codes.tolist() == [2, -1, 0]
    assert list(levels) == SIZES


def test_the_enum_of_duckdb_declares_its_levels() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TYPE size AS ENUM ('small', 'medium', 'large')")
    relation = connection.sql("SELECT unnest(['large', NULL, 'small'])::size AS s")
    assert open_source(relation).columns == (RawColumn("s", "declared", tuple(SIZES)),)
    assert labels_of(relation, "s") == ["large", None, "small"]


def test_categories_may_be_numbers() -> None:
    table = pd.DataFrame({"s": pd.Categorical([3, 1, None], categories=[1, 2, 3])})
    assert open_source(table).columns == (RawColumn("s", "declared", (1, 2, 3)),)
    assert numbers_of(table, "s") == pytest.approx([3.0, 1.0, math.nan], nan_ok=True)


DAY = datetime.date(2024, 2, 29)
MOMENT = datetime.datetime(1969, 12, 31, 23, 59, 58, 250000)


@pytest.mark.parametrize(
    ("table", "label"),
    [
        (pl.DataFrame({"t": [DAY, None]}), "2024-02-29"),
        (pa.table({"t": pa.array([DAY, None], pa.date32())}), "2024-02-29"),
        (pa.table({"t": pa.array([DAY, None], pa.date64())}), "2024-02-29"),
        ({"t": [DAY, None]}, "2024-02-29"),
        ({"t": np.array(["2024-02-29", "NaT"], dtype="datetime64[D]")}, "2024-02-29"),
        (pl.DataFrame({"t": [MOMENT, None]}), "1969-12-31 23:59:58.250000"),
        (pa.table({"t": pa.array([MOMENT, None], pa.timestamp("ms"))}), "1969-12-31 23:59:58.250"),
        (pa.table({"t": pa.array([MOMENT, None], pa.timestamp("us", "UTC"))}), "1969-12-31 23:59:58.250000+00:00"),
        (pd.DataFrame({"t": [MOMENT, pd.NaT]}), "1969-12-31 23:59:58.250000"),
        (pa.table({"t": pa.array([datetime.time(1, 2, 3), None], pa.time32("s"))}), "01:02:03"),
        (pa.table({"t": pa.array([datetime.timedelta(seconds=-90.5), None], pa.duration("ms"))}), "-90.500 s"),
        ({"t": [datetime.timedelta(seconds=-90.5), None]}, "-90.5 s"),
    ],
)
def test_dates_and_times_read_as_iso_text(table: Any, label: str) -> None:
    assert storage_of(table, "t") == "temporal"
    assert labels_of(table, "t") == [label, None]
    assert [invalid.text for invalid in invalid_values_of(table, "t")] == [label]


def test_decimals_are_numbers_and_their_labels_keep_the_digits() -> None:
    prices = [decimal.Decimal("12.50"), decimal.Decimal("-0.05"), None]
    for table in ({"p": prices}, pa.table({"p": pa.array(prices, pa.decimal128(20, 2))}), pl.DataFrame({"p": prices})):
        assert numbers_of(table, "p") == pytest.approx([12.5, -0.05, math.nan], nan_ok=True, abs=0)
        assert labels_of(table, "p") == ["12.50", "-0.05", None]
        assert storage_of(table, "p") == "float"


@pytest.mark.parametrize(
    ("table", "storage"),
    [
        (pl.DataFrame({"c": [[1], [2, 3]]}), "nested"),
        (pl.DataFrame({"c": [{"a": 1}, {"a": 2}]}), "nested"),
        (pa.table({"c": [[1], None]}), "nested"),
        (pa.table({"c": [b"x", None]}), "binary"),
        ({"c": [[1], [2]]}, "nested"),
        ({"c": [b"x", b"y"]}, "binary"),
        (pd.DataFrame({"c": [{"a": 1}, {"b": 2}]}), "nested"),
    ],
)
def test_lists_structs_and_bytes_have_no_labels(table: Any, storage: str) -> None:
    assert storage_of(table, "c") == storage
    with pytest.raises(SchemaError, match=r"column 'c' holds .* not labels"):
        labels_of(table, "c")


def test_a_column_of_nothing_is_null() -> None:
    for table in ({"c": [None, None]}, pl.DataFrame({"c": [None, None]}), pa.table({"c": [None, None]})):
        assert storage_of(table, "c") == "null"
        assert labels_of(table, "c") == [None, None]


def test_arrays_of_numbers_have_columns_x0_x1() -> None:
    array = np.array([[1.0, 2.0], [math.nan, 4.0]])
    source = open_source(array)
    assert [column.name for column in source.columns] == ["x0", "x1"]
    (chunk,) = source.chunks(["x0", "x1"])
    matrix, _ = chunk.matrix(["x0", "x1"])
    assert np.shares_memory(matrix, array)
    assert not matrix.flags.writeable
    assert chunk.matrix(["x1", "x0"])[0][0].tolist() == [2.0, 1.0]


def test_doubles_of_a_frame_are_read_where_they_lie_column_after_column() -> None:
    columns = np.arange(12.0).reshape(3, 4)
    frame = pd.DataFrame(columns.T, columns=["a", "b", "c"])
    (chunk,) = open_source(frame).chunks(["a", "b", "c"])
    block, _ = chunk.block(["a", "b", "c"])
    assert np.shares_memory(block, frame.to_numpy())
    assert chunk.block(["b", "c"])[0].tolist() == columns[1:].T.tolist()
    matrix, _ = chunk.matrix(["a", "b", "c"])
    assert matrix.flags.c_contiguous and matrix.tolist() == columns.T.tolist()


@pytest.mark.parametrize("model", ["naive-bayes", "gaussian", "logistic", "tan"])
def test_models_are_the_same_whether_numbers_lie_by_row_or_by_column(model: str) -> None:
    rng = np.random.default_rng(3)
    cells = rng.normal(size=(60, 5)) * 10.0 ** rng.integers(-8, 8, 5)
    cells[rng.random(cells.shape) < 0.1 * (model == "naive-bayes")] = np.nan
    names, labels = list("abcde"), rng.choice(["yes", "no"], 60)
    frames = [pd.DataFrame(layout, columns=names, copy=False) for layout in (cells, np.asfortranarray(cells))]
    fitted = [bw.fit(frame.assign(y=labels), "y", model=model) for frame in frames]
    plain = bw.fit({**{name: cells[:, k] for k, name in enumerate(names)}, "y": labels}, "y", model=model)
    assert {bytes_of(each) for each in fitted} == {bytes_of(plain)}


@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed"])
def test_arrays_may_lie_in_memory_as_they_like(layout: str) -> None:
    plain = np.arange(12.0).reshape(4, 3)
    array = {
        "C": plain,
        "F": np.asfortranarray(plain),
        "strided": np.repeat(np.repeat(plain, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": plain[::-1, ::-1][::-1, ::-1],
    }[layout]
    array.flags.writeable = False
    assert numbers_of(array, "x1") == [1.0, 4.0, 7.0, 10.0]
    (chunk,) = open_source(array).chunks(["x0", "x1", "x2"])
    assert chunk.matrix(["x0", "x1", "x2"])[0].tolist() == plain.tolist()


def test_masked_arrays_are_missing_where_masked() -> None:
    array = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert numbers_of(array, "x1") == pytest.approx([math.nan, 4.0], nan_ok=True)


def test_structured_arrays_have_named_columns() -> None:
    array = np.array([(1, "a"), (2, "b")], dtype=[("n", "i4"), ("s", "U1")])
    assert numbers_of(array, "n") == [1.0, 2.0]
    assert labels_of(array, "s") == ["a", "b"]


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_matrices_are_zero_where_nothing_is_stored(form: str) -> None:
    dense = np.array([[0.0, 2.0], [0.0, 0.0], [3.5, 0.0]])
    for matrix in (scipy.sparse.coo_array(dense).asformat(form), scipy.sparse.coo_matrix(dense).asformat(form)):
        source = open_source(matrix, chunk_rows=2)
        assert numbers_of(source, "x0") == [0.0, 0.0, 3.5]
        assert numbers_of(source, "x1") == [2.0, 0.0, 0.0]


def test_a_stream_that_can_be_read_once_is_kept() -> None:
    table = pa.table({"x": [1.0, 2.0], "s": ["a", None]})
    source = open_source(table.to_reader())
    assert numbers_of(source, "x") == numbers_of(source, "x") == [1.0, 2.0]
    assert labels_of(source, "s") == ["a", None]


def test_slices_and_many_chunks_are_read_at_their_offsets() -> None:
    table = pa.concat_tables(
        [pa.table({"x": [1, None, 3, 4], "s": ["a", "b", None, "d"], "f": [True, None, False, True]})] * 3
    )
    sliced = table.slice(3, 6)
    assert numbers_of(sliced, "x") == pytest.approx([4, 1, math.nan, 3, 4, 1], nan_ok=True)
    assert labels_of(sliced, "s") == ["d", "a", "b", None, "d", "a"]
    assert labels_of(sliced, "f") == [True, True, None, False, True, True]
    frame = pl.DataFrame({"x": [1, None, 3], "s": ["a", None, "long enough to leave the view"]})[1:]
    assert labels_of(frame, "s") == [None, "long enough to leave the view"]


def test_a_relation_of_duckdb_is_swept_again_and_again_and_leaves_the_connection_free() -> None:
    connection = duckdb.connect()
    relation = connection.sql("SELECT range AS n, range % 3 = 0 AS f FROM range(300_000)")
    source = open_source(relation)
    assert numbers_of(source, "n") == list(range(300_000))
    next(iter(source.chunks(["n"])))
    assert connection.sql("SELECT 1").fetchall() == [(1,)]
    assert sum(label is True for label in labels_of(source, "f")) == 100_000


def test_columns_of_pandas_are_known_by_place_not_by_label() -> None:
    frame = pd.DataFrame([[1.0, "a"], [2.0, "b"]], columns=[0, 1], index=[1, 0])
    assert numbers_of(frame, "0") == [1.0, 2.0]
    assert labels_of(frame, "1") == ["a", "b"]


def test_a_series_is_a_table_of_one_column() -> None:
    assert numbers_of(pd.Series([1.0, 2.0], name="x"), "x") == [1.0, 2.0]
    assert numbers_of(pl.Series("x", [1.0, 2.0]), "x") == [1.0, 2.0]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=["a", " a"]),
        pd.DataFrame([[1, 2]], columns=[1, "1"]),
        pd.DataFrame([[1]], columns=[""]),
        pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
        {"a": [1], "a ": [2]},
    ],
)
def test_names_must_be_there_and_differ(table: Any) -> None:
    with pytest.raises(SchemaError, match=r"column"):
        open_source(table)


@pytest.mark.parametrize(
    "table", [3, None, b"bytes", [], [1, 2], np.zeros(3), np.zeros((2, 2, 2)), np.zeros((2, 2), complex)]
)
def test_what_is_not_a_table_is_refused(table: Any) -> None:
    with pytest.raises(SourceError, match=r"Fix:"):
        open_source(table)


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(SourceError, match="differ in length"):
        open_source({"a": [1, 2], "b": [1]})
    with pytest.raises(SourceError, match="differ in length"):
        open_source({"a": np.zeros(2), "b": np.zeros(1)})


def test_an_absent_column_is_named() -> None:
    with pytest.raises(MissingColumnError, match=r"no column 'c'; it has 'a', 'b'"):
        list(open_source({"a": [1], "b": [2]}).chunks(["c"]))


def test_a_table_without_columns_is_refused() -> None:
    with pytest.raises(SchemaError, match="no columns"):
        open_source(pd.DataFrame(index=[0, 1]))


def test_wide_and_odd_arrow_types_are_read_or_refused_but_never_lost() -> None:
    columns = {
        "decimal256": (pa.array([decimal.Decimal("1.5"), None], pa.decimal256(40, 2)), ["1.50", None]),
        "hundreds": (pa.array([decimal.Decimal("1500"), None], pa.decimal128(4, -2)), [1500, None]),
        "huge": (pa.array([decimal.Decimal(10**37 + 1), None], pa.decimal128(38, 0)), [10**37 + 1, None]),
        "codes": (pa.DictionaryArray.from_arrays(pa.array([1, None], pa.uint8()), pa.array([10, 20])), [20, None]),
        "nanoseconds": (pa.array([1, None], pa.time64("ns")), ["00:00:00.000000001", None]),
    }
    for name, (array, labels) in columns.items():
        assert labels_of(pa.table({name: array}), name) == labels
    refused = {
        "runs": pa.RunEndEncodedArray.from_arrays([1, 2], [1, None]),
        "months": pa.array([pa.MonthDayNano([1, 2, 3]), None]),
        "views": pa.array([b"a", None], pa.binary_view()),
        "map": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
    }
    for name, array in refused.items():
        with pytest.raises(SchemaError, match=name):
            labels_of(pa.table({name: array}), name)


def test_intervals_of_pandas_are_not_integers() -> None:
    frame = pd.DataFrame({"i": pd.interval_range(0, 2)})
    assert labels_of(frame, "i") == ["(0, 1]", "(1, 2]"]
    assert storage_of(frame, "i") == "object"


def test_a_frame_wrapped_by_narwhals_is_what_it_wraps() -> None:
    assert open_source(narwhals.from_native(pl.DataFrame({"a": [1]}))).description == "polars DataFrame"


def test_names_that_polars_takes_for_patterns_are_names(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1.0], "b": [2.0], "*": [3.0], "^a.*$": [4.0]})
    frame.write_ipc(tmp_path / "t.arrow")
    for table in (frame, frame.lazy(), tmp_path / "t.arrow"):
        assert [numbers_of(table, name) for name in frame.columns] == [[1.0], [2.0], [3.0], [4.0]]


def test_a_query_of_polars_that_fails_is_an_error_of_ours() -> None:
    query = pl.LazyFrame({"a": ["1", "x"]}).select(pl.col("a").cast(pl.Int64))
    with pytest.raises(SourceError, match="polars LazyFrame cannot be read"):
        numbers_of(query, "a")


def test_a_query_of_duckdb_that_fails_is_an_error_of_ours() -> None:
    relation = duckdb.connect().sql("SELECT CAST(s AS INTEGER) AS a FROM (VALUES ('1'), ('x')) t(s)")
    with pytest.raises(SourceError, match=r"duckdb relation cannot be read: .*'x'"):
        numbers_of(relation, "a")


@pytest.mark.parametrize("option", ["delimiter", "encoding", "decimal", "table_name", "query"])
def test_options_of_files_are_refused_for_tables_in_memory(option: str) -> None:
    with pytest.raises(ParameterError, match=option):
        open_source({"a": [1]}, **{option: ","})


def test_impossible_options_are_refused() -> None:
    with pytest.raises(ParameterError, match="decimal mark"):
        open_source("x.csv", decimal="x")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="chunk_rows"):
        open_source({"a": [1]}, chunk_rows=0)


def test_a_chunk_knows_the_columns_of_its_sweep() -> None:
    for table in (pl.DataFrame({"a": [1], "b": [2]}), {"a": [1], "b": [2]}):
        (chunk,) = open_source(table).chunks(["a", "a"])
        assert chunk.numbers("a")[0].tolist() == [1.0]
        with pytest.raises(UsageError, match=r"'b' is not part of this sweep"):
            chunk.numbers("b")


def test_texts_are_the_cells_as_people_would_write_them() -> None:
    (chunk,) = open_source({"m": ["a", 1, 2.5, True, None]}).chunks(["m"])
    assert chunk.texts("m") == ["a", "1", "2.5", "True", None]
