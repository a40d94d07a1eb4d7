"""Trees and superparents of columns: sums over all completions, and codes or tables that do not fit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from bayeswise import _kernels

SIZES = np.array([2, 3, 2, 3], dtype=np.int64)
PARENTS = np.array([1, -1, 0, 1], dtype=np.int64)  # 1 -> 0 -> 2, 1 -> 3
ORDER = np.array([1, 0, 3, 2], dtype=np.int64)
N_STATES = 3


def log_table(generator: Any, n_above: int, n_levels: int) -> Any:
    """(n_above, n_levels + 1, n_states): shares of the levels, and something for an unseen one."""
    levels = np.log(generator.dirichlet(np.ones(n_levels), (n_above, N_STATES))).transpose(0, 2, 1)
    return np.concatenate([levels, np.log(generator.random((n_above, 1, N_STATES)))], axis=1)


@pytest.fixture
def tables() -> list[Any]:
    generator = np.random.default_rng(0)
    return [log_table(generator, 1 if p < 0 else SIZES[p] + 1, n) for p, n in zip(PARENTS, SIZES, strict=True)]


def flat(tables: list[Any]) -> tuple[Any, Any]:
    starts = np.cumsum([0, *(table.size for table in tables)])[:-1].astype(np.int64)
    return starts, np.concatenate([table.ravel() for table in tables])


def completions(code: int, size: int) -> list[int]:
    """The slots that a cell may have: any level if it is missing, the last if it was never seen."""
    return list(range(size)) if code == -1 else [size if code == -2 else code]


def test_a_tree_sums_over_every_completion_of_a_row(tables: list[Any]) -> None:
    rows = list(itertools.product(*([-2, -1, *range(n)] for n in SIZES)))
    joint = np.zeros((len(rows), N_STATES))
    _kernels.add_tree(joint, np.array(rows, dtype=np.int32), SIZES, PARENTS, ORDER, *flat(tables))
    for row, found in zip(rows, joint, strict=True):
        total = np.zeros(N_STATES)
        for slots in itertools.product(*map(completions, row, SIZES.tolist())):
            above = [0 if p < 0 else slots[p] for p in PARENTS]
            total += np.exp(sum(tables[k][above[k], slots[k]] for k in range(4)))
        np.testing.assert_allclose(np.exp(found), total, rtol=1e-12)


def test_a_long_tree_of_missing_cells_does_not_underflow() -> None:
    n = 3000
    chain = np.arange(-1, n - 1)
    table = np.log(np.full((3, 3, 2), 1e-300))
    starts = np.arange(n, dtype=np.int64) * table.size
    codes = np.full((1, n), -1, dtype=np.int32)
    codes[0, ::2] = 0
    joint = np.zeros((1, 2))
    _kernels.add_tree(joint, codes, np.full(n, 2, np.int64), chain, np.arange(n), starts, np.tile(table.ravel(), n))
    holes_with_a_child = n // 2 - 1  # each sums two levels of its own cell and its child's; the last one is barren
    expected = np.log(1e-300) + holes_with_a_child * (np.log(2.0) + 2 * np.log(1e-300))
    assert joint[0, 0] == pytest.approx(expected, rel=1e-12)


def test_an_impossible_level_stays_impossible_and_is_not_nan(tables: list[Any]) -> None:
    tables[2][:] = -np.inf
    joint = np.zeros((2, N_STATES))
    codes = np.array([[-1, 0, 0, -1], [-1, -1, -1, 1]], dtype=np.int32)
    _kernels.add_tree(joint, codes, SIZES, PARENTS, ORDER, *flat(tables))
    assert np.isneginf(joint[0]).all()
    assert np.isfinite(joint[1]).all()


@pytest.mark.parametrize(("change", "what"), [
    ({"codes": np.full((1, 4), 3, dtype=np.int32)}, "code lies outside"),
    ({"codes": np.full((1, 4), -3, dtype=np.int32)}, "code lies outside"),
    ({"parents": np.array([1, 0, 0, 1])}, "before its parent"),
    ({"order": np.array([1, 0, 3, 3])}, "each column once"),
    ({"starts": np.array([0, 0, 0, 10**6])}, "table lies outside"),
    ({"sizes": np.array([2, 3, 2])}, "differ in number"),
])  # fmt: skip
def test_a_tree_that_does_not_fit_is_refused(tables: list[Any], change: dict[str, Any], what: str) -> None:
    starts, cells = flat(tables)
    given = {
        "log_joint": np.zeros((1, N_STATES)),
        "codes": np.zeros((1, 4), dtype=np.int32),
        "sizes": SIZES,
        "parents": PARENTS,
        "order": ORDER,
        "starts": starts,
        "tables": cells,
    }
    with pytest.raises(ValueError, match=what):
        _kernels.add_tree(**{**given, **change})


@pytest.mark.parametrize(("change", "what"), [
    ({"codes": np.full((1, 4), 3, dtype=np.int32)}, "code lies outside"),
    ({"pairs": np.zeros((3, 3, N_STATES))}, "pairs do not fit"),
    ({"allowed": np.ones(3, dtype=bool)}, "single columns do not fit"),
    ({"log_joint": np.zeros((2, N_STATES))}, "another number of rows"),
])  # fmt: skip
def test_superparents_that_do_not_fit_are_refused(change: dict[str, Any], what: str) -> None:
    n_slots = int((SIZES + 1).sum())
    given = {
        "log_joint": np.zeros((1, N_STATES)),
        "codes": np.zeros((1, 4), dtype=np.int32),
        "sizes": SIZES,
        "pairs": np.zeros((n_slots, n_slots, N_STATES)),
        "singles": np.zeros((n_slots, N_STATES)),
        "allowed": np.ones(n_slots, dtype=bool),
    }
    with pytest.raises(ValueError, match=what):
        _kernels.add_superparents(**{**given, **change})
