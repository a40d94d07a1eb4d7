"""Linear regression with Gaussian noise: a function of exact moments, so it merges, forgets and leaves out exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property, reduce
from typing import Any, ClassVar, NoReturn

import numpy as np

from bayeswise.engines.local import row_ranges
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier_fields
from bayeswise.foundation.errors import (
    FitError,
    KindError,
    NotFittedError,
    SchemaError,
    TooFewRowsError,
)
from bayeswise.foundation.threads import available, each
from bayeswise.models.base.table_model import Capabilities
from bayeswise.models.forgetting import (
    forgotten_by,
    having_learned,
    history_with,
    refuse_other_settings,
    refusing_unlearned,
    with_ledger,
)
from bayeswise.models.regression.features import (
    Feature,
    Features,
    entries_of_moments,
    markable,
    refuse_missing,
    refuse_no_room,
)
from bayeswise.models.regression.predictive import Predictive, within_floats
from bayeswise.models.regression.regression_model import RegressionFacts, RegressionModel, evidence_of_learned_rows
from bayeswise.models.regression.row_blocks import TargetRows
from bayeswise.models.regression.solving.folds import N_FOLDS, fold_of_rows, scale_by_moments
from bayeswise.models.regression.solving.normal_equations import NormalEquations, ScaleEvidence
from bayeswise.models.settings.regression import LinearSettings
from bayeswise.statistics.numbers.regression_moments import RegressionMoments
from bayeswise.store.fields import added_later
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.schema import Schema

Change = Callable[[RegressionMoments, RegressionMoments], RegressionMoments]


@earlier_fields(freedom="df")
@dataclass(frozen=True)
class WeightPosterior:
    """Normal-inverse-gamma: w | noise^2 ~ N(mean, noise^2 covariance), noise^2 ~ inverse gamma(df / 2, rest / 2).

    Each weight by itself is a student-t with df degrees of freedom about its mean.
    """

    names: tuple[Feature, ...]
    mean: FloatArray  # (n,)
    covariance: FloatArray  # (n, n), in units of noise^2
    df: float
    rest: float

    def __call__(self, rows: Any) -> NoReturn:
        """Refused: a posterior of weights, which has no rows."""
        raise KindError(
            "the posterior of a linear model is that of its weights, and takes no rows",
            fix="use model.predictive(rows) for the distribution of each target",
        )

    @property
    def noise_square(self) -> float:
        """rest / df, the scale of the noise's square."""
        return self.rest / self.df

    def weights(self) -> Predictive:
        """The marginal distribution of each weight."""
        scale = np.sqrt(self.noise_square * np.diag(self.covariance))
        return Predictive("student-t", self.mean, scale, self.df)


@dataclass(frozen=True, eq=False)
class LinearModel(RegressionModel):
    """y = w0 + w . x + noise, from the moments of the rows and nothing else."""

    schema: Schema
    settings: LinearSettings
    statistics: RegressionMoments
    folds: tuple[RegressionMoments, ...] = added_later(())  # of the rows in each fold, where the scale is found by them

    capabilities: ClassVar[Capabilities] = replace(RegressionModel.capabilities, forgets=True)

    def refuse_impossible(self) -> None:
        kept, levels = self.statistics, [self.schema[name].levels or Vocabulary() for name in self.schema.categories]
        if self.settings.missing == "indicator":
            levels += [Vocabulary()] * len(markable(self.schema))
        if kept.n_numbers != len(self.schema.numbers) or list(kept.declared) != levels or self.schema.texts:
            raise SchemaError("the moments are not those of the columns")
        if self.schema.target is None or self.settings.likelihood != "gaussian":
            raise SchemaError("a linear regression has a target, and Gaussian noise")
        if len(self.folds) not in (0, N_FOLDS) or any(fold.n_numbers != kept.n_numbers for fold in self.folds):
            raise SchemaError("the moments of the folds are not those of the columns")

    # -- what it is -------------------------------------------------------------------------------------------
    @property
    def n_rows(self) -> float:
        """The weight of the complete rows that were learned."""
        return self.statistics.n_rows()

    @property
    def rows_learned(self) -> float:
        return float(self.n_rows)

    def regression_facts(self) -> RegressionFacts:
        try:
            noise = float(self.posterior.noise_square**0.5)
        except TooFewRowsError:
            noise = None
        evidence = self.log_evidence() if self.settings.prior == "gaussian" else None
        return replace(super().regression_facts(), noise=noise, log_evidence=evidence)

    @cached_property
    def features(self) -> Features:
        n_categories = len(self.schema.categories)
        levels, marks = self.statistics.levels[:n_categories], self.statistics.levels[n_categories:]
        names = markable(self.schema) if marks else ()
        marked = tuple(name for name, mark in zip(names, marks, strict=True) if len(mark))
        return Features(self.schema, levels, marked)

    @cached_property
    def equations(self) -> NormalEquations:
        if self.statistics.n_rows() <= 0:
            raise NotFittedError("the model has learned no complete row", fix="fit it to rows without missing cells")
        return self._equations_of(self.statistics)

    def _equations_of(self, moments: RegressionMoments) -> NormalEquations:
        standardised = self.features.is_number.astype(float) * float(self.settings.standardise)
        return NormalEquations.of(
            moments,
            self.features.positions,
            [name for name, _ in self.features.names],
            centred=self.settings.fit_intercept,
            standardised=standardised,
            marked_by=self.features.marked_by,
        )

    @cached_property
    def scale(self) -> float | None:
        """The scale of the prior that is in force; None without one."""
        how = self.settings.how_scaled
        if how == "flat":
            return None
        if how == "evidence":
            return ScaleEvidence.of(self.equations).best_scale()
        if how == "cv":
            if not self.folds:
                raise FitError("the model was learned without folds", fix="fit it again with scale='cv'")
            sparse = self.settings.prior == "laplace"
            return scale_by_moments(self.statistics, self.folds, self._equations_of, sparse=sparse)
        return float(how)

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
    def dependent(self) -> tuple[Feature, ...]:
        """Columns without a weight of their own: combinations of earlier ones, found without a tolerance."""
        if self.settings.prior is not None:
            return ()
        return tuple(name for k, name in enumerate(self.features.names) if k not in set(self._solved[1].tolist()))

    def log_evidence(self, table: Any = None) -> float:
        """log p(targets | columns, scale), the weights and the noise integrated out; gaussian prior only."""
        if table is not None:
            raise evidence_of_learned_rows()
        if self.settings.prior != "gaussian" or self.scale is None:
            raise KindError("only a gaussian prior has its evidence in closed form", fix="fit with prior='gaussian'")
        return ScaleEvidence.of(self.equations).log_evidence(self.scale)

    @cached_property
    def posterior(self) -> WeightPosterior:
        """What is known about the weights after the rows."""
        w, kept = self._solved
        equations = self.equations
        lost = len(kept) if self.settings.prior != "gaussian" else 0
        df = equations.df - lost
        if df <= 0:
            rows = "1 complete row leaves" if equations.n_rows == 1 else f"{equations.n_rows:g} complete rows leave"
            raise TooFewRowsError(
                f"{rows} no degree of freedom for the noise",
                fix="give more rows" + (", or a gaussian prior" if self.settings.prior != "gaussian" else ""),
            )
        rest = equations.residual_square(w)
        if self.settings.prior == "gaussian" and self.scale is not None:
            rest += float(((equations.unit * w / self.scale) ** 2).sum())
        if self.settings.prior == "laplace":  # plug-in: the weights count as known
            return WeightPosterior(self.features.names, w, np.zeros((len(w), len(w))), df, rest)
        return WeightPosterior(self.features.names, w, equations.inverse(kept, self.scale), df, rest)

    def __repr__(self) -> str:
        size = f"{self.n_rows:g} rows, {len(self.features.names)} weights"
        return f"LinearModel({self.schema.target_name}: {size}, {self.settings})"

    # -- what it says about rows ------------------------------------------------------------------------------
    @property
    def baseline(self) -> tuple[FloatArray, float]:
        mean = self.equations.mean
        return (mean[:-1], float(mean[-1])) if self.settings.fit_intercept else (np.zeros(len(mean) - 1), 0.0)

    @property
    def fill(self) -> FloatArray:
        return self.equations.mean[:-1]

    def predictive_of(self, batch: Batch) -> Predictive:
        """The student-t of each row: noise, and what is not known about the weights."""
        known = self.posterior
        noise = np.sqrt(known.noise_square)
        if noise == 0:
            return Predictive("student-t", self.predict(batch), np.zeros(batch.n_rows), known.df)
        with np.errstate(over="ignore"):
            away = within_floats(self.matrix(batch) - self.baseline[0])
            unit = np.ldexp(1.0, np.frexp(np.abs(away).max(axis=1, initial=1.0))[1] - 1)  # so that no square overflows
            small = away / unit[:, None]
            unknown = unit * self._uncertainty(small)
            intercept = 1.0 / self.equations.n_rows if self.settings.fit_intercept else 0.0
            scale = within_floats(noise * np.hypot(np.sqrt(1.0 + intercept), unknown))
        return Predictive("student-t", self.predict(batch), scale, known.df)

    def _uncertainty(self, away: FloatArray) -> FloatArray:
        """(n_rows,) the standard deviation of w . away, in units of the noise."""
        if self.settings.prior == "gaussian" and self.scale is not None:
            return np.asarray(np.linalg.norm(away @ self._inverse_root, axis=1))
        spread = np.einsum("ij,jk,ik->i", away, self.posterior.covariance, away)
        return np.asarray(np.sqrt(np.maximum(spread, 0.0)))

    @cached_property
    def _inverse_root(self) -> FloatArray:
        assert self.scale is not None
        return self.equations.inverse_root(self.scale)

    # -- rows come and go -------------------------------------------------------------------------------------
    @classmethod
    def of_rows(
        cls, schema: Schema, settings: LinearSettings, rows: Iterable[tuple[Batch, FloatArray]]
    ) -> LinearModel | None:
        """The model of encoded rows with their targets; None without any."""
        found: LinearModel | None = None
        for batch, target in rows:
            whole = moments_of(schema, batch, target, missing=settings.missing)
            parts = folds_of(schema, batch, target, missing=settings.missing) if settings.how_scaled == "cv" else ()
            more = cls(schema, settings, whole, parts)
            found = more if found is None else found.changed_by(more, RegressionMoments.merge)
        return found

    def changed_by(self, other: LinearModel, change: Change) -> LinearModel:
        """This model with the moments of the other merged, or taken away."""
        if len(self.folds) != len(other.folds):
            raise KindError("only one of the models was learned by folds", fix="fit both with the same scale")
        folds = tuple(change(mine, theirs) for mine, theirs in zip(self.folds, other.folds, strict=True))
        return replace(self, statistics=change(self.statistics, other.statistics), folds=folds)

    def learn(self, table: Any) -> LinearModel:
        """The model that has seen the rows of this table too."""
        found = self._of_table(table, check_invalid=True)
        return self if found is None else self._with_rows_of(found)

    def forget(self, table: Any, *, again: bool = False) -> LinearModel:
        """The model that has never seen these rows, to the last byte; `again`: though they were forgotten before."""
        gone = self._of_table(table, check_invalid=False)
        if gone is None:
            return self
        history = forgotten_by(self) if again else history_with(self, gone.statistics)
        with refusing_unlearned():
            return with_ledger(self.changed_by(gone, RegressionMoments.subtract), history)

    def _of_table(self, table: Any, *, check_invalid: bool) -> LinearModel | None:
        rows = TargetRows(self.schema, open_like(table, self.schema), check_invalid=check_invalid)
        return LinearModel.of_rows(self.schema, self.settings, rows)

    def _with_rows_of(self, other: LinearModel) -> LinearModel:
        both = self.changed_by(other, RegressionMoments.merge)
        return having_learned(self, both, other.statistics, forgotten_by(other))

    def moments_of(self, batch: Batch, target: FloatArray) -> RegressionMoments:
        """What the model would learn of these rows."""
        return moments_of(self.schema, batch, target, missing=self.settings.missing)

    def merge(self, other: RegressionModel) -> LinearModel:
        """The model of both sets of rows; schema and settings must be the same."""
        if not isinstance(other, LinearModel):
            raise other.not_merged()
        refuse_other_settings(self, other)
        return self._with_rows_of(other)

    def changed(self, **settings: Any) -> LinearModel:
        """The same rows under other settings: prior, scale; no second pass."""
        return with_ledger(replace(self, settings=self.settings.changed(**settings)), forgotten_by(self))


def moments_of(schema: Schema, batch: Batch, target: FloatArray, *, missing: str) -> RegressionMoments:
    """The moments of encoded rows, which missing="indicator" marks where a cell is missing.

    With missing="error" there must be none, and with missing="mean" such a row is left out.
    """
    refuse_missing(schema, batch, missing)
    n_levels = {name: len(levels) for name, levels in zip(schema.categories, batch.vocabularies, strict=True)}
    if n_levels:
        widest = max(n_levels, key=lambda name: n_levels[name])
        n_features = len(schema.numbers) + sum(n_levels.values())
        refuse_no_room(
            entries_of_moments(n_features),
            f"exact products of {n_features:,} columns and levels ({n_levels[widest]:,} of {widest!r})",
            f"leave it out with ignore=[{widest!r}] (--ignore {widest})",
        )
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
            marks_missing=missing == "indicator",
        )

    return reduce(RegressionMoments.merge, each(of_range, row_ranges(batch.n_rows, available())))


def folds_of(schema: Schema, batch: Batch, target: FloatArray, *, missing: str) -> tuple[RegressionMoments, ...]:
    """The moments of the rows in each fold."""
    fold = fold_of_rows(batch, target)
    rows = [np.flatnonzero(fold == k) for k in range(N_FOLDS)]
    return tuple(moments_of(schema, batch.take(some), target[some], missing=missing) for some in rows)
