"""The least change that changes the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cases import NEVER, golf, golf_alternatives, random_account

import bayeswise as bw
from bayeswise.explanations import Account, Contribution, least_change, least_change_of
from bayeswise.explanations import flip as flip_module
from bayeswise.foundation.errors import ParameterError
from bayeswise.statistics import Product, fingerprint


class Golf:
    """The least a model has to offer."""

    def explain(self, row: Any) -> Account:
        return golf()

    def alternatives(self, column: str) -> tuple[Contribution, ...]:
        return golf_alternatives()[column]


def test_one_other_value_is_enough_for_golf() -> None:
    found = least_change(golf(), golf_alternatives())
    assert found is not None
    assert str(found) == "no -> yes by outlook: sunny -> overcast"
    assert found.account.posterior.tolist() == [1.0, 0.0]


def test_what_must_stay_stays() -> None:
    found = least_change(golf(), golf_alternatives(), keep=["outlook"])
    assert str(found) == "no -> yes by humidity: high -> normal"
    assert least_change(golf(), golf_alternatives(), keep=["outlook", "humidity"]) is None


def test_nothing_helps_if_everything_must_stay() -> None:
    assert least_change(golf(), golf_alternatives(), keep=golf().columns) is None
    assert least_change(golf(), {}) is None


def test_a_model_provides_its_values() -> None:
    assert str(least_change_of(Golf(), {})) == "no -> yes by outlook: sunny -> overcast"
    assert str(least_change_of(Golf(), {}, to="yes", keep=["outlook"])) == "no -> yes by humidity: high -> normal"


def test_two_small_changes_where_one_is_not_enough() -> None:
    case = Account(("a", "b"), np.array([3.0, 0.0]), tuple(Contribution(c, 0, np.zeros(2)) for c in "xyz"))
    others = {c: [Contribution(c, 1, np.array([0.0, gain]))] for c, gain in zip("xyz", (1.0, 2.0, 1.5), strict=True)}
    found = least_change(case, others)
    assert found is not None
    assert [change.column for change in found.changes] == ["y", "z"]


def test_a_tie_goes_to_the_first_state() -> None:
    case = Account(("a", "b"), np.array([0.0, 1.0]), (Contribution("x", 0, np.zeros(2)),))
    exactly = {"x": [Contribution("x", 1, np.array([1.0, 0.0]))]}
    assert str(least_change(case, exactly)) == "b -> a by x: 0 -> 1"
    turned = Account(("b", "a"), np.array([1.0, 0.0]), (Contribution("x", 0, np.zeros(2)),))
    assert least_change(turned, {"x": [Contribution("x", 1, np.array([0.0, 1.0]))]}) is None


def test_a_sum_that_rounds_does_not_ask_for_one_change_too_many() -> None:
    near = Contribution("y", 0, np.array([-17.17683631, -15.0]))
    case = Account(("a", "b"), np.zeros(2), (Contribution("x", 0, np.array([-15.0, -15.0])), near))
    others = {"x": [Contribution("x", 1, np.array([0.0, -1.0]))], "y": [Contribution("y", 1, np.zeros(2))]}
    assert str(least_change(case, others)) == "b -> a by y: 0 -> 1"


def test_a_state_that_is_ruled_out_needs_that_column_changed() -> None:
    case = Account(
        ("a", "b"),
        np.array([0.0, -1.0]),
        (Contribution("x", 0, np.array([-1.0, NEVER])), Contribution("y", 0, np.array([-1.0, -1.0]))),
    )
    others = {
        "x": [Contribution("x", 1, np.array([-1.0, -1.0]))],
        "y": [Contribution("y", 1, np.array([-9.0, -1.0])), Contribution("y", 2, np.array([NEVER, NEVER]))],
    }
    found = least_change(case, others)
    assert found is not None
    assert [change.column for change in found.changes] == ["x", "y"]
    assert least_change(case, {"y": others["y"]}) is None


def test_a_prior_of_zero_never_wins() -> None:
    case = Account(("a", "b"), np.array([0.0, NEVER]), (Contribution("x", 0, np.zeros(2)),))
    assert least_change(case, {"x": [Contribution("x", 1, np.array([-9.0, 0.0]))]}) is None


def test_the_named_state_wins_and_not_a_third_one() -> None:
    case = Account(("a", "b", "c"), np.array([2.0, 1.0, 0.0]), tuple(Contribution(k, 0, np.zeros(3)) for k in "xy"))
    others = {
        "x": [Contribution("x", 1, np.array([0.0, 4.0, 3.0]))],  # lifts c above a, but b above both
        "y": [Contribution("y", 1, np.array([0.0, -3.0, 0.5]))],
    }
    found = least_change(case, others, to="c")
    assert found is not None
    assert (found.to, found.proven, len(found.changes)) == ("c", True, 2)
    anything = least_change(case, others)
    assert anything is not None
    assert (anything.to, len(anything.changes)) == ("b", 1)


def test_a_search_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flip_module, "_TRIED", 0)
    case = Account(("a", "b", "c"), np.array([2.0, 1.0, 0.0]), tuple(Contribution(k, 0, np.zeros(3)) for k in "xy"))
    others = {
        "x": [Contribution("x", 1, np.array([0.0, 4.0, 3.0]))],
        "y": [Contribution("y", 1, np.array([0.0, -3.0, 0.5]))],
    }
    found = least_change(case, others, to="c")
    assert found is not None
    assert (found.to, found.proven, len(found.changes)) == ("c", False, 2)


def test_the_answer_itself_is_not_a_target() -> None:
    with pytest.raises(ParameterError, match="the answer is 'no' already"):
        least_change(golf(), golf_alternatives(), to="no")


@pytest.mark.parametrize("where", ["alternatives", "keep"])
def test_an_unknown_column_is_refused(where: str) -> None:
    others = {"winds": golf_alternatives()["wind"]} if where == "alternatives" else {}
    with pytest.raises(ParameterError, match=r"no column 'winds'. Fix: did you mean 'wind'\?"):
        least_change(golf(), others, keep=["winds"] if where == "keep" else [])


def test_a_thousand_columns_take_no_time() -> None:
    case = random_account(3, 1000, seed=1)
    rng = np.random.default_rng(2)
    others = {c: [Contribution(c, k, np.log(rng.dirichlet(np.ones(3)))) for k in range(5)] for c in case.columns}
    found = least_change(case, others)
    assert found is not None
    assert found.account.most_probable != case.most_probable


@pytest.mark.parametrize("kind", ["naive-bayes", "averaged"])
def test_numbers_of_flat_and_two_humped_columns_lie_between_the_least_and_the_largest_value(kind: str) -> None:
    rng = np.random.default_rng(0)
    table = {
        "year": rng.integers(2001, 2021, 500),
        "two_humps": np.r_[rng.normal(0, 0.1, 250), rng.normal(5, 0.1, 250)],
        "y": ["a"] * 250 + ["b"] * 250,
    }
    columns = {name: np.asarray(cells).tolist() for name, cells in table.items()}
    model = bw.fit(columns, "y", model=kind, kinds=dict.fromkeys(list(table)[:-1], "number"))
    for name in model.schema.numbers:
        offered = [other.value for other in model.alternatives(name)]
        assert min(columns[name]) <= min(offered) < max(offered) <= max(columns[name]), name


SKEWED: dict[str, Any] = {
    "waiting": lambda rng: rng.exponential(10.0, 500),
    "income": lambda rng: rng.lognormal(0.0, 1.5, 500),
    "loss": lambda rng: -rng.exponential(3.0, 500),
    "share": lambda rng: rng.beta(0.3, 2.0, 500),
    "mostly_zero": lambda rng: np.where(rng.random(500) < 0.8, 0.0, rng.exponential(100.0, 500)),
    "outliers": lambda rng: rng.standard_cauchy(500),
    "visits": lambda rng: rng.poisson(1.2, 500).astype(float),
    "volume": lambda rng: rng.pareto(2.0, 500),
    "tiny": lambda rng: rng.exponential(1e-9, 500),
    "pressure": lambda rng: 1013.0 + rng.gamma(2.0, 3.0, 500),  # narrow beside its size: all in one or two buckets
    "kelvin": lambda rng: 300.0 - rng.exponential(4.0, 500),
    "time": lambda rng: 1.7e12 + rng.exponential(1e9, 500),
}


@pytest.mark.parametrize("how", ["naive-bayes normal", "averaged normal", "naive-bayes select"])
@pytest.mark.parametrize("n_rows", [12, 500])
def test_numbers_of_skewed_columns_lie_between_the_least_and_the_largest_value(how: str, n_rows: int) -> None:
    kind, families = how.split()
    rng = np.random.default_rng(0)
    columns = {name: draw(rng)[:n_rows].tolist() for name, draw in SKEWED.items()}
    chosen: Any = "select" if families == "select" else dict.fromkeys(columns, families)
    table = {**columns, "y": ["a", "b"] * (n_rows // 2)}
    model = bw.fit(table, "y", model=kind, kinds=dict.fromkeys(columns, "number"), families=chosen)
    for name, cells in columns.items():
        offered = [other.value for other in model.alternatives(name)]
        assert min(cells) <= min(offered) < max(offered) <= max(cells), name


def test_numbers_stay_inside_what_is_left_after_rows_are_forgotten() -> None:
    rng = np.random.default_rng(0)
    kept: Any = {"x": rng.exponential(1.0, 200).tolist(), "y": ["a", "b"] * 100}
    gone: Any = {"x": (-50.0 + rng.random(20)).tolist(), "y": ["a", "b"] * 10}
    both = {name: kept[name] + gone[name] for name in kept}
    options: Any = {"model": "naive-bayes", "families": {"x": "normal"}}
    forgot, never = bw.fit(both, "y", **options).forget(gone), bw.fit(kept, "y", **options)
    offered = [other.value for other in forgot.alternatives("x")]
    assert offered == [other.value for other in never.alternatives("x")]
    assert min(kept["x"]) <= min(offered) < max(offered) <= max(kept["x"])


def test_a_model_of_an_earlier_version_merges_with_one_that_knows_where_its_numbers_lie() -> None:
    table = {"x": [1.0, 2.5, 4.0, 8.0], "y": ["a", "b"] * 2}
    new = bw.fit(table, "y", kinds={"x": "number"}, model="naive-bayes")
    parts = {name: part for name, part in new.statistics.part.parts.items() if name != "extents"}
    old = replace(new, statistics=replace(new.statistics, part=Product(parts)))
    merged = [fingerprint(each.statistics) for each in (old.merge(new), new.merge(old), old.merge(old))]
    assert len(set(merged)) == 1
    assert len(old.merge(new).alternatives("x")) > 1


def test_a_model_of_very_many_columns_keeps_no_extents() -> None:
    for n_columns, kept in ((256, True), (257, False)):
        model = bw.NaiveBayes().fit(np.random.default_rng(0).normal(size=(20, n_columns)), [0, 1] * 10).model_
        assert ("extents" in model.statistics.part.parts) is kept
        assert len(model.alternatives(model.schema.numbers[0])) > 1
