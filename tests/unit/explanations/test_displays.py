"""Pictures: what they show, that they can be drawn, and that their labels do not overlap."""

from __future__ import annotations

import io
import sys
import warnings
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from cases import NEVER, ODD, golf, golf_alternatives, random_account

from bayeswise.explanations import Account, Contribution, Nomogram
from bayeswise.explanations.plots import NomogramDisplay, ThreePanelDisplay, WaterfallDisplay
from bayeswise.foundation.errors import NotInstalledError

mpl.use("Agg")
from matplotlib import pyplot as plt

LONG = [f"a rather long name of a column, number {k}" for k in range(12)]


@pytest.fixture(autouse=True)
def _close_figures() -> Any:
    yield
    plt.close("all")


def displays(account: Account) -> list[Any]:
    others = {
        c.column: [
            Contribution(c.column, f"other {k}", np.log([0.1 * k + 0.1, 0.5] + [0.2] * (len(account.states) - 2)))
            for k in range(6)
        ]
        for c in account.contributions
    }
    return [
        WaterfallDisplay.from_account(account),
        ThreePanelDisplay(account),
        NomogramDisplay(Nomogram.of(account, others)),
    ]


def render(display: Any) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        display.plot().figure_.savefig(buffer, format="png", dpi=60)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "account",
    [
        golf(),
        random_account(2, names=ODD),
        random_account(5, 40),
        random_account(12, 3),
        random_account(2, names=LONG),
    ],
    ids=["golf", "odd labels", "many columns", "many states", "long names"],
)
def test_every_picture_can_be_drawn(account: Account) -> None:
    for display in displays(account):
        assert render(display).startswith(b"\x89PNG")


def test_a_display_draws_into_the_axes_that_it_is_given() -> None:
    for display in displays(golf()):
        figure, (left, right) = plt.subplots(1, 2)
        assert display.plot(right) is display
        assert display.ax_ is right
        assert display.figure_ is figure
        assert not left.get_title(loc="left")


def test_the_waterfall_ends_where_the_posterior_is() -> None:
    bars = WaterfallDisplay.from_account(golf()).bars()
    assert [bar.name for bar in bars[:2]] == ["prior", "outlook = sunny"]
    assert bars[-1].name == "posterior"
    assert bars[-1].end == pytest.approx(golf().log_odds("no"), abs=1e-12)
    for before, after in pairwise(bars[:-1]):
        assert after.start == before.end


def test_the_waterfall_of_a_ruled_out_state_stays_finite() -> None:
    account = Account(
        ("a", "b"),
        np.log([0.5, 0.5]),
        (Contribution("x", 1, np.array([-1.0, NEVER])), Contribution("y", 1, np.array([-3.0, -1.0]))),
    )
    display = WaterfallDisplay.from_account(account)
    assert np.isfinite([bar.end for bar in display.bars()]).all()
    assert display.bars()[1].remark == "+∞  × ∞"
    render(display)
    render(ThreePanelDisplay(account))


def test_the_three_panels_are_prior_likelihood_and_posterior() -> None:
    display = ThreePanelDisplay(golf()).plot()
    panels = display.ax_.child_axes  # type: ignore[union-attr]
    assert [panel.get_title() for panel in panels] == [
        "prior",
        "p(value | class)",
        "posterior",
    ]
    heights = [patch.get_height() for patch in panels[2].patches]
    assert heights == pytest.approx([125 / 611, 486 / 611])
    names, log_relative = display.relative_likelihoods()
    assert names[0] == "outlook = sunny"
    assert np.exp(log_relative[0]) == pytest.approx([(2 / 9) / (3 / 5), 1.0])
    assert display.drawn_likelihoods()[1][0] == pytest.approx([2 / 9, 3 / 5])


def test_the_three_panels_show_the_most_probable_of_many_states() -> None:
    account = random_account(12, 30)
    display = ThreePanelDisplay(account, most_states=4, most_columns=6)
    assert set(display.states()) == set(np.argsort(-account.posterior)[:4])
    names, log_relative = display.relative_likelihoods()
    assert names[-1] == "25 other columns"
    assert log_relative.shape == (6, 4)
    assert np.all(log_relative.max(axis=1) == 0.0)


def test_labels_do_not_overlap() -> None:
    for account in (golf(), random_account(2, names=LONG), random_account(4, 12)):
        for display in displays(account):
            display.plot()
            figure = display.figure_
            figure.canvas.draw()
            renderer = figure.canvas.get_renderer()
            for axes in [*figure.axes, *display.ax_.child_axes]:
                ticks = [t for t in axes.get_yticklabels() if t.get_text()] if axes.axison else []
                boxes = [tick.get_window_extent(renderer) for tick in ticks]
                for upper, lower in pairwise(boxes):
                    assert not upper.overlaps(lower)
                inside = figure.bbox.padded(1.0)
                assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 for box in boxes)


def test_the_labels_of_a_ruler_do_not_overlap() -> None:
    display = NomogramDisplay(Nomogram.of(golf(), golf_alternatives(), "yes")).plot()
    display.figure_.canvas.draw()
    renderer = display.figure_.canvas.get_renderer()
    boxes = [text.get_window_extent(renderer) for text in display.ax_.texts]  # type: ignore[union-attr]
    overlaps = [(a, b) for k, a in enumerate(boxes) for b in boxes[:k] if a.overlaps(b)]
    assert overlaps == []


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for display in displays(golf()):
        with pytest.raises(NotInstalledError, match=r"matplotlib is not installed.*bayeswise\[plot\]"):
            display.plot()
