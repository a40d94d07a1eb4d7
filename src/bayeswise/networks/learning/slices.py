"""Dynamic networks from sequences in long format: counted where rows are complete, else by EM."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.foundation.arguments import whole_number
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError
from bayeswise.networks.arguments import by_node, graph_of, names_of, seed_of
from bayeswise.networks.dynamic import BEFORE, DynamicNetwork, before
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.constraints import Edges, Progress, silent
from bayeswise.networks.learning.em.sequences import FittedSequences, fit_sequences, order_of
from bayeswise.networks.network import BeliefNetwork
from bayeswise.networks.node import Node
from bayeswise.render.labels import refuse_unknown
from bayeswise.render.numbers import plural
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.source import open_source

Graph = Mapping[str, Sequence[str]]
Places = list[tuple[int, ...]]


def learn(
    table: Any,
    *,
    sequence: str,
    time: str,
    first: Mapping[str, Sequence[str]] | None = None,
    later: Mapping[str, Sequence[str]] | None = None,
    hidden: Mapping[str, int | Sequence[Any]] | None = None,
    shared: Iterable[str] | None = None,
    states: Mapping[str, Sequence[Any]] | None = None,
    method: str = "auto",
    score: str | None = None,
    root: str | None = None,
    alpha: float = 0.05,
    required: Edges = (),
    forbidden: Edges = (),
    max_parents: int | None = None,
    tabu: int = 10,
    restarts: int | None = None,
    noisy: Collection[str] = (),
    prior: str = "bdeu",
    smoothing: float = 1.0,
    starts: int = 3,
    seed: int = 0,
    progress: Progress = silent,
) -> DynamicNetwork:
    """From sequences in long format: a row for each step, with its sequence and its time.

    `first` and `later` are graphs {node: parents}; one that is not given is searched for with the settings of
    `BeliefNetwork.learn`, in later slices with the previous slice as the first tier; `required` and `forbidden` edges
    are within a slice.

    Cells may be missing, and `hidden` nodes {name: number of states, or the states} have no column: then `later` must
    be given, `first` is the same graph within a slice by default, and the tables are found by EM (Baum-Welch) from
    several `starts`; no step lowers the posterior density. `shared` nodes have one table in all slices: by default,
    with EM, those whose parents are the same in both. `notes` say what was found.

    >>> walk = {"who": ["a"] * 4 + ["b"] * 3, "t": [0, 1, 2, 3, 0, 1, 2], "at": list("xyxyxyx")}
    >>> DynamicNetwork.learn(walk, sequence="who", time="t", first={}, later={"at": ["at[-1]"]}, prior="none")
    DynamicNetwork(1 nodes, interface: at)
    >>> graph = {"mood": ["mood[-1]"], "at": ["mood"]}
    >>> DynamicNetwork.learn(walk, sequence="who", time="t", later=graph, hidden={"mood": 2})
    DynamicNetwork(2 nodes, interface: mood)
    """
    for what, name in (("sequence", sequence), ("time", time)):
        if not isinstance(name, str):
            raise ParameterError(f"{what} is {name!r:.80}", fix="give the name of a column")
    source = open_source(table)
    known = [column.name for column in source.columns]
    found = [find_name(name, known, where=source.description) for name in (sequence, time)]
    order, begins = order_of(source, *found)
    unseen = _hidden_states(hidden, known)
    rows = CodedRows.of(
        source, ignore=found, states={**(states or {}), **unseen}, may_be_hidden=set(unseen), in_order=True
    ).with_states()
    seed_of(seed)
    settings: dict[str, Any] = {"prior": prior, "smoothing": smoothing, "starts": starts, "seed": seed}
    search: dict[str, Any] = {"method": method, "score": score, "root": root, "alpha": alpha}
    search |= {"required": required, "forbidden": forbidden, "max_parents": max_parents, "noisy": noisy}
    search |= {"tabu": tabu, "restarts": restarts}
    if not len(rows.codes):
        raise ParameterError(f"{source.description} has no row", fix="give at least one sequence")
    if unseen or shared is not None or (rows.codes < 0).any():
        graphs = _both_graphs(first, later, rows)
        usual = inspect.signature(learn).parameters
        unused = [name for name, value in search.items() if value != usual[name].default]
        if unused:
            raise ParameterError(
                f"{', '.join(unused)} is not a setting of EM",
                fix=f"leave it out, or choose {', '.join(settings)}",
            )
        same = [k for k, above in enumerate(graphs[0]) if graphs[1][k] == tuple(p + len(rows.names) for p in above)]
        tied = same if shared is None else _shared_places(shared, rows.names, same)
        fitted = fit_sequences(
            rows, order, begins, [*graphs[0], *graphs[1]], shared=tied, progress=progress, **settings
        )
        return _of_tables(rows, graphs, fitted)
    return _counted(rows, order, begins, first, later, {**settings, **search, "progress": progress})


def _counted(
    rows: CodedRows,
    order: IntArray,
    begins: BoolArray,
    first: Graph | None,
    later: Graph | None,
    settings: Mapping[str, Any],
) -> DynamicNetwork:
    """Each slice by itself, from complete rows."""
    names = list(rows.names)
    firsts, pairs = _slices(rows, order, begins)
    states = {name: list(labels) for name, labels in zip(names, rows.states, strict=True)}
    both = {**{before(name): states[name] for name in names}, **states}
    start = BeliefNetwork.learn(firsts, parents=_whole(first, names), states=states, **settings)
    tiers = () if later is not None else ([before(name) for name in names], names)
    graph = None if later is None else {**{before(name): () for name in names}, **(_whole(later, names) or {})}
    step = BeliefNetwork.learn(pairs, parents=graph, states=both, tiers=tiers, **settings)
    return DynamicNetwork([start.node(name) for name in names], [step.node(name) for name in names])


def _of_tables(rows: CodedRows, graphs: tuple[Places, Places], fitted: FittedSequences) -> DynamicNetwork:
    names, n_nodes = rows.names, len(rows.names)

    def node(k: int, table: FloatArray, above: tuple[int, ...], later: bool) -> Node:
        parents = [names[p - n_nodes] if p >= n_nodes else before(names[p]) if later else names[p] for p in above]
        return Node(names[k], rows.states[k], table, parents)

    slices = [
        [node(k, table, above, later) for k, (table, above) in enumerate(zip(tables, graph, strict=True))]
        for tables, graph, later in zip((fitted.first, fitted.later), graphs, (False, True), strict=True)
    ]
    network = DynamicNetwork(*slices)
    ended = "stopped by Ctrl-C" if fitted.interrupted else "converged" if fitted.converged else "not converged"
    steps = plural(len(fitted.trace) - 1, "step")
    network.notes = (f"EM: log-likelihood {fitted.log_likelihood:.6f} after {steps}, {ended}",)
    return network


def _whole(graph: Graph | None, names: Sequence[str]) -> dict[str, Sequence[str]] | None:
    """A graph completed by nodes without parents."""
    if graph is None:
        return None
    given = graph_of(graph)
    for name in given:
        refuse_unknown(name, names, "the table has no column")
    return {name: given.get(name, ()) for name in names}


def _hidden_states(hidden: Any, known: Sequence[str]) -> dict[str, Sequence[Any]]:
    """The states of nodes without a column; a number k means the states 0 to k - 1."""
    by_name: dict[str, Sequence[Any]] = {}
    for name, states in by_node(hidden, "hidden", of_each="number of states").items():
        if not isinstance(name, str) or not name:
            raise ParameterError(f"a hidden node is called {name!r:.80}", fix="give it a text for a name")
        if name in known:
            raise ParameterError(
                f"{name!r} is hidden, and a column of the table",
                fix="leave one of them out; missing cells of a column are learned without `hidden`",
            )
        if isinstance(states, str):
            raise ParameterError(f"the states of {name!r} are {states!r:.80}", fix="give a number, or a list")
        given = states if isinstance(states, Iterable) else range(whole_number(states, f"the states of {name!r}"))
        by_name[name] = list(given)
    return by_name


def _both_graphs(first: Graph | None, later: Graph | None, rows: CodedRows) -> tuple[Places, Places]:
    """The parents in both slices by position, those in later slices counted from the number of nodes on."""
    names, n_nodes = list(rows.names), len(rows.names)
    if later is None:
        what = "a node is hidden" if (rows.codes < 0).all(axis=0).any() else "tables are shared"
        missing = np.argwhere((rows.codes < 0) & ~(rows.codes < 0).all(axis=0))
        if len(missing):
            row, column = missing[0].tolist()
            what = f"{names[column]!r} is missing in row {row + 1}"
        raise ParameterError(
            f"{what}, and no graph is given; only complete rows are searched for one",
            fix="give later={node: parents}, as in later={'at': ['at[-1]']}",
        )
    above = _whole(later, names) or {}
    within = {name: [parent for parent in above[name] if not parent.endswith(BEFORE)] for name in names}
    start = within if first is None else _whole(first, names) or {}
    places = {name: k for k, name in enumerate(names)}
    twice = {**{name: k + n_nodes for name, k in places.items()}, **{before(name): k for name, k in places.items()}}
    for known, graph in ((places, start), (twice, above)):
        for parent in (parent for parents in graph.values() for parent in parents):
            refuse_unknown(parent, known, "the table has no column")
    return (
        [tuple(places[parent] for parent in start[name]) for name in names],
        [tuple(twice[parent] for parent in above[name]) for name in names],
    )


def _shared_places(shared: Iterable[str], names: Sequence[str], same: Sequence[int]) -> list[int]:
    places = []
    for name in names_of(shared, "shared"):
        refuse_unknown(name, names, "there is no node")
        if list(names).index(name) not in same:
            raise ParameterError(
                f"{name!r} is shared, and has other parents in the first slice", fix="give it the same parents in both"
            )
        places.append(list(names).index(name))
    return places


def _slices(rows: CodedRows, order: IntArray, starts: BoolArray) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """The first row of each sequence; and each other row with the cells of the row before."""
    later = np.flatnonzero(~starts)
    firsts: dict[str, list[Any]] = {}
    pairs: dict[str, list[Any]] = {}
    for column, name in enumerate(rows.names):
        cells = [rows.states[column][code] for code in rows.codes[order, column].tolist()]
        firsts[name] = [cells[row] for row in np.flatnonzero(starts).tolist()]
        pairs[before(name)] = [cells[row - 1] for row in later.tolist()]
        pairs[name] = [cells[row] for row in later.tolist()]
    return firsts, pairs
