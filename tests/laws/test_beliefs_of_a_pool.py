"""What is kept up to date label by label equals a new prediction of the model."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.acquisition.pool import Pool
from bayeswise.acquisition.pool_beliefs import BeliefsByClass, BeliefsOfFewRows, _least_log_odds, beliefs_of
from bayeswise.acquisition.uncertainty import UNCERTAINTY
from bayeswise.foundation import threads
from bayeswise.models.files import bytes_of
from bayeswise.posteriors.normalise import normalise

CLASSES = ["a", "b", "c"]
NUMBERS = {"x": "number", "z": "number"}
CELLS = st.one_of(st.none(), st.integers(-500, 500).map(lambda k: k / 97), st.sampled_from([0.0, 1.0]))


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


def learner_of(rows: list[dict[str, Any]], strategy: str = "margin", mixed: bool = True) -> bw.ActiveLearner:
    kinds = {"x": "number", "z": "number", "c": "category"}
    ignored = [] if mixed else ["c"]
    return bw.ActiveLearner.over(
        rows,
        "y",
        CLASSES,
        strategy=strategy,
        warm_up=False,
        random_share=0.0,
        kinds=kinds if mixed else NUMBERS,
        ignore=ignored,
    )


@settings(max_examples=30, deadline=None)
@given(sessions(), st.booleans(), st.booleans())
def test_beliefs_follow_the_model_through_labels_and_undo(session: Any, mixed: bool, asks: bool) -> None:
    rows, steps = session
    learner = learner_of(rows, mixed=mixed)
    assert isinstance(learner._beliefs, BeliefsByClass)
    assert isinstance(learner._beliefs, BeliefsOfFewRows) is not mixed
    for step in steps:
        learner = learner.undo() if step is None else learner.teach(*step)
        fresh = learner_of(rows, mixed=mixed).model
        if learner.taught:
            taught, labels = zip(*learner.taught, strict=True)
            fresh = fresh.learn(learner.pool.rows(taught, labels, learner.classes))
        assert learner.posterior() == pytest.approx(
            fresh.probability(learner.pool.for_model(fresh)), rel=1e-9, abs=1e-12
        )
        assert not asks or bytes_of(learner.model) == bytes_of(fresh)


STRATEGIES = [*sorted(UNCERTAINTY), "density-weighted"]


def scores_of(learner: bw.ActiveLearner, posterior: Any) -> Any:
    """(n_rows,) the score of each row, from its posterior alone."""
    if learner.strategy == "density-weighted":
        return UNCERTAINTY["entropy"](posterior) * learner._likeness.density
    known = learner.pool.share_known
    return UNCERTAINTY[learner.strategy](posterior) * (1.0 if known is None else known)


@settings(max_examples=30, deadline=None)
@given(sessions(), st.sampled_from(STRATEGIES), st.booleans())
def test_the_best_row_is_the_same_with_and_without_the_shortcut(session: Any, strategy: str, mixed: bool) -> None:
    rows, steps = session
    learner = learner_of(rows, strategy, mixed)
    for step in steps[:-1]:
        learner = learner.undo() if step is None else learner.teach(*step)
        if not learner.n_open:
            continue
        best = learner.query()[0]
        posterior = learner.posterior()
        scores = scores_of(learner, posterior)
        assert learner._is_open[best.row]
        assert scores[best.row] == pytest.approx(scores[learner._is_open].max(), rel=1e-9, abs=1e-12)
        assert best.score == pytest.approx(scores[best.row], rel=1e-9, abs=1e-12)
        assert list(best.posterior.values()) == pytest.approx(posterior[best.row], rel=1e-9, abs=1e-12)


def many_rows(n_rows: int = 40_000, kind: str = "numbers") -> tuple[dict[str, Any], Any]:
    """More rows than one part holds, and their labels."""
    generator = np.random.default_rng(7)
    labels = generator.integers(0, 3, n_rows)
    columns = {name: generator.normal(size=n_rows) + labels for name in ("x", "z")}
    if kind == "missing":
        columns["z"][::5] = np.nan
    if kind == "mixed":
        columns["c"] = np.array(["p", "q", "r"])[(labels + generator.integers(0, 2, n_rows)) % 3]
    if kind == "categories":
        columns = {name: np.array(["p", "q", "r"])[(labels + generator.integers(0, 2, n_rows)) % 3] for name in "cd"}
    return columns, np.array(CLASSES)[labels]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", ["numbers", "missing", "mixed", "categories"])
def test_of_many_rows_the_one_that_the_model_finds_most_uncertain_is_queried(strategy: str, kind: str) -> None:
    columns, labels = many_rows(kind=kind)
    kinds = {name: NUMBERS.get(name, "category") for name in columns}
    how: dict[str, Any] = {"strategy": strategy, "warm_up": False, "random_share": 0.0, "kinds": kinds}
    learner = bw.ActiveLearner.over(columns, "y", CLASSES, **how)
    for row in range(12):
        learner.teach(row, labels[row])
    for _ in range(6):
        query = learner.query()[0]
        posterior = learner.model.probability(learner.pool.for_model(learner.model))
        scores = np.where(learner._is_open, scores_of(learner, posterior), -1.0)
        assert scores[query.row] == pytest.approx(scores.max(), abs=1e-12)
        assert list(query.posterior.values()) == pytest.approx(posterior[query.row], rel=1e-9)
        learner.teach(query.row, labels[query.row])


def test_a_thread_that_never_comes_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    columns, labels = many_rows()
    words: dict[str, Any] = {"strategy": "entropy", "warm_up": False, "random_share": 0.0, "kinds": NUMBERS}
    quick, alone = (bw.ActiveLearner.over(columns, "y", CLASSES, **words) for _ in range(2))
    hold, busy = threading.Event(), ThreadPoolExecutor(1)
    try:
        busy.submit(hold.wait)  # so that no other thread is free to help
        for row in range(12):
            expected = quick.teach(row, labels[row]).query()
            with monkeypatch.context() as patch:
                patch.setattr(threads._process.pool, "helper", lambda: busy)
                patch.setattr(threads._process.pool, "keep", lambda *_: None)
                assert alone.teach(row, labels[row]).query() == expected
    finally:
        hold.set()
        busy.shutdown()


@given(st.lists(st.lists(st.floats(-30.0, 0.0), min_size=4, max_size=4), min_size=2, max_size=20), st.integers(2, 4))
def test_a_row_that_is_as_uncertain_has_the_log_odds_for_it(log_joint: list[list[float]], n_states: int) -> None:
    """1 less the lead of the first state over the second, beside the odds of the two alone."""
    joint = np.array(log_joint)[:, :n_states]
    score = UNCERTAINTY["margin"](normalise(joint).probability)
    ordered = np.sort(joint, axis=1)
    log_odds = ordered[:, -2] - ordered[:, -1]
    for k in np.flatnonzero(log_odds >= -20.0):
        assert (log_odds[score >= score[k]] >= _least_log_odds(float(log_odds[k]), n_states)).all()


def test_what_a_labelled_row_would_save_again_leaves_the_beliefs_as_they_were() -> None:
    learner = learner_of([{"x": x, "z": 1.0 - x, "c": None} for x in (0.0, 0.3, 0.7, 1.0)], mixed=False)
    learner.teach(0, "a").teach(3, "b").teach(1, "a")
    before = learner.posterior()
    learner.saving(0)
    assert np.array_equal(learner.posterior(), before)


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
    model = bw.fit(
        [{"c": "p", "y": "a"}, {"c": "q", "y": "b"}] * 3, target="y", kinds={"c": "category"}, model="naive-bayes"
    )
    table = [{"c": "q"}, {"c": "new"}, {"c": "p"}, {"c": "also new"}]
    learner = bw.ActiveLearner(model, pool=table, random_share=0.0)
    assert learner.posterior() == pytest.approx(model.predict_proba(table))
    learner.teach(1, "a")
    taught = model.learn([{"c": "new", "y": "a"}])
    assert bytes_of(learner.model) == bytes_of(taught)
    assert learner.posterior() == pytest.approx(taught.predict_proba(table))
    assert bytes_of(learner.undo().model) == bytes_of(model)


@pytest.mark.parametrize("kind", ["text", "averaged", "gaussian"])
def test_other_models_are_evaluated_anew(kind: str) -> None:
    how: dict[str, Any] = {"warm_up": False, "random_share": 0.0}
    if kind == "text":
        rows: Any = [{"t": text} for text in ("good day", "bad day", "good good", "bad luck")]
        learner = bw.ActiveLearner.over(rows, "y", ["a", "b"], kinds={"t": "text"}, **how)
    elif kind == "averaged":
        rows = [{"x": float(k)} for k in range(6)]
        learner = bw.ActiveLearner.over(rows, "y", ["a", "b"], average=True, kinds={"x": "number"}, **how)
    else:
        generator = np.random.default_rng(0)
        X, y = generator.normal(size=(20, 2)), np.array(["a", "b"] * 10)
        rows = X[:6]
        learner = bw.ActiveLearner(bw.GaussianBayes().fit(X, y), pool=rows, **how)
    assert not isinstance(beliefs_of(learner.pool, learner.model), BeliefsByClass)
    before = bytes_of(learner.model)
    learner.teach(1, "b").teach(0, "a")
    again = learner.model.probability(learner.pool.for_model(learner.model))
    assert learner.posterior() == pytest.approx(again)
    for strategy in STRATEGIES:
        learner.strategy = strategy
        scores = scores_of(learner, again)
        scores[:2] = -1.0
        assert learner.query()[0].row == np.argmax(scores)
    assert bytes_of(learner.undo().undo().model) == before


def test_a_pool_must_have_rows() -> None:
    with pytest.raises(bw.BayeswiseError, match="no rows"):
        Pool.of({"x": np.empty(0)}, "y", ["a", "b"])


def test_numbers_beyond_the_range_of_squares_take_the_exact_way() -> None:
    rows = [{"x": x} for x in (1e300, -1e300, 2e300, 0.0, 1e-310)]
    learner = bw.ActiveLearner.over(rows, "y", ["a", "b"], kinds={"x": "number"})
    assert not isinstance(learner._beliefs, BeliefsOfFewRows)
    learner.teach(0, "a").teach(1, "b").teach(2, "a")
    assert np.isfinite(learner.posterior()).all()


def test_numbers_far_from_zero_keep_their_digits() -> None:
    """1e15 + 0, 1, 2, ...: a variance from squares of the numbers themselves would be noise."""
    rows = [{"x": 1e15 + k} for k in (0, 1, 2, 10, 11, 12, 5)]
    learner = bw.ActiveLearner.over(rows, "y", ["a", "b"], kinds={"x": "number"})
    assert isinstance(learner._beliefs, BeliefsOfFewRows)
    for row, label in ((0, "a"), (1, "a"), (2, "a"), (3, "b"), (4, "b"), (5, "b")):
        learner.teach(row, label)
    near = bw.ActiveLearner.over([{"x": row["x"] - 1e15} for row in rows], "y", ["a", "b"], kinds={"x": "number"})
    near.replay(learner.steps)
    assert learner.posterior() == pytest.approx(near.posterior(), rel=1e-12)
