"""A prior is moved for posteriors, and for nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayeswise.foundation.errors import ParameterError
from bayeswise.posteriors.prior import estimate_prior, shift_prior

OLD, NEW = {"a": 0.5, "b": 0.5}, {"a": 0.8, "b": 0.2}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.5, 0.5], [float("nan"), 0.5]], "state 'a' in row 2 must be from 0 to 1; found nan"),
        ([[1.5, -0.5]], "state 'a' in row 1 must be from 0 to 1; found 1.5"),
        ([[0.5, 0.6]], "row 1 sums to 1.1"),
        ([[0.2, 0.3, 0.5]], "2 states are named"),
        ("text", "made of numbers"),
    ],
)
def test_what_is_not_a_posterior_is_named_by_its_row(rows: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        shift_prior(rows, states=["a", "b"], old=OLD, new=NEW)
    with pytest.raises(ParameterError, match=message):
        estimate_prior(rows, states=["a", "b"], old=OLD)


def test_one_row_alone_and_no_row_are_posteriors_too() -> None:
    assert shift_prior([0.5, 0.5], states=["a", "b"], old=OLD, new=NEW).tolist() == [[0.8, 0.2]]
    assert shift_prior(np.zeros((0, 2)), states=["a", "b"], old=OLD, new=NEW).shape == (0, 2)
    with pytest.raises(ParameterError, match="at least one"):
        estimate_prior(np.zeros((0, 2)), states=["a", "b"], old=OLD)
