"""Every learned row predicted by the model that never saw it, without a refit.

With S = X'X + prior about the means, e = y - prediction, N the weight of the rows and w that of the row:

    leverage   h = w (1 / N + z' S^-1 z)        left out   y - e / (1 - h)

That is exact where the prior does not depend on the rows: without one, or with standardise=False. Standard deviations
change when a row goes, so otherwise each row has its own S, downdated and solved in one batch. A row that is nearly all
of what is known about some weight is left out by a true refit from the exact moments, and so are all rows where means
replace missing cells and weights have a prior.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import KindError
from bayeswise.models.regression.linear import LinearModel
from bayeswise.models.regression.predictive import Predictive
from bayeswise.tables.batch import Batch

NEARLY_ALL = 1.0 - 1e-5
BATCH = 4_096


def leave_one_out(model: LinearModel, batch: Batch, target: FloatArray) -> Predictive:
    """(n_rows,) the predictive distribution of each row under the model of the others, at the same prior scale."""
    if model.settings.prior == "laplace":
        raise KindError("a laplace prior has no closed form for leaving rows out", fix="fit with prior='gaussian'")
    fixed = replace(model, settings=model.settings.changed(scale=model.scale or 1.0), folds=())
    parts = [
        _left_out(fixed, batch.rows(slice(k, min(k + BATCH, batch.n_rows))), target[k : k + BATCH])
        for k in range(0, batch.n_rows, BATCH)
    ]
    location, scale, df = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Predictive("student-t", location, scale, df)


def _left_out(model: LinearModel, batch: Batch, target: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    weights = batch.row_weights
    if model.scale is not None and model.settings.standardise:
        found = _downdated(model, batch, target, weights)
    else:
        found = _by_leverage(model, batch, target, weights)
    location, scale, df, leverage = found
    if model.features.marked and model.scale is not None:
        leverage = np.ones_like(leverage)  # the means of missing cells are others without the row
    for row in np.flatnonzero(~(leverage < NEARLY_ALL)).tolist():
        one = batch.rows(slice(row, row + 1))
        others = replace(model, statistics=model.statistics.subtract(model.moments_of(one, target[row : row + 1])))
        ahead = others.predictive(one)
        location[row], scale[row], df[row] = ahead.location[0], ahead.scale[0], ahead.df
    return location, scale, df


def _by_leverage(
    model: LinearModel, batch: Batch, target: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    known, equations = model.posterior, model.equations
    away = model.matrix(batch) - model.baseline[0]
    spread = np.einsum("ij,jk,ik->i", away, known.covariance, away)
    if model.settings.fit_intercept:
        spread = spread + 1.0 / equations.n_rows
    leverage = weights * spread
    left = np.maximum(1.0 - leverage, 1e-300)
    error = target - model.predict(batch)
    rest = np.maximum(known.rest - weights * error**2 / left, 0.0)
    df = known.df - weights
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.sqrt(rest / df * (1.0 + spread / left))
    return target - error / left, scale, df, np.where(df > 0, leverage, 1.0)


def _downdated(
    model: LinearModel, batch: Batch, target: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    assert model.scale is not None
    equations, about_mean = model.equations, model.settings.fit_intercept
    unit, n_rows = equations.unit, equations.n_rows
    away = (model.matrix(batch) - equations.mean[:-1]) / unit  # (n, p)
    left = np.maximum(n_rows - weights, 1e-300)
    farther_weight = weights * n_rows / left
    shift = farther_weight if about_mean else weights
    # In units of the old standard deviations: the squared ones of the columns that are numbers, without the row.
    variance = (1.0 - farther_weight[:, None] * away**2 / n_rows) * (n_rows / left)[:, None]
    own = np.where(equations.measured, variance, 1.0)
    z = away if about_mean else away + equations.mean[:-1] / unit
    y = target - equations.mean[-1] if about_mean else target
    matrix = equations.correlation - shift[:, None, None] * z[:, :, None] * z[:, None, :]
    diagonal = np.arange(z.shape[1])
    matrix[:, diagonal, diagonal] += np.maximum(own, 1e-300) / model.scale**2
    moment = equations.moment - (shift * y)[:, None] * z
    both = np.linalg.solve(matrix, np.stack([moment, z], axis=2))  # (n, p, 2)
    w, turned = both[:, :, 0], both[:, :, 1]
    # The row seen from the mean of the others, which is farther away than the mean of all.
    farther = n_rows / left if about_mean else np.ones_like(left)
    rest = np.maximum(equations.total - shift * y**2 - (w * moment).sum(axis=1), 0.0)
    df = equations.df - weights
    spread = farther**2 * (turned * z).sum(axis=1) + (1.0 / left if about_mean else 0.0)
    base = equations.mean[-1] - weights * y / left if about_mean else 0.0
    location = base + farther * (w * z).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.sqrt(rest / df * (1.0 + spread))
    dominant = ((variance < 1e-5) & equations.measured).any(axis=1) | (df <= 0)
    return location, scale, df, np.where(dominant, 1.0, 0.0)
