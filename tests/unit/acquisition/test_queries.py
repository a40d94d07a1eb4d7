"""Density, batches that differ, chance, the asking action, and when to stop."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.acquisition.choosing import REFERENCES, STRATEGIES, Likeness
from bayeswise.tables.batch import Batch

MAIL = {"bin": {"spam": 0.0, "ham": 10.0}, "keep": {"spam": 1.0, "ham": 0.0}, "ask": 0.5}


def numbers(*columns: Any) -> Batch:
    values = np.column_stack([np.asarray(column, dtype=float) for column in columns])
    return Batch(len(values), values, np.empty((len(values), 0), dtype=np.int32))


# -- likeness -------------------------------------------------------------------------------------------------


def test_a_row_in_a_crowd_is_denser_than_an_outlier() -> None:
    density = Likeness(numbers([0, 0.1, -0.1, 0.05, 9])).density
    assert np.argmin(density) == 4
    assert density[0] > 2 * density[4]


def test_categories_and_texts_count_where_they_differ() -> None:
    learner = bw.ActiveLearner.over(
        [{"c": "p", "t": "good day"}, {"c": "p", "t": "good day"}, {"c": "q", "t": "bad luck"}],
        "y",
        ["a", "b"],
        kinds={"c": "category", "t": "text"},
    )
    alike = Likeness(learner.pool.batch).between(np.arange(3), np.arange(3))
    assert alike[0, 1] == pytest.approx(1.0)
    assert alike[0, 2] == pytest.approx(np.exp(-(1 + 2) / 4))


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20))
def test_likeness_is_a_share_for_any_finite_numbers(values: list[float]) -> None:
    alike = Likeness(numbers(values)).between(np.arange(len(values)), np.arange(len(values)))
    assert ((alike >= 0) & (alike <= 1)).all()
    assert np.diag(alike) == pytest.approx(np.ones(len(values)))


def test_the_density_of_a_large_pool_is_close_to_the_exact_one_and_quick() -> None:
    generator = np.random.default_rng(0)
    few = Likeness(numbers(*generator.normal(size=(3, 3000))))
    exact = few.between(np.arange(3000), np.arange(3000)).mean(axis=1)
    assert few.density == pytest.approx(exact, abs=4 / np.sqrt(REFERENCES) * 0.5)
    assert np.corrcoef(few.density, exact)[0, 1] > 0.95
    large = Likeness(numbers(*generator.normal(size=(20, 100_000))))
    start = time.process_time()
    assert large.density.shape == (100_000,)
    assert time.process_time() - start < 6.0


# -- batches --------------------------------------------------------------------------------------------------


def test_a_batch_of_twins_is_queried_once() -> None:
    rows = [{"x": x} for x in (0.0, 10.0, 5.0, 5.0, 5.0, 4.2, 0.5)]
    how: Any = {"random_share": 0.0, "warm_up": False, "kinds": {"x": "number"}}
    learner = bw.ActiveLearner.over(rows, "y", ["a", "b"], **how).teach(0, "a").teach(1, "b")
    together = [query.row for query in learner.query(3, diverse=False)]
    apart = [query.row for query in learner.query(3)]
    assert together == [2, 3, 4]
    assert apart[0] == 2 and 3 not in apart and 4 not in apart
    assert len({query.row for query in learner.query(99)}) == 5


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_answers_from_the_first_row_on_and_says_why(strategy: str) -> None:
    rows = [{"x": float(k % 5), "c": "pq"[k % 2]} for k in range(12)]
    learner = bw.ActiveLearner.over(
        rows, "y", ["spam", "ham"], costs=MAIL, strategy=strategy, kinds={"x": "number", "c": "category"}
    )
    for k in range(6):
        [query] = learner.query()
        assert str(query.row) in query.why and "posterior:" in query.why
        learner.teach(query.row, ["spam", "ham"][k % 2])
    assert len({query.row for query in learner.query(4)}) == 4


# -- chance ---------------------------------------------------------------------------------------------------


def test_chances_add_up_to_one_over_what_could_have_been_drawn() -> None:
    """The best row has 1 - share + share / n, each other share / n; the draws come out that often."""
    rows = [{"x": float(k)} for k in range(10)]
    drawn = []
    for seed in range(400):
        how: Any = {"random_share": 0.3, "seed": seed, "warm_up": False, "kinds": {"x": "number"}}
        [query] = bw.ActiveLearner.over(rows, "y", ["a", "b"], **how).query()
        assert query.chance == pytest.approx(0.73 if query.row == 0 else 0.03)
        assert query.score == (1.0 if query.row == 0 else 0.0)  # the others have no score
        drawn.append(query.row)
    assert np.mean(np.array(drawn) == 0) == pytest.approx(0.73, abs=4 * np.sqrt(0.73 * 0.27 / 400))


def test_the_same_question_is_asked_until_it_is_answered_and_again_after_undo() -> None:
    rows = [{"x": float(k)} for k in range(30)]
    learner = bw.ActiveLearner.over(rows, "y", ["a", "b"], strategy="random", kinds={"x": "number"})
    first = learner.query()[0].row
    assert learner.query()[0].row == first
    second = learner.teach(first, "a").query()[0].row
    assert learner.undo().query()[0].row == first
    assert learner.teach(first, "b").query()[0].row == second


# -- what decisions ask ---------------------------------------------------------------------------------------


def test_the_ask_action_of_a_decision_maker_feeds_the_queue() -> None:
    generator = np.random.default_rng(0)
    y = np.where(generator.random(200) < 0.5, "spam", "ham")
    X = generator.normal(size=(200, 1)) + 2.0 * (y == "spam")[:, None]
    maker = bw.DecisionMaker(bw.NaiveBayes(), MAIL).fit(X, y)
    decisions = maker.decide(X)
    queue = bw.rows_to_ask(decisions)
    assert [each.row for each in queue] == sorted(
        np.flatnonzero(decisions.action == "ask").tolist(), key=lambda row: -decisions.margin[row]
    )
    learner = bw.ActiveLearner(maker.estimator_, MAIL, "ask", pool=X, random_share=0.0)
    best = learner.query()[0]
    assert best.row == queue[0].row
    assert best.score == pytest.approx(queue[0].saving)


def test_without_an_action_that_asks_there_is_no_queue() -> None:
    with pytest.raises(bw.UsageError, match="asks for a label"):
        bw.ActiveLearner.over([{"x": 1.0}], "y", ["a", "b"], strategy="ask", kinds={"x": "number"})


# -- when to stop ---------------------------------------------------------------------------------------------


def test_a_label_is_worth_less_the_more_are_known() -> None:
    generator = np.random.default_rng(0)
    truth = ["a", "b"] * 40
    rows = [{"x": generator.normal() + 3.0 * (label == "b")} for label in truth]
    learner = bw.ActiveLearner.over(rows, "y", ["a", "b"], kinds={"x": "number"})
    assert learner.worth_asking(price=1e9)  # no class has a label yet: the model has no opinion
    learner.simulate(truth, 3)
    assert learner.worth_asking(price=1e9)  # nor three of each
    learner.simulate(truth, 60)
    assert not learner.worth_asking(price=1.0)
    assert abs(learner.saving(learner.query()[0].row)) < 1.0


def test_a_model_that_cannot_learn_is_refused() -> None:
    with pytest.raises(bw.UsageError, match="is not a fitted model"):
        bw.ActiveLearner(bw.NaiveBayes(), pool=[{"x": 1.0}])


def test_costs_that_depend_on_the_row_are_refused_by_name() -> None:
    costs = {"lend": {"a": "-0.1 * amount", "b": "amount"}, "refuse": 0.0}
    with pytest.raises(bw.UsageError, match="'amount'"):
        bw.ActiveLearner.over([{"amount": 1.0}], "y", ["a", "b"], costs=costs, kinds={"amount": "number"})
