"""The fix in the message about a diagram that is too large, and that it helps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bayeswise.cli import main
from bayeswise.diagrams import Chance, Decision, Exponential, InfluenceDiagram, PiecewiseLinear, Utility
from bayeswise.foundation.errors import ParameterError, TooLargeError
from bayeswise.render.numbers import number
from tests.cases.diagram_cases import YES_NO, chain, oil, tiger


def wide(n_seen: int, left_out: Any = ()) -> InfluenceDiagram:
    """One decision that knows very much, all of which matters."""
    seen = [Chance(f"s{k}", YES_NO, 0.5) for k in range(n_seen)]
    act = Decision("act", YES_NO, [piece.name for piece in seen if piece.name not in left_out])
    parts = [Utility(f"u{k}", [[0, 1], [1, 0]], ["act", f"s{k}"]) for k in range(n_seen)]
    return InfluenceDiagram([*seen, act, *parts])


def test_what_to_leave_out_of_what_is_known_is_enough() -> None:
    with pytest.raises(TooLargeError, match="solving needs a table") as caught:
        wide(30).solve()
    assert caught.value.fix is not None
    [names] = re.findall(r"^leave (.*) out of what 'act' knows$", caught.value.fix)
    left_out = re.findall(r"'([^']*)'", names)
    assert 0 < len(left_out) < 20
    wide(30, left_out).solve()


def test_exact_answers_that_are_refused_point_to_bounds_that_are_given() -> None:
    diagram = chain(1, 16, 2)
    with pytest.raises(TooLargeError, match=r"the exact answer needs a table over \d+ nodes.*diagram\.solve\(\)"):
        diagram.solve(exact=True)
    for ask in (
        lambda: diagram.information_values(),
        lambda: diagram.regret({"act 0": "left"}),
        lambda: diagram.sensitivity("state 0", "s0"),
    ):
        with pytest.raises(TooLargeError, match=r"diagram\.solve\(\)"):
            ask()
    assert diagram.solve().optimality_gap is not None


def test_decisions_that_forget_are_compared_where_exact_answers_were_refused() -> None:
    diagram = chain(1, 16, 2)
    with pytest.raises(TooLargeError, match="forgets='everything'"):
        diagram.regret({"act 0": "left"})
    forgetting = diagram.changed(
        [
            Decision(name, diagram.states(name), diagram.parents(name), forgets="everything")
            for name in diagram.decisions
        ]
    )
    assert forgetting.regret({"act 0": "left"}) >= 0.0


def test_the_number_of_decisions_to_recall_that_is_too_large_names_one_that_fits() -> None:
    diagram = chain(1, 20, 2)
    with pytest.raises(TooLargeError, match="policies that recall 19 decisions") as caught:
        diagram.solve(recall=19)
    [fitting] = re.findall(r"^choose recall=(\d+)$", caught.value.fix or "")
    assert diagram.solve(recall=int(fitting)).proof.recall == int(fitting)


@pytest.mark.parametrize("recall", [-1, 1.5, True, "2"])
def test_a_recall_that_is_not_a_number_of_decisions_is_refused(recall: Any) -> None:
    with pytest.raises(ParameterError, match="recall is"):
        oil().solve(recall=recall)


def test_recall_contradicts_exactness() -> None:
    with pytest.raises(ParameterError, match="not exact"):
        oil().solve(recall=1, exact=True)


def test_the_bounds_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "chain.toml"
    chain(5, 5, 2).write(path)
    assert main(["diagram", "solve", str(path), "--recall", "0"]) == 0
    assert re.search(
        r"no policies exceed -?[\d.]+.*; each decision recalls only what is new to it", capsys.readouterr().out
    )


def test_a_long_sequence_under_exponential_utility_names_a_remedy_that_helps() -> None:
    minding = tiger(14).with_attitude(Exponential(50))
    with pytest.raises(TooLargeError, match="write forgets='everything' in the decisions 'act 0'"):
        minding.solve()
    forgetting = [
        Decision(name, minding.states(name), minding.parents(name), forgets="everything") for name in minding.decisions
    ]
    assert minding.changed(forgetting).solve().utility >= -14.0  # to listen always


def test_bounds_of_an_attitude_are_written_as_the_sums_that_they_are() -> None:
    found = tiger(14).with_attitude(PiecewiseLinear([(-1000, -2), (0, 0), (200, 1)])).solve()
    lower, upper = found.bounds
    assert upper is not None and lower < upper
    assert f"no policies exceed {number(upper, 6)}, which is {number(upper - lower, 3)} more" in str(found)
