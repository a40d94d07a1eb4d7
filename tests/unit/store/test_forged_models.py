"""Forged model files, whose checksum is right: a part that no rows could have made is refused when it is loaded."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import NotFittedError, NotMergedError, ParameterError, StoreError
from bayeswise.foundation.exact import ExactArray
from bayeswise.store.document import Document
from tests.fuzz.model_files import packed, sealed

Change = Callable[[Any], Any]


@pytest.fixture
def load_forged(tmp_path: Path) -> Callable[..., Any]:
    """Load a model of some kind after a change of its tree and of one of its tensors."""

    def load(
        name: str,
        change: Change | None = None,
        tensor: str = "",
        array: Change | None = None,
        keep: Iterable[str] | None = None,
    ) -> Any:
        kind, original, _ = packed(name)
        tree = copy.deepcopy(original.tree)
        tensors = {each: original.tensors[each] for each in (original.tensors if keep is None else keep)}
        tree = change(tree) or tree if change else tree
        if array is not None:
            tensors[tensor] = np.ascontiguousarray(array(tensors[tensor]))
        path = tmp_path / "forged.bayeswise"
        path.write_bytes(sealed(Document(tree, tensors), kind))
        return bw.load(path)

    return load


def test_a_file_whose_root_is_a_tuple_is_not_a_model(load_forged: Any) -> None:
    with pytest.raises(StoreError, match="holds a tuple where a NaiveBayesModel belongs"):
        load_forged("naive-bayes", lambda tree: [1, "a"], keep=())


@pytest.mark.parametrize("name", ["gaussian-per-class", "gaussian-em", "linear"])
def test_a_negative_sum_of_squares_is_refused(load_forged: Any, name: str) -> None:
    _, document, _ = packed(name)
    cross = next(each for each in sorted(document.tensors) if each.endswith("/cross"))

    def negated(words: Any) -> Any:
        return (-ExactArray.from_words(words, 0)).words()

    with pytest.raises(StoreError, match="contradict each other"):
        load_forged(name, None, cross, negated)


def test_weights_that_are_not_one_for_each_feature_are_refused(load_forged: Any) -> None:
    with pytest.raises(StoreError, match="a regression of 6 features needs as many finite numbers"):
        load_forged("linear-poisson", None, "/weights", lambda weights: weights[:-1])
    with pytest.raises(StoreError, match="a regression of 6 features needs as many finite numbers"):
        load_forged("logistic", None, "/weights", lambda weights: weights * np.nan)


def test_statistics_of_other_columns_are_refused(load_forged: Any) -> None:
    def without_normal(tree: Any) -> None:
        parts = tree["statistics"]["part"]["parts"]["$map"]
        parts[:] = [pair for pair in parts if pair[0] != "normal"]

    with pytest.raises(StoreError, match="damaged"):
        load_forged("naive-bayes", without_normal)


def test_a_prior_of_no_group_is_refused() -> None:
    with pytest.raises(ParameterError, match="a prior has mean, strength, df and scale for each group"):
        bw.families.NormalInverseWishart(np.zeros((0, 2)), np.zeros(0), np.zeros(0), np.zeros((0, 2, 2)))


# -- what forged files showed about honest ones ---------------------------------------------------------------
def test_leaving_out_a_row_with_a_level_that_was_never_learned_says_so() -> None:
    model = bw.fit({"wind": ["weak", "strong", "weak"], "play": ["yes", "no", "yes"]}, "play", model="naive-bayes")
    with pytest.raises(NotMergedError, match="a level of column 'wind' that the model never learned"):
        model.leave_one_out({"wind": ["gale"], "play": ["yes"]})


def test_a_model_with_declared_classes_that_forgot_all_rows_says_that_it_has_none() -> None:
    rows = {"wind": ["weak", "strong"], "play": ["yes", "no"]}
    model = bw.fit(rows, "play", levels={"play": ["yes", "no"]}, model="naive-bayes").forget(rows)
    for question in (lambda: model.predict_proba(rows), lambda: model.sample(3)):
        with pytest.raises(NotFittedError, match="has learned no rows"):
            question()


def test_a_prediction_beyond_the_range_of_floats_is_the_largest_float() -> None:
    model = bw.fit({"x": [0.0, 1.0, 2.0], "y": [0.0, 10.0, 20.0]}, "y", model="linear", prior=None)
    largest = np.finfo(np.float64).max
    assert model.predict({"x": [1.7e308, -1.7e308, 1.0]}).tolist() == pytest.approx([largest, -largest, 10.0])


def test_terms_beyond_the_range_of_floats_may_cancel() -> None:
    rows = {"a": [0.0, 1.0, 0.0, 1.0], "b": [0.0, 0.0, 1.0, 1.0], "y": [0.0, 10.0, -10.0, 0.0]}
    model = bw.fit(rows, "y", model="linear", prior=None)
    assert np.isfinite(model.predict({"a": [1e308], "b": [1e308]})).all()
