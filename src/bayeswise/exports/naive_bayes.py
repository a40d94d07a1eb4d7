"""The log joint of naive Bayes models, plain and averaged over structures: a term for each column and class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from bayeswise.exports.row_inputs import Row, free_text
from bayeswise.families.distributions import kinds_of_one_number
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ExportError
from bayeswise.models.averaged_naive_bayes.mixing import log_sigmoid
from bayeswise.models.averaged_naive_bayes.model import AveragedNaiveBayesModel
from bayeswise.models.averaged_naive_bayes.normal_columns import AveragedNormalScores, StudentT
from bayeswise.models.averaged_naive_bayes.others import AveragedFamilyScores
from bayeswise.models.naive_bayes.categories import CategoryScores
from bayeswise.models.naive_bayes.counted_columns import CountedScores
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.naive_bayes.normal_columns import NormalScores
from bayeswise.models.naive_bayes.others import FamilyScores
from bayeswise.render.expression import (
    IMPOSSIBLE,
    Expression,
    below,
    choose,
    is_missing,
    log_bell,
    log_of_positive,
    log_one_plus,
    log_sum_exp,
    lookup,
    number,
    square,
    standardised,
    total,
)

Terms = Sequence[Expression]  # one for each class


def log_joint(model: NaiveBayesModel, row: Row) -> list[Expression]:
    """log p(class) + sum of log p(cell | class), for each class, up to a constant common to all classes."""
    if isinstance(model, AveragedNaiveBayesModel) and model.settings.n_relevant is not None:
        raise ExportError(
            "an average over structures with n_relevant is a sum over all of them, and not exported",
            fix="fit it without n_relevant",
        )
    terms: list[Terms] = [[number(p) for p in model.log_prior.tolist()]]
    for scores in model.scores:
        terms += _terms_of(scores, row)
    return [total(of_class) for of_class in zip(*terms, strict=True)]


def _terms_of(scores: Any, row: Row) -> Iterator[Terms]:
    if isinstance(scores, CategoryScores):
        return _categories(scores, row)
    if isinstance(scores, NormalScores):
        return _normal(scores, row)
    if isinstance(scores, FamilyScores):
        return _family(scores, row)
    if isinstance(scores, CountedScores):
        return iter([_counted(scores, row)])
    if isinstance(scores, AveragedNormalScores):
        return _averaged_normal(scores, row)
    if isinstance(scores, AveragedFamilyScores):
        return _averaged_family(scores, row)
    columns = getattr(scores, "columns", None) or (scores.column,)
    raise free_text(columns[0])


# -- families -----------------------------------------------------------------------------------------------------
def _categories(scores: CategoryScores, row: Row) -> Iterator[Terms]:
    for table in scores.tables:
        slot = row.slot(table.column.name, table.counts.levels)
        yield [lookup([slot], column) for column in table.with_ends().T]


def _normal(scores: NormalScores, row: Row) -> Iterator[Terms]:
    p = scores.parameters
    low = np.broadcast_to(p.mean_low, p.mean.shape)
    for c, name in enumerate(scores.columns):
        if scores.varies[c]:
            x = row.number(name)
            values = zip(p.mean[:, c].tolist(), low[:, c].tolist(), p.stddev[:, c].tolist(), strict=True)
            cells = [log_bell(standardised(x, *each)) for each in values]
            peaks = zip(cells, scores.log_peak[:, c].tolist(), strict=True)
            yield [known(x, term + peak) for term, peak in peaks]


def _family(scores: FamilyScores, row: Row) -> Iterator[Terms]:
    parameters, usable = scores.parameters
    for c, name in enumerate(scores.columns):
        column = np.broadcast_to(usable, (scores.statistic.weight_of_rows.shape[0], len(scores.columns)))[:, c]
        if not column.any():
            continue
        if not column.all():
            raise ExportError(
                f"column {name!r} has no {scores.family.name} density in some classes", fix="choose another family"
            )
        x = row.number(name)
        refuse_unless_exported(scores.family, "log_density_expression")
        classes = [_at(parameters, state, c) for state in range(len(column))]
        cells = scores.family.log_density_expressions(classes, x)
        yield _supported(scores.family, x, cells)


def refuse_unless_exported(family: Any, by: str) -> None:
    """Refuse a family without this expression; the error names those that have it."""
    if not hasattr(family, by):
        able = [name for name, kind in kinds_of_one_number().items() if hasattr(kind, by)]
        raise ExportError(
            f"the density of the family {family.name!r} cannot be exported", fix=f"choose one of {', '.join(able)}"
        )


def _at(parameters: Any, state: int, column: int) -> Any:
    """The parameters of one class and column."""
    names = [each.name for each in fields(parameters)]
    shape = np.broadcast_shapes(*(np.shape(getattr(parameters, name)) for name in names))
    return type(parameters)(
        **{name: np.broadcast_to(getattr(parameters, name), shape)[state, column] for name in names}
    )


def _supported(family: Any, x: Expression, cells: Terms) -> Terms:
    """The terms: 0 for a missing cell, and impossible in every class outside the support of the family."""
    inside = family.support_expression(x)
    if inside is not None:
        cells = [choose(inside, each, number(IMPOSSIBLE)) for each in cells]
    return [known(x, each) for each in cells]


def known(x: Expression, term: Expression) -> Expression:
    """The term; 0 where the cell is missing."""
    return choose(is_missing(x), number(0.0), term)


def _counted(scores: CountedScores, row: Row) -> Terms:
    """every + sum of count times weight, or impossible where a word of probability 0 occurs."""
    weights, inner = scores.inner.weights, scores.inner
    if weights.zeros is not None and inner.model == "complement":
        raise ExportError("a complement model of words without smoothing is not exported", fix="fit it with smoothing")
    places = [inner.statistic.levels.code(name) for name in scores.columns]
    cells = [known(x, x) for x in map(row.number, scores.columns)]
    if inner.model == "bernoulli":
        cells = [choose(below(number(0.0), each), number(1.0), number(0.0)) for each in cells]

    def weighted(table: FloatArray, every: FloatArray, state: int) -> Expression:
        return total([number(every[state]), *(x * float(table[k, state]) for x, k in zip(cells, places, strict=True))])

    sums = [weighted(weights.table, weights.every, state) for state in range(len(weights.every))]
    if weights.zeros is None or weights.zeros_of_all is None:
        return sums
    zeros = [weighted(weights.zeros, weights.zeros_of_all, state) for state in range(len(sums))]
    return [choose(below(number(0.0), zero), number(IMPOSSIBLE), each) for zero, each in zip(zeros, sums, strict=True)]


# -- averaged over structures -------------------------------------------------------------------------------------
def _mixed(log_odds: float, log_ratio: Terms) -> Terms:
    """log of w p(cell | class) / p(cell) + 1 - w."""
    yes, no = (float(log_sigmoid(np.asarray(sign * log_odds))) for sign in (1.0, -1.0))
    return [log_sum_exp([each + yes, number(no)]) for each in log_ratio]


def _averaged_normal(scores: AveragedNormalScores, row: Row) -> Iterator[Terms]:
    prior, (mean, mean_low, stddev) = scores.prior, scores.unit
    by_class, whole = prior.predictive(scores.seen), prior.predictive(scores.whole)
    informative = np.broadcast_to(prior.says, scores.whole.weight.shape)[0]
    for c, name in enumerate(scores.columns):
        if not informative[c]:
            continue
        x = row.number(name)
        taken = log_of_positive(x) if scores.of_logs else x
        z = standardised(taken, float(mean[c]), float(mean_low[c]), float(stddev[c]))
        irrelevant = _student(whole, 0, c, z)
        ratio = [(_student(by_class, state, c, z) - irrelevant) * scores.temper for state in range(len(by_class.mean))]
        cells = _mixed(float(scores.log_odds[c]), ratio)
        if scores.of_logs:  # numbers without a logarithm are ignored
            cells = [choose(below(number(0.0), x), each, number(0.0)) for each in cells]
        yield [known(x, each) for each in cells]


def _student(parameters: StudentT, state: int, column: int, z: Expression) -> Expression:
    arrays = (parameters.mean, parameters.width, parameters.power, parameters.log_norm)
    mean, width, power, log_norm = (float(each[state, column]) for each in arrays)
    return log_one_plus(square((z - mean) / width)) * -power + log_norm


def _averaged_family(scores: AveragedFamilyScores, row: Row) -> Iterator[Terms]:
    posteriors, family = scores.posteriors, scores.family
    for c, name in enumerate(scores.columns):
        if not np.broadcast_to(posteriors.known, (len(scores.columns),))[c]:
            continue
        x = row.number(name)
        refuse_unless_exported(family, "log_predictive_expression")
        irrelevant = family.log_predictive_expression(_at(posteriors.as_whole, 0, c), x)
        ratio = [
            family.log_predictive_expression(_at(posteriors.by_class, state, c), x) - irrelevant
            for state in range(scores.n_states)
        ]
        yield _supported(family, x, _mixed(float(scores.log_odds[c]), ratio))
