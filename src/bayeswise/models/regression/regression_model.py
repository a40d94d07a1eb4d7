"""What every regression of a number does alike: predict, give the distribution, and say why.

The score of one row is a sum over its columns, seen from the mean of each.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import KindError, NotMergedError, listed
from bayeswise.models.base.table_model import Capabilities, ModelFacts, TableModel, where_rows_are
from bayeswise.models.regression.features import Features
from bayeswise.models.regression.solving.newton import Certificate
from bayeswise.models.settings.regression import LinearSettings, LogisticSettings
from bayeswise.render.labels import shown
from bayeswise.render.numbers import number
from bayeswise.render.plain import json_number, json_value
from bayeswise.render.terminal import aligned
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Report
from bayeswise.tables.schema.labels import Label, Vocabulary
from bayeswise.tables.schema.null_words import open_like

if TYPE_CHECKING:
    from bayeswise.models.regression.predictive import Predictive


@dataclass(frozen=True)
class RegressionFacts:
    """What `fit` and `inspect` show of a regression beside its weights; None where there is no such thing."""

    scale: float | None = None  # of the prior in force
    noise: float | None = None  # its scale in the units of the target
    log_evidence: float | None = None  # log p(targets | columns, scale)
    certificate: Certificate | None = None  # the gradient that is left; exact solutions need none
    separable: bool | None = None


def evidence_of_learned_rows() -> KindError:
    """The error where the evidence of a regression is requested for rows."""
    return KindError(
        "the evidence of a linear model is that of the rows it has learned, and takes no others",
        fix="use model.log_evidence(), or model.predictive(rows) for the distribution of new targets",
    )


class WeightedModel(TableModel):
    """A model that has a weight for each number, and for each level of a category but its reference."""

    capabilities: ClassVar[Capabilities] = Capabilities(weights=True)

    if TYPE_CHECKING:  # fields of some models, computed by others

        @property
        def settings(self) -> LinearSettings | LogisticSettings:
            """How the weights are learned."""

        @property
        def scale(self) -> float | None:
            """Of the prior in force."""

        @property
        def weights(self) -> FloatArray:
            """(..., n_features) in original units."""

    levels: tuple[Vocabulary, ...]
    marked: tuple[str, ...]  # columns with an indicator of missing cells

    @cached_property
    def features(self) -> Features:
        """What the weights belong to."""
        return Features(self.schema, self.levels, self.marked)

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        return self.features.vocabularies

    @property
    def references(self) -> dict[str, Label]:
        """The reference level of each category, which is in the intercept."""
        return self.features.references

    def missing_note(self, name: str) -> str:
        """How a missing cell of a column counts."""
        return "missing: indicator" if name in self.features.marked else "missing: at its mean"

    def facts(self) -> ModelFacts:
        numbers = dict.fromkeys(self.schema.numbers, "linear")
        return ModelFacts({**numbers, **dict.fromkeys(self.schema.categories, "indicators")})

    def regression_facts(self) -> RegressionFacts:
        """What the rows have made known beside the weights."""
        return RegressionFacts(scale=self._known_scale())

    def _known_scale(self) -> float | None:
        if self.settings.prior is None:
            return None
        scale = self.settings.scale if self.scale is None else self.scale  # older files have it in the settings
        return None if isinstance(scale, str) else scale


class RegressionModel(WeightedModel):
    """E[y | row] = w0 + w . x, or its exponential."""

    settings: LinearSettings

    def merge(self, other: Any) -> RegressionModel:
        """The model of both sets of rows, where the moments of rows are kept."""
        raise self.not_merged()

    def forget(self, table: Any, *, again: bool = False) -> RegressionModel:
        """The model that has never seen these rows, where the moments of rows are kept."""
        raise self.not_merged()

    def not_merged(self) -> NotMergedError:
        """Why rows cannot be added or taken away."""
        return NotMergedError(
            "the model keeps no moments of its rows, only the weights that were found",
            fix="fit all rows at once, or with a gaussian likelihood and prior",
        )

    def learned_like(self, table: Any) -> tuple[RegressionModel, Report]:
        """The regression of the table under the same columns and settings, and its report."""
        from bayeswise.models.regression.linear_learning import linear_of

        return linear_of(open_like(table, self.schema), self.schema, self.settings)

    # -- what each model says for itself ------------------------------------------------------------------------
    @property
    @abstractmethod
    def baseline(self) -> tuple[FloatArray, float]:
        """(n_features,) where deviations are counted from, and the score there."""

    @abstractmethod
    def predictive_of(self, batch: Batch) -> Predictive:
        """p(y | row) of encoded rows."""

    # -- what all of them say -----------------------------------------------------------------------------------
    @property
    def fill(self) -> FloatArray:
        """(n_features,) the means, which stand where a cell is missing or unseen."""
        return self.baseline[0]

    def matrix(self, batch: Batch) -> FloatArray:
        """(n_rows, n_features) without missing values."""
        return self.features.filled(batch, self.fill, missing=self.settings.missing)

    @property
    def has_log_link(self) -> bool:
        """Whether the score is the logarithm of the mean."""
        return self.settings.likelihood in ("poisson", "exponential")

    @property
    def intercept(self) -> float:
        """The score of a row of zeros and reference levels."""
        centre, at_centre = self.baseline
        return float(at_centre - centre @ self.weights)

    def n_free_parameters(self) -> int:
        """A weight for each column, the intercept, and the scale of the noise where there is one."""
        return len(self.features.names) + int(self.settings.fit_intercept) + int(not self.has_log_link)

    def score(self, batch: Batch) -> FloatArray:
        """(n_rows,) w0 + w . x, the same bits for a row alone or among others; beyond the floats, the largest float."""
        centre, at_centre = self.baseline
        matrix = self.matrix(batch)
        scores = np.empty((len(matrix), 1))
        about = np.vstack([centre, np.zeros_like(centre)])
        _kernels.linear_scores(scores, matrix, about, self.weights[None, :], np.array([[at_centre]]))
        for row in np.flatnonzero(~np.isfinite(scores[:, 0])):
            scores[row] = _far_out(matrix[row], centre, self.weights, at_centre)
        return scores[:, 0]

    @where_rows_are
    def predict(self, table: Any) -> FloatArray:
        """(n_rows,) E[y | row]; beyond the range of floats, the largest float."""
        score = self.over(table, self.score, ())
        if not self.has_log_link:
            return score
        with np.errstate(over="ignore"):
            return np.minimum(np.exp(score), np.finfo(np.float64).max)

    def predictive(self, table: Any) -> Predictive:
        """p(y | row) of each row: mean, stddev, quantile, cdf, sample."""
        from bayeswise.models.regression.predictive import Predictive

        return Predictive.joined([self.predictive_of(batch) for batch in self.batches(table)])

    @where_rows_are
    def explain(self, row: Any) -> ScoreAccount:
        """Why: what each column adds to the score of one row (a mapping by column, or a table of one row)."""
        batch = self.row_of(row)
        centre, at_centre = self.baseline
        amounts = (self.matrix(batch)[0] - centre) * self.weights
        terms = []
        for name in self.schema.used:
            value, note = self.shown_cell(name, batch, self.missing_note(name), "unseen: at the mean")
            terms.append(Term(name, value, float(amounts[self.features.of_column(name)].sum()), note))
        known = self.settings.likelihood, self.has_log_link
        return ScoreAccount(self.schema.target_name, float(at_centre), tuple(terms), *known)


class FoundModel(RegressionModel):
    """A regression that keeps the weights that were found, and no moments of its rows."""

    centre: FloatArray  # (n,) the means
    at_centre: float  # the score of a row of means

    @property
    def baseline(self) -> tuple[FloatArray, float]:
        return self.centre, self.at_centre


def _far_out(row: FloatArray, centre: FloatArray, weights: FloatArray, at_centre: float) -> float:
    """The score of a row whose terms leave the range of floats, from its exact terms: they may cancel."""
    cells = (map(Fraction, each.tolist()) for each in (row, centre, weights))
    exact = sum(((x - c) * w for x, c, w in zip(*cells, strict=True)), Fraction(at_centre))
    largest = Fraction(np.finfo(np.float64).max)
    return float(max(-largest, min(exact, largest)))


@dataclass(frozen=True)
class Term:
    """What one column adds: w (x - mean), for a category the sum over its indicators."""

    column: str
    value: Any
    amount: float
    note: str = ""


@dataclass(frozen=True)
class ScoreAccount:
    """score = the score at the means + one term for each column; the mean is the score, or exp(score) for rates.

    >>> why = ScoreAccount("price", 200.0, (Term("size", 80.0, 55.0), Term("age", 10.0, -5.5)), "gaussian")
    >>> why
    ScoreAccount(price = 249.5: at the means 200; size +55, age -5.5)
    >>> why.score, why.strongest[0].column
    (249.5, 'size')
    >>> print(why.to_text())
    price = 249.5
      at the means         200
      size = 80            +55
      age = 10            -5.5
    """

    target: str
    at_means: float
    terms: tuple[Term, ...]
    likelihood: str
    is_log: bool = False
    title: str = field(default="", kw_only=True)

    @property
    def score(self) -> float:
        """The sum, rounded once."""
        return math.fsum([self.at_means, *(term.amount for term in self.terms)])

    @property
    def mean(self) -> float:
        """E[target | row]."""
        return math.exp(min(self.score, 700.0)) if self.is_log else self.score

    @property
    def strongest(self) -> tuple[Term, ...]:
        """The terms, the largest amount first."""
        return tuple(sorted(self.terms, key=lambda term: -abs(term.amount)))

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "title": self.title,
            "target": self.target,
            "likelihood": self.likelihood,
            "link": "log" if self.is_log else "identity",
            "at_means": json_number(self.at_means),
            "contributions": [
                {
                    "column": term.column,
                    "value": json_value(term.value),
                    "amount": json_number(term.amount),
                    "note": term.note,
                }
                for term in self.terms
            ],
            "score": json_number(self.score),
            "mean": json_number(self.mean),
        }

    def to_text(self) -> str:
        """One line for each column, the largest amount first."""
        from bayeswise.explanations.balance import value_text

        labels = [f"{shown(t.column, 30)} = {shown(value_text(t.value, t.note), 24)}" for t in self.strongest]
        lines = [("at the means", number(self.at_means, 6))]
        lines += [(label, number(t.amount, 6, signed=True)) for label, t in zip(labels, self.strongest, strict=True)]
        if self.is_log:
            lines.append(("score, the log of the mean", number(self.score, 6)))
        heading = [f"{shown(self.target)} = {number(self.mean, 6)}", *([self.title] if self.title else [])]
        return "\n".join([*heading, *aligned(lines, indent="  ")])

    def __repr__(self) -> str:
        terms = listed((f"{shown(t.column, 24)} {number(t.amount, signed=True)}" for t in self.strongest), 3)
        log_of = "log " * self.is_log
        start = f"{log_of}{shown(self.target)} = {number(self.score)}: at the means {number(self.at_means)}"
        return f"ScoreAccount({start}{'; ' * bool(terms)}{terms})"
