"""The Costs page: posteriors sent once as bytes, decision.toml read and written, and what decisions cost."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import Field, StringConstraints

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.costs.decision_file import DecisionFile, decision_text
from bayeswise.decisions.costs.tables import read_toml
from bayeswise.decisions.costs.warnings import CostWarning
from bayeswise.evaluation.evaluate import evaluation_of
from bayeswise.foundation.arrays import FloatArray, plain
from bayeswise.foundation.errors import BayeswiseError, CostError
from bayeswise.models.base.table_model import leaves_rows_out
from bayeswise.models.held_out import AS_IT_IS, HeldOut, held_out
from bayeswise.statistics.intervals import MOST_FOLDS
from bayeswise.tables.schema.null_words import words_of
from bayeswise.tables.source import Source, open_source
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.messages import FLAG, PROBLEMS, Code, FileName, Message, Name, SameAs, call, python, shell
from bayeswise.workbench.workspace import version_of

Cell = float | Annotated[str, StringConstraints(max_length=1_000)]


class RowsView(Message):
    """What `GET /api/costs/rows.bin` holds, in this order, in the byte order of the machine (little-endian).

    posterior  float64 (rows, states), row by row
    weights    float64 (rows,)
    columns    float64 (rows,) each, for those that formulas may name
    truth      int32 (rows,), the position of the true state; -1 where it is not known
    """

    model: str
    table: str
    rows: int
    states: list[str]
    prior: list[float]
    prior_of_decision: bool
    columns: list[str]
    has_truth: bool
    how: str
    bytes: int
    same_as: SameAs


class DecisionDocument(Message):
    """The content of a decision.toml: costs of actions in states, as numbers or as formulas over columns."""

    target: Name | None = None
    reject: Name | None = None
    unit: Annotated[str, Field(max_length=20)] | None = None
    costs: Annotated[dict[Name, dict[Name, Cell]], Field(min_length=1, max_length=1_000)]
    prior: Annotated[dict[Name, float], Field(max_length=10_000)] | None = None
    prices: Annotated[dict[Name, float], Field(max_length=10_000)] = Field(default_factory=dict)
    kinds: Annotated[dict[Name, Name], Field(max_length=10_000)] = Field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        return {name: value for name, value in self.model_dump().items() if value not in (None, {})}


class PieceView(Message):
    """Where an action is best: from one probability of the first state to another."""

    action: str
    low: float
    high: float


class DecisionView(Message):
    """A decision, its warnings, and where each action is best if there are two states."""

    file: str | None
    version: str | None
    document: DecisionDocument
    actions: list[str]
    states: list[str]
    warnings: list[str]
    rule: list[PieceView]
    text: str


class SaveRequest(Message):
    """A decision to be written; `version` is that of the file that was read, None if there was none."""

    file: FileName
    version: str | None = None
    document: DecisionDocument


class EvaluateRequest(Message):
    """A model, rows with their state, and costs: of a file, or of the page."""

    model: FileName
    table: FileName
    decision: FileName | None = None
    costs: Annotated[dict[Name, dict[Name, Cell]], Field(min_length=1, max_length=1_000)] | None = None


class EvaluationView(Message):
    """What `bayeswise check --json` prints."""

    facts: dict[str, Any]
    same_as: SameAs


def routes(bench: Bench) -> APIRouter:
    """/api/costs/rows, /api/costs/rows.bin, /api/costs/evaluate and /api/decision."""
    router = APIRouter(prefix="/api", tags=["costs"], responses=PROBLEMS)

    @router.get("/costs/rows")
    def rows(
        model: Annotated[FileName, Query()],
        table: Annotated[FileName, Query()],
        decision: Annotated[FileName | None, Query()] = None,
    ) -> RowsView:
        """What the posteriors of a table look like as bytes; a decision may have a prior of its own."""
        table_rows = rows_of(bench, model, table, decision)
        return RowsView(
            model=model,
            table=table,
            rows=len(table_rows.known.truth),
            states=[str(state) for state in table_rows.known.states],
            prior=table_rows.prior.tolist(),
            prior_of_decision=table_rows.shifted,
            columns=list(table_rows.columns),
            has_truth=table_rows.has_truth,
            how=table_rows.known.how,
            bytes=len(table_rows.data),
            same_as=same_decisions(bench, EvaluateRequest(model=model, table=table, decision=decision)),
        )

    @router.get(
        "/costs/rows.bin",
        response_class=Response,
        responses={200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}},
    )
    def rows_as_bytes(
        model: Annotated[FileName, Query()],
        table: Annotated[FileName, Query()],
        decision: Annotated[FileName | None, Query()] = None,
    ) -> Response:
        """The posteriors, weights, columns of numbers and true states of a table; see `RowsView`."""
        return Response(rows_of(bench, model, table, decision).data, media_type="application/octet-stream")

    @router.post("/costs/evaluate")
    def evaluate(request: EvaluateRequest) -> EvaluationView:
        """What decisions cost per case on rows whose state is known, with intervals."""
        fitted = bench.model_of_classes(request.model)
        table_rows = rows_of(bench, request.model, request.table, request.decision)
        if not table_rows.has_truth:
            raise CostError(f"{request.table!r} does not have the target", fix="choose rows whose state is known")
        costs: Any = (
            None if request.costs is None else costs_of(DecisionDocument(costs=request.costs)).aligned(fitted.classes)
        )
        if costs is None and request.decision is not None:
            costs = bench.decision(request.decision, fitted).costs
        evaluation = evaluation_of(table_rows.known, costs, opened(bench, request.table, fitted))
        return EvaluationView(
            facts=evaluation.to_dict(),
            same_as=same_decisions(bench, request),
        )

    @router.post("/costs/same_as")
    def same_as(request: EvaluateRequest) -> SameAs:
        """The same decisions on the command line and in Python."""
        return same_decisions(bench, request)

    @router.get("/decision")
    def decision(file: Annotated[FileName, Query()]) -> DecisionView:
        """A decision file."""
        path = bench.workspace.file(file)
        with warnings.catch_warnings(action="ignore", category=CostWarning):
            document = document_of(read_toml(path), file)
        return decision_view(document, file, version_of(path))

    @router.post("/decision/check")
    def check(document: DecisionDocument) -> DecisionView:
        """The view of a decision, without writing it."""
        return decision_view(document, None, None)

    @router.put("/decision")
    def save(request: SaveRequest) -> DecisionView:
        """Write a decision file, unless it has changed since it was read."""
        if not request.file.endswith(".toml"):
            raise CostError(f"{request.file!r} does not end in .toml", fix="name it NAME.toml")
        view = decision_view(request.document, request.file, None)  # what cannot be read is not written
        version = bench.workspace.write(request.file, view.text.encode(), request.version)
        return view.model_copy(update={"version": version})

    return router


def same_decisions(bench: Bench, request: EvaluateRequest) -> SameAs:
    """What the costs do to the rows: checked where the states are known, else decided; costs may have no file yet."""
    table_rows = rows_of(bench, request.model, request.table, request.decision)
    file, costs, first = request.decision, None, ""
    if file is not None:
        costs = Code(call("bw.Costs.read", file))
    if request.costs is not None:
        file = file or "decision.toml"
        costs, first = Code(repr(request.costs)), f"# when these costs are saved as {file}:\n"
    states = map(plain, table_rows.known.states)
    prior = dict(zip(states, table_rows.prior.tolist(), strict=True)) if table_rows.shifted else None
    if table_rows.has_truth:
        leave = "loo" if table_rows.known.how == "leave-one-out" else None
        line = shell("check", request.model, request.table, options={"--costs": file, "--cv": leave})
        answer = call("bw.evaluate", Code("model"), request.table, costs=costs, cv=leave, prior=prior)
    elif costs is not None:
        line = shell("decide", request.model, request.table, options={"--costs": file})
        changed = "model" if prior is None else call("model.changed", class_prior=prior)
        answer = call("bw.decide", Code(changed), request.table, costs)
    else:
        line = shell("predict", request.model, request.table, options={"--proba": [FLAG]})
        answer = call("model.predict_proba", request.table)
    lines = (f"model = {call('bw.load', request.model)}", f"found = {answer}", "print(found)")
    return SameAs(shell=first + line, python=python(*lines))


# -- rows as bytes ----------------------------------------------------------------------------------------------------


class RowsOfTable:
    """The posteriors of a table with its weights, columns of numbers and true states."""

    def __init__(
        self, known: HeldOut, columns: dict[str, Any], has_truth: bool, prior: FloatArray, *, shifted: bool = False
    ) -> None:
        self.known, self.columns, self.has_truth = known, columns, has_truth
        self.prior, self.shifted = prior, shifted  # shifted: to the prior of a decision
        parts = [known.posterior, known.weights, *columns.values()]
        self.data = b"".join(np.ascontiguousarray(part, dtype="<f8").tobytes() for part in parts)
        self.data += np.ascontiguousarray(known.truth, dtype="<i4").tobytes()


def opened(bench: Bench, table: str, model: Any) -> Source:
    """A table of the workspace, with the null words of a model."""
    return open_source(bench.workspace.file(table), null_words=words_of(model.schema))


def rows_of(bench: Bench, model: str, table: str, decision: str | None = None) -> RowsOfTable:
    """Each row left out of the model where it has learned just this table, else the rows as they are.

    A prior of the decision replaces the model's, as in `bayeswise check`: not for rows that the model has learned.
    """
    fitted = bench.model_of_classes(model)
    files = (bench.workspace.file(table),)
    table_rows = bench.workspace.remembered(
        bench.workspace.file(model), "rows", lambda: _rows_of(bench, fitted, table), also=files
    )
    prior = None if decision is None else bench.decision(decision, fitted).prior_of(fitted.classes)
    if prior is None or table_rows.known.how == "leave-one-out":
        return table_rows

    def shifted() -> RowsOfTable:
        known = table_rows.known.under(table_rows.prior, prior)
        return RowsOfTable(known, table_rows.columns, table_rows.has_truth, prior, shifted=True)

    return bench.workspace.remembered(bench.workspace.file(model), ("rows", tuple(prior)), shifted, also=files)


def _rows_of(bench: Bench, model: Any, table: str) -> RowsOfTable:
    source = opened(bench, table, model)
    names = [column.name for column in source.columns]
    if model.schema.target.name in names:
        learned = model.capabilities.leave_one_out and model.has_learned_exactly(source)
        cv = "loo" if learned and leaves_rows_out(model) else None
        known = held_out(model, source, cv=cv, most_folds=MOST_FOLDS)
        has_truth = True
    else:
        posterior = model.predict_proba(source)
        n = len(posterior)
        unknown = np.full(n, -1)
        known = HeldOut(model.classes, posterior, unknown, np.ones(n), np.ones(n, dtype=bool), AS_IT_IS)
        has_truth = False
    if len(known.truth) > bench.limits.rows:
        raise CostError(
            f"{table!r} has {len(known.truth):,} rows; the page takes up to {bench.limits.rows:,}",
            fix="use `bayeswise check` and `bayeswise decide`, which have no limit",
        )
    return RowsOfTable(known, _numbers(source, model, known), has_truth, np.exp(model.log_prior))


def _numbers(source: Source, model: Any, known: HeldOut) -> dict[str, Any]:
    """The columns of numbers, which formulas of costs may name."""
    numeric = [column.name for column in source.columns if column.storage in ("integer", "float")]
    numeric += [name for name in model.schema.numbers if name not in numeric]
    parts: dict[str, list[Any]] = {name: [] for name in numeric if any(c.name == name for c in source.columns)}
    for chunk in source.chunks(list(parts)):
        for name, numbers in parts.items():
            numbers.append(chunk.numbers(name)[0])
    return {name: np.concatenate(numbers)[known.kept] for name, numbers in parts.items() if numbers}


# -- decisions --------------------------------------------------------------------------------------------------------


def document_of(document: dict[str, Any], where: str) -> DecisionDocument:
    """A TOML document with its costs in full: every action in every state."""
    read = DecisionFile.of_document(document, where)
    cells = {str(a): {str(s): cell for s, cell in row.items()} for a, row in read.costs.to_dict().items()}
    return DecisionDocument(
        target=read.target,
        reject=None if read.costs.reject is None else str(read.costs.reject),
        unit=read.costs.unit,
        costs=cells,
        prior=None if read.prior is None else dict(read.prior),
        prices=dict(read.prices),
        kinds=dict(read.kinds),
    )


def costs_of(document: DecisionDocument) -> Costs:
    """The costs of a document, checked; their warnings are part of the view, not of the log."""
    with warnings.catch_warnings(action="ignore", category=CostWarning):
        return DecisionFile.of_document(document.to_document(), "the decision").costs


def decision_view(document: DecisionDocument, file: str | None, version: str | None) -> DecisionView:
    """A decision with its warnings, its rule and its text."""
    costs = costs_of(document)
    pieces = []
    if costs.constant and len(costs.states) == 2:
        try:
            pieces = [
                PieceView(action=str(piece.action), low=float(piece.low), high=float(piece.high))
                for piece in costs.rule().pieces
            ]
        except BayeswiseError:  # costs so large that no threshold can be computed
            pieces = []
    return DecisionView(
        file=file,
        version=version,
        document=document,
        actions=[str(action) for action in costs.actions],
        states=[str(state) for state in costs.states],
        warnings=list(costs.warnings),
        rule=pieces,
        text=decision_text(document.to_document()),
    )
