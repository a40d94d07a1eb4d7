"""What to do about a diagram that is too large to be solved, tried before it is recommended."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from bayeswise.diagrams.nodes import Decision
from bayeswise.diagrams.solving.bounded import Bounds
from bayeswise.diagrams.solving.elimination import LARGEST_STEP, StepTooLargeError
from bayeswise.diagrams.solving.solver import Solver
from bayeswise.foundation.errors import BayeswiseError, TooLargeError

if TYPE_CHECKING:
    from bayeswise.diagrams.diagram import InfluenceDiagram

_QUICK = LARGEST_STEP // 64  # cells: what is recommended is solved in seconds
_NAMED = 8  # nodes


def told_to_decisions(diagram: InfluenceDiagram) -> dict[int, tuple[int, ...]]:
    """What each decision is told itself, by position."""
    return {diagram.place(name): tuple(map(diagram.place, diagram.parents(name))) for name in diagram.decisions}


def bounded_instead(error: StepTooLargeError) -> TooLargeError:
    """The exact answer is too large, bounds are not."""
    return TooLargeError(
        f"the exact answer needs a table over {len(error.scope)} nodes; {error.what}",
        fix="ask diagram.solve() (bayeswise diagram solve FILE) for policies with bounds of the utility, "
        "or let each decision forget, as in Decision(..., forgets='everything')",
    )


def recalls_too_much(recall: int, fitting: int | None) -> TooLargeError:
    """A number of decisions to recall that was asked for."""
    fix = "leave recall out" if fitting is None else f"choose recall={fitting}"
    return TooLargeError(f"policies that recall {recall} decisions need tables that are too large", fix=fix)


def knowing_less(diagram: InfluenceDiagram, error: StepTooLargeError) -> TooLargeError:
    """Even what is new to a decision makes a table that is too large: which of it to leave out, if that is enough."""
    sizes = {
        name: math.prod([float(len(diagram.states(node))) for node in (*diagram.parents(name), name)])
        for name in diagram.decisions
    }
    widest = max(sizes, key=lambda name: sizes[name], default=None)
    if widest is not None and sizes[widest] > _QUICK:
        masked = diagram.allowed(widest)
        needed = {*diagram.decisions, *(masked.knows if masked else ())}  # for the order, and for what is forbidden
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
    """Which nodes make the table too large, where no decision can be told less of them."""
    named = ", ".join(repr(diagram.names[v]) for v in error.scope[:_NAMED])
    more = f" and {len(error.scope) - _NAMED} more" if len(error.scope) > _NAMED else ""
    return TooLargeError(
        f"{error.what}, with one for each combination of {named}{more}",
        fix="give these nodes fewer states, or their children fewer parents",
    )


def forgetting_more(diagram: InfluenceDiagram, error: StepTooLargeError) -> TooLargeError:
    """Policies that are improved one by one need too large a table: whether they fit if each forgets everything."""
    remembering = [name for name in diagram.decisions if diagram.decision(name).forgets != "everything"]
    less = [replace(diagram.decision(name), forgets="everything") for name in remembering]
    if remembering:
        try:
            diagram.changed(less).solve(starts=1)
        except BayeswiseError:  # still too large, or options are forbidden by what would be forgotten
            pass
        else:
            names = ", ".join(map(repr, remembering[:_NAMED])) + (", ..." if len(remembering) > _NAMED else "")
            return TooLargeError(error.what, fix=f"write forgets='everything' in the decisions {names}")
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
        return Bounds(less.structure, told_to_decisions(less), {}, {}).fits(0, _QUICK)
    return True
