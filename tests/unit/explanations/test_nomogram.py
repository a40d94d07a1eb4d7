"""Points to add up."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cases import golf, golf_alternatives, random_account

from bayeswise.explanations import Account, Contribution, Nomogram
from bayeswise.foundation.errors import ParameterError


def test_the_points_of_golf_give_its_probability() -> None:
    nomogram = Nomogram.of(golf(), golf_alternatives(), "yes")
    assert nomogram.total is not None
    assert nomogram.probability(nomogram.total) == pytest.approx(125 / 611, rel=1e-12)
    assert nomogram.points_for(125 / 611) == pytest.approx(nomogram.total, rel=1e-12)


def test_the_widest_column_comes_first_and_has_100_points() -> None:
    nomogram = Nomogram.of(golf(), golf_alternatives(), "yes")
    assert nomogram.lines[0].column == "humidity"
    spans = {line.column: line.span for line in nomogram.lines}
    widest = math.log((6 / 9) / (1 / 5)) - math.log((3 / 9) / (4 / 5))
    assert spans["wind"] == pytest.approx(100 * math.log(3) / widest)
    assert [line.span for line in nomogram.lines] == sorted(spans.values(), reverse=True)
    assert nomogram.lines[0].points == (0.0, 100.0)
    assert nomogram.lines[0].values == ("high", "normal")


def test_a_value_that_decides_alone_stands_apart() -> None:
    outlook = next(line for line in Nomogram.of(golf(), golf_alternatives(), "yes").lines if line.column == "outlook")
    assert outlook.decisive == ("overcast",)
    assert outlook.values == ("sunny", "rainy")


def test_a_case_that_is_decided_has_no_total() -> None:
    overcast = next(c for c in golf_alternatives()["outlook"] if c.value == "overcast")
    nomogram = Nomogram.of(golf().with_changes({"outlook": overcast}), golf_alternatives())
    assert nomogram.total is None
    with pytest.raises(ParameterError, match="'outlook' decides alone"):
        nomogram.points({"wind": "weak"})


def test_other_values_have_other_points() -> None:
    nomogram = Nomogram.of(golf(), golf_alternatives(), "yes")
    normal = next(c for c in golf_alternatives()["humidity"] if c.value == "normal")
    changed = golf().with_changes({"humidity": normal})
    points = nomogram.points({"humidity": "normal"})
    assert nomogram.probability(points) == pytest.approx(changed.posterior[0], rel=1e-12)
    with pytest.raises(ParameterError, match=r"'humidity' has no value 'norml'. Fix: did you mean 'normal'\?"):
        nomogram.points({"humidity": "norml"})


def test_three_states_are_compared_two_by_two() -> None:
    account = random_account(3)
    nomogram = Nomogram.of(account, {}, "state 0", "state 2")
    assert not nomogram.complete
    assert nomogram.total is not None
    assert nomogram.log_odds(nomogram.total) == pytest.approx(account.log_odds("state 0", "state 2"), rel=1e-12)


def test_columns_that_say_nothing_have_no_points() -> None:
    account = Account(("a", "b"), np.log([0.75, 0.25]), (Contribution("x", 1, np.zeros(2)),))
    nomogram = Nomogram.of(account, {})
    assert (nomogram.total, nomogram.most_points) == (0.0, 0.0)
    assert nomogram.probability(0.0) == pytest.approx(0.75)
    assert math.isfinite(nomogram.points_for(0.5))


def test_a_value_that_no_state_allows_is_left_out() -> None:
    never = Contribution("wind", "hurricane", np.array([-np.inf, -np.inf]))
    nomogram = Nomogram.of(golf(), {"wind": [never]})
    wind = next(line for line in nomogram.lines if line.column == "wind")
    assert wind.values == ("strong",)


def test_a_state_has_no_points_against_itself() -> None:
    with pytest.raises(ParameterError, match="'yes' has no points against itself"):
        Nomogram.of(golf(), {}, "yes", "yes")
