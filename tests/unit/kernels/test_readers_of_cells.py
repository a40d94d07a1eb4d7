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
