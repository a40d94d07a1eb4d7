"""One round of every event; `make soak MINUTES=10` goes on from here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_nothing_is_torn_or_lost_whatever_happens_to_commands(tmp_path: Path) -> None:
    from tests.soak.events import EVENTS, soaked

    assert list(soaked(tmp_path, seed=0, until=0.0, least=len(EVENTS))) == list(EVENTS)
