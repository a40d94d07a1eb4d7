"""The Trust page: whether posteriors are calibrated, what rejection saves, and how typical the rows are."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from fastapi.responses import Response

from bayeswise.evaluation.cost_curves import Curve, cost_curve, coverage_curve
from bayeswise.evaluation.evaluate import Evaluation, evaluation_of
from bayeswise.evaluation.novelty import ModelTail
from bayeswise.evaluation.reliability import brier_parts, log_parts, reliability
from bayeswise.evaluation.report import promise_lines
from bayeswise.foundation.errors import BayeswiseError, FitError
from bayeswise.statistics.intervals import variance_inflation
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.messages import PROBLEMS, FileName, Message, SameAs
from bayeswise.workbench.pages.costs import EvaluateRequest, opened, rows_of, same_decisions
from bayeswise.workbench.pages.jobs import JobView
from bayeswise.workbench.safety import CONTENT_POLICY

_REPORT_POLICY = (
    CONTENT_POLICY.replace("script-src 'self'; style-src 'self'", "style-src 'unsafe-inline'") + "; sandbox"
)
_MOST_POINTS = 400
_MOST_STATES = 20
_NOVELTY_ROWS = 5_000


class ReliabilityView(Message):
    """Bins of the probability of a state: promised, seen, and the band of what is seen."""

    state: str
    ece: float
    verdict: str
    predicted: list[float]
    observed: list[float]
    low: list[float]
    high: list[float]
    count: list[float]


class ScoreView(Message):
    """score = miscalibration - discrimination + uncertainty."""

    state: str
    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    log_score: float | None


class CurveView(Message):
    """Lines over one axis."""

    title: str
    x_name: str
    y_name: str
    x: list[float]
    lines: dict[str, list[float | None]]
    marks: dict[str, float]


class NoveltyView(Message):
    """How ordinary rows are under the model: shares of their p-values in ten bins; even bins are ordinary rows."""

    shares: list[float]
    rows: int
    rare: float


class TrustView(Message):
    """The evaluation of `check`, and the data of the report's pictures."""

    rows: int
    how: str
    facts: dict[str, Any]
    promises: list[str]
    reliability: list[ReliabilityView]
    scores: list[ScoreView]
    coverage: CurveView | None
    cost_curve: CurveView | None
    novelty: NoveltyView | None
    same_as: SameAs


class ReportRequest(Message):
    """What a report is about, and the file to write."""

    model: FileName
    table: FileName
    decision: FileName | None = None
    output: FileName
    version: str | None = None


def routes(bench: Bench) -> APIRouter:
    """GET /api/trust, POST /api/report, GET /api/report."""
    router = APIRouter(prefix="/api", tags=["trust"], responses=PROBLEMS)

    @router.get("/trust")
    def trust(
        model: Annotated[FileName, Query()],
        table: Annotated[FileName, Query()],
        decision: Annotated[FileName | None, Query()] = None,
        bins: Annotated[int, Query(ge=2, le=50)] = 10,
    ) -> TrustView:
        """Whether the posteriors of a model are calibrated on rows whose state is known."""
        return trust_view(bench, model, table, decision, bins)

    @router.post("/report", status_code=202)
    def report(request: ReportRequest) -> JobView:
        """Write the printable report in the background."""
        for name in (request.model, request.table, *([request.decision] if request.decision else [])):
            bench.workspace.file(name)
        if not request.output.endswith(".html"):
            raise FitError(f"{request.output!r} does not end in .html", fix="name it NAME.html")
        table_rows = rows_of(bench, request.model, request.table)
        chosen = {"--costs": request.decision, "--cv": "loo" if table_rows.known.how == "leave-one-out" else None}
        words = "report", request.model, request.table
        return JobView.of(bench.jobs.start(*words, options=chosen, output=request.output, version=request.version))

    @router.get("/report", response_class=Response, responses={200: {"content": {"text/html": {}}}})
    def written(file: Annotated[FileName, Query()]) -> Response:
        """A report of the workspace, in a sandbox: its page runs no script and loads nothing."""
        path = bench.workspace.file(file)
        if path.suffix.lower() != ".html":
            raise FitError(f"{file!r} is not a report", fix="choose a file that ends in .html")
        headers = {"content-security-policy": _REPORT_POLICY}
        return Response(path.read_bytes(), media_type="text/html", headers=headers)

    return router


def trust_view(bench: Bench, model: str, table: str, decision: str | None, bins: int) -> TrustView:
    """The evaluation of a table, taken apart."""
    fitted = bench.model_of_classes(model)
    table_rows = rows_of(bench, model, table, decision)
    if not table_rows.has_truth:
        raise FitError(f"{table!r} does not have the target", fix="choose rows whose state is known")
    costs = None if decision is None else bench.decision(decision, fitted).costs
    source = opened(bench, table, fitted)
    evaluation = evaluation_of(table_rows.known, costs, source)
    same = same_decisions(bench, EvaluateRequest(model=model, table=table, decision=decision))
    return TrustView(
        rows=len(evaluation.truth),
        how=evaluation.how,
        facts=evaluation.to_dict(),
        promises=promise_lines(evaluation, calibrated=fitted.capabilities.calibrated),
        reliability=_reliabilities(evaluation, bins),
        scores=_scores(evaluation),
        coverage=_curve(lambda: coverage_curve(evaluation)),
        cost_curve=_curve(lambda: cost_curve(evaluation, evaluation.decisions.states[0])),
        novelty=_novelty(fitted, source),
        same_as=SameAs(shell=same.shell, python=f"{same.python}\nfound.plot_reliability()"),
    )


def _reliabilities(evaluation: Evaluation, bins: int) -> list[ReliabilityView]:
    views = []
    posterior, truth = evaluation.decisions.posterior, evaluation.truth
    inflation = variance_inflation(evaluation.n_folds)
    for place, state in enumerate(evaluation.decisions.states[:_MOST_STATES]):
        one = reliability(
            posterior[:, place], truth == place, state, bins=bins, weights=evaluation.weights, inflation=inflation
        )
        views.append(ReliabilityView(state=str(state), ece=one.ece, verdict=one.verdict, **one.to_columns()))
    return views


def _scores(evaluation: Evaluation) -> list[ScoreView]:
    views = []
    for place, state in enumerate(evaluation.decisions.states[:_MOST_STATES]):
        p, true = evaluation.decisions.posterior[:, place], evaluation.truth == place
        brier = brier_parts(p, true, weights=evaluation.weights)
        score = log_parts(p, true, weights=evaluation.weights).score
        parts = {name: getattr(brier, name) for name in ("miscalibration", "discrimination", "uncertainty")}
        views.append(ScoreView(state=str(state), brier=brier.score, **parts, log_score=score))
    return views


def _curve(made: Any) -> CurveView | None:
    """A curve with as many points as a picture shows; None where costs do not allow one."""
    try:
        curve: Curve = made()
    except BayeswiseError:
        return None
    places = np.unique(np.linspace(0, len(curve.x) - 1, min(len(curve.x), _MOST_POINTS)).astype(np.int64))
    return CurveView(
        title=curve.title,
        x_name=curve.x_name,
        y_name=curve.y_name,
        x=curve.x[places].tolist(),
        lines={name: values[places].tolist() for name, values in curve.lines().items()},
        marks=dict(curve.marks),
    )


def _novelty(model: Any, source: Any) -> NoveltyView | None:
    if not model.capabilities.row_probability:
        return None
    try:
        tail = ModelTail(model)
        batch = next(iter(model.batches(source)), None)
        if batch is None or not batch.n_rows:
            return None
        p_value = tail.p_value(batch.rows(slice(0, min(batch.n_rows, _NOVELTY_ROWS))))
    except BayeswiseError:
        return None
    counts = np.histogram(p_value, bins=10, range=(0.0, 1.0))[0]
    return NoveltyView(shares=(counts / counts.sum()).tolist(), rows=len(p_value), rare=float((p_value <= 0.01).mean()))
