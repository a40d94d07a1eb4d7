"""Functions of posteriors: calibrations, and mixtures of models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bayeswise.exports.row_inputs import NumbersRow, Row
from bayeswise.foundation.errors import ExportError
from bayeswise.models.auto.boosted_trees import AsTrees
from bayeswise.models.auto.candidates import Member
from bayeswise.models.auto.inputs import AsNumbers
from bayeswise.models.auto.model import AutoModel
from bayeswise.posteriors.calibration_maps import AsItIs, Calibration, Dirichlet, Isotonic, Platt, Temperature
from bayeswise.posteriors.normalise import log_posterior
from bayeswise.render.expression import (
    FAR_OUT,
    IMPOSSIBLE,
    Expression,
    at_most,
    below,
    choose,
    either,
    exp,
    largest,
    least,
    log,
    log_sum_exp,
    nothing,
    number,
    total,
)
from bayeswise.tables.schema.labels import Vocabulary

Scores = list[Expression]  # one for each class, in log space


class Shares:
    """Normalised scores, p = exp(s - top) / sum, and the parts of this for other functions."""

    def __init__(self, scores: Sequence[Expression]) -> None:
        self.scores = list(scores)
        self.top = largest(self.scores)
        self.weights = [exp(score - self.top) for score in self.scores]
        self.sum = total(self.weights)

    @property
    def log_probability(self) -> Scores:
        log_sum = log(self.sum)
        return [score - self.top - log_sum for score in self.scores]

    @property
    def probability(self) -> list[Expression]:
        return [weight / self.sum for weight in self.weights]

    def log_odds(self, state: int, most: float) -> Expression:
        """log p / (1 - p), clipped to -most and most; 1 - p is the sum of the others, so that no digits are lost."""
        rest = total(weight for k, weight in enumerate(self.weights) if k != state)
        none = at_most(rest, 1e-300)
        odds = self.scores[state] - self.top - log(choose(none, number(1.0), rest))
        return least([number(most), largest([number(-most), choose(none, number(most), odds)])])

    @property
    def possible(self) -> Expression:
        """Whether any class is possible."""
        return below(number(FAR_OUT), self.top)


def calibrated(calibration: Calibration, scores: Scores) -> Scores:
    """The scores after a calibration; impossible classes stay impossible."""
    if isinstance(calibration, AsItIs):
        return scores
    shares = Shares(scores)
    log_p = shares.log_probability
    after = _map_of(calibration, shares, log_p)
    if isinstance(calibration, Isotonic):
        lost = below(largest(after), FAR_OUT)  # such a row keeps its posterior
        after = [choose(lost, before, score) for before, score in zip(log_p, after, strict=True)]
    return [
        choose(below(before, FAR_OUT), number(IMPOSSIBLE), score) for before, score in zip(scores, after, strict=True)
    ]


def _map_of(calibration: Calibration, shares: Shares, log_p: Scores) -> Scores:
    if isinstance(calibration, Temperature):
        return [each / calibration.temperature for each in log_p]
    if isinstance(calibration, Platt):
        slopes, shifts = calibration.slope.tolist(), calibration.shift.tolist()
        lines = [shares.log_odds(k, -calibration.log_least) * slopes[k] + shifts[k] for k in range(len(log_p))]
        return [-log_sum_exp([number(0.0), -line]) for line in lines]
    if isinstance(calibration, Isotonic):
        curves = zip(shares.probability, calibration.curves, strict=True)
        return [_log_or_impossible(_interpolated(p, x.tolist(), y.tolist())) for p, (x, y) in curves]
    if isinstance(calibration, Dirichlet):
        held = [largest([each, number(calibration.log_least)]) for each in log_p]
        rows = zip(calibration.weights.tolist(), calibration.shift.tolist(), strict=True)
        return [total([number(b), *(x * w for x, w in zip(held, row, strict=True))]) for row, b in rows]
    raise ExportError(
        f"the calibration {calibration.name!r} is not exported",
        fix="calibrate with temperature, platt, isotonic or dirichlet",
    )


def _log_or_impossible(share: Expression) -> Expression:
    none = at_most(share, 0.0)
    return choose(none, number(IMPOSSIBLE), log(choose(none, number(1.0), share)))


def _interpolated(p: Expression, x: list[float], y: list[float]) -> Expression:
    """Linear between corners, constant beyond the first and the last."""
    pieces = number(y[-1])
    for k in reversed(range(len(x) - 1)):
        slope = (y[k + 1] - y[k]) / (x[k + 1] - x[k])
        pieces = choose(below(p, x[k + 1]), (p - x[k]) * slope + y[k], pieces)
    return choose(at_most(p, x[0]), number(y[0]), pieces)


def mixture(model: AutoModel, row: Row, scores_of: Callable[[object, Row], Scores]) -> Scores:
    """The log posterior of all members, pooled and calibrated, under the prior that was set."""
    parts: list[Scores] = []  # of each member, by class
    possible = []
    for member in model.members:
        shares = Shares(_scores_of_member(member, model, row, scores_of))
        possible.append(shares.possible)
        prior = log_posterior(member.model.log_prior[None])[0].tolist()  # for an impossible row
        answers = zip(shares.log_probability, prior, strict=True)
        own = [choose(shares.possible, each, number(at)) for each, at in answers]
        place = Vocabulary(model.classes).positions_in(Vocabulary(member.model.classes)).tolist()
        parts.append([own[k] if k >= 0 else number(IMPOSSIBLE) for k in place])
    after = calibrated(model.calibration, _pooled(model, parts))
    every = either(*possible)  # as in the model: a row that is impossible under all members is refused
    after = [choose(every, each, number(IMPOSSIBLE)) for each in after]
    if model.settings.class_prior is None:
        return after
    return [each + number(shift) for each, shift in zip(after, model.log_prior_shift.tolist(), strict=True)]


def _scores_of_member(member: Member, model: AutoModel, row: Row, scores_of: Callable[[object, Row], Scores]) -> Scores:
    """The scores of one member from its features; an error names it."""
    try:
        if isinstance(member.inputs, AsTrees):
            return _scores_of_trees(member.inputs, NumbersRow(member.inputs.base, row, model.vocabularies))
        if isinstance(member.inputs, AsNumbers):
            return scores_of(member.model, NumbersRow(member.inputs, row, model.vocabularies))
        return scores_of(member.model, row)
    except ExportError as error:
        raise ExportError(
            f"{member.name!r}, a member of this auto model: {error.what}",
            fix=_fix(model),
        ) from None


def _fix(model: AutoModel) -> str:
    """A kind that is exported; neither it nor a part of a mixture reads texts there."""
    texts = model.schema.texts
    one = "fit one kind instead of auto (--model logistic or naive-bayes)"
    return f"leave out the text (--ignore {' '.join(texts)})" if texts else f"{one}, or leave out columns (--ignore)"


def _pooled(model: AutoModel, parts: Sequence[Scores]) -> Scores:
    """The mean of posteriors, or of their logarithms."""
    by_class = list(zip(*parts, strict=True))
    pool = model.pool
    if pool is None:
        log_weights = np.log(model.weights).tolist()
        return [log_sum_exp([own + w for own, w in zip(of_class, log_weights, strict=True)]) for of_class in by_class]
    log_kept, log_even = float(np.log1p(-pool.least)), number(float(np.log(pool.least / len(by_class))))
    held = [[log_sum_exp([own + log_kept, log_even]) for own in of_class] for of_class in by_class]
    shares = (pool.power * model.weights).tolist()
    base = (1.0 - pool.power) * pool.log_shares(model.log_counted)  # the rest of the power goes to the class shares
    return [
        total([number(b), *(own * w for own, w in zip(of_class, shares, strict=True))])
        for of_class, b in zip(held, base.tolist(), strict=True)
    ]


def _scores_of_trees(inputs: AsTrees, row: NumbersRow) -> Scores:
    """The sum of the trees of each class, which are log-odds: a choice for each split."""
    trees = inputs.trees
    numbers = [row.number(name) for name, _ in inputs.base.features]
    added: list[list[Expression]] = [[number(start)] for start in trees.start.tolist()]
    for k, state in enumerate(trees.state.tolist()):
        feature, threshold, value = trees.feature[k].tolist(), trees.threshold[k].tolist(), trees.value[k].tolist()
        nodes = [number(each) for each in value]
        for node, split in reversed(list(enumerate(trees.split[k].tolist()))):
            if split < 0:
                continue
            less, more, cut = nodes[2 * split + 1], nodes[2 * split + 2], threshold[split]
            is_made = cut < np.inf
            nodes[node] = choose(at_most(number(cut), numbers[feature[split]]), more, less) if is_made else less
        added[state].append(nodes[0])
    return [total(terms) for terms in added]


def normalised(weights: Sequence[Expression]) -> list[Expression]:
    """Weights divided by their sum; no numbers where that is 0."""
    whole = total(weights)
    safe = choose(at_most(whole, 0.0), nothing(), whole)
    return [weight / safe for weight in weights]
