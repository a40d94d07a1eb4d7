"""The Label page: one case after the other; answers are in the journal that `bayeswise label` has."""

from __future__ import annotations

import shlex
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from bayeswise.foundation.errors import UsageError
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.labelling import LabelSession
from bayeswise.workbench.messages import PROBLEMS, FileName, Name, Said, SameAs, arguments, call, python

Strategy = Literal["margin", "entropy", "least confident", "density-weighted", "expected cost", "ask", "random"]


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
