"""The posterior of one node for every row of a table, in groups of rows with the same missing cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeswise import _kernels
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.errors import ImpossibleEvidenceError, MissingColumnError, TooLargeError, UnseenLevelError
from bayeswise.foundation.threads import available, each
from bayeswise.networks.inference.engine import MEMORY_LIMIT, Engine, Finding
from bayeswise.networks.node import place_of_state
from bayeswise.networks.soft_evidence import likelihood_in_cell, no_soft_cells, parsed_cell
from bayeswise.render.labels import guess
from bayeswise.tables.schema.labels import Label
from bayeswise.tables.schema.names import normal_name
from bayeswise.tables.source import DEFAULT_NULL_WORDS, Source, open_source

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

_CELLS_WORTH_A_TREE = 40_000  # patterns whose rows cost less than this share a tree for any pattern
_ROWS_PER_THREAD = 2_000


def predict_proba(network: BeliefNetwork, node: str, table: Any) -> FloatArray:
    """(n_rows, n_states) P(node | the other cells of the row); columns are found by name, others are not read.

    >>> from bayeswise.networks import BeliefNetwork, Node
    >>> wet = Node("wet", ["yes", "no"], {"yes": 0.9, "no": 0.2}, parents=["rain"])
    >>> network = BeliefNetwork([Node("rain", ["yes", "no"], 0.5), wet])
    >>> network.predict_proba("rain", {"wet": ["yes", None]}).round(3).tolist()
    [[0.818, 0.182], [0.5, 0.5]]

    A cell may have a likelihood for each state instead of a state:

    >>> network.predict_proba("rain", {"wet": ["yes=1;no=0", "yes=0.8;no=0.1"]}).round(3).tolist()
    [[0.818, 0.182], [0.753, 0.247]]
    """
    target = network.place(node)
    parts = [posterior_of_cases(network, target, cases) for cases in encoded(network, table, leave_out=target)]
    return np.concatenate(parts) if parts else np.zeros((0, len(network.states(node))))


class Cases(NamedTuple):
    """Rows of a table as codes; code n_states + k is the k-th likelihood that soft cells of the column have."""

    first_row: int
    columns: list[int]  # the nodes that have a column
    codes: CodeArray  # (n_rows, n_columns) -1 where a cell is missing
    soft: list[FloatArray]  # by column, (n_likelihoods, n_states)

    def without(self, node: int) -> Cases:
        """The same rows without the column of a node."""
        others = [k for k, column in enumerate(self.columns) if column != node]
        soft = [self.soft[k] for k in others]
        return Cases(self.first_row, [self.columns[k] for k in others], self.codes[:, others], soft)


def encoded(network: BeliefNetwork, table: Any, *, leave_out: int = -1) -> Iterator[Cases]:
    """Chunks of a table as codes."""
    source = open_source(table, null_words=null_words_for(network))
    columns = _columns(network, source, leave_out)
    for chunk in source.chunks([name for _, name in columns]):
        codes = np.empty((chunk.n_rows, len(columns)), dtype=np.int32)
        soft = []
        for place, (node, name) in enumerate(columns):
            found, levels = chunk.labels(name)
            states, likelihoods = _translation(network, node, levels)
            codes[:, place] = states[found]
            soft.append(likelihoods)
        yield Cases(chunk.first_row, [node for node, _ in columns], codes, soft)


def null_words_for(network: BeliefNetwork) -> tuple[str, ...]:
    """Words that mean "missing" in files, without those that a node has for a state."""
    states = {str(state).strip().casefold() for levels in network._states for state in levels}
    return tuple(word for word in DEFAULT_NULL_WORDS if word.casefold() not in states)


def _columns(network: BeliefNetwork, source: Source, leave_out: int) -> list[tuple[int, str]]:
    by_name = {normal_name(name): node for node, name in enumerate(network.names)}
    nodes = [(by_name.get(normal_name(column.name), -1), column.name) for column in source.columns]
    if all(node < 0 for node, _ in nodes):
        raise MissingColumnError(
            f"{source.description} has no column with the name of a node",
            fix=f"name one of its columns {network.names[0]!r}",
        )
    return [(node, name) for node, name in nodes if node not in (-1, leave_out)]


def _translation(network: BeliefNetwork, node: int, levels: Sequence[Label]) -> tuple[CodeArray, FloatArray]:
    """The code of each level of a column, then -1 for a missing cell; and the likelihoods in it."""
    states = network._states[node]
    in_file = all(isinstance(state, str) for state in states)
    by_text = {str(state): code for code, state in enumerate(states)}  # one lookup per level
    codes = np.full(len(levels) + 1, -1, dtype=np.int32)
    likelihoods: list[FloatArray] = []
    for place, level in enumerate(levels):
        code = states.code_of_equal(level)
        if code < 0 and (in_file or isinstance(level, str)):
            code = by_text.get(str(level), -1)
        codes[place] = code if code >= 0 else place_of_state(states, level)
        if codes[place] < 0 and parsed_cell(level) is not None:
            codes[place] = len(states) + len(likelihoods)
            likelihoods.append(likelihood_in_cell(network.names[node], states, level))
        if codes[place] < 0:
            raise UnseenLevelError(
                f"column {network.names[node]!r} has {level!r}, which is not a state of the node",
                fix=guess(level, states.labels),
            )
    return codes, np.array(likelihoods).reshape(-1, len(states))


def posterior_of_cases(network: BeliefNetwork, target: int, cases: Cases) -> FloatArray:
    """(n_rows, n_states) the posterior of a node, which must not have a column of its own."""
    posterior, log_evidence = posterior_and_evidence(network, target, cases.columns, cases.codes, cases.soft)
    if np.isneginf(log_evidence).any():
        row = int(np.argmax(np.isneginf(log_evidence)))
        seen: dict[str, Label] = {}
        soft: dict[str, dict[Label, float]] = {}
        for node, code, likelihoods in zip(cases.columns, cases.codes[row].tolist(), cases.soft, strict=True):
            name, states = network.names[node], network._states[node]
            if code >= len(states):
                soft[name] = dict(zip(states, likelihoods[code - len(states)].tolist(), strict=True))
            elif code >= 0:
                seen[name] = states[code]
        try:
            network.query(network.names[target], seen, soft=soft)
        except ImpossibleEvidenceError as error:
            raise ImpossibleEvidenceError(f"row {cases.first_row + row + 1}: {error.what}", fix=error.fix) from None
    return posterior


def posterior_and_evidence(
    network: BeliefNetwork,
    target: int,
    columns: list[int],
    codes: CodeArray,
    soft: Sequence[FloatArray] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """The posterior of a node and (n_rows,) log P(cells), minus infinity for a row that is impossible."""
    soft = no_soft_cells(len(network._states[node]) for node in columns) if soft is None else soft
    posterior = np.empty((len(codes), len(network._states[target])))
    log_evidence = np.empty(len(codes))
    for tree, kept, rows in _groups(network, target, columns, codes, soft):
        whole = isinstance(rows, slice) and len(kept) == codes.shape[1]
        chosen = np.ascontiguousarray(codes if whole else codes[rows][:, kept])
        here = [columns[k] for k in kept]
        posterior[rows], log_evidence[rows] = _in_threads(tree, chosen, here, [soft[k] for k in kept])
    return posterior, log_evidence


def _groups(
    network: BeliefNetwork, target: int, columns: list[int], codes: CodeArray, soft: Sequence[FloatArray]
) -> Iterator[tuple[_kernels.JunctionTree, list[int], Any]]:
    """Rows by their pattern of missing and soft cells, a tree for each; rare patterns share one for any pattern."""
    patterns, pattern_of_row, sizes = _patterns(codes, soft)
    engine = network.engine
    shared = _tree_of_any_pattern(engine, target, columns) if len(patterns) > 1 else None
    common = np.flatnonzero(sizes * (np.inf if shared is None else shared.n_cells) >= _CELLS_WORTH_A_TREE)
    order = np.argsort(pattern_of_row, kind="stable") if len(patterns) > 1 else None
    ends = np.cumsum(sizes)
    for pattern in common:
        flags = np.zeros((2, len(columns)), dtype=np.uint8)  # which have a state, which a soft cell
        bits = np.unpackbits(patterns[pattern], count=flags.size if any(map(len, soft)) else len(columns))
        flags.ravel()[: len(bits)] = bits
        kept = np.flatnonzero(flags.any(axis=0)).tolist()
        rows = slice(None) if order is None else order[ends[pattern] - sizes[pattern] : ends[pattern]]
        in_order = sorted(kept, key=columns.__getitem__)
        observed = {columns[k]: 0 for k in in_order if flags[0, k]}
        likely = {columns[k]: np.ones(0) for k in in_order if flags[1, k]}
        yield engine.tree([target], Finding(observed, likely, 0.0)), kept, rows
    rare = np.flatnonzero(~np.isin(pattern_of_row, common))
    if len(rare) and shared is not None:
        yield shared, list(range(len(columns))), rare


def _patterns(codes: CodeArray, soft: Sequence[FloatArray]) -> tuple[Any, Any, Any]:
    """The distinct patterns as packed bits, the pattern of each row, and how many rows have it.

    A pattern has a bit for each column that has a state there, then one for each that has a soft cell, if any have.
    """
    sizes_of_columns = np.array([likelihoods.shape[1] for likelihoods in soft], dtype=np.int32)
    any_soft = any(map(len, soft))
    if codes.size and not any_soft and codes.min() >= 0:
        whole = np.packbits(np.ones((1, codes.shape[1]), dtype=bool), axis=1)
        return whole, np.zeros(len(codes), dtype=np.int64), np.array([len(codes)])
    flags = codes >= 0
    if any_soft:
        likely = codes >= sizes_of_columns
        flags = np.hstack([flags & ~likely, likely])
    here = np.packbits(flags, axis=1)
    if here.shape[1] > 8:
        patterns, pattern_of_row, sizes = np.unique(here, axis=0, return_inverse=True, return_counts=True)
        return patterns, pattern_of_row.ravel(), sizes
    words = np.zeros((len(here), 8), dtype=np.uint8)  # one integer per row sorts much faster
    words[:, : here.shape[1]] = here
    found, pattern_of_row, sizes = np.unique(words.view(np.uint64).ravel(), return_inverse=True, return_counts=True)
    return found.view(np.uint8).reshape(-1, 8)[:, : here.shape[1]], pattern_of_row, sizes


def _tree_of_any_pattern(engine: Engine, target: int, columns: list[int]) -> _kernels.JunctionTree | None:
    """The tree in which any cell may be missing; None if it is too large (trees of single patterns may not be)."""
    try:
        return engine.tree([target], Finding({}, {node: np.ones(0) for node in sorted(columns)}, 0.0))
    except TooLargeError:
        return None


def _in_threads(
    tree: _kernels.JunctionTree, codes: CodeArray, columns: list[int], soft: list[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    n_trees = int(MEMORY_LIMIT // (4 * max(1.0, tree.n_bytes)))  # each thread has its own cells
    n_threads = min(available(), 1 + len(codes) // _ROWS_PER_THREAD, max(1, n_trees))
    if n_threads == 1:
        return tree.batch(codes, columns, soft)
    parts = each(lambda part: tree.batch(part, columns, soft), np.array_split(codes, n_threads))
    return np.concatenate([part for part, _ in parts]), np.concatenate([part for _, part in parts])
