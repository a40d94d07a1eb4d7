"""The same rows give the same bytes: over threads, chunk sizes, orders of rows and kinds of table."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from bayeswise.statistics import fingerprint
from benchmarks.harness import Figure, Row, Size
from benchmarks.tables import summary_of

EVERY_ISA = True
THREADS = (1, 2, 4)
BATCH_ROWS = (1_000, 7_777, 65_536, 1_000_000)


def columns(n_rows: int) -> dict[str, Any]:
    """Numbers of very different size with gaps, whole numbers, a category, and a class."""
    generator = np.random.default_rng(0)
    small = generator.standard_normal(n_rows)
    small[generator.random(n_rows) < 0.01] = np.nan
    return {
        "small": small,
        "large": 1e15 + generator.integers(0, 1_000, n_rows) * 0.125,
        "whole": generator.integers(-1_000_000, 1_000_000, n_rows),
        "colour": np.array(["red", "green", "blue"])[generator.integers(0, 3, n_rows)],
        "y": np.array(["no", "yes"])[generator.integers(0, 2, n_rows)],
    }


def tables(n_rows: int, folder: Path) -> Iterator[tuple[str, Any]]:
    """One table in each form, the dataframes also with their rows shuffled."""
    import pandas as pd
    import polars as pl

    frame = pd.DataFrame(columns(n_rows))
    shuffled = frame.sample(frac=1.0, random_state=1).reset_index(drop=True)
    arrays = {name: shuffled[name].to_numpy() for name in shuffled}
    shuffled.to_csv(folder / "table.csv", index=False)
    pl.from_dict(arrays).write_parquet(folder / "table.parquet")
    yield "pandas", frame
    yield "pandas, shuffled", shuffled
    yield "polars", pl.from_dict(arrays)
    yield "NumPy", arrays
    yield "CSV", str(folder / "table.csv")
    yield "Parquet", str(folder / "table.parquet")


def count_of_fingerprints(n_rows: int) -> float:
    """Summarise every form in every way and count the different fingerprints: 1 if all is well."""
    seen: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, table in tables(n_rows, Path(folder)):
            for threads, batch_rows in product(THREADS, BATCH_ROWS):
                found = summary_of(table, "y", threads=threads, batch_rows=batch_rows)
                way = f"{name}, {threads} threads, {batch_rows} rows"
                seen.setdefault(fingerprint(found.statistics), []).append(way)
    for digest, ways in seen.items():
        print(f"  sha256 {digest}  {len(ways)} ways, e.g. {ways[0]}", file=sys.stderr)
    return len(seen)


def rows(size: Size) -> Iterator[Row]:
    n_rows = size.rows(200_000)
    ways = f"{len(THREADS)} threads x {len(BATCH_ROWS)} chunks x 6 tables"
    yield Figure(f"different bytes: {ways}", lambda: count_of_fingerprints(n_rows), at_most=1, unit="")
