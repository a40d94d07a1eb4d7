"""Counts, durations and results of requests, in the text format of Prometheus."""

from __future__ import annotations

import sys
import threading
import time
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)  # seconds
_MOST_MODELS = 500


class Metrics:
    """Counters since the server was started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[tuple[str, str, int], int] = {}
        self._rows: dict[tuple[str, str], int] = {}
        self._bad: dict[tuple[str, str], int] = {}
        self._seconds: dict[str, list[int]] = {}
        self._total: dict[str, float] = {}
        self._started = time.time()

    def count(self, model: str, verb: str, status: int, rows: int, bad: int, seconds: float) -> None:
        """One request is over; names of models that are not served are not kept."""
        with self._lock:
            known = (model, verb, status) in self._requests or len(self._requests) < 4 * _MOST_MODELS
            name = model if known and status != 404 else ""
            key = (name, verb, status)
            self._requests[key] = self._requests.get(key, 0) + 1
            self._rows[(name, verb)] = self._rows.get((name, verb), 0) + rows
            self._bad[(name, verb)] = self._bad.get((name, verb), 0) + bad
            counts = self._seconds.setdefault(verb, [0] * (len(_BUCKETS) + 1))
            counts[bisect_left(_BUCKETS, seconds)] += 1
            self._total[verb] = self._total.get(verb, 0.0) + seconds

    def text(self, loaded: int, reloads: int, failures: int) -> str:
        """All metrics."""
        with self._lock:
            lines = [
                *_counter("bayeswise_requests_total", "Requests of the service.", self._requests),
                *_counter("bayeswise_rows_total", "Rows that were answered.", self._rows),
                *_counter("bayeswise_row_errors_total", "Rows that have an error in their place.", self._bad),
                *_head("bayeswise_request_seconds", "histogram", "Time from the whole body to the answer."),
                *self._histogram(),
            ]
        lines += _gauge("bayeswise_models_loaded", "Models in memory.", loaded)
        lines += _head("bayeswise_model_reloads_total", "counter", "Models replaced because their file changed.")
        lines += [f"bayeswise_model_reloads_total {reloads}"]
        lines += _gauge("bayeswise_model_load_failures", "Model files that cannot be read now.", failures)
        lines += _gauge("process_start_time_seconds", "Start of the process.", self._started)
        lines += _gauge("process_resident_memory_bytes", "Memory of the process.", resident_bytes())
        return "\n".join(lines) + "\n"

    def _histogram(self) -> list[str]:
        lines = []
        for verb, counts in sorted(self._seconds.items()):
            below = 0
            for bound, count in zip((*map(str, _BUCKETS), "+Inf"), counts, strict=True):
                below += count
                lines.append(f'bayeswise_request_seconds_bucket{{verb="{verb}",le="{bound}"}} {below}')
            lines.append(f'bayeswise_request_seconds_sum{{verb="{verb}"}} {self._total[verb]:.6f}')
            lines.append(f'bayeswise_request_seconds_count{{verb="{verb}"}} {below}')
        return lines


def resident_bytes() -> int:
    """The memory that the process has now, 0 where the system does not report it."""
    if sys.platform == "linux":
        import resource
        from pathlib import Path

        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    return 0


def _head(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]


def _counter(name: str, meaning: str, counts: Mapping[tuple[Any, ...], int]) -> list[str]:
    """A line for each model and verb, and status where the keys have one."""
    lines = _head(name, "counter", meaning)
    for key, n in sorted(counts.items()):
        named = zip(("model", "verb", "status"), key, strict=False)
        labels = ",".join(f'{label}="{_escaped(str(value))}"' for label, value in named)
        lines.append(f"{name}{{{labels}}} {n}")
    return lines


def _gauge(name: str, meaning: str, value: float) -> list[str]:
    return [*_head(name, "gauge", meaning), f"{name} {value}"]


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
