"""From the posteriors of left-out rows under all candidates to a mixture: a pool, weights and a calibration.

Posteriors are averaged (stacking.py) or their logarithms are (pooling.py), of the better candidates or of more; the way
with the lowest log-loss where the weights have not seen the row, in five folds, is taken. A single candidate has to be
clearly better there.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.logspace import log, log_sum_exp
from bayeswise.foundation.threads import algebra_on_one_thread
from bayeswise.models.auto.pooling import LogLinear, least_share, log_pool, pooled, smoothed, with_least
from bayeswise.models.auto.stacking import (
    MISTAKES_TO_COME,
    MUCH_WORSE,
    UNPROVEN,
    WORSE,
    contenders,
    risks,
    stacked,
    with_mistakes,
)
from bayeswise.posteriors.calibration import fit_calibration, turns
from bayeswise.posteriors.calibration_maps import AsItIs, Calibration

_FOLDS = 5
_CLEARLY_BETTER = 1.1  # times the log-loss of a single candidate: a pool above it is not taken


@dataclass(frozen=True, eq=False)
class Mixture:
    """Which candidates are members, their weights and how they are pooled."""

    kept: IntArray  # (n_members,) among the candidates
    weights: FloatArray  # (n_members,) on the simplex
    pool: LogLinear | None  # None: the mean of posteriors
    gap: float  # no other weights are better by more nats for each row
    calibration: Calibration = field(default_factory=AsItIs)


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """The posteriors of rows under candidates that never saw them, and the truth."""

    posterior: FloatArray  # (n_candidates, n_rows, n_states)
    log_own: FloatArray  # (n_candidates, n_rows) log p(own state), also where p is too small for a number
    truth: IntArray  # (n_rows,)
    row_weights: FloatArray  # (n_rows,)
    exact: BoolArray  # (n_candidates,) keep statistics, and not weights
    negligible: float  # of all weight: a member below is left out

    # -- the best candidate -----------------------------------------------------------------------------------
    @cached_property
    def own(self) -> FloatArray:
        """(n_candidates, n_rows) p(own state)."""
        return np.asarray(self.posterior[:, np.arange(len(self.truth)), self.truth])

    @property
    def losses(self) -> FloatArray:
        """(n_candidates,) mean log-losses."""
        return np.array([self._mean(-each) for each in self.log_own])

    def best(self, paid: FloatArray | None, calibrate: str) -> tuple[Mixture, float]:
        """The candidate of least cost, or of least risk, by itself; and the log-loss of a choice that saw no row."""
        all_candidates = np.arange(len(self.own))
        alone = self._single(all_candidates, np.arange(len(self.truth)))
        if paid is not None:
            at_risk = risks(self.own, self.row_weights)
            cheapest = int(np.lexsort([at_risk, paid])[0])  # of equal costs the one of least risk
            alone = replace(alone, kept=np.array([cheapest]))
        log_chosen = np.empty(len(self.truth))
        for inside, outside in self._folds:
            log_chosen[inside] = self._log_own(self._single(all_candidates, outside), inside)
        return self._calibrated(alone, calibrate), self._mean(-log_chosen)

    # -- all of them ------------------------------------------------------------------------------------------
    def mixture(self, calibrate: str) -> tuple[Mixture, float]:
        """The mixture of all candidates that matter, and the log-loss of weights and a pool that did not see the row.

        Regressions and trees are fitted by the log-loss, other members are not: where these gain so much by a
        calibration that they are ahead without the former, the former would only hide it.
        """
        with algebra_on_one_thread():
            plain, log_loss = self._pooled(np.arange(len(self.own)))
            whole = self._calibrated(plain, calibrate)
            if self.exact.all() or not self.exact.any():
                return whole, log_loss
            part, _ = self._pooled(np.flatnonzero(self.exact))
            if self._nats(part) > self._price_of_calibration:  # no map gains more than all the nats that there are
                part = self._calibrated(part, calibrate)
                gain = self._nats(whole) - self._nats(part)
                if not isinstance(part.calibration, AsItIs) and gain > self._price_of_calibration:
                    return part, log_loss
        return whole, log_loss

    def _pooled(self, among: IntArray) -> tuple[Mixture, float]:
        """The way to weigh that answers best for rows that it has not seen, and its log-loss there.

        With few nats in all rows weak candidates are hardly weighed down, so that they have to gain some in a pool. A
        pool protects from the rare row on which one candidate is confident and wrong: a single one has to be clearly
        better. The way is chosen for each row by the rows of the other folds.
        """
        nats = np.array(
            [
                [self._nats_of_rows(mixture, inside) for mixture in self._every_way(among, outside)]
                for inside, outside in self._folds
            ]
        )  # (n_folds, n_ways)
        best = [_best_way(np.delete(nats, fold, axis=0)) for fold in range(len(nats))]
        log_loss = float(nats[np.arange(len(nats)), best].sum() / self.row_weights.sum())
        return self._every_way(among, np.arange(len(self.truth)))[_best_way(nats)], log_loss

    def _every_way(self, among: IntArray, rows: IntArray) -> list[Mixture]:
        """Weighed by some rows, in the order of `_best_way`."""
        own, mass = self.own[among][:, rows], self.row_weights[rows]
        better, more = (among[contenders(own, mass, worse)] for worse in (WORSE, MUCH_WORSE))
        pools = [self._averaged(better, rows), self._log_linear(better, rows)]
        of_more = [self._averaged(more, rows), self._log_linear(more, rows)] if len(more) > len(better) else pools
        return [*pools, *of_more, self._single(among, rows)]

    @cached_property
    def _folds(self) -> list[tuple[IntArray, IntArray]]:
        """(rows inside, rows outside) of each fold."""
        folds = turns(self.truth, min(_FOLDS, len(self.truth)))
        return [(np.flatnonzero(folds == k), np.flatnonzero(folds != k)) for k in range(int(folds.max()) + 1)]

    def _averaged(self, kept: IntArray, rows: IntArray) -> Mixture:
        """Weights of posteriors, by some rows."""
        mass = self.row_weights[rows]
        while True:
            found = stacked(*with_mistakes(self.own[kept][:, rows], mass, self._least))
            heavy = found.weights >= self.negligible
            if heavy.all() or len(kept) == 1:
                return Mixture(kept, found.weights, None, found.gap)
            kept = kept[heavy]

    def _log_linear(self, members: IntArray, rows: IntArray) -> Mixture:
        """Weights of their logarithms, by some rows; of posteriors, where no member is worth any."""
        kept = members
        target = smoothed(self.truth[rows], self.row_weights[rows], np.exp(self._log_classes), MISTAKES_TO_COME)
        while True:
            found, gap = pooled(self._evidence[kept][:, rows], self._base, target)
            if not found.any():
                return self._averaged(members, rows)
            heavy = found >= self.negligible * found.sum()
            if heavy.all() or len(kept) == 1:
                power = float(found.sum())
                return Mixture(kept, found / power, LogLinear(power, self._least), gap)
            kept = kept[heavy]

    def _single(self, among: IntArray, rows: IntArray) -> Mixture:
        """The candidate of least risk, by some rows."""
        at_risk = risks(self.own[among][:, rows], self.row_weights[rows])
        return Mixture(among[[int(np.argmin(at_risk))]], np.ones(1), None, 0.0)

    @cached_property
    def _least(self) -> float:
        return least_share(self.row_weights)

    @cached_property
    def _log_classes(self) -> FloatArray:
        """(n_states,) the logarithms of the shares of the classes."""
        counts = np.bincount(self.truth, self.row_weights, self.posterior.shape[2])
        return log(counts / counts.sum())

    @cached_property
    def _base(self) -> FloatArray:
        """(n_states,) as they are pooled."""
        return with_least(self._log_classes, self._least)

    @cached_property
    def _evidence(self) -> FloatArray:
        """(n_candidates, n_rows, n_states) what is pooled in log space: what candidates say beyond these shares."""
        return with_least(log(self.posterior), self._least) - self._base

    # -- what a mixture says ----------------------------------------------------------------------------------
    def _log_own(self, mixture: Mixture, rows: IntArray) -> FloatArray:
        """(n_rows,) log p(own state) of some rows, not calibrated."""
        if mixture.pool is None:
            return log_sum_exp(self.log_own[mixture.kept][:, rows].T + np.log(mixture.weights))
        log_p = self._log_pool(mixture, rows)
        return np.asarray(log_p[np.arange(len(rows)), self.truth[rows]])

    def _log_pool(self, mixture: Mixture, rows: IntArray) -> FloatArray:
        assert mixture.pool is not None
        evidence = (self._evidence[k][rows] for k in mixture.kept.tolist())
        return log_pool(self._base, evidence, mixture.pool.power * mixture.weights, len(rows))

    def _posterior(self, mixture: Mixture) -> FloatArray:
        """(n_rows, n_states) not calibrated."""
        if mixture.pool is not None:
            return np.exp(self._log_pool(mixture, np.arange(len(self.truth))))
        mixed = np.zeros(self.posterior.shape[1:])
        for k, weight in zip(mixture.kept.tolist(), mixture.weights.tolist(), strict=True):
            mixed += weight * self.posterior[k]
        return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))

    def _nats_of_rows(self, mixture: Mixture, rows: IntArray) -> float:
        """The log-loss of some left-out rows under a mixture that is not calibrated."""
        return -float((self.row_weights[rows] * self._log_own(mixture, rows)).sum())

    def _nats(self, mixture: Mixture) -> float:
        """The log-loss of all left-out rows under a mixture, calibrated if it is."""
        posterior = self._posterior(mixture)
        after = posterior if isinstance(mixture.calibration, AsItIs) else mixture.calibration.apply(posterior)
        return float((self.row_weights * -log(self._of_truth(after))).sum())

    def _of_truth(self, posterior: FloatArray) -> FloatArray:
        return np.asarray(posterior[np.arange(len(posterior)), self.truth])

    def _mean(self, surprise: FloatArray) -> float:
        """The mean of the rows; infinite where the truth was thought impossible."""
        return float((self.row_weights * surprise).sum() / self.row_weights.sum())

    # -- calibration ------------------------------------------------------------------------------------------
    def _calibrated(self, mixture: Mixture, method: str) -> Mixture:
        """With the map that left-out rows call for: "auto" one that gains more nats than its numbers cost (as in BIC).

        Left-out rows without a mistake would always ask for more confidence; each number costs log(n) / 2.
        """
        if self.posterior.shape[2] < 2:
            return mixture
        rows = self._posterior(mixture), self.truth, self.row_weights
        if method != "auto":
            return replace(mixture, calibration=fit_calibration(method, *rows))
        before, price = self._nats_of_rows(mixture, np.arange(len(self.truth))), self._price_of_calibration
        if before <= price:  # no map gains more than all the nats that there are
            return mixture
        found = replace(mixture, calibration=fit_calibration(method, *rows, among=("dirichlet",)))
        return found if before - self._nats(found) > price else mixture

    @property
    def _price_of_calibration(self) -> float:
        """Nats: log(n) / 2 for each number of the map, as in BIC."""
        n_numbers = int(self.posterior.shape[2]) ** 2 - 1
        return 0.5 * n_numbers * float(np.log(self.row_weights.sum()))


def _best_way(nats: FloatArray) -> int:
    """The least log-loss of (n_folds, n_ways), where more candidates and a single one have to be better by some."""
    averaged, log_linear, averaged_of_more, log_linear_of_more, single = nats.sum(axis=0)
    of_more = (averaged_of_more + UNPROVEN, log_linear_of_more + UNPROVEN)
    return int(np.argmin([averaged, log_linear, *of_more, _CLEARLY_BETTER * single]))
