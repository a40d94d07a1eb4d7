"""What is not a posterior, no state or no weight is refused before anything is fitted to it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayeswise.foundation.errors import ParameterError
from bayeswise.posteriors.calibration import METHODS, fit_calibration

RIGHT = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])


@pytest.mark.parametrize("method", [*METHODS, "auto"])
@pytest.mark.parametrize(
    ("shares", "message"),
    [
        (np.full((3, 2), np.nan), "row 1 must be from 0 to 1; found nan"),
        (np.array([[0.9, 0.1], [0.2, 0.8], [1.2, -0.2]]), "row 3 must be from 0 to 1"),
        (RIGHT * 2, "must be from 0 to 1|sums to 2"),
    ],
)
def test_what_is_not_a_posterior_is_refused(method: str, shares: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        fit_calibration(method, shares, [0, 1, 0])


@pytest.mark.parametrize("weights", [[1, -1, 1], [1, np.nan, 1], [1, np.inf, 1], [0, 0, 0], [1, 1]])
def test_what_is_not_a_weight_is_refused(weights: list[float]) -> None:
    with pytest.raises(ParameterError, match=r"weights must be finite.* Fix: give one for each row"):
        fit_calibration("platt", RIGHT, [0, 1, 0], weights)
