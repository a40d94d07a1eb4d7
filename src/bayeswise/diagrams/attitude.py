"""Attitudes to risk: exponential utility, and piecewise linear utility.

Policies of maximum expected utility E u(x) are those of maximum certainty equivalent u^-1(E u(x)): the sure amount of
the same utility. The expected value minus it is the risk premium.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bayeswise.foundation.arguments import is_number
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CostError, TooLargeError
from bayeswise.networks import Node
from bayeswise.render.labels import guess, refuse_unknown
from bayeswise.render.numbers import number

if TYPE_CHECKING:
    from bayeswise.diagrams.diagram import InfluenceDiagram
    from bayeswise.diagrams.nodes import Piece


@dataclass(frozen=True)
class Exponential:
    """u(x) = 1 - exp(-x / tolerance): constant absolute risk aversion; a tolerance below 0 means risk seeking.

    The tolerance has the unit of the utilities: about the largest sum for which one would accept an even chance to win
    it or lose half of it.

    >>> even = Exponential(100.0).certainty_equivalent([-50.0, 100.0], [0.5, 0.5])
    >>> round(even, 3)
    -0.827
    """

    tolerance: float

    def __post_init__(self) -> None:
        value = _number(self.tolerance, "the risk tolerance")
        if value == 0.0:
            raise CostError("the risk tolerance is 0", fix="give the sum that one would risk, such as 100")
        object.__setattr__(self, "tolerance", value)

    def utility(self, x: Any, at: float = 0.0) -> Any:
        """u(x - at), which has the same order for every `at` and is accurate near it."""
        return -math.copysign(1.0, self.tolerance) * np.expm1(-(np.asarray(x) - at) / self.tolerance)

    def inverse(self, utility: Any, at: float = 0.0) -> Any:
        """The amount x with this utility."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return at - self.tolerance * np.log1p(-math.copysign(1.0, self.tolerance) * np.asarray(utility))

    def certainty_equivalent(self, values: Any, probability: Any) -> float:
        """The sure amount with the expected utility of these values and probabilities."""
        sums, weights = _lottery(values, probability)
        at = float(sums.min() if self.tolerance > 0.0 else sums.max())
        return float(at - self.tolerance * math.log(float(weights @ np.exp(-(sums - at) / self.tolerance))))

    def __str__(self) -> str:
        return f"risk tolerance {number(self.tolerance, 6)}"

    def fields(self) -> dict[str, Any]:
        """As in a file."""
        return {"kind": "exponential", "tolerance": self.tolerance}


@dataclass(frozen=True)
class PiecewiseLinear:
    """u(x) by points (x, u), linear between them and beyond the first and the last.

    >>> loss_averse = PiecewiseLinear([(-100, -250), (0, 0), (100, 100)])
    >>> loss_averse.certainty_equivalent([-50, 100], [0.5, 0.5])
    -5.0
    """

    points: tuple[tuple[float, float], ...]

    def __init__(self, points: Iterable[Sequence[float]]) -> None:
        object.__setattr__(self, "points", _points(points))

    def utility(self, x: Any, at: float = 0.0) -> Any:
        """u(x); `at` is ignored."""
        return _through(np.asarray(x, dtype=np.float64), *np.array(self.points).T)

    def inverse(self, utility: Any, at: float = 0.0) -> Any:
        """The amount x with this utility."""
        return _through(np.asarray(utility, dtype=np.float64), *np.array(self.points).T[::-1])

    def certainty_equivalent(self, values: Any, probability: Any) -> float:
        """The sure amount with the expected utility of these values and probabilities."""
        sums, weights = _lottery(values, probability)
        return float(self.inverse(weights @ self.utility(sums)))

    def __str__(self) -> str:
        return f"utility through {', '.join(f'{number(x)}: {number(u)}' for x, u in self.points)}"

    def fields(self) -> dict[str, Any]:
        """As in a file."""
        return {"kind": "piecewise", "points": [list(point) for point in self.points]}


Attitude: TypeAlias = Exponential | PiecewiseLinear


def attitude_of(fields: Mapping[str, Any]) -> Attitude:
    """The attitude in a file: its kind, and a tolerance or points.

    >>> attitude_of({"kind": "exponential", "tolerance": 50})
    Exponential(tolerance=50.0)
    """
    kinds = {"exponential": "tolerance", "piecewise": "points"}
    kind = fields.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise CostError(f"the attitude is of the kind {kind!r:.80}", fix=guess(kind, list(kinds)))
    for field in fields:
        refuse_unknown(field, ("kind", kinds[kind]), "the unknown entry", CostError)
    if kinds[kind] not in fields:
        raise CostError(f"there is no {kinds[kind]}", fix=f"add {kinds[kind]} = ...")
    return Exponential(fields["tolerance"]) if kind == "exponential" else PiecewiseLinear(fields["points"])


def checked_attitude(given: Any) -> Attitude | None:
    """An attitude, or none for the mean."""
    if given is not None and not isinstance(given, Exponential | PiecewiseLinear):
        raise CostError(
            f"the attitude must be Exponential(tolerance) or PiecewiseLinear(points); found {given!r:.80}",
            fix="write attitude=Exponential(100)",
        )
    return given


def _number(value: Any, what: str) -> float:
    if not is_number(value) or not math.isfinite(value):
        raise CostError(f"{what} must be a finite number; found {value!r:.80}", fix="write a number")
    return float(value)


def _points(given: Any) -> tuple[tuple[float, float], ...]:
    try:
        pairs = [tuple(point) for point in given]
    except TypeError:
        raise CostError(f"points must be pairs (x, u); found {given!r:.80}", fix="write [(-100, -2), (0, 0)]") from None
    if len(pairs) < 2 or any(len(pair) != 2 for pair in pairs):
        raise CostError(
            f"at least two points, each a pair (x, u), are needed; found {given!r:.80}",
            fix="write [(-100, -2), (0, 0), (100, 1)]",
        )
    points = tuple((_number(x, "x of a point"), _number(u, "u of a point")) for x, u in pairs)
    for (x, u), (next_x, next_u) in pairwise(points):
        if not (x < next_x and u < next_u):
            raise CostError(
                f"utility must increase from point to point; found ({x:g}, {u:g}) before ({next_x:g}, {next_u:g})",
                fix="sort the points, with increasing utilities",
            )
    return points


def _through(x: FloatArray, places: FloatArray, values: FloatArray) -> FloatArray:
    """Linear interpolation, and extrapolation from the first or the last two points."""
    left = np.clip(np.searchsorted(places, x, side="right") - 1, 0, len(places) - 2)
    slope = (values[left + 1] - values[left]) / (places[left + 1] - places[left])
    return np.asarray(values[left] + slope * (x - places[left]))


def _lottery(values: Any, probability: Any) -> tuple[FloatArray, FloatArray]:
    sums, weights = np.asarray(values, dtype=np.float64), np.asarray(probability, dtype=np.float64)
    fits = sums.shape == weights.shape and sums.ndim == 1 and sums.size > 0
    if not fits or not np.isfinite(sums).all() or not (weights >= 0.0).all() or abs(weights.sum() - 1.0) > 1e-9:
        raise CostError(
            "values and probabilities do not make a distribution", fix="give one probability for each value"
        )
    return sums[weights > 0.0], weights[weights > 0.0]


_MOST_CELLS = 1 << 24
_SAME = 1e-12  # of the largest utilities: sums closer than this are one outcome


def sum_nodes(diagram: InfluenceDiagram, fix: str) -> tuple[list[Node], FloatArray]:
    """Chance nodes that add up the utilities, each given the sum before it and one utility's parents; and the values of
    the last one, all sums in ascending order."""
    prefix = "\0" * (1 + max((len(name) for name in diagram.names), default=0))  # no node has this name
    nodes: list[Node] = []
    sums = np.zeros(1)  # the values that the sum so far can have
    for k, name in enumerate(diagram.utilities):
        every = (sums[:, None] + diagram.utility(name).ravel()).ravel()  # (n_sums * n_configurations,)
        sums, codes = _distinct(every, _SAME * diagram.largest_utility)
        if len(every) * len(sums) > _MOST_CELLS:
            raise TooLargeError(f"the utilities have {len(sums)} distinct sums, too many to enumerate", fix=fix)
        table = np.zeros((len(every), len(sums)))
        table[np.arange(len(every)), codes] = 1.0
        before = [nodes[-1].name] if nodes else []
        nodes.append(Node(f"{prefix}{k}", range(len(sums)), table, [*before, *diagram.parents(name)]))
    return nodes, sums


def with_utility_of_sum(diagram: InfluenceDiagram, utility: Callable[[Any], Any]) -> InfluenceDiagram:
    """The diagram with one utility, a function of the sum of all; its other nodes keep their positions."""
    from bayeswise.diagrams.diagram import InfluenceDiagram
    from bayeswise.diagrams.nodes import Utility

    kept = [piece for piece in diagram.pieces() if not isinstance(piece, Utility)]
    if len(diagram.utilities) == 1:
        [name] = diagram.utilities
        added: list[Piece] = [Utility(name, utility(diagram.utility(name)), diagram.parents(name))]
    else:
        nodes, sums = sum_nodes(diagram, "use an exponential utility, which needs no sums")
        added = [*nodes, Utility(f"{nodes[-1].name}\0", utility(sums), [nodes[-1].name])]
    made = InfluenceDiagram([*kept, *added])
    made._allowed = diagram._allowed
    return made


def _distinct(values: FloatArray, same: float) -> tuple[FloatArray, Any]:
    """The distinct values, ascending, and for each value its position among them."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    starts = np.concatenate([[True], np.diff(ascending) > same])
    codes = np.empty(len(values), dtype=np.int64)
    codes[order] = np.cumsum(starts) - 1
    return ascending[starts] + 0.0, codes
