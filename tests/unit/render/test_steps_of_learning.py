"""Posteriors datum by datum: numbers against closed forms, chosen steps, and an animation with one frame for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import bayeswise as bw
from bayeswise.families import (
    Bernoulli,
    BetaPrior,
    Categorical,
    Dirichlet,
    GammaPrior,
    Normal,
    NormalInverseGamma,
    NormalMean,
    NormalPrior,
    Poisson,
)
from bayeswise.foundation.errors import ParameterError

HEADS = {"fair coin": 0.5, "a coin with two heads": 1.0}


@pytest.fixture(autouse=True)
def headless() -> Any:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def coins() -> bw.HypothesisSpace:
    space = bw.HypothesisSpace(dict.fromkeys(HEADS, 0.5), lambda h, d: HEADS[h] if d == "h" else 1 - HEADS[h])
    return space.observe("h", "h", "h", "t")


def test_a_beta_belief_counts_successes_and_failures() -> None:
    shown = Bernoulli().beliefs(BetaPrior(1, 1), [1, 1, 0]).to_columns()
    assert shown["mean"] == pytest.approx([1 / 2, 2 / 3, 3 / 4, 3 / 5])
    assert shown["low"][3] == pytest.approx(stats.beta(3, 2).ppf(0.025))
    assert shown["datum"] == [None, 1, 1, 0]


def test_a_dirichlet_belief_has_a_marginal_for_each_level() -> None:
    colours = Categorical().beliefs(Dirichlet.of({"red": 1, "blue": 1, "green": 1}), ["red", "red", "blue"])
    assert colours.to_columns()["mean_red"] == pytest.approx([1 / 3, 2 / 4, 3 / 5, 3 / 6])
    assert colours.marginals(3)["green"].ppf(0.9) == pytest.approx(stats.beta(1, 5).ppf(0.9))
    assert [line.get_label() for line in colours.plot(steps=[0]).ax_.child_axes[0].lines][::2] == [
        "red",
        "blue",
        "green",
    ]


def test_a_normal_belief_narrows_by_precisions() -> None:
    history = NormalMean(stddev=2.0).beliefs(NormalPrior(mean=0, stddev=1), [1.0, 2.0, 3.0])
    assert history.marginals(3)["mean"].mean() == pytest.approx(1.5 / 1.75)
    assert history.marginals(3)["mean"].std() == pytest.approx(1.75**-0.5)


def test_mean_and_variance_of_a_normal_inverse_gamma_belief() -> None:
    data = [1.0, 2.0, 4.0]
    history = Normal().beliefs(NormalInverseGamma(0.0, 1.0, 2.0, 2.0), data)
    whole = Normal().posterior(Normal().statistic(data), NormalInverseGamma(0.0, 1.0, 2.0, 2.0))
    shape, scale = float(np.squeeze(whole.shape)), float(np.squeeze(whole.scale))
    assert history.marginals(3, "variance")["variance"].mean() == pytest.approx(scale / (shape - 1))
    assert history.marginals(3)["mean"].mean() == pytest.approx(float(np.squeeze(whole.mean)))
    with pytest.raises(ParameterError, match='choose "mean" or "variance"'):
        history.marginals(0, "median")


def test_a_rate_after_counts() -> None:
    history = Poisson().beliefs(GammaPrior(shape=2, rate=1), [3, 5])
    assert history.to_columns()["mean"] == pytest.approx([2.0, 5 / 2, 10 / 3])


def test_panels_are_the_chosen_steps() -> None:
    assert coins().plot(steps="all").steps() == [0, 1, 2, 3, 4]
    assert coins().plot().steps() == [0, 2, 4]
    chosen = coins().plot(steps=[0, 3])
    assert list(chosen.to_columns()) == ["hypothesis", "after_0", "after_3"]
    assert chosen.to_columns()["after_3"] == pytest.approx([1 / 9, 8 / 9])
    titles = [panel.get_title(loc="left") for panel in chosen.ax_.child_axes]
    assert titles == ["p(h)", "p(h | 3 data), last h"]
    with pytest.raises(ParameterError, match="the steps go from 0 to 4"):
        coins().plot(steps=[7])


def test_panels_of_several_rows_do_not_overlap() -> None:
    shown = coins().plot(steps="all")
    shown.figure_.canvas.draw()
    boxes = [panel.get_tightbbox() for panel in shown.ax_.child_axes]
    assert boxes[0].y0 >= boxes[4].y1


def test_an_animation_has_a_frame_for_each_step(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    path = coins().animate(tmp_path / "coins.gif", seconds=0.1)
    with image.open(path) as found:
        assert (found.format, found.n_frames) == ("GIF", 5)
    path = Bernoulli().beliefs(BetaPrior(1, 1), [1, 0]).animate(tmp_path / "beta.gif", steps=[0, 2])
    with image.open(path) as found:
        assert found.n_frames == 2
    with pytest.raises(bw.UsageError, match=r"ends in \.gif"):
        coins().animate(tmp_path / "coins.mp4")
