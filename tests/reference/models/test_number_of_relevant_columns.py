"""A prior of how many columns are relevant: the closed form against all 2^d structures, one by one."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.models.averaged_naive_bayes import averaged, evidence_of, fit_averaged
from bayeswise.models.averaged_naive_bayes.mixing import log_average, log_relevance, log_structure_prior
from tests.reference.models.test_averaged_naive_bayes_by_brute_force import sequence_of_levels

PRIORS: list[Any] = ["uniform", (1.0, 4.0), {0: 0.25, 1: 0.5, 3: 0.25}]


def share_of(prior: Any, k: int, d: int) -> float:
    """p(k relevant columns), by the definitions."""
    if isinstance(prior, dict):
        return float(prior.get(k, 0.0))
    a, b = (1.0, 1.0) if prior == "uniform" else prior

    def beta(x: float, y: float) -> float:
        return math.gamma(x) * math.gamma(y) / math.gamma(x + y)

    return math.comb(d, k) * beta(k + a, d - k + b) / beta(a, b)


def brute(rows: list[dict[str, str]], columns: list[str], row: dict[str, str], prior: Any) -> Any:
    """p(class | row), p(relevant | rows) by column, log p(rows): sums over all structures."""
    classes = sorted({r["y"] for r in rows})
    joint, relevant, total = np.zeros(len(classes)), np.zeros(len(columns)), 0.0
    terms = []
    for column in columns:
        n_levels = len({r[column] for r in rows})
        groups = [[r[column] for r in rows if r["y"] == c] for c in classes]
        everyone = [r[column] for r in rows]
        by_class = math.prod((sequence_of_levels(g, n_levels) for g in groups), start=Fraction(1))
        cells = [Fraction(g.count(row[column]) + 1, len(g) + n_levels) for g in groups]
        whole = Fraction(everyone.count(row[column]) + 1, len(rows) + n_levels)
        as_whole = sequence_of_levels(everyone, n_levels)
        terms.append((float(by_class / as_whole), np.array(cells, dtype=float), float(whole), float(as_whole)))
    for structure in product((False, True), repeat=len(columns)):
        k = sum(structure)
        weight = share_of(prior, k, len(columns)) / math.comb(len(columns), k)
        part = np.array([sum(r["y"] == c for r in rows) / len(rows) for c in classes])
        for (factor, cells, whole, _), on in zip(terms, structure, strict=True):
            weight *= factor if on else 1.0
            part = part * (cells if on else whole)
        joint += weight * part
        total += weight
        relevant += weight * np.array(structure)
    log_rows = math.log(total) + sum(math.log(term[3]) for term in terms)
    return joint / joint.sum(), relevant / total, log_rows


def rows_of(seed: int, n: int, d: int) -> tuple[list[dict[str, str]], list[str]]:
    generator = np.random.default_rng(seed)
    columns = [f"c{k}" for k in range(d)]
    y = generator.choice(["a", "b", "c"], n)
    rows = []
    for i in range(n):
        hint = [str(generator.choice(["p", "q"])) if generator.random() < 0.6 else str(y[i]) for _ in columns]
        rows.append(dict(zip(columns, hint, strict=True)) | {"y": str(y[i])})
    return rows, columns


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(3, 6), st.sampled_from(PRIORS))
def test_small_tables_equal_the_sum_over_all_structures(seed: int, d: int, prior: Any) -> None:
    rows, columns = rows_of(seed, 14, d)
    model = fit_averaged(rows, target="y", kinds=dict.fromkeys(columns, "category"), n_relevant=prior)
    expected, relevant, log_rows = brute(rows, columns, rows[0], prior)
    assert model.predict_proba([rows[0]])[0] == pytest.approx(expected, rel=1e-12)
    assert list(model.relevance.values()) == pytest.approx(relevant, rel=1e-11)
    found = evidence_of(model)
    assert found.log_total - found.log_target == pytest.approx(log_rows, rel=1e-12)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_twelve_columns_equal_all_4096_structures(prior: Any) -> None:
    rows, columns = rows_of(3, 30, 12)
    model = fit_averaged(rows, target="y", kinds=dict.fromkeys(columns, "category"), n_relevant=prior)
    expected, relevant, _ = brute(rows, columns, rows[5], prior)
    assert model.predict_proba([rows[5]])[0] == pytest.approx(expected, rel=1e-12)
    assert list(model.relevance.values()) == pytest.approx(relevant, rel=1e-11)


def test_a_binomial_number_is_a_coin_for_each_column() -> None:
    rows, columns = rows_of(8, 20, 5)
    plain = bw.fit(rows, target="y", kinds=dict.fromkeys(columns, "category"), model="naive-bayes")
    binomial = {k: math.comb(5, k) / 32 for k in range(6)}
    by_number, by_column = averaged(plain, n_relevant=binomial), averaged(plain)
    assert by_number.predict_proba(rows) == pytest.approx(by_column.predict_proba(rows), rel=1e-12)
    assert by_number.relevance == pytest.approx(by_column.relevance, rel=1e-12)


MIXED = [
    {"x": float(k % 7), "z": float(k * k % 11), "n": k % 5, "c": "pq"[k % 2], "d": "rst"[k % 3], "y": "ab"[k % 4 // 2]}
    for k in range(24)
]
KINDS = {"x": "number", "z": "number", "n": "count", "c": "category", "d": "category"}


def test_rows_leave_and_return_as_under_any_prior(tmp_path: Path) -> None:
    rows = [*MIXED, MIXED[0] | {"x": None}, MIXED[1] | {"c": None}]
    model = fit_averaged(rows, target="y", kinds=KINDS, n_relevant="uniform")
    left_out = model.leave_one_out(rows)
    for k, row in enumerate(rows):
        assert left_out[k] == pytest.approx(model.forget([row]).predict_proba([row])[0], rel=1e-9)
    model.save(tmp_path / "m.bayeswise")
    again = bw.load(tmp_path / "m.bayeswise")
    assert again.settings == model.settings and again.relevance == model.relevance


def test_an_account_adds_up_though_columns_depend_on_each_other() -> None:
    model = fit_averaged(MIXED, target="y", kinds=KINDS, n_relevant=(1.0, 3.0))
    account = model.explain(MIXED[3])
    assert account.posterior == pytest.approx(model.predict_proba([MIXED[3]])[0], rel=1e-12)
    assert len(account.contributions) == 5
    assert set(model.sample(3)) == {*KINDS, "y"} and model.alternatives("n")


def test_one_of_a_thousand_columns_takes_no_thousand_coins() -> None:
    log_prior = log_structure_prior("uniform", 1000)
    log_factor = np.full(1000, -1.0)
    log_factor[17] = 12.0
    log_yes, log_no = log_relevance(log_prior, log_factor)
    assert np.exp(log_yes[17]) > 0.99 and np.exp(log_yes).sum() < 3.0
    assert np.logaddexp(log_yes, log_no) == pytest.approx(np.zeros(1000), abs=1e-12)
    assert np.isfinite(log_average(log_prior, log_factor))


@pytest.mark.parametrize("wrong", ["many", (0.0, 1.0), {0: 0.5}, {-1: 1.0}, {1.5: 1.0}, {}, 3, (1.0, 2.0, 3.0)])
def test_what_is_not_a_prior_of_a_number_is_refused(wrong: Any) -> None:
    with pytest.raises(bw.UsageError, match="n_relevant"):
        fit_averaged(MIXED, target="y", kinds=KINDS, n_relevant=wrong)


def test_two_priors_at_once_and_more_columns_than_there_are_refused() -> None:
    with pytest.raises(bw.UsageError, match="both"):
        fit_averaged(MIXED, target="y", kinds=KINDS, n_relevant="uniform", relevance=0.2)
    with pytest.raises(bw.UsageError, match="the table has 5"):
        fit_averaged(MIXED, target="y", kinds=KINDS, n_relevant={6: 1.0}).predict(MIXED)
