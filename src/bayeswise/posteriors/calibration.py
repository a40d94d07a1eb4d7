"""Posteriors that mean what they say: the map that fits rows whose state is known best.

Fit them to posteriors of rows that the model has not seen: `leave_one_out` of a model, or folds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

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
from bayeswise.posteriors.calibration_maps import (
    AsItIs,
    Calibration,
    Dirichlet,
    Isotonic,
    Platt,
    Temperature,
    logit_of_log,
)
from bayeswise.posteriors.normalise import check_posterior

_FOLDS = 5


def fit_calibration(
    method: str, probability: Any, states: Any, weights: Any = None, *, among: Sequence[str] = ("dirichlet", "isotonic")
) -> Calibration:
    """The calibration that fits rows best: "temperature", "sigmoid", "isotonic", "dirichlet", "none" or "auto".

    `probability` (n_rows, n_states) are posteriors of unseen rows, `states` the position of the true state of each.
    "auto" takes one `among` Dirichlet and isotonic calibration if that lowers the log-loss of rows it was not fitted
    to, in five folds, by more than one standard error, and leaves the posterior as it is otherwise. The order of rows
    does not matter.

    >>> shares = np.array([[0.99, 0.01]] * 10)
    >>> fitted = fit_calibration("temperature", shares, [0] * 8 + [1] * 2)
    >>> fitted.apply(shares[:1]).round(3).tolist()  # so sure, and right in 8 of 10
    [[0.8, 0.2]]
    """
    method = checked_method(method)
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
    order = np.lexsort((mass, *shares.T, truth))  # folds and sums are those of the rows in any order
    fit: Callable[..., Calibration] = partial(_simplest_of_the_best, among) if method == "auto" else METHODS[method]
    return fit(shares[order], truth[order], mass[order])


def checked_method(method: Any) -> str:
    """The name of a calibration, of aliases the first.

    >>> checked_method("sigmoid")
    'platt'
    """
    name = ALIASES.get(method, method) if isinstance(method, str) else method
    if not isinstance(name, str) or name not in (*METHODS, "auto"):
        choices = ["auto", *dict.fromkeys((*METHODS, *ALIASES))]
        raise ParameterError(f"there is no calibration {method!r}", fix=f"choose one of {', '.join(choices)}")
    return name


def _simplest_of_the_best(
    among: Sequence[str], shares: FloatArray, truth: IntArray, weights: FloatArray
) -> Calibration:
    """Fitted to all rows, by the simplest method that is not significantly worse than the best on left-out rows."""
    # the simplest first; temperature and Platt's lines are cases of Dirichlet calibration, or nearly so
    fits = {name: METHODS[name] for name in ("none", *among)}
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
    for state in np.flatnonzero(np.bincount(truth)):  # np.unique would import numpy.ma
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
    lines = [sigmoid_line(logit_of_log(log(p), least), truth == k, weights) for k, p in enumerate(shares.T)]
    return Platt(np.array([slope for slope, _ in lines]), np.array([shift for _, shift in lines]), least)


def _isotonic(shares: FloatArray, truth: IntArray, weights: FloatArray) -> Isotonic:
    return Isotonic(tuple(isotonic_steps(p, truth == k, weights) for k, p in enumerate(shares.T)))


def _dirichlet(shares: FloatArray, truth: IntArray, weights: FloatArray) -> Dirichlet:
    least = _log_least(shares)
    return Dirichlet(*dirichlet_weights(np.maximum(log(shares), least), truth, weights), least)


METHODS: dict[str, Callable[[FloatArray, IntArray, FloatArray], Calibration]] = {
    "temperature": _temperature,
    "platt": _platt,
    "dirichlet": _dirichlet,
    "isotonic": _isotonic,
    "none": lambda shares, truth, weights: AsItIs(),
}
ALIASES = {"sigmoid": "platt"}
