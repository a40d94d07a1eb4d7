"""Several attributes: outcomes in their own units, weights, and where the best policy changes with a weight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayeswise.diagrams import Attribute, Chance, Cost, Decision, Exponential, InfluenceDiagram, Utility
from bayeswise.foundation.errors import CostError, ParameterError, SourceError
from tests.cases.diagram_cases import best_of_all_policies, oil

YES_NO = ["yes", "no"]


def care(weight: float = 0.3, **more: Any) -> InfluenceDiagram:
    """An operation that cures more often, costs more and hurts for longer than tablets."""
    return InfluenceDiagram(
        [
            Decision("care", ["operation", "tablets", "wait"]),
            Chance("cured", YES_NO, {"operation": 0.9, "tablets": 0.6, "wait": 0.2}, ["care"]),
            Utility("health", {"yes": 1, "no": 0}, ["cured"], attribute="health"),
            Utility("days", {"operation": 20, "tablets": 5, "wait": 0}, ["care"], attribute="pain"),
            Utility("more days", {"yes": 0, "no": 10}, ["cured"], attribute="pain"),
            Cost("bill", {"operation": 8000, "tablets": 500, "wait": 0}, ["care"], attribute="money"),
        ],
        attributes=[
            Attribute("health", 0.5),
            Attribute("pain", weight, worst=30, best=0),
            Attribute("money", 0.5 - weight, worst=-8000, best=0),
        ],
        **more,
    )


def totals(diagram: InfluenceDiagram) -> dict[str, float]:
    """By hand: 0.5 P(cured) + w (30 - days) / 30 + (0.5 - w) (8000 - bill) / 8000."""
    w = diagram.attributes["pain"].weight
    found = {}
    for option, p, days, bill in (("operation", 0.9, 20, 8000), ("tablets", 0.6, 5, 500), ("wait", 0.2, 0, 0)):
        pain = (30 - days - 10 * (1 - p)) / 30
        money = diagram.attributes["money"].weight * (8000 - bill) / 8000
        found[option] = diagram.attributes["health"].weight * p + w * pain + money
    return found


def test_the_total_is_the_weighted_sum_of_scaled_outcomes() -> None:
    solution = care().solve()
    assert solution.options("care") == pytest.approx(totals(care()))
    assert solution.utility == pytest.approx(max(totals(care()).values()))
    assert solution.utility == pytest.approx(best_of_all_policies(care()))


def test_outcomes_are_reported_in_the_unit_of_each_attribute() -> None:
    columns = care().solve().attributes.to_columns()
    assert columns["attribute"] == ["health", "pain", "money"]
    assert columns["outcome"] == pytest.approx([0.6, 9.0, -500.0])  # tablets: 5 days, and 10 more for 4 in 10
    assert columns["contribution"] == pytest.approx([0.3, 0.3 * 21 / 30, 0.2 * 7500 / 8000])
    assert sum(columns["contribution"]) == pytest.approx(care().solve().utility)
    assert "pain: 9 (weight 0.3, adds 0.21)" in str(care().solve())
    assert care().solve().to_dict()["attributes"]["outcome"] == pytest.approx([0.6, 9.0, -500.0])


@pytest.mark.parametrize("attribute", ["health", "pain", "money"])
def test_the_best_policy_changes_with_a_weight_where_solving_again_says_so(attribute: str) -> None:
    diagram = care()
    found = diagram.weight_sensitivity(attribute)
    assert (found.low, found.high) == (0.0, pytest.approx(1.0))
    others = [name for name in diagram.attributes if name != attribute]
    rest = sum(diagram.attributes[name].weight for name in others)
    for weight in np.linspace(0.01, 0.99, 15).tolist():
        weights = {name: diagram.attributes[name].weight * (1 - weight) / rest for name in others}
        changed = diagram.with_weights({**weights, attribute: weight})
        assert found.utility_at(weight) == pytest.approx(max(totals(changed).values()))
    for threshold in found.thresholds:
        weights = {name: diagram.attributes[name].weight * (1 - threshold) / rest for name in others}
        first, second = sorted(totals(diagram.with_weights({**weights, attribute: threshold})).values())[-2:]
        assert first == pytest.approx(second, abs=1e-12)
    assert found.thresholds


def test_entries_move_in_the_unit_of_the_table() -> None:
    found = care().sensitivity("bill", given={"care": "operation"}, low=-8000, high=0)
    assert found.entry.value == -8000.0
    at_nothing = care().changed([Utility("bill", [0, -500, 0], ["care"], attribute="money")])
    assert found.utility_at(0.0) == pytest.approx(at_nothing.solve().utility)
    assert care().tornado(0.1, nodes=["days"]).bars[0].entry.value == 5.0


def test_utilities_without_an_attribute_are_added_as_they_are() -> None:
    more = care().changed([Utility("bonus", {"operation": 0.25, "tablets": 0, "wait": 0}, ["care"])])
    assert more.solve().options("care")["operation"] == pytest.approx(totals(care())["operation"] + 0.25)


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_files_keep_attributes_and_outcomes(suffix: str, tmp_path: Path) -> None:
    assert care().write(tmp_path / f"care{suffix}") == ()
    back = InfluenceDiagram.read(tmp_path / f"care{suffix}")
    assert back == care() != care(0.2)
    assert back.outcome("bill").tolist() == [-8000.0, -500.0, 0.0]


def test_other_formats_keep_the_total_and_say_that_attributes_are_lost(tmp_path: Path) -> None:
    [lost] = care().write(tmp_path / "care.xdsl")
    assert lost == "attributes are lost (health, pain, money): the utilities are written as they are weighed"
    assert InfluenceDiagram.read(tmp_path / "care.xdsl").solve().utility == pytest.approx(care().solve().utility)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Attribute("pain", -1), "the weight of the attribute 'pain' is -1"),
        (lambda: Attribute("pain", float("nan")), "must be a finite number; found nan"),
        (lambda: Attribute("pain", 1, worst=3, best=3), "goes from worst = 3.0 to best = 3.0"),
        (lambda: Attribute("pain", 1, worst=3), "goes from worst = 3.0 to best = None"),
        (lambda: Attribute("", 1), "an attribute must have a name"),
        (
            lambda: InfluenceDiagram(oil().pieces(), attributes={"money": 1}),
            "no utility is about the attribute 'money'",
        ),
        (lambda: InfluenceDiagram(care().pieces(), attributes={"heath": 1}), "did you mean 'heath'"),
        (lambda: InfluenceDiagram(care().pieces()), "is about 'health', which is not an attribute"),
        (lambda: InfluenceDiagram(care().pieces(), attributes=["health"]), "found 'health'"),  # type: ignore[list-item]
    ],
)
def test_attributes_that_make_no_sense_are_refused(make: Any, said: str) -> None:
    with pytest.raises(CostError, match=said):
        make()


def test_questions_about_weights_that_have_no_answer_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"no attribute 'pian'\. Fix: did you mean 'pain'"):
        care().weight_sensitivity("pian")
    with pytest.raises(ParameterError, match="cannot go from 0 to 2"):
        care().weight_sensitivity("pain", high=2)
    with pytest.raises(ParameterError, match="is not piecewise linear"):
        care(attitude=Exponential(1)).weight_sensitivity("pain")
    with pytest.raises(ParameterError, match="no attribute 'money'"):
        oil().weight_sensitivity("money")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[attribute.a]\nweight = -2", "weight of the attribute 'a' is -2"),
        ("[attribute.a]\nwieght = 2", "the unknown entry 'wieght'"),
        ("[attribute.a]\nworst = 2", "there is no weight"),
        ("[attribute]\na = 2", "must be a table; found 2"),
    ],
)
def test_mistakes_in_files_are_reported_with_their_place(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(f'[utility.u]\ntable = 1\nattribute = "a"\n{text}\n')
    with pytest.raises(SourceError, match=rf"\[attribute.a\].*{said}"):
        InfluenceDiagram.read(tmp_path / "d.toml")
