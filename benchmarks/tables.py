"""From a table to statistics, as a model would ask for them; run as a script, the same with its time and its memory."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from bayeswise.engines import Request, Summary, summarise
from bayeswise.engines.passes import StatisticsPass, foresee_near
from bayeswise.foundation.threads import limit_threads
from bayeswise.statistics import Moments
from bayeswise.tables.encoding.encoder import BATCH_ROWS, Encoder
from bayeswise.tables.partitions import NearSource
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.source import open_source
from bayeswise.tables.sources.opening import long_file


def summary_of(table: Any, target: str, *, threads: int | None = None, batch_rows: int = BATCH_ROWS) -> Summary:
    """Moments of the number columns and counts of the categories, by class, the schema inferred."""
    near = long_file(table)
    with limit_threads(threads):
        if near is not None:
            foresee_near(near, lambda rows: rows.ask(_asked(rows, target), ()), None)
            return near.ask(_asked(near, target), ()).summary
        source = open_source(table)
        work = _asked(source, target)
        encoder = Encoder(work.schema, batch_rows=batch_rows)
        return summarise(encoder.batches(source), work.schema, work.request)


def _asked(source: Any, target: str) -> StatisticsPass:
    schema = infer_schema(source, target)
    request = Request.numbers("numbers", schema.numbers, Moments.of) | Request.counts("counts", schema.categories)
    return StatisticsPass(schema, request)


def peak_megabytes() -> float:
    """The most memory that this process ever held.

    On Linux from the kernel's own account of this program: getrusage starts with the peak of the parent process.
    """
    status = Path("/proc/self/status")
    if status.exists():
        [kilobytes] = re.findall(r"^VmHWM:\s+(\d+) kB", status.read_text(), re.MULTILINE)
        return int(kilobytes) / 1024
    import resource

    unit = 1024 if sys.platform == "darwin" else 1
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit / 1024


def by_polars(path: str, target: str) -> int:
    """The same sums, in doubles, by the streaming engine of polars; the number of rows."""
    import polars as pl

    frame = pl.scan_csv(path) if path.endswith(".csv") else pl.scan_parquet(path)
    numbers = [pl.col(name) for name, kind in frame.collect_schema().items() if kind.is_numeric()]
    sums = [each.sum() for each in numbers] + [(each * each).sum().name.suffix("_squared") for each in numbers]
    return int(frame.group_by(target).agg(pl.len(), *sums).collect(engine="streaming")["len"].sum())


def by_duckdb(path: str, target: str) -> int:
    """The same sums, in doubles, by DuckDB."""
    import duckdb

    table = duckdb.read_csv(path) if path.endswith(".csv") else duckdb.read_parquet(path)
    numbers = [name for name, kind in zip(table.columns, table.types, strict=True) if str(kind) == "DOUBLE"]
    sums = ", ".join(f"sum({name}), sum({name} * {name})" for name in numbers)
    return sum(row[0] for row in table.aggregate(f"count(*), {sums}", target).fetchall())


def stages(path: str, target: str) -> dict[str, float]:
    """Processor time of what is done to a file, each stage without those before it."""
    source = open_source(path)
    spent = [time.process_time()]

    def done(sweep: Iterable[object]) -> None:
        for _ in sweep:
            pass
        spent.append(time.process_time())

    with Path(path).open("rb") as file:
        done(iter(partial(file.read, 1 << 20), b""))
    done(source.chunks([target]))
    schema = infer_schema(NearSource(source), target)
    spent.append(time.process_time())
    done(chunk.block(schema.numbers) for chunk in source.chunks(schema.numbers))
    summary_of(path, target)
    spent.append(time.process_time())
    read, split, look, parsed, whole = np.diff(spent)
    found = {
        "bytes read": read,
        "cells found": split - read,
        "numbers parsed": parsed - split,
        "kinds of columns": look - parsed,
        "sums": whole - look,
    }
    return {stage: max(0.0, float(took)) for stage, took in found.items()}  # of small files all is noise


READERS: dict[str, Callable[[str, str], int]] = {
    "bayeswise": lambda path, target: summary_of(path, target).n_rows,
    "polars": by_polars,
    "duckdb": by_duckdb,
}

if __name__ == "__main__":
    path, name = sys.argv[1:]
    if name == "stages":
        print(json.dumps(stages(path, "y")))
    else:
        import_module({"bayeswise": "bayeswise.engines"}.get(name, name))
        start, busy = time.perf_counter(), time.process_time()
        n_rows = READERS[name](path, "y")
        took, busy = time.perf_counter() - start, time.process_time() - busy
        print(json.dumps({"seconds": took, "busy": busy, "megabytes": peak_megabytes(), "rows": n_rows}))
