"""From a table to a fitted network classifier: infer a schema, cut the numbers, find a graph if needed, count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bayeswise import engines
from bayeswise.engines import Request, summarise
from bayeswise.foundation.arrays import CodeArray, FloatArray
from bayeswise.foundation.errors import FitError, SchemaError
from bayeswise.models.from_table import check_declared, divided, no_rows, schema_for, swept
from bayeswise.models.settings.network import NetworkSettings, divided_missing
from bayeswise.networks.classifiers.coding import Coding, found_cuts, joined_weights, with_cuts
from bayeswise.networks.classifiers.column_graph import Graph, Information, k_parents
from bayeswise.networks.classifiers.counted import PAIRS, PairTable, request_of
from bayeswise.networks.classifiers.left_out import left_out_loss
from bayeswise.networks.classifiers.model import NetworkClassifierModel
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.column_states import MOST_LEVELS
from bayeswise.networks.learning.constraints import Constraints
from bayeswise.networks.learning.search.climbing import climb
from bayeswise.networks.learning.search.scores import Scores
from bayeswise.statistics import Grouped, Product
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoding.encoder import Encoder, Report
from bayeswise.tables.schema.labels import Vocabulary
from bayeswise.tables.schema.null_words import open_like
from bayeswise.tables.schema.schema import Schema


def learned_network(
    table: Any,
    target: str,
    *,
    schema: Schema | None = None,
    cuts: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
    **overrides: Any,
) -> tuple[NetworkClassifierModel, Report]:
    """A network classifier of any table, and a report of invalid values and rows without a target.

    `cuts` are given cuts of number columns; the others are found by description length. Options of columns are those of
    `bw.fit`, and missing="em" finds the tables by EM; the other options are those of `NetworkSettings`.
    """
    about_columns, about_model = divided(overrides)
    if "missing" in about_columns:
        about_columns["missing"], by_em = divided_missing(about_columns["missing"])
        about_model |= by_em
    settings = NetworkSettings().changed(**about_model)
    source = open_like(table, schema)
    columns = schema_for(source, target, schema, about_columns)
    check_declared(settings.class_prior, columns)

    def batches() -> Iterable[Batch]:
        return Encoder(columns, learning=True).batches(source)

    def counted(coding: Coding, request: Request) -> Grouped[Product]:
        return engines.swept(source, columns, request, coded=engines.Coded(coding.coded, coding.batch))[0]

    model = prepared(batches, columns, settings, cuts, counted)
    coded = engines.Coded(model.coding.coded, model.coding.batch)
    found, report = swept(source, columns, model.request(), progress, coded)
    if not found.labels:
        raise no_rows(source, columns)
    model = replace(model, statistics=found)
    model.check_prior()
    return model, report


def of_batches(batches: Sequence[Batch], schema: Schema, settings: NetworkSettings) -> NetworkClassifierModel:
    """The model of encoded rows, with the cuts and the graph found in them."""
    return prepared(lambda: batches, schema, settings, learned=batches)


learned_tan = partial(learned_network, structure="tan")
learned_aode = partial(learned_network, structure="aode")
learned_k_dependence = partial(learned_network, structure="k-dependence")
learned_markov_blanket = partial(learned_network, structure="markov-blanket")


def prepared(
    batches: Batches,
    schema: Schema,
    settings: NetworkSettings,
    cuts: Mapping[str, Any] | None = None,
    counted: Counting | None = None,
    learned: Iterable[Batch] = (),
) -> NetworkClassifierModel:
    """The model without rows, with the cuts and the graph found in encoded rows: a sweep for each if needed.

    `counted` answers requests about all rows where these rows are. `learned` are rows that it learns right away.
    """
    given = {name: tuple(float(cut) for cut in found) for name, found in (cuts or {}).items()}
    missing = [name for name in schema.numbers if name not in given]
    found = found_cuts(batches(), schema) if missing else {}
    all_cuts = {name: given.get(name, found.get(name, ())) for name in schema.numbers}
    schema = with_cuts(schema, all_cuts)
    coding = Coding(schema, all_cuts)
    graph = found_graph(batches, coding, settings, counted)
    request = request_of(coding, settings.needs, graph, settings.incomplete == "em")
    counts = summarise(map(coding.batch, learned), coding.coded, request).statistics
    target = schema.target.name if schema.target else "class"
    parents = None if graph is None else graph.to_names(coding.columns, target)
    by_hand = tuple(sorted(name for name in schema.numbers if name in given))
    return NetworkClassifierModel(schema, settings, counts, all_cuts, parents, by_hand)


Batches = Callable[[], Iterable[Batch]]  # each call sweeps the rows again
Counting = Callable[[Coding, Request], Grouped[Product]]


def found_graph(
    batches: Batches, coding: Coding, settings: NetworkSettings, counted: Counting | None = None
) -> Graph | None:
    """The graph of a structure whose tables need more than pairs; None where pairs are enough."""
    if settings.needs != "families":
        return None
    if settings.structure == "markov-blanket":
        return _climbed((coding.batch(batch) for batch in batches()), coding, settings)
    request = request_of(coding, "pairs", None)
    if counted is not None:
        return _k_dependence(counted(coding, request), settings.k)
    coded = (coding.batch(batch) for batch in batches())
    return _k_dependence(summarise(coded, coding.coded, request).statistics, settings.k)


def _k_dependence(found: Grouped[Product], k: int) -> Graph:
    information = Information(PairTable.of(found.part[PAIRS]))
    chosen = k_parents(information.between[None], information.about_class[None], k)[0]
    return Graph.of_parents([sorted(int(place) for place in above if place >= 0) for above in chosen])


TRIED_SCORES = ("bic", "aic", "bdeu", "k2")
MANY_ROWS = 1_000
"""Of each class: with more on average, every score finds nearly the same graph, and only the first is tried."""


def _climbed(coded: Iterator[Batch], coding: Coding, settings: NetworkSettings) -> Graph:
    target = coding.schema.target.name if coding.schema.target else "class"
    rows = _gathered(coded, coding, target)
    tiers = ((target,), coding.columns) if settings.class_prior is not None else ()
    rules = Constraints(tiers=tiers, max_parents=settings.max_parents)
    tried: tuple[str, ...] = (settings.score,) if settings.score != "auto" else TRIED_SCORES
    if settings.score == "auto" and len(rows.codes) > MANY_ROWS * rows.sizes[-1]:
        tried = TRIED_SCORES[:1]
    graphs = [climb(Scores(rows, score), rules) for score in tried]
    losses = [left_out_loss(rows, graph, settings) for graph in graphs] if len(graphs) > 1 else [0.0]
    parents = graphs[losses.index(min(losses))]
    varies = [size > 1 for size in rows.sizes]  # a column of one state is not a parent: nothing depends on it
    named = {
        name: [rows.names[place] for place in above if varies[place]]
        for name, above in zip(rows.names, parents, strict=True)
    }
    return Graph.of_names(named, coding.columns, target)


def _gathered(coded: Iterator[Batch], coding: Coding, target: str) -> CodedRows:
    """All rows with a class in common codes, the class last; in the search a missing cell is a state of its own."""
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
    """The codes of one batch as positions in the known levels; -1 stays."""
    columns = [
        np.append(new.positions_in(mine), -1)[codes[:, place]]
        for place, (mine, new) in enumerate(zip(known, vocabularies, strict=True))
    ]
    return np.column_stack(columns).astype(np.int32)


def _recoded(codes: CodeArray, n_levels: int, n_declared: int) -> int:
    """Keep the levels that are declared or seen, and give missing values the next code, in place; the number of states.

    >>> codes = np.array([2, -1, 0], dtype=np.int32)
    >>> _recoded(codes, 3, 0), codes.tolist()
    (3, [1, 2, 0])
    """
    missing = codes < 0
    kept = np.bincount(codes[~missing], minlength=n_levels) > 0
    kept[:n_declared] = True
    codes[~missing] = (np.cumsum(kept) - 1)[codes[~missing]]
    codes[missing] = np.count_nonzero(kept)
    return max(1, int(np.count_nonzero(kept)) + int(missing.any()))


def _grown(known: Vocabulary, new: Vocabulary) -> Vocabulary:
    fresh = [label for label in new if label not in known]
    return Vocabulary([*known, *fresh]) if fresh else known
