"""From a table to a network in one call: a graph, given or found, and tables by counting or by EM."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayeswise.foundation.earlier_names import earlier
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.arguments import graph_of, seed_of
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.column_states import MOST_LABELS
from bayeswise.networks.learning.constraints import Constraints, Edges, Progress, silent
from bayeswise.networks.learning.counted_rows import TooManyRowsToBring
from bayeswise.networks.learning.em.fitted_tables import WAYS, FittedTables, fit_tables
from bayeswise.networks.learning.em.noisy import check_noisy, fit_noisy_max
from bayeswise.networks.learning.em.structural import structural_em
from bayeswise.networks.learning.family_counts import FamilyCounts
from bayeswise.networks.learning.graph_search import GraphSearch
from bayeswise.networks.learning.rounds import learned_in_rounds
from bayeswise.networks.network import BeliefNetwork
from bayeswise.networks.node import Node, cut_texts
from bayeswise.render.labels import refuse_unknown
from bayeswise.render.numbers import plural

MISSING_POLICIES = ("error", "drop", *WAYS)

_ENDED_EARLY = {
    "exact": "the exact search was interrupted: this is the graph that hill climbing finds",
    "climb": "the search was interrupted: this is the best graph so far",
}


def learn(
    table: Any,
    *,
    parents: Mapping[str, Sequence[str]] | None = None,
    method: str = "auto",
    score: str | None = None,
    order: Sequence[str] | None = None,
    root: str | None = None,
    alpha: float = 0.05,
    required: Edges = (),
    forbidden: Edges = (),
    tiers: Sequence[Sequence[str]] = (),
    max_parents: int | None = None,
    tabu: int = 10,
    restarts: int | None = None,
    prior: str = "bdeu",
    smoothing: float = 1.0,
    missing: str = "error",
    starts: int = 3,
    seed: int = 0,
    ignore: Collection[str] = (),
    states: Mapping[str, Sequence[Any]] | None = None,
    noisy: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    cuts: Mapping[str, Sequence[float]] | None = None,
    weight: str | None = None,
    weights: Any = None,
    progress: Progress = silent,
) -> BeliefNetwork:
    """A network with a given graph (`parents`), or one that a method finds by a score; rows may be coded already.

    `missing` is the policy for missing values: "error" and "drop" are about the search for a graph (a given one is
    counted family by family, over the rows that have the family); "em" and "gradient" fit the tables to all rows,
    and find the graph by structural EM; cells may then be soft, a likelihood for each state written as
    yes=0.7;no=0.3. A node of a given graph that is not a column is hidden: its `states` must be given. A column of more
    than 20 distinct numbers is cut into intervals, which are its states in their order, at its quintiles or at
    `cuts={"age": [30, 50]}`; `kinds={"visits": "number"}` cuts a column of fewer, and "category" keeps the numbers as
    they are.

    The nodes in `noisy`, of a given graph, get a noisy maximum instead of a table, found by EM: the `states` of these
    and of their parents must be in order from strongest to none.

    `weight` names a column of weights, `weights` are weights that are not a column: a row of weight k counts as k rows,
    one of weight 0 is left out. `method="auto"` is exact up to 15 columns, else hill climbing, which is restarted until
    nothing better was found for a while, or `restarts` times. `method="pc"` uses tests of independence at level `alpha`
    instead of a score; `method="miic"` removes edges whose information is explained by contributors. `score` is "bic"
    by default, and "nml" as the complexity term of "miic". `notes` say what was done.

    >>> rows = {"rain": ["y", "n"] * 20, "wet": ["y", "n"] * 20, "day": ["a", "a", "b", "b"] * 10}
    >>> learn(rows).edges
    (('rain', 'wet'),)
    """
    refuse_unknown(missing, MISSING_POLICIES, "missing is")
    if parents is not None:
        parents = graph_of(parents)
    named = {name for child, above in (parents or {}).items() for name in (child, *above)}
    seed_of(seed)
    search = GraphSearch(
        method=method,
        score=score or ("nml" if method == "miic" else "bic"),
        rules=Constraints.of(required, forbidden, tiers, max_parents),
        order=order,
        root=root,
        alpha=alpha,
        smoothing=smoothing,
        tabu=tabu,
        restarts=restarts,
        seed=seed,
        progress=progress,
    )
    try:
        rows = coded_rows(
            table,
            ignore=ignore,
            states=states,
            may_be_hidden=named,
            weight=weight,
            weights=weights,
            kinds=kinds,
            cuts=cuts,
            may_be_soft=missing in WAYS,
        ).with_states()
    except TooManyRowsToBring as many:
        search = search.for_columns(len(many.columns), given=parents is not None)
        if noisy:
            raise
        in_rounds = learned_in_rounds(many, parents, search, missing)
        network = in_rounds.counts.network(prior=prior, smoothing=smoothing, order=in_rounds.order)
        network.notes = (*network.notes, *reading_notes(many), *[_ENDED_EARLY["climb"]] * in_rounds.interrupted)
        return network
    notes = [] if isinstance(table, CodedRows) else reading_notes(rows)
    search = search.for_columns(len(rows.names), given=parents is not None)
    check_noisy(list(noisy), parents, rows.declared)
    if parents is None:
        whole = rows.without_missing() if missing == "drop" else rows
        if missing in WAYS and rows.codes.min(initial=0) < 0:
            _refuse_hidden_in_search(rows)
            found = structural_em(rows, search, prior=prior)
        else:
            found = search.found(whole.complete())
        notes += found.notes
        parents = found.by_name(rows.names)
        notes += [_ENDED_EARLY["exact" if search.method == "exact" else "climb"]] * found.interrupted
        rows = whole if missing == "drop" else rows
    if missing in WAYS:
        fitted = fit_tables(
            rows, parents, way=missing, prior=prior, smoothing=smoothing, starts=starts, seed=seed, progress=progress
        )
        network = fitted.network
        notes.append(_summary_of(missing, fitted))
    else:
        _refuse_hidden(rows, named)
        fixed = {name: known for name, known in zip(rows.names, rows.states, strict=True) if name in rows.declared}
        counts = FamilyCounts.of_rows(rows, parents, states=states)
        network = counts.network(prior=prior, smoothing=smoothing, order=fixed)
    if noisy:
        network = _with_noisy(network, rows, noisy, smoothing, notes)
    network.notes = (*network.notes, *notes)
    return network


if not TYPE_CHECKING:  # whose readers see the signature as it is: `BeliefNetwork.learn` is this function
    learn = earlier(strength="smoothing")(learn)


def _with_noisy(
    network: BeliefNetwork, rows: CodedRows, noisy: Collection[str], smoothing: float, notes: list[str]
) -> BeliefNetwork:
    """The network with a noisy maximum instead of some tables."""
    nodes = []
    for name in network:
        node = network.node(name)
        if name in noisy:
            _refuse_soft_causes(rows, (*node.parents, name))
            fitted = fit_noisy_max(rows, name, node.parents, smoothing=smoothing)
            notes.append(f"{name}: EM of its {len(node.parents)} causes ended after {plural(fitted.steps, 'step')}")
            node = Node(name, node.states, fitted.table, node.parents)
        nodes.append(node)
    return BeliefNetwork(nodes, name=network.name)


def _refuse_soft_causes(rows: CodedRows, names: Sequence[str]) -> None:
    for name in names:
        if rows.soft is not None and (rows.soft.places[:, rows.names.index(name)] >= 0).any():
            raise ParameterError(
                f"{name!r} has soft cells: a noisy maximum is learned from states", fix="leave it out of noisy=[...]"
            )


def coded_rows(
    table: Any,
    *,
    ignore: Collection[str] = (),
    states: Mapping[str, Sequence[Any]] | None = None,
    may_be_hidden: Collection[str] = (),
    weight: str | None = None,
    weights: Any = None,
    kinds: Mapping[str, str] | None = None,
    cuts: Mapping[str, Sequence[float]] | None = None,
    may_be_soft: bool = False,
) -> CodedRows:
    """The rows of a table for `learn`, numbers cut by their kinds; coded rows stay as they are."""
    if not isinstance(table, CodedRows):
        by_kind = _checked_kinds(kinds or {})
        return CodedRows.of(
            table,
            ignore=ignore,
            states=states,
            may_be_hidden=may_be_hidden,
            weight=weight,
            weights=weights,
            cuts=cuts,
            cut_beyond=MOST_LABELS,
            numbers=[name for name, kind in by_kind.items() if kind == "number"],
            labels=[name for name, kind in by_kind.items() if kind == "category"],
            may_be_soft=may_be_soft,
        )
    if ignore or weight is not None or kinds or cuts:
        what = "ignore columns" if ignore else "cut columns" if kinds or cuts else "name the column of weights"
        raise ParameterError("the rows are coded already, with all of their columns", fix=f"{what} in CodedRows.of")
    if table.soft is not None and not may_be_soft:
        raise ParameterError("the rows have soft cells, which are not counted", fix="use missing='em'")
    return table.weighted(weights)


def _checked_kinds(kinds: Mapping[str, str]) -> Mapping[str, str]:
    for name, kind in kinds.items():
        if kind not in ("number", "category"):
            raise ParameterError(
                f"the kind of column {name!r} is {kind!r}", fix="choose 'number', which is cut, or 'category'"
            )
    return kinds


def reading_notes(rows: CodedRows | TooManyRowsToBring) -> list[str]:
    """The cuts of each column of numbers, and notes on columns."""
    cut = [f"{name}: cut at {', '.join(cut_texts(found, exact=True))}" for name, found in rows.cuts.items() if found]
    return [*cut, *rows.notes]


def _summary_of(way: str, fitted: FittedTables) -> str:
    name = {"em": "EM", "gradient": "gradient ascent"}[way]
    end = "was interrupted" if fitted.interrupted else "ended" if fitted.converged else "ran out of steps"
    return f"{name} {end} after {plural(len(fitted.trace), 'step')}; log-likelihood {fitted.log_likelihood:.6g}"


def _refuse_hidden_in_search(rows: CodedRows) -> None:
    for place, name in enumerate(rows.names):
        if len(rows.codes) and rows.hidden[place]:
            raise ParameterError(
                f"{name} has no cell: rows do not show what a hidden node depends on",
                fix="give the graph, parents={...} (--graph FILE), or leave the column out",
            )


def _refuse_hidden(rows: CodedRows, named: Collection[str]) -> None:
    for place, name in enumerate(rows.names):
        if len(rows.codes) and name in named and (rows.codes[:, place] < 0).all():
            raise ParameterError(f"{name} has no cell to count: it is hidden", fix="use missing='em'")
