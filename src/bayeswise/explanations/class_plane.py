"""Classes over two columns, from a model or given by means and covariances: regions, contours, and rows on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import KindError, ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.posteriors.normalise import normalise
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.render.plain import Tabular
from bayeswise.tables.schema.labels import Label, label_of

if TYPE_CHECKING:
    from bayeswise.explanations.plots import RegionDisplay, RegionsBesideDisplay

RADII = (1.0, 2.0, 3.0)
REACH = 3.4  # stddevs around the means
_FAR = 3.0  # distances between quartiles beyond them at which rows are drawn at the edge


@dataclass(frozen=True, eq=False)
class Points:
    """Rows on the plane; the class of each, where it is known."""

    values: FloatArray  # (n_rows, 2)
    states: IntArray  # (n_rows,) positions of their classes, -1: unknown

    def limits(self) -> FloatArray:
        """(2, 2) from and to in each column, in which ordinary rows lie: one far row does not squash the others."""
        low, high = np.quantile(self.values, [0.25, 0.75], axis=0)
        spread = high - low
        spread = np.where(spread > 0, spread, np.ptp(self.values, axis=0))
        least = np.maximum(self.values.min(axis=0), low - _FAR * spread)
        most = np.minimum(self.values.max(axis=0), high + _FAR * spread)
        margin = np.where(most > least, 0.06 * (most - least), 1.0)
        return np.stack([least - margin, most + margin], axis=1)


@dataclass(frozen=True, eq=False)
class ClassPlane(Tabular):
    """The log joint of each class on a grid over two columns, and which class or action is best where.

    >>> plane = ClassPlane.of({"a": ([0, 0], [[1, 0], [0, 1]]), "b": ([4, 0], [[1, 0], [0, 1]])}, points=4)
    >>> [plane.classes[k] for k in plane.winners()[1].tolist()]
    ['a', 'a', 'b', 'b']
    """

    columns: tuple[str, str]
    classes: tuple[Label, ...]
    x: FloatArray  # (n_x,)
    y: FloatArray  # (n_y,)
    log_joint: FloatArray  # (n_y, n_x, n_states) up to a number for each point
    mean: FloatArray | None = None  # (n_states, 2) of Gaussian classes
    covariance: FloatArray | None = None  # (n_states, 2, 2)
    log_density: FloatArray | None = None  # (n_y, n_x, n_states) log p(x, y | class) of a model of whole rows
    rows: Points | None = None
    actions: tuple[Label, ...] = ()
    table: FloatArray | None = None  # (n_actions, n_states) what actions cost

    @classmethod
    def of(
        cls,
        given: Mapping[Any, tuple[Any, Any]],
        prior: Mapping[Any, float] | None = None,
        *,
        columns: tuple[str, str] = ("x", "y"),
        points: int = 241,
    ) -> ClassPlane:
        """Gaussian classes from {class: (mean, covariance)}; without a prior all are equally probable."""
        classes = tuple(label_of(state) for state in given)
        if not classes:
            raise ParameterError("there is no class", fix="give {class: (mean, covariance)}")
        parts = [_gaussian(state, each) for state, each in zip(classes, given.values(), strict=True)]
        mean, covariance = np.stack([m for m, _ in parts]), np.stack([c for _, c in parts])
        even = dict.fromkeys(classes, 1.0 / len(classes))
        log_prior = log(prior_by_state(even if prior is None else prior, classes))
        x, y = axes_of(gaussian_limits(mean, covariance), points)
        grid = np.stack(np.meshgrid(x, y), axis=-1)  # (n_y, n_x, 2)
        log_density = np.stack([_log_normal(grid, m, c) for m, c in parts], axis=-1)
        return cls(columns, classes, x, y, log_density + log_prior, mean, covariance, log_density)

    def winners(self) -> IntArray:
        """(n_y, n_x) the most probable class at each point, or the best action under costs; of equal ones the first."""
        if self.table is None:
            return np.asarray(np.argmax(self.log_joint, axis=2))
        return np.asarray(np.argmin(self._expected(), axis=2))

    def leads(self) -> FloatArray:
        """(n_y, n_x, n_decisions) by how much each decision is better than the best other one; 0 on its boundary."""
        good = self.log_joint if self.table is None else -self._expected()
        best = [np.delete(good, k, axis=2).max(axis=2, initial=-np.inf) for k in range(good.shape[2])]
        with np.errstate(invalid="ignore"):
            return np.asarray(good - np.stack(best, axis=2))

    @property
    def decisions(self) -> tuple[Label, ...]:
        """The classes, or the actions under costs."""
        return self.classes if self.table is None else self.actions

    def _expected(self) -> FloatArray:
        """(n_y, n_x, n_actions) the expected cost of each action."""
        shape = self.log_joint.shape
        posterior = normalise(self.log_joint.reshape(-1, shape[2]), undefined="uniform").probability
        assert self.table is not None
        return np.asarray((posterior @ self.table.T).reshape(*shape[:2], -1))

    def deciding(self, costs: Any) -> ClassPlane:
        """The plane under costs (`bw.Costs`): its regions are those of actions."""
        if not hasattr(costs, "aligned"):
            raise ParameterError(f"{costs!r} are not costs", fix="give bw.Costs({action: {state: cost}})")
        own = costs.aligned(self.classes)
        return replace(self, actions=own.actions, table=own.table)

    def ellipse(self, state: int, radius: float, points: int = 181) -> FloatArray:
        """(points, 2) the curve of one density: where the Mahalanobis distance of a Gaussian class is `radius`."""
        if self.mean is None or self.covariance is None:
            raise KindError("the classes are not Gaussian, and have no ellipses", fix="draw the contours")
        angle = np.linspace(0.0, 2.0 * np.pi, points)
        circle = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        values, vectors = np.linalg.eigh(self.covariance[state])
        return np.asarray(self.mean[state] + (circle * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)

    def to_columns(self) -> dict[str, list[Any]]:
        """Both columns and the most probable class or the best action, at every point of the grid."""
        x, y = np.meshgrid(self.x, self.y)
        best = [self.decisions[k] for k in self.winners().ravel().tolist()]
        word = "class" if self.table is None else "action"
        return {self.columns[0]: x.ravel().tolist(), self.columns[1]: y.ravel().tolist(), word: best}

    def plot(self, ax: Any = None, *, equal: bool | None = None, title: str = "") -> RegionDisplay:
        """Draw regions, contours and rows; `equal` scales of both axes by default where their ranges are comparable."""
        from bayeswise.explanations.plots import RegionDisplay

        return RegionDisplay(self, equal=equal, title=title).plot(ax)

    def plot_beside(
        self, other: ClassPlane, ax: Any = None, *, titles: Sequence[str] = ("", ""), equal: bool | None = None
    ) -> RegionsBesideDisplay:
        """Draw two planes side by side on the same axes: linear and quadratic, naive Bayes and logistic, ..."""
        from bayeswise.explanations.plots import RegionsBesideDisplay

        return RegionsBesideDisplay([self, other], titles, equal=equal).plot(ax)

    def __repr__(self) -> str:
        what = "actions" if self.table is not None else "classes"
        return f"ClassPlane({self.columns[0]!r} and {self.columns[1]!r}: {len(self.decisions)} {what})"


def gaussian_limits(mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """(2, 2) from and to in each column, around all Gaussian classes."""
    stddev = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    return np.stack([(mean - REACH * stddev).min(axis=0), (mean + REACH * stddev).max(axis=0)], axis=1)


def axes_of(limits: FloatArray, points: int) -> tuple[FloatArray, FloatArray]:
    """The grid along each column."""
    (left, right), (low, high) = limits.tolist()
    return np.linspace(left, right, points), np.linspace(low, high, points)


def together(one: FloatArray, other: FloatArray | None) -> FloatArray:
    """(2, 2) limits that hold both."""
    if other is None:
        return one
    return np.stack([np.minimum(one[:, 0], other[:, 0]), np.maximum(one[:, 1], other[:, 1])], axis=1)


def _gaussian(state: Label, given: Any) -> tuple[FloatArray, FloatArray]:
    try:
        mean, covariance = (np.asarray(each, dtype=np.float64) for each in given)
    except (TypeError, ValueError):
        raise ParameterError(f"class {state!r} is {given!r}", fix="give (mean, covariance)") from None
    if mean.shape != (2,) or covariance.shape != (2, 2) or not np.isfinite(mean).all():
        raise ParameterError(
            f"class {state!r} has a mean of shape {mean.shape} and a covariance of shape {covariance.shape}",
            fix="give two means and a covariance of 2 x 2",
        )
    symmetric = np.isfinite(covariance).all() and np.allclose(covariance, covariance.T)
    if not symmetric or np.linalg.eigvalsh(covariance).min() <= 0:
        raise ParameterError(
            f"the covariance of {state!r} is {covariance.tolist()}", fix="give a symmetric, positive definite matrix"
        )
    return mean, covariance


def _log_normal(grid: FloatArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """(n_y, n_x) log Normal(point; mean, covariance)."""
    factor = np.linalg.cholesky(covariance)
    z = np.linalg.solve(factor, (grid - mean)[..., None])[..., 0]
    return np.asarray(-0.5 * (z**2).sum(axis=-1) - np.log(np.diag(factor)).sum() - np.log(2.0 * np.pi))
