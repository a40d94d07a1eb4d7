"""What a table is here, and what both sets of tables use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

Table = tuple[pd.DataFrame, pd.Series]
Tables = dict[str, Callable[[], Table]]


def bundled(load: Callable[..., object]) -> Callable[[], Table]:
    """A table that comes with scikit-learn."""

    def read() -> Table:
        found: Any = load(return_X_y=True)
        return numbers(np.asarray(found[0]), np.asarray(found[1]))

    return read


def numbers(X: np.ndarray, y: np.ndarray) -> Table:
    """A matrix as a frame; classes as text."""
    frame = pd.DataFrame(np.asarray(X, dtype=np.float64), columns=[f"x{j}" for j in range(X.shape[1])])
    return frame, pd.Series([f"c{int(label)}" for label in y], name="y")


def with_missing(table: Table, share: float, seed: int) -> Table:
    """Cells taken away at random; a third of the columns lose theirs more often in one class."""
    frame, y = table
    generator = np.random.default_rng(seed)
    frame = frame.copy()
    first = (y == sorted(y.unique())[0]).to_numpy()
    for j, name in enumerate(frame.columns):
        chance = np.where(first, 1.6 * share, 0.6 * share) if j % 3 == 0 else np.full(len(frame), share)
        frame[name] = frame[name].where(generator.random(len(frame)) >= chance)
    return frame, y
