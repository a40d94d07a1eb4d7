"""Laws of accounts: contributions add up to the log-odds, whatever the states, columns and zeros."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bayeswise.explanations import Account, Contribution, Nomogram, least_change
from bayeswise.foundation.arrays import FloatArray
from bayeswise.posteriors import log_odds, normalise

log_probability = st.one_of(st.floats(-30.0, 0.0), st.sampled_from([-0.5, -1.0, -2.0]))


@st.composite
def accounts(draw: st.DrawFn, most_states: int = 5, most_columns: int = 12, zeros: bool = True) -> Account:
    n_states = draw(st.integers(2, most_states))
    n_columns = draw(st.integers(0, most_columns))
    prior = draw(arrays(np.float64, n_states, elements=log_probability))
    rows = draw(likelihoods(n_columns, n_states, zeros))
    contributions = tuple(Contribution(f"c{k}", k, row) for k, row in enumerate(rows))
    return Account(tuple("abcde"[:n_states]), prior, contributions)


def likelihoods(n_rows: int, n_states: int, zeros: bool = True) -> st.SearchStrategy[FloatArray]:
    term = st.one_of(log_probability, st.just(-math.inf)) if zeros else log_probability
    return arrays(np.float64, (n_rows, n_states), elements=term)


def possible(account: Account, *positions: int) -> bool:
    return bool(np.isfinite(account.log_joint[list(positions)]).any())


@given(accounts(), st.data())
def test_prior_and_contributions_add_up_to_the_posterior_log_odds(account: Account, data: st.DataObject) -> None:
    state, rival = data.draw(st.permutations(range(len(account.states))))[:2]
    against = data.draw(st.sampled_from([None, account.states[rival]]))
    assume(possible(account, *(range(len(account.states)) if against is None else (state, rival))))
    balance = account.weigh(account.states[state], against)
    total = math.fsum([balance.log_prior_odds, *(weight.log_ratio for weight in balance.weights)])
    expected = log_odds(account.log_joint[None, :], state, None if against is None else rival)[0]
    assert total == pytest.approx(balance.log_odds, rel=1e-12, abs=1e-12)
    assert balance.log_odds == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(accounts())
def test_the_probability_of_a_complete_balance_is_the_posterior(account: Account) -> None:
    assume(possible(account, *range(len(account.states))))
    for k, state in enumerate(account.states):
        assert account.weigh(state).probability == pytest.approx(account.posterior[k], rel=1e-12, abs=1e-300)


@given(accounts(), st.randoms(use_true_random=False))
def test_the_order_of_the_columns_changes_no_weight_against_one_state(account: Account, random: object) -> None:
    assume(possible(account, 0, 1))
    shuffled = list(account.contributions)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    other = Account(account.states, account.log_prior, tuple(shuffled))
    assert other.log_joint.tolist() == account.log_joint.tolist()
    weights = {weight.column: weight.log_ratio for weight in account.weigh("a", "b").weights}
    assert weights == {weight.column: weight.log_ratio for weight in other.weigh("a", "b").weights}


@given(accounts())
def test_a_column_that_was_skipped_weighs_nothing(account: Account) -> None:
    assume(possible(account, 0, 1))
    skipped = Contribution("skipped", None, np.zeros(len(account.states)), "missing: skipped")
    longer = Account(account.states, account.log_prior, (*account.contributions, skipped))
    assert np.array_equal(longer.log_joint, account.log_joint)
    assert longer.weigh("a", "b").weights[-1].log_ratio == 0.0


# -- the least change, beside trying every one --


@st.composite
def cases_with_alternatives(draw: st.DrawFn) -> tuple[Account, dict[str, list[Contribution]]]:
    account = draw(accounts(most_states=4, most_columns=4))
    assume(possible(account, *range(len(account.states))))
    others = {
        column: [
            Contribution(column, f"other {k}", row)
            for k, row in enumerate(draw(likelihoods(draw(st.integers(0, 3)), len(account.states))))
        ]
        for column in account.columns
    }
    return account, others


def every_change(account: Account, others: dict[str, list[Contribution]], size: int) -> list[Account]:
    """All cases in which so many columns have another value, if they are possible at all."""
    changed = [
        account.with_changes(dict(zip(columns, values, strict=True)))
        for columns in combinations(account.columns, size)
        for values in product(*(others[column] for column in columns))
    ]
    return [case for case in changed if np.isfinite(case.log_joint).any()]


@given(cases_with_alternatives())
def test_no_smaller_change_changes_the_answer(case: tuple[Account, dict[str, list[Contribution]]]) -> None:
    account, others = case
    found = least_change(account, others)
    sizes = [
        size
        for size in range(len(account.columns) + 1)
        if any(other.most_probable != account.most_probable for other in every_change(account, others, size))
    ]
    assert (len(found.changes) if found else None) == (sizes[0] if sizes else None)
    if found:
        assert found.account.most_probable == found.to != account.most_probable


@given(cases_with_alternatives())
def test_no_smaller_change_makes_the_named_state_win(
    case: tuple[Account, dict[str, list[Contribution]]],
) -> None:
    account, others = case
    for state in account.states:
        if state == account.most_probable:
            continue
        found = least_change(account, others, to=state)
        sizes = [
            size
            for size in range(len(account.columns) + 1)
            if any(other.most_probable == state for other in every_change(account, others, size))
        ]
        assert (len(found.changes) if found else None) == (sizes[0] if sizes else None)
        if found:
            assert found.proven
            assert found.account.most_probable == found.to == state


# -- the nomogram --


@given(accounts(most_states=3, zeros=False), st.data())
def test_points_add_up_to_the_log_odds(account: Account, data: st.DataObject) -> None:
    rows = data.draw(likelihoods(3, len(account.states), zeros=False))
    others = {
        column: [Contribution(column, f"other {k}", row) for k, row in enumerate(rows)]
        for column in account.columns[:4]
    }
    nomogram = Nomogram.of(account, others, "a", "b")
    assert nomogram.total is not None
    assert nomogram.log_odds(nomogram.total) == pytest.approx(account.log_odds("a", "b"), rel=1e-9, abs=1e-9)
    assert all(0.0 <= point <= 100.0 + 1e-9 for line in nomogram.lines for point in line.points)
    probability = nomogram.probability(nomogram.total)
    pair = normalise(account.log_joint[None, :2]).probability[0, 0]
    assert probability == pytest.approx(pair, rel=1e-8, abs=1e-12)
