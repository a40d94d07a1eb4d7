"""The best policy of each decision, from the last to the first, and the utility that they lead to.

Once the past that cannot matter is pruned, a decision can be optimised by itself: later ones follow the policies
that were found, earlier ones are as open as a coin, which changes no comparison (Lauritzen and Nilsson 2001).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.diagrams.elimination import Argument, Plan
from bayeswise.diagrams.ordering import changed_utilities, requisite
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.networks.graph import Parents, ancestors_of

TIE = 1e-13  # of the largest utilities: closer than this is rounding, and the first option wins


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
        self._passes = []
        optimised: set[int] = set()
        for decision in reversed(self.requisite):
            relevant = changed_utilities(graph, structure.utilities, decision)
            self._passes.append((decision, relevant, self._plan(decision, relevant, optimised)))
            optimised.add(decision)
        # the first decision's pass tells the expectation of what it changes; the rest needs one more
        changed = self._passes[-1][1] if self._passes else []
        rest = [k for k in range(len(structure.utilities)) if k not in changed]
        self._last = self._plan(None, rest, optimised) if rest or not self._passes else None

    def _plan(self, target: int | None, utilities: Sequence[int], optimised: set[int]) -> tuple[Plan, list[Any]]:
        """The plan whose kept variables are the family of the target, and where each of its arguments comes from."""
        sizes, graph = self.structure.sizes, self._graph
        keep = [] if target is None else [*self.requisite[target], target]
        opened: Parents = [  # a decision that is still open depends on nothing
            above if self._is_settled(node, optimised) else [] for node, above in enumerate(graph)
        ]
        asked = [*keep, *self.evidence, *(v for k in utilities for v in self.structure.utilities[k])]
        sources: list[Any] = []
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

    def _is_settled(self, node: int, optimised: set[int]) -> bool:
        return not self._is_open(node, optimised)

    def _free(self, scope: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted(v for v in scope if v not in self.evidence))

    @property
    def n_cells(self) -> float:
        """The cells of the largest table that a run makes."""
        plans = [plan for _, _, (plan, _) in self._passes] + ([self._last[0]] if self._last else [])
        return max(plan.n_cells for plan in plans)

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
        for decision, relevant, (plan, sources) in self._passes:
            probability, utility, log_scale = plan.run(self._inputs(sources, tables, gains))
            size = sum(float(np.abs(gains[k]).max(initial=0.0)) for k in relevant)
            choice = _best(decision, plan.keep, probability, utility, TIE * size)
            choices[decision] = choice
            tables[decision] = _as_table(choice, plan.keep, self.structure.sizes)
            if decision == self._passes[-1][0]:
                followed = probability * tables[decision]
                total, log_evidence = _mean(followed, utility), _log(float(followed.sum())) + log_scale
        if self._last:
            plan, sources = self._last
            probability, utility, log_scale = plan.run(self._inputs(sources, tables, gains))
            total, log_evidence = total + float(utility), _log(float(probability)) + log_scale
        return Outcome(dict(reversed(choices.items())), total, log_evidence)

    def _inputs(
        self, sources: Sequence[Any], tables: Mapping[int, FloatArray], gains: Sequence[FloatArray]
    ) -> list[FloatArray]:
        sizes = self.structure.sizes
        return [
            gains[k] if kind == "utility" else tables[k] if kind == "table" else np.full(sizes[k], 1.0 / sizes[k])
            for kind, k in sources
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


def _best(decision: int, keep: Sequence[int], probability: FloatArray, utility: FloatArray, tie: float) -> Choice:
    axis = keep.index(decision)
    expected = np.moveaxis(utility, axis, -1)
    possible = np.asarray(np.moveaxis(probability, axis, -1).max(axis=-1) > 0.0)
    best = expected >= expected.max(axis=-1, keepdims=True) - tie
    knows = tuple(v for v in keep if v != decision)
    return Choice(decision, knows, np.asarray(np.argmax(best, axis=-1)), expected, possible, best)


def _as_table(choice: Choice, keep: Sequence[int], sizes: Sequence[int]) -> FloatArray:
    """One where the option is chosen, axes ascending by variable."""
    table = np.eye(sizes[choice.decision])[choice.option]
    return np.moveaxis(table, -1, keep.index(choice.decision))
