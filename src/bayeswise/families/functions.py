"""What every family has as functions: the log-likelihood and its derivatives, and a(eta) with its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError

if TYPE_CHECKING:
    from bayeswise.families.belief_history import BeliefHistory
    from bayeswise.families.protocol import ExponentialForm

Terms: TypeAlias = tuple[list[Any], list[list[Any]]]
"""Of each value: the gradient of log p, and the upper triangle of its second derivatives."""
Derivatives: TypeAlias = tuple[tuple[str, ...], FloatArray, FloatArray]
"""Names of the free parameters, gradient (n_parameters,), second derivatives (n_parameters, n_parameters)."""


class FamilyFunctions:
    """Functions of parameters, data and natural parameters, which all families have alike.

    A family of one number names its parameters (`free`), how they are made of numbers (`made`), and the
    derivatives of the log density by them (`terms`); another one has `derivatives` of its own.
    """

    name: ClassVar[str]
    support: ClassVar[str]
    streams: ClassVar[bool] = True  # False: no statistic of fixed size, keeps every different value
    free: ClassVar[tuple[str, ...]] = ()
    made: Callable[..., Any]
    terms: Callable[..., Terms]
    log_density: Callable[..., FloatArray]

    def log_likelihood(self, parameters: Any, data: Any) -> float:
        """log p(data | parameters) = sum of log p(x | parameters) of independent values; missing ones are left out."""
        values = np.asarray(data) if self.support in ("vector", "category") else seen(data)[:, None, None]
        return float(np.nansum(self.log_density(parameters, values)))

    def gradient(self, parameters: Any, data: Any) -> dict[str, float]:
        """The first derivative of the log-likelihood by each free parameter; 0 at a maximum inside."""
        names, found, _ = self.derivatives(parameters, data)
        return dict(zip(names, found.tolist(), strict=True))

    def second_derivative(self, parameters: Any, data: Any) -> FloatArray:
        """(n_parameters, n_parameters) the curvature of the log-likelihood, in the order of `gradient`."""
        return self.derivatives(parameters, data)[2]

    def derivatives(self, parameters: Any, data: Any) -> Derivatives:
        """Names of the parameters, gradient and curvature of the log-likelihood, in closed form.

        A maximum has gradient 0 and negative curvature in every direction.
        """
        values = seen(data)
        gradient, upper = self.terms(values, *(_one_number(parameters, name) for name in self.free))
        matrix = np.zeros((len(self.free), len(self.free)))
        for i, row in enumerate(upper):
            for j, each in enumerate(row, start=i):
                matrix[i, j] = matrix[j, i] = np.sum(np.broadcast_to(each, values.shape))
        return self.free, np.array([np.sum(np.broadcast_to(each, values.shape)) for each in gradient]), matrix

    def beliefs(self, prior: Any, data: Any) -> BeliefHistory:
        """A conjugate prior updated datum by datum; `plot` and `animate` draw it."""
        from bayeswise.families.belief_history import BeliefHistory

        return BeliefHistory.of(self, prior, list(data))

    def natural_form(self, **known: float) -> NaturalForm:
        """T(x), a(eta), its derivatives and the mean map as functions of eta; a Laplace family takes its location."""
        return NaturalForm(self, known)

    def refuse_unless_as_many(self, n: int, natural: tuple[FloatArray, ...]) -> tuple[FloatArray, ...]:
        """The natural parameters; an error where they are not as many as the family has."""
        if len(natural) != n:
            raise ParameterError(f"a {self.name} family has {n} natural parameters; found {len(natural)}")
        return natural


def seen(data: Any) -> FloatArray:
    """(n,) the numbers of a sample, without missing ones."""
    values = np.asarray(data, dtype=np.float64).ravel()
    return np.asarray(values[~np.isnan(values)])


def _one_number(parameters: Any, name: str) -> float:
    """One parameter of a single group and column."""
    value = np.asarray(getattr(parameters, name), dtype=np.float64)
    if value.size != 1:
        raise ParameterError(f"{name} has {value.size} numbers", fix="give the parameters of one distribution")
    return float(value.reshape(()))


@dataclass(frozen=True)
class NaturalForm:
    """An exponential family as functions of its natural parameters: p(x) = h(x) exp(eta . T(x) - a(eta)).

    a' is the mean map eta -> E[T(x)], a'' the covariance of T(x); mean and variance of T, which is not always x.

    >>> from bayeswise.families import Bernoulli, NormalMean
    >>> coin = Bernoulli().natural_form()
    >>> [round(float(a), 6) for a in (coin.log_partition(0.0), coin.mean_map(0.0)[0], coin.covariance_map(0.0)[0][0])]
    [0.693147, 0.5, 0.25]
    >>> unit = NormalMean(stddev=1.0).natural_form()  # eta = mean, a = eta^2 / 2
    >>> float(unit.log_partition(3.0)), float(unit.mean_map(3.0)[0])
    (4.5, 3.0)
    """

    family: Any
    known: dict[str, float]

    def parameters(self, *eta: ArrayLike) -> Any:
        """The ordinary parameters of natural ones; those outside of the family's domain are refused."""
        known = self.known if self.family.name == "laplace" else {}
        return self.family.of_natural(*(np.asarray(each, dtype=np.float64) for each in eta), **known)

    def natural(self, parameters: Any) -> tuple[FloatArray, ...]:
        """The natural parameters of ordinary ones."""
        return self._at(parameters).natural

    def sufficient(self, x: ArrayLike, *eta: ArrayLike) -> tuple[FloatArray, ...]:
        """T(x); a family whose T depends on a known parameter has it from there."""
        return self._at(self.parameters(*eta)).sufficient(np.asarray(x, dtype=np.float64))

    def log_partition(self, *eta: ArrayLike) -> FloatArray:
        """a(eta), which makes the density sum to 1."""
        return np.asarray(self._at(self.parameters(*eta)).log_partition)

    def mean_map(self, *eta: ArrayLike) -> tuple[FloatArray, ...]:
        """a'(eta) = E[T(x)], one derivative for each natural parameter."""
        return tuple(np.asarray(each) for each in self._at(self.parameters(*eta)).mean_of_sufficient)

    def covariance_map(self, *eta: ArrayLike) -> tuple[tuple[FloatArray, ...], ...]:
        """a''(eta) = Cov[T(x)]."""
        rows = self._at(self.parameters(*eta)).covariance_of_sufficient
        return tuple(tuple(np.asarray(each) for each in row) for row in rows)

    def log_density(self, x: ArrayLike, *eta: ArrayLike) -> FloatArray:
        """log h(x) + eta . T(x) - a(eta)."""
        return self._at(self.parameters(*eta)).log_density(np.asarray(x, dtype=np.float64))

    def _at(self, parameters: Any) -> ExponentialForm:
        form: ExponentialForm = self.family.exponential_form(parameters)
        return form

    def __repr__(self) -> str:
        return f"NaturalForm({self.family!r})"
