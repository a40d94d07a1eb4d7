"""Posterior probabilities of edges, averaged over all orders of the columns and the graphs of each.

The prior over orders is uniform, so that a graph counts once for each order that it is consistent with. For few columns
the sum over orders is exact; for more, Markov chains over orders estimate it.

The chains draw from the distribution that `edge_posteriors` sums over, each from an order of its own (Friedman and
Koller 2003). A step draws the position of one column anew given the order of the others, and the mean is over
P(edge | order), which is exact, and not over graphs. Each round draws twice as many orders, until the chains agree;
earlier rounds are the burn-in.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, TooLargeError
from bayeswise.foundation.threads import each
from bayeswise.networks.learning.constraints import Constraints, Parents, Progress, silent
from bayeswise.networks.learning.search.climbing import hill_climbing
from bayeswise.networks.learning.search.dynamic_programming import Families
from bayeswise.networks.learning.search.scores import Scores

_MOST_SETS = 20_000  # of parents, for each column
_FEWEST_PARENTS = 3  # sets of up to so many are always considered, if necessary of fewer candidates
_NEGLIGIBLE = 20.0  # a set is left out if a subset is exp(20) times as probable: 1e-5 of all such sets
_FIRST_ORDERS = 64


@dataclass(frozen=True)
class SampledEdges:
    """(n, n) P(edge parent -> child | rows) by chains over orders, and how well these agree."""

    probability: FloatArray
    by_chain: FloatArray  # (n_chains, n, n)
    n_orders: int  # of each chain
    tolerance: float
    notes: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def difference(self) -> float:
        """The largest difference of a chain from the mean of all, over all edges."""
        return float(np.abs(self.by_chain - self.probability).max(initial=0.0))

    @property
    def converged(self) -> bool:
        return self.difference <= self.tolerance

    @property
    def standard_error(self) -> FloatArray:
        """(n, n) from the spread of the chains."""
        return np.asarray(self.by_chain.std(axis=0, ddof=1) / math.sqrt(len(self.by_chain)))

    def described(self) -> tuple[str, ...]:
        """Notes on these numbers."""
        what = f"edge probabilities are means over {self.n_orders} orders in each of {len(self.by_chain)} chains"
        agree = f"the chains differ from their mean by {self.difference:.2g} at most"
        ended = (
            ", and were interrupted" if self.interrupted else "" if self.converged else f", above {self.tolerance:g}"
        )
        return (f"{what}; {agree}{ended}", *self.notes)


def sampled_edges(
    scores: Scores,
    constraints: Constraints | None = None,
    *,
    chains: int = 4,
    tolerance: float = 0.05,
    most_orders: int = 1_024,
    seed: int = 0,
    progress: Progress = silent,
) -> SampledEdges:
    """Draw orders until no chain is further than `tolerance` from the mean of all, or each has drawn `most_orders`.

    Ctrl-C ends with the orders drawn so far. The same seed gives the same numbers.
    """
    refuse_improbable(scores)
    if chains < 2 or not 0.0 < tolerance < 1.0 or most_orders < 1:
        raise ParameterError(
            f"chains={chains!r}, tolerance={tolerance!r}, most_orders={most_orders!r}",
            fix="take 2 chains or more, a tolerance between 0 and 1, and at least one order",
        )
    rules = constraints or Constraints()
    lists = ParentLists(scores, rules, progress)
    required = rules.start(scores.names)
    orders = [_random_order(required, np.random.default_rng([seed, chain])) for chain in range(chains)]
    best: SampledEdges | None = None
    n_orders, stage = min(_FIRST_ORDERS, most_orders), 0
    try:
        while True:
            stage += 1
            means = each(lambda chain: lists.run(orders[chain], n_orders, [seed, chain, stage]), range(chains))  # noqa: B023
            by_chain = np.stack(means)
            best = SampledEdges(by_chain.mean(axis=0), by_chain, n_orders, tolerance, lists.notes)
            progress("orders drawn", n_orders, most_orders)
            if (best.converged and stage > 1) or n_orders >= most_orders:
                return best
            n_orders = min(2 * n_orders, most_orders)
    except KeyboardInterrupt:
        if best is None:
            raise
        return SampledEdges(best.probability, best.by_chain, best.n_orders, tolerance, best.notes, interrupted=True)


class ParentLists:
    """The sets of parents of each node that are not negligible, best first, and their scores."""

    def __init__(self, scores: Scores, rules: Constraints, progress: Progress = silent) -> None:
        self.n = len(scores.names)
        self._scores, self._most = scores, rules.most(self.n)
        self._allowed, self._required = rules.allowed(scores.names), rules.start(scores.names)
        self._near = _neighbours(hill_climbing(scores, rules).parents) if self.n > 1 else [set()] * self.n
        self.n_left_out = 0
        self.most_parents = self.n
        words = max(1, -(-self.n // 64))
        families = []
        for node in range(self.n):
            families.append(self._of_node(node))
            progress("columns scored", node + 1, self.n)
        self.starts = [0, *np.cumsum([len(sets) for sets, _ in families]).tolist()]
        self.log_scores = np.concatenate([values for _, values in families]) if families else np.zeros(0)
        self.sets = np.zeros((self.starts[-1], words), dtype=np.uint64)
        for row, members in enumerate(each_set for sets, _ in families for each_set in sets):
            for k in members:
                self.sets[row, k // 64] |= np.uint64(1 << k % 64)

    @property
    def notes(self) -> tuple[str, ...]:
        notes = [f"no more than {self.most_parents} parents of a node were considered"] * (
            self.most_parents < self.n - 1
        )
        left_out = f"for {self.n_left_out} columns, only the most informative ones were considered as parents"
        return (*notes, *[left_out] * (self.n_left_out > 0))

    def run(self, order: Any, n_orders: int, seed: Sequence[int]) -> FloatArray:
        """(n, n) the mean of P(edge | order) over `n_orders` orders; the order is changed in place."""
        total = np.zeros((self.n, self.n))
        generator = np.random.default_rng(list(seed))
        for begin in range(0, n_orders, _FIRST_ORDERS):
            draws = generator.random((self.n * min(_FIRST_ORDERS, n_orders - begin), 2))
            _kernels.order_chain(self.sets, self.log_scores, self.starts, order, draws, total)
        return np.asarray(total / n_orders)

    def _of_node(self, node: int) -> tuple[list[tuple[int, ...]], FloatArray]:
        """Every set of candidates with the required parents, unless a subset scores far more."""
        fixed = tuple(sorted(self._required[node]))
        free = [k for k in np.flatnonzero(self._allowed[:, node]).tolist() if k not in fixed]
        most = min(self._most - len(fixed), len(free))
        if self._most >= self.n - 1:
            most = max(min(most, _FEWEST_PARENTS), _largest(len(free), most))
        self.most_parents = min(self.most_parents, most + len(fixed)) if most < len(free) else self.most_parents
        free = self._candidates(node, fixed, free, most)
        start = self._scores.family(node, fixed)
        known: dict[tuple[int, ...], tuple[float, float]] = {(): (start, start)}  # its score, the best of all subsets
        level: list[tuple[int, ...]] = [()]
        for _ in range(most):
            above = []
            for chosen in level:
                later = [k for k in free if not chosen or k > chosen[-1]]
                if not later:
                    continue
                values = self._scores.kernel.additions(node, sorted((*fixed, *chosen)), later)
                for other, value in zip(later, values, strict=True):
                    if value == -math.inf:
                        continue
                    members = (*chosen, other)
                    inside = (known[part][1] for part in combinations(members, len(chosen)) if part in known)
                    known[members] = (value, max(value, *inside))
                    above.append(members)
            level = above
        kept = [(value, members) for members, (value, best) in known.items() if value > best - _NEGLIGIBLE]
        kept.sort(key=lambda found: (-found[0], found[1]))
        return [(*fixed, *members) for _, members in kept], np.array([value for value, _ in kept])

    def _candidates(self, node: int, fixed: tuple[int, ...], free: list[int], most: int) -> list[int]:
        """The most informative about a node, and its neighbours in a good graph, where all are too many."""
        n_kept = len(free)
        while n_kept > most and _n_sets(n_kept, most) > _MOST_SETS:
            n_kept -= 1
        if n_kept == len(free):
            return free
        self.n_left_out += 1
        gains = self._scores.additions(node, fixed, free)
        ranked = sorted(
            zip(free, gains.tolist(), strict=True), key=lambda each_: (each_[0] not in self._near[node], -each_[1])
        )
        return sorted(k for k, _ in ranked[:n_kept])


def _n_sets(n: int, most: int) -> int:
    return sum(math.comb(n, k) for k in range(most + 1))


def _largest(n: int, most: int) -> int:
    """The largest number of parents for which all sets of the candidates can be scored."""
    return max((k for k in range(most + 1) if _n_sets(n, k) <= _MOST_SETS), default=0)


def _neighbours(parents: Parents) -> list[set[int]]:
    near: list[set[int]] = [set(above) for above in parents]
    for child, above in enumerate(parents):
        for parent in above:
            near[parent].add(child)
    return near


def _random_order(required: Sequence[set[int]], generator: np.random.Generator) -> IntArray:
    """A random order in which required parents come first."""
    left = generator.permutation(len(required)).tolist()
    order: list[int] = []
    while left:
        ready = next(node for node in left if required[node] <= set(order))
        left.remove(ready)
        order.append(ready)
    return np.array(order, dtype=np.int32)


MOST_COLUMNS = 16


def edge_posteriors(
    scores: Scores, constraints: Constraints | None = None, *, progress: Progress = silent
) -> FloatArray:
    """(n, n) P(edge parent -> child | rows), up to 16 columns.

    With f(S) the weight of all graphs over S, b(S) that of all their completions, and a_v(S) the sum of
    exp score(v | P) over P within S:  P(u -> v) = sum_S f(S) (a_v(S) - a_v(S - u)) b(S + v) / f(all).
    """
    n = len(scores.names)
    refuse_improbable(scores)
    if n > MOST_COLUMNS:
        raise TooLargeError(
            f"averaging over all orders of {n} columns takes too long; it goes up to {MOST_COLUMNS}",
            fix="draw orders with sampled_edges, or ignore some columns",
        )
    families = Families(scores, constraints or Constraints(), only_the_best=False)
    families.count(lambda done, total: progress("sets of columns counted", done, total))
    log_within = np.stack([_log_sums_of_subsets(families.scores_of(v), n) for v in range(n)]) if n else np.zeros((0, 1))
    log_before, log_after = _log_before(log_within, n), _log_after(log_within, n)
    found = np.zeros((n, n))
    for child in range(n):
        sets = _without(np.arange(1 << n), child)
        log_path = log_before[sets] + log_after[sets | 1 << child] - log_before[-1]
        for parent in (k for k in range(n) if k != child):
            here = sets >> parent & 1 == 1
            log_with, log_less = log_within[child, sets[here]], log_within[child, sets[here] & ~(1 << parent)]
            found[parent, child] = _summed(log_path[here], log_with, log_less)
    return np.clip(found, 0.0, 1.0)


def refuse_improbable(scores: Scores) -> None:
    """Refuse scores that are not log probabilities."""
    if scores.score in ("aic", "mdl"):
        raise ParameterError(
            f"{scores.score.upper()} is not a log probability of the rows", fix="average with 'bdeu', 'k2' or 'bic'"
        )


def _log_sums_of_subsets(log_values: FloatArray, n: int) -> FloatArray:
    """(2^n,) the log of the sum over all subsets of each set."""
    sums = log_values.copy()
    for k in range(n):
        pairs = sums.reshape(-1, 2, 1 << k)
        pairs[:, 1] = np.logaddexp(pairs[:, 0], pairs[:, 1])
    return sums


def _without(sets: IntArray, member: int) -> IntArray:
    return np.asarray(sets[sets >> member & 1 == 0])


def _log_before(log_within: FloatArray, n: int) -> FloatArray:
    """(2^n,) f(S) = sum over the last node v of S:  a_v(S - v) f(S - v)."""
    log_weight = np.full(1 << n, -np.inf)
    log_weight[0] = 0.0
    sets = np.arange(1 << n)
    sizes = np.bitwise_count(sets)
    for size in range(1, n + 1):
        for last in range(n):
            here = sets[(sizes == size) & (sets >> last & 1 == 1)]
            before = here & ~(1 << last)
            log_weight[here] = np.logaddexp(log_weight[here], log_weight[before] + log_within[last, before])
    return log_weight


def _log_after(log_within: FloatArray, n: int) -> FloatArray:
    """(2^n,) b(S) = sum over the next node v:  a_v(S) b(S + v)."""
    log_weight = np.full(1 << n, -np.inf)
    log_weight[-1] = 0.0
    sets = np.arange(1 << n)
    sizes = np.bitwise_count(sets)
    for size in range(n - 1, -1, -1):
        for following in range(n):
            here = sets[(sizes == size) & (sets >> following & 1 == 0)]
            log_weight[here] = np.logaddexp(
                log_weight[here], log_weight[here | 1 << following] + log_within[following, here]
            )
    return log_weight


def _summed(log_path: FloatArray, log_with: FloatArray, log_less: FloatArray) -> float:
    """sum exp(path) (exp(with) - exp(less))."""
    share = -np.expm1(np.where(log_with > -np.inf, log_less - np.where(log_with > -np.inf, log_with, 0.0), 0.0))
    return float(np.sum(np.exp(log_path + np.where(log_with > -np.inf, log_with, -np.inf)) * share))
