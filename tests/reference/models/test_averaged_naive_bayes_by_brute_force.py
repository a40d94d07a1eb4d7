"""The closed form of the average over structures against all 2^d of them, one by one, with scipy and fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayeswise as bw
from bayeswise.models.averaged_naive_bayes import evidence_of, fit_averaged

CLASSES = ("a", "b", "c")


@parametrize_with_checks([bw.AveragedNaiveBayes(), bw.AveragedNaiveBayes(relevance=0.9, smoothing=0.5)])
def test_scikit_learn_finds_nothing_to_complain_about(estimator: Any, check: Any) -> None:
    check(estimator)


def sequence_of_levels(cells: Sequence[str], n_levels: int) -> Fraction:
    """p(cells) under Dirichlet(1), cell after cell: (seen before + 1) / (all before + number of levels)."""
    chances = [Fraction(cells[:k].count(cell) + 1, k + n_levels) for k, cell in enumerate(cells)]
    return math.prod(chances, start=Fraction(1))


def exact_average(
    rows: list[dict[str, str]], columns: list[str], row: dict[str, str], share: Fraction
) -> list[Fraction]:
    """p(class | row) as the sum over all structures of p(structure | rows) p(class, row | structure, rows)."""
    classes = sorted({r["y"] for r in rows})
    joint = [Fraction(0)] * len(classes)
    for structure in product((False, True), repeat=len(columns)):
        weight = Fraction(1)
        log_parts = [Fraction(sum(r["y"] == c for r in rows), len(rows)) for c in classes]
        for column, relevant in zip(columns, structure, strict=True):
            n_levels = len({r[column] for r in rows})
            groups = [[r[column] for r in rows if not relevant or r["y"] == c] for c in classes]
            weight *= share if relevant else 1 - share
            for group in groups if relevant else groups[:1]:
                weight *= sequence_of_levels(group, n_levels)
            for k, group in enumerate(groups):
                log_parts[k] *= Fraction(group.count(row[column]) + 1, len(group) + n_levels)
        joint = [total + weight * part for total, part in zip(joint, log_parts, strict=True)]
    return [part / sum(joint) for part in joint]


@settings(max_examples=40)
@given(st.data(), st.integers(1, 5), st.sampled_from([Fraction(1, 2), Fraction(1, 10), Fraction(4, 5)]))
def test_categories_equal_the_exact_sum_over_all_structures(data: st.DataObject, d: int, share: Fraction) -> None:
    columns = [f"c{k}" for k in range(d)]
    cells = st.lists(st.sampled_from("pqr"), min_size=d, max_size=d)
    drawn = data.draw(st.lists(st.tuples(cells, st.sampled_from(CLASSES)), min_size=4, max_size=12))
    rows = [dict(zip(columns, given_cells, strict=True)) | {"y": y} for given_cells, y in drawn]
    if len({row["y"] for row in rows}) < 2:
        return
    kinds = dict.fromkeys(columns, "category")
    model = fit_averaged(rows, target="y", relevance=float(share), kinds=kinds)
    for row in rows:
        expected = exact_average(rows, columns, row, share)
        assert model.predict_proba([row])[0] == pytest.approx([float(p) for p in expected], rel=1e-12)


def test_twelve_columns_equal_all_4096_structures() -> None:
    generator = np.random.default_rng(5)
    y = generator.choice(["a", "b"], 40)
    columns = [f"c{k}" for k in range(12)]
    coins = {c: generator.choice(["p", "q"], 40) for c in columns}
    cells = {c: np.where((generator.random(40) < k / 14) & (y == "a"), "q", coins[c]) for k, c in enumerate(columns)}
    rows = [{c: str(cells[c][i]) for c in columns} | {"y": str(y[i])} for i in range(40)]
    model = fit_averaged(rows, target="y", kinds=dict.fromkeys(columns, "category"))
    expected = exact_average_by_logs(rows, columns, rows[3])
    assert model.predict_proba([rows[3]])[0] == pytest.approx(expected, rel=1e-12)


def exact_average_by_logs(rows: list[dict[str, str]], columns: list[str], row: dict[str, str]) -> list[float]:
    """As `exact_average`, with the terms of each column computed once."""
    classes = sorted({r["y"] for r in rows})
    terms = []
    for column in columns:
        groups = [[r[column] for r in rows if r["y"] == c] for c in classes]
        everyone = [r[column] for r in rows]
        by_class = math.prod((sequence_of_levels(g, 2) for g in groups), start=Fraction(1))
        cell = [Fraction(g.count(row[column]) + 1, len(g) + 2) for g in groups]
        whole = Fraction(everyone.count(row[column]) + 1, len(rows) + 2)
        terms.append((float(by_class), [float(p) for p in cell], float(sequence_of_levels(everyone, 2)), float(whole)))
    joint = np.zeros(len(classes))
    for structure in product((False, True), repeat=len(columns)):
        part = np.array([sum(r["y"] == c for r in rows) / len(rows) for c in classes])
        for (by_class, cell, as_whole, whole), relevant in zip(terms, structure, strict=True):
            part = part * (by_class * np.array(cell) if relevant else as_whole * whole) * 1e12
        joint += part
    return list(joint / joint.sum())


def student_sequence(values: Any, mean: float, variance: float) -> tuple[float, Any]:
    """log p(values), a pseudo-count of that variance and a tenth of one of that mean before them, and the next."""
    strength, shape, scale, centre = 0.1, 0.5, 0.5 * variance, mean
    log_p = 0.0
    for x in values:
        log_p += stats.t.logpdf(x, 2 * shape, centre, math.sqrt(scale * (strength + 1) / (shape * strength)))
        scale += 0.5 * strength * (x - centre) ** 2 / (strength + 1)
        centre = (strength * centre + x) / (strength + 1)
        strength, shape = strength + 1, shape + 0.5
    return log_p, stats.t(2 * shape, centre, math.sqrt(scale * (strength + 1) / (shape * strength)))


def gamma_sequence(values: Any, rate: float) -> tuple[float, Any]:
    """log p(counts), a pseudo-count of that mean before them, and the predictive of the next."""
    shape, time = rate, 1.0
    log_p = 0.0
    for x in values:
        log_p += stats.nbinom.logpmf(x, shape, time / (time + 1))
        shape, time = shape + x, time + 1
    return log_p, stats.nbinom(shape, time / (time + 1))


def test_numbers_counts_and_categories_together_equal_brute_force() -> None:
    generator = np.random.default_rng(2)
    n = 25
    y = generator.choice(["a", "b"], n)
    table = {
        "height": generator.normal(100.0, 3.0, n) + 4.0 * (y == "a"),
        "noise": generator.normal(0.0, 1e-3, n),
        "visits": generator.poisson(np.where(y == "a", 2.0, 4.0)),
        "colour": generator.choice(["red", "blue"], n),
        "y": y,
    }
    kinds = {"visits": "count", "colour": "category", "height": "number", "noise": "number"}
    import pandas as pd

    frame = pd.DataFrame(table)
    model = fit_averaged(frame, target="y", kinds=kinds, temper=1.0)
    row = {"height": 101.0, "noise": 0.002, "visits": 3, "colour": "red"}
    classes = ["a", "b"]
    terms = []
    for name in ("height", "noise", "visits", "colour"):
        groups = [table[name][y == c] for c in classes]
        terms.append([_column(name, g, table[name], row[name]) for g in (*groups, table[name])])
    log_joint = []
    for structure in product((False, True), repeat=4):
        log_evidence = sum(t[0][0] + t[1][0] if on else t[2][0] for t, on in zip(terms, structure, strict=True))
        log_cells = [
            log_evidence
            + math.log((y == c).mean())
            + sum(t[k][1] if on else t[2][1] for t, on in zip(terms, structure, strict=True))
            for k, c in enumerate(classes)
        ]
        log_joint.append(log_cells)
    joint = np.exp(np.array(log_joint) - np.max(log_joint)).sum(axis=0)
    assert model.predict_proba([row])[0] == pytest.approx(joint / joint.sum(), rel=1e-10)


def _column(name: str, group: Any, whole: Any, cell: Any) -> tuple[float, float]:
    """log p(cells), log p(next cell | cells)."""
    if name == "colour":
        cells = [str(level) for level in group]
        after = sequence_of_levels([*cells, cell], 2)
        before = sequence_of_levels(cells, 2)
        return math.log(before), math.log(after / before)
    if name == "visits":
        log_p, after = gamma_sequence(group, float(np.mean(whole)))
        return log_p, float(after.logpmf(cell))
    log_p, after = student_sequence(group, float(np.mean(whole)), float(np.var(whole)))
    return log_p, float(after.logpdf(cell))


def log_evidence_of_one_variance(groups: Sequence[Any], mean: float, variance: float) -> float:
    """log p(cells of all classes) by quadrature over the variance v: means are normal with variance v / 0.1."""

    def p(v: float) -> float:
        log_p = stats.invgamma(0.5, scale=0.5 * variance).logpdf(v)
        for cells in groups:
            covariance = v * (np.eye(len(cells)) + 1.0 / 0.1)
            log_p += stats.multivariate_normal(np.full(len(cells), mean), covariance).logpdf(cells)
        return float(np.exp(log_p))

    ends = [0.0, 0.1 * variance, variance, 10.0 * variance, 1e3 * variance]
    parts = [integrate.quad(p, *pair, epsabs=0.0, epsrel=1e-11)[0] for pair in pairwise(ends)]
    return math.log(sum(parts) + integrate.quad(p, ends[-1], np.inf)[0])


def test_a_variance_that_classes_share_is_integrated_out_once_for_all_of_them() -> None:
    columns = {"x": [[1.0, 2.5, 1.5], [4.0, 3.0]], "z": [[0.3, -0.2, 0.1], [0.2, 0.0]]}
    cells = zip([*columns["x"][0], *columns["x"][1]], [*columns["z"][0], *columns["z"][1]], "aaabb", strict=True)
    rows = [{"x": x, "z": z, "y": y} for x, z, y in cells]
    row = {"x": 2.0, "z": 0.5}
    model = fit_averaged(rows, target="y", shared_variance=True, temper=1.0)
    log_joint, log_total = np.log([0.6, 0.4]), 0.0
    for name, groups in columns.items():
        whole = [cell for group in groups for cell in group]
        about = float(np.mean(whole)), float(np.var(whole))
        by_class, as_whole = log_evidence_of_one_variance(groups, *about), log_evidence_of_one_variance([whole], *about)
        own = [[[*group, row[name]] if k == state else group for k, group in enumerate(groups)] for state in (0, 1)]
        relevant = np.array([log_evidence_of_one_variance(each, *about) for each in own])
        irrelevant = log_evidence_of_one_variance([[*whole, row[name]]], *about)
        log_joint = log_joint + np.logaddexp(relevant, irrelevant)  # both with a prior probability of 1 / 2
        log_total += float(np.logaddexp(by_class, as_whole)) - math.log(2.0)
        assert model.relevance[name] == pytest.approx(1.0 / (1.0 + math.exp(as_whole - by_class)), rel=1e-8)
    joint = np.exp(log_joint - log_joint.max())
    assert model.predict_proba([row])[0] == pytest.approx(joint / joint.sum(), rel=1e-8)
    found = evidence_of(model)
    assert found.log_total - found.log_target == pytest.approx(log_total, rel=1e-8)


@pytest.mark.parametrize("shared_variance", [False, True])
def test_a_log_normal_column_is_a_normal_column_of_logarithms(shared_variance: bool) -> None:
    generator = np.random.default_rng(3)
    logs = generator.normal(size=(30, 2)) + np.arange(30)[:, None] % 2
    rows = [{"u": a, "v": b, "y": "ab"[k % 2]} for k, (a, b) in enumerate(np.exp(logs).tolist())]
    of_logs = [{"u": a, "v": b, "y": "ab"[k % 2]} for k, (a, b) in enumerate(logs.tolist())]
    kinds = {"u": "number", "v": "number"}
    shared: dict[str, Any] = {"temper": 1.0, "shared_variance": shared_variance}
    positive = fit_averaged(rows, target="y", kinds=kinds, families="log-normal", **shared)
    normal = fit_averaged(of_logs, target="y", kinds=kinds, **shared)
    assert positive.relevance == pytest.approx(normal.relevance, rel=1e-9)
    assert positive.predict_proba(rows) == pytest.approx(normal.predict_proba(of_logs), rel=1e-9)
    assert positive.leave_one_out(rows) == pytest.approx(normal.leave_one_out(of_logs), rel=1e-9)
    assert positive.log_evidence(rows) == pytest.approx(normal.log_evidence(of_logs) - logs.sum(axis=1), rel=1e-9)
    total = evidence_of(normal).log_total - logs.sum()
    assert evidence_of(positive).log_total == pytest.approx(total, rel=1e-12)
    offered = [each.value for each in positive.alternatives("u")]
    assert len(offered) > 2 and offered == sorted(set(offered)) and min(offered) > 0
    for each in positive.alternatives("u"):  # p(u) = p(log u) / u
        same = normal.explain({"u": np.log(each.value), "v": 0.0}).contributions[0]
        assert same.column == "u"
        assert each.log_likelihood == pytest.approx(same.log_likelihood - np.log(each.value), rel=1e-9)
    assert min(positive.sample(20)["v"]) > 0
    missing = positive.predict_proba([{"u": None, "v": 1.0}])
    assert positive.predict_proba([{"u": -1.0, "v": 1.0}]) == pytest.approx(missing)
