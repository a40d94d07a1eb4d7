"""Pictures of Gaussian classes: what they show, and that they can be drawn."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats

from bayeswise.decisions import FeatureRule
from bayeswise.explanations import ClassDensities
from bayeswise.explanations.plots import BayesErrorDisplay, ClassDensityDisplay, RegionDisplay
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.gaussian_bayes import fit

mpl.use("Agg")
from matplotlib import pyplot as plt

COSTS = {"take b": {"a": 10, "b": 0}, "take a": {"a": 0, "b": 1}, "ask": 0.4}


@pytest.fixture(autouse=True)
def _close_figures() -> Any:
    yield
    plt.close("all")


def one_column(stddev: float = 1.0) -> Any:
    rows = [{"x": x, "y": "low $"} for x in (-1.0, 1.0)] + [{"x": 3.0 + s * stddev, "y": "high"} for s in (-1, 1)]
    return fit(rows, "y")


def two_columns() -> Any:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 2))
    return fit([{"u": u, "v": v + 2 * (k % 3), "y": "abc"[k % 3]} for k, (u, v) in enumerate(values.tolist())], "y")


def drawn(display: Any) -> bytes:
    buffer = io.BytesIO()
    display.plot().figure_.savefig(buffer, format="png")
    return buffer.getvalue()


@pytest.mark.parametrize(
    "make",
    [
        lambda: ClassDensityDisplay(one_column().class_densities()),
        lambda: ClassDensityDisplay(one_column(0.2).class_densities()),
        lambda: ClassDensityDisplay(two_columns().class_densities("v")),
        lambda: BayesErrorDisplay(one_column().class_densities()),
        lambda: BayesErrorDisplay(one_column(0.5).class_densities(), 0.7),
        lambda: RegionDisplay(two_columns().class_plane(rows={"u": [0.0] * 3, "v": [1.0] * 3, "y": list("abc")})),
        lambda: RegionDisplay(two_columns().changed(covariance="shared").class_plane()),
    ],
)
def test_each_picture_can_be_drawn(make: Any) -> None:
    assert drawn(make()).startswith(b"\x89PNG")


def test_each_curve_holds_the_share_of_its_class() -> None:
    """The area under p(class) p(x | class) is p(class), but for the tails beyond the picture."""
    display = one_column().plot_densities()
    shown = display.to_columns()
    areas = [np.trapezoid(shown[name], shown["x"]) for name in ("weighted_low $", "weighted_high")]
    assert areas == pytest.approx([0.5, 0.5], abs=1e-3)
    assert np.add(shown["posterior_low $"], shown["posterior_high"]) == pytest.approx(1.0)


def test_three_panels_stand_on_one_axis_above_the_regions() -> None:
    panels = one_column().plot_densities().ax_.child_axes
    assert [panel.get_ylabel() for panel in panels] == ["p(x | class)", "p(class) p(x | class)", "p(class | x)", ""]
    assert len({panel.get_xlim() for panel in panels}) == 1
    assert panels[-1].get_xlabel() == "x"
    assert [text.get_text() for text in panels[-1].texts] == ["R2: low \\$", "R1: high"]
    threshold = one_column().regions().thresholds.tolist()
    assert panels[-1].get_xticks(minor=True).tolist() == pytest.approx(threshold)
    assert len(one_column().plot_densities(panels=["posterior"]).ax_.child_axes) == 2


def test_a_threshold_beyond_the_picture_is_given_in_words() -> None:
    strip = one_column(1.02).plot_densities().strip
    assert len(strip.thresholds) == 1 and len(strip.pieces) == 2
    assert len(strip.beyond) == 1 and "high below" in strip.beyond[0]


def test_the_areas_of_the_error_picture_are_the_errors() -> None:
    display = one_column().plot_bayes_error(0.5)
    assert np.trapezoid(display.error_density(), display.x) == pytest.approx(display.error.error, abs=2e-3)
    assert np.trapezoid(display.irreducible_density(), display.x) == pytest.approx(display.error.irreducible, abs=1e-3)
    assert display.error.reducible > 0.05
    assert display.error.error == pytest.approx(one_column().error_at(0.5).error)
    named = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert [text.rsplit(" ", 1)[0] for text in named[:3]] == ["irreducible", "reducible", "error of the rule"]


def test_bars_stand_for_counts_and_levels() -> None:
    counts = ClassDensities.of({"few": stats.poisson(2), "many": stats.poisson(9)})
    upper = counts.plot().ax_.child_axes[0]
    assert len(upper.patches) == 2 * len(counts.points())
    levels = ClassDensities.of({"a": {"u": 1.0}, "b": {"u": 0.5, "v": 0.5}}, column="level")
    last = levels.plot().ax_.child_axes[-1]
    assert [tick.get_text() for tick in last.get_xticklabels()] == ["u", "v"]
    assert drawn(BayesErrorDisplay(counts, 4.5)) and drawn(BayesErrorDisplay(levels))


def test_a_density_without_a_bound_does_not_flatten_the_others() -> None:
    display = ClassDensities.of({"a": stats.beta(0.5, 0.5), "b": stats.norm(0.5, 0.2)}).plot(panels=["density"])
    assert display.ax_.child_axes[0].get_ylim()[1] < 12


def test_actions_under_costs_have_regions_of_their_own() -> None:
    rule = FeatureRule.of({"a": stats.norm(0, 1), "b": stats.norm(3, 1)}, {"a": 0.5, "b": 0.5}, COSTS)
    texts = [text.get_text() for text in rule.plot(column="score").ax_.child_axes[-1].texts]
    assert [text.partition(":")[0] for text in texts] == ["R2", "R3", "R1"]


def test_the_region_of_a_point_is_the_prediction_there() -> None:
    model = two_columns()
    plane = model.class_plane(points=15)
    found = [model.classes[k] for k in plane.winners().ravel()]
    grid = np.stack(np.meshgrid(plane.x, plane.y), axis=-1).reshape(-1, 2)
    assert found == model.predict([{"u": u, "v": v} for u, v in grid.tolist()])


def test_a_picture_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(ParameterError, match="two columns"):
        one_column().class_plane()
    with pytest.raises(ParameterError, match="choose among density"):
        one_column().plot_densities(panels=["cdf"])
