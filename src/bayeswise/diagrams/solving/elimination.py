"""Sums over all that is not asked: pairs of probabilities and utilities, one variable eliminated after the other.

Eliminating x from the probabilities p(x, ...) and the utilities u(x, ...) that mention it leaves the pair
sum_x p and sum_x p u / sum_x p. Which tables meet in which step depends on their arguments alone, so a plan is
made once, its largest table is known before any number is touched, and it runs for any numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from operator import or_
from string import ascii_letters
from typing import NamedTuple

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import TooLargeError

LARGEST_STEP = 1 << 26  # cells: a step has up to three tables of this size at once
_SMALL = 1e-100
_LARGE = 2_048  # cells

Shape = tuple[int, ...]


class StepTooLargeError(TooLargeError):
    """A step needs a table over these variables that has too many cells."""

    def __init__(self, n_cells: float, scope: Sequence[int], largest: float) -> None:
        super().__init__(
            f"solving needs a table of {n_cells:.3g} cells; {largest:.3g} are allowed",
            fix="let decisions know less, or give nodes fewer parents or states",
        )
        self.scope = tuple(scope)


class Argument(NamedTuple):
    """A table that goes in: the variables of its axes, ascending; `of` is x where it is p(x | the others)."""

    scope: tuple[int, ...]
    is_utility: bool = False
    of: int | None = None


class Group(NamedTuple):
    """Utilities that are summed out together: (slot, shape) of each, and the shapes of what they meet."""

    slots: tuple[tuple[int, Shape], ...]
    probability_shape: Shape
    axis: int
    total_shape: Shape


class Step(NamedTuple):
    """One variable less: the tables that mention it, each with the shape that lines up its axes."""

    probabilities: tuple[tuple[int, Shape], ...]
    axis: int
    is_conditional: bool  # the only probability is p(x | ...): its sum is one and leaves nothing behind
    groups: tuple[Group, ...]


class _Tables:
    """Tables by slot with their variables as bits, found by any of their variables."""

    __slots__ = ("_by_variable", "bits")

    def __init__(self) -> None:
        self.bits: dict[int, int] = {}
        self._by_variable: dict[int, dict[int, int]] = {}

    def of(self, x: int) -> dict[int, int]:
        return self._by_variable.get(x, {})

    def add(self, slot: int, bits: int) -> None:
        self.bits[slot] = bits
        for v in _variables(bits):
            self._by_variable.setdefault(v, {})[slot] = bits

    def take(self, x: int) -> dict[int, int]:
        """The tables that mention x, which are no longer there."""
        found = self._by_variable.pop(x, {})
        for slot, bits in found.items():
            del self.bits[slot]
            for v in _variables(bits):
                if v != x:
                    del self._by_variable[v][slot]
        return found


class Plan:
    """How to sum out all variables but the kept ones.

    >>> plan = Plan([Argument((0,), of=0), Argument((0, 1), is_utility=True)], {0: 2, 1: 2}, keep=[1])
    >>> probability, utility, _ = plan.run([np.array([0.25, 0.75]), np.array([[4.0, 0.0], [0.0, 8.0]])])
    >>> utility.tolist()
    [1.0, 6.0]
    """

    def __init__(
        self,
        arguments: Sequence[Argument],
        sizes: Sequence[int] | Mapping[int, int],
        keep: Sequence[int],
        largest: float = LARGEST_STEP,
    ) -> None:
        self._largest = largest
        self.keep = tuple(sorted(keep))
        # variables are numbered anew, so that sets of them are small numbers however many the diagram has
        self.variables = tuple(sorted({*keep, *(v for argument in arguments for v in argument.scope)}))
        number = {v: k for k, v in enumerate(self.variables)}
        self._sizes = [sizes[v] for v in self.variables]
        self.n_cells = 1.0  # of the largest table of any step
        self._counted: dict[int, float] = {}
        self._n_slots = len(arguments)
        self._probabilities = _Tables()
        self._utilities = _Tables()
        self._conditional: dict[int, int | None] = {}
        everything, kept = 0, _bits([number[v] for v in self.keep])
        for slot, (scope, is_utility, of) in enumerate(arguments):
            bits = _bits([number[v] for v in scope])
            everything |= bits
            (self._utilities if is_utility else self._probabilities).add(slot, bits)
            self._conditional[slot] = of
        self._refuse_too_large(kept)
        self.steps = tuple(self._ordered(_variables(everything & ~kept)))
        self._end_shape = self._shape(kept, kept)
        self._end_probabilities = [(s, self._shape(b, kept)) for s, b in self._probabilities.bits.items()]
        self._end_utilities = [(s, self._shape(b, kept)) for s, b in self._utilities.bits.items()]

    # -- making the plan --------------------------------------------------------------------------------------
    def _ordered(self, waiting: Sequence[int]) -> list[Step]:
        """Greedily the variable whose step has the smallest tables; only its neighbours are weighed again."""
        weight = {x: self._weight(x) for x in waiting} if len(waiting) > 1 else {}
        steps = []
        while len(weight) > 1:
            x = min(weight, key=lambda v: (weight[v], v))
            near = reduce(or_, (*self._utilities.of(x).values(), *self._probabilities.of(x).values()), 0)
            del weight[x]
            steps.append(self._step(x))
            for v in _variables(near) if len(weight) > 1 else ():
                if v in weight:
                    weight[v] = self._weight(v)
        return [*steps, *(self._step(x) for x in weight or waiting)]

    def _weight(self, x: int) -> float:
        joint = reduce(or_, self._probabilities.of(x).values(), 1 << x)
        return self._cells(joint) + sum([self._cells(joint | bits) for bits in self._utilities.of(x).values()])

    def _step(self, x: int) -> Step:
        met, gained, bit = self._probabilities.take(x), self._utilities.take(x), 1 << x
        joint = reduce(or_, met.values(), bit)
        is_conditional = len(met) == 1 and self._conditional.get(next(iter(met))) == x
        rest = joint & ~bit
        if not is_conditional:
            self._probabilities.add(self._n_slots, rest)
            self._n_slots += 1
        by_union: dict[int, list[int]] = {}
        for slot, bits in gained.items():
            by_union.setdefault(joint | bits, []).append(slot)
        groups = []
        for union, slots in by_union.items():
            left = union & ~bit
            shapes = tuple([(slot, self._shape(gained[slot], union)) for slot in slots])
            groups.append(Group(shapes, self._shape(joint, union), _axis(x, union), self._shape(rest, left)))
            self._utilities.add(self._n_slots, left)
            self._n_slots += 1
            self._refuse_too_large(union)
        if not groups:
            self._refuse_too_large(joint)
        shapes = tuple([(slot, self._shape(bits, joint)) for slot, bits in met.items()])
        return Step(shapes, _axis(x, joint), is_conditional, tuple(groups))

    def _refuse_too_large(self, bits: int) -> None:
        cells = self._cells(bits)
        if cells > self.n_cells:
            self.n_cells = cells
        if cells > self._largest or bits.bit_count() > 60:
            raise StepTooLargeError(cells, [self.variables[v] for v in _variables(bits)], self._largest)

    def _cells(self, bits: int) -> float:
        found = self._counted.get(bits)
        if found is None:
            self._counted[bits] = found = math.prod([self._sizes[v] for v in _variables(bits)], start=1.0)
        return found

    def _shape(self, bits: int, union: int) -> Shape:
        """The axes of the union, those that a table lacks of length one."""
        sizes = self._sizes
        if bits == union:
            return tuple([sizes[v] for v in _variables(union)])
        return tuple([sizes[v] if bits >> v & 1 else 1 for v in _variables(union)])

    # -- running it -------------------------------------------------------------------------------------------
    def run(self, tables: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray, float]:
        """p and u of the kept variables, both with their shape, and the logarithm of what p was divided by."""
        slots = list(tables)
        log_scale = 0.0
        for step in self.steps:
            joint, log_top = _product(slots, step.probabilities)
            log_scale += log_top
            total = None
            if not step.is_conditional:
                total = np.add.reduce(joint, axis=step.axis)
                slots.append(total)
            for group in step.groups:
                utility = _sum(slots, group.slots)
                mean = _summed(joint.reshape(group.probability_shape), utility, group.axis)
                if total is not None:
                    divisor = total.reshape(group.total_shape)
                    mean = np.divide(mean, divisor, out=np.zeros(mean.shape), where=divisor > 0.0)
                slots.append(mean)
        probability: FloatArray | None = None
        for slot, shape in self._end_probabilities:
            table = slots[slot]
            if table.size == 1 and table.item() > 0.0:  # much evidence makes many small numbers
                log_scale += math.log(table.item())
            else:
                factor = table.reshape(shape)
                probability = factor if probability is None else probability * factor
        gained = _sum(slots, self._end_utilities) if self._end_utilities else np.zeros(self._end_shape)
        return self._spread(np.ones(()) if probability is None else probability), self._spread(gained), log_scale

    def _spread(self, table: FloatArray) -> FloatArray:
        return table if table.shape == self._end_shape else table + np.zeros(self._end_shape)


def _sum(slots: Sequence[FloatArray], terms: Sequence[tuple[int, Shape]]) -> FloatArray:
    slot, shape = terms[0]
    found = slots[slot].reshape(shape)
    for slot, shape in terms[1:]:
        found = found + slots[slot].reshape(shape)
    return found


def _product(slots: Sequence[FloatArray], factors: Sequence[tuple[int, Shape]]) -> tuple[FloatArray, float]:
    """The product, and the logarithm of what it was divided by where it would have ended in zeros."""
    slot, shape = factors[0]
    product = slots[slot].reshape(shape)
    for slot, shape in factors[1:]:
        product = product * slots[slot].reshape(shape)
    if len(factors) == 1 or np.maximum.reduce(product, axis=None) >= _SMALL:
        return product, 0.0
    return _scaled_product([slots[slot].reshape(shape) for slot, shape in factors])


def _summed(left: FloatArray, right: FloatArray, axis: int) -> FloatArray:
    """(left * right).sum(axis), of large tables without making their product; `einsum` knows 52 axes."""
    if max(left.size, right.size) < _LARGE or left.ndim > 50:
        return np.asarray(np.add.reduce(left * right, axis=axis))
    axes = ascii_letters[: left.ndim]
    return np.asarray(np.einsum(f"{axes},{axes}->{axes[:axis]}{axes[axis + 1 :]}", left, right))


def _scaled_product(factors: Sequence[FloatArray]) -> tuple[FloatArray, float]:
    product: FloatArray = np.ones(())
    log_top = 0.0
    for factor in factors:
        product = product * factor
        top = float(product.max())
        if top == 0.0:
            return np.zeros(np.broadcast_shapes(*(each.shape for each in factors))), 0.0
        product, log_top = product / top, log_top + math.log(top)
    return product, log_top


def _bits(variables: Sequence[int]) -> int:
    found = 0
    for v in variables:
        found |= 1 << v
    return found


@lru_cache(maxsize=1 << 14)
def _variables(bits: int) -> tuple[int, ...]:
    """The variables of a set, ascending.

    >>> _variables(0b1010)
    (1, 3)
    """
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return tuple(found)


def _axis(x: int, union: int) -> int:
    return (union & ((1 << x) - 1)).bit_count()
