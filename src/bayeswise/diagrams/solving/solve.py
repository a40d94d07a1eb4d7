"""From a diagram to its solution: arguments are checked, and the solver that fits is run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayeswise.diagrams.attitude import PiecewiseLinear
from bayeswise.diagrams.nodes import Decision
from bayeswise.diagrams.solving.bounded import Bounds, bounded_proof
from bayeswise.diagrams.solving.limited import EXACT, STARTS, Proof, Responses, Rule, Search, SumResponses
from bayeswise.diagrams.solving.policy import Policy, given_policy
from bayeswise.diagrams.solving.products import ProductResponses
from bayeswise.diagrams.solving.solution import Solution, network_under, policies_of
from bayeswise.diagrams.solving.solver import LARGEST_STEP, Outcome, Solver, StepTooLargeError
from bayeswise.foundation import directed_graph as graph
from bayeswise.foundation.arguments import whole_number
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import BayeswiseError, ImpossibleEvidenceError, ParameterError, TooLargeError, listed
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.diagrams.diagram import InfluenceDiagram


_PLANS = 64


def solve(
    diagram: InfluenceDiagram,
    evidence: Mapping[str, Any] | None = None,
    *,
    policies: Mapping[str, Any] | None = None,
    starts: int = STARTS,
    recall: int | None = None,
    exact: bool = False,
) -> Solution:
    """The optimal policy of each decision given the evidence; decisions in `policies` follow these.

    Evidence may be about chance nodes that no open decision can change, and about decisions that are made. Where
    decisions forget, policies may have to be searched for, from `starts` starts; `proof` says whether they are proven
    optimal. Where optimal policies need tables that are too large, decisions recall what became known from `recall`
    decisions before them on (as many as fit), and `bounds` has the utility of these policies and an upper bound;
    `exact` refuses instead.

    Plans are made once for each set of evidence nodes and given policies, and cached with the diagram.
    """
    _refuse_recall(diagram, recall, exact)
    whole_number(starts, "starts")
    codes: dict[str, int] = {}
    given: dict[str, Policy] = {}
    if evidence or policies:
        codes = evidence_codes(diagram, evidence)
        for name in policies or {}:
            if name in codes:
                raise ParameterError(f"{name!r} has both evidence and a policy", fix="give it one of them")
        given = {name: given_policy(diagram, name, rule) for name, rule in (policies or {}).items()}
        _refuse_consequences(diagram, codes, given)
        _refuse_forbidden(diagram, codes)
    outcome, proof = _best(diagram, codes, given, starts, recall, exact)
    seen = {name: diagram.states(name)[code] for name, code in codes.items()}
    if outcome.log_evidence == -math.inf:
        _raise_impossible(diagram, policies_of(diagram, outcome, given), seen)
    return Solution(diagram, seen, outcome, given, proof)


def _best(
    diagram: InfluenceDiagram,
    codes: Mapping[str, int],
    given: Mapping[str, Policy],
    starts: int,
    recall: int | None,
    exact: bool,
) -> tuple[Outcome, Proof]:
    """The best policies, and whether they are proven optimal."""
    attitude = diagram.attitude
    if isinstance(attitude, PiecewiseLinear):
        outcome, proof = _best(diagram.with_utility_of_sum, codes, given, starts, recall, exact)
        in_money = _in_money(outcome, attitude)
        return in_money, _bound_in_money(proof, attitude, in_money.utility)
    seen, tables = _by_place(diagram, codes), policy_tables(diagram, given)
    structure, numbers = diagram.structure, diagram.numbers
    remembers_all = attitude is None and not diagram.forgets
    too_large: StepTooLargeError | None = None
    if remembers_all and recall is None:
        try:
            return solver_for(diagram, codes, given).run(numbers, seen, tables), EXACT
        except StepTooLargeError as error:
            too_large = error
    rules = {
        diagram.place(name): Rule(tuple(sorted(map(diagram.place, policy.knows))), tables[diagram.place(name)])
        for name, policy in given.items()
    }
    if remembers_all:
        bounds = Bounds(structure, observed_by_decisions(diagram), seen, rules)
        if recall is not None:
            if not bounds.fits(recall, LARGEST_STEP):
                raise recalls_too_much(recall, bounds.chosen_recall())
            return bounds.solve(numbers, recall)
        assert too_large is not None
        chosen = bounds.chosen_recall()
        if chosen is None:
            raise knowing_less(diagram, too_large)
        if exact:
            raise bounded_instead(too_large)
        return bounds.solve(numbers, chosen)
    respond: Responses = SumResponses(structure, numbers, seen)
    if attitude is not None:
        respond = ProductResponses(structure, numbers, seen, attitude.tolerance)
    search = Search(structure, numbers, seen, rules, respond, forgets=diagram.forgets)
    try:
        return search.outcome(diagram._full_past, starts=starts)
    except StepTooLargeError as error:
        raise forgetting_more(diagram, error) from None


def _refuse_recall(diagram: InfluenceDiagram, recall: int | None, exact: bool) -> None:
    if recall is None:
        return
    whole_number(recall, "recall", 0)
    if exact:
        raise ParameterError("a solution that recalls less is not exact", fix="leave out recall or exact=True")
    if diagram.forgets or not (diagram.attitude is None or isinstance(diagram.attitude, PiecewiseLinear)):
        word = "whose decisions forget" if diagram.forgets else "with an exponential utility"
        raise ParameterError(f"recall is not for diagrams {word}", fix="leave out recall")


def _in_money(outcome: Outcome, attitude: PiecewiseLinear) -> Outcome:
    """Expected utilities as certainty equivalents."""
    choices = {
        decision: choice._replace(expected=attitude.inverse(choice.expected))
        for decision, choice in outcome.choices.items()
    }
    return outcome._replace(choices=choices, utility=float(attitude.inverse(outcome.utility)))


def _bound_in_money(proof: Proof, attitude: PiecewiseLinear, utility: float) -> Proof:
    if proof.bound is None:
        return proof
    bound = float(attitude.inverse(proof.bound))
    if proof.recall is not None:
        return bounded_proof(proof.is_optimal, utility, bound, proof.recall)
    return replace(proof, bound=bound)


def evidence_codes(diagram: InfluenceDiagram, evidence: Mapping[str, Any] | None) -> dict[str, int]:
    """The evidence by name and position of the state."""
    return {name: diagram.code(name, state) for name, state in (evidence or {}).items()}


def solver_for(diagram: InfluenceDiagram, codes: Mapping[str, int], given: Mapping[str, Policy]) -> Solver:
    """The plans for evidence on these nodes and policies with these arguments."""
    kept = diagram._solvers
    key = (frozenset(codes), frozenset((name, policy.knows) for name, policy in given.items()))
    if key not in kept:
        if len(kept) >= _PLANS:
            del kept[next(iter(kept))]
        scopes = {diagram.place(n): sorted(map(diagram.place, policy.knows)) for n, policy in given.items()}
        kept[key] = Solver(diagram.structure, [diagram.place(name) for name in codes], scopes)
    return kept[key]


def policy_tables(diagram: InfluenceDiagram, given: Mapping[str, Policy]) -> dict[int, FloatArray]:
    """The tables of given policies with axes ascending by position."""
    return {diagram.place(n): diagram._axes(policy.table, [*policy.knows, n]) for n, policy in given.items()}


def _by_place(diagram: InfluenceDiagram, codes: Mapping[str, int]) -> dict[int, int]:
    return {diagram.place(name): code for name, code in codes.items()}


def _refuse_consequences(diagram: InfluenceDiagram, codes: Mapping[str, int], given: Mapping[str, Policy]) -> None:
    """Refuse evidence on nodes that an open decision affects."""
    settled = [diagram.place(name) for name in codes if name in diagram.decisions]
    above = [list(parents) for parents in diagram.network._parents]
    for name, policy in given.items():
        above[diagram.place(name)] = [diagram.place(node) for node in policy.knows]
    open_decisions = [name for name in diagram.decisions if name not in codes and name not in given]
    for name in codes:
        if name in diagram.decisions:
            continue
        causes = graph.ancestors_of(above, [diagram.place(name)])
        for decision in open_decisions:
            if diagram.place(decision) in causes and diagram.place(decision) not in settled:
                raise ParameterError(
                    f"{name!r} depends on the decision {decision!r}, which is still open",
                    fix=f"give what was decided too, as in {{{decision!r}: {diagram.states(decision)[0]!r}, ...}}",
                )


def _refuse_forbidden(diagram: InfluenceDiagram, codes: Mapping[str, int]) -> None:
    """An option that was taken must be allowed in some case consistent with the evidence."""
    for name in codes:
        masked = diagram.allowed(name) if name in diagram.decisions else None
        if masked is None:
            continue
        seen = tuple(codes.get(node, slice(None)) for node in masked.knows)
        if not masked.mask[(*seen, codes[name])].any():
            case = ", ".join(f"{node} = {diagram.states(node)[codes[node]]}" for node in masked.knows if node in codes)
            option = diagram.states(name)[codes[name]]
            raise ParameterError(
                f"the option {option!r} of {name!r} is forbidden{f' if {case}' if case else ''}",
                fix="give an option that is allowed",
            )


def _raise_impossible(diagram: InfluenceDiagram, policies: Mapping[str, Policy], seen: Mapping[str, Label]) -> None:
    """Raise the error of the network, which names the impossible part of the evidence."""
    for network in (diagram.network, network_under(diagram, policies, seen)):
        network.query(diagram.names[0], seen)
    raise ImpossibleEvidenceError("the evidence has probability 0", fix="remove part of it")


_QUICK = LARGEST_STEP // 64  # cells: a recommended change can be solved in seconds


def observed_by_decisions(diagram: InfluenceDiagram) -> dict[int, tuple[int, ...]]:
    """The nodes that each decision observes itself, by position."""
    return {diagram.place(name): tuple(map(diagram.place, diagram.parents(name))) for name in diagram.decisions}


def bounded_instead(error: StepTooLargeError) -> TooLargeError:
    """The error where the exact solution is too large, and bounds are not."""
    return TooLargeError(
        f"the exact answer needs a table over {len(error.scope)} nodes; {error.what}",
        fix="use diagram.solve() (bayeswise diagram solve FILE) for policies with bounds of the utility, "
        "or let each decision forget, as in Decision(..., forgets='everything')",
    )


def recalls_too_much(recall: int, fitting: int | None) -> TooLargeError:
    """The error where the given recall is too large."""
    fix = "leave recall out" if fitting is None else f"choose recall={fitting}"
    return TooLargeError(f"policies that recall {recall} decisions need tables that are too large", fix=fix)


def knowing_less(diagram: InfluenceDiagram, error: StepTooLargeError) -> TooLargeError:
    """The error where even the new observations of a decision are too many: which to leave out, if that is enough."""
    sizes = {
        name: math.prod([float(len(diagram.states(node))) for node in (*diagram.parents(name), name)])
        for name in diagram.decisions
    }
    widest = max(sizes, key=lambda name: sizes[name], default=None)
    if widest is not None and sizes[widest] > _QUICK:
        masked = diagram.allowed(widest)
        needed = {*diagram.decisions, *(masked.knows if masked else ())}  # for the order, and for forbidden options
        kept = list(diagram.parents(widest))
        left_out: list[str] = []
        for node in reversed(diagram.parents(widest)):
            if node in needed:
                continue
            kept.remove(node)
            left_out.insert(0, node)
            if _fits(diagram, widest, kept):
                names = ", ".join(repr(node) for node in left_out)
                return TooLargeError(error.what, fix=f"leave {names} out of what {widest!r} knows")
    return _smaller_nodes(diagram, error)


def _smaller_nodes(diagram: InfluenceDiagram, error: StepTooLargeError) -> TooLargeError:
    """The error that names the nodes of the table, where it does not help if decisions observe fewer."""
    named = listed(repr(diagram.names[v]) for v in error.scope)
    return TooLargeError(
        f"{error.what}, with one for each combination of {named}",
        fix="give these nodes fewer states, or their children fewer parents",
    )


def forgetting_more(diagram: InfluenceDiagram, error: StepTooLargeError) -> TooLargeError:
    """The error where single policy updating needs too large a table: whether it fits if each forgets everything."""
    remembering = [name for name in diagram.decisions if diagram.decision(name).forgets != "everything"]
    less = [replace(diagram.decision(name), forgets="everything") for name in remembering]
    if remembering:
        try:
            diagram.changed(less).solve(starts=1)
        except BayeswiseError:  # still too large, or options are forbidden by forgotten nodes
            pass
        else:
            fix = f"write forgets='everything' in the decisions {listed(map(repr, remembering))}"
            return TooLargeError(error.what, fix=fix)
    return _smaller_nodes(diagram, error)


def _fits(diagram: InfluenceDiagram, name: str, knows: list[str]) -> bool:
    """Whether the diagram could be solved or bounded if a decision knew only these nodes."""
    cells = math.prod([float(len(diagram.states(node))) for node in (*knows, name)])
    if cells > _QUICK:
        return False
    less = diagram.changed([Decision(name, diagram.states(name), knows)])
    try:
        Solver(less.structure, largest=_QUICK)
    except TooLargeError:
        return Bounds(less.structure, observed_by_decisions(less), {}, {}).fits(0, _QUICK)
    return True
