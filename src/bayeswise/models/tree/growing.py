"""From a table to a tree: the rows as answers to questions, a full tree of these, and its cheapest pruning.

Numbers are replaced by their ranks, levels by their places. A missing cell, and a level that was never seen, answer no
to every question about their column: a missing number has the rank after the largest. All nodes of one depth are split
together, each by the question after which its classes take the fewest bits; of questions that are equally good the
first is taken, in the order of the columns and then of their numbers or levels, so that the tree does not depend on the
order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError
from bayeswise.foundation.special import xlogy
from bayeswise.models.description_length.tree import PrunedTree, leaf_bits
from bayeswise.models.from_table import Progress, check_declared, divided, encoded_rows, no_rows, schema_for
from bayeswise.models.settings.tree import TreeSettings
from bayeswise.models.tree.model import TreeModel
from bayeswise.tables.batch import Batch, shown_classes, shown_levels
from bayeswise.tables.encoding.encoder import Report
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.notes import keep
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.schema import Schema
from bayeswise.tables.source import Source


def learned(
    table: Any, target: str, *, schema: Schema | None = None, progress: Progress | None = None, **overrides: Any
) -> tuple[TreeModel, Report]:
    """The tree of fewest bits of a column of classes, and its report.

    >>> rows = [{"wind": w, "play": p} for w, p in 10 * [("weak", "yes"), ("strong", "no"), ("none", "yes")]]
    >>> print(learned(rows, "play")[0].described())
    wind = strong?  [2.585 bits]
      yes: no (10 of 10)  [3.22 bits]
      no: yes (20 of 20)  [3.654 bits]
    2 leaves, 9.459 bits in all
    """
    about_columns, changes = divided(overrides)
    settings = TreeSettings().changed(**changes)
    source = open_like(table, schema)
    columns = schema_for(source, target, schema, about_columns)
    check_declared(settings.class_prior, columns)
    if columns.texts:
        raise FitError(
            f"column {columns.texts[0]!r} is free text, which a tree cannot split on",
            fix=f"leave it out, or declare it a category with {keep(columns.texts[0], 'category')}",
        )
    return grown_from(source, columns, settings, progress)


def grown_from(
    source: Source, schema: Schema, settings: TreeSettings, progress: Progress | None = None
) -> tuple[TreeModel, Report]:
    """The tree of all rows of a source, and its report."""
    batches, report = encoded_rows(source, schema, progress)
    if not any(batch.groups is not None and (batch.groups >= 0).any() for batch in batches):
        raise no_rows(source, schema)
    return of_batches(batches, schema, settings), report


def of_batches(batches: Sequence[Batch], schema: Schema, settings: TreeSettings) -> TreeModel:
    """The tree of encoded rows; levels and classes are those that they have, in canonical order or as declared."""
    rows = [batch.with_target() for batch in batches]
    declared = (schema[name].levels or Vocabulary() for name in schema.categories)
    levels = tuple(shown_levels(rows, c, known) for c, known in enumerate(declared))
    classes = shown_classes(rows, schema.declared_classes)
    values = np.concatenate([batch.values for batch in rows])
    codes = np.concatenate([batch.recode(levels).codes for batch in rows])
    groups = np.concatenate([batch.groups_in(classes) for batch in rows])
    weights = np.concatenate([batch.row_weights for batch in rows])
    model = _grown(schema, settings, levels, classes, values, codes, groups, weights)
    model.check_prior()
    return model


def _grown(
    schema: Schema,
    settings: TreeSettings,
    levels: tuple[Vocabulary, ...],
    classes: Vocabulary,
    values: FloatArray,
    codes: CodeArray,
    groups: IntArray,
    weights: FloatArray,
) -> TreeModel:
    ranked = {name: _ranked(values[:, c]) for c, name in enumerate(schema.numbers)}
    known = dict(zip(schema.categories, levels, strict=True))
    answers = [
        ranked[name][0] if name in ranked else _coded(codes[:, schema.categories.index(name)], known[name])
        for name in schema.used
    ]
    n_places = np.array([max(int(column.has_question.sum()), 1) for column in answers], dtype=np.int64)
    n_rows = float(weights.sum())

    def worth_splitting(counts: FloatArray) -> BoolArray:
        """Whether two leaves of no wrong row and the cheapest question would be cheaper than the node as a leaf."""
        least = 1.0 + np.log2(len(answers)) + np.log2(n_places.min()) + 2.0 * (1.0 + np.log2(len(classes)))
        return np.asarray(leaf_bits(counts, n_rows, settings.code).sum(axis=1) > least)

    unlimited = settings.max_depth == "unlimited"
    depth = 0 if not answers else None if unlimited else int(settings.max_depth)
    tree = full_tree(answers, groups, len(classes), weights, worth_splitting, depth)
    pruned = PrunedTree(tree, tree.counts, [(name, None) for name in schema.used], n_places, settings.code)
    return _kept(pruned, schema, settings, levels, classes, {name: known for name, (_, known) in ranked.items()})


def _ranked(column: FloatArray) -> tuple[Answers, FloatArray]:
    """Numbers by their ranks, missing ones after the last, and the different numbers themselves."""
    there = ~np.isnan(column)
    known, rank = np.unique(column[there] + 0.0, return_inverse=True)
    places = np.full(len(column), len(known), dtype=np.int64)
    places[there] = rank
    n_questions = max(int(places.max(initial=0)), 0)  # all ranks but the last that there is
    return Answers(places, True, np.ones(n_questions, dtype=bool)), known


def _coded(codes: CodeArray, known: Vocabulary) -> Answers:
    """Levels by their places: of two levels one question says all."""
    has_question = np.ones(len(known), dtype=bool)
    if len(known) == 2:
        has_question[0] = False
    return Answers(np.maximum(codes, -1).astype(np.int64), False, has_question)


def _kept(
    pruned: PrunedTree,
    schema: Schema,
    settings: TreeSettings,
    levels: tuple[Vocabulary, ...],
    classes: Vocabulary,
    numbers: dict[str, FloatArray],
) -> TreeModel:
    """The nodes that are left, numbered from the root on; the branch of yes comes after its question."""
    tree, at = pruned.tree, pruned.kept
    place_of = {int(node): k for k, node in enumerate(at)}
    asks = ~pruned.is_leaf[at]
    column = np.where(asks, tree.feature[at], -1)
    level, no, threshold = np.full(len(at), -1), np.full(len(at), -1), np.zeros(len(at))
    for k in np.flatnonzero(asks).tolist():
        name, place = schema.used[int(column[k])], int(tree.threshold[at[k]])
        if name in numbers:
            threshold[k] = _between(numbers[name], place)
        else:
            level[k] = place
        no[k] = place_of[int(tree.children_right[at[k]])]
    return TreeModel(
        schema, settings, levels, classes, column, level, threshold, no, pruned.counts[at], pruned.bits[at]
    )


def _between(different: FloatArray, rank: int) -> float:
    """A number that those up to a rank do not exceed and all others do; after the last one there are missing cells.

    >>> _between(np.array([1.0, 2.0, 4.0]), 1), _between(np.array([1.0, 2.0]), 1)
    (3.0, 2.0)
    """
    below = float(different[rank])
    if rank + 1 == len(different):
        return below
    above = float(different[rank + 1])
    middle = 0.5 * below + 0.5 * above
    return middle if below <= middle < above else below


# -- the best question of every node --------------------------------------------------------------------------
_DIGITS = 12  # of an entropy: beyond them questions are equally good


@dataclass(frozen=True, eq=False)
class Answers:
    """One column of all rows: the rank of each number, or the place of each level.

    A question about numbers is "up to this rank?", one about levels "this level?". No question is about a place of -1.
    """

    places: IntArray  # (n_rows,)
    ordered: bool
    has_question: BoolArray  # (n_places,)

    @cached_property
    def order(self) -> IntArray:
        """(n_rows,) the rows by their places."""
        return np.argsort(self.places, kind="stable")

    def says_yes(self, rows: IntArray, place: IntArray) -> BoolArray:
        """(n,) the answer of each of these rows to the question about a place."""
        found = self.places[rows]
        return np.asarray(found <= place if self.ordered else found == place)


@dataclass(frozen=True, eq=False)
class FullTree:
    """The nodes of a tree, each before those below it; under the names that scikit-learn gives them."""

    feature: IntArray  # (n_nodes,) the column of the question; -1: a leaf
    threshold: IntArray  # (n_nodes,) the place of the question
    children_left: IntArray  # (n_nodes,) after the answer yes; -1: a leaf
    children_right: IntArray  # (n_nodes,) after the answer no
    counts: FloatArray  # (n_nodes, n_classes)


def full_tree(
    columns: Sequence[Answers],
    groups: IntArray,
    n_classes: int,
    weights: FloatArray,
    worth_splitting: Callable[[FloatArray], BoolArray],
    max_depth: int | None,
) -> FullTree:
    """Split until no question separates rows, or none is worth it: a function of the counts (n_nodes, n_classes).

    >>> column = Answers(np.array([0, 1, 2, 3]), True, np.ones(4, dtype=bool))
    >>> tree = full_tree([column], np.array([0, 0, 1, 1]), 2, np.ones(4), lambda counts: (counts > 0).all(axis=1), None)
    >>> tree.feature.tolist(), tree.threshold.tolist(), tree.counts.tolist()
    ([0, -1, -1], [1, -1, -1], [[2.0, 2.0], [2.0, 0.0], [0.0, 2.0]])
    """
    node = np.zeros(len(groups), dtype=np.int64)  # of each row
    counts = [_counted(node, 1, groups, n_classes, weights)]
    nodes = {"feature": [-1], "threshold": [-1], "yes": [-1], "no": [-1]}
    level = np.array([0])
    for _ in range(len(groups) if max_depth is None else max_depth):
        level = level[worth_splitting(counts[-1])]
        here = np.full(len(nodes["feature"]), -1)
        here[level] = np.arange(len(level))
        rows = np.flatnonzero(here[node] >= 0)
        if not len(rows):
            break
        feature, place = _best_questions(columns, here[node], rows, len(level), groups, n_classes, weights)
        split = np.flatnonzero(feature >= 0)
        if not len(split):
            break
        first = len(nodes["feature"])
        for k, local in enumerate(split.tolist()):
            at = int(level[local])
            nodes["feature"][at], nodes["threshold"][at] = int(feature[local]), int(place[local])
            nodes["yes"][at], nodes["no"][at] = first + 2 * k, first + 2 * k + 1
        for words in nodes.values():
            words += [-1] * (2 * len(split))
        rows = rows[feature[here[node[rows]]] >= 0]
        local = here[node[rows]]
        child = np.full(len(level), -1)
        child[split] = first + 2 * np.arange(len(split))
        for c in np.unique(feature[split]).tolist():
            some = feature[local] == c
            yes = columns[c].says_yes(rows[some], place[local[some]])
            node[rows[some]] = child[local[some]] + ~yes
        level = np.arange(first, first + 2 * len(split))
        counts.append(_counted(node[rows] - first, len(level), groups[rows], n_classes, weights[rows]))
    arrays = {name: np.array(found, dtype=np.int64) for name, found in nodes.items()}
    return FullTree(arrays["feature"], arrays["threshold"], arrays["yes"], arrays["no"], np.concatenate(counts))


def _counted(node: IntArray, n_nodes: int, groups: IntArray, n_classes: int, weights: FloatArray) -> FloatArray:
    """(n_nodes, n_classes) the weight of the rows of each class."""
    found = np.bincount(node * n_classes + groups, weights, minlength=n_nodes * n_classes)
    return np.asarray(found, dtype=np.float64).reshape(n_nodes, n_classes)


def _best_questions(
    columns: Sequence[Answers],
    node: IntArray,
    rows: IntArray,
    n_nodes: int,
    groups: IntArray,
    n_classes: int,
    weights: FloatArray,
) -> tuple[IntArray, IntArray]:
    """(n_nodes,) the column and the place that each node asks about; -1 where no question separates its rows."""
    feature, place = np.full(n_nodes, -1), np.full(n_nodes, -1)
    best = np.full(n_nodes, -np.inf)
    total = _counted(node[rows], n_nodes, groups[rows], n_classes, weights[rows])
    mass = total.sum(axis=1)
    inside = np.zeros(len(node), dtype=bool)
    inside[rows] = True
    for c, column in enumerate(columns):
        order = column.order[inside[column.order]]
        order = order[np.argsort(node[order], kind="stable")]
        of_row, at = node[order], column.places[order]
        new = np.append(True, (of_row[1:] != of_row[:-1]) | (at[1:] != at[:-1]))
        run = np.cumsum(new) - 1  # rows of one node and one place
        owner, place_of = of_row[new], at[new]
        yes = _counted(run, len(owner), groups[order], n_classes, weights[order])
        if column.ordered:
            yes = _within(yes, owner, n_nodes)
        no = np.maximum(total[owner] - yes, 0.0)  # weights that are not whole are rounded
        last = np.append(owner[1:] != owner[:-1], True)
        alone = np.bincount(owner, minlength=n_nodes)[owner] == 1
        possible = ~last if column.ordered else (place_of >= 0) & column.has_question[place_of] & ~alone
        score = np.where(possible, np.round((_purity(yes) + _purity(no)) / mass[owner], _DIGITS), -np.inf)
        found = np.full(n_nodes, -np.inf)
        np.maximum.at(found, owner, score)
        better = (found > best)[owner] & (score == found[owner])
        nodes, first = np.unique(owner[better], return_index=True)
        best[nodes], feature[nodes] = found[nodes], c
        place[nodes] = place_of[np.flatnonzero(better)[first]]
    return feature, place


def _within(counts: FloatArray, owner: IntArray, n_nodes: int) -> FloatArray:
    """(n_runs, n_classes) sums of the runs up to each one, those of its own node alone."""
    sums = np.cumsum(counts, axis=0)
    first = np.searchsorted(owner, np.arange(n_nodes))
    before = np.vstack([np.zeros((1, counts.shape[1])), sums])[first]
    return np.maximum(sums - before[owner], 0.0)


def _purity(counts: FloatArray) -> FloatArray:
    """(n,) minus the entropy of all rows under the shares of their classes."""
    return np.asarray(xlogy(counts, counts).sum(axis=1) - xlogy(counts.sum(axis=1), counts.sum(axis=1)))
