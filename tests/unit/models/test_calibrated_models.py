"""A calibration is part of the model: every answer, the explanation and the file have it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import FitError, KindError, ParameterError
from bayeswise.models.calibrated import CalibratedModel, calibrated
from bayeswise.models.files import bytes_of
from bayeswise.models.held_out import held_out
from bayeswise.posteriors.calibration import fit_calibration

METHODS = ("temperature", "sigmoid", "isotonic", "dirichlet")
MODELS = ("naive-bayes", "averaged", "gaussian", "tan", "aode")


def copied(n_rows: int = 300, seed: int = 0, n_classes: int = 2) -> pd.DataFrame:
    """A column that is there four times: naive Bayes is far too sure."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, n_classes, n_rows)
    x = generator.normal(size=n_rows) + 0.8 * y
    near = generator.normal(scale=0.05, size=(n_rows, 4)) + x[:, None]
    return pd.DataFrame({f"x{k}": near[:, k] for k in range(4)} | {"y": np.array(["no", "yes", "some"])[y]})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_answer_is_the_calibrated_one(method: Any, n_classes: int) -> None:
    rows = copied(n_classes=n_classes)
    plain = bw.fit(rows, "y", model="naive-bayes")
    model = bw.fit(rows, "y", calibrate=method, model="naive-bayes")
    known = held_out(plain, rows, cv="loo")
    by_hand = fit_calibration(method, known.posterior, known.truth).apply(plain.predict_proba(rows))
    assert model.predict_proba(rows) == pytest.approx(by_hand, rel=1e-9, abs=1e-12)
    with np.errstate(divide="ignore"):
        assert model.predict_log_proba(rows) == pytest.approx(np.log(by_hand), rel=1e-9, abs=1e-12)
    assert model.predict(rows) == [model.classes[k] for k in np.argmax(by_hand, axis=1)]
    batch = next(model.batches(rows))
    assert model.probability_of(model.scored(batch)) == pytest.approx(by_hand, rel=1e-9, abs=1e-12)
    assert model.log_evidence_of(model.scored(batch)) == pytest.approx(plain.log_evidence(rows))
    odds = model.log_odds(rows, model.classes[0], model.classes[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.log(by_hand[:, 0]) - np.log(by_hand[:, 1])
    assert odds == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("method", METHODS)
def test_the_account_adds_up_to_the_calibrated_log_odds(kind: Any, method: Any) -> None:
    rows = copied(120)
    model = bw.fit(rows, "y", model=kind, calibrate=method)
    for k in (0, 7, 31):
        account = model.explain(rows.iloc[[k]])
        assert account.posterior == pytest.approx(model.predict_proba(rows.iloc[[k]])[0], abs=1e-9)
        balance = account.weigh(*model.classes)
        assert sum(w.log_ratio for w in balance.weights) + balance.log_prior_odds == pytest.approx(balance.log_odds)
        assert balance.weights[-1].column == "calibration"


def test_a_calibrated_model_is_less_sure_of_what_is_said_four_times() -> None:
    """The log-loss of new rows, which the calibration never saw."""
    learned, new = copied(400, seed=1), copied(2000, seed=2)
    own = (new["y"] == "yes").to_numpy().astype(int)
    losses = []
    for how in (None, "auto"):
        p = bw.fit(learned, "y", calibrate=how, model="naive-bayes").predict_proba(new)
        losses.append(-np.log(p[np.arange(len(p)), own]).mean())
    assert losses[1] < losses[0] - 0.2


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("method", METHODS)
def test_the_file_holds_the_calibration(kind: Any, method: Any, tmp_path: Path) -> None:
    rows = copied(120)
    model = bw.fit(rows, "y", model=kind, calibrate=method)
    model.save(tmp_path / "m.bayeswise")
    again = bw.load(tmp_path / "m.bayeswise")
    assert (again.predict_proba(rows) == model.predict_proba(rows)).all()
    assert bytes_of(again) == bytes_of(model)
    assert isinstance(again, CalibratedModel) and again.current


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_the_order_of_rows_and_the_size_of_batches_do_not_matter(method: Any) -> None:
    rows = copied(200, seed=3)
    shuffled = rows.sample(frac=1.0, random_state=1)
    assert bytes_of(bw.fit(rows, "y", calibrate=method, model="naive-bayes")) == bytes_of(
        bw.fit(shuffled, "y", calibrate=method, model="naive-bayes")
    )


def test_rows_that_come_or_go_leave_the_calibration_and_its_age_is_stated() -> None:
    rows = copied(200)
    model = bw.fit(rows, "y", calibrate="sigmoid", model="naive-bayes")
    assert model.current and "since" not in model.age
    less = model.forget(rows[:50])
    assert not less.current and "since" in less.age and "150 rows now" in less.age
    assert bytes_of(less.model) == bytes_of(bw.fit(rows, "y", model="naive-bayes").forget(rows[:50]))
    assert less.learn(rows[:50]).current
    more = model.merge(less)
    assert more.calibration is model.calibration and more.rows_learned == 350


def test_two_calibrated_models_merge_the_same_either_way() -> None:
    rows = copied(300)
    schema = bw.fit(rows, "y", model="naive-bayes").schema
    one = bw.fit(rows[:100], "y", schema=schema, calibrate="sigmoid", model="naive-bayes")
    other = bw.fit(rows[100:], "y", schema=schema, calibrate="isotonic", model="naive-bayes")
    assert bytes_of(one.merge(other)) == bytes_of(other.merge(one))
    assert one.merge(other).calibration.name == "isotonic"  # by 200 rows, not by 100
    plain = bw.fit(rows[100:], "y", schema=schema, model="naive-bayes")
    assert one.merge(plain).calibration.name == "platt"
    with pytest.raises(KindError, match="calibrated"):
        plain.merge(one)


def test_folds_of_a_calibrated_model_calibrate_again() -> None:
    """A calibration that saw the row would not be a test of it."""
    rows = copied(150)
    model = bw.fit(rows, "y", calibrate="isotonic", model="naive-bayes")
    found = held_out(model, rows, cv=5)
    folds = np.empty(150, dtype=int)
    for state in ("no", "yes"):
        at = np.flatnonzero(rows["y"] == state)
        folds[at] = np.arange(len(at)) % 5
    for fold in range(5):
        without = bw.fit(rows[folds != fold], "y", schema=model.schema, calibrate="isotonic", model="naive-bayes")
        assert found.posterior[folds == fold] == pytest.approx(without.predict_proba(rows[folds == fold]), abs=1e-9)
    with pytest.raises(FitError, match="used up"):
        held_out(model, rows, cv="loo")


def test_the_left_out_posteriors_of_a_learned_graph_learn_it_again() -> None:
    """Noise: with the graph that saw the row, calibration would believe that TAN can tell classes apart."""
    generator = np.random.default_rng(5)
    rows = {f"c{k}": generator.integers(0, 2, 150).astype(str).tolist() for k in range(12)}
    rows["y"] = generator.integers(0, 2, 150).astype(str).tolist()
    model = bw.fit(rows, "y", model="tan", calibrate="sigmoid")
    new = {name: generator.integers(0, 2, 2000).astype(str).tolist() for name in rows}
    own = np.array(new["y"]).astype(int)
    losses = [-np.log(each.predict_proba(new)[np.arange(2000), own]).mean() for each in (model.model, model)]
    assert losses[1] < 0.75 < 0.8 < losses[0]  # log 2 = 0.69 is what can be known


def test_the_least_change_flips_the_calibrated_answer() -> None:
    rows = copied(200)
    for method in METHODS:
        model = bw.fit(rows, "y", calibrate=method, model="naive-bayes")
        for k in range(10):
            row = rows.drop(columns="y").iloc[k].to_dict()
            from bayeswise.explanations.flip import least_change_of

            change = least_change_of(model, row)
            if change is not None:
                after = {**row, **{step.column: step.after for step in change.changes}}
                assert model.predict(after) == [change.to] != model.predict(row)


def test_what_is_impossible_stays_impossible() -> None:
    rows = [{"a": a, "y": y} for a, y in [("u", "n"), ("u", "n"), ("v", "y"), ("v", "n"), ("v", "y"), ("u", "n")]]
    model = bw.fit(rows, "y", smoothing=0.0, calibrate="temperature", model="naive-bayes")
    assert model.predict_proba({"a": "u"}).tolist() == [[1.0, 0.0]]
    assert model.explain({"a": "u"}).posterior.tolist() == [1.0, 0.0]


def test_a_tail_that_underflows_is_calibrated_in_log_space() -> None:
    rows = copied(200)
    model = bw.fit(rows, "y", calibrate="temperature", model="naive-bayes")
    far = {f"x{k}": 1000.0 for k in range(4)}
    log_p = model.predict_log_proba(far)[0]
    assert np.isfinite(log_p).all() and log_p.min() < -800.0
    assert log_p.min() == pytest.approx(
        model.model.predict_log_proba(far).min() / model.calibration.temperature, rel=1e-9
    )


def test_calibrating_twice_replaces_the_calibration() -> None:
    rows = copied(150)
    once = bw.fit(rows, "y", calibrate="sigmoid", model="naive-bayes")
    assert bytes_of(calibrated(once, rows, "isotonic")) == bytes_of(
        bw.fit(rows, "y", calibrate="isotonic", model="naive-bayes")
    )


def test_what_cannot_be_calibrated_says_so() -> None:
    rows = copied(60)
    with pytest.raises(ParameterError, match="there is no calibration 'platform'"):
        bw.fit(rows, "y", calibrate="platform", model="naive-bayes")  # type: ignore[arg-type]
    with pytest.raises(KindError, match="answers with a number"):
        bw.fit(rows.drop(columns="y"), "x0", model="linear", calibrate="auto")


def test_no_calibration_is_the_model_itself() -> None:
    rows = copied(60)
    assert bytes_of(bw.fit(rows, "y", calibrate="none", model="naive-bayes")) == bytes_of(
        bw.fit(rows, "y", model="naive-bayes")
    )


def test_a_calibrated_model_decides_and_is_evaluated_by_its_own_posterior() -> None:
    learned, new = copied(300, seed=1), copied(500, seed=2)
    costs = {"act": {"no": 1, "yes": 0}, "wait": {"no": 0, "yes": 4}}
    model = bw.fit(learned, "y", calibrate="isotonic", model="naive-bayes")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = bw.evaluate(model, new, bw.Costs(costs))
    by_hand = bw.decide(model.predict_proba(new), costs, states=model.classes)
    assert list(found.decisions.actions) == list(by_hand.actions)
