"""Graphs that need rows beyond pair counts: k-dependence with tables of more columns, and hill climbing by a score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from bayeswise.engines import summarise
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.errors import FitError, SchemaError
from bayeswise.networks.classifiers.coding import Coding, joined_weights
from bayeswise.networks.classifiers.counted import PAIRS, PairTable, request_of
from bayeswise.networks.classifiers.graph import Graph
from bayeswise.networks.classifiers.settings import NetworkSettings
from bayeswise.networks.classifiers.structure import Information, k_parents
from bayeswise.networks.learning.climbing import climb
from bayeswise.networks.learning.constraints import Constraints
from bayeswise.networks.learning.rows import MOST_LEVELS, CodedRows
from bayeswise.networks.learning.scores import Scores
from bayeswise.tables.batch import Batch
from bayeswise.tables.labels import Vocabulary

Batches = Callable[[], Iterable[Batch]]  # each call sweeps the rows anew


def found_graph(batches: Batches, coding: Coding, settings: NetworkSettings) -> Graph | None:
    """The graph of a structure whose tables need more than pairs; None where pairs are enough."""
    if settings.needs != "families":
        return None
    coded = (coding.batch(batch) for batch in batches())
    if settings.structure == "markov-blanket":
        return _climbed(coded, coding, settings)
    return _k_dependence(coded, coding, settings.k)


def _k_dependence(coded: Iterator[Batch], coding: Coding, k: int) -> Graph:
    found = summarise(coded, coding.coded, request_of(coding, "pairs", None)).statistics
    information = Information(PairTable.of(found.part[PAIRS]))
    chosen = k_parents(information.between[None], information.about_class[None], k)[0]
    return Graph.of_parents([sorted(int(place) for place in above if place >= 0) for above in chosen])


def _climbed(coded: Iterator[Batch], coding: Coding, settings: NetworkSettings) -> Graph:
    target = coding.schema.target.name if coding.schema.target else "class"
    rows = _gathered(coded, coding, target)
    tiers = ((target,), coding.columns) if settings.class_prior is not None else ()
    parents = climb(Scores(rows, settings.criterion), Constraints(tiers=tiers, max_parents=settings.max_parents))
    says = [size > 1 for size in rows.sizes]  # a column of one state is no parent: nothing depends on it
    named = {
        name: [rows.names[place] for place in above if says[place]]
        for name, above in zip(rows.names, parents, strict=True)
    }
    return Graph.of_names(named, coding.columns, target)


def _gathered(coded: Iterator[Batch], coding: Coding, target: str) -> CodedRows:
    """All rows with a class in common codes, the class last; for the search a missing cell is a state of its own."""
    parts: list[CodeArray] = []
    weights: list[FloatArray | None] = []
    known = [each or Vocabulary() for each in (*coding.declared, None)]
    for batch in coded:
        if batch.groups is None:
            raise FitError("the rows have no target", fix="give a table with the target column")
        vocabularies = (*batch.vocabularies, batch.group_labels)
        known = [_grown(mine, new) for mine, new in zip(known, vocabularies, strict=True)]
        rows = np.flatnonzero(batch.groups >= 0)
        codes = np.column_stack([batch.codes[rows], batch.groups[rows]])
        parts.append(_translated(codes, vocabularies, known))
        weights.append(None if batch.weights is None else batch.weights[rows])
    names = (*coding.columns, target)
    codes = np.concatenate(parts) if parts else np.zeros((0, len(names)), dtype=np.int32)
    fixed = [0 if each is None else len(each) for each in (*coding.declared, None)]
    sizes = [_recoded(codes[:, place], len(levels), fixed[place]) for place, levels in enumerate(known)]
    for name, size in zip(names, sizes, strict=True):
        if size > MOST_LEVELS:
            raise SchemaError(
                f"column {name!r} has more than {MOST_LEVELS:,} levels", fix="ignore it, or put levels together"
            )
    states = tuple(Vocabulary(range(size)) for size in sizes)
    return CodedRows(names, states, codes, joined_weights(weights, parts))


def _translated(codes: CodeArray, vocabularies: Sequence[Vocabulary], known: Sequence[Vocabulary]) -> CodeArray:
    """The codes of one batch as positions in what is known by now; -1 stays."""
    columns = [
        np.append(new.positions_in(mine), -1)[codes[:, place]]
        for place, (mine, new) in enumerate(zip(known, vocabularies, strict=True))
    ]
    return np.column_stack(columns).astype(np.int32)


def _recoded(codes: CodeArray, n_levels: int, n_declared: int) -> int:
    """Keep the levels that are declared or seen, and give holes the code after them, in place; how many states then.

    >>> codes = np.array([2, -1, 0], dtype=np.int32)
    >>> _recoded(codes, 3, 0), codes.tolist()
    (3, [1, 2, 0])
    """
    holes = codes < 0
    kept = np.bincount(codes[~holes], minlength=n_levels) > 0
    kept[:n_declared] = True
    codes[~holes] = (np.cumsum(kept) - 1)[codes[~holes]]
    codes[holes] = np.count_nonzero(kept)
    return max(1, int(np.count_nonzero(kept)) + int(holes.any()))


def _grown(known: Vocabulary, new: Vocabulary) -> Vocabulary:
    fresh = [label for label in new if label not in known]
    return Vocabulary([*known, *fresh]) if fresh else known
