"""The kernels that split CSV text and read Arrow columns, against Python's own reader and plain lists."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import numpy as np
import pytest

from bayeswise import _kernels
from bayeswise.tables.sources.table import PLAIN

GENERATOR = np.random.default_rng(0)
AWKWARD = [
    "",
    "a",
    '"',
    '""',
    ",",
    "a,b",
    "line\nbreak",
    "carriage\r\nreturn",
    "ü",
    "emoji 🎲",
    "x" * 300,
    "'",
    ";",
    "0",
]


def split(text: bytes, n_columns: int, step: int) -> list[list[str]]:
    """The records as the kernel finds them, the text coming in steps of so many bytes."""
    records: list[list[str]] = []
    carried, line = b"", 1
    for start in range(0, len(text) + step, step):
        fresh = text[start : start + step]
        block = _kernels.CsvBlock.split(carried, fresh, ",", '"', False, n_columns, line, not fresh, 1 << 30)
        assert not block.flaw
        columns = [block.column(k, 0, block.n_rows).texts(PLAIN) for k in range(n_columns)]
        records += [["" if cell is None else str(cell) for cell in row] for row in zip(*columns, strict=True)]
        carried, line = block.rest(), block.next_line
    return records


@pytest.mark.parametrize("step", [1, 2, 3, 7, 64, 10_000])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_records_are_those_of_pythons_reader_wherever_the_text_is_cut(step: int, ending: str) -> None:
    rows = [[AWKWARD[k] for k in GENERATOR.integers(0, len(AWKWARD), 3)] for _ in range(40)]
    written = io.StringIO()
    csv.writer(written, lineterminator=ending).writerows(rows)
    twin = list(csv.reader(io.StringIO(written.getvalue(), newline="")))
    assert split(written.getvalue().encode(), 3, step) == twin == rows


def numerals() -> list[str]:
    numbers = [*(10.0 ** GENERATOR.integers(-320, 308, 500) * GENERATOR.normal(size=500)), 0.0, -0.0, 5e-324, 1.7e308]
    texts = [repr(float(number)) for number in numbers]
    texts += ["".join(map(str, GENERATOR.integers(0, 10, n))) for n in range(1, 40)]
    texts += [f"0.{'0' * n}1" for n in range(30)] + ["+7", "007", "1.", ".5", "1e5", "1E-5", "9007199254740993"]
    return texts


def test_numerals_are_the_doubles_that_python_reads() -> None:
    texts = numerals()
    block = _kernels.CsvBlock.split(b"", "\n".join(texts).encode(), ",", '"', False, 1, 1, True, 1 << 30)
    found = np.empty(len(texts))
    assert block.column(0, 0, len(texts)).numbers(PLAIN, found) == []
    assert found.tolist() == [float(text) for text in texts]


def test_what_is_not_a_number_is_named_with_its_row() -> None:
    texts = ["1", "two", "3", "4x", "--5", "1e", "0x10", "1_0"]
    block = _kernels.CsvBlock.split(b"", "\n".join(texts).encode(), ",", '"', False, 1, 1, True, 1 << 30)
    found = np.empty(len(texts))
    invalid = block.column(0, 0, len(texts)).numbers(PLAIN, found)
    assert invalid == [(row, text) for row, text in enumerate(texts) if not text.isdigit()]
    assert np.isnan(found[[row for row, _ in invalid]]).all()


def arrow_columns() -> dict[str, Any]:
    pa = pytest.importorskip("pyarrow")
    n = 200

    def some(cells: list[Any]) -> list[Any]:
        return [None if gone else cell for cell, gone in zip(cells, GENERATOR.random(len(cells)) < 0.2, strict=True)]

    integers = {
        f"{sign}int{bits}": pa.array(some(GENERATOR.integers(0, 100, n).tolist()), getattr(pa, f"{sign}int{bits}")())
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    }
    words = some([AWKWARD[k] or "empty" for k in GENERATOR.integers(0, len(AWKWARD), n)])
    return integers | {
        "double": pa.array(some(GENERATOR.normal(size=n).tolist())),
        "float": pa.array(some(GENERATOR.normal(size=n).astype(np.float32).tolist()), pa.float32()),
        "text": pa.array(words),
        "large text": pa.array(words, pa.large_string()),
        "text views": pa.array(words, pa.string_view()),
        "dictionary": pa.array(words).dictionary_encode(),
        "flags": pa.array(some((GENERATOR.random(n) < 0.5).tolist())),
        "nothing": pa.nulls(n),
    }


@pytest.mark.parametrize(("first", "n_rows", "begin"), [(0, 200, 0), (3, 150, 0), (8, 100, 17), (199, 1, 0), (5, 0, 0)])
def test_arrow_cells_are_those_of_a_plain_list_from_any_offset(first: int, n_rows: int, begin: int) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table(arrow_columns()).slice(first, n_rows)
    stream = _kernels.ArrowStream(table.__arrow_c_stream__())
    batch = stream.next()
    if n_rows == 0:
        assert batch is None or batch.n_rows == 0
        return
    for k, name in enumerate(table.column_names):
        twin = table.column(name).to_pylist()[begin:]
        column = batch.column(k, begin, n_rows - begin)
        assert column.texts(PLAIN) == twin, name
        levels, codes = _kernels.Levels([], lambda cell: cell), np.empty(len(twin), dtype=np.int32)
        column.labels(PLAIN, levels, codes)
        labels = levels.since(0)
        assert [None if code < 0 else labels[code] for code in codes] == twin, name
        if pa.types.is_integer(table.column(name).type) or pa.types.is_floating(table.column(name).type):
            found = np.empty(len(twin))
            assert column.numbers(PLAIN, found) == []
            plain = np.array([math.nan if cell is None else cell for cell in twin])
            np.testing.assert_array_equal(found, plain, err_msg=name)


FEW = [
    "",
    "NA",
    "1",
    "02",
    "2.5",
    "inf",
    "ham",
    "twelve bytes",
    "thirteen byte",
    "ü",
    'a "quoted" one',
    "9007199254740993",
]


def of_few(n_rows: int) -> list[str]:
    return [FEW[k] for k in np.random.default_rng(n_rows).integers(0, len(FEW), n_rows)]


def column_of_text(cells: list[str], storage: str) -> _kernels.Column:
    if storage == "csv":
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows([cell, "x"] for cell in cells)
        text = written.getvalue().encode()
        block = _kernels.CsvBlock.split(b"", text, ",", '"', False, 2, 1, True, 1 << 30)
        return block.column(0, 0, block.n_rows)
    pa = pytest.importorskip("pyarrow")
    stream = _kernels.ArrowStream(pa.table({"c": pa.array(cells, pa.string_view())}).__arrow_c_stream__())
    batch = stream.next()
    assert batch is not None
    return batch.column(0, 0, batch.n_rows)


def state_of(column: _kernels.Column, rules: _kernels.TextRules, first_row: int = 0) -> dict[str, Any]:
    profiler = _kernels.Profiler(1 << 20, 1 << 16, 1 << 23)
    column.profile(rules, profiler, first_row)
    return profiler.result(1000)


@pytest.mark.parametrize("storage", ["csv", "arrow"])
@pytest.mark.parametrize("n_rows", [255, 256, 3000])
def test_texts_that_come_again_are_labelled_and_profiled_as_if_they_came_first(storage: str, n_rows: int) -> None:
    cells, rules = of_few(n_rows), _kernels.TextRules(["", "NA"])
    column = column_of_text(cells, storage)
    levels, codes = _kernels.Levels([], lambda cell: cell), np.empty(n_rows, dtype=np.int32)
    column.labels(rules, levels, codes)
    labels = levels.since(0)
    assert [None if code < 0 else labels[code] for code in codes] == [
        None if cell in ("", "NA") else cell for cell in cells
    ]
    one_by_one = _kernels.object_column(cells, lambda cell: cell)  # which remembers nothing
    found, twin = state_of(column, rules), state_of(one_by_one, rules)
    without_lines = [(row, text) for row, _, text in found.pop("invalid_examples")]
    assert without_lines == [(row, text) for row, _, text in twin.pop("invalid_examples")]
    assert found == twin


def test_examples_of_invalid_cells_are_the_first_ones_though_later_rows_were_seen_before() -> None:
    rules, profiler = _kernels.TextRules([]), _kernels.Profiler(1 << 20, 1 << 16, 1 << 23)
    for first_row in (1000, 0):
        column_of_text(["1", "a"] * 500, "csv").profile(rules, profiler, first_row)
    examples = [(row, text) for row, _, text in profiler.result(10)["invalid_examples"]]
    assert examples == [(row, "a") for row in (1, 3, 5, 7, 9)]


@pytest.mark.parametrize("n_rows", [0, 1, 100, 5000])
@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_that_are_filled_together_are_those_that_are_filled_one_by_one(n_rows: int, order: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    generator = np.random.default_rng(n_rows)
    numbers = generator.normal(size=n_rows)
    missing = [None if k % 7 == 0 else float(x) for k, x in enumerate(numbers)]
    table = pa.table({"a": numbers, "b": missing, "c": of_few(n_rows), "d": generator.integers(0, 9, n_rows)})
    text = "".join(",".join(f'"{cell}"' for cell in row.values()) + "\n" for row in table.to_pylist()).replace(
        "None", ""
    )
    block = _kernels.CsvBlock.split(
        b"", text.replace('a "quoted" one', "q").encode(), ",", '"', False, 4, 1, True, 1 << 30
    )
    batches = [block] if n_rows == 0 else [block, _kernels.ArrowStream(table.__arrow_c_stream__()).next()]
    for batch in batches:
        assert batch is not None
        begin = min(3, n_rows)
        together, alone = (np.full((n_rows - begin, 3), -1.0, order=order) for _ in range(2))
        spelled = batch.numbers([2, 0, 1], begin, PLAIN, together)
        columns = [batch.column(k, begin, n_rows - begin) for k in (2, 0, 1)]
        assert spelled == [column.spelled_numbers(PLAIN, alone[:, k]) for k, column in enumerate(columns)]
        np.testing.assert_array_equal(together, alone)


def test_rows_and_columns_beyond_a_block_are_refused() -> None:
    block = _kernels.CsvBlock.split(b"", b"1,2\n3,4\n", ",", '"', False, 2, 1, True, 1 << 30)
    for indices, begin, shape in (([0], 1, (2, 1)), ([2], 0, (2, 1)), ([0], -1, (2, 1))):
        with pytest.raises(IndexError):
            block.numbers(indices, begin, PLAIN, np.empty(shape))
    with pytest.raises(ValueError, match="number of columns"):
        block.numbers([0], 0, PLAIN, np.empty((2, 2)))
