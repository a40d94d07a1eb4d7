"""On tables that say nothing, what cross-validation reports contains the error of chance."""

from __future__ import annotations

import pytest

from benchmarks.quality.noise import covered

KINDS = ("naive-bayes", "averaged", "gaussian", "logistic", "tan", "aode", "k-dependence", "markov-blanket")


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_contain_the_error_of_chance(kind: str) -> None:
    """95 % of them, up to chance: of six tables one may miss it; `python -m benchmarks.quality.noise` shows 200."""
    (found,) = covered([kind], 6)
    assert found.n_containing >= found.n_tables - 1
    assert found.n_better == 0
