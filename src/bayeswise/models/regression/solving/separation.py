"""Whether weights without a prior have a finite maximum: not where some direction separates the classes.

A direction d separates if (d_own - d_other) . z >= 0 for every row and every other class, and > 0 for some (Albert and
Anderson, 1984). Along it the likelihood rises for ever. In such a direction the loss has no curvature where Newton's
method ends, so it is looked for among the flat directions only, by a linear program over all rows.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import FitError
from bayeswise.models.regression.features import Features
from bayeswise.models.regression.solving.newton import Point
from bayeswise.models.regression.solving.softmax import SoftmaxLoss

ROUNDING = 1e-6  # of a margin, for rows and directions of length 1
FLAT = 1e-3  # the curvature for each row of weight 1, below which a direction is asked about
NAMED = 3  # columns


def refuse_separated(features: Features, loss: SoftmaxLoss, point: Point) -> None:
    """`FitError` that names what separates the classes."""
    direction = separating_direction(loss, point)
    if direction is None:
        return
    alone = [k for k in range(len(features.names)) if _separates_alone(loss, k)]
    size = np.abs(direction[:, :-1]).max(axis=0)
    together = [int(k) for k in np.argsort(-size) if size[k] > 1e-3 * size.max(initial=0.0)]
    names = [_shown(features, k) for k in (alone or together)]
    shown = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    how = "each by itself " if alone and len(names) > 1 else "together " if len(names) > 1 else ""
    raise FitError(
        f"without a prior the weights grow for ever: {shown} {how}separate{'s' * (len(names) == 1)} the classes",
        fix="choose prior='gaussian' (--prior gaussian), which keeps them finite, or leave these columns out",
    )


def separating_direction(loss: SoftmaxLoss, point: Point) -> FloatArray | None:
    """(n_vectors, n) a direction that separates the classes, for weights at which the gradient is nearly 0."""
    values, vectors = np.linalg.eigh(point.hessian)
    flat = vectors[:, values <= FLAT * loss.rows.total_weight]
    if not flat.shape[1]:
        return None
    margins = np.unique(_margins(loss, flat), axis=0)  # (n_pairs, n_flat)
    length = np.linalg.norm(margins, axis=1)
    margins = margins[length > ROUNDING] / length[length > ROUNDING, None]
    if not len(margins):
        return None
    found = linprog(
        -margins.sum(axis=0), A_ub=-margins, b_ub=np.zeros(len(margins)), bounds=(-1.0, 1.0), method="highs"
    )
    if found.status != 0:
        return None
    ahead = margins @ found.x
    if ahead.min() < -ROUNDING or ahead.max() <= 1e3 * ROUNDING:
        return None
    return np.asarray(flat @ found.x).reshape(loss.shape)


def _margins(loss: SoftmaxLoss, directions: FloatArray) -> FloatArray:
    """(n_rows (n_classes - 1), n_directions) how much a step along each direction helps each row's own class."""
    columns = []
    for k in range(directions.shape[1]):
        scores = loss.scores(np.ascontiguousarray(directions[:, k]))  # (n_rows, n_classes)
        own = np.take_along_axis(scores, loss.targets[:, None].astype(np.int64), axis=1)
        others = np.arange(loss.n_classes)[None, :] != loss.targets[:, None]
        columns.append((own - scores)[others])
    return np.column_stack(columns)


def _separates_alone(loss: SoftmaxLoss, column: int) -> bool:
    """Whether one class lies on one side of all others in this column."""
    values = loss.rows.matrix[:, column]
    if values.min() == values.max():
        return False
    for state in range(loss.n_classes if loss.n_classes > 2 else 1):
        inside, outside = values[loss.targets == state], values[loss.targets != state]
        if inside.max() <= outside.min() or outside.max() <= inside.min():
            return True
    return False


def _shown(features: Features, k: int) -> str:
    column, level = features.names[k]
    return repr(column) if level is None else f"{column!r} = {level!r}"
