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

    def apply(self, probability: FloatArray) -> FloatArray:
        curves = probability_of(self.slope * logit(probability) + self.shift)
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

    def apply(self, probability: FloatArray) -> FloatArray:
        log_shares = np.maximum(log(probability), LOG_LEAST)
        return normalise(log_shares @ self.weights.T + self.shift).probability


def fit_calibration(method: str, probability: Any, states: Any, weights: Any = None) -> Any:
    """The calibration that fits rows best: "temperature", "platt", "isotonic" or "dirichlet".

    `probability` (n_rows, n_states) are posteriors of unseen rows, `states` the position of the true state of each.

    >>> shares = np.array([[0.99, 0.01]] * 10)
    >>> fitted = fit_calibration("temperature", shares, [0] * 8 + [1] * 2)
    >>> fitted.apply(shares[:1]).round(3).tolist()  # so sure, and right in 8 of 10
    [[0.8, 0.2]]
    """
    if method not in METHODS:
        raise ParameterError(f"there is no calibration {method!r}", fix=f"choose one of {', '.join(METHODS)}")
    shares = np.asarray(probability, dtype=np.float64)
    truth = np.asarray(states, dtype=np.int64)
    if shares.ndim != 2 or len(shares) != len(truth) or not len(truth):
        raise ParameterError(
            f"calibration needs a posterior and a state for each row; found {shares.shape} and {len(truth)}",
            fix="give as many of both, at least one",
        )
    if truth.min() < 0 or truth.max() >= shares.shape[1]:
        raise ParameterError("a row has a state that the posterior does not know", fix="leave such rows out")
    mass = np.ones(len(truth)) if weights is None else np.asarray(weights, dtype=np.float64)
    return METHODS[method](shares, truth, mass)


def _temperature(shares: FloatArray, truth: IntArray, weights: FloatArray) -> Temperature:
    return Temperature(1.0 / temperature_power(np.maximum(log(shares), LOG_LEAST), truth, weights))


def _platt(shares: FloatArray, truth: IntArray, weights: FloatArray) -> Platt:
    lines = [sigmoid_line(logit(p), truth == k, weights) for k, p in enumerate(shares.T)]
    return Platt(np.array([slope for slope, _ in lines]), np.array([shift for _, shift in lines]))


def _isotonic(shares: FloatArray, truth: IntArray, weights: FloatArray) -> Isotonic:
    return Isotonic(tuple(isotonic_steps(p, truth == k, weights) for k, p in enumerate(shares.T)))


def _dirichlet(shares: FloatArray, truth: IntArray, weights: FloatArray) -> Dirichlet:
    return Dirichlet(*dirichlet_weights(np.maximum(log(shares), LOG_LEAST), truth, weights))


METHODS: dict[str, Callable[[FloatArray, IntArray, FloatArray], Any]] = {
    "temperature": _temperature,
    "platt": _platt,
    "isotonic": _isotonic,
    "dirichlet": _dirichlet,
}


def logit(probability: Any) -> FloatArray:
    """log p - log(1 - p), as far as doubles reach."""
    shares = np.asarray(probability, dtype=np.float64)
    return np.clip(log(shares) - log(1.0 - np.minimum(shares, 1.0)), LOG_LEAST, -LOG_LEAST)


def _shares(curves: FloatArray, before: FloatArray) -> FloatArray:
    """Curves of each state made to sum to 1; a row that is 0 in every curve keeps the posterior it had."""
    total = curves.sum(axis=1, keepdims=True)
    return np.where(total > 0.0, curves / np.where(total > 0.0, total, 1.0), before)
