"""The decisions for a stream of rows, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.cli.answers import Answers, Layout, probability_names
from bayeswise.cli.progress import Bar
from bayeswise.cli.reading import Watched
from bayeswise.decisions.costs import Costs
from bayeswise.decisions.decide import decide_rows
from bayeswise.explanations.plain import json_value
from bayeswise.foundation.arrays import FloatArray
from bayeswise.posteriors.prior_shift import shifted
from bayeswise.tables.batch import Batch
from bayeswise.tables.labels import Label
from bayeswise.tables.names import find_name, normal_name
from bayeswise.tables.source import Chunk, Source

_ADDED = ("action", "expected_cost", "runner_up")


@dataclass(frozen=True)
class DecidedLayout(Layout):
    """The columns that are kept, then action, expected_cost, runner_up and the posterior."""

    decided: tuple[str, ...] = _ADDED

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.kept, *self.decided, *self.probabilities)

    @classmethod
    def named(cls, kept: Sequence[str], classes: Sequence[Label]) -> DecidedLayout:
        """Names that the table has already are numbered.

        >>> DecidedLayout.named(["age", "action"], ["no", "yes"]).names
        ('age', 'action', 'action_2', 'expected_cost', 'runner_up', 'p_no', 'p_yes')
        """
        taken = {normal_name(name) for name in kept}
        added = [_free(name, taken) for name in (*_ADDED, *probability_names(classes))]
        return cls(tuple(kept), added[0], tuple(added[3:]), None, tuple(added[:3]))


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while normal_name(free) in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(normal_name(free))
    return free


class DecidedRows(Answers):
    """The rows of a table with the best action of each, as columns, chunk by chunk."""

    def __init__(
        self, model: Any, source: Source, bar: Bar, layout: DecidedLayout, costs: Costs, prior: FloatArray | None
    ) -> None:
        known = [column.name for column in source.columns]
        self.costs = costs
        self.prior = prior
        self.cost_columns = {name: find_name(name, known, where=source.description) for name in costs.columns}
        self.counts = np.zeros(len(costs.actions), dtype=np.int64)
        self.expected = 0.0
        super().__init__(model, Watched(source, bar, also=[*layout.kept, *self.cost_columns.values()]), layout)

    def __iter__(self) -> Iterator[tuple[list[Sequence[Any]], list[bool]]]:
        """The columns of a chunk, and which of them need no guard: the names of actions do."""
        for cells, safe in super().__iter__():
            safe[len(self.layout.kept) + 2] = False
            yield cells, safe

    def _answers(self, batch: Batch, chunk: Chunk) -> Iterator[Sequence[Any]]:
        log_joint = self.model.log_joint(batch)  # (n_rows, n_states)
        self._refuse_impossible(log_joint.max(axis=1), chunk)
        posterior = self.model.predict_proba(batch)
        if self.prior is not None:
            posterior = shifted(posterior, np.exp(self.model.log_prior), self.prior, self.model.classes)
        found = {name: chunk.numbers(column)[0] for name, column in self.cost_columns.items()}
        decisions = decide_rows(posterior, self.costs, found)
        self.counts += np.bincount(decisions.best, minlength=len(self.counts))
        self.expected += float(decisions.least_cost.sum())
        yield decisions.action.tolist()
        yield decisions.least_cost.tolist()
        yield decisions.runner_up.tolist()
        yield from posterior.T.tolist()

    def totals(self) -> dict[str, Any]:
        """What all rows together come to."""
        counts = [
            {"action": json_value(action), "rows": int(n)}
            for action, n in zip(self.costs.actions, self.counts, strict=True)
        ]
        return {**self.tally.to_dict(), "decided": counts, "expected_cost": self.expected}

    def summary(self) -> str:
        """One line for stderr."""
        shares = ", ".join(f"{action} {n:,}" for action, n in zip(self.costs.actions, self.counts, strict=True))
        mean = self.expected / max(1, int(self.counts.sum()))
        return f"{int(self.counts.sum()):,} rows: {shares}; expected cost {mean:.4g} per row."
