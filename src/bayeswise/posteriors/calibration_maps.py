"""Maps from a posterior to a better one, fitted to rows whose state is known: values that a model file can hold.

A map gives a score to each state, from log space to log space; the scores, normalised, are the calibrated posterior.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.posteriors.calibration_fits import LOG_LEAST
from bayeswise.posteriors.normalise import log_posterior, normalise

__all__ = ["AsItIs", "Dirichlet", "Isotonic", "Platt", "Temperature"]  # what a model file may hold


class Calibration(ABC):
    """A map of posteriors, the states in the order in which it was fitted."""

    name: ClassVar[str]
    """The method that fits such a map."""

    @abstractmethod
    def log_scores(self, log_probability: FloatArray) -> FloatArray:
        """(n_rows, n_states) the calibrated log posterior up to a number for each row."""

    @property
    def rising(self) -> bool:
        """Whether, of two states, more probability before never means less after."""
        return True

    def apply(self, probability: FloatArray) -> FloatArray:
        """(n_rows, n_states) the calibrated posterior; a share of 0 is a small one, such as no vote of ten trees."""
        return normalise(_or_else(self.log_scores(log(probability)), log(probability))).probability

    def apply_log(self, log_probability: FloatArray) -> FloatArray:
        """(n_rows, n_states) the log of the calibrated posterior, exact in the tails; what is impossible stays so."""
        scores = np.where(np.isneginf(log_probability), -np.inf, self.log_scores(log_probability))
        return log_posterior(_or_else(scores, log_probability))

    @abstractmethod
    def refuse_impossible(self) -> None:
        """Numbers that no fit gives, in a file."""


@dataclass(frozen=True)
class Temperature(Calibration):
    """p_k ** (1 / T), normalised: one number that takes confidence away (T > 1) or adds it; no order changes.

    >>> Temperature(2.0).apply(np.array([[0.9, 0.1]])).round(4).tolist()
    [[0.75, 0.25]]
    """

    temperature: float

    name: ClassVar[str] = "temperature"

    def log_scores(self, log_probability: FloatArray) -> FloatArray:
        return np.asarray(log_probability / self.temperature)

    def refuse_impossible(self) -> None:
        _refuse(not 0.0 < self.temperature < np.inf, f"a temperature of {self.temperature}")


@dataclass(frozen=True, eq=False)
class Platt(Calibration):
    """sigmoid(slope * logit(p_k) + shift) of each state against the rest, normalised."""

    slope: FloatArray  # (n_states,)
    shift: FloatArray  # (n_states,)
    log_least: float = LOG_LEAST  # what log 0 is taken for

    name: ClassVar[str] = "platt"

    @property
    def rising(self) -> bool:
        return bool((self.slope >= 0.0).all())

    def log_scores(self, log_probability: FloatArray) -> FloatArray:
        lines = self.slope * logit_of_log(log_probability, self.log_least) + self.shift
        return np.asarray(-np.logaddexp(0.0, -lines))

    def refuse_impossible(self) -> None:
        _refuse_shapes(self.slope, self.shift)
        _refuse_log_least(self.log_least)


@dataclass(frozen=True, eq=False)
class Isotonic(Calibration):
    """The rising curve that fits best, of each state against the rest, normalised; straight between its corners."""

    curves: tuple[tuple[FloatArray, FloatArray], ...]  # p and the calibrated p, for each state

    name: ClassVar[str] = "isotonic"

    def log_scores(self, log_probability: FloatArray) -> FloatArray:
        shares = np.exp(log_probability)
        return log(np.stack([np.interp(p, x, y) for p, (x, y) in zip(shares.T, self.curves, strict=True)], axis=1))

    def refuse_impossible(self) -> None:
        for x, y in self.curves:
            falls = x.ndim != 1 or x.shape != y.shape or not len(x) or (np.diff(x) <= 0).any() or (np.diff(y) < 0).any()
            _refuse(falls or not (np.isfinite(x).all() and 0.0 <= y[0] <= y[-1] <= 1.0), "a curve that does not rise")


@dataclass(frozen=True, eq=False)
class Dirichlet(Calibration):
    """softmax(W log p + b): every state may borrow from every other; W is drawn towards the identity."""

    weights: FloatArray  # (n_states, n_states)
    shift: FloatArray  # (n_states,)
    log_least: float = LOG_LEAST  # what log 0 is taken for

    name: ClassVar[str] = "dirichlet"

    @property
    def rising(self) -> bool:
        """Of two states: log p_1 / p_2 after is a log p_1 + c log p_2, which rises with p_1 where a >= 0 >= c."""
        if len(self.shift) != 2:
            return False
        first, second = (self.weights[0] - self.weights[1]).tolist()
        return bool(first >= 0.0 >= second)

    def log_scores(self, log_probability: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(log_probability, self.log_least) @ self.weights.T + self.shift)

    def refuse_impossible(self) -> None:
        _refuse_shapes(self.weights[..., 0], self.shift)
        square = self.weights.shape == (len(self.shift), len(self.shift))
        _refuse(not square or not np.isfinite(self.weights).all(), "weights that are not a finite square matrix")
        _refuse_log_least(self.log_least)


@dataclass(frozen=True)
class AsItIs(Calibration):
    """The posterior as the model gives it."""

    name: ClassVar[str] = "none"

    def log_scores(self, log_probability: FloatArray) -> FloatArray:
        return log_probability

    def refuse_impossible(self) -> None:
        return

    def apply(self, probability: FloatArray) -> FloatArray:
        return probability

    def apply_log(self, log_probability: FloatArray) -> FloatArray:
        return log_probability


MAPS = (Temperature, Platt, Isotonic, Dirichlet, AsItIs)


def logit_of_log(log_probability: FloatArray, log_least: float = LOG_LEAST) -> FloatArray:
    """log p - log(1 - p), from log_least to its mirror; 1 - p = -expm1(log p) keeps its digits near p = 1."""
    return np.clip(log_probability - log(-np.expm1(np.minimum(log_probability, 0.0))), log_least, -log_least)


def _or_else(scores: FloatArray, log_probability: FloatArray) -> FloatArray:
    """The scores; a row that is impossible in every state keeps the posterior it had."""
    nothing = np.isneginf(scores).all(axis=1, keepdims=True)
    return np.where(nothing, log_probability, scores) if nothing.any() else scores


def _refuse(wrong: Any, what: str) -> None:
    if wrong:
        raise ParameterError(f"a calibration has {what}")


def _refuse_shapes(one: FloatArray, other: FloatArray) -> None:
    _refuse(one.ndim != 1 or one.shape != other.shape or not len(one), "no number for each state")
    _refuse(not (np.isfinite(one).all() and np.isfinite(other).all()), "numbers that are not finite")


def _refuse_log_least(log_least: float) -> None:
    _refuse(not -np.inf < log_least <= 0.0, f"a least logarithm of {log_least}")
