"""The fitted Gaussian Bayes model: schema, settings and exact scatter of each class, nothing else."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayeswise.engines import Request
from bayeswise.explanations.account import Account, Contribution
from bayeswise.families.arithmetic.stable_functions import HALF_LOG_TWO_PI, log_gamma_ratio
from bayeswise.families.continuous.normal_inverse_wishart import NormalInverseWishart
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, NonFiniteError, NotFittedError, SchemaError
from bayeswise.models.base.classifier import Classifier, only_column
from bayeswise.models.base.probability_model import Gaussians, ParameterCounts, parameter_counts, shares_in_ranges
from bayeswise.models.base.table_model import Capabilities, ModelFacts, ScoredRows, where_rows_are
from bayeswise.models.gaussian_bayes.building import densities
from bayeswise.models.gaussian_bayes.class_moments import ClassMoments, class_moments
from bayeswise.models.gaussian_bayes.covariance import refuse_square
from bayeswise.models.gaussian_bayes.densities import LOG_PI, Densities
from bayeswise.models.gaussian_bayes.discriminants import (
    LinearDiscriminant,
    Projection,
    QuadraticDiscriminant,
    bayes_error,
    error_at,
    fisher_projection,
    linear_discriminant,
    quadratic_discriminant,
    regions,
)
from bayeswise.models.gaussian_bayes.em import Completion
from bayeswise.models.gaussian_bayes.left_out_rows import log_evidence_left_out, log_joint_left_out
from bayeswise.models.settings.gaussian import GaussianBayesSettings
from bayeswise.posteriors.line_regions import BayesError, Regions
from bayeswise.render.numbers import plural
from bayeswise.statistics import Grouped, Moments, PatternScatter, Product
from bayeswise.tables.batch import Batch
from bayeswise.tables.schema.schema import Schema

if TYPE_CHECKING:
    from bayeswise.explanations.class_densities import ClassDensities

SCATTER, MOMENTS = "scatter", "moments"
MOST_PAIRED_COLUMNS = 256
"""Up to this many columns the sums of all pairs are kept for forms without correlations, too."""


class SingularWarning(UserWarning):
    """A covariance has no inverse; the answer is finite, but it rests on `variance_floor`."""


@dataclass(frozen=True, repr=False, eq=False)
class GaussianBayesModel(Classifier):
    """p(state | row) proportional to p(state) Normal(row; mean of the state, covariance of the state).

    A frozen value: `learn`, `forget`, `merge` and `changed` give new models.
    """

    schema: Schema
    settings: GaussianBayesSettings
    statistics: Grouped[Product]
    capabilities: ClassVar[Capabilities] = replace(Classifier.capabilities, distances=True)

    # -- what it is -------------------------------------------------------------------------------------------
    def facts(self) -> ModelFacts:
        return ModelFacts(dict.fromkeys(self.columns, "normal"))

    @property
    def columns(self) -> tuple[str, ...]:
        """The number columns that the model sees."""
        return self.schema.numbers

    @property
    def statistic(self) -> PatternScatter | Moments:
        """The exact statistic: of all pairs of columns, or of columns alone where there are too many pairs."""
        parts = self.statistics.part
        found: PatternScatter | Moments = parts[SCATTER] if SCATTER in parts else parts[MOMENTS]
        return found

    @property
    def scatter(self) -> PatternScatter:
        """The exact statistic of all pairs of columns."""
        statistic = self.statistic
        if isinstance(statistic, Moments):
            raise FitError(
                f"the model keeps the variances of its {len(self.columns):,} columns, and not how they go together",
                fix=f"fit with covariance={self.settings.covariance!r} to the rows again",
            )
        return statistic

    @property
    def has_missing(self) -> bool:
        """Whether a row that was learned had a missing cell."""
        statistic = self.statistic
        if isinstance(statistic, Moments):
            return not (statistic.rows[:, None] - statistic.weight).is_zero().all()
        return bool(statistic.incomplete)

    @property
    def weight_of_cells(self) -> FloatArray:
        """(n_states, n_columns) the weight of the cells that are there."""
        statistic = self.statistic
        return (statistic.weight if isinstance(statistic, Moments) else statistic.cells()[0]).to_floats()

    def request(self) -> Request:
        return _request(self.schema, in_pairs=SCATTER in self.statistics.part)

    @cached_property
    def moments(self) -> ClassMoments:
        """Weight, mean and scatter of each class, completed by EM where cells are missing."""
        if not self.classes:
            raise NotFittedError("the model has learned no rows", fix="fit it to a table with a target")
        return class_moments(self.sums, self.settings.covariance)

    @property
    def sums(self) -> PatternScatter | Moments:
        """What the moments are made of."""
        return self.scatter if self.settings.is_full else self.statistic

    @cached_property
    def densities(self) -> Densities:
        """p(row | state), ready to score rows."""
        return densities(self.moments, self.settings, self.columns)

    @property
    def completion(self) -> Completion | None:
        """How EM went: steps, log-likelihood after each, convergence; None where no cell was missing."""
        return self.moments.completion

    @property
    def means(self) -> FloatArray:
        """(n_states, n_columns)"""
        return self.densities.in_own_units().mean

    @property
    def covariances(self) -> FloatArray:
        """(n_states, n_columns, n_columns) the matrices that distances are measured by."""
        refuse_square(len(self.columns))
        return np.stack([spread.covariance for spread in self.densities.in_own_units().spreads])

    @cached_property
    def singular(self) -> dict[Any, str]:
        """Why the covariance of a class has no inverse, for those that have none; the columns by name."""
        reasons = [spread.singular_reason(self.columns) for spread in self.densities.spreads]
        if self.settings.is_shared:
            reasons = reasons[:1]
        return {label: reason for label, reason in zip(self.classes, reasons, strict=False) if reason}

    def warn(self) -> None:
        """Warnings about what the rows do not determine: EM that stopped early, covariances without an inverse."""
        if self.completion is not None and not self.completion.converged:
            warnings.warn(
                f"EM for the missing cells stopped after {plural(self.completion.n_steps, 'step')} and still moved",
                UserWarning,
                stacklevel=4,
            )
        if self.singular:
            self._warn_of_singular()

    def _warn_of_singular(self) -> None:
        what = "; ".join(f"class {label!r}: {reason}" for label, reason in list(self.singular.items())[:4])
        if self.settings.is_shared:
            what = next(iter(self.singular.values()))
        more = f"; ... {len(self.singular) - 4} more classes" if len(self.singular) > 4 else ""
        warnings.warn(
            f"the covariance is singular: {what}{more}. Fix: leave out a column, give more rows, or choose "
            'shrinkage="auto", covariance="shared" or "diagonal", or a prior',
            SingularWarning,
            stacklevel=5,
        )

    def n_free_parameters(self) -> int:
        """Means, covariances, and one fewer than classes for a counted prior."""
        k, d = len(self.classes), len(self.columns)
        of_one = {"spherical": 1, "diagonal": d, "shared-diagonal": d}.get(self.settings.covariance, d * (d + 1) // 2)
        prior = 0 if self.settings.class_prior is not None else k - 1
        return prior + k * d + of_one * (1 if self.settings.is_shared else k)

    def parameter_counts(self) -> ParameterCounts:
        """Free parameters, and those written down: the prior, mean and stddev of each column, and all correlations."""
        counts = parameter_counts(self, dict.fromkeys(self.columns, 2), {})
        d = len(self.columns)
        correlations = d * (d - 1) // 2 * len(self.classes) if self.settings.is_full else 0
        return replace(counts, written=counts.written + correlations)

    def weak_prior(self, rows: float = 1.0) -> NormalInverseWishart:
        """A prior worth `rows` pseudo-counts: mean of the whole table, its variances, no correlations."""
        whole = self.moments.columns
        stddev = np.where(whole.stddev > 0, whole.stddev, 1.0) * whole.unit
        df = len(stddev) + 1.0 + rows
        return NormalInverseWishart(whole.centre, rows, df, rows * np.diag(stddev**2), whole.centre_low)

    def changed(self, **settings: Any) -> GaussianBayesModel:
        """The same rows under other settings, without a second pass; correlations must be among what was kept."""
        found = super().changed(**settings)
        if found.settings.is_full:
            _ = found.scatter
        return found

    def refuse_impossible(self) -> None:
        super().refuse_impossible()
        if self.settings.is_full and isinstance(self.statistic, Moments):
            raise SchemaError("a covariance of all columns needs the sums of their pairs")

    # -- what it says about rows ------------------------------------------------------------------------------
    def log_relative(self, batch: Batch) -> FloatArray:
        return np.asarray(self.densities.relative(batch.values) + self.log_prior)

    def log_joint(self, batch: Batch) -> FloatArray:
        return np.asarray(self.densities.log_density(batch.values) + self.log_prior)

    def probability(self, batch: Batch) -> FloatArray:
        joint = self.densities.relative(batch.values)
        joint += self.log_prior
        return shares_in_ranges(joint, joint)

    def log_evidence(self, table: Any) -> FloatArray:
        """(n_rows,) log p(row), over the cells that are there: small for rows unlike any that were learned."""
        return self.over(table, lambda batch: self.densities.log_evidence(batch.values, self.log_prior), ())

    def log_evidence_of(self, rows: ScoredRows) -> FloatArray:
        return self.densities.log_evidence(rows.batch.values, self.log_prior, rows.log_relative)

    def mahalanobis(self, table: Any) -> FloatArray:
        """(n_rows, n_states) sqrt((x - mean)' covariance^-1 (x - mean)) for each class."""
        found = self.over(table, lambda b: self.densities.squared_distances(b.values), (len(self.classes),))
        return np.sqrt(found)

    @where_rows_are
    def explain(self, row: Any) -> Account:
        """Why: the prior, and what each column adds given those before it, for one row; `mahalanobis` beside it."""
        return account_of(self, self.row_of(row))

    @property
    def rows_left_out_at_once(self) -> int | None:
        return 256 if self.has_missing and self.settings.is_full else None

    def log_relative_left_out(self, batch: Batch) -> FloatArray:
        """(n_rows, n_states) by a downdate for each row, which takes microseconds.

        With a full covariance a table with missing cells (EM again, from where it was) or a singular covariance (made
        again) takes milliseconds for each.
        """
        return log_joint_left_out(self, batch)

    def log_evidence_left_out(self, batch: Batch) -> FloatArray:
        return log_evidence_left_out(self, batch)

    def _drawn(self, states: CodeArray, generator: np.random.Generator) -> dict[str, Any]:
        drawn = self.densities.sample(states.astype(np.int64), generator)
        return {name: drawn[:, c].tolist() for c, name in enumerate(self.columns)}

    # -- discriminants and boundaries -------------------------------------------------------------------------
    def linear(self, state: Any, against: Any) -> LinearDiscriminant:
        """w = covariance^-1 (mean+ - mean-) and w0: the log-odds, where all classes have one covariance."""
        if not self.settings.is_linear:
            raise FitError(f"the log-odds are not linear with {self.settings}", fix='changed(covariance="shared")')
        return linear_discriminant(self.densities, self.log_prior, self.state(state), self.state(against))

    def quadratic(self, state: Any, against: Any) -> QuadraticDiscriminant:
        """x' A x + b . x + c: the log-odds of two classes with covariances of their own."""
        if self.settings.predictive == "student-t":
            raise FitError("Student-t densities have no quadratic log-odds", fix='changed(predictive="plug-in")')
        return quadratic_discriminant(self.densities, self.log_prior, self.state(state), self.state(against))

    def regions(self, column: str | None = None) -> Regions:
        """The intervals of one column in which each class is the most probable, and the thresholds between them."""
        return regions(self.densities, self.log_prior, self.classes, column)

    def bayes_error(self, *, draws: int = 200_000, seed: int = 0) -> BayesError:
        """The error of the best rule, if the model is true: no rule has less. Where it has no formula, by draws."""
        return bayes_error(self.densities, self.log_prior, self.classes, draws=draws, seed=seed)

    def error_at(self, boundary: float, below: Any = None) -> BayesError:
        """One column, two classes: the error of the rule that divides at this number, and the part to be saved."""
        return error_at(self.densities, self.log_prior, self.classes, boundary, below)

    def class_densities(self, column: str | None = None) -> ClassDensities:
        from bayeswise.explanations.class_densities import ClassDensities
        from bayeswise.families.distributions import distribution

        name = only_column(column, self.columns)
        own = self.densities.in_own_units()
        at = own.names.index(name)
        mean = own.mean[:, at] + own.mean_low[:, at]
        stddev = np.array([spread.stddev[at] for spread in own.spreads])
        made = [distribution("normal", mean=m, stddev=s) for m, s in zip(mean, stddev, strict=True)]
        if own.df is not None:
            parts = zip(mean, stddev, own.df, strict=True)
            made = [distribution("student-t", location=m, scale=s, df=f) for m, s, f in parts]
        return ClassDensities(name, self.classes, np.exp(self.log_prior), tuple(made))

    def gaussians_on(self, names: Sequence[str]) -> Gaussians | None:
        if self.densities.df is not None:
            return None
        at = np.array([self.columns.index(name) for name in names])
        block = self.densities.block(at)
        mean, covariance = self.means[:, at], self.covariances[:, at[:, None], at]
        return Gaussians(mean, covariance, lambda rows: np.asarray(block.relative(rows) + self.log_prior))

    def fisher(self, n_components: int | None = None) -> Projection:
        """The directions in which the means lie farthest apart, in units of the pooled spread within classes."""
        return fisher_projection(self.moments, self.settings, self.columns, n_components)


def request_of(schema: Schema, settings: GaussianBayesSettings) -> Request:
    """What the model needs of rows: sums of all pairs of columns, so that any form of covariance can be chosen later.

    Where a form without correlations was chosen for many columns: the sums of each column alone.
    """
    return _request(schema, in_pairs=settings.is_full or len(schema.numbers) <= MOST_PAIRED_COLUMNS)


def _request(schema: Schema, *, in_pairs: bool) -> Request:
    if in_pairs:
        return Request.numbers(SCATTER, schema.numbers, PatternScatter.of, in_pairs=True)
    return Request.numbers(MOMENTS, schema.numbers, Moments.of)


def account_of(model: GaussianBayesModel, batch: Batch) -> Account:
    """The account of a batch of one row: what each column adds, given the columns before it, in the order of the table.

    With L the Cholesky factor of the covariance and z = L^-1 (x - mean), the squared distance is the sum of z^2, and

        log p(row | state) = sum over columns of log p(cell | cells before it, state)
        log p(cell | cells before it, state) = -z^2 / 2 - log(L_jj) - log(2 pi) / 2

    so that the account adds up exactly, and with uncorrelated columns it is that of naive Bayes. A missing cell is
    integrated out: it adds nothing, and those after it are not given it.
    """
    infinite = np.flatnonzero(np.isinf(batch.values[0]))
    if len(infinite):
        raise NonFiniteError(row=batch.place(0), column=model.columns[int(infinite[0])])
    there = np.flatnonzero(~np.isnan(batch.values[0]))
    log_cells = np.zeros((len(model.columns), len(model.classes)))
    row = np.ascontiguousarray(batch.values[:1, there])
    log_cells[there] = log_conditionals(model.densities.block(there), row)
    parts = []
    for c, name in enumerate(model.columns):
        value, note = model.shown_cell(name, batch, "missing: integrated out", "")
        parts.append(Contribution(name, value, log_cells[c], note))
    convention = f"{model.settings}; each column given those before it"
    return Account(model.classes, model.log_prior, tuple(parts), convention)


def log_conditionals(densities: Densities, row: FloatArray) -> FloatArray:
    """(n_columns, n_states) log p(cell | cells before it, state) of one complete row."""
    away = (densities.framed(row)[0] - densities.mean) - densities.mean_low  # (n_states, n_columns)
    spreads = densities.spreads
    z = np.stack([s.whitened(a / s.stddev) for s, a in zip(spreads, away, strict=True)])
    log_widths = np.stack([np.log(s.stddev) + np.log(s.pivots) for s in spreads])
    if densities.frame is not None:
        log_widths = log_widths + np.log(densities.frame.unit)
    if densities.df is None:
        with np.errstate(over="ignore"):
            return np.asarray((-0.5 * z**2 - log_widths - HALF_LOG_TWO_PI).T)
    return np.asarray((_log_student_t(z, densities.df) - log_widths).T)


def _log_student_t(z: FloatArray, df: FloatArray) -> FloatArray:
    """(n_states, n_columns) a cell given k cells before it is a student-t with df + k degrees of freedom."""
    before = np.arange(z.shape[1])
    squares = np.cumsum(z**2, axis=1)
    f = df[:, None]
    log_heights = np.asarray(log_gamma_ratio(0.5 * (f + before), 0.5)) - 0.5 * (LOG_PI + np.log(f))
    log_tails = 0.5 * (f + before + 1) * np.log1p(squares / f)
    log_tails_before = 0.5 * (f + before) * np.log1p((squares - z**2) / f)
    return np.asarray(log_heights - log_tails + log_tails_before)
