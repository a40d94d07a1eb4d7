"""Intervals of a mean cost: never beyond the costs there are, and right as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bayeswise.foundation.errors import ParameterError
from bayeswise.statistics.intervals import Estimate, mean_with_interval


def of(values: list[float], bounds: tuple[float, float] | None = (0.0, 1.0), level: float = 0.95) -> Estimate:
    return mean_with_interval(np.array(values), np.ones(len(values)), level, bounds)


@pytest.mark.parametrize("n", [1, 2, 5, 20, 60])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_share_of_errors_is_covered_at_least_as_often_as_promised(n: int, level: float) -> None:
    """Exact coverage: the sum of the probabilities of all counts whose interval holds the share."""
    intervals = [of([1.0] * k + [0.0] * (n - k), level=level) for k in range(n + 1)]
    for share in np.linspace(0.001, 0.999, 101):
        covered = [each.low <= share <= each.high for each in intervals]
        assert stats.binom.pmf(np.arange(n + 1), n, share) @ covered >= level - 1e-12


@pytest.mark.parametrize(
    ("values", "shares"),
    [
        ([0.0, 1.0, 10.0], [0.6, 0.3, 0.1]),
        ([-5.0, 0.0, 1.0], [0.2, 0.4, 0.4]),
        ([0.0, 3.0, 3.5, 4.0], [0.25, 0.25, 0.25, 0.25]),
        ([0.0, 1.0, 2.0], [0.85, 0.1, 0.05]),
        ([0.0, 1.0, 99.0], [0.9, 0.08, 0.02]),  # the expensive one is often not seen; it is known from the costs
    ],
)
@pytest.mark.parametrize("n", [20, 60])
def test_costs_of_several_sizes_are_covered_as_often_as_promised(
    values: list[float], shares: list[float], n: int
) -> None:
    rng = np.random.default_rng(n)
    true = float(np.dot(values, shares))
    drawn = rng.choice(values, size=(1500, n), p=shares)
    found = [of(each.tolist(), (min(values), max(values))) for each in drawn]
    covered = np.mean([each.low <= true <= each.high for each in found])
    assert covered >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / 1500)
    students = [of(each.tolist(), None) for each in drawn]
    width, students_width = (np.mean([each.high - each.low for each in some]) for some in (found, students))
    wide = 3.0 if max(values) == 99.0 else 1.35
    assert width < wide * students_width  # and not at the price of intervals that say nothing


@settings(max_examples=200, deadline=None)
@given(
    cells=st.lists(st.sampled_from([0.0, 1e-300, 0.2, 0.5, 1.0]), min_size=1, max_size=12),
    scale=st.sampled_from([1.0, 1e-320, 1e-200, 1e200, 1.5e308]),
    weights=st.lists(st.sampled_from([0.1, 1.0, 3.0]), min_size=12, max_size=12),
)
def test_no_interval_leaves_its_bounds_at_any_scale(cells: list[float], scale: float, weights: list[float]) -> None:
    values = np.array(cells) * scale
    found = mean_with_interval(values, np.array(weights[: len(cells)]), 0.95, (0.0, scale))
    assert (
        0.0 <= found.low <= found.mean * (1 + 1e-12) and found.mean <= found.high * (1 + 1e-12) and found.high <= scale
    )


def test_no_error_in_n_rows_leaves_room_for_a_few() -> None:
    """0 of 20: the share q with (1 - q)^20 = 0.025."""
    assert of([0.0] * 20).high == pytest.approx(1 - 0.025 ** (1 / 20))
    assert of([0.0] * 20).low == 0.0
    always = of([2.0] * 5, (2.0, 2.0))
    assert (always.low, always.mean, always.high) == (2.0, 2.0, 2.0)


def test_costs_without_an_upper_bound_have_students_interval_cut_at_the_lower_one() -> None:
    values = [0.0, 0.0, 0.0, 9.0]
    student, cut = of(values, None), of(values, (0.0, np.inf))
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    assert (student.low, student.high) == pytest.approx((low, high)) and student.low < 0.0
    assert (cut.low, cut.high) == (0.0, student.high)


@pytest.mark.parametrize("level", [95, 0.0, 1.0, float("nan"), "0.95", None, True])
def test_a_level_that_is_not_a_share_is_refused(level: float) -> None:
    with pytest.raises(ParameterError, match="the level of confidence is"):
        of([0.0, 1.0], level=level)
