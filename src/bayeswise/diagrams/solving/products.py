"""Best responses where utilities multiply: exponential utility of their sum.

exp(-(u1 + u2) / R) = exp(-u1 / R) exp(-u2 / R), so each utility is a factor like the probabilities, and options are
compared by the sum of products over all unknown nodes. Factors are scaled to at most 1, so that nothing overflows;
everything is positive, so that nothing cancels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from bayeswise.diagrams.solving.limited import Rule
from bayeswise.diagrams.solving.ordering import requisite
from bayeswise.diagrams.solving.solver import (
    TIE,
    Argument,
    Choice,
    Numbers,
    Outcome,
    Plan,
    Structure,
    at_evidence,
    near_best,
    spread_allowed,
)
from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.directed_graph import ancestors_of, children_of, descendants_of
from bayeswise.foundation.errors import TooLargeError

_WIDEST = 500.0  # tolerances: exp(-500) times small probabilities does not underflow


@dataclass(frozen=True)
class _Comparison:
    """The plans that compare the options of a decision: with all factors, and with those that it cannot change."""

    knows: tuple[int, ...]
    changed: frozenset[int]  # utilities
    whole: tuple[Plan, tuple[tuple[str, int], ...]]
    rest: tuple[Plan, tuple[tuple[str, int], ...]]


class ProductResponses:
    """The best policy of one decision under exponential utility while all others follow rules."""

    is_coupled = True

    def __init__(self, structure: Structure, numbers: Numbers, seen: Mapping[int, int], tolerance: float) -> None:
        self._structure, self._numbers, self._seen, self._tolerance = structure, numbers, seen, tolerance
        self._size = math.fsum(numbers.largest)
        self._references = [float(u.min() if tolerance > 0.0 else u.max()) for u in numbers.utilities]
        span = math.fsum(float(u.max() - u.min()) for u in numbers.utilities)
        if span > _WIDEST * abs(tolerance):
            raise TooLargeError(
                f"the utilities span {span / abs(tolerance):.3g} risk tolerances; {_WIDEST:g} can be computed",
                fix=f"give a tolerance of at least {span / _WIDEST:.3g}",
            )
        self._factors = [
            at_evidence(np.exp(-(u - reference) / tolerance), scope, seen)
            for u, reference, scope in zip(numbers.utilities, self._references, structure.utilities, strict=True)
        ]
        self._chances = {
            node: at_evidence(table, sorted([*structure.parents[node], node]), seen)
            for node, table in numbers.chances.items()
        }
        self._comparisons: dict[object, _Comparison] = {}
        self._log_evidence: float | None = None

    def with_past(self, structure: Structure) -> ProductResponses:
        """The same for decisions with another past."""
        return ProductResponses(structure, self._numbers, self._seen, self._tolerance)

    def __call__(self, decision: int | None, rules: Mapping[int, Rule]) -> Outcome:
        """The best options, and the certainty equivalent of all utilities."""
        key = (decision, tuple(sorted((d, rule.scope) for d, rule in rules.items())))
        if key not in self._comparisons:
            self._comparisons[key] = self._comparison(decision, {d: rule.scope for d, rule in rules.items()})
        plans = self._comparisons[key]
        whole, log_whole = self._run(plans.whole, rules)
        rest, log_rest = self._run(plans.rest, rules)
        log_evidence = self._evidence(rules)
        choices: dict[int, Choice] = {}
        if decision is not None:
            place = sum(v < decision for v in plans.knows)
            whole, rest = np.moveaxis(whole, place, -1), np.moveaxis(rest, place, -1)  # (..., n_options)
            choice = self._choice(decision, plans, whole, rest, log_whole - log_rest)
            choices[decision] = choice
            whole = np.take_along_axis(whole, choice.option[..., None], axis=-1)
        total = float(whole.sum())
        log_mean = math.log(total) + log_whole - log_evidence if total > 0.0 and log_evidence > -math.inf else 0.0
        return Outcome(choices, float(self._in_money(math.fsum(self._references), log_mean)), log_evidence)

    def _in_money(self, reference: float, log_mean: FloatArray | float) -> FloatArray:
        """The certainty equivalent; 0 where only rounding error is left."""
        moved = self._tolerance * np.asarray(log_mean)
        found = reference - moved
        return np.where(np.abs(found) <= 4e-16 * (abs(reference) + np.abs(moved)), 0.0, found)

    def _choice(
        self, decision: int, plans: _Comparison, whole: FloatArray, rest: FloatArray, log_ratio: float
    ) -> Choice:
        """Certainty equivalents of the utilities that the decision can change, given what it knows."""
        possible = np.asarray((rest > 0.0).any(axis=-1))
        happens = (whole > 0.0) & (rest > 0.0)
        log_mean = np.where(happens, _log(whole, happens) - _log(rest, happens) + log_ratio, 0.0)
        reference = math.fsum(self._references[k] for k in plans.changed)
        expected = np.where(happens, self._in_money(reference, log_mean), 0.0)
        scope = self._structure.allowed.get(decision)
        compared, allowed = expected, None
        if scope is not None:
            narrow = spread_allowed(self._numbers.allowed[decision], scope, plans.knows, self._seen)
            allowed = np.broadcast_to(narrow, expected.shape)
            compared = np.where(allowed, expected, -np.inf)
        largest_log = np.abs(_log(whole, happens)) + np.abs(_log(rest, happens)) + 1.0
        near = TIE * (abs(self._tolerance) * largest_log + np.abs(expected) + abs(reference))
        best = near_best(compared, near)
        return Choice(decision, plans.knows, np.asarray(best.argmax(axis=-1)), expected, possible, best, allowed)

    # -- plans ------------------------------------------------------------------------------------------------
    def _comparison(self, decision: int | None, scopes: Mapping[int, Sequence[int]]) -> _Comparison:
        structure = self._structure
        graph = [list(scopes.get(node, above)) for node, above in enumerate(structure.parents)]
        every = frozenset(range(len(structure.utilities)))
        if decision is None:
            return _Comparison((), every, self._plan(graph, [], every, None), self._plan(graph, [], frozenset(), None))
        knows = requisite(
            structure.parents,
            {decision: structure.past[decision]},
            structure.utilities,
            known=self._seen,
            given=scopes,
            forced=structure.allowed,
            coupled=True,
        )[decision]
        below = descendants_of(children_of(graph), [decision])
        changed = frozenset(k for k, scope in enumerate(structure.utilities) if not below.isdisjoint(scope))
        keep = [*knows, decision]
        whole = self._plan(graph, keep, every, decision)
        return _Comparison(knows, changed, whole, self._plan(graph, keep, every - changed, decision))

    def _plan(
        self, graph: list[list[int]], keep: Sequence[int], factors: frozenset[int], decision: int | None
    ) -> tuple[Plan, tuple[tuple[str, int], ...]]:
        structure = self._structure
        targets = [*keep, *self._seen, *(v for k in factors for v in structure.utilities[k])]
        sources: list[tuple[str, int]] = []
        arguments: list[Argument] = []
        for node in sorted(ancestors_of(graph, targets)):
            if node != decision and not (node in self._seen and node in structure.past):
                arguments.append(
                    Argument(self._free([*graph[node], node]), False, None if node in self._seen else node)
                )
                sources.append(("table", node))
        for k in sorted(factors):
            arguments.append(Argument(self._free(structure.utilities[k])))
            sources.append(("factor", k))
        return Plan(arguments, structure.sizes, keep), tuple(sources)

    def _free(self, scope: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted(v for v in scope if v not in self._seen))

    def _run(
        self, planned: tuple[Plan, tuple[tuple[str, int], ...]], rules: Mapping[int, Rule]
    ) -> tuple[FloatArray, float]:
        plan, sources = planned
        tables = [self._factors[of] if kind == "factor" else self._table(of, rules) for kind, of in sources]
        probability, _, log_scale = plan.run(tables)
        return probability, log_scale

    def _table(self, node: int, rules: Mapping[int, Rule]) -> FloatArray:
        if node not in rules:
            return self._chances[node]
        rule = rules[node]
        return at_evidence(rule.table, sorted([*rule.scope, node]), self._seen)

    def _evidence(self, rules: Mapping[int, Rule]) -> float:
        """log P(evidence), which no open decision changes."""
        if not self._seen:
            return 0.0
        key = tuple(sorted((d, rule.scope) for d, rule in rules.items()))
        if ("evidence", key) not in self._comparisons:
            scopes = {d: rule.scope for d, rule in rules.items()}
            self._comparisons["evidence", key] = self._comparison(None, scopes)
        probability, log_scale = self._run(self._comparisons["evidence", key].rest, rules)
        total = float(probability)
        return math.log(total) + log_scale if total > 0.0 else -math.inf


def _log(values: FloatArray, where: BoolArray) -> FloatArray:
    found: FloatArray = np.log(values, where=where, out=np.zeros(values.shape))
    return found
