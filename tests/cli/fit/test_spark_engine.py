"""bayeswise fit --engine spark: the same file from Parquet parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_parts_are_fitted_by_spark_to_the_same_file(bayeswise: Callable[..., Any], parts: Path, spark: Any) -> None:
    here, there = parts / "here.bayeswise", parts / "there.bayeswise"
    assert bayeswise("fit", parts / "part-*.parquet", "-t", "kind", "--model", "naive-bayes", "-o", here).code == 0
    answer = bayeswise(
        "fit", parts / "part-*.parquet", "-t", "kind", "--model", "naive-bayes", "-o", there, "--engine", "spark"
    )
    assert answer.code == 0
    assert re.search(r"1 pass over \d partitions: profile and statistics\.", answer.err)  # Spark joins small files
    assert "150 rows learned" in answer.out
    assert here.read_bytes() == there.read_bytes()
    lost = bayeswise(
        "fit", parts / "none-*.parquet", "-t", "kind", "--model", "naive-bayes", "-o", there, "--engine", "spark"
    )
    assert lost.code == 3
    assert "Spark finds no such file" in lost.err
    assert here.read_bytes() == there.read_bytes()
    assert spark.range(3).count() == 3  # a session that was there goes on
