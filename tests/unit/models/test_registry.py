"""One table says what kinds of models there are; names, settings, learners and files follow from it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from typing import Any, get_args

import pytest

import bayeswise as bw
from bayeswise import statistics
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.files import Kinds, kind_of
from bayeswise.models.registry import MODELS, NAMES, ModelKind, kind_of_name
from bayeswise.models.settings.common import ColumnOptions
from bayeswise.models.settings.declaration import declared
from bayeswise.store.fields import field_hint

CLASSES = {"x": [0.0, 1.0, 2.5, 3.0, 4.5, 5.0], "y": ["a", "a", "b", "a", "b", "b"]}
NUMBERS = {"x": [0.0, 1.0, 2.5, 3.0, 4.5, 5.0], "y": [0.0, 1.5, 2.0, 3.5, 4.0, 5.5]}
BY_NAME = pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.name)


def learned(kind: ModelKind, name: str | None = None, **settings: Any) -> Any:
    table = NUMBERS if kind.name == "linear" else CLASSES
    return bw.fit(table, "y", model=name or kind.name, kinds={"x": "number"}, **settings)


@BY_NAME
def test_a_kind_names_the_settings_and_the_files_of_the_models_it_learns(kind: ModelKind) -> None:
    model = learned(kind)
    types = [path_of(each) for each in Kinds()[kind_of(model)].values()]
    assert path_of(type(model.settings)) == kind.settings and kind.settings in types
    assert kind_of(model) in kind.files and type(model) is Kinds()[kind_of(model)].model


def test_a_file_imports_no_type_but_those_of_its_kind() -> None:
    types = Kinds()["naive-bayes"]
    assert types["Sample"] is statistics.Sample and types["RowsWithHoles"] is statistics.RowsWithMissing
    for name in ("sample.Sample", "fingerprint", "BetaPrior", "GaussianBayesModel", "RowsWithMissing", ""):
        assert name not in types


def path_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def test_every_kind_of_file_but_networks_and_their_counts_is_that_of_one_kind_of_model() -> None:
    named = {file for kind in MODELS for file in kind.files}
    assert set(Kinds()) - named == {"belief-network", "mixed-network", "family-counts"}
    assert named <= set(Kinds())


@BY_NAME
def test_an_alias_learns_the_same_model(kind: ModelKind) -> None:
    for alias in kind.aliases:
        assert kind_of_name(alias) is kind
        assert repr(learned(kind, alias)) == repr(learned(kind))


def test_a_name_means_one_kind() -> None:
    assert len(NAMES) == sum(1 + len(kind.aliases) for kind in MODELS)


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ParameterError, match=r"there is no model 'gausian'.*gaussian"):
        kind_of_name("gausian")


def test_names_and_choices_load_no_numbers() -> None:
    code = "import sys, bayeswise.models.registry; sys.exit(len({'numpy', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- the settings that `fit` takes ----------------------------------------------------------------------------

FIT = inspect.signature(bw.fit).parameters
EVERY = {name for kind in MODELS for name in kind.declared()}
ONLY_LEARNED_WITH = {"families", "convention", "cuts", "temper", "within", *declared(ColumnOptions)}  # not kept
SET_BY_OTHERS = {"structure"}  # by the name of the model


def test_fit_spells_out_the_settings_of_all_models() -> None:
    spelled = {name for name, each in FIT.items() if each.kind is inspect.Parameter.KEYWORD_ONLY}
    assert spelled == {"model", *EVERY} and len(FIT) == len(spelled) + 2
    assert all(FIT[name].annotation not in (inspect.Parameter.empty, Any, "Any") for name in spelled)


def test_help_describes_every_setting_of_fit() -> None:
    lines = inspect.getdoc(bw.fit) or ""
    described = {name for name in FIT if re.search(rf"^    {name} ", lines, re.MULTILINE)}
    assert described == set(FIT) - {"table", "target"}


@pytest.mark.parametrize("group", sorted({kind.group for kind in MODELS}))
def test_what_models_keep_are_settings_that_fit_takes(group: str) -> None:
    kinds = [kind for kind in MODELS if kind.group == group]
    taken = {name for kind in kinds for name in kind.declared()}
    kept = {name for kind in kinds for name in declared(kind.settings_type())}
    assert taken - ONLY_LEARNED_WITH == kept - SET_BY_OTHERS - ONLY_LEARNED_WITH


@BY_NAME
def test_the_name_and_the_aliases_of_a_kind_are_those_that_type_checkers_know(kind: ModelKind) -> None:
    assert get_args(field_hint(kind.options_type(), "model")) == (kind.name, *kind.aliases)


@BY_NAME
def test_a_setting_of_other_models_is_refused_with_the_models_that_have_it(kind: ModelKind) -> None:
    for name in EVERY - set(kind.declared()):
        having = " or ".join(repr(other.name) for other in MODELS if name in other.declared())
        with pytest.raises(ParameterError) as refused:
            learned(kind, **{name: 1})
        article = "an" if kind.name[0] in "aeiou" else "a"
        assert f"{name} is not a setting of {article} {kind.name} model" in str(refused.value)
        assert f"model={having}" in str(refused.value)


def test_a_setting_of_no_model_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ParameterError, match=r"no setting 'smothing'.*smoothing"):
        learned(kind_of_name("naive-bayes"), smothing=1.0)


@pytest.mark.parametrize(
    ("name", "earlier", "today", "value"),
    [
        ("linear", "freedom", "df", 3.0),
        ("linear", "intercept", "fit_intercept", False),
        ("logistic", "freedom", "df", 3.0),
        ("logistic", "intercept", "fit_intercept", False),
        ("logistic", "moderated", "marginalize", True),
        ("logistic", "tolerance", "tol", 1e-6),
        ("logistic", "most_iterations", "max_iter", 150),
        ("gaussian", "divisor", "variance_divisor", "n-1"),
        ("tan", "strength", "smoothing", 2.0),
        ("aode", "strength", "smoothing", 2.0),
        ("k-dependence", "strength", "smoothing", 2.0),
        ("markov-blanket", "strength", "smoothing", 2.0),
        ("markov-blanket", "criterion", "score", "aic"),
    ],
)
def test_the_earlier_name_of_a_setting_means_the_same_and_warns(
    name: str, earlier: str, today: str, value: object
) -> None:
    kind = kind_of_name(name)
    with pytest.warns(DeprecationWarning, match=f"{earlier} is now called {today}"):
        before = learned(kind, **{earlier: value})
    assert before.settings == learned(kind, **{today: value}).settings != learned(kind).settings
    with pytest.raises(ParameterError, match=f"{earlier} and {today} are the same setting"):
        learned(kind, **{earlier: value, today: value})
