"""A prior given by name: checked once, then trusted; and the same evidence under another prior, without a new fit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, PriorError, row_number
from bayeswise.foundation.logspace import log
from bayeswise.posteriors.normalise import as_shares, check_posterior
from bayeswise.tables.schema.labels import Label, find_state, label_of

SUM_TOLERANCE = 1e-9


def prior_by_state(given: Mapping[Any, float], states: Sequence[Label], what: str = "the prior") -> FloatArray:
    """The prior in the order of the states, (n_states,): each named, none below 0, the sum 1 to within 1e-9.

    A state may have probability 0, and keeps it whatever is observed. Errors call it `what`.

    >>> prior_by_state({"ham": 0.75, "spam": 0.25}, states=["spam", "ham"]).tolist()
    [0.25, 0.75]
    >>> prior_by_state({"ham": 1.0}, states=["spam", "ham"])
    Traceback (most recent call last):
    bayeswise.foundation.errors.PriorError: the prior has no entry for state 'spam'. Fix: ...
    """
    _check_mapping(given, states, what)
    prior = np.full(len(states), np.nan)  # (n_states,)
    for label, probability in given.items():
        position = find_state(label, states, what=f"{what} names the unknown state", error=PriorError)
        prior[position] = _probability(label, probability, what)
    _check_complete(prior, states, what)
    _check_sum(prior, given, what)
    return prior


def check_shares(given: Any) -> None:
    """Refuse what is not a prior of any states: each share must be a number from 0 to 1, the sum 1 to within 1e-9.

    >>> check_shares({"yes": 0.7, "no": 0.2})
    Traceback (most recent call last):
    bayeswise.foundation.errors.PriorError: the prior sums to 0.9, not to 1: 'yes': 0.7 + 'no': 0.2. Fix: ...
    """
    _check_mapping(given, ("yes",), "the prior")
    shares = [_probability(label, probability, "the prior") for label, probability in given.items()]
    _check_sum(shares, given, "the prior")


def _check_mapping(given: Any, states: Sequence[Label], what: str) -> None:
    if not isinstance(given, Mapping):
        raise PriorError(
            f"{what} is given by name; found {type(given).__name__}",
            fix="write {state: probability}, for example {" + f"{states[0]!r}: 0.5, ..." + "}",
        )


def _probability(state: object, value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or number < 0.0:
        raise PriorError(
            f"{what} of state {state!r} must be a number from 0 to 1; found {value!r}",
            fix="give a probability",
        )
    return number


def _check_complete(prior: FloatArray, states: Sequence[Label], what: str) -> None:
    for state, probability in zip(states, prior, strict=True):
        if np.isnan(probability):
            raise PriorError(f"{what} has no entry for state {state!r}", fix=f"add one for {state!r}; 0 is allowed")


def _check_sum(shares: Iterable[float], given: Mapping[Any, float], what: str) -> None:
    total = math.fsum(shares)
    if abs(total - 1.0) > SUM_TOLERANCE:
        terms = " + ".join(f"{label!r}: {value}" for label, value in list(given.items())[:8])
        more = " + ..." if len(given) > 8 else ""
        raise PriorError(
            f"{what} sums to {total:.12g}, not to 1: {terms}{more}" if given else f"{what} names no state",
            fix="divide each entry by the sum" if total else "give each state its probability; they sum to 1",
        )


_MOST_STEPS = 10_000
_SETTLED = 1e-12


def shift_prior(
    probability: Any, *, states: Sequence[Any], old: Mapping[Any, float], new: Mapping[Any, float]
) -> FloatArray:
    """(n_rows, n_states) p(s | row) new(s) / old(s), normalised; exact where p(row | s) stays as it was.

    >>> shift_prior([[0.5, 0.5]], states=["a", "b"], old={"a": 0.5, "b": 0.5}, new={"a": 0.75, "b": 0.25}).tolist()
    [[0.75, 0.25]]
    """
    labels = tuple(label_of(state) for state in states)
    before, after = prior_by_state(old, labels), prior_by_state(new, labels)
    return shifted(_checked(probability, labels), before, after, labels)


def shifted(probability: FloatArray, before: FloatArray, after: FloatArray, states: Sequence[Label]) -> FloatArray:
    """The same for priors as arrays (n_states,)."""
    moved = np.empty(probability.shape)
    row = _kernels.shift_rows(np.ascontiguousarray(probability), shift_factors(before, after, states), moved)
    if row >= 0:
        raise ImpossibleEvidenceError(
            f"row {row_number(row)} is possible only in states whose new prior is 0",
            fix="give every state a prior above 0",
        )
    return moved


def shift_factors(before: FloatArray, after: FloatArray, states: Sequence[Label]) -> FloatArray:
    """(n_states,) what the posteriors of states are multiplied with, before they are normalised again."""
    impossible = (before == 0.0) & (after > 0.0)
    if impossible.any():
        state = states[int(np.argmax(impossible))]
        raise PriorError(
            f"state {state!r} had the prior 0, so that nothing is known about it", fix="fit it with rows of that state"
        )
    factor = after / np.where(before > 0.0, before, 1.0)
    return np.asarray(factor / factor.max())


def _checked(probability: Any, states: Sequence[Label]) -> FloatArray:
    found = as_shares(probability, states)
    check_posterior(found, states)
    return found


@dataclass(frozen=True)
class EstimatedPrior:
    """The prior that makes unlabelled rows most probable."""

    prior: dict[Label, float]
    steps: int
    log_likelihood_gain: float  # of all rows together, over the old prior


def estimate_prior(probability: Any, *, states: Sequence[Any], old: Mapping[Any, float]) -> EstimatedPrior:
    """The prior of rows whose states are unknown, from their posteriors under the old prior, by EM.

    new(s) = mean over rows of p(s | row), with the posterior under the new prior, again and again: each step makes
    the rows more probable, and the likelihood has one peak.

    >>> shares = np.array([[0.9, 0.1]] * 8 + [[0.1, 0.9]] * 2)
    >>> found = estimate_prior(shares, states=["a", "b"], old={"a": 0.5, "b": 0.5})
    >>> {state: round(share, 4) for state, share in found.prior.items()}
    {'a': 0.875, 'b': 0.125}
    """
    labels = tuple(label_of(state) for state in states)
    before = prior_by_state(old, labels)
    shares = _checked(probability, labels)
    if not len(shares):
        raise ParameterError("there is no row to estimate the prior from", fix="give at least one")
    ratio = np.where(before > 0.0, shares / np.where(before > 0.0, before, 1.0), 0.0)  # (n_rows, n_states)
    prior, steps = _most_probable(ratio, before)
    prior = prior / prior.sum()
    gain = float(np.sum(log(ratio @ prior)))
    return EstimatedPrior(dict(zip(labels, prior.tolist(), strict=True)), steps, gain)


def _most_probable(ratio: FloatArray, start: FloatArray) -> tuple[FloatArray, int]:
    """The prior that EM ends at, and its steps; two of them extrapolate to a guess, which is tried at once.

    With r the first step and v the change from it to the second, the guess is start + 2 a r + a^2 v for a = |r| / |v|;
    it is kept if the rows are more probable there.
    """
    prior, steps = start, 0
    while steps < _MOST_STEPS:
        one, _ = _step(ratio, prior)
        two, log_likelihood = _step(ratio, one)
        steps += 2
        first, bend = one - prior, (two - one) - (one - prior)
        prior = two
        if float(np.abs(first).max()) < _SETTLED:
            break
        curve = float(np.linalg.norm(bend))
        far = float(np.linalg.norm(first)) / curve if curve > 0.0 else 1.0
        guess = (one - first) + 2.0 * far * first + far**2 * bend
        if far > 1.0 and bool((guess[start > 0.0] > 0.0).all()):
            after, reached = _step(ratio, guess)
            steps += 1
            prior = after if reached >= log_likelihood else two
    return prior, steps


def _step(ratio: FloatArray, prior: FloatArray) -> tuple[FloatArray, float]:
    """The mean posterior under a prior, and the log-likelihood of that prior."""
    joint = ratio * prior
    total = joint.sum(axis=1)
    return (joint / total[:, None]).mean(axis=0), float(np.log(total).sum())
