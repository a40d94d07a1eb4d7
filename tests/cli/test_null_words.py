"""Words for missing cells, as they are typed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bayeswise.cli.options.reading import null_words
from bayeswise.foundation.errors import UsageError


def test_a_word_that_no_cell_can_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="is not text"):
        null_words(["NA", "\ud800"], None)
    assert null_words(["NA", "-"], None) == ("NA", "-")


def test_a_declared_level_is_learned_shown_and_written_as_a_level(
    bayeswise: Callable[..., Any], tmp_path: Path
) -> None:
    table = tmp_path / "jobs.csv"
    table.write_text("job,y\n" + "none,no\nfull,yes\nself,yes\nself,no\n" * 10)
    model = tmp_path / "jobs.bayeswise"
    fit = ("fit", table, "-t", "y", "--model", "naive-bayes", "-o", model)
    assert "none, which means missing" in bayeswise(*fit).err
    for option in (("--levels", "job=none,full,self"), ("--category", "job=none,full,self")):
        answer = bayeswise(*fit, *option)
        assert answer.code == 0 and "missing" not in answer.err
    lines = bayeswise("predict", model, table, "--json").out
    assert '"job": "none"' in lines and '"job": null' not in lines
