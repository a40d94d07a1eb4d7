"""What a decision forgets and what is forbidden to it: written down, refused where it makes no sense, kept in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayeswise.diagrams import Chance, Decision, InfluenceDiagram, Utility
from bayeswise.foundation.errors import NetworkError, ParameterError, SourceError
from tests.cases.diagram_cases import oil, pigs

YES_NO = ["yes", "no"]


def careful() -> InfluenceDiagram:
    """The wildcatter who must not drill without a test, nor into what the report calls diffuse."""
    return oil().changed(
        [
            Decision(
                "drill",
                YES_NO,
                ["test", "report"],
                forbidden=[{"drill": "yes", "test": "no"}, {"drill": "yes", "report": "diffuse"}],
            )
        ]
    )


def test_who_must_not_drill_without_a_test_tests() -> None:
    solution = careful().solve()
    assert solution.utility == pytest.approx(22.5)
    assert {option: round(utility, 9) for option, utility in solution.options("test").items()} == {"yes": 22.5, "no": 0}
    assert solution.options("drill")["yes"] == pytest.approx(22.5)  # yes wherever it is allowed


def test_a_forbidden_option_has_no_utility_in_the_table_of_the_policy() -> None:
    columns = careful().solve({"test": "yes"}).policy("drill").to_columns()
    assert columns["report"] == ["closed", "open", "diffuse"]
    assert columns["utility of yes"][2] is None
    assert columns["utility of no"] == [0.0, 0.0, 0.0]


def test_a_policy_that_takes_a_forbidden_option_is_refused_and_says_where() -> None:
    with pytest.raises(ParameterError, match=r"takes 'yes' if test = yes, report = diffuse, where it is forbidden"):
        careful().solve(policies={"drill": "yes", "test": "yes"})
    with pytest.raises(ParameterError, match="the option 'yes' of 'drill' is forbidden if test = no"):
        careful().solve({"test": "no", "drill": "yes"})


@pytest.mark.parametrize(
    ("forbidden", "said"),
    [
        ([{"drill": YES_NO, "report": "open"}], "every option of 'drill' is forbidden if report = open"),
        ([{"drill": YES_NO}], "every option of 'drill' is forbidden"),
        ([{"drill": "yes", "oil": "dry"}], "depends on 'oil', which is not known then"),
        ([{"drill": "yes", "report": "opne"}], "'report' has no state 'opne'"),
        ([{"drill": "maybe"}], "'drill' has no option 'maybe'"),
        ([{"report": "open"}], "must name an option of it"),
        ([{"drill": "yes", "report": []}], "has no state of 'report'"),
        ([{"drill": "yes", "report": float("nan")}], "'report' has no state nan"),
        (["drill"], "must name an option of it"),
    ],
)
def test_forbidden_cases_that_make_no_sense_are_refused(forbidden: Any, said: str) -> None:
    with pytest.raises((NetworkError, ParameterError), match=said):
        oil().changed([Decision("drill", YES_NO, ["test", "report"], forbidden=forbidden)])


@pytest.mark.parametrize(
    ("knows", "forgets", "said"),
    [
        (["report"], ["tset"], "'drill' forgets 'tset', which is not a node. Fix: did you mean 'test'"),
        (["report"], ["oil"], "'drill' forgets 'oil', which it would not know anyway"),
        (["report", "test"], ["test"], "'drill' both knows and forgets 'test'"),
        (["report"], "test", "what 'drill' forgets is the text 'test'"),
    ],
)
def test_what_cannot_be_forgotten_is_refused(knows: Any, forgets: Any, said: str) -> None:
    with pytest.raises(NetworkError, match=said):
        oil().changed([Decision("drill", YES_NO, knows, forgets=forgets)])


def test_decisions_of_people_who_do_not_talk_need_no_order() -> None:
    pieces: list[Any] = [Chance("x", YES_NO, 0.5), Utility("u", [[1, 0], [0, 1]], ["a", "b"])]
    with pytest.raises(NetworkError, match="forgets='everything' in both"):
        InfluenceDiagram([*pieces, Decision("a", YES_NO, ["x"]), Decision("b", YES_NO)])
    apart = [Decision("a", YES_NO, ["x"], forgets="everything"), Decision("b", YES_NO, forgets="everything")]
    assert InfluenceDiagram([*pieces, *apart]).solve().utility == 1.0


def test_what_is_forgotten_stays_forgotten_until_it_is_observed_again() -> None:
    diagram = pigs().changed([Decision("treat 3", ["treat", "leave"], ["test 3"])])
    assert set(diagram.known("treat 3")) == {"test 2", "treat 2", "test 3"}
    again = pigs().changed([Decision("treat 3", ["treat", "leave"], ["test 3", "test 1"], forgets="everything")])
    assert set(again.known("treat 3")) == {"test 1", "test 3"}


def test_memory_has_a_value_as_any_information() -> None:
    assert pigs().value_of_information("test 2", "treat 3").value > 0.5


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@pytest.mark.parametrize("make", [careful, pigs])
def test_files_keep_what_is_forgotten_and_what_is_forbidden(make: Any, suffix: str, tmp_path: Path) -> None:
    make().write(tmp_path / f"d{suffix}")
    back = InfluenceDiagram.read(tmp_path / f"d{suffix}")
    assert back == make()
    assert back != oil().changed([])
    assert back.solve().utility == pytest.approx(make().solve().utility, abs=1e-12)


@pytest.mark.parametrize("suffix", [".xdsl", ".net", ".xmlbif"])
def test_formats_of_other_programs_say_what_they_cannot_hold(suffix: str, tmp_path: Path) -> None:
    assert oil().write(tmp_path / f"oil{suffix}") == ()
    [lost] = careful().write(tmp_path / f"careful{suffix}")
    assert lost == "options of 'drill' that are forbidden are lost"
    [lost] = pigs().write(tmp_path / f"pigs{suffix}")
    assert lost == "what 'treat 2' and 'treat 3' forget is lost: they remember everything"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("forbidden = 3", "forbidden must be a list of cases"),
        ("forbidden = [{ go = { a = 1 } }]", "must be a list of at most"),
        ('forgets = "all"', "forgets must be a list"),
        ('forgot = ["a"]', "the unknown entry 'forgot'"),
    ],
)
def test_mistakes_in_files_are_reported_with_their_node(line: str, said: str, tmp_path: Path) -> None:
    text = f'[decision.go]\noptions = ["yes", "no"]\n{line}\n[utility.u]\nparents = ["go"]\ntable = [1, 0]\n'
    (tmp_path / "d.toml").write_text(text)
    with pytest.raises(SourceError, match=rf"\[decision.go\]: .*{said}"):
        InfluenceDiagram.read(tmp_path / "d.toml")


def test_starts_are_a_whole_number() -> None:
    with pytest.raises(ParameterError, match="starts is 0"):
        pigs().solve(starts=0)
