"""Sums over all that is not asked: pairs of probabilities and utilities, one variable eliminated after the other.

Eliminating x from the probabilities p(x, ...) and the utilities u(x, ...) that mention it leaves the pair
sum_x p and sum_x p u / sum_x p. Which tables meet in which step depends on their arguments alone, so a plan is
made once, its largest table is known before any number is touched, and it runs for any numbers. The loops are in
kernels/decisions/diagrams.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import TooLargeError

LARGEST_STEP = 1 << 26  # cells: a step has up to three tables of this size at once
_MOST_KEPT = 60  # variables: NumPy knows 64 axes


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


class Plan:
    """How to sum out all variables but the kept ones.

    >>> import numpy as np
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
        self.keep = tuple(sorted(keep))
        # variables are numbered anew, as the diagram may have many more
        variables = sorted({*keep, *(v for argument in arguments for v in argument.scope)})
        number = {v: k for k, v in enumerate(variables)}
        self._elimination = _kernels.PairElimination(
            [sizes[v] for v in variables],
            [[number[v] for v in argument.scope] for argument in arguments],
            [argument.is_utility for argument in arguments],
            [-1 if argument.of is None else number[argument.of] for argument in arguments],
            [number[v] for v in self.keep],
            largest,
        )
        self.n_cells = self._elimination.n_cells  # of the largest table of any step
        too_large = [variables[k] for k in self._elimination.too_large] or self.keep[_MOST_KEPT:]
        if too_large:
            raise StepTooLargeError(self.n_cells, too_large, largest)

    def run(self, tables: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray, float]:
        """p and u of the kept variables, both with their shape, and the logarithm of what p was divided by."""
        return self._elimination.run(tables)
