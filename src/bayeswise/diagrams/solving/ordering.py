"""The order of decisions, their pasts, and the requisite part of these."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from bayeswise.foundation.directed_graph import Parents, ancestors_of, bayes_ball, children_of, descendants_of
from bayeswise.foundation.errors import NetworkError


def decision_order(
    parents: Parents,
    order: Sequence[int],
    decisions: Iterable[int],
    names: Sequence[str],
    apart: Iterable[int] = (),
) -> tuple[int, ...]:
    """The decisions from first to last; each must depend on those before it, or their order is undetermined.

    Two decisions that are made `apart`, each without memory of others, need no order.

    >>> decision_order([[], [0], [1]], [0, 1, 2], [2, 0], ["test", "report", "drill"])
    (0, 2)
    >>> decision_order([[], []], [0, 1], [0, 1], ["a", "b"])
    Traceback (most recent call last):
    bayeswise.foundation.errors.NetworkError: the order of the decisions 'a' and 'b' is undetermined. Fix: ...
    """
    all_decisions, alone = set(decisions), set(apart)
    ordered = tuple(node for node in order if node in all_decisions)
    for first, second in _unordered(parents, order, ordered, any_pair=bool(alone)):
        if not {first, second} <= alone:
            a, b = names[first], names[second]
            raise NetworkError(
                f"the order of the decisions {a!r} and {b!r} is undetermined",
                fix=f"let the later one know the other, as in Decision({b!r}, ..., knows=[{a!r}]); "
                "if neither knows of the other, write forgets='everything' in both",
            )
    return ordered


def _unordered(
    parents: Parents, order: Sequence[int], decisions: Sequence[int], *, any_pair: bool
) -> Iterator[tuple[int, int]]:
    """Successive decisions, or any pair, of which the second does not depend on the first."""
    if any_pair:
        above = {d: ancestors_of(parents, [d]) for d in decisions[1:]}
        yield from ((first, second) for first, second in combinations(decisions, 2) if first not in above[second])
        return
    rank = {node: k for k, node in enumerate(decisions)}
    latest: dict[int, int] = {}  # the last decision that a node is or depends on
    for node in order:
        latest[node] = max([rank.get(node, -1), *(latest[parent] for parent in parents[node])])
    for first, second in pairwise(decisions):
        if rank[first] not in [latest[parent] for parent in parents[second]]:
            yield first, second


class Pasts(Mapping[int, tuple[int, ...]]):
    """The past of each decision under perfect recall: what it knows, earlier decisions and what they knew.

    As nothing is forgotten, it is enough to keep the newly observed nodes of each.

    >>> dict(Pasts({0: [], 2: [1, 0]}))
    {0: (), 2: (0, 1)}
    """

    def __init__(self, observed: Mapping[int, Iterable[int]]) -> None:
        self._rank = {decision: k for k, decision in enumerate(observed)}
        self._since: dict[int, int] = {}  # node -> the first decision that knows it, by rank
        self.newly_observed: dict[int, list[int]] = {}  # decision -> nodes first observed before it
        before: tuple[int, ...] = ()
        for k, (decision, nodes) in enumerate(observed.items()):
            self.newly_observed[decision] = [v for v in dict.fromkeys([*before, *nodes]) if v not in self._since]
            self._since |= dict.fromkeys(self.newly_observed[decision], k)
            before = (decision,)

    def __getitem__(self, decision: int) -> tuple[int, ...]:
        rank = self._rank[decision]
        return tuple(sorted(node for node, since in self._since.items() if since <= rank))

    def __iter__(self) -> Iterator[int]:
        return iter(self._rank)

    def __len__(self) -> int:
        return len(self._rank)

    def __contains__(self, decision: object) -> bool:
        return decision in self._rank

    def at(self, decision: int) -> Container[int]:
        """The past of a decision, without listing it."""
        return _KnownAt(self._since, self._rank[decision])

    def without(self, decisions: Container[int]) -> Pasts:
        """The pasts of the other decisions, which still know what these knew and chose."""
        observed: dict[int, list[int]] = {}
        waiting: list[int] = []
        for decision, nodes in self.newly_observed.items():
            waiting += nodes
            if decision in decisions:
                waiting.append(decision)
            else:
                observed[decision], waiting = waiting, []
        return Pasts(observed)


class _KnownAt(Container[int]):
    def __init__(self, since: Mapping[int, int], rank: int) -> None:
        self._since, self._rank = since, rank

    def __contains__(self, node: object) -> bool:
        return isinstance(node, int) and self._since.get(node, self._rank + 1) <= self._rank


def known_at(past: Mapping[int, tuple[int, ...]], decision: int) -> Container[int]:
    """The past of a decision, to look nodes up in."""
    return past.at(decision) if isinstance(past, Pasts) else frozenset(past[decision])


def newly_observed(past: Mapping[int, tuple[int, ...]]) -> dict[int, list[int]]:
    """For each decision the nodes that no decision before it knew.

    >>> newly_observed({2: (0, 1), 4: (1, 3)})
    {2: [0, 1], 4: [3]}
    """
    if isinstance(past, Pasts):
        return past.newly_observed
    seen: set[int] = set()
    found: dict[int, list[int]] = {}
    for decision, known in past.items():
        found[decision] = [node for node in known if node not in seen]
        seen.update(known)
    return found


def of_open(past: Mapping[int, tuple[int, ...]], settled: Container[int]) -> Mapping[int, tuple[int, ...]]:
    """The pasts of the decisions that are not settled."""
    if isinstance(past, Pasts):
        return past.without(settled)
    return {decision: known for decision, known in past.items() if decision not in settled}


def pasts(
    parents: Parents, decisions: Sequence[int], forgets: Mapping[int, Iterable[int] | None] | None = None
) -> Mapping[int, tuple[int, ...]]:
    """The past of each decision: what it knows, and what the decisions just before it knew and chose.

    Later decisions do not know either what a decision forgets (None: everything), unless they observe it again.

    >>> dict(pasts([[], [0], [1], []], [0, 2]))
    {0: (), 2: (0, 1)}
    >>> pasts([[], [0], [1], []], [0, 2], {2: [0]})
    {0: (), 2: (1,)}
    """
    if not forgets:
        return Pasts({decision: parents[decision] for decision in decisions})
    past: dict[int, tuple[int, ...]] = {}
    for decision, remembered in memories(parents, decisions, forgets).items():
        lost = forgets.get(decision, ())
        kept = set() if lost is None else remembered - set(lost)
        past[decision] = tuple(sorted(kept | set(parents[decision])))
    return past


def memories(
    parents: Parents, decisions: Sequence[int], forgets: Mapping[int, Iterable[int] | None]
) -> dict[int, set[int]]:
    """For each decision the nodes that it could remember: what the decisions just before it knew and chose."""
    above = {d: ancestors_of(parents, [d]) & set(decisions) - {d} for d in decisions}
    past: dict[int, set[int]] = {}
    known: dict[int, set[int]] = {}
    for decision in decisions:
        nearest = above[decision].difference(*(above[other] for other in above[decision]))
        past[decision] = set().union(*(known[other] | {other} for other in nearest))
        lost = forgets.get(decision, ())
        kept = set() if lost is None else past[decision] - set(lost)
        known[decision] = kept | set(parents[decision])
    return past


def requisite(
    parents: Parents,
    past: Mapping[int, Sequence[int]],
    utilities: Sequence[Sequence[int]],
    *,
    known: Iterable[int] = (),
    given: Mapping[int, Sequence[int]] | None = None,
    forced: Mapping[int, Sequence[int]] | None = None,
    coupled: bool = False,
) -> dict[int, tuple[int, ...]]:
    """For each decision the requisite part of its past: what can matter under any tables (Nielsen and Jensen 1999).

    From the last decision to the first, by the Bayes-ball algorithm: known nodes that a ball from the utilities that
    the decision can change does not touch are d-separated from them. `known` nodes are evidence, `given` decisions
    follow a policy with these arguments; nodes that restrict the options are `forced` to be requisite. Where utilities
    are `coupled`, those that a decision cannot change count as evidence: what they share with the others matters too.

    >>> requisite([[], [0], [], []], {2: (1, 3)}, [[0, 2]])   # a test of node 0 matters, node 3 does not
    {2: (1,)}
    """
    evidence, fixed = set(known), dict(given or {})
    graph = _with_policies(parents, past, utilities, evidence, fixed)
    below = children_of(graph)
    scopes: dict[int, tuple[int, ...]] = {}
    for decision in reversed(list(past)):
        if decision in fixed or decision in evidence:
            continue
        reached = descendants_of(below, [decision])
        targets = [node for node in reached if node >= len(parents)]
        known = set(past[decision]) - evidence
        fixed_gains = set(range(len(parents), len(graph))).difference(targets) if coupled else set()
        touched = bayes_ball(graph, below, targets, {*known, decision, *evidence, *fixed_gains})
        needed = sorted(known & touched.union((forced or {}).get(decision, ())))
        for redundant in set(graph[decision]).difference(needed):
            below[redundant].remove(decision)
        graph[decision] = needed
        scopes[decision] = tuple(graph[decision])
    return dict(reversed(scopes.items()))


def _with_policies(
    parents: Parents,
    info: Mapping[int, Sequence[int]],
    utilities: Sequence[Sequence[int]],
    evidence: set[int],
    fixed: Mapping[int, Sequence[int]],
) -> list[list[int]]:
    """The parents of all nodes and then of the utilities; those of a decision are the arguments of its policy."""
    graph = [*(list(above) for above in parents), *(list(above) for above in utilities)]
    for decision in {**info, **fixed}:
        graph[decision] = [] if decision in evidence else list(fixed.get(decision, info.get(decision, ())))
    return graph


def relevant_decisions(
    parents: Parents,
    info: Mapping[int, Sequence[int]],
    utilities: Sequence[Sequence[int]],
    *,
    known: Iterable[int] = (),
    given: Mapping[int, Sequence[int]] | None = None,
    coupled: bool = False,
) -> dict[int, set[int]]:
    """For each open decision the strategically relevant ones: its best policy may depend on theirs.

    The policy of another decision is a hidden parent of it; it is relevant if a Bayes ball from the utilities that the
    decision can change reaches it, given what the decision knows and its option (Koller and Milch 2003).

    >>> relevant_decisions([[], [], []], {1: (0,), 2: (0,)}, [[0, 1, 2]])   # two that must agree, and do not remember
    {1: {2}, 2: {1}}
    """
    evidence, fixed = set(known), dict(given or {})
    graph = _with_policies(parents, info, utilities, evidence, fixed)
    n_nodes = len(graph)
    policies = {decision: n_nodes + k for k, decision in enumerate(info)}
    for decision, policy in policies.items():
        graph[decision] = [*graph[decision], policy]
    graph += [[] for _ in policies]
    below = children_of(graph)
    relevant: dict[int, set[int]] = {}
    for decision in info:
        reached = descendants_of(below, [decision])
        targets = [node for node in reached if len(parents) <= node < n_nodes]
        fixed_gains = set(range(len(parents), n_nodes)).difference(targets) if coupled else set()
        observed = {*info[decision], decision, *evidence, *fixed_gains, *policies.values()}
        touched = bayes_ball(graph, below, targets, observed)
        relevant[decision] = {d for d, policy in policies.items() if d != decision and policy in touched}
    return relevant
