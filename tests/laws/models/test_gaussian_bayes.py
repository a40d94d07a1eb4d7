"""Laws of the Gaussian Bayes model: rows with missing values, small whole numbers (often singular), others."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.engines import summarise
from bayeswise.models.files import bytes_of, load
from bayeswise.models.gaussian_bayes import GaussianBayesModel, GaussianBayesSettings, SingularWarning, fit
from bayeswise.models.gaussian_bayes.em import ROUNDING
from bayeswise.models.gaussian_bayes.model import request_of
from bayeswise.tables.schema.columns import Column
from bayeswise.tables.schema.schema import Schema, Target

pytestmark = pytest.mark.filterwarnings("ignore::bayeswise.models.gaussian_bayes.SingularWarning")

COLUMNS = ("a", "b", "c")
SCHEMA = Schema(tuple(Column(name, "number") for name in COLUMNS), Target("y", "text"))
SETTINGS: list[dict[str, Any]] = [
    {},
    {"variance_divisor": "n-1"},
    {"covariance": "shared"},
    {"covariance": "shared", "variance_divisor": "n-K"},
    {"covariance": "diagonal", "variance_divisor": "n-1"},
    {"covariance": "shared-diagonal"},
    {"covariance": "spherical"},
    {"shrinkage": 0.3},
    {"shrinkage": "auto"},
    {"shrinkage": "auto", "covariance": "shared", "variance_divisor": "n-K"},
    {"class_prior": {"p": 0.5, "q": 0.5}},
]

cell = st.one_of(st.none(), st.integers(-2, 2).map(float), st.floats(-100, 100))
row = st.fixed_dictionaries(dict.fromkeys(COLUMNS, cell) | {"y": st.sampled_from(["p", "q"])})
tables = st.lists(row, min_size=4, max_size=10)
whole = st.fixed_dictionaries({name: st.integers(-2, 2).map(float) for name in COLUMNS} | {"y": st.sampled_from("pq")})
whole_tables = st.lists(whole, min_size=4, max_size=12)
profile = settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.generate])


NOTHING = summarise([], SCHEMA, request_of(SCHEMA, GaussianBayesSettings())).statistics


def learned(rows: list[dict[str, Any]], **overrides: Any) -> GaussianBayesModel:
    return GaussianBayesModel(SCHEMA, GaussianBayesSettings(**overrides), NOTHING).learn(rows)


def ordinary(seed: int, n: int = 30) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    states = rng.integers(0, 2, n)
    states[:2] = 0, 1
    mixing = rng.normal(size=(2, 3, 3))
    values = np.einsum("nij,nj->ni", mixing[states], rng.normal(size=(n, 3))) + 0.5 * states[:, None]
    return [dict(zip(COLUMNS, x, strict=True), y="pq"[k]) for x, k in zip(values.tolist(), states, strict=True)]


@profile
@given(rows=tables, overrides=st.sampled_from(SETTINGS[:7]))
def test_posteriors_lie_in_the_simplex(rows: list[dict[str, Any]], overrides: dict[str, Any]) -> None:
    model = learned(rows, **overrides)
    posterior = model.predict_proba(rows)
    assert np.isfinite(posterior).all() and (posterior >= 0).all()
    assert posterior.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert np.isfinite(model.log_evidence(rows)).all()


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
    with pytest.raises(bw.NotMergedError):
        learned(rows).forget([{"a": 1e6, "b": 2.0, "c": 3.0, "y": "p"}])


@profile
@given(rows=tables, times=st.lists(st.integers(0, 3), min_size=10, max_size=10))
def test_a_weight_of_k_is_k_copies(rows: list[dict[str, Any]], times: list[int]) -> None:
    repeats = [max(1, times[0]), *times[1 : len(rows)]]
    copies = [row for row, count in zip(rows, repeats, strict=True) for _ in range(count)]
    nothing = learned(rows[:1]).forget(rows[:1])
    assert bytes_of(nothing.learn(rows, weights=np.array(repeats, dtype=float))) == bytes_of(learned(copies))


@profile
@given(rows=whole_tables, overrides=st.sampled_from(SETTINGS))
def test_leave_one_out_is_a_refit_where_covariances_are_often_singular(
    rows: list[dict[str, Any]], overrides: dict[str, Any]
) -> None:
    both = [*rows, {"a": 0.0, "b": 1.0, "c": 2.0, "y": "p"}, {"a": 1.0, "b": 0.0, "c": 2.0, "y": "q"}]
    _check_leave_one_out(both, overrides)


@profile
@given(seed=st.integers(0, 10_000), overrides=st.sampled_from(SETTINGS), bayesian=st.booleans(), student=st.booleans())
def test_leave_one_out_is_a_refit_without_the_row(
    seed: int, overrides: dict[str, Any], bayesian: bool, student: bool
) -> None:
    rows = ordinary(seed, 24)
    if overrides.get("covariance", "per-class") in ("per-class", "shared"):
        prior = {"prior": learned(rows).weak_prior(2.0)} if bayesian else {}
        overrides = {**overrides, **prior, "predictive": "student-t" if student else "plug-in"}
    _check_leave_one_out(rows, overrides, exactly=12)


def _check_leave_one_out(rows: list[dict[str, Any]], overrides: dict[str, Any], exactly: int = 99) -> None:
    model = learned(rows, **overrides)
    left_out = model.leave_one_out(rows)
    for k, row in enumerate(rows[:exactly]):
        refit = model.forget([row])
        if set(refit.classes) != set(model.classes) and model.settings.class_prior is not None:
            continue  # a prior over two classes does not fit one
        expected = dict(zip(refit.classes, refit.predict_proba([row])[0], strict=True))
        for label, found in zip(model.classes, left_out[k], strict=True):
            assert found == pytest.approx(expected.get(label, 0.0), abs=1e-9)


def condition(rows: list[dict[str, Any]]) -> float:
    """The worst condition of a class's covariance: what inverting it multiplies rounding errors by."""
    covariances = (
        np.cov([[row[name] for name in COLUMNS] for row in rows if row["y"] == label], rowvar=False)
        for label in {row["y"] for row in rows}
    )
    return float(max(np.linalg.cond(covariance) for covariance in covariances))


@profile
@given(seed=st.integers(0, 10_000), covariance=st.sampled_from(["per-class", "shared"]))
def test_an_affine_change_of_columns_changes_no_posterior(seed: int, covariance: str) -> None:
    rng = np.random.default_rng(seed)
    rows = ordinary(seed)
    turn, shift = rng.normal(size=(3, 3)) + 2 * np.eye(3), rng.normal(size=3)
    values = np.array([[row[name] for name in COLUMNS] for row in rows]) @ turn + shift
    turned = [dict(zip(COLUMNS, map(float, x), strict=True), y=row["y"]) for x, row in zip(values, rows, strict=True)]
    plain, changed = learned(rows, covariance=covariance), learned(turned, covariance=covariance)
    tolerance = 1e-15 * max(condition(rows), condition(turned))
    assert plain.predict_proba(rows) == pytest.approx(changed.predict_proba(turned), abs=tolerance)
    log_stretch = np.log(abs(np.linalg.det(turn)))
    assert plain.log_evidence(rows) == pytest.approx(changed.log_evidence(turned) + log_stretch, abs=1e-7)


@profile
@given(
    seed=st.integers(0, 10_000),
    factors=st.lists(st.floats(1e-6, 1e6), min_size=3, max_size=3),
    overrides=st.sampled_from([w for w in SETTINGS if w.get("covariance") != "spherical"]),
)
def test_units_of_columns_change_no_posterior(seed: int, factors: list[float], overrides: dict[str, Any]) -> None:
    rows = ordinary(seed)
    scaled = [{**row, **{c: f * row[c] for c, f in zip(COLUMNS, factors, strict=True)}} for row in rows]
    ours = learned(scaled, **overrides).predict_proba(scaled)
    assert ours == pytest.approx(learned(rows, **overrides).predict_proba(rows), abs=1e-10)


@profile
@given(rows=tables, overrides=st.sampled_from(SETTINGS[:7]))
def test_one_row_at_a_time_or_all_at_once_is_the_same(rows: list[dict[str, Any]], overrides: dict[str, Any]) -> None:
    model = learned(rows, **overrides)
    alone = np.concatenate([model.predict_proba([row]) for row in rows])
    assert alone.tolist() == model.predict_proba(rows).tolist()


@profile
@given(rows=tables, overrides=st.sampled_from(SETTINGS[:10]))
def test_beliefs_change_without_a_second_look_at_the_rows(
    rows: list[dict[str, Any]], overrides: dict[str, Any]
) -> None:
    assert bytes_of(learned(rows).changed(**overrides)) == bytes_of(learned(rows, **overrides))


@profile
@given(rows=tables, shared=st.booleans())
def test_the_log_likelihood_of_what_is_seen_never_falls(rows: list[dict[str, Any]], shared: bool) -> None:
    completion = learned(rows, covariance="shared" if shared else "per-class").completion
    if completion is None:
        assert all(row[name] is not None for row in rows for name in COLUMNS)
        return
    log_seen = completion.log_likelihood
    assert (np.diff(log_seen) >= -ROUNDING * (1.0 + np.abs(log_seen[1:]))).all()


def test_a_saved_model_is_the_same_model(tmp_path: Any) -> None:
    rows = [*ordinary(1), {"a": None, "b": 1.0, "c": 2.0, "y": "p"}]
    plain = learned(rows)
    for model in (plain, plain.changed(covariance="shared", shrinkage="auto", prior=plain.weak_prior(3.0))):
        model.save(tmp_path / "m.bayeswise")
        assert bytes_of(load(tmp_path / "m.bayeswise")) == bytes_of(model)


def test_singular_covariances_warn_once_at_the_fit() -> None:
    rows = [{**row, "c": 2 * row["a"]} for row in ordinary(3)]
    with pytest.warns(SingularWarning, match=r"class 'p': rank 2 of 3 \(determine each other: 'a', 'c'\)"):
        model = fit(rows, target="y", schema=SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict_proba(rows)
