"""Every display is reached from the object it shows, and says what its axes are."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import bayeswise as bw
from bayeswise.acquisition.curves import LearningCurves
from bayeswise.decisions import FeatureRule
from bayeswise.evaluation.cost_curves import cost_curve, coverage_curve, threshold_curve
from bayeswise.families import Bernoulli, BetaPrior, Likelihood, Normal
from bayeswise.foundation.errors import NotInstalledError
from bayeswise.networks import Node
from bayeswise.render import display
from tests.paths import EXAMPLES

ROW = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
RANDOM = np.random.default_rng(7)
NUMBERS = {
    "x": [*RANDOM.normal(0, 1, 30), *RANDOM.normal(2, 1, 30)],
    "y": [*RANDOM.normal(1, 1, 30), *RANDOM.normal(0, 2, 30)],
    "class": ["a"] * 30 + ["b"] * 30,
}
MAIL = {"bin": {"a": 0, "b": 10}, "keep": {"a": 1, "b": 0}, "ask": 0.5}


def golf() -> Any:
    return bw.fit(EXAMPLES / "golf.csv", target="play", model="naive-bayes")


def late() -> Any:
    """The case on the first page: a bar to the left that ends close to where the prior begins."""
    counts = {("clean", "yes"): (60, 4), ("clean", "no"): (12, 3), ("late", "yes"): (10, 6), ("late", "no"): (2, 5)}
    rows = [
        {"history": history, "employed": employed, "repaid": repaid}
        for (history, employed), both in counts.items()
        for repaid, times in zip(("yes", "no"), both, strict=True)
        for _ in range(times)
    ]
    return bw.fit(rows, target="repaid", model="naive-bayes")


def gaussian(*columns: str) -> Any:
    table = {name: NUMBERS[name] for name in (*columns, "class")}
    return bw.fit(table, target="class", model="gaussian-bayes", covariance="shared")


def evaluation() -> Any:
    return bw.evaluate(gaussian("x"), NUMBERS, bw.Costs(MAIL))


def network() -> bw.BeliefNetwork:
    wet = Node("wet", ["yes", "no"], {"yes": 0.9, "no": 0.2}, ["rain"])
    return bw.BeliefNetwork([Node("rain", ["yes", "no"], 0.2), wet])


def oil() -> bw.InfluenceDiagram:
    return bw.InfluenceDiagram.read(EXAMPLES / "oil.toml")


def coins() -> bw.HypothesisSpace:
    heads = {"fair coin": 0.5, "a coin with two heads": 1.0}
    space = bw.HypothesisSpace(dict.fromkeys(heads, 0.5), lambda h, d: heads[h] if d == "h" else 1 - heads[h])
    return space.observe("h", "h")


def feature_rule() -> FeatureRule:
    return FeatureRule.of({"a": stats.norm(0, 1), "b": stats.norm(2, 1)}, {"a": 0.5, "b": 0.5}, MAIL)


def beside() -> Any:
    quadratic = bw.fit(NUMBERS, target="class", model="gaussian-bayes")
    return quadratic.class_plane().plot_beside(gaussian("x", "y").class_plane(), titles=("quadratic", "linear"))


def twins() -> Any:
    table = {name: NUMBERS[name] for name in ("x", "y", "class")}
    return bw.compare_twins(gaussian("x", "y"), bw.fit(table, target="class", model="logistic"), table)


def learning_curves() -> LearningCurves:
    accuracy = {name: np.array([[0.5, 0.7, 0.8, 0.9]]) for name in ("random", "entropy")}
    return LearningCurves("labels", accuracy, np.array([0.9]), n_pool=40, n_test=10)


PLOTS: dict[str, Callable[[], Any]] = {
    "account.plot": lambda: golf().explain(ROW).plot(),
    "account.plot of a bar that comes back": lambda: (
        late().explain({"history": "late", "employed": "yes"}).plot(state="yes")
    ),
    "account.plot_panels": lambda: golf().explain(ROW).plot_panels(),
    "model.nomogram(row).plot": lambda: golf().nomogram(ROW).plot(),
    "model.plot_densities": lambda: gaussian("x", "y").plot_densities("x"),
    "naive_bayes.plot_densities": lambda: golf().plot_densities("outlook"),
    "naive_bayes.plot_bayes_error": lambda: golf().plot_bayes_error(column="wind"),
    "class_densities.plot": lambda: gaussian("x").class_densities().plot(panels=["posterior"]),
    "class_densities.plot_error": lambda: gaussian("x").class_densities().plot_error([0.5, 4.0]),
    "feature_rule.plot": lambda: feature_rule().plot(),
    "model.plot_regions": lambda: gaussian("x", "y").plot_regions(),
    "naive_bayes.plot_regions": lambda: bw.fit(NUMBERS, target="class", model="naive-bayes").plot_regions(rows=NUMBERS),
    "class_plane.plot": lambda: bw.ClassPlane.of({"a": ([0, 0], [[1, 0], [0, 1]])}).plot(),
    "class_plane.plot_beside": lambda: beside(),
    "likelihood.plot of one parameter": lambda: Likelihood(Normal(), NUMBERS["x"]).plot("mean"),
    "likelihood.plot of two parameters": lambda: Likelihood(Normal(), NUMBERS["x"]).plot(),
    "model.plot_bayes_error": lambda: gaussian("x").plot_bayes_error(0.5),
    "twins.plot": lambda: twins().plot(),
    "costs.plot of two states": lambda: bw.Costs(MAIL).plot(),
    "costs.plot of three states": lambda: bw.Costs.zero_one(["a", "b", "c"]).with_reject(0.4).plot(),
    "rule.plot": lambda: bw.Costs(MAIL).rule().plot(),
    "decisions.plot of two states": lambda: bw.decide({"a": [0.2, 0.9], "b": [0.8, 0.1]}, MAIL).plot(),
    "decisions.plot of four states": lambda: bw.decide(np.full((3, 4), 0.25), states=list("abcd")).plot(),
    "evaluation.plot": lambda: evaluation().plot(),
    "evaluation.plot_confusion": lambda: evaluation().plot_confusion(),
    "evaluation.plot_reliability": lambda: evaluation().plot_reliability("b"),
    "threshold_curve.plot": lambda: threshold_curve(evaluation(), "a", "bin", "keep").plot(),
    "coverage_curve.plot": lambda: coverage_curve(evaluation()).plot(),
    "cost_curve.plot": lambda: cost_curve(evaluation(), "a").plot(),
    "network.plot": lambda: network().plot({"wet": "yes"}, title="rain"),
    "network_account.plot": lambda: network().explain("rain", {"wet": "yes"}).plot(),
    "distribution.plot": lambda: network().query(["rain", "wet"]).plot(),
    "diagram.plot": lambda: oil().plot(),
    "solution.plot": lambda: oil().solve().plot(),
    "risk.plot": lambda: oil().solve().risk().plot(),
    "sensitivity.plot": lambda: oil().sensitivity("oil", "dry").plot(),
    "tornado.plot": lambda: oil().tornado().plot(),
    "hypotheses.plot": lambda: coins().plot(),
    "hypotheses.plot of all steps": lambda: coins().plot(steps="all"),
    "beliefs.plot": lambda: Bernoulli().beliefs(BetaPrior(1, 1), [1, 1, 0]).plot(),
    "joint_table.plot": lambda: bw.JointTable.experiment(coin="HT", die=range(1, 4)).plot(),
    "tree_model.plot": lambda: bw.fit(NUMBERS, target="class", model="tree", code="exceptions").plot(),
    "tree.plot": lambda: bw.DescriptionLengthTree().fit(np.arange(40.0)[:, None], np.arange(40) > 20).plot(),
    "learning_curves.plot": lambda: learning_curves().plot(),
}
# graphs, triangles and displays of several panels have no axes of their own to name
WITHOUT_AXES = (
    "plot_panels",
    "plot_densities",
    "class_densities.plot",
    "feature_rule",
    "plot_beside",
    "tree.plot",
    "tree_model",
    "nomogram",
    "network.plot",
    "diagram.plot",
    "solution.plot",
    "hypotheses",
    "beliefs",
    "three states",
)


@pytest.fixture(autouse=True)
def headless(monkeypatch: pytest.MonkeyPatch) -> Any:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@cache
def drawn(name: str) -> Any:
    return PLOTS[name]()


@pytest.mark.parametrize("name", PLOTS)
def test_an_object_draws_its_own_picture(name: str) -> None:
    shown = drawn(name)
    shown.figure_.canvas.draw()
    columns = shown.to_columns()
    assert len({len(column) for column in columns.values()}) == 1
    assert shown.figure_ is shown.ax_.figure
    assert " object at 0x" not in repr(shown) and repr(shown).startswith(type(shown).__name__)
    if not any(part in name for part in WITHOUT_AXES):
        assert shown.ax_.get_xlabel()
        assert shown.ax_.get_title(loc="left")


def displays(base: type) -> set[str]:
    return {base.__name__} | {name for sub in base.__subclasses__() for name in displays(sub)}


def test_no_display_is_left_out_of_this_list() -> None:
    import matplotlib.pyplot as plt

    found = set()
    for name in PLOTS:
        found.add(type(drawn(name)).__name__)
        plt.close("all")
    assert displays(display.Display) - {"Display", "SteppedDisplay"} == found  # what others are made from


# -- on a slide and in a column of a paper ----------------------------------------------------------------------


def written(figure: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The texts that are drawn, with their boxes in points."""
    from matplotlib.text import Text

    found, draw = {}, Text.draw

    def kept(self: Text, renderer: Any, *rest: Any, **more: Any) -> None:
        if self.get_visible() and self.get_text().strip():
            found[self] = None
        draw(self, renderer, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Text, "draw", kept)
        figure.draw_without_rendering()
    to_points = 72.0 / figure.dpi
    return [(text.get_text(), text.get_window_extent().get_points() * to_points) for text in found]


SMALL_ON_SLIDES = ("solution.plot", "tornado.plot")  # many nodes, many bars


@pytest.mark.parametrize("size", ["slide", "paper"])
@pytest.mark.parametrize("name", PLOTS)
def test_no_text_covers_another_or_leaves_the_page(name: str, size: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.text import Text

    figure, scale = drawn(name).on_page(size)
    texts = written(figure, monkeypatch)
    edge = 72.0 * figure.get_size_inches()
    outside = [text for text, (low, high) in texts if (low < -1.0).any() or (high > edge + 1.0).any()]
    pairs = itertools.combinations(texts, 2)
    covered = [(a, b) for (a, one), (b, two) in pairs if (common(one, two) > 1.0).all()]
    assert (outside, covered) == ([], [])
    if size == "slide" and name not in SMALL_ON_SLIDES:
        assert min(text.get_fontsize() * scale for text in figure.findobj(Text) if text.get_text()) >= 10.0  # points


def common(one: Any, two: Any) -> Any:
    """Width and height of what two boxes have in common; negative where they are apart."""
    return np.minimum(one[1], two[1]) - np.maximum(one[0], two[0])


def test_a_page_has_the_requested_pixels(tmp_path: Path) -> None:
    from PIL import Image

    shown = bw.Costs(MAIL).plot()
    sizes: dict[Any, tuple[int, int]] = {"slide": (1333, 750), "paper": (330, 273), (4.0, 3.0): (400, 300)}
    for size, pixels in sizes.items():
        found = Image.open(shown.save(tmp_path / "costs.png", dpi=100, size=size)).size
        assert found == pytest.approx(pixels, abs=1)
    poster: Any = "poster"
    with pytest.raises(bw.UsageError, match=r"there is no page of size 'poster'. Fix: use \"slide\""):
        shown.save(tmp_path / "costs.png", size=poster)


def test_two_pictures_go_side_by_side_into_one_figure() -> None:
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
    assert network().plot(ax=left).ax_ is left
    assert evaluation().plot(right).ax_ is right
    figure.canvas.draw()


def test_a_picture_is_saved_by_its_suffix(tmp_path: Path) -> None:
    shown = bw.Costs(MAIL).plot()
    for suffix, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        path = shown.save(tmp_path / f"costs.{suffix}")
        assert path.read_bytes().startswith(start)
    with pytest.raises(bw.UsageError, match=r"not written as jpg\. Fix: name a file that ends in \.png"):
        shown.save(tmp_path / "costs.jpg")
    assert not (tmp_path / "costs.jpg").exists()


def test_without_matplotlib_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(NotInstalledError, match=r"pip install 'bayeswise\[plot\]'"):
        bw.Costs(MAIL).plot()


def test_an_edge_of_a_picture_ends_in_an_arrow() -> None:
    from matplotlib.patches import PathPatch, Polygon

    shown = network().plot()
    kinds = [type(patch) for patch in shown.ax_.patches]
    assert kinds.count(PathPatch) == kinds.count(Polygon) == 1


def test_the_threshold_of_the_costs_is_marked() -> None:
    shown = threshold_curve(evaluation(), "a", "bin", "keep").plot()
    assert "threshold of the costs 0.9091" in [text.get_text() for text in shown.ax_.get_legend().get_texts()]


def test_one_far_row_does_not_squash_the_others() -> None:
    table = {"x": [*NUMBERS["x"], 400.0], "y": [*NUMBERS["y"], -300.0]}
    rows = {name: NUMBERS[name] for name in ("x", "y", "class")}
    both = bw.compare_twins(gaussian("x", "y"), bw.fit(rows, target="class", model="logistic"), table)
    low, high = both.plot().ax_.get_xlim()
    ordinary = both.log_evidence[:-1]
    assert both.log_evidence[-1] < low
    assert (ordinary.max() - ordinary.min()) / (high - low) > 0.2


def test_long_names_of_hypotheses_are_written_beside_their_bars() -> None:
    panel = coins().plot().ax_.child_axes[0]
    assert [text.get_text() for text in panel.get_yticklabels()] == ["fair coin", "a coin with two heads"]


def test_the_likelihood_shows_its_maximum_gradient_and_curvature() -> None:
    shown = Likelihood(Normal(), [1.0, 2.0, 4.0, 5.0]).plot("mean")
    named = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert named == ["log p(data | mean)", "curvature -1.6, standard error 0.7906", "gradient 0"]
    assert "mean = 3" in [text.get_text() for text in shown.ax_.texts]
    assert shown.to_columns()["log_likelihood"][120] == max(shown.to_columns()["log_likelihood"])
