"""The log joint of Gaussian classes, every form of covariance; missing cells are integrated out.

In a row with missing cells the block of the covariance of the present cells has a Cholesky factor of its own. It is
computed row by row: with the rows and columns of missing cells replaced by those of the identity, the factor of the
whole is the factor of the block.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayeswise.exports.row_inputs import Row
from bayeswise.families.arithmetic.stable_functions import HALF_LOG_TWO_PI, log_gamma_ratio
from bayeswise.foundation.errors import ExportError
from bayeswise.models.gaussian_bayes.covariance import CovarianceFactor
from bayeswise.models.gaussian_bayes.densities import LOG_PI, Densities
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel
from bayeswise.render.expression import (
    Expression,
    choose,
    either,
    is_missing,
    log,
    log_one_plus,
    number,
    root,
    square,
    standardised,
    total,
)

MOST_COLUMNS = 24
"""With correlated columns: the work for missing cells grows with their third power."""


def log_joint(model: GaussianBayesModel, row: Row) -> list[Expression]:
    """log p(class) + log p(row | class), for each class, up to a constant common to all classes."""
    densities = model.densities
    cells = [_framed(densities, c, row.number(name)) for c, name in enumerate(densities.names)]
    correlated = not all(spread.is_diagonal for spread in densities.spreads)
    if correlated and len(cells) > MOST_COLUMNS:
        raise ExportError(
            f"a covariance of {len(cells)} correlated columns is not exported: more than {MOST_COLUMNS} are too many "
            "to integrate missing cells out",
            fix='use covariance="diagonal" (--covariance diagonal), or fewer columns',
        )
    gone = [is_missing(x) for x in cells]
    blocks: dict[int, _Block] = {}
    terms = []
    for state, log_prior in enumerate(model.log_prior.tolist()):
        spread = densities.spreads[state]
        if id(spread) not in blocks:
            blocks[id(spread)] = _Block(spread, gone)
        terms.append(_log_density(densities, state, cells, blocks[id(spread)]) + log_prior)
    if not densities.is_linear:
        return terms
    whole = _linear(densities, cells)
    some = either(*gone)
    complete = [each + log_prior for each, log_prior in zip(whole, model.log_prior.tolist(), strict=True)]
    return [choose(some, part, every) for part, every in zip(terms, complete, strict=True)]


def _framed(densities: Densities, column: int, x: Expression) -> Expression:
    """The number in the units of the densities."""
    frame = densities.frame
    if frame is None:
        return x
    return standardised(x, *(float(each[column]) for each in (frame.centre, frame.centre_low, frame.unit)))


def _linear(densities: Densities, cells: Sequence[Expression]) -> list[Expression]:
    """w . (x - centre) + c of complete rows, where all classes have one covariance."""
    weights, constants = densities.linear
    high, low = densities.centre.tolist()
    away = [(x - h) - rest for x, h, rest in zip(cells, high, low, strict=True)]
    return [
        total([number(constant), *(x * w for x, w in zip(away, line, strict=True))])
        for line, constant in zip(weights.tolist(), constants[0].tolist(), strict=True)
    ]


def _log_density(densities: Densities, state: int, cells: Sequence[Expression], block: _Block) -> Expression:
    spread = densities.spreads[state]
    parameters = zip(
        densities.mean[state].tolist(), densities.mean_low[state].tolist(), spread.stddev.tolist(), strict=True
    )
    z = [standardised(x, *each) for x, each in zip(cells, parameters, strict=True)]
    distance = block.squared(z)
    if densities.df is None:
        return distance * -0.5 - block.log_root_determinant - block.n_there * HALF_LOG_TWO_PI
    df = float(densities.df[state])
    n_columns = np.arange(len(cells) + 1.0)
    log_norms = np.asarray(log_gamma_ratio(0.5 * df, 0.5 * n_columns))
    log_norms = log_norms - 0.5 * n_columns * (LOG_PI + np.log(df))
    log_norm = _by_count(block.n_there, log_norms.tolist())
    power = (block.n_there + df) * -0.5
    return log_one_plus(distance / df) * power + log_norm - block.log_root_determinant


def _by_count(n_there: Expression, entries: Sequence[float]) -> Expression:
    """The entry for the number of present cells."""
    pieces = number(entries[-1])
    for count, entry in enumerate(entries[:-1]):
        pieces = choose(Expression("equal", (n_there, number(float(count)))), number(entry), pieces)
    return pieces


class _Block:
    """The block of one covariance for the present cells of a row."""

    def __init__(self, spread: CovarianceFactor, gone: Sequence[Expression]) -> None:
        self.spread, self.gone = spread, gone
        self.n_there = total(choose(each, number(0.0), number(1.0)) for each in gone)
        log_scales = [choose(each, number(0.0), number(s)) for each, s in zip(gone, np.log(spread.stddev), strict=True)]
        self.lower = [] if spread.is_diagonal else _cholesky(spread.correlation_in_full.tolist(), gone)
        pivots = [log(line[-1]) for line in self.lower]
        self.some = either(*gone)
        whole = number(spread.log_root_determinant)
        self.log_root_determinant = choose(self.some, total([*log_scales, *pivots]), whole)

    def squared(self, z: Sequence[Expression]) -> Expression:
        """The squared distance, from standard scores."""
        there = [choose(gone, number(0.0), each) for gone, each in zip(self.gone, z, strict=True)]
        whitener = self.spread.whitener
        if not self.lower or whitener is None:
            return total(map(square, there))
        white = [total(x * w for x, w in zip(z, line, strict=False)) for line in whitener.tolist()]
        solved: list[Expression] = []  # forward substitution
        for x, line in zip(there, self.lower, strict=True):
            solved.append((x - total(a * b for a, b in zip(line, solved, strict=False))) / line[-1])
        return choose(self.some, total(map(square, solved)), total(map(square, white)))


def _cholesky(correlation: list[list[float]], gone: Sequence[Expression]) -> list[list[Expression]]:
    """The lower factor of the correlations, missing columns replaced by those of the identity."""
    lower: list[list[Expression]] = []
    for i, entries in enumerate(correlation):
        line: list[Expression] = []
        for j in range(i):
            there = choose(either(gone[i], gone[j]), number(0.0), number(entries[j]))
            line.append((there - total(line[k] * lower[j][k] for k in range(j))) / lower[j][j])
        line.append(root(number(entries[i]) - total(map(square, line))))
        lower.append(line)
    return lower
