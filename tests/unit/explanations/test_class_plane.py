"""Classes over two columns: given or fitted, as actions, side by side, with one row far out."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats

import bayeswise as bw
from bayeswise.foundation.errors import NoSuchAnswerError, ParameterError

mpl.use("Agg")
from matplotlib import pyplot as plt

RANDOM = np.random.default_rng(1)
TABLE = {
    "x": [*RANDOM.normal(0, 1, 30), *RANDOM.normal(3, 1, 30)],
    "y": [*RANDOM.normal(0, 1, 30), *RANDOM.normal(1, 1, 30)],
    "c": ["a"] * 30 + ["b"] * 30,
}
COSTS = bw.Costs({"take b": {"a": 10, "b": 0}, "take a": {"a": 0, "b": 1}, "ask": 0.4})


@pytest.fixture(autouse=True)
def _close_figures() -> Any:
    yield
    plt.close("all")


def grid_of(plane: bw.ClassPlane) -> dict[str, Any]:
    across, up = np.meshgrid(plane.x, plane.y)
    return {"x": across.ravel(), "y": up.ravel()}


def test_given_classes_have_the_density_of_scipy() -> None:
    covariance = [[1, 0.7], [0.7, 1]]
    plane = bw.ClassPlane.of({"a": ([0, 0], covariance), "b": ([2, 1], np.eye(2))}, {"a": 0.3, "b": 0.7}, points=9)
    points = np.stack(np.meshgrid(plane.x, plane.y), axis=-1)
    expected = np.log(0.3) + stats.multivariate_normal([0, 0], covariance).logpdf(points)
    assert plane.log_joint[:, :, 0] == pytest.approx(expected)


def test_a_circle_is_a_circle_and_its_half_axes_are_the_roots_of_the_eigenvalues() -> None:
    plane = bw.ClassPlane.of({"I": ([0, 0], np.eye(2)), "diag": ([7, 0], np.diag([2, 0.5]))})
    assert plane.plot().ax_.get_aspect() == 1.0
    assert np.hypot(*plane.ellipse(0, 2.0).T) == pytest.approx(2.0)
    wide, high = np.ptp(plane.ellipse(1, 1.0, points=721), axis=0) / 2
    assert (wide, high) == pytest.approx((np.sqrt(2), np.sqrt(0.5)), rel=1e-4)


def test_columns_in_other_units_keep_axes_of_their_own() -> None:
    plane = bw.ClassPlane.of({"a": ([0, 0], [[1, 0], [0, 1e6]])})
    assert plane.plot().ax_.get_aspect() == "auto"
    assert plane.plot(equal=True).ax_.get_aspect() == 1.0


@pytest.mark.parametrize("kind", ["naive-bayes", "gaussian-bayes", "logistic"])
def test_a_region_is_where_the_model_predicts_its_class(kind: Any) -> None:
    model = bw.fit(TABLE, target="c", model=kind)
    plane = model.class_plane(rows=TABLE, points=9)
    assert [model.classes[k] for k in plane.winners().ravel()] == model.predict(grid_of(plane))


def test_actions_are_those_that_bw_decide_takes() -> None:
    model = bw.fit(TABLE, target="c", model="naive-bayes")
    plane = model.class_plane(costs=COSTS, points=11)
    decided = bw.decide(model, grid_of(plane), COSTS)
    assert plane.to_columns()["action"] == list(decided.action)
    assert set(decided.action) == {"take a", "take b", "ask"}
    texts = [text.get_text() for text in plane.plot().ax_.get_legend().get_texts()]
    assert texts == ["take b", "take a", "ask"]


def test_one_far_row_stands_at_the_edge() -> None:
    far = {"x": [*TABLE["x"], 400.0], "y": [*TABLE["y"], 1.0], "c": [*TABLE["c"], "b"]}
    shown = bw.fit(TABLE, target="c", model="logistic").plot_regions(rows=far)
    assert shown.ax_.get_xlim()[1] < 20
    assert any(line.get_marker() == ">" for line in shown.ax_.lines)
    assert "(400, 1)" in [text.get_text() for text in shown.ax_.texts]


def test_two_planes_stand_on_the_same_axes() -> None:
    quadratic = bw.fit(TABLE, target="c", model="gaussian-bayes")
    linear = quadratic.changed(covariance="shared")
    shown = quadratic.class_plane().plot_beside(linear.class_plane(), titles=("quadratic", "linear"))
    one, other = shown.ax_.child_axes
    assert (one.get_xlim(), one.get_ylim()) == (other.get_xlim(), other.get_ylim())
    assert [room.get_title(loc="left") for room in (one, other)] == ["quadratic", "linear"]


def test_a_column_that_is_not_drawn_has_a_value_or_is_integrated_out() -> None:
    table = {**TABLE, "z": RANDOM.normal(size=60)}
    naive, logistic = (bw.fit(table, target="c", model=kind) for kind in ("naive-bayes", "logistic"))
    plane = naive.class_plane(["x", "y"], at={"z": 5.0}, points=5)
    rows = {**grid_of(plane), "z": [5.0] * 25}
    assert plane.log_joint.reshape(25, -1) == pytest.approx(naive.log_joint(rows))
    with pytest.raises(NoSuchAnswerError, match="at= for other columns"):
        logistic.class_plane(["x", "y"], table)
    assert logistic.class_plane(["x", "y"], table, at={"z": 0.0}, points=5).classes == ("a", "b")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "no class"),
        ({"a": 3}, r"give \(mean, covariance\)"),
        ({"a": ([0, 0, 0], np.eye(3))}, "2 x 2"),
        ({"a": ([0, 0], [[1, 2], [2, 1]])}, "positive definite"),
    ],
)
def test_what_is_not_a_gaussian_is_refused(given: Any, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        bw.ClassPlane.of(given)


def test_a_plane_three_times_as_high_as_wide_is_not_a_strip_and_its_legend_is_below_the_title() -> None:
    rng = np.random.default_rng(0)
    rows = {"x": rng.normal(0, 1, 200), "y": rng.normal(0, 3, 200)}
    names = ["not repaid at all", "repaid in full"]
    table = {**rows, "class": [names[k] for k in (rows["x"] + rows["y"] / 3 > 0).astype(int)]}
    shown = bw.fit(table, "class", model="naive-bayes").plot_regions(["x", "y"])
    assert shown.ax_.get_aspect() == "auto"
    shown.figure_.canvas.draw()
    title = shown.ax_.title if shown.ax_.title.get_text() else shown.ax_._left_title
    assert not title.get_window_extent().overlaps(shown.ax_.get_legend().get_window_extent())
