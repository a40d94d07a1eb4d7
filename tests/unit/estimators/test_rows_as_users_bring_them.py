"""X, y and parameters in every form that users of scikit-learn bring."""

from __future__ import annotations

import warnings
from typing import Any

import duckdb
import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV

import bayeswise as bw
from bayeswise.foundation.errors import (
    DataError,
    MissingCellError,
    NonFiniteError,
    ParameterError,
    PriorError,
    SourceError,
    SupportError,
)

EVERY = [
    bw.NaiveBayes,
    bw.AveragedNaiveBayes,
    bw.GaussianBayes,
    bw.NetworkClassifier,
    bw.LogisticRegression,
    bw.LinearRegression,
]
OF_CLASSES = EVERY[:-1]
OF_LABELS = [each for each in EVERY if each is not bw.GaussianBayes]

Y = np.arange(60) % 2
X = np.random.default_rng(0).normal(size=(60, 3)) + Y[:, None]


def with_cell(value: float) -> np.ndarray:
    changed = X.copy()
    changed[3, 1] = value
    return changed


def frame(values: np.ndarray = X, names: str = "abc") -> pd.DataFrame:
    return pd.DataFrame(values, columns=list(names))


@pytest.mark.parametrize("estimator", EVERY)
def test_a_missing_cell_of_an_array_is_an_error_where_that_is_the_policy(estimator: Any) -> None:
    with pytest.raises(MissingCellError, match=r"'x1' is missing \(NaN\) in row 4"):
        estimator(missing="error").fit(with_cell(np.nan), Y)
    with pytest.raises(MissingCellError, match=r"'x1' is missing \(NaN\) in row 4"):
        estimator(missing="error").fit(X, Y).predict(with_cell(np.nan))


def test_a_missing_cell_of_a_row_without_weight_is_absent() -> None:
    weights = np.where(np.arange(60) == 3, 0.0, 1.0)
    kept = np.flatnonzero(weights)
    strict = bw.NaiveBayes(missing="error").fit(with_cell(np.nan), Y, weights)
    assert strict.model_.statistics == bw.NaiveBayes().fit(X[kept], Y[kept]).model_.statistics


@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
@pytest.mark.parametrize("estimator", EVERY)
def test_an_infinite_cell_is_one_error_in_every_estimator_learning_or_predicting(
    estimator: Any, infinite: float
) -> None:
    fitted = estimator().fit(X, Y)
    of_frame = estimator().fit(frame(), Y)
    for answer in (estimator().fit, lambda values, y: fitted.predict(values)):
        with pytest.raises(NonFiniteError, match="'x1' has an infinite value in row 4"):
            answer(with_cell(infinite), Y)
    with pytest.raises(ValueError, match="'b' has an infinite value in row 4"):
        of_frame.predict(frame(with_cell(infinite)))
    with pytest.raises(NonFiniteError, match="'b' has an infinite value in row 4"):
        of_frame.model_.predict(frame(with_cell(infinite)))


def test_numbers_whose_sum_is_beyond_all_floats_are_finite() -> None:
    large = np.array([[1e308], [1.1e308], [1.5e308], [1.6e308]])
    assert bw.NaiveBayes().fit(large, [0, 0, 1, 1]).predict(large).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("estimator", EVERY)
def test_a_feature_may_be_called_y(estimator: Any) -> None:
    named = estimator().fit(frame(names="ayc"), Y)
    assert np.array_equal(named.predict(frame(names="ayc")), estimator().fit(frame(), Y).predict(frame()))


def test_rows_that_are_drawn_keep_the_feature_y_beside_the_class() -> None:
    drawn = bw.NaiveBayes().fit(frame(names="ayc"), Y).sample(2)
    assert sorted(drawn) == ["a", "c", "target", "y"]


@pytest.mark.parametrize("estimator", EVERY)
def test_a_frame_goes_by_position_where_an_array_was_learned(estimator: Any) -> None:
    fitted = estimator().fit(X, Y)
    expected = fitted.predict(X)
    for rows in (frame(), frame(names=["x2", "x0", "x1"]), pl.DataFrame(frame()), pa.Table.from_pandas(frame())):
        with pytest.warns(UserWarning, match="fitted without feature names"):
            assert np.array_equal(fitted.predict(rows), expected)


@pytest.mark.parametrize(
    "form", [lambda rows: pl.DataFrame(rows).lazy(), pa.RecordBatch.from_pandas, narwhals.from_native, duckdb.from_df]
)
def test_frames_that_are_lazy_or_wrapped_go_by_position_too(form: Any) -> None:
    fitted = bw.NaiveBayes().fit(X, Y)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert np.array_equal(fitted.predict(form(frame(names=["x2", "x0", "x1"]))), fitted.predict(X))


def test_a_wrapped_frame_has_the_names_of_the_frame_inside() -> None:
    fitted = bw.NaiveBayes().fit(narwhals.from_native(frame()), Y)
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]


def test_a_frame_of_counts_goes_by_position_where_a_sparse_matrix_was_learned() -> None:
    counts = np.array([[3.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    fitted = bw.NaiveBayes().fit(csr_array(counts), [0, 1, 0])
    with pytest.warns(UserWarning, match="fitted without feature names"):
        assert np.array_equal(fitted.predict_proba(frame(counts, "ab")), fitted.predict_proba(csr_array(counts)))


@pytest.mark.parametrize("estimator", EVERY)
def test_tables_of_other_libraries_are_learned_as_the_frame_is(estimator: Any) -> None:
    expected = estimator().fit(frame(), Y)
    tables = [
        lambda: pl.DataFrame(frame()),
        lambda: pl.DataFrame(frame()).lazy(),
        lambda: pa.Table.from_pandas(frame()),
        lambda: pa.RecordBatch.from_pandas(frame()),
        lambda: pa.Table.from_pandas(frame()).to_reader(),
        lambda: duckdb.from_df(frame()),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table in tables:
            found = estimator().fit(table(), Y)
            assert found.feature_names_in_.tolist() == ["a", "b", "c"]
            assert found.n_features_in_ == 3
            assert np.array_equal(found.predict(table()), expected.predict(frame()))


def test_a_relation_with_other_columns_is_refused_by_name() -> None:
    fitted = bw.NaiveBayes().fit(duckdb.from_df(frame()), Y)
    with pytest.raises(ValueError, match="'a', 'c', 'b'; the model was fitted with 'a', 'b', 'c'"):
        fitted.predict(duckdb.from_df(frame(names="acb")))


@pytest.mark.parametrize("estimator", OF_LABELS)
def test_lists_of_lists_may_hold_text(estimator: Any) -> None:
    rows = [[float(number), "up" if other > 0 else "down"] for number, other in X[:, :2]]
    as_frame = pd.DataFrame(rows, columns=["x0", "x1"])
    expected = estimator().fit(as_frame, Y).predict(as_frame)
    assert np.array_equal(estimator().fit(rows, Y).predict(rows), expected)


@pytest.mark.parametrize("rows", [[{"a": 1.0}, {"a": 2.0}], {"a": [1.0, 2.0]}])
def test_dicts_are_refused_with_what_takes_them(rows: Any) -> None:
    with pytest.raises(SourceError, match=r"Fix: make a dataframe of it"):
        bw.NaiveBayes().fit(rows, [0, 1])


def test_flags_are_numbers_to_gaussian_bayes() -> None:
    mixed = pd.DataFrame({"a": X[:, 0], "flag": X[:, 1] > 0})
    expected = bw.GaussianBayes().fit(mixed.astype(float), Y).predict_proba(mixed.astype(float))
    assert np.array_equal(bw.GaussianBayes().fit(mixed, Y).predict_proba(mixed), expected)


@pytest.mark.parametrize("estimator", OF_LABELS)
def test_declared_levels_make_a_category_of_a_number_column(estimator: Any) -> None:
    rows = pd.DataFrame({"a": np.arange(60) % 3, "b": X[:, 1]})
    fitted = estimator(levels={"a": [0, 1, 2, 3]}).fit(rows, Y)
    assert fitted.model_.schema["a"].kind == "category"
    assert list(fitted.model_.schema["a"].levels) == [0, 1, 2, 3]
    array = estimator(levels={"x0": [0, 1, 2, 3]}).fit(rows.to_numpy(), Y)
    assert np.array_equal(array.predict(rows.to_numpy()), fitted.predict(rows))


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
def test_cells_of_a_sparse_matrix_that_are_given_in_parts_add_up_and_the_matrix_stays_as_it_is(family: str) -> None:
    parts = csr_matrix((np.array([1.0, 2.0, 2.0, 1.0]), np.array([0, 0, 1, 0]), np.array([0, 2, 3, 4])), shape=(3, 2))
    whole = csr_array(np.array([[3.0, 0.0], [0.0, 2.0], [1.0, 0.0]]))
    expected = bw.NaiveBayes(family).fit(whole, [0, 1, 0]).predict_proba(whole)
    assert np.array_equal(bw.NaiveBayes(family).fit(parts, [0, 1, 0]).predict_proba(parts), expected)
    assert parts.nnz == 4


def test_what_is_not_a_count_of_words_is_refused_learning_or_predicting() -> None:
    good = csr_array(np.array([[3.0, 0.0], [0.0, 2.0], [1.0, 0.0]]))
    fitted = bw.NaiveBayes().fit(good, [0, 1, 0])
    for value, error in ((np.nan, SupportError), (-1.0, SupportError), (np.inf, NonFiniteError)):
        bad = csr_array(np.array([[3.0, 0.0], [0.0, value], [1.0, 0.0]]))
        for answer in (lambda rows: bw.NaiveBayes().fit(rows, [0, 1, 0]), fitted.predict_proba):
            with pytest.raises(error, match="row 2") as caught:
                answer(bad)
            assert "'x1'" in str(caught.value)


@pytest.mark.parametrize("estimator", OF_CLASSES)
def test_targets_of_every_kind_of_column_are_the_same_classes(estimator: Any) -> None:
    expected = estimator().fit(X, Y).predict(X)
    as_given = [
        pd.Series(Y, dtype="Int64"),
        pd.Series(Y).astype("category"),
        pl.Series(Y),
        pa.array(Y),
        Y.tolist(),
    ]
    for y in as_given:
        assert estimator().fit(X, y).predict(X).tolist() == expected.tolist()
    assert estimator().fit(X, pd.Series(Y, dtype="boolean")).predict(X).tolist() == (expected > 0).tolist()
    text = pd.Series(Y.astype(str), dtype="string")
    assert estimator().fit(X, text).predict(X).tolist() == expected.astype(str).tolist()
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert estimator().fit(X, Y[:, None]).predict(X).tolist() == expected.tolist()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
def test_words_without_smoothing_are_the_limit_of_less_and_less_smoothing(family: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    counts, y = generator.poisson(0.5, size=(12, 5)).astype(float), np.arange(12) % 3
    for rows in (counts, csr_array(counts)):
        found = bw.NaiveBayes(family, smoothing=0).fit(rows, y)
        limit = bw.NaiveBayes(family, smoothing=1e-60).fit(rows, y)
        assert np.allclose(found.predict_proba(rows), limit.predict_proba(rows), atol=1e-12)


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
def test_a_word_of_one_class_alone_is_certain_without_smoothing(family: str) -> None:
    counts = np.array([[3.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    for rows in (counts, csr_array(counts)):
        fitted = bw.NaiveBayes(family, smoothing=0).fit(rows, ["a", "b", "a"])
        assert fitted.predict_proba(rows).tolist() == [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("estimator", [bw.NaiveBayes, bw.AveragedNaiveBayes, bw.GaussianBayes, bw.NetworkClassifier])
def test_classes_declared_at_the_first_batch_are_there_before_their_rows(estimator: Any) -> None:
    third = np.where(np.arange(60) % 5 == 0, 2, Y)
    first = estimator().partial_fit(X[third < 2], third[third < 2], classes=[2, 0, 1])
    assert first.classes_.tolist() == [0, 1, 2]
    assert first.predict_proba(X)[:, 2].tolist() == [0.0] * 60
    assert np.allclose(first.predict_proba(X)[:, :2], estimator().fit(X[third < 2], third[third < 2]).predict_proba(X))
    first.partial_fit(X[third == 2], third[third == 2], classes=[0, 1, 2])
    if estimator is not bw.NetworkClassifier:  # which cuts numbers by the first rows that it sees
        assert np.array_equal(first.predict_proba(X), estimator().fit(X, third).predict_proba(X))
    with pytest.raises(DataError, match="y has the class 3, which the first call of partial_fit did not declare"):
        first.partial_fit(X[:1], [3])
    with pytest.raises(ParameterError, match="at the last call of partial_fit the classes were 0, 1, 2"):
        first.partial_fit(X[:1], [0], classes=[0, 1])
    with pytest.raises(DataError, match="y has the class 0"):
        estimator().partial_fit(X, Y, classes=[1, 2])


@pytest.mark.parametrize(
    "estimator", [bw.NaiveBayes, bw.AveragedNaiveBayes, bw.GaussianBayes, bw.NetworkClassifier, bw.AutoClassifier]
)
def test_a_prior_may_be_an_array_in_the_order_of_the_classes(estimator: Any) -> None:
    labels = np.where(Y, "a", "b")
    named = estimator(class_prior={"b": 0.75, "a": 0.25}).fit(X, labels)
    for prior in ([0.25, 0.75], (0.25, 0.75), np.array([0.25, 0.75]), pd.Series([0.25, 0.75])):
        found = estimator(class_prior=prior).fit(X, labels)
        assert np.array_equal(found.predict_proba(X), named.predict_proba(X))
        assert found.model_.settings == named.model_.settings
    for prior, message in (
        ([0.5, 0.6], r"sums to 1\.1"),
        ([1.5, -0.5], "from 0 to 1"),
        ([1.0], "has 1 probabilities for 2 classes: 'a', 'b'"),
        ([[0.5, 0.5]], "give one probability for each of classes_"),
        ("even", "give one probability for each of classes_"),
    ):
        with pytest.raises(PriorError, match=message):
            estimator(class_prior=prior).fit(X, labels)


def test_more_directions_than_there_are_between_classes_are_refused_at_fit() -> None:
    for n_components in (99, 2, -1, 0.5, True):
        with pytest.raises(ParameterError, match=f"n_components is {n_components}"):
            bw.GaussianBayes(n_components=n_components).fit(X, Y)
    assert bw.GaussianBayes(n_components=np.int64(1)).fit(X, Y).transform(X).shape == (60, 1)


PARAMETERS: list[tuple[Any, dict[str, Any]]] = [
    (bw.NaiveBayes, {"smoothing": np.int64(2), "shared_variance": np.bool_(True), "variance_floor": np.float32(0.5)}),
    (bw.NaiveBayes, {"class_prior": {np.int64(0): np.float64(0.25), np.int64(1): np.float64(0.75)}}),
    (bw.AveragedNaiveBayes, {"relevance": np.float32(0.5), "temper": np.float64(0.5), "smoothing": np.int32(1)}),
    (bw.GaussianBayes, {"covariance": np.str_("shared"), "shrinkage": np.float32(0.5), "n_components": np.int64(1)}),
    (bw.NetworkClassifier, {"structure": np.str_("k-dependence"), "k": np.int64(2), "smoothing": np.float64(1.0)}),
    (bw.LogisticRegression, {"scale": np.int64(2), "max_iter": np.int64(50), "fit_intercept": np.bool_(False)}),
    (bw.LinearRegression, {"scale": np.int64(2), "standardise": np.bool_(False), "likelihood": np.str_("gaussian")}),
]


@pytest.mark.parametrize(("estimator", "given"), PARAMETERS)
def test_numpy_scalars_are_parameters_like_any_number(estimator: Any, given: dict[str, Any], tmp_path: Any) -> None:
    plain = {name: value.item() if isinstance(value, np.generic) else dict(value) for name, value in given.items()}
    ours, theirs = estimator(**given).fit(X, Y), estimator(**plain).fit(X, Y)
    ours.save(tmp_path / "ours.bayes")
    theirs.save(tmp_path / "theirs.bayes")
    assert (tmp_path / "ours.bayes").read_bytes() == (tmp_path / "theirs.bayes").read_bytes()


def test_a_search_over_numpy_ranges_needs_no_conversion() -> None:
    for estimator, grid in (
        (bw.LogisticRegression(), {"scale": np.arange(1, 4)}),
        (bw.LinearRegression(), {"scale": np.arange(1, 4)}),
        (bw.NaiveBayes(), {"smoothing": np.linspace(0.5, 2, 3), "shared_variance": np.array([True, False])}),
        (bw.GaussianBayes(), {"shrinkage": np.linspace(0, 1, 3), "covariance": np.array(["shared", "per-class"])}),
        (bw.NetworkClassifier("k-dependence"), {"k": np.arange(1, 3)}),
    ):
        search = GridSearchCV(estimator, grid, cv=2, error_score="raise").fit(X, Y)
        assert np.isfinite(search.best_score_)


@pytest.mark.parametrize("n_rows", [164, 3000])
def test_whole_numbers_that_are_rather_measured_than_classes_are_warned_of(n_rows: int) -> None:
    y = np.arange(n_rows) % 164
    with pytest.warns(UserWarning, match="y has 164 different numbers .* regression problem.* Fix: predict it by"):
        bw.NaiveBayes().fit(np.random.default_rng(0).normal(size=(n_rows, 2)), y)


def test_few_classes_that_are_numbers_pass_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bw.NaiveBayes().fit(np.random.default_rng(0).normal(size=(100, 2)), np.arange(100) % 50)


# -- one row, and frames with more columns than the estimator knows ------------------------------------------------


LOANS = pd.DataFrame({"income": [1.0, 2.0, 3.0, 4.0] * 5, "visits": [0, 3, 1, 2] * 5})
REPAID = ["no", "no", "yes", "yes"] * 5
LEND = {"lend": {"yes": 0, "no": 5}, "refuse": 1}


def test_a_series_that_is_one_row_is_a_row() -> None:
    model = bw.NaiveBayes().fit(LOANS, REPAID)
    np.testing.assert_array_equal(model.predict_proba(LOANS.iloc[2]), model.predict_proba(LOANS.iloc[[2]]))
    maker = bw.DecisionMaker(bw.NaiveBayes(), LEND).fit(LOANS, REPAID)
    assert maker.predict(LOANS.iloc[2]).tolist() == maker.predict(LOANS.iloc[[2]]).tolist()
    assert (
        bw.decide(model, LOANS.iloc[2], LEND).action.tolist() == bw.decide(model, LOANS.iloc[[2]], LEND).action.tolist()
    )


def test_a_series_that_is_no_row_is_answered_with_what_to_type() -> None:
    for call in (
        lambda: bw.NaiveBayes().fit(LOANS["income"], REPAID),
        lambda: bw.NaiveBayes().fit(LOANS.to_numpy(), REPAID).predict(LOANS.iloc[0]),
    ):
        with pytest.raises(ParameterError, match=r"a Series of .* Fix: give a table: X.iloc\[\[0\]\]"):
            call()


def test_decisions_of_an_estimator_leave_out_columns_that_it_was_not_fitted_with() -> None:
    from sklearn.linear_model import LogisticRegression

    whole = LOANS.assign(repaid=REPAID)
    for model in (bw.NaiveBayes(), LogisticRegression()):
        fitted = model.fit(LOANS, REPAID)
        assert bw.decide(fitted, whole, LEND).action.tolist() == bw.decide(fitted, LOANS, LEND).action.tolist()
    decisions = bw.decide(bw.NaiveBayes().fit(LOANS, REPAID), whole, LEND)
    assert decisions.explain(2).action == decisions.explain(whole.iloc[2]).action == decisions.action[2]


def test_gaussian_classes_leave_out_categories_of_a_frame_as_fit_does() -> None:
    frame = pd.DataFrame(
        {"x": [1.0, 2.0, 3.0, 4.5] * 5, "colour": ["red", "blue"] * 10, "z": [2.0, 1.0, 5.0, 3.0, 8.0] * 4}
    )
    with pytest.warns(UserWarning, match=r"Gaussian classes are of numbers; left out: 'colour' \(category\)"):
        estimator = bw.GaussianBayes().fit(frame, REPAID)
    with pytest.warns(UserWarning, match="left out"):
        model = bw.fit(frame.assign(y=REPAID), "y", model="gaussian")
    np.testing.assert_array_equal(estimator.predict_proba(frame), model.predict_proba(frame))


def test_an_array_is_numbers_and_a_frame_has_flags() -> None:
    X = np.column_stack([np.arange(20) % 2, np.arange(20) % 7])
    kinds = [
        [column.kind for column in bw.NaiveBayes().fit(each, REPAID).model_.schema.columns]
        for each in (X, pd.DataFrame(X, columns=["u", "v"]))
    ]
    assert kinds == [["number", "number"], ["binary", "number"]]
