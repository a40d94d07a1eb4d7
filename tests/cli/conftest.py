"""What the tests of the verbs share: small tables, and a model of the golf table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayeswise as bw
from tests.paths import GOLF


@pytest.fixture
def golf() -> Path:
    """The table of the lectures."""
    return GOLF


@pytest.fixture
def golf_model(tmp_path: Path) -> Path:
    """A model of the golf table."""
    path = tmp_path / "golf.bayeswise"
    bw.fit(str(GOLF), target="play", model="naive-bayes").save(path)
    return path


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a small table."""

    def write(text: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def partials(tmp_path: Path) -> Callable[[], list[Any]]:
    """The files that a writer left half-written."""
    return lambda: list(tmp_path.rglob("*.partial"))


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """A folder with a table in three Parquet files."""
    generator = np.random.default_rng(0)
    for k in range(3):
        colour, size = generator.choice(["red", "blue"], 50), generator.normal(size=50)
        frame = pd.DataFrame({"colour": colour, "size": size, "kind": generator.choice(["a", "b"], 50)})
        frame.to_parquet(tmp_path / f"part-{k}.parquet")
    return tmp_path
