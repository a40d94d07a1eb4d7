"""Every cell is counted once, as what it looks like."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayeswise.tables.schema import profile as profiles
from bayeswise.tables.schema.profile import ColumnProfile, profile
from bayeswise.tables.source import InvalidValue, open_source


def of_cells(cells: list[Any]) -> ColumnProfile:
    return profile(open_source({"c": cells}))["c"]


def of_text(folder: Path, *cells: str) -> ColumnProfile:
    path = folder / "t.csv"
    path.write_text("k,c\n" + "".join(f'{k},"{cell}"\n' for k, cell in enumerate(cells)), encoding="utf-8")
    return profile(open_source(path, decimal="."))["c"]


def parts(column: ColumnProfile) -> int:
    words = sum(column.null_words.values())
    numbers = column.integers + column.decimals + column.infinite
    return column.missing + words + numbers + column.booleans + column.invalid


def test_the_cells_of_a_text_file(tmp_path: Path) -> None:
    column = of_text(tmp_path, "1", "0007", "2.5", "", "NA", " na", "3a", "inf", "9007199254740993", "1e3", "red wine")
    assert (column.rows, parts(column)) == (11, 11)
    assert (column.integers, column.zero_padded, column.wide_integers) == (3, 1, 1)
    assert (column.decimals, column.infinite, column.invalid, column.missing) == (2, 1, 2, 0)
    assert column.null_words == {"": 1, "NA": 1, " na": 1}
    assert column.invalid_examples == (InvalidValue(6, 8, "3a"), InvalidValue(10, 12, "red wine"))
    assert (column.minimum, column.maximum) == (1.0, 9007199254740992.0)
    assert (column.distinct, column.distinct_exact, column.levels_complete) == (8, True, True)
    assert column.longest == 16
    assert column.words == 9 / 8
    assert column.present == 8


def test_the_cells_of_an_object_column() -> None:
    column = of_cells([1, "1", True, 1.0, None, math.nan, 2.5, math.inf, 2**80, "x"])
    assert (column.rows, parts(column), column.missing) == (10, 10, 2)
    assert (column.integers, column.decimals, column.infinite, column.booleans) == (4, 1, 1, 1)
    assert (column.invalid, column.wide_integers, column.distinct) == (1, 1, 8)
    assert [label for label, _ in column.levels] == [True, 1, 2**80, 1.0, 2.5, math.inf, "1", "x"]


def test_only_the_first_five_invalid_values_are_shown_and_long_ones_are_cut() -> None:
    column = of_cells(["ä" * 1000, "b", "c", "d", "e", "f"])
    assert [invalid.row for invalid in column.invalid_examples] == [0, 1, 2, 3, 4]
    assert column.invalid_examples[0].text == "ä" * 100 + "…"
    assert column.longest == 1000


def test_integers_that_doubles_hold_are_not_wide() -> None:
    assert of_cells([2**53, -(2**53)]).wide_integers == 0
    assert of_cells([2**53 + 1, -(2**53) - 1, 2**63, 2**64]).wide_integers == 4
    assert of_cells([float(2**60)]).wide_integers == 0


def test_minus_zero_and_zero_are_one_value() -> None:
    column = of_cells([0.0, -0.0, -0.0])
    assert (column.distinct, column.levels) == (1, ((0.0, 3),))
    assert math.copysign(1.0, column.minimum) == 1.0


def test_a_column_without_numbers_has_no_extremes() -> None:
    column = of_cells(["a", None])
    assert math.isnan(column.minimum)
    assert math.isnan(column.maximum)


def test_a_table_without_rows_has_empty_profiles() -> None:
    column = profile(open_source(pd.DataFrame({"a": pd.Series([], dtype=float)})))["a"]
    assert (column.rows, column.distinct, column.levels, column.levels_complete) == (0, 0, (), True)
    assert column.words == 0.0


def test_lists_and_bytes_are_invalid_values_without_values() -> None:
    column = profile(open_source(pl.DataFrame({"a": [[1], None, [2]]})))["a"]
    assert (column.rows, column.missing, column.invalid, column.distinct) == (3, 1, 2, 0)


def test_ties_among_levels_go_by_type_and_value() -> None:
    assert of_cells(["b", "a", "ä", "B"]).levels == (("B", 1), ("a", 1), ("b", 1), ("ä", 1))
    assert [label for label, _ in of_cells([10, 9, -1, 9]).levels] == [9, -1, 10]


def test_of_many_levels_the_most_frequent_are_kept() -> None:
    cells = [f"v{k:05d}" for k in range(3000)] + ["v02999"] * 2 + ["v01000"]
    column = of_cells(cells)
    assert (column.distinct, column.distinct_exact, column.levels_complete) == (3000, True, False)
    assert len(column.levels) == profiles.KEPT_LEVELS
    assert column.levels[:3] == (("v02999", 3), ("v01000", 2), ("v00000", 1))


def test_a_hundred_thousand_ids_are_counted_exactly() -> None:
    column = profile(open_source({"c": np.arange(100_000)}))["c"]
    assert (column.distinct, column.distinct_exact, column.levels, column.levels_complete) == (100_000, True, (), False)


def test_long_texts_do_not_fill_the_memory() -> None:
    column = of_cells([f"{k}" + "x" * 10_000 for k in range(1000)])
    assert (column.distinct, column.distinct_exact, column.levels) == (1000, True, ())


@pytest.mark.parametrize("cells", [np.arange(2_000_000), np.random.default_rng(0).normal(size=300_000)])
def test_beyond_the_cap_the_number_of_values_is_estimated(cells: Any) -> None:
    column = profile(open_source({"c": cells}))["c"]
    assert not column.distinct_exact
    assert column.distinct == pytest.approx(len(cells), rel=0.05)


def test_only_the_named_columns_are_profiled() -> None:
    assert list(profile(open_source({"a": [1], "b": [2]}), ["b"])) == ["b"]
