"""The kernels that add log likelihoods, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from bayeswise import _kernels

GENERATOR = np.random.default_rng(0)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_states"), [(1, 1, 1), (31, 3, 2), (33, 70, 3), (100, 0, 2), (0, 3, 2)]
)
def test_normal_densities_are_those_of_the_present_cells(
    n_rows: int, n_columns: int, n_states: int, kind: type
) -> None:
    wide = GENERATOR.normal(size=(n_rows, 2 * n_columns)).astype(kind)
    wide[GENERATOR.random(wide.shape) < 0.1] = np.nan
    values = wide[:, ::2]  # not contiguous
    mean, mean_low = GENERATOR.normal(size=(n_states, n_columns)), 1e-17 * GENERATOR.normal(size=(n_states, n_columns))
    precision, log_peak = GENERATOR.gamma(2.0, size=(n_states, n_columns)), GENERATOR.normal(size=(n_states, n_columns))
    before = GENERATOR.normal(size=(n_rows, n_states))
    found = before.copy()
    _kernels.add_normal(found, values, mean, mean_low, precision, log_peak)
    z = ((values[:, None, :].astype(np.float64) - mean) - mean_low) * precision
    terms = np.where(np.isnan(z), 0.0, log_peak - z * z / 2)
    np.testing.assert_allclose(found, before + terms.sum(axis=2), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [np.int8, np.int32])
@pytest.mark.parametrize("n_states", [1, 2, 3, 4, 7])
def test_rows_of_a_table_are_added_column_by_column(n_states: int, kind: type) -> None:
    sizes = np.array([3, 1, 5])
    codes = np.stack([GENERATOR.integers(-2, size, 50) for size in sizes], axis=1).astype(kind)
    table = GENERATOR.normal(size=(int((sizes + 2).sum()), n_states))
    table[1] = -np.inf
    found = GENERATOR.normal(size=(50, n_states))
    twin = found.copy()
    _kernels.add_table(found, codes, sizes, table)
    first = 0
    for column, size in zip(codes.T, sizes, strict=True):
        twin += table[
            first + np.where(column >= 0, column, size - 1 - column)
        ]  # missing, then unseen, after the levels
        first += size + 2
    assert found.tolist() == twin.tolist()


@pytest.mark.parametrize("kind", [np.int8, np.int32])
@pytest.mark.parametrize("n_states", [1, 3, 40])
def test_a_table_of_few_own_values_adds_what_the_full_one_adds(n_states: int, kind: type) -> None:
    sizes = np.array([3, 0, 5])
    codes = np.stack([GENERATOR.integers(-2, size, 50) for size in sizes], axis=1).astype(kind)
    n_slots = int((sizes + 2).sum())
    bases, base_of = GENERATOR.normal(size=(4, n_states)), GENERATOR.integers(0, 4, n_slots)
    own = GENERATOR.random((n_slots, n_states)) < 0.3
    slots, states = np.nonzero(own)
    starts = np.concatenate([[0], np.cumsum(own.sum(axis=1))]).astype(np.int64)
    values = GENERATOR.normal(size=len(slots))
    values[:2] = -np.inf
    full = bases[base_of]
    full[slots, states] = values
    found = GENERATOR.normal(size=(50, n_states))
    twin = found.copy()
    _kernels.add_levels(found, codes, sizes, bases, base_of, starts, states.astype(np.int32), values)
    _kernels.add_table(twin, codes, sizes, full)
    assert found.tolist() == twin.tolist()


@pytest.mark.parametrize("wrong", ["code", "base", "start", "state"])
def test_a_place_outside_of_a_table_of_few_values_is_refused(wrong: str) -> None:
    codes, sizes = np.array([[0]], dtype=np.int32), np.array([1])
    base_of, starts = np.zeros(3, dtype=np.int64), np.array([0, 1, 1, 1])
    states = np.zeros(1, dtype=np.int32)
    {"code": codes, "base": base_of, "start": starts, "state": states}[wrong].flat[0] = -3 if wrong != "base" else 1
    with pytest.raises(ValueError, match="outside its table"):
        _kernels.add_levels(np.zeros((1, 2)), codes, sizes, np.zeros((1, 2)), base_of, starts, states, np.zeros(1))


@pytest.mark.parametrize("wrong", [-3, 3, 100])
def test_a_code_outside_of_its_table_is_refused(wrong: int) -> None:
    codes = np.array([[0], [wrong]], dtype=np.int32)
    with pytest.raises(ValueError, match="outside its table"):
        _kernels.add_table(np.zeros((2, 2)), codes, np.array([3]), np.zeros((5, 2)))


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_counts_of_words_are_a_product_of_matrices(kind: type) -> None:
    counts = GENERATOR.poisson(0.3, (40, 25)).astype(float)
    rows, words = counts.nonzero()
    starts = np.searchsorted(rows, np.arange(41)).astype(kind)
    log_weight, before = GENERATOR.normal(size=(25, 3)), GENERATOR.normal(size=(40, 3))
    found = before.copy()
    _kernels.add_sparse(found, starts, words.astype(kind), counts[rows, words], log_weight)
    np.testing.assert_allclose(found, before + counts @ log_weight, rtol=1e-13, atol=1e-13)


def test_a_word_that_does_not_occur_may_be_impossible() -> None:
    found = np.zeros((1, 2))
    starts, words = np.array([0, 2], dtype=np.int32), np.array([0, 1], dtype=np.int32)
    _kernels.add_sparse(found, starts, words, np.array([0.0, 2.0]), np.array([[-np.inf, 1.0], [0.5, 0.25]]))
    assert found.tolist() == [[1.0, 0.5]]


@pytest.mark.parametrize(("starts", "word"), [([0, 2], 0), ([1, 0], 0), ([-1, 1], 0), ([0, 1], 3), ([0, 1], -1)])
def test_rows_and_words_outside_are_refused(starts: list[int], word: int) -> None:
    cells = np.array([word], dtype=np.int32)
    with pytest.raises(ValueError, match="outside the table"):
        _kernels.add_sparse(np.zeros((1, 2)), np.array(starts, dtype=np.int32), cells, np.ones(1), np.zeros((3, 2)))
