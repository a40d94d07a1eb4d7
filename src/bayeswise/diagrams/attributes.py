"""Multi-attribute utility: attributes such as money and days of pain, weighted into one sum.

The total is sum_a weight_a (x_a - worst_a) / (best_a - worst_a), where x_a is the sum of the utilities of attribute a
in its own unit; without worst and best it is weight_a x_a.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswise.diagrams.nodes import Utility
from bayeswise.foundation.arguments import is_number
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CostError, ParameterError
from bayeswise.render.labels import guess
from bayeswise.render.numbers import number
from bayeswise.render.plain import Tabular


@dataclass(frozen=True)
class Attribute:
    """An attribute with its weight, and the outcomes that are scaled to 0 and 1; less is better if best < worst.

    >>> Attribute("days of pain", weight=0.3, worst=30, best=0).value(15.0)
    0.15
    """

    name: str
    weight: float = 1.0
    worst: float | None = None
    best: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise CostError(f"an attribute must have a name; found {self.name!r:.80}", fix="name it")
        for field in ("weight", "worst", "best"):
            given = getattr(self, field)
            if given is None and field != "weight":
                continue
            if not is_number(given) or not math.isfinite(given):
                what = f"the {field} of the attribute {self.name!r} must be a finite number; found {given!r:.80}"
                raise CostError(what, fix="write a number")
            object.__setattr__(self, field, float(given))
        if self.weight < 0.0:
            raise CostError(
                f"the weight of the attribute {self.name!r} is {self.weight:g}",
                fix="give a weight from 0 on; where less is better, let best be below worst",
            )
        if (self.worst is None) != (self.best is None) or (self.worst is not None and self.worst == self.best):
            raise CostError(
                f"the attribute {self.name!r} goes from worst = {self.worst} to best = {self.best}",
                fix="give both, and let them differ, or neither",
            )

    @property
    def slope(self) -> float:
        """The contribution of one unit to the total."""
        if self.worst is None or self.best is None:
            return self.weight
        return self.weight / (self.best - self.worst)

    def value(self, outcome: Any, share: float = 1.0) -> Any:
        """The contribution of an outcome to the total; `share` is the part of the worst outcome subtracted here."""
        return self.slope * (outcome - share * (self.worst or 0.0)) + 0.0

    def fields(self) -> dict[str, Any]:
        """As in a file."""
        ends = {} if self.worst is None else {"worst": self.worst, "best": self.best}
        return {"weight": self.weight, **ends}


class Weighing:
    """The attributes of a diagram, and the attribute of each utility."""

    def __init__(self, attributes: Iterable[Attribute] | Mapping[str, float], utilities: Iterable[Utility]) -> None:
        given = list(attributes)
        if isinstance(attributes, Mapping):
            given = [Attribute(name, weight) for name, weight in attributes.items()]
        self.attributes: dict[str, Attribute] = {}
        for each in given:
            if not isinstance(each, Attribute):
                raise CostError(
                    f"attributes must be Attribute(...); found {each!r:.80}", fix="write Attribute(NAME, weight=...)"
                )
            if each.name in self.attributes:
                raise CostError(f"there are two attributes {each.name!r}", fix="rename one of them")
            self.attributes[each.name] = each
        self.attribute_of = {piece.name: piece.attribute for piece in utilities if piece.attribute is not None}
        for utility, name in self.attribute_of.items():
            if name not in self.attributes:
                known = list(self.attributes)
                fix = guess(name, known) if known else f"give attributes=[Attribute({name!r}, weight=...)]"
                raise CostError(f"the utility {utility!r} is about {name!r:.80}, which is not an attribute", fix=fix)
        for name in self.attributes:
            if name not in self.attribute_of.values():
                raise CostError(
                    f"no utility is about the attribute {name!r}", fix=f"write Utility(..., attribute={name!r})"
                )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Weighing):
            return NotImplemented
        return self.attributes == other.attributes and self.attribute_of == other.attribute_of

    __hash__ = None  # type: ignore[assignment]

    def utilities(self, attribute: str) -> list[str]:
        """The utilities of an attribute."""
        return [utility for utility, name in self.attribute_of.items() if name == attribute]

    def weighed(self, utility: str, outcome: FloatArray) -> FloatArray:
        """The contribution of a utility's outcomes to the total; utilities of one attribute share its worst equally."""
        name = self.attribute_of.get(utility)
        if name is None:
            return outcome
        return np.asarray(self.attributes[name].value(outcome, 1.0 / len(self.utilities(name))))

    def with_weights(self, weights: Mapping[str, float]) -> list[Attribute]:
        """The attributes with other weights for some."""
        for name in weights:
            self.attribute(name)
        return [replace(each, weight=weights.get(each.name, each.weight)) for each in self.attributes.values()]

    def moved(self, attribute: str, weight: float) -> list[Attribute]:
        """One weight is changed; the others keep their proportions, and the sum of all weights stays."""
        others = {each.name: each.weight for each in self.attributes.values() if each.name != attribute}
        rest = math.fsum(others.values())
        left = rest + self.attribute(attribute).weight - weight
        shares = {name: left * old / rest if rest > 0.0 else left / len(others) for name, old in others.items()}
        return self.with_weights({**{name: max(0.0, share) for name, share in shares.items()}, attribute: weight})

    def attribute(self, name: str) -> Attribute:
        """An attribute, or an error with a suggestion."""
        if name not in self.attributes:
            known = list(self.attributes)
            fix = guess(name, known) if known else "give the diagram attributes=[Attribute(...)]"
            raise ParameterError(f"the diagram has no attribute {name!r}", fix=fix)
        return self.attributes[name]


@dataclass(frozen=True, eq=False)
class AttributeOutcomes(Tabular):
    """The expected outcome of the policies in each attribute, in its own unit, and its contribution to the total."""

    attributes: tuple[Attribute, ...]
    outcome: FloatArray  # (n_attributes,) expected, in the unit of each
    contribution: FloatArray  # (n_attributes,) to the expected value

    def to_columns(self) -> dict[str, list[Any]]:
        """attribute, outcome, worst, best, weight, contribution."""
        return {
            "attribute": [each.name for each in self.attributes],
            "outcome": self.outcome.tolist(),
            "worst": [each.worst for each in self.attributes],
            "best": [each.best for each in self.attributes],
            "weight": [each.weight for each in self.attributes],
            "contribution": self.contribution.tolist(),
        }

    def __str__(self) -> str:
        return "\n".join(
            f"{each.name}: {number(outcome, 6)} (weight {number(each.weight)}, adds {number(part, 6)})"
            for each, outcome, part in zip(self.attributes, self.outcome, self.contribution, strict=True)
        )
