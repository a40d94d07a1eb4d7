"""The calculation written out: fractions where rows were counted, decimals elsewhere, and both sum to the posterior."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import bayeswise as bw
from tests.paths import GOLF

ROW = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}


def test_the_golf_row_in_fractions() -> None:
    steps = bw.fit(GOLF, target="play", model="naive-bayes", smoothing=0.0).steps(ROW)
    no, yes = steps.joint
    assert (no, yes) == (Fraction(18, 875), Fraction(1, 189))
    assert steps.posterior == [Fraction(486, 611), Fraction(125, 611)]
    assert steps.evidence == Fraction(611, 23625)
    text = str(steps)
    assert "P(row, yes) = 2/9 · 3/9 · 3/9 · 3/9 · 9/14 = 1/189 = 0.00529101" in text
    assert "P(yes | row) = (1/189) / (611/23625) = 125/611 = 0.204583" in text


def test_smoothed_counts_are_fractions_too() -> None:
    """Laplace: sunny among 9 days of play is (2 + 1) / (9 + 3)."""
    model = bw.fit(GOLF, target="play", model="naive-bayes", smoothing=1.0)
    steps = model.steps(ROW)
    assert "P(outlook = sunny | yes)     = 3/12  = 0.25" in str(steps)
    assert [float(p) for p in steps.posterior] == pytest.approx(model.predict_proba(ROW)[0].tolist())


def test_as_printed_keeps_its_denominator() -> None:
    """As printed the number of classes is added below: (2 + 1) / (9 + 2)."""
    steps = bw.fit(GOLF, target="play", model="naive-bayes", convention="as-printed").steps(ROW)
    assert "= 3/11" in str(steps)


def test_a_density_is_a_decimal_and_a_missing_cell_no_factor() -> None:
    random = np.random.default_rng(0)
    table = {"x": random.normal(size=20), "c": ["u", "v"] * 10, "y": ["a"] * 10 + ["b"] * 10}
    model = bw.fit(table, target="y", model="naive-bayes")
    steps = model.steps({"x": 0.3, "c": "u"})
    assert not steps.exact
    assert steps.posterior == pytest.approx(model.predict_proba({"x": 0.3, "c": "u"})[0])
    without = model.steps({"x": None, "c": "u"})
    assert without.exact and without.names == ("c = u", "")
    assert len({len(column) for column in without.to_columns().values()}) == 1


def test_gaussian_classes_multiply_conditional_densities() -> None:
    random = np.random.default_rng(0)
    table = {"u": random.normal(size=20), "v": random.normal(size=20), "y": ["a", "b"] * 10}
    model = bw.fit(table, target="y", model="gaussian-bayes")
    assert model.steps({"u": 0.1, "v": 0.2}).posterior == pytest.approx(model.predict_proba({"u": 0.1, "v": 0.2})[0])
