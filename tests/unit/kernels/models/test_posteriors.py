"""Posteriors of rows beside a plain NumPy twin and mpmath."""

from __future__ import annotations

from collections.abc import Iterator

import mpmath
import numpy as np
import pytest

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray

NONE = np.empty(0)


@pytest.fixture(params=_kernels.available_isas(), autouse=True)
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _kernels.isa()
    _kernels.use_isa(request.param)
    yield request.param
    _kernels.use_isa(before)


def normalised(log_joint: FloatArray, share: FloatArray = NONE) -> tuple[FloatArray, FloatArray, int]:
    out, evidence = np.empty_like(log_joint), np.empty(len(log_joint))
    return out, evidence, _kernels.normalise_rows(out, log_joint, share, evidence)


@pytest.mark.parametrize("n_states", [1, 2, 3, 7, 50, 3_000])
@pytest.mark.parametrize("spread", [0.0, 1.0, 300.0])
def test_posteriors_are_those_of_numpy(n_states: int, spread: float) -> None:
    log_joint = spread * np.random.default_rng(0).normal(size=(301, n_states)) - 1e3
    out, evidence, done = normalised(log_joint)
    top = log_joint.max(axis=1, keepdims=True)
    terms = np.exp(log_joint - top)
    total = terms.sum(axis=1, keepdims=True)
    assert done == len(log_joint)
    np.testing.assert_allclose(out, terms / total, rtol=1e-14, atol=5e-323)
    np.testing.assert_allclose(evidence, (np.log(total) + top)[:, 0], rtol=1e-15)


def test_exponentials_and_logarithms_are_right_to_about_a_unit_in_the_last_place() -> None:
    gaps = -np.concatenate([np.linspace(0.0, 3.0, 400), np.linspace(3.0, 740.0, 400)])
    log_joint = np.column_stack([np.zeros_like(gaps), gaps])
    out, evidence, _ = normalised(log_joint)
    for gap, shares, log_total in zip(gaps.tolist(), out.tolist(), evidence.tolist(), strict=True):
        term = mpmath.exp(mpmath.mpf(gap))
        for found, true in zip(shares, (1 / (1 + term), term / (1 + term)), strict=True):
            assert abs(found - true) <= 5e-16 * true + 1e-323
        assert abs(log_total - mpmath.log(1 + term)) <= 3e-16


@pytest.mark.parametrize("n_states", [2, 3])
def test_a_row_has_the_same_bits_alone_in_a_batch_and_in_place(n_states: int) -> None:
    log_joint = 500.0 * np.random.default_rng(1).normal(size=(1_100, n_states))
    log_joint[77, 0] = -np.inf
    out, evidence, _ = normalised(log_joint)
    for row in (0, 77, 255, 256, 1_099):
        alone, log_alone, _ = normalised(log_joint[row : row + 1])
        assert (alone[0] == out[row]).all()
        assert log_alone[0] == evidence[row]
    assert _kernels.normalise_rows(log_joint, log_joint, NONE, NONE) == len(log_joint)
    assert (log_joint == out).all()


@pytest.mark.parametrize("n_states", [2, 3])
@pytest.mark.parametrize("cell", [np.nan, np.inf])
def test_the_first_row_without_a_posterior_is_named(n_states: int, cell: float) -> None:
    log_joint = np.zeros((900, n_states))
    log_joint[[400, 500], -1] = cell
    assert normalised(log_joint)[2] == 400
    log_joint[300] = -np.inf
    assert normalised(log_joint)[2] == 300


@pytest.mark.parametrize("n_states", [2, 3])
def test_an_impossible_row_is_given_its_share(n_states: int) -> None:
    log_joint, share = np.zeros((5, n_states)), np.arange(1.0, n_states + 1.0)
    log_joint[3] = -np.inf
    out, evidence, done = normalised(log_joint, share)
    assert done == 5
    assert (out[3] == share).all()
    assert evidence[3] == -np.inf
    np.testing.assert_allclose(out[[0, 1, 2, 4]], 1.0 / n_states, rtol=1e-15)


def test_probabilities_that_are_too_small_for_a_double_are_zero() -> None:
    out, _, _ = normalised(np.array([[0.0, -745.0], [0.0, -800.0], [0.0, -np.inf], [-1.7e308, 1.7e308]]))
    assert out[0, 1] == 5e-324
    assert out[1:, 0].tolist() == [1.0, 1.0, 0.0]
    assert out[1:3, 1].tolist() == [0.0, 0.0]
