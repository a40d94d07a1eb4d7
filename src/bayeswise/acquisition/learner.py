"""A learner that asks for the label it needs most, by how uncertain it is or by what the label would save."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.acquisition.lookahead import expected_savings, least_costs
from bayeswise.acquisition.pool import Pool
from bayeswise.acquisition.strategies import UNCERTAINTY
from bayeswise.decisions.costs import Costs
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.posteriors.states import find_state
from bayeswise.tables.labels import Label

STRATEGIES = (*UNCERTAINTY, "expected cost", "random")


@dataclass(frozen=True)
class Query:
    """A row to label, how much the strategy wants it, and what is believed of it now."""

    row: int
    score: float
    posterior: Mapping[Label, float]
    strategy: str

    @property
    def why(self) -> str:
        """Why this row, in a sentence."""
        believed = ", ".join(f"{label}: {p:.3g}" for label, p in self.posterior.items())
        return f"row {self.row} has the largest {self.strategy} ({self.score:.4g}); believed now: {believed}"


class ActiveLearner:
    """Asks for the labels of a pool, one by one; the labelled set may start empty, for the prior answers.

    strategy   "entropy", "margin", "least confident", "expected cost" (exact lookahead of one label under the costs,
               for the `n_candidates` most costly rows) or "random"
    costs      {action: {state: cost}}, or none: every error costs 1

    Rows that were asked for are no random sample: error rates measured on them are too high. Measure on rows that were
    drawn at random, or mix them in with random_share.

    >>> rows = [{"x": 0.0}, {"x": 1.0}, {"x": 9.0}, {"x": 10.0}]
    >>> learner = ActiveLearner.over(rows, target="y", classes=["low", "high"], kinds={"x": "number"})
    >>> learner.teach(0, "low").teach(3, "high").teach(1, "low")
    ActiveLearner(3 of 4 rows labelled, entropy)
    >>> learner.query()[0].row, learner.undo().n_labels
    (2, 2)
    """

    def __init__(
        self,
        model: NaiveBayesModel,
        pool: Pool,
        costs: Any = None,
        strategy: str = "entropy",
        *,
        n_candidates: int = 20,
        random_share: float = 0.0,
        seed: int = 0,
    ) -> None:
        if strategy not in STRATEGIES:
            raise ParameterError(f"there is no strategy {strategy!r}", fix=f"choose one of {', '.join(STRATEGIES)}")
        if not 0 <= random_share <= 1:
            raise ParameterError(f"random_share is {random_share!r}", fix="give a share from 0 to 1")
        self.model = model
        self.pool = pool
        given = Costs.zero_one(model.classes) if costs is None else costs
        self.costs = (given if isinstance(given, Costs) else Costs(given)).aligned(model.classes)
        self.strategy = strategy
        self.n_candidates = n_candidates
        self.random_share = random_share
        self.taught: list[tuple[int, Label]] = []
        self.curve: list[tuple[int, float]] = []
        self._generator = np.random.default_rng(seed)
        self._is_open = np.ones(pool.batch.n_rows, dtype=bool)

    @classmethod
    def over(
        cls,
        table: Any,
        target: str,
        classes: Sequence[Any],
        *,
        costs: Any = None,
        strategy: str = "entropy",
        average: bool = False,
        families: Any = "auto",
        seed: int = 0,
        **wishes: Any,
    ) -> ActiveLearner:
        """A learner that knows the classes and the rows, but no label; `average` makes it average over structures."""
        pool = Pool.of(table, target, classes, **wishes)
        return cls(pool.empty_model(average=average, families=families), pool, costs, strategy, seed=seed)

    @property
    def n_labels(self) -> int:
        return len(self.taught)

    def posterior(self) -> FloatArray:
        """(n_rows, n_classes) what is believed of every row of the pool."""
        return self.model.posterior(self.pool.batch).probability

    def query(self, n: int = 1) -> list[Query]:
        """The rows whose labels are wanted most, best first; ties by the order of the rows."""
        open_rows = np.flatnonzero(self._is_open)
        if not len(open_rows):
            raise ParameterError("every row of the pool is labelled", fix="give a larger pool")
        posterior = self.posterior()
        strategy = self.strategy
        if self.random_share and self._generator.random() < self.random_share:
            strategy = "random"
        rows, scores = self._scored(strategy, open_rows, posterior)
        order = np.array([np.argmax(scores)]) if n == 1 else np.argsort(-scores, kind="stable")[:n]
        return [self._query(int(rows[k]), float(scores[k]), posterior, strategy) for k in order.tolist()]

    def _scored(self, strategy: str, rows: IntArray, posterior: FloatArray) -> tuple[IntArray, FloatArray]:
        if strategy == "random":
            return rows, self._generator.random(len(rows))
        if strategy in UNCERTAINTY:
            return rows, UNCERTAINTY[strategy](posterior[rows])
        costly = np.argsort(-least_costs(posterior[rows], self.costs.table), kind="stable")[: self.n_candidates]
        candidates = rows[costly]
        return candidates, expected_savings(self.model, self.pool, candidates, self.pool.batch, self.costs.table)

    def _query(self, row: int, score: float, posterior: FloatArray, strategy: str) -> Query:
        believed = dict(zip(self.model.classes, posterior[row].tolist(), strict=True))
        return Query(row, score, believed, strategy)

    def worth_asking(self, price: float) -> bool:
        """Whether the best label saves more than its price, over all rows of the pool ("expected cost" only)."""
        if self.strategy != "expected cost":
            raise ParameterError("only savings can be compared with a price", fix='choose strategy="expected cost"')
        return self.query()[0].score * self.pool.batch.n_rows > price

    def teach(self, row: int, label: Any) -> ActiveLearner:
        """Learn the label of a row: one merge."""
        if not 0 <= row < self.pool.batch.n_rows or not self._is_open[row]:
            state = "is labelled already" if 0 <= row < self.pool.batch.n_rows else "is not in the pool"
            raise ParameterError(f"row {row} {state}", fix="teach a row that `query` names")
        known = self.model.classes[find_state(label, self.model.classes)]
        self.model = self.model.learn(self.pool.row(row, known))
        self.taught.append((row, known))
        self._is_open[row] = False
        return self

    def undo(self) -> ActiveLearner:
        """Take the last label back: the model is then the one that never learned it, to the last byte."""
        if not self.taught:
            raise ParameterError("there is no label to take back", fix="teach one first")
        row, label = self.taught.pop()
        self.model = self.model.forget(self.pool.row(row, label))
        self._is_open[row] = True
        return self

    def simulate(self, oracle: Sequence[Any] | Callable[[int], Any], n_labels: int, test: Any = None) -> ActiveLearner:
        """Ask an oracle (labels by row) so many times; `curve` gains the accuracy after each label.

        It is measured on all labels of the oracle, or by `test`, a function of the model.
        """
        labels = oracle if callable(oracle) else oracle.__getitem__
        truth = None if callable(oracle) else [find_state(label, self.model.classes) for label in oracle]
        for _ in range(n_labels):
            row = self.query()[0].row
            self.teach(row, labels(row))
            if test is not None:
                self.curve.append((self.n_labels, float(test(self.model))))
            elif truth is not None:
                right = np.argmax(self.posterior(), axis=1) == truth
                self.curve.append((self.n_labels, float(right.mean())))
        return self

    def __repr__(self) -> str:
        return f"ActiveLearner({self.n_labels} of {self.pool.batch.n_rows} rows labelled, {self.strategy})"
