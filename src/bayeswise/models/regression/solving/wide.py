"""More columns than rows: what n rows say about d weights lies in n directions, so n x n takes the place of d x d.

With Z the standardised rows (n, d), eigenvalues l and vectors u of Z Z', and t = scale^2, the ridge weights are
Z' sum u (u . y) / (l + 1 / t); the directions v = Z' u / sqrt(l) are all that the rows know of, and along any other a
weight is as unknown as the prior says.
"""

from __future__ import annotations

import math
from dataclasses import field, replace
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier_fields
from bayeswise.foundation.errors import NotMergedError, SchemaError
from bayeswise.foundation.threads import scipy_linalg
from bayeswise.models.regression.features import Features, entries_of_moments, is_wide, refuse_no_room
from bayeswise.models.regression.predictive import Predictive, within_floats
from bayeswise.models.regression.regression_model import FoundModel, RegressionFacts, evidence_of_learned_rows
from bayeswise.models.regression.row_blocks import Rows
from bayeswise.models.regression.solving.normal_equations import ScaleEvidence, log_evidence_of
from bayeswise.models.row_order import in_own_order
from bayeswise.models.settings.regression import LinearSettings
from bayeswise.store.fields import added_later, stored_field
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.schema import Schema

FEWEST_TURNED = 2_000  # columns: below, a model that merges is worth the seconds that d x d takes


def may_use_rows(n_features: int, settings: LinearSettings) -> bool:
    """Whether n x n is used if there are fewer rows than columns; it always is where d x d has no room.

    >>> may_use_rows(5_000, LinearSettings()), may_use_rows(5_000, LinearSettings(scale="cv"))
    (True, False)
    """
    turned = settings.prior == "gaussian" and settings.how_scaled != "cv"
    return is_wide(n_features) or (turned and n_features > FEWEST_TURNED)


def uses_rows(n_rows: int, n_features: int, settings: LinearSettings) -> bool:
    """Whether products of rows with rows take the place of exact moments, which merge but take d x d.

    >>> uses_rows(2_000, 5_000, LinearSettings()), uses_rows(9_000, 5_000, LinearSettings())
    (True, False)
    """
    return is_wide(n_features) or (n_rows < n_features and may_use_rows(n_features, settings))


@dataclass(frozen=True)
class TurnedRows:
    """n rows in at most n columns; weights of these times the directions are weights of the standardised columns."""

    rows: Rows
    directions: FloatArray  # (n_directions, n) orthonormal


def turned_rows(rows: Rows) -> TurnedRows:
    """The same products of rows with rows in fewer columns: a gaussian prior does not see the rotation.

    >>> wide = Rows(np.array([[3.0, 4.0, 0.0]]), np.empty(0), np.zeros(3), np.ones(3))
    >>> np.abs(turned_rows(wide).rows.matrix).round(9).tolist()
    [[5.0]]
    """
    z = rows.matrix - rows.centre
    z /= rows.unit
    qr = scipy_linalg().qr  # NumPy's makes three copies of the table
    directions, lower = qr(z.T, mode="economic", overwrite_a=True, check_finite=False)
    n = lower.shape[0]  # directions (n, n_directions), lower (n_directions, n_rows)
    inside = Rows(np.ascontiguousarray(lower.T), rows.weights, np.zeros(n), np.ones(n))
    return TurnedRows(inside, np.ascontiguousarray(directions.T))


@earlier_fields(freedom="df")
@dataclass(frozen=True)
class WideModel(FoundModel):
    """y = w0 + w . x + noise for a gaussian likelihood and prior, from n x n products of the rows."""

    schema: Schema
    settings: LinearSettings
    levels: tuple[Vocabulary, ...]
    weights: FloatArray  # (n,) in original units
    at_centre: float
    centre: FloatArray  # (n,)
    unit: FloatArray  # (n,)
    scale: float
    directions: FloatArray  # (n_directions, n) orthonormal, of standardised columns
    values: FloatArray  # (n_directions,) squares of the rows along them
    rest: float
    df: float = field(metadata=stored_field({}, "freedom"))
    n_rows: float
    marked: tuple[str, ...] = added_later(())  # columns with an indicator of missing cells

    @property
    def rows_learned(self) -> float:
        return self.n_rows

    def not_merged(self) -> NotMergedError:
        return NotMergedError(
            "the model keeps no moments of this many columns",
            fix="fit all rows at once, or start with partial_fit of bw.LinearRegression",
        )

    def regression_facts(self) -> RegressionFacts:
        noise = None if self.has_log_link else self.noise
        return replace(super().regression_facts(), noise=noise, log_evidence=self.log_evidence())

    def refuse_impossible(self) -> None:
        self.features.refuse_other_shapes(self.weights, self.centre)
        d = len(self.features.names)
        if self.weights.shape != (d,) or self.unit.shape != (d,) or self.directions.shape != (len(self.values), d):
            raise SchemaError("weights, units and directions of a regression are one for each feature")
        numbers = (self.scale, self.df, self.n_rows)
        if not all(0.0 < each < math.inf for each in numbers) or not 0.0 <= self.rest < math.inf:
            raise SchemaError("scale, noise and rows of a regression are finite and above 0")

    @property
    def noise(self) -> float:
        """The scale of the noise, in units of the target."""
        return float(np.sqrt(self.rest / self.df))

    def log_evidence(self, table: Any = None) -> float:
        """log p(targets | columns, scale), the weights and the noise integrated out."""
        if table is not None:
            raise evidence_of_learned_rows()
        return log_evidence_of(self.scale**2 * self.values, self.rest, self.df)

    def predictive_of(self, batch: Batch) -> Predictive:
        """The student-t of each row: noise, and what is not known about the weights."""
        with np.errstate(over="ignore", invalid="ignore"):
            z = within_floats((self.matrix(batch) - self.centre) / self.unit)
            size = np.maximum(np.abs(z).max(axis=1, initial=1.0), 1.0)
            small = z / size[:, None]
            along = small @ self.directions.T  # (n_rows, n_directions)
            beside = ((small - along @ self.directions) ** 2).sum(axis=1)
            known = (along**2 / (1.0 + self.scale**2 * self.values)).sum(axis=1)
            unknown = size * self.scale * np.sqrt(beside + known)
            intercept = 1.0 / self.n_rows if self.settings.fit_intercept else 0.0
            scale = within_floats(self.noise * np.hypot(np.sqrt(1.0 + intercept), unknown))
        return Predictive("student-t", self.predict(batch), scale, self.df)

    def __repr__(self) -> str:
        return f"WideModel({self.n_rows:g} rows, {len(self.weights)} weights, {self.settings}, scale {self.scale:.3g})"


def fit_wide(
    features: Features, matrix: FloatArray, target: FloatArray, weights: FloatArray | None, settings: LinearSettings
) -> WideModel:
    """Ridge weights, their posterior and the scale of largest evidence, from products of rows with rows."""
    n, d = matrix.shape
    if settings.prior != "gaussian" or settings.how_scaled == "cv":
        refuse_no_room(
            entries_of_moments(d),
            f"all pairs of {d:,} columns, which {settings} needs,",
            "choose prior='gaussian' with scale='evidence' or a number, or fewer columns",
        )
    refuse_no_room(2.0 * n * n, f"products of {n:,} rows with each other", "choose fewer columns, or fewer rows")
    matrix, target, weights = in_own_order(matrix, target, weights)
    rows = Rows.of(matrix, weights, features, settings)
    root = np.sqrt(rows.weights) if len(rows.weights) else np.ones(len(matrix))
    middle = math.fsum(root**2 * target) / rows.total_weight if settings.fit_intercept else 0.0
    z = matrix - rows.centre
    z /= rows.unit
    z *= root[:, None]
    values, vectors = np.linalg.eigh(z @ z.T)
    seen = values > len(values) * np.finfo(float).eps * values.max(initial=0.0)
    values, vectors = values[seen], vectors[:, seen]
    y = root * (target - middle)
    moment = vectors.T @ y
    df = rows.total_weight - float(settings.fit_intercept)
    least = max(float(((y - vectors @ moment) ** 2).sum()), 0.0)
    evidence = ScaleEvidence(values, values * moment**2, least, df)
    scale = evidence.best_scale() if settings.how_scaled == "evidence" else float(settings.how_scaled)
    directions = vectors.T @ z
    directions /= np.sqrt(values)[:, None]
    weights_in_units = (np.sqrt(values) * moment / (values + scale**-2)) @ directions
    return WideModel(
        features.schema,
        settings,
        features.levels,
        weights_in_units / rows.unit,
        middle,
        rows.centre,
        rows.unit,
        scale,
        directions,
        values,
        evidence.left(scale),
        max(df, np.finfo(float).tiny),
        rows.total_weight,
        features.marked,
    )
