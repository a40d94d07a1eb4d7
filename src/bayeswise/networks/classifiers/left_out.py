"""Leave-one-out predictions of learned rows: counts without the row, and the structure selected again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bayeswise.foundation.arrays import BoolArray, CodeArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.models.settings.network import NetworkSettings
from bayeswise.networks.classifiers.column_graph import Graph
from bayeswise.networks.classifiers.counted import log_ratio, pseudo_rows_of
from bayeswise.networks.classifiers.graph_scores import GraphScores, without
from bayeswise.networks.learning.coded_rows import CodedRows, summed_weights
from bayeswise.tables.batch import Batch

if TYPE_CHECKING:
    from bayeswise.networks.classifiers.model import NetworkClassifierModel

_BLOCK_CELLS = 1 << 20


def log_joint_left_out(model: NetworkClassifierModel, batch: Batch) -> FloatArray:
    """(n_rows, n_states); for a row that alone has a class or a level the model is refitted, once for equal rows."""
    groups = model.groups_of(batch)
    weights = batch.row_weights
    codes = model.codes(batch)
    class_weight = np.broadcast_to(model.class_weight, (batch.n_rows, len(model.classes))).copy()
    rows = np.arange(batch.n_rows)
    class_weight[rows, groups] = without(class_weight[rows, groups], weights)
    refits = _removes_a_class(model, class_weight) | _removes_a_level(model, codes, weights)
    refits |= model.expected is not model.counted  # without the row EM finds other tables
    joint = np.empty(class_weight.shape)
    for chosen in _blocks(model, np.flatnonzero(~refits)):
        log_prior = model.log_prior_of(class_weight[chosen])
        joint[chosen] = _of_block(model, codes[chosen], groups[chosen], weights[chosen], log_prior)
    refits[~refits] = np.isnan(joint[~refits]).any(axis=1)
    if refits.any():
        keys = np.column_stack([codes, groups, weights])[refits]
        joint[refits] = _refitted(model, batch, np.flatnonzero(refits), keys)
    return joint


def _removes_a_class(model: NetworkClassifierModel, class_weight: FloatArray) -> BoolArray:
    """(n_rows,) whether a class that was not declared has no row left, or nothing is left at all."""
    declared = np.array([label in model.statistics.declared for label in model.classes], dtype=bool)
    gone = class_weight <= 0.0
    return np.asarray((gone & ~declared).any(axis=1) | gone.all(axis=1))


def _removes_a_level(model: NetworkClassifierModel, codes: CodeArray, weights: FloatArray) -> BoolArray:
    """(n_rows,) whether a level that was not declared has no row left."""
    removes = np.zeros(len(codes), dtype=bool)
    for place, counts in enumerate(model.counted.singles):
        declared = model.coding.declared[place] or ()
        loose = np.array([*(level not in declared for level in model.counted.levels[place]), False])
        total = np.append(counts.sum(axis=0), 1.0)
        cell = np.maximum(codes[:, place], -1)
        removes |= loose[cell] & (without(total[cell], weights) <= 0.0)
    return removes


def _selects_a_forest(model: NetworkClassifierModel) -> bool:
    """Whether the forest depends on the counts."""
    return model.settings.needs == "pairs" and model.settings.structure != "aode"


def _blocks(model: NetworkClassifierModel, rows: IntArray) -> list[IntArray]:
    """Few enough rows at a time that a number for each pair of columns of each row fits into memory."""
    size = max(1, _BLOCK_CELLS // len(model.coding.columns) ** 2) if _selects_a_forest(model) else max(1, len(rows))
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _of_block(
    model: NetworkClassifierModel, codes: CodeArray, groups: CodeArray, weights: FloatArray, log_prior: FloatArray
) -> FloatArray:
    """(n_rows, n_states) each row under the structure that is selected without it."""
    if not _selects_a_forest(model):
        return model.scores.left_out(codes, groups, weights, log_prior)
    forests = model.forest(*model.information.without(codes, groups, weights))
    joint = _whole_rows(model, codes, groups, weights, forests) + log_prior
    incomplete = np.flatnonzero((codes < 0).any(axis=1))
    different, which = np.unique(forests[incomplete], axis=0, return_inverse=True)
    for k, forest in enumerate(different):
        scores = GraphScores(Graph.of_forest(forest), model.counted, model.settings, model.log_prior)
        rows = incomplete[which.ravel() == k]
        joint[rows] = scores.left_out(codes[rows], groups[rows], weights[rows], log_prior[rows])
    return joint


def _whole_rows(
    model: NetworkClassifierModel, codes: CodeArray, groups: CodeArray, weights: FloatArray, forests: IntArray
) -> FloatArray:
    """(n_rows, n_states) log p(row | state) of rows without missing values, each under its own forest, left out."""
    information, sizes, settings = model.information, model.counted.sizes, model.settings
    rows, columns = np.arange(len(codes))[:, None], np.arange(codes.shape[1])
    slot = information.table.starts + np.maximum(codes, 0)  # (n_rows, n_columns)
    has_parent, parent = forests >= 0, np.maximum(forests, 0)
    above = slot[rows, parent]
    count = np.where(has_parent, information.table.weight[:, above, slot], information.singles[:, slot])
    total = np.where(has_parent, information.margins[:, above, columns], information.of_columns[0][:, None, :])
    own = groups, np.arange(len(codes))
    count[own] = without(count[own], weights[:, None])  # (n_states, n_rows, n_columns)
    total[own] = without(total[own], weights[:, None])
    n_configurations = len(model.classes) * np.where(has_parent, sizes[parent], 1)
    spread = {"laplace": 1, "m-estimate": sizes, "bdeu": sizes * n_configurations}[settings.prior]
    pseudo_count = settings.smoothing / np.maximum(spread, 1)
    log_share = log_ratio(count + pseudo_count, total + pseudo_count * sizes, sizes)
    return np.asarray(log_share.sum(axis=2).T)


def _refitted(model: NetworkClassifierModel, batch: Batch, rows: IntArray, keys: FloatArray) -> FloatArray:
    """(n_rows, n_states) by forgetting each row, once for rows with equal keys."""
    _, first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    answers = [_without_row(model, batch.rows(slice(int(row), int(row) + 1))) for row in rows[first]]
    return np.array(answers)[which.ravel()]


def _without_row(model: NetworkClassifierModel, row: Batch) -> FloatArray:
    """(n_states,) the log joint; a class without other rows is impossible."""
    others = model.forget(row, again=True)
    joint = np.full(len(model.classes), -np.inf)
    if others.classes:
        joint[others.statistics.labels.positions_in(model.statistics.labels)] = others.log_joint(row)[0]
    return joint


def left_out_loss(rows: CodedRows, parents: Sequence[Sequence[int]], settings: NetworkSettings) -> float:
    """The mean of -log p(class of a row | its other columns), each row left out of the tables; the class is last.

    The graph stays: one row hardly ever changes it. A missing cell is a state of its own here.
    """
    n_rows, target = len(rows.codes), len(rows.names) - 1
    weights = np.ones(n_rows) if rows.weights is None else rows.weights
    families = [
        _Family.of(rows, weights, node, above) for node, above in enumerate(parents) if target in (node, *above)
    ]
    size = max(1, _BLOCK_CELLS // max(rows.sizes[target], 1))
    losses: list[float] = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for begin in range(0, n_rows, size):
            codes, weight = rows.codes[begin : begin + size].astype(np.int64), weights[begin : begin + size]
            joint = np.zeros((len(codes), rows.sizes[target]))
            for family in families:
                joint += family.log_shares(codes, np.minimum(weight, 1.0), settings)
            shifted = joint - joint.max(axis=1, keepdims=True)
            log_posterior = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
            losses += (-weight * log_posterior[np.arange(len(codes)), codes[:, target]]).tolist()
    loss = math.fsum(losses) / math.fsum(weights) if np.isfinite(losses).all() and losses else math.inf
    return round(loss, 12)  # so that rounding errors do not break ties


@dataclass(frozen=True, eq=False)
class _Family:
    """The counts of the class with its parents, or of a node whose parents include the class."""

    node: int
    others: tuple[int, ...]  # parents that are not the class
    sizes: tuple[int, ...]
    counts: FloatArray  # (n_configurations, n_levels, n_classes); one level where the node is the class itself

    @classmethod
    def of(cls, rows: CodedRows, weights: FloatArray, node: int, above: Sequence[int]) -> _Family:
        target = len(rows.names) - 1
        others = tuple(k for k in above if k != target)
        sizes = tuple(rows.sizes[k] for k in others)
        n_levels = 1 if node == target else rows.sizes[node]
        empty = cls(node, others, sizes, np.zeros((math.prod(sizes), n_levels, rows.sizes[target])))
        place, level = empty.places(rows.codes.astype(np.int64))
        shape = empty.counts.shape
        cell = (place * shape[1] + level) * shape[2] + rows.codes[:, target]
        found = summed_weights(cell, empty.counts.size, None if rows.weights is None else weights)
        return replace(empty, counts=found.reshape(shape))

    def places(self, codes: IntArray) -> tuple[IntArray, IntArray]:
        """The configuration of the other parents in each row, and the level of the node."""
        place = np.zeros(len(codes), dtype=np.int64)
        for column, size in zip(self.others, self.sizes, strict=True):
            place = place * size + codes[:, column]
        own = np.zeros_like(place) if self.node == codes.shape[1] - 1 else codes[:, self.node]
        return place, own

    def log_shares(self, codes: IntArray, weight: FloatArray, settings: NetworkSettings) -> FloatArray:
        """(n_rows, n_classes) log p(the node's cell | parents, class), or log p(class | parents), without the row."""
        place, level = self.places(codes)
        own, classes = np.arange(len(codes)), codes[:, -1]
        cell = self.counts[place, level]
        cell[own, classes] = np.maximum(cell[own, classes] - weight, 0.0)
        n_configurations, n_levels, n_classes = self.counts.shape
        if self.node == codes.shape[1] - 1:
            pseudo_count = pseudo_rows_of(settings.prior, settings.smoothing, n_classes, n_configurations)
            return np.asarray(np.log((cell + pseudo_count) / (cell + pseudo_count).sum(axis=1, keepdims=True)))
        pseudo_count = pseudo_rows_of(settings.prior, settings.smoothing, n_levels, n_configurations * n_classes)
        total = self.counts.sum(axis=1)[place]
        total[own, classes] = np.maximum(total[own, classes] - weight, 0.0)
        return np.asarray(np.log((cell + pseudo_count) / (total + pseudo_count * n_levels)))
