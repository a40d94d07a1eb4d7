"""`bayeswise serve`: a server on this machine, its address with a token, and a browser that opens it."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from types import FrameType

import uvicorn

from bayeswise.foundation.errors import UsageError
from bayeswise.workbench.app import guarded
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.safety import Access, Limits
from bayeswise.workbench.workspace import Workspace

LOOPBACK = ("127.0.0.1", "localhost", "::1")
USUAL_PORT = 8642
_GRACE = 3  # seconds for answers that are being computed when the server is ended


@dataclass(frozen=True)
class Address:
    """Where to listen, and by which names the server is asked."""

    host: str = "127.0.0.1"
    port: int | None = None
    names: Sequence[str] = ()

    @property
    def is_loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def listening(self) -> socket.socket:
        """A socket at the port that was asked for, else at the usual one, else at any that is free."""
        for port in [self.port] if self.port is not None else [USUAL_PORT, 0]:
            family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
            listener = socket.socket(family, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((self.host, port))
            except OSError as error:
                listener.close()
                if port in (self.port, 0):
                    what = f"cannot listen on {self.host} port {port}: {error.strerror or error}"
                    raise UsageError(what, fix="choose another --port, or end the server that has it") from None
                continue
            listener.listen(1024)
            return listener
        raise AssertionError


def serve(folder: str, address: Address, *, browser: bool = True, token: str | None = None) -> None:
    """Serve a folder until the process is ended."""
    bench = Bench(Workspace(folder), Limits())
    with closing(address.listening()) as listener:
        port = listener.getsockname()[1]
        names = [*LOOPBACK, *([] if address.host in ("0.0.0.0", "::") else [address.host])]
        access = Access.to(names, port, address.names)
        access = access if token is None else access.with_token(token)
        shown = f"[{address.host}]" if ":" in address.host else address.host
        url = f"http://{'127.0.0.1' if address.host in ('0.0.0.0', '::') else shown}:{port}/?token={access.token}"
        print(f"bayeswise serves {bench.workspace.root} at\n  {url}\nEnd it with Ctrl-C.", file=sys.stderr, flush=True)
        config = uvicorn.Config(
            guarded(bench, access),
            log_level="warning",
            access_log=False,  # the first URL has the token
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
            timeout_keep_alive=30,
            h11_max_incomplete_event_size=64 << 10,
            backlog=1024,
        )
        if browser:
            threading.Timer(0.3, webbrowser.open, [url]).start()
        Ending(config, bench).run(sockets=[listener])


class Ending(uvicorn.Server):
    """A server that ends when it is asked to: an answer that a thread still computes cannot be cut off otherwise."""

    def __init__(self, config: uvicorn.Config, bench: Bench) -> None:
        super().__init__(config)
        self._bench = bench

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let answers be finished for a while; a second Ctrl-C does not wait."""
        wait = 0.0 if self.should_exit and sig == signal.SIGINT else _GRACE + 1.0
        last = threading.Timer(wait, self._leave, [128 + sig])
        last.daemon = True  # an orderly end comes first
        last.start()
        super().handle_exit(sig, frame)

    def _leave(self, code: int) -> None:
        try:
            self._bench.close()
        finally:
            os._exit(code)
