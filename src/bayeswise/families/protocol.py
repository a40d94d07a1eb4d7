"""The contract of a family, and what an estimate and an exponential form are.

Arrays of parameters have the shape (n_groups, n_columns) of the statistic they come from; a single sample is one group
of one column. `log_density` and similar methods are elementwise and broadcast parameters against values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.families.functions import FamilyFunctions
from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import DataError, ParameterError, SupportError
from bayeswise.render.expression import Expression, at_most, below, both, equal, floor, number
from bayeswise.statistics.numbers.moments import Moments

P = TypeVar("P")

Support = Literal["real", "positive", "unit interval", "count", "binary", "category", "vector"]


@dataclass(frozen=True)
class Estimate(Generic[P]):
    """A maximum-likelihood estimate and whether there is one.

    Where `exists` is False the parameters are the limit that the likelihood climbs towards (or, with no rows, a
    placeholder), and `reason` is why. `limit` distinguishes the two: it is True where there are rows.
    """

    parameters: P
    exists: BoolArray  # (n_groups, n_columns)
    reason: str = ""
    iterations: int = 0
    converged: bool = True
    limit: BoolArray | bool = False  # (n_groups, n_columns)


@dataclass(frozen=True)
class ExponentialForm:
    """p(x) = h(x) exp(eta . T(x) - a(eta)); the derivatives of a are mean and covariance of T(x), not of x.

    `natural` is the tuple of natural parameters; all functions are elementwise over arrays of equal shape.
    """

    log_base_measure: Callable[[FloatArray], FloatArray]
    sufficient: Callable[[FloatArray], tuple[FloatArray, ...]]
    natural: tuple[FloatArray, ...]
    log_partition: FloatArray
    mean_of_sufficient: tuple[FloatArray, ...]  # first derivatives of the log-partition
    covariance_of_sufficient: tuple[tuple[FloatArray, ...], ...]  # second derivatives

    def log_density(self, x: FloatArray) -> FloatArray:
        """log h(x) + eta . T(x) - a(eta)."""
        products = sum(eta * t for eta, t in zip(self.natural, self.sufficient(x), strict=True))
        return np.asarray(self.log_base_measure(x) + products - self.log_partition)


class Family(Protocol):
    """What every family answers. Families without a conjugate prior raise `ParameterError` where one is needed."""

    name: ClassVar[str]
    support: ClassVar[Support]
    streams: ClassVar[bool]  # False: no statistic of fixed size, keeps every different value

    def statistic(
        self, values: Any, groups: CodeArray | None = None, n_groups: int = 1, weights: FloatArray | None = None
    ) -> Any:
        """What the family keeps of rows, (n_rows, n_columns)."""

    def estimate(self, statistic: Any) -> Estimate[Any]:
        """The parameters of maximum likelihood."""

    def parameters(self, statistic: Any, prior: Any = None) -> Any:
        """The plug-in parameters: maximum likelihood, or the posterior mean under a conjugate prior."""

    def log_density(self, parameters: Any, x: Any) -> FloatArray:
        """log p(x | parameters), elementwise; minus infinity outside the support, NaN stays NaN."""

    def posterior(self, statistic: Any, prior: Any) -> Any:
        """The conjugate posterior, of the same type as the prior."""

    def log_marginal(self, statistic: Any, prior: Any) -> FloatArray:
        """log p(all rows), the parameters integrated out, (n_groups, n_columns)."""

    def log_predictive(self, posterior: Any, x: Any) -> FloatArray:
        """log p(x | rows), the parameters integrated out, elementwise."""

    def sample(self, parameters: Any, size: int, generator: np.random.Generator) -> Any:
        """(size, n_groups, n_columns) draws."""

    def exponential_form(self, parameters: Any) -> ExponentialForm:
        """The exponential form at these parameters, where the family has one."""

    def n_free_parameters(self) -> int:
        """Free parameters of one group and column."""

    def log_likelihood(self, parameters: Any, data: Any) -> float:
        """log p(data | parameters) of one distribution; `gradient` and `second_derivative` are its derivatives."""

    def gradient(self, parameters: Any, data: Any) -> dict[str, float]:
        """The first derivative of the log-likelihood by each free parameter."""

    def second_derivative(self, parameters: Any, data: Any) -> FloatArray:
        """(n_parameters, n_parameters) its second derivative."""


_SHOWN = 6


class OneLine:
    """A frozen dataclass of parameters or of a prior that shows itself in one line: the fields with repr=True."""

    def __repr__(self) -> str:
        shown = [each.name for each in fields(self) if each.repr]  # type: ignore[arg-type]
        return one_line(type(self).__name__.removesuffix("Parameters"), {name: getattr(self, name) for name in shown})

    def _as_arrays(self, *names: str) -> None:
        """Make arrays of doubles of these fields; the first line of a `__post_init__`."""
        for name in names:
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))


def one_line(name: str, parts: Mapping[str, ArrayLike]) -> str:
    """The name and its parts: a number where there is one, else the first few.

    >>> one_line("Dirichlet", {"red": 6.0, "blue": [[2.0]]}), one_line("Poisson", {"rate": np.arange(9.0)})
    ('Dirichlet(red=6, blue=2)', 'Poisson(rate=[0, 1, 2, 3, 4, 5, ...])')
    """
    listed = list(parts.items())
    words = [f"{part}={_numbers(value)}" for part, value in listed[:_SHOWN]]
    more = [f"{len(listed) - _SHOWN} more"] if len(listed) > _SHOWN else []
    return f"{name}({', '.join(words + more)})"


def _numbers(value: ArrayLike) -> str:
    flat = np.asarray(value, dtype=np.float64).ravel()
    if flat.size == 1:
        return f"{flat[0]:g}"
    shown = [f"{number:g}" for number in flat[:_SHOWN]]
    return f"[{', '.join(shown + ['...'] * (flat.size > _SHOWN))}]"


S = TypeVar("S")

Rows: TypeAlias = tuple[CodeArray | None, int, FloatArray | None]
"""The group of each row, the number of groups, and the weight of each row: as every statistic takes them."""


@dataclass(frozen=True)
class Extent:
    """What a column's values allow: its smallest number, whether all are whole, and its largest."""

    minimum: float
    whole: bool
    maximum: float = np.inf

    @property
    def is_flag(self) -> bool:
        """0 and 1 only: a density at two points is not comparable with their probabilities."""
        return self.whole and self.minimum == 0 and self.maximum == 1

    @property
    def is_count(self) -> bool:
        return self.whole and self.minimum >= 0 and not self.is_flag


class OnNumbers(FamilyFunctions, ABC, Generic[S]):
    """A family of numbers: which of them lie in its support, and what is kept of those.

    Its other uses follow from the methods that it has:

    law(stats, ...)                         its distribution of scipy.stats: `distribution`, quantiles, `densities`
    is_candidate(extent)                    it may be chosen by the evidence of such values
    pseudo_rows(whole, n)                   a conjugate prior of n rows like the whole column: smoothing, averages
    linear_term(parameters)                 log p(x) is weight * x + constant, up to a function of x
    log_density_expression(parameters, x)   log p(x) as a tree, up to a function of x: SQL and ONNX
    log_predictive_expression(posterior, x) the same, parameters integrated out
    """

    law: Callable[..., Any]
    is_candidate: Callable[..., bool]
    pseudo_rows: Callable[..., Any]
    linear_term: Callable[..., tuple[FloatArray, FloatArray]]
    log_marginal: Callable[..., FloatArray]
    log_density_expression: Callable[..., Expression]
    log_predictive_expression: Callable[..., Expression]
    needs = ""  # the error message for a value outside the support; empty where every number lies inside

    def is_inside(self, values: FloatArray) -> BoolArray:
        """Whether each value lies in the support."""
        return np.ones(np.shape(values), dtype=np.bool_)

    @abstractmethod
    def kept(self, numbers: FloatArray, rows: Rows) -> S:
        """The statistic of numbers in the support, (n_rows, n_columns), NaN where there is none."""

    def statistic(
        self,
        values: ArrayLike,
        groups: CodeArray | None = None,
        n_groups: int = 1,
        weights: FloatArray | None = None,
    ) -> S:
        """What is kept of rows; `SupportError` for a value outside the support, unless its row is left out anyway."""
        numbers = as_columns(values)
        if self.needs:
            outside = ~(np.isnan(numbers) | self.is_inside(numbers))
            refuse_outside(numbers, outside, self.needs, groups, weights)
            numbers = np.where(outside, np.nan, numbers) if outside.any() else numbers
        return self.kept(numbers, (groups, n_groups, weights))

    def n_free_parameters(self) -> int:
        """Free parameters of one group and column."""
        return len(self.free)

    def on_support(self, x: ArrayLike, log_p: FloatArray) -> FloatArray:
        """log_p where a value lies in the support, minus infinity elsewhere; NaN stays NaN."""
        values = np.asarray(x, dtype=np.float64)
        return np.where(np.isnan(values), np.nan, np.where(self.is_inside(values), log_p, -np.inf))

    def log_evidence(self, statistic: Any) -> FloatArray:
        """(n_columns,) log p(cells | classes): the classes are independent given the prior of one pseudo-row."""
        spread = statistic.pooled().take(np.zeros(statistic.weight_of_rows.shape[0], dtype=np.int64))
        log_marginal: FloatArray = self.log_marginal(statistic, self.pseudo_rows(spread, 1.0))
        return np.asarray(log_marginal.sum(axis=0))

    def of_moments(self, values: Moments, logs: Moments, log_factorials: Moments) -> Any:
        """The statistic, from sums that one sweep has of all columns; those of the values are enough for most."""
        return values

    def support_expression(self, x: Expression) -> Expression | None:
        """Whether a number lies in the support; None if every number does."""
        whole = equal(x, floor(x))
        if self.support == "count":
            return both(at_most(number(0.0), x), whole)
        if self.support == "binary":
            return both(at_most(number(0.0), x), at_most(x, 1.0), whole)
        if self.support == "unit interval":
            return both(below(number(0.0), x), below(x, 1.0))
        return below(number(0.0), x) if self.support == "positive" else None

    def log_density_expressions(self, classes: Sequence[Any], x: Expression) -> list[Expression]:
        """log p(x | class) for the parameters of each class, up to what all classes have alike."""
        return [self.log_density_expression(parameters, x) for parameters in classes]


def as_columns(values: ArrayLike) -> FloatArray:
    """(n_rows, n_columns) floats; a flat list is one column, integers and truth values are numbers.

    >>> as_columns([True, False]).tolist()
    [[1.0], [0.0]]
    """
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"a column of numbers is needed; {error}", fix="encode text as numbers first") from None
    if numbers.ndim not in (1, 2):
        raise DataError(f"rows and columns are needed; found an array of {numbers.ndim} axes")
    return numbers if numbers.ndim == 2 else numbers[:, None]


def refuse_outside(
    values: FloatArray,
    outside: BoolArray,
    needs: str,
    groups: CodeArray | None = None,
    weights: FloatArray | None = None,
) -> None:
    """An error for the first value outside the support; rows left out (group -1, weight 0) may hold anything.

    >>> refuse_outside(np.array([[0.0], [-3.0]]), np.array([[False], [True]]), "a Poisson count is 0, 1, 2, ...")
    Traceback (most recent call last):
    bayeswise.foundation.errors.SupportError: a Poisson count is 0, 1, 2, ...; row 2 of column 'x0' has -3. Fix:
    correct the cell, or choose another family for it.
    """
    counted = np.ones(len(values), dtype=np.bool_)
    if groups is not None:
        counted &= groups >= 0
    if weights is not None:
        counted &= weights != 0
    places = np.argwhere(outside & counted[:, None])
    if len(places):
        row, column = (int(k) for k in places[0])
        raise SupportError(needs, row=row, column=column, value=float(values[row, column]))


def refuse_unless(condition: Any, what: str, value: Any) -> None:
    """An error for parameters that are not what they must be.

    >>> refuse_unless(False, "a rate must be above 0", -1.0)
    Traceback (most recent call last):
    bayeswise.foundation.errors.ParameterError: a rate must be above 0; found -1.0
    """
    if not np.all(condition):
        flags, numbers = np.broadcast_arrays(np.asarray(condition), np.asarray(value))
        raise ParameterError(f"{what}; found {numbers[~flags].flat[0]}")


def reasons(*cases: tuple[BoolArray, str]) -> str:
    """The sentences of those cases that occur.

    >>> reasons((np.array([True]), "no rows"), (np.array([False]), "one row"))
    'no rows'
    """
    return "; ".join(sentence for occurs, sentence in cases if np.any(occurs))


def is_positive(value: Any) -> BoolArray:
    """Finite and above zero."""
    numbers = np.asarray(value, dtype=np.float64)
    return np.asarray(np.isfinite(numbers) & (numbers > 0))


def is_whole(values: FloatArray) -> BoolArray:
    """0, 1, 2, ..."""
    with np.errstate(invalid="ignore"):
        return np.asarray((values >= 0) & (np.floor(values) == values) & np.isfinite(values))


def or_else(values: FloatArray, otherwise: FloatArray | float) -> FloatArray:
    """The values, with another one in place of what is not finite and above zero."""
    return np.where(is_positive(values), values, otherwise)


def or_one(values: FloatArray) -> FloatArray:
    """The values, with one in place of what is not finite and above zero."""
    return or_else(values, 1.0)
