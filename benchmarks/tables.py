"""From a table to statistics, as a model would ask for them; run as a script, the same with its time and its memory."""

from __future__ import annotations

import json
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from bayeswise.engines import Request, Summary, summarise
from bayeswise.engines.one_pass import foresee_near
from bayeswise.engines.passes import StatisticsPass
from bayeswise.foundation.threads import limit_threads
from bayeswise.statistics import Moments
from bayeswise.tables.encoding.encoder import BATCH_ROWS, Encoder
from bayeswise.tables.partitions import NearSource
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.source import open_source
from bayeswise.tables.sources.opening import long_file
from benchmarks.harness import seconds


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
    request = Request.numbers("numbers", schema.numbers, Moments.of)
    if schema.categories:  # no model asks for counts of no column
        request |= Request.counts("counts", schema.categories)
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


def _blocks(path: str) -> Iterator[bytes]:
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            yield block


def stages(path: str, target: str) -> dict[str, float]:
    """Processor time of what is done to a file, each stage without those before it."""
    source = open_source(path)
    schema = infer_schema(NearSource(source), target)  # whatever is imported or made but once
    summary_of(path, target)

    def busy(work: Callable[[], object]) -> float:
        return min(seconds(work, time.process_time) for _ in range(3))

    def swept(chunks: Callable[[], Iterable[object]]) -> float:
        return busy(lambda: deque(chunks(), maxlen=0))

    stages = {}
    if source.textual:
        stages["bytes read"] = swept(lambda: _blocks(path))
        stages["cells found"] = swept(lambda: source.chunks([target]))
    else:
        stages["columns decoded"] = swept(lambda: source.chunks([*schema.numbers, target]))
    stages["numbers parsed" if source.textual else "numbers copied"] = swept(
        lambda: (chunk.block(schema.numbers) for chunk in source.chunks(schema.numbers))
    )
    stages["kinds of columns"] = busy(lambda: infer_schema(NearSource(source), target))
    stages["sums"] = busy(lambda: summary_of(path, target))
    until = [0.0, *stages.values()]
    return {stage: max(0.0, took - before) for (stage, took), before in zip(stages.items(), until, strict=False)}


if __name__ == "__main__":
    path, name = sys.argv[1:]
    if name == "stages":
        print(json.dumps(stages(path, "y")))
    else:
        for module in ("files", "parquet" if path.endswith(".parquet") else "text.csv"):
            import_module(f"bayeswise.tables.sources.{module}")  # the imports of a peer are not in its time, either
        start, busy = time.perf_counter(), time.process_time()
        n_rows = summary_of(path, "y").n_rows
        took, busy = time.perf_counter() - start, time.process_time() - busy
        print(json.dumps({"seconds": took, "busy": busy, "megabytes": peak_megabytes(), "rows": n_rows}))
