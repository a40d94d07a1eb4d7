"""The best number for each row of a stream, over what a regression predicts there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bayeswise.cli.answers import Answers, free_name
from bayeswise.cli.number_answers import NumberLayout
from bayeswise.cli.reading import Watched
from bayeswise.decisions.number_costs import NumberCosts
from bayeswise.explanations.plain import json_number
from bayeswise.tables.batch import Batch
from bayeswise.tables.names import normal_name
from bayeswise.tables.source import Chunk


def number_layout(kept: Sequence[str]) -> NumberLayout:
    """The columns that are kept, then action, expected_cost and stddev.

    >>> number_layout(["size", "action"]).names
    ('size', 'action', 'action_2', 'expected_cost', 'stddev')
    """
    taken = {normal_name(name) for name in kept}
    action, cost, stddev = (free_name([name], taken) for name in ("action", "expected_cost", "stddev"))
    return NumberLayout(tuple(kept), action, spread=(cost, stddev))


class DecidedNumbers(Answers):
    """The rows of a table with the number to choose for each, as columns, chunk by chunk."""

    def __init__(self, model: Any, source: Watched, layout: NumberLayout, costs: NumberCosts) -> None:
        super().__init__(model, source, layout)
        self.costs = costs
        self.expected = 0.0

    def _answers(self, batch: Batch, chunk: Chunk) -> Iterator[Sequence[Any]]:
        ahead = self.model.predictive(batch)
        cost = self.costs.expected(ahead)
        self.expected += float(cost.sum())
        for column in (self.costs.actions(ahead), cost, ahead.stddev):
            yield list(map(json_number, column.tolist()))

    def totals(self) -> dict[str, Any]:
        """What all rows together come to."""
        return {**self.tally.to_dict(), "expected_cost": json_number(self.expected)}

    def summary(self) -> str:
        """One line for stderr."""
        mean = self.expected / max(1, self.tally.rows)
        return f"{self.tally.rows:,} rows; expected cost {mean:.4g} per row."
