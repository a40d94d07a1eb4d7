"""What is seen in single precision is never less than what is there, and the queried row is the best one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeswise as bw
from bayeswise.acquisition import pool_beliefs
from bayeswise.acquisition.pool import Parts
from bayeswise.acquisition.uncertainty import Screen, margin
from bayeswise.families.continuous.normal import NormalParameters
from bayeswise.models.naive_bayes.normal_columns import NormalScores
from bayeswise.models.settings.naive_bayes import NaiveBayesSettings

KINDS = {"x": "number", "z": "number"}


def scores_of(mean: Any, stddev: Any, mean_low: Any = 0.0) -> NormalScores:
    names = tuple(f"x{c}" for c in range(mean.shape[1]))
    parameters = NormalParameters(mean, stddev, mean_low + np.zeros(mean.shape))
    return NormalScores(names, np.arange(len(names)), None, NaiveBayesSettings(), parameters)  # type: ignore[arg-type]


def exact_log_odds(values: Any, scores: NormalScores, log_prior: Any) -> Any:
    """(n_rows,) in the widest floats there are."""
    wide, p = np.longdouble, scores.parameters
    z = ((values[:, None, :].astype(wide) - p.mean) - p.mean_low) / p.stddev.astype(wide)
    terms = -0.5 * z**2 - np.log(p.stddev.astype(wide)) - 0.5 * np.log(2 * wide(np.pi))
    ordered = np.sort(np.nansum(terms, axis=2) + log_prior, axis=1)
    return ordered[:, -2] - ordered[:, -1]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 30),
    st.integers(2, 6),
    st.sampled_from([0.0, 1.0, 1e6, -1e15]),
    st.sampled_from([1e-3, 1.0, 1e9]),
    st.booleans(),
)
def test_log_odds_are_never_above_what_is_seen(
    seed: int, n_columns: int, n_states: int, place: float, size: float, wild: bool
) -> None:
    """Rows anywhere, some of them far out or with missing values; states near each other or far apart."""
    generator = np.random.default_rng(seed)
    centre = generator.normal(size=(n_states, n_columns)) * generator.choice([1e-6, 0.3, 3.0])
    values = generator.normal(size=(300, n_columns)) * (generator.pareto(1.0, (300, 1)) if wild else 1.0)
    values[generator.random(values.shape) < 0.05] = np.nan
    values, mean = place + size * values, place + size * centre
    stddev = size * generator.uniform(0.3, 2.0, (n_states, n_columns))
    scores = scores_of(mean, stddev, 1e-17 * mean)
    log_prior = np.log(generator.dirichlet(np.ones(n_states)))
    is_open = generator.random(300) < 0.9
    seen = Screen(values, n_states, Parts(300)).upper_log_odds(scores, log_prior, is_open)
    if seen is None:
        return
    upper, blur = seen
    exact = exact_log_odds(values, scores, log_prior)
    assert (upper[is_open] + blur >= exact[is_open]).all()
    assert (upper[~is_open] == -np.inf).all()
    assert wild or (upper[is_open] - exact[is_open] < 0.05).all()  # and it is of use


def test_without_its_bound_the_screen_would_be_wrong() -> None:
    generator = np.random.default_rng(0)
    values, scores = generator.normal(size=(1000, 20)), scores_of(generator.normal(size=(3, 20)), np.ones((3, 20)))
    screen = Screen(values, 3, Parts(1000))
    screen._error = 0.0
    seen = screen.upper_log_odds(scores, np.zeros(3), np.ones(1000, dtype=bool))
    assert seen is not None
    wrong = exact_log_odds(values, scores, np.zeros(3)) - seen[0]
    assert 1e-7 < wrong.max() < 1e-4


def taught(columns: dict[str, Any], labels: Any, **words: Any) -> bw.ActiveLearner:
    kinds = dict.fromkeys(columns, "number")
    learner = bw.ActiveLearner.over(
        columns, "y", ["a", "b", "c"], warm_up=False, random_share=0.0, kinds=kinds, **words
    )
    for row in range(30):
        learner.teach(row, labels[row])
    return learner


def best_by_the_model(learner: bw.ActiveLearner) -> tuple[Any, Any]:
    posterior = learner.model.probability(learner.pool.for_model(learner.model))
    return posterior, np.where(learner._is_open, margin(posterior), -1.0)


def pool_of(n_rows: int, n_columns: int = 2) -> tuple[dict[str, Any], Any]:
    generator = np.random.default_rng(5)
    states = generator.integers(0, 3, n_rows)
    columns = {f"x{c}": generator.normal(size=n_rows) + states for c in range(n_columns)}
    return columns, np.array(["a", "b", "c"])[states]


@pytest.mark.parametrize("step", [1e-6, 1e-9, 1e-13])
def test_rows_that_are_equal_in_single_precision_are_distinguished(step: float) -> None:
    """Many rows side by side where two states meet: the nearest one is queried, not the first of them."""
    columns, labels = pool_of(30_000)
    learner = taught(columns, labels)
    near = learner.query()[0].row
    place = {name: column[near] for name, column in columns.items()}
    for name, column in columns.items():
        column[1000:2000] = place[name] + step * np.arange(-700, 300)
    learner = taught(columns, labels)
    found = learner._beliefs._seen_on_the_screen(learner._is_open)
    assert found is not None and len(found) > 200  # all of them look alike
    query = learner.query()[0]
    posterior, scores = best_by_the_model(learner)
    assert scores[query.row] >= scores.max() - 1e-15
    assert list(query.posterior.values()) == pytest.approx(posterior[query.row], rel=1e-12)


@pytest.mark.parametrize("case", ["many columns", "narrow states", "equal rows", "an impossible state", "far out"])
def test_where_the_screen_does_not_help_all_rows_are_examined(case: str) -> None:
    columns, labels = pool_of(21_000, 300 if case == "many columns" else 2)
    words: dict[str, Any] = {}
    if case == "narrow states":
        columns["x0"][:30] = 1e-9 * columns["x0"][:30]
        words["variance_floor"] = 1e-9
    if case == "equal rows":
        columns = {name: np.where(np.arange(21_000) < 30, column, 1.5) for name, column in columns.items()}
    if case == "far out":
        columns["x0"][20_000] = 1e90
    learner = taught(columns, labels, **words)
    if case == "an impossible state":
        learner._beliefs._log_prior = np.array([0.0, -np.inf, -np.inf])
        assert learner._beliefs._seen_on_the_screen(learner._is_open) is None
        return
    assert learner._beliefs._seen_on_the_screen(learner._is_open) is None or case == "far out"
    query = learner.query()[0]
    _, scores = best_by_the_model(learner)
    assert scores[query.row] == pytest.approx(scores.max(), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_small_pools_are_queried_alike_with_and_without_a_screen(seed: int, n_rows: int) -> None:
    generator = np.random.default_rng(seed)
    columns = {name: generator.choice([generator.normal(size=n_rows), np.arange(n_rows) / 7]) for name in KINDS}
    columns["z"][generator.random(n_rows) < 0.2] = np.nan
    plain, screened = (
        bw.ActiveLearner.over(columns, "y", [0, 1, 2], warm_up=False, random_share=0.0, kinds=KINDS) for _ in range(2)
    )
    with pytest.MonkeyPatch.context() as patch:
        for step in range(n_rows - 1):
            patch.setattr(pool_beliefs, "_LARGE_POOL", 20_000)
            expected = plain.query()[0]
            patch.setattr(pool_beliefs, "_LARGE_POOL", 0)
            found = screened.query()[0]
            assert found == expected
            label = int(generator.integers(3))
            plain.teach(found.row, label)
            screened.teach(found.row, label)
            if step % 5 == 4:
                plain.undo()
                screened.undo()
