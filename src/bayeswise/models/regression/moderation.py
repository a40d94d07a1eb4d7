"""Probabilities averaged over what is not known about the weights: far from the rows they are less sure.

MacKay's approximation of the integral of sigmoid(a) N(a; mean, variance):  sigmoid(mean / sqrt(1 + pi variance / 8)),
which is never off by more than 0.02.
For several classes each score is divided by the root of its own variance, seen from the mean of all scores.
"""

from __future__ import annotations

import numpy as np

from bayeswise.foundation.arrays import FloatArray


def moderated_scores(scores: FloatArray, standardised: FloatArray, covariance: FloatArray) -> FloatArray:
    """(n_rows, n_classes) scores shrunk by their uncertainty; `standardised` is (n_rows, n) without the intercept.

    >>> z = np.array([[0.0], [10.0]])
    >>> moderated_scores(np.array([[0.0, 1.0], [0.0, 1.0]]), z, np.diag([0.5, 0.0])).round(3).tolist()
    [[0.0, 1.0], [0.0, 0.22]]
    """
    n_classes = scores.shape[1]
    z = np.column_stack([standardised, np.ones(len(standardised))])
    if n_classes == 2:
        return scores * _shrinkage(_variance(z, covariance))[:, None]
    blocks = _about_their_mean(covariance, n_classes)
    variance = np.column_stack([_variance(z, blocks[k]) for k in range(n_classes)])
    about_mean = scores - scores.mean(axis=1, keepdims=True)
    return np.asarray(about_mean * _shrinkage(variance))


def _variance(z: FloatArray, covariance: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(((z @ covariance) * z).sum(axis=1), 0.0))


def _shrinkage(variance: FloatArray) -> FloatArray:
    return np.asarray(1.0 / np.sqrt(1.0 + 0.125 * np.pi * variance))


def _about_their_mean(covariance: FloatArray, n_classes: int) -> FloatArray:
    """(n_classes, n, n) the covariance of each class's vector less the mean of all vectors."""
    n = len(covariance) // n_classes
    blocks = covariance.reshape(n_classes, n, n_classes, n)
    to_mean = blocks.mean(axis=2)  # (n_classes, n, n)
    overall = to_mean.mean(axis=0)
    own = np.stack([blocks[k, :, k] for k in range(n_classes)])
    return np.asarray(own - to_mean - to_mean.transpose(0, 2, 1) + overall)
