"""The optimal policy of each decision, from the last to the first, and their expected utility.

Given its requisite past, a decision's utilities (those that it can change) are independent of the rest of its past. So
they are replaced by the value of the best option, a table over the requisite past, and the decision before it is next.
Earlier decisions are uniform, which changes no comparison (Lauritzen and Nilsson 2001).

All other variables are eliminated, one after the other: eliminating x from the probabilities p(x, ...) and the
utilities u(x, ...) that contain it leaves the pair sum_x p and sum_x p u / sum_x p. The elimination depends on the
scopes of the tables alone, so it is planned once, its largest table is known before any number is used, and the plan
runs for any numbers. The loops are in kernels/decisions/diagrams.cpp.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bayeswise import _kernels
from bayeswise.diagrams.solving.ordering import of_open
from bayeswise.diagrams.solving.remaining import Gain, Remaining
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.directed_graph import ancestors_of
from bayeswise.foundation.errors import TooLargeError

_GAINS = ("utility", "value")
TIE = 1e-13  # of the mean size of the summands: closer options tie, and the first one wins


# -- variable elimination ------------------------------------------------------------------------------------
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
    """A factor: the variables of its axes, ascending; `of` is x where it is p(x | the others)."""

    scope: tuple[int, ...]
    is_utility: bool = False
    of: int | None = None


class Plan:
    """A plan to eliminate all variables but the kept ones.

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
        # variables are renumbered, as the diagram may have many more
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
        """p and u of the kept variables, both with their shape, and the log of the scale of p."""
        return self._elimination.run(tables)


# -- one decision after the other ----------------------------------------------------------------------------
@dataclass(frozen=True)
class Structure:
    """A diagram by position: chance and decision nodes are variables, utilities are apart."""

    sizes: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]  # none for decisions
    past: Mapping[int, tuple[int, ...]]  # decision -> its past, from first to last
    utilities: tuple[tuple[int, ...], ...]  # ascending
    allowed: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # decision -> what its options depend on


@dataclass(frozen=True)
class Numbers:
    """The tables of a structure, axes ascending by variable: p(x | parents) and the utilities."""

    chances: Mapping[int, FloatArray]
    utilities: Sequence[FloatArray]
    allowed: Mapping[int, BoolArray] = field(default_factory=dict)  # (states of what they depend on ..., n_options)

    @cached_property
    def largest(self) -> list[float]:
        """The largest absolute entry of each utility."""
        return [float(np.abs(table).max()) for table in self.utilities]


class Choice(NamedTuple):
    """The best option of a decision for each case of its requisite past, and the expected utility of every option."""

    decision: int
    knows: tuple[int, ...]
    option: IntArray  # (states of each known node ...)
    expected: FloatArray  # (states of each known node ..., n_options)
    possible: BoolArray  # (states of each known node ...) as far as the tables of this step show
    best: BoolArray  # (states of each known node ..., n_options) the options that are as good as the chosen one
    allowed: BoolArray | None = None  # (states of each known node ..., n_options)


class Outcome(NamedTuple):
    """All choices, the utility they lead to given the evidence, and log P(evidence)."""

    choices: dict[int, Choice]
    utility: float
    log_evidence: float  # minus infinity if it is impossible


class Pass(NamedTuple):
    """One elimination: the decision whose options it compares, its gains, and the sources of the plan's arguments."""

    decision: int | None
    gains: tuple[Gain, ...]
    plan: Plan
    sources: tuple[tuple[str, int], ...]
    axes: list[int] | None  # of what is kept, the decision last; None where it is last already


class Solver:
    """The plans of one structure, with evidence on some nodes and given policies of some decisions, for any numbers."""

    def __init__(
        self,
        structure: Structure,
        evidence: Sequence[int] = (),
        given: Mapping[int, Sequence[int]] | None = None,
        *,
        largest: float = LARGEST_STEP,
    ) -> None:
        self.structure, self._largest_step = structure, largest
        self.evidence = frozenset(evidence)
        self.given = {d: tuple(scope) for d, scope in (given or {}).items() if d not in self.evidence}
        self.graph = [list(self.given.get(node, above)) for node, above in enumerate(structure.parents)]
        self.requisite: dict[int, tuple[int, ...]] = {}
        self.passes: list[Pass] = []
        past = of_open(structure.past, {*self.given, *self.evidence})
        remaining = Remaining(self.graph, past, structure.utilities, self.evidence)
        decisions = list(past)
        for decision in reversed(decisions):
            relevant = remaining.relevant(decision, structure.allowed.get(decision, ()))
            self.requisite[decision] = relevant.requisite
            # only the first one needs the probability of what it knows, and so the tables of all ancestors
            self.passes.append(
                self._pass(decision, relevant.gains, relevant.tables if decision != decisions[0] else None)
            )
            remaining.settle(decision, relevant)
        # the first decision's pass gives the expectation of what it changes; the rest needs one more
        rest = remaining.gains[:-1] if self.passes else remaining.gains
        self.last = self._pass(None, rest, None) if rest or not self.passes else None
        every = self.passes if self.last is None else [*self.passes, self.last]
        self.open = {source for each in every for source in each.sources if source[0] == "open"}
        self.n_visits = remaining.n_visits

    def _pass(self, target: int | None, gains: tuple[Gain, ...], tables: Sequence[int] | None) -> Pass:
        """The plan whose kept variables are the target and its requisite past; decisions have no parents."""
        keep = [] if target is None else [*self.requisite[target], target]
        if tables is None:
            targets = [*keep, *self.evidence, *(v for gain in gains for v in gain.scope)]
            tables = sorted(ancestors_of(self.graph, targets))
        sources: list[tuple[str, int]] = []
        arguments: list[Argument] = []
        for node in tables:
            if node == target or (node in self.evidence and node in self.structure.past):
                continue
            is_open = node in self.structure.past and node not in self.given
            if node in keep and is_open:
                continue  # an open decision that is known, which is uniform
            scope = self._free([*self.graph[node], node])
            arguments.append(Argument(scope, False, None if node in self.evidence else node))
            sources.append(("open" if is_open else "table", node))
        for gain in gains:
            arguments.append(Argument(self._free(gain.scope), True))
            sources.append((gain.kind, gain.of))
        plan = Plan(arguments, self.structure.sizes, keep, self._largest_step)
        axes = None
        if target is not None and plan.keep[-1] != target:
            axes = [*(k for k, v in enumerate(plan.keep) if v != target), plan.keep.index(target)]
        return Pass(target, gains, plan, tuple(sources), axes)

    def _free(self, scope: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted([v for v in scope if v not in self.evidence] if self.evidence else scope))

    def run(
        self,
        numbers: Numbers,
        codes: Mapping[int, int] | None = None,
        policies: Mapping[int, FloatArray] | None = None,
    ) -> Outcome:
        """Solve for these numbers; `codes` are the states of the evidence, `policies` the tables of given decisions."""
        return _Run(self, numbers, codes or {}, policies or {}).outcome()


class _Run:
    """One run: the tables reduced by the evidence, and the choices so far."""

    def __init__(
        self, solver: Solver, numbers: Numbers, seen: Mapping[int, int], policies: Mapping[int, FloatArray]
    ) -> None:
        self._solver = solver
        self._largest = {("utility", k): largest for k, largest in enumerate(numbers.largest)}  # of each gain
        sizes, graph = solver.structure.sizes, solver.graph
        self._tables = {("table", node): table for node, table in {**numbers.chances, **policies}.items()}
        self._tables |= {("utility", k): table for k, table in enumerate(numbers.utilities)}
        if seen:
            scopes = {("table", node): sorted([*graph[node], node]) for node in (*numbers.chances, *policies)}
            scopes |= {("utility", k): list(scope) for k, scope in enumerate(solver.structure.utilities)}
            self._tables = {key: at_evidence(table, scopes[key], seen) for key, table in self._tables.items()}
        for source in solver.open:
            self._tables[source] = np.full(sizes[source[1]], 1.0 / sizes[source[1]])
        self._choices: dict[int, Choice] = {}
        self._allowed, self._seen = numbers.allowed, seen
        self._n_sized = 0  # passes whose sizes are known, which only ties need

    def outcome(self) -> Outcome:
        """The passes from the last decision to the first, and the total expected utility."""
        total, log_evidence = 0.0, 0.0
        for each in self._solver.passes:
            probability, utility, log_scale = each.plan.run([self._tables[source] for source in each.sources])
            choice, value = self._choice(each, probability, utility)
            self._choices[choice.decision] = choice
            self._tables["value", choice.decision] = value
            if each is self._solver.passes[-1]:
                weight = _at_option(_decision_last(probability, each), choice.option)
                whole = float(np.add.reduce(weight, axis=None))
                total = float(np.add.reduce(weight * value, axis=None)) / whole if whole > 0.0 else 0.0
                log_evidence = _log(whole) + log_scale
        if self._solver.last is not None:
            sources = self._solver.last.sources
            probability, utility, log_scale = self._solver.last.plan.run([self._tables[source] for source in sources])
            total, log_evidence = total + float(utility), _log(float(probability)) + log_scale
        return Outcome(dict(reversed(self._choices.items())), total, log_evidence)

    def _choice(self, each: Pass, probability: FloatArray, utility: FloatArray) -> tuple[Choice, FloatArray]:
        """The first of the best options, and its utility; what counts as a tie depends on the size of the summands."""
        assert each.decision is not None
        keep = each.plan.keep
        knows = tuple([v for v in keep if v != each.decision])
        scope = self._solver.structure.allowed.get(each.decision)
        allowed = None
        if scope is not None:
            narrow = spread_allowed(self._allowed[each.decision], scope, knows, self._seen)
            shape = [*(self._solver.structure.sizes[v] for v in knows), narrow.shape[-1]]
            allowed = np.ascontiguousarray(np.broadcast_to(narrow, shape))
        largest = math.fsum([self._largest[gain.kind, gain.of] for gain in each.gains])
        self._largest["value", each.decision] = largest
        option, value, expected, possible, best, is_tied = _kernels.best_options(
            probability, utility, keep.index(each.decision), TIE * largest, allowed
        )
        if is_tied:
            compared = expected if allowed is None else np.where(allowed, expected, -np.inf)
            best = near_best(compared, TIE * self._sizes(each))
            option = np.asarray(best.argmax(axis=-1))
            value = _at_option(expected, option)
        return Choice(each.decision, knows, option, expected, possible, best, allowed), value

    def _sizes(self, each: Pass) -> FloatArray:
        """(..., n_options) the expectation of the absolute utilities of each option."""
        for later in self._solver.passes[self._n_sized : len(self._choices)]:  # from the last decision to the next
            assert later.decision is not None
            sizes = _at_option(self._absolute(later), self._choices[later.decision].option)
            self._tables["size of value", later.decision] = sizes
            self._n_sized += 1
        return self._absolute(each)

    def _absolute(self, each: Pass) -> FloatArray:
        for kind, k in each.sources:
            if kind == "utility" and ("size of utility", k) not in self._tables:
                self._tables["size of utility", k] = np.abs(self._tables[kind, k])
        inputs = [self._tables[f"size of {kind}" if kind in _GAINS else kind, k] for kind, k in each.sources]
        return _decision_last(each.plan.run(inputs)[1], each)


def _decision_last(table: FloatArray, each: Pass) -> FloatArray:
    """The table with the axis of the decision last."""
    return table if each.axes is None else table.transpose(each.axes)


def _at_option(cells: FloatArray, option: IntArray) -> FloatArray:
    """The cells (..., n_options) of the chosen options."""
    rows = cells.reshape(-1, cells.shape[-1])
    return np.asarray(rows[np.arange(len(rows)), option.ravel()].reshape(option.shape))


def at_evidence(table: FloatArray, scope: Sequence[int], seen: Mapping[int, int]) -> FloatArray:
    """A table reduced by the evidence."""
    if not any(v in seen for v in scope):
        return table
    return np.ascontiguousarray(table[tuple(seen.get(v, slice(None)) for v in scope)])


def _log(probability: float) -> float:
    return math.log(probability) if probability > 0.0 else -math.inf


def spread_allowed(
    allowed: BoolArray, scope: Sequence[int], knows: Sequence[int], seen: Mapping[int, int]
) -> BoolArray:
    """(1 or states of each known node ..., n_options) which options are allowed, given the evidence."""
    part = allowed[(*(seen.get(v, slice(None)) for v in scope), slice(None))]
    sizes = iter(part.shape)
    left = {v: next(sizes) for v in scope if v not in seen}
    return part.reshape([*(left.get(v, 1) for v in knows), part.shape[-1]])


def near_best(expected: FloatArray, near: FloatArray) -> BoolArray:
    """(..., n_options) the options whose utility is that of the best one, within the larger tolerance of both."""
    top = expected.argmax(axis=-1)[..., None]
    slack = np.maximum(near, np.take_along_axis(near, top, axis=-1))
    return np.asarray(expected >= np.take_along_axis(expected, top, axis=-1) - slack)
