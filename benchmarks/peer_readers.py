"""The sums that a model would ask for, in doubles, by other readers of tables; run as a script, with their time.

Nothing of ours is imported here, so that all of the process is theirs.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module


def by_polars(path: str, target: str) -> int:
    """By the streaming engine of polars; the number of rows."""
    import polars as pl

    frame = pl.scan_csv(path) if path.endswith(".csv") else pl.scan_parquet(path)
    numbers = [pl.col(name) for name, kind in frame.collect_schema().items() if kind.is_numeric()]
    sums = [each.sum() for each in numbers] + [(each * each).sum().name.suffix("_squared") for each in numbers]
    return int(frame.group_by(target).agg(pl.len(), *sums).collect(engine="streaming")["len"].sum())


def by_duckdb(path: str, target: str) -> int:
    """By DuckDB."""
    import duckdb

    table = duckdb.read_csv(path) if path.endswith(".csv") else duckdb.read_parquet(path)
    numbers = [name for name, kind in zip(table.columns, table.types, strict=True) if str(kind) == "DOUBLE"]
    sums = ", ".join(f"sum({name}), sum({name} * {name})" for name in numbers)
    return sum(row[0] for row in table.aggregate(f"count(*), {sums}", target).fetchall())


READERS: dict[str, Callable[[str, str], int]] = {"polars": by_polars, "duckdb": by_duckdb}

if __name__ == "__main__":
    path, name = sys.argv[1:]
    import_module(name)
    start, busy = time.perf_counter(), time.process_time()
    n_rows = READERS[name](path, "y")
    took, busy = time.perf_counter() - start, time.process_time() - busy
    print(json.dumps({"seconds": took, "busy": busy, "rows": n_rows}))
