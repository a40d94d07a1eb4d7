"""Bytes of files: names that no file can have are reported as such."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.foundation.errors import BayeswiseError, SourceError
from bayeswise.foundation.file_bytes import content_of, is_read_once, is_stream

IMPOSSIBLE = ["\ud800", "a\0b", "\ud800.toml", "x\0.csv"]


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_a_name_that_no_file_can_have_is_refused_when_it_is_opened(name: str) -> None:
    assert not is_read_once(Path(name)) and not is_stream(name)
    with pytest.raises(SourceError, match="no file can have this name"):
        content_of(name, 100, "costs")
    with pytest.raises(BayeswiseError):
        DecisionFile.read(name)
