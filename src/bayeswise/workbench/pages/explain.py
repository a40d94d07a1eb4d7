"""The Explain page: a case and the reasons for its answer; what would change the answer, and what to observe next."""

from __future__ import annotations

import itertools
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from pydantic import Field, StringConstraints

from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.decisions.policy.action_account import ActionAccount, action_named, with_change, with_prior
from bayeswise.evaluation.empty_columns import next_test_for
from bayeswise.explanations import Account, alternatives_of, change_of
from bayeswise.explanations.nomogram import Nomogram
from bayeswise.foundation.arrays import plain
from bayeswise.foundation.errors import BayeswiseError, KindError, ParameterError
from bayeswise.render.numbers import exact
from bayeswise.tables.encoding.one_row import typed_batch
from bayeswise.tables.schema.labels import label_of_text
from bayeswise.workbench.bench import Bench, TableChoice
from bayeswise.workbench.messages import FLAG, PROBLEMS, Code, FileName, Message, Name, SameAs, call, python, shell

CellText = Annotated[str, StringConstraints(max_length=100_000)]
_MOST_ROWS = 500
_MOST_ALTERNATIVES = 60


class RowsPage(Message):
    """Some rows of a table as they are written, counted from 1."""

    table: str
    columns: list[str]
    start: int
    rows: list[list[str | None]]
    more: bool


class ExplainRequest(Message):
    """A case as it is typed; columns that are not named are missing."""

    model: FileName
    cells: Annotated[dict[Name, CellText | None], Field(max_length=20_000)] = Field(default_factory=dict)
    state: CellText | None = None
    against: CellText | None = None
    decision: FileName | None = None


class Part(Message):
    """A column: log p(cell | state) of each state, and its weight for `state` against its rival."""

    column: str
    value: str | float | bool | None
    note: str
    log_likelihood: list[float | None]
    weight: float | None


class ChangeView(Message):
    """The least change that gives another answer."""

    to: str
    proven: bool
    changes: list[dict[str, Any]]
    posterior: list[float]


class LineView(Message):
    """A ruler of the nomogram: the values that a column may have, by points."""

    column: str
    values: list[str]
    points: list[float]
    current: int | None
    decisive: list[str]


class NomogramView(Message):
    """log-odds = at_zero + per_point x total points."""

    lines: list[LineView]
    at_zero: float
    per_point: float
    total: float | None
    complete: bool


class TestView(Message):
    """A column that is not known yet: what knowing it would save, and its price."""

    column: str
    value: float
    price: float
    net: float


class ActionView(Message):
    """The action of least expected cost, and what decides it."""

    action: str
    against: str | None
    expected_cost: dict[str, float]
    summary: str
    threshold: float | None
    change: ChangeView | None
    next_test: str | None
    tests: list[TestView]


class ExplainView(Message):
    """Prior x likelihood of each column = posterior; `start` says what the first factor is."""

    states: list[str]
    state: str
    against: str
    most_probable: str
    start: str
    log_prior: list[float | None]
    prior: list[float]
    parts: list[Part]
    log_joint: list[float | None]
    posterior: list[float]
    log_prior_odds: float | None
    log_odds: float | None
    change: ChangeView | None
    nomogram: NomogramView | None
    action: ActionView | None
    notes: list[str]
    same_as: SameAs


def routes(bench: Bench) -> APIRouter:
    """GET /api/rows, POST /api/explain."""
    router = APIRouter(prefix="/api", tags=["explain"], responses=PROBLEMS)

    @router.get("/rows")
    def rows(
        table: Annotated[FileName, Query()],
        start: Annotated[int, Query(ge=1, le=1_000_000_000)] = 1,
        count: Annotated[int, Query(ge=1, le=_MOST_ROWS)] = 20,
    ) -> RowsPage:
        """Some rows of a table."""
        return rows_page(bench, table, start, count)

    @router.post("/explain")
    def explain(request: ExplainRequest) -> ExplainView:
        """The reasons for the answer to a case."""
        return explain_view(bench, request)

    return router


def rows_page(bench: Bench, table: str, start: int, count: int) -> RowsPage:
    """Rows are read from the first one on: formats without an index have no other way."""
    source = TableChoice(table=table).opened(bench.workspace, bench.limits)
    names = [column.name for column in source.columns][:200]
    texts: list[list[str | None]] = []
    for chunk in source.chunks(names):
        last = chunk.first_row + chunk.n_rows
        if last >= start:
            columns = [chunk.texts(name) for name in names]
            first = max(0, start - 1 - chunk.first_row)
            places = range(first, min(chunk.n_rows, first + count + 1 - len(texts)))
            texts += [[None if column[row] is None else str(column[row]) for column in columns] for row in places]
        if len(texts) > count:
            break
    return RowsPage(table=table, columns=names, start=start, rows=texts[:count], more=len(texts) > count)


def explain_view(bench: Bench, request: ExplainRequest) -> ExplainView:
    """The account of a model, and of the action if there are costs."""
    model = bench.model_of_classes(request.model)
    batch = typed_batch(model.schema, model.vocabularies, request.cells)
    account = model.explain(batch)
    if not isinstance(account, Account):
        raise KindError("this model answers with a number, not with classes", fix="choose a model of classes")
    notes = [f"{name}: the model does not use this column" for name in request.cells if name not in model.schema.names]
    decision = None if request.decision is None else bench.decision(request.decision, model)
    if decision is not None and (moved := decision.prior_of(model.classes)) is not None:
        account = with_prior(account, np.exp(model.log_prior), moved)
        notes.append("the prior is that of the decision file")
    state = _state(request.state, account) or account.most_probable
    against = _state(request.against, account) or account.rival_of(state)
    if state == against:
        raise ParameterError(f"{state!r} is compared with itself", fix="choose another class")
    balance = account.weigh(state, against)
    parts = [
        Part(
            column=each.column,
            value=_cell(each.value),
            note=each.note,
            log_likelihood=list(map(float, each.log_likelihood)),
            weight=float(
                each.log_likelihood[account.states.index(state)] - each.log_likelihood[account.states.index(against)]
            )
            if np.isfinite(each.log_likelihood).all()
            else None,
        )
        for each in account.contributions
    ]
    action = None if decision is None else _action(model, batch, account, decision, request)
    return ExplainView(
        states=list(map(str, account.states)),
        state=str(state),
        against=str(against),
        most_probable=str(account.most_probable),
        start=account.start,
        log_prior=account.log_prior.tolist(),
        prior=account.prior.tolist(),
        parts=parts,
        log_joint=account.log_joint.tolist(),
        posterior=account.posterior.tolist(),
        log_prior_odds=float(balance.log_prior_odds),
        log_odds=float(balance.log_odds),
        change=_change(model, account, state, request),
        nomogram=_nomogram(model, account, state, against),
        action=action,
        notes=notes,
        same_as=_same_as(model, decision, request),
    )


def _same_as(model: Any, decision: DecisionFile | None, request: ExplainRequest) -> SameAs:
    """The case with the columns that matter; in Python those that are missing are named too."""
    used = [*model.schema.used, *(() if decision is None else decision.costs.columns)]
    cells = {name: request.cells.get(name) for name in dict.fromkeys(used)}
    typed = [f"{name}={value}" for name, value in cells.items() if value is not None]
    options = {"--row": typed, "--costs": request.decision, "--against": request.against}
    flip = {"--flip": [FLAG]} if model.capabilities.alternatives else {}
    row = {name: None if value is None else _cell_of(model, name, value) for name, value in cells.items()}
    story = call("model.explain", row)
    if decision is not None:
        costs = Code(call("bw.Costs.read", request.decision))
        prior = None if decision.prior is None else {_state_of(model, name): p for name, p in decision.prior.items()}
        story = call("bw.explain_action", Code("model"), row, costs, prior=prior)
    return SameAs(
        shell=shell("explain", request.model, options={**options, **flip}),
        python=python(f"model = {call('bw.load', request.model)}", f"print({story})"),
    )


def _state_of(model: Any, text: str) -> Any:
    return next((state for state in model.classes if str(state) == text), text)


def _state(text: str | None, account: Account) -> Any:
    if text is None:
        return None
    return label_of_text(text, account.states, "there is no state")


def _cell(value: Any) -> Any:
    cell = plain(value)
    return cell if cell is None or isinstance(cell, str | bool | int | float) else str(cell)


def _cell_of(model: Any, name: str, text: str) -> Any:
    """A cell as Python would write it."""
    if name in model.schema.numbers:
        try:
            return float(text)
        except ValueError:
            return text
    return text


def _flip_view(change: Any) -> ChangeView | None:
    if change is None:
        return None
    facts = change.to_dict()
    return ChangeView(to=str(facts["to"]), **{name: facts[name] for name in ("proven", "changes", "posterior")})


def _change(model: Any, account: Account, state: Any, request: ExplainRequest) -> ChangeView | None:
    if not (model.capabilities.alternatives or model.capabilities.changes):
        return None
    try:
        to = state if state != account.most_probable else None
        return _flip_view(change_of(model, account, to))
    except BayeswiseError:  # columns that offer nothing else, or too many that do
        return None


def _nomogram(model: Any, account: Account, state: Any, against: Any) -> NomogramView | None:
    if not model.capabilities.alternatives:
        return None
    try:
        offered = alternatives_of(model, account.cells)
        some = {name: tuple(itertools.islice(values, _MOST_ALTERNATIVES)) for name, values in offered.items()}
        nomogram = Nomogram.of(account, some, state, against)
    except BayeswiseError:
        return None
    return NomogramView(
        lines=[LineView.model_validate(line) for line in nomogram.lines],
        at_zero=nomogram.log_odds_at_zero,
        per_point=nomogram.log_odds_per_point,
        total=nomogram.total,
        complete=nomogram.complete,
    )


def _action(model: Any, batch: Any, account: Account, decision: Any, request: ExplainRequest) -> ActionView:
    """Why this action, what would change it, and which empty column is most worth its price."""
    costs = decision.costs
    if not costs.constant:
        numbers = {
            name: float(exact(text, name)) for name in costs.columns if (text := request.cells.get(name)) is not None
        }
        costs = costs.for_row(numbers)
    by_text = {str(action) for action in costs.actions}
    rival = action_named(request.against, costs) if request.against in by_text and request.against is not None else None
    story = ActionAccount.of(account, costs, rival)
    if model.capabilities.alternatives:
        story = with_change(model, story, keep=[name for name in decision.costs.columns if name in account.columns])
    tests: list[TestView] = []
    best = None
    try:
        answer = next_test_for(model, batch, costs, dict(decision.prices), prior=decision.prior_of(model.classes))
        tests = [TestView.model_validate(test) for test in answer.tests]
        best = None if answer.best is None else answer.best.column
    except BayeswiseError:  # a model whose empty columns have no distribution
        tests = []
    facts = story.to_dict()
    return ActionView(
        action=str(facts["action"]),
        against=None if facts.get("against") is None else str(facts["against"]),
        expected_cost={str(name): cost for name, cost in facts["expected_cost"].items()},
        summary=story.summary(),
        threshold=facts.get("threshold"),
        change=_flip_view(story.change),
        next_test=best,
        tests=tests,
    )
