"""Words counted by class, in compressed rows and in columns that count, beside sums of Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from bayeswise import _kernels

CELLS = st.lists(st.sampled_from([0.0, 1.0, 3.0, 2.0**40, float("nan")]), min_size=6, max_size=6)


def twin(cells: np.ndarray, groups: np.ndarray, n_groups: int) -> list[list[int]]:
    """table[group][word] = the sum of the cells of its rows, a missing one being 0."""
    return [
        [sum(int(cell) for cell in np.nan_to_num(cells[groups == group, word])) for word in range(cells.shape[1])]
        for group in range(n_groups)
    ]


@given(cells=CELLS, groups=st.lists(st.integers(-1, 2), min_size=3, max_size=3), columns=st.booleans())
def test_both_forms_of_counts_are_sums_of_whole_numbers(cells: list[float], groups: list[int], columns: bool) -> None:
    matrix, codes = np.array(cells).reshape(3, 2), np.array(groups, dtype=np.int32)
    dense, sparse = (np.ones((3, 2), dtype=np.int64) for _ in range(2))
    assert _kernels.add_cell_counts(dense, np.asfortranarray(matrix) if columns else matrix, codes)
    rows = csr_array(np.nan_to_num(matrix))
    assert _kernels.add_word_counts(sparse, rows.indptr, rows.indices, rows.data, codes)
    assert (dense - 1).tolist() == twin(matrix, codes, 3) == (sparse - 1).tolist()


@pytest.mark.parametrize("cell", [0.5, -1.0, np.inf, -np.inf, 2.0**53, 5e-324])
def test_a_cell_that_is_not_a_whole_number_leaves_the_table_as_it_was(cell: float) -> None:
    table = np.zeros((1, 2), dtype=np.int64)
    assert not _kernels.add_cell_counts(table, np.array([[1.0, 2.0], [cell, 1.0]]), None)
    assert not table.any()


def test_sums_that_doubles_cannot_hold_are_left_to_the_exact_way() -> None:
    large = np.full((5, 1), 2.0**51)
    assert not _kernels.add_cell_counts(np.zeros((1, 1), dtype=np.int64), large, None)
    assert _kernels.add_cell_counts(np.zeros((1, 1), dtype=np.int64), large[:3], None)


def test_a_group_or_a_word_outside_the_table_is_refused() -> None:
    for shape, group in ((1, 2), 1), ((1, 1), 0):
        with pytest.raises(ValueError, match=r"outside the table|differ in length"):
            _kernels.add_cell_counts(
                np.zeros(shape, dtype=np.int64), np.ones((1, 2)), np.array([group], dtype=np.int32)
            )
