"""The directed graph of a network: an order without cycles, ancestors, blankets, separation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from bayeswise.foundation.errors import NetworkError

Parents = Sequence[Sequence[int]]


def ancestral_order(parents: Parents, names: Sequence[str]) -> list[int]:
    """The nodes, each after its parents and otherwise as given; a cycle is an error that shows it.

    >>> ancestral_order([[1], []], ["fire", "storm"])
    [1, 0]
    >>> ancestral_order([[1], [0]], ["fire", "storm"])
    Traceback (most recent call last):
    bayeswise.foundation.errors.NetworkError: the edges form a cycle: fire -> storm -> fire. Fix: ...
    """
    waiting = [len(above) for above in parents]
    below = children_of(parents)
    order = [node for node, count in enumerate(waiting) if count == 0]
    for node in order:
        for child in below[node]:
            waiting[child] -= 1
            if waiting[child] == 0:
                order.append(child)
    if len(order) < len(parents):
        path = " -> ".join(names[node] for node in _cycle(parents, waiting))
        raise NetworkError(f"the edges form a cycle: {path}", fix="take out or turn round one of these edges")
    return order


def _cycle(parents: Parents, waiting: Sequence[int]) -> list[int]:
    """Going up from any node that is still waiting meets one of them a second time."""
    node = next(node for node, count in enumerate(waiting) if count > 0)
    path: list[int] = []
    while node not in path:
        path.append(node)
        node = next(above for above in parents[node] if waiting[above] > 0)
    cycle = path[path.index(node) :][::-1]
    first = cycle.index(min(cycle))
    return [*cycle[first:], *cycle[:first], cycle[first]]


def children_of(parents: Parents) -> list[list[int]]:
    """For each node those that depend on it directly."""
    below: list[list[int]] = [[] for _ in parents]
    for node, above in enumerate(parents):
        for parent in above:
            below[parent].append(node)
    return below


def connected(nodes: Iterable[int], pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The nodes of each part that pairs of nodes join, parts and nodes in the order given.

    >>> connected([0, 1, 2, 3], [(3, 1)])
    [[0], [1, 3], [2]]
    """
    group = {node: node for node in nodes}

    def root(node: int) -> int:
        while group[node] != node:
            group[node] = node = group[group[node]]
        return node

    for one, other in pairs:
        group[root(other)] = root(one)
    parts: dict[int, list[int]] = {}
    for node in group:
        parts.setdefault(root(node), []).append(node)
    return list(parts.values())


def ancestors_of(parents: Sequence[Iterable[int]], nodes: Iterable[int]) -> set[int]:
    """The nodes and all that they depend on.

    >>> sorted(ancestors_of([[], [0], [1], []], [1]))
    [0, 1]
    """
    found: set[int] = set()
    open_nodes = list(nodes)
    while open_nodes:
        node = open_nodes.pop()
        if node not in found:
            found.add(node)
            open_nodes.extend(parents[node])
    return found


def descendants_of(children: Sequence[Iterable[int]], nodes: Iterable[int]) -> set[int]:
    """The nodes and all that depend on them, from the children of each node.

    >>> sorted(descendants_of(children_of([[], [0], [1], []]), [1]))
    [1, 2]
    """
    return ancestors_of(children, nodes)  # the same walk, along edges turned round


def markov_blanket(parents: Parents, node: int) -> set[int]:
    """Parents, children and the children's other parents: given them, the rest says nothing about the node.

    >>> sorted(markov_blanket([[], [], [0, 1], [2]], 0))
    [1, 2]
    """
    children = [child for child, above in enumerate(parents) if node in above]
    around = {*parents[node], *children, *(other for child in children for other in parents[child])}
    return around - {node}


def reachable(parents: Parents, start: Iterable[int], given: Iterable[int], soft: Iterable[int] = ()) -> set[int]:
    """The nodes that some trail joins to the start once `given` is observed.

    Soft evidence about a node opens colliders as an observed child of it would, and blocks nothing.

    >>> sorted(reachable([[], [], [0, 1]], [0], []))   # a collider blocks
    [0, 2]
    >>> sorted(reachable([[], [], [0, 1]], [0], [2]))  # until it is observed
    [0, 1]
    >>> sorted(reachable([[], [], [0, 1]], [0], [], soft=[2]))  # also if not for certain
    [0, 1, 2]
    """
    observed = set(given)
    return bayes_ball(parents, children_of(parents), start, observed, set(soft)) - observed


def bayes_ball(
    parents: Parents,
    children: Sequence[Iterable[int]],
    start: Iterable[int],
    observed: set[int],
    soft: Collection[int] = (),
) -> set[int]:
    """The nodes that the ball of Shachter's Bayes-ball meets on its way from the start, observed ones among them.

    It bounces off an observed node back to where it came from, and so passes the colliders above it.
    """
    waiting = [2 * node + 1 for node in start]  # a visit is 2 node, plus 1 if the ball comes from a child
    visits = set(waiting)
    while waiting:
        node, from_child = divmod(waiting.pop(), 2)
        is_observed = node in observed
        steps = [] if is_observed else [2 * child for child in children[node]]
        if from_child != is_observed or (not from_child and node in soft):
            steps += [2 * parent + 1 for parent in parents[node]]
        for step in steps:
            if step not in visits:
                visits.add(step)
                waiting.append(step)
    return {visit >> 1 for visit in visits}


def d_separated(
    parents: Parents, left: Iterable[int], right: Iterable[int], given: Iterable[int], soft: Iterable[int] = ()
) -> bool:
    """Whether observing `given`, and `soft` with uncertainty, blocks every trail between the two sides.

    >>> d_separated([[], [0], [1]], [0], [2], [1]), d_separated([[], [0], [1]], [0], [2], [])
    (True, False)
    """
    seen = set(given)
    return not reachable(parents, set(left) - seen, seen, soft) & (set(right) - seen)
