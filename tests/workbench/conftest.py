"""A workspace with the examples, a client of its application, and a real browser on a real server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from starlette.testclient import TestClient

import bayeswise as bw
from bayeswise.workbench.app import guarded
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.safety import Access, Limits
from bayeswise.workbench.workspace import Workspace
from tests.paths import EXAMPLES
from tests.scheduling import by_turns

# What a browser isolates in processes of their own is not tested, and processes and threads may be limited.
FEW_PROCESSES = ["--in-process-gpu", "--enable-features=NetworkServiceInProcess2", "--renderer-process-limit=1"]
HOME = "http://127.0.0.1:8642"
expect.set_options(timeout=60_000)  # ms: on a busy machine a page takes long


def filled(place: Path) -> Path:
    """A folder with the examples, and a model of the golf table."""
    place.mkdir()
    for example in EXAMPLES.iterdir():
        if example.is_file():
            shutil.copy(example, place)
    bw.fit(str(EXAMPLES / "golf.csv"), target="play", model="naive-bayes").save(place / "golf.bayeswise")
    return place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace of the test's own."""
    return filled(tmp_path / "work")


@pytest.fixture
def access() -> Access:
    return Access.to(["127.0.0.1", "localhost", "::1"], 8642)


@pytest.fixture
def limits() -> Limits:
    return Limits()


@pytest.fixture
def stranger(folder: Path, access: Access, limits: Limits) -> Iterator[TestClient]:
    """Somebody who has no token."""
    with TestClient(guarded(Bench(Workspace(folder), limits), access), base_url=HOME, follow_redirects=False) as client:
        yield client


@pytest.fixture
def client(stranger: TestClient, access: Access) -> TestClient:
    """A program that has the token."""
    stranger.headers["authorization"] = f"Bearer {access.token}"
    return stranger


@dataclass
class Served:
    """A server in a process of its own, on a folder, on a free port."""

    folder: Path
    process: subprocess.Popen[str]
    url: str

    @classmethod
    def started(cls, folder: Path, port: int = 0, token: str | None = None) -> Served:
        words = [sys.executable, "-m", "bayeswise", "serve", str(folder), "--no-browser", "--port", str(port)]
        environment = {**os.environ, **({} if token is None else {"BAYESWISE_TOKEN": token})}
        process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment)
        assert process.stderr is not None
        for line in process.stderr:
            if "http://" in line:
                return cls(folder, process, line.strip())
        raise AssertionError("the server did not start")

    @property
    def home(self) -> str:
        return self.url.partition("/?")[0]

    @property
    def port(self) -> int:
        return int(self.home.rpartition(":")[2])

    def kill(self) -> None:
        """As a crash would: nothing can be put in order."""
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        if self.process.stderr is not None:
            self.process.stderr.close()


def chromium() -> str | None:
    """The machine's Chromium; installed where that is possible, since a browser is never silently left out."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None and hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=False, capture_output=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "chromium"], check=False, capture_output=True)
        found = shutil.which("chromium")
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium()
    if path is None and not os.environ.get("CI"):
        pytest.skip("there is no Chromium on this machine: apt install chromium")
    with by_turns(), sync_playwright() as playwright:
        yield (started := playwright.chromium.launch(executable_path=path, args=["--no-sandbox", *FEW_PROCESSES]))
        started.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for the tests of a module, each of which has files of its own names."""
    served = Served.started(filled(tmp_path_factory.mktemp("shared") / "work"))
    yield served
    served.end()


@dataclass
class Tab:
    """A page, and what it did."""

    page: Page
    served: Served
    complaints: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        self.page.goto(self.served.home + path)
        return self.page

    def forgive(self, word: str) -> None:
        """The browser logs requests that were refused or not answered, also those that a test is about."""
        self.complaints = [line for line in self.complaints if word not in line]


@contextmanager
def opened(browser: Browser, served: Served) -> Iterator[Tab]:
    """A tab that has opened the printed URL; it must stay without errors, and ask nobody else."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.set_default_timeout(60_000)
    tab = Tab(context.new_page(), served)
    tab.page.on("console", lambda message: message.type == "error" and tab.complaints.append(message.text))
    tab.page.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.page.on("request", lambda request: tab.requested.append(request.url))
    tab.page.goto(served.url)
    expect(tab.page.get_by_role("heading", level=1)).to_be_visible()
    yield tab
    context.close()
    assert tab.complaints == []
    assert [url for url in tab.requested if not url.startswith((served.home, "data:"))] == []


@pytest.fixture
def tab(browser: Browser, shared: Served) -> Iterator[Tab]:
    """A tab of the server that the module shares."""
    with opened(browser, shared) as found:
        yield found
