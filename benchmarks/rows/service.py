"""The service beside FastAPI with a scikit-learn pipeline: one client and one machine for both, in turns.

Speeds are shown twice: requests by the clock, which is what clients see, and by the processor time of the server, which
other processes on the machine do not change. The client is a bare protocol, so that it is not what is measured.
"""

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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvloop

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


class _Client(asyncio.Protocol):
    """One connection: the same request again and again, each sent when the answer to the last one is there."""

    def __init__(self, request: bytes, times: int, seconds: list[float], done: asyncio.Future[None]) -> None:
        self.request, self.left, self.seconds, self.done = request, times, seconds, done
        self.answer = bytearray()
        self.end = -1  # where the answer ends, once its head is there
        self.began = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self._send()

    def _send(self) -> None:
        self.began = time.perf_counter()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.answer += data
        if self.end < 0:
            head = self.answer.find(b"\r\n\r\n")
            if head < 0:
                return
            if not self.answer.startswith(b"HTTP/1.1 200"):
                self._fail(RuntimeError(self.answer[:head].decode("latin-1")))
                return
            at = self.answer.lower().find(b"content-length:", 0, head)
            self.end = head + 4 + int(self.answer[at + 15 : self.answer.find(b"\r\n", at)])
        if len(self.answer) < self.end:
            return
        self.seconds.append(time.perf_counter() - self.began)
        self.answer.clear()
        self.end = -1
        self.left -= 1
        if self.left:
            self._send()
        else:
            self.transport.close()
            self.done.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        if self.left:
            self._fail(error or ConnectionError("the server has closed the connection"))

    def _fail(self, error: Exception) -> None:
        self.left = 0
        if not self.done.done():
            self.done.set_exception(error)


def measured(server: Server, rows: list[dict[str, Any]], requests: int, clients: int) -> Measured:
    """So many requests by so many clients at once."""
    request, seconds = server.request(rows), list[float]()

    async def all_of_them() -> None:
        loop = asyncio.get_running_loop()
        ends = [loop.create_future() for _ in range(clients)]
        for end in ends:
            await loop.create_connection(
                lambda end=end: _Client(request, max(1, requests // clients), seconds, end),  # type: ignore[misc]
                "127.0.0.1",
                server.port,
            )
        await asyncio.gather(*ends)

    cpu, began = server.cpu_seconds, time.perf_counter()
    uvloop.run(all_of_them())
    return Measured(seconds, time.perf_counter() - began, server.cpu_seconds - cpu)


@contextmanager
def started(command: list[str], port: int, path: str, environment: dict[str, str]) -> Iterator[Server]:
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not _listens(port):  # a busy machine may take minutes to start it
            if process.poll() is not None:
                raise RuntimeError(f"the server ended with code {process.returncode}: {' '.join(command)}")
            time.sleep(0.1)
        yield Server(port, path, process)
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def both() -> Iterator[tuple[Server, Server]]:
    """Our service and its peer, on the same table."""
    with tempfile.TemporaryDirectory(prefix="bayeswise-bench-") as folder:
        bw.fit(str(EXAMPLES / "credit.csv"), target="repaid", model="naive-bayes").save(
            Path(folder) / "credit.bayeswise"
        )
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


_kept: list[tuple[Server, Server]] = []


@contextmanager
def kept() -> Iterator[None]:
    """All requests inside are answered by the same two servers, which is not what is measured but what runs sooner."""
    with both() as servers:
        _kept.append(servers)
        try:
            yield
        finally:
            _kept.pop()


@contextmanager
def servers_running() -> Iterator[tuple[Server, Server]]:
    """The servers that are kept, or new ones."""
    if _kept:
        yield _kept[-1]
        return
    with both() as servers:
        yield servers


def applicants(n_rows: int) -> list[dict[str, Any]]:
    import csv

    with (EXAMPLES / "credit-test.csv").open() as file:
        found = [
            {**row, "income": float(row["income"]), "amount": float(row["amount"])} for row in csv.DictReader(file)
        ]
    return [found[place % len(found)] for place in range(n_rows)]


@dataclass
class Asking:
    """Requests of some rows by some clients at once, of our service and of its peer in turns."""

    what: str
    rows: int
    requests: int
    clients: int
    found: dict[Size, tuple[Measured, Measured]] = field(default_factory=dict)

    def measured(self, size: Size) -> tuple[Measured, Measured]:
        """Ours and the peer's: of several rounds the one in which the server was least disturbed."""
        if size not in self.found:
            rows = applicants(self.rows)
            requests = max(self.clients, round(self.requests * max(size.scale, 0.01)))
            rounds: list[list[Measured]] = [[], []]
            with servers_running() as servers:
                for server in servers:
                    measured(server, rows, 20, 1)
                for _ in range(min(3, size.repeats)):
                    for place, server in enumerate(servers):
                        rounds[place].append(measured(server, rows, requests, self.clients))
            ours, peer = (min(each, key=lambda one: one.wall / len(one.seconds)) for each in rounds)
            self.found[size] = ours, peer
        return self.found[size]


@dataclass(frozen=True)
class Speed:
    """Rows per second of the clock, or of the server's processor."""

    asking: Asking
    clock: bool
    at_least: float

    @property
    def what(self) -> str:
        return f"{self.asking.what}, by {'the clock' if self.clock else 'processor time'}"

    def run(self, size: Size) -> Outcome:
        pair = self.asking.measured(size)
        ours, peer = (
            self.asking.rows * len(one.seconds) / max(one.wall if self.clock else one.cpu, 0.01) for one in pair
        )
        ratio = ours / peer
        target, met = f">= {self.at_least:g}x", ratio >= self.at_least
        return Outcome(self.what, ours, peer, "rows/s", ratio, target, met)


@dataclass(frozen=True)
class Latency:
    """How long a client waits for an answer."""

    asking: Asking
    share: float

    @property
    def what(self) -> str:
        return f"{self.asking.what}, p{100 * self.share:.0f}"

    def run(self, size: Size) -> Outcome:
        ours, peer = (one.quantile(self.share) for one in self.asking.measured(size))
        return Outcome(self.what, ours, peer, "s", peer / ours, "", None)


@dataclass(frozen=True)
class Memory:
    """What the service has grown by over many requests."""

    what: str
    requests: int

    def run(self, size: Size) -> Outcome:
        requests = max(200, round(self.requests * size.scale))
        with servers_running() as (server, _):
            measured(server, applicants(1), max(50, requests // 10), 8)
            before = server.resident_bytes
            measured(server, applicants(1), requests, 8)
            grown = (server.resident_bytes - before) / 2**20
        return Outcome(f"{self.what}, {requests:,} requests", grown, None, "MiB", None, "<= 10 MiB", grown <= 10)


def rows(size: Size) -> Iterator[Row]:
    for clients, requests in ((1, 2_000), (16, 4_000), (200, 4_000)):
        asking = Asking(f"service: one row, {clients} client{'s' * (clients > 1)}", 1, requests, clients)
        yield Speed(asking, True, 3.0)
        yield Speed(asking, False, 3.0)
        yield Latency(asking, 0.5)
        yield Latency(asking, 0.99)
    batch = Asking("service: 1,000 rows at once", 1_000, 150, 2)
    yield Speed(batch, True, 5.0)
    yield Speed(batch, False, 5.0)
    yield Memory("service: memory", 100_000)
