"""What an answer must be, whatever the input was."""

from __future__ import annotations

from typing import Any

import numpy as np

LONGEST_MESSAGE = 2_000  # bytes


def check_posterior(probabilities: Any, n_rows: int | None = None) -> None:
    """A matrix of finite probabilities, each row of which sums to 1."""
    found = np.asarray(probabilities)
    assert found.dtype == np.float64, f"a posterior of type {found.dtype}"
    assert found.ndim == 2, f"a posterior of {found.ndim} dimensions"
    assert n_rows is None or len(found) == n_rows, f"{len(found)} posteriors of {n_rows} rows"
    assert np.isfinite(found).all(), f"a posterior that is not finite: {found.tolist()!s:.200}"
    assert ((found >= 0.0) & (found <= 1.0)).all(), f"a probability outside of [0, 1]: {found.tolist()!s:.200}"
    sums = found.sum(axis=1)
    assert np.allclose(sums, 1.0, rtol=0.0, atol=1e-9), f"posteriors that sum to {sums.tolist()!s:.200}"


def check_finite(numbers: Any, what: str = "an answer") -> None:
    """Numbers that are all finite."""
    found = np.asarray(numbers, dtype=np.float64)
    assert np.isfinite(found).all(), f"{what} is not finite: {found.tolist()!s:.200}"


def check_message(error: BaseException) -> None:
    """A message that a terminal can show: not a whole file quoted back."""
    length = len(str(error).encode("utf-8", "surrogatepass"))
    assert length < LONGEST_MESSAGE, f"a message of {length} bytes: {str(error)[:200]!r}..."
