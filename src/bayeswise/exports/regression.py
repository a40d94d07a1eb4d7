"""The scores of regressions: a constant and w (x - mean) for each column; missing and unseen cells are at the mean."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from bayeswise.exports.row_inputs import Row, TableRow
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ExportError
from bayeswise.models.regression.features import Features
from bayeswise.models.regression.logistic import LogisticModel, shared_covariances
from bayeswise.models.regression.regression_model import RegressionModel
from bayeswise.render.expression import (
    Expression,
    choose,
    exp,
    in_slot,
    is_missing,
    least,
    lookup,
    number,
    root,
    total,
)

MOST_FEATURES = 60
"""Of a marginalized regression, whose variance is a sum over all pairs."""
_LARGEST_LOG = float(np.nextafter(np.log(np.finfo(np.float64).max), 0.0))


def deviations(features: Features, centre: FloatArray, fill: FloatArray, row: Row) -> list[Expression]:
    """x - centre of each feature; `fill` is used where the cell is missing or unseen."""
    terms = []
    places = dict(zip(features.names, zip(centre.tolist(), fill.tolist(), strict=True), strict=True))
    for name in features.schema.numbers:
        x, (middle, filled) = row.number(name), places[name, None]
        terms.append(choose(is_missing(x), number(filled - middle), x - middle))
    for name, known, ordered in zip(features.schema.categories, features.levels, features.ordered, strict=True):
        slot, position = row.slot(name, known), known.positions_in(ordered)
        for place, level in enumerate(ordered[1:], start=1):
            middle, filled = places[name, level]
            entries = np.append((position == place) - middle, [filled - middle, filled - middle])
            terms.append(lookup([slot], entries))
    for name, feature in zip(features.marked, features.names[len(terms) :], strict=True):
        middle = places[feature][0]
        terms.append(choose(_is_missing(features, name, row), number(1.0 - middle), number(-middle)))
    return terms


def _is_missing(features: Features, name: str, row: Row) -> Expression:
    if name in features.schema.numbers:
        return is_missing(row.number(name))
    slot = row.slot(name, features.levels[features.schema.categories.index(name)])
    return in_slot(slot, slot.value.missing)


def _score(constant: float, weights: FloatArray, away: list[Expression]) -> Expression:
    return total([number(constant), *(x * w for x, w in zip(away, weights.tolist(), strict=True))])


def log_scores(model: LogisticModel, row: Row) -> list[Expression]:
    """log p(class | row) up to a constant for each row."""
    away = deviations(model.features, model.centre, model.centre, row)
    scores = [_score(at, weights, away) for at, weights in zip(model.at_centre.tolist(), model.weights, strict=True)]
    if not model.settings.marginalize or len(scores) < 2:
        return scores
    if len(away) > MOST_FEATURES:
        raise ExportError(
            f"a marginalized regression of {len(away)} columns and indicators is not exported; at most {MOST_FEATURES}",
            fix="fit it with marginalize=False, or with fewer columns",
        )
    z = [*(x / unit for x, unit in zip(away, model.unit.tolist(), strict=True)), number(1.0)]
    if len(scores) == 2:
        shrunk = _shrinkage(z, model.covariance)
        return [score * shrunk for score in scores]
    mean = total(scores) / float(len(scores))
    blocks = shared_covariances(model.covariance, len(scores))
    return [(score - mean) * _shrinkage(z, block) for score, block in zip(scores, blocks, strict=True)]


def _shrinkage(z: list[Expression], covariance: FloatArray) -> Expression:
    """1 / sqrt(1 + pi / 8 variance), with the variance z' covariance z, clipped at 0 against rounding errors."""
    pairs = combinations_with_replacement(range(len(z)), 2)
    variance = total(z[i] * z[j] * float(covariance[i, j] + (covariance[j, i] if i != j else 0.0)) for i, j in pairs)
    above = least([number(0.0), variance * -1.0])
    return number(1.0) / root(number(1.0) - above * (0.125 * np.pi))


def mean(model: RegressionModel, row: TableRow) -> Expression:
    """E[y | row]."""
    centre, at_centre = model.baseline
    score = _score(at_centre, model.weights, deviations(model.features, centre, model.fill, row))
    return exp(least([score, number(_LARGEST_LOG)])) if model.has_log_link else score


def refuse_missing(model: LogisticModel | RegressionModel, row: TableRow) -> None:
    """With missing="error" a row with a missing cell has no answer."""
    if model.settings.missing != "error":
        return
    row.refused += [is_missing(row.number(name)) for name in model.schema.numbers]
    for name, known in zip(model.schema.categories, model.features.levels, strict=True):
        slot = row.slot(name, known)
        row.refused.append(in_slot(slot, slot.value.missing))
