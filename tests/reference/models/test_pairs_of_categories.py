"""Categories that repeat each other: the counts of their pairs say how often the same is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.models.averaged_naive_bayes import evidence_of, fit_averaged
from bayeswise.models.files import bytes_of
from bayeswise.models.naive_bayes import MEstimate

KINDS = {"c": "category", "d": "category", "e": "category", "x": "number", "z": "number"}
cell = st.one_of(st.none(), st.sampled_from("pqr"))
row = st.fixed_dictionaries(
    {"c": cell, "d": cell, "e": st.sampled_from("uv"), "x": st.floats(-3, 3), "z": st.floats(-3, 3)}
    | {"y": st.sampled_from("ab")}
)
ANCHOR: list[dict[str, Any]] = [
    {"c": "pq"[k % 2], "d": "pq"[k % 2], "e": "uv"[k // 2 % 2], "x": float(k), "z": 1.0 - k, "y": "ab"[k % 3 % 2]}
    for k in range(8)
]


def table(copies: int, n: int = 400, seed: int = 0) -> list[dict[str, str]]:
    """A hint that is right in 7 of 10 rows, so many times, and a coin."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 2, n)
    hint = np.where(generator.random(n) < 0.7, y, 1 - y)
    coin = generator.integers(0, 2, n)
    return [
        {f"hint{k}": "pq"[hint[i]] for k in range(copies)} | {"coin": "uv"[coin[i]], "y": "ab"[y[i]]} for i in range(n)
    ]


@pytest.mark.parametrize("copies", [2, 5, 20])
def test_copies_share_one_voice(copies: int) -> None:
    once = fit_averaged(table(1), target="y", temper="pairs")
    often = fit_averaged(table(copies), target="y", temper="pairs")
    assert often.temper == pytest.approx(once.temper / copies, rel=0.05)
    expected = once.predict_proba(table(1)[:20])
    assert often.predict_proba(table(copies)[:20]) == pytest.approx(expected, abs=0.02)
    untempered = fit_averaged(table(copies), target="y")
    assert untempered.temper == 1.0 and abs(untempered.predict_proba(table(copies)[:20]) - expected).max() > 0.1


def test_rows_left_out_are_predicted_better_where_columns_are_copied() -> None:
    rows = table(5)
    own = np.array(["ab".index(r["y"]) for r in rows])
    losses = [
        -np.log(model.leave_one_out(rows)[np.arange(len(own)), own]).mean()
        for model in (bw.fit(rows, target="y", model="naive-bayes"), fit_averaged(rows, target="y", temper="pairs"))
    ]
    assert losses[1] < 0.63 < 0.8 < losses[0]


def test_the_factor_is_the_ratio_of_variances_over_the_rows_themselves() -> None:
    rows = table(3, n=3000, seed=4)
    model = fit_averaged(rows, target="y", temper="pairs", relevance=1.0)
    [batch] = model.plain.batches(rows)
    by_column = model.plain.scores[0].by_column(batch)  # (n_rows, n_columns, n_states)
    share = np.array(list(fit_averaged(rows, target="y").relevance.values()))
    total = 0.0
    for a in (0, 1):
        mine = np.array([r["y"] == "ab"[a] for r in rows])
        scores = share * (by_column[mine, :, a] - by_column[mine, :, 1 - a])
        total += np.log(scores.var(axis=0).sum() / scores.sum(axis=1).var())
    assert model.temper == pytest.approx(np.exp(total / 2), rel=2e-3)


@settings(max_examples=10)
@given(
    st.lists(row, max_size=8),
    st.sampled_from([{}, {"missing": "level"}, {"smoothing": MEstimate(2)}, {"n_relevant": "uniform"}]),
)
def test_leaving_a_row_out_is_forgetting_it(rows: list[dict[str, Any]], beliefs: dict[str, Any]) -> None:
    every = [*ANCHOR, *rows]
    model = fit_averaged(every, target="y", kinds=KINDS, temper="pairs", **beliefs)
    left_out = model.leave_one_out(every)
    for k, one in enumerate(every):
        assert left_out[k] == pytest.approx(model.forget([one]).predict_proba([one])[0], rel=1e-8, abs=1e-12)
    if rows:
        start = fit_averaged(ANCHOR, target="y", kinds=KINDS, temper="pairs", **beliefs)
        assert bytes_of(start.learn(rows)) == bytes_of(model) and bytes_of(model.forget(rows)) == bytes_of(start)


def test_pairs_go_into_files_accounts_samples_and_evidence(tmp_path: Path) -> None:
    model = fit_averaged(ANCHOR * 3, target="y", kinds=KINDS, temper="pairs")
    model.save(tmp_path / "m.bayeswise")
    again = bw.load(tmp_path / "m.bayeswise")
    assert again == model and again.temper == model.temper < 1.0
    assert model.explain(ANCHOR[0]).posterior == pytest.approx(model.predict_proba([ANCHOR[0]])[0], rel=1e-12)
    assert set(model.sample(4)) == {*KINDS, "y"}
    plain = fit_averaged(ANCHOR * 3, target="y", kinds=KINDS, temper=1.0)
    assert evidence_of(model).log_total == evidence_of(plain).log_total


def test_the_estimator_counts_pairs_on_request() -> None:
    rows = table(4)
    X = np.array([[r[name] for name in rows[0] if name != "y"] for r in rows], dtype=object)
    y = [r["y"] for r in rows]
    assert bw.AveragedNaiveBayes().fit(X, y).temper_ == 1.0
    assert bw.AveragedNaiveBayes(temper="pairs").fit(X, y).temper_ == pytest.approx(0.25, rel=0.05)
