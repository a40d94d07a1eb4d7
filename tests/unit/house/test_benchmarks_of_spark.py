"""The benchmarks of Spark keep running, on the session that tests share."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.__main__ import select
from benchmarks.harness import Row, Size
from benchmarks.rows.engines import session

SMALL = Size(scale=0.001, csv_gigabytes=0.001, repeats=1)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize("row", [row for row in select([], SMALL) if "Spark" in row.what], ids=lambda row: row.what)
def test_every_row_of_spark_runs_on_the_session_of_the_tests(spark: Any, row: Row) -> None:
    assert row.run(SMALL).ours > 0.0
    assert session() is spark
