"""Words for missing cells, as they are typed."""

from __future__ import annotations

import pytest

from bayeswise.cli.options.reading import null_words
from bayeswise.foundation.errors import UsageError


def test_a_word_that_no_cell_can_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="is not text"):
        null_words(["NA", "\ud800"], None)
    assert null_words(["NA", "-"], None) == ("NA", "-")
