"""What is kept up to date label by label equals what the model says when it is asked anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.acquisition.beliefs import BeliefsByClass, beliefs_of
from bayeswise.acquisition.pool import Pool
from bayeswise.acquisition.strategies import UNCERTAINTY
from bayeswise.models.files import bytes_of

CLASSES = ["a", "b", "c"]
CELLS = st.one_of(st.none(), st.floats(-5, 5), st.sampled_from([0.0, 1.0]))


@st.composite
def sessions(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[tuple[int, str] | None]]:
    """A small table, and labels of its rows; None takes the last one back."""
    n_rows = draw(st.integers(2, 12))
    rows = [
        {"x": draw(CELLS), "z": draw(CELLS), "c": draw(st.sampled_from([None, "p", "q", "r"]))} for _ in range(n_rows)
    ]
    order = draw(st.permutations(range(n_rows)))
    labels = [(row, draw(st.sampled_from(CLASSES))) for row in order]
    steps: list[tuple[int, str] | None] = []
    for step in labels:
        steps.append(step)
        if draw(st.integers(0, 3)) == 0:
            steps.append(None)
    return rows, steps


def learner_of(rows: list[dict[str, Any]], strategy: str = "margin") -> bw.ActiveLearner:
    kinds = {"x": "number", "z": "number", "c": "category"}
    return bw.ActiveLearner.over(rows, "y", CLASSES, strategy=strategy, kinds=kinds)


@settings(max_examples=30, deadline=None)
@given(sessions())
def test_beliefs_follow_the_model_through_labels_and_undo(session: Any) -> None:
    rows, steps = session
    learner = learner_of(rows)
    assert isinstance(learner._beliefs, BeliefsByClass)
    for step in steps:
        learner = learner.undo() if step is None else learner.teach(*step)
        anew = learner.model.probability(learner.pool.for_model(learner.model))
        assert learner.posterior() == pytest.approx(anew, rel=1e-9, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(sessions(), st.sampled_from(sorted(UNCERTAINTY)))
def test_the_best_row_is_the_same_with_and_without_the_shortcut(session: Any, strategy: str) -> None:
    rows, steps = session
    learner = learner_of(rows, strategy)
    for step in steps[:-1]:
        learner = learner.undo() if step is None else learner.teach(*step)
        if not learner.n_open:
            continue
        best = learner.query()[0]
        scores = UNCERTAINTY[strategy](learner.posterior()[np.flatnonzero(learner._is_open)])
        assert best.score == pytest.approx(scores.max(), rel=1e-9, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(sessions())
def test_a_session_taken_up_again_is_the_same_to_the_last_byte(session: Any) -> None:
    rows, steps = session
    learner = learner_of(rows)
    for step in steps:
        learner = learner.undo() if step is None else learner.teach(*step)
    again = learner_of(rows).replay(learner.steps)
    assert bytes_of(again.model) == bytes_of(learner.model)
    assert again.n_open == learner.n_open
    if again.n_open:
        assert again.query()[0].row == learner.query()[0].row


def test_a_fitted_model_meets_levels_that_it_never_saw() -> None:
    model = bw.fit([{"c": "p", "y": "a"}, {"c": "q", "y": "b"}] * 3, target="y", kinds={"c": "category"})
    table = [{"c": "q"}, {"c": "new"}, {"c": "p"}, {"c": "also new"}]
    learner = bw.ActiveLearner(model, pool=table)
    assert learner.posterior() == pytest.approx(model.predict_proba(table))
    learner.teach(1, "a")
    taught = model.learn([{"c": "new", "y": "a"}])
    assert bytes_of(learner.model) == bytes_of(taught)
    assert learner.posterior() == pytest.approx(taught.predict_proba(table))
    assert bytes_of(learner.undo().model) == bytes_of(model)


@pytest.mark.parametrize("kind", ["text", "averaged", "gaussian"])
def test_other_models_are_asked_anew(kind: str) -> None:
    if kind == "text":
        rows: Any = [{"t": text} for text in ("good day", "bad day", "good good", "bad luck")]
        learner = bw.ActiveLearner.over(rows, "y", ["a", "b"], kinds={"t": "text"})
    elif kind == "averaged":
        rows = [{"x": float(k)} for k in range(6)]
        learner = bw.ActiveLearner.over(rows, "y", ["a", "b"], average=True, kinds={"x": "number"})
    else:
        generator = np.random.default_rng(0)
        X, y = generator.normal(size=(20, 2)), np.array(["a", "b"] * 10)
        rows = X[:6]
        learner = bw.ActiveLearner(bw.GaussianBayes().fit(X, y), pool=rows)
    assert not isinstance(beliefs_of(learner.pool, learner.model), BeliefsByClass)
    before = bytes_of(learner.model)
    learner.teach(1, "b").teach(0, "a")
    anew = learner.model.probability(learner.pool.for_model(learner.model))
    assert learner.posterior() == pytest.approx(anew)
    assert learner.query()[0].row not in (0, 1)
    assert bytes_of(learner.undo().undo().model) == before


def test_a_pool_must_have_rows() -> None:
    with pytest.raises(bw.BayeswiseError, match="no rows"):
        Pool.of({"x": np.empty(0)}, "y", ["a", "b"])
