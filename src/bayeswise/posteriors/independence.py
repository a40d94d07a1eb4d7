"""Independence and the chain rule on a table of joint probabilities, exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from bayeswise.foundation.errors import ParameterError
from bayeswise.render.numbers import decimal_text, fraction_text
from bayeswise.render.plain import Tabular
from bayeswise.render.terminal import aligned
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.posteriors.joint_table import JointTable


@dataclass(frozen=True, eq=False)
class Independence(Tabular):
    """P(a, b, ... | given) beside the product of P(a | given), P(b | given), ..., for every combination of levels."""

    variables: tuple[str, ...]
    given: tuple[str, ...]
    cells: tuple[tuple[tuple[Label, ...], Fraction, Fraction], ...]  # levels, P(together), product
    mutual_information: float  # in bits; 0 if and only if they are independent

    @property
    def holds(self) -> bool:
        """Whether every product is the joint probability, exactly."""
        return all(together == product for _, together, product in self.cells)

    @property
    def largest_difference(self) -> Fraction:
        """Between a joint probability and its product."""
        return max((abs(together - product) for _, together, product in self.cells), default=Fraction())

    def to_columns(self) -> dict[str, list[Any]]:
        """The levels, P(together) and the product, one line for each combination."""
        names = (*self.variables, *self.given)
        found: dict[str, list[Any]] = {name: [levels[k] for levels, _, _ in self.cells] for k, name in enumerate(names)}
        found["together"] = [float(together) for _, together, _ in self.cells]
        found["product"] = [float(product) for _, _, product in self.cells]
        return found

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        names = (*self.variables, *self.given)
        bar = f" | {', '.join(self.given)}" if self.given else ""
        head = [*names, f"P({', '.join(self.variables)}{bar})", "product"]
        rows = [[*map(str, levels), decimal_text(one), decimal_text(other)] for levels, one, other in self.cells]
        return "\n".join([*aligned([head, *rows], {len(names), len(names) + 1}), repr(self)])

    def __repr__(self) -> str:
        bar = f" given {', '.join(self.given)}" if self.given else ""
        what = "independent" if self.holds else f"not independent, by up to {decimal_text(self.largest_difference, 4)}"
        return f"Independence({', '.join(self.variables)}{bar}: {what}; {self.mutual_information:.4g} bits)"


@dataclass(frozen=True, eq=False)
class ChainRule(Tabular):
    """P(a, b, c) = P(a) P(b | a) P(c | a, b) for one combination of levels."""

    names: tuple[str, ...]
    levels: tuple[Label, ...]
    factors: tuple[Fraction, ...]

    @property
    def product(self) -> Fraction:
        """The joint probability."""
        return math.prod(self.factors, start=Fraction(1))

    def to_columns(self) -> dict[str, list[Any]]:
        """factor and P of each step."""
        return {"factor": [self._factor(k) for k in range(len(self.names))], "P": [float(f) for f in self.factors]}

    def _factor(self, k: int) -> str:
        given = ", ".join(map(str, self.levels[:k]))
        return f"P({self.levels[k]}{' | ' + given if given else ''})"

    def __str__(self) -> str:
        whole = f"P({', '.join(map(str, self.levels))})"
        factors = " ".join(self._factor(k) for k in range(len(self.names)))
        numbers = " · ".join(fraction_text(factor) for factor in self.factors)
        return f"{whole} = {factors} = {numbers} = {fraction_text(self.product)}"

    def __repr__(self) -> str:
        return f"ChainRule({self})"


def independence(table: JointTable, variables: Sequence[str], given: Sequence[str]) -> Independence:
    """Mutual independence of all the variables, given others: the joint is the product of all single ones."""
    if len(set(variables)) < 2 or len(set(variables)) < len(variables) or set(variables) & set(given):
        raise ParameterError(
            f"independence is between different variables; found {list(variables)} given {list(given)}",
            fix='name two or more, as in independent("weather", "temperature")',
        )
    names = (*variables, *given)
    together = table.marginal(*names).exact
    conditions = table.marginal(*given).exact if given else {(): Fraction(1)}
    single = {name: table.marginal(name, *given).exact for name in variables}
    cells, bits = [], 0.0
    for condition, p_condition in conditions.items():
        if not p_condition:
            continue
        for combination in product(*(table.levels[name] for name in variables)):
            joint = together.get((*combination, *condition), Fraction()) / p_condition
            parts = (
                single[name].get((level, *condition), Fraction())
                for name, level in zip(variables, combination, strict=True)
            )
            multiplied = math.prod((part / p_condition for part in parts), start=Fraction(1))
            cells.append(((*combination, *condition), joint, multiplied))
            if joint:
                bits += float(joint * p_condition) * math.log2(joint / multiplied)
    return Independence(tuple(variables), tuple(given), tuple(cells), max(bits, 0.0))


def chain_rule(table: JointTable, cell: Mapping[str, Any], order: Sequence[str]) -> ChainRule:
    """The factors of one combination, in that order; a factor that nothing allows is 0."""
    known = {name: table._level(name, cell[name]) for name in order}
    factors, before = [], Fraction(1)
    for k in range(len(order)):
        names = order[: k + 1]
        now = table.marginal(*names).exact.get(tuple(known[name] for name in names), Fraction())
        factors.append(now / before if before else Fraction())
        before = now
    return ChainRule(tuple(order), tuple(known.values()), tuple(factors))
