"""Bars in a terminal."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
from cases import NEVER, ODD, golf, random_account
from rich.cells import cell_len
from rich.console import Console

from bayeswise.explanations import Account, Contribution


def test_golf_in_eighty_columns() -> None:
    assert golf().to_text().splitlines() == [
        "Why no, not yes?",
        "golf",
        "counted, no smoothing",
        "                       ◄ yes              │               no ►  weight    factor",
        "prior       P = 0.357          ███████████│                      -0.59   × 0.556",
        "outlook     sunny                         │███████████████████   +0.99     × 2.7",
        "humidity    high                          │████████████████▌     +0.88     × 2.4",
        "wind        strong                        │███████████           +0.59     × 1.8",
        "temperature cool                ██████████│                      -0.51     × 0.6",
        "posterior   P = 0.7954 ███████████████████████████████░░░░░░░░   +1.36    × 3.89",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 250])
@pytest.mark.parametrize("n_states", [2, 5])
def test_no_line_is_wider_than_the_terminal(width: int, n_states: int) -> None:
    text = random_account(n_states, names=ODD).to_text(width=width)
    assert max(map(cell_len, text.splitlines())) <= width


def test_labels_can_neither_break_the_line_nor_colour_it() -> None:
    text = random_account(2, names=ODD).to_text()
    assert "\x1b" not in text
    assert "[/b][red]" in text
    assert "two\\nlines" in text
    assert len([line for line in text.splitlines() if "×" in line]) == len(ODD) + 2


def test_many_columns_are_summed_up() -> None:
    lines = random_account(2, 1000).to_text().splitlines()
    assert len(lines) == 3 + 1 + 1 + 20 + 1
    assert "981 other columns" in lines[-2]


def test_many_states_are_listed_by_their_probability() -> None:
    account = random_account(12, 3)
    lines = account.to_text().splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("6 of 12 states"))
    listed = [line.split("█")[0].split("░")[0].strip() for line in lines[start + 1 :]]
    assert listed == [account.states[k] for k in np.argsort(-account.posterior)[:6]]
    assert "of the two = " in lines[start - 1]


def test_an_infinite_weight_fills_its_side_and_is_called_infinite() -> None:
    account = Account(("a", "b"), np.log([0.5, 0.5]), (Contribution("x", 1.0, np.array([-1.0, NEVER])),))
    line = next(line for line in account.to_text().splitlines() if line.startswith("x "))
    assert "█►" in line
    assert line.split()[-3:] == ["+∞", "×", "∞"]
    assert "-∞" in account.to_text("b")


def test_a_missing_value_is_a_question_mark_with_its_note() -> None:
    for missing in (None, math.nan):
        skipped = Contribution("x", missing, np.zeros(2), "missing: skipped")
        text = Account(("a", "b"), np.log([0.5, 0.5]), (skipped,)).to_text()
        assert "? (missing: skipped)" in text


def test_a_case_without_columns_is_its_prior() -> None:
    assert "posterior P = 0.75" in Account(("a", "b"), np.log([0.75, 0.25]), ()).to_text()


def test_rich_prints_an_account_in_colour() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system="standard")
    console.print(golf())
    out = console.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[" in out
    assert "outlook" in out


@pytest.mark.parametrize("log_ratio", [9.996, 999.996, 48120.33, 99999.7, 481203.0, 4.5e17, 2e300, -7.0, -9.5, -11.3])
def test_no_number_is_cut(log_ratio: float) -> None:
    account = Account(("a", "b"), np.log([0.5, 0.5]), (Contribution("amount", 1e9, np.array([log_ratio, 0.0])),))
    assert "…" not in account.to_text()
