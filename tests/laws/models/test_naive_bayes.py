"""Laws of the naive Bayes model over tables of mixed columns with missing values."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.models.files import bytes_of
from bayeswise.models.naive_bayes import NaiveBayesModel

KINDS = {"size": "number", "colour": "category", "visits": "count", "flag": "category"}
FAMILIES = [{}, {"families": {"visits": "normal"}}]

row = st.fixed_dictionaries(
    {
        "size": st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(0, 3).map(float)),
        "colour": st.one_of(st.none(), st.sampled_from(["red", "green", "blue", "نارنجي", "🟣", "nan", ""])),
        "visits": st.one_of(st.none(), st.integers(0, 20)),
        "flag": st.booleans(),
        "y": st.sampled_from(["a", "b", "c"]),
    }
)
tables = st.lists(row, min_size=4, max_size=14)
profile = settings(max_examples=60, deadline=None)


def learned(rows: list[dict[str, Any]], **overrides: Any) -> NaiveBayesModel:
    schema = _SCHEMA
    return bw.fit(rows, target="y", schema=schema, model="naive-bayes", **overrides)


_SCHEMA = bw.fit(
    [
        {"size": 1.5, "colour": "red", "visits": 2, "flag": True, "y": "a"},
        {"size": 2.5, "colour": "blue", "visits": 3, "flag": False, "y": "b"},
    ],
    target="y",
    kinds=KINDS,
    model="naive-bayes",
).schema


def rounding(model: NaiveBayesModel, row: dict[str, Any]) -> float:
    """What a sum of logarithms can lose: some units in the last place of the largest, log p(row)."""
    log_evidence = float(model.log_evidence([row])[0])
    return 1e-11 + (1e-14 * abs(log_evidence) if np.isfinite(log_evidence) else 0.0)


@profile
@given(rows=tables)
def test_posteriors_lie_in_the_simplex(rows: list[dict[str, Any]]) -> None:
    posterior = learned(rows).predict_proba(rows)
    assert np.isfinite(posterior).all() and (posterior >= 0).all()
    assert posterior.sum(axis=1) == pytest.approx(1.0, abs=1e-12)


@profile
@given(rows=tables, seed=st.integers(0, 99))
def test_the_same_rows_give_the_same_bytes_in_any_order(rows: list[dict[str, Any]], seed: int) -> None:
    shuffled = random.Random(seed).sample(rows, len(rows))
    assert bytes_of(learned(rows)) == bytes_of(learned(shuffled))


@profile
@given(rows=tables, cut=st.integers(1, 3))
def test_merged_shards_are_the_pooled_model(rows: list[dict[str, Any]], cut: int) -> None:
    assert bytes_of(learned(rows[:cut]).merge(learned(rows[cut:]))) == bytes_of(learned(rows))


@profile
@given(rows=tables, cut=st.integers(1, 3))
def test_forgetting_is_never_having_seen(rows: list[dict[str, Any]], cut: int) -> None:
    assert bytes_of(learned(rows).forget(rows[:cut])) == bytes_of(learned(rows[cut:]))


@profile
@given(rows=tables)
def test_forgetting_what_was_never_learned_is_refused(rows: list[dict[str, Any]]) -> None:
    stranger = {"size": 7e6, "colour": "octarine", "visits": 1, "flag": True, "y": "zebra"}
    with pytest.raises(bw.NotMergedError):
        learned(rows).forget([stranger])


@profile
@given(rows=tables, overrides=st.sampled_from(FAMILIES))
def test_leave_one_out_is_a_refit_without_the_row(rows: list[dict[str, Any]], overrides: dict[str, Any]) -> None:
    model = learned(rows, **overrides)
    left_out = model.leave_one_out(rows)
    for k, row in enumerate(rows):
        refit = learned(rows[:k] + rows[k + 1 :], **overrides)
        expected = dict(zip(refit.classes, refit.predict_proba([row])[0], strict=True))
        found = dict(zip(model.classes, left_out[k], strict=True))
        for label in model.classes:
            assert found[label] == pytest.approx(expected.get(label, 0.0), abs=rounding(refit, row))


@profile
@given(rows=tables, times=st.lists(st.integers(0, 3), min_size=14, max_size=14))
def test_a_weight_of_k_is_k_copies(rows: list[dict[str, Any]], times: list[int]) -> None:
    repeats = [max(1, times[0]), *times[1 : len(rows)]]
    copies = [row for row, count in zip(rows, repeats, strict=True) for _ in range(count)]
    weighted = learned(rows[:1]).forget(rows[:1]).learn(rows, weights=np.array(repeats, dtype=float))
    assert bytes_of(weighted) == bytes_of(learned(copies))


@profile
@given(rows=tables)
def test_renaming_the_classes_renames_the_answer(rows: list[dict[str, Any]]) -> None:
    names = {"a": "z", "b": "y", "c": "x"}
    plain, renamed = learned(rows), learned([{**row, "y": names[row["y"]]} for row in rows])
    ours = dict(zip(plain.classes, plain.predict_proba(rows).T, strict=True))
    theirs = dict(zip(renamed.classes, renamed.predict_proba(rows).T, strict=True))
    for label, other in ((label, names[str(label)]) for label in plain.classes):
        assert ours[label] == pytest.approx(theirs[other], abs=1e-12)


@profile
@given(rows=tables)
def test_one_row_at_a_time_or_all_at_once_is_the_same(rows: list[dict[str, Any]]) -> None:
    model = learned(rows)
    assert np.concatenate([model.predict_proba([row]) for row in rows]).tolist() == model.predict_proba(rows).tolist()


@profile
@given(rows=tables)
def test_the_account_adds_up_to_the_posterior_log_odds(rows: list[dict[str, Any]]) -> None:
    model = learned(rows)
    if len(model.classes) < 2:
        return
    account = model.explain(rows[0])
    one, other = model.classes[:2]
    log_odds = float(model.log_odds(rows[:1], one, other)[0])
    assert account.log_odds(one, other) == pytest.approx(log_odds, rel=1e-12, abs=1e-12)


@profile
@given(rows=tables, alpha=st.floats(0.1, 3.0))
def test_beliefs_change_without_a_second_look_at_the_rows(rows: list[dict[str, Any]], alpha: float) -> None:
    changed = learned(rows).changed(smoothing=alpha, prior_smoothing=1.0)
    assert bytes_of(changed) == bytes_of(learned(rows, smoothing=alpha, prior_smoothing=1.0))
