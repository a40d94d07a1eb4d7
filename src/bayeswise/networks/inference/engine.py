"""Exact inference: junction trees compiled once for each query, run for any evidence on the same nodes.

Barren nodes (those that are not ancestors of queried or observed ones) are left out. Observed nodes are reduced out of
the tables before an elimination order is found, which disconnects what they separate. The memory of a tree is known
before any of it is allocated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, TooLargeError
from bayeswise.networks.arguments import by_node, names_of, soft_by_node
from bayeswise.networks.canonical import NoisyMax
from bayeswise.networks.inference.distribution import Distribution, Explanation
from bayeswise.networks.node import Evidence, Soft
from bayeswise.networks.soft_evidence import likelihood_of

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

MEMORY_LIMIT = 2 << 30  # bytes of one tree; evidence whose probability underflows takes twice as many
_PLANS = 256
_SMALL_TREE = 20_000  # cells; up to this, running a tree takes less time than planning one
_WORK_OF_AN_ORDER = 2e7  # words: a tenth of a second
_WORK_PER_CELL = 0.5  # from which planning a tree takes about as long as running it


@dataclass(frozen=True)
class Finding:
    """Evidence by position: states of observed nodes, likelihood evidence on others, and the log of its scale."""

    states: dict[int, int]
    likelihoods: dict[int, FloatArray]  # (n_states,) the largest is 1
    log_scale: float

    def codes(self, n_nodes: int) -> list[int]:
        codes = [-1] * n_nodes
        for node, state in self.states.items():
            codes[node] = state
        return codes

    def pairs(self) -> list[tuple[int, FloatArray]]:
        return list(self.likelihoods.items())

    def relevant(self, parents: graph.Parents, targets: Iterable[int]) -> set[int]:
        """The nodes that are not barren for these targets; the tables of all others sum to 1."""
        return graph.ancestors_of(parents, [*targets, *self.states, *self.likelihoods])


class Engine:
    """The junction trees of one network; `memory_limit` is in bytes."""

    def __init__(self, network: BeliefNetwork, *, memory_limit: int = MEMORY_LIMIT) -> None:
        self.network = network
        self.memory_limit = memory_limit
        self._sizes = [len(levels) for levels in network._states]
        self._parents = [list(above) for above in network._parents]
        self._tables = self._chained()  # which adds the nodes of chains to sizes and parents
        self._plans: dict[Any, _kernels.JunctionTree] = {}

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: without the compiled trees, which the next query makes again."""
        compiled = [name for name in vars(self) if isinstance(getattr(type(self), name, None), cached_property)]
        return {name: value for name, value in vars(self).items() if name not in compiled} | {"_plans": {}}

    def _chained(self) -> list[FloatArray]:
        """The tables, a noisy one of several causes as a chain: each auxiliary node adds one cause."""
        tables: list[FloatArray] = [np.zeros((0, 0))] * len(self._sizes)
        added: list[FloatArray] = []
        for node, given in enumerate(self.network._tables.given):
            if not isinstance(given, NoisyMax):
                tables[node] = given
                continue
            *links, tables[node] = given.chain()
            causes: list[int] = self._parents[node]
            before: list[int] = []
            for link, cause in zip(links, causes, strict=False):
                self._parents.append([*before, cause])
                self._sizes.append(len(given.leak))
                added.append(link)
                before = [len(self._sizes) - 1]
            self._parents[node] = [*before, causes[-1]]
        return [*tables, *added]

    # -- queries ----------------------------------------------------------------------------------------------
    def query(
        self, nodes: str | Iterable[str], evidence: Evidence | None = None, soft: Soft | None = None
    ) -> Distribution:
        """P(nodes | evidence); the last node changes fastest."""
        names = names_of(nodes)
        targets = [self.network.place(name) for name in names]
        if not names or len(set(targets)) < len(targets):
            raise ParameterError(f"a query is about different nodes; found {names}", fix="name each node once")
        finding = self.finding(evidence, soft)
        free = [target for target in targets if target not in finding.states]
        tree = self.tree(free, finding)
        cells, log_evidence = tree.posterior(finding.codes(len(self._sizes)), finding.pairs())
        if log_evidence == -math.inf:
            raise self._impossible(finding)
        cells = self._with_observed(targets, finding, cells)
        states = [self.network._states[target] for target in targets]
        return Distribution(names, states, cells, log_evidence + finding.log_scale)

    def marginals(self, evidence: Evidence | None = None, soft: Soft | None = None) -> dict[str, Distribution]:
        """P(node | evidence) of every node, by collecting and distributing in one tree; node by node if that is too
        large."""
        return self.marginals_given(self.finding(evidence, soft))

    def marginals_given(self, finding: Finding) -> dict[str, Distribution]:
        """The same for evidence that is coded already."""
        free = [node for node in range(len(self.network)) if node not in finding.states]
        if self._small_tree is not None:
            cells, log_evidence = self._small_tree.marginals(
                free, [-1] * len(self._sizes), self._as_likelihoods(finding)
            )
        else:
            try:
                tree = self._tree_of_all(finding)
            except TooLargeError:
                return self._single_marginals(finding)
            cells, log_evidence = tree.marginals(free, finding.codes(len(self._sizes)), finding.pairs())
        if log_evidence == -math.inf:
            raise self._impossible(finding)
        ends = np.cumsum([self._sizes[node] for node in free])[:-1]
        parts = dict(zip(free, np.split(cells, ends), strict=True)) if free else {}
        return {
            name: self._marginal(node, finding, parts, log_evidence) for node, name in enumerate(self.network.names)
        }

    @cached_property
    def _small_tree(self) -> _kernels.JunctionTree | None:
        """The tree of all nodes, if running it is faster than compiling one for the evidence; else None."""
        if sum(table.size for table in self._tables) > _SMALL_TREE:  # its tree is not small either
            return None
        try:
            tree = self._tree_of_all(Finding({}, {}, 0.0))
        except TooLargeError:
            return None
        return tree if tree.n_cells <= _SMALL_TREE else None

    def _as_likelihoods(self, finding: Finding) -> list[tuple[int, FloatArray]]:
        """Observed states as likelihoods: 1 for the state, 0 for the others."""
        return [
            *((node, self._certain(node, state)) for node, state in finding.states.items()),
            *finding.likelihoods.items(),
        ]

    def _certain(self, node: int, state: int) -> FloatArray:
        cells = np.zeros(self._sizes[node])
        cells[state] = 1.0
        return cells

    def _single_marginals(self, finding: Finding) -> dict[str, Distribution]:
        """Each node from a tree of its own without barren nodes; these trees are not cached."""
        answers: dict[str, Distribution] = {}
        for node, name in enumerate(self.network.names):
            targets = [] if node in finding.states else [node]
            relevant = finding.relevant(self._parents, targets)
            tree = self._made(relevant, finding.states, targets, True, False)
            cells, log_evidence = tree.posterior(finding.codes(len(self._sizes)), finding.pairs())
            if log_evidence == -math.inf:
                raise self._impossible(finding)
            answers[name] = self._marginal(node, finding, {node: cells}, log_evidence)
        return answers

    def _marginal(
        self, node: int, finding: Finding, parts: Mapping[int, FloatArray], log_evidence: float
    ) -> Distribution:
        observed = finding.states.get(node)
        cells = parts[node] if observed is None else self._certain(node, observed)
        name, states = self.network.names[node], self.network._states[node]
        return Distribution((name,), (states,), cells, log_evidence + finding.log_scale)

    def _tree_of_all(self, finding: Finding) -> _kernels.JunctionTree:
        key = ("all", tuple(finding.states))
        order = self._order_of_all if finding.states and key not in self._plans else ()
        return self._compiled(key, range(len(self._sizes)), finding.states, [], False, False, order)

    @cached_property
    def _order_of_all(self) -> Sequence[int]:
        """An elimination order for the trees of any evidence, where planning each would take longer than running it.

        Observed nodes are skipped in it, so that no tree is larger than the one without evidence.
        """
        order, n_cells, work = self._network_tables.order(_WORK_OF_AN_ORDER)
        return order if work >= _WORK_PER_CELL * n_cells else ()

    def n_cells(self, evidence: Evidence | None = None) -> float:
        """The table cells of the junction tree for all marginals: about one nanosecond and 8 to 12 bytes each."""
        return float(self._tree_of_all(self.finding(evidence)).n_cells)

    def log_evidence(self, evidence: Evidence, soft: Soft | None = None) -> float:
        """log P(evidence), minus infinity where it is impossible."""
        finding = self.finding(evidence, soft)
        return self._log_evidence(finding) + finding.log_scale

    def most_probable(
        self, evidence: Evidence | None = None, nodes: Iterable[str] | None = None, soft: Soft | None = None
    ) -> Explanation:
        """The most probable states of all nodes (MPE), or of some with the others summed out (MAP)."""
        finding = self.finding(evidence, soft)
        names = self.network.names if nodes is None else tuple(names_of(nodes))
        targets = [self.network.place(name) for name in names]
        free = [target for target in targets if target not in finding.states]
        relevant = finding.relevant(self._parents, free)
        whole = relevant <= {*free, *finding.states}
        key = ("best", tuple(free), tuple(finding.states), tuple(finding.likelihoods))
        tree = self._compiled(key, relevant, finding.states, [] if whole else free, False, whole)
        best, log_joint = tree.best(finding.codes(len(self._sizes)), finding.pairs())
        if log_joint == -math.inf:
            raise self._impossible(finding)
        states = {
            name: self.network._states[node][finding.states.get(node, best[node])]
            for name, node in zip(names, targets, strict=True)
        }
        log_given = self._log_evidence(finding)
        return Explanation(states, log_joint + finding.log_scale, min(0.0, log_joint - log_given))

    # -- evidence ---------------------------------------------------------------------------------------------
    def finding(self, evidence: Evidence | None, soft: Soft | None = None) -> Finding:
        """Evidence by position; the order in which it is given does not matter."""
        network = self.network
        states = {network.place(name): network.code(name, state) for name, state in by_node(evidence).items()}
        likelihoods: dict[int, FloatArray] = {}
        log_scale = 0.0
        for name, by_state in soft_by_node(soft).items():
            node = network.place(name)
            likelihood = likelihood_of(network._states[node], by_state.items(), f"the soft evidence on {name!r}")
            if node in states:
                likelihood = likelihood[states[node]][None]
            top = float(likelihood.max())
            if top == 0.0:
                raise ImpossibleEvidenceError(
                    f"the soft evidence on {name!r} has likelihood 0 in every state that is possible",
                    fix="give one of them a likelihood above 0",
                )
            log_scale += math.log(top)
            if node not in states:
                likelihoods[node] = likelihood / top
        return Finding(dict(sorted(states.items())), dict(sorted(likelihoods.items())), log_scale)

    def _log_evidence(self, finding: Finding) -> float:
        if not finding.states and not finding.likelihoods:
            return 0.0
        _, log_evidence = self.tree([], finding).posterior(finding.codes(len(self._sizes)), finding.pairs())
        return float(log_evidence)

    def _impossible(self, finding: Finding) -> ImpossibleEvidenceError:
        """The error that names a minimal part of the evidence that is impossible by itself."""
        states, likelihoods = dict(finding.states), dict(finding.likelihoods)
        for node in [*finding.states, *finding.likelihoods]:
            fewer = Finding(
                {k: v for k, v in states.items() if k != node},
                {k: v for k, v in likelihoods.items() if k != node},
                0.0,
            )
            if self._log_evidence(fewer) == -math.inf:
                states, likelihoods = fewer.states, fewer.likelihoods
        names, levels = self.network.names, self.network._states
        parts = [f"{names[node]} = {levels[node][state]}" for node, state in states.items()]
        parts += [f"the soft evidence on {names[node]}" for node in likelihoods]
        return ImpossibleEvidenceError(
            f"the evidence is impossible: {' and '.join(parts)} {'have' if len(parts) > 1 else 'has'} probability 0"
            f"{' together' if len(parts) > 1 else ''}",
            fix="remove one of these, or give the tables a small probability for it",
        )

    def _with_observed(self, targets: Sequence[int], finding: Finding, cells: FloatArray) -> FloatArray:
        """The joint of all targets from that of the free ones; an observed one has all mass in its state."""
        if not any(target in finding.states for target in targets):
            return cells
        cells = cells if cells.size else np.ones(1)
        n_cells = math.prod(self._sizes[target] for target in targets)
        places = np.zeros(1, dtype=np.int64)
        for target in targets:
            states = [finding.states[target]] if target in finding.states else list(range(self._sizes[target]))
            places = (places[:, None] * self._sizes[target] + np.array(states)).ravel()
        whole = np.zeros(n_cells)
        whole[places] = cells
        return whole

    # -- compiling --------------------------------------------------------------------------------------------
    def tree(self, targets: Sequence[int], finding: Finding) -> _kernels.JunctionTree:
        """The tree whose root clique has the targets, observed nodes reduced out."""
        key = ("root", tuple(targets), tuple(finding.states), tuple(finding.likelihoods))
        if key in self._plans:
            return self._plans[key]
        relevant = finding.relevant(self._parents, targets)
        return self._compiled(key, relevant, finding.states, list(targets), True, False)

    def _compiled(
        self,
        key: Any,
        relevant: Iterable[int],
        observed: Iterable[int],
        last: list[int],
        last_is_root: bool,
        maximise_all: bool,
        order: Sequence[int] = (),
    ) -> _kernels.JunctionTree:
        if key in self._plans:
            return self._plans[key]
        tree = self._made(relevant, observed, last, last_is_root, maximise_all, order=order)
        if len(self._plans) >= _PLANS:
            del self._plans[next(iter(self._plans))]
        self._plans[key] = tree
        return tree

    def tree_of(self, tables: Sequence[FloatArray], targets: list[int], finding: Finding) -> _kernels.JunctionTree:
        """A tree like `tree` for other tables of the same shapes, which it reads again at every run; not cached."""
        parents = [list(above) for above in self.network._parents]  # the tables are expanded, so no chains
        relevant = finding.relevant(parents, targets)
        expanded = _kernels.NetworkTables(self._sizes[: len(parents)], parents, tables)
        return self._made(relevant, finding.states, targets, True, False, expanded)

    @cached_property
    def _network_tables(self) -> _kernels.NetworkTables:
        return _kernels.NetworkTables(self._sizes, self._parents, self._tables)

    def _made(
        self,
        relevant: Iterable[int],
        observed: Iterable[int],
        last: list[int],
        last_is_root: bool,
        maximise_all: bool,
        of: _kernels.NetworkTables | None = None,
        order: Sequence[int] = (),
    ) -> _kernels.JunctionTree:
        n_nodes = len(self._sizes) if of is None else len(self.network)
        kept, cut = bytearray(n_nodes), bytearray(n_nodes)
        for node in relevant:
            kept[node] = 1
        for node in observed:
            cut[node] = 1
        of = of or self._network_tables
        tree = _kernels.JunctionTree(of, list(kept), list(cut), last, last_is_root, maximise_all, order)
        self._refuse_too_large(tree)
        return tree

    def _refuse_too_large(self, tree: _kernels.JunctionTree) -> None:
        n_bytes = tree.n_bytes
        if n_bytes > self.memory_limit or not tree.planned:
            least = "" if tree.planned else "at least "
            raise TooLargeError(
                f"an exact answer needs tables of {least}{tree.n_cells:.3g} cells, about {n_bytes / 1e9:.3g} GB; "
                f"{self.memory_limit / 1e9:.3g} GB are allowed"
                + ("" if n_bytes > self.memory_limit else ", and planning it takes too long"),
                fix="sample by network.estimate(...), on the command line --method auto;"
                " or allow more with network.engine.memory_limit = BYTES, on the command line --memory GB",
            )
