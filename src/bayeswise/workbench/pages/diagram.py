"""Diagrams on the Network page: decisions and utilities beside chance nodes, solved, and what they depend on."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from bayeswise.diagrams import InfluenceDiagram
from bayeswise.diagrams.nodes import Decision, Utility
from bayeswise.diagrams.solving.limited import EXACT
from bayeswise.diagrams.solving.solution import Solution
from bayeswise.foundation.errors import BayeswiseError
from bayeswise.render.plain import json_value
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.messages import PROBLEMS, FileName, Message, Name, SameAs, call, python, shell
from bayeswise.workbench.workspace import version_of

_MOST_BARS = 30
_MOST_CASES = 500


class PieceView(Message):
    """A node of a diagram; `kind` is chance, decision or utility."""

    name: str
    kind: str
    states: list[str]
    parents: list[str]


class DiagramView(Message):
    """The nodes of a diagram."""

    diagram: str
    version: str
    pieces: list[PieceView]
    same_as: SameAs


class SolveRequest(Message):
    """A diagram, and what is observed."""

    diagram: FileName
    evidence: Annotated[dict[Name, str], Field(max_length=1_000)] = Field(default_factory=dict)


class PolicyView(Message):
    """The option of each case, as a table and as text."""

    decision: str
    knows: list[str]
    words: str
    columns: dict[str, list[Any]]


class InformationView(Message):
    """What knowing a node before a decision is worth."""

    nodes: list[str]
    decision: str
    value: float


class BarView(Message):
    """How much the utility changes as an entry of a table moves within its range."""

    entry: str
    value: float
    low: float
    high: float
    utility_low: float
    utility_high: float


class SolutionView(Message):
    """The best policies, what they gain, and what that depends on.

    attitude        the attitude to risk, of which the utility is then the certainty equivalent
    proof           whether no policies are better, and how that is known, where it is not plain
    upper_bound     what no policies exceed, where these are not proven to be the best, by `optimality_gap` more
    recall          how many decisions back is recalled, where more would need tables that are too large; what rests on
                    differences of utilities (options, information, tornado) is then left out
    beliefs         P(state) of each chance node and decision if the policies are followed
    options         the expected utility if an option were always taken, all other decisions at their best
    parts           the expectation of each utility node; they add up to the expected value
    """

    utility: float
    attitude: str | None
    expected_value: float
    risk_premium: float
    proof: str | None
    upper_bound: float | None
    optimality_gap: float | None
    recall: int | None
    beliefs: dict[str, list[float]]
    options: dict[str, list[float]]
    parts: dict[str, float]
    policies: list[PolicyView]
    information: list[InformationView]
    tornado: list[BarView]
    text: str
    same_as: SameAs


def routes(bench: Bench) -> APIRouter:
    """GET /api/diagram, POST /api/diagram/solve."""
    router = APIRouter(prefix="/api/diagram", tags=["diagram"], responses=PROBLEMS)

    @router.get("")
    def diagram(diagram: Annotated[FileName, Query()]) -> DiagramView:
        """The nodes of a diagram."""
        read = diagram_of(bench, diagram)
        return DiagramView(
            diagram=diagram,
            version=version_of(bench.workspace.file(diagram)),
            pieces=[_piece(read, piece) for piece in read.pieces()],
            same_as=SameAs(shell=shell("diagram", "show", diagram), python=_python(diagram, "diagram")),
        )

    @router.post("/solve")
    def solve(request: SolveRequest) -> SolutionView:
        """The best policies of a diagram."""
        return solution_view(diagram_of(bench, request.diagram), request)

    return router


def diagram_of(bench: Bench, name: str) -> InfluenceDiagram:
    """The diagram in a file, read once as long as the file stays as it is."""
    path = bench.workspace.file(name)
    return bench.workspace.remembered(path, "diagram", lambda: InfluenceDiagram.read(path))


def solution_view(diagram: InfluenceDiagram, request: SolveRequest) -> SolutionView:
    """Policies, values of information and the tornado, where they can be computed."""
    evidence = {}
    for name, text in request.evidence.items():
        by_text = {str(state): state for state in diagram.states(name)}
        evidence[name] = diagram.states(name)[diagram.code(name, by_text.get(text, text))]
    solution = diagram.solve(evidence or None)
    named = [*diagram.chances, *diagram.decisions]
    proof = solution.proof
    is_bounded = proof.recall is not None and not proof.is_optimal
    return SolutionView(
        utility=float(solution.utility),
        attitude=None if diagram.attitude is None else str(diagram.attitude),
        expected_value=float(solution.expected_value),
        risk_premium=float(solution.risk_premium),
        proof=None if proof is EXACT else str(proof),
        upper_bound=None if proof.is_optimal else proof.bound,
        optimality_gap=solution.optimality_gap,
        recall=proof.recall if is_bounded else None,
        beliefs={name: _belief(diagram, solution, name) for name in named},
        options={}
        if is_bounded
        else {name: list(map(float, solution.options(name).values())) for name in solution.policies},
        parts={name: float(part) for name, part in solution.parts.items()},
        policies=[
            PolicyView(
                decision=str(name),
                knows=list(map(str, policy.knows)),
                words=policy.in_words(),
                columns={
                    column: [json_value(cell) for cell in cells[:_MOST_CASES]]
                    for column, cells in policy.to_columns().items()
                },
            )
            for name, policy in ((name, solution.policy(name)) for name in solution.policies)
        ],
        information=[] if is_bounded else _information(diagram, evidence),
        tornado=[] if is_bounded else _tornado(diagram, evidence),
        text=str(solution),
        same_as=_same(request, evidence, only_solved=is_bounded),
    )


def _belief(diagram: InfluenceDiagram, solution: Solution, name: str) -> list[float]:
    if name in solution.evidence:
        return [float(state == solution.evidence[name]) for state in diagram.states(name)]
    return [float(p) for p in solution.query(name).probability.ravel()]


def _same(request: SolveRequest, evidence: dict[str, Any], *, only_solved: bool) -> SameAs:
    options = {"--given": [f"{name}={state}" for name, state in request.evidence.items()]}
    verbs = ("solve",) if only_solved else ("solve", "value", "tornado")
    given = f"evidence={evidence!r}" if evidence else ""
    calls = (f"solve({evidence or ''})", f"information_values({given})", f"tornado({given})")
    return SameAs(
        shell="\n".join(shell("diagram", verb, request.diagram, options=options) for verb in verbs),
        python=_python(request.diagram, *(f"print(diagram.{each})" for each in calls[: len(verbs)])),
    )


def _piece(diagram: InfluenceDiagram, piece: Any) -> PieceView:
    kind = "decision" if isinstance(piece, Decision) else "utility" if isinstance(piece, Utility) else "chance"
    states = [] if kind == "utility" else list(map(str, diagram.states(piece.name)))
    return PieceView(name=piece.name, kind=kind, states=states, parents=list(diagram.parents(piece.name)))


def _information(diagram: InfluenceDiagram, evidence: dict[str, Any]) -> list[InformationView]:
    try:
        found = diagram.information_values(evidence=evidence or None)
    except BayeswiseError:  # nothing could be looked at before a decision
        return []
    return [InformationView.model_validate(each) for each in found.values]


def _tornado(diagram: InfluenceDiagram, evidence: dict[str, Any]) -> list[BarView]:
    try:
        columns = diagram.tornado(evidence=evidence or None).to_columns()
    except BayeswiseError:  # too many entries, or none that could move
        return []
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)][:_MOST_BARS]
    names = ("value", "low", "high", "utility_low", "utility_high")
    return [BarView(entry=str(row["entry"]), **{name: float(row[name]) for name in names}) for row in rows]


def _python(name: str, *lines: str) -> str:
    return python(f"diagram = {call('bw.InfluenceDiagram.read', name)}", *lines)
