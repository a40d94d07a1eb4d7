"""The service beside FastAPI with a scikit-learn pipeline: one server, one client and one machine for both."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bayeswise as bw
from benchmarks.harness import Outcome, Row, Size

EXAMPLES = Path(__file__).parents[2] / "examples"
TOKEN = "benchmark-of-the-service"
_HEAD = b"POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\n"


@dataclass(frozen=True)
class Server:
    """A server in a process of its own."""

    port: int
    path: str
    process: subprocess.Popen[bytes]

    @property
    def cpu_seconds(self) -> float:
        """What the server has used: a busy machine does not count."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def resident_bytes(self) -> int:
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def request(self, rows: list[dict[str, Any]]) -> bytes:
        body = json.dumps({"rows": rows}).encode()
        head = _HEAD % (self.path.encode(), self.port, TOKEN.encode())
        return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


@dataclass(frozen=True)
class Measured:
    """Some requests: how long each took, and what the server used."""

    seconds: list[float]
    wall: float
    cpu: float

    def quantile(self, share: float) -> float:
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(share * len(self.seconds)))]


async def _client(server: Server, request: bytes, times: int, seconds: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    for _ in range(times):
        began = time.perf_counter()
        writer.write(request)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.decode("latin-1"))
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        seconds.append(time.perf_counter() - began)
    writer.close()


def measured(server: Server, rows: list[dict[str, Any]], requests: int, clients: int) -> Measured:
    """So many requests by so many clients at once."""
    request, seconds = server.request(rows), list[float]()

    async def all_of_them() -> None:
        await asyncio.gather(*(_client(server, request, max(1, requests // clients), seconds) for _ in range(clients)))

    cpu, began = server.cpu_seconds, time.perf_counter()
    asyncio.run(all_of_them())
    return Measured(seconds, time.perf_counter() - began, server.cpu_seconds - cpu)


@contextmanager
def started(command: list[str], port: int, path: str, environment: dict[str, str]) -> Iterator[Server]:
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(400):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield Server(port, path, process)
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def both() -> Iterator[tuple[Server, Server]]:
    """Our service and its peer, on the same table."""
    with tempfile.TemporaryDirectory(prefix="bayeswise-bench-") as folder:
        bw.fit(str(EXAMPLES / "credit.csv"), target="repaid").save(Path(folder) / "credit.bayeswise")
        costs = (
            'target = "repaid"\n[costs]\nrefuse = 0\nlend = { no = 600, yes = -120 }\nask = { no = 250, yes = 130 }\n'
        )
        (Path(folder) / "credit.toml").write_text(costs)
        ours, peer = free_port(), free_port()
        serve = [sys.executable, "-m", "bayeswise", "serve", folder, "--no-browser", "--port", str(ours)]
        other = [sys.executable, "-m", "uvicorn", "benchmarks.service_peer:application", "--factory"]
        other += ["--port", str(peer), "--log-level", "warning", "--no-access-log"]
        table = {"BAYESWISE_BENCH_TABLE": str(EXAMPLES / "credit.csv")}
        path = "/api/v1/models/credit/decide"
        with (
            started(serve, ours, path, {"BAYESWISE_TOKEN": TOKEN}) as mine,
            started(other, peer, "/decide", table) as theirs,
        ):
            yield mine, theirs


def applicants(n_rows: int) -> list[dict[str, Any]]:
    import csv

    with (EXAMPLES / "credit-test.csv").open() as file:
        found = [
            {**row, "income": float(row["income"]), "amount": float(row["amount"])} for row in csv.DictReader(file)
        ]
    return [found[place % len(found)] for place in range(n_rows)]


@dataclass(frozen=True)
class Asking:
    """Requests of some rows: how many rows a second of the server's processor are answered, and how long one takes."""

    what: str
    rows: int
    requests: int
    clients: int
    at_least: float | None

    def run(self, size: Size) -> Outcome:
        rows = applicants(self.rows)
        requests = max(self.clients, round(self.requests * max(size.scale, 0.05)))
        found: list[list[Measured]] = [[], []]
        with both() as servers:
            for server in servers:
                measured(server, rows, 20, 1)
            for _ in range(min(3, size.repeats)):
                for place, server in enumerate(servers):
                    found[place].append(measured(server, rows, requests, self.clients))
        ours, peer = (min(each, key=lambda one: one.cpu / len(one.seconds)) for each in found)
        speeds = [self.rows * len(one.seconds) / max(one.cpu, 0.01) for one in (ours, peer)]
        latency = ", ".join(
            f"{name} p50 {1e3 * one.quantile(0.5):.2f} ms p99 {1e3 * one.quantile(0.99):.2f} ms"
            for name, one in (("ours", ours), ("peer", peer))
        )
        target = "" if self.at_least is None else f">= {self.at_least:g}x"
        ratio = speeds[0] / speeds[1]
        met = None if self.at_least is None else ratio >= self.at_least
        return Outcome(f"{self.what} ({latency})", speeds[0], speeds[1], "rows/s of CPU", ratio, target, met)


@dataclass(frozen=True)
class Memory:
    """What the service has grown by over many requests."""

    what: str
    requests: int

    def run(self, size: Size) -> Outcome:
        requests = max(500, round(self.requests * size.scale))
        with both() as (server, _):
            measured(server, applicants(1), max(200, requests // 10), 8)
            before = server.resident_bytes
            measured(server, applicants(1), requests, 8)
            grown = (server.resident_bytes - before) / 2**20
        return Outcome(f"{self.what}, {requests:,} requests", grown, None, "MiB", None, "<= 10 MiB", grown <= 10)


def rows(size: Size) -> Iterator[Row]:
    yield Asking("service: one row, 1 client", 1, 2_000, 1, 3.0)
    yield Asking("service: one row, 16 clients", 1, 4_000, 16, 3.0)
    yield Asking("service: one row, 200 clients", 1, 4_000, 200, None)
    yield Asking("service: 1,000 rows", 1_000, 100, 2, 5.0)
    yield Memory("service: memory", 100_000)
