"""The Label page: one case after the other, from `bayeswise label --json` in a process of its own.

The process locks the journal, and writes each answer to disk before it confirms it. So no confirmed answer is lost when
the page, the server or the process ends, and a terminal can go on where the page ended.
"""

from __future__ import annotations

import contextlib
import json
import queue
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import (
    BayeswiseError,
    ConflictError,
    FitError,
    NotFoundError,
    TooManyThreadsError,
    UsageError,
    quoted,
)
from bayeswise.foundation.process_limit import starting
from bayeswise.workbench.messages import PROBLEMS, FileName, Message, Name, SameAs, arguments, call, python
from bayeswise.workbench.workspace import Workspace

if TYPE_CHECKING:
    from bayeswise.workbench.bench import Bench

Strategy = Literal["margin", "entropy", "least confident", "density-weighted", "expected cost", "ask", "random"]
_PATIENCE = 120.0  # seconds for an answer of the process
_MOST_SESSIONS = 8


@dataclass
class LabelSession:
    """A running session: its current case, and the arguments it was started with."""

    name: str
    words: tuple[str, ...]
    process: subprocess.Popen[bytes]
    case: dict[str, Any] | None = None
    ended: dict[str, Any] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    lines: queue.Queue[bytes | None] = field(default_factory=queue.Queue)

    def __post_init__(self) -> None:
        try:
            with starting():
                threading.Thread(target=self._listen, name=f"labels-{self.name}", daemon=True).start()
        except TooManyThreadsError:
            self.end()
            raise

    def _listen(self) -> None:
        """Lines as they come; None at the end."""
        assert self.process.stdout is not None
        with contextlib.suppress(ValueError, OSError):  # the pipe was closed
            for line in self.process.stdout:
                self.lines.put(line)
        self.lines.put(None)

    def read(self) -> dict[str, Any]:
        """Lines up to the next case or the end; what was refused is an error."""
        refused = None
        until = time.monotonic() + _PATIENCE
        while True:
            line = self._line(until)
            if line is None:
                raise self._gone()
            message: dict[str, Any] = json.loads(line)
            if "refused" in message:
                refused = str(message["refused"])
                break
            if "ask" in message:
                self.case = message
                return message
            if "end" in message:
                self.case, self.ended = None, message["end"]
                return message
        raise UsageError(refused, fix="choose one of the classes")

    def send(self, answer: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(answer).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise self._gone() from None

    def end(self) -> None:
        """End the process, which writes its table and its model."""
        with contextlib.suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def _line(self, until: float) -> bytes | None:
        try:
            return self.lines.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            return None

    def _gone(self) -> BayeswiseError:
        """The error that the process printed before it ended."""
        self.process.kill()
        self.process.wait()
        assert self.process.stderr is not None
        printed = self.process.stderr.read().decode("utf-8", "replace").splitlines()
        last = next(
            (line.removeprefix("bayeswise: ") for line in reversed(printed) if line.startswith("bayeswise: ")), ""
        )
        what, _, fix = last.partition(" Fix: ")
        return FitError(what or "the session has ended", fix=fix or "start it again: every confirmed answer is kept")


class Sessions:
    """The sessions of a workspace that run now, by the name of their folder."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._found: dict[str, LabelSession] = {}
        self._starting = threading.Lock()

    def start(self, name: str, words: Sequence[str]) -> LabelSession:
        """Begin a session, or go on with it; one that runs already with the same words stays as it is."""
        self._workspace.place(name)
        with self._starting:
            held = self._found.get(name)
            if held is not None and held.process.poll() is None and held.case is not None:
                if held.words == tuple(words):
                    return held
                held.end()
            elif len(self._running()) >= _MOST_SESSIONS:
                raise UsageError(f"{_MOST_SESSIONS} sessions are open already", fix="end one of them")
            with starting():
                process = subprocess.Popen(
                    [sys.executable, "-m", "bayeswise", "label", *words, "--output", f"{name}/", "--json"],
                    cwd=self._workspace.root,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            session = LabelSession(name, tuple(words), process)
            with session.lock:
                try:
                    session.read()
                except BaseException:
                    session.end()
                    raise
            self._found[name] = session
            return session

    def get(self, name: str) -> LabelSession:
        """A session that runs."""
        held = self._found.get(name)
        if held is None or held.process.poll() is not None or held.case is None:
            raise NotFoundError(f"the session {quoted(name)} is not open", fix="start it; its answers are kept")
        return held

    def answer(self, name: str, row: int, answer: dict[str, Any]) -> LabelSession:
        """Answer the case that is shown; another tab may have answered it before."""
        session = self.get(name)
        with session.lock:
            if session.case is None or session.case["ask"]["row"] != row:
                raise ConflictError(f"row {row} is no longer the current case", fix="answer the current case")
            session.send(answer)
            session.read()
        return session

    def end(self, name: str) -> LabelSession:
        """End a session: its table and its model are written."""
        session = self.get(name)
        with session.lock:
            session.send({"quit": True})
            session.read()
            session.end()
        self._found.pop(name, None)
        return session

    def close(self) -> None:
        """End all of them."""
        for session in self._running():
            session.end()
        self._found.clear()

    def _running(self) -> list[LabelSession]:
        return [session for session in self._found.values() if session.process.poll() is None]


# -- requests and answers ---------------------------------------------------------------------------------------------


class StartRequest(Message):
    """A table of cases, the target to label, and the folder of the session."""

    table: FileName
    target: Name
    session: FileName
    classes: Annotated[list[Name], Field(max_length=1_000)] = Field(default_factory=list)
    decision: FileName | None = None
    strategy: Strategy | None = None


class AnswerRequest(Message):
    """An answer to the case in `row`: a label, or that it is skipped, not known, or the last answer taken back."""

    session: FileName
    row: int
    label: Name | None = None
    other: Literal["skip", "unknown", "undo"] | None = None


class EndRequest(Message):
    """The session to end."""

    session: FileName


class CaseView(Message):
    """A case to label (counted from 1), why it was selected, its posterior, and the saving expected of its label."""

    row: int
    cells: dict[str, Any]
    why: str
    believed: dict[str, float]
    saving: float | None


class LabelView(Message):
    """Where a session stands; `case` is None when every row has had its turn."""

    session: str
    case: CaseView | None
    labels: int
    skipped: int
    unknown: int
    open: int
    believed_cost: float | None
    measured_cost: float | None
    measured_interval: list[float] | None
    reason: str | None
    labelled: str | None
    model: str | None
    same_as: SameAs


def routes(bench: Bench) -> APIRouter:
    """GET /api/label; POST start, answer and end."""
    router = APIRouter(prefix="/api/label", tags=["label"], responses=PROBLEMS)

    @router.get("")
    def label(session: Annotated[FileName, Query()]) -> LabelView:
        """The current case."""
        return _view(bench.sessions.get(session))

    @router.post("/start")
    def start(request: StartRequest) -> LabelView:
        """Begin a session, or go on with one."""
        bench.workspace.file(request.table)
        if request.decision is not None:
            bench.workspace.file(request.decision)
        if any("," in name for name in request.classes):
            raise UsageError("a class has a comma in its name", fix="name it without, or put it into the table")
        options = {
            "--target": request.target,
            "--classes": ",".join(request.classes) or None,
            "--costs": request.decision,
            "--strategy": request.strategy,
        }
        words = arguments("label", request.table, options=options)[1:]
        return _view(bench.sessions.start(request.session, words))

    @router.post("/answer")
    def answer(request: AnswerRequest) -> LabelView:
        """Answer the case; the answer is on the disk before this is confirmed."""
        if (request.label is None) == (request.other is None):
            raise UsageError("one answer is needed", fix="send either label or other")
        given: dict[str, Any] = {"label": request.label} if request.other is None else {request.other: True}
        return _view(bench.sessions.answer(request.session, request.row, given))

    @router.post("/end")
    def end(request: EndRequest) -> LabelView:
        """End the session: its table of labelled rows and its model are written."""
        return _view(bench.sessions.end(request.session))

    return router


def _view(session: LabelSession) -> LabelView:
    message, ended = session.case or {}, session.ended or {}
    query = message.get("ask")
    case = None if query is None else CaseView(**{name: query[name] for name in CaseView.model_fields})
    return LabelView(
        session=session.name,
        case=case,
        labels=message.get("n_labels", ended.get("n_labels", 0)),
        skipped=message.get("n_skipped", 0),
        unknown=message.get("n_unknown", 0),
        open=message.get("n_open", 0),
        believed_cost=message.get("believed_cost"),
        measured_cost=message.get("measured_cost"),
        measured_interval=message.get("measured_interval"),
        reason=ended.get("reason"),
        labelled=ended.get("labelled"),
        model=ended.get("model"),
        same_as=SameAs(
            shell=shlex.join(["bayeswise", "label", *session.words, "--output", f"{session.name}/"]),
            python=python(
                f"model = {call('bw.load', session.name + '/model.bayeswise')}  # when the session has ended"
            ),
        ),
    )
