"""What reads as a number in a text file, and what does not."""

from __future__ import annotations

import math
import random
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeps import invalid_values_of, numbers_of

from bayeswise.tables.schema.profile import profile
from bayeswise.tables.source import Source, open_source


def csv_column(folder: Path, *cells: str) -> Source:
    """A file of one column x beside a column of row numbers, so that empty cells stay cells."""
    path = folder / "cells.csv"
    lines = ["row;x", *(f'{k};"{cell}"' for k, cell in enumerate(cells))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return open_source(path, delimiter=";", decimal=".")


def one_number(folder: Path, cell: str) -> float:
    (value,) = numbers_of(csv_column(folder, cell), "x")
    return value


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("7", 7.0),
        (" 7 ", 7.0),
        ("+7", 7.0),
        ("-7.25", -7.25),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("1.5E-3", 0.0015),
        ("0007", 7.0),
        ("9007199254740993", 9007199254740992.0),  # 2^53 + 1 lies between doubles
        ("9223372036854775808", 2.0**63),
        ("18446744073709551617", 2.0**64),
        ("0.1000000000000000055511151231257827", 0.1),
        ("123456789012345678901234567890", 1.2345678901234568e29),
        ("1e-400", 0.0),
        ("4.9e-324", 5e-324),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("inf", math.inf),
        ("-Infinity", -math.inf),
    ],
)
def test_a_cell_that_reads_as_a_number_is_the_nearest_double(tmp_path: Path, cell: str, value: float) -> None:
    assert one_number(tmp_path, cell) == value
    assert not invalid_values_of(csv_column(tmp_path, cell), "x")


def test_minus_zero_keeps_its_sign(tmp_path: Path) -> None:
    assert math.copysign(1.0, one_number(tmp_path, "-0")) == -1.0


@pytest.mark.parametrize(
    "cell", ["3a", "1_000", "0x1F", "٣", "1,5", "1.2.3", "1e", "e5", "+", "-", ".", "--1", "1 2", "1e400", "12abc34567"]
)
def test_a_cell_that_is_not_a_number_is_an_invalid_value_with_its_line(tmp_path: Path, cell: str) -> None:
    source = csv_column(tmp_path, "1", cell)
    (invalid,) = invalid_values_of(source, "x")
    assert (invalid.row, invalid.line, invalid.text) == (1, 3, cell)
    assert math.isnan(numbers_of(source, "x")[1])


@pytest.mark.parametrize("cell", ["", "  ", "NA", "n/a", "NULL", "?", "NaN", "None", " ? "])
def test_a_null_word_is_missing_and_not_invalid(tmp_path: Path, cell: str) -> None:
    assert math.isnan(one_number(tmp_path, cell))
    assert not invalid_values_of(csv_column(tmp_path, cell), "x")


def test_null_words_can_be_chosen_even_numbers(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n-999,NA\n1,?\n")
    source = open_source(path, null_words=["-999"])
    assert math.isnan(numbers_of(source, "a")[0])
    assert [invalid.text for invalid in invalid_values_of(source, "b")] == ["NA", "?"]
    assert profile(source)["a"].null_words == {"-999": 1}


def _awkward_numerals(n: int) -> list[str]:
    chance = random.Random(1)
    makers = [
        lambda: repr(chance.gauss(0, 100)),
        lambda: f"{chance.gauss(0, 10 ** chance.randint(-3, 8)):.{chance.randint(0, 12)}f}",
        lambda: str(chance.randint(-(10 ** chance.randint(1, 25)), 10 ** chance.randint(1, 25))),
        lambda: repr(struct.unpack("d", struct.pack("Q", chance.getrandbits(64)))[0]),
        lambda: f"{chance.gauss(0, 1):.{chance.randint(0, 25)}e}",
        lambda: "0" * chance.randint(0, 12) + str(chance.randint(0, 10**6)) + ".000"[: chance.randint(0, 4)],
        lambda: f"0.{chance.randint(0, 10**19):019d}",
    ]
    return [chance.choice(makers)() for _ in range(n)]


def test_twenty_thousand_numerals_round_as_python_rounds_them() -> None:
    cells = [cell for cell in _awkward_numerals(20_000) if "nan" not in cell]
    found = numbers_of({"x": cells}, "x")
    assert [struct.pack("d", value) for value in found] == [struct.pack("d", float(cell)) for cell in cells]


@given(st.floats(allow_nan=False))
def test_every_double_survives_being_written(value: float) -> None:
    assert numbers_of({"x": [repr(value)]}, "x") == [value]


@given(st.text(alphabet="0123456789+-.eE_xXinfa \t", max_size=14))
def test_only_plain_decimal_notation_is_read(cell: str) -> None:
    (value,) = numbers_of({"x": [cell]}, "x")
    try:
        expected = float(cell) if "_" not in cell else math.nan
    except ValueError:
        expected = math.nan
    infinite_words = cell.strip().lstrip("+-").lower() in ("inf", "infinity")
    if math.isinf(expected) and not infinite_words:
        expected = math.nan
    assert value == expected or (math.isnan(value) and math.isnan(expected))
