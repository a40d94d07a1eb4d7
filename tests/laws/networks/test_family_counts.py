"""Counts of families: parts add up to the whole whatever their states and missing values, and can be taken back."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswise.networks.learning import FamilyCounts

GRAPH = {"b": ["a"], "c": ["a", "b"]}
Table = dict[str, list[str | None]]

cells = st.one_of(st.none(), st.sampled_from(["u", "v", "w", "z"]))
tables = st.lists(st.tuples(cells, cells, cells), max_size=12).map(
    lambda rows: {name: [row[k] for row in rows] for k, name in enumerate("abc")}
)


def joined(left: Table, right: Table) -> Table:
    return {name: left[name] + right[name] for name in left}


@settings(max_examples=60)
@given(left=tables, right=tables)
def test_counts_of_parts_merge_to_the_counts_of_the_union(left: Table, right: Table) -> None:
    one, other, both = (FamilyCounts.of(each, GRAPH) for each in (left, right, joined(left, right)))
    assert one.merge(other) == other.merge(one) == both
    assert one.learn(right) == both
    assert both.forget(right) == one


@settings(max_examples=40)
@given(table=tables, seed=st.integers(0, 99))
def test_weights_are_copies_and_a_weight_of_one_is_none(table: Table, seed: int) -> None:
    n_rows = len(table["a"])
    assert FamilyCounts.of(table, GRAPH, weights=np.ones(n_rows)) == FamilyCounts.of(table, GRAPH)
    times = np.random.default_rng(seed).integers(0, 4, n_rows)
    copies = {
        name: [cell for cell, k in zip(column, times, strict=True) for _ in range(k)] for name, column in table.items()
    }
    assert FamilyCounts.of(table, GRAPH, weights=times.astype(float)) == FamilyCounts.of(copies, GRAPH)


@settings(max_examples=40)
@given(table=tables)
def test_tables_are_distributions_under_every_prior(table: Table) -> None:
    counts = FamilyCounts.of(table, GRAPH)
    if all(any(cell is not None for cell in column) for column in table.values()):
        for prior in ("bdeu", "m-estimate", "none"):
            network = counts.network(prior=prior, smoothing=2.0)
            assert all(np.allclose(network.table(name).sum(axis=1), 1.0) for name in network)
