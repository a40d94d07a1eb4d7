"""A left-out posterior is that of a model that never saw the row: whatever rows select is selected without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.evaluation.evaluate import compare, evaluate
from bayeswise.evaluation.reliability import calibrated
from bayeswise.foundation.errors import FitError, TooLargeError
from bayeswise.models.files import bytes_of
from bayeswise.models.held_out import held_out
from bayeswise.posteriors.calibration import turns
from bayeswise.tables.source import open_source

Table = dict[str, list[Any]]

MODELS: dict[str, dict[str, Any]] = {
    "naive Bayes": {"model": "naive-bayes"},
    "families by evidence": {"model": "naive-bayes", "families": "select"},
    "averaged": {"model": "averaged"},
    "averaged, families by evidence": {"model": "averaged", "families": "select"},
    "gaussian": {"model": "gaussian"},
    "tan": {"model": "tan"},
    "aode": {"model": "aode"},
    "k-dependence": {"model": "k-dependence"},
    "markov-blanket": {"model": "markov-blanket"},
    "logistic": {"model": "logistic"},
    "logistic, scale by evidence": {"model": "logistic", "scale": "evidence"},
}
every_model = pytest.mark.parametrize("settings", MODELS.values(), ids=MODELS)
selecting = pytest.mark.parametrize(
    "settings", [MODELS[name] for name in ("families by evidence", "tan", "k-dependence", "markov-blanket")], ids=str
)


def table_of(seed: int, n_rows: int = 40, categories: bool = True) -> Table:
    """A positive number and a normal one that tell the classes apart, and two categories that depend on each other."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 3, n_rows)
    table: Table = {
        "waiting": (generator.exponential(1.0, n_rows) + y).tolist(),
        "height": (generator.normal(0.0, 1.0, n_rows) + 2.0 * y).tolist(),
    }
    if categories:
        a = np.where(generator.random(n_rows) < 0.6, y, generator.integers(0, 3, n_rows))
        table["a"] = [f"a{k}" for k in a]
        table["b"] = [f"b{k}" for k in np.where(generator.random(n_rows) < 0.6, a, generator.integers(0, 3, n_rows))]
    return {**table, "y": [f"k{k}" for k in y]}


def rows_at(table: Table, rows: Any) -> Table:
    return {name: [cells[row] for row in rows] for name, cells in table.items()}


def noise(seed: int, n_rows: int, n_columns: int, numbers: bool) -> Table:
    """Columns and classes that have nothing to do with each other; there are as many rows of each class."""
    generator = np.random.default_rng(seed)
    columns: list[list[Any]] = [
        generator.normal(size=n_rows).tolist() if numbers else [f"v{k}" for k in generator.integers(0, 2, n_rows)]
        for _ in range(n_columns)
    ]
    return {
        **{f"x{k}": column for k, column in enumerate(columns)},
        "y": generator.permutation(["no", "yes"] * (n_rows // 2)).tolist(),
    }


# -- folds and single rows are fits of the others ---------------------------------------------------------------


@every_model
def test_a_fold_is_a_fit_of_the_other_folds(settings: dict[str, Any]) -> None:
    table = table_of(1, categories=settings.get("model") != "gaussian")
    model = bw.fit(table, "y", **settings)
    found = held_out(model, table, cv=4)
    folds = turns(found.truth, 4)
    for fold in range(4):
        inside, outside = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        again = bw.fit(rows_at(table, outside), "y", **settings)
        assert again.classes == model.classes
        expected = again.predict_proba(rows_at(table, inside))
        np.testing.assert_allclose(found.posterior[inside], expected, rtol=1e-9, atol=1e-12)


@selecting
def test_a_row_left_out_is_a_fit_of_the_others(settings: dict[str, Any]) -> None:
    table = table_of(2)
    model = bw.fit(table, "y", **settings)
    assert model.selected_by_rows
    left_out, log_evidence = model.leave_one_out(table), model.leave_one_out_evidence(table)
    for row in range(0, 40, 3):
        again = bw.fit(rows_at(table, [k for k in range(40) if k != row]), "y", **settings)
        np.testing.assert_allclose(left_out[row], again.predict_proba(rows_at(table, [row]))[0], rtol=1e-9, atol=1e-12)
        assert log_evidence[row] == pytest.approx(again.log_evidence(rows_at(table, [row]))[0], abs=1e-9)


@pytest.mark.parametrize("scale", [1.0, "evidence", "cv"])
def test_a_row_left_out_of_a_regression_is_a_fit_of_the_others(scale: float | str) -> None:
    table = table_of(2, n_rows=24)
    left_out = bw.fit(table, "y", model="logistic", scale=scale).leave_one_out(table)
    for row in range(0, 24, 5):
        again = bw.fit(rows_at(table, [k for k in range(24) if k != row]), "y", model="logistic", scale=scale)
        np.testing.assert_allclose(left_out[row], again.predict_proba(rows_at(table, [row]))[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["tan", "markov-blanket"])
def test_an_estimator_leaves_rows_out_as_its_model_does(name: str) -> None:
    table = table_of(3, categories=False)
    X, y = np.column_stack([table["waiting"], table["height"]]), np.array(table["y"])
    estimator = bw.NetworkClassifier(name).fit(X, y)
    found = estimator.leave_one_out(X, y)
    for row in (0, 17, 39):
        others = np.arange(40) != row
        again = bw.NetworkClassifier(name).fit(X[others], y[others])
        np.testing.assert_allclose(found[row], again.predict_proba(X[[row]])[0], rtol=1e-9)


def test_a_level_that_only_one_fold_shows_leaves_the_others_in_their_places() -> None:
    """Without the row of 'a' the levels 'b' and 'c' are the first and second that the other rows show."""
    table = {"x": ["a", *("b", "c") * 10], "y": ["no", *("no", "yes") * 10]}
    found = held_out(bw.fit(table, "y", model="naive-bayes"), table, cv=3)
    folds = turns(found.truth, 3)
    rare = folds == folds[0]
    again = bw.fit(rows_at(table, np.flatnonzero(~rare)), "y", model="naive-bayes")
    np.testing.assert_allclose(found.posterior[rare], again.predict_proba(rows_at(table, np.flatnonzero(rare))))


def test_chunks_with_the_same_counts_are_other_rows_all_the_same() -> None:
    table = {"x": ["a", "b"] * 8, "y": ["u", "u", "v", "v"] * 4}
    model, chunks = bw.fit(table, "y", model="naive-bayes"), open_source(table, chunk_rows=8)
    np.testing.assert_array_equal(held_out(model, chunks, cv=2).posterior, held_out(model, table, cv=2).posterior)


def test_cuts_that_were_given_are_not_found_again() -> None:
    table = table_of(4)
    cuts = {"waiting": [1.0], "height": [1.0, 3.0]}
    model = bw.fit(table, "y", model="tan", cuts=cuts)
    assert model.given_cuts == ("height", "waiting") and model.selected_by_rows == ()
    rest = bw.fit(rows_at(table, range(1, 40)), "y", model="tan", cuts=cuts)
    np.testing.assert_allclose(model.leave_one_out(table)[0], rest.predict_proba(rows_at(table, [0]))[0], rtol=1e-9)
    one_of_two = bw.fit(table, "y", model="tan", cuts={"height": [1.0]})
    assert one_of_two.selected_by_rows == ("cuts",)


def test_a_merged_model_has_cuts_that_rows_selected_if_one_of_both_has() -> None:
    table = table_of(5)
    first = bw.fit(rows_at(table, range(20)), "y", model="tan")
    second = bw.fit(rows_at(table, range(20, 40)), "y", model="tan", cuts=first.cuts)
    assert second.given_cuts and not first.given_cuts
    one, other = first.merge(second), second.merge(first)
    assert bytes_of(one) == bytes_of(other) and one.selected_by_rows == ("cuts",)


# -- what cannot be had is refused ---------------------------------------------------------------------------------


def test_rows_are_left_out_of_all_that_selected_the_cuts_and_not_of_some() -> None:
    table = table_of(6)
    model = bw.fit(table, "y", model="tan")
    with pytest.raises(FitError, match="more rows than these selected the cuts of the model"):
        model.leave_one_out(rows_at(table, range(30)))
    other = bw.fit(table_of(7), "y", model="tan")
    with pytest.raises(FitError, match="cannot all have been learned"):
        other.leave_one_out(table)


def test_a_table_too_large_for_a_fit_of_each_row_is_refused_and_folds_serve() -> None:
    table = noise(0, 4_000, 20, numbers=True)
    model = bw.fit(table, "y", model="tan")
    with pytest.raises(TooLargeError, match=r"4,000 rows cannot .* rows select the cuts .* Fix: use folds"):
        model.leave_one_out(table)
    assert evaluate(model, table, cv=2).how == "2 folds"
    assert calibrated(model, table, method="platt").how == "10 folds"
    X = np.column_stack([table[f"x{k}"] for k in range(20)])
    decider = bw.DecisionMaker(bw.NetworkClassifier("tan"), {"go": {"no": 1, "yes": 0}, "stay": {"no": 0, "yes": 1}})
    decider.set_params(calibrate="platt", cv=2).fit(X, table["y"])
    assert decider.predict_proba(X[:5]).shape == (5, 2)


def test_a_fold_of_a_calibrated_model_is_calibrated_without_it() -> None:
    table = table_of(8)
    model = calibrated(bw.fit(table, "y", model="naive-bayes"), table, method="temperature")
    found = held_out(model, table, cv=4)
    folds = turns(found.truth, 4)
    for fold in range(4):
        inside, others = np.flatnonzero(folds == fold), rows_at(table, np.flatnonzero(folds != fold))
        again = calibrated(bw.fit(others, "y", model="naive-bayes"), others, method="temperature")
        np.testing.assert_allclose(found.posterior[inside], again.predict_proba(rows_at(table, inside)), rtol=1e-9)
    with pytest.raises(FitError, match="used up the rows"):
        evaluate(model, table, cv="loo")


def test_a_fitted_model_in_a_wrapper_is_not_taken_for_one_that_leaves_rows_out() -> None:
    table = table_of(9, categories=False)
    zero_one = bw.Costs.zero_one(["k0", "k1", "k2"])
    decider = bw.DecisionMaker(bw.fit(table, "y", model="naive-bayes"), zero_one)
    with pytest.raises(FitError, match="no row is left out"):
        evaluate(decider, table, targets=table["y"], cv=5)


def test_weights_do_not_say_which_rows_made_them_but_how_many_there_were() -> None:
    table = table_of(10)
    model = bw.fit(table, "y", model="logistic")
    with pytest.raises(FitError, match="not those that the model has learned: the weight of its classes is"):
        evaluate(model, rows_at(table, range(30)), cv=5)
    table["height"][3] = None
    assert len(evaluate(bw.fit(table, "y", model="logistic", missing="mean"), table, cv=5).truth) == 40
    wide = noise(0, 1_000, 60, numbers=True)
    with pytest.raises(TooLargeError, match=r"rows select the weights .* Fix: use folds"):
        evaluate(bw.fit(wide, "y", model="logistic"), wide, cv="loo")


# -- noise is not learnable ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", [True, False], ids=["numbers", "categories"])
@every_model
def test_the_interval_of_folds_holds_chance_on_noise(settings: dict[str, Any], numbers: bool) -> None:
    """24 tables of 60 rows: nearly all intervals hold 1/2, and the mean error of all tables is near it."""
    if not numbers and (settings.get("model") == "gaussian" or "families" in settings):
        pytest.skip("about numbers only")
    intervals = []
    for seed in range(24):
        table = noise(seed, 60, 5, numbers)
        intervals.append(evaluate(bw.fit(table, "y", **settings), table, cv=5).cost_per_case)
    covered = [each.low <= 0.5 <= each.high for each in intervals]
    assert sum(covered) >= 22, [str(each) for each in intervals]
    assert np.mean([each.mean for each in intervals]) == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize(("name", "cv"), [*(("naive Bayes", cv) for cv in (2, 5, 10, 20, "loo")), ("averaged", "loo")])
def test_intervals_of_200_tables_of_noise_hold_chance_as_often_as_they_say(name: str, cv: int | str) -> None:
    """One column of two values is the worst case: each fold is predicted by the majority of the others.

    Leave-one-out errs in all rows where the others tie: its own interval holds 1/2 in 120 of 200 tables, or fewer.
    """
    covered = 0
    for seed in range(200):
        table = noise(seed, 40, 1 + seed % 2, numbers=seed % 4 == 3)
        found = evaluate(bw.fit(table, "y", **MODELS[name]), table, cv=cv).cost_per_case
        covered += found.low <= 0.5 <= found.high
    assert covered >= 190 - 2 * 3.1  # 95 %, less two standard errors


@pytest.mark.parametrize("cv", [5, "loo"])
def test_the_difference_of_two_models_of_noise_holds_0(cv: int | str) -> None:
    covered = 0
    for seed in range(50):
        table = noise(seed, 40, 3, numbers=bool(seed % 2))
        one, other = (
            evaluate(bw.fit(table, "y", **MODELS[name]), table, cv=cv) for name in ("naive Bayes", "averaged")
        )
        difference = compare(one, other).difference
        covered += difference.low <= 0.0 <= difference.high
    assert covered >= 45


def test_what_no_model_has_a_part_in_has_the_interval_of_independent_rows() -> None:
    table = noise(0, 40, 3, numbers=True)
    model = bw.fit(table, "y", model="naive-bayes")
    folds, new = evaluate(model, table, cv=5), evaluate(model, table)
    assert folds.always == new.always and folds.perfect == new.perfect
    assert folds.interval == "95 % interval, corrected for shared training rows" and new.interval == "95 % interval"


@pytest.mark.parametrize(("name", "numbers"), [("k-dependence", False), ("markov-blanket", False), ("tan", True)])
def test_many_columns_of_noise_promise_nothing(name: str, numbers: bool) -> None:
    """A graph or cuts that had seen the left-out rows would find 13 to 20 % of errors here."""
    errors = []
    for seed in range(3):
        table = noise(seed, 60, 100, numbers) if numbers else noise(seed, 100, 40, numbers)
        errors.append(evaluate(bw.fit(table, "y", model=name), table, cv=10).cost_per_case.mean)
    assert 0.4 <= np.mean(errors) <= 0.6
