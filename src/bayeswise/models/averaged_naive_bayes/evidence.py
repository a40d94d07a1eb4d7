"""The log evidence of a naive Bayes model: log p(targets and cells), parameters integrated out, part by part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswise.families.arithmetic.evidence import log_dirichlet_evidence
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.logspace import log
from bayeswise.models.averaged_naive_bayes.categories import AveragedTable
from bayeswise.models.averaged_naive_bayes.mixing import log_average, log_mixture, log_structure_prior
from bayeswise.models.averaged_naive_bayes.model import AveragedNaiveBayesModel, averaged
from bayeswise.models.averaged_naive_bayes.normal_columns import AveragedNormalScores
from bayeswise.models.averaged_naive_bayes.others import AveragedFamilyScores
from bayeswise.models.averaged_naive_bayes.words import AveragedWordScores
from bayeswise.models.naive_bayes.categories import CategoryScores
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.posteriors.prior import prior_by_state


@dataclass(frozen=True)
class ColumnEvidence:
    """log p(cells) where they depend on the class, and where they do not."""

    column: str
    log_by_class: float
    log_as_whole: float


@dataclass(frozen=True)
class Evidence:
    """log p(targets), and log p(cells | targets) column by column."""

    log_target: float
    columns: tuple[ColumnEvidence, ...]
    log_prior_odds: tuple[float, ...]  # of each column's relevance; plus infinity in a plain model
    n_relevant: Any = None  # or a prior of how many are

    def log_of(self, k: int) -> float:
        """The evidence of the k-th column (given those before it), averaged over whether it is relevant."""
        column, odds = self.columns[k], np.asarray(self.log_prior_odds[k])
        if self.n_relevant is not None:
            return column.log_as_whole + self._log_first(k + 1) - self._log_first(k)
        return float(log_mixture(odds, np.asarray(column.log_by_class), np.asarray(column.log_as_whole)))

    def _log_first(self, n: int) -> float:
        """What the first n columns add to log p(they do not depend on the class)."""
        factors = [column.log_by_class - column.log_as_whole for column in self.columns[:n]]
        factors += [0.0] * (len(self.columns) - n)
        return float(log_average(log_structure_prior(self.n_relevant, len(factors)), np.array(factors)))

    @property
    def log_total(self) -> float:
        """log p(all rows)."""
        return self.log_target + sum(self.log_of(k) for k in range(len(self.columns)))


def evidence_of(model: NaiveBayesModel) -> Evidence:
    """From the statistics alone. A plain model counts as the structure in which every column is relevant.

    >>> rows = [{"wind": "weak", "play": "yes"}, {"wind": "strong", "play": "no"}]
    >>> from bayeswise.models.naive_bayes import fit
    >>> round(float(np.exp(evidence_of(fit(rows, "play")).log_total)) * 24, 12)       # 1/2 1/3 x 1/2 x 1/2
    1.0
    """
    as_averaged = model if isinstance(model, AveragedNaiveBayesModel) else averaged(model, relevance=1.0)
    parts = [part for each in as_averaged.averaged_scores for part in _parts_of(each)]
    order = {name: k for k, name in enumerate(model.schema.used)}
    parts.sort(key=lambda part: order[part.column])
    odds = as_averaged.settings.log_prior_odds(tuple(part.column for part in parts))
    return Evidence(_log_target(as_averaged), tuple(parts), tuple(odds.tolist()), as_averaged.settings.n_relevant)


def _log_target(model: AveragedNaiveBayesModel) -> float:
    """Classes as counted, under the pseudo-counts of the prior (one of each class where there are none)."""
    weight, settings = model.class_weight, model.settings
    if settings.class_prior is not None:
        log_prior = log(prior_by_state(settings.class_prior, model.classes))
        return float(np.where(weight > 0, weight * log_prior, 0.0).sum())
    pseudo_count = settings.prior_smoothing if settings.prior_smoothing > 0 else 1.0
    return float(log_dirichlet_evidence(np.full(len(weight), pseudo_count), weight))


def _parts_of(scores: Any) -> list[ColumnEvidence]:
    if isinstance(scores, CategoryScores):
        return [_of_table(table) for table in scores.tables if isinstance(table, AveragedTable)]
    if isinstance(scores, AveragedNormalScores):
        return _zipped(scores.columns, *_of_normals(scores))
    if isinstance(scores, AveragedWordScores):
        log_evidence = scores.log_evidence
        return [ColumnEvidence(scores.columns[0], float(log_evidence[:-1].sum()), float(log_evidence[-1]))]
    return _zipped(scores.columns, *_of_family(scores))


def _zipped(columns: tuple[str, ...], by_class: FloatArray, as_whole: FloatArray) -> list[ColumnEvidence]:
    return [ColumnEvidence(name, float(by_class[c]), float(as_whole[c])) for c, name in enumerate(columns)]


def _of_table(table: AveragedTable) -> ColumnEvidence:
    n_cells = table.count.shape[1]
    if n_cells == 0:
        return ColumnEvidence(table.column.name, 0.0, 0.0)
    prior = table.pseudo_rows.by_cell(n_cells)
    as_whole = log_dirichlet_evidence(prior, table.count.sum(axis=0))
    return ColumnEvidence(table.column.name, float(log_dirichlet_evidence(prior, table.count).sum()), float(as_whole))


def _of_normals(scores: AveragedNormalScores) -> tuple[FloatArray, FloatArray]:
    """In units of x; a column that does not vary counts 0."""
    from bayeswise.families.continuous.normal import LOG_TWO_PI

    n, says = scores.whole.weight[0], scores.prior.says[0]
    log_unit = np.where(says, -n * (0.5 * LOG_TWO_PI + np.log(scores.stddev)), 0.0)
    if scores.of_logs:
        log_unit = log_unit - np.where(says, scores.moments.pooled().total.to_floats()[0], 0.0)
    return scores.prior.log_evidence(scores.seen) + log_unit, scores.prior.log_evidence(scores.whole) + log_unit


def _of_family(scores: AveragedFamilyScores) -> tuple[FloatArray, FloatArray]:
    family, prior = scores.family, scores.prior
    by_class = family.log_marginal(scores.statistic, prior).sum(axis=0)
    as_whole = family.log_marginal(scores.statistic.pooled(), prior)[0]
    known = scores.posteriors.known
    return np.where(known, by_class, 0.0), np.where(known, as_whole, 0.0)


def model_of(model: Any) -> Any:
    """The model itself, also of an estimator."""
    return getattr(model, "model_", model)


def refuse_other_rows(models: Mapping[str, Any]) -> None:
    """The evidence of two models can be compared only if both have learned the same rows and columns.

    Of the rows a model knows the weight of each class, and that is what is looked at.
    """
    known = {name: _learned(model) for name, model in models.items() if isinstance(model, NaiveBayesModel)}
    (first, seen), *others = known.items() if known else [("", None)]
    for name, found in others:
        if found != seen:
            raise ParameterError(
                f"{first!r} and {name!r} have learned different rows or columns: {_text(seen)}, and {_text(found)}",
                fix="fit both to the same table; a column may be there and irrelevant",
            )


def _learned(model: NaiveBayesModel) -> tuple[Any, ...]:
    weights = {label: w for label, w in zip(model.classes, model.class_weight.tolist(), strict=True) if w}
    return model.schema.target and model.schema.target.name, weights, sorted(model.schema.used)


def _text(learned: Any) -> str:
    target, weights, columns = learned
    return f"{sum(weights.values()):g} rows of {target!r} with {len(columns)} columns"
