"""Integer categories by tables of codes, against the plain way."""

from __future__ import annotations

import numpy as np
import pytest

import bayeswise as bw
from bayeswise import _kernels
from bayeswise.estimators.inputs import encoding
from bayeswise.estimators.inputs.encoding import batches, schema_of
from bayeswise.models.files import bytes_of
from bayeswise.tables.encoding import coders
from bayeswise.tables.encoding.coders import IntegerCodes, integer_levels
from bayeswise.tables.schema.labels import Vocabulary


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint32])
def test_codes_are_positions_in_the_vocabulary(kind) -> None:  # type: ignore[no-untyped-def]
    values = np.random.default_rng(0).integers(3, 90, size=(50, 4)).astype(kind)[:, ::-1]
    levels = integer_levels(values)
    assert levels is not None
    coder = IntegerCodes.of(levels)
    assert coder is not None
    assert coder.encode(values).T.tolist() == [levels[c].encode(values[:, c].tolist()).tolist() for c in range(4)]


@pytest.mark.parametrize("isa", _kernels.available_isas())
@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64])
@pytest.mark.parametrize("most", [64, 65, 100])
def test_rows_that_stand_side_by_side_get_the_same_codes(isa: str, kind: type, most: int) -> None:
    before = _kernels.isa()
    _kernels.use_isa(isa)
    try:
        values = np.random.default_rng(3).integers(-7, most - 7, size=(5_000, 7)).astype(kind)
        values[:, 2] = values[:, 2] // 2 * 2  # some integers are not there
        levels = integer_levels(values)
        assert levels == [Vocabulary(np.unique(column).tolist()) for column in values.T]
        for known in (levels, [Vocabulary(range(-3, 3))] * 7):
            coder = IntegerCodes.of(known)
            assert coder is not None
            expected = [each.encode(column.tolist()) for each, column in zip(known, values.T, strict=True)]
            found = coder.encode(values)
            assert (np.where(np.array(expected) < 0, -2, expected) == np.where(found < 0, -2, found).T).all()
    finally:
        _kernels.use_isa(before)


@pytest.mark.parametrize("late", [-1, 63, 64, 70_000])
@pytest.mark.parametrize("order", ["C", "F"])
def test_integers_that_only_later_rows_have_are_found(monkeypatch: pytest.MonkeyPatch, late: int, order: str) -> None:
    monkeypatch.setattr(coders, "ROWS_OF_A_PIECE", 100)
    values = np.random.default_rng(4).integers(0, 9, size=(1_000, 3))
    values[777, 1] = late
    expected = None if late > coders.WIDEST else [Vocabulary(np.unique(column).tolist()) for column in values.T]
    assert integer_levels(np.asarray(values, order=order)) == expected


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int32, np.int64])
def test_integers_that_are_their_own_codes_are_learned_where_they_lie(kind: type) -> None:
    rng = np.random.default_rng(5)
    values, y = rng.integers(0, 4, size=(90, 3)).astype(kind), rng.integers(0, 2, 90)
    schema = schema_of(values, categorical=True, overrides={})
    (batch,) = batches(schema, values)
    assert np.shares_memory(batch.codes, values)
    (predicted,) = batches(schema, values, vocabularies=dict(zip(schema.categories, batch.vocabularies, strict=True)))
    assert (predicted.codes == batch.codes).all()
    shifted = bw.NaiveBayes(families="categorical").fit(values.astype(np.int64) + 1, y)
    assert (
        bw.NaiveBayes(families="categorical").fit(values, y).predict_proba(values)
        == shifted.predict_proba(values.astype(np.int64) + 1)
    ).all()


def test_levels_are_recoded_by_a_table_whose_last_entry_is_for_missing_ones() -> None:
    table = np.array([4, -3, 7, -1], dtype=np.int32)
    levels = np.random.default_rng(2).integers(-1, 3, 100).astype(np.int32)
    codes = np.empty(100, dtype=np.int32)
    assert _kernels.recode_levels(codes, levels, table, -3)
    assert codes.tolist() == [table[level] for level in levels.tolist()]
    assert not _kernels.recode_levels(codes[:2], np.array([2, -1], dtype=np.int32), table, -3)
    with pytest.raises(IndexError, match="a level has no code"):
        _kernels.recode_levels(codes[:1], np.array([3], dtype=np.int32), table, -3)


def test_integers_far_apart_have_no_table() -> None:
    assert integer_levels(np.array([[-(2**63)], [2**63 - 1]])) is None
    assert integer_levels(np.array([[0], [10**6]])) is None
    assert IntegerCodes.of([Vocabulary([0, 2**70])]) is None
    assert IntegerCodes.of([Vocabulary(["a"])]) is None
    assert integer_levels(np.empty((0, 2), dtype=np.int64)) is None


def test_unknown_integers_are_unseen_at_both_ends_of_the_range() -> None:
    coder = IntegerCodes.of([Vocabulary([5, 7])])
    assert coder is not None
    assert coder.encode(np.array([[7], [6], [-(2**63)], [2**63 - 1]])).ravel().tolist() == [1, -2, -2, -2]


def test_a_matrix_of_integers_and_a_table_of_them_give_one_model() -> None:
    rng = np.random.default_rng(1)
    values, y = rng.integers(0, 5, size=(60, 3)), rng.integers(0, 2, 60)
    matrix = bw.NaiveBayes(families="categorical").fit(values, y)
    table = {f"x{c}": values[:, c] for c in range(3)}
    rows = bw.fit({**table, "y": y}, target="y", kinds=dict.fromkeys(table, "category"), model="naive-bayes")
    assert matrix.predict_proba(values) == pytest.approx(rows.predict_proba(table), abs=1e-15)
    assert bytes_of(matrix.forget(values[:9], y[:9]).model_) == bytes_of(
        bw.NaiveBayes(families="categorical").fit(values[9:], y[9:]).model_
    )
    assert np.isfinite(matrix.predict_proba(np.full((1, 3), 99))).all()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("late", [None, 63, 64, 90, -1, -2])
def test_small_integers_of_many_rows_are_counted_without_a_pass_for_their_levels(
    kind: type, late: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    values, y = rng.integers(0, 9, size=(70_000, 4)), rng.integers(0, 3, 70_000)
    values[:, 1] = values[:, 1] // 2 * 2  # some integers are not there
    if late is not None:
        values[66_001, 2] = late
    values = values.astype(kind)
    swept: list[int] = []
    monkeypatch.setattr(coders, "_seen", lambda *given, seen=coders._seen: (swept.append(1), seen(*given))[1])
    fitted = bw.NaiveBayes(families="categorical").fit(values, y)
    assert len(swept) == (late not in (None, 63))
    monkeypatch.setattr(encoding, "_MANY_ROWS", 1 << 60)
    plain = bw.NaiveBayes(families="categorical").fit(values, y)
    assert bytes_of(fitted.model_) == bytes_of(plain.model_)
    weighed = bw.NaiveBayes(families="categorical").fit(values, y, sample_weight=np.ones(70_000))
    assert weighed.predict_proba(values[:5]).tolist() == fitted.predict_proba(values[:5]).tolist()


def test_columns_with_the_same_integers_share_their_levels() -> None:
    values = np.array([[1, 2, 1, 5], [3, 1, 3, 4]])
    levels = integer_levels(values)
    assert levels is not None
    assert levels == [Vocabulary([1, 3]), Vocabulary([1, 2]), Vocabulary([1, 3]), Vocabulary([4, 5])]
    assert levels[0] is levels[2]
    codes = IntegerCodes.of(levels)
    assert codes is not None
    assert codes.encode(np.array([[3, 3, 2, 5]])).tolist() == [[1, -2, -2, 1]]
