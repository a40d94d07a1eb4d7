"""Families by column: words counted in columns, families selected by evidence, awkward columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

import bayeswise as bw
from bayeswise.foundation.errors import ParameterError, TooLargeError
from bayeswise.models.files import bytes_of
from bayeswise.models.naive_bayes import MEstimate

COUNTS = np.random.default_rng(3).poisson(0.8, size=(120, 5)).astype(float)
CLASSES = np.random.default_rng(4).integers(0, 3, 120)
EVEN = dict.fromkeys(range(3), 1 / 3)


@pytest.mark.parametrize(
    ("family", "peer"), [("multinomial", MultinomialNB), ("bernoulli", BernoulliNB), ("complement", ComplementNB)]
)
def test_columns_that_count_words_are_one_model_of_words(family: str, peer) -> None:  # type: ignore[no-untyped-def]
    families = {f"x{k}": family for k in range(5)}
    ours = bw.NaiveBayes(families=families, class_prior=EVEN).fit(COUNTS, CLASSES)
    theirs = peer(fit_prior=False).fit(COUNTS, CLASSES)
    assert ours.predict_proba(COUNTS) == pytest.approx(theirs.predict_proba(COUNTS), abs=1e-12)
    account = ours.explain(COUNTS[:1])
    assert np.argmax(account.log_joint) == np.argmax(theirs.predict_proba(COUNTS[:1]))
    assert account.log_odds(0, 1) == pytest.approx(ours.log_odds(COUNTS[:1], 0, 1)[0], abs=1e-12)


def test_a_group_of_words_stands_beside_other_families() -> None:
    rows = [
        {"free": k % 3, "money": k % 2, "hour": 9.5 + k % 5, "from": "abc"[k % 3], "y": "spam" if k % 3 else "ham"}
        for k in range(30)
    ]
    kinds = {"free": "count", "money": "count", "hour": "number"}
    model = bw.fit(
        rows, target="y", kinds=kinds, families={"free": "multinomial", "money": "multinomial"}, model="naive-bayes"
    )
    assert [factor.name for factor in model.factors] == ["multinomial columns", "normal", "categories"]
    left_out = model.leave_one_out(rows)
    refit = bw.fit(
        rows[1:],
        target="y",
        schema=model.schema,
        families={"free": "multinomial", "money": "multinomial"},
        model="naive-bayes",
    )
    assert left_out[0] == pytest.approx(refit.predict_proba(rows[:1])[0], abs=1e-12)


def test_families_are_selected_by_the_evidence_and_say_why() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = np.column_stack(
        [
            rng.normal(y, 1.0),
            rng.lognormal(y, 0.5),
            rng.poisson(2 + 3 * y),
            rng.exponential(1.0 + y),
            rng.geometric(0.2 + 0.3 * y) - 1.0,
        ]
    )
    estimator = bw.NaiveBayes(families="select").fit(X, y)
    chosen = {choice.column: choice.family.name for choice in estimator.selection_.choices}
    assert list(chosen.values()) == ["normal", "log-normal", "poisson", "exponential", "geometric"]
    assert "times as probable as under" in repr(estimator.selection_)


def test_a_class_of_zeros_still_allows_a_one() -> None:
    model = bw.NaiveBayes(families="poisson").fit(np.array([[0.0], [0.0], [3.0], [4.0]]), [0, 0, 1, 1])
    posterior = model.predict_proba([[1.0], [0.0], [9.0]])
    assert np.isfinite(posterior).all() and (posterior > 0).all()


def test_an_exponential_column_of_zeros_has_an_answer() -> None:
    model = bw.NaiveBayes(families="exponential").fit(np.zeros((4, 1)), [0, 0, 1, 1])
    assert model.predict_proba([[0.0], [1.0]]) == pytest.approx(np.full((2, 2), 0.5))


def test_one_column_on_a_scale_of_1e6_does_not_drown_the_others() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 500)
    X = np.column_stack([rng.normal(3.0 * y, 1.0), rng.normal(size=500) * 1e6, rng.normal(1e-3 * y, 1e-3)])
    assert bw.NaiveBayes().fit(X, y).score(X, y) > 0.93


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0, 5.0], [1.0, 6.0], [2.0, 5.0], [2.0, 6.0]]),  # constant within each class
        np.array([[7.0, 7.0]] * 4),  # constant everywhere
        np.array([[1.0, np.nan], [2.0, np.nan], [3.0, 4.0], [4.0, 5.0]]),  # a class without a cell
        np.array([[np.nan, np.nan]] * 4),  # nothing at all
    ],
)
def test_columns_without_spread_or_cells_have_finite_answers(X) -> None:  # type: ignore[no-untyped-def]
    model = bw.NaiveBayes().fit(X, [0, 0, 1, 1])
    posterior = model.predict_proba(np.vstack([X, [[0.0, 1e300]], [[np.nan, -1e-310]]]))
    assert np.isfinite(posterior).all()
    assert posterior.sum(axis=1) == pytest.approx(1.0)


def test_one_row_for_each_class_and_one_class_only_are_legal() -> None:
    assert bw.NaiveBayes().fit([[1.0], [5.0]], ["a", "b"]).predict([[1.5], [4.0]]).tolist() == ["a", "b"]
    assert bw.NaiveBayes().fit([[1.0], [5.0]], ["a", "a"]).predict_proba([[3.0]]).tolist() == [[1.0]]


def test_new_classes_and_levels_may_come_in_any_batch() -> None:
    import pandas as pd

    first = pd.DataFrame({"colour": ["red", "blue"], "size": [1.0, 2.0]})
    second = pd.DataFrame({"colour": ["green", "red"], "size": [9.0, 1.5]})
    stepwise = bw.NaiveBayes().fit(first, ["a", "b"]).partial_fit(second, ["c", "a"])
    at_once = bw.NaiveBayes().fit(pd.concat([first, second]), ["a", "b", "c", "a"])
    assert stepwise.model_ == at_once.model_
    assert stepwise.classes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("weights", [[1, -1, 1, 1], [1, np.nan, 1, 1], [1, np.inf, 1, 1], [0, 0, 0, 0]])
def test_impossible_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(bw.BayeswiseError, match="sample_weight"):
        bw.NaiveBayes().fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1], sample_weight=weights)


@pytest.mark.parametrize("family", ["laplace", "student-t", "gamma"])
def test_families_that_keep_their_values_work_in_memory(family: str) -> None:
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 60)
    X = rng.gamma(2.0, 1.0, size=(60, 1)) + 3.0 * y[:, None]
    estimator = bw.NaiveBayes(families=family).fit(X, y)
    assert estimator.score(X, y) > 0.75
    refit = bw.NaiveBayes(families=family).fit(X[1:], y[1:])
    assert estimator.leave_one_out(X, y)[0] == pytest.approx(refit.predict_proba(X[:1])[0], abs=1e-9)
    assert bytes_of(estimator.forget(X[:1], y[:1]).model_) == bytes_of(refit.model_)


@pytest.mark.parametrize("family", ["laplace", "student-t"])
def test_families_that_keep_their_values_learn_from_files_as_from_memory(family: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "sizes.csv"
    rows = [{"size": k**1.5 % 7.0, "y": "ab"[k % 2]} for k in range(90)]
    path.write_text("size,y\n" + "\n".join(f"{row['size']!r},{row['y']}" for row in rows))
    how = {"families": {"size": family}, "kinds": {"size": "number"}, "model": "naive-bayes"}
    from_file, from_memory = bw.fit(path, "y", **how), bw.fit(rows, "y", **how)
    np.testing.assert_array_equal(from_file.predict_proba(rows), from_memory.predict_proba(rows))


def test_more_different_values_than_fit_into_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayeswise.statistics.numbers.sample.MOST_VALUES", 50)
    rows = [{"size": k + 0.5, "y": "ab"[k % 2]} for k in range(60)]
    with pytest.raises(TooLargeError, match=r"keeps every different value.*Fix: choose a family that sums"):
        bw.fit(rows, "y", model="naive-bayes", families={"size": "laplace"}, kinds={"size": "number"})


# -- where the likelihood has no maximum, its limit serves -------------------------------------------------------------
WITHOUT_A_MAXIMUM = pytest.mark.parametrize("family", ["student-t", "laplace", "gamma", "beta", "log-normal"])


def test_light_tails_make_students_t_the_normal_distribution() -> None:
    """Where the likelihood climbs for ever with the degrees of freedom, their limit is the normal distribution."""
    y = np.repeat([0, 1], 100)
    X = np.tile(np.linspace(-1.5, 1.5, 100), 2)[:, None] + 4.0 * y[:, None]  # uniform: lighter tails than the normal's
    light, normal = (bw.NaiveBayes(families=family).fit(X, y) for family in ("student-t", "normal"))
    np.testing.assert_allclose(light.predict_proba(X), normal.predict_proba(X), rtol=1e-6)
    assert light.score(X, y) == 1.0


def test_students_t_classifies_iris_as_well_as_the_normal_distribution() -> None:
    X, y = load_iris(return_X_y=True)
    assert bw.NaiveBayes(families="student-t").fit(X, y).score(X, y) > 0.94


def test_nearly_equal_values_make_a_gamma_and_a_log_normal_column_a_normal_one() -> None:
    """At a coefficient of variation of 1 in 10,000 skewness is beyond sight."""
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 400)
    X = 1.0 + 1e-4 * (generator.normal(size=(400, 1)) + 2.0 * y[:, None])
    normal = bw.NaiveBayes().fit(X, y).predict_proba(X)
    for family in ("gamma", "log-normal", "beta"):
        scaled = X / 2.0 if family == "beta" else X
        found = bw.NaiveBayes(families=family).fit(scaled, y).predict_proba(scaled)
        np.testing.assert_allclose(found, normal, atol=2e-3)


@WITHOUT_A_MAXIMUM
def test_classes_of_one_value_each_are_distinguished(family: str) -> None:
    X, y = np.repeat([[0.2], [0.3]], 20, axis=0), np.repeat(["a", "b"], 20)
    estimator = bw.NaiveBayes(families=family).fit(X, y)
    assert estimator.predict([[0.2], [0.3], [0.21]]).tolist() == ["a", "b", "a"]
    assert np.isfinite(estimator.predict_proba([[0.25], [0.9]])).all()
    refit = bw.NaiveBayes(families=family).fit(X[1:], y[1:])
    np.testing.assert_allclose(estimator.leave_one_out(X, y)[0], refit.predict_proba(X[:1])[0], rtol=1e-9)


@WITHOUT_A_MAXIMUM
def test_a_class_of_one_value_stands_beside_one_of_many(family: str) -> None:
    many = np.linspace(0.3, 0.9, 20)
    X, y = np.concatenate([np.full(20, 0.2), many])[:, None], np.repeat(["a", "b"], 20)
    assert bw.NaiveBayes(families=family).fit(X, y).score(X, y) == 1.0


@WITHOUT_A_MAXIMUM
def test_a_column_of_one_value_says_nothing(family: str) -> None:
    X, y = np.full((10, 1), 0.5), np.repeat(["a", "b"], [4, 6])
    found = bw.NaiveBayes(families=family).fit(X, y).predict_proba([[0.5], [0.7]])
    np.testing.assert_allclose(found, [[0.4, 0.6], [0.4, 0.6]])


# -- flags -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("values", [("no", "yes"), (False, True), (0, 1), ("0", "1")], ids=str)
def test_a_flag_may_be_called_bernoulli(values: tuple[object, object]) -> None:
    rows = [{"flag": values[k % 3 == 0], "y": "ab"[k % 2]} for k in range(40)]
    flag, category = (
        bw.fit(rows, "y", model="naive-bayes", families=families, kinds=kinds)
        for families, kinds in (({"flag": "bernoulli"}, None), ("auto", {"flag": "category"}))
    )
    np.testing.assert_allclose(flag.predict_proba(rows), category.predict_proba(rows), rtol=1e-12)


def test_a_category_of_three_levels_is_not_a_bernoulli_variable() -> None:
    rows = [{"size": "SML"[k % 3], "y": "ab"[k % 2]} for k in range(30)]
    with pytest.raises(ParameterError, match=r"'size' has 3 levels.*Fix: families=\{'size': 'categorical'\}"):
        bw.fit(rows, "y", model="naive-bayes", families={"size": "bernoulli"})


def test_a_family_for_a_column_that_is_ignored_says_how_to_keep_it() -> None:
    rows = [{"id": k, "size": k % 3, "y": "ab"[k % 2]} for k in range(30)]
    with pytest.raises(ParameterError, match=r"'id' has no family, as it is ignored: .* Fix: kinds="):
        bw.fit(rows, "y", model="naive-bayes", families={"id": "poisson"})


def test_a_family_that_does_not_exist_is_refused_where_no_column_holds_numbers_too() -> None:
    rows = [{"size": "SML"[k % 3], "y": "ab"[k % 2]} for k in range(30)]
    with pytest.raises(ParameterError, match="there is no family 'nomral'"):
        bw.fit(rows, "y", model="naive-bayes", families="nomral")


@pytest.mark.parametrize(
    "options",
    [{}, {"missing": "level"}, {"unseen": "ignore"}, {"smoothing": MEstimate(2.0)}, {"convention": "as-printed"}],
)
def test_columns_answered_together_say_what_each_says_alone(options: dict[str, Any]) -> None:
    rows = [
        {"a": "xy"[k % 2], "b": "uvw"[k % 3], "c": "pq"[k // 3 % 2], "d": None if k % 4 else "z", "t": "ny"[k % 5 % 2]}
        for k in range(30)
    ]
    [scores] = bw.fit(rows, "t", model="naive-bayes", **options).scores
    alone = np.concatenate([table.with_ends() for table in scores.tables])
    np.testing.assert_array_equal(scores.log_table, alone)


def test_columns_are_weighed_together_as_one_by_one() -> None:
    generator = np.random.default_rng(7)
    y = generator.integers(0, 4, 90)
    scale = 1.0 + y[:, None]
    X = np.hstack(
        [
            generator.normal(scale, 1.0, (90, 3)) * [1.0, 1e200, 1e-200],
            generator.exponential(scale, (90, 2)),
            generator.lognormal(scale, 1.0, (90, 2)),
            generator.poisson(scale, (90, 2)),
        ]
    )
    together = bw.NaiveBayes(families="select").fit(X, y).selection_.choices
    for column, choice in enumerate(together):
        alone = bw.NaiveBayes(families="select").fit(X[:, [column]], y).selection_.choices[0]
        assert choice.family == alone.family
        assert choice.log_evidence == pytest.approx(alone.log_evidence, rel=1e-13)


def test_columns_of_0_and_1_are_selected_as_flags() -> None:
    """A density at two points can be larger than their probabilities, and says nothing about flags."""
    generator = np.random.default_rng(6)
    y = generator.random(200) < 0.5
    rows = {
        "flag": (generator.random(200) < 0.1 + 0.3 * y).astype(int).tolist(),
        "visits": generator.poisson(2.0 + y).tolist(),
        "x": generator.normal(size=200).tolist(),
        "y": np.where(y, "yes", "no").tolist(),
    }
    model = bw.fit(rows, "y", model="naive-bayes", families="select", kinds={"flag": "number"})
    assert dict(model.facts().families) == {"flag": "bernoulli", "visits": "poisson", "x": "normal"}
    inferred = bw.fit(rows, "y", model="naive-bayes", families="select")
    assert inferred.facts().families["flag"] == "categorical"
    overridden = bw.fit(rows, "y", model="naive-bayes", kinds={"flag": "number"})
    assert overridden.facts().families["flag"] == "normal"
