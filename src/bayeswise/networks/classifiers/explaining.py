"""The account of one row: log p(state) and, column by column, log p(cell | cells before it, state).

Parents come before children, so a column's share is log p(cell | parents, state) where the parents are there; where
they are not, it is what the cell adds to all that is known. The shares add up to the log joint whatever is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.explanations.account import Account, Contribution
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.models.settings.network import AVERAGES
from bayeswise.networks.classifiers.coding import MISSING_LEVEL
from bayeswise.networks.node import intervals
from bayeswise.tables.batch import MISSING, UNSEEN, Batch

if TYPE_CHECKING:
    from bayeswise.networks.classifiers.model import NetworkClassifierModel


def account_of(model: NetworkClassifierModel, batch: Batch) -> Account:
    """The account of a batch of one row."""
    codes = model.codes(batch)[0]
    averaged = model.settings.structure in AVERAGES
    order = tuple(range(len(codes))) if averaged else model.graph.order
    log_joint = _step_by_step(model, codes, order)  # (n_columns + 1, n_states)
    if averaged:
        log_joint[0] = model.log_prior
    shares = _differences(log_joint)
    parts = {}
    for place, share in zip(order, shares, strict=True):
        value, note = _shown(model, batch, place, int(codes[place]))
        given = () if averaged else model.graph.parents[place]
        notes = [note] if note else []
        notes += [f"given {', '.join(model.coding.columns[above] for above in given)}"] if given else []
        parts[place] = Contribution(model.coding.columns[place], value, share, "; ".join(notes))
    return Account(model.classes, log_joint[0], tuple(parts[place] for place in sorted(parts)), str(model.settings))


def _step_by_step(model: NetworkClassifierModel, codes: CodeArray, order: tuple[int, ...]) -> FloatArray:
    """The log joint of nothing, of the first cell, of the first two, ..."""
    known = np.full((len(order) + 1, len(codes)), MISSING, dtype=np.int32)
    for step, place in enumerate(order, start=1):
        known[step:, place] = codes[place]
    return model.scores.log_joint(known)


def _differences(log_joint: FloatArray) -> FloatArray:
    """What each step adds; nothing once a state is impossible."""
    before, after = log_joint[:-1], log_joint[1:]
    excluded = np.isneginf(before)
    return np.where(excluded, 0.0, after - np.where(excluded, 0.0, before))


def _shown(model: NetworkClassifierModel, batch: Batch, place: int, code: int) -> tuple[Any, str]:
    """The cell as a reader would write it, and what became of it."""
    name, schema = model.coding.columns[place], model.schema
    level = model.counted.levels[place][code] if code >= 0 else None
    if level == MISSING_LEVEL:
        return None, "missing: a level of its own"
    if name in schema.numbers:
        value = float(batch.values[0, schema.numbers.index(name)])
        if code == MISSING:
            return None, "missing: summed out"
        return value, intervals(model.cuts[name])[int(level or 0)]
    if code >= 0:
        return level, ""
    if int(batch.codes[0, schema.categories.index(name)]) == MISSING:
        return None, "missing: summed out"
    return "(unseen)", "unseen: smoothed" if code == UNSEEN and _smooths(model) else "unseen: summed out"


def _smooths(model: NetworkClassifierModel) -> bool:
    """Tables of pairs have a place for unseen levels, others have not."""
    return model.settings.structure in AVERAGES or model.graph.is_forest
