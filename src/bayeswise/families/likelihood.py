"""The log-likelihood of a sample as a function of parameters: its maximum, its gradient there, its curvature."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.families.functions import seen
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier
from bayeswise.foundation.errors import FitError, ParameterError, SupportError
from bayeswise.render.plain import Tabular

if TYPE_CHECKING:
    from bayeswise.families.plots import LikelihoodDisplay


@dataclass(frozen=True, eq=False)
class Likelihood(Tabular):
    """log p(data | parameters) of a family of one number; parameters are given by name.

    >>> from bayeswise.families import Bernoulli
    >>> coin = Likelihood(Bernoulli(), [1, 1, 0, 1, 0, 1, 1, 0, 1, 1])
    >>> coin.maximum
    {'probability': 0.7}
    >>> round(coin.at(probability=0.7), 4), round(coin.gradient(probability=0.5)["probability"], 6)
    (-6.1086, 8.0)
    >>> coin.check()
    Stationary(probability=0.7: gradient 0, curvature -47.619, a maximum)
    """

    family: Any
    data: Any

    def __post_init__(self) -> None:
        if not getattr(self.family, "free", ()):
            raise ParameterError(f"{self.family!r} is not a family of one number", fix="give Normal(), Poisson(), ...")
        given = np.asarray(self.data, dtype=np.float64).ravel()
        values = seen(given)
        if not len(values):
            raise FitError("there is no value", fix="give at least one number")
        object.__setattr__(self, "data", values)
        try:
            self.family.statistic(values)
        except SupportError as error:
            raise error.in_sample(int(np.flatnonzero(~np.isnan(given))[error.row])) from None

    @property
    def names(self) -> tuple[str, ...]:
        """The free parameters."""
        free: tuple[str, ...] = self.family.free
        return free

    @earlier(freedom="df")
    def at(self, **parameters: float) -> float:
        """log p(data | parameters)."""
        return float(self.family.log_likelihood(self._made(parameters), self.data))

    @earlier(freedom="df")
    def gradient(self, **parameters: float) -> dict[str, float]:
        """The first derivatives, by name."""
        found: dict[str, float] = self.family.gradient(self._made(parameters), self.data)
        return found

    @earlier(freedom="df")
    def second_derivative(self, **parameters: float) -> FloatArray:
        """(n_parameters, n_parameters) in the order of `names`."""
        found: FloatArray = self.family.second_derivative(self._made(parameters), self.data)
        return found

    @cached_property
    def maximum(self) -> dict[str, float]:
        """The parameters of maximum likelihood; FitError where there is no maximum."""
        estimate = self.family.estimate(self.family.statistic(self.data))
        if not np.all(estimate.exists):
            raise FitError(f"the likelihood has no maximum: {estimate.reason}", fix="give more different values")
        return {name: float(np.reshape(getattr(estimate.parameters, name), ())) for name in self.names}

    @earlier(freedom="df")
    def check(self, **parameters: float) -> Stationary:
        """Gradient and curvature at the maximum, or at these parameters."""
        at = parameters or self.maximum
        return Stationary(at, self.gradient(**at), self.second_derivative(**at), len(self.data))

    def over(self, *names: str, fixed: Mapping[str, float] | None = None) -> tuple[tuple[str, ...], dict[str, float]]:
        """The parameters that vary, one or two of them, and the others at given values or at the maximum."""
        chosen = names or self.names[:2]
        unknown = [name for name in (*chosen, *(fixed or {})) if name not in self.names]
        if unknown or len(set(chosen)) != len(chosen) or not 1 <= len(chosen) <= 2:
            listed = ", ".join(self.names)
            raise ParameterError(f"a likelihood is drawn over one or two of {listed}; found {names}", fix="name them")
        return tuple(chosen), {**self.maximum, **(fixed or {})}

    def to_columns(self) -> dict[str, list[Any]]:
        """parameter, maximum, gradient, curvature and standard_error of each parameter."""
        check = self.check()
        return {
            "parameter": list(self.names),
            "maximum": [self.maximum[name] for name in self.names],
            "gradient": [check.gradient[name] for name in self.names],
            "curvature": np.diag(check.curvature).tolist(),
            "standard_error": check.standard_errors.tolist(),
        }

    def plot(self, *names: str, ax: Any = None, fixed: Mapping[str, float] | None = None) -> LikelihoodDisplay:
        """Draw it over one or two parameters, the others at their maximum: the peak, gradient 0, the curvature."""
        from bayeswise.families.plots import LikelihoodDisplay

        return LikelihoodDisplay(self, *self.over(*names, fixed=fixed)).plot(ax)

    def _made(self, given: Mapping[str, float]) -> Any:
        if set(given) != set(self.names):
            typed = ", ".join(f"{name}=..." for name in self.names)
            raise ParameterError(f"a {self.family.name} likelihood takes {', '.join(self.names)}", fix=f"give {typed}")
        return self.family.made(**given)

    def __repr__(self) -> str:
        return f"Likelihood({self.family!r} of {len(self.data):,} values)"


@dataclass(frozen=True, eq=False)
class Stationary:
    """Gradient and curvature of a log-likelihood at one point."""

    parameters: Mapping[str, float]
    gradient: Mapping[str, float]
    curvature: FloatArray  # (n_parameters, n_parameters)
    n: int

    @property
    def is_maximum(self) -> bool:
        """Whether the gradient is 0 up to rounding and the curvature negative in every direction."""
        eigenvalues = np.linalg.eigvalsh(self.curvature)
        scale = np.sqrt(np.abs(np.diag(self.curvature)) * self.n)
        flat = bool((np.abs(list(self.gradient.values())) <= 1e-7 * np.maximum(scale, 1e-300)).all())
        return flat and bool((eigenvalues < 0).all())

    @property
    def standard_errors(self) -> FloatArray:
        """(n_parameters,) roots of the diagonal of -curvature^-1; NaN where it is not a maximum."""
        with np.errstate(invalid="ignore"):
            return np.sqrt(np.diag(np.linalg.inv(-self.curvature)))

    def __repr__(self) -> str:
        at = ", ".join(f"{name}={value:.6g}" for name, value in self.parameters.items())
        steepest = max(abs(value) for value in self.gradient.values())
        flat = "0" if self.is_maximum else f"{steepest:.3g}"
        bent = ", ".join(f"{value:.6g}" for value in np.diag(self.curvature))
        kind = "a maximum" if self.is_maximum else "not a maximum"
        return f"Stationary({at}: gradient {flat}, curvature {bent}, {kind})"
