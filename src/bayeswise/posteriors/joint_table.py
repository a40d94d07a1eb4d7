"""A table of joint probabilities: the sum rule gives marginals, the product rule conditionals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from bayeswise.foundation.arguments import is_number
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError
from bayeswise.posteriors.prior import SUM_TOLERANCE
from bayeswise.render.numbers import Number, decimal_text, exact, fraction_text
from bayeswise.render.plain import Tabular
from bayeswise.render.terminal import aligned
from bayeswise.tables.schema.labels import Label, find_state, label_of

if TYPE_CHECKING:
    from bayeswise.posteriors.plots import MassDisplay


Cell = tuple[Label, ...]


class JointTable:
    """P(a, b, ...) for every combination of levels; one that is not named has probability 0.

    >>> weather = JointTable(
    ...     ["weather", "temperature"],
    ...     {("sun", "hot"): ".4", ("rain", "hot"): ".1", ("sun", "cold"): ".2", ("rain", "cold"): ".3"},
    ... )
    >>> weather.marginal("weather")
    JointTable(weather: sun=0.6, rain=0.4)
    >>> weather.given({"temperature": "hot"})
    JointTable(weather: sun=0.8, rain=0.2)
    >>> weather.given({"temperature": "cold"})["rain"]
    0.6
    """

    variables: tuple[str, ...]
    exact: Mapping[Cell, Fraction]

    def __init__(self, variables: Sequence[str], probability: Mapping[Any, Number]) -> None:
        self.variables = _checked_variables(variables)
        cells = {self._cell(key): _probability(key, value) for key, value in probability.items()}
        total = sum(cells.values(), Fraction())
        if abs(total - 1) > SUM_TOLERANCE:
            raise ParameterError(
                f"the joint probabilities sum to {decimal_text(total, 12)}, not to 1",
                fix="add the combinations that are missing, or divide by the sum",
            )
        self.exact = cells

    @classmethod
    def of_rows(cls, variables: Sequence[str], rows: Iterable[Sequence[Any]]) -> JointTable:
        """Relative frequencies: probabilities by counting.

        >>> JointTable.of_rows(["play"], [["yes"], ["no"], ["yes"]])
        JointTable(play: yes=0.666667, no=0.333333)
        """
        counts = Counter(tuple(map(label_of, row)) for row in rows)
        if not counts:
            raise ParameterError("no rows to count", fix="give at least one row")
        total = counts.total()
        return cls(variables, {cell: Fraction(count, total) for cell, count in counts.items()})

    @classmethod
    def experiment(cls, **outcomes: Iterable[Any] | Mapping[Any, Number]) -> JointTable:
        """A random experiment of independent parts: equally probable outcomes, or {outcome: probability}.

        >>> dice = JointTable.experiment(first=range(1, 7), second=range(1, 7))
        >>> total = dice.variable("sum", lambda first, second: first + second)
        >>> total[7], total.expectation()
        (0.16666666666666666, Fraction(7, 1))
        """
        cells: dict[Cell, Fraction] = {(): Fraction(1)}
        for name, given in outcomes.items():
            part = given if isinstance(given, Mapping) else _even(name, list(given))
            own = cls([name], part).exact
            cells = {(*cell, *one): p * q for cell, p in cells.items() for one, q in own.items()}
        return cls(list(outcomes), cells)

    def variable(self, name: str, function: Callable[..., Any]) -> JointTable:
        """The probability mass function of a random variable: a function of the outcome, taken by name."""
        sums: dict[Any, Fraction] = {}
        for cell, p in self.exact.items():
            value = label_of(function(**dict(zip(self.variables, cell, strict=True))))
            sums[value] = sums.get(value, Fraction()) + p
        return JointTable([name], dict(sorted(sums.items())) if all(map(is_number, sums)) else sums)

    @property
    def is_numeric(self) -> bool:
        """Whether this is one variable whose levels are numbers."""
        cells = [cell[0] for cell in self.exact]
        return len(self.variables) == 1 and all(map(is_number, cells))

    def expectation(self, function: Callable[..., Any] | None = None) -> Fraction:
        """E[f] = sum of P f over the outcomes; without a function that of the one variable, which has numbers."""
        if function is None:
            if not self.is_numeric:
                raise ParameterError(f"{', '.join(self.variables)} is not one number", fix="give a function of it")
            return sum((exact(cell[0], "a value") * p for cell, p in self.exact.items()), Fraction())
        named = ((dict(zip(self.variables, cell, strict=True)), p) for cell, p in self.exact.items())
        return sum((exact(function(**levels), "a value") * p for levels, p in named), Fraction())

    def independent(self, *variables: str, given: str | Sequence[str] = ()) -> Independence:
        """Whether P(a, b | c) = P(a | c) P(b | c) for all levels; of three or more variables, mutually.

        >>> coins = JointTable.experiment(one="HT", two="HT")
        >>> same = JointTable(["one", "two", "same"], {(a, b, a == b): p for (a, b), p in coins.exact.items()})
        >>> bool(same.independent("one", "same")), bool(same.independent("one", "two", "same"))
        (True, False)
        """
        names = tuple(variables) or self.variables
        others = (given,) if isinstance(given, str) else tuple(given)
        for name in (*names, *others):
            self._position(name)
        return independence(self, names, others)

    def chain(self, order: Sequence[str] | None = None, **levels: Any) -> ChainRule:
        """The chain rule for one combination: P(a, b, c) = P(a) P(b | a) P(c | a, b), in that order of variables."""
        names = tuple(levels) if order is None else tuple(order)
        missing = [name for name in names if name not in levels]
        if missing or not names or len(set(names)) < len(names):
            raise ParameterError(f"the chain rule needs a level of each of {list(names)}", fix="give name=level")
        for name in names:
            self._position(name)
        return chain_rule(self, levels, names)

    def plot(self, ax: Any = None) -> MassDisplay:
        """Draw the probability of each combination as a bar."""
        from bayeswise.posteriors.plots import MassDisplay

        return MassDisplay(self).plot(ax)

    @property
    def levels(self) -> dict[str, tuple[Label, ...]]:
        """The levels of each variable, in the order in which they were first named."""
        return {
            name: tuple(dict.fromkeys(cell[position] for cell in self.exact))
            for position, name in enumerate(self.variables)
        }

    def __getitem__(self, key: Any) -> float:
        """The probability of one combination of known levels."""
        cell = self._cell(key)
        found = tuple(self._level(name, level) for name, level in zip(self.variables, cell, strict=True))
        return float(self.exact.get(found, Fraction()))

    def marginal(self, *variables: str) -> JointTable:
        """The sum rule: P(a) = sum over b of P(a, b), for the variables that are named, in that order."""
        kept = [self._position(name) for name in _checked_variables(variables)]
        sums: dict[Cell, Fraction] = {}
        for cell, probability in self.exact.items():
            part = tuple(cell[position] for position in kept)
            sums[part] = sums.get(part, Fraction()) + probability
        return JointTable(variables, sums)

    def given(self, evidence: Mapping[str, Any]) -> JointTable:
        """The product rule: P(a | b) = P(a, b) / P(b), over the variables that are not in the evidence."""
        fixed = {self._position(name): self._level(name, level) for name, level in evidence.items()}
        rest = [position for position in range(len(self.variables)) if position not in fixed]
        if not rest:
            raise ParameterError("every variable is given, so that none is left", fix="leave one out of the evidence")
        matching = {
            tuple(cell[position] for position in rest): probability
            for cell, probability in self.exact.items()
            if all(cell[position] == level for position, level in fixed.items())
        }
        total = sum(matching.values(), Fraction())
        if total == 0:
            named = ", ".join(f"{name} = {level}" for name, level in evidence.items())
            raise ImpossibleEvidenceError(
                f"P({named}) is 0, so that nothing follows from it", fix="give it a probability above 0"
            )
        names = [self.variables[position] for position in rest]
        return JointTable(names, {cell: probability / total for cell, probability in matching.items()})

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the variables, and for each combination its probability as a float and exactly."""
        return {
            "variables": list(self.variables),
            "joint": [
                {
                    "levels": dict(zip(self.variables, cell, strict=True)),
                    "P": float(p),
                    "exact": fraction_text(p),
                }
                for cell, p in self.exact.items()
            ],
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JointTable):
            return NotImplemented
        return self.variables == other.variables and _possible(self.exact) == _possible(other.exact)

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self) -> str:
        from bayeswise.render.page import fragment, table

        rows = [[*cell, decimal_text(p)] for cell, p in self.exact.items()]
        return fragment(table([*self.variables, "P"], rows, left=len(self.variables)))

    def __repr__(self) -> str:
        terms = (f"{' '.join(map(str, cell))}={decimal_text(p)}" for cell, p in self.exact.items())
        return f"JointTable({' x '.join(self.variables)}: {', '.join(terms)})"

    def _cell(self, key: Any) -> Cell:
        parts = tuple(key) if isinstance(key, tuple | list) else (key,)
        if len(parts) != len(self.variables):
            raise ParameterError(
                f"a combination names one level for each of {', '.join(self.variables)}; found {key!r}",
                fix="name each level once",
            )
        return tuple(map(label_of, parts))

    def _position(self, name: str) -> int:
        return find_state(name, self.variables, what="there is no variable")

    def _level(self, name: str, level: object) -> Label:
        levels = self.levels[self.variables[self._position(name)]]
        return levels[find_state(level, levels, what=f"the variable {name!r} has no level")]


def _checked_variables(variables: Sequence[str]) -> tuple[str, ...]:
    names = (variables,) if isinstance(variables, str) else tuple(map(str, variables))
    if not names or len(set(names)) < len(names):
        raise ParameterError(f"variables must be named, and each once; found {list(names)}", fix="name each one once")
    return names


def _even(name: str, outcomes: list[Any]) -> dict[Any, Fraction]:
    counts = Counter(label_of(outcome) for outcome in outcomes)
    if not counts:
        raise ParameterError(f"{name} has no outcome", fix="give at least one")
    return {outcome: Fraction(count, len(outcomes)) for outcome, count in counts.items()}


def _probability(key: object, value: Number) -> Fraction:
    probability = exact(value, f"the probability of {key!r}")
    if not 0 <= probability <= 1:
        raise ParameterError(f"the probability of {key!r} must be from 0 to 1; found {value}")
    return probability


def _possible(cells: Mapping[Cell, Fraction]) -> dict[Cell, Fraction]:
    return {cell: probability for cell, probability in cells.items() if probability}


# -- independence and the chain rule --------------------------------------------------------------------------


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
