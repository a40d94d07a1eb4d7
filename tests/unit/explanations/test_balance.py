"""The weight of evidence of one comparison."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import NEVER, golf, random_account

from bayeswise.explanations import Account, Balance, Contribution
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError


def total(balance: Balance) -> float:
    return math.fsum([balance.log_prior_odds, *(weight.log_ratio for weight in balance.weights)])


def test_a_weight_is_the_logarithm_of_a_likelihood_ratio() -> None:
    weights = {weight.column: weight.log_ratio for weight in golf().weigh("no").weights}
    assert weights["outlook"] == pytest.approx(math.log((3 / 5) / (2 / 9)), rel=1e-14)
    assert weights["temperature"] == pytest.approx(math.log((1 / 5) / (3 / 9)), rel=1e-14)


def test_of_two_states_the_weights_of_one_are_those_of_the_other_turned_round() -> None:
    for_, against = golf().weigh("no"), golf().weigh("yes")
    assert [w.log_ratio for w in for_.weights] == [-w.log_ratio for w in against.weights]
    assert for_.log_odds == -against.log_odds


def test_by_default_the_answer_is_weighed_against_its_strongest_rival() -> None:
    account = random_account(5, seed=3)
    order = np.argsort(-account.posterior)
    balance = account.weigh()
    assert (balance.state, balance.against) == (account.states[order[0]], account.states[order[1]])
    assert not balance.complete


def test_against_all_others_a_weight_is_that_of_the_value_given_the_columns_before() -> None:
    prior = np.array([0.5, 0.3, 0.2])
    x, y = np.array([0.6, 0.1, 0.9]), np.array([0.5, 0.8, 0.1])
    account = Account(
        ("a", "b", "c"), np.log(prior), (Contribution("x", 1, np.log(x)), Contribution("y", 1, np.log(y)))
    )
    balance = account.weigh("a", None)
    shares = prior[1:] / prior[1:].sum()
    p_x = shares @ x[1:]
    shares = shares * x[1:] / p_x
    p_y = shares @ y[1:]
    expected = [math.log(x[0] / p_x), math.log(y[0] / p_y)]
    assert [weight.log_ratio for weight in balance.weights] == pytest.approx(expected, rel=1e-14)
    assert (balance.against, balance.rival, balance.complete) == (None, "all others", True)


def test_a_state_that_is_ruled_out_has_infinite_odds() -> None:
    ruled_out = Contribution("x", "never in b", np.array([-1.0, NEVER]))
    account = Account(("a", "b"), np.log([0.5, 0.5]), (ruled_out, Contribution("y", 1, np.array([-9.0, -1.0]))))
    balance = account.weigh("a")
    assert (balance.log_odds, balance.probability, total(balance)) == (math.inf, 1.0, math.inf)
    assert account.weigh("b").log_odds == -math.inf


def test_the_last_of_several_rivals_is_ruled_out_once() -> None:
    account = Account(
        ("a", "b", "c"),
        np.log([0.2, 0.3, 0.5]),
        (
            Contribution("x", 1, np.array([-1.0, NEVER, -1.0])),
            Contribution("y", 1, np.array([-1.0, -1.0, NEVER])),
            Contribution("z", 1, np.array([-1.0, NEVER, NEVER])),
        ),
    )
    ratios = [weight.log_ratio for weight in account.weigh("a", None).weights]
    assert ratios == [pytest.approx(math.log(8 / 5)), math.inf, 0.0]


def test_odds_of_two_states_that_are_both_ruled_out_are_undefined() -> None:
    account = Account(("a", "b", "c"), np.log([0.2, 0.3, 0.5]), (Contribution("x", 1, np.array([NEVER, NEVER, 0.0])),))
    assert account.most_probable == "c"
    with pytest.raises(ImpossibleEvidenceError, match=r"'a', 'b'.*0/0"):
        account.weigh("a", "b")


def test_a_state_is_not_weighed_against_itself() -> None:
    with pytest.raises(ParameterError, match="'yes' has no rival"):
        golf().weigh("yes", "yes")


def test_the_strongest_come_first_and_the_others_are_summed_up() -> None:
    balance = random_account(2, 30).weigh()
    top = balance.strongest(10)
    sizes = [abs(weight.log_ratio) for weight in top[:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert top[-1].column == "21 other columns"
    assert math.fsum(w.log_ratio for w in top) == pytest.approx(math.fsum(w.log_ratio for w in balance.weights))
    assert len(balance.strongest(30)) == 30


@pytest.mark.parametrize("n_states", [2, 4])
def test_ten_thousand_columns_still_add_up(n_states: int) -> None:
    account = random_account(n_states, 10_000, seed=7)
    for against in (None, "state 1"):
        balance = account.weigh("state 0", against)
        assert total(balance) == pytest.approx(balance.log_odds, rel=1e-12)
