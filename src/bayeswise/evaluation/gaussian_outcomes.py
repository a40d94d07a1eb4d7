"""What an empty column of a Gaussian model could say, given the columns that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.decisions.information import Densities
from bayeswise.foundation.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from bayeswise.models.gaussian_bayes import GaussianBayesModel


def gaussian_outcomes(
    model: GaussianBayesModel, row: FloatArray, names: Sequence[str]
) -> tuple[Mapping[str, Densities], bool]:
    """The distribution of each empty column in each state, and whether they are independent there.

    With o the columns that are there, S_jo the covariances and z = S_oo^-1 (x_o - mean_o),

        mean = mean_j + S_jo z        variance = S_jj - S_jo S_oo^-1 S_oj

    and for Student-t with f degrees of freedom the variance times (f + z . (x_o - mean_o)) / (f + |o|), with f + |o|.
    """
    densities = model.densities.in_own_units()
    there = np.flatnonzero(~np.isnan(row))
    states = range(len(model.classes))
    found = {}
    for name in names:
        column = model.columns.index(name)
        found[name] = Densities(tuple(_given(densities, state, row, there, column) for state in states))
    diagonal = all(spread.is_diagonal for spread in densities.spreads) and densities.freedom is None
    return found, diagonal


def _given(densities: Any, state: int, row: FloatArray, there: IntArray, column: int) -> Any:
    from scipy.stats import norm, t

    spread = densities.spreads[state]
    mean = densities.mean[state] + densities.mean_low[state]
    scores = (row[there] - mean[there]) / spread.stddev[there]
    inner = spread.correlation[np.ix_(there, there)]
    across = spread.correlation[column, there]
    solved = np.linalg.solve(inner, np.stack([scores, across], axis=1)) if len(there) else np.zeros((0, 2))
    middle = float(mean[column] + spread.stddev[column] * (across @ solved[:, 0]))
    left = max(float(1.0 - across @ solved[:, 1]), np.finfo(np.float64).tiny)
    width = float(spread.stddev[column]) * left**0.5
    if densities.freedom is None:
        return norm(middle, width)
    freedom = float(densities.freedom[state])
    wider = (freedom + float(scores @ solved[:, 0])) / (freedom + len(there))
    return t(freedom + len(there), middle, width * wider**0.5)
