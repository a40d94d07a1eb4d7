"""Counts that are held without their zeros say, to the last bit, what the same counts say with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import GROUPS, LEVELS, N_GROUPS, Rows, rows

import bayeswise as bw
from bayeswise.foundation import sparse
from bayeswise.foundation.errors import ImpossibleEvidenceError, NotMergedError
from bayeswise.foundation.exact import ExactArray
from bayeswise.foundation.sparse import SparseExact
from bayeswise.models.settings.naive_bayes import MEstimate
from bayeswise.statistics import ColumnCounts, Grouped, fingerprint
from bayeswise.statistics.counts.column_counts import CodedCounts
from bayeswise.tables.schema.labels import Vocabulary

pairs = st.booleans().flatmap(lambda weighted: st.tuples(rows(weighted), rows(weighted)))


@contextmanager
def all_sparse() -> Iterator[None]:
    """Every table without its zeros, however small."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sparse, "ALWAYS_DENSE", -1)
        patch.setattr(sparse, "CELLS_FOR_EACH", 0)
        yield


def counts_of(sample: Rows) -> ColumnCounts:
    levels = [LEVELS] * sample.codes.shape[1]
    names = [f"x{k}" for k in range(len(levels))]
    declared = [Vocabulary(["declared"]), *[None] * (len(levels) - 1)]
    return CodedCounts.of(names, sample.codes, levels, sample.groups, N_GROUPS, sample.weights, declared).settled()


def spread_out(counts: ColumnCounts) -> ColumnCounts:
    """The same outside of `all_sparse`, where a table so small is dense."""
    return ColumnCounts(counts.levels, counts.table)


@given(both=pairs)
def test_the_group_is_the_same_without_zeros(both: tuple[Rows, Rows]) -> None:
    left, right = map(counts_of, both)
    order = np.arange(N_GROUPS)[::-1].copy()
    dense = [left, left.merge(right), left.merge(right).subtract(right), left.zero(), left.pooled()]
    dense += [left.take(order[:1]), left.regroup(order + 1, N_GROUPS + 2)]
    with all_sparse():
        left, right = map(counts_of, both)
        assert isinstance(left.table, SparseExact)
        found = [left, left.merge(right), left.merge(right).subtract(right), left.zero(), left.pooled()]
        found += [left.take(order[:1]), left.regroup(order + 1, N_GROUPS + 2)]
        weights = [each.weight_of_rows for each in found]
    assert [each.weight_of_rows for each in dense] == weights
    assert [fingerprint(each) for each in dense] == [fingerprint(spread_out(each)) for each in found]


@given(both=pairs)
def test_rows_that_were_never_merged_are_not_subtracted(both: tuple[Rows, Rows]) -> None:
    def refused() -> bool:
        left, right = map(counts_of, both)
        try:
            left.subtract(right)
        except NotMergedError:
            return True
        return False

    expected = refused()
    with all_sparse():
        assert refused() == expected


@given(both=pairs)
def test_groups_with_labels_are_the_same_without_zeros(both: tuple[Rows, Rows]) -> None:
    def merged() -> Grouped[ColumnCounts]:
        one, other = (Grouped.of(GROUPS, counts_of(each)) for each in both)
        return one.merge(other)

    expected = fingerprint(merged())
    with all_sparse():
        found = merged()
    assert fingerprint(Grouped(found.labels, spread_out(found.part), found.declared)) == expected


@given(cells=st.lists(st.lists(st.integers(-2, 3), min_size=4, max_size=4), min_size=1, max_size=4))
def test_a_table_and_its_sparse_form_are_one_another(cells: list[list[int]]) -> None:
    table = ExactArray.from_integers(cells)
    held = SparseExact.of_dense(table)
    assert held.dense() == table and held.dense(1, 3) == table[:, 1:3]
    assert held.sum_of_columns() == table.sum(axis=0) and held.sum_of_rows(1, 4) == table[:, 1:].sum(axis=1)
    assert held.is_seen().tolist() == (~table.is_zero().all(axis=0)).tolist()


GIVEN = {"a": {"x": 0.5, "y": 0.3, "z": 0.2}}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"smoothing": 0.0},
    {"smoothing": MEstimate(2.0)},
    {"smoothing": MEstimate(2.0, GIVEN), "levels": {"a": ["x", "y", "z"]}},
    {"missing": "level"},
    {"unseen": "ignore"},
    {"levels": {"a": ["x", "y", "z", "declared"]}},
]


def answer_of(question: Callable[[Any], Any], table: Any) -> Any:
    """The answer, or why there is none."""
    try:
        return question(table)
    except ImpossibleEvidenceError as error:
        return str(error)


@given(seed=st.integers(0, 10_000), weighted=st.booleans(), settings=st.sampled_from(SETTINGS))
def test_a_model_says_the_same_without_zeros(seed: int, weighted: bool, settings: dict[str, Any]) -> None:
    generator = np.random.default_rng(seed)
    table = {name: generator.choice(["x", "y", "z", None], 12).tolist() for name in ("a", "b")}
    table["y"] = generator.choice(["no", "perhaps", "yes"], 12).tolist()
    options = {**settings, "kinds": {"a": "category", "b": "category"}}
    if weighted:
        table["w"] = generator.integers(1, 4, 12).tolist()
        options["weight"] = "w"
    new = {"a": ["x", "new", None, "z"], "b": ["y", "y", "x", None]}
    one = {name: cells[:1] for name, cells in table.items()}

    def answers() -> list[Any]:
        model = bw.fit(table, "y", model="naive-bayes", **options)
        return [
            answer_of(model.predict_proba, new),
            answer_of(model.log_evidence, new),
            answer_of(model.leave_one_out, table),
            answer_of(model.leave_one_out_evidence, table),
            answer_of(model.forget(one).predict_proba, new),
            np.array([part.log_likelihood for part in model.explain({"a": "x", "b": "new"}).contributions]),
            model.n_free_parameters(),
        ]

    dense = answers()
    with all_sparse():
        found = answers()
    for one, other in zip(dense, found, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
