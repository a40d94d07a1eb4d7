"""From a table to statistics, as a model would ask for them; run as a script, the same with its time and its memory."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

from bayeswise.engines import Request, Summary, summarise
from bayeswise.foundation.threads import limit_threads
from bayeswise.statistics import Moments
from bayeswise.tables.encoding.encoder import BATCH_ROWS, Encoder
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.source import open_source


def summary_of(table: Any, target: str, *, threads: int | None = None, batch_rows: int = BATCH_ROWS) -> Summary:
    """Moments of the number columns and counts of the categories, by class, the schema inferred."""
    source = open_source(table)
    schema = infer_schema(source, target)
    request = Request.numbers("numbers", schema.numbers, Moments.of) | Request.counts("counts", schema.categories)
    encoder = Encoder(schema, batch_rows=batch_rows)
    with limit_threads(threads):
        return summarise(encoder.batches(source), schema, request)


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


if __name__ == "__main__":
    start = time.perf_counter()
    found = summary_of(sys.argv[1], "y")
    took = time.perf_counter() - start
    print(json.dumps({"seconds": took, "megabytes": peak_megabytes(), "rows": found.n_rows}))
