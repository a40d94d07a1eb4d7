"""Joint tables: sum rule, product rule, and their borders."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError
from bayeswise.posteriors import JointTable

THREE = JointTable(
    ["a", "b", "c"],
    {(0, 0, 0): "1/8", (0, 1, 1): "3/8", (1, 0, 1): "1/4", (1, 1, 0): "1/4"},
)


def test_what_is_not_named_has_probability_zero() -> None:
    assert THREE[1, 1, 1] == 0.0


def test_marginals_commute() -> None:
    assert THREE.marginal("a", "b").marginal("a") == THREE.marginal("a")
    assert THREE.marginal("b", "a").exact[1, 0] == Fraction(3, 8)


def test_conditioning_twice_is_conditioning_on_both() -> None:
    assert THREE.given({"a": 0}).given({"b": 1}) == THREE.given({"b": 1, "a": 0})


def test_impossible_evidence_is_an_error_that_names_it() -> None:
    with pytest.raises(ImpossibleEvidenceError, match=r"P\(a = 1\) is 0"):
        JointTable(["a", "b"], {(0, 0): 1, (1, 1): 0}).given({"a": 1})


def test_everything_given_leaves_nothing() -> None:
    with pytest.raises(ParameterError, match="every variable is given"):
        THREE.given({"a": 0, "b": 0, "c": 0})


@pytest.mark.parametrize(
    ("variables", "cells", "message"),
    [
        (["a"], {"x": ".5"}, "sum to 0.5, not to 1"),
        (["a"], {"x": "1.5", "y": "-.5"}, "'x' must be from 0 to 1"),
        (["a", "b"], {"x": 1}, "one level for each of a, b; found 'x'"),
        (["a", "a"], {("x", "y"): 1}, "each once"),
        ([], {}, "must be named"),
        (["a"], {"x": "many"}, "must be a number; found 'many'"),
    ],
)
def test_a_table_that_is_none_is_refused(variables: list[str], cells: dict[object, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        JointTable(variables, cells)  # type: ignore[arg-type]


def test_a_misspelt_variable_or_level_is_guessed() -> None:
    table = JointTable(["weather"], {"sun": ".5", "rain": ".5"})
    with pytest.raises(ParameterError, match=r"no variable 'wether'. Fix: did you mean 'weather'\?"):
        table.marginal("wether")
    with pytest.raises(ParameterError, match=r"'weather' has no level 'rein'. Fix: did you mean 'rain'\?"):
        _ = table["rein"]


def test_no_rows_give_no_frequencies() -> None:
    with pytest.raises(ParameterError, match="no rows to count"):
        JointTable.of_rows(["a"], [])
