"""Rows unlike any that were learned: how few ordinary rows have a log p(row) as low as this one's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.base.table_model import capabilities_of
from bayeswise.tables.batch import MISSING, Batch
from bayeswise.tables.encoding.encoder import BATCH_ROWS

_MOST_PATTERNS = 200  # of missing cells, each with draws of its own


@dataclass(frozen=True, eq=False)
class OrdinaryRows:
    """log p(row) of rows that are ordinary, from the lowest up; best of learned rows, each under the model without it.

    >>> OrdinaryRows.of([-3.0, -1.0, -2.0, -1.5]).p_value(np.array([-2.5, 0.0, -9.0])).tolist()
    [0.4, 1.0, 0.2]
    """

    log_evidence: FloatArray  # (n_rows,) sorted

    @classmethod
    def of(cls, log_evidence: Any) -> OrdinaryRows:
        found = np.sort(np.asarray(log_evidence, dtype=np.float64))
        if not len(found) or np.isnan(found).any():
            raise ParameterError("there are no ordinary rows to compare with", fix="give the rows that were learned")
        return cls(found)

    def p_value(self, log_evidence: FloatArray) -> FloatArray:
        """(n_rows,) the share of ordinary rows at most this probable, the row itself counted among them."""
        below = np.searchsorted(self.log_evidence, log_evidence, side="right")
        return np.asarray((1.0 + below) / (1.0 + len(self.log_evidence)))


class ModelTail:
    """P(log p(X) <= log p(row)) for X drawn from the model itself: no rows are needed, if the model is true.

    Rows with missing cells are compared with draws that miss the same cells: log p over fewer cells is another scale.
    """

    def __init__(self, model: Any, *, n_draws: int = 10_000, seed: int = 0) -> None:
        if not 1 <= n_draws <= BATCH_ROWS:
            raise ParameterError(f"{n_draws} draws", fix=f"draw from 1 to {BATCH_ROWS:,} rows")
        if not capabilities_of(model).row_probability:
            raise ParameterError(
                "this model has no probability of a row, so that it cannot detect unknown rows",
                fix="use a model of the rows: naive or Gaussian Bayes",
            )
        self.model = model
        drawn = model.sample(n_draws, seed)
        if any(isinstance(drawn[name][0], str) for name in model.schema.numbers):
            raise ParameterError(
                "this model knows intervals of its numbers only, so that it cannot detect unknown rows",
                fix="use a model of the rows: naive or Gaussian Bayes",
            )
        (self._draws,) = model.batches({name: drawn[name] for name in model.schema.used})  # fewer than a batch may hold
        self._ordinary: dict[bytes, OrdinaryRows] = {}

    def p_value(self, batch: Batch, log_evidence: FloatArray | None = None) -> FloatArray:
        """(n_rows,) for encoded rows; `log_evidence` is theirs where it is known already."""
        if log_evidence is None:
            log_evidence = np.asarray(self.model.log_evidence(batch))
        missing = np.concatenate([np.isnan(batch.values), batch.codes == MISSING], axis=1)
        found = np.empty(batch.n_rows)
        patterns, which = np.unique(missing, axis=0, return_inverse=True)
        for k, pattern in enumerate(patterns):
            rows = which == k
            found[rows] = self._of(pattern).p_value(log_evidence[rows])
        return found

    def _of(self, pattern: BoolArray) -> OrdinaryRows:
        key = pattern.tobytes()
        if key not in self._ordinary:
            if len(self._ordinary) >= _MOST_PATTERNS:
                self._ordinary.pop(next(iter(self._ordinary)))
            n_numbers = self._draws.values.shape[1]
            incomplete = replace(
                self._draws,
                values=np.where(pattern[:n_numbers], np.nan, self._draws.values),
                codes=np.where(pattern[n_numbers:], MISSING, self._draws.codes).astype(self._draws.codes.dtype),
            )
            self._ordinary[key] = OrdinaryRows.of(self.model.log_evidence(incomplete))
        return self._ordinary[key]
