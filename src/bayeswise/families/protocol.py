"""The contract of a family, and what an estimate and an exponential form are.

Arrays of parameters have the shape (n_groups, n_columns) of the statistic they come from; a single sample is one group
of one column. `log_density` and its kin are elementwise and broadcast parameters against values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray

P = TypeVar("P")

Support = Literal["real", "positive", "unit interval", "count", "binary", "category", "vector"]


@dataclass(frozen=True)
class Estimate(Generic[P]):
    """A maximum-likelihood estimate and whether there is one.

    Where `exists` is False the parameters are the limit that the likelihood climbs towards (or, with no rows, a
    placeholder), and `reason` says why. `limit` tells the two apart: it is True where there are rows.
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


_SHOWN = 6


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
