"""A profile does not depend on the order of rows, on chunks or on files."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswise.tables.schema.profile import ColumnProfile, profile
from bayeswise.tables.source import open_source

CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(2**70), max_value=2**70),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from(["1", "0007", "2.5", "3a"]),
)


def of_cells(cells: list[Any], chunk_rows: int = 100) -> ColumnProfile:
    return profile(open_source({"c": cells}, chunk_rows=chunk_rows))["c"]


def comparable(column: ColumnProfile) -> ColumnProfile:
    """NaN, the extreme of no numbers, is not equal to itself."""
    empty = math.isnan(column.minimum)
    return replace(column, minimum=0.0, maximum=0.0) if empty else column


@given(st.lists(CELLS, min_size=1, max_size=40), st.integers(1, 40))
def test_chunks_do_not_matter(cells: list[Any], chunk_rows: int) -> None:
    assert repr(of_cells(cells, chunk_rows)) == repr(of_cells(cells))


@given(st.lists(CELLS, min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_but_for_the_first_invalid_values(cells: list[Any], chance: Any) -> None:
    shuffled = list(cells)
    chance.shuffle(shuffled)
    one, other = comparable(of_cells(cells)), comparable(of_cells(shuffled))
    assert replace(one, invalid_examples=(), storage="object") == replace(other, invalid_examples=(), storage="object")


@pytest.mark.parametrize("n_values", [50_000, 1_500_000])
def test_estimates_do_not_depend_on_the_order_of_rows(n_values: int) -> None:
    generator = np.random.default_rng(3)
    cells = generator.integers(0, n_values, n_values) + generator.choice([0.0, 0.25], n_values)
    shuffled = generator.permutation(cells)
    one = profile(open_source({"c": cells}))["c"]
    assert profile(open_source({"c": shuffled}, chunk_rows=1000 + n_values // 7))["c"] == one


def test_files_do_not_matter(tmp_path: Path) -> None:
    rows = [f"{k % 13},{k * 0.5},{'abc'[k % 3]}\n" for k in range(300)]
    (tmp_path / "whole.csv").write_text("a,b,c\n" + "".join(rows))
    (tmp_path / "part1.csv").write_text("a,b,c\n" + "".join(rows[:77]))
    (tmp_path / "part2.csv").write_text("a,b,c\n" + "".join(rows[77:]))
    whole, parts = profile(open_source(tmp_path / "whole.csv")), profile(open_source(str(tmp_path / "part*.csv")))
    assert whole["a"] == parts["a"]
    assert whole["b"] == parts["b"]
    assert comparable(replace(whole["c"], invalid_examples=())) == comparable(replace(parts["c"], invalid_examples=()))
