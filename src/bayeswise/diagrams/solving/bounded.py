"""Bounds where optimal policies would depend on too much of the past: policies of limited recall, and an upper bound.

Each decision recalls what became known from `recall` decisions before it on; such policies are improved one by one, and
their expected utility is computed exactly: a lower bound that is attained. The upper bound is the maximum expected
utility if each decision also observed the hidden causes of all that became known before that. More information never
hurts, and everything older than these causes is then irrelevant (an information relaxation as in Brown, Smith and Sun
2010; with recall 0 it is the fast informed bound of Hauskrecht 2000). Both are the optimum with full recall.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from bayeswise.diagrams.solving.limited import Proof, Rule, Search, SumResponses
from bayeswise.diagrams.solving.ordering import Pasts
from bayeswise.diagrams.solving.solver import LARGEST_STEP, Numbers, Outcome, Solver, Structure
from bayeswise.foundation.directed_graph import ancestors_of, ancestral_order
from bayeswise.foundation.errors import TooLargeError
from bayeswise.render.numbers import number

_WORK = 1 << 24  # cells of a table, times the square of the decisions: some seconds
_FEWEST_CELLS = 1 << 10
_SWEEPS = 6
_SAME = 1e-9  # of the largest utilities


class Bounds:
    """Bounds of a structure with perfect recall; `knows` is what each decision observes itself."""

    def __init__(
        self,
        structure: Structure,
        knows: Mapping[int, Sequence[int]],
        seen: Mapping[int, int],
        given: Mapping[int, Rule],
    ) -> None:
        assert isinstance(structure.past, Pasts)
        self.structure, self.knows, self.seen = structure, knows, seen
        self.given = {d: rule for d, rule in given.items() if d not in seen}
        self.newly_observed = structure.past.without({*seen, *self.given}).newly_observed
        self.decisions = list(self.newly_observed)
        self._graph = [list(above) for above in structure.parents]
        for decision, rule in self.given.items():
            self._graph[decision] = list(rule.scope)
        self._observes_effects = False
        if not self._is_relaxed_within(0, LARGEST_STEP):
            self._observes_effects = True  # hidden states without observations are observed as well

    def chosen_recall(self) -> int | None:
        """The largest recall whose tables are small enough for an answer in seconds; None if none fits at all."""
        largest = max(_FEWEST_CELLS, _WORK // max(1, len(self.decisions)) ** 2)
        largest_recall = None
        for recall in count():
            if not self.fits(recall, largest if recall else LARGEST_STEP):
                return largest_recall
            largest_recall = recall
            if recall + 1 >= len(self.decisions):
                return largest_recall
        return largest_recall

    def fits(self, recall: int, largest: float) -> bool:
        """Whether no table of either bound has more cells than `largest`."""
        if not self._is_relaxed_within(recall, largest):
            return False
        limited = self.recalling(recall)
        try:
            Solver(limited, list(self.seen), {**self._scopes(), **self._windows(limited)}, largest=largest)
            others = dict(list(self._windows(limited).items())[:-1])
            Solver(limited, list(self.seen), {**self._scopes(), **others}, largest=largest)
        except TooLargeError:
            return False
        return True

    def solve(self, numbers: Numbers, recall: int) -> tuple[Outcome, Proof]:
        """Policies that recall `recall` decisions, and the bound."""
        tables = {d: rule.table for d, rule in self.given.items()}
        bound = self._relaxed_solver(recall, LARGEST_STEP).run(numbers, self.seen, tables).utility
        limited = self.recalling(recall)
        respond = SumResponses(limited, numbers, self.seen)
        search = Search(limited, numbers, self.seen, self.given, respond)
        _, rules = search.improved({d: search.uniform(d) for d in search.open}, _SWEEPS)
        outcome = search.finished(rules)
        bound = max(bound, outcome.utility)  # where both are the optimum they differ by rounding error
        is_optimal = bound - outcome.utility <= _SAME * sum(numbers.largest)
        return outcome, bounded_proof(is_optimal, outcome.utility, bound, recall)

    def recalling(self, recall: int) -> Structure:
        """The structure in which decisions know what became known from `recall` decisions before them on."""
        past: dict[int, tuple[int, ...]] = dict.fromkeys(self.structure.past, ())
        for k, decision in enumerate(self.decisions):
            window = self.decisions[max(0, k - recall) : k + 1]
            past[decision] = tuple(
                sorted({*self.knows[decision], *(v for d in window for v in self.newly_observed[d])})
            )
        return replace(self.structure, past=past)

    def relaxed(self, recall: int) -> Structure:
        """The structure with perfect recall in which decisions also know the causes of all that they do not recall."""
        effects: dict[int, list[int]] = {}  # by the last decision that they depend on
        if self._observes_effects:
            effects = self._effects()
        observed: dict[int, Iterable[int]] = {}
        for k, decision in enumerate(self.decisions):
            observed[decision] = self.newly_observed[decision]
            old = k - recall - 1
            if old >= 0:
                causes = ancestors_of(self._graph, self.newly_observed[self.decisions[old]])
                observed[decision] = [*observed[decision], *sorted(causes), *effects.get(old - 1, [])]
        open_past = Pasts(observed)
        settled: dict[int, tuple[int, ...]] = {d: () for d in self.structure.past if d not in observed}
        return replace(self.structure, past={**settled, **open_past} if settled else open_past)

    def _effects(self) -> dict[int, list[int]]:
        """The chance nodes by the rank of the last decision that they depend on."""
        rank = {d: k for k, d in enumerate(self.decisions)}
        latest: dict[int, int] = {}
        effects: dict[int, list[int]] = {}
        for node in ancestral_order(self._graph, [str(node) for node in range(len(self._graph))]):
            latest[node] = max([rank.get(node, -1), *(latest[parent] for parent in self._graph[node])])
            if node not in rank and latest[node] >= 0:
                effects.setdefault(latest[node], []).append(node)
        return effects

    def _is_relaxed_within(self, recall: int, largest: float) -> bool:
        try:
            self._relaxed_solver(recall, largest)
        except TooLargeError:
            return False
        return True

    def _relaxed_solver(self, recall: int, largest: float) -> Solver:
        return Solver(self.relaxed(recall), list(self.seen), self._scopes(), largest=largest)

    def _scopes(self) -> dict[int, tuple[int, ...]]:
        return {d: rule.scope for d, rule in self.given.items()}

    def _windows(self, limited: Structure) -> dict[int, tuple[int, ...]]:
        return {d: tuple(v for v in limited.past[d] if v not in self.seen) for d in self.decisions}


def bounded_proof(is_optimal: bool, utility: float, bound: float, recall: int) -> Proof:
    """The proof for policies that recall `recall` decisions, with utility and bound in the displayed unit."""
    more = "" if is_optimal else f", which is {number(bound - utility, 3)} more"
    reason = f"no policies exceed {number(bound, 6)}{more}; each decision recalls {_span(recall)}"
    return Proof(is_optimal, reason, bound, recall=recall)


def _span(recall: int) -> str:
    if recall == 0:
        return "only what is new to it"
    return f"what became known from {recall} decision{'s' if recall > 1 else ''} before it on"
