"""What looking up a column is worth, beside sums and integrals that know nothing of regions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayeswise as bw
from bayeswise.evaluation.empty_columns import empty_columns, family_outcomes, next_test_for
from bayeswise.families.continuous.normal import Normal
from bayeswise.foundation.errors import FitError, ParameterError

GENERATOR = np.random.default_rng(31)
COSTS = bw.Costs({"treat": {"a": 0, "b": 6, "c": 3}, "wait": {"a": 9, "b": 0, "c": 1}, "ask": 2.2, "part": {
    "a": 4, "b": 1, "c": 5}})  # fmt: skip
LABELS = np.array(list("abc"))[GENERATOR.choice(3, 300, p=[0.3, 0.5, 0.2])]
PLACE = np.where(LABELS == "a", 0.0, np.where(LABELS == "b", 1.0, 0.4))
NUMBERS = {
    "normal": 2.0 * PLACE + GENERATOR.normal(size=300),
    "laplace": PLACE + GENERATOR.laplace(size=300),
    "student-t": PLACE + GENERATOR.standard_t(4, 300),
    "exponential": GENERATOR.exponential(1.0 + 2 * PLACE),
    "gamma": GENERATOR.gamma(2.0 + 3 * PLACE),
    "log-normal": np.exp(PLACE + 0.7 * GENERATOR.normal(size=300)),
    "beta": GENERATOR.beta(2.0, 1.0 + 4 * PLACE),
}
COUNTS = {"poisson": GENERATOR.poisson(2 + 3 * PLACE), "geometric": GENERATOR.geometric(0.2 + 0.4 * PLACE) - 1}


def model_of(family: str, values: Any) -> Any:
    table = {"x": np.asarray(values, dtype=float), "z": GENERATOR.normal(size=300), "y": LABELS.tolist()}
    return bw.fit(table, target="y", families={"x": family, "z": "normal"}, kinds={"x": "number"}, model="naive-bayes")


def integral(model: Any, family: str, grid: np.ndarray) -> float:
    """E[min_a E[cost | x, z]] by a fine sum over x, from the model's own posterior and evidence."""
    rows = {"x": grid, "z": np.full(len(grid), 0.3)}
    risk = (model.predict_proba(rows) @ COSTS.aligned(model.classes).table.T).min(axis=1)
    known = model.log_evidence({"x": [None], "z": [0.3]})
    density = np.exp(model.log_evidence(rows) - known)
    return float(np.trapezoid(risk * density, grid))


@pytest.mark.parametrize("family", list(NUMBERS))
def test_a_number_is_worth_what_a_fine_integral_says(family: str) -> None:
    model = model_of(family, NUMBERS[family])
    answer = next_test_for(model, {"z": 0.3}, COSTS)
    high = float(np.abs(NUMBERS[family]).max())
    tail = np.geomspace(1e-10, 1 - 1e-12 if family == "beta" else 60 * high, 60_001)
    body = np.linspace(1e-10, 1 - 1e-12 if family == "beta" else 2 * high, 60_001)
    positive = np.unique(np.concatenate([tail, body]))
    signed = family in ("normal", "laplace", "student-t")
    grid = np.concatenate([-positive[::-1], positive]) if signed else positive
    assert [test.column for test in answer.tests] == ["x"]
    assert answer.expected_cost - answer.tests[0].value == pytest.approx(integral(model, family, grid), rel=2e-4)
    assert 0 < answer.tests[0].value < answer.perfect


@pytest.mark.parametrize("family", list(COUNTS))
def test_a_count_is_worth_what_the_sum_says(family: str) -> None:
    model = model_of(family, COUNTS[family])
    answer = next_test_for(model, {"z": 0.3}, COSTS)
    counts = np.arange(0.0, 400.0)
    rows = {"x": counts, "z": np.full(400, 0.3)}
    risk = (model.predict_proba(rows) @ COSTS.aligned(model.classes).table.T).min(axis=1)
    mass = np.exp(model.log_evidence(rows) - model.log_evidence({"x": [None], "z": [0.3]}))
    assert answer.expected_cost - answer.tests[0].value == pytest.approx(float(risk @ mass), rel=1e-10)


@pytest.mark.parametrize("family", [*NUMBERS, *COUNTS])
def test_every_family_has_the_density_that_the_model_scores_with(family: str) -> None:
    model = model_of(family, {**NUMBERS, **COUNTS}[family])
    (scores,) = [each for each in model.scores if "x" in each.columns]
    at = scores.columns.index("x")
    parameters = scores.parameters[0] if isinstance(scores.parameters, tuple) else scores.parameters
    factor = next(each for each in model.factors if "x" in each.columns)
    found: Any = family_outcomes(getattr(factor, "family", Normal()), parameters, at, 3)
    values = np.sort({**NUMBERS, **COUNTS}[family][:40].astype(float))
    blank = [{"x": x, "z": None} for x in values]
    (batch,) = model.batches(blank)
    ours = scores.by_column(batch)[:, at]  # (n_values, n_states)
    if hasattr(found, "likelihoods"):
        theirs = np.stack([each.logpdf(values) for each in found.likelihoods], axis=1)
    else:
        theirs = np.log(found.likelihood[values.astype(int)])
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "settings", [{}, {"covariance": "shared"}, {"predictive": "student-t"}, {"covariance": "diagonal"}]
)
def test_a_gaussian_column_is_worth_what_a_fine_integral_says(settings: dict[str, Any]) -> None:
    """The other two columns are there: the model's own evidence and posterior over the third, summed up."""
    mixing = np.array([[1.0, 0.6, -0.3], [0.0, 1.0, 0.8], [0.0, 0.0, 1.0]])
    X = GENERATOR.normal(size=(300, 3)) @ mixing + PLACE[:, None] * [1.0, 0.5, 2.0]
    model = bw.GaussianBayes(**settings).fit(X, LABELS).model_
    row = {"x0": 0.7, "x2": -0.2}
    answer = next_test_for(model, row, COSTS, {"x1": 0.01})
    grid = np.linspace(-60, 60, 240_001)
    rows = {"x0": np.full(len(grid), 0.7), "x1": grid, "x2": np.full(len(grid), -0.2)}
    risk = (model.predict_proba(rows) @ COSTS.aligned(model.classes).table.T).min(axis=1)
    known = model.log_evidence({"x0": [0.7], "x1": [None], "x2": [-0.2]})
    after = float(np.trapezoid(risk * np.exp(model.log_evidence(rows) - known), grid))
    assert answer.expected_cost - answer.tests[0].value == pytest.approx(after, rel=1e-5)
    assert answer.tests[0].net == pytest.approx(answer.tests[0].value - 0.01)


def test_columns_that_go_together_are_planned_one_at_a_time() -> None:
    X = GENERATOR.normal(size=(300, 3)) + PLACE[:, None]
    full = bw.GaussianBayes().fit(X, LABELS).model_
    with pytest.raises(ParameterError, match="one at a time"):
        next_test_for(full, {"x0": 0.1}, COSTS, depth=2)
    apart = bw.GaussianBayes(covariance="diagonal").fit(X, LABELS).model_
    assert next_test_for(apart, {"x0": 0.1}, COSTS, depth=2).tests[0].value > 0


def test_an_averaged_model_has_tests_or_says_why_not() -> None:
    level = np.where(PLACE + GENERATOR.normal(size=300) > 0.5, "u", "v")
    frame = pd.DataFrame({"x": NUMBERS["normal"], "c": level})
    model = bw.AveragedNaiveBayes().fit(frame, LABELS).model_
    (batch,) = model.batches([{"x": None, "c": None}])
    found = empty_columns(model, batch)
    assert set(found.outcomes) | set(found.left_out) == {"x", "c"}
    assert "c" in found.outcomes


def test_a_model_of_the_state_alone_cannot_say_what_a_column_may_show() -> None:
    class Fitted:
        """A classifier with a schema, but without a distribution of its columns."""

        schema = model_of("normal", NUMBERS["normal"]).schema
        classes = model_of("normal", NUMBERS["normal"]).classes

        def batches(self, table: Any) -> Any:
            return model_of("normal", NUMBERS["normal"]).batches(table)

    with pytest.raises(FitError, match="not a model of the columns"):
        next_test_for(Fitted(), {"z": 0.1}, COSTS)
