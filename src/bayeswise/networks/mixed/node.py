"""Gaussian nodes: linear in parents that are numbers, with normal noise, and a line for each configuration of states.

The posterior is a mixture of normals, one for each configuration of the states that it depends on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NetworkError, ParameterError
from bayeswise.foundation.special import ndtr
from bayeswise.networks.node import LARGEST_TABLE, configuration
from bayeswise.tables.schema.labels import Vocabulary, find_state


@dataclass(frozen=True, eq=False)
class GaussianNode:
    """x = intercept + sum of weight * parent + noise, the noise normal with mean 0.

    Each of the numbers may depend on the states of the nodes in `given`: then it is {state: number}, {(state, ...):
    number} where these are several, `...` standing for all other states, or an array in the order of configurations.

    >>> GaussianNode("height", {"f": 165, "m": 178}, {"age": 0.1}, stddev=6, given=["sex"])
    GaussianNode(height | sex, age)
    """

    name: str
    intercept: Any
    weights: Mapping[str, Any]
    stddev: Any
    given: tuple[str, ...]

    def __init__(
        self,
        name: str,
        intercept: Any = 0.0,
        weights: Mapping[str, Any] | None = None,
        stddev: Any = 1.0,
        given: Iterable[str] = (),
    ) -> None:
        if not isinstance(name, str) or not name:
            raise NetworkError(f"a node must have a name; found {name!r}", fix="name it")
        if isinstance(given, str):
            raise NetworkError(f"the states that {name!r} is given are the text {given!r}", fix=f"write [{given!r}]")
        if not isinstance(weights or {}, Mapping):
            raise NetworkError(f"the weights of {name!r} are {weights!r:.80}", fix="write {parent: weight}")
        fields = (("name", name), ("intercept", intercept), ("weights", dict(weights or {})), ("stddev", stddev))
        for key, value in (*fields, ("given", tuple(given))):
            object.__setattr__(self, key, value)
        if len(set(self.parents)) < len(self.parents):
            raise NetworkError(f"node {name!r} has a parent twice: {', '.join(self.parents)}", fix="name it once")

    @property
    def parents(self) -> tuple[str, ...]:
        """Those with states, then those that are numbers."""
        return (*self.given, *self.weights)

    def __repr__(self) -> str:
        return f"GaussianNode({self.name}{' | ' if self.parents else ''}{', '.join(self.parents)})"


@dataclass(frozen=True)
class Lines:
    """The line of a node for each configuration of its parents with states, the last of which changes fastest."""

    intercept: FloatArray  # (n_configurations,)
    weights: FloatArray  # (n_configurations, n_parents) of the parents that are numbers
    stddev: FloatArray  # (n_configurations,)


def lines_of(node: GaussianNode, given: Sequence[tuple[str, Vocabulary]]) -> Lines:
    """The numbers of a node by configuration, checked.

    >>> lines_of(GaussianNode("x", {"a": 1, ...: 3}, stddev=2, given=["k"]), [("k", Vocabulary("abc"))]).intercept
    array([1., 3., 3.])
    """
    n_rows = math.prod(len(levels) for _, levels in given)
    if n_rows * (len(node.weights) + 2) > LARGEST_TABLE:
        raise NetworkError(f"{node.name!r} would have {n_rows:,} lines", fix="give it fewer parents with states")
    intercept = _by_configuration(node.name, "intercept", node.intercept, given, n_rows)
    stddev = _by_configuration(node.name, "standard deviation", node.stddev, given, n_rows)
    weights = np.empty((n_rows, len(node.weights)))
    for place, (parent, weight) in enumerate(node.weights.items()):
        weights[:, place] = _by_configuration(node.name, f"weight of {parent!r}", weight, given, n_rows)
    if not (stddev > 0.0).all():
        raise NetworkError(
            f"a standard deviation of {node.name!r} is {stddev[~(stddev > 0.0)][0]:g}",
            fix="give one above 0; what is determined by its parents needs no node",
        )
    return Lines(intercept, weights, stddev)


def _by_configuration(
    node: str, what: str, value: Any, given: Sequence[tuple[str, Vocabulary]], n_rows: int
) -> FloatArray:
    if isinstance(value, Mapping):
        numbers = _from_mapping(node, what, value, given, n_rows)
    else:
        try:
            numbers = np.array(value, dtype=np.float64).ravel()
        except (TypeError, ValueError, OverflowError):
            raise NetworkError(f"the {what} of {node!r} is {value!r:.80}", fix="give a number") from None
        if len(numbers) not in (1, n_rows):
            raise NetworkError(
                f"the {what} of {node!r} has {len(numbers)} numbers for {n_rows} configurations of its parents",
                fix="give one number, or one for each configuration, the last parent changing fastest",
            )
        numbers = np.broadcast_to(numbers, n_rows).copy()
    if not np.isfinite(numbers).all():
        raise NetworkError(f"the {what} of {node!r} is not finite", fix="give a finite number")
    return numbers


def _from_mapping(
    node: str, what: str, value: Mapping[Any, Any], given: Sequence[tuple[str, Vocabulary]], n_rows: int
) -> FloatArray:
    numbers = np.full(n_rows, np.nan)
    if ... in value:
        numbers[:] = _number(node, what, value[...])
    for key, number in value.items():
        if key is ...:
            continue
        labels = key if isinstance(key, tuple) else (key,)
        if len(labels) != len(given):
            names = ", ".join(name for name, _ in given) or "none"
            raise NetworkError(
                f"the {what} of {node!r} is given for {key!r}; its parents with states: {names}",
                fix="name a state of each, and the parents in given=[...]",
            )
        place = 0
        for label, (name, levels) in zip(labels, given, strict=True):
            place = place * len(levels) + find_state(label, levels, what=f"the {what} of {node!r}: {name!r} has no")
        numbers[place] = _number(node, what, number)
    missing = np.flatnonzero(np.isnan(numbers))
    if len(missing):
        case = configuration([levels for _, levels in given], int(missing[0]))
        raise NetworkError(f"the {what} of {node!r} is not given for {case!r}", fix="add it, or `...` for all others")
    return numbers


def _number(node: str, what: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise NetworkError(f"the {what} of {node!r} is {value!r:.80}", fix="give a number") from None


# -- posteriors --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NormalMixture:
    """sum of weight * Normal(mean, stddev); an estimate if `standard_error` (of the mean) is above 0, else exact.

    >>> NormalMixture("x", np.array([0.5, 0.5]), np.array([-1.0, 1.0]), np.array([1.0, 1.0]))
    NormalMixture(x: mean 0, stddev 1.414)
    """

    node: str
    weights: FloatArray = field(repr=False)  # (n_components,) they sum to 1
    means: FloatArray = field(repr=False)
    stddevs: FloatArray = field(repr=False)
    log_evidence: float = 0.0
    standard_error: float = 0.0
    effective_rows: float = math.inf
    notes: tuple[str, ...] = ()

    @property
    def mean(self) -> float:
        return float(self.weights @ self.means)

    @property
    def stddev(self) -> float:
        """The root of the mean variance within components plus the variance of their means."""
        far = np.hypot(self.stddevs, self.means - self.mean)
        unit = float(far.max()) or 1.0
        return unit * math.sqrt(float(self.weights @ (far / unit) ** 2))

    def density(self, x: Any) -> FloatArray:
        """p(x) at each of some numbers; infinite at a number that was observed."""
        at = np.asarray(x, dtype=np.float64)[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (at - self.means) / self.stddevs
            each = np.exp(-0.5 * z**2) / (self.stddevs * math.sqrt(2.0 * math.pi))
        each = np.where(self.stddevs > 0.0, each, np.where(at == self.means, math.inf, 0.0))
        return np.asarray((self.weights * each).sum(axis=-1))

    def cdf(self, x: Any) -> FloatArray:
        """P(X <= x) at each of some numbers."""
        at = np.asarray(x, dtype=np.float64)[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):
            each = ndtr((at - self.means) / self.stddevs)
        each = np.where(self.stddevs > 0.0, each, (at >= self.means).astype(np.float64))
        return np.asarray((self.weights * each).sum(axis=-1))

    def quantile(self, p: float) -> float:
        """The number x with P(X <= x) = p, by bisection down to adjacent doubles.

        >>> one = NormalMixture("x", np.array([1.0]), np.array([10.0]), np.array([2.0]))
        >>> round(one.quantile(0.975), 3)
        13.92
        """
        if not 0.0 < p < 1.0:
            raise ParameterError(f"the probability of a quantile is {p!r}", fix="give one between 0 and 1")
        low = float((self.means - 40.0 * self.stddevs).min())
        high = float((self.means + 40.0 * self.stddevs).max())
        while (middle := low + 0.5 * (high - low)) not in (low, high):
            low, high = (middle, high) if float(self.cdf(middle)) < p else (low, middle)
        return high

    def interval(self, p: float = 0.95) -> tuple[float, float]:
        """From the quantile (1 - p) / 2 to the quantile (1 + p) / 2."""
        return self.quantile(0.5 - 0.5 * p), self.quantile(0.5 + 0.5 * p)

    def __repr__(self) -> str:
        error = f" +- {self.standard_error:.2g}" if self.standard_error else ""
        rows = "" if math.isinf(self.effective_rows) else f", worth {self.effective_rows:,.0f} rows"
        notes = "".join(f"; {note}" for note in self.notes)
        return f"NormalMixture({self.node}: mean {self.mean:.4g}{error}, stddev {self.stddev:.4g}{rows}{notes})"
