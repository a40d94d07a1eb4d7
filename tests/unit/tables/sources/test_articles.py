"""Objects that are not tables are named with the right article."""

from __future__ import annotations

from typing import Any

import pytest

import bayeswise as bw
from bayeswise.foundation.errors import SourceError


@pytest.mark.parametrize(("table", "what"), [([1, 2], "row 1 is an int, not a dict"), (7, "an int is not a table")])
def test_an_int_is_not_a_table(table: Any, what: str) -> None:
    with pytest.raises(SourceError, match=what):
        bw.fit(table, "y")
