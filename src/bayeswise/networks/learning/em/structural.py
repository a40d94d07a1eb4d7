"""Structural EM: a graph from rows with missing cells, all of which are used (Friedman 1998).

Each round draws the missing cells from their exact posterior under the network so far, several times, and searches a
graph in the completed rows; EM finds its tables in the rows as they are. The graph of greatest penalised likelihood of
the observed cells is kept, so a round that was unlucky does no harm.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from bayeswise.foundation.arrays import CodeArray
from bayeswise.networks.inference.row_posteriors import posterior_and_evidence
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.constraints import Parents, Search
from bayeswise.networks.learning.em.fitted_tables import FittedTables, fit_tables
from bayeswise.networks.learning.graph_search import GraphSearch
from bayeswise.networks.learning.search.chow_liu_tree import mutual_information, pair_counts, spanning_tree
from bayeswise.networks.network import BeliefNetwork

_COMPLETIONS = 4  # of each incomplete row
_MOST_ROUNDS = 20
_IDLE_ROUNDS = 3  # without a better graph


def structural_em(rows: CodedRows, search: GraphSearch, *, prior: str = "bdeu") -> Search:
    """The best graph of all rounds; the same seed gives the same graph. `search` finds one in complete rows."""
    weight = float(len(rows.codes)) if rows.weights is None else math.fsum(rows.weights)
    tree = spanning_tree(mutual_information(pair_counts(rows)), 0)
    start = _fitted(rows, tree, prior, search)
    best = Search(tree, -math.inf)
    network, idle, rounds = start.network, 0, 0
    seen: set[tuple[tuple[int, ...], ...]] = set()
    while idle < _IDLE_ROUNDS and rounds < _MOST_ROUNDS:
        rounds += 1
        found = search.found(completed(rows, network, np.random.default_rng([search.seed, rounds])))
        graph = tuple(tuple(sorted(above)) for above in found.parents)
        if graph in seen:
            break
        seen.add(graph)
        fitted = _fitted(rows, found.parents, prior, search)
        network = fitted.network
        score = fitted.log_likelihood - 0.5 * math.log(max(weight, 1.0)) * network.n_parameters
        idle = 0 if score > best.score else idle + 1
        if score > best.score:
            best = replace(found, score=score)
        search.progress("rounds of structural EM", rounds, None)
        if found.interrupted or fitted.interrupted:
            best = replace(best, interrupted=True)
            break
    return replace(best, notes=(*best.notes, f"structural EM took {rounds} rounds"))


def _fitted(rows: CodedRows, parents: Parents, prior: str, search: GraphSearch) -> FittedTables:
    named = {name: [rows.names[k] for k in above] for name, above in zip(rows.names, parents, strict=True)}
    return fit_tables(rows, named, prior=prior, smoothing=search.smoothing, starts=1, seed=search.seed)


def completed(rows: CodedRows, network: BeliefNetwork, generator: np.random.Generator) -> CodedRows:
    """The complete rows, and several completions of each incomplete one, which share its weight."""
    whole = np.asarray((rows.codes >= 0).all(axis=1))
    weights = np.ones(len(rows.codes)) if rows.weights is None else rows.weights
    copies = np.repeat(rows.with_soft[0][~whole], _COMPLETIONS, axis=0)
    drawn = drawn_cells(network, rows, copies, generator)
    shares = np.repeat(weights[~whole] / _COMPLETIONS, _COMPLETIONS)
    return replace(
        rows,
        codes=np.concatenate([rows.codes[whole], drawn]),
        weights=np.concatenate([weights[whole], shares]),
        soft=None,
    )


def drawn_cells(network: BeliefNetwork, rows: CodedRows, codes: CodeArray, generator: np.random.Generator) -> CodeArray:
    """Codes with every missing and soft cell drawn, column by column, each given the other cells of its row.

    Code n_states + k is the k-th likelihood among the soft cells of the column.
    """
    filled = codes.copy()
    places = [network.place(name) for name in rows.names]
    _, soft = rows.with_soft
    for column, node in enumerate(places):
        likely = filled[:, column] >= rows.sizes[column]
        open_cells = np.flatnonzero(likely | (filled[:, column] < 0))
        if not len(open_cells):
            continue
        others = [k for k in range(len(places)) if k != column]
        cells = np.ascontiguousarray(filled[open_cells][:, others])
        posterior, _ = posterior_and_evidence(
            network, node, [places[k] for k in others], cells, [soft[k] for k in others]
        )
        is_soft = likely[open_cells]
        posterior[is_soft] *= soft[column][filled[open_cells[is_soft], column] - rows.sizes[column]]
        steps = np.cumsum(posterior, axis=1)
        steps /= steps[:, -1:]
        filled[open_cells, column] = (generator.random((len(open_cells), 1)) >= steps[:, :-1]).sum(axis=1)
    return filled
