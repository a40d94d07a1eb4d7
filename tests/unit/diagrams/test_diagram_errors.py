"""A diagram that makes no sense is refused when it is made, with a message that says where and how to fix it."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import bayeswise as bw
from bayeswise.decisions import CostWarning
from bayeswise.diagrams import Chance, Cost, Decision, InfluenceDiagram, Utility
from bayeswise.foundation.errors import CostError, NetworkError, ParameterError
from tests.cases.diagram_cases import medical, oil

YES_NO = ["yes", "no"]


def made(*pieces: Any) -> InfluenceDiagram:
    return InfluenceDiagram(pieces)


RAIN = Chance("rain", YES_NO, 0.3)
GO = Decision("go", YES_NO)
FUN = Utility("fun", {"yes": 1, "no": 0}, ["go"])


@pytest.mark.parametrize(
    ("pieces", "error", "said"),
    [
        ([RAIN, GO], NetworkError, "the diagram has no utility"),
        ([RAIN, RAIN, FUN, GO], NetworkError, "there are two nodes 'rain'"),
        ([GO, "fun"], NetworkError, "found 'fun'"),
        ([GO, Utility("fun", [1, 0], ["goo"])], NetworkError, "'fun' has the parent 'goo', which is not a node"),
        ([Decision("go", YES_NO, ["rian"]), RAIN, FUN], NetworkError, "did you mean 'rain'?"),
        (
            [
                Chance("a", YES_NO, [0.5, 0.5], ["go"]),
                Chance("b", YES_NO, [0.5, 0.5], ["a"]),
                Decision("go", YES_NO, ["b"]),
                FUN,
            ],
            NetworkError,
            "the edges form a cycle: a -> b -> go -> a",
        ),
        (
            [GO, Decision("stay", YES_NO), FUN],
            NetworkError,
            "the order of the decisions 'go' and 'stay' is undetermined",
        ),
        (
            [GO, FUN, Chance("joy", YES_NO, [0.5, 0.5], ["fun"])],
            NetworkError,
            "'joy' depends on the utility 'fun'; a utility cannot have children",
        ),
        (
            [GO, FUN, Decision("stay", YES_NO, ["go", "fun"])],
            NetworkError,
            "a utility cannot have children",
        ),
        ([GO, FUN, Utility("more", [0, 1], ["fun"])], NetworkError, "a utility cannot have children"),
        ([GO, RAIN, Utility("fun", [[1, 2, 3]], ["go", "rain"])], CostError, "has the shape (1, 3)"),
        ([GO, Utility("fun", {"yes": 1}, ["go"])], CostError, "has no entry for go = no"),
        ([GO, Utility("fun", {"yes": 1, "now": 0}, ["go"])], ParameterError, "did you mean 'no'?"),
        (
            [GO, Utility("fun", {"yes": {"a": 1}, "no": 0}, ["go"])],
            CostError,
            "given go = yes must be a number",
        ),
        (
            [GO, Utility("fun", {"yes": float("nan"), "no": 0}, ["go"])],
            CostError,
            "must be finite; found nan",
        ),
        ([GO, Utility("fun", [float("inf"), 0], ["go"])], CostError, "must be finite; found inf"),
        ([GO, Utility("fun", "much", ["go"])], CostError, "must be a number; found 'much'"),
        ([GO, Utility("fun", True, ["go"])], CostError, "must be a number"),
        (
            [GO, RAIN, Utility("fun", {"yes": 1, ("yes", "no"): 2, "no": 0}, ["go", "rain"])],
            CostError,
            "two entries for go = yes, rain = no",
        ),
        ([GO, FUN, Chance("wet", YES_NO, {"yes": 0.2}, ["go"])], NetworkError, "has no entry for go = no"),
        (
            [GO, FUN, Chance("wet", YES_NO, {"yes": 0.2, "no": "may"}, ["go"])],
            NetworkError,
            "has the entry 'may'",
        ),
        (
            [GO, FUN, Chance("wet", YES_NO, {"yes": [0.5, 0.6], "no": "no"}, ["go"])],
            NetworkError,
            "sums to 1.1",
        ),
        ([GO, FUN, Chance("wet", YES_NO, [[0.5, 0.5, 0]], ["go"])], NetworkError, "has the shape (1, 3)"),
    ],
)
def test_what_makes_no_diagram_is_refused(pieces: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        made(*pieces)
    assert said in str(caught.value)
    assert "Fix:" in str(caught.value)


@pytest.mark.parametrize(
    ("costs", "parents", "said"),
    [
        ({"yes": {"yes": 1, "maybe": 0}, "no": 0}, ["go", "rain"], "no entry for state 'no'"),
        ({"yes": {"yes": 1, "no": 0}, "stay": 0}, ["go", "rain"], "have no action 'no', which 'go' offers"),
        (
            {"yes": {"yes": 1, "no": 0}, "no": 0, "ask": 2},
            ["go", "rain"],
            "the action 'ask', which 'go' does not offer",
        ),
        ({"yes": {"yes": 1, "no": 0}, "no": 0}, ["go"], "about an action and a state"),
    ],
)
def test_costs_must_be_about_the_options_and_the_states(costs: Any, parents: list[str], said: str) -> None:
    with warnings.catch_warnings(), pytest.raises(CostError, match=said):
        warnings.simplefilter("ignore", CostWarning)
        made(GO, RAIN, Utility("loss", bw.Costs(costs), parents))


def test_costs_are_found_whichever_way_round_the_parents_stand() -> None:
    costs = bw.Costs({"stay": {"wet": 1, "dry": 4, "hot": 0}, "walk": {"wet": 5, "dry": 0, "hot": 2}})
    weather = Chance("weather", ["hot", "dry", "wet"], [0.2, 0.5, 0.3])
    do = Decision("do", ["walk", "stay"])
    one = made(weather, do, Utility("loss", costs, ["do", "weather"]))
    other = made(weather, do, Utility("loss", costs, ["weather", "do"]))
    assert one.utility("loss").tolist() == [[-2.0, 0.0, -5.0], [0.0, -4.0, -1.0]]
    assert other.utility("loss").tolist() == one.utility("loss").T.tolist()
    assert one.solve().expected_cost == other.solve().expected_cost == pytest.approx(0.2 * 2 + 0.3 * 5)


def test_a_state_alone_is_certain_in_every_case() -> None:
    diagram = made(GO, FUN, RAIN, Chance("wet", YES_NO, "no", ["go"]), Chance("dry", YES_NO, "yes", ["go", "rain"]))
    assert diagram.network.table("wet").tolist() == [[0.0, 1.0]] * 2
    assert diagram.network.table("dry").tolist() == [[1.0, 0.0]] * 4


def test_rows_of_the_last_levels_may_be_given_together() -> None:
    rows = {"yes": [[0.1, 0.9], [0.2, 0.8]], "no": [0.5, 0.5]}
    diagram = made(GO, FUN, RAIN, Chance("wet", YES_NO, rows, ["go", "rain"]))
    assert diagram.network.table("wet").tolist() == [[0.1, 0.9], [0.2, 0.8], [0.5, 0.5], [0.5, 0.5]]


def test_costs_turn_the_sign_once() -> None:
    with pytest.raises(CostError, match="twice"):
        made(GO, RAIN, Cost("loss", bw.Costs.zero_one(YES_NO), ["go", "rain"]))


def test_from_network_says_what_the_costs_are_about() -> None:
    network = bw.BeliefNetwork([RAIN])
    costs = {"yes": {"yes": 0, "no": 2}, "no": {"yes": 1, "no": 0}}
    with pytest.raises(CostError, match="about='NODE'"):
        InfluenceDiagram.from_network(network, decisions=[GO], costs=costs)
    with pytest.raises(CostError, match="0 decisions have the actions"):
        InfluenceDiagram.from_network(network, decisions=[Decision("go", ["a", "b"])], costs=costs, about="rain")
    changed = InfluenceDiagram.from_network(
        network, decisions=[GO], costs=costs, about="rain", nodes=[Chance("rain", YES_NO, 0.9)]
    )
    assert changed.solve().policy("go").option() == "yes"


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda d: d.solve({"report": "open"}), "depends on the decision 'test', which is still open"),
        (lambda d: d.solve({"gain": 1}), "no chance node or decision 'gain'"),
        (lambda d: d.solve({"oil": "damp"}), "'oil' has no state 'damp'"),
        (lambda d: d.solve({"test": "maybe"}), "'test' has no option 'maybe'"),
        (lambda d: d.solve({"test": "yes"}, policies={"test": "no"}), "both evidence and a policy"),
        (lambda d: d.solve(policies={"oil": "dry"}), "no decision 'oil'"),
        (lambda d: d.evaluate({"test": "yes"}), "no policy for 'drill'"),
        (lambda d: d.solve().policy("oil"), "no policy of 'oil'"),
        (lambda d: d.solve({"test": "yes"}).options("test"), "is made already"),
        (lambda d: d.solve().scenarios(["gas"]), "no chance node or decision 'gas'"),
        (lambda d: d.solve().scenarios([]), "about no open node"),
        (lambda d: d.solve().risk().quantile(2), "the share is 2"),
        (lambda d: d.solve().policies["drill"].option({"test": "yes"}), "needs 'report'"),
        (lambda d: d.value_of_information("test", "drill"), "no chance node 'test'"),
        (lambda d: d.value_of_information("oil", "oil"), "no decision 'oil'"),
        (lambda d: d.value_of_information("oil", "test", price=-1), "the price of oil is -1"),
        (lambda d: d.value_of_information("oil", "test", evidence={"test": "no"}), "is made already"),
        (lambda d: d.perfect_information(evidence={"test": "no", "drill": "no"}), "no decision is open"),
        (lambda d: d.value_of_control("test"), "no chance node 'test'"),
        (lambda d: d.value_of_control("oil", {"test": "yes", "report": "open"}), "is a consequence of 'oil'"),
        (lambda d: d.sensitivity("oil"), "which state of 'oil' is meant"),
        (lambda d: d.sensitivity("drill", "yes"), "no chance node or utility 'drill'"),
        (lambda d: d.sensitivity("report", "open"), "is given 'test' too"),
        (lambda d: d.sensitivity("oil", "dry", given={"test": "yes"}), "is not given 'test'"),
        (lambda d: d.sensitivity("oil", "dry", low=0.5, high=1.5), "stay from 0 to 1"),
        (lambda d: d.sensitivity("gain", given={"drill": "no", "oil": "dry"}), "give low=... and high=..."),
        (lambda d: d.sensitivity("gain", "dry", given={"drill": "no", "oil": "dry"}), "has no states"),
        (lambda d: d.tornado(2.0), "the spread is 2"),
        (lambda d: d.tornado(nodes=["test"]), "no chance node or utility 'test'"),
        (lambda d: d.tornado(ranges={"P(oil = dri)": (0, 1)}), "did you mean 'P(oil = dry)'?"),
        (lambda d: d.tornado(ranges={"P(oil = dry)": (0.5, 1.5)}), "cannot go from 0.5 to 1.5"),
        (lambda d: d.utility("price"), "no utility 'price'"),
        (lambda d: d.known("oil"), "no decision 'oil'"),
    ],
)
def test_questions_that_make_no_sense_say_what_to_ask_instead(ask: Any, said: str) -> None:
    with pytest.raises(ParameterError) as caught:
        ask(oil())
    assert said in str(caught.value)
    assert "Fix:" in str(caught.value)


def test_a_policy_may_only_use_what_is_known() -> None:
    found = oil().solve().policies["drill"]
    with pytest.raises(ParameterError, match="is not a policy of 'test'"):
        oil().solve(policies={"test": found})
    blind = oil().changed([Decision("drill", YES_NO, knows=["test"])])
    with pytest.raises(ParameterError, match="needs 'report', which is not known then"):
        blind.solve(policies={"drill": found})
    with pytest.raises(NetworkError, match="the policy of 'treat' given result = - is 'perhaps'"):
        medical().solve(policies={"treat": {"+": "yes", "-": "perhaps", "none": "no"}})
