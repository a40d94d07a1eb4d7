"""Odds between states."""

from __future__ import annotations

import numpy as np
import pytest

from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError
from bayeswise.posteriors import log_odds, probability_of

INF = float("inf")


def test_against_all_others_is_against_their_sum() -> None:
    log_joint = np.log([[0.2, 0.3, 0.5]])
    assert log_odds(log_joint, 0)[0] == pytest.approx(np.log(0.2 / 0.8), rel=1e-14)


def test_against_one_state_the_third_is_out_of_it() -> None:
    log_joint = np.log([[0.2, 0.3, 0.5]])
    assert log_odds(log_joint, 0, 1)[0] == pytest.approx(np.log(2 / 3), rel=1e-14)


def test_an_impossible_rival_gives_infinite_odds() -> None:
    assert log_odds([[-3.0, -INF]], 0).tolist() == [INF]
    assert log_odds([[-3.0, -INF]], 1).tolist() == [-INF]


def test_odds_of_two_impossible_states_are_undefined() -> None:
    with pytest.raises(ImpossibleEvidenceError, match="row 2 "):
        log_odds([[-1.0, -1.0, -1.0], [-INF, -INF, -1.0]], 0, 1)


@pytest.mark.parametrize(("n_states", "state", "against"), [(1, 0, None), (3, 2, 2)])
def test_a_state_has_no_odds_against_itself(n_states: int, state: int, against: int | None) -> None:
    with pytest.raises(ParameterError, match="two different states"):
        log_odds(np.zeros((1, n_states)), state, against)


def test_the_probability_of_large_odds_is_exact_in_both_tails() -> None:
    assert probability_of([-745.0, 745.0, -INF, INF]).tolist() == [5e-324, 1.0, 0.0, 1.0]
    assert probability_of(-50.0) == pytest.approx(np.exp(-50.0), rel=1e-15)
