"""The log-odds of two classes as a formula: linear with a shared covariance, quadratic otherwise; and Fisher's view.

shared       w = S^-1 (mean+ - mean-)        w0 = logit p - (mean+' S^-1 mean+ - mean-' S^-1 mean-) / 2
per class    x' A x + b . x + c with A = (S-^-1 - S+^-1) / 2
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import NonFiniteError, ParameterError
from bayeswise.models.gaussian_bayes.densities import Densities
from bayeswise.models.gaussian_bayes.moments import ClassMoments
from bayeswise.models.gaussian_bayes.spread import diagonal_spread, refuse_square, spread_of
from bayeswise.models.settings.gaussian import GaussianBayesSettings


@dataclass(frozen=True)
class LinearDiscriminant:
    """log p(state | row) - log p(against | row) = w . x + w0."""

    columns: tuple[str, ...]
    w: FloatArray  # (n_columns,)
    w0: float
    centre: FloatArray  # (2, n_columns) a point near the rows, as high + low
    at_centre: float  # w0 for numbers counted from there: no digits lost at large offsets

    def of_numbers(self, values: Any) -> FloatArray:
        """(n_rows,) log-odds of complete rows, in the order of the columns."""
        away = (np.asarray(values, dtype=np.float64) - self.centre[0]) - self.centre[1]
        return np.asarray(away @ self.w + self.at_centre)


@dataclass(frozen=True)
class QuadraticDiscriminant:
    """log p(state | row) - log p(against | row) = u' A u + b . u + c with u = x - centre."""

    columns: tuple[str, ...]
    matrix: FloatArray  # A, (n_columns, n_columns)
    vector: FloatArray  # b, (n_columns,)
    constant: float  # c
    centre: FloatArray  # (2, n_columns)

    def of_numbers(self, values: Any) -> FloatArray:
        """(n_rows,) log-odds of complete rows, in the order of the columns."""
        u = (np.asarray(values, dtype=np.float64) - self.centre[0]) - self.centre[1]
        return np.asarray(((u @ self.matrix) * u).sum(axis=1) + u @ self.vector + self.constant)

    def at_zero(self) -> tuple[FloatArray, FloatArray, float]:
        """A, b and c for the columns' own numbers, counted from 0."""
        centre = self.centre[0]
        turned = self.matrix @ centre
        return (
            self.matrix,
            self.vector - 2.0 * turned,
            self.constant - float(self.vector @ centre) + float(centre @ turned),
        )


@dataclass(frozen=True)
class Projection:
    """Fisher's linear discriminants: rows seen from where the classes stand farthest apart."""

    columns: tuple[str, ...]
    directions: FloatArray  # (n_components, n_columns)
    centre: FloatArray  # (2, n_columns)
    separation: FloatArray  # (n_components,) variance between the classes, in units of that within them

    def of_numbers(self, values: Any) -> FloatArray:
        """(n_rows, n_components); a missing cell counts as the mean of its column."""
        cells = np.asarray(values, dtype=np.float64)
        if np.isinf(cells).any():
            raise NonFiniteError("a cell to be projected is infinite", fix="leave it empty, or give a finite number")
        away = (cells - self.centre[0]) - self.centre[1]
        return np.asarray(np.where(np.isnan(away), 0.0, away) @ self.directions.T)


def linear_discriminant(densities: Densities, log_prior: FloatArray, one: int, other: int) -> LinearDiscriminant:
    """w and w0 of one state against another, for a shared covariance."""
    own = densities.in_own_units()
    _, constants = own.linear
    gap = (own.mean[one] - own.mean[other]) + (own.mean_low[one] - own.mean_low[other])
    w = own.spreads[0].precision_times(gap)
    at_centre = float(log_prior[one] - log_prior[other] + constants[0, one] - constants[0, other])
    return LinearDiscriminant(own.names, w, math.fsum([at_centre, *(-w * own.centre[0])]), own.centre, at_centre)


def quadratic_discriminant(densities: Densities, log_prior: FloatArray, one: int, other: int) -> QuadraticDiscriminant:
    """The quadratic form of one state against another."""
    own = densities.in_own_units()
    refuse_square(own.n_columns)
    identity = np.eye(own.n_columns)
    precision = [own.spreads[state].precision_times(identity) for state in (one, other)]
    away = [(own.mean[s] - own.centre[0]) + (own.mean_low[s] - own.centre[1]) for s in (one, other)]
    leaning = [p @ a for p, a in zip(precision, away, strict=True)]
    constant = [
        log_prior[state] + own.log_peak[state] - 0.5 * float(a @ b)
        for state, a, b in zip((one, other), away, leaning, strict=True)
    ]
    matrix = 0.5 * (precision[1] - precision[0])
    return QuadraticDiscriminant(
        own.names, 0.5 * (matrix + matrix.T), leaning[0] - leaning[1], float(constant[0] - constant[1]), own.centre
    )


def fisher_projection(
    moments: ClassMoments, settings: GaussianBayesSettings, names: tuple[str, ...], n_components: int | None
) -> Projection:
    """Directions that maximise variance between classes over variance within: at most one fewer than classes."""
    n_classes = int((moments.weight > 0).sum())
    most = min(n_classes - 1, len(names))
    chosen = most if n_components is None else n_components
    if not 0 <= chosen <= most:
        classes = "one class has no direction" if n_classes == 1 else f"{n_classes} classes have {most} directions"
        what = f"{classes} of {len(names)} columns between them; asked for {n_components}"
        raise ParameterError(what, fix="ask for fewer, or leave the number out")
    n, columns = moments.weight, moments.columns
    within, floor = moments.scatter.sum(axis=0) / n.sum(), settings.variance_floor
    if within.ndim == 1:
        spread = diagonal_spread(within, columns, variance_floor=floor)
    else:
        spread = spread_of(within, columns, shrinkage=0.0, variance_floor=floor, exact=False)
    away = columns.in_units(moments.mean, moments.mean_low) / spread.stddev  # (n_states, n_columns)
    away = (away - (n @ away) / n.sum()) * np.sqrt(n / n.sum())[:, None]
    _, lengths, axes = np.linalg.svd(spread.whitened(away), full_matrices=False)
    directions = spread.turned_back(axes[:chosen]) / spread.stddev  # (n_components, n_columns) in units
    largest = directions[np.arange(chosen), np.argmax(np.abs(directions), axis=1)]
    directions = directions * np.sign(largest)[:, None] / columns.unit
    return Projection(names, directions, np.stack([columns.centre, columns.centre_low]), lengths[:chosen] ** 2)
