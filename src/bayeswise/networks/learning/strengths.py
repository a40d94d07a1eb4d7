"""How much each edge is worth: by what the score loses without it, and by how often it is found in resampled rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError, TooLargeError
from bayeswise.models.settings.declaration import earlier
from bayeswise.networks.learning.constraints import Constraints, Parents, Progress, Search, silent
from bayeswise.networks.learning.rows import CodedRows
from bayeswise.networks.learning.search.climbing import hill_climbing
from bayeswise.networks.learning.search.exact import Families
from bayeswise.networks.learning.search.scores import Scores
from bayeswise.networks.network import BeliefNetwork
from bayeswise.networks.node import cuts_of
from bayeswise.render.terminal import aligned

_MOST_DRAWN = 2**53
SELDOM = 0.05  # an edge that the graph does not have is listed from this share on


@dataclass(frozen=True)
class EdgeStrength:
    """One edge; what was not asked for is NaN."""

    parent: str
    child: str
    in_graph: bool
    score_gain: float  # what the score loses if the edge is taken away
    support: float  # share of resampled tables in which it was found, this way round
    support_either_way: float
    posterior: float  # averaged over all graphs


@dataclass(frozen=True, repr=False)
class EdgeStrengths:
    """Edges, the strongest first; `columns()` is a table that any frame takes.

    >>> from bayeswise.networks.learning import Scores
    >>> rows = CodedRows.of({"a": [0, 1] * 30, "b": [0, 1] * 30, "c": [0, 0, 1, 1] * 15})
    >>> found = edge_strengths(rows, [(), (0,), ()], resamples=20)
    >>> [(edge.parent, edge.child, edge.support_either_way) for edge in found]
    [('a', 'b', 1.0)]
    """

    edges: tuple[EdgeStrength, ...]
    n_resamples: int = 0

    def __len__(self) -> int:
        return len(self.edges)

    def __iter__(self) -> Iterator[EdgeStrength]:
        return iter(self.edges)

    def columns(self) -> dict[str, list[Any]]:
        """One list for each field."""
        rows = [asdict(edge) for edge in self.edges]
        return {field.name: [row[field.name] for row in rows] for field in fields(EdgeStrength)}

    def __str__(self) -> str:
        names = [f"{edge.parent} -> {edge.child}{'' if edge.in_graph else ' (not in the graph)'}" for edge in self]
        return "\n".join(aligned([(name, _measures(edge)) for name, edge in zip(names, self, strict=True)], ()))

    def __repr__(self) -> str:
        return f"EdgeStrengths({len(self)} edges, {self.n_resamples} resampled tables)"


def _measures(edge: EdgeStrength) -> str:
    parts = [] if math.isnan(edge.score_gain) else [f"score {edge.score_gain:+.1f}"]
    if not math.isnan(edge.support):
        parts.append(f"found in {edge.support:.0%}, either way {edge.support_either_way:.0%}")
    if not math.isnan(edge.posterior):
        parts.append(f"posterior {edge.posterior:.3f}")
    return ", ".join(parts)


@earlier(strength="smoothing")
def edge_strengths(
    rows: CodedRows,
    parents: Sequence[Sequence[int]],
    *,
    score: str = "bic",
    smoothing: float = 1.0,
    constraints: Constraints | None = None,
    resamples: int = 0,
    averaged: bool = False,
    seed: int = 0,
    search: Callable[[Scores, Constraints], Search] = hill_climbing,
    progress: Progress = silent,
) -> EdgeStrengths:
    """The strengths of the edges of a graph, and of others that resampled tables have now and then.

    `resamples` tables are drawn with replacement (Friedman, Goldszmidt and Wyner 1999), each searched by `search`;
    `averaged` adds P(edge | rows) over all graphs, for up to 16 columns. Ctrl-C ends the resampling early.
    """
    if resamples < 0:
        raise ParameterError(f"{resamples} resampled tables", fix="give a number from 0 on")
    rules = constraints or Constraints()
    scores = Scores(rows, score, smoothing=smoothing)
    n = len(rows.names)
    found, n_found = resampled(rows, score, smoothing, rules, resamples, seed, search, progress)
    posterior = np.full((n, n), math.nan)
    if averaged:
        posterior = edge_posteriors(scores, rules, progress=progress)
    support = found / n_found if n_found else np.full((n, n), math.nan)
    edges = []
    for child in range(n):
        for parent in range(n):
            here = parent in parents[child]
            if parent == child or not (here or (n_found and support[parent, child] >= SELDOM)):
                continue
            gain = math.nan
            if here:
                fewer = [each for each in parents[child] if each != parent]
                gain = scores.family(child, parents[child]) - scores.family(child, fewer)
            either = support[parent, child] + support[child, parent]
            names = rows.names[parent], rows.names[child]
            shares = float(support[parent, child]), float(either), float(posterior[parent, child])
            edges.append(EdgeStrength(*names, here, gain, *shares))
    edges.sort(key=lambda edge: (not edge.in_graph, -_or_zero(edge.support_either_way), -_or_zero(edge.score_gain)))
    return EdgeStrengths(tuple(edges), n_found)


def _or_zero(value: float) -> float:
    return 0.0 if math.isnan(value) else value


def resampled(
    rows: CodedRows,
    score: str,
    smoothing: float,
    rules: Constraints,
    resamples: int,
    seed: int,
    search: Callable[[Scores, Constraints], Search],
    progress: Progress = silent,
) -> tuple[FloatArray, int]:
    """(n, n) in how many resampled tables each edge was found, and how many there were."""
    found, n_found = np.zeros((len(rows.names), len(rows.names))), 0
    try:
        while n_found < resamples:
            graph = search(Scores(_drawn(rows, [seed, n_found]), score, smoothing=smoothing), rules)
            if graph.interrupted:
                break
            _add(found, graph.parents)
            n_found += 1
            progress("resampled tables", n_found, resamples)
    except KeyboardInterrupt:
        pass
    return found, n_found


def _drawn(rows: CodedRows, seed: list[int]) -> CodedRows:
    """As many rows, drawn with replacement; as often as their weight says where they have one."""
    generator, n_rows = np.random.default_rng(seed), len(rows.codes)
    if rows.weights is None:
        times = generator.multinomial(n_rows, np.full(n_rows, 1.0 / max(n_rows, 1)))
        return CodedRows(rows.names, rows.states, np.repeat(rows.codes, times, axis=0))
    total = math.fsum(rows.weights)
    n_drawn = max(1, round(min(total, _MOST_DRAWN)))
    times = generator.multinomial(n_drawn, rows.weights / rows.weights.sum())
    return replace(rows, weights=times.astype(np.float64) * (total / n_drawn)).of_rows(times > 0)


def _add(found: FloatArray, parents: Parents) -> None:
    for child, above in enumerate(parents):
        found[list(above), child] += 1.0


@earlier(strength="smoothing")
def strengths_in_table(
    table: Any, network: BeliefNetwork, *, weight: str | None = None, weights: Any = None, **overrides: Any
) -> EdgeStrengths:
    """The strengths of a network's edges in the rows of a table that have a cell in every node's column.

    >>> from bayeswise.networks import BeliefNetwork
    >>> table = {"a": [0, 1] * 30, "b": [0, 1] * 30}
    >>> print(strengths_in_table(table, BeliefNetwork.learn(table)))
    a -> b  score +39.5
    """
    if isinstance(table, CodedRows):
        rows = table.weighted(weights).without_missing()
    else:
        cut = {name: network.states(name) for name in network if cuts_of(network.states(name)) is not None}
        rows = CodedRows.of(table, columns=network.names, states=cut, weight=weight, weights=weights).without_missing()
    return edge_strengths(
        rows, [[rows.names.index(each) for each in network.parents(k)] for k in rows.names], **overrides
    )


MOST_COLUMNS = 16


def edge_posteriors(
    scores: Scores, constraints: Constraints | None = None, *, progress: Progress = silent
) -> FloatArray:
    """(n, n) P(edge parent -> child | rows), up to 16 columns.

    With f(S) the weight of all graphs over S, b(S) that of all ways on from it, and a_v(S) the sum of exp score(v | P)
    over P within S:  P(u -> v) = sum_S f(S) (a_v(S) - a_v(S - u)) b(S + v) / f(all).
    """
    n = len(scores.names)
    if scores.score in ("aic", "mdl"):
        raise ParameterError(
            f"{scores.score.upper()} is not a log probability of the rows", fix="average with 'bdeu', 'k2' or 'bic'"
        )
    if n > MOST_COLUMNS:
        raise TooLargeError(
            f"averaging over all orders of {n} columns takes too long; it goes up to {MOST_COLUMNS}",
            fix="ignore some columns, or use bootstrap",
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
