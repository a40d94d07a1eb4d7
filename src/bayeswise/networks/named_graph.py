"""Nodes by name and a graph without cycles: what networks of every kind have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.errors import NetworkError, ParameterError
from bayeswise.networks.arguments import names_of
from bayeswise.render.labels import guess


class NamedGraph:
    """Names and the parents of each, by position and checked once.

    >>> NamedGraph({"rain": [], "wet": ["rain"]}.items())
    NamedGraph(2 nodes, 1 edges: rain, wet)
    """

    def __init__(self, parents: Iterable[tuple[str, Sequence[str]]], *, name: str = "network") -> None:
        given = list(parents)
        self.name = name
        self.names: tuple[str, ...] = tuple(node for node, _ in given)
        self._places = {node: place for place, node in enumerate(self.names)}
        if len(self._places) < len(given):
            twice = next(node for place, node in enumerate(self.names) if self._places[node] != place)
            raise NetworkError(f"there are two nodes {twice!r}", fix="rename one of them")
        self._parents: tuple[tuple[int, ...], ...] = tuple(self._parent_places(*each) for each in given)
        self.order: tuple[int, ...] = tuple(graph.ancestral_order(self._parents, self.names))

    def _parent_places(self, node: str, parents: Sequence[str]) -> tuple[int, ...]:
        for parent in parents:
            if parent not in self._places:
                raise NetworkError(
                    f"node {node!r} has the parent {parent!r}, which is not a node", fix=guess(parent, self.names)
                )
        return tuple(self._places[parent] for parent in parents)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._places

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:6]) + (f", ... {len(self) - 6} more" if len(self) > 6 else "")
        return f"{type(self).__name__}({self._counts()}: {shown})"

    def _counts(self) -> str:
        return f"{len(self)} nodes, {len(self.edges)} edges"

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """(parent, child), in the order of the nodes."""
        names = self.names
        return tuple((names[p], name) for name, above in zip(names, self._parents, strict=True) for p in above)

    def place(self, name: str) -> int:
        """The position of a node, or an error that guesses what was meant."""
        if not isinstance(name, str):
            raise ParameterError(f"a node has a text for a name; found {name!r:.80}", fix=guess("", self.names))
        if name not in self._places:
            raise ParameterError(f"the network has no node {name!r}", fix=guess(name, self.names))
        return self._places[name]

    def parents(self, name: str) -> tuple[str, ...]:
        """The nodes that a node depends on."""
        return tuple(self.names[place] for place in self._parents[self.place(name)])

    def children(self, name: str) -> tuple[str, ...]:
        """The nodes that depend on this one."""
        place = self.place(name)
        return tuple(child for child, above in zip(self.names, self._parents, strict=True) if place in above)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Parents, children and the children's other parents; given these, no other node matters.

        >>> NamedGraph([("a", []), ("b", ["a"])]).markov_blanket("a")
        ('b',)
        """
        found = graph.markov_blanket(self._parents, self.place(name))
        return tuple(self.names[place] for place in sorted(found))

    def equivalence_class(self) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
        """Edges that all graphs of the same independences share, and those that may point either way (CPDAG).

        >>> NamedGraph([("a", []), ("b", ["a"])]).equivalence_class()
        ((), (('a', 'b'),))
        """
        from bayeswise.networks.equivalence import EquivalenceClass

        found = EquivalenceClass.of_graph(self._parents)
        shared, either = (
            tuple((self.names[u], self.names[v]) for u, v in edges) for edges in (found.directed, found.undirected)
        )
        return shared, either

    def d_separated(
        self,
        left: str | Iterable[str],
        right: str | Iterable[str],
        given: Iterable[str] = (),
        *,
        soft: Iterable[str] = (),
    ) -> bool:
        """Whether the two sides say nothing about each other once `given` is known, whatever their tables.

        `soft` are nodes with soft evidence: they open colliders as observed ones do, and block nothing.
        """
        sides = [[self.place(name) for name in names_of(side)] for side in (left, right, given, soft)]
        return graph.d_separated(self._parents, *sides)

    def d_connected(self, node: str, given: Iterable[str] = (), *, soft: Iterable[str] = ()) -> tuple[str, ...]:
        """The other nodes that may say something about a node once `given` is known: those not d-separated from it."""
        known, hinted = ([self.place(name) for name in names_of(names)] for names in (given, soft))
        found = graph.reachable(self._parents, [self.place(node)], known, hinted) - {self.place(node)}
        return tuple(name for place, name in enumerate(self.names) if place in found)
