"""Which open rows to query, with which probability each was chosen, and what a label would save."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayeswise import _kernels
from bayeswise.acquisition.pool import Pool
from bayeswise.acquisition.pool_beliefs import Beliefs, BeliefsOfFewRows
from bayeswise.acquisition.queries import Query, asking_action, savings_of_asking
from bayeswise.acquisition.uncertainty import UNCERTAINTY, entropy
from bayeswise.decisions.costs.costs import Costs
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Label

REFERENCES = 256
_BLOCK_CELLS = 1 << 22


class Likeness:
    """How alike rows of one pool are: exp(-distance^2 / 2) over all columns, 1 for equal rows.

    Numbers differ by standard deviations of the pool, categories by 1 where the levels differ, texts by the angle
    between their words; the sum of squares is divided by the number of columns, so that a few or many columns are the
    same scale.

    >>> batch = Batch(3, np.array([[0.0], [0.0], [2.0]]), np.empty((3, 0), dtype=np.int32))
    >>> Likeness(batch).between(np.arange(3), np.array([0]))[:, 0].round(3).tolist()
    [1.0, 1.0, 0.105]
    """

    def __init__(self, batch: Batch, seed: int = 0) -> None:
        self._batch = batch
        self._seed = seed

    @cached_property
    def _numbers(self) -> FloatArray:
        """(n_rows, n_numbers) in standard deviations; a missing cell is average."""
        values = self._batch.values
        present = ~np.isnan(values)
        weight = np.maximum(present.sum(axis=0), 1)
        size = np.max(np.abs(np.where(present, values, 0.0)), axis=0, initial=0.0)
        size = np.where(size > 0, size, 1.0)  # squares of huge numbers stay in range
        scaled = np.where(present, values / size, 0.0)
        mean = scaled.sum(axis=0) / weight
        gap = np.where(present, scaled - mean, 0.0)
        stddev = np.sqrt((gap**2).sum(axis=0) / weight)
        return np.asarray(gap / np.where(stddev > 0, stddev, 1.0))

    @cached_property
    def _texts(self) -> list[Any]:
        """Word counts with rows of length 1."""
        return [_unit_rows(block.counts) for block in self._batch.texts]

    def between(self, rows: IntArray, others: IntArray) -> FloatArray:
        """(n_rows, n_others)."""
        mine, theirs = self._numbers[rows], self._numbers[others]
        square = (mine**2).sum(axis=1)[:, None] + (theirs**2).sum(axis=1) - 2.0 * (mine @ theirs.T)
        np.maximum(square, 0.0, out=square)
        codes = self._batch.codes
        for c in range(codes.shape[1]):
            square += codes[rows, c][:, None] != codes[others, c]
        for unit in self._texts:
            square += 2.0 - 2.0 * (unit[rows] @ unit[others].T).toarray()
        n_columns = mine.shape[1] + codes.shape[1] + len(self._texts)
        return np.asarray(np.exp(square / (-2.0 * max(n_columns, 1))))

    @cached_property
    def density(self) -> FloatArray:
        """(n_rows,) the mean likeness of each row to 256 rows drawn from the pool, or to all of a smaller one."""
        n_rows = self._batch.n_rows
        others = np.arange(n_rows)
        if n_rows > REFERENCES:
            others = np.sort(np.random.default_rng(self._seed).choice(n_rows, REFERENCES, replace=False))
        step = max(1, _BLOCK_CELLS // len(others))
        parts = [
            self.between(np.arange(start, min(start + step, n_rows)), others).mean(axis=1)
            for start in range(0, n_rows, step)
        ]
        return np.concatenate(parts)


def _unit_rows(counts: Any) -> Any:
    length = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return counts.multiply((1.0 / np.where(length > 0, length, 1.0))[:, None]).tocsr()


def diverse(scores: FloatArray, rows: IntArray, n: int, likeness: Likeness) -> list[int]:
    """n positions of large scores, best first; a score falls to (1 - likeness) of itself beside a row that was chosen.

    >>> batch = Batch(3, np.array([[0.0], [0.0], [2.0]]), np.empty((3, 0), dtype=np.int32))
    >>> diverse(np.array([0.9, 0.9, 0.5]), np.arange(3), 2, Likeness(batch))
    [0, 2]
    """
    left = scores.astype(np.float64).copy()
    chosen: list[int] = []
    for _ in range(min(n, len(rows))):
        best = int(np.argmax(left))
        chosen.append(best)
        unlike = 1.0 - likeness.between(rows, rows[[best]])[:, 0]
        np.multiply(left, unlike, out=left, where=left > 0)
        left[chosen] = -np.inf
    return chosen


STRATEGIES = (*UNCERTAINTY, "density-weighted", "expected cost", "ask", "random")
_CANDIDATES_OF_A_BATCH = 64  # candidates for each row of a batch


class Candidate(NamedTuple):
    """A row, the score of its label, and its posterior, (n_states,)."""

    row: int
    score: float
    posterior: FloatArray


@dataclass(frozen=True)
class Chooser:
    """Scores the rows of a pool by one strategy."""

    model: Callable[[], Any]  # made when it is needed
    classes: tuple[Label, ...]
    pool: Pool
    beliefs: Beliefs
    likeness: Likeness
    costs: Costs
    strategy: str
    n_candidates: int
    warm_up: bool = False  # any row is as good as another

    def queries(
        self, is_open: BoolArray, n: int, differing: bool, random_share: float, coin: Callable[[int], Generator]
    ) -> list[Query]:
        """At most n of the open rows; a random share of them is drawn from all that are left, each by its own coin."""
        left, n_open = is_open.copy(), int(np.count_nonzero(is_open))
        ranked = {candidate.row: candidate for candidate in self._ranked(is_open, min(n, n_open), differing)}
        share = 1.0 if self._draws else random_share
        chosen: list[Query] = []
        for k, n_left in enumerate(range(n_open, max(0, n_open - n), -1)):
            best = next((row for row in ranked if left[row]), None)
            best = int(np.argmax(left)) if best is None else best
            drawn = _drawn(left, n_left, share, coin(k)) if share > 0 else None
            row = best if drawn is None else drawn
            chance = share / n_left + (1.0 - share) * (row == best)
            why = self.strategy if drawn is None else "warm-up" if self.warm_up else "random"
            candidate = ranked.get(row) or Candidate(row, 0.0, self.beliefs.posterior(np.array([row]))[0])
            posterior = dict(zip(self.classes, candidate.posterior.tolist(), strict=True))
            chosen.append(Query(row, candidate.score, posterior, why, chance, n_left))
            left[row] = False
        return chosen

    @property
    def _draws(self) -> bool:
        return self.warm_up or self.strategy == "random"

    def _ranked(self, is_open: BoolArray, n: int, differing: bool) -> list[Candidate]:
        """n rows, best first."""
        if self._draws:
            return []
        if n == 1 and self._is_by_uncertainty:
            return [self._most_uncertain(is_open)]
        rows, scores = self.scored(np.flatnonzero(is_open))
        order = np.argsort(-scores, kind="stable") if n > 1 else np.array([np.argmax(scores)])
        if differing and n > 1:
            order = order[: _CANDIDATES_OF_A_BATCH * n]
            order = order[diverse(scores[order], rows[order], n, self.likeness)]
        best, score = rows[order[:n]], scores[order[:n]]
        return list(map(Candidate, best.tolist(), score.tolist(), self.beliefs.posterior(best)))

    @property
    def _is_by_uncertainty(self) -> bool:
        return self.strategy in UNCERTAINTY or self.strategy == "density-weighted"

    def _uncertainty(self, posterior: FloatArray, rows: IntArray) -> FloatArray:
        """(n_rows,) times the share of known cells: missing ones make a row uncertain, and its label teaches less."""
        if self.strategy == "density-weighted":
            return entropy(posterior) * self.likeness.density[rows]
        score, known = UNCERTAINTY[self.strategy](posterior), self.pool.share_known
        return score if known is None else score * known[rows]

    def _most_uncertain(self, is_open: BoolArray) -> Candidate:
        """The first of the best rows: all but a few need no second look."""
        if self.strategy == "density-weighted":
            near = self.beliefs.contenders("entropy", is_open, self.likeness.density)
        else:
            near = self.beliefs.contenders(self.strategy, is_open, self.pool.share_known)
        posterior = self.beliefs.posterior(near)
        score = self._uncertainty(posterior, near)
        best = int(np.argmax(score))
        return Candidate(int(near[best]), float(score[best]), posterior[best])

    def scored(self, rows: IntArray) -> tuple[IntArray, FloatArray]:
        """The score of the label of each row; for the lookahead, of the most costly rows only."""
        if self._is_by_uncertainty:
            return rows, self._uncertainty(self.beliefs.posterior(rows), rows)
        table = self.costs.table
        if self.strategy == "ask":
            return rows, savings_of_asking(self.beliefs.posterior(rows) @ table.T, asking_action(self.costs))[0]
        costly = np.argsort(-least_costs(self.beliefs.posterior(rows), table), kind="stable")[: self.n_candidates]
        candidates = rows[costly]
        return candidates, expected_savings(self.model, self.classes, self.pool, self.beliefs, candidates, table)


def _drawn(left: BoolArray, n_left: int, share: float, coin: Generator) -> int | None:
    """Any of the rows that are left, with the probability of the share."""
    return int(np.flatnonzero(left)[coin.integers(n_left)]) if coin.random() < share else None


def least_costs(posterior: FloatArray, costs: FloatArray) -> FloatArray:
    """(n_rows,) the expected cost of the cheapest action; costs are (n_actions, n_states).

    >>> least_costs(np.array([[0.9, 0.1]]), np.array([[0.0, 10.0], [1.0, 0.0]])).tolist()
    [0.9]
    """
    expected = np.empty((len(costs), len(posterior)))
    _kernels.expected_costs(np.ascontiguousarray(posterior), costs, expected, np.empty(len(posterior), dtype=np.int64))
    return np.asarray(expected.min(axis=0))


def expected_savings(
    model: Callable[[], Any],
    classes: tuple[Label, ...],
    pool: Pool,
    beliefs: Beliefs,
    candidates: IntArray,
    costs: FloatArray,
) -> FloatArray:
    """(n_candidates,) by how much the mean expected cost of the pool would fall with the label of each candidate.

    sum over labels of p(label | row) times the cost after learning it; a label is one merge, nothing is fitted again.
    Both costs are those expected by the model, so the saving may be below zero.
    """
    posterior = beliefs.posterior()
    now = float(least_costs(posterior, costs).mean())
    p_label = posterior[candidates]  # (n_candidates, n_states)
    savings = np.full(len(candidates), now)
    for k, row in enumerate(candidates.tolist()):
        for state, label in enumerate(classes):
            if p_label[k, state] > 0:
                with _with_label(beliefs, model, pool, row, state, label):
                    after = float(least_costs(beliefs.posterior(), costs).mean())
                savings[k] -= p_label[k, state] * after
    return savings


@contextmanager
def _with_label(
    beliefs: Beliefs, model: Callable[[], Any], pool: Pool, row: int, state: int, label: Label
) -> Iterator[None]:
    """As if the row had this label."""
    if isinstance(beliefs, BeliefsOfFewRows):
        beliefs.learn((row, state))
        try:
            yield
        finally:
            beliefs.forget(row, state)
        return
    now = model()
    beliefs.follow(now.learn(pool.row(row, label, now.classes)), state)
    try:
        yield
    finally:
        beliefs.follow(now, state)
