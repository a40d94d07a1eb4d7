"""Unit costs that differ so much that no finite action balances them are refused."""

from __future__ import annotations

import pytest
from scipy.stats import norm

from bayeswise.decisions.number_actions import pinball_action
from bayeswise.foundation.errors import CostError


@pytest.mark.parametrize(("under", "over"), [(1e20, 1.0), (1e300, 1e-10), (1e-320, 1e300)])
def test_a_cost_beside_which_the_other_vanishes_is_refused(under: float, over: float) -> None:
    with pytest.raises(CostError, match="the other does not count"):
        pinball_action(norm(100, 20), under=under, over=over)


def test_costs_that_differ_by_many_digits_still_have_an_action() -> None:
    assert 200 < float(pinball_action(norm(100, 20), under=1e12, over=1.0)) < 260
