"""Canonical models: CPTs of many independent causes, given by a few parameters for each.

A noisy maximum (noisy-OR for two states) has one small table for each cause. Expanded it has a row for each combination
of causes; exact inference uses a chain of small tables instead, so dozens of causes take milliseconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import NetworkError, ParameterError
from bayeswise.networks.arguments import names_of
from bayeswise.networks.node import LARGEST_TABLE, checked


@dataclass(frozen=True, eq=False)
class NoisyMax:
    """The effect is the maximum of what each cause, and the leak, produces alone; states from strongest to none.

    `causes[i]` has a row for each state of parent i: the distribution of the effect if only this cause acts.

    >>> NoisyMax([[[0.8, 0.2], [0.0, 1.0]], [[0.5, 0.5], [0.0, 1.0]]]).table().round(9).tolist()
    [[0.9, 0.1], [0.8, 0.2], [0.5, 0.5], [0.0, 1.0]]
    """

    causes: tuple[FloatArray, ...]
    leak: FloatArray  # (n_states,)

    def __init__(self, causes: Sequence[Any], leak: Sequence[float] | None = None) -> None:
        try:
            tables = [np.array(cause, dtype=np.float64) for cause in causes]
        except (TypeError, ValueError, OverflowError):
            raise ParameterError("a cause of a noisy maximum is not a table of numbers", fix="give rows of p") from None
        n_states = tables[0].shape[-1] if tables and tables[0].ndim else 0
        if not n_states or any(table.ndim != 2 or table.shape[1] != n_states for table in tables):
            raise ParameterError(
                "causes of a noisy maximum are tables with one column for each state of the effect",
                fix="give [[p, ...], ...] for each cause, a row for each of its states",
            )
        try:
            base = np.eye(n_states)[-1] if leak is None else np.array(leak, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(f"the leak is {leak!r:.80}", fix="give a number for each state") from None
        if base.shape != (n_states,):
            raise ParameterError(f"the leak has {base.size} numbers for {n_states} states", fix="give one for each")
        kept = [checked("noisy maximum", table, [])[0] for table in (*tables, base[None, :])]
        for table in kept:
            table.flags.writeable = False
        object.__setattr__(self, "causes", tuple(kept[:-1]))
        object.__setattr__(self, "leak", kept[-1][0])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NoisyMax):
            return NotImplemented
        mine, theirs = (*self.causes, self.leak), (*other.causes, other.leak)
        return len(mine) == len(theirs) and all(map(np.array_equal, mine, theirs))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.causes)} causes, {len(self.leak)} states)"

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        return (len(self.leak) - 1) * (1 + sum(len(cause) for cause in self.causes))

    def check_parents(self, node: str, sizes: Sequence[int], n_states: int) -> None:
        """Refuse what does not fit the parents and states of a node."""
        given = [len(cause) for cause in self.causes]
        if given != list(sizes) or len(self.leak) != n_states:
            raise NetworkError(
                f"the noisy table of {node!r} is about causes with {given} states and {len(self.leak)} states of the "
                f"effect; its parents have {list(sizes)}, it has {n_states}",
                fix="give one table for each parent, in their order",
            )

    def table(self) -> FloatArray:
        """(n_configurations, n_states) the expanded table."""
        n_cells = math.prod(len(cause) for cause in self.causes) * len(self.leak)
        if n_cells > LARGEST_TABLE:
            raise NetworkError(
                f"expanded, the table of {len(self.causes)} causes has {n_cells:.3g} cells",
                fix="use network.query(...), which does not expand it",
            )
        return _strongest([*self.causes, self.leak[None, :]])

    def chain(self) -> list[FloatArray]:
        """The first cause with the leak, then for each further one the table given (effect so far, that cause)."""
        nothing = np.eye(len(self.leak))
        first = _strongest([self.leak[None, :], self.causes[0]])
        return [first, *(_strongest([nothing, cause]) for cause in self.causes[1:])]


def NoisyOr(causes: Mapping[str, float] | Sequence[float], leak: float = 0.0) -> NoisyMax:
    """Causes and effect have the states (yes, no); P(no) = (1 - leak) prod (1 - p_i) over the causes that are present.

    >>> NoisyOr({"flu": 0.8, "cold": 0.5})
    NoisyMax(2 causes, 2 states)
    """
    chances = list(causes.values()) if isinstance(causes, Mapping) else names_of(causes, "causes")
    for p in (*chances, leak):
        if not isinstance(p, int | float | np.number):
            raise ParameterError(f"the chance of a cause is {p!r:.80}", fix="give a number from 0 to 1")
    return NoisyMax([[[p, 1.0 - p], [0.0, 1.0]] for p in chances], [leak, 1.0 - leak])


def noisy_or(causes: Mapping[str, float], leak: float = 0.0) -> FloatArray:
    """The expanded rows of `NoisyOr`, in the order of the causes.

    >>> noisy_or({"flu": 0.8, "cold": 0.5}).round(9).tolist()
    [[0.9, 0.1], [0.8, 0.2], [0.5, 0.5], [0.0, 1.0]]
    """
    return NoisyOr(causes, leak).table()


def noisy_max(causes: Sequence[Sequence[Sequence[float]]], leak: Sequence[float] | None = None) -> FloatArray:
    """The expanded rows of `NoisyMax`.

    >>> noisy_max([[[0.8, 0.2], [0.0, 1.0]]]).tolist()
    [[0.8, 0.2], [0.0, 1.0]]
    """
    return NoisyMax(causes, leak).table()


def _strongest(tables: Sequence[FloatArray]) -> FloatArray:
    """The strongest of independent draws, one from each table: P(weaker or equal k) = prod_i P_i(weaker or equal k)."""
    weaker = np.ones((1, tables[0].shape[1]))
    for table in tables:
        tail = np.cumsum(table[:, ::-1], axis=1)  # P(weakest k states)
        weaker = (weaker[:, None, :] * tail[None, :, :]).reshape(-1, tail.shape[1])
    return np.ascontiguousarray(np.clip(np.diff(weaker, axis=1, prepend=0.0)[:, ::-1], 0.0, 1.0))
