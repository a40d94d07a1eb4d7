"""What a labelling session shows: one case per screen, why it was selected, and the progress of the session."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from typing import Any

from bayeswise.acquisition.queries import Query
from bayeswise.acquisition.session import Session
from bayeswise.cli.commands.label.keys import Keys
from bayeswise.cli.commands.label.pool import PoolTable
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, ParameterError
from bayeswise.render.labels import padded, shown
from bayeswise.render.numbers import number
from bayeswise.render.plain import json_value
from bayeswise.render.terminal import folded, wrapped

_CLEAR = "\x1b[2J\x1b[H"
_MOST_CELL = 1200  # letters of a long text that are shown
_WIDEST = 100


@dataclass(frozen=True)
class Standing:
    """The progress of the session, and what decisions cost so far."""

    n_labels: int
    n_skipped: int
    n_unknown: int
    n_open: int
    believed: float  # the mean cost of a row according to the model
    measured: Any  # a Risk, or None before there is one
    price: float | None
    saving: float | None = None  # of the requested label, over all rows
    gain: Any = None  # of asking against drawing; None where the share of drawn rows is fixed

    @classmethod
    def of(cls, session: Session, price: float | None, query: Query | None) -> Standing:
        learner = session.learner
        try:
            measured = learner.risk()
        except ParameterError:
            measured = None
        saving = None if query is None or len(learner.taught) < 2 else learner.saving(query.row)
        return cls(
            session.n_answers,
            session.n_skipped,
            session.n_unknown,
            learner.n_open,
            learner.believed_cost(),
            measured,
            price,
            saving,
            None if learner.is_warming_up else learner.gain,
        )

    def to_dict(self) -> dict[str, Any]:
        measured = self.measured
        return {
            "n_labels": self.n_labels,
            "n_skipped": self.n_skipped,
            "n_unknown": self.n_unknown,
            "n_open": self.n_open,
            "believed_cost": json_value(self.believed),
            "measured_cost": None if measured is None else json_value(measured.mean),
            "measured_interval": None if measured is None else [json_value(measured.low), json_value(measured.high)],
            "asking_gain": None if self.gain is None else json_value(self.gain.mean),
            "random_share": None if self.gain is None else json_value(self.gain.random_share),
            "spent": None if self.price is None else json_value(self.price * self.n_labels),
        }

    def line(self) -> str:
        """12 labels, 1 skipped, 985 open, 12 spent."""
        parts = [f"{self.n_labels:,} label{'s' * (self.n_labels != 1)}"]
        parts += [f"{self.n_skipped:,} skipped"] * (self.n_skipped > 0)
        parts += [f"{self.n_unknown:,} not known"] * (self.n_unknown > 0)
        parts += [f"{self.n_open:,} open"]
        parts += [] if self.price is None else [f"{self.price * self.n_labels:g} spent"]
        return ", ".join(parts)

    def costs(self) -> str:
        """What a row costs, as expected and as measured."""
        measured = "" if self.measured is None else f", measured {self.measured}"
        line = f"cost per row: expected {number(self.believed, 3)}{measured}"
        line = line if self.gain is None else f"{line}\n{self.gain}"
        if self.saving is None:
            return line
        amount = number(self.saving, 3) if self.saving > 0 else "nothing"
        price = "" if self.price is None else f", its price is {self.price:g}"
        return f"{line}\nthis label: expected to save {amount} over all rows{price}"

    @property
    def is_overconfident(self) -> bool:
        """Whether the model expects a cost below the measured interval: its expected savings are unreliable."""
        return self.measured is not None and self.believed < self.measured.low


def case_text(table: PoolTable, query: Query, standing: Standing, keys: Keys, width: int) -> str:
    """The screen of one case."""
    title = f"row {query.row + 1:,} of {shown(table.source.description, min(40, width - 20))}"
    lines = [*_head(title, standing.line(), width), _rule(width)]
    lines += _cell_lines(table.row(query.row), width)
    said = [f"why: {query.why.partition(': ')[2]}", *standing.costs().split("\n")]
    folds = [line for sentence in said for line in wrapped(sentence, width, "  ")]
    return "\n".join([*lines, _rule(width), *folds, *keys.lines(width)])


def _rule(width: int) -> str:
    """A line across the terminal, also across one that knows ASCII only."""
    try:
        "─".encode(sys.stderr.encoding or "ascii")
    except UnicodeError:
        return "-" * width
    return "─" * width


def _head(title: str, standing: str, width: int) -> list[str]:
    """Both on one line where they fit."""
    one_line = f"{padded(title, max(0, width - len(standing) - 1))} {standing}"
    return [one_line] if len(folded([one_line], width)) == 1 else [title, *wrapped(standing, width)]


def _cell_lines(cells: dict[str, Any], width: int) -> Iterator[str]:
    """Each column with its cell, which goes on below itself if it is long."""
    longest = max(8, min(24, width // 3))
    names = {name: shown(name, longest) for name in cells}
    room = max((len(name) for name in names.values()), default=0)
    for name, cell in cells.items():
        text = "" if cell is None else shown(str(cell)[:_MOST_CELL])
        text += "…" * (cell is not None and len(str(cell)) > _MOST_CELL)
        first, *rest = folded([text], max(10, width - room - 4))
        yield f"  {padded(names[name], room)}  {first}"
        yield from (" " * (room + 4) + piece for piece in rest)


def why_text(session: Session, query: Query, width: int) -> str:
    """What each column says, where the model can explain it."""
    learner = session.learner
    try:
        account = learner.model.explain(learner.pool.one_for(learner.model, query.row))
        return str(account.to_text(width=width))
    except BayeswiseError as error:
        return str(error)


def case_facts(table: PoolTable, query: Query, standing: Standing) -> dict[str, Any]:
    """The same for programs; rows are counted from 1, as in messages."""
    return {
        "ask": {
            "row": query.row + 1,
            "cells": {name: json_value(cell) for name, cell in table.row(query.row).items()},
            "why": query.why.partition(": ")[2],
            "believed": {str(label): p for label, p in query.posterior.items()},
            "saving": None if standing.saving is None else json_value(standing.saving),
        }
    }


class Screen:
    """A terminal that is cleared for each case, or plain lines."""

    def __init__(self) -> None:
        self.clears = sys.stderr.isatty()

    @property
    def width(self) -> int:
        """As wide as the terminal is now, and no wider than is good to read."""
        return max(20, min(shutil.get_terminal_size().columns, _WIDEST))

    def show(self, text: str, note: str = "") -> None:
        """A case, below a note about the last answer."""
        head = _CLEAR if self.clears else ""
        print(head + (f"{note}\n\n" if note else "") + text, file=sys.stderr, flush=True)

    def say(self, *lines: str) -> None:
        print(*lines, sep="\n", file=sys.stderr, flush=True)
