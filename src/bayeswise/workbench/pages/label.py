"""The Label page: one case after the other, from `bayeswise label --json` in a process of its own.

The process has the journal, which it locks, and has each answer on the disk before it confirms it. So whatever ends the
page, the server or the process, nothing that was confirmed is lost, and a terminal can go on where the page ended.
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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from bayeswise.foundation.errors import (
    BayeswiseError,
    ConflictError,
    FitError,
    NotFoundError,
    TooManyThreadsError,
    UsageError,
    quoted,
)
from bayeswise.foundation.threads import starting
from bayeswise.workbench.messages import PROBLEMS, FileName, Name, Said, SameAs, arguments, call, python
from bayeswise.workbench.workspace import Workspace

if TYPE_CHECKING:
    from bayeswise.workbench.bench import Bench

Strategy = Literal["margin", "entropy", "least confident", "density-weighted", "expected cost", "ask", "random"]
_PATIENCE = 120.0  # seconds for an answer of the process
_MOST_SESSIONS = 8


@dataclass
class LabelSession:
    """A session that runs: the case that is asked now, and how it came to be started."""

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
            said: dict[str, Any] = json.loads(line)
            if "refused" in said:
                refused = str(said["refused"])
                break
            if "ask" in said:
                self.case = said
                return said
            if "end" in said:
                self.case, self.ended = None, said["end"]
                return said
        raise UsageError(refused, fix="choose one of the classes")

    def tell(self, answer: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(answer).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise self._gone() from None

    def end(self) -> None:
        """Let it write its table and its model."""
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
        """What the process said before it ended."""
        self.process.kill()
        self.process.wait()
        assert self.process.stderr is not None
        said = self.process.stderr.read().decode("utf-8", "replace").splitlines()
        last = next((line.removeprefix("bayeswise: ") for line in reversed(said) if line.startswith("bayeswise: ")), "")
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
                raise ConflictError(f"row {row} is no longer being asked", fix="answer the current question")
            session.tell(answer)
            session.read()
        return session

    def end(self, name: str) -> LabelSession:
        """End a session: its table and its model are written."""
        session = self.get(name)
        with session.lock:
            session.tell({"quit": True})
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


# -- what the page asks -----------------------------------------------------------------------------------------------


class StartRequest(Said):
    """A table of cases, what is asked about them, and the folder of the session."""

    table: FileName
    target: Name
    session: FileName
    classes: Annotated[list[Name], Field(max_length=1_000)] = Field(default_factory=list)
    decision: FileName | None = None
    strategy: Strategy | None = None


class AnswerRequest(Said):
    """An answer to the case in `row`: a label, or that it is skipped, not known, or the last answer taken back."""

    session: FileName
    row: int
    label: Name | None = None
    other: Literal["skip", "unknown", "undo"] | None = None


class EndRequest(Said):
    """The session to end."""

    session: FileName


class CaseView(Said):
    """A case to label (counted from 1), why it, what is believed of it, and what its label is expected to save."""

    row: int
    cells: dict[str, Any]
    why: str
    believed: dict[str, float]
    saving: float | None


class LabelView(Said):
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
        """The case that is asked now."""
        return _view(bench.sessions.get(session))

    @router.post("/start")
    def start(asked: StartRequest) -> LabelView:
        """Begin a session, or go on with one."""
        bench.workspace.file(asked.table)
        if asked.decision is not None:
            bench.workspace.file(asked.decision)
        if any("," in name for name in asked.classes):
            raise UsageError("a class has a comma in its name", fix="name it without, or put it into the table")
        options = {
            "--target": asked.target,
            "--classes": ",".join(asked.classes) or None,
            "--costs": asked.decision,
            "--strategy": asked.strategy,
        }
        words = arguments("label", asked.table, options=options)[1:]
        return _view(bench.sessions.start(asked.session, words))

    @router.post("/answer")
    def answer(asked: AnswerRequest) -> LabelView:
        """Answer the case; the answer is on the disk before this is confirmed."""
        if (asked.label is None) == (asked.other is None):
            raise UsageError("one answer is needed", fix="send either label or other")
        given: dict[str, Any] = {"label": asked.label} if asked.other is None else {asked.other: True}
        return _view(bench.sessions.answer(asked.session, asked.row, given))

    @router.post("/end")
    def end(asked: EndRequest) -> LabelView:
        """End the session: its table of labelled rows and its model are written."""
        return _view(bench.sessions.end(asked.session))

    return router


def _view(session: LabelSession) -> LabelView:
    said, ended = session.case or {}, session.ended or {}
    asked = said.get("ask")
    case = None if asked is None else CaseView(**{name: asked[name] for name in CaseView.model_fields})
    return LabelView(
        session=session.name,
        case=case,
        labels=said.get("n_labels", ended.get("n_labels", 0)),
        skipped=said.get("n_skipped", 0),
        unknown=said.get("n_unknown", 0),
        open=said.get("n_open", 0),
        believed_cost=said.get("believed_cost"),
        measured_cost=said.get("measured_cost"),
        measured_interval=said.get("measured_interval"),
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
