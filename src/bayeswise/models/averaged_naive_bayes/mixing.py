"""From the evidence of a column, with and without the classes, to its weight and to the mixture of its cells."""

from __future__ import annotations

import numpy as np

from bayeswise.foundation.arrays import FloatArray


def log_sigmoid(log_odds: FloatArray) -> FloatArray:
    """log of 1 / (1 + exp(-log_odds)), exact in both tails.

    >>> log_sigmoid(np.array([0.0, -800.0, 800.0])).round(4).tolist()
    [-0.6931, -800.0, -0.0]
    """
    return np.asarray(-np.logaddexp(0.0, -log_odds))


def log_mixture(log_odds: FloatArray, log_relevant: FloatArray, log_irrelevant: FloatArray) -> FloatArray:
    """log of w p(cell | state) + (1 - w) p(cell), with w = sigmoid(log_odds).

    >>> np.exp(log_mixture(np.array(0.0), np.log(0.8), np.log(0.4))).round(12).item()
    0.6
    """
    return np.logaddexp(log_sigmoid(log_odds) + log_relevant, log_sigmoid(-log_odds) + log_irrelevant)


def relevance_of(log_odds: FloatArray) -> FloatArray:
    """The weight w."""
    return np.asarray(np.exp(log_sigmoid(log_odds)))
