"""Pictures of Gaussian classes: what they show, and that they can be drawn."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from bayeswise.explanations.plots import BayesErrorDisplay, ClassDensityDisplay, RegionDisplay
from bayeswise.explanations.plots.densities import Curves
from bayeswise.explanations.plots.regions import Plane
from bayeswise.foundation.errors import ParameterError
from bayeswise.models.gaussian_bayes import fit

mpl.use("Agg")
from matplotlib import pyplot as plt


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
        lambda: ClassDensityDisplay.from_model(one_column()),
        lambda: ClassDensityDisplay.from_model(one_column(0.2)),
        lambda: ClassDensityDisplay.from_model(two_columns(), "v"),
        lambda: BayesErrorDisplay.from_model(one_column()),
        lambda: BayesErrorDisplay.from_model(one_column(0.5), 0.7),
        lambda: RegionDisplay.from_model(two_columns(), rows=np.zeros((3, 2)), row_states=[0, 1, 2]),
        lambda: RegionDisplay.from_model(two_columns().changed(covariance="shared")),
    ],
)
def test_each_picture_can_be_drawn(make: Any) -> None:
    assert drawn(make()).startswith(b"\x89PNG")


def test_each_curve_holds_the_share_of_its_class() -> None:
    """The area under p(class) p(x | class) is p(class), but for the tails beyond the picture."""
    curves = Curves.of(one_column())
    areas = [np.trapezoid(values, curves.x) for values in curves.weighted]
    assert areas == pytest.approx([0.5, 0.5], abs=1e-3)


def test_a_threshold_beyond_the_picture_is_told_in_words() -> None:
    curves = Curves.of(one_column(1.02))
    assert len(curves.thresholds) == 1 and len(curves.states) == 2
    assert len(curves.beyond) == 1 and "high below" in curves.beyond[0]


def test_the_areas_of_the_error_picture_are_the_errors() -> None:
    display = BayesErrorDisplay.from_model(one_column(), 0.5)
    x = display.curves.x
    assert np.trapezoid(display.error_density(), x) == pytest.approx(display.error.error, abs=2e-3)
    least = np.trapezoid(display.curves.weighted.min(axis=0), x)
    assert least == pytest.approx(display.error.irreducible, abs=1e-3)
    assert display.error.reducible > 0.05


def test_the_region_of_a_point_is_the_prediction_there() -> None:
    model = two_columns()
    plane = Plane.of(model, points=15)
    found = [model.classes[k] for k in plane.winners().ravel()]
    grid = np.stack(np.meshgrid(plane.x, plane.y), axis=-1).reshape(-1, 2)
    assert found == model.predict([{"u": u, "v": v} for u, v in grid.tolist()])


def test_a_picture_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(ParameterError, match="two columns"):
        RegionDisplay.from_model(one_column())
    with pytest.raises(ParameterError, match="two classes"):
        BayesErrorDisplay(Curves.of(two_columns(), "u"), 0.0, None)
