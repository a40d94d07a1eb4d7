"""Regressions whose steps ask rows for exact sums: the same bytes here and in any partitions."""

from __future__ import annotations

import hashlib
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pytest

import bayeswise as bw
from bayeswise.models.files import bytes_of
from bayeswise.models.regression.solving import exact_sums
from bayeswise.tables.source import open_source
from tests.unit.engines.same_bytes import NO_TEXT, mixed_table

TABLE = mixed_table()
TWO = TABLE[TABLE["class"] != "c"]
COUNTS = TABLE.assign(visits=TABLE["visits"] % 7)
TIMES = TABLE.assign(visits=TABLE["visits"] + 0.5)
LOGISTIC: dict[str, Any] = {"model": "logistic", **NO_TEXT}
LINEAR: dict[str, Any] = {"model": "linear", **NO_TEXT}

CASES: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "three classes": (TABLE, "class", LOGISTIC),
    "weights": (TABLE, "class", {"weight": "times", **LOGISTIC}),
    "two classes": (TWO, "class", LOGISTIC),
    "whole rows": (TWO, "class", {"missing": "mean", "fit_intercept": False, **LOGISTIC}),
    "laplace prior": (TWO, "class", {"prior": "laplace", **LOGISTIC}),
    "student-t prior": (TWO, "class", {"prior": "student-t", "standardise": False, **LOGISTIC}),
    "evidence": (TWO, "class", {"scale": "evidence", **LOGISTIC}),
    "no prior": (TWO[TWO["colour"] != "rare"], "class", {"prior": None, **LOGISTIC}),
    "poisson": (COUNTS, "visits", {"likelihood": "poisson", "weight": "times", **LINEAR}),
    "exponential": (TIMES, "visits", {"likelihood": "exponential", "missing": "mean", **LINEAR}),
}

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def ask_for_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """These few rows are many, and the first step starts from a hundred of them."""
    monkeypatch.setattr(exact_sums, "MOST_CELLS_IN_MEMORY", 100)
    monkeypatch.setattr(exact_sums, "CELLS_TO_START", 1_000)


def sha(model: Any) -> str:
    return hashlib.sha256(bytes_of(model)).hexdigest()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("ask_for_sums")
def test_partitions_do_not_change_a_byte_of_a_step(name: str) -> None:
    table, target, settings = CASES[name]
    here = bw.fit(table, target, **settings)
    assert here.certificate.converged
    for n_partitions in (1, 3, 16) if name in ("two classes", "poisson") else (3,):
        shuffled = table.sample(frac=1.0, random_state=n_partitions)
        with dask.config.set(scheduler="synchronous"):
            source = open_source(dd.from_pandas(shuffled, npartitions=n_partitions, sort=False).persist())
            assert sha(bw.fit(source, target, **settings)) == sha(here)
        assert source.passes[:3] == ["profile and statistics", "sample", "step"]
        assert set(source.passes[3:]) == {"step"}
        assert len(source.passes) <= here.certificate.iterations + 6 or name == "evidence"  # two steps may be halved


@pytest.mark.parametrize("name", CASES)
def test_steps_by_sums_end_where_those_of_rows_in_memory_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table, target, settings = CASES[name]
    tight = {} if "likelihood" in settings else {"tol": 1e-12}
    in_memory = bw.fit(table, target, **settings, **tight)
    monkeypatch.setattr(exact_sums, "MOST_CELLS_IN_MEMORY", 100)
    by_sums = bw.fit(table, target, **settings, **tight)
    np.testing.assert_allclose(by_sums.weights, in_memory.weights, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(by_sums.centre, in_memory.centre)


@pytest.mark.usefixtures("ask_for_sums")
def test_a_row_of_weight_two_is_two_rows_to_the_last_bit() -> None:
    table = TWO.assign(times=np.where(TWO["height"] > 1.0, 2.0, 1.0))
    twice = TWO.loc[TWO.index.repeat(table["times"].astype(int))]
    weighted = bw.fit(table, "class", weight="times", **LOGISTIC)
    repeated = bw.fit(twice, "class", model="logistic", ignore=["note", "times"])
    np.testing.assert_array_equal(weighted.weights, repeated.weights)
    np.testing.assert_array_equal(weighted.covariance, repeated.covariance)


@pytest.mark.parametrize("name", ["two classes", "poisson"])
@pytest.mark.usefixtures("ask_for_sums")
def test_no_row_is_needed_to_start_from(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table, target, settings = CASES[name]
    several = bw.fit(table, target, **settings)
    monkeypatch.setattr(exact_sums, "CELLS_TO_START", 0)
    np.testing.assert_allclose(bw.fit(table, target, **settings).weights, several.weights, rtol=1e-5, atol=1e-7)


@pytest.mark.usefixtures("ask_for_sums")
def test_classes_that_a_flat_prior_cannot_separate_are_fitted_row_by_row() -> None:
    table = TWO.assign(price=np.where(TWO["class"] == "a", 1.0, -1.0) + 0.01 * TWO["price"])
    source = open_source(dd.from_pandas(table.dropna(subset=["class"]), npartitions=3, sort=False))
    with pytest.raises(bw.FitError, match="'price' separates the classes"):
        bw.fit(source, "class", prior=None, **LOGISTIC)
    assert source.passes[-1] == "rows brought here"
