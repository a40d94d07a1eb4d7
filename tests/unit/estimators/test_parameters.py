"""The parameters of estimators are the settings of their models: names, defaults, checks and help."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import bayeswise as bw
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.settings.averaged import Relevance
from bayeswise.models.settings.declaration import declared
from bayeswise.models.settings.naive_bayes import Counts
from bayeswise.tables.schema import inference, kinds

X = np.array([[0.0, 1.0], [1.0, 2.0], [2.5, 1.0], [3.0, 4.0], [4.5, 2.0], [5.0, 9.0], [1.5, 3.0], [4.0, 6.0]])
Y = np.array(["a", "a", "b", "a", "b", "b", "a", "b"])
CLASSIFIERS = (bw.NaiveBayes, bw.AveragedNaiveBayes, bw.GaussianBayes, bw.LogisticRegression)
CLASSIFIERS = (*CLASSIFIERS, bw.NetworkClassifier, bw.AutoClassifier)
ESTIMATORS = (*CLASSIFIERS, bw.LinearRegression)
every_estimator = pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
# scikit-learn has a method `score`; an average has priors of its own in place of what plain naive Bayes does
OTHER_NAMES = {"score": "criterion"}
AVERAGED = {*declared(Counts), *declared(Relevance)}


def target_of(kind: Any) -> Any:
    return X[:, 0] + X[:, 1] if kind is bw.LinearRegression else Y


@every_estimator
def test_what_a_model_keeps_is_a_parameter_with_the_same_default(kind: Any) -> None:
    parameters = inspect.signature(kind).parameters
    kept = declared(kind._settings_type)
    for name in AVERAGED if kind is bw.AveragedNaiveBayes else kept:
        assert parameters[OTHER_NAMES.get(name, name)].default == kept[name].default, name


@every_estimator
def test_every_parameter_has_a_declared_default_and_a_line_of_help(kind: Any) -> None:
    known = {each.name: each for each in kind._declared()}
    for name, parameter in inspect.signature(kind).parameters.items():
        assert name not in known or parameter.default == known[name].default, name
        assert any(line.startswith(f"    {name}  ") for line in kind.__doc__.splitlines()), name
    assert "are listed by" not in kind.__doc__


@pytest.mark.parametrize(
    ("kind", "earlier", "today", "value"),
    [
        (bw.LinearRegression, "freedom", "df", 3.0),
        (bw.LogisticRegression, "freedom", "df", 3.0),
        (bw.LogisticRegression, "moderated", "marginalize", True),
        (bw.LogisticRegression, "tolerance", "tol", 1e-6),
        (bw.LogisticRegression, "most_iterations", "max_iter", 150),
        (bw.GaussianBayes, "divisor", "variance_divisor", "n-1"),
        (bw.NetworkClassifier, "strength", "smoothing", 2.0),
    ],
)
def test_the_earlier_name_of_a_parameter_means_the_same_and_warns(
    kind: Any, earlier: str, today: str, value: Any
) -> None:
    with pytest.warns(DeprecationWarning, match=f"{earlier} is now called {today}"):
        before = kind(**{earlier: value})
    assert before.get_params() == kind(**{today: value}).get_params() == clone(before).get_params()
    with pytest.warns(DeprecationWarning, match=f"{earlier} is now called {today}"):
        changed = kind().set_params(**{earlier: value})
    assert changed.get_params() == before.get_params()
    with pytest.raises(ParameterError, match=f"{earlier} and {today} are the same setting"):
        kind(**{earlier: value, today: value})
    with pytest.warns(DeprecationWarning, match=f"{earlier} is now called {today}"):
        search = GridSearchCV(kind(), {earlier: [value]}, cv=2).fit(X, target_of(kind))
    assert getattr(search.best_estimator_, today) == value
    settings = search.best_estimator_.model_.settings
    with pytest.warns(DeprecationWarning, match=f"{earlier} is now called {today}"):
        assert getattr(settings, earlier) == getattr(settings, today) == value


@pytest.mark.parametrize(
    ("kind", "model", "name", "value"),
    [
        (bw.NaiveBayes, "naive-bayes", "smoothing", -1.0),
        (bw.NaiveBayes, "naive-bayes", "variance_rule", "ad"),
        (bw.AveragedNaiveBayes, "averaged", "temper", 2.0),
        (bw.GaussianBayes, "gaussian", "shrinkage", 1.5),
        (bw.GaussianBayes, "gaussian", "variance_divisor", "n-2"),
        (bw.LogisticRegression, "logistic", "max_iter", 0),
        (bw.LinearRegression, "linear", "scale", "wide"),
        (bw.NetworkClassifier, "tan", "smoothing", float("nan")),
    ],
)
def test_a_wrong_setting_has_one_message_by_whichever_way_it_comes(
    kind: Any, model: str, name: str, value: Any
) -> None:
    with pytest.raises(ParameterError, match=f"{name} is {value!r}") as from_estimator:
        kind(**{name: value}).fit(X, target_of(kind))
    table = {"x": X[:, 0], "z": X[:, 1], "y": target_of(kind)}
    with pytest.raises(ParameterError) as from_fit:
        bw.fit(table, "y", model=model, **{name: value})
    assert str(from_estimator.value) == str(from_fit.value)
    assert from_fit.value.fix


# -- no work is done twice ------------------------------------------------------------------------------------


def counting(monkeypatch: pytest.MonkeyPatch, counts: Counter[str], owner: Any, name: str) -> None:
    inside: Callable[..., Any] = getattr(owner, name)

    def counted(*given: Any, **named: Any) -> Any:
        counts[name] += 1
        return inside(*given, **named)

    monkeypatch.setattr(owner, name, counted)


@every_estimator
def test_a_fit_reads_its_parameters_once_and_its_target_once(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from bayeswise.estimators import base, linear_regression
    from bayeswise.estimators.inputs import targets

    counts: Counter[str] = Counter()
    counting(monkeypatch, counts, kind, "_kept")
    counting(monkeypatch, counts, targets, "column_or_1d")
    for owner in (base, linear_regression):
        for name in ("class_labels", "number_column"):
            if hasattr(owner, name):
                counting(monkeypatch, counts, owner, name)
    kind().fit(X, target_of(kind))
    checked = "number_column" if kind is bw.LinearRegression else "class_labels"
    assert counts == {"_kept": 1, "column_or_1d": 1, checked: 1}


@pytest.mark.parametrize("model", ["naive-bayes", "gaussian", "logistic", "linear", "tan"])
def test_a_schema_is_inferred_without_notes_that_nobody_reads(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: Counter[str] = Counter()
    for owner, name in (
        (inference, "_advice"),
        (inference, "_classes"),
        (kinds, "advice_on"),
        (kinds, "note_on"),
        (kinds, "_hint"),
    ):
        counting(monkeypatch, counts, owner, name)
    numbers = model == "linear"
    table = {"x": X[:, 0].tolist(), "z": X[:, 1].tolist(), "y": (X[:, 0] + X[:, 1]).tolist() if numbers else Y.tolist()}
    bw.fit(table, "y", model=model)
    assert not counts
    from bayeswise.tables.source import open_source

    found = inference.examine(open_source(table), "y", kinds={"y": "category"})
    assert isinstance(found.advice, tuple) and counts["_advice"] == counts["_classes"] == 1
