"""A prior given by name: checked once, then trusted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import PriorError
from bayeswise.tables.schema.labels import Label, find_state

SUM_TOLERANCE = 1e-9


def prior_by_state(given: Mapping[Any, float], states: Sequence[Label]) -> FloatArray:
    """The prior in the order of the states, (n_states,): each named, none below 0, the sum 1 to within 1e-9.

    A state may have probability 0, and keeps it whatever is observed.

    >>> prior_by_state({"ham": 0.75, "spam": 0.25}, states=["spam", "ham"]).tolist()
    [0.25, 0.75]
    >>> prior_by_state({"ham": 1.0}, states=["spam", "ham"])
    Traceback (most recent call last):
    bayeswise.foundation.errors.PriorError: the prior has no entry for state 'spam'. Fix: ...
    """
    _check_mapping(given, states)
    prior = np.full(len(states), np.nan)  # (n_states,)
    for label, probability in given.items():
        position = find_state(label, states, what="the prior names the unknown state", error=PriorError)
        prior[position] = _probability(label, probability)
    _check_complete(prior, states)
    _check_sum(prior, given)
    return prior


def check_shares(given: Any) -> None:
    """Refuse what is not a prior of any states: each share must be a number from 0 to 1, the sum 1 to within 1e-9.

    >>> check_shares({"yes": 0.7, "no": 0.2})
    Traceback (most recent call last):
    bayeswise.foundation.errors.PriorError: the prior sums to 0.9, not to 1: 'yes': 0.7 + 'no': 0.2. Fix: ...
    """
    _check_mapping(given, ("yes",))
    _check_sum([_probability(label, probability) for label, probability in given.items()], given)


def _check_mapping(given: Any, states: Sequence[Label]) -> None:
    if not isinstance(given, Mapping):
        raise PriorError(
            f"a prior is given by name; found {type(given).__name__}",
            fix="write {state: probability}, for example {" + f"{states[0]!r}: 0.5, ..." + "}",
        )


def _probability(state: object, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or number < 0.0:
        raise PriorError(
            f"the prior of state {state!r} must be a number from 0 to 1; found {value!r}",
            fix="give a probability",
        )
    return number


def _check_complete(prior: FloatArray, states: Sequence[Label]) -> None:
    for state, probability in zip(states, prior, strict=True):
        if np.isnan(probability):
            raise PriorError(f"the prior has no entry for state {state!r}", fix=f"add one for {state!r}; 0 is allowed")


def _check_sum(shares: Iterable[float], given: Mapping[Any, float]) -> None:
    total = math.fsum(shares)
    if abs(total - 1.0) > SUM_TOLERANCE:
        terms = " + ".join(f"{label!r}: {value}" for label, value in list(given.items())[:8])
        more = " + ..." if len(given) > 8 else ""
        raise PriorError(
            f"the prior sums to {total:.12g}, not to 1: {terms}{more}" if given else "the prior names no state",
            fix="divide each entry by the sum" if total else "give each state its probability; they sum to 1",
        )
