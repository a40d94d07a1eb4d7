"""Two ways to decide on the same rows: the difference row by row, with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeswise.evaluation.evaluate import Evaluation
from bayeswise.evaluation.intervals import Estimate, mean_with_interval
from bayeswise.foundation.errors import ParameterError
from bayeswise.tables.labels import Vocabulary


@dataclass(frozen=True)
class Comparison:
    """The mean difference in cost per case, first less second; below 0 the first is cheaper."""

    difference: Estimate
    differing_rows: int
    n_rows: int

    @property
    def decided(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.difference.low > 0.0 or self.difference.high < 0.0

    def __str__(self) -> str:
        verdict = "no difference can be told" if not self.decided else (
            "the first costs less" if self.difference.mean < 0 else "the second costs less"
        )
        return f"{self.difference} per case; they differ in {self.differing_rows:,} of {self.n_rows:,} rows: {verdict}"


def compare(first: Evaluation, second: Evaluation, *, level: float = 0.95) -> Comparison:
    """The paired comparison of two evaluations of the same rows: what both pay alike is no noise."""
    order = Vocabulary(second.decisions.states).positions_in(Vocabulary(first.decisions.states))  # (n_states,)
    if not np.array_equal(first.truth, order[second.truth]):
        raise ParameterError("the evaluations are about different rows", fix="evaluate both models on the same table")
    difference = first.cost - second.cost
    found = mean_with_interval(difference, first.weights, level)
    return Comparison(found, int(np.count_nonzero(difference)), len(difference))
