"""Active learning: the prior answers first, undo is exact, and asking beats guessing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import bayeswise as bw
from bayeswise.acquisition.strategies import entropy, least_confident, margin
from bayeswise.models.files import bytes_of

ROWS = [{"x": float(x), "c": c} for x, c in zip([0, 1, 2, 8, 9, 10], "ppqqrr", strict=True)]
KINDS = {"x": "number", "c": "category"}


def learner(**words: Any) -> bw.ActiveLearner:
    return bw.ActiveLearner.over(ROWS, target="y", classes=["a", "b"], kinds=KINDS, **words)


@pytest.mark.parametrize("average", [False, True])
def test_an_empty_start_is_answered_by_the_prior(average: bool) -> None:
    assert learner(average=average).posterior() == pytest.approx(np.full((6, 2), 0.5))
    assert learner(average=average).query()[0].row == 0


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
    asking = learner().teach(0, "a")
    assert "two most probable classes" in asking.query()[0].why
    for words in ((0, "a"), (99, "a"), (1, "z")):
        with pytest.raises(bw.UsageError):
            asking.teach(*words)
    with pytest.raises(bw.UsageError, match="strategy"):
        learner(strategy="guess")
    with pytest.raises(bw.UsageError, match="take back"):
        learner().undo()


def labels_to_reach(share: float, table: Any, strategy: str, seed: int, average: bool) -> int:
    X, y = table
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order], y[order]
    frame = {f"x{k}": X[:, k] for k in range(X.shape[1])}
    kinds = dict.fromkeys(frame, "number")
    asking = bw.ActiveLearner.over(
        frame, "y", sorted(set(y.tolist())), strategy=strategy, seed=seed, average=average, kinds=kinds
    )
    full = (bw.NaiveBayes().fit(X, y).predict(X) == y).mean()
    for n in range(1, 120):
        row = asking.query()[0].row
        asking.teach(row, int(y[row]))
        if (np.argmax(asking.posterior(), axis=1) == y).mean() >= share * full:
            return n
    return 120


def test_on_iris_asking_needs_fewer_labels_than_drawing_at_random() -> None:
    table = load_iris(return_X_y=True)
    asked, drawn = (
        np.mean([labels_to_reach(0.97, table, strategy, seed, True) for seed in range(10)])
        for strategy in ("margin", "random")
    )
    assert asked < drawn
