"""What `bw.fit` learns where no model is named: auto, or the model that has the settings that are given."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import bayeswise as bw
from bayeswise.foundation.errors import FitError, ParameterError, SchemaError
from bayeswise.models.auto.model import AutoModel
from bayeswise.models.gaussian_bayes.model import GaussianBayesModel
from bayeswise.models.naive_bayes.model import NaiveBayesModel

ROWS = {"x": [0.5, 1.5, 2.5, 3.5] * 4, "z": [3.0, 1.0, 4.0, 1.5] * 4, "y": ["a", "a", "b", "b"] * 4}


def test_it_is_auto() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = bw.fit(ROWS, "y")
        assert isinstance(model, AutoModel) and repr(model) == repr(bw.fit(ROWS, "y", model="auto"))


def test_settings_of_auto_and_of_every_model_keep_auto() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = bw.fit(ROWS, "y", choose="best", ignore=["z"], class_prior={"a": 0.3, "b": 0.7}, smoothing=None)  # type: ignore[call-overload]
    assert isinstance(model, AutoModel) and len(model.members) == 1


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"smoothing": 2.0}, NaiveBayesModel),
        ({"families": {"x": "gamma"}, "kinds": {"x": "number"}}, NaiveBayesModel),
        ({"convention": "weka"}, NaiveBayesModel),
        ({"covariance": "shared"}, GaussianBayesModel),
    ],
    ids=str,
)
def test_a_setting_that_auto_does_not_have_chooses_the_model_that_has_it_and_says_so(
    settings: dict[str, Any], kind: type
) -> None:
    name = "naive-bayes" if kind is NaiveBayesModel else "gaussian"
    with pytest.warns(UserWarning, match=rf"^{next(iter(settings))}: not for auto, .*Fix: say model='{name}'") as said:
        model = bw.fit(ROWS, "y", **settings)
    assert isinstance(model, kind) and said[0].filename == __file__
    assert repr(model) == repr(bw.fit(ROWS, "y", model=name, **settings))


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"cuts": {"x": [2.0]}}, "cuts: a setting of several models.*Fix: choose model='tan' or model='aode'"),
        ({"scale": 1.0}, "scale: a setting of several models.*model='logistic' or model='linear'"),
        ({"covariance": "shared", "families": "select"}, "covariance and families: no model has all of these"),
        ({"smothing": 1.0}, "there is no setting 'smothing'. Fix: did you mean 'smoothing'"),
    ],
    ids=str,
)
def test_a_setting_of_several_or_of_no_models_is_a_question(settings: dict[str, Any], what: str) -> None:
    with pytest.raises(ParameterError, match=what):
        bw.fit(ROWS, "y", **settings)


def test_auto_that_is_named_takes_no_settings_of_others() -> None:
    with pytest.raises(ParameterError, match="smoothing is not a setting of an auto model"):
        bw.fit(ROWS, "y", model="auto", smoothing=2.0)  # type: ignore[call-overload]


def test_a_number_to_predict_is_sent_to_regression() -> None:
    rows = {"x": [float(k % 7) for k in range(60)], "y": [k**0.5 for k in range(60)]}
    with pytest.raises(SchemaError, match="model='linear'"):
        bw.fit(rows, "y")


@pytest.mark.parametrize("rows", [{"x": [1.0], "y": ["a"]}, {"x": [1, 1, 1, 1], "y": ["a", "b", "a", "b"]}])
def test_a_table_without_a_column_to_learn_from_is_said_in_one_sentence(rows: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match=r"no column to learn from: x \(only one value\)"):
        bw.fit(rows, "y")


@pytest.mark.parametrize("n_rows", [20, 120])
def test_a_target_like_an_id_is_refused_by_name(n_rows: int) -> None:
    """Each left-out row would be of a class that no model has seen; trees of 100 rows had no fold at all."""
    rows = [{"c": "ab"[k % 2], "order": f"A-{k}"} for k in range(n_rows)]
    with pytest.raises(FitError, match=f"'order' has {n_rows} classes in {n_rows} rows"):
        bw.fit(rows, "order")
    assert len(bw.fit(rows, "order", model="naive-bayes").classes) == n_rows
