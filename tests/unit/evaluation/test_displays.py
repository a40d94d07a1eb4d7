"""Pictures of decisions and evaluations: the data can be read, and they draw."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

import bayeswise as bw
from bayeswise.decisions.displays import SimplexDisplay
from bayeswise.evaluation.curves import coverage_curve
from bayeswise.evaluation.displays import ConfusionDisplay, CostsDisplay, CurveDisplay, ReliabilityDisplay
from bayeswise.evaluation.evaluate import Evaluation, evaluation_of
from bayeswise.evaluation.held_out import HeldOut
from bayeswise.evaluation.reliability import reliability
from bayeswise.foundation.errors import CostError

mpl.use("Agg")
STATES = ("low $", "mid", "high")
COSTS = bw.Costs(
    {"wait": {"low $": 0, "mid": 4, "high": 20}, "act": {"low $": 3, "mid": 1, "high": 2}}
).with_reject(1.7)


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
