"""Normalising many rows: what is impossible, broken or huge."""

from __future__ import annotations

import numpy as np
import pytest

from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError
from bayeswise.posteriors import log_posterior, normalise

INF = float("inf")
IMPOSSIBLE = [[-1.0, -2.0], [-INF, -INF], [-3.0, -INF]]


def test_an_impossible_row_is_an_error_that_names_it() -> None:
    with pytest.raises(ImpossibleEvidenceError, match=r"row 2 has probability 0 in every state.*0/0.*undefined="):
        normalise(IMPOSSIBLE)


def test_an_error_counts_rows_from_the_first_of_the_chunk() -> None:
    with pytest.raises(ImpossibleEvidenceError, match="row 1002 "):
        normalise(IMPOSSIBLE, first_row=1000)
    with pytest.raises(ImpossibleEvidenceError, match="row 1002 "):
        log_posterior(IMPOSSIBLE, first_row=1000)


def test_an_impossible_row_may_be_given_the_prior() -> None:
    answer = normalise(IMPOSSIBLE, undefined="prior", prior=np.array([0.75, 0.25]))
    assert answer.probability[1].tolist() == [0.75, 0.25]
    assert answer.log_evidence[1] == -INF
    assert answer.probability[2].tolist() == [1.0, 0.0]


def test_an_impossible_row_may_be_given_equal_shares() -> None:
    answer = normalise(IMPOSSIBLE, undefined="uniform")
    assert answer.probability[1].tolist() == [0.5, 0.5]
    assert np.allclose(answer.probability[0], normalise(IMPOSSIBLE[:1]).probability[0], rtol=0, atol=0)


@pytest.mark.parametrize("prior", [None, np.array([1.0])])
def test_the_prior_must_be_there_to_be_given(prior: np.ndarray | None) -> None:
    with pytest.raises(ParameterError, match="needs the prior of 2 states"):
        normalise(IMPOSSIBLE, undefined="prior", prior=prior)


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ParameterError, match="undefined is 'zero'"):
        normalise([[0.0]], undefined="zero")  # type: ignore[arg-type]


@pytest.mark.parametrize("broken", [float("nan"), INF])
@pytest.mark.parametrize("undefined", ["error", "uniform"])
def test_nan_and_plus_infinity_are_errors_under_every_policy(broken: float, undefined: str) -> None:
    with pytest.raises(ParameterError, match="row 3 is"):
        normalise([[0.0, 0.0], [-INF, 0.0], [0.0, broken]], undefined=undefined)  # type: ignore[arg-type]


def test_terms_that_differ_by_more_than_a_double_holds_do_not_overflow() -> None:
    answer = normalise([[-1.7e308, 1.7e308]])
    assert answer.probability.tolist() == [[0.0, 1.0]]
    assert answer.log_evidence.tolist() == [1.7e308]


def test_ten_thousand_small_factors_do_not_underflow() -> None:
    log_joint = np.array([[10_000 * np.log(0.01), 10_000 * np.log(0.01) - np.log(4.0)]])
    assert normalise(log_joint).probability == pytest.approx(np.array([[0.8, 0.2]]), rel=1e-11)


@pytest.mark.parametrize("shape", [(3,), (2, 0), (1, 2, 3)])
def test_a_wrong_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ParameterError, match=r"shape \(n_rows, n_states\)"):
        normalise(np.zeros(shape))


def test_no_rows_give_no_rows() -> None:
    answer = normalise(np.empty((0, 3)))
    assert answer.probability.shape == (0, 3)
    assert answer.log_evidence.shape == (0,)


def test_one_state_is_certain() -> None:
    answer = normalise([[-700.0]])
    assert (answer.probability.tolist(), answer.log_evidence.tolist()) == ([[1.0]], [-700.0])


def test_the_array_of_the_joint_may_take_the_answer() -> None:
    log_joint = np.random.default_rng(1).normal(size=(10_000, 7))
    expected = normalise(log_joint.copy()).probability
    answer = normalise(log_joint, out=log_joint)
    assert answer.probability is log_joint
    assert np.array_equal(log_joint, expected)


def test_the_joint_is_left_alone_otherwise() -> None:
    log_joint = np.random.default_rng(1).normal(size=(100, 3))
    before = log_joint.copy()
    normalise(log_joint)
    assert np.array_equal(log_joint, before)


@pytest.mark.parametrize("out", [np.empty((1, 3)), np.empty((1, 2), dtype=np.float32)])
def test_an_array_that_cannot_take_the_answer_is_refused(out: np.ndarray) -> None:
    with pytest.raises(ParameterError, match="out must be"):
        normalise([[0.0, 0.0]], out=out)


@pytest.mark.parametrize("n_states", [1, 2, 3, 7, 8, 50])
def test_one_row_alone_gives_the_bits_that_it_has_in_a_batch(n_states: int) -> None:
    log_joint = np.random.default_rng(n_states).normal(size=(3_000, n_states)) * 40
    for layout in (log_joint, np.asfortranarray(log_joint)):
        batch = normalise(layout)
        for row in (0, 1, 1_499, 2_999):
            alone = normalise(log_joint[row : row + 1])
            assert np.array_equal(alone.probability[0], batch.probability[row])
            assert alone.log_evidence[0] == batch.log_evidence[row]
