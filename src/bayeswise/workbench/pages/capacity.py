"""Capacity on the Costs page: at most N rows in an action, as `bayeswise decide --at-most` has it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter
from pydantic import Field

from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.decisions.costs.tables import read_toml
from bayeswise.decisions.costs.warnings import CostWarning
from bayeswise.decisions.decide import decide
from bayeswise.decisions.policy.capacity import Limited, within_capacity
from bayeswise.evaluation.evaluate import evaluation_of
from bayeswise.foundation.errors import CostError, ParameterError, quoted
from bayeswise.models.held_out import AS_IT_IS
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.messages import PROBLEMS, FileName, Message, Name, SameAs, call, python, shell
from bayeswise.workbench.pages.costs import DecisionDocument, document_of, opened, rows_of


class Limit(Message):
    """How many rows may get an action: a number of them, or a share."""

    rows: Annotated[int, Field(ge=0, le=1 << 53)] | None = None
    share: Annotated[float, Field(ge=0, le=1)] | None = None


class LimitedRequest(Message):
    """A model, rows, the costs on the page, and limits by action; `file` is where the costs are saved."""

    model: FileName
    table: FileName
    file: FileName | None = None
    document: DecisionDocument
    at_most: Annotated[dict[Name, Limit], Field(min_length=1, max_length=1_000)]


class LimitedAction(Message):
    """How many rows get an action, how many would without limits, and what one more place would save."""

    action: str
    rows: int
    unlimited: int
    price: float | None


class PaidView(Message):
    """What was paid per case, with its interval."""

    mean: float
    low: float
    high: float
    interval: str


class LimitedView(Message):
    """The decisions of least total expected cost within the limits; costs are per case.

    `paid` is known for rows whose state is, unless the model has learned just these rows.
    """

    rows: int
    moved: int
    expected: float
    unlimited: float
    paid: PaidView | None
    actions: list[LimitedAction]
    same_as: SameAs


def routes(bench: Bench) -> APIRouter:
    """POST /api/costs/limited."""
    router = APIRouter(prefix="/api/costs", tags=["costs"], responses=PROBLEMS)

    @router.post("/limited")
    def limited(request: LimitedRequest) -> LimitedView:
        """Decide all rows of a table together, with at most N of them in an action."""
        model = bench.model_of_classes(request.model)
        with warnings.catch_warnings(action="ignore", category=CostWarning):
            decision = DecisionFile.of_document(request.document.to_document(), "the decision")
        decisions = decide(model, opened(bench, request.table, model), decision)
        if not len(decisions):
            raise CostError(f"{quoted(request.table)} has no rows", fix="choose another table")
        by_text = {str(action): action for action in decisions.actions}
        at_most = {by_text.get(name, name): _most(name, limit) for name, limit in request.at_most.items()}
        within = within_capacity(decisions, at_most)
        counts, before = (
            np.bincount(each.best, minlength=len(decisions.actions)) for each in (within.decisions, decisions)
        )
        return LimitedView(
            rows=len(decisions),
            moved=within.n_moved,
            expected=float(within.decisions.least_cost.mean()),
            unlimited=float(decisions.least_cost.mean()),
            paid=_paid(bench, request, decision, within),
            actions=[
                LimitedAction(
                    action=str(action), rows=int(counts[k]), unlimited=int(before[k]), price=within.price.get(action)
                )
                for k, action in enumerate(decisions.actions)
            ],
            same_as=_same_as(bench, request),
        )

    return router


def _most(action: str, limit: Limit) -> int | float:
    if (limit.rows is None) == (limit.share is None):
        raise ParameterError(f"the limit of {quoted(action)} is unclear", fix='give {"rows": 20} or {"share": 0.05}')
    if limit.share is not None:
        return limit.share
    assert limit.rows is not None
    return limit.rows


def _paid(bench: Bench, request: LimitedRequest, decision: DecisionFile, within: Limited) -> PaidView | None:
    rows = rows_of(bench, request.model, request.table)
    if not rows.has_truth or rows.known.how != AS_IT_IS:
        return None
    model = bench.model_of_classes(request.model)
    free = evaluation_of(rows.known, decision.costs.aligned(model.classes), opened(bench, request.table, model))
    best = within.decisions.best[rows.known.kept]
    paid = replace(free, decisions=replace(free.decisions, best=best)).cost_per_case
    return PaidView(mean=paid.mean, low=paid.low, high=paid.high, interval=free.interval)


def _same_as(bench: Bench, request: LimitedRequest) -> SameAs:
    """With the file of the costs if they are saved; else with the costs in Python, a prior in the model."""
    file, costs, first = request.file or "decision.toml", repr(request.file), ""
    loaded = call("bw.load", request.model)
    if request.file is None or request.document != document_of(
        read_toml(bench.workspace.file(request.file)), request.file
    ):
        first, costs = f"# when these costs are saved as {file}:\n", repr(request.document.costs)
        by_text = {str(state): state for state in bench.model_of_classes(request.model).classes}
        prior = {by_text.get(name, name): p for name, p in (request.document.prior or {}).items()}
        loaded += f".{call('changed', class_prior=prior)}" if prior else ""
    texts = [
        f"{action}={limit.rows}" if limit.rows is not None else f"{action}={100 * (limit.share or 0.0):g}%"
        for action, limit in request.at_most.items()
    ]
    limits: dict[str, Any] = {
        action: limit.rows if limit.rows is not None else limit.share for action, limit in request.at_most.items()
    }
    return SameAs(
        shell=first + shell("decide", request.model, request.table, options={"--costs": file, "--at-most": texts}),
        python=python(
            "from bayeswise.decisions import within_capacity",
            f"decisions = bw.decide({loaded}, {request.table!r}, {costs})",
            f"found = within_capacity(decisions, {limits!r})",
            "print(found)",
        ),
    )
