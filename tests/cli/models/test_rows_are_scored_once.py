"""predict and decide score each batch once, whatever is computed from its rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.models.gaussian_bayes.densities import Densities
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.regression.logistic import LogisticModel
from bayeswise.networks.classifiers.model import NetworkClassifierModel

Command = Callable[..., SimpleNamespace]
COSTS = "[costs]\ngo = { no = 7, yes = 0 }\nstay = { no = 0, yes = 2 }\n"
MODELS: dict[str, tuple[dict[str, Any], type, str]] = {
    "naive-bayes": ({"model": "naive-bayes"}, NaiveBayesModel, "_sums"),
    "averaged": ({"model": "averaged"}, NaiveBayesModel, "_sums"),
    "gaussian": ({"model": "gaussian", "covariance": "shared"}, Densities, "relative"),
    "tan": ({"model": "tan"}, NetworkClassifierModel, "log_joint"),
    "logistic": ({"model": "logistic"}, LogisticModel, "_scores_of"),
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    draws = np.random.default_rng(3)
    lines = [f"{x:.3f},{y:.3f},{'yes' if x + y > 0 else 'no'}" for x, y in draws.normal(size=(60, 2))]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["x,y,go", *lines, ""]))
    return path


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def count_calls(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[int]:
    """The number of rows of each call from now on."""
    calls: list[int] = []
    original = getattr(owner, name)

    def counted(self: Any, rows: Any) -> Any:
        calls.append(rows.n_rows if hasattr(rows, "n_rows") else len(rows))
        return original(self, rows)

    monkeypatch.setattr(owner, name, counted)
    return calls


def test_predict_scores_each_batch_once(
    bayeswise: Command, table: Path, tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, owner, name = MODELS[model]
    fitted = bw.fit(str(table), target="go", **options)
    fitted.save(tmp_path / "m")
    evidence = [] if model == "logistic" else ["--evidence"]
    calls = count_calls(monkeypatch, owner, name)
    answer = bayeswise("predict", tmp_path / "m", table, "--proba", *evidence)
    assert answer.code == 0, answer.err
    assert calls == [60]
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert [[float(row["p_no"]), float(row["p_yes"])] for row in rows] == fitted.predict_proba(str(table)).tolist()
    if evidence:
        assert [float(row["log_evidence"]) for row in rows] == fitted.log_evidence(str(table)).tolist()


def test_decide_scores_each_batch_once(
    bayeswise: Command, table: Path, tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, owner, name = MODELS[model]
    bw.fit(str(table), target="go", **options).save(tmp_path / "m")
    (tmp_path / "costs.toml").write_text(COSTS)
    calls = count_calls(monkeypatch, owner, name)
    answer = bayeswise("decide", tmp_path / "m", table, "--costs", tmp_path / "costs.toml")
    assert answer.code == 0, answer.err
    assert calls == [60]


def test_novelty_needs_no_second_scoring_of_the_rows(
    bayeswise: Command, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bw.fit(str(table), target="go", model="naive-bayes").save(tmp_path / "m")
    (tmp_path / "costs.toml").write_text(COSTS)
    calls = count_calls(monkeypatch, NaiveBayesModel, "_sums")
    answer = bayeswise("decide", tmp_path / "m", table, "--costs", tmp_path / "costs.toml", "--novelty", ".01")
    assert answer.code == 0, answer.err
    assert calls.count(60) == 1 and len(calls) == 2  # the rows, and the draws that they are compared with


def test_rows_are_counted_without_a_posterior(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = bw.DecisionMaker(
        bw.fit(str(table), target="go", model="naive-bayes"), costs={"go": {"no": 7, "yes": 0}, "stay": 1}
    )
    calls = count_calls(monkeypatch, NaiveBayesModel, "_sums")
    assert maker.is_unknown(str(table)).tolist() == [False] * 60
    assert calls == []
    assert len(maker.refusals(str(table))) == 60
    assert calls == [60]
