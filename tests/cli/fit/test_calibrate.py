"""--calibrate: posteriors calibrated on leave-one-out predictions."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayeswise as bw
from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.evaluation.reliability import calibrated
from tests.paths import EXAMPLES

Command = Callable[..., SimpleNamespace]

LEARNED, TEST, TOML = EXAMPLES / "credit.csv", EXAMPLES / "credit-test.csv", EXAMPLES / "credit.toml"


@pytest.fixture(scope="module")
def credit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("credit") / "credit.bayeswise"
    bw.fit(str(LEARNED), target="repaid", model="naive-bayes").save(path)
    return path


def maker(method: str) -> Any:
    """The same by the estimator that decides."""
    frame = pd.read_csv(LEARNED)
    model = bw.fit(str(LEARNED), target="repaid", model="naive-bayes")
    return bw.DecisionMaker(model, DecisionFile.read(TOML).costs, calibrate=method).fit(
        frame.drop(columns="repaid"), frame["repaid"]
    )


@pytest.mark.parametrize("method", ["auto", "platt", "temperature"])
def test_a_model_is_calibrated_as_the_estimator_does(method: str) -> None:
    model = bw.fit(str(LEARNED), target="repaid", model="naive-bayes")
    new = pd.read_csv(TEST).drop(columns="repaid")
    found = calibrated(model, str(LEARNED), DecisionFile.read(TOML).costs, method=method)
    assert found.changes and found.n_rows == 1000
    assert found.predict_proba(new) == pytest.approx(maker(method).predict_proba(new), rel=1e-6)
    assert found.predict_proba(new) != pytest.approx(model.predict_proba(new), rel=1e-2)


def test_decide_acts_by_the_calibrated_posterior(bayeswise: Command, credit: Path) -> None:
    answer = bayeswise("decide", credit, TEST, "--costs", TOML, "--calibrate", LEARNED)
    assert answer.code == 0, answer.err
    assert "Calibrated on 1,000 leave-one-out predictions of credit.csv (1,000 rows learned)." in answer.err
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    new = pd.read_csv(TEST)
    by_hand = maker("auto").predict(new.drop(columns="repaid"), rows=new[["amount"]])
    assert [row["action"] for row in rows] == by_hand.tolist()


def test_check_and_report_judge_the_calibrated_posterior(bayeswise: Command, credit: Path, tmp_path: Path) -> None:
    arguments = (credit, TEST, "--costs", TOML, "--calibrate", LEARNED, "--json")
    found = json.loads(bayeswise("check", *arguments).out)
    new = pd.read_csv(TEST)
    by_hand = -maker("auto").score(new.drop(columns="repaid"), new["repaid"], rows=new[["amount"]])
    assert found["cost_per_case"]["mean"] == pytest.approx(by_hand)
    page = tmp_path / "page.html"
    answer = bayeswise("report", *arguments, "-o", page)
    assert json.loads(answer.out)["cost_per_case"] == found["cost_per_case"]
    assert page.exists()


def test_right_posteriors_stay_as_they_are(bayeswise: Command, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 400)
    table, path = tmp_path / "table.csv", tmp_path / "m.bayeswise"
    pd.DataFrame({"x": generator.normal(size=400) + y, "y": np.where(y == 1, "yes", "no")}).to_csv(table, index=False)
    bw.fit(str(table), target="y", model="naive-bayes").save(path)
    new = tmp_path / "new.csv"
    new.write_text("x,y\n0.3,no\n1.2,yes\n0.9,no\n")
    plain, calibrated = bayeswise("check", path, new), bayeswise("check", path, new, "--calibrate", table)
    assert "leaves the posteriors as they are" in calibrated.err
    assert calibrated.out == plain.out


def test_rows_that_were_never_learned_cannot_be_left_out(bayeswise: Command, credit: Path, tmp_path: Path) -> None:
    twice = tmp_path / "twice.csv"
    pd.concat([pd.read_csv(LEARNED)] * 2).to_csv(twice, index=False)
    answer = bayeswise("check", credit, TEST, "--calibrate", twice)
    assert answer.code == 4
    assert "these rows cannot all have been learned by the model" in answer.err


def test_a_part_of_the_learned_rows_will_do() -> None:
    model = bw.fit(str(LEARNED), target="repaid", model="naive-bayes")
    assert calibrated(model, pd.read_csv(LEARNED).head(600)).n_rows == 600


def test_learned_rows_cannot_test_a_calibration_by_themselves(bayeswise: Command, credit: Path) -> None:
    for verb in ("check", "report"):
        answer = bayeswise(verb, credit, LEARNED, "--cv", "loo", "--calibrate", LEARNED)
        assert answer.code == 2
        assert "Fix: check rows that are new" in answer.err
        answer = bayeswise(verb, credit, LEARNED, "--calibrate", EXAMPLES / "." / "credit.csv")
        assert answer.code == 2
        assert "cannot be checked on the rows" in answer.err


def test_an_output_that_is_read_is_refused_before_the_work(bayeswise: Command, credit: Path, tmp_path: Path) -> None:
    copy = tmp_path / "learned.csv"
    copy.write_bytes(LEARNED.read_bytes())
    answer = bayeswise("decide", credit, TEST, "--costs", TOML, "--calibrate", copy, "-o", copy)
    assert answer.code == 2
    assert "would be overwritten" in answer.err and "Calibrated" not in answer.err
    answer = bayeswise("report", credit, TEST, "--calibrate", copy, "-o", copy)
    assert answer.code == 2 and "would be overwritten" in answer.err
    assert copy.read_bytes() == LEARNED.read_bytes()


def test_a_model_that_keeps_weights_is_calibrated_on_folds_that_learn_their_own() -> None:
    model = bw.fit(str(LEARNED), target="repaid", model="logistic")
    found = calibrated(model, str(LEARNED), method="sigmoid")
    assert found.how == "10 folds" and found.n_rows == 1_000
    assert np.abs(found.predict_proba(str(TEST)) - model.predict_proba(str(TEST))).max() > 0.001


def test_a_number_has_no_posterior_of_classes(bayeswise: Command, tmp_path: Path) -> None:
    path, costs = tmp_path / "m.bayeswise", tmp_path / "n.toml"
    costs.write_text("[number]\nunder = 2\nover = 1\n")
    bw.fit(str(LEARNED), target="income", model="linear").save(path)
    answer = bayeswise("decide", path, TEST, "--costs", costs, "--calibrate", LEARNED)
    assert answer.code == 2
    assert "--calibrate" in answer.err
