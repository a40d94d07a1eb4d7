"""Linear regression with Gaussian noise: a function of exact moments, so it merges, forgets and leaves out exactly."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from bayeswise.engines.ranges import row_ranges
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import KindError, NotFittedError, TooFewRowsError
from bayeswise.models.regression.evidence import ScaleEvidence
from bayeswise.models.regression.features import Feature, Features
from bayeswise.models.regression.normal_equations import NormalEquations
from bayeswise.models.regression.predictive import Predictive
from bayeswise.models.regression.rows import in_blocks
from bayeswise.models.regression.settings import LinearSettings
from bayeswise.statistics.protocol import fingerprint
from bayeswise.statistics.regression import RegressionMoments
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema import Schema


@dataclass(frozen=True)
class WeightPosterior:
    """Normal-inverse-gamma: w | noise^2 ~ N(mean, noise^2 covariance), noise^2 ~ inverse gamma(freedom / 2, rest / 2).

    Each weight by itself is a student-t of that freedom about its mean.
    """

    names: tuple[Feature, ...]
    mean: FloatArray  # (n,)
    covariance: FloatArray  # (n, n), in units of noise^2
    freedom: float
    rest: float

    @property
    def noise_square(self) -> float:
        """rest / freedom, the scale of the noise's square."""
        return self.rest / self.freedom

    def weights(self) -> Predictive:
        """The marginal distribution of each weight."""
        scale = np.sqrt(self.noise_square * np.diag(self.covariance))
        return Predictive("student-t", self.mean, scale, self.freedom)


@dataclass(frozen=True)
class LinearModel:
    """y = w0 + w . x + noise, from the moments of the rows and nothing else."""

    schema: Schema
    settings: LinearSettings
    statistics: RegressionMoments

    # -- what it is -------------------------------------------------------------------------------------------
    @cached_property
    def features(self) -> Features:
        return Features(self.schema, self.statistics.levels)

    @cached_property
    def equations(self) -> NormalEquations:
        if self.statistics.n_rows() <= 0:
            raise NotFittedError("the model has learned no complete row", fix="fit it to rows without missing cells")
        standardised = self.features.is_number.astype(float) * float(self.settings.standardise)
        return NormalEquations.of(
            self.statistics,
            self.features.positions,
            [name for name, _ in self.features.names],
            centred=self.settings.intercept,
            standardised=standardised,
        )

    @cached_property
    def scale(self) -> float | None:
        """The scale of the prior that is in force; None without one."""
        if self.settings.prior is None:
            return None
        if self.settings.scale == "evidence":
            return ScaleEvidence.of(self.equations).best_scale()
        return float(self.settings.scale)

    @cached_property
    def _solved(self) -> tuple[FloatArray, IntArray]:
        everything = np.arange(len(self.features.names))
        if self.scale is None:
            return self.equations.flat()
        if self.settings.prior == "laplace":
            w = self.equations.laplace(self.scale)
            return w, np.flatnonzero(w)
        return self.equations.gaussian(self.scale), everything

    @property
    def weights(self) -> FloatArray:
        """(n_features,) in original units."""
        return self._solved[0]

    @property
    def intercept(self) -> float:
        """The mean of a row of zeros."""
        return float(self._at_mean - self.equations.mean[:-1] @ self.weights) if self.settings.intercept else 0.0

    @property
    def dependent(self) -> tuple[Feature, ...]:
        """Columns without a weight of their own: combinations of earlier ones, found without a tolerance."""
        if self.settings.prior is not None:
            return ()
        return tuple(name for k, name in enumerate(self.features.names) if k not in set(self._solved[1].tolist()))

    def log_evidence(self) -> float:
        """log p(targets | columns, scale), the weights and the noise integrated out; gaussian prior only."""
        if self.settings.prior != "gaussian" or self.scale is None:
            raise KindError("only a gaussian prior has its evidence in closed form", fix="fit with prior='gaussian'")
        return ScaleEvidence.of(self.equations).log_evidence(self.scale)

    @cached_property
    def posterior(self) -> WeightPosterior:
        """What is known about the weights after the rows."""
        w, kept = self._solved
        equations = self.equations
        lost = len(kept) if self.settings.prior != "gaussian" else 0
        freedom = equations.freedom - lost
        if freedom <= 0:
            raise TooFewRowsError(
                f"{equations.n_rows:g} complete rows leave no degree of freedom for the noise",
                fix="give more rows, or a gaussian prior",
            )
        rest = equations.residual_square(w)
        if self.settings.prior == "gaussian" and self.scale is not None:
            rest += float(((equations.unit * w / self.scale) ** 2).sum())
        if self.settings.prior == "laplace":  # plug-in: the weights count as known
            return WeightPosterior(self.features.names, w, np.zeros((len(w), len(w))), freedom, rest)
        return WeightPosterior(self.features.names, w, equations.inverse(kept, self.scale), freedom, rest)

    def __repr__(self) -> str:
        settings = self.settings
        return f"LinearModel({self.statistics.n_rows():g} rows, {len(self.features.names)} weights, {settings.prior})"

    # -- what it says about rows ------------------------------------------------------------------------------
    @property
    def _at_mean(self) -> float:
        return float(self.equations.mean[-1])

    @property
    def _centre(self) -> FloatArray:
        """(n_features,) where deviations are counted from."""
        mean = self.equations.mean[:-1]
        return mean if self.settings.intercept else np.zeros_like(mean)

    def matrix(self, batch: Batch, first_row: int = 0) -> FloatArray:
        """(n_rows, n_features) without holes."""
        mean = self.equations.mean[:-1]
        return self.features.filled(batch, mean, missing=self.settings.missing, first_row=first_row)

    def predict(self, batch: Batch, first_row: int = 0) -> FloatArray:
        """(n_rows,) E[y | row]."""
        away = self.matrix(batch, first_row) - self._centre
        return np.asarray(away @ self.weights + (self._at_mean if self.settings.intercept else 0.0))

    def predictive(self, batch: Batch, first_row: int = 0) -> Predictive:
        """The student-t of each row: noise, and what is not known about the weights."""
        known = self.posterior
        away = self.matrix(batch, first_row) - self._centre
        spread = np.einsum("ij,jk,ik->i", away, known.covariance, away)
        if self.settings.intercept:
            spread = spread + 1.0 / self.equations.n_rows
        scale = np.sqrt(known.noise_square * (1.0 + spread))
        return Predictive("student-t", self.predict(batch, first_row), scale, known.freedom)

    # -- rows come and go -------------------------------------------------------------------------------------
    def moments_of(self, batch: Batch, target: FloatArray, first_row: int = 0) -> RegressionMoments:
        """What the model would learn of these rows."""
        return moments_of(self.schema, batch, target, missing=self.settings.missing, first_row=first_row)

    def merge(self, other: LinearModel) -> LinearModel:
        """The model of both sets of rows; schema and settings must be the same."""
        for what in ("schema", "settings"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if fingerprint(mine) != fingerprint(theirs):
                raise KindError(f"the models have different {what}: {mine} against {theirs}")
        return replace(self, statistics=self.statistics.merge(other.statistics))

    def changed(self, **settings: Any) -> LinearModel:
        """The same rows under other beliefs: prior, scale; no second pass."""
        return replace(self, settings=self.settings.changed(**settings))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file."""
        from bayeswise.models.files import save_model

        save_model(self, path)


def moments_of(
    schema: Schema, batch: Batch, target: FloatArray, *, missing: str, first_row: int = 0
) -> RegressionMoments:
    """The moments of encoded rows; with missing="error" a hole is an error, otherwise its row teaches nothing."""
    features = Features(schema, batch.vocabularies)
    if missing == "error":
        features.refuse_missing(batch.values, first_row)
    else:
        features.refuse_infinite(batch.values, first_row)
    declared = [schema[name].levels for name in schema.categories]
    codes = batch.codes if schema.categories else None

    def of_range(rows: slice) -> RegressionMoments:
        return RegressionMoments.of(
            batch.values[rows],
            None if codes is None else codes[rows],
            batch.vocabularies,
            target=target[rows],
            weights=None if batch.weights is None else batch.weights[rows],
            declared=declared,
        )

    return reduce(RegressionMoments.merge, in_blocks(of_range, row_ranges(batch.n_rows, os.cpu_count() or 1)))
