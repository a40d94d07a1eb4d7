"""A model that is taught the labels of a pool, row by row, and can take each of them back."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from bayeswise.acquisition.pool import Pool
from bayeswise.acquisition.pool_beliefs import BeliefsOfFewRows, beliefs_of
from bayeswise.acquisition.pool_risk import Step
from bayeswise.acquisition.queries import Query
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.tables.schema.labels import Label, find_state


class TaughtModel:
    """A fitted model, the rows of a pool, and the steps by which it learned their labels: each is a merge."""

    def __init__(self, model: Any) -> None:
        self._model = self._untaught = _model_of(model)
        self._waiting: list[Step] = []  # taught, but not yet summed up
        self.classes: tuple[Label, ...] = self._model.classes
        self.steps: list[Step] = []
        self._pool: Pool | None = None

    def look_at(self, table: Any) -> Self:
        """Query the rows of this table from now on; what was learned stays."""
        model = self._untaught = self.model
        self._pool = table if isinstance(table, Pool) else Pool.seen_by(model, table)
        self.steps = []
        self._is_open = np.ones(self.pool.n_rows, dtype=bool)
        self._pending: dict[int, Query] = {}
        self._beliefs = beliefs_of(self.pool, model)
        return self

    # -- what is known ----------------------------------------------------------------------------------------
    @property
    def pool(self) -> Pool:
        """The rows that may be queried."""
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
        """How many rows may still be queried."""
        return int(np.count_nonzero(self._is_open)) if self._pool is not None else 0

    def posterior(self) -> FloatArray:
        """(n_rows, n_classes) the posterior of every row of the pool."""
        if self._pool is None:
            raise _without_rows()
        return self._beliefs.posterior()

    # -- answers ----------------------------------------------------------------------------------------------
    def teach(self, row: int, label: Any) -> Self:
        """Learn the label of a row: one merge."""
        self._refuse_unless_open(row)
        known = self.classes[find_state(label, self.classes)]
        return self.take(self._step(row, known))

    def decline(self, row: int) -> Self:
        """The label of this row is not known: it is not queried again, unless it is taught after all."""
        self._refuse_unless_open(row)
        return self.take(self._step(row, None))

    def replay(self, steps: Sequence[Step]) -> Self:
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

    def reopen(self, rows: Sequence[int]) -> Self:
        """Query these rows again, though they were declined; all other rows that had their turn stay closed."""
        self._is_open[:] = True
        self._is_open[[step.row for step in self.steps]] = False
        self._is_open[list(rows)] = True
        return self

    def undo(self) -> Self:
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

    def take(self, step: Step) -> Self:
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
