"""The posterior of each learned row under the model that never saw it, in closed form for all rows at once.

Taking x with weight w out of n rows of a normal column with mean m and sum of squared deviations S leaves

    n' = n - w        m' = m - w (x - m) / n'        S' = S - w (x - m)^2 n / n'

Where S' loses more than a few digits to cancellation (the row was the outlier), it is taken from the exact sums. What
is kept is its root, the norm of the deviations: that never leaves the range of floats.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NotMergedError
from bayeswise.foundation.logspace import log_sum_exp
from bayeswise.models.naive_bayes.factors import Leaving
from bayeswise.statistics import Moments
from bayeswise.tables.batch import Batch

if TYPE_CHECKING:
    from bayeswise.families.continuous.normal import NormalParameters
    from bayeswise.models.naive_bayes.model import NaiveBayesModel
    from bayeswise.models.naive_bayes.normal_columns import NormalScores


def log_joint_left_out(model: NaiveBayesModel, batch: Batch) -> FloatArray:
    """(n_rows, n_states) the log joint, the row itself left out, up to a number for each row.

    A row that takes its class with it, or lies beyond the range of floats, is a real refit; minus infinity if it was
    the only one.
    """
    joint, again = _log_joint(model, batch)
    for row in np.flatnonzero(again).tolist():
        others, part = _forgotten(model, batch.rows(slice(row, row + 1)))
        if others.classes:
            places = others.statistics.labels.positions_in(model.statistics.labels)
            joint[row, places] = others.predict_log_proba(part)[0]
    return joint


def log_evidence_left_out(model: NaiveBayesModel, batch: Batch) -> FloatArray:
    """(n_rows,) log p(row) under the model that never saw it; minus infinity where no other row is left."""
    joint, again = _log_joint(model, batch)
    log_evidence = log_sum_exp(joint)
    for row in np.flatnonzero(again).tolist():
        others, part = _forgotten(model, batch.rows(slice(row, row + 1)))
        log_evidence[row] = others.posterior(part).log_evidence[0] if others.classes else -np.inf
    return log_evidence


def _log_joint(model: NaiveBayesModel, batch: Batch) -> tuple[FloatArray, BoolArray]:
    """(n_rows, n_states) in closed form, and the rows that need a refit."""
    groups = _own_classes(model, batch)
    weights = batch.row_weights
    class_weight = np.broadcast_to(model.class_weight, (batch.n_rows, len(model.classes))).copy()
    class_weight[np.arange(batch.n_rows), groups] -= weights
    with np.errstate(invalid="ignore"):  # the only row leaves no prior behind: 0 / 0
        joint = model.log_prior_of(class_weight) + 0.0
    for each in model.scores:
        joint += each.left_out(batch, groups, batch.weights)
    again = _takes_its_class(model, class_weight) | (np.max(joint, axis=1, initial=-np.inf) == -np.inf)
    joint[again] = -np.inf
    return joint, again


def _own_classes(model: NaiveBayesModel, batch: Batch) -> CodeArray:
    groups = model.groups_of(batch)
    for c, name in enumerate(model.schema.categories):
        if (batch.codes[:, c] >= len(model.vocabularies[name])).any():
            raise NotMergedError(
                f"a row has a level of column {name!r} that the model never learned", fix="leave out learned rows only"
            )
    return groups


def _takes_its_class(model: NaiveBayesModel, class_weight: FloatArray) -> BoolArray:
    """(n_rows,) whether an undeclared class has no row left."""
    declared = np.array([label in model.statistics.declared for label in model.classes], dtype=bool)
    return np.asarray(((class_weight <= 0) & ~declared).any(axis=1))


def _forgotten(model: NaiveBayesModel, row: Batch) -> tuple[NaiveBayesModel, Batch]:
    """The model that has forgotten a row, and the row with its levels in the order of that model's."""
    others = model.forget(row, again=True)
    if not others.classes:
        return others, row
    names = model.schema.categories
    known = replace(row, vocabularies=tuple(model.vocabularies[name] for name in names))
    return others, known.recode([others.vocabularies[name] for name in names])


_BLOCK_CELLS = 1 << 18
_CELLS_WORTH_EXACT_SUMS = 4096
_LEAST_SHARE_LEFT = 1e-4


@dataclass(frozen=True, eq=False)
class Left:
    """Weight, mean, and norm of the deviations from it that remain, (n_rows, n_columns)."""

    weight: FloatArray
    mean: FloatArray
    mean_low: FloatArray
    norm: FloatArray


def log_left_out(scores: NormalScores, values: FloatArray, leaving: Leaving) -> FloatArray:
    """(n_rows, n_states) log-likelihoods, each row's own class (and the whole column) without that row."""
    n_states, n_columns = scores.parameters.mean.shape
    step = max(1, _BLOCK_CELLS // max(n_states * n_columns, 1))
    blocks = [
        _log_block(scores, values[start : start + step], _part(leaving, slice(start, start + step)))
        for start in range(0, len(values), step)
    ]
    return np.concatenate(blocks) if blocks else np.zeros((0, n_states))


def _part(leaving: Leaving, rows: slice) -> Leaving:
    return Leaving(leaving.groups[rows], leaving.weights[rows])


def _log_block(scores: NormalScores, values: FloatArray, leaving: Leaving) -> FloatArray:
    pooled = scores.statistic.pooled()
    scale = _scale(pooled)
    whole = _without(pooled, np.zeros(len(values), dtype=np.int64), values, leaving.weights, scale)
    own = _without(scores.statistic, leaving.groups.astype(np.int64), values, leaving.weights, scale)
    if _others_stay(scores):
        return _log_with_own_changed(scores, values, leaving, own, whole)
    parameters = _all_parameters(scores, leaving, own, whole)
    return np.asarray(_log_cells(parameters, values[:, None, :]).sum(axis=2))


def _scale(pooled: Moments) -> FloatArray:
    """(n_columns,) the power of two below each column's stddev; 1 where it does not vary."""
    stddev = pooled.stddev("n", empty=0.0)[0]
    return np.where(stddev > 0, np.ldexp(1.0, np.frexp(stddev)[1] - 1), 1.0)


def _log_cells(parameters: NormalParameters, values: FloatArray) -> FloatArray:
    """Log densities; zero where a cell is missing, or where the column does not vary any more."""
    from bayeswise.families.continuous.normal import Normal, NormalParameters

    says = parameters.stddev > 0
    stddev = np.where(says, parameters.stddev, 1.0)
    log_density = Normal().log_density(NormalParameters(parameters.mean, stddev, parameters.mean_low), values)
    return np.where(np.isnan(values) | ~says, 0.0, log_density)


def _others_stay(scores: NormalScores) -> bool:
    """Whether leaving one row out of a class cannot move another class: no shared variance, no floor near."""
    settings = scores.settings
    if settings.shared_variance or settings.variance_rule != "floor" or not scores.is_ordinary:
        return False
    floor = np.sqrt(settings.variance_floor) * scores.statistic.pooled().stddev("n", empty=0.0)
    return bool((scores.parameters.stddev > 4.0 * floor).all() and not scores.statistic.is_empty().any())


def _log_with_own_changed(
    scores: NormalScores, values: FloatArray, leaving: Leaving, own: Left, whole: Left
) -> FloatArray:
    from bayeswise.families.continuous.normal import NormalParameters

    p = scores.parameters
    log_joint = np.zeros((len(values), len(p.mean)))  # (n_rows, n_states)
    _kernels.add_normal(log_joint, values, p.mean, np.asarray(p.mean_low), scores.precision, scores.log_peak)
    mean, mean_low, stddev = _own_parameters(scores, own, whole)
    log_cells = _log_cells(NormalParameters(mean, stddev, mean_low), values)  # (n_rows, n_columns)
    log_joint[np.arange(len(values)), leaving.groups] = log_cells.sum(axis=1)
    return log_joint


def _own_parameters(scores: NormalScores, own: Left, whole: Left) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean (high and low) and stddev of each row's own class without it; the whole column's where nothing is left."""
    from bayeswise.models.naive_bayes.normal_columns import raised

    none = own.weight <= 0
    whole_stddev = _stddev(whole.norm, whole.weight)
    less = 0.0 if scores.settings.variance_divisor == "n" else 1.0
    stddev = np.where(none, whole_stddev, _stddev(own.norm, own.weight - less))
    mean = np.where(none, whole.mean, own.mean)
    mean_low = np.where(none, whole.mean_low, own.mean_low)
    return mean, mean_low, raised(stddev, whole_stddev, scores.settings)


def _all_parameters(scores: NormalScores, leaving: Leaving, own: Left, whole: Left) -> NormalParameters:
    """The parameters of every class for every row, (n_rows, n_states, n_columns)."""
    from bayeswise.families.continuous.normal import NormalParameters
    from bayeswise.models.naive_bayes.normal_columns import raised

    statistic, settings = scores.statistic, scores.settings
    rows = np.arange(len(leaving.groups))
    shape = (len(rows), *scores.parameters.mean.shape)
    mean, mean_low = (np.broadcast_to(part, shape).copy() for part in statistic.mean_pair(empty=0.0))
    weight = np.broadcast_to(statistic.weight.to_floats(), shape).copy()
    with np.errstate(over="ignore"):
        norm = np.minimum(np.sqrt(weight) * statistic.stddev("n", empty=0.0), np.finfo(np.float64).max)
    for array, left in ((mean, own.mean), (mean_low, own.mean_low), (weight, own.weight), (norm, own.norm)):
        array[rows, leaving.groups] = left
    less = 0.0 if settings.variance_divisor == "n" else 1.0
    if settings.shared_variance:
        df = weight.sum(axis=1) - less * (weight > 0).sum(axis=1)
        stddev = np.broadcast_to(_stddev(_norm_of(norm), df)[:, None, :], shape)
    else:
        stddev = _stddev(norm, weight - less)
    none = weight <= 0
    whole_stddev = _stddev(whole.norm, whole.weight)[:, None, :]
    stddev = np.where(none, whole_stddev, stddev)
    mean = np.where(none, whole.mean[:, None, :], mean)
    mean_low = np.where(none, whole.mean_low[:, None, :], mean_low)
    return NormalParameters(mean, raised(stddev, whole_stddev, settings), mean_low)


def _stddev(norm: FloatArray, df: FloatArray) -> FloatArray:
    root = np.sqrt(np.where(df > 0, df, 1.0))
    return np.where(df > 0, norm / root, 0.0)


def _norm_of(norms: FloatArray) -> FloatArray:
    """The norm of all classes together, (n_rows, n_columns), without squaring what would overflow."""
    largest = norms.max(axis=1)
    safe = np.where(largest > 0, largest, 1.0)
    return np.asarray(largest * np.sqrt(((norms / safe[:, None, :]) ** 2).sum(axis=1)))


def _without(statistic: Moments, groups: IntArray, values: FloatArray, weights: FloatArray, scale: FloatArray) -> Left:
    """What remains of each row's group in each column once the row is taken out; missing cells take nothing out."""
    present = ~np.isnan(values)
    w = np.where(present, weights[:, None], 0.0)
    x = np.where(present, values, 0.0)
    mean, mean_low = (part[groups] for part in statistic.mean_pair(empty=0.0))
    n = statistic.weight.to_floats()[groups]
    squares = n * ((statistic.stddev("n", empty=0.0) / scale) ** 2)[groups]
    left = n - w
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.where(present, (x - mean) - mean_low, 0.0)
        safe = np.where(left > 0, left, 1.0)
        shift = -w * away / safe
        remains = squares - w * (away / scale) ** 2 * (n / safe)
        norm = np.where(left > 0, scale * np.sqrt(np.maximum(remains, 0.0)), 0.0)
    unstable = present & (left > 0) & ~(remains > _LEAST_SHARE_LEFT * squares)
    if values.size <= _CELLS_WORTH_EXACT_SUMS:
        unstable = present & (left > 0)
    result = Left(left, mean + shift, _low_of(mean, shift, mean_low), norm)
    return _exactly(result, statistic, groups, x, w, unstable) if unstable.any() else result


def _low_of(mean: FloatArray, shift: FloatArray, mean_low: FloatArray) -> FloatArray:
    """What rounding mean + shift dropped, with what the mean already carried (TwoSum)."""
    total = mean + shift
    back = total - mean
    return (mean - (total - back)) + (shift - back) + mean_low


def _exactly(
    result: Left, statistic: Moments, groups: IntArray, x: FloatArray, w: FloatArray, unstable: BoolArray
) -> Left:
    """The unstable cells again, from exact sums."""
    from bayeswise.foundation.dyadic import Dyadic

    rows, columns = np.nonzero(unstable)
    cell = (groups[rows], columns)
    taken_weight = Dyadic.of_floats(w[rows, columns])
    taken = Dyadic.of_floats(x[rows, columns])
    weight = Dyadic.of(statistic.weight[cell]) - taken_weight
    total = Dyadic.of(statistic.total[cell]) - taken_weight * taken
    squares = Dyadic.of(statistic.squares[cell]) - taken_weight * taken * taken
    mean, mean_low = total.over_pair(weight)
    parts = [array.copy() for array in (result.weight, result.mean, result.mean_low, result.norm)]
    try:
        norm = (weight * squares - total * total).sqrt_over(weight)
    except ValueError:  # the root of what is below zero
        raise NotMergedError(
            "a row to leave out was never learned: a variance would fall below zero",
            fix="leave out only rows that this model has learned",
        ) from None
    for array, exact in zip(parts[1:], (mean, mean_low, norm), strict=True):
        array[rows, columns] = exact
    return Left(*parts)
