"""Which open rows to ask for, and how probable it was that just these were chosen; what a label would save."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from bayeswise import _kernels
from bayeswise.acquisition.likeness import Likeness, diverse
from bayeswise.acquisition.pool import Pool
from bayeswise.acquisition.pool_beliefs import Beliefs, BeliefsOfFewRows
from bayeswise.acquisition.queries import Query, asking_action, savings_of_asking
from bayeswise.acquisition.uncertainty import UNCERTAINTY, entropy
from bayeswise.decisions.costs.costs import Costs
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.tables.schema.labels import Label

STRATEGIES = (*UNCERTAINTY, "density-weighted", "expected cost", "ask", "random")
_CANDIDATES_OF_A_BATCH = 64  # for each row that is asked for, so many of the best ones compete


class FitRequest(NamedTuple):
    """A row, how much its label is wanted, and what is believed of it, (n_states,)."""

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
        ranked = {wanted.row: wanted for wanted in self._ranked(is_open, min(n, n_open), differing)}
        share = 1.0 if self._draws else random_share
        chosen: list[Query] = []
        for k, n_left in enumerate(range(n_open, max(0, n_open - n), -1)):
            best = next((row for row in ranked if left[row]), None)
            best = int(np.argmax(left)) if best is None else best
            drawn = _drawn(left, n_left, share, coin(k)) if share > 0 else None
            row = best if drawn is None else drawn
            chance = share / n_left + (1.0 - share) * (row == best)
            why = self.strategy if drawn is None else "warm-up" if self.warm_up else "random"
            wanted = ranked.get(row) or FitRequest(row, 0.0, self.beliefs.posterior(np.array([row]))[0])
            posterior = dict(zip(self.classes, wanted.posterior.tolist(), strict=True))
            chosen.append(Query(row, wanted.score, posterior, why, chance, n_left))
            left[row] = False
        return chosen

    @property
    def _draws(self) -> bool:
        return self.warm_up or self.strategy == "random"

    def _ranked(self, is_open: BoolArray, n: int, differing: bool) -> list[FitRequest]:
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
        return list(map(FitRequest, best.tolist(), score.tolist(), self.beliefs.posterior(best)))

    @property
    def _is_by_uncertainty(self) -> bool:
        return self.strategy in UNCERTAINTY or self.strategy == "density-weighted"

    def _uncertainty(self, posterior: FloatArray, rows: IntArray) -> FloatArray:
        """(n_rows,) times the share of known cells: missing ones make a row uncertain, and its label teaches less."""
        if self.strategy == "density-weighted":
            return entropy(posterior) * self.likeness.density[rows]
        score, known = UNCERTAINTY[self.strategy](posterior), self.pool.share_known
        return score if known is None else score * known[rows]

    def _most_uncertain(self, is_open: BoolArray) -> FitRequest:
        """The first of the best rows: all but a few need no second look."""
        if self.strategy == "density-weighted":
            near = self.beliefs.contenders("entropy", is_open, self.likeness.density)
        else:
            near = self.beliefs.contenders(self.strategy, is_open, self.pool.share_known)
        posterior = self.beliefs.posterior(near)
        score = self._uncertainty(posterior, near)
        best = int(np.argmax(score))
        return FitRequest(int(near[best]), float(score[best]), posterior[best])

    def scored(self, rows: IntArray) -> tuple[IntArray, FloatArray]:
        """How much the label of each row is wanted; for the lookahead, of the most costly rows only."""
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
    Both sides are the model's own opinion, so that the saving may come out below zero.
    """
    posterior = beliefs.posterior()
    now = float(least_costs(posterior, costs).mean())
    believed = posterior[candidates]
    savings = np.full(len(candidates), now)
    for k, row in enumerate(candidates.tolist()):
        for state, label in enumerate(classes):
            if believed[k, state] > 0:
                with _believing(beliefs, model, pool, row, state, label):
                    after = float(least_costs(beliefs.posterior(), costs).mean())
                savings[k] -= believed[k, state] * after
    return savings


@contextmanager
def _believing(
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
