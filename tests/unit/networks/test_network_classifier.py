"""The scikit-learn estimator of network classifiers: cuts, missing values, files, decisions, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.utils.estimator_checks import check_estimator

import bayeswise as bw
from bayeswise.engines import summarise
from bayeswise.foundation.errors import (
    ImpossibleEvidenceError,
    KindError,
    MissingCellError,
    NonFiniteError,
    NotMergedError,
    ParameterError,
    PriorError,
    SchemaError,
    TooLargeError,
)
from bayeswise.models.files import bytes_of
from bayeswise.networks.classifiers import STRUCTURES, NetworkClassifierModel, NetworkSettings
from bayeswise.networks.classifiers.column_graph import Graph
from bayeswise.networks.classifiers.counted import request_of
from bayeswise.networks.classifiers.left_out import log_joint_left_out
from bayeswise.networks.inference.row_posteriors import _tree_of_any_pattern
from bayeswise.posteriors.normalise import normalise
from tests.cases.classifier_cases import fit_network

every_structure = pytest.mark.parametrize("structure", STRUCTURES)


@pytest.fixture(scope="module")
def patients() -> tuple[pd.DataFrame, Any]:
    """Numbers, categories and flags, with missing values in two columns."""
    generator = np.random.default_rng(0)
    ill = generator.random(400) < 0.4
    frame = pd.DataFrame(
        {
            "age": generator.normal(50, 8, 400) + 15 * ill,
            "sex": generator.choice(["f", "m"], 400).astype(object),
            "smoker": generator.random(400) < 0.2 + 0.5 * ill,
            "noise": generator.normal(size=400),
        }
    )
    frame["pulse"] = frame["age"] + generator.normal(0, 4, 400)
    frame.loc[::7, "age"] = np.nan
    frame.loc[::9, "sex"] = None
    return frame, np.where(ill, "ill", "well")


@pytest.mark.parametrize("structure", STRUCTURES[:5])  # "a2de" takes 12 columns at most, and the checks have more
def test_scikit_learn_finds_nothing_to_object_to(structure: str) -> None:
    check_estimator(bw.NetworkClassifier(structure))


def test_triples_of_many_columns_are_refused_before_they_are_counted() -> None:
    X = np.random.default_rng(0).integers(0, 2, (40, 13)).astype(float)
    with pytest.raises(TooLargeError, match="structure='aode'"):
        bw.NetworkClassifier("a2de", numbers="category").fit(X, X[:, 0].astype(int))


@every_structure
def test_any_table_is_learned_missing_values_and_all(patients: Any, structure: str) -> None:
    frame, y = patients
    model = bw.NetworkClassifier(structure).fit(frame, y)
    assert model.score(frame, y) > 0.75
    answers = model.predict_proba(pl.from_pandas(frame))
    np.testing.assert_allclose(answers, model.predict_proba(frame), rtol=1e-12)
    assert np.isfinite(model.predict_log_proba(frame)).all()


def test_the_schema_says_where_a_number_is_cut(patients: Any) -> None:
    frame, y = patients
    model = bw.NetworkClassifier().fit(frame, y).model_
    assert len(model.cuts["age"]) >= 1
    assert model.cuts["noise"] == ()
    assert f"{model.cuts['age'][0]:.4g}" in model.schema["age"].reason
    assert model.schema["noise"].reason == "not cut: no cut shortens the description"
    first, *_ = model.network.states("age")
    assert first == f"< {model.cuts['age'][0]:.4g}"


def test_a_number_on_its_cut_and_numbers_far_outside_have_an_interval() -> None:
    X = np.array([[1.0], [2.0], [8.0], [9.0]] * 10)
    model = bw.NetworkClassifier(cuts={"x0": [5.0]}).fit(X, [0, 0, 1, 1] * 10)
    assert model.predict([[4.999], [5.0], [1e300], [-1e300]]).tolist() == [0, 1, 1, 0]
    np.testing.assert_allclose(model.predict_proba([[np.nan]]), [[0.5, 0.5]])
    with pytest.raises(NonFiniteError, match="'x0' has an infinite value in row 2"):  # as in every other model
        model.predict([[1.0], [-np.inf]])


def test_rows_of_weight_zero_cut_nothing() -> None:
    X, y = np.array([[1.0], [2.0], [8.0], [9.0]] * 10), [0, 0, 1, 1] * 10
    noise = np.vstack([X, X])
    weights = np.repeat([1.0, 0.0], 40)
    model = bw.NetworkClassifier().fit(noise, [*y, *y[::-1]], sample_weight=weights)
    assert model.model_.cuts == bw.NetworkClassifier().fit(X, y).model_.cuts == {"x0": (5.0,)}


@every_structure
def test_a_model_file_gives_back_the_model(patients: Any, structure: str, tmp_path: Path) -> None:
    frame, y = patients
    model = bw.NetworkClassifier(structure, missing={"sex": "level"}).fit(frame, y)
    model.save(tmp_path / "it.bayeswise")
    again = bw.load(tmp_path / "it.bayeswise")
    assert bytes_of(again) == bytes_of(model.model_)
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


@every_structure
def test_batches_add_up_and_are_forgotten(patients: Any, structure: str) -> None:
    frame, y = patients
    whole = bw.NetworkClassifier(structure).fit(frame, y)
    later = bw.NetworkClassifier(structure, cuts=whole.model_.cuts).fit(frame, y)
    before = bytes_of(later.model_)
    later.partial_fit(frame[:50].assign(sex="other"), ["unsure"] * 50)
    assert later.classes_.tolist() == ["ill", "unsure", "well"]
    later.forget(frame[:50].assign(sex="other"), ["unsure"] * 50)
    assert bytes_of(later.model_) == before
    with pytest.raises(NotMergedError):
        later.forget(frame[:1].assign(sex="other"), ["unsure"])


def test_shards_with_the_same_cuts_merge_to_the_pooled_model(patients: Any) -> None:
    frame, y = patients
    cuts = bw.NetworkClassifier().fit(frame, y).model_.cuts
    one, other, whole = (
        bw.NetworkClassifier("aode", cuts=cuts).fit(frame[rows], y[rows])
        for rows in (slice(0, 150), slice(150, 400), slice(0, 400))
    )
    assert bytes_of(one.merge(other).model_) == bytes_of(whole.model_)
    with pytest.raises(KindError, match="cut differently"):
        one.merge(bw.NetworkClassifier("aode").fit(frame[:150], y[:150]))


def test_a_structure_is_changed_without_a_second_look_at_the_rows(patients: Any) -> None:
    frame, y = patients
    table = frame.assign(y=y)
    tan = fit_network(table, "y", structure="tan")
    for overrides in ({"structure": "aode"}, {"structure": "naive"}, {"structure": "k-dependence", "k": 1}):
        fresh = fit_network(table, "y", **overrides)
        np.testing.assert_allclose(
            tan.changed(**overrides).predict_proba(frame), fresh.predict_proba(frame), rtol=1e-12
        )
    assert bytes_of(tan.changed(structure="naive").learn(table).changed(structure="tan")) == bytes_of(tan.learn(table))
    for overrides in ({"structure": "markov-blanket"}, {"structure": "k-dependence", "k": 2}):
        with pytest.raises(ParameterError, match="cannot be computed from these counts"):
            tan.changed(**overrides)


@every_structure
def test_a_given_prior_moves_the_odds_by_its_ratio(patients: Any, structure: str) -> None:
    frame, y = patients
    rare = bw.NetworkClassifier(structure, class_prior={"ill": 0.01, "well": 0.99}).fit(frame, y)
    even = bw.NetworkClassifier(structure, class_prior={"ill": 0.5, "well": 0.5}).fit(frame, y)
    moved = rare.log_odds(frame, "ill", "well") - even.log_odds(frame, "ill", "well")
    np.testing.assert_allclose(moved, np.log(0.01 / 0.99), rtol=1e-9)
    with pytest.raises(PriorError, match="unknown state"):
        bw.NetworkClassifier(structure, class_prior={"ill": 0.5, "sick": 0.5}).fit(frame, y).predict(frame)


def test_a_blanket_with_parents_of_the_class_has_no_prior_to_be_changed() -> None:
    cause = np.tile([0, 1], 100)
    other = np.repeat([0, 1], 100)
    table = {"a": cause.tolist(), "b": other.tolist(), "y": (cause & other).tolist()}
    kinds = {"a": "category", "b": "category"}
    model = fit_network(table, "y", structure="markov-blanket", score="bic", kinds=kinds)
    assert set(model.network.parents("y")) == {"a", "b"}
    np.testing.assert_allclose(model.predict_proba({"a": [1], "b": [1]})[0, 1], 51 / 52)
    with pytest.raises(ParameterError, match="no prior of its own"):
        model.changed(class_prior={0: 0.5, 1: 0.5})


def test_what_no_column_says_alone_two_say_together() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 25)
    either = (X[:, 0] != X[:, 1]).astype(int)
    scores = {s: bw.NetworkClassifier(s, numbers="category").fit(X, either).score(X, either) for s in STRUCTURES[:4]}
    assert scores == {"naive": 0.5, "tan": 1.0, "aode": 1.0, "k-dependence": 1.0}


def test_decisions_are_taken_on_a_tree(patients: Any) -> None:
    frame, y = patients
    costs = {"treat": {"ill": 0.0, "well": 1.0}, "wait": {"ill": 20.0, "well": 0.0}}
    maker = bw.DecisionMaker(bw.NetworkClassifier("tan"), costs=costs).fit(frame, y)
    probability = bw.NetworkClassifier("tan").fit(frame, y).predict_proba(frame)[:, 0]
    expected = np.where(probability >= 1 / 21, "treat", "wait")
    assert (maker.predict(frame) == expected).all()


def test_without_smoothing_a_row_may_be_impossible() -> None:
    X, y = np.array([[0, 0], [1, 1]] * 5), [0, 1] * 5
    model = bw.NetworkClassifier("tan", smoothing=0.0, numbers="category").fit(X, y)
    assert model.predict_proba([[0, 0]]).tolist() == [[1.0, 0.0]]
    with pytest.raises(ImpossibleEvidenceError):
        model.predict_proba([[0, 1]])


def test_an_account_names_parents_and_intervals(patients: Any) -> None:
    frame, y = patients
    model = bw.NetworkClassifier("tan").fit(frame, y)
    account = model.explain(frame[1:2])
    notes = {part.column: part.note for part in account.contributions}
    child = next(name for name in frame if any(p != "y" for p in model.network.parents(name)))
    parent = next(p for p in model.network.parents(child) if p != "y")
    assert f"given {parent}" in notes[child]
    missing = {part.column: part for part in model.explain(frame[:1]).contributions}["age"]
    assert (missing.value, missing.note.split(";")[0]) == (None, "missing: summed out")


@pytest.mark.parametrize(("overrides", "error", "what"), [
    ({"structure": "tam"}, ParameterError, "did you mean 'tan'"),
    ({"prior": "jeffreys"}, ParameterError, "prior is 'jeffreys'"),
    ({"smoothing": -1.0}, ParameterError, "smoothing is -1"),
    ({"k": 1.5}, ParameterError, "k is 1.5.* a whole number"),
    ({"max_parents": 0}, ParameterError, "max_parents is 0.* a whole number from 1 on"),
    ({"score": "bix"}, ParameterError, "did you mean 'bic'"),
])  # fmt: skip
def test_a_wrong_setting_is_refused_by_name(overrides: dict[str, Any], error: type[Exception], what: str) -> None:
    with pytest.raises(error, match=what):
        NetworkSettings(**overrides)


def test_what_cannot_be_learned_is_refused(patients: Any) -> None:
    frame, y = patients
    with pytest.raises(NonFiniteError, match="infinite value in row 2"):
        bw.NetworkClassifier().fit([[1.0], [np.inf], [2.0]], [0, 1, 1])
    with pytest.raises(MissingCellError, match="'age'"):
        bw.NetworkClassifier(missing="error").fit(frame, y)
    with pytest.raises(MissingCellError, match="'x0'"):
        bw.NetworkClassifier(missing="error").fit([[1.0], [np.nan], [2.0]], [0, 1, 1])
    with pytest.raises(ParameterError, match="numbers is 'bin'"):
        bw.NetworkClassifier(numbers="bin").fit(frame, y)
    with pytest.raises(SchemaError, match="increasing"):
        bw.NetworkClassifier(cuts={"x0": [2.0, 1.0]}).fit([[1.0], [2.0]], [0, 1])
    prose = [{"t": f"some words about case {k} that make a long text", "y": k % 2} for k in range(60)]
    with pytest.raises(KindError, match="cannot hold the text 't'"):
        fit_network(prose, "y", kinds={"t": "text"})
    many = np.random.default_rng(0).normal(size=(9000, 2))
    with pytest.raises(SchemaError, match="too many to hold"):
        bw.NetworkClassifier(numbers="category").fit(many, np.arange(9000) % 2)


def test_a_column_without_cells_and_a_column_of_one_value_say_nothing() -> None:
    X, y = np.array([[0.0, np.nan, 3.0], [1.0, np.nan, 3.0]] * 20), [0, 1] * 20
    new_rows = np.array([[1.0, 5.0, 3.0], [np.nan, np.nan, np.nan], [0.0, np.nan, 7.0]])
    for structure in STRUCTURES:
        model, alone = (bw.NetworkClassifier(structure).fit(each, y) for each in (X, X[:, :1]))
        np.testing.assert_allclose(model.predict_proba(new_rows), alone.predict_proba(new_rows[:, :1]), rtol=1e-12)


def test_a_configuration_that_leaves_with_its_row_is_no_longer_impossible() -> None:
    """Without smoothing, p(class | parents) is 0 for other classes until the only row with these parents goes."""
    pairs = [*([(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0)] * 5), (2, 2)]
    table = {"a": [a for a, _ in pairs], "b": [b for _, b in pairs], "y": [int(a > 0 and b > 0) for a, b in pairs]}
    found = fit_network(table, "y", structure="markov-blanket", smoothing=0.0, kinds={"a": "category", "b": "category"})
    graph = Graph(parents=((), ()), given_class=(False, False), class_parents=(0, 1))
    nothing = summarise([], found.coding.coded, request_of(found.coding, "families", graph)).statistics
    parents = graph.to_names(("a", "b"), "y")
    model = NetworkClassifierModel(found.schema, found.settings, nothing, {}, parents).learn(table)
    left_out = np.concatenate([normalise(log_joint_left_out(model, rows)).probability for rows in model.learned(table)])
    np.testing.assert_allclose(left_out[-1], [0.5, 0.5])
    np.testing.assert_allclose(left_out[:-1].max(axis=1), 1.0)


def test_a_matrix_of_categories_may_have_a_column_without_cells() -> None:
    X, y = np.array([[0.0, np.nan], [1.0, np.nan]] * 10), [0, 1] * 10
    for structure in STRUCTURES:
        model = bw.NetworkClassifier(structure, numbers="category", criterion="k2").fit(X, y)
        assert model.predict([[0.0, np.nan], [1.0, 7.0]]).tolist() == [0, 1]
    assert bw.NaiveBayes("categorical").fit(X, y).predict([[0.0, np.nan], [1.0, 7.0]]).tolist() == [0, 1]


def test_a_parent_whose_last_cell_is_forgotten_says_nothing() -> None:
    full = [{"a": str(k % 2), "b": str(k % 2), "y": str(k // 2 % 2)} for k in range(40)]
    hollow = [{"a": None, "b": str(k % 2), "y": str(k % 2)} for k in range(40)]
    model = fit_network([*full, *hollow], "y", structure="k-dependence", k=2).forget(full)
    assert model.counted.sizes.tolist() == [0, 2]
    np.testing.assert_allclose(model.predict_proba([{"a": None, "b": "1"}]).sum(), 1.0)
    assert model.network.query("y", {"b": "1"})["1"] > 0.0


def test_drawn_rows_follow_the_network(patients: Any) -> None:
    frame, y = patients
    for structure in ("tan", "aode", "a2de"):
        drawn = bw.NetworkClassifier(structure).fit(frame, y).sample(4000, seed=1)
        assert abs(np.mean(np.array(drawn["y"]) == "ill") - np.mean(y == "ill")) < 0.03
        share = np.mean(np.array(drawn["smoker"])[np.array(drawn["y"]) == "ill"])
        assert abs(share - frame["smoker"][y == "ill"].mean()) < 0.05


def test_rows_with_few_missing_values_are_answered_where_a_tree_for_any_missing_values_would_be_too_large() -> None:
    generator = np.random.default_rng(0)
    X = generator.integers(0, 3, (300, 12)).astype(float)
    X[:, 1:] = np.where(generator.random((300, 11)) < 0.6, X[:, :-1], X[:, 1:])
    model = bw.NetworkClassifier("k-dependence", k=3, numbers="category").fit(X, X[:, 5] == X[:, 7])
    new_rows = np.where(generator.random(X.shape) < 0.1, np.nan, X)
    expected = model.predict_proba(new_rows)
    again = bw.NetworkClassifier("k-dependence", k=3, numbers="category").fit(X, X[:, 5] == X[:, 7])
    engine = again.model_.scores.plain_network.engine
    engine.memory_limit = 20_000
    assert _tree_of_any_pattern(engine, 12, list(range(12))) is None
    np.testing.assert_allclose(again.predict_proba(new_rows), expected, rtol=1e-12)
