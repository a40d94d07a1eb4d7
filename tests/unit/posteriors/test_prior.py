"""A prior given by name."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bayeswise.foundation.errors import PriorError
from bayeswise.posteriors import prior_by_state


def test_the_order_is_that_of_the_states_and_not_of_the_mapping() -> None:
    assert prior_by_state({"b": 0.75, "a": 0.25}, ["a", "b"]).tolist() == [0.25, 0.75]


def test_zero_is_allowed_and_stays_zero() -> None:
    assert prior_by_state({"a": 0, "b": 1}, ["a", "b"]).tolist() == [0.0, 1.0]


def test_thirds_sum_to_one_closely_enough() -> None:
    assert prior_by_state(dict.fromkeys("abc", 1 / 3), list("abc")).tolist() == [1 / 3] * 3
    assert prior_by_state({"a": Fraction(1, 4), "b": np.float32(0.75)}, ["a", "b"]).tolist() == [0.25, 0.75]


@pytest.mark.parametrize("bad", [-0.1, float("nan"), float("inf"), "half", None, 10**400])
def test_a_prior_that_is_not_a_probability_names_its_state(bad: object) -> None:
    with pytest.raises(PriorError, match="prior of state 'spam' must be a number from 0 to 1"):
        prior_by_state({"spam": bad, "ham": 0.5}, ["spam", "ham"])  # type: ignore[dict-item]


def test_a_wrong_sum_is_shown_with_its_terms() -> None:
    with pytest.raises(PriorError, match=r"sums to 1.1, not to 1: 'a': 0.6 \+ 'b': 0.5"):
        prior_by_state({"a": 0.6, "b": 0.5}, ["a", "b"])


def test_a_missing_state_is_named() -> None:
    with pytest.raises(PriorError, match="no entry for state 'ham'"):
        prior_by_state({"spam": 1.0}, ["spam", "ham"])


def test_a_misspelt_state_is_guessed() -> None:
    with pytest.raises(PriorError, match=r"unknown state 'Spamm'. Fix: did you mean 'spam'\?"):
        prior_by_state({"Spamm": 0.5, "ham": 0.5}, ["spam", "ham"])


def test_a_text_is_not_taken_for_the_number_it_spells() -> None:
    with pytest.raises(PriorError, match=r"unknown state '1'. Fix: did you mean 1 \(int, not str\)\?"):
        prior_by_state({0: 0.5, "1": 0.5}, [0, 1])


def test_true_is_not_taken_for_one() -> None:
    with pytest.raises(PriorError, match="unknown state True"):
        prior_by_state({True: 0.5, 0: 0.5}, [0, 1])


def test_numpy_labels_are_the_states_they_hold() -> None:
    assert prior_by_state({np.str_("a"): 0.5, np.str_("b"): 0.5}, ["a", "b"]).tolist() == [0.5, 0.5]


def test_a_bare_list_is_refused_because_its_order_says_nothing() -> None:
    with pytest.raises(PriorError, match="given by name; found list"):
        prior_by_state([0.5, 0.5], ["a", "b"])  # type: ignore[arg-type]
