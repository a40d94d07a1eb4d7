"""Weights of members on the simplex that maximise the log score of rows that were left out (Bayesian stacking).

With p_rk what member k says of the true class of row r, which it never saw, and m_r the weight of the row:

    f(w) = sum_r m_r log(sum_k w_k p_rk) + (pull / K) sum_k log w_k,      w_k > 0, sum_k w_k = 1

`pull` pseudo-rows, shared by the K members, draw the weights towards equal ones, so that few rows do not chase noise.
Every row is there twice: with its true class, and with all others together and a tiny weight (`with_mistakes`). f is
concave and self-concordant: Newton steps end at the one maximum from any start. How far any other weights could be
above is bounded without knowing them: f(v) - f(w) <= max_k df/dw_k - sum_k w_k df/dw_k, the duality gap, which is the
certificate.
"""

from __future__ import annotations

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass

PULL = 0.3  # pseudo-rows, shared by all members
WORSE = 1.5  # times the least risk: a candidate above has to gain more than UNPROVEN nats for the mixture
MUCH_WORSE = 3.0  # times the least risk: a candidate above has no part in the mixture
UNPROVEN = 1.0  # nats of all rows together: less between two candidates proves nothing
MISTAKES_TO_COME = 0.03  # pseudo-mistakes of a pool beside those that were seen, spread over all rows
MISTAKES_OF_ONE = 0.1  # those of a single member, which no other one makes up for
NEGLIGIBLE = 0.01  # of all weight: a member below is left out of the mixture
NEGLIGIBLE_OF_MANY = 0.05  # where members are learned again from many rows, each has to be worth it
_STEPS = 200
_CERTAIN = 36.0  # nats of a mistake under a probability that rounds to 1
_ENOUGH = 1e-10  # the duality gap for each row, in nats


@dataclass(frozen=True, eq=False)
class Stacked:
    """The weights, and how far from the best ones they can be."""

    weights: FloatArray  # (n_members,)
    gap: float  # at most so many nats for each row below the maximum


def stacked(share_of_truth: FloatArray, row_weights: FloatArray, *, pull: float = PULL) -> Stacked:
    """The best weights for (n_members, n_rows) probabilities of the true class of rows that were left out.

    Rows that no member thinks possible say nothing about the weights.

    >>> sure_and_wrong_once = np.array([[0.9, 0.9, 0.9, 1e-9], [0.6, 0.6, 0.6, 0.6]])
    >>> stacked(sure_and_wrong_once, np.ones(4), pull=0.01).weights.round(2).tolist()
    [0.26, 0.74]
    """
    possible = share_of_truth.max(axis=0, initial=0.0) > 0.0
    share = np.ascontiguousarray(share_of_truth[:, possible])
    mass = row_weights[possible]
    n_members = len(share)
    at = np.full(n_members, 1.0 / n_members)
    if n_members == 1:
        return Stacked(at, 0.0)
    problem = _Problem(share, mass, pull / n_members)
    total = max(float(mass.sum()), 1.0)
    slope = problem.slope(at)
    for _ in range(_STEPS):
        if problem.gap(at, slope) <= _ENOUGH * total:
            break
        after = problem.step(at, slope)
        if after is None:
            break
        at, slope = after, problem.slope(after)
    return Stacked(at, problem.gap(at, slope) / total)


def with_mistakes(share_of_truth: FloatArray, row_weights: FloatArray, least: float) -> tuple[FloatArray, FloatArray]:
    """The rows, and each of them once more with all its other classes, MISTAKES_TO_COME of them in total.

    Where no row was mistaken, the most confident weights would win whatever they are: nothing that was seen speaks
    against them. `least` is the share of the uniform distribution in what a mistake is given.

    >>> share, weights = with_mistakes(np.array([[1.0, 0.75]]), np.ones(2), 0.01)
    >>> share.round(4).tolist(), weights.tolist()
    ([[1.0, 0.75, 0.005, 0.2525]], [1.0, 1.0, 0.015, 0.015])
    """
    mistaken = (1.0 - least) * np.maximum(1.0 - share_of_truth, 0.0) + 0.5 * least
    rare = row_weights * (MISTAKES_TO_COME / max(float(row_weights.sum()), 1e-300))
    return np.concatenate([share_of_truth, mistaken], axis=1), np.concatenate([row_weights, rare])


def contenders(share_of_truth: FloatArray, row_weights: FloatArray, worse: float = MUCH_WORSE) -> IntArray:
    """The members whose risk is at most `worse` times the least; the pull alone would weigh the others.

    UNPROVEN nats of all rows together do not count.

    >>> contenders(np.array([[0.9, 0.9, 0.9, 0.5], [0.6, 0.6, 0.6, 0.6], [0.2, 0.2, 0.2, 0.2]]), np.ones(4)).tolist()
    [0, 1]
    >>> contenders(np.array([[0.99999], [0.99], [0.8]]).repeat(20, axis=1), np.ones(20)).tolist()
    [0, 1]
    """
    at_risk = risks(share_of_truth, row_weights)
    return np.flatnonzero(at_risk <= worse * at_risk.min() + UNPROVEN)


def risks(share_of_truth: FloatArray, row_weights: FloatArray) -> FloatArray:
    """(n_members,) the nats by which single members are compared: of all rows, and of a mistake to come.

    A row counts with log(n) nats at most. A mistake costs what the member gives to all other classes, on average of the
    rows: where none was seen, the least loss is that of the most confident member, and proves nothing.

    >>> risks(np.array([[0.9999999, 0.9999999], [0.97, 0.99]]), np.ones(2)).round(2).tolist()
    [1.61, 0.45]
    """
    with np.errstate(divide="ignore"):
        of_others = np.minimum(-np.log(1.0 - np.minimum(share_of_truth, 1.0)), _CERTAIN)
    mistake = (of_others * row_weights).sum(axis=1) / max(float(row_weights.sum()), 1e-300)
    return np.asarray(_bounded_losses(share_of_truth, row_weights) + MISTAKES_OF_ONE * mistake)


def _bounded_losses(share_of_truth: FloatArray, row_weights: FloatArray) -> FloatArray:
    """(n_members,) the nats of all rows, log(n) of each at most."""
    total = max(float(row_weights.sum()), 2.0)
    surprise = -np.log(np.maximum(share_of_truth, 1.0 / total))
    return np.array([float((row_weights * each).sum()) for each in surprise])


@dataclass(frozen=True, eq=False)
class _Problem:
    share: FloatArray  # (n_members, n_rows)
    mass: FloatArray  # (n_rows,)
    pull: float

    def value(self, at: FloatArray) -> float:
        """f; sums are those of NumPy, which do not depend on the number of threads."""
        return float((self.mass * np.log(self._mixed(at))).sum() + self.pull * np.log(at).sum())

    def _mixed(self, at: FloatArray) -> FloatArray:
        mixed = np.zeros(self.share.shape[1])
        for weight, share in zip(at.tolist(), self.share, strict=True):
            mixed += weight * share
        return mixed

    def slope(self, at: FloatArray) -> FloatArray:
        by_row = self.mass / self._mixed(at)
        return np.asarray((self.share * by_row).sum(axis=1) + self.pull / at)

    def gap(self, at: FloatArray, slope: FloatArray) -> float:
        return float(slope.max() - (at * slope).sum())

    def step(self, at: FloatArray, slope: FloatArray) -> FloatArray | None:
        """A Newton step along the simplex, shortened until f grows; None where it no longer does."""
        n_members = len(at)
        by_row = self.mass / self._mixed(at) ** 2
        curvature = np.diag(self.pull / at**2)
        for j in range(n_members):
            curvature[j, j:] += (self.share[j] * by_row * self.share[j:]).sum(axis=1)
            curvature[j:, j] = curvature[j, j:]
        # in units of the weights, so that small ones do not spoil the system
        system = np.zeros((n_members + 1, n_members + 1))
        system[:-1, :-1] = curvature * np.outer(at, at)
        system[:-1, -1] = system[-1, :-1] = at
        relative = np.linalg.lstsq(system, np.append(at * slope, 0.0), rcond=None)[0][:-1]
        size = min(1.0, 0.95 / max(float(-relative.min()), 1e-300)) if relative.min() < 0 else 1.0
        before, promised = self.value(at), float((relative * at * slope).sum())
        while size > 1e-9:
            there = at * (1.0 + size * relative)
            there /= there.sum()
            if self.value(there) >= before + 1e-4 * size * promised - 1e-14 * abs(before):
                return there if not np.array_equal(there, at) else None
            size *= 0.5
        return None
