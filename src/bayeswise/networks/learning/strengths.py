"""Strengths of edges: the loss of score without an edge, its bootstrap support, and its posterior probability."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.column_states import MOST_LABELS
from bayeswise.networks.learning.constraints import Constraints, Edges, Parents, Progress, Search, silent
from bayeswise.networks.learning.search.climbing import hill_climbing
from bayeswise.networks.learning.search.orders import MOST_COLUMNS, edge_posteriors, sampled_edges
from bayeswise.networks.learning.search.scores import Scores
from bayeswise.networks.network import BeliefNetwork
from bayeswise.networks.node import cuts_of
from bayeswise.render.numbers import plural
from bayeswise.render.terminal import aligned
from bayeswise.tables.schema.names import find_name

_MOST_DRAWN = 2**53
LEAST_SUPPORT = 0.05  # of an edge that is listed though the graph does not have it


@dataclass(frozen=True)
class EdgeStrength:
    """One edge; what was not measured is NaN."""

    parent: str
    child: str
    in_graph: bool
    score_gain: float  # what the score loses if the edge is taken away
    support: float  # share of resampled tables in which it was found, in this direction
    support_either_way: float
    posterior: float  # averaged over all graphs


@dataclass(frozen=True, repr=False)
class EdgeStrengths:
    """Edges, the strongest first; `columns()` has them as columns for a dataframe.

    >>> from bayeswise.networks.learning import Scores
    >>> rows = CodedRows.of({"a": [0, 1] * 30, "b": [0, 1] * 30, "c": [0, 0, 1, 1] * 15})
    >>> found = edge_strengths(rows, [(), (0,), ()], resamples=20)
    >>> [(edge.parent, edge.child, edge.support_either_way) for edge in found]
    [('a', 'b', 1.0)]
    """

    edges: tuple[EdgeStrength, ...]
    n_resamples: int = 0
    notes: tuple[str, ...] = ()  # about posteriors that were sampled

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
        return f"EdgeStrengths({plural(len(self), 'edge')}, {plural(self.n_resamples, 'resampled table')})"


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
    """The strengths of the edges of a graph, and of others found in at least 5 % of resampled tables.

    `resamples` tables are drawn with replacement (Friedman, Goldszmidt and Wyner 1999), each searched by `search`;
    `averaged` adds P(edge | rows) over all graphs: exact up to 16 columns, beyond them by chains over orders whose
    agreement is in `notes`. Ctrl-C ends the resampling early.
    """
    if resamples < 0:
        raise ParameterError(f"{resamples} resampled tables", fix="give a number from 0 on")
    rules = constraints or Constraints()
    scores = Scores(rows, score, smoothing=smoothing)
    n = len(rows.names)
    found, n_found = resampled(rows, score, smoothing, rules, resamples, seed, search, progress)
    posterior = np.full((n, n), math.nan)
    notes: tuple[str, ...] = ()
    if averaged and n <= MOST_COLUMNS:
        posterior = edge_posteriors(scores, rules, progress=progress)
    elif averaged:
        sampled = sampled_edges(scores, rules, seed=seed, progress=progress)
        posterior, notes = sampled.probability, sampled.described()
    support = found / n_found if n_found else np.full((n, n), math.nan)
    edges = []
    for child in range(n):
        for parent in range(n):
            here = parent in parents[child]
            if parent == child or not (here or (n_found and support[parent, child] >= LEAST_SUPPORT)):
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
    return EdgeStrengths(tuple(edges), n_found, notes)


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
    """A bootstrap sample of the rows, by their weights where they have some."""
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
    table: Any,
    network: BeliefNetwork,
    *,
    weight: str | None = None,
    weights: Any = None,
    score: str = "bic",
    smoothing: float = 1.0,
    constraints: Constraints | None = None,
    resamples: int = 0,
    averaged: bool = False,
    seed: int = 0,
    search: Callable[[Scores, Constraints], Search] = hill_climbing,
    progress: Progress = silent,
) -> EdgeStrengths:
    """The strengths of a network's edges in the rows of a table that have no missing cell.

    `weight` names a column of weights, `weights` are weights that are not a column; the others are as for
    `edge_strengths`.

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
        rows,
        [[rows.names.index(each) for each in network.parents(k)] for k in rows.names],
        score=score,
        smoothing=smoothing,
        constraints=constraints,
        resamples=resamples,
        averaged=averaged,
        seed=seed,
        search=search,
        progress=progress,
    )


@dataclass(frozen=True, repr=False)
class EdgeProbabilities:
    """P(edge | rows) of every edge, averaged over graphs; `notes` say how, and `converged` whether chains agree."""

    names: tuple[str, ...]
    probability: FloatArray  # (n, n), [parent, child]
    standard_error: FloatArray  # (n, n), 0 where all orders were summed over
    notes: tuple[str, ...] = ()
    converged: bool = True

    def __getitem__(self, edge: tuple[str, str]) -> float:
        """P(parent -> child | rows)."""
        parent, child = (find_name(name, self.names, where="these edges") for name in edge)
        return float(self.probability[self.names.index(parent), self.names.index(child)])

    def above(self, least: float = 0.5) -> list[tuple[str, str, float]]:
        """(parent, child, probability) of the edges of at least this probability, the most probable first."""
        pairs = [(u, v) for u, v in np.argwhere(self.probability >= least).tolist() if u != v]
        found = [(self.names[u], self.names[v], float(self.probability[u, v])) for u, v in pairs]
        return sorted(found, key=lambda edge: -edge[2])

    def __repr__(self) -> str:
        return f"EdgeProbabilities({plural(len(self.names), 'column')}, {plural(len(self.above()), 'edge')} above 0.5)"


def edge_probabilities(
    table: Any,
    *,
    score: str = "bdeu",
    smoothing: float = 1.0,
    required: Edges = (),
    forbidden: Edges = (),
    tiers: Sequence[Sequence[str]] = (),
    max_parents: int | None = None,
    ignore: Collection[str] = (),
    weight: str | None = None,
    chains: int = 4,
    tolerance: float = 0.05,
    most_orders: int = 1_024,
    seed: int = 0,
    progress: Progress = silent,
) -> EdgeProbabilities:
    """P(edge | rows) averaged over all orders of the columns and their graphs: exact up to 16 columns.

    Beyond them, `chains` draw orders until no edge probability of a chain is further than `tolerance` from the mean of
    all, or each has drawn `most_orders`. The prior over orders is uniform.

    >>> found = edge_probabilities({"a": [0, 1] * 30, "b": [0, 1] * 30, "c": [0, 0, 1, 1] * 15})
    >>> round(found["a", "b"] + found["b", "a"], 3)
    1.0
    """
    given = (
        table
        if isinstance(table, CodedRows)
        else CodedRows.of(table, ignore=ignore, weight=weight, cut_beyond=MOST_LABELS)
    )
    rows = given.with_states().complete()
    scores = Scores(rows, score, smoothing=smoothing)
    rules = Constraints.of(required, forbidden, tiers, max_parents)
    if len(rows.names) <= MOST_COLUMNS:
        exact = edge_posteriors(scores, rules, progress=progress)
        return EdgeProbabilities(rows.names, exact, np.zeros_like(exact), ("summed over all orders",))
    options: dict[str, Any] = {"chains": chains, "tolerance": tolerance, "most_orders": most_orders, "seed": seed}
    sampled = sampled_edges(scores, rules, **options, progress=progress)
    notes = sampled.described()
    return EdgeProbabilities(rows.names, sampled.probability, sampled.standard_error, notes, sampled.converged)
