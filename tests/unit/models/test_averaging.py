"""Several models weighed by evidence or by rows left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import bayeswise as bw
from bayeswise.models.averaged_naive_bayes import averaged, evidence_of, redundancy
from bayeswise.models.averaging import stacking_weights
from bayeswise.models.description_length import select
from tests.paths import GOLF


@dataclass(frozen=True)
class Always:
    """A model of one opinion."""

    answer: str
    classes: tuple[str, ...] = ("+", "-")

    def predict_proba(self, table: Any) -> Any:
        return np.array([[float(c == self.answer) for c in self.classes]] * len(table))


def test_the_lecture_example_says_minus_though_the_best_model_says_plus() -> None:
    models = {"h1": Always("+"), "h2": Always("-"), "h3": Always("-")}
    both = bw.average(models, log_evidence=dict(zip(models, np.log([4.0, 3.0, 3.0]), strict=True)))
    assert both.weights == pytest.approx({"h1": 0.4, "h2": 0.3, "h3": 0.3})
    assert both.predict_proba([{}])[0] == pytest.approx([0.4, 0.6])
    assert both.predict([{}]) == ["-"]
    assert bw.average(models, weights={"h1": 0.4, "h2": 0.3, "h3": 0.3}).predict([{}]) == ["-"]


def test_averaging_all_structures_one_by_one_is_averaged_naive_bayes() -> None:
    columns = ["outlook", "temperature", "humidity", "wind"]
    plain = bw.fit(GOLF, target="play", model="naive-bayes")
    structures = {str(k): averaged(plain, {c: float(k >> j & 1) for j, c in enumerate(columns)}) for k in range(16)}
    both, whole = bw.average(structures), averaged(plain)
    day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
    by_joint = sum(
        w * np.exp(np.log(structures[k].predict_proba([day])) + structures[k].log_evidence([day])[:, None])
        for k, w in both.weights.items()
    )
    assert (by_joint / by_joint.sum())[0] == pytest.approx(whole.predict_proba([day])[0], rel=1e-12)
    total = np.logaddexp.reduce([evidence_of(m).log_total for m in structures.values()]) - 4 * np.log(2.0)
    assert evidence_of(whole).log_total == pytest.approx(total, rel=1e-12)
    relevant = sum(w for k, w in both.weights.items() if int(k) & 1)
    assert relevant == pytest.approx(whole.relevance["outlook"], rel=1e-12)


def test_the_evidence_of_numbers_is_that_of_the_family() -> None:
    generator = np.random.default_rng(1)
    heights, visits = generator.normal(50, 3, 9), generator.poisson(3, 9)
    rows = [{"x": float(heights[k]), "n": int(visits[k]), "y": "ab"[k % 2]} for k in range(9)]
    model = bw.fit(rows, target="y", kinds={"x": "number", "n": "count"}, model="naive-bayes")
    x = np.array([[row["x"]] for row in rows])
    groups = np.array([int(row["y"] == "b") for row in rows], dtype=np.int32)
    normal = bw.families.Normal()
    prior = bw.families.NormalInverseGamma(x.mean(), 0.1, 0.5, 0.5 * x.var())
    expected = normal.log_marginal(normal.statistic(x, groups, 2), prior).sum()
    found = {part.column: part for part in evidence_of(model).columns}
    assert found["x"].log_by_class == pytest.approx(expected, rel=1e-12)
    assert found["x"].log_as_whole == pytest.approx(normal.log_marginal(normal.statistic(x), prior).sum(), rel=1e-12)


def test_stacking_finds_the_maximum_that_a_general_optimiser_finds() -> None:
    probability = np.random.default_rng(0).uniform(0.01, 1.0, (60, 3))
    found = stacking_weights(probability)

    def loss(raw: Any) -> float:
        w = np.exp(raw - raw.max())
        return -float(np.log(probability @ (w / w.sum())).mean())

    best = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 20000})
    assert -np.log(probability @ found).mean() <= best.fun + 1e-10


def test_stacking_prefers_the_model_that_predicts_rows_left_out() -> None:
    generator = np.random.default_rng(4)
    rows = [{"a": str(generator.integers(2)), "b": str(generator.integers(2))} for _ in range(200)]
    for row in rows:
        row["y"] = row["a"] if generator.random() < 0.9 else row["b"]
    kinds = {"a": "category", "b": "category"}
    good = bw.fit(rows, target="y", kinds=kinds, model="naive-bayes")
    poor = averaged(good, 0.0)
    both = bw.average({"good": good, "poor": poor}, by="leave-one-out", table=rows)
    assert both.weights["good"] > 0.9
    assert "left out" in repr(both)


def test_models_without_evidence_and_without_rows_to_leave_out_are_refused() -> None:
    with pytest.raises(bw.UsageError, match="evidence of 'h' "):
        bw.average({"h": Always("+")})
    with pytest.raises(bw.UsageError, match="table"):
        bw.average({"h": Always("+")}, by="leave-one-out")
    with pytest.raises(bw.UsageError):
        bw.average({})


def test_models_of_other_rows_or_columns_are_neither_averaged_nor_selected() -> None:
    rows = [{"a": "pq"[k % 2], "b": "xy"[k // 2 % 2], "y": ["no", "yes"][k % 3 == 0]} for k in range(12)]
    whole = bw.fit(rows, target="y", model="naive-bayes")
    for other in (
        bw.fit(rows[:8], target="y", model="naive-bayes"),
        bw.fit(rows, target="y", ignore=["b"], model="naive-bayes"),
        bw.fit([{**row, "z": row["y"]} for row in rows], target="z", ignore=["y"], model="naive-bayes"),
    ):
        with pytest.raises(bw.UsageError, match="different rows or columns"):
            bw.average({"whole": whole, "other": other})
        with pytest.raises(bw.UsageError, match="different rows or columns"):
            select({"whole": whole, "other": other})
    assert bw.average([whole, whole.forget(rows[:3]).learn(rows[:3])]).weights == {"model 0": 0.5, "model 1": 0.5}


@pytest.mark.parametrize("value", ["some", None, float("nan"), float("inf")])
def test_a_log_evidence_is_a_number_below_infinity(value: Any) -> None:
    with pytest.raises(bw.UsageError, match="the log evidence of 'h1'"):
        bw.average({"h1": Always("+"), "h2": Always("-")}, log_evidence={"h1": value, "h2": 0.0})


def test_models_that_are_all_impossible_have_no_weights() -> None:
    models = {"h1": Always("+"), "h2": Always("-")}
    with pytest.raises(bw.BayeswiseError, match="no model allows the rows"):
        bw.average(models, log_evidence=dict.fromkeys(models, -np.inf))


def test_the_relevance_of_what_is_not_a_column_is_refused() -> None:
    with pytest.raises(bw.UsageError, match="'outlok', which is not a column"):
        averaged(bw.fit(GOLF, target="play", model="naive-bayes"), {"outlok": 0.9})
    with pytest.raises(bw.UsageError, match="'z', which is not a column"):
        bw.AveragedNaiveBayes(relevance={"z": 0.9}).fit(np.eye(4), [0, 1, 0, 1])


def test_classes_in_blocks_of_any_size_have_the_same_exponent(monkeypatch: pytest.MonkeyPatch) -> None:
    g = np.random.default_rng(0)
    groups = np.arange(90) % 9
    base = g.normal(size=(90, 2)) + 2.0 * g.normal(size=(9, 2))[groups]
    x = np.concatenate([base, base + 0.1 * g.normal(size=(90, 2))], axis=1)  # each number is said twice
    table = {f"x{j}": x[:, j].tolist() for j in range(4)} | {"y": groups.tolist()}
    whole = bw.fit(table, "y", model="averaged").leave_one_out(table)
    monkeypatch.setattr(redundancy, "_BLOCK_CELLS", 1)
    np.testing.assert_array_equal(bw.fit(table, "y", model="averaged").leave_one_out(table), whole)
