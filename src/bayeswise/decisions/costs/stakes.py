"""How much is at stake in each row, where the costs depend on it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.foundation.arrays import FloatArray


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
