"""Which open rows to ask for, and how probable it was that just these were chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.acquisition.beliefs import Beliefs
from bayeswise.acquisition.likeness import Likeness, diverse
from bayeswise.acquisition.lookahead import expected_savings, least_costs
from bayeswise.acquisition.pool import Pool
from bayeswise.acquisition.queries import Query, asking_action, savings_of_asking
from bayeswise.acquisition.strategies import UNCERTAINTY, entropy
from bayeswise.decisions.costs import Costs
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.tables.labels import Label

STRATEGIES = (*UNCERTAINTY, "density-weighted", "expected cost", "ask", "random")
_CANDIDATES_OF_A_BATCH = 64  # for each row that is asked for, so many of the best ones compete


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
        self, is_open: BoolArray, n: int, differing: bool, random_share: float, coins: Iterable[np.random.Generator]
    ) -> list[Query]:
        """At most n of the open rows; a random share of them is drawn from all that are left."""
        left, n_open = is_open.copy(), int(np.count_nonzero(is_open))
        ranked, scores = self._ranked(is_open, min(n, n_open), differing)
        share = 1.0 if self._draws else random_share
        score_of = dict(zip(ranked, scores, strict=True))
        chosen: list[Query] = []
        for coin, n_left in zip(coins, range(n_open, max(0, n_open - n), -1), strict=False):
            best = next((row for row in ranked if left[row]), None)
            best = int(np.argmax(left)) if best is None else best
            lucky = share > 0 and coin.random() < share
            row = int(np.flatnonzero(left)[coin.integers(n_left)]) if lucky else best
            chance = share / n_left + (1.0 - share) * (row == best)
            why = self.strategy if not lucky else "warm-up" if self.warm_up else "random"
            chosen.append(self._query(row, score_of.get(row, float("nan")), why, chance, n_left))
            left[row] = False
        return chosen

    @property
    def _draws(self) -> bool:
        return self.warm_up or self.strategy == "random"

    def _query(self, row: int, score: float, strategy: str, chance: float, n_open: int) -> Query:
        posterior = self.beliefs.posterior(np.array([row]))[0].tolist()
        return Query(row, score, dict(zip(self.classes, posterior, strict=True)), strategy, chance, n_open)

    def _ranked(self, is_open: BoolArray, n: int, differing: bool) -> tuple[list[int], list[float]]:
        """n rows, best first, and their scores."""
        if self._draws:
            return [], []
        by_one = n == 1 and self.strategy in UNCERTAINTY
        rows, scores = self._best_one(is_open) if by_one else self.scored(np.flatnonzero(is_open))
        if n == 1:
            best = int(np.argmax(scores))
            return [int(rows[best])], [float(scores[best])]
        order = np.argsort(-scores, kind="stable")
        if differing:
            order = order[: _CANDIDATES_OF_A_BATCH * n]
            order = order[diverse(scores[order], rows[order], n, self.likeness)]
        return rows[order[:n]].tolist(), scores[order[:n]].tolist()

    def scored(self, rows: IntArray) -> tuple[IntArray, FloatArray]:
        """How much the label of each row is wanted; for the lookahead, of the most costly rows only."""
        if self.strategy in UNCERTAINTY:
            return rows, UNCERTAINTY[self.strategy](self.beliefs.posterior(rows))
        if self.strategy == "density-weighted":
            return rows, entropy(self.beliefs.posterior(rows)) * self.likeness.density[rows]
        table = self.costs.table
        if self.strategy == "ask":
            return rows, savings_of_asking(self.beliefs.posterior(rows) @ table.T, asking_action(self.costs))[0]
        costly = np.argsort(-least_costs(self.beliefs.posterior(rows), table), kind="stable")[: self.n_candidates]
        candidates = rows[costly]
        return candidates, expected_savings(self.model, self.classes, self.pool, self.beliefs, candidates, table)

    def _best_one(self, is_open: BoolArray) -> tuple[IntArray, FloatArray]:
        """The rows among which the best one is, with their scores: all but a few need no second look."""
        near = self.beliefs.contenders(self.strategy, is_open)
        return near, UNCERTAINTY[self.strategy](self.beliefs.posterior(near))
