"""Hypothesis strategies for rows: every finite double, missing values, groups and weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.tables.schema.labels import Vocabulary

N_GROUPS = 3
N_COLUMNS = 2
GROUPS = Vocabulary(["c", "a", "b"])
LEVELS = Vocabulary(["red", 1, True, "blue"])

finite = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 1e15 + 1, 2.0**-600, 0.1]),
    st.integers(-3, 3).map(float),
)
cell = st.one_of(finite, st.just(float("nan")))
weight = st.one_of(st.sampled_from([0.0, 1.0, 2.0, 3.0]), st.floats(0.0, 1e6))


@dataclass(frozen=True)
class Rows:
    """Some rows in every form a statistic may want."""

    values: FloatArray  # (n_rows, N_COLUMNS)
    codes: CodeArray  # (n_rows, N_COLUMNS)
    groups: CodeArray  # (n_rows,)
    weights: FloatArray | None  # (n_rows,)

    def __len__(self) -> int:
        return len(self.groups)

    def take(self, positions: list[int] | slice) -> Rows:
        weights = None if self.weights is None else self.weights[positions]
        return Rows(self.values[positions], self.codes[positions], self.groups[positions], weights)

    def joined(self, other: Rows) -> Rows:
        weights = None
        if self.weights is not None and other.weights is not None:
            weights = np.concatenate([self.weights, other.weights])
        return Rows(
            np.concatenate([self.values, other.values]),
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.groups, other.groups]),
            weights,
        )


@st.composite
def rows(draw: st.DrawFn, weighted: bool = False, max_size: int = 8) -> Rows:
    n_rows = draw(st.integers(0, max_size))
    values = draw(st.lists(cell, min_size=n_rows * N_COLUMNS, max_size=n_rows * N_COLUMNS))
    codes = draw(st.lists(st.integers(-1, len(LEVELS) - 1), min_size=n_rows * N_COLUMNS, max_size=n_rows * N_COLUMNS))
    groups = draw(st.lists(st.integers(-1, N_GROUPS - 1), min_size=n_rows, max_size=n_rows))
    weights = draw(st.lists(weight, min_size=n_rows, max_size=n_rows)) if weighted else None
    return Rows(
        np.array(values, dtype=np.float64).reshape(n_rows, N_COLUMNS),
        np.array(codes, dtype=np.int32).reshape(n_rows, N_COLUMNS),
        np.array(groups, dtype=np.int32),
        None if weights is None else np.array(weights, dtype=np.float64),
    )
