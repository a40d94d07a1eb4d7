"""What a number says of a class: the log-density of each family, up to what all classes have alike.

Constants are taken from the family's own density at the centre of a class, so that there is one formula for them; what
is written out here is how the density falls from there, without differences of large numbers. Factors that are the same
for every class (1 / x! of counts, 1 / x of positive numbers) are in no posterior, and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayeswise.exports.expression import (
    IMPOSSIBLE,
    Expression,
    absolute,
    at_most,
    below,
    both,
    bounded,
    choose,
    equal,
    floor,
    log,
    log_one_plus,
    number,
    square,
    total,
)
from bayeswise.families import (
    BetaParameters,
    BetaPrior,
    Chance,
    ExponentialParameters,
    GammaParameters,
    GammaPrior,
    LaplaceParameters,
    LogNormalParameters,
    NormalParameters,
    StudentTParameters,
)
from bayeswise.foundation.errors import ExportError

Parameters = Any  # of one class and one column
_SMALLEST = float(np.finfo(np.float64).tiny)


def log_cells(family: Any, parameters: Sequence[Parameters], x: Expression) -> list[Expression]:
    """log p(x | class) for an x in the support, up to a function of x; the parameters are those of each class."""
    write = _DENSITIES.get(family.name)
    if family.name == "poisson":
        return _poisson([float(each.rate) for each in parameters], x)
    if write is None:
        raise _not_written(family)
    return [write(family, each, x) for each in parameters]


def log_predicted_cell(family: Any, posterior: Any, x: Expression) -> Expression:
    """log p(x | rows of a class), its parameters integrated out, up to a function of x."""
    write = _PREDICTIVES.get(family.name)
    if write is None:
        raise _not_written(family)
    return write(posterior, x)


def _not_written(family: Any) -> ExportError:
    return ExportError(
        f"the density of the family {family.name!r} cannot be exported",
        fix=f"choose one of {', '.join(sorted([*_DENSITIES, 'poisson']))}",
    )


def in_support(family: Any, x: Expression) -> Expression | None:
    """Whether the family allows the number; None if it allows all."""
    whole = equal(x, floor(x))
    if family.name == "binomial":
        return both(at_most(number(0.0), x), at_most(x, float(family.trials)), whole)
    if family.support == "count":
        return both(at_most(number(0.0), x), whole)
    if family.support == "binary":
        return both(at_most(number(0.0), x), at_most(x, 1.0), whole)
    if family.support == "unit interval":
        return both(below(number(0.0), x), below(x, 1.0))
    if family.name == "exponential":
        return at_most(number(0.0), x)
    return below(number(0.0), x) if family.support == "positive" else None


def log_of(x: Expression) -> Expression:
    """log x where x is above 0; a number in any case."""
    return log(choose(below(number(0.0), x), x, number(1.0)))


# -- one class --------------------------------------------------------------------------------------------------
def standardised(x: Expression, mean: float, mean_low: float, stddev: float) -> Expression:
    """(x - mean) / stddev, the mean as high + low."""
    return ((bounded(x, mean, stddev) - mean) - mean_low) / stddev


def log_bell(z: Expression) -> Expression:
    """-z^2 / 2."""
    return square(z) * -0.5


def _normal(family: Any, p: NormalParameters, x: Expression) -> Expression:
    mean, low, stddev = float(p.mean), float(p.mean_low), float(p.stddev)
    return log_bell(standardised(x, mean, low, stddev)) - float(np.log(stddev))


def _log_normal(family: Any, p: LogNormalParameters, x: Expression) -> Expression:
    mean, low, stddev = float(p.mean), float(p.mean_low), float(p.stddev)
    return log_bell(standardised(log_of(x), mean, low, stddev)) - float(np.log(stddev))


def _laplace(family: Any, p: LaplaceParameters, x: Expression) -> Expression:
    location, scale = float(p.location), float(p.scale)
    return absolute((bounded(x, location, scale) - location) / scale) * -1.0 - float(np.log(scale))


def _student_t(family: Any, p: StudentTParameters, x: Expression) -> Expression:
    location, low, scale = float(p.location), float(p.location_low), float(p.scale)
    peak = float(family.log_density(p, location))
    z = standardised(x, location, low, scale)
    df = float(p.df)
    if np.isinf(df):
        return log_bell(z) + peak
    return log_one_plus(square(z) / df) * (-0.5 * (df + 1.0)) + peak


def _gamma(family: Any, p: GammaParameters, x: Expression) -> Expression:
    """shape (log u - (u - 1)) with u = x / mean, less log x."""
    shape, mean = float(p.shape), float(np.asarray(p.mean))
    at_mean = float(family.log_density(p, mean)) + float(np.log(mean))
    u = choose(below(number(0.0), x), bounded(x, 0.0, mean), number(mean)) / mean
    return (log(u) - (u - 1.0)) * shape + at_mean


def _beta(family: Any, p: BetaParameters, x: Expression) -> Expression:
    """a log(x / m) + b log((1 - x) / (1 - m)) with m = a / (a + b), less log x + log(1 - x)."""
    a, b = float(p.alpha), float(p.beta)
    share, rest = a / (a + b), b / (a + b)
    at_mean = float(family.log_density(p, share)) + float(np.log(share) + np.log1p(-share))
    inside = choose(both(below(number(0.0), x), below(x, 1.0)), x, number(share))
    away = inside - share
    return log_one_plus(away / share) * a + log_one_plus(away / -rest) * b + at_mean


def _poisson(rates: Sequence[float], x: Expression) -> list[Expression]:
    """x log(rate / largest rate) - (rate - largest rate): for large counts no difference of large numbers."""
    most = max(rates)
    return [
        choose(at_most(x, 0.0), number(most - rate), number(IMPOSSIBLE))  # 0 log 0 is 0
        if rate <= 0.0
        else x * float(np.log1p((rate - most) / most)) + (most - rate)
        for rate in rates
    ]


def _exponential(family: Any, p: ExponentialParameters, x: Expression) -> Expression:
    rate = float(p.rate)
    if np.isinf(rate):
        raise ExportError("an exponential column is 0 in every row of a class", fix="fit it with smoothing above 0")
    if rate <= 0.0:
        return number(IMPOSSIBLE)
    return bounded(x, 0.0, 1.0 / max(rate, _SMALLEST)) * -rate + float(np.log(rate))


def _geometric(family: Any, p: Chance, x: Expression) -> Expression:
    return _failures(x, float(p.log_complement)) + number(float(p.log_probability))


def _failures(x: Expression, log_share: float) -> Expression:
    """x log(share), where 0 log 0 is 0."""
    return choose(at_most(x, 0.0), number(0.0), number(IMPOSSIBLE)) if np.isneginf(log_share) else x * log_share


def _binomial(family: Any, p: Chance, x: Expression) -> Expression:
    trials = float(family.trials)
    return _failures(x, float(p.log_probability)) + _failures(number(trials) - x, float(p.log_complement))


def _bernoulli(family: Any, p: Chance, x: Expression) -> Expression:
    return choose(equal(x, 1.0), number(float(p.log_probability)), number(float(p.log_complement)))


_DENSITIES: dict[str, Callable[[Any, Any, Expression], Expression]] = {
    "normal": _normal,
    "log-normal": _log_normal,
    "laplace": _laplace,
    "student-t": _student_t,
    "gamma": _gamma,
    "beta": _beta,
    "exponential": _exponential,
    "geometric": _geometric,
    "binomial": _binomial,
    "bernoulli": _bernoulli,
}


# -- parameters integrated out ------------------------------------------------------------------------------------
def _poisson_predictive(prior: GammaPrior, x: Expression) -> Expression:
    """Negative binomial: Gamma(shape + x) / Gamma(shape) (rate / (rate + 1))^shape / (rate + 1)^x."""
    shape, rate = float(prior.shape), float(prior.rate)
    return log_rising(shape, x) - x * float(np.log1p(rate)) - shape * float(np.log1p(1.0 / rate))


def _exponential_predictive(prior: GammaPrior, x: Expression) -> Expression:
    """Lomax: log(shape / rate) - (shape + 1) log(1 + x / rate)."""
    shape, rate = float(prior.shape), float(prior.rate)
    ratio = choose(at_most(number(0.0), x), x, number(0.0)) / rate
    return log_one_plus(ratio) * -(shape + 1.0) + float(np.log(shape) - np.log(rate))


def _geometric_predictive(prior: BetaPrior, x: Expression) -> Expression:
    """B(a + 1, b + x) / B(a, b) = a / (a + b)  Gamma(b + x) / Gamma(b)  Gamma(a + b + 1) / Gamma(a + b + 1 + x)."""
    a, b = float(prior.successes), float(prior.failures)
    return log_rising(b, x) - log_rising(a + b + 1.0, x) + float(np.log(a) - np.log(a + b))


_PREDICTIVES: dict[str, Callable[[Any, Expression], Expression]] = {
    "poisson": _poisson_predictive,
    "exponential": _exponential_predictive,
    "geometric": _geometric_predictive,
}
_STIRLING_FROM = 10
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def log_rising(a: float, x: Expression) -> Expression:
    """log Gamma(a + x) - log Gamma(a) for x >= 0, by Stirling's series from 10 on and the recurrence below."""
    known = choose(at_most(number(0.0), x), x, number(0.0))
    steps = max(0, int(np.ceil(_STIRLING_FROM - a)))
    lower = [(known + (a + k)) / (a + k) for k in range(steps)]
    start = a + steps
    end = known + start
    main = log_one_plus(known / start) * (start - 0.5) + known * (log(end) - 1.0)
    series = _correction(number(1.0) / end) - _correction(number(1.0 / start))
    return main + series - total(log(each) for each in lower)


def _correction(inverse: Expression) -> Expression:
    """1 / 12z - 1 / 360z^3 + ..."""
    power = square(inverse)
    found = number(0.0)
    for coefficient in reversed(_STIRLING):
        found = found * power + coefficient
    return found * inverse
