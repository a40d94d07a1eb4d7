"""The lecture's picture: prior x contributions of the columns = posterior."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.explanations.balance import PRIOR, remarks_of, value_text
from bayeswise.foundation.arrays import FloatArray
from bayeswise.render.display import Display, bare, inches_across, label, letters_across
from bayeswise.render.theme import FAINT, INK, NEUTRAL, state_colour

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from bayeswise.explanations.account import Account

# Left and width of the panels, in shares of the axes; the names of the columns stand between the first two.
_PRIOR, _POSTERIOR, _COLUMNS_END = (0.035, 0.155), (0.845, 0.155), 0.75
_LETTER = 0.0095  # of the width of the axes
_SIGNS = [(0.215, 0.5), (0.775, 0.5)]
_STACKED = 2.1  # inches of a panel of prior or posterior where panels stand one above the other
_HEAD, _FOOT = 1.05, 0.75  # inches for titles and legend
_TALLEST = 4.0  # inches for the bars of prior and posterior
_TEXT, _SMALL, _TITLE = 13.0, 11.5, 15.0  # points: read from the back of a room when the picture fills a slide


class ThreePanelDisplay(Display):
    """Prior, likelihoods and posterior of each state side by side.

    Where all columns are categories, their probabilities p(value | state) are shown. Otherwise a likelihood is shown
    relative to the state that it favours most: only ratios count, and a density has no other scale. Up to
    `most_states` states are drawn, the most probable ones.
    """

    def __init__(self, account: Account, *, most_columns: int = 12, most_states: int = 5) -> None:
        self.account = account
        self.most_columns = most_columns
        self.most_states = most_states

    def to_columns(self) -> dict[str, list[Any]]:
        """Those of the account."""
        return self.account.to_columns()

    def size(self) -> tuple[float, float]:
        names, log_relative = self.relative_likelihoods()
        line = max(0.46, 0.2 * log_relative.shape[1] + 0.12)
        return 12.0, _HEAD + _FOOT + max(2.6, line * len(names))

    def narrow_height(self) -> float:
        return self.size()[1] + 2.0 * _STACKED

    def draw(self, ax: Axes) -> None:
        names, likelihoods = self.drawn_likelihoods()
        ax.set_axis_off()
        longest = max(map(len, names), default=0)
        figure = ax.get_figure(root=True)
        narrow = figure is not None and figure.get_figwidth() < 0.6 * self.size()[0]
        panels, signs = _stacked(ax, longest) if narrow else (_panels(ax, 0.25 + _LETTER * longest), _SIGNS)
        for (x, y), sign in zip(signs, "×=", strict=True):
            ax.text(x, y, sign, fontsize=26, ha="center", va="center", color=NEUTRAL, transform=ax.transAxes)
        self._shares(panels[0], self.account.prior, self.account.start)
        self._likelihoods(panels[1], names, likelihoods)
        self._shares(panels[2], self.account.posterior, "posterior")
        self._legend(ax)

    def states(self) -> list[int]:
        """The positions of the states that are drawn: the most probable ones, in their own order."""
        order = np.argsort(-self.account.log_joint, kind="stable")[: self.most_states]
        return sorted(int(k) for k in order)

    def relative_likelihoods(self) -> tuple[list[str], FloatArray]:
        """The columns that separate most, and log p(value | state) less the best, (n_lines, n_drawn)."""
        log_terms = self.account.log_terms[1:, self.states()]  # (n_columns, n_drawn)
        log_relative = log_terms - _finite(log_terms.max(axis=1))[:, None]
        order = np.argsort(log_relative.min(axis=1), kind="stable")
        names = [
            f"{label(c.column, 15)} = {label(value_text(c.value, c.note), 13)}" for c in self.account.contributions
        ]
        if len(order) <= self.most_columns:
            return [names[k] for k in order], log_relative[order]
        head, tail = order[: self.most_columns - 1], order[self.most_columns - 1 :]
        log_rest = log_relative[tail].sum(axis=0)
        log_rest = log_rest - _finite(np.array([log_rest.max()]))
        return [names[k] for k in head] + [f"{len(tail):,} other columns"], np.vstack([log_relative[head], log_rest])

    def drawn_likelihoods(self) -> tuple[list[str], FloatArray]:
        """The same columns, and what their bars show: p(value | state), or shares of the best where that is not one."""
        names, log_relative = self.relative_likelihoods()
        if not self.are_probabilities:
            return names, np.exp(log_relative)
        log_terms = self.account.log_terms[1:, self.states()]
        log_best = _finite(log_terms.max(axis=1))
        order = np.argsort((log_terms - log_best[:, None]).min(axis=1), kind="stable")
        return names, np.exp(log_terms[order])

    @property
    def are_probabilities(self) -> bool:
        """Whether every column has a bar and is a category: a probability, and not a density."""
        if len(self.account.contributions) > self.most_columns or self.account.start != PRIOR:
            return False
        parts = [part for part in self.account.contributions if part.log_likelihood.any()]
        return all(isinstance(part.value, str) and not part.parts for part in parts) and bool(
            (self.account.log_terms[1:] <= 0.0).all()
        )

    def _shares(self, ax: Axes, probability: FloatArray, title: str) -> None:
        drawn = self.states()
        heights = probability[drawn]
        ax.bar(range(len(drawn)), heights, width=0.7, color=self._colours(), zorder=3)
        digits, size = (3, _TEXT) if len(drawn) <= 3 else (2, _SMALL)
        for x, height in enumerate(heights):
            text = f"{height:.{digits}g}" if height >= 0.001 else "<.001"
            ax.text(x, height + 0.015, text, ha="center", va="bottom", fontsize=size, color=INK)
        rest = 1.0 - float(heights.sum())
        ax.set_ylim(0.0, 1.08)
        ax.set_xlim(-0.6, len(drawn) - 0.4)
        ax.set_xticks([])
        hidden = len(self.account.states) - len(drawn)
        ax.set_xlabel(f"{hidden} others: {max(rest, 0.0):.2g}" if hidden else "", fontsize=_SMALL, color=INK)
        ax.set_title(title, fontsize=_TITLE, color=INK)
        ax.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
        ax.grid(axis="y", color=FAINT, linewidth=0.6, zorder=0)
        bare(ax, "bottom")
        ax.tick_params(axis="y", length=0, labelsize=_SMALL)

    def _likelihoods(self, ax: Axes, names: list[str], relative: FloatArray) -> None:
        n_drawn = relative.shape[1]
        thick = 0.8 / n_drawn
        for k, colour in enumerate(self._colours()):
            y = np.arange(len(names)) - 0.4 + (k + 0.5) * thick
            ax.barh(y, relative[:, k], height=thick * 0.9, color=colour, zorder=3)
        for y, share in enumerate(relative if n_drawn <= 3 else []):
            for k in np.flatnonzero((share < 1.0) | self.are_probabilities).tolist():
                at = y - 0.4 + (k + 0.5) * thick
                ax.text(share[k] + 0.012, at, f"{share[k]:.2g}", va="center", fontsize=_SMALL, color=INK)
        ax.set_yticks(range(len(names)), names, fontsize=_TEXT)
        ax.set_ylim(len(names) - 0.45, -0.55)
        ax.set_xlim(0.0, 1.12)
        ax.set_xticks([0.0, 0.5, 1.0])
        ax.tick_params(axis="x", labelsize=_SMALL)
        ax.grid(axis="x", color=FAINT, linewidth=0.6, zorder=0)
        factor = "likelihood" if self.account.start == PRIOR else "factor"
        title = "p(value | class)" if self.are_probabilities else f"{factor}, relative to the best class"
        ax.set_title(title, fontsize=_TITLE, color=INK)
        bare(ax, "left")
        ax.tick_params(axis="both", length=0)

    def _legend(self, ax: Axes) -> None:
        from matplotlib.patches import Patch

        patches: list[Artist] = [
            Patch(color=colour, label=label(self.account.states[k], 24))
            for k, colour in zip(self.states(), self._colours(), strict=True)
        ]
        ax.legend(
            handles=patches, loc="lower center", ncols=len(patches), frameon=False, borderaxespad=0.0, fontsize=_TEXT
        )
        title = " · ".join([self.account.equation, *remarks_of(self.account)])
        room = letters_across(inches_across(ax) * 1.1, _TEXT)
        text = "\n".join(textwrap.wrap(label(title, 100), room)[:2])
        ax.annotate(text, (0.0, 1.0), xycoords="axes fraction", va="top", color=INK, fontsize=_TEXT)

    def _colours(self) -> list[str]:
        return [state_colour(k) for k in range(len(self.states()))]


def _panels(ax: Axes, left: float) -> list[Axes]:
    """Three axes inside of one; margins are in inches, so that they do not grow with the columns."""
    figure = ax.get_figure(root=True)
    dpi = figure.dpi if figure is not None else 100.0
    inches = max(1.0, ax.get_window_extent().height / dpi)
    bottom, top = min(0.25, _FOOT / inches), 1.0 - min(0.25, _HEAD / inches)
    height = min(top - bottom, _TALLEST / inches)
    middle = (bottom + top - height) / 2
    spans = ((middle, height), (bottom, top - bottom), (middle, height))
    sides = (_PRIOR, (left, _COLUMNS_END - left), _POSTERIOR)
    return [ax.inset_axes((at, low, width, high)) for (at, width), (low, high) in zip(sides, spans, strict=True)]


def _stacked(ax: Axes, longest: int) -> tuple[list[Axes], list[tuple[float, float]]]:
    """The same one above the other, for a narrow page, and where the signs between them stand."""
    figure = ax.get_figure(root=True)
    wide, tall = figure.get_size_inches() if figure is not None else (5.0, 8.0)
    tall = max(tall, 2.5 + 2.0 * _STACKED)  # in a lower figure all of it is squeezed
    left = min(0.5, (0.2 + 0.1 * longest) / wide)
    bottom, top, between = 0.5 / tall, 1.0 - 0.95 / tall, 0.62 / tall
    share = (_STACKED - 0.62) / tall
    middle = top - bottom - 2.0 * (share + between)
    lows = (top - share, bottom + share + between, bottom)
    heights = (share, middle, share)
    panels = [ax.inset_axes((left, low, 0.97 - left, height)) for low, height in zip(lows, heights, strict=True)]
    return panels, [(0.5 * left, lows[0] - 0.5 * between), (0.5 * left, lows[1] - 0.5 * between)]


def _finite(log_top: FloatArray) -> FloatArray:
    """A shift that leaves minus infinity alone."""
    return np.where(np.isfinite(log_top), log_top, 0.0)
