"""A fitted model calibrated on the rows that it has learned, each counted by what is at stake in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.decide import columns_for
from bayeswise.foundation.arrays import FloatArray
from bayeswise.models.calibrated import CalibratedModel
from bayeswise.models.calibrated import calibrated as calibrated_by_rows
from bayeswise.models.held_out import HeldOut, Progress


def stakes(costs: Costs, columns: Mapping[str, FloatArray], n_rows: int) -> FloatArray:
    """(n_rows,) the dearest mistake: max over states of (max over actions of the cost - min over actions of it).

    >>> loan = Costs({"lend": {"good": "-0.1 * amount", "bad": "amount"}, "refuse": 0})
    >>> stakes(loan, {"amount": np.array([200.0, 3000.0])}, 2).tolist()
    [200.0, 3000.0]
    """
    by_action = costs.of_rows(columns, n_rows)
    dearest = np.zeros(n_rows)
    for state in zip(*by_action, strict=True):
        cells = [np.broadcast_to(cell, (n_rows,)) for cell in state]
        np.maximum(dearest, np.max(cells, axis=0) - np.min(cells, axis=0), out=dearest)
    return dearest


def weights_by_stakes(stake: FloatArray) -> FloatArray:
    """(n_rows,) in proportion to the stakes s, together as many as the rows that they are worth: (sum s)^2 / sum s^2.

    >>> weights_by_stakes(np.array([200.0, 200.0, 200.0])).tolist()
    [1.0, 1.0, 1.0]
    >>> weights_by_stakes(np.array([1.0, 3.0])).round(3).tolist()  # 1.6 rows
    [0.4, 1.2]
    """
    largest = stake.max(initial=0.0)
    if not largest > 0.0:
        return np.ones_like(stake)
    share = stake / largest  # squares of large stakes would not be finite
    return np.asarray(share * (share.sum() / (share @ share)))


def calibrated(
    model: Any, table: Any, costs: Costs | None = None, *, method: str = "auto", progress: Progress | None = None
) -> CalibratedModel:
    """The model with a calibration fitted to the rows it has learned, each left out, exactly.

    Where the rows have selected something (cuts, a graph, families) and are too many to be left out one by one, it is
    fitted to ten folds. Where the costs depend on the row, rows count by what is at stake in them.

    >>> import bayeswise as bw
    >>> rows = [{"wind": w, "wind again": w, "play": p} for w, p in zip("aabb" * 25, "yyny" * 25)]
    >>> model = bw.fit(rows, target="play", model="naive-bayes")
    >>> asked = [{"wind": "b", "wind again": "b"}]  # every second time, said twice
    >>> [each.predict_proba(asked).round(2).tolist() for each in (model, calibrated(model, rows, method="platt"))]
    [[[0.73, 0.27]], [[0.48, 0.52]]]
    """
    return calibrated_by_rows(
        model, table, method, row_weights=lambda known: _by_stakes(known, table, costs), progress=progress
    )


def _by_stakes(known: HeldOut, table: Any, costs: Costs | None) -> FloatArray | float:
    if costs is None or costs.constant:
        return 1.0
    n_rows = len(known.kept)
    aligned = costs.aligned(known.states)
    columns = {name: cells[known.kept] for name, cells in columns_for(aligned, table, n_rows).items()}
    return weights_by_stakes(stakes(aligned, columns, len(known.truth)))
