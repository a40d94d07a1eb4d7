"""Active learning: the prior answers first, undo is exact, and asking beats guessing."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import bayeswise as bw
from bayeswise.acquisition import LearningCurves
from bayeswise.acquisition.uncertainty import entropy, least_confident, margin
from bayeswise.models.files import bytes_of
from bayeswise.tables.schema.overrides import SchemaOverrides

ROWS = [{"x": float(x), "c": c} for x, c in zip([0, 1, 2, 8, 9, 10], "ppqqrr", strict=True)]
KINDS = {"x": "number", "c": "category"}


def learner(**words: Any) -> bw.ActiveLearner:
    """Without chance by default."""
    how: dict[str, Any] = {"random_share": 0.0, "warm_up": False, **words}
    return bw.ActiveLearner.over(ROWS, target="y", classes=["a", "b"], kinds=KINDS, **how)


@pytest.mark.parametrize("average", [False, True])
def test_an_empty_start_is_answered_by_the_prior(average: bool) -> None:
    assert learner(average=average).posterior() == pytest.approx(np.full((6, 2), 0.5))
    assert learner(average=average).query()[0].row == 0


def test_the_most_uncertain_row_has_the_largest_entropy() -> None:
    posterior = np.array([[0.9, 0.1], [0.5, 0.5], [0.7, 0.3]])
    for score in (entropy, margin, least_confident):
        assert np.argmax(score(posterior)) == 1


@pytest.mark.parametrize("average", [False, True])
def test_undo_is_exact_and_the_row_can_be_queried_again(average: bool) -> None:
    asking = learner(average=average).teach(0, "a").teach(5, "b")
    before = bytes_of(asking.model)
    asking.teach(3, "b").undo()
    assert bytes_of(asking.model) == before
    assert 3 in {query.row for query in asking.query(n=6)}
    assert 0 not in {query.row for query in asking.query(n=6)}
    assert bytes_of(asking.undo().undo().model) == bytes_of(learner(average=average).model)


def test_a_taught_model_is_the_model_fitted_to_the_labels() -> None:
    asking = learner().teach(0, "a").teach(5, "b").teach(2, "a")
    again = learner().teach(2, "a").teach(0, "a").teach(5, "b")
    assert bytes_of(asking.model) == bytes_of(again.model)


def test_the_expected_saving_is_that_of_refitting_with_each_answer() -> None:
    costs = {"act": {"a": 0.0, "b": 10.0}, "wait": {"a": 1.0, "b": 0.0}}
    asking = learner(costs=costs, strategy="expected cost").teach(0, "a").teach(5, "b")
    found = {query.row: query.score for query in asking.query(n=4)}
    table = np.array([[0.0, 10.0], [1.0, 0.0]])
    now = (asking.posterior() @ table.T).min(axis=1).mean()
    for row, score in found.items():
        after = 0.0
        for k, label in enumerate("ab"):
            tried = learner().teach(0, "a").teach(5, "b").teach(row, label)
            after += asking.posterior()[row, k] * (tried.posterior() @ table.T).min(axis=1).mean()
        assert score == pytest.approx(now - after, rel=1e-10, abs=1e-12)
    assert not asking.worth_asking(price=1e9)


def test_queries_say_why_and_bad_labels_are_refused() -> None:
    asking = learner().teach(0, "a").teach(5, "b")
    assert "two most probable classes" in asking.query()[0].why
    for words in ((0, "a"), (99, "a"), (1, "z")):
        with pytest.raises(bw.UsageError):
            asking.teach(*words)
    with pytest.raises(bw.UsageError, match="strategy"):
        learner(strategy="guess")
    with pytest.raises(bw.UsageError, match="take back"):
        learner().undo()


def test_any_row_is_drawn_until_each_class_has_three_labels_or_six_per_class_are_known() -> None:
    rows = [{"x": float(k)} for k in range(30)]
    asking = bw.ActiveLearner.over(rows, "y", ["a", "b"], kinds={"x": "number"}, random_share=0.0)
    assert "as long as a class has fewer than 3 labels" in asking.query()[0].why
    for row, label in enumerate("aababa"):  # a, a, b, a, b, a: b has two
        asking.teach(row, label)
    assert asking.is_warming_up and asking.query()[0].chance == pytest.approx(1 / 24)
    assert not asking.teach(6, "b").is_warming_up and asking.query()[0].chance == 1.0
    assert bytes_of(asking.model) and not asking.is_warming_up  # labels that are merged count as well
    assert asking.undo().is_warming_up
    for row in range(6, 12):
        asking.teach(row, "a")
    assert asking.n_labels == 12 and not asking.is_warming_up  # b is rare: enough of chance


def test_rows_drawn_by_chance_do_not_say_that_asking_is_not_worth_it() -> None:
    truth = ["a", "b"] * 30
    generator = np.random.default_rng(2)
    rows = [{"x": generator.normal() + 2.0 * (label == "b")} for label in truth]
    sessions = [
        bw.ActiveLearner.over(rows, "y", ["a", "b"], kinds={"x": "number"}, random_share=share) for share in (0.0, 1.0)
    ]
    for row in range(8):
        for session in sessions:
            session.teach(row, truth[row])
    certain, lucky = sessions
    best = certain.saving(certain.query()[0].row)
    for price in (best - 1e-9, best + 1e-9):
        assert certain.worth_asking(price) == lucky.worth_asking(price) == (price < best)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"random_share": 1.5}, r"random_share is 1\.5"),
        ({"random_share": "some"}, "random_share is 'some'"),
        ({"n_candidates": 0}, "n_candidates is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"kindz": {}}, "no option 'kindz'"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(words: dict[str, Any], said: str) -> None:
    with pytest.raises(bw.UsageError, match=said) as refused:
        learner(**words)
    assert "Fix: " in str(refused.value)


def test_rows_and_labels_that_are_not_there_are_refused_by_name() -> None:
    asking = learner().teach(0, "a").teach(5, "b")
    for refused in (lambda: asking.teach(0.5, "a"), lambda: asking.saving(6), lambda: asking.saving(-1)):
        with pytest.raises(bw.UsageError, match="not in the pool"):
            refused()
    with pytest.raises(bw.UsageError, match="n is 0"):
        asking.query(0)
    with pytest.raises(bw.UsageError, match="the oracle has 2 labels, the pool 6 rows"):
        asking.simulate(["a", "b"], 1)


def test_a_learner_without_rows_says_so_until_it_looks_at_some() -> None:
    rows = [{"x": float(k), "y": "ab"[k > 4]} for k in range(10)]
    asking = bw.ActiveLearner(bw.fit(rows, target="y", kinds={"x": "number"}, model="naive-bayes"))
    assert repr(asking) == "ActiveLearner(0 of 0 rows labelled, margin)" and asking.n_open == 0
    for refused in (asking.query, asking.posterior, lambda: asking.teach(0, "a"), lambda: asking.worth_asking(1.0)):
        with pytest.raises(bw.UsageError, match=r"no rows to ask about. Fix: give pool=rows, or call look_at\(rows\)"):
            refused()
    assert asking.look_at([{"x": 4.5}]).query()[0].row == 0


def test_on_iris_asking_needs_fewer_labels_than_drawing_at_random() -> None:
    X, y = load_iris(return_X_y=True)
    names = [f"x{k}" for k in range(X.shape[1])]
    table = {**{name: X[:, k] for k, name in enumerate(names)}, "species": y}
    curves = bw.learning_curves(
        table, "species", n_labels=40, n_seeds=6, test_share=0.0, kinds=dict.fromkeys(names, "number")
    )
    assert curves.accuracy["margin"].shape == (6, 40)
    for for_good in (True, False):
        needed = curves.mean_labels_to_reach(0.99, for_good=for_good)
        assert needed["margin"] < needed["random"]
    frame = curves.to_columns()
    assert len(frame["accuracy"]) == 80 and set(frame["strategy"]) == {"margin", "random"}


def test_a_curve_is_good_from_the_label_on_after_which_it_falls_no_more() -> None:
    accuracy = np.array([[0.5, 1.0, 0.5, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0], [0.5, 0.5, 0.5, 0.5, 0.5]])
    curves = LearningCurves("t", {"margin": accuracy}, np.ones(3), 9)
    assert curves.labels_to_reach(0.99)["margin"].tolist() == [4, 1, 6]
    assert curves.labels_to_reach(0.99, for_good=False)["margin"].tolist() == [2, 1, 6]
    assert "margin 3.7" in repr(curves)


def test_a_learning_curve_can_be_drawn() -> None:
    import matplotlib

    matplotlib.use("Agg")
    accuracy = {"margin": np.linspace(0.4, 0.9, 20).reshape(2, 10), "random": np.linspace(0.3, 0.8, 20).reshape(2, 10)}
    display = LearningCurves("t", accuracy, np.array([0.9, 0.95]), 30).display().plot()
    assert display.ax_ is not None
    assert [text.get_text().partition(":")[0] for text in display.ax_.get_legend().get_texts()] == ["margin", "random"]
    assert len(display.ax_.collections) == 2  # a band for each
    assert len(display.to_frame()) == 20
    matplotlib.pyplot.close(display.figure_)


def test_an_oracle_must_answer_for_every_row() -> None:
    with pytest.raises(bw.UsageError, match="row 2"):
        bw.learning_curves([{"x": 1.0, "y": "a"}, {"x": 2.0, "y": None}, {"x": 3.0, "y": "b"}], "y")
    with pytest.raises(bw.UsageError, match="test_share"):
        bw.learning_curves([{"x": 1.0, "y": "a"}], "y", test_share=1.0)


def test_of_equally_uncertain_rows_the_one_without_missing_cells_is_queried() -> None:
    """Both rows lie in the middle; a label teaches about two columns of the second, and about one of the first."""
    rows = {"x": [0.0, 0.1, 1.0, 0.9, 0.5, 0.5], "z": [0.0, 0.1, 1.0, 0.9, None, 0.5]}
    how: dict[str, Any] = {"random_share": 0.0, "warm_up": False, "kinds": dict.fromkeys(rows, "number")}
    learner = bw.ActiveLearner.over(rows, "y", ["low", "high"], **how)
    for row, label in enumerate(["low", "low", "high", "high"]):
        learner.teach(row, label)
    assert learner.query()[0].row == 5
    assert [query.row for query in learner.query(2)] == [5, 4]


@pytest.mark.parametrize("function", [bw.ActiveLearner.over, bw.learning_curves])
def test_the_signature_names_every_override_of_columns(function: Any) -> None:
    found = inspect.signature(function).parameters
    assert {*SchemaOverrides.__annotations__} <= {*found}
    assert all(each.kind is not inspect.Parameter.VAR_KEYWORD for each in found.values())
