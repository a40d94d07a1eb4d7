"""Pictures of decisions and evaluations: the data can be read, and they draw."""

from __future__ import annotations

import re

import matplotlib as mpl
import numpy as np
import pytest

import bayeswise as bw
from bayeswise.decisions.plots import SimplexDisplay
from bayeswise.evaluation.cost_curves import coverage_curve
from bayeswise.evaluation.evaluate import Evaluation, evaluation_of
from bayeswise.evaluation.plots import ConfusionDisplay, CostsDisplay, CurveDisplay, ReliabilityDisplay
from bayeswise.evaluation.reliability import reliability
from bayeswise.evaluation.report import report_page
from bayeswise.foundation.errors import CostError
from bayeswise.models.held_out import HeldOut
from bayeswise.render.svg import round_ticks, triangle

mpl.use("Agg")
STATES = ("low $", "mid", "high")
COSTS = bw.Costs({"wait": {"low $": 0, "mid": 4, "high": 20}, "act": {"low $": 3, "mid": 1, "high": 2}}).with_reject(
    1.7
)


@pytest.fixture
def evaluation() -> Evaluation:
    generator = np.random.default_rng(0)
    shares = generator.dirichlet(np.ones(3), 60)
    truth = np.array([generator.choice(3, p=p) for p in shares])
    ones = np.ones(60)
    return evaluation_of(HeldOut(STATES, shares, truth, ones, ones > 0, "as it is"), COSTS)


def test_every_picture_draws_and_gives_its_data(evaluation: Evaluation) -> None:
    from matplotlib import pyplot as plt

    found = reliability(evaluation.decisions.posterior[:, 0], evaluation.truth == 0, STATES[0], bins=4)
    displays = [
        (CostsDisplay(evaluation), 6),
        (ConfusionDisplay(evaluation), 9),
        (CurveDisplay(coverage_curve(evaluation)), 60),
        (ReliabilityDisplay(found), 4),
        (SimplexDisplay(COSTS, posterior=evaluation.decisions.posterior), None),
    ]
    for display, lines in displays:
        display.plot()
        display.figure_.canvas.draw()
        assert lines is None or len(display.to_frame()) == lines
        _, ax = plt.subplots()
        assert display.plot(ax).ax_ is ax
    plt.close("all")


def test_the_regions_of_the_triangle_are_the_decisions() -> None:
    """Every corner of a region is a tie or an end; its middle is decided as the region says."""
    regions = SimplexDisplay(COSTS).regions
    assert set(regions) == {"wait", "act", "reject"}
    for action, corners in regions.items():
        middle = corners.mean(axis=0)
        assert bw.decide(middle[None], COSTS, states=STATES).action.tolist() == [action]
    areas = [
        abs(np.linalg.det(np.c_[c[1:-1] - c[0], c[2:] - c[0]].reshape(-1, 2, 3)[:, :, :2])).sum()
        for c in regions.values()
    ]
    assert sum(areas) == pytest.approx(1.0)
    with pytest.raises(CostError, match="three states"):
        SimplexDisplay(bw.Costs.zero_one(["a", "b"]))


def test_the_page_shows_the_regions_of_three_states_and_escapes_their_names() -> None:
    generator = np.random.default_rng(1)
    shares, truth = generator.dirichlet([1, 1, 1], 50), generator.integers(0, 3, 50)
    states = ("<a>", "b", "c")
    costs = bw.Costs({"<do>": {"<a>": 0, "b": 9, "c": 4}, "wait": {"<a>": 3, "b": 0, "c": 1}, "ask": 1.2})
    ones = np.ones(50)
    known = HeldOut(states, shares, truth, ones, ones.astype(bool), "as it is")
    page = report_page(evaluation_of(known, costs))
    assert page.count("<polygon") == 3 and page.count('r="1.8"') == 50
    assert "&lt;do&gt;" in page and "<do>" not in page and "<a>" not in page


def test_a_rule_of_three_states_is_shown_as_a_triangle(evaluation: Evaluation) -> None:
    shown = COSTS.rule().display(evaluation.decisions.posterior).plot()
    assert set(shown.to_columns()["action"]) <= set(COSTS.actions)
    with pytest.raises(CostError, match="three states"):
        bw.Costs.zero_one(["a", "b", "c", "d"]).rule().display()


def test_scales_end_at_round_numbers() -> None:
    assert round_ticks(1.33e-06, 0.993) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    for low, high in ((-1e9, 3.0), (1e-300, 2e-300), (5.0, 5.0000001), (0.05, 1.0)):
        ticks = round_ticks(low, high)
        assert ticks[0] <= low + 1e-9 * (high - low) and ticks[-1] >= high - 1e-9 * (high - low)
        assert 3 <= len(ticks) <= 9


def test_long_names_stay_inside_the_pictures() -> None:
    states = ["a state whose name goes on and on", "b", "c"]
    costs = bw.Costs.zero_one(states)
    page = triangle("regions", [f"{name} is certain" for name in states], {}, np.zeros((0, 3)))
    middle = float(re.findall(r'<text x="(\d+)"', page)[0])
    width = float(re.findall(r'viewBox="0 0 (\d+)', page)[0])
    assert middle - 3 * len(f"{states[0]} is certain") > 0 and middle < width
    shown = costs.rule().display([[0.2, 0.3, 0.5]])
    assert shown.posterior is not None and shown.posterior.shape == (1, 3)
    for wrong in ([[0.5, 0.5]], [[0.2, 0.3, float("nan")]], [[0.2, 0.3, 0.6]]):
        with pytest.raises(bw.BayeswiseError, match="posterior"):
            costs.rule().display(wrong)
