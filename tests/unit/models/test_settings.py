"""A setting is declared once; `bw.fit`, the command line, the estimators and model files follow from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pytest
import typer
from typer.testing import CliRunner

import bayeswise as bw
from bayeswise.cli.options import settings as options
from bayeswise.estimators.base import with_parameters
from bayeswise.foundation.errors import ParameterError
from bayeswise.models import registry
from bayeswise.models.settings import help_text
from bayeswise.models.settings.declaration import declared, setting
from bayeswise.models.settings.naive_bayes import FamilyOptions, NaiveBayesSettings
from bayeswise.store.document import pack, unpack
from bayeswise.store.fields import written


# What somebody writes who adds two settings to a kind of model: the whole of it.
@dataclass(frozen=True, kw_only=True)
class BentSettings(NaiveBayesSettings):
    bend: float = setting(0.5, "how far it bends", metavar="B", at_least=0, at_most=1, later=True)
    edge: Literal["sharp", "round"] = setting("sharp", "form of its edges", earlier="border", later=True)


@dataclass(frozen=True, kw_only=True)
class BentOptions(BentSettings, FamilyOptions):
    model: Literal["bent"]


BENT = registry.ModelKind(
    "bent", (), "naive-bayes", "", f"{__name__}.BentSettings", f"{__name__}.BentOptions", ("naive-bayes",), ""
)


@pytest.fixture
def bent(monkeypatch: pytest.MonkeyPatch) -> Iterator[registry.ModelKind]:
    for home in (registry, help_text, options):
        monkeypatch.setattr(home, "MODELS", (*registry.MODELS, BENT))
    kept = (help_text.settings_by_kind, help_text.settings_by_option)
    for each in kept:
        each.cache_clear()
    yield BENT
    monkeypatch.undo()
    for each in kept:
        each.cache_clear()


def test_fit_has_it_in_its_signature_and_its_help(bent: registry.ModelKind) -> None:
    def fit(table: Any, **settings: Any) -> None:
        """Learn.

        Settings are listed by help(fit).
        """

    fit.__doc__ = inspect.cleandoc(fit.__doc__ or "").replace("\nSettings", "\n    Settings") + "\n"
    spelled = help_text.spelled_out(fit)
    parameter = inspect.signature(spelled).parameters["bend"]
    assert (parameter.default, parameter.annotation) == (0.5, "float")
    assert "bend             bent: how far it bends" in (spelled.__doc__ or "")


def test_the_command_line_has_it_with_its_type_bounds_and_earlier_name(bent: registry.ModelKind) -> None:
    found: dict[str, Any] = {}

    def run(**typed: Any) -> None:
        """Fit."""
        found.update(options.settings_of(bent, options.what_was_typed(typed)))

    app = typer.Typer(rich_markup_mode=None)
    app.command(cls=options.FitCommand)(options.with_settings(run))
    text = CliRunner().invoke(app, ["--help"]).output
    assert "--bend B" in text and "bent: how far it bends [0.5]." in text and "--edge <sharp|round>" in text
    assert text.index("Naive Bayes (") < text.index("--bend B") < text.index("Gaussian classes (")
    answer = CliRunner().invoke(app, ["--bend", "0.25", "--border", "round"])
    assert answer.exit_code == 0, answer.output
    assert found == {"bend": 0.25, "edge": "round"}


def test_the_estimator_needs_only_the_parameter(bent: registry.ModelKind) -> None:
    @with_parameters
    class BentBayes(bw.NaiveBayes):  # type: ignore[misc,name-defined]
        """Bent.

        Parameters are listed by help(BentBayes).
        """

        _settings_type = BentSettings
        bend: float = 0.5
        edge: str = "sharp"

    with pytest.warns(DeprecationWarning, match="border is now called edge"):
        estimator = BentBayes(border="round", bend=2.0)
    with pytest.raises(ParameterError, match=r"bend is 2\.0\. Fix: give a number from 0 to 1"):
        estimator._settings()
    kept = BentBayes(bend=0.25, edge="round")._settings()
    assert (kept.bend, kept.edge) == (0.25, "round")


def test_a_model_file_has_it_by_its_earlier_name_and_only_where_it_says_something() -> None:
    plain, changed = BentSettings(), BentSettings(bend=0.25, edge="round")
    assert set(written(changed)) - set(written(plain)) == {"bend", "border"}
    assert unpack(pack(changed), [BentSettings]) == changed and unpack(pack(plain), [BentSettings]) == plain


def test_fit_refuses_it_for_other_models(bent: registry.ModelKind) -> None:
    with pytest.raises(ParameterError, match=r"bend is not a setting of a linear model.*model='bent'"):
        registry.kind_of_name("linear").given({"bend": 0.5})


# -- bounds in words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bounds", "wrong", "fix"),
    [
        ({"at_least": 0}, -1, "give a number from 0 on"),
        ({"above": 0}, 0, "give a number above 0"),
        ({"above": 0, "at_most": 1}, 2, "give a number above 0 and up to 1"),
        ({"above": 0, "below": 1}, 1, "give a number above 0 and below 1"),
        ({"at_least": 0, "at_most": 1}, True, "give a number from 0 to 1"),
        ({}, float("inf"), "give a number"),
    ],
)
def test_a_number_out_of_bounds_is_refused_with_the_bounds(bounds: dict[str, float], wrong: Any, fix: str) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Sized(NaiveBayesSettings):
        size: float = setting(0.5, "size", **bounds)

    with pytest.raises(ParameterError) as refused:
        Sized(size=wrong)
    assert str(refused.value) == f"size is {wrong!r}. Fix: {fix}."


def test_every_setting_says_what_it_means_in_one_phrase() -> None:
    for kind in registry.MODELS:
        for each in {**kind.declared(), **declared(kind.settings_type())}.values():
            assert each.help and not each.help.endswith(".") and "\n" not in each.help, (kind.name, each.name)


def test_every_option_that_can_be_typed_is_read_into_a_setting() -> None:
    reader: Callable[..., Any] = options.settings_of
    for key, settings in help_text.settings_by_option().items():
        for having in settings.values():
            for kind, each in having.items():
                if not each.by_name and key != "prior":
                    value = True if isinstance(each.default, bool) else str(each.default)
                    assert each.name in reader(kind, {key: value})
