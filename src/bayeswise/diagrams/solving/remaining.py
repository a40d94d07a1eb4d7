"""What remains of a diagram from its last decision to its first: the value of a settled one replaces what it changes.

Nodes that inform no open decision and are barren (no remaining utility depends on them) are dropped as decisions are
settled. So each decision visits its surroundings only, and a sequence of decisions takes time in proportion to its
length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from bayeswise.diagrams.solving.ordering import known_at, newly_observed
from bayeswise.foundation.directed_graph import Parents, children_of, descendants_of


class Gain(NamedTuple):
    """A utility of the diagram, or the value of a settled decision, and its variables."""

    kind: str  # "utility" or "value"
    of: int  # the utility, or the decision
    scope: tuple[int, ...]  # ascending


class Relevant(NamedTuple):
    """For one decision: the gains that it can change, its requisite past, and the nodes whose tables are needed."""

    gains: tuple[Gain, ...]
    requisite: tuple[int, ...]  # ascending
    tables: tuple[int, ...]  # ascending; those of all other nodes cancel out given the requisite past


class Remaining:
    """The nodes and gains that remain; `past` is what each open decision knows, from first to last.

    >>> left = Remaining([[], [0], [], []], {2: (1, 3)}, [(0, 2)])   # node 1 is a test of node 0; 3 is uninformative
    >>> left.relevant(2)
    Relevant(gains=(Gain(kind='utility', of=0, scope=(0, 2)),), requisite=(1,), tables=(0, 1))
    """

    def __init__(
        self,
        parents: Parents,
        past: Mapping[int, tuple[int, ...]],
        utilities: Sequence[Sequence[int]],
        evidence: Iterable[int] = (),
    ) -> None:
        self._parents, self._past = parents, past
        self._evidence = frozenset(evidence)
        self._newly_observed = newly_observed(past)
        self._observed = {node for nodes in self._newly_observed.values() for node in nodes}  # by open decisions
        self._below: list[dict[int, None]] = [dict.fromkeys(children) for children in children_of(parents)]
        self._gains: dict[int, Gain] = {}
        self._gains_of: list[dict[int, None]] = [{} for _ in parents]
        self._n_added = 0
        self.n_visits = 0  # of nodes so far
        for k, scope in enumerate(utilities):
            self._add(Gain("utility", k, tuple(scope)))
        self._drop_barren(range(len(parents)))

    @property
    def gains(self) -> tuple[Gain, ...]:
        """The utilities that no settled decision replaces, and the values of settled decisions."""
        return tuple(self._gains.values())

    def relevant(self, decision: int, forced: Iterable[int] = ()) -> Relevant:
        """What can matter for the last open decision under any tables (Nielsen and Jensen 1999).

        Known nodes that a Bayes ball from the gains that the decision can change does not touch are d-separated from
        them (Shachter 1998); `forced` nodes are requisite in any case.
        """
        changed, known = self._changed(decision), known_at(self._past, decision)
        scopes = {v for k in changed for v in self._gains[k].scope}
        waiting = [2 * v + 1 for v in scopes]  # a visit is 2 node, plus 1 if the ball comes from a child
        visits = set(waiting)
        touched, tables = set(forced) - self._evidence, set()
        while waiting:
            visit = waiting.pop()
            node, from_child = visit >> 1, visit & 1
            steps: list[int] = []
            is_observed = node == decision or node in self._evidence or node in known
            if not is_observed:
                steps = [2 * child for child in self._below[node]]
            elif node != decision and node not in self._evidence:
                touched.add(node)
            if from_child != is_observed:
                tables.add(node)
                steps += [2 * parent + 1 for parent in self._parents[node]]
            for step in steps:
                if step not in visits:
                    visits.add(step)
                    waiting.append(step)
        self.n_visits += len(visits)
        return Relevant(tuple([self._gains[k] for k in changed]), tuple(sorted(touched)), tuple(sorted(tables)))

    def settle(self, decision: int, relevant: Relevant) -> None:
        """The value of the decision, a table over its requisite past, replaces the gains that it changes."""
        freed = [decision, *relevant.tables, *self._newly_observed[decision]]
        self._observed.difference_update(self._newly_observed[decision])
        for k in self._changed(decision):
            for v in self._gains.pop(k).scope:
                del self._gains_of[v][k]
                freed.append(v)
        self._add(Gain("value", decision, relevant.requisite))
        self._drop_barren(freed)

    def _changed(self, decision: int) -> list[int]:
        """The gains that depend on a decision, in the order in which they were added."""
        found = descendants_of(self._below, [decision])
        self.n_visits += len(found)
        return sorted({k for node in found for k in self._gains_of[node]})

    def _add(self, gain: Gain) -> None:
        self._gains[self._n_added] = gain
        for v in gain.scope:
            self._gains_of[v][self._n_added] = None
        self._n_added += 1

    def _drop_barren(self, nodes: Iterable[int]) -> None:
        """Drop barren nodes, and then those that become barren without them."""
        waiting = [node for node in nodes if self._is_barren(node)]
        while waiting:
            node = waiting.pop()
            for parent in self._parents[node]:
                if node in self._below[parent]:
                    del self._below[parent][node]
                    if self._is_barren(parent):
                        waiting.append(parent)

    def _is_barren(self, node: int) -> bool:
        return not (self._below[node] or self._gains_of[node] or node in self._evidence or node in self._observed)
