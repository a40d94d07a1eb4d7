"""Cells that hold a likelihood for each state, against sums over all states of all nodes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from bayeswise.networks import BeliefNetwork
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.em.fitted_tables import em_steps, gradient_steps
from bayeswise.networks.learning.em.incomplete import IncompleteRows
from tests.cases.network_cases import random_network


def weights_of(network: BeliefNetwork, name: str, cell: Any) -> np.ndarray:
    """1 for each state that a cell allows, a likelihood where it is soft, by reading it again."""
    states = network.states(name)
    if cell is None:
        return np.ones(len(states))
    if cell in states:
        return np.array([float(state == cell) for state in states])
    by_state = dict(part.split("=") for part in cell.split(";"))
    return np.array([float(by_state[str(state)]) for state in states])


def joint_of_row(network: BeliefNetwork, row: dict[str, Any]) -> dict[tuple[int, ...], float]:
    """prod P(node | parents) times what the cells say, for every configuration of all nodes."""
    names, found = network.names, {}
    says = {name: weights_of(network, name, row.get(name)) for name in names}
    for states in itertools.product(*(range(len(network.states(name))) for name in names)):
        here = dict(zip(names, states, strict=True))
        p = 1.0
        for name in names:
            line = 0
            for parent in network.parents(name):
                line = line * len(network.states(parent)) + here[parent]
            p *= network.table(name)[line, here[name]] * says[name][here[name]]
        found[states] = p
    return found


def cases(network: BeliefNetwork, n_rows: int, seed: int, missing: float = 0.2) -> dict[str, list[Any]]:
    """Rows of the network, a third of the cells soft and some missing; what was drawn stays possible."""
    generator = np.random.default_rng(seed)
    table: dict[str, list[Any]] = dict(network.sample(n_rows, seed=seed))
    for name, column in table.items():
        states = network.states(name)
        for row, cell in enumerate(column):
            kind = generator.random()
            likelihoods = {state: float(generator.choice([0.0, 0.25, 0.7, 2.0])) for state in states}
            likelihoods[cell] = max(likelihoods[cell], 0.1)
            if kind < 0.33 and len(states) > 1:
                column[row] = ";".join(f"{state}={likelihood}" for state, likelihood in likelihoods.items())
            elif 0.33 <= kind < 0.33 + missing:
                column[row] = None
    return table


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("worth_a_tree", [0, 10**9])
def test_posteriors_of_rows_with_soft_cells(seed: int, worth_a_tree: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayeswise.networks.inference.row_posteriors._CELLS_WORTH_A_TREE", worth_a_tree)
    network = random_network(seed, n_nodes=5)
    table = cases(network, 40, seed)
    for target, name in enumerate(network.names):
        found = network.predict_proba(name, table)
        others = {key: column for key, column in table.items() if key != name}
        for row in range(40):
            joint = joint_of_row(network, {key: column[row] for key, column in others.items()})
            twin = np.zeros(len(network.states(name)))
            for states, p in joint.items():
                twin[states[target]] += p
            np.testing.assert_allclose(found[row], twin / twin.sum(), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("worth_a_tree", [0, 10**9])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_expected_counts_of_rows_with_soft_cells(
    seed: int, worth_a_tree: int, missing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayeswise.networks.learning.em.incomplete._CELLS_WORTH_A_TREE", worth_a_tree)
    network = random_network(seed, n_nodes=5)
    table = cases(network, 60, seed, missing)
    states = {name: network.states(name) for name in network}
    weights = np.random.default_rng(seed).integers(1, 4, 60).astype(float)
    rows = CodedRows.of(table, states=states, columns=network.names, weights=weights, may_be_soft=True)
    seen = IncompleteRows.of(rows, [tuple(network.place(p) for p in network.parents(name)) for name in network])
    tables = np.concatenate([network.table(name).ravel() for name in network])
    point = seen.at(tables, np.zeros_like(tables))
    counts = [np.zeros_like(network.table(name)) for name in network]
    log_likelihood = 0.0
    for row in range(60):
        joint = joint_of_row(network, {name: column[row] for name, column in table.items()})
        total = sum(joint.values())
        log_likelihood += weights[row] * np.log(total)
        for configuration, p in joint.items():
            here = dict(zip(network.names, configuration, strict=True))
            for count, name in zip(counts, network.names, strict=True):
                line = 0
                for parent in network.parents(name):
                    line = line * len(network.states(parent)) + here[parent]
                count[line, here[name]] += weights[row] * p / total
    assert point.log_likelihood == pytest.approx(log_likelihood, rel=1e-11)
    if not missing:  # else rows say nothing of tables below all that they show
        for count, found in zip(counts, seen.layout.tables(point.counts), strict=True):
            np.testing.assert_allclose(found, count, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("steps", [em_steps, gradient_steps])
def test_no_step_falls_with_soft_cells(steps: Any) -> None:
    network = random_network(5, n_nodes=5)
    rows = CodedRows.of(cases(network, 60, 5), states={n: network.states(n) for n in network}, may_be_soft=True)
    seen = IncompleteRows.of(rows, [tuple(rows.names.index(p) for p in network.parents(name)) for name in rows.names])
    start = seen.layout.normalised(np.random.default_rng(0).gamma(1.0, size=seen.layout.starts[-1]) + 0.01)
    found = [p.objective for p in itertools.islice(steps(seen, start, seen.layout.pseudo_counts("bdeu", 1.0)), 25)]
    assert (np.diff(found) >= -1e-10 * (1.0 + np.abs(found[:-1]))).all()
