"""A fitted model with posteriors calibrated on the rows that it has learned, each left out, or in folds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.costs.stakes import stakes, weights_by_stakes
from bayeswise.decisions.decide import columns_for
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import FitError
from bayeswise.models.held_out import HeldOut, Progress, left_out_or_folded
from bayeswise.models.table_model import Capabilities, ScoredRows, TableModel, capabilities_of
from bayeswise.posteriors.calibration import AsItIs, Calibration, fit_calibration


@dataclass(frozen=True, eq=False)
class CalibratedModel:
    """Answers as its model does, but for the posterior."""

    model: Any
    calibration: Calibration
    n_rows: int  # that the calibration was fitted to
    how: str = "leave-one-out"  # or "10 folds"

    @property
    def capabilities(self) -> Capabilities:
        """Those of the model, for rows that it has not learned."""
        return replace(capabilities_of(self.model), calibrated=True)

    @property
    def changes(self) -> bool:
        """Whether rows that were left out say that the posterior needs mending."""
        return not isinstance(self.calibration, AsItIs)

    def predict_proba(self, rows: Any) -> FloatArray:
        """(n_rows, n_states) the calibrated posterior."""
        return self.calibration.apply(self.model.predict_proba(rows))

    def probability_of(self, rows: ScoredRows) -> FloatArray:
        """(n_rows, n_states) the calibrated posterior of rows that are scored."""
        return self.calibration.apply(self.model.probability_of(rows))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


def calibrated(
    model: Any, table: Any, costs: Costs | None = None, *, method: str = "auto", progress: Progress | None = None
) -> CalibratedModel:
    """The model with a calibration fitted to the rows it has learned, each left out, exactly.

    Where the rows have selected something (cuts, a graph, families) and are too many to be left out one by one, it is
    fitted to ten folds. Where the costs depend on the row, rows count by what is at stake in them.

    >>> import bayeswise as bw
    >>> rows = [{"wind": w, "wind again": w, "play": p} for w, p in zip("aabb" * 25, "yyny" * 25)]
    >>> model = bw.fit(rows, target="play")
    >>> asked = [{"wind": "b", "wind again": "b"}]  # every second time, said twice
    >>> [each.predict_proba(asked).round(2).tolist() for each in (model, calibrated(model, rows, method="platt"))]
    [[[0.73, 0.27]], [[0.48, 0.52]]]
    """
    if isinstance(model, TableModel) and not model.capabilities.leave_one_out:
        raise FitError(
            f"{type(model).__name__} cannot leave learned rows out: it keeps weights, not the rows' statistics",
            fix="leave the calibration out",
        )
    known = left_out_or_folded(model, table, progress=progress)
    mass = known.weights * _by_stakes(known, table, costs)
    calibration = fit_calibration(method, known.posterior, known.truth, mass)
    return CalibratedModel(model, calibration, len(known.truth), known.how)


def _by_stakes(known: HeldOut, table: Any, costs: Costs | None) -> FloatArray | float:
    if costs is None or costs.constant:
        return 1.0
    n_rows = len(known.kept)
    aligned = costs.aligned(known.states)
    columns = {name: cells[known.kept] for name, cells in columns_for(aligned, table, n_rows).items()}
    return weights_by_stakes(stakes(aligned, columns, len(known.truth)))
