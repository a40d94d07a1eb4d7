"""A learner that queries the most useful label, by its uncertainty or by what the label would save."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self, Unpack

import numpy as np

from bayeswise.acquisition.choosing import STRATEGIES, Chooser, Likeness, expected_savings, least_costs
from bayeswise.acquisition.pool import VARIANCE_FLOOR, Pool
from bayeswise.acquisition.pool_risk import EVERY, Gain, Risk, Step, estimated, gain_of_asking, left_out_of
from bayeswise.acquisition.queries import Query, asking_action, refuse_unless_share
from bayeswise.acquisition.teaching import TaughtModel
from bayeswise.decisions.costs.costs import Costs
from bayeswise.foundation.arguments import whole_number
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import CostError, ParameterError
from bayeswise.render.labels import refuse_unknown
from bayeswise.tables.schema.labels import find_state
from bayeswise.tables.schema.overrides import SchemaOverrides, spelling_overrides

RANDOM_SHARE: float | Literal["auto"] = "auto"
_SHARE_BESIDE_DECISIONS = 0.1  # where costs choose the rows, and nothing is to be learned sooner
_LABELS_OF_A_CLASS = 3  # with fewer its spread is next to unknown, and so is which rows are uncertain
_WARM_UP_LABELS = 6  # for each class, at most


class ActiveLearner(TaughtModel):
    """Asks for the labels of a pool, one by one; the labelled set may start empty, for the prior answers.

    model         a fitted model, or the model of no rows that `over` makes; each label is a merge
    costs         {action: {state: cost}}, the path of a decision file, or none: every error costs 1
    strategy      "margin", "entropy", "least confident", "density-weighted", "random"; "expected cost": exact lookahead
                  of one label under the costs, for the `n_candidates` most costly rows; "ask": the rows whose best
                  action under the costs is to ask
    random_share  of the queries that draw any row, each as probable as the others: they find what the model is
                  wrongly certain of, and `risk` needs some; "auto" draws half of the rows and changes that by
                  the measured gain of queries (`gain`; for "ask" it is 0.1)
    warm_up       draw any row as long as a class has fewer than 3 labels, for at most 6 labels per class: uncertainty
                  about a class that was hardly seen is not a guide ("ask" and "random" have no warm-up)

    >>> rows = [{"x": 0.0}, {"x": 1.0}, {"x": 9.0}, {"x": 10.0}]
    >>> learner = ActiveLearner.over(rows, target="y", classes=["low", "high"], kinds={"x": "number"})
    >>> learner.teach(0, "low").teach(3, "high").teach(1, "low")
    ActiveLearner(3 of 4 rows labelled, margin)
    >>> learner.query()[0].row, learner.undo().n_labels
    (2, 2)
    """

    def __init__(
        self,
        model: Any,
        costs: Any = None,
        strategy: str = "margin",
        *,
        pool: Any = None,
        n_candidates: int = 20,
        random_share: float | Literal["auto"] = RANDOM_SHARE,
        warm_up: bool = True,
        seed: int = 0,
    ) -> None:
        refuse_unknown(strategy, STRATEGIES, "there is no strategy")
        if random_share != "auto":
            refuse_unless_share(random_share=random_share)
        whole_number(n_candidates, "n_candidates")
        whole_number(seed, "seed", 0)
        super().__init__(model)
        self.costs = Costs.of(costs, self.classes)
        if not self.costs.constant:
            named = ", ".join(map(repr, self.costs.columns))
            raise CostError(
                f"the costs depend on the columns {named}; a learner weighs all rows by the same costs",
                fix="give numbers that are right on average",
            )
        if strategy == "ask":
            asking_action(self.costs)
        self.strategy = strategy
        self.n_candidates = n_candidates
        self._given_share = random_share
        self._watched: tuple[tuple[Step, ...], Gain] = ((), Gain())
        self.warm_up = warm_up and strategy not in ("ask", "random")
        self.seed = seed
        self.curve: list[tuple[int, float]] = []
        if pool is not None:
            self.look_at(pool)

    @classmethod
    @spelling_overrides
    def over(
        cls,
        table: Any,
        target: str,
        classes: Sequence[Any],
        *,
        costs: Any = None,
        strategy: str = "margin",
        average: bool = False,
        families: Any = "auto",
        class_prior: Mapping[Any, float] | None = None,
        variance_floor: float = VARIANCE_FLOOR,
        random_share: float | Literal["auto"] = RANDOM_SHARE,
        warm_up: bool = True,
        n_candidates: int = 20,
        seed: int = 0,
        **overrides: Unpack[SchemaOverrides],
    ) -> ActiveLearner:
        """A learner that knows the classes and the rows, but no label; `average` makes it average over structures.

        `class_prior` is the probability by class; None counts the labels, plus one for each class. Classes
        keep the order in which they are given, and ties go to the first of them.
        """
        pool = Pool.of(table, target, classes, **overrides)
        how_learned: dict[str, Any] = {"families": families, "variance_floor": variance_floor}
        model = pool.empty_model(average=average, class_prior=class_prior, **how_learned)
        how: dict[str, Any] = {"random_share": random_share, "warm_up": warm_up, "n_candidates": n_candidates}
        return cls(model, costs, strategy, pool=pool, seed=seed, **how)

    def look_at(self, table: Any) -> Self:
        """Query the rows of this table from now on; what was learned stays."""
        super().look_at(table)
        self._likeness = Likeness(self.pool.batch, self.seed)
        return self

    # -- what is known ----------------------------------------------------------------------------------------
    @property
    def is_warming_up(self) -> bool:
        """Whether a class has fewer than 3 labels yet, so that any row is drawn."""
        if not self.warm_up or len(self.steps) >= 2 * _WARM_UP_LABELS * len(self.classes):
            return False
        if self.n_labels >= _WARM_UP_LABELS * len(self.classes):
            return False
        waiting = np.bincount([self._state(step) for step in self._waiting], minlength=len(self.classes))
        return bool((self._model.class_weight + waiting < _LABELS_OF_A_CLASS).any())

    @property
    def gain(self) -> Gain | None:
        """What chosen rows save compared with random ones, measured every 5 labels; None where the share is fixed."""
        if self._given_share != "auto" or self.strategy in ("ask", "random"):
            return None
        labelled = [step for step in self.steps if step.label is not None]
        seen = tuple(labelled[: len(labelled) // EVERY * EVERY])
        if seen != self._watched[0]:
            found = gain_of_asking(self._untaught, self.pool, self.classes, self._costs_of_acting(), seen)
            self._watched = seen, found
        return self._watched[1]

    @property
    def random_share(self) -> float:
        """The share of rows that are drawn at random."""
        gain = self.gain
        if gain is not None:
            return gain.random_share
        return _SHARE_BESIDE_DECISIONS if self._given_share == "auto" else float(self._given_share)

    def believed_cost(self) -> float:
        """The mean cost of the best action for each row of the pool, according to the model."""
        return float(least_costs(self.posterior(), self._costs_of_acting()).mean())

    # -- queries ----------------------------------------------------------------------------------------------
    def query(self, n: int = 1, *, diverse: bool = True) -> list[Query]:
        """The rows whose labels are most useful, best first; ties by the order of the rows.

        Several rows at once differ from each other, unless `diverse` is False.
        """
        whole_number(n, "n")
        queries = self._chosen(n, diverse, self.random_share)
        self._pending = {query.row: query for query in queries}
        return queries

    def _chosen(self, n: int, diverse: bool, random_share: float) -> list[Query]:
        pool = self.pool
        if not self._is_open.any():
            raise ParameterError("every row of the pool is labelled", fix="give a larger pool")
        chooser = Chooser(
            lambda: self.model,
            self.classes,
            pool,
            self._beliefs,
            self._likeness,
            self.costs,
            self.strategy,
            self.n_candidates,
            self.is_warming_up,
        )
        return chooser.queries(self._is_open, n, diverse, random_share, self._coin)

    def _coin(self, k: int) -> np.random.Generator:
        """The chance of the k-th row, by the number of its step: a resumed session makes the same queries."""
        return np.random.default_rng([self.seed, len(self.steps) + k])

    def saving(self, row: int) -> float:
        """What the label of a row is expected to save over the whole pool, by trying every answer."""
        if not self._has(row):
            raise ParameterError(f"row {row} is not in the pool", fix=f"name one from 0 to {self.pool.n_rows - 1}")
        found = expected_savings(
            lambda: self.model, self.classes, self.pool, self._beliefs, np.array([row]), self._costs_of_acting()
        )
        return float(found[0]) * self.pool.n_rows

    def worth_asking(self, price: float) -> bool:
        """Whether the best label is expected to save more than its price over the pool; stop when it does not.

        While it warms up the answer is yes: a class that was hardly seen has no useful posterior. Rows that are
        drawn by chance do not count: they may save little, though others save much.
        """
        if self.is_warming_up:
            return True
        [best] = self._chosen(1, True, random_share=0.0)
        return best.score > price if self.strategy == "ask" else self.saving(best.row) > price

    def _costs_of_acting(self) -> FloatArray:
        """(n_actions, n_states) without the action that asks, where the strategy is about it."""
        table = self.costs.table
        return np.delete(table, asking_action(self.costs), axis=0) if self.strategy == "ask" else table

    # -- how good it is ---------------------------------------------------------------------------------------
    def risk(self) -> Risk:
        """The mean cost of a row of the pool as if it had not been learned: each labelled row is left out in turn.

        Queried rows are not a random sample; each is weighted by its probability of being chosen, which
        `random_share` keeps above 0.
        """
        table = self._costs_of_acting()
        costs = np.full(len(self.steps), np.nan)
        labelled = [k for k, step in enumerate(self.steps) if step.label is not None]
        if labelled:
            rows, labels = zip(*self.taught, strict=True)
            batch = self.pool.rows(rows, labels, self.classes)
            best = np.argmin(left_out_of(self.model, batch) @ table.T, axis=1)
            costs[labelled] = table[best, batch.groups]
        return estimated(self.steps, costs, self.pool.n_rows, float(table.min()), float(table.max()))

    def simulate(self, oracle: Sequence[Any] | Callable[[int], Any], n_labels: int, test: Any = None) -> Self:
        """Ask an oracle (labels by row) `n_labels` times; `curve` gains the accuracy after each label.

        It is measured on all labels of the oracle, or by `test`, a function of the model.
        """
        if not callable(oracle) and len(oracle) != self.pool.n_rows:
            what = f"the oracle has {len(oracle):,} labels, the pool {self.pool.n_rows:,} rows"
            raise ParameterError(what, fix="give one label for each row")
        labels = oracle if callable(oracle) else oracle.__getitem__
        truth = None if callable(oracle) else [find_state(label, self.classes) for label in oracle]
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
        n_rows = 0 if self._pool is None else self._pool.n_rows
        return f"ActiveLearner({self.n_labels} of {n_rows} rows labelled, {self.strategy})"
