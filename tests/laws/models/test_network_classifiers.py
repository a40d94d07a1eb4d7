"""Laws of network classifiers: rows come, go and add up; nothing depends on an order that means nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.models.files import bytes_of
from bayeswise.networks.classifiers import NetworkClassifierModel
from tests.cases.classifier_cases import Table, dependent_table, fit_network, rows_of, without_class

STRUCTURES: list[dict[str, Any]] = [
    {"structure": "naive"},
    {"structure": "tan"},
    {"structure": "aode", "min_frequency": 5},
    {"structure": "a2de", "min_frequency": 5},
    {"structure": "k-dependence", "k": 1},
    {"structure": "k-dependence", "k": 2},
    {"structure": "markov-blanket", "score": "aic"},
]
every_structure = pytest.mark.parametrize("overrides", STRUCTURES, ids=str)


def like(model: NetworkClassifierModel, table: Table) -> NetworkClassifierModel:
    """The table under the schema, cuts, settings and kept graph of a model."""
    return replace(model, statistics=model.statistics.zero()).learn(table)


@every_structure
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000), split=st.integers(5, 35), data=st.data())
def test_rows_learned_in_parts_or_forgotten_leave_the_same_bytes(
    overrides: dict[str, Any], seed: int, split: int, data: st.DataObject
) -> None:
    table = dependent_table(seed, n_rows=40, missing=0.15)
    whole = fit_network(table, "y", **overrides)
    order = data.draw(st.permutations(range(40)))
    first, second = like(whole, rows_of(table, order[:split])), like(whole, rows_of(table, order[split:]))
    assert bytes_of(first.merge(second)) == bytes_of(second.merge(first)) == bytes_of(whole)
    assert bytes_of(first.learn(rows_of(table, order[split:]))) == bytes_of(whole)
    assert bytes_of(whole.forget(rows_of(table, order[split:]))) == bytes_of(first)


@every_structure
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000), data=st.data())
def test_a_row_of_weight_k_is_k_rows(overrides: dict[str, Any], seed: int, data: st.DataObject) -> None:
    table = dependent_table(seed, n_rows=30, missing=0.15)
    weights = data.draw(st.lists(st.integers(0, 3), min_size=30, max_size=30).filter(any))
    repeated = rows_of(table, np.repeat(np.arange(30), weights).tolist())
    weighted = fit_network({**table, "w": weights}, "y", weight="w", **overrides)
    copied = fit_network(repeated, "y", **overrides)
    new_rows = without_class(dependent_table(seed, n_rows=30, missing=0.3))
    np.testing.assert_allclose(weighted.predict_proba(new_rows), copied.predict_proba(new_rows), rtol=1e-9)


@pytest.mark.parametrize("overrides", STRUCTURES[:6], ids=str)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000), order=st.permutations(range(4)))
def test_the_order_of_the_columns_means_nothing(overrides: dict[str, Any], seed: int, order: list[int]) -> None:
    table = dependent_table(seed, n_rows=200, missing=0.1)
    turned = {**{f"c{k}": table[f"c{k}"] for k in order}, "y": table["y"]}
    new_rows = without_class(dependent_table(seed, n_rows=20, missing=0.3))
    one, other = fit_network(table, "y", **overrides), fit_network(turned, "y", **overrides)
    np.testing.assert_allclose(one.predict_proba(new_rows), other.predict_proba(new_rows), rtol=1e-10)


@every_structure
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10_000), weighted=st.booleans())
def test_leaving_a_row_out_is_learning_the_others(overrides: dict[str, Any], seed: int, weighted: bool) -> None:
    table = dependent_table(seed, n_rows=25, missing=0.15)
    if weighted:
        table["w"] = np.random.default_rng(seed).integers(1, 4, 25).tolist()
    model = fit_network(table, "y", weight="w" if weighted else None, **overrides)
    left_out, log_evidence = model.leave_one_out(table), model.leave_one_out_evidence(table)
    for row in range(25):
        alone = rows_of(table, [row])
        rest = rows_of(table, [other for other in range(25) if other != row])
        others = fit_network(rest, "y", weight="w" if weighted else None, **overrides)
        expected = np.zeros(len(model.classes))
        expected[[model.classes.index(state) for state in others.classes]] = others.predict_proba(alone)[0]
        np.testing.assert_allclose(left_out[row], expected, rtol=1e-9, atol=1e-12)
        assert log_evidence[row] == pytest.approx(others.log_evidence(alone)[0], abs=1e-9)


@every_structure
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_shares_of_the_columns_add_up_to_the_log_joint(overrides: dict[str, Any], seed: int) -> None:
    table = dependent_table(seed, n_rows=60)
    model = fit_network(table, "y", **overrides)
    new_rows = without_class(dependent_table(seed, n_rows=5, missing=0.4))
    new_rows["c0"][0] = "never seen"
    for row in range(5):
        alone = rows_of(new_rows, [row])
        account = model.explain({name: cells[row] for name, cells in new_rows.items()})
        np.testing.assert_allclose(account.posterior, model.predict_proba(alone)[0], rtol=1e-10)
        assert np.logaddexp.reduce(account.log_joint) == pytest.approx(model.log_evidence(alone)[0], abs=1e-9)
        odds = model.log_odds(alone, model.classes[0], model.classes[1])[0]
        assert account.log_odds(model.classes[0], model.classes[1]) == pytest.approx(odds, abs=1e-9)


@every_structure
def test_a_whole_row_pays_each_column_what_its_table_says(overrides: dict[str, Any]) -> None:
    if overrides["structure"] in ("aode", "a2de", "markov-blanket"):
        pytest.skip("no single table, or a class with parents")
    table = dependent_table(3, n_rows=80)
    model = fit_network(table, "y", **overrides)
    row = {name: cells[0] for name, cells in without_class(table).items()}
    for part in model.explain(row).contributions:
        above = {name: row[name] for name in model.network.parents(part.column) if name != "y"}
        for place, state in enumerate(model.classes):
            share = model.network.query(part.column, {**above, "y": state})[row[part.column]]
            assert part.log_likelihood[place] == pytest.approx(np.log(share), abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), structure=st.sampled_from(["naive", "tan", "aode"]))
def test_numbers_are_cut_and_counted_alike_in_any_unit(seed: int, structure: str) -> None:
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, 60)
    X = generator.normal(size=(60, 3)).round(2) + y[:, None]
    one = bw.NetworkClassifier(structure).fit(X, y)
    other = bw.NetworkClassifier(structure).fit(X * 1024.0, y)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X * 1024.0), rtol=1e-12)
