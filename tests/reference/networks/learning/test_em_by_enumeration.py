"""EM for networks against EM that sums the whole joint distribution, row by row."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bayeswise.foundation.arrays import FloatArray
from bayeswise.networks import BeliefNetwork
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.em.fitted_tables import em_steps
from bayeswise.networks.learning.em.incomplete import IncompleteRows
from tests.cases.network_cases import random_network


def holed(network: BeliefNetwork, n_rows: int, share: float, seed: int) -> CodedRows:
    """Rows of a network, a share of the cells lost at random."""
    rows = CodedRows.of(network.sample(n_rows, seed=seed), states={name: network.states(name) for name in network})
    codes = rows.codes.copy()
    codes[np.random.default_rng(seed).random(codes.shape) < share] = -1
    return CodedRows(rows.names, rows.states, codes)


def expected_by_enumeration(rows: CodedRows, parents: list[tuple[int, ...]], tables: list[FloatArray]):  # type: ignore[no-untyped-def]
    """The expected count of each cell, and log P of all rows, by summing all completions of each row.

    A node that is missing with all that is below it says nothing about its table, and is left out of the row.
    """
    counts, log_likelihood = [np.zeros_like(table) for table in tables], 0.0
    for row in rows.codes.tolist():
        used = {k for k, code in enumerate(row) if code >= 0}
        while True:
            more = {parent for k in used for parent in parents[k]} - used
            if not more:
                break
            used |= more
        nodes = sorted(used)
        total, cells = 0.0, []
        for states in itertools.product(*([row[k]] if row[k] >= 0 else range(rows.sizes[k]) for k in nodes)):
            value, p, used_cells = dict(zip(nodes, states, strict=True)), 1.0, []
            for k in nodes:
                line = 0
                for parent in parents[k]:
                    line = line * rows.sizes[parent] + value[parent]
                p *= tables[k][line, value[k]]
                used_cells.append((k, line, value[k]))
            total += p
            cells.append((p, used_cells))
        log_likelihood += math.log(total)
        for p, used_cells in cells:
            for k, line, state in used_cells:
                counts[k][line, state] += p / total
    return counts, log_likelihood


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rare", [True, False])
def test_each_step_of_em_is_that_of_enumeration(seed: int, rare: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayeswise.networks.learning.em.incomplete._CELLS_WORTH_A_TREE", 10**9 if rare else 1)
    network = random_network(seed, n_nodes=5, zeros=0.0)
    rows = holed(network, 40, 0.3, seed)
    parents = [tuple(above) for above in network._parents]
    seen = IncompleteRows.of(rows, parents)
    generator = np.random.default_rng(seed)
    tables = [generator.dirichlet(np.ones(table.shape[1]), len(table)) for table in network._tables]
    pseudo_counts = seen.layout.pseudo_counts("m-estimate", 2.0)
    flat = np.concatenate([table.ravel() for table in tables])
    for point in itertools.islice(em_steps(seen, flat, pseudo_counts), 4):
        if not rare:
            counts, log_likelihood = expected_by_enumeration(rows, parents, seen.layout.tables(point.tables))
            assert point.counts == pytest.approx(np.concatenate([c.ravel() for c in counts]), abs=1e-11)
            assert point.log_likelihood == pytest.approx(log_likelihood, rel=1e-12)
            log_prior = float(pseudo_counts @ np.log(point.tables))
            assert point.objective == pytest.approx(log_likelihood + log_prior, rel=1e-12)
        else:
            _, log_likelihood = expected_by_enumeration(rows, parents, seen.layout.tables(point.tables))
            assert point.log_likelihood == pytest.approx(log_likelihood, rel=1e-12)


def test_where_one_tree_for_all_patterns_is_too_large_each_pattern_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Observed nodes are cut out of the tree of a pattern, so that it may be small where the other is not."""
    network = random_network(3, n_nodes=8, zeros=0.0)
    rows = holed(network, 60, 0.15, 1)
    flat = np.concatenate([table.ravel() for table in network._tables])
    together = IncompleteRows.of(rows, network._parents)
    assert len(together.groups) == 1
    needed = 16 * together.groups[0].tree.n_cells
    monkeypatch.setattr("bayeswise.networks.learning.em.incomplete.MEMORY_LIMIT", needed - 1)
    apart = IncompleteRows.of(rows, network._parents)
    assert len(apart.groups) > 10
    expected, found = (each.at(flat, np.zeros_like(flat)) for each in (together, apart))
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-12)
