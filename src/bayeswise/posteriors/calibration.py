"""Posteriors that mean what they say: maps from a posterior to a better one, fitted to rows whose state is known.

Fit them to posteriors of rows that the model has not seen: `leave_one_out` of a model, or folds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.posteriors.calibration_fits import (
    LOG_LEAST,
    dirichlet_weights,
    isotonic_steps,
    sigmoid_line,
    temperature_power,
)
from bayeswise.posteriors.normalise import normalise
from bayeswise.posteriors.odds import probability_of
from bayeswise.posteriors.shares import check_posterior

_FOLDS = 5


class Calibration(Protocol):
    """A map of posteriors, the states in the order in which it was fitted."""

    def apply(self, probability: FloatArray) -> FloatArray:
        """(n_rows, n_states) the calibrated posterior."""


@dataclass(frozen=True)
class Temperature:
    """p_k ** (1 / T), normalised: one number that takes confidence away (T > 1) or adds it; no order changes.

    >>> Temperature(2.0).apply(np.array([[0.9, 0.1]])).round(4).tolist()
    [[0.75, 0.25]]
    """

    temperature: float

    def apply(self, probability: FloatArray) -> FloatArray:
        return normalise(log(probability) / self.temperature).probability


@dataclass(frozen=True, eq=False)
class Platt:
    """sigmoid(slope * logit(p_k) + shift) of each state against the rest, normalised."""

    slope: FloatArray  # (n_states,)
    shift: FloatArray  # (n_states,)
    log_least: float = LOG_LEAST  # what log 0 is taken for

    def apply(self, probability: FloatArray) -> FloatArray:
        curves = probability_of(self.slope * logit(probability, self.log_least) + self.shift)
        return _shares(curves, probability)


@dataclass(frozen=True, eq=False)
class Isotonic:
    """The rising curve that fits best, of each state against the rest, normalised; straight between its corners."""

    curves: tuple[tuple[FloatArray, FloatArray], ...]  # p and the calibrated p, for each state

    def apply(self, probability: FloatArray) -> FloatArray:
        columns = [np.interp(p, x, y) for p, (x, y) in zip(probability.T, self.curves, strict=True)]
        return _shares(np.stack(columns, axis=1), probability)


@dataclass(frozen=True, eq=False)
class Dirichlet:
    """softmax(W log p + b): every state may borrow from every other; W is drawn towards the identity."""

    weights: FloatArray  # (n_states, n_states)
    shift: FloatArray  # (n_states,)
    log_least: float = LOG_LEAST  # what log 0 is taken for

    def apply(self, probability: FloatArray) -> FloatArray:
        log_shares = np.maximum(log(probability), self.log_least)
        return normalise(log_shares @ self.weights.T + self.shift).probability


@dataclass(frozen=True)
class AsItIs:
    """The posterior as the model gives it."""

    def apply(self, probability: FloatArray) -> FloatArray:
        return probability


def fit_calibration(method: str, probability: Any, states: Any, weights: Any = None) -> Any:
    """The calibration that fits rows best: "temperature", "platt", "isotonic", "dirichlet", or "auto".

    `probability` (n_rows, n_states) are posteriors of unseen rows, `states` the position of the true state of each.
    "auto" takes Dirichlet or isotonic calibration if that lowers the log-loss of rows it was not fitted to, in five
    folds, by more than one standard error, and leaves the posterior as it is otherwise.

    >>> shares = np.array([[0.99, 0.01]] * 10)
    >>> fitted = fit_calibration("temperature", shares, [0] * 8 + [1] * 2)
    >>> fitted.apply(shares[:1]).round(3).tolist()  # so sure, and right in 8 of 10
    [[0.8, 0.2]]
    """
    if method not in (*METHODS, "auto"):
        raise ParameterError(f"there is no calibration {method!r}", fix=f"choose one of auto, {', '.join(METHODS)}")
    shares = np.asarray(probability, dtype=np.float64)
    truth = np.asarray(states, dtype=np.int64)
    if shares.ndim != 2 or len(shares) != len(truth) or not len(truth):
        raise ParameterError(
            f"calibration needs a posterior and a state for each row; found {shares.shape} and {len(truth)}",
            fix="give as many of both, at least one",
        )
    if truth.min() < 0 or truth.max() >= shares.shape[1]:
        raise ParameterError("a row has a state that the posterior does not know", fix="leave such rows out")
    check_posterior(shares, range(shares.shape[1]))
    mass = np.ones(len(truth)) if weights is None else np.asarray(weights, dtype=np.float64)
    if mass.shape != truth.shape or not (np.isfinite(mass) & (mass >= 0.0)).all() or not mass.any():
        raise ParameterError("weights must be finite, not below 0 and not all 0", fix="give one for each row")
    return _simplest_of_the_best(shares, truth, mass) if method == "auto" else METHODS[method](shares, truth, mass)


def _simplest_of_the_best(shares: FloatArray, truth: IntArray, weights: FloatArray) -> Any:
    """Fitted to all rows, by the simplest method that rows left out cannot tell from the one that does best there."""
    # the simplest first; temperature and Platt's lines are cases of Dirichlet calibration, or nearly so
    fits: dict[str, Callable[..., Any]] = {"none": lambda *_: AsItIs(), "dirichlet": _dirichlet, "isotonic": _isotonic}
    folds = turns(truth, _FOLDS)
    scores = {name: _left_out_scores(fit, shares, truth, weights, folds) for name, fit in fits.items()}
    best = min(scores.values(), key=lambda each: float(weights @ each))

    def close(name: str) -> bool:
        worse = weights * (scores[name] - best)
        return bool(worse.sum() <= np.sqrt((worse**2).sum()))  # one standard error

    return fits[next(filter(close, fits))](shares, truth, weights)


def _left_out_scores(
    fit: Callable[..., Any], shares: FloatArray, truth: IntArray, weights: FloatArray, folds: IntArray
) -> FloatArray:
    """(n_rows,) log-losses, no share counted as less than n rows can show: half of 1 / n."""
    least = 0.5 / len(truth)
    scores = np.full(len(truth), -float(np.log(least)))
    for fold in range(int(folds.max()) + 1):
        inside, outside = folds == fold, folds != fold
        if weights[outside].sum() > 0.0:
            after = fit(shares[outside], truth[outside], weights[outside]).apply(shares[inside])
            scores[inside] = -np.log(np.maximum(after[np.arange(len(after)), truth[inside]], least))
    return scores


def turns(truth: IntArray, n_folds: int) -> IntArray:
    """(n_rows,) the fold of each row: those of one state take turns, so that folds have the shares of the whole.

    >>> turns(np.array([0, 0, 1, 0, 1, 0]), 2).tolist()
    [0, 1, 0, 0, 1, 1]
    """
    folds = np.empty(len(truth), dtype=np.int64)
    for state in np.unique(truth):
        rows = np.flatnonzero(truth == state)
        folds[rows] = np.arange(len(rows)) % n_folds
    return folds


def _log_least(shares: FloatArray) -> float:
    """What log 0 is taken for: the least other share, as no vote of a few trees does not mean never."""
    inner = shares[(shares > 0.0) & (shares < 1.0)]
    if not len(inner):
        return LOG_LEAST
    return float(log(min(inner.min(), (1.0 - inner).min()))) if ((shares == 0.0) | (shares == 1.0)).any() else LOG_LEAST


def _temperature(shares: FloatArray, truth: IntArray, weights: FloatArray) -> Temperature:
    return Temperature(1.0 / temperature_power(np.maximum(log(shares), _log_least(shares)), truth, weights))


def _platt(shares: FloatArray, truth: IntArray, weights: FloatArray) -> Platt:
    least = _log_least(shares)
    lines = [sigmoid_line(logit(p, least), truth == k, weights) for k, p in enumerate(shares.T)]
    return Platt(np.array([slope for slope, _ in lines]), np.array([shift for _, shift in lines]), least)


def _isotonic(shares: FloatArray, truth: IntArray, weights: FloatArray) -> Isotonic:
    return Isotonic(tuple(isotonic_steps(p, truth == k, weights) for k, p in enumerate(shares.T)))


def _dirichlet(shares: FloatArray, truth: IntArray, weights: FloatArray) -> Dirichlet:
    least = _log_least(shares)
    return Dirichlet(*dirichlet_weights(np.maximum(log(shares), least), truth, weights), least)


METHODS: dict[str, Callable[[FloatArray, IntArray, FloatArray], Any]] = {
    "temperature": _temperature,
    "platt": _platt,
    "dirichlet": _dirichlet,
    "isotonic": _isotonic,
}


def logit(probability: Any, log_least: float = LOG_LEAST) -> FloatArray:
    """log p - log(1 - p), from log_least to its mirror."""
    shares = np.asarray(probability, dtype=np.float64)
    return np.clip(log(shares) - log(1.0 - np.minimum(shares, 1.0)), log_least, -log_least)


def _shares(curves: FloatArray, before: FloatArray) -> FloatArray:
    """Curves of each state made to sum to 1; a row that is 0 in every curve keeps the posterior it had."""
    total = curves.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, curves / np.where(total > 0.0, total, 1.0), before)
