"""Which decision comes first, what each may know, and which of it matters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from bayeswise.foundation.directed_graph import Parents, ancestors_of, children_of
from bayeswise.foundation.errors import NetworkError


def decision_order(
    parents: Parents, order: Sequence[int], decisions: Iterable[int], names: Sequence[str]
) -> tuple[int, ...]:
    """The decisions from first to last; each must be reached from the one before it, or their order is open.

    >>> decision_order([[], [0], [1]], [0, 1, 2], [2, 0], ["test", "report", "drill"])
    (0, 2)
    >>> decision_order([[], []], [0, 1], [0, 1], ["a", "b"])
    Traceback (most recent call last):
    bayeswise.foundation.errors.NetworkError: nothing says which of the decisions 'a' and 'b' comes first. Fix: ...
    """
    wanted = set(decisions)
    found = tuple(node for node in order if node in wanted)
    for first, second in pairwise(found):
        if first not in ancestors_of(parents, [second]):
            a, b = names[first], names[second]
            raise NetworkError(
                f"nothing says which of the decisions {a!r} and {b!r} comes first",
                fix=f"let the later one know the other, as in Decision({b!r}, ..., knows=[{a!r}])",
            )
    return found


def pasts(parents: Parents, decisions: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """For each decision all that is known then: what it knows, earlier decisions and what they knew.

    >>> pasts([[], [0], [1], []], [0, 2])
    {0: (), 2: (0, 1)}
    """
    known: set[int] = set()
    found: dict[int, tuple[int, ...]] = {}
    for decision in decisions:
        known |= set(parents[decision])
        found[decision] = tuple(sorted(known))
        known.add(decision)
    return found


def requisite(
    parents: Parents,
    past: Mapping[int, Sequence[int]],
    utilities: Sequence[Sequence[int]],
    *,
    known: Iterable[int] = (),
    given: Mapping[int, Sequence[int]] | None = None,
) -> dict[int, tuple[int, ...]]:
    """For each decision the part of its past that can matter, whatever the tables (Nielsen and Jensen 1999).

    From the last decision to the first: what a ball sent from the utilities that the decision can still change never
    touches, given all that is known, is d-separated from them. `known` nodes are evidence, `given` decisions follow a
    policy of their own with these arguments.

    >>> requisite([[], [0], [], []], {2: (1, 3)}, [[0, 2]])   # a test of node 0 matters, node 3 does not
    {2: (1,)}
    """
    evidence, fixed = set(known), dict(given or {})
    graph = [*(list(above) for above in parents), *(list(above) for above in utilities)]
    for decision, info in past.items():
        graph[decision] = [] if decision in evidence else list(fixed.get(decision, info))
    below = children_of(graph)
    found: dict[int, tuple[int, ...]] = {}
    for decision in reversed(list(past)):
        if decision in fixed or decision in evidence:
            continue
        reached = reached_from(below, decision)
        targets = [node for node in reached if node >= len(parents)]
        known = set(past[decision]) - evidence
        touched = _touched(graph, below, targets, {*known, decision, *evidence})
        matters = sorted(known & touched)
        for idle in set(graph[decision]).difference(matters):
            below[idle].remove(decision)
        graph[decision] = matters
        found[decision] = tuple(graph[decision])
    return dict(reversed(found.items()))


def reached_from(below: Sequence[Sequence[int]], node: int) -> set[int]:
    """The node and all that depends on it, from the children of each node.

    >>> sorted(reached_from(children_of([[], [0], [1], []]), 1))
    [1, 2]
    """
    found, waiting = {node}, [node]
    while waiting:
        for child in below[waiting.pop()]:
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def _touched(parents: Parents, below: Sequence[Sequence[int]], start: Iterable[int], observed: set[int]) -> set[int]:
    """The observed nodes that the ball of Shachter's Bayes-ball meets on its way from the start."""
    waiting = [2 * node + 1 for node in start]  # a visit is 2 node, plus 1 if the ball comes from a child
    visits = set(waiting)
    while waiting:
        visit = waiting.pop()
        node, from_child = visit >> 1, visit & 1
        steps = []
        if node not in observed:
            steps = [2 * child for child in below[node]]
        if from_child != (node in observed):
            steps += [2 * parent + 1 for parent in parents[node]]
        for step in steps:
            if step not in visits:
                visits.add(step)
                waiting.append(step)
    return {visit >> 1 for visit in visits} & observed
