"""The application: routes of every page and of the service behind one guard, and the server that answers by it."""

from __future__ import annotations

import html
import ipaddress
import json
import os
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

from bayeswise import __version__
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, UsageError, legible
from bayeswise.foundation.process_limit import refused_thread
from bayeswise.render.page import page as html_page
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.messages import Problem, status_of
from bayeswise.workbench.pages import (
    capacity,
    costs,
    data,
    diagram,
    explain,
    jobs,
    label,
    model,
    network,
    network_changes,
    trust,
)
from bayeswise.workbench.safety import Access, Guard, Limits
from bayeswise.workbench.service import routes as service
from bayeswise.workbench.workspace import Workspace

BUNDLE = Path(__file__).parent / "bundle"  # what `make page` makes of page/
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".map": "application/json"}
# routes are tried in this order: those of the service, which are requested most often, come first
PAGES = (service, data, jobs, model, costs, capacity, explain, trust, label, network, network_changes, diagram)


def application(bench: Bench) -> FastAPI:
    """The routes, without the guard: what OpenAPI describes."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        bench.close()

    app = FastAPI(
        lifespan=lifespan,
        title="bayeswise",
        version=__version__,
        description="The workbench of a folder, and the service of its models.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # these load scripts from elsewhere
        redoc_url=None,
    )
    for page in PAGES:
        app.include_router(page.routes(bench))
    app.add_exception_handler(BayeswiseError, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(Exception, _bug)
    _page_routes(app)
    return app


def description() -> str:
    """The API as OpenAPI in JSON, from which the types of the page are generated."""
    with tempfile.TemporaryDirectory() as folder:
        return json.dumps(application(Bench(Workspace(folder))).openapi(), indent=1)


def guarded(bench: Bench, access: Access) -> Guard:
    """What the server runs."""
    return Guard(application(bench), access, bench.limits)


def _page_routes(app: FastAPI) -> None:
    @app.get("/assets/{name}", include_in_schema=False)
    def asset(name: str) -> Response:
        path = BUNDLE / "assets" / name
        if path.name != name or name.startswith(".") or not path.is_file():
            raise HTTPException(404)
        return FileResponse(path, media_type=_TYPES.get(path.suffix, "application/octet-stream"))

    @app.get("/{path:path}", include_in_schema=False)
    def page(path: str) -> Response:
        """The page, for every URL that is not the API's: which view it shows is up to its own router."""
        if path.startswith("api/"):
            raise HTTPException(404)
        index = BUNDLE / "index.html"
        if not index.is_file():
            return HTMLResponse(html_page("bayeswise", "<p>The page is not built. Run <code>make page</code>.</p>"))
        return FileResponse(index, media_type="text/html")


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, BayeswiseError)
    return _problem(Problem.of(error), status_of(error))


async def _malformed(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(map(str, first["loc"][1:])) or "the request"
    return _problem(
        Problem(error="Malformed", what=legible(f"{place}: {first['msg']}"), fix="see /api/openapi.json"), 422
    )


async def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _problem(Problem(error="HTTP", what=html.escape(str(error.detail)), fix=None), error.status_code)


async def _bug(request: Request, error: Exception) -> Response:
    if (refused := refused_thread(error)) is not None:
        return await _refused(request, refused)
    what = legible(f"this is a bug: {type(error).__name__}: {error}")
    return _problem(Problem(error="Bug", what=what, fix="please report it"), 500)


def _problem(problem: Problem, status: int) -> Response:
    return JSONResponse(problem.model_dump(), status_code=status)


LOOPBACK = ("127.0.0.1", "localhost", "::1")
USUAL_PORT = 8642
_GRACE = 3  # seconds for answers that are being computed when the server is ended


@dataclass(frozen=True)
class Address:
    """Where to listen, and the host names that it answers to."""

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
        """A socket at the given port, else at the usual one, else at any free one."""
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
            with suppress(RuntimeError):  # no thread may be started; the URL is printed
                threading.Timer(0.3, webbrowser.open, [url]).start()
        Ending(config, bench).run(sockets=[listener])


class Ending(uvicorn.Server):
    """A server that exits on request, even while a thread still computes an answer."""

    def __init__(self, config: uvicorn.Config, bench: Bench) -> None:
        super().__init__(config)
        self._bench = bench

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let answers be finished for a while; a second Ctrl-C does not wait."""
        wait = 0.0 if self.should_exit and sig == signal.SIGINT else _GRACE + 1.0
        last = threading.Timer(wait, self._leave, [128 + sig])
        last.daemon = True  # an orderly end comes first
        with suppress(RuntimeError):  # no thread may be started: answers are waited for
            last.start()
        super().handle_exit(sig, frame)

    def _leave(self, code: int) -> None:
        try:
            self._bench.close()
        finally:
            os._exit(code)
