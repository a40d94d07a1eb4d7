"""Families by column: words counted in columns, families selected by evidence, awkward columns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

import bayeswise as bw
from bayeswise.models.files import bytes_of

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
    model = bw.fit(rows, target="y", kinds=kinds, families={"free": "multinomial", "money": "multinomial"})
    assert [factor.name for factor in model.factors] == ["multinomial columns", "normal", "categories"]
    left_out = model.leave_one_out(rows)
    refit = bw.fit(rows[1:], target="y", schema=model.schema, families={"free": "multinomial", "money": "multinomial"})
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


def test_families_that_keep_their_values_are_refused_for_files(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "sizes.csv"
    path.write_text("size,y\n" + "\n".join(f"{k}.5,{'ab'[k % 2]}" for k in range(9)))
    with pytest.raises(bw.BayeswiseError, match="laplace"):
        bw.fit(path, target="y", families={"size": "laplace"})
