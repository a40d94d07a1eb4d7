"""Averaged naive Bayes: rows come and go exactly, and leaving one out is forgetting it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.models.averaged_naive_bayes import averaged, fit_averaged
from bayeswise.models.averaged_naive_bayes.mixing import log_mixture, summed_log_mixture
from bayeswise.models.files import bytes_of

KINDS = {"x": "number", "z": "number", "n": "count", "c": "category"}

rows_of = st.fixed_dictionaries(
    {
        "x": st.one_of(st.none(), st.floats(-100, 100), st.sampled_from([0.0, 1.0, 1e6])),
        "z": st.one_of(st.none(), st.floats(-100, 100), st.sampled_from([0.0, 1.0, 1e6])),
        "n": st.one_of(st.none(), st.integers(0, 20)),
        "c": st.one_of(st.none(), st.sampled_from("pqrs")),
        "y": st.sampled_from("ab"),
    }
)
tables = st.lists(rows_of, min_size=3, max_size=14)
ANCHOR = [
    {"x": 1.5, "z": 1.0, "n": 3, "c": "p", "y": "a"},
    {"x": -2.5, "z": -2.0, "n": 0, "c": "q", "y": "b"},
    {"x": 3.0, "z": 4.0, "n": 1, "c": "p", "y": "a"},
    {"x": 0.25, "z": 0.5, "n": 2, "c": "q", "y": "b"},
]


def fitted(rows: list[dict[str, Any]], **beliefs: Any) -> Any:
    return fit_averaged([*ANCHOR, *rows], target="y", kinds=KINDS, **beliefs)


@settings(max_examples=25)
@given(tables, st.sampled_from([0.5, 0.1]), st.booleans())
def test_leaving_one_out_is_forgetting_it(rows: list[dict[str, Any]], relevance: float, shared: bool) -> None:
    model = fitted(rows, relevance=relevance, shared_variance=shared)
    table = [*ANCHOR, *rows]
    left_out = model.leave_one_out(table)
    for k, row in enumerate(table):
        without = model.forget([row])
        assert left_out[k] == pytest.approx(without.predict_proba([row])[0], rel=1e-8, abs=1e-12)


@settings(max_examples=40)
@given(tables, st.integers(0, 14), st.booleans())
def test_parts_merge_and_rows_are_forgotten_to_the_last_byte(
    rows: list[dict[str, Any]], cut: int, shared: bool
) -> None:
    whole = fitted(rows, shared_variance=shared)
    start = fitted(rows[:cut], shared_variance=shared)
    assert bytes_of(start.learn(rows[cut:])) == bytes_of(whole) if rows[cut:] else True
    if rows[cut:]:
        assert bytes_of(whole.forget(rows[cut:])) == bytes_of(start)


@pytest.mark.parametrize("shared", [False, True])
def test_a_model_file_brings_the_same_answers_back(tmp_path: Path, shared: bool) -> None:
    model = fitted([], shared_variance=shared)
    model.save(tmp_path / "m.bayeswise")
    again = bw.load(tmp_path / "m.bayeswise")
    assert again == model and again.relevance == model.relevance
    assert repr(again).startswith("AveragedNaiveBayesModel(y: {'a': 2")


def test_weights_count_as_copies_and_leave_together() -> None:
    rows = [row | {"w": float(k % 3 + 1)} for k, row in enumerate(ANCHOR * 2)]
    copies = [row for row in rows for _ in range(int(row["w"]))]
    weighed = fit_averaged(rows, target="y", kinds=KINDS, weight="w")
    copied = fit_averaged([{k: v for k, v in row.items() if k != "w"} for row in copies], target="y", kinds=KINDS)
    assert weighed.predict_proba(rows) == pytest.approx(copied.predict_proba(rows), rel=1e-12)
    left_out = weighed.leave_one_out(rows)
    for k, row in enumerate(rows):
        assert left_out[k] == pytest.approx(weighed.forget([row]).predict_proba([row])[0], rel=1e-9)


def test_certain_relevance_is_naive_bayes_and_none_is_the_prior() -> None:
    rows = [{"c": c, "y": y} for c, y in (("p", "a"), ("p", "a"), ("q", "b"), ("p", "b"))]
    plain = bw.fit(rows, target="y", kinds={"c": "category"}, model="naive-bayes")
    for relevance, expected in ((1.0, plain.predict_proba(rows)), (0.0, np.full((4, 2), 0.5))):
        assert averaged(plain, relevance).predict_proba(rows) == pytest.approx(expected, rel=1e-12)


def test_columns_of_noise_lose_their_weight_and_real_ones_gain_it() -> None:
    generator = np.random.default_rng(3)
    y = generator.integers(0, 2, 3000)
    X = np.stack([y + generator.normal(size=3000), generator.normal(size=3000)], axis=1)
    relevance = bw.AveragedNaiveBayes().fit(X, y).relevance_
    assert relevance["x0"] > 0.999 and relevance["x1"] < 0.05


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_the_unit_of_a_column_does_not_matter(scale: float) -> None:
    X = np.array([[1.0], [2.0], [1.5], [5.0], [6.0], [5.5]])
    y = [0, 0, 0, 1, 1, 1]
    answer = bw.AveragedNaiveBayes().fit(X * scale, y).predict_proba([[3.0 * scale]])
    assert answer == pytest.approx(bw.AveragedNaiveBayes().fit(X, y).predict_proba([[3.0]]), rel=1e-6)


def test_a_constant_column_says_nothing() -> None:
    X = np.array([[1.0, 7.0], [2.0, 7.0], [5.0, 7.0], [6.0, 7.0]])
    y = [0, 0, 1, 1]
    with_it, without = bw.AveragedNaiveBayes().fit(X, y), bw.AveragedNaiveBayes().fit(X[:, :1], y)
    assert with_it.relevance_["x1"] == 0.5
    assert with_it.predict_proba([[3.0, 9.0]]) == pytest.approx(without.predict_proba([[3.0]]), rel=1e-14)


def test_improper_priors_and_families_without_evidence_are_refused() -> None:
    rows = ANCHOR
    with pytest.raises(bw.UsageError, match="proper prior"):
        fit_averaged(rows, target="y", kinds=KINDS, smoothing=0.0)
    with pytest.raises(bw.UsageError, match=r"relevance is .* a number from 0 to 1"):
        fit_averaged(rows, target="y", kinds=KINDS, relevance=1.5)
    with pytest.raises(bw.UsageError, match="no evidence in closed form"):
        bw.AveragedNaiveBayes(families="gamma").fit(np.array([[1.0], [2.0], [3.0]]), [0, 1, 0]).predict([[2.0]])
    texts = [{"t": "free text here", "y": "a"}, {"t": "more text", "y": "b"}]
    with pytest.raises(bw.UsageError, match="model of words"):
        fit_averaged(texts, target="y", kinds={"t": "text"}, families={"t": "bernoulli"})


@pytest.mark.parametrize("shared", [False, True])
def test_samples_follow_the_average(shared: bool) -> None:
    model = fitted(ANCHOR * 30, shared_variance=shared)
    drawn = model.sample(4000, seed=1)
    again = fit_averaged(drawn, target="y", kinds=KINDS, shared_variance=shared)
    assert again.predict_proba(ANCHOR) == pytest.approx(model.predict_proba(ANCHOR), abs=0.08)


def test_an_account_adds_up_to_the_posterior() -> None:
    model = fitted(ANCHOR)
    account = model.explain(ANCHOR[0])
    assert account.posterior == pytest.approx(model.predict_proba([ANCHOR[0]])[0], rel=1e-12)
    for column in ("x", "n"):
        offered = model.alternatives(column)
        values = [each.value for each in offered]
        assert len(values) > 2 and values == sorted(set(values))
        for each in offered:  # what it offers is what the model says about a row with that value
            row = {**ANCHOR[0], column: each.value}
            other = model.explain(row)
            own = next(part for part in other.contributions if part.column == column)
            assert each.log_likelihood == pytest.approx(own.log_likelihood, rel=1e-12, abs=1e-12)
            assert other.posterior == pytest.approx(model.predict_proba([row])[0], rel=1e-12)


@given(
    cells=st.lists(
        st.tuples(*[st.one_of(st.floats(-800, 50), st.just(-np.inf))] * 2, st.floats(-60, 60)), min_size=1, max_size=30
    ),
    times=st.sampled_from([1, 70]),
)
def test_mixtures_are_summed_by_one_logarithm(cells: list[tuple[float, float, float]], times: int) -> None:
    """As cell by cell, also for more columns than a product of factors up to 2 can hold."""
    relevant, irrelevant, odds = np.array(cells * times).T
    expected = log_mixture(odds, relevant, irrelevant).sum()
    found = summed_log_mixture(odds, relevant, irrelevant)
    assert found == expected or found == pytest.approx(expected, rel=1e-12, abs=1e-12 * len(odds))


def test_rows_are_left_out_of_a_category_column_without_a_single_cell_as_if_it_were_not_there() -> None:
    table = {"b": ["u", "v"] * 4, "y": ["k", "k", "l", "l"] * 2}
    expected = bw.fit(table, "y", model="averaged").leave_one_out(table)
    empty: dict[str, list[str | None]] = {"a": [None] * 8, **table}
    found = bw.fit(empty, "y", model="averaged", kinds={"a": "category"}).leave_one_out(empty)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
