"""What the empty columns of a row could still say: the tests that could be made, and those that cannot be computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.decide import costs_and_prior
from bayeswise.decisions.information import Densities, NextTest, Outcomes, next_test
from bayeswise.families.continuous.normal import Normal
from bayeswise.families.distributions import distribution, has_quantiles, parameters_at
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, ParameterError
from bayeswise.models.base.table_model import classes_of
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel
from bayeswise.models.naive_bayes import NaiveBayesModel
from bayeswise.models.naive_bayes.counted_columns import CountedScores
from bayeswise.models.naive_bayes.normal_columns import NormalScores
from bayeswise.models.naive_bayes.others import FamilyScores
from bayeswise.posteriors.normalise import probability_of
from bayeswise.posteriors.prior import shifted
from bayeswise.tables.batch import MISSING, Batch
from bayeswise.tables.schema.names import find_name

_TAIL = 1e-13  # of the mass of a count in any state: what is beyond is one outcome
_MOST_COUNTS = 20_000  # outcomes of one column


def family_outcomes(family: Any, parameters: Any, column: int, n_states: int) -> Outcomes | Densities | str:
    """The column of a family's parameters (n_states, n_columns), or the reason why it has no distribution to plan with.

    Densities are those of scipy.stats, so that regions end where an action changes and hold what the distribution
    function says, without a grid. Counts are listed up to a tail of 1e-13, which is one outcome more.
    """
    if not has_quantiles(family):
        return f"the family {family.name!r} has no quantiles"
    try:
        each = [distribution(family.name, **parameters_at(family, parameters, k, column)) for k in range(n_states)]
    except ParameterError:
        return "a class has one certain value, which is not a density"
    if not hasattr(each[0], "logpmf"):
        return Densities(tuple(each))
    return _counts(each)


def _counts(each: list[Any]) -> Outcomes | str:
    most = max(float(one.ppf(1.0 - _TAIL)) for one in each)
    if not most <= _MOST_COUNTS:
        return f"its counts go beyond {_MOST_COUNTS:,}"
    values = np.arange(int(most) + 1)
    likelihood: FloatArray = np.stack([one.pmf(values) for one in each], axis=1)  # (n_values, n_states)
    rest = np.array([float(one.sf(most)) for one in each])
    names: tuple[Any, ...] = (*values.tolist(), f"above {int(most)}")
    table = np.vstack([likelihood, rest])
    return Outcomes(names, table / table.sum(axis=0))


def gaussian_outcomes(
    model: GaussianBayesModel, row: FloatArray, names: Sequence[str]
) -> tuple[Mapping[str, Densities], bool]:
    """The distribution of each empty column in each state, and whether they are independent there.

    With o the columns that are there, S_jo the covariances and z = S_oo^-1 (x_o - mean_o),

        mean = mean_j + S_jo z        variance = S_jj - S_jo S_oo^-1 S_oj

    and for Student-t with f degrees of freedom the variance times (f + z . (x_o - mean_o)) / (f + |o|), with f + |o|.
    """
    densities = model.densities.in_own_units()
    there = np.flatnonzero(~np.isnan(row))
    states = range(len(model.classes))
    found = {}
    for name in names:
        column = model.columns.index(name)
        found[name] = Densities(tuple(_given(densities, state, row, there, column) for state in states))
    diagonal = all(spread.is_diagonal for spread in densities.spreads) and densities.df is None
    return found, diagonal


def _given(densities: Any, state: int, row: FloatArray, there: IntArray, column: int) -> Any:
    from scipy.stats import norm, t

    spread = densities.spreads[state]
    correlation = spread.block(np.append(there, column)).correlation_in_full
    mean = densities.mean[state] + densities.mean_low[state]
    scores = (row[there] - mean[there]) / spread.stddev[there]
    inner, across = correlation[:-1, :-1], correlation[-1, :-1]
    solved = np.linalg.solve(inner, np.stack([scores, across], axis=1)) if len(there) else np.zeros((0, 2))
    middle = float(mean[column] + spread.stddev[column] * (across @ solved[:, 0]))
    left = max(float(1.0 - across @ solved[:, 1]), np.finfo(np.float64).tiny)
    width = float(spread.stddev[column]) * left**0.5
    if densities.df is None:
        return norm(middle, width)
    df = float(densities.df[state])
    wider = (df + float(scores @ solved[:, 0])) / (df + len(there))
    return t(df + len(there), middle, width * wider**0.5)


_POINTS = 4001  # of the quadrature over a column whose distribution has no quantiles
_DRAWS = 2000
_MASS = 1e-6  # by which a quadrature may miss 1


@dataclass(frozen=True)
class EmptyColumns:
    """The columns without a value: how likely what is in each state, or why that cannot be said."""

    outcomes: dict[str, Outcomes | Densities] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    independent: bool = True  # given the state, so that several tests can be planned


def empty_columns(model: Any, batch: Batch) -> EmptyColumns:
    """The empty columns of the one row of a batch.

    Naive Bayes: levels and counts are listed, numbers have the distribution of their family. Gaussian Bayes: each
    empty column given those that are there, normal or Student-t. Texts have no list of outcomes.
    """
    names = _empty(model, batch)
    if isinstance(model, GaussianBayesModel):
        found, independent = gaussian_outcomes(model, batch.values[0], names)
        return EmptyColumns(dict(found), {}, independent)
    if not isinstance(model, NaiveBayesModel):
        raise FitError(
            f"{type(model).__name__} is not a model of the columns, and cannot predict the value of an empty one",
            fix="use a naive or Gaussian Bayes model of the same rows",
        )
    answered = {name: _of_column(model, name) for name in names}
    return EmptyColumns(
        {name: each for name, each in answered.items() if not isinstance(each, str)},
        {name: each for name, each in answered.items() if isinstance(each, str)},
    )


def next_test_for(
    model: Any,
    row: Any,
    costs: Any,
    prices: Mapping[str, float] | float = 0.0,
    *,
    prior: Any = None,
    depth: int = 1,
) -> NextTest:
    """Which empty column of one row to look up next, and whether to stop; `prior` (n_states,) replaces the model's.

    >>> import bayeswise as bw
    >>> rows = [{"wind": w, "rain": r, "play": p} for w, r, p in zip("aaabbbbb", "uvuvuvuv", "yynnnnyn")]
    >>> costs = {"go": {"y": 0, "n": 2}, "stay": {"y": 3, "n": 0}}
    >>> print(next_test_for(bw.fit(rows, target="play", model="naive-bayes"), {"rain": "u"}, costs, {"wind": 0.01}))
    wind: worth 0.2286 at a price of 0.01
    """
    given, moved = costs_and_prior(costs, classes_of(model))
    if isinstance(row, list) and len(row) == 1 and isinstance(row[0], Mapping):
        row = row[0]
    _refuse_unknown_names(model, row, prices, given)
    table = [dict.fromkeys(model.schema.used) | dict(row)] if isinstance(row, Mapping) else row
    batch = next(iter(model.batches(table)), None)
    if batch is None or batch.n_rows != 1:
        raise ParameterError("a test is chosen for one row", fix="give one row, its empty columns left out")
    empty = empty_columns(model, batch)
    if depth > 1 and not empty.independent:
        raise ParameterError(
            "columns that go together even where the state is known are planned one at a time", fix="choose depth 1"
        )
    posterior = np.asarray(model.predict_proba(batch))
    after = moved if prior is None else np.asarray(prior)
    if after is not None:
        posterior = shifted(posterior, np.exp(model.log_prior), after, model.classes)
    if not given.constant:
        numbers = zip(model.schema.numbers, batch.values[0].tolist(), strict=True)
        given = given.for_row(dict(row) if isinstance(row, Mapping) else dict(numbers))
    shares = dict(zip(model.classes, posterior[0].tolist(), strict=True))
    answer = next_test(shares, given, empty.outcomes, prices, depth=depth)
    return replace(answer, posterior=shares, left_out=empty.left_out)


def _refuse_unknown_names(model: Any, row: Any, prices: Any, costs: Costs) -> None:
    """A name that was mistyped would make a column empty, or its test free."""
    known = [*model.schema.names, *costs.columns]
    for name in [*(row if isinstance(row, Mapping) else ()), *(prices if isinstance(prices, Mapping) else ())]:
        find_name(name, known, where="the model")


def _empty(model: Any, batch: Batch) -> list[str]:
    schema = model.schema
    numbers = [name for name, x in zip(schema.numbers, batch.values[0], strict=True) if np.isnan(x)]
    categories = [name for name, code in zip(schema.categories, batch.codes[0], strict=True) if code == MISSING]
    texts = [name for name, block in zip(schema.texts, batch.texts, strict=True) if not block.counts[[0]].sum()]
    missing = {*numbers, *categories, *texts}
    return [name for name in schema.used if name in missing]


def _of_column(model: NaiveBayesModel, column: str) -> Outcomes | Densities | str:
    for factor, scores in zip(model.speaking, model.scores, strict=True):
        if column in factor.columns:
            if column in model.schema.texts:
                return "a text has no list of outcomes"
            if column in model.schema.categories:
                values = scores.alternatives(column)
                log_likelihood = np.stack([each.log_likelihood for each in values])  # (n_values, n_states)
                return Outcomes.of_levels([each.value for each in values], log_likelihood)
            return _of_numbers(model, factor, scores, column)
    return "the model does not look at it"


def _of_numbers(model: NaiveBayesModel, factor: Any, scores: Any, column: str) -> Outcomes | Densities | str:
    n_states, at = len(model.classes), factor.columns.index(column)
    nothing = Outcomes(("anything",), np.ones((1, n_states)))
    if isinstance(scores, NormalScores):
        if not scores.varies[at]:
            return nothing
        return family_outcomes(Normal(), scores.parameters, at, n_states)
    if isinstance(scores, FamilyScores):
        parameters, known = scores.parameters
        if not np.broadcast_to(known, (n_states, len(factor.columns)))[:, at].all():
            return nothing if not np.any(known[:, at]) else "a class has no value there at all"
        return family_outcomes(scores.family, parameters, at, n_states)
    if isinstance(scores, CountedScores):
        if scores.inner.model != "bernoulli":
            return "counts of words are scored together, and none by itself"
        log_odds = scores.inner.log_weight[0][scores.inner.statistic.levels.code(column)]
        chance = probability_of(log_odds)
        return Outcomes((0, 1), np.stack([1.0 - chance, chance]))
    return _by_quadrature(model, scores, column)


def _by_quadrature(model: NaiveBayesModel, scores: Any, column: str) -> Outcomes | str:
    """A density without quantiles on a fine grid, if its mass there is 1 in every state."""
    drawn = np.asarray(model.sample(_DRAWS)[column], dtype=np.float64)
    reach = 2.0 * (drawn.max() - drawn.min()) or 1.0
    grid = np.linspace(drawn.min() - reach, drawn.max() + reach, _POINTS)
    blank = next(iter(model.batches([dict.fromkeys(model.schema.used)])))
    values = np.repeat(blank.values, _POINTS, axis=0)
    values[:, model.schema.numbers.index(column)] = grid
    batch = replace(
        blank.rows(slice(0, 1)), n_rows=_POINTS, values=values, codes=np.repeat(blank.codes, _POINTS, axis=0)
    )
    log_density = scores.by_column(batch)[:, scores.columns.index(column)]  # (n_points, n_states)
    mass = np.exp(log_density) * (grid[1] - grid[0])
    if not np.abs(mass.sum(axis=0) - 1.0).max() <= _MASS:
        return "its distribution is an average that has no quantiles"
    return Outcomes(tuple(grid.tolist()), mass / mass.sum(axis=0))
