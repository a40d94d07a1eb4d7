"""A learner that asks for the label it needs most, by how uncertain it is or by what the label would save."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from bayeswise.acquisition.choosing import STRATEGIES, Chooser, expected_savings, least_costs
from bayeswise.acquisition.pool import VARIANCE_FLOOR, Pool
from bayeswise.acquisition.pool_beliefs import BeliefsOfFewRows, beliefs_of
from bayeswise.acquisition.pool_risk import Risk, Step, estimated, left_out_of
from bayeswise.acquisition.queries import Query, asking_action, refuse_below, refuse_unless_share
from bayeswise.acquisition.strategies import Likeness
from bayeswise.acquisition.watching import EVERY, Gain, gain_of_asking
from bayeswise.decisions.costs.costs import Costs
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import CostError, ParameterError
from bayeswise.tables.schema.labels import Label, find_state

RANDOM_SHARE: float | Literal["auto"] = "auto"
_SHARE_BESIDE_DECISIONS = 0.1  # where costs choose the rows, and nothing is to be learned sooner
_LABELS_OF_A_CLASS = 3  # with fewer its spread is next to unknown, and so is which rows are uncertain
_WARM_UP_LABELS = 6  # for each class, at most


class ActiveLearner:
    """Asks for the labels of a pool, one by one; the labelled set may start empty, for the prior answers.

    model         a fitted model, or the model of no rows that `over` makes; each label is a merge
    costs         {action: {state: cost}}, or none: every error costs 1
    strategy      "margin", "entropy", "least confident", "density-weighted", "random"; "expected cost": exact lookahead
                  of one label under the costs, for the `n_candidates` most costly rows; "ask": the rows whose best
                  action under the costs is to ask
    random_share  of the queries that draw any row, each as probable as the others: they find what the model does not
                  know that it does not know, and `risk` needs some; "auto" draws half of the rows and changes that by
                  what asking is seen to gain (`gain`; for "ask" it is 0.1)
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
        if strategy not in STRATEGIES:
            raise ParameterError(f"there is no strategy {strategy!r}", fix=f"choose one of {', '.join(STRATEGIES)}")
        if random_share != "auto":
            refuse_unless_share(random_share=random_share)
        refuse_below(1, n_candidates=n_candidates)
        refuse_below(0, seed=seed)
        self._model = self._untaught = _model_of(model)
        self._waiting: list[Step] = []  # taught, but not yet summed up
        self.classes: tuple[Label, ...] = self._model.classes
        given = Costs.zero_one(self.classes) if costs is None else costs
        self.costs = (given if isinstance(given, Costs) else Costs(given)).aligned(self.classes)
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
        self._share_asked_for = random_share
        self._watched: tuple[tuple[Step, ...], Gain] = ((), Gain())
        self.warm_up = warm_up and strategy not in ("ask", "random")
        self.seed = seed
        self.curve: list[tuple[int, float]] = []
        self.steps: list[Step] = []
        self._pool: Pool | None = None
        if pool is not None:
            self.look_at(pool)

    @classmethod
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
        **overrides: Any,
    ) -> ActiveLearner:
        """A learner that knows the classes and the rows, but no label; `average` makes it average over structures.

        `class_prior` is the probability by class; None counts the labels, each class one more than were seen. Classes
        keep the order in which they are given, and ties go to the first of them.
        """
        pool = Pool.of(table, target, classes, **overrides)
        how_learned: dict[str, Any] = {"families": families, "variance_floor": variance_floor}
        model = pool.empty_model(average=average, class_prior=class_prior, **how_learned)
        how: dict[str, Any] = {"random_share": random_share, "warm_up": warm_up, "n_candidates": n_candidates}
        return cls(model, costs, strategy, pool=pool, seed=seed, **how)

    def look_at(self, table: Any) -> ActiveLearner:
        """Ask about the rows of this table from now on; what was learned stays."""
        model = self._untaught = self.model
        self._pool = table if isinstance(table, Pool) else Pool.seen_by(model, table)
        self.steps = []
        self._is_open = np.ones(self.pool.n_rows, dtype=bool)
        self._pending: dict[int, Query] = {}
        self._beliefs = beliefs_of(self.pool, model)
        self._likeness = Likeness(self.pool.batch, self.seed)
        return self

    # -- what is known ----------------------------------------------------------------------------------------
    @property
    def pool(self) -> Pool:
        """The rows that may be asked for."""
        if self._pool is None:
            raise _without_rows()
        return self._pool

    @property
    def model(self) -> Any:
        """The model of all labels, exact sums and all; labels that were taught since are merged now, in one go."""
        if self._waiting:
            taught = {step.row: step.label for step in self._waiting if step.label is not None}
            self._model = self._model.learn(self.pool.rows(list(taught), list(taught.values()), self.classes))
            self._waiting = []
        return self._model

    @property
    def taught(self) -> list[tuple[int, Label]]:
        """The rows that have a label, in the order in which they were taught."""
        return [(step.row, step.label) for step in self.steps if step.label is not None]

    @property
    def n_labels(self) -> int:
        """How many rows have a label."""
        return sum(step.label is not None for step in self.steps)

    @property
    def n_open(self) -> int:
        """How many rows may still be asked for."""
        return int(np.count_nonzero(self._is_open)) if self._pool is not None else 0

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
        """What asking is seen to save against drawing, looked at every 5 labels; None where the share is fixed."""
        if self._share_asked_for != "auto" or self.strategy in ("ask", "random"):
            return None
        labelled = [step for step in self.steps if step.label is not None]
        seen = tuple(labelled[: len(labelled) // EVERY * EVERY])
        if seen != self._watched[0]:
            found = gain_of_asking(self._untaught, self.pool, self.classes, self._costs_of_acting(), seen)
            self._watched = seen, found
        return self._watched[1]

    @property
    def random_share(self) -> float:
        """The share of rows that are drawn."""
        gain = self.gain
        if gain is not None:
            return gain.random_share
        return _SHARE_BESIDE_DECISIONS if self._share_asked_for == "auto" else float(self._share_asked_for)

    def posterior(self) -> FloatArray:
        """(n_rows, n_classes) what is believed of every row of the pool."""
        if self._pool is None:
            raise _without_rows()
        return self._beliefs.posterior()

    def believed_cost(self) -> float:
        """The mean cost of the best action for each row of the pool, in the model's own opinion."""
        return float(least_costs(self.posterior(), self._costs_of_acting()).mean())

    # -- asking -----------------------------------------------------------------------------------------------
    def query(self, n: int = 1, *, diverse: bool = True) -> list[Query]:
        """The rows whose labels are wanted most, best first; ties by the order of the rows.

        Several rows at once differ from each other, unless `diverse` is taken away.
        """
        refuse_below(1, n=n)
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
        """The chance of the k-th row, by the number of its step: a session that is taken up again asks the same."""
        return np.random.default_rng([self.seed, len(self.steps) + k])

    def saving(self, row: int) -> float:
        """What the label of a row is believed to save over the whole pool, by trying every answer."""
        if not self._has(row):
            raise ParameterError(f"row {row} is not in the pool", fix=f"name one from 0 to {self.pool.n_rows - 1}")
        found = expected_savings(
            lambda: self.model, self.classes, self.pool, self._beliefs, np.array([row]), self._costs_of_acting()
        )
        return float(found[0]) * self.pool.n_rows

    def worth_asking(self, price: float) -> bool:
        """Whether the best label is believed to save more than its price over the pool; stop when it does not.

        While it warms up the answer is yes: of a class that was hardly seen the model has no opinion. Rows that are
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

    # -- answers ----------------------------------------------------------------------------------------------
    def teach(self, row: int, label: Any) -> ActiveLearner:
        """Learn the label of a row: one merge."""
        self._refuse_unless_open(row)
        known = self.classes[find_state(label, self.classes)]
        return self.take(self._step(row, known))

    def decline(self, row: int) -> ActiveLearner:
        """Nobody knows the label of this row: it is not asked for again, unless it is taught after all."""
        self._refuse_unless_open(row)
        return self.take(self._step(row, None))

    def replay(self, steps: Sequence[Step]) -> ActiveLearner:
        """Take the steps of an earlier session over the same pool, in one merge."""
        labelled = [step for step in steps if step.label is not None]
        self._waiting += labelled
        if isinstance(self._beliefs, BeliefsOfFewRows):
            self._beliefs.learn(*((step.row, self._state(step)) for step in labelled))
        elif labelled:
            self._beliefs.follow(self.model)
        self.steps.extend(steps)
        self._is_open[[step.row for step in steps]] = False
        return self

    def reopen(self, rows: Sequence[int]) -> ActiveLearner:
        """Ask about these rows again, though they were declined; all other rows that had their turn stay closed."""
        self._is_open[:] = True
        self._is_open[[step.row for step in self.steps]] = False
        self._is_open[list(rows)] = True
        return self

    def undo(self) -> ActiveLearner:
        """Take the last answer back: the model is then the one that never learned it, to the last byte."""
        if not self.steps:
            raise ParameterError("there is no label to take back", fix="teach one first")
        step = self.steps.pop()
        if step.label is not None:
            self._forget(step)
        self._is_open[step.row] = all(other.row != step.row for other in self.steps)
        self._pending = {}
        return self

    def _forget(self, step: Step) -> None:
        if self._waiting and self._waiting[-1] == step:
            self._waiting.pop()
        elif step.label is not None:
            row = self.pool.row(step.row, step.label, self.classes)
            self._model = self.model.forget(row, again=True)  # rows of a pool may be alike
        if isinstance(self._beliefs, BeliefsOfFewRows):
            self._beliefs.forget(step.row, self._state(step))
        else:
            self._beliefs.follow(self.model, self._state(step))

    def _state(self, step: Step) -> int:
        return find_state(step.label, self.classes)

    def _refuse_unless_open(self, row: int) -> None:
        inside = self._has(row)
        if not inside or (not self._is_open[row] and any(row == other for other, _ in self.taught)):
            state = "is labelled already" if inside else "is not in the pool"
            raise ParameterError(f"row {row} {state}", fix="teach a row that `query` names")

    def _has(self, row: int) -> bool:
        return isinstance(row, Integral) and 0 <= row < self.pool.n_rows

    def _step(self, row: int, label: Label | None) -> Step:
        query = self._pending.pop(row, None)
        return Step(row, label, None, self.n_open) if query is None else query.answered(label)

    def take(self, step: Step) -> ActiveLearner:
        """Take a step as it was recorded."""
        if step.label is not None:
            if isinstance(self._beliefs, BeliefsOfFewRows):
                self._beliefs.learn((step.row, self._state(step)))
                self._waiting.append(step)
            else:
                learned = self.model.learn(self.pool.row(step.row, step.label, self.classes))
                self._beliefs.follow(learned, self._state(step))
                self._model = learned
        self.steps.append(step)
        self._is_open[step.row] = False
        return self

    # -- how good it is ---------------------------------------------------------------------------------------
    def risk(self) -> Risk:
        """The mean cost of a row of the pool as if it had not been learned: each labelled row is left out in turn.

        Rows that were asked for are no random sample; the chance of each, which `random_share` keeps above 0, undoes
        that.
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

    def simulate(self, oracle: Sequence[Any] | Callable[[int], Any], n_labels: int, test: Any = None) -> ActiveLearner:
        """Ask an oracle (labels by row) so many times; `curve` gains the accuracy after each label.

        It is measured on all labels of the oracle, or by `test`, a function of the model.
        """
        if not callable(oracle) and len(oracle) != self.pool.n_rows:
            said = f"the oracle has {len(oracle):,} labels, the pool {self.pool.n_rows:,} rows"
            raise ParameterError(said, fix="give one label for each row")
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


@runtime_checkable
class LearnsRows(Protocol):
    """A model that learns rows one by one: one of ours, or of the user's own."""

    classes: Any

    def learn(self, rows: Any) -> Any:
        """The model of these rows, too."""


def _model_of(model: Any) -> Any:
    inside = getattr(model, "model_", model)
    if not isinstance(inside, LearnsRows):
        raise ParameterError(
            f"{type(model).__name__} is not a fitted model that can learn and forget rows",
            fix="fit it first, or start without labels: ActiveLearner.over(pool, target=..., classes=...)",
        )
    return inside


def _without_rows() -> ParameterError:
    return ParameterError("the learner has no rows to ask about", fix="give pool=rows, or call look_at(rows)")
