"""POST /api/v1/models/{name}/predict, decide and explain; the list of models, health and metrics."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse, Response
from pydantic import Field

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.costs.tables import costs_of_document
from bayeswise.explanations import Account
from bayeswise.foundation.errors import BayeswiseError, CostError, FitError, KindError, UsageError
from bayeswise.render.plain import json_value
from bayeswise.tables.batch import Batch
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.messages import PROBLEMS, Message, Name, Problem, status_of
from bayeswise.workbench.service import bodies
from bayeswise.workbench.service.metrics import Metrics
from bayeswise.workbench.service.row_answers import Answered, Block, answered, decided, encoded, predicted
from bayeswise.workbench.service.served import Served, ServedModels

Verb = Literal["predict", "decide", "explain"]
ModelName = Annotated[str, Path(min_length=1, max_length=900)]
_INLINE_BYTES = 16 << 10  # bodies that are answered before another thread could begin
_MOST_EXPLAINED = 1_000


class ServedView(Message):
    """A served model: its columns by kind, and the actions of the decision beside it."""

    name: str
    kind: str
    version: str
    target: str | None
    classes: list[str]
    columns: dict[str, str]
    actions: list[str]


class RowsBody(Message):
    """Rows as objects, or columns as lists; `costs` of actions in states replace those of NAME.toml."""

    rows: Annotated[list[dict[str, Any]], Field(min_length=1)] | None = None
    columns: dict[str, list[Any]] | None = None
    costs: dict[Name, dict[Name, float | str] | float | str] | None = None


class RowAnswers(Message):
    """An answer for each row, or its error in its place; with `columns` in the request, columns.

    `ignored` are columns that neither the model nor its costs use.
    """

    model: str
    version: str
    ignored: list[str]
    rows: list[dict[str, Any]] | None = None
    columns: dict[str, Any] | None = None
    errors: int | dict[str, Problem]


def routes(bench: Bench) -> APIRouter:
    """The service of a workspace."""
    router = APIRouter(tags=["service"], responses=PROBLEMS)
    served, metrics = ServedModels(bench.workspace), Metrics()

    @router.get("/api/v1/models")
    def models() -> list[ServedView]:
        """The served models; files that cannot be loaded are left out."""
        views = []
        for name in served.names():
            try:
                views.append(_view(served.get(name)))
            except BayeswiseError:
                continue
        return views

    def add(verb: Verb, answer: Callable[[Served, bodies.RowsRequest], Answered], meaning: str) -> None:
        async def respond(name: ModelName, request: Request) -> Response:
            began = time.perf_counter()
            body = await request.body()
            headers = request.headers
            status, rows, bad = 500, 0, 0

            def work() -> Response:
                nonlocal rows, bad
                held = served.get(name)
                rows_request = bodies.read(body, bodies.form_of(headers.get("content-type", "")), bench.limits)
                rows_request.check_columns(held.model.schema.used)
                answers = answer(held, rows_request)
                for row, error in rows_request.malformed.items():
                    answers.errors[row] = error
                rows, bad = answers.n_rows, len(answers.errors)
                form = bodies.answer_form(headers.get("accept", ""), rows_request.form)
                classes = held.model.classes if answers.probability is not None else ()
                extra = {"model": name, "version": held.version, "ignored": held.ignored(rows_request.block.columns)}
                return Response(
                    bodies.written(answers, classes, form, rows_request.by_columns, extra),
                    media_type=bodies.MEDIA[form],
                )

            try:
                response = work() if len(body) <= _INLINE_BYTES and verb != "explain" else await run_in_threadpool(work)
                status = 200
                return response
            except BayeswiseError as error:
                status = status_of(error)
                raise
            finally:
                metrics.count(name, verb, status, rows, bad, time.perf_counter() - began)

        respond.__name__, respond.__doc__ = verb, meaning
        router.add_api_route(
            f"/api/v1/models/{{name:path}}/{verb}",
            respond,
            methods=["POST"],
            response_class=Response,
            responses={200: {"model": RowAnswers, "description": meaning}},
            openapi_extra={"requestBody": {"required": True, "content": _CONTENT}},
        )

    add("predict", _predict, "The most probable class of each row with all probabilities, or the number.")
    add("decide", _decide, "The action of least expected cost for each row; costs of the request, else of NAME.toml.")
    add("explain", _explain, "The contribution of each column of each row, and their sum.")

    @router.get("/healthz", response_class=PlainTextResponse)
    async def healthz() -> str:
        """The process answers."""
        return "ok\n"

    @router.get("/readyz", response_class=PlainTextResponse, responses={503: {"description": "not ready"}})
    async def readyz() -> Response:
        """The workspace can be read."""
        ready = bench.workspace.root.is_dir()
        return PlainTextResponse("ready\n" if ready else "the folder is gone\n", 200 if ready else 503)

    @router.get("/metrics", response_class=PlainTextResponse)
    def numbers() -> Response:
        """Counters in the text form of Prometheus."""
        text = metrics.text(len(served.loaded()), served.reloads, len(served.failures))
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    return router


_SCHEMA = RowsBody.model_json_schema()
_CONTENT: dict[str, Any] = {
    "application/json": {"schema": _SCHEMA},
    "text/csv": {"schema": {"type": "string"}},
    bodies.ARROW: {"schema": {"type": "string", "format": "binary"}},
}


def _view(held: Served) -> ServedView:
    model = held.model
    return ServedView(
        name=held.name,
        kind=held.kind,
        version=held.version,
        target=None if model.schema.target is None else model.schema.target.name,
        classes=list(map(str, model.classes)) if model.capabilities.classes else [],
        columns={column.name: column.kind for column in model.schema if column.kind != "ignored"},
        actions=[] if held.costs is None else list(map(str, held.costs.actions)),
    )


def _batch(model: Any, block: Block) -> Batch:
    """One row is encoded without a sweep, where it can be."""
    if block.n_rows == 1 and not block.textual and (encoder := model._row_encoder) is not None:
        batch: Batch | None = encoder.encode({name: cells[0] for name, cells in block.columns.items()})
        if batch is not None:
            return batch
    return encoded(model, block)


def _settings(request: bodies.RowsRequest, *known: str) -> None:
    for name in request.settings:
        if name not in known:
            raise UsageError(f"the body has the unknown entry {name!r}", fix=f"send {', '.join(('rows', *known))}")


def _predict(held: Served, request: bodies.RowsRequest) -> Answered:
    _settings(request)
    return answered(request.block, lambda block: predicted(held.model, _batch(held.model, block)))


def _decide(held: Served, request: bodies.RowsRequest) -> Answered:
    _settings(request, "costs")
    if not held.model.capabilities.classes:
        raise KindError(f"{held.name!r} answers with a number, not with classes", fix="use predict")
    costs, prior = held.costs, held.prior
    if "costs" in request.settings:
        costs = _costs(request.settings["costs"]).aligned(held.model.classes)
    if costs is None:
        raise CostError(f"{held.name!r} has no costs", fix=f"put {held.name}.toml beside it, or send costs")
    table = costs
    return answered(request.block, lambda block: decided(held.model, _batch(held.model, block), table, prior, block))


def _costs(given: Any) -> Costs:
    if not isinstance(given, dict) or not given:
        raise CostError("costs is not an object", fix='send {"costs": {"lend": {"yes": -10, "no": 50}, ...}}')
    return costs_of_document({"costs": given}, "the request")


def _explain(held: Served, request: bodies.RowsRequest) -> Answered:
    _settings(request)
    if request.block.n_rows > _MOST_EXPLAINED:
        raise FitError(f"{request.block.n_rows:,} rows are too many", fix=f"send up to {_MOST_EXPLAINED:,} at once")

    def explained(block: Block) -> Answered:
        batch = _batch(held.model, block)
        parts = [held.model.explain(batch.rows(slice(row, row + 1))) for row in range(block.n_rows)]
        return Answered(block.n_rows, {"explanation": [_plain(part) for part in parts]})

    return answered(request.block, explained)


def _plain(account: Any) -> dict[str, Any]:
    if not isinstance(account, Account):
        found: dict[str, Any] = account.to_dict()
        return found
    facts = account.to_dict()
    facts["most_probable"] = json_value(facts["most_probable"])
    return facts
