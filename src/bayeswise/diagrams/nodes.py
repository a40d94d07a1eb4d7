"""The nodes of a diagram: chance, decision, utility and cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bayeswise.decisions import Costs
from bayeswise.diagrams.nested import state_code
from bayeswise.foundation.arrays import BoolArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import CostError, NetworkError, listed
from bayeswise.networks import BeliefNetwork, Node
from bayeswise.networks.node import LARGEST_TABLE
from bayeswise.render.labels import guess
from bayeswise.tables.schema.labels import Vocabulary

Chance: TypeAlias = Node  # P(name | parents), as in a network; parents may be decisions


EVERYTHING = "everything"


@dataclass(frozen=True, eq=False)
class Decision:
    """A decision: its options, and the nodes that are observed before it.

    What earlier decisions knew is remembered, except for the nodes in `forgets`, now and later; `forgets="everything"`
    leaves only those in `knows`. `forbidden` lists cases in which an option is not allowed: the option, and states of
    known nodes, one state or a list of them for each.

    >>> Decision("drill", ["yes", "no"], knows=["report"], forbidden=[{"drill": "yes", "report": "not done"}])
    Decision(drill | report: yes, no)
    """

    name: str
    options: Vocabulary
    knows: tuple[str, ...]
    forgets: tuple[str, ...] | str
    forbidden: tuple[Mapping[str, Any], ...]

    def __init__(
        self,
        name: str,
        options: Iterable[Any],
        knows: Iterable[str] = (),
        *,
        forgets: Iterable[str] = (),
        forbidden: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        as_node = Node(name, options, None, _names(name, knows, "what {name!r} knows is"))
        values = (name, as_node.states, as_node.parents, _forgotten(as_node, forgets), _cases(name, forbidden))
        for field, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, field.name, value)

    def knowing(self, nodes: Iterable[str]) -> Decision:
        """The same decision with information arcs from these nodes too."""
        more = [node for node in dict.fromkeys(nodes) if node not in self.knows]
        kept = self.forgets if isinstance(self.forgets, str) else [node for node in self.forgets if node not in more]
        return Decision(self.name, self.options, [*self.knows, *more], forgets=kept, forbidden=self.forbidden)

    def __repr__(self) -> str:
        return f"Decision{repr(Node(self.name, self.options, None, self.knows))[4:]}"


def _forgotten(decision: Node, forgets: Any) -> tuple[str, ...] | str:
    if isinstance(forgets, str) and forgets == EVERYTHING:
        return EVERYTHING
    names = tuple(dict.fromkeys(_names(decision.name, forgets, "what {name!r} forgets is")))
    both = [node for node in names if node in decision.parents]
    if both:
        raise NetworkError(f"{decision.name!r} both knows and forgets {both[0]!r}", fix="name it in one of the lists")
    return names


def _cases(name: str, forbidden: Any) -> tuple[Mapping[str, Any], ...]:
    cases = [forbidden] if isinstance(forbidden, Mapping) else list(forbidden)
    for case in cases:
        if not isinstance(case, Mapping) or name not in case:
            raise NetworkError(
                f"what {name!r} forbids must name an option of it, and states of what is known; found {case!r:.80}",
                fix=f"write {{{name!r}: OPTION, NODE: STATE}}",
            )
    return tuple(dict(case) for case in cases)


@dataclass(frozen=True, eq=False)
class Utility:
    """The utility of each configuration of the parents; several utilities add up.

    The table is nested by the states of the parents, or numbers in their order; a number in place of a level holds for
    all of it. The table may be a `bw.Costs` where the parents are a decision and a chance node. `attribute` names what
    the table measures in its own unit, such as money or pain; the diagram weights attributes.

    >>> Utility("gain", {"no": 0, "yes": {"dry": -70, "wet": 50, "soaking": 200}}, parents=["drill", "oil"])
    Utility(gain | drill, oil)
    """

    name: str
    table: Any
    parents: tuple[str, ...]
    attribute: str | None
    is_cost = False

    def __init__(self, name: str, table: Any, parents: Iterable[str] = (), *, attribute: str | None = None) -> None:
        if not isinstance(name, str) or not name:
            raise NetworkError(f"a utility must have a name; found {name!r}", fix="name it")
        above = tuple(_names(name, parents, "the parents of {name!r} are"))
        if len(set(above)) < len(above):
            raise NetworkError(f"utility {name!r} has a parent twice: {', '.join(above)}", fix="name it once")
        if attribute is not None and (not isinstance(attribute, str) or not attribute):
            raise NetworkError(f"the attribute of {name!r} must be a name; found {attribute!r:.80}", fix="name it")
        for field, value in (("name", name), ("table", table), ("parents", above), ("attribute", attribute)):
            object.__setattr__(self, field, value)

    def __repr__(self) -> str:
        given = f" | {', '.join(self.parents)}" if self.parents else ""
        return f"{type(self).__name__}({self.name}{given})"


class Cost(Utility):
    """A utility whose table has losses: the sign of each is inverted.

    >>> Cost("price of the test", {"yes": 10, "no": 0}, parents=["test"])
    Cost(price of the test | test)
    """

    is_cost = True


def _names(name: str, given: Iterable[str], what: str) -> list[str]:
    if isinstance(given, str):
        raise NetworkError(f"{what.format(name=name)} the text {given!r}", fix=f"write [{given!r}]")
    return list(given)


Piece: TypeAlias = Node | Decision | Utility

MOST_NODES = 10_000


def checked_pieces(nodes: Iterable[Piece]) -> list[Piece]:
    """Nodes of the three kinds with different names, one of them a utility."""
    given = list(nodes)
    if len(given) > MOST_NODES:
        raise NetworkError(f"the diagram has {len(given)} nodes; {MOST_NODES} are allowed", fix="give fewer")
    names: set[str] = set()
    for piece in given:
        if not isinstance(piece, Node | Decision | Utility):
            raise NetworkError(
                f"a diagram is made of chance nodes, decisions and utilities; found {piece!r:.80}",
                fix="write Chance(...), Decision(...), Utility(...) or Cost(...)",
            )
        if piece.name in names:
            raise NetworkError(f"there are two nodes {piece.name!r}", fix="rename one of them")
        names.add(piece.name)
    if not any(isinstance(piece, Utility) for piece in given):
        raise NetworkError(
            "the diagram has no utility, so that all policies are equally good",
            fix="add Utility(...), in a file [utility.NAME]",
        )
    return given


def pieces_of_network(
    network: BeliefNetwork,
    decisions: Iterable[Decision],
    costs: Any,
    about: str | None,
    utilities: Iterable[Utility],
    nodes: Iterable[Node],
) -> list[Piece]:
    """The nodes of the network, those that replace them or are added, decisions and utilities."""
    replaced = {node.name: node for node in nodes}
    pieces: list[Piece] = [replaced.pop(node, network.node(node)) for node in network]
    chosen = list(decisions)
    pieces += [*replaced.values(), *chosen, *utilities]
    if costs is not None:
        pieces.append(utility_of_costs(costs, about, chosen))
    return pieces


def utility_of_costs(costs: Any, about: str | None, decisions: Sequence[Decision]) -> Utility:
    """The utility of the decision whose options are the actions of the costs, and of the node they are about."""
    if about is None:
        raise CostError("the costs do not name the node that they are about", fix="add about='NODE'")
    table = Costs.of(costs)
    actions = {str(action) for action in table.actions}
    fitting = [decision for decision in decisions if {str(option) for option in decision.options} == actions]
    if len(fitting) != 1:
        raise CostError(
            f"{len(fitting)} decisions have the actions of the costs, {listed(table.actions)}",
            fix="give a decision with these options, or write utilities=[Utility(name, costs, [DECISION, NODE])]",
        )
    return Utility("cost", table, [fitting[0].name, about])


class Allowed(NamedTuple):
    """The options that are allowed, by the states of some known nodes."""

    knows: tuple[str, ...]
    mask: BoolArray  # (states of each known node ..., n_options)

    def preferring(self, option: int) -> Allowed:
        """Only this option where it is allowed, the others where it is not."""
        only = np.arange(self.mask.shape[-1]) == option
        return Allowed(self.knows, np.where(self.mask[..., [option]], only, self.mask))


def allowed_options(decision: Decision, known: Sequence[str], states: Callable[[str], Vocabulary]) -> Allowed | None:
    """The mask of a decision; none if nothing is forbidden. Each case must leave an option.

    >>> drill = Decision("drill", ["yes", "no"], ["report"], forbidden=[{"drill": "yes", "report": "not done"}])
    >>> allowed_options(drill, ["report"], lambda node: Vocabulary(["open", "not done"])).mask.tolist()
    [[True, True], [False, True]]
    """
    if not decision.forbidden:
        return None
    for case in decision.forbidden:
        for node in case:
            if node != decision.name and node not in known:
                raise NetworkError(
                    f"what {decision.name!r} forbids depends on {node!r}, which is not known then",
                    fix=guess(node, known) if known else f"name options of {decision.name!r} alone",
                )
    named = {node for case in decision.forbidden for node in case}
    scope = tuple(node for node in known if node in named)
    levels = [states(node) for node in scope]
    shape = [*map(len, levels), len(decision.options)]
    if math.prod(shape) > LARGEST_TABLE:
        raise NetworkError(
            f"what {decision.name!r} forbids depends on {len(scope)} nodes with {math.prod(shape):.3g} cases",
            fix="name fewer nodes",
        )
    mask = np.ones(shape, dtype=bool)
    for case in decision.forbidden:
        places = [_codes(decision, case, node, states(node)) for node in scope]
        mask[np.ix_(*places, _codes(decision, case, decision.name, decision.options))] = False
    empty = np.argwhere(~mask.any(axis=-1))
    if len(empty):
        shown = ", ".join(f"{node} = {level[code]}" for node, level, code in zip(scope, levels, empty[0], strict=True))
        raise NetworkError(
            f"every option of {decision.name!r} is forbidden{f' if {shown}' if shown else ''}",
            fix="leave one option in each case, also in impossible ones",
        )
    mask.flags.writeable = False
    return Allowed(scope, mask)


def _codes(decision: Decision, case: Mapping[str, Any], node: str, levels: Vocabulary) -> list[int]:
    """The states that a case names: one, a list of them, or all where it names none."""
    if node not in case:
        return list(range(len(levels)))
    given = case[node]
    labels = list(given) if isinstance(given, list | tuple) else [given]
    if not labels:
        raise NetworkError(f"what {decision.name!r} forbids has no state of {node!r}", fix="name one, or leave it out")
    word = "option" if node == decision.name else "state"
    return [state_code(label, levels, f"what {decision.name!r} forbids: {node!r} has no {word}") for label in labels]
