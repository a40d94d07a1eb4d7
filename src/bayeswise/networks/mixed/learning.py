"""A mixed network from rows: tables by counting, lines by least squares from exact scatter, the graph by a score.

Sums of squares and products are exact, so neither the order of rows nor how they were read changes a bit of the answer.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import CodeArray, FloatArray, IntArray
from bayeswise.foundation.errors import FitError, MissingCellError, ParameterError, TooFewRowsError
from bayeswise.networks.learning.constraints import Constraints, Edges, Progress, silent
from bayeswise.networks.learning.counts import FamilyCounts
from bayeswise.networks.learning.rows import CodedRows
from bayeswise.networks.learning.search.climbing import hill_climbing
from bayeswise.networks.learning.search.scores import MOST_CELLS, Scores
from bayeswise.networks.mixed.network import MixedNetwork
from bayeswise.networks.mixed.node import GaussianNode
from bayeswise.networks.node import Node
from bayeswise.render.labels import guess
from bayeswise.statistics.scatter import Scatter
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.schema.inference import infer_schema
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.source import open_source

SCORES = ("bic", "aic")
_DETERMINED = 1e-10  # of a variance: less than that is left by parents that determine the node


def learn(
    table: Any,
    *,
    parents: Mapping[str, Sequence[str]] | None = None,
    score: str = "bic",
    required: Edges = (),
    forbidden: Edges = (),
    tiers: Sequence[Sequence[str]] = (),
    max_parents: int | None = None,
    tabu: int = 10,
    restarts: int | None = None,
    prior: str = "bdeu",
    smoothing: float = 1.0,
    missing: str = "error",
    seed: int = 0,
    ignore: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    weight: str | None = None,
    progress: Progress = silent,
) -> MixedNetwork:
    """Columns of numbers become Gaussian nodes, all others nodes with states; `kinds` says which where it is not clear.

    The graph is given (`parents`), or found by hill climbing with a score; a number is never the parent of a state.
    Lines are those of greatest likelihood; where a configuration of states has too few rows for its own line, it takes
    that of all rows, which `notes` say. `missing="drop"` leaves out rows with a missing cell.

    >>> rows = {"kind": ["a", "b"] * 20, "x": [float(n % 7) for n in range(40)]}
    >>> rows["y"] = [2.0 * x + n % 3 for n, x in enumerate(rows["x"])]
    >>> learn(rows).edges
    (('x', 'y'),)
    """
    if score not in SCORES:
        raise ParameterError(f"there is no score {score!r} for numbers", fix=guess(score, SCORES))
    if missing not in ("error", "drop"):
        raise ParameterError(f"missing is {missing!r}", fix="choose 'error' or 'drop'")
    rows, notes = _rows(table, ignore, kinds, weight, missing)
    sums = ScatterByStates(rows)
    if parents is None:
        rules = Constraints(tuple(required), (*forbidden, *rows.impossible()), tuple(map(tuple, tiers)), max_parents)
        scores = MixedScores(rows, sums, score)
        found = hill_climbing(scores, rules, tabu=tabu, restarts=restarts, seed=seed, progress=progress)
        parents = {name: [rows.names[k] for k in above] for name, above in zip(rows.names, found.parents, strict=True)}
        notes += ["the search was interrupted: this is the best graph so far"] * found.interrupted
    elif required or forbidden or tiers or max_parents is not None:
        raise ParameterError("a given graph makes no use of constraints", fix="leave them out")
    else:
        _check_graph(parents, rows.names)
    of_states = {name: list(parents.get(name, ())) for name in rows.coded.names}
    order = dict(zip(rows.coded.names, rows.coded.states, strict=True))
    counted = FamilyCounts.of_rows(rows.coded, of_states).network(prior=prior, smoothing=smoothing, order=order)
    nodes: list[Node | GaussianNode] = []
    for name in rows.names:
        if name in rows.numbers:
            nodes.append(_line(name, parents.get(name, ()), rows, sums, notes))
        else:
            nodes.append(counted.node(name))
    network = MixedNetwork(nodes)
    network.notes = tuple(notes)
    return network


# -- rows -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MixedRows:
    """Whole rows: numbers as a matrix, states as codes; `names` are all columns in the order of the table."""

    names: tuple[str, ...]
    numbers: tuple[str, ...]
    values: FloatArray  # (n_rows, n_numbers)
    coded: CodedRows  # of the columns with states

    @property
    def n_rows(self) -> float:
        weights = self.coded.weights
        return float(len(self.values)) if weights is None else math.fsum(weights)

    def impossible(self) -> Iterable[tuple[str, str]]:
        """The edges from numbers to states."""
        return [(number, name) for number in self.numbers for name in self.coded.names]

    def groups(self, given: Sequence[int]) -> tuple[IntArray, int]:
        """The configuration of some columns with states in each row, and how many there are."""
        which = np.zeros(len(self.values), dtype=np.int64)
        sizes = self.coded.sizes
        for column in given:
            which = which * sizes[column] + self.coded.codes[:, column]
        return which, math.prod(sizes[column] for column in given)


def _rows(
    table: Any, ignore: Collection[str], kinds: Mapping[str, str] | None, weight: str | None, missing: str
) -> tuple[MixedRows, list[str]]:
    source = open_source(table)
    asked: dict[str, Any] = {"kinds": kinds, "weight": weight, "ignore": list(ignore)}
    schema = infer_schema(source, None, **{name: value for name, value in asked.items() if value})
    texts = [column.name for column in schema if column.kind == "text"]
    if texts:
        raise ParameterError(f"column {texts[0]!r} is text", fix=f"leave it out: ignore={texts!r} (--ignore COL)")
    notes = [f"{column.name} is left out: {column.reason}" for column in schema if column.kind == "ignored"]
    encoder = Encoder(schema, learning=True)
    batches = list(encoder.batches(source))
    vocabularies = [
        encoder.vocabularies[name] if schema[name].levels else Vocabulary.of(encoder.vocabularies[name])
        for name in schema.categories
    ]
    whole = Batch.concat([batch.recode(vocabularies) for batch in batches]) if batches else None
    if whole is None or not whole.n_rows or not schema.used:
        raise FitError(f"{source.description} has no row to learn from", fix="give rows, with a column that varies")
    used = [name for name in schema.used if name in {*schema.numbers, *schema.categories}]
    coded = CodedRows(schema.categories, tuple(vocabularies), whole.codes, whole.weights)
    rows = MixedRows(tuple(used), schema.numbers, whole.values, coded)
    return _whole(rows, missing, notes), notes


def _whole(rows: MixedRows, missing: str, notes: list[str]) -> MixedRows:
    """The rows that have every cell and a weight; refused if some have not, unless they may be dropped."""
    complete = np.asarray(np.isfinite(rows.values).all(axis=1) & (rows.coded.codes >= 0).all(axis=1))
    lost = int(np.count_nonzero(~complete))
    if lost and missing == "error":
        raise MissingCellError(
            f"{lost} of {len(complete)} rows have a missing cell, the first in row {int(np.argmin(complete)) + 1}",
            fix="use missing='drop' (--missing drop) to leave these rows out",
        )
    if lost == len(complete):
        raise FitError(f"none of the {lost} rows has every cell", fix="ignore the columns with most missing cells")
    notes += [f"{lost} of {len(complete)} rows have a missing cell and are left out"] * bool(lost)
    if rows.coded.weights is not None:
        complete &= rows.coded.weights > 0.0
    return replace(rows, values=rows.values[complete], coded=rows.coded.of_rows(complete))


# -- scatter --------------------------------------------------------------------------------------------------


class ScatterByStates:
    """The exact scatter of all numbers for each configuration of some columns with states, summed once for each set."""

    def __init__(self, rows: MixedRows) -> None:
        self._rows = rows
        self._found: dict[tuple[int, ...], tuple[FloatArray, FloatArray, FloatArray]] = {}

    def __call__(self, given: Iterable[int]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(n_configurations,) weights, then means and covariances; 0 in a configuration without rows."""
        key = tuple(given)
        if key not in self._found:
            which, n_groups = self._rows.groups(key)
            shown, codes = np.unique(which, return_inverse=True)
            groups: CodeArray = codes.ravel().astype(np.int32)
            found = Scatter.of(self._rows.values, groups, len(shown), self._rows.coded.weights)
            d = found.n_columns
            weights, means, covariances = np.zeros(n_groups), np.zeros((n_groups, d)), np.zeros((n_groups, d, d))
            weights[shown] = found.weight.to_floats()
            means[shown], covariances[shown] = found.mean(), found.covariance()
            self._found[key] = weights, means, covariances
        return self._found[key]


class MixedScores:
    """Scores of families, larger is better: log-likelihood minus a penalty for each free number."""

    def __init__(self, rows: MixedRows, sums: ScatterByStates, score: str) -> None:
        self.names = rows.names
        self._sums, self._n_rows = sums, rows.n_rows
        self._penalty = 1.0 if score == "aic" else 0.5 * math.log(max(self._n_rows, 1.0))
        self._sizes = rows.coded.sizes
        self._of_states = Scores(rows.coded, score)
        self._state = {rows.names.index(name): k for k, name in enumerate(rows.coded.names)}
        self._number = {rows.names.index(name): k for k, name in enumerate(rows.numbers)}
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}

    def family(self, node: int, parents: Iterable[int]) -> float:
        """The score of a node given its parents; minus infinity where too few rows or no noise are left for a line."""
        above = tuple(sorted(parents))
        if (node, above) not in self._known:
            if node in self._state:
                self._known[node, above] = self._of_states.family(self._state[node], [self._state[k] for k in above])
            else:
                self._known[node, above] = float(self._additions(node, above, [])[0])
        return self._known[node, above]

    def additions(self, node: int, parents: Iterable[int], candidates: Sequence[int]) -> FloatArray:
        """The score of a node given its parents and one more, for each candidate: (n_candidates,)."""
        above = tuple(sorted(parents))
        if node in self._state:
            others = [self._state[k] for k in candidates]
            return self._of_states.additions(self._state[node], [self._state[k] for k in above], others)
        numbers = [k for k in candidates if k in self._number]
        found = dict(zip(numbers, self._additions(node, above, numbers)[1:], strict=True))
        return np.array([found[k] if k in found else self.family(node, (*above, k)) for k in candidates])

    def total(self, parents: Iterable[Iterable[int]]) -> float:
        """The score of a graph: the sum over its families."""
        return math.fsum(self.family(node, above) for node, above in enumerate(parents))

    def _additions(self, node: int, above: tuple[int, ...], candidates: Sequence[int]) -> FloatArray:
        """(1 + n_candidates,) the score of a number given its parents, then with one more number each."""
        given = [self._state[k] for k in above if k in self._state]
        numbers = [self._number[k] for k in above if k in self._number]
        own, others = self._number[node], [self._number[k] for k in candidates]
        n_lines = math.prod(self._sizes[k] for k in given)
        if n_lines * len(self._number) ** 2 > MOST_CELLS:
            return np.full(1 + len(others), -math.inf)
        weights, _, covariances = self._sums(given)
        score = np.zeros(1 + len(others))
        for weight, covariance in zip(weights, covariances, strict=True):
            if weight > 0.0:
                left = _left_by(covariance, numbers, own, others)
                n_free = len(numbers) + 2 + np.arange(1 + len(others)).clip(max=1)
                determined = (left <= _DETERMINED * covariance[own, own]) | (weight <= n_free)
                with np.errstate(divide="ignore", invalid="ignore"):
                    score -= np.where(determined, math.inf, 0.5 * weight * (np.log(2.0 * math.pi * left) + 1.0))
        score[0] -= self._penalty * n_lines * (len(numbers) + 2)
        score[1:] -= self._penalty * n_lines * (len(numbers) + 3)
        return score


def _left_by(covariance: FloatArray, numbers: Sequence[int], own: int, others: Sequence[int]) -> FloatArray:
    """(1 + n_others,) the variance of a number that others leave: given `numbers`, and given one more each."""
    unit = np.sqrt(np.diagonal(covariance))
    unit = np.where(unit > 0.0, unit, 1.0)
    kept = [own, *others]
    correlation = covariance / unit[:, None] / unit
    cross = correlation[np.ix_(numbers, kept)]
    within = correlation[np.ix_(numbers, numbers)]
    known = np.linalg.lstsq(within, cross, rcond=_DETERMINED)[0] if numbers else np.zeros((0, len(kept)))
    partial = correlation[np.ix_([own], kept)][0] - known[:, 0] @ cross
    spread = np.diagonal(correlation)[kept] - (known * cross).sum(axis=0)
    adds = spread[1:] > _DETERMINED
    gain = np.divide(partial[1:] ** 2, spread[1:], out=np.zeros(len(others)), where=adds)
    return np.asarray(np.concatenate([spread[:1], spread[0] - gain]) * unit[own] ** 2)


# -- lines ----------------------------------------------------------------------------------------------------


def _line(name: str, parents: Sequence[str], rows: MixedRows, sums: ScatterByStates, notes: list[str]) -> GaussianNode:
    """The line of greatest likelihood for each configuration; that of all rows where it has too few."""
    given = [parent for parent in parents if parent in rows.coded.names]
    above = [parent for parent in parents if parent in rows.numbers]
    own, numbers = rows.numbers.index(name), [rows.numbers.index(parent) for parent in above]
    weights, means, covariances = sums([rows.coded.names.index(parent) for parent in given])
    lines = [_fitted(w, m, c, own, numbers) for w, m, c in zip(weights, means, covariances, strict=True)]
    if None in lines:
        ((weight,), (mean,), (covariance,)) = sums(())
        pooled = _fitted(weight, mean, covariance, own, numbers)
        if pooled is None:
            what = f"{', '.join(above)} determine it" if above else "it never varies"
            raise TooFewRowsError(
                f"there is no line for {name!r} with noise about it: {what}, or there are too few rows",
                fix="give it fewer parents, leave it out, or give more rows",
            )
        notes.append(f"{name}: {lines.count(None)} of {len(lines)} configurations have the line of all rows")
        lines = [pooled if line is None else line for line in lines]
    table = np.array(lines)
    slopes = {parent: table[:, 1 + k] for k, parent in enumerate(above)}
    return GaussianNode(name, table[:, 0], slopes, table[:, -1], given)


def _fitted(
    weight: float, mean: FloatArray, covariance: FloatArray, own: int, numbers: Sequence[int]
) -> tuple[float, ...] | None:
    """Intercept, slopes and standard deviation; None if there are not enough rows, or nothing is left for noise."""
    if weight <= len(numbers) + 1:
        return None
    left = float(_left_by(covariance, numbers, own, [])[0])
    if not left > _DETERMINED * covariance[own, own]:
        return None
    unit = np.sqrt(np.diagonal(covariance)[list(numbers)])
    unit = np.where(unit > 0.0, unit, 1.0)
    within = covariance[np.ix_(numbers, numbers)] / unit[:, None] / unit
    slopes = np.linalg.lstsq(within, covariance[list(numbers), own] / unit, rcond=_DETERMINED)[0] / unit
    intercept = float(mean[own] - slopes @ mean[list(numbers)])
    return (intercept, *slopes.tolist(), math.sqrt(left))


def _check_graph(parents: Mapping[str, Sequence[str]], names: Sequence[str]) -> None:
    for name in {*parents, *(parent for above in parents.values() for parent in above)}:
        if name not in names:
            raise ParameterError(f"the rows have no column {name!r}", fix=guess(name, list(names)))
