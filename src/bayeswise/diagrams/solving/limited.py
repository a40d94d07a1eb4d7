"""Diagrams in which decisions forget (LIMIDs): single policy updating, and whether the result is a proven optimum.

A decision whose best policy does not depend on those of the others under any tables (Koller and Milch 2003) is solved
while the others are uniform; then it is settled, and the next one is found. If that settles all, the policies are
optimal (the diagram is soluble, Lauritzen and Nilsson 2001). Of the rest every combination is tried if they are few;
otherwise each policy in turn becomes the best response to the others until none improves, from several starts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple, Protocol

import numpy as np

from bayeswise.diagrams.solving.ordering import relevant_decisions, requisite
from bayeswise.diagrams.solving.solver import Choice, Numbers, Outcome, Solver, Structure, spread_allowed
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import TooLargeError
from bayeswise.render.numbers import number

STARTS = 20
_MOST_TRIED = 256  # combinations of policies
_MOST_SWEEPS = 200
_BETTER = 1e-12  # of the largest utilities: less is rounding error
_SEED = 20_010


class Rule(NamedTuple):
    """A policy by position: its arguments, and probabilities with axes ascending, the decision's among them."""

    scope: tuple[int, ...]
    table: FloatArray


class Responses(Protocol):
    """The best policy of one decision while all others follow rules; for None, the outcome of the rules."""

    is_coupled: bool  # whether utilities multiply, so that those a decision cannot change matter for it too

    def __call__(self, decision: int | None, rules: Mapping[int, Rule]) -> Outcome: ...

    def with_past(self, structure: Structure) -> Responses:
        """The same for decisions with another past."""
        ...


@dataclass(frozen=True)
class Proof:
    """Whether the policies are proven optimal, and how; `bound` is an upper bound of the utility, where it is known."""

    is_optimal: bool
    reason: str
    bound: float | None = None
    n_starts: int = 0  # of the search, if there was one
    n_reached: int = 0  # starts that ended at the best utility
    recall: int | None = None  # the number of decisions recalled, where more would need tables that are too large

    def __str__(self) -> str:
        if self.recall is not None and not self.is_optimal:
            return f"not proven to be the best: {self.reason}"
        if self.is_optimal:
            return f"proven optimum: {self.reason}"
        limit = (
            "" if self.bound is None else f"; no policies exceed {number(self.bound, 6)}, as if nothing were forgotten"
        )
        return f"local optimum: {self.reason}{limit}"


EXACT = Proof(True, "nothing is forgotten, and each decision is solved from the last to the first")


class SumResponses:
    """Best responses where utilities add up; plans are cached by the scopes of the rules."""

    is_coupled = False

    def __init__(self, structure: Structure, numbers: Numbers, seen: Mapping[int, int]) -> None:
        self._structure, self._numbers, self._seen = structure, numbers, seen
        self._solvers: dict[tuple[tuple[int, tuple[int, ...]], ...], Solver] = {}

    def __call__(self, decision: int | None, rules: Mapping[int, Rule]) -> Outcome:
        key = tuple(sorted((d, rule.scope) for d, rule in rules.items()))
        if key not in self._solvers:
            self._solvers[key] = Solver(self._structure, list(self._seen), dict(key))
        tables = {d: rule.table for d, rule in rules.items()}
        return self._solvers[key].run(self._numbers, self._seen, tables)

    def with_past(self, structure: Structure) -> SumResponses:
        return SumResponses(structure, self._numbers, self._seen)


class Search:
    """The open decisions of a structure, and rules for those that are settled."""

    def __init__(
        self,
        structure: Structure,
        numbers: Numbers,
        seen: Mapping[int, int],
        given: Mapping[int, Rule],
        respond: Responses,
        *,
        forgets: bool = True,
    ) -> None:
        self.structure, self.numbers, self.seen, self.respond = structure, numbers, seen, respond
        self.settled: dict[int, Rule] = {d: rule for d, rule in given.items() if d not in seen}
        self.open = [d for d in structure.past if d not in seen and d not in self.settled]
        self.choices: dict[int, Choice] = {}
        self.forgets = forgets

    def outcome(self, full_past: Mapping[int, tuple[int, ...]], *, starts: int = STARTS) -> tuple[Outcome, Proof]:
        """The best policies that are found, and their proof."""
        outcome, is_soluble = self._settle()
        if is_soluble:
            reason = "soluble, each policy is the best one whatever the others do"
            return outcome, Proof(True, reason) if self.forgets else EXACT
        tried = self._all_of_few()
        if tried is not None:
            utility, rules, n_tried = tried
            proof = Proof(True, f"all {n_tried} combinations of the policies of the other decisions were tried")
        else:
            utility, rules, n_reached = self._best_of(starts)
            proof = self._proof(utility, n_reached, starts, full_past)
        return self.finished(rules), proof

    # -- what can be settled exactly --------------------------------------------------------------------------
    def _settle(self) -> tuple[Outcome, bool]:
        outcome: Outcome | None = None
        while self.open:
            decision = self._free_of_others()
            if decision is None:
                break
            uniform = {d: self.uniform(d) for d in self.open if d != decision}
            outcome = self.respond(decision, {**self.settled, **uniform})
            self._take(decision, outcome.choices[decision])
        if outcome is None or self.open:
            outcome = self.respond(None, {**self.settled, **{d: self.uniform(d) for d in self.open}})
        return outcome._replace(choices=self._ordered()), not self.open

    def _free_of_others(self) -> int | None:
        """An open decision whose best policy depends on no other open one; the last one if none forgets."""
        if not self.forgets:
            return self.open[-1]
        relevant = relevant_decisions(
            self.structure.parents,
            self._requisite(),
            self.structure.utilities,
            known=self.seen,
            given=self._scopes(),
            coupled=self.respond.is_coupled,
        )
        return next((d for d in reversed(self.open) if not relevant[d]), None)

    def _requisite(self) -> dict[int, tuple[int, ...]]:
        """The requisite arguments of each open decision; nonrequisite ones are removed until none is left."""
        info: Mapping[int, Sequence[int]] = {d: self.structure.past[d] for d in self.structure.past}
        while True:
            scopes = requisite(
                self.structure.parents,
                info,
                self.structure.utilities,
                known=self.seen,
                given=self._scopes(),
                forced=self.structure.allowed,
                coupled=self.respond.is_coupled,
            )
            if all(tuple(info[d]) == scopes[d] for d in scopes):
                return scopes
            info = {**info, **scopes}

    def _scopes(self) -> dict[int, tuple[int, ...]]:
        return {d: rule.scope for d, rule in self.settled.items()}

    def uniform(self, decision: int) -> Rule:
        size = self.structure.sizes[decision]
        return Rule((), np.full(size, 1.0 / size))

    def _take(self, decision: int, choice: Choice) -> None:
        self.choices[decision] = choice
        self.settled[decision] = rule_of(choice)
        self.open.remove(decision)

    def _ordered(self) -> dict[int, Choice]:
        return {d: self.choices[d] for d in self.structure.past if d in self.choices}

    # -- the rest ---------------------------------------------------------------------------------------------
    def _all_of_few(self) -> tuple[float, dict[int, Rule], int] | None:
        """Every combination of policies of all but one decision, which responds best; None if they are too many."""
        info = self._requisite()
        counts = {d: self._n_rules(d, info[d]) for d in self.open}
        last = max(self.open, key=lambda d: counts[d])
        others = [d for d in self.open if d != last]
        if math.prod(counts[d] for d in others) > _MOST_TRIED:
            return None
        best: tuple[float, dict[int, Rule]] | None = None
        n_tried = 0
        for rules in product(*(list(self._rules(d, info[d])) for d in others)):
            chosen = dict(zip(others, rules, strict=True))
            outcome = self.respond(last, {**self.settled, **chosen})
            n_tried += 1
            if best is None or outcome.utility > best[0] + _BETTER * self._size:
                best = outcome.utility, {**chosen, last: rule_of(outcome.choices[last])}
        assert best is not None
        return *best, n_tried

    def _n_rules(self, decision: int, scope: Sequence[int]) -> float:
        allowed = self._options(decision, scope)
        with np.errstate(over="ignore"):
            return float(np.prod(allowed.sum(axis=-1, dtype=np.float64)))

    def _options(self, decision: int, scope: Sequence[int]) -> FloatArray:
        """(states of each node of the scope ..., n_options) 1 where an option is allowed."""
        sizes = [*(self.structure.sizes[v] for v in scope), self.structure.sizes[decision]]
        if decision not in self.structure.allowed:
            return np.ones(sizes)
        narrow = spread_allowed(
            self.numbers.allowed[decision], self.structure.allowed[decision], scope, dict(self.seen)
        )
        return np.broadcast_to(narrow, sizes).astype(np.float64)

    def _rules(self, decision: int, scope: Sequence[int]) -> Iterator[Rule]:
        allowed = self._options(decision, scope)
        rows = allowed.reshape(-1, allowed.shape[-1])
        for options in product(*(np.flatnonzero(row).tolist() for row in rows)):
            yield one_option(decision, tuple(scope), np.array(options).reshape(allowed.shape[:-1]), rows.shape[1])

    def _best_of(self, starts: int) -> tuple[float, dict[int, Rule], int]:
        """Single policy updating from several starts: each policy in turn becomes the best response to the others."""
        generator = np.random.default_rng(_SEED)
        info = self._requisite()
        ends: list[tuple[float, dict[int, Rule]]] = []
        for start in range(starts):
            rules = {d: self.uniform(d) if start == 0 else self._drawn(d, info[d], generator) for d in self.open}
            ends.append(self.improved(rules))
        best = max(ends, key=lambda each: each[0])
        return *best, sum(utility >= best[0] - _BETTER * self._size for utility, _ in ends)

    def _drawn(self, decision: int, scope: Sequence[int], generator: np.random.Generator) -> Rule:
        allowed = self._options(decision, scope)
        option = np.where(allowed > 0.0, generator.random(allowed.shape), -1.0).argmax(axis=-1)
        return one_option(decision, tuple(scope), option, allowed.shape[-1])

    def improved(self, rules: dict[int, Rule], most_sweeps: int = _MOST_SWEEPS) -> tuple[float, dict[int, Rule]]:
        reached = -math.inf
        for _ in range(most_sweeps):
            before = reached
            for decision in reversed(self.open):
                others = {d: rule for d, rule in rules.items() if d != decision}
                outcome = self.respond(decision, {**self.settled, **others})
                if outcome.utility > reached + _BETTER * self._size or before == -math.inf:
                    rules[decision] = rule_of(outcome.choices[decision])
                    reached = outcome.utility
            if reached <= before + _BETTER * self._size:
                break
        return reached, rules

    def finished(self, rules: Mapping[int, Rule]) -> Outcome:
        """The choices of the open decisions, each the best response to the current policies of the others."""
        every = {**self.settled, **rules}
        for decision in reversed(self.open):
            response = self.respond(decision, {d: rule for d, rule in every.items() if d != decision})
            self.choices[decision] = response.choices[decision]
            every[decision] = rule_of(response.choices[decision])
        return self.respond(None, every)._replace(choices=self._ordered())

    def _proof(self, utility: float, n_reached: int, starts: int, full_past: Mapping[int, tuple[int, ...]]) -> Proof:
        bound = self._bound(full_past)
        reason = f"{n_reached} of {starts} starts of single policy updating end there"
        if bound is None:
            return Proof(False, reason, None, starts, n_reached)
        if utility >= bound - 1e3 * _BETTER * self._size:
            return Proof(True, "as good as if nothing were forgotten", bound, starts, n_reached)
        return Proof(False, reason, bound, starts, n_reached)

    def _bound(self, full_past: Mapping[int, tuple[int, ...]]) -> float | None:
        """The utility under perfect recall; None where that is too large to be solved."""
        remembering = replace(self.structure, past=full_past)
        given = {d: rule for d, rule in self.settled.items() if d not in self.choices}
        respond = self.respond.with_past(remembering)
        search = Search(remembering, self.numbers, self.seen, given, respond, forgets=False)
        try:
            return search._settle()[0].utility
        except TooLargeError:
            return None

    @property
    def _size(self) -> float:
        return math.fsum(self.numbers.largest)


def rule_of(choice: Choice) -> Rule:
    """The policy that takes the chosen options."""
    return one_option(choice.decision, choice.knows, choice.option, choice.expected.shape[-1])


def one_option(decision: int, scope: tuple[int, ...], option: IntArray, n_options: int) -> Rule:
    """A rule from the option (states of each node of the scope ...) of each case."""
    table = np.moveaxis(np.eye(n_options)[option], -1, sum(v < decision for v in scope))
    return Rule(scope, np.ascontiguousarray(table))
