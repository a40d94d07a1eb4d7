"""Active learning: the prior answers first, undo is exact, and asking beats guessing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import bayeswise as bw
from bayeswise.acquisition import LearningCurves
from bayeswise.acquisition.strategies import entropy, least_confident, margin
from bayeswise.models.files import bytes_of

ROWS = [{"x": float(x), "c": c} for x, c in zip([0, 1, 2, 8, 9, 10], "ppqqrr", strict=True)]
KINDS = {"x": "number", "c": "category"}


def learner(**words: Any) -> bw.ActiveLearner:
    return bw.ActiveLearner.over(ROWS, target="y", classes=["a", "b"], kinds=KINDS, **words)


@pytest.mark.parametrize("average", [False, True])
def test_an_empty_start_is_answered_by_the_prior(average: bool) -> None:
    assert learner(average=average).posterior() == pytest.approx(np.full((6, 2), 0.5))
    assert learner(average=average, warm_up=False).query()[0].row == 0


def test_the_most_uncertain_row_has_the_largest_entropy() -> None:
    posterior = np.array([[0.9, 0.1], [0.5, 0.5], [0.7, 0.3]])
    for score in (entropy, margin, least_confident):
        assert np.argmax(score(posterior)) == 1


@pytest.mark.parametrize("average", [False, True])
def test_undo_is_exact_and_the_row_can_be_asked_again(average: bool) -> None:
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
    assert "as long as a class has no label yet" in learner().teach(0, "a").query()[0].why
    asking = learner().teach(0, "a").teach(5, "b")
    assert "two most probable classes" in asking.query()[0].why
    for words in ((0, "a"), (99, "a"), (1, "z")):
        with pytest.raises(bw.UsageError):
            asking.teach(*words)
    with pytest.raises(bw.UsageError, match="strategy"):
        learner(strategy="guess")
    with pytest.raises(bw.UsageError, match="take back"):
        learner().undo()


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
