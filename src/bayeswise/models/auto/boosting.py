"""Trees, each of what the trees before it leave unexplained: interactions of any columns, found by rows.

The questions of a tree and the values of its leaves are Newton steps of the log-loss (gradient boosting). So many trees
are grown as lower the log-loss of a fifth of the rows that no tree has seen, and then as many from all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.models.auto.boosted_trees import RIDGE, AsTrees, Trees, start_of, summed, values_of
from bayeswise.models.auto.inputs import AsNumbers
from bayeswise.posteriors.calibration import turns
from bayeswise.posteriors.normalise import log_posterior
from bayeswise.tables.batch import Batch

BINS = 32  # of a number; questions are about their borders
MOST_ROUNDS, PATIENCE = 200, 15  # rounds without a gain on left-out rows end the search
LEAST_CURVATURE = 3.0  # of a branch: the sum of p (1 - p) of its rows
_LEFT_OUT = 5  # every fifth row says how many trees there are
_NO_GAIN = 1e-9


def grown(base: AsNumbers, batch: Batch, depth: int, rate: float) -> AsTrees:
    """Trees over all columns of rows."""
    weights = np.ones(batch.n_rows) if batch.weights is None else batch.weights
    groups = np.asarray(batch.groups).astype(np.int64)
    return AsTrees(base, boosted(base.batch(batch).values, groups, len(batch.group_labels), weights, depth, rate))


def boosted(
    numbers: FloatArray, groups: IntArray, n_states: int, weights: FloatArray, depth: int, rate: float
) -> Trees:
    """Trees of rows of numbers.

    >>> x = np.random.default_rng(0).normal(size=(600, 2))
    >>> trees = boosted(x, (x[:, 0] * x[:, 1] > 0).astype(int), 2, np.ones(600), depth=3, rate=0.3)
    >>> bool(((trees.scores(x)[:, 1] > 0) == (x[:, 0] * x[:, 1] > 0)).mean() > 0.95), trees.loss < 0.3
    (True, True)
    """
    left_out = turns(groups, _LEFT_OUT) == 0
    grown = _Growing.of(numbers[~left_out], groups[~left_out], n_states, weights[~left_out], depth, rate)
    asked, truth, mass = numbers[left_out], groups[left_out], weights[left_out]
    scores = np.tile(grown.start, (len(asked), 1))
    losses = [_loss(scores, truth, mass)]
    while len(losses) <= MOST_ROUNDS and len(losses) - int(np.argmin(losses)) <= PATIENCE:
        scores = scores + replace(grown.round(), start=np.zeros(n_states)).scores(asked)
        losses.append(_loss(scores, truth, mass))
    whole = _Growing.of(numbers, groups, n_states, weights, depth, rate)
    parts = [whole.round() for _ in range(int(np.argmin(losses)))]
    return replace(_joined(parts, whole.start, depth, rate), loss=float(min(losses)))


def _joined(parts: list[Trees], start: FloatArray, depth: int, rate: float) -> Trees:
    nodes = (1 << depth) - 1
    nothing = Trees(
        depth,
        np.empty(0, dtype=np.int64),
        np.empty((0, nodes), dtype=np.int64),
        np.empty((0, nodes)),
        np.empty((0, 2 * nodes + 1)),
        start,
        rate,
    )
    every = [nothing, *parts]
    return Trees(
        depth,
        np.concatenate([part.state for part in every]),
        np.concatenate([part.feature for part in every]),
        np.concatenate([part.threshold for part in every]),
        np.concatenate([part.value for part in every]),
        start,
        rate,
    )


def _loss(scores: FloatArray, truth: IntArray, mass: FloatArray) -> float:
    """The mean log-loss of rows."""
    own = log_posterior(scores)[np.arange(len(truth)), truth]
    return float(-(mass * own).sum() / mass.sum()) if len(truth) else 0.0


@dataclass(eq=False)
class _Growing:
    """Rows, and the scores that the trees so far give them."""

    codes: IntArray  # (n_rows, n_features) the bin of each number
    borders: list[FloatArray]
    truth: FloatArray  # (n_rows, n_states) 1 for the class of a row
    weights: FloatArray
    scores: FloatArray
    start: FloatArray
    depth: int
    rate: float

    @classmethod
    def of(
        cls, numbers: FloatArray, groups: IntArray, n_states: int, weights: FloatArray, depth: int, rate: float
    ) -> _Growing:
        borders = [_borders(column) for column in numbers.T]
        codes = [np.searchsorted(known, x, side="right") for known, x in zip(borders, numbers.T, strict=True)]
        truth = np.eye(n_states)[groups]
        start = start_of(truth, weights)
        scores = np.tile(start, (len(numbers), 1))
        return cls(np.column_stack(codes).astype(np.int64), borders, truth, weights, scores, start, depth, rate)

    def round(self) -> Trees:
        """The next trees: one of two classes, one for each of more; the scores of the rows follow."""
        share = np.exp(log_posterior(self.scores))
        n_states = self.truth.shape[1]
        states = [1] if n_states == 2 else list(range(n_states))
        parts = []
        for state in states:
            p = share[:, state]
            tree, leaf = self._tree(state, self.weights * (self.truth[:, state] - p), self.weights * p * (1.0 - p))
            self.scores[:, state] += tree.value[0, leaf]
            parts.append(tree)
        return _joined(parts, self.start, self.depth, self.rate)

    def _tree(self, state: int, slope: FloatArray, curvature: FloatArray) -> tuple[Trees, IntArray]:
        n_rows, n_features = self.codes.shape
        rows = np.arange(n_rows)
        node = np.zeros(n_rows, dtype=np.int64)  # of the nodes of one depth, from 0 on
        asked, thresholds = [], []
        cells = np.arange(n_features) * BINS + self.codes
        slopes, curvatures = (np.repeat(each, n_features) for each in (slope, curvature))
        for level in range(self.depth):
            n_nodes = 1 << level
            place = (node[:, None] * (n_features * BINS) + cells).ravel()
            shape = n_nodes, n_features, BINS
            feature, at = _best_questions(
                summed(place, slopes, n_nodes * n_features * BINS).reshape(shape),
                summed(place, curvatures, n_nodes * n_features * BINS).reshape(shape),
            )
            node = 2 * node + (self.codes[rows, feature[node]] >= at[node])
            asked.append(feature)
            thresholds.append(
                [
                    self.borders[j][k - 1] if k < BINS else np.inf
                    for j, k in zip(feature.tolist(), at.tolist(), strict=True)
                ]
            )
        value = values_of(node, slope, curvature, self.depth, self.rate)
        tree = Trees(
            self.depth,
            np.array([state]),
            np.concatenate(asked)[None],
            np.concatenate(thresholds)[None],
            value[None],
            self.start,
            self.rate,
        )
        return tree, node + (1 << self.depth) - 1


def _borders(x: FloatArray) -> FloatArray:
    """Up to BINS - 1 numbers that divide the values into parts of the same size."""
    found = np.unique(np.quantile(x, np.arange(1, BINS) / BINS, method="inverted_cdf"))
    return np.asarray(found[found > x.min(initial=np.inf)])


def _best_questions(slopes: FloatArray, curvatures: FloatArray) -> tuple[IntArray, IntArray]:
    """(n_nodes,) the number and the bin, from which on the answer is yes, of the largest gain; BINS: nothing gains."""
    above, above_mass = (each[:, :, ::-1].cumsum(axis=2)[:, :, ::-1] for each in (slopes, curvatures))
    total, mass = above[:, :1, :1], above_mass[:, :1, :1]
    below, below_mass = total - above, mass - above_mass
    gain = above**2 / (above_mass + RIDGE) + below**2 / (np.maximum(below_mass, 0.0) + RIDGE)
    possible = (above_mass >= LEAST_CURVATURE) & (below_mass >= LEAST_CURVATURE)
    gain = np.where(possible, gain - total**2 / (mass + RIDGE), -1.0).reshape(len(slopes), -1)
    best = gain.argmax(axis=1)
    gains = gain[np.arange(len(gain)), best] > _NO_GAIN
    return best // BINS, np.where(gains, best % BINS, BINS)
