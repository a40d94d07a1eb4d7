"""Network classifiers beside naive Bayes, the junction-tree engine and pyAgrum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from benchmarks.pyagrum_twins import network_twin
from tests.cases.classifier_cases import Table, dependent_table, fit_network, rows_of, without_class

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SINGLE_GRAPH: list[dict[str, Any]] = [
    {"structure": "naive"},
    {"structure": "tan"},
    {"structure": "k-dependence", "k": 1},
    {"structure": "k-dependence", "k": 2},
    {"structure": "markov-blanket", "score": "aic"},
]


def evidence_of(table: Table, row: int) -> dict[str, Any]:
    return {name: cells[row] for name, cells in without_class(table).items() if cells[row] is not None}


@pytest.mark.parametrize("missing", ["ignore", "level"])
@pytest.mark.parametrize(("mine", "theirs"), [
    ({"prior": "laplace", "smoothing": 1.0}, {"smoothing": 1.0}),
    ({"prior": "laplace", "smoothing": 0.3}, {"smoothing": 0.3}),
    ({"prior": "m-estimate", "smoothing": 2.0}, {"smoothing": bw.MEstimate(2.0)}),
    ({"class_prior": {"k0": 0.5, "k1": 0.3, "k2": 0.2}}, {"class_prior": {"k0": 0.5, "k1": 0.3, "k2": 0.2}}),
])  # fmt: skip
def test_the_naive_structure_is_naive_bayes(mine: dict[str, Any], theirs: dict[str, Any], missing: str) -> None:
    table, new_rows = dependent_table(2, missing=0.2), without_class(dependent_table(9, missing=0.3))
    new_rows["c1"][3] = "never seen"
    network = fit_network(table, "y", structure="naive", missing=missing, **mine)
    naive = bw.fit(table, "y", model="naive-bayes", missing=missing, **theirs)
    np.testing.assert_allclose(
        network.predict_log_proba(new_rows), naive.predict_log_proba(new_rows), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(network.log_evidence(new_rows), naive.log_evidence(new_rows), rtol=1e-12)
    np.testing.assert_allclose(network.leave_one_out(table), naive.leave_one_out(table), rtol=1e-11)


@pytest.mark.parametrize("settings", SINGLE_GRAPH, ids=str)
def test_rows_with_missing_values_are_answered_as_the_junction_tree_answers_them(settings: dict[str, Any]) -> None:
    table, new_rows = (
        dependent_table(4, n_rows=200, n_columns=6),
        dependent_table(4, n_rows=200, n_columns=6, missing=0.4),
    )
    model = fit_network(table, "y", **settings)
    found = model.predict_proba(without_class(new_rows))
    log_evidence = model.log_evidence(without_class(new_rows))
    for row in range(0, 200, 7):
        answer = model.network.query("y", evidence_of(new_rows, row))
        np.testing.assert_allclose(found[row], [answer[state] for state in model.classes], rtol=1e-11)
        assert log_evidence[row] == pytest.approx(model.network.log_evidence(evidence_of(new_rows, row)), abs=1e-11)


def test_aode_is_the_mean_of_the_networks_of_its_superparents() -> None:
    table, new_rows = (
        dependent_table(6, n_rows=150, n_columns=5),
        dependent_table(6, n_rows=150, n_columns=5, missing=0.4),
    )
    model = fit_network(table, "y", structure="aode", min_frequency=0)
    networks = [model.superparent_network(name) for name in model.coding.columns]
    log_evidence = model.log_evidence(without_class(new_rows))
    found = model.predict_proba(without_class(new_rows))
    for row in range(0, 150, 11):
        evidence = evidence_of(new_rows, row)
        joint = np.zeros(len(model.classes))
        for network in networks:
            answer = network.query("y", evidence)
            joint += network.evidence_probability(evidence) * np.array([answer[state] for state in model.classes])
        np.testing.assert_allclose(found[row], joint / joint.sum(), rtol=1e-11)
        assert log_evidence[row] == pytest.approx(np.log(joint.sum() / len(networks)), abs=1e-11)


@pytest.mark.parametrize("settings", SINGLE_GRAPH, ids=str)
def test_rows_with_missing_values_are_answered_as_pyagrum_answers_them(settings: dict[str, Any]) -> None:
    gum = pytest.importorskip("pyagrum")
    table, new_rows = (
        dependent_table(7, n_rows=200, n_columns=6),
        dependent_table(7, n_rows=200, n_columns=6, missing=0.4),
    )
    model = fit_network(table, "y", **settings)
    engine = gum.LazyPropagation(network_twin(model.network))
    engine.addTarget("y")
    found = model.predict_proba(without_class(new_rows))
    for row in range(0, 200, 13):
        engine.setEvidence(evidence_of(new_rows, row))
        engine.makeInference()
        np.testing.assert_allclose(found[row], engine.posterior("y").toarray(), rtol=1e-10)


def test_the_tree_has_every_edge_of_pyagrums_which_leaves_weak_ones_out() -> None:
    skbn = pytest.importorskip("pyagrum.skbn")
    from pandas import DataFrame
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor

    table = dependent_table(20, n_rows=2000, n_columns=6, n_classes=2)
    as_is = DiscreteTypeProcessor("NoDiscretization", None)
    theirs = skbn.BNClassifier(type_processor=as_is, learningMethod="TAN")
    theirs.fit(DataFrame(without_class(table)), DataFrame(table)["y"])
    name = {node: theirs.bn_.variable(node).name() for node in theirs.bn_.nodes()}
    edges = {frozenset((name[parent], name[child])) for parent, child in theirs.bn_.arcs()}
    mine = {frozenset(edge) for edge in fit_network(table, "y", structure="tan").network.edges}
    assert len(mine) == 6 + 5
    assert edges <= mine
    assert sum("y" not in edge for edge in edges) == 4


def test_rows_of_a_whole_table_are_answered_one_like_many() -> None:
    table, new_rows = dependent_table(4, n_rows=200), without_class(dependent_table(4, n_rows=200, missing=0.3))
    for structure in ("tan", "aode", "markov-blanket"):
        model = fit_network(table, "y", structure=structure)
        alone = [model.predict_proba(rows_of(new_rows, [row]))[0] for row in range(0, 200, 37)]
        np.testing.assert_allclose(model.predict_proba(new_rows)[::37], alone, rtol=1e-13)
