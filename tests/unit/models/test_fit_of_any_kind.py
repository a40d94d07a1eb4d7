"""`bw.fit(table, target=..., model=...)`: every kind of model from a table with the target inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import (
    BayeswiseError,
    KindError,
    MissingCellError,
    NonFiniteError,
    NotMergedError,
    ParameterError,
    SchemaError,
    SupportError,
)
from bayeswise.models.files import bytes_of
from bayeswise.models.regression.glm import IteratedModel
from bayeswise.models.regression.linear import LinearModel


def a_table(seed: int = 0, n: int = 80) -> dict[str, list[Any]]:
    """Two numbers, a category, a class that depends on them, and a number that is nearly linear in them."""
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 3, n)
    height, width = generator.normal(170.0, 10.0, n), generator.normal(3.0, 0.5, n)
    score = 0.1 * (height - 170.0) + width - 3.0 + 0.5 * codes
    return {
        "height": height.tolist(),
        "width": width.tolist(),
        "colour": [("blue", "green", "red")[code] for code in codes],
        "class": np.where(score + generator.logistic(size=n) > 0.5, "yes", "no").tolist(),
        "price": (100.0 + 20.0 * score + generator.normal(0.0, 2.0, n)).tolist(),
    }


def rows_of(table: dict[str, list[Any]], rows: slice) -> dict[str, list[Any]]:
    return {name: cells[rows] for name, cells in table.items()}


# -- the same answers as the estimators -----------------------------------------------------------------------


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame], ids=["dict", "pandas", "polars"])
def test_a_table_with_the_target_inside_teaches_what_x_and_y_teach(make: Any) -> None:
    table = a_table()
    frame = pd.DataFrame(table)
    X = frame[["height", "width", "colour"]]
    linear = bw.fit(make(table), target="price", model="linear", scale=2.0, ignore=["class"])
    apart = bw.LinearRegression(scale=2.0).fit(X, frame["price"])
    assert np.array_equal(linear.weights, apart.coef_)
    assert np.array_equal(linear.predict(make(table)), apart.predict(X))
    logistic = bw.fit(make(table), target="class", model="logistic", ignore=["price"])
    assert np.array_equal(
        logistic.predict_proba(make(table)), bw.LogisticRegression().fit(X, frame["class"]).predict_proba(X)
    )
    gaussian = bw.fit(make(table), target="class", model="gaussian", ignore=["price", "colour"], covariance="shared")
    two = X[["height", "width"]]
    assert np.array_equal(
        gaussian.predict_proba(make(table)),
        bw.GaussianBayes(covariance="shared").fit(two, frame["class"]).predict_proba(two),
    )
    assert set(bw.fit(make(table), target="class", model="averaged").relevance) == {
        "height",
        "width",
        "colour",
        "price",
    }


def test_every_likelihood_learns_from_a_table() -> None:
    table = a_table()
    table["count"] = [max(0, round(price / 10)) for price in table["price"]]
    for likelihood in ("student-t", "laplace", "poisson", "exponential"):
        positive = {**table, "count": [count + 1 for count in table["count"]]}
        model = bw.fit(positive, target="count", model="linear", likelihood=likelihood, ignore=["class"])
        assert isinstance(model, IteratedModel) and model.certificate.converged
        assert np.corrcoef(model.predict(positive), positive["count"])[0, 1] > 0.8


def test_a_file_of_each_kind_answers_as_the_model_did(tmp_path: Path) -> None:
    table = a_table()
    for target, model, ignore in (
        ("class", "gaussian", ["colour", "price"]),
        ("class", "logistic", ["price"]),
        ("price", "linear", ["class"]),
    ):
        fitted = bw.fit(table, target=target, model=model, ignore=ignore)
        fitted.save(tmp_path / "m")
        again = bw.load(tmp_path / "m")
        assert bytes_of(again) == bytes_of(fitted)
        assert list(again.predict(table)) == list(fitted.predict(table))


@pytest.mark.parametrize("model", ["naive-bayes", "gaussian", "logistic", "linear"])
def test_progress_is_reported_in_rows(model: str) -> None:
    seen: list[int] = []
    target = "price" if model == "linear" else "class"
    bw.fit(a_table(), target=target, model=model, ignore=["colour"], progress=seen.append)
    assert sum(seen) == 80


# -- rows come and go -----------------------------------------------------------------------------------------


def test_a_linear_model_forgets_to_the_last_byte_and_adds_up() -> None:
    table = a_table()
    table["colour"][3] = "violet"  # a level of one row
    whole = bw.fit(table, target="price", model="linear", ignore=["class"])
    some = rows_of(table, slice(0, 10))
    never = bw.fit(rows_of(table, slice(10, None)), target="price", model="linear", ignore=["class"])
    assert bytes_of(whole.forget(some)) == bytes_of(never)
    assert bytes_of(never.learn(some)) == bytes_of(whole)
    first = bw.fit(some, target="price", model="linear", ignore=["class"])
    assert bytes_of(first.merge(never)) == bytes_of(whole)
    with pytest.raises(NotMergedError, match="cannot all have been learned"):
        never.forget({**some, "price": [1e9] * 10})
    with pytest.raises(KindError, match="cannot be merged"):
        whole.merge(bw.fit(table, target="price", model="linear", prior="laplace", ignore=["class"]))


# -- why ------------------------------------------------------------------------------------------------------


def test_what_the_columns_add_is_the_score() -> None:
    table = a_table()
    row = {"height": 181.5, "width": 2.75, "colour": "red"}
    linear = bw.fit(table, target="price", model="linear", ignore=["class"])
    why = linear.explain(row)
    assert why.score == pytest.approx(linear.predict([row])[0], rel=1e-14)
    weights = linear.features.by_name(linear.weights)
    by_column = {term.column: term.amount for term in why.terms}
    assert by_column["height"] == pytest.approx(weights["height", None] * (181.5 - np.mean(table["height"])))
    logistic = bw.fit(table, target="class", model="logistic", ignore=["price"])
    account = logistic.explain(row)
    assert account.posterior.tolist() == pytest.approx(logistic.predict_proba([row])[0].tolist(), rel=1e-13)
    doubled = {"x": [0, 1, 2, 3], "n": [1, 2, 4, 8]}
    counts = bw.fit(doubled, target="n", model="linear", likelihood="poisson", prior=None)
    assert counts.explain({"x": 2}).mean == pytest.approx(counts.predict([{"x": 2}])[0])
    assert counts.intercept == pytest.approx(0.0, abs=1e-9)
    assert counts.weights[0] == pytest.approx(np.log(2.0))


@pytest.mark.parametrize("covariance", ["per-class", "shared", "diagonal", "shared-diagonal", "spherical"])
@pytest.mark.parametrize("missing", [None, "width"])
def test_a_gaussian_account_adds_up_to_the_log_joint(covariance: str, missing: str | None) -> None:
    table = a_table()
    model = bw.fit(table, target="class", model="gaussian", ignore=["colour"], covariance=covariance)
    row = {"height": 165.0, "width": 3.5, "price": 80.0}
    row = {name: None if name == missing else value for name, value in row.items()}
    account, batch = model.explain(row), next(model.batches([row]))
    assert account.log_joint.tolist() == pytest.approx(model.log_joint(batch)[0].tolist(), rel=1e-12)
    assert [part.column for part in account.contributions if part.note] == ([missing] if missing else [])


def test_a_student_t_account_adds_up_too() -> None:
    model = bw.fit(a_table(), target="class", model="gaussian", ignore=["colour"], predictive="student-t")
    row = {"height": 150.0, "width": 5.5, "price": 20.0}
    assert model.explain(row).log_joint.tolist() == pytest.approx(
        model.log_joint(next(model.batches([row])))[0].tolist(), rel=1e-12
    )


def test_a_column_that_copies_another_adds_nothing_to_it() -> None:
    generator = np.random.default_rng(1)
    x = generator.normal(size=60)
    label = np.where(x + generator.normal(size=60) > 0, "b", "a").tolist()
    table = {"x": x.tolist(), "copy": (x + 1e-4 * generator.normal(size=60)).tolist(), "y": label}
    model = bw.fit(table, target="y", model="gaussian", covariance="shared")
    said = {weight.column: weight.log_ratio for weight in model.explain({"x": 1.5, "copy": 1.5}).weigh("b").weights}
    assert abs(said["copy"]) < 0.2 * abs(said["x"])


# -- what is refused ------------------------------------------------------------------------------------------


def test_a_number_is_not_a_class_and_a_class_is_not_a_number() -> None:
    table = a_table()
    with pytest.raises(SchemaError, match=r"a measurement with 80 different values.*model='linear'"):
        bw.fit(table, target="price", model="logistic")
    with pytest.raises(SchemaError, match=r"'class' holds text.*model='logistic'"):
        bw.fit(table, target="class", model="linear")
    with pytest.raises(SchemaError, match="holds boolean"):
        bw.fit({"x": [1.0, 2.5, 3.5], "y": [True, False, True]}, target="y", model="linear")
    words = {"colour": table["colour"], "class": table["class"]}
    with pytest.raises(KindError, match=r"takes numbers; other columns are 'colour' \(category\)"):
        bw.fit(words, target="class", model="gaussian")


def test_gaussian_classes_leave_out_what_is_not_a_number_and_say_so() -> None:
    table = a_table()
    with pytest.warns(UserWarning, match=r"left out: 'colour' \(category\)"):
        model = bw.fit(table, target="class", model="gaussian")
    assert "colour" not in model.schema.used and model.schema["colour"].reason == "not a number: category"
    numbers = {name: cells for name, cells in table.items() if name in (*model.schema.used, "class")}
    again = bw.fit(numbers, target="class", model="gaussian")
    assert model.predict_proba(table) == pytest.approx(again.predict_proba(numbers), rel=1e-12)


def test_words_that_mean_nothing_are_refused_by_name() -> None:
    table = a_table()
    with pytest.raises(ParameterError, match=r"there is no model 'logistik'\. Fix: did you mean 'logistic'"):
        bw.fit(table, target="class", model="logistik")
    with pytest.raises(ParameterError, match="smoothing is not a setting of a logistic model"):
        bw.fit(table, target="class", model="logistic", smoothing=1.0)
    with pytest.raises(ParameterError, match="missing is 'level'"):
        bw.fit(table, target="class", model="logistic", missing="level")


def test_a_missing_value_says_what_a_regression_can_do_about_it() -> None:
    table = a_table()
    table["width"][4] = None
    table["colour"][7] = None
    for target, model, ignore in (("class", "logistic", ["price"]), ("price", "linear", ["class"])):
        with pytest.raises(MissingCellError, match=r"'width' is missing \(NaN\) in row 5.*missing='indicator'"):
            bw.fit(table, target=target, model=model, ignore=ignore, missing="error")
        with pytest.raises(MissingCellError, match=r"'colour' is missing \(NaN\) in row 8.*missing='indicator'"):
            bw.fit(table, target=target, model=model, ignore=[*ignore, "width"], missing="error")
        fitted = bw.fit(table, target=target, model=model, ignore=ignore, missing="mean")
        assert len(fitted.predict(table)) == 80
    frame = pd.DataFrame(table)
    for kind, y in ((bw.LinearRegression, "price"), (bw.LogisticRegression, "class")):
        estimator = kind(missing="error")
        with pytest.raises(MissingCellError, match=r"row 5.*missing='indicator'"):
            estimator.fit(frame[["height", "width", "colour"]], frame[y])


def test_rows_without_a_target_are_left_out_and_keep_their_numbers() -> None:
    table = a_table()
    table["price"][0] = None
    model = bw.fit(table, target="price", model="linear", ignore=["class"])
    assert isinstance(model, LinearModel) and model.n_rows == 79
    table["width"][2] = None
    with pytest.raises(MissingCellError, match="row 3"):
        bw.fit(table, target="price", model="linear", ignore=["class"], missing="error")
    table = a_table()
    table["price"] = [None, 5.0, -1.0, *table["price"][3:]]
    with pytest.raises(SupportError, match="row 3 of column 'price' has -1"):
        bw.fit(table, target="price", model="linear", likelihood="poisson", ignore=["class"])
    table["price"][2] = np.inf
    with pytest.raises(NonFiniteError, match="'price' has"):
        bw.fit(table, target="price", model="linear", ignore=["class"])


@pytest.mark.parametrize(
    ("overrides", "what"),
    [
        ({"target": None}, "there is no target"),
        ({"kinds": 3}, "kinds is 3, not a mapping by column"),
        ({"levels": ["S", "M"]}, "levels is \\['S', 'M'\\], not a mapping by column"),
        ({"levels": {"x": []}}, "column 'x' declares no level at all"),
        ({"ignore": 3}, "ignore is 3, not a list of columns"),
        ({"class_prior": 3}, "class_prior is 3"),
        ({"families": 3}, "families is 3"),
        ({"model": "gaussian", "class_prior": [0.5, 0.5]}, "class_prior is"),
    ],
)
def test_a_setting_of_the_wrong_kind_is_refused_by_name(overrides: dict[str, Any], what: str) -> None:
    table = {"x": [1.5, 2.5, 3.5, 4.5], "y": ["a", "a", "b", "b"]}
    with pytest.raises(BayeswiseError, match=what) as refused:
        bw.fit(table, **{"target": "y", "model": "naive-bayes", **overrides})
    assert refused.value.fix


@pytest.mark.parametrize("kind", ["gaussian", "tan", "tree"])
def test_models_that_are_no_sum_over_columns_name_those_that_have_a_nomogram(kind: str) -> None:
    table = {"x": [1.0, 2.0, 3.5, 4.0] * 5, "z": [1.0, 5.0, 2.0, 8.0] * 5, "y": ["a", "b", "a", "b"] * 5}
    model = bw.fit(table, "y", model=kind)
    assert not hasattr(model, "nomogram")
    with pytest.raises(AttributeError, match=r"a nomogram adds up.*Fix: draw that of an additive model"):
        model.nomogram({"x": 1.0, "z": 2.0})
