"""A family is its own file and a name in `families`: whoever needs families asks there what each is for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import bayeswise as bw
from bayeswise import families
from bayeswise.cli.options.typed_sample import family_of
from bayeswise.exports.sql import to_sql
from bayeswise.families import Exponential, ExponentialParameters
from bayeswise.families.distributions import distribution, kinds_of_one_number
from bayeswise.families.protocol import Extent, Support
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import ExportError
from bayeswise.models.naive_bayes.choices import candidates, number_families
from bayeswise.render.expression import Expression


@dataclass(frozen=True)
class Waiting(Exponential):
    """p(x) = rate exp(-rate x), under a name that no list can know."""

    name: ClassVar[str] = "waiting"
    support: ClassVar[Support] = "positive"

    @staticmethod
    def law(stats: Any, rate: float) -> Any:
        return stats.expon(scale=1.0 / rate)

    def is_candidate(self, extent: Extent) -> bool:
        return extent.minimum > 7.0

    def log_density_expression(self, parameters: ExponentialParameters, x: Expression) -> Expression:
        return x * -float(parameters.rate) + float(np.log(parameters.rate))


def _forget_families() -> None:
    kinds_of_one_number.cache_clear()
    number_families.cache_clear()


@pytest.fixture(autouse=True)
def _exported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(families, "__all__", [*families.__all__, "Waiting"])
    monkeypatch.setattr(families, "Waiting", Waiting, raising=False)
    _forget_families()
    yield
    _forget_families()


def _table() -> dict[str, Any]:
    generator = np.random.default_rng(5)
    late: FloatArray = np.arange(200) % 2 == 1
    return {"wait": generator.exponential(np.where(late, 4.0, 1.0)), "late": np.where(late, "yes", "no")}


def test_the_command_line_finds_a_new_family_by_its_name() -> None:
    assert family_of("waiting") == Waiting()


def test_a_new_family_with_a_law_has_quantiles() -> None:
    assert distribution("waiting", rate=2.0).ppf(0.5) == pytest.approx(np.log(2.0) / 2.0)


def test_a_new_family_says_which_columns_it_may_be_chosen_for() -> None:
    assert [Waiting() in candidates(Extent(least, whole=False)) for least in (6.0, 8.0)] == [False, True]


def test_a_model_of_a_new_family_smooths_explains_and_exports_like_any_other() -> None:
    named, known = (bw.fit(_table(), "late", model="naive-bayes", families=name) for name in ("waiting", "exponential"))
    assert np.array_equal(named.predict_proba(_table()), known.predict_proba(_table()))
    assert repr(named.linear_form()) == repr(known.linear_form())
    assert "wait" in to_sql(named, "duckdb")


def test_a_family_without_an_expression_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    model = bw.fit(_table(), "late", model="naive-bayes", families="waiting")
    monkeypatch.delattr(Waiting, "log_density_expression")
    monkeypatch.delattr(Exponential, "log_density_expression")
    with pytest.raises(ExportError, match=r"family 'waiting' cannot be exported. Fix: choose one of bernoulli, beta"):
        to_sql(model, "duckdb")
