"""Network classifiers whose tables EM finds: beside all completions of each row, beside pyAgrum, and beside refits."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import BayeswiseError, KindError, NotMergedError, ParameterError
from bayeswise.networks import BeliefNetwork
from bayeswise.networks.learning import fit_tables
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.statistics import fingerprint
from tests.cases.classifier_cases import fit_network
from tests.cases.network_cases import pyagrum_learner

STRUCTURES = ("naive", "tan", "k-dependence", "markov-blanket")
EVERY = pytest.mark.parametrize("structure", STRUCTURES)
Table = dict[str, list[Any]]


def table_of(seed: int, n_rows: int = 200, share: float = 0.3) -> Table:
    """Columns that depend on each other and on the class, with missing values; the first columns have most of them."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n_rows)
    a = (generator.random(n_rows) < np.where(y, 0.8, 0.3)).astype(int)
    b = a + generator.integers(0, 2, n_rows)
    c = (generator.random(n_rows) < np.where(a ^ y, 0.8, 0.2)).astype(int)
    cells = {"a": a, "b": b, "c": c}
    with_missing = {}
    for k, (name, column) in enumerate(cells.items(), start=1):
        lost = generator.random(n_rows) < share / k
        with_missing[name] = [None if gone else f"{name}{cell}" for cell, gone in zip(column, lost, strict=True)]
    return {**with_missing, "y": ["yes" if each else "no" for each in y]}


def rows_of(table: Table) -> list[dict[str, Any]]:
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]


def part_of(table: Table, rows: slice) -> Table:
    return {name: column[rows] for name, column in table.items()}


def fitted(table: Any, structure: str, **overrides: Any) -> Any:
    return fit_network(table, "y", structure=structure, **{"missing": "em", **overrides})


def expected_counts(network: BeliefNetwork, rows: list[dict[str, Any]], name: str) -> np.ndarray[Any, Any]:
    """sum over rows of P(cell of the table | row), over all completions of each row."""
    above = network.parents(name)
    counts = np.zeros(network.table(name).shape)
    for row in rows:
        free = [each for each in network.names if row[each] is None]
        whole = [{**row, **dict(zip(free, states, strict=True))}
                 for states in itertools.product(*(network.states(each) for each in free))]  # fmt: skip
        weights = [math.exp(network.log_evidence(each)) for each in whole]
        for completion, weight in zip(whole, weights, strict=True):
            cell = 0
            for parent in above:
                cell = cell * len(network.states(parent)) + network.code(parent, completion[parent])
            counts[cell, network.code(name, completion[name])] += weight / sum(weights)
    return counts


@EVERY
@pytest.mark.parametrize(("prior", "smoothing"), [("laplace", 1.0), ("bdeu", 3.0)])
def test_tables_are_what_they_let_us_expect(structure: str, prior: str, smoothing: float) -> None:
    """A fixed point of EM, by enumeration of all completions."""
    table = table_of(1, n_rows=60)
    network = fitted(table, structure, prior=prior, smoothing=smoothing).network
    for name in ("a", "b", "c"):
        found = network.table(name)
        pseudo_count = smoothing if prior == "laplace" else smoothing / found.size
        counts = expected_counts(network, rows_of(table), name) + pseudo_count
        assert found == pytest.approx(counts / counts.sum(axis=1, keepdims=True), abs=2e-4)


@EVERY
def test_the_tables_are_those_of_the_network_that_em_learns_for_the_graph(structure: str) -> None:
    table = table_of(2)
    model = fitted(table, structure, prior="m-estimate", smoothing=2.0)
    graph = {name: model.network.parents(name) for name in model.network}
    known = fit_tables(CodedRows.of(table), graph, prior="m-estimate", smoothing=2.0, tolerance=1e-12).network
    for name in ("a", "b", "c"):
        assert model.network.states(name) == known.states(name)
        assert model.network.table(name) == pytest.approx(known.table(name), abs=1e-3)


def test_pyagrum_finds_the_same_tables() -> None:
    gum: Any = pytest.importorskip("pyagrum")
    pd: Any = pytest.importorskip("pandas")
    table = table_of(3)
    network = fitted(table, "tan").network
    frame = pd.DataFrame({name: ["?" if cell is None else cell for cell in column] for name, column in table.items()})
    learner = pyagrum_learner(frame, ["?"])
    learner.useSmoothingPrior(1.0)
    learner.useEM(1e-6)
    graph = gum.BayesNet()
    for name in learner.names():
        graph.add(gum.LabelizedVariable(name, name, [str(each) for each in network.states(name)]))
    for parent, child in network.edges:
        graph.addArc(parent, child)
    theirs = learner.learnParameters(graph.dag())
    for name in ("a", "b", "c"):
        cpt = theirs.cpt(name)
        for states in itertools.product(*(network.states(each) for each in (*network.parents(name), name))):
            cell = 0
            for parent, state in zip(network.parents(name), states, strict=False):
                cell = cell * len(network.states(parent)) + network.code(parent, state)
            ours = network.table(name)[cell, network.code(name, states[-1])]
            case = dict(zip((*network.parents(name), name), map(str, states), strict=True))
            assert ours == pytest.approx(cpt[case], abs=5e-3)


@EVERY
def test_nothing_is_missing_so_nothing_changes(structure: str) -> None:
    table = table_of(4, share=0.0)
    counted, by_em = fitted(table, structure, missing="ignore"), fitted(table, structure)
    assert by_em.predict_proba(table).tolist() == counted.predict_proba(table).tolist()
    assert by_em.leave_one_out(table).tolist() == counted.leave_one_out(table).tolist()


def test_columns_that_depend_on_the_class_alone_are_conditionally_independent() -> None:
    table = table_of(5)
    counted, by_em = fitted(table, "naive", missing="ignore"), fitted(table, "naive")
    assert by_em.predict_proba(table) == pytest.approx(counted.predict_proba(table), abs=1e-5)


def test_em_repairs_what_counting_gets_wrong_where_missing_values_depend_on_other_cells() -> None:
    """a is lost where b is high, and b follows a: of the cells that are there too few are high."""
    generator = np.random.default_rng(0)
    n_rows = 20_000
    y = generator.integers(0, 2, n_rows)
    a = (generator.random(n_rows) < np.where(y, 0.7, 0.4)).astype(int)
    b = np.where(generator.random(n_rows) < 0.9, a, 1 - a)
    lost = (b == 1) & (generator.random(n_rows) < 0.8)
    words = np.array(["low", "high"], dtype=object)
    cells = {"a": np.where(lost, None, words[a]), "b": words[b], "y": y}
    table = {name: column.tolist() for name, column in cells.items()}
    share = {}
    for missing in ("ignore", "em"):
        model = fitted(table, "tan", missing=missing)
        share[missing] = model.network.query("a", {"y": 1})["high"]
    assert share["em"] == pytest.approx(0.7, abs=0.02)
    assert share["ignore"] < 0.55


@EVERY
def test_rows_come_and_go_to_the_last_byte(structure: str, tmp_path: Path) -> None:
    table = table_of(6)
    whole = fitted(table, structure)
    early, late = (whole.learned_like(part_of(table, part))[0] for part in (slice(0, 120), slice(120, None)))
    both = early.merge(late)
    assert fingerprint(both.statistics) == fingerprint(whole.statistics)
    assert both.predict_proba(table).tolist() == whole.predict_proba(table).tolist()
    assert fingerprint(both.forget(part_of(table, slice(120, None))).statistics) == fingerprint(early.statistics)
    whole.save(tmp_path / "whole.bayeswise")
    both.save(tmp_path / "both.bayeswise")
    assert (tmp_path / "whole.bayeswise").read_bytes() == (tmp_path / "both.bayeswise").read_bytes()
    again = bw.load(tmp_path / "both.bayeswise")
    assert again.predict_proba(table).tolist() == whole.predict_proba(table).tolist()
    with pytest.raises(NotMergedError):
        early.forget(part_of(table, slice(120, None)))


@EVERY
def test_a_row_left_out_is_a_row_forgotten(structure: str) -> None:
    table = table_of(7, n_rows=40)
    model = fitted(table, structure)
    left_out = model.leave_one_out(table)
    for row in range(0, 40, 7):
        one = part_of(table, slice(row, row + 1))
        assert left_out[row].tolist() == model.forget(one).predict_proba(one)[0].tolist()


def test_weights_are_copies_and_the_order_of_rows_does_not_matter() -> None:
    table = table_of(8, n_rows=80)
    times = np.random.default_rng(0).integers(0, 4, 80)
    copies = {name: [cell for cell, k in zip(column, times, strict=True) for _ in range(k)]
              for name, column in table.items()}  # fmt: skip
    order = np.random.default_rng(1).permutation(len(copies["y"]))
    turned = {name: [column[k] for k in order] for name, column in copies.items()}
    answers = [
        fitted({**table, "n": times}, "tan", weight="n").predict_proba(table),
        fitted(copies, "tan").predict_proba(table),
        fitted(turned, "tan").predict_proba(table),
    ]
    assert answers[0].tolist() == answers[1].tolist() == answers[2].tolist()


def test_the_estimator_says_the_same_as_the_table() -> None:
    pd: Any = pytest.importorskip("pandas")
    table = table_of(9)
    frame = pd.DataFrame(table)
    X, y = frame[["a", "b", "c"]], frame["y"]
    expected = fitted(table, "tan").predict_proba(table).tolist()
    assert bw.NetworkClassifier("tan", missing="em").fit(X, y).predict_proba(X).tolist() == expected
    half = bw.NetworkClassifier("tan", missing="em").fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    assert half.predict_proba(X).tolist() == expected


def test_a_column_without_any_cell_and_a_row_without_any_do_no_harm() -> None:
    table = {**table_of(10), "d": [None] * 200}
    for name in ("a", "b", "c"):
        table[name][0] = None
    answer = fitted(table, "tan").predict_proba(table)
    assert np.isfinite(answer).all()
    assert answer.sum(axis=1) == pytest.approx(1.0)


def test_what_em_cannot_do_is_said() -> None:
    table = table_of(11)
    with pytest.raises(ParameterError, match=r"superparents .* EM could find. Fix: choose another structure"):
        fitted(table, "aode")
    counted, by_em = fitted(table, "tan", missing="ignore"), fitted(table, "tan")
    with pytest.raises(ParameterError, match=r"not kept. Fix: fit it again with missing='em'"):
        counted.changed(incomplete="em")
    assert by_em.changed(incomplete="available").predict_proba(table).tolist() == counted.predict_proba(table).tolist()
    with pytest.raises(KindError, match=r"one has tan, laplace 1, the other tan, laplace 1, em. Fix: fit both with"):
        counted.merge(by_em)
    with pytest.raises(ParameterError, match=r"to be ignored and those of other columns to be found by EM. Fix: "):
        fitted(table, "tan", missing={"a": "em", "b": "ignore"})
    with pytest.raises(BayeswiseError, match="em"):
        bw.fit(table, "y", missing="em", model="naive-bayes")  # naive Bayes has nothing to expect from other columns
