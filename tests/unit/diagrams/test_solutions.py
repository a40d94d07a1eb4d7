"""What a solution tells: policies in words and tables, scenarios, pictures; and evidence of any size."""

from __future__ import annotations

import numpy as np
import pytest

from bayeswise.decisions import Costs
from bayeswise.diagrams import Chance, Decision, InfluenceDiagram, Utility
from bayeswise.diagrams.solving.solver import LARGEST_STEP
from bayeswise.foundation.errors import CostError, ImpossibleEvidenceError, TooLargeError
from bayeswise.networks import BeliefNetwork
from tests.cases.diagram_cases import chain, medical, oil

YES_NO = ["yes", "no"]


def test_the_past_that_cannot_matter_is_not_part_of_a_policy() -> None:
    """The bag of the first draw is put back: the second guess needs the second draw alone."""
    diagram = InfluenceDiagram(
        [
            Chance("first", YES_NO, 0.5),
            Decision("guess 1", YES_NO, ["first"]),
            Chance("second", YES_NO, 0.5),
            Chance("hint", YES_NO, {"yes": 0.9, "no": 0.1}, ["second"]),
            Decision("guess 2", YES_NO, ["guess 1", "hint"]),
            Utility("win 1", [[1, 0], [0, 1]], ["guess 1", "first"]),
            Utility("win 2", [[1, 0], [0, 1]], ["guess 2", "second"]),
        ]
    )
    assert diagram.known("guess 2") == ("first", "guess 1", "hint")
    solution = diagram.solve()
    assert solution.policies["guess 2"].knows == ("hint",)
    assert solution.utility == pytest.approx(1.9)
    assert solution.in_words() == [
        "guess 1: yes if first is yes, else no",
        "guess 2: yes if hint is yes, else no",
    ]


def test_nothing_is_forgotten() -> None:
    """What the first decision saw helps the second, though no arc says so."""
    diagram = InfluenceDiagram(
        [
            Chance("coin", YES_NO, 0.5),
            Decision("look", YES_NO, ["coin"]),
            Decision("guess", YES_NO, ["look"]),
            Utility("win", [[1, 0], [0, 1]], ["guess", "coin"]),
        ]
    )
    assert diagram.solve().utility == 1.0
    assert diagram.solve().policies["guess"].knows == ("coin",)


def test_words_split_by_what_leaves_least_to_say() -> None:
    diagram = InfluenceDiagram(
        [
            Chance("a", ["1", "2", "3"], [0.2, 0.3, 0.5]),
            Chance("b", YES_NO, 0.4),
            Decision("act", ["x", "y", "z"], ["a", "b"]),
            Utility(
                "gain",
                {
                    "x": {"1": {"yes": 5, "no": 5}, "2": {"yes": 5, "no": 0}, "3": 0},
                    "y": 1,
                    "z": {"1": 0, "2": 0, "3": 3},
                },
                ["act", "a", "b"],
            ),
        ]
    )
    assert diagram.solve().in_words() == ["act: with a 1: x; with a 2: x if b is yes, else y; with a 3: z"]


def test_a_rule_that_would_fill_a_page_points_to_its_table() -> None:
    seen = [Chance(f"dial {k}", list("abcde"), [0.2] * 5) for k in range(3)]
    values = np.random.default_rng(0).normal(size=(2, 5, 5, 5))
    pieces = [*seen, Decision("turn", YES_NO, [piece.name for piece in seen])]
    diagram = InfluenceDiagram([*pieces, Utility("gain", values, ["turn", *(piece.name for piece in seen)])])
    assert diagram.solve().in_words() == ["turn: by dial 0, dial 1, dial 2: see its table of 125 cases"]


def test_a_policy_is_a_table_too() -> None:
    columns = oil().solve().policy("drill").to_columns()
    assert columns["report"] == ["closed", "open", "diffuse", "not done"]
    assert columns["drill"] == ["yes", "yes", "no", "yes"]
    assert columns["probability"] == pytest.approx([0.24, 0.35, 0.41, 0.0])
    assert columns["utility of yes"] == pytest.approx([87.5, 11.5 / 0.35, -12.5 / 0.41, 20.0])
    assert oil().solve().policy("drill").option({"test": "yes", "report": "open", "oil": "dry"}) == "yes"


def test_beliefs_follow_from_the_policies() -> None:
    solution = oil().solve()
    assert solution.query("drill")["yes"] == pytest.approx(0.59)
    assert solution.query("oil", {"drill": "yes"})["dry"] == pytest.approx(0.2 / 0.59)


def test_given_policies_are_evaluated() -> None:
    mine = {"test": "yes", "drill": {"yes": {"closed": "yes", "open": "no", "diffuse": "no"}, "no": "no"}}
    mine["drill"]["yes"]["not done"] = "no"  # type: ignore[index]
    found = oil().evaluate(mine)
    assert found.utility == pytest.approx(0.24 * 87.5 - 10)
    assert found.in_words()[1] == "drill: yes if report is closed, else no"
    assert oil().regret(mine) == pytest.approx(22.5 - 11)
    coin = oil().evaluate({"test": "no", "drill": [0.5, 0.5]})
    assert coin.utility == pytest.approx(10.0)
    assert coin.in_words()[1] == "drill: yes with 0.5, no with 0.5"
    half = {"yes": {"closed": [0.5, 0.5], "open": "no", "diffuse": "no", "not done": "no"}, "no": "yes"}
    assert oil().solve(policies={"drill": half}).utility == pytest.approx(20.0)  # then a test is not worth its price


def test_a_policy_may_be_given_by_any_nodes_that_are_known() -> None:
    by_report = oil().policy(
        "drill", {"closed": "yes", "open": "yes", "diffuse": "no", "not done": "no"}, knows=["report"]
    )
    assert oil().evaluate({"test": "yes", "drill": by_report}).utility == pytest.approx(22.5)
    assert oil().evaluate({"test": "no", "drill": by_report}).utility == 0.0


def test_a_policy_that_was_chosen_elsewhere_is_only_followed() -> None:
    """The best policies for a dry country, followed in this one: forcing the test keeps the rule of drilling."""
    dry = oil().changed([Chance("oil", ["dry", "wet", "soaking"], [0.69, 0.186, 0.124])])
    theirs = dry.solve().policies
    found = oil().evaluate(theirs)
    assert found.in_words()[1] == "drill: yes if report is closed, else no"
    assert found.options("test")["yes"] == pytest.approx(found.utility)
    assert found.utility == pytest.approx(0.24 * 87.5 - 10)


def test_ties_are_reported() -> None:
    diagram = InfluenceDiagram(
        [
            Chance("coin", ["head", "tail", "edge"], [0.5, 0.25, 0.25]),
            Decision("call", ["a", "b"], ["coin"]),
            Utility(
                "win",
                {"a": {"head": 1, "tail": 0, "edge": 0.1 + 0.2}, "b": {"head": 0, "tail": 1, "edge": 0.3}},
                ["call", "coin"],
            ),
        ]
    )
    policy = diagram.solve().policy("call")
    assert policy.in_words() == "a if coin is head or edge, else b (a tie in 1 of 3 cases)"
    assert policy.to_columns()["as good"] == ["", "", "b"]


def test_a_forbidding_penalty_does_not_blur_small_differences() -> None:
    """What must not happen costs 1e13; who avoids it still sees a hundredth, and the value of a look at a coin."""
    diagram = InfluenceDiagram(
        [
            Chance("coin", YES_NO, 0.5),
            Decision("act", ["never", "worse", "better"]),
            Utility(
                "fun", {"never": -1e13, "worse": {"yes": 1, "no": 1}, "better": {"yes": 1.02, "no": 1}}, ["act", "coin"]
            ),
        ]
    )
    assert diagram.solve().in_words() == ["act: better"]
    assert diagram.solve().utility == pytest.approx(1.01)
    bet = diagram.changed(
        [Utility("fun", {"never": -1e13, "worse": [0, 0.002], "better": [0.002, 0]}, ["act", "coin"])]
    )
    assert bet.value_of_information("coin", "act").value == pytest.approx(0.001)
    assert bet.solve().in_words() == ["act: worse (a tie in 1 of 1 cases)"]


def test_utilities_whose_sum_is_not_finite_are_refused() -> None:
    with pytest.raises(CostError, match="add up to"):
        InfluenceDiagram([Utility("a", 9e307), Utility("b", -1.7e308)])


def test_a_learned_network_becomes_a_diagram() -> None:
    rows = medical().solve(policies={"test": [0.5, 0.5]}).network.sample(4_000, seed=3)
    rows = {name: rows[name] for name in ("disease", "test", "result")}
    network = BeliefNetwork.learn(rows, parents={"result": ["test", "disease"]})
    learned = InfluenceDiagram.from_network(
        network,
        decisions=[Decision("treat", YES_NO, ["result"])],
        costs=Costs({"yes": {"yes": 15, "no": 10}, "no": {"yes": 60, "no": 0}}),
        about="disease",
    )
    policy = learned.solve({"test": "yes"}).policy("treat")
    assert [policy.option({"result": result}) for result in ("+", "-")] == ["yes", "no"]


def test_scenarios_name_what_happens_in_its_order() -> None:
    found = oil().solve().scenarios()
    assert found.nodes == ("test", "report", "drill", "oil")
    assert found.paths[0] == ("yes", "closed", "yes", "dry")
    assert found.to_columns()["contribution"][0] == pytest.approx(0.05 * -80)
    known = oil().solve({"oil": "dry"}).scenarios()
    assert known.nodes == ("test", "drill")  # who knows the oil needs no report
    assert known.expected_utility == 0.0
    everything = oil().solve({"oil": "dry", "test": "yes", "report": "open", "drill": "yes"}).scenarios()
    assert (len(everything), everything.expected_utility) == (1, -80.0)


def test_control_is_worth_what_the_best_state_brings() -> None:
    assert oil().value_of_control("oil") == pytest.approx({"dry": -22.5, "wet": 50 - 22.5, "soaking": 200 - 22.5})


def test_evidence_of_tiny_probability_has_a_right_answer() -> None:
    """500 signs, each of probability .01 or .02: P(evidence) is far below the smallest double."""
    signs = [Chance(f"sign {k}", YES_NO, {"yes": 0.02, "no": 0.01}, ["ill"]) for k in range(300)]
    others = [Chance(f"noise {k}", YES_NO, 0.001) for k in range(200)]
    diagram = InfluenceDiagram(
        [
            Chance("ill", YES_NO, 2.0**-301),
            *signs,
            *others,
            Decision("treat", YES_NO),
            Utility("gain", {"yes": {"yes": 1, "no": -0.5}, "no": 0}, ["treat", "ill"]),
        ]
    )
    evidence = {piece.name: "yes" for piece in (*signs, *others)}
    solution = diagram.solve(evidence)
    assert solution.utility == pytest.approx(0.0, abs=1e-12)  # odds of 1/2: P(ill) = 1/3 leaves 1/3 - 1/3 = 0
    assert solution.log_evidence == pytest.approx(diagram.network.log_evidence(evidence), rel=1e-12)
    assert solution.log_evidence < -2700
    assert diagram.sensitivity("ill", "yes", low=0.0, high=2.0**-300, evidence=evidence).thresholds == pytest.approx(
        (2.0**-301,), rel=1e-9
    )


def test_impossible_evidence_names_the_conflict() -> None:
    with pytest.raises(ImpossibleEvidenceError, match="test = no and report = open"):
        oil().solve({"test": "no", "report": "open"})


def test_memory_is_known_before_it_is_taken() -> None:
    n_seen = 30
    seen = [Chance(f"s{k}", YES_NO, 0.5) for k in range(n_seen)]
    act = Decision("act", YES_NO, [piece.name for piece in seen])
    parts = [Utility(f"u{k}", [[0, 1], [1, 0]], ["act", f"s{k}"]) for k in range(n_seen)]
    with pytest.raises(TooLargeError, match=f"{2.0 ** (n_seen - 2):.3g}|cells") as caught:
        InfluenceDiagram([*seen, act, *parts]).solve()
    assert f"{LARGEST_STEP:.3g} are allowed" in str(caught.value)


def test_a_long_chain_is_solved_by_the_past_that_matters() -> None:
    diagram = chain(1, n_steps=6)
    solution = diagram.solve()
    assert sum(solution.parts.values()) == pytest.approx(solution.utility, abs=1e-10)


def test_no_decision_is_a_plain_expectation() -> None:
    diagram = InfluenceDiagram([Chance("coin", YES_NO, 0.25), Utility("win", {"yes": 8, "no": 0}, ["coin"])])
    assert diagram.solve().utility == 2.0
    assert str(diagram.solve()) == "expected utility 2"
    assert diagram.solve().risk().values.tolist() == [0.0, 8.0]


def test_labels_of_any_kind_and_names_of_any_letters() -> None:
    diagram = InfluenceDiagram(
        [
            Chance("größe / 'x'", [1, 2.5, True, "1"], [0.1, 0.2, 0.3, 0.4]),
            Decision("wähle", [1, 2.5, True, "1"], ["größe / 'x'"]),
            Utility("gewinn", np.eye(4), ["wähle", "größe / 'x'"]),
        ]
    )
    solution = diagram.solve()
    assert solution.utility == pytest.approx(1.0)
    assert solution.policy("wähle").option({"größe / 'x'": "1"}) == "1"
    assert solution.policy("wähle").option({"größe / 'x'": 1}) == 1
    assert solution.policy("wähle").option({"größe / 'x'": True}) is True


def test_pictures_have_a_shape_for_each_kind() -> None:
    dot = oil().solve().picture().dot()
    assert '"gain" [shape=diamond' in dot
    assert '"report" -> "drill" [style=dashed]' in dot
    assert medical().picture().svg().startswith("<svg")
    assert "<svg" in medical()._repr_html_()
    assert "<svg" in medical().solve()._repr_html_()


def test_a_tornado_moves_only_what_has_a_range_if_nothing_else_spreads() -> None:
    found = oil().tornado(0.0, ranges={"P(oil = dry)": (0.4, 0.6), "gain (drill = yes, oil = wet)": (0, 100)})
    assert [str(bar.entry) for bar in found.bars] == ["P(oil = dry)", "gain (drill = yes, oil = wet)"]
    assert [bar.utility_low for bar in found.bars] == pytest.approx([38.0, 12.0])
    assert [bar.changes for bar in found.bars] == [True, True]


def test_displays_draw_what_they_tabulate() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    tornado = oil().tornado(0.2).plot()
    assert tornado.to_columns()["entry"][0] == "P(oil = dry)"
    assert len(tornado.ax_.get_yticks()) == 15
    risk = oil().solve().risk().plot()
    assert "0.61" in risk.ax_.get_title(loc="left")
    found = oil().sensitivity("oil", "dry").plot()
    assert len(found.to_columns()["from"]) == 4
    smooth = chain(0, n_steps=4).solve().risk()
    assert len(smooth.values) > 60
    assert smooth.plot().ax_.get_ylabel() == "probability of that or less"
    pyplot.close("all")
