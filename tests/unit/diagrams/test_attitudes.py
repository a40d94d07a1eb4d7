"""Attitudes to risk: what they say, what they refuse, and that files keep them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayeswise.diagrams import Exponential, InfluenceDiagram, PiecewiseLinear, Utility
from bayeswise.foundation.errors import CostError, ParameterError, SourceError, TooLargeError
from tests.cases.diagram_cases import medical, oil

LOSS_AVERSE = PiecewiseLinear([(-100, -2), (0, 0), (100, 1)])


def test_a_cautious_wildcatter_leaves_the_ground_alone() -> None:
    bold, cautious = (oil().with_attitude(Exponential(tolerance)).solve() for tolerance in (1_000, 50))
    assert bold.policy("drill").option({"test": "yes", "report": "open"}) == "yes"
    assert str(cautious) == (
        "certainty equivalent 0 (risk tolerance 50): expected value 0, risk premium 0\ntest: no\ndrill: no"
    )
    assert bold.risk_premium == pytest.approx(bold.expected_value - bold.certainty_equivalent)
    assert 0.0 < bold.risk_premium < 22.5


def test_who_takes_no_risk_pays_no_premium() -> None:
    sure = oil().with_attitude(Exponential(100)).solve({"test": "yes", "report": "diffuse"})
    assert sure.certainty_equivalent == pytest.approx(-10.0, abs=1e-12)
    assert sure.risk_premium == 0.0


def test_without_an_attitude_the_certainty_equivalent_is_the_mean() -> None:
    solution = oil().solve()
    assert solution.certainty_equivalent == solution.expected_value == solution.utility
    assert "certainty_equivalent" not in solution.to_dict()


def test_plain_data_have_the_utility_and_the_sum_that_is_worth_as_much() -> None:
    facts = oil().with_attitude(LOSS_AVERSE).solve().to_dict()
    assert facts["attitude"] == {"kind": "piecewise", "points": [[-100, -2], [0, 0], [100, 1]]}
    assert facts["expected_utility"] == pytest.approx(float(LOSS_AVERSE.utility(facts["certainty_equivalent"])))
    assert facts["risk_premium"] == pytest.approx(facts["expected_value"] - facts["certainty_equivalent"])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Exponential(0), "the risk tolerance is 0"),
        (lambda: Exponential(float("nan")), "must be a finite number; found nan"),
        (lambda: Exponential("50"), "must be a finite number; found '50'"),  # type: ignore[arg-type]
        (lambda: PiecewiseLinear([(0, 0)]), "at least two points"),
        (lambda: PiecewiseLinear([(0, 0), (1, float("inf"))]), "must be a finite number; found inf"),
        (lambda: PiecewiseLinear([(0, 0), (1, -1)]), "utility must increase from point to point"),
        (lambda: PiecewiseLinear(7), "points must be pairs"),  # type: ignore[arg-type]
        (lambda: oil().with_attitude("bold"), "the attitude must be Exponential"),  # type: ignore[arg-type]
        (lambda: LOSS_AVERSE.certainty_equivalent([1, 2], [0.5, 0.6]), "do not make a distribution"),
    ],
)
def test_attitudes_that_make_no_sense_are_refused(make: Any, said: str) -> None:
    with pytest.raises(CostError, match=said):
        make()


def test_a_tolerance_too_small_for_doubles_says_the_smallest_that_is_not() -> None:
    with pytest.raises(TooLargeError, match=r"give a tolerance of at least 0\.56"):
        oil().with_attitude(Exponential(0.1)).solve()


def test_utilities_move_in_straight_lines_for_the_mean_alone() -> None:
    with pytest.raises(ParameterError, match="is not piecewise linear"):
        oil().with_attitude(LOSS_AVERSE).sensitivity("gain", given={"drill": "yes", "oil": "dry"})


def test_the_ends_of_a_tornado_are_certainty_equivalents_of_solving_again() -> None:
    diagram = oil().with_attitude(Exponential(200))
    bar = next(bar for bar in diagram.tornado(0.2, nodes=["gain"]).bars if "soaking" in str(bar.entry))
    for gain, found in ((160, bar.utility_low), (240, bar.utility_high)):
        table = {"no": 0, "yes": {"dry": -70, "wet": 50, "soaking": gain}}
        assert found == pytest.approx(diagram.changed([Utility("gain", table, ["drill", "oil"])]).solve().utility)


@pytest.mark.parametrize("attitude", [Exponential(-12.5), LOSS_AVERSE], ids=str)
@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_files_keep_the_attitude(attitude: Any, suffix: str, tmp_path: Path) -> None:
    diagram = medical().with_attitude(attitude)
    assert diagram.write(tmp_path / f"d{suffix}") == ()
    back = InfluenceDiagram.read(tmp_path / f"d{suffix}")
    assert back == diagram != medical()
    assert back.attitude == attitude
    [lost] = diagram.write(tmp_path / "d.xdsl")
    assert lost == f"the attitude to risk ({attitude}) is lost"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('kind = "exponental"\ntolerance = 5', "did you mean 'exponential'"),
        ("kind = { exponential = 5 }", "the attitude is of the kind"),
        ('kind = "exponential"', "there is no tolerance"),
        ('kind = "exponential"\ntolerance = nan', "must be a finite number"),
        ('kind = "piecewise"\npoints = [[0, 0], [0, 1]]', "utility must increase"),
        ('kind = "piecewise"\npoints = [[0, 0], [0, 1]]\ntolerance = 3', "the unknown entry 'tolerance'"),
    ],
)
def test_mistakes_in_files_are_reported_with_their_place(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(f"[utility.u]\ntable = 1\n[attitude]\n{text}\n")
    with pytest.raises(SourceError, match=rf"\[attitude\]: .*{said}"):
        InfluenceDiagram.read(tmp_path / "d.toml")
