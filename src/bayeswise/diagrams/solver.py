"""The best policy of each decision, from the last to the first, and the utility that they lead to.

Once the past that cannot matter is pruned, a decision can be optimised by itself: later ones follow the policies
that were found, earlier ones are as open as a coin, which changes no comparison (Lauritzen and Nilsson 2001).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeswise.diagrams.elimination import Argument, Plan
from bayeswise.diagrams.ordering import changed_utilities, requisite
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.networks.graph import Parents, ancestors_of

TIE = 1e-13  # of the mean size of what is added up: closer than this is rounding, and the first option wins


@dataclass(frozen=True)
class Structure:
    """A diagram by position: chance and decision nodes are variables, utilities are apart."""

    sizes: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]  # none for decisions
    past: Mapping[int, tuple[int, ...]]  # decision -> all that is known then, from first to last
    utilities: tuple[tuple[int, ...], ...]  # ascending


@dataclass(frozen=True)
class Numbers:
    """The tables of a structure, axes ascending by variable: p(x | parents) and the utilities."""

    chances: Mapping[int, FloatArray]
    utilities: Sequence[FloatArray]


@dataclass(frozen=True)
class Choice:
    """The best option of a decision for each case of what matters, and what every option would lead to."""

    decision: int
    knows: tuple[int, ...]
    option: IntArray  # (states of each known node ...)
    expected: FloatArray  # (states of each known node ..., n_options)
    possible: BoolArray  # (states of each known node ...)
    best: BoolArray  # (states of each known node ..., n_options) the options that are as good as the chosen one


@dataclass(frozen=True)
class Outcome:
    """All choices, the utility they lead to given the evidence, and log P(evidence)."""

    choices: dict[int, Choice]
    utility: float
    log_evidence: float  # minus infinity if it is impossible


@dataclass(frozen=True)
class Pass:
    """One sweep of sums: whose options it compares, over which utilities, and where the plan's arguments come from."""

    decision: int | None
    utilities: list[int]
    plan: Plan
    sources: list[tuple[str, int]]

    @cached_property
    def axes(self) -> list[int]:
        """The axes of what is kept, the decision last."""
        others = [k for k, v in enumerate(self.plan.keep) if v != self.decision]
        return [*others, *(k for k, v in enumerate(self.plan.keep) if v == self.decision)]

    @cached_property
    def back(self) -> list[int]:
        """What undoes `axes`."""
        return sorted(range(len(self.axes)), key=self.axes.__getitem__)


class Solver:
    """The plans of one structure, with evidence on some nodes and given policies of some decisions, for any numbers."""

    def __init__(
        self,
        structure: Structure,
        evidence: Sequence[int] = (),
        given: Mapping[int, Sequence[int]] | None = None,
    ) -> None:
        self.structure = structure
        self.evidence = frozenset(evidence)
        self.given = {d: tuple(scope) for d, scope in (given or {}).items() if d not in self.evidence}
        self.requisite = requisite(
            structure.parents, structure.past, structure.utilities, known=self.evidence, given=self.given
        )
        graph = [list(above) for above in structure.parents]
        for decision, info in {**self.requisite, **self.given}.items():
            graph[decision] = list(info)
        self._graph = graph
        self._passes: list[Pass] = []
        optimised: set[int] = set()
        for decision in reversed(self.requisite):
            relevant = changed_utilities(graph, structure.utilities, decision)
            self._passes.append(Pass(decision, relevant, *self._plan(decision, relevant, optimised)))
            optimised.add(decision)
        # the first decision's pass tells the expectation of what it changes; the rest needs one more
        changed = self._passes[-1].utilities if self._passes else []
        rest = [k for k in range(len(structure.utilities)) if k not in changed]
        self._last = Pass(None, rest, *self._plan(None, rest, optimised)) if rest or not self._passes else None

    def _plan(
        self, target: int | None, utilities: Sequence[int], optimised: set[int]
    ) -> tuple[Plan, list[tuple[str, int]]]:
        """The plan whose kept variables are the family of the target, and where each of its arguments comes from."""
        sizes, graph = self.structure.sizes, self._graph
        keep = [] if target is None else [*self.requisite[target], target]
        opened: Parents = [  # a decision that is still open depends on nothing
            [] if self._is_open(node, optimised) else above for node, above in enumerate(graph)
        ]
        asked = [*keep, *self.evidence, *(v for k in utilities for v in self.structure.utilities[k])]
        sources: list[tuple[str, int]] = []
        arguments: list[Argument] = []
        for node in sorted(ancestors_of(opened, asked)):
            if node == target or (node in self.evidence and node in self.structure.past):
                continue
            scope = self._free([*opened[node], node])
            conditional = node if node not in self.evidence else None
            arguments.append(Argument(scope, of=conditional))
            sources.append(("open" if self._is_open(node, optimised) else "table", node))
        for k in utilities:
            arguments.append(Argument(self._free(self.structure.utilities[k]), is_utility=True))
            sources.append(("utility", k))
        return Plan(arguments, dict(enumerate(sizes)), keep), sources

    def _is_open(self, node: int, optimised: set[int]) -> bool:
        return node in self.requisite and node not in optimised

    def _free(self, scope: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted(v for v in scope if v not in self.evidence))

    # -- running it -------------------------------------------------------------------------------------------
    def run(
        self,
        numbers: Numbers,
        codes: Mapping[int, int] | None = None,
        policies: Mapping[int, FloatArray] | None = None,
    ) -> Outcome:
        """Solve for these numbers; `codes` are the states of the evidence, `policies` the tables of given decisions."""
        seen = codes or {}
        tables = {node: _at(table, self._scope(node), seen) for node, table in numbers.chances.items()}
        for decision, table in (policies or {}).items():
            tables[decision] = _at(table, self._scope(decision), seen)
        gains = [
            _at(table, scope, seen) for table, scope in zip(numbers.utilities, self.structure.utilities, strict=True)
        ]
        choices: dict[int, Choice] = {}
        total, log_evidence = 0.0, 0.0
        for each in self._passes:
            probability, utility, log_scale = each.plan.run(self._inputs(each, tables, gains))
            choice = self._choice(each, probability, utility, tables, gains)
            decision = choice.decision
            choices[decision] = choice
            tables[decision] = np.eye(self.structure.sizes[decision])[choice.option].transpose(each.back)
            if each is self._passes[-1]:
                followed = probability * tables[decision]
                total, log_evidence = _mean(followed, utility), _log(float(followed.sum())) + log_scale
        if self._last is not None:
            probability, utility, log_scale = self._last.plan.run(self._inputs(self._last, tables, gains))
            total, log_evidence = total + float(utility), _log(float(probability)) + log_scale
        return Outcome(dict(reversed(choices.items())), total, log_evidence)

    def _choice(
        self,
        each: Pass,
        probability: FloatArray,
        utility: FloatArray,
        tables: Mapping[int, FloatArray],
        gains: Sequence[FloatArray],
    ) -> Choice:
        """The first of the best options; what may be a tie is judged by the size of what was summed for it."""
        assert each.decision is not None
        expected = utility.transpose(each.axes)  # (..., n_options)
        possible = np.asarray(probability.transpose(each.axes).max(axis=-1) > 0.0)
        size = sum(float(np.abs(gains[k]).max()) for k in each.utilities)
        best = np.asarray(expected >= expected.max(axis=-1, keepdims=True) - TIE * size)
        if (best.sum(axis=-1) > 1)[possible].any():
            _, absolute, _ = each.plan.run(self._inputs(each, tables, [np.abs(gain) for gain in gains]))
            best = _near_best(expected, TIE * absolute.transpose(each.axes))
        knows = tuple(v for v in each.plan.keep if v != each.decision)
        return Choice(each.decision, knows, np.asarray(best.argmax(axis=-1)), expected, possible, best)

    def _inputs(self, each: Pass, tables: Mapping[int, FloatArray], gains: Sequence[FloatArray]) -> list[FloatArray]:
        sizes = self.structure.sizes
        return [
            gains[k] if kind == "utility" else tables[k] if kind == "table" else np.full(sizes[k], 1.0 / sizes[k])
            for kind, k in each.sources
        ]

    def _scope(self, node: int) -> list[int]:
        return sorted([*self._graph[node], node])


def _at(table: FloatArray, scope: Sequence[int], seen: Mapping[int, int]) -> FloatArray:
    """The part of a table that agrees with the evidence."""
    if not seen or not any(v in seen for v in scope):
        return table
    return np.asarray(table[tuple(seen.get(v, slice(None)) for v in scope)])


def _mean(weight: FloatArray, utility: FloatArray) -> float:
    whole = float(weight.sum())
    return float((weight * utility).sum()) / whole if whole > 0.0 else 0.0


def _log(probability: float) -> float:
    return math.log(probability) if probability > 0.0 else -math.inf


def _near_best(expected: FloatArray, near: FloatArray) -> BoolArray:
    """(..., n_options) the options whose utility is that of the best one, up to what is near for either of them."""
    top = expected.argmax(axis=-1)[..., None]
    slack = np.maximum(near, np.take_along_axis(near, top, axis=-1))
    return np.asarray(expected >= np.take_along_axis(expected, top, axis=-1) - slack)
