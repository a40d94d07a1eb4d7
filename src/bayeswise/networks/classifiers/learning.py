"""From a table to a fitted network classifier: look, cut the numbers, find a graph if counts cannot, sweep once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from bayeswise.engines import summarise
from bayeswise.models.from_table import check_declared, divided, no_rows, schema_for
from bayeswise.networks.classifiers.coding import Coding, found_cuts, with_cuts
from bayeswise.networks.classifiers.counted import request_of
from bayeswise.networks.classifiers.model import NetworkClassifierModel
from bayeswise.networks.classifiers.search import Batches, found_graph
from bayeswise.networks.classifiers.settings import NetworkSettings, divided_missing
from bayeswise.tables.batch import Batch
from bayeswise.tables.encoder import Encoder
from bayeswise.tables.schema import Schema
from bayeswise.tables.source import open_source
from bayeswise.tables.sweep import Report


def fit_network(
    table: Any,
    target: str,
    *,
    cuts: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    **wishes: Any,
) -> NetworkClassifierModel:
    """Learn a network classifier from any table.

    `cuts` are those of number columns that shall not be found by description length. Wishes about columns are those of
    `bw.fit`, and missing="em" finds the tables by EM; wishes about beliefs are those of `NetworkSettings`: structure,
    prior, strength, class_prior, k, ...

    >>> rows = [{"wind": w, "sky": s, "play": p} for w, s, p in 5 * [("weak", "sun", "yes"), ("strong", "rain", "no"),
    ...         ("weak", "rain", "yes"), ("strong", "sun", "no")]]
    >>> model = fit_network(rows, target="play", structure="tan")
    >>> model, model.network.edges
    (NetworkClassifierModel(play: {'no': 10, 'yes': 10}, 2 columns, tan, ...), (('play', 'wind'), ('play', 'sky')))
    """
    return learned_network(table, target, cuts=cuts, threads=threads, progress=progress, **wishes)[0]


def learned_network(
    table: Any,
    target: str,
    *,
    cuts: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    **wishes: Any,
) -> tuple[NetworkClassifierModel, Report]:
    """What `fit_network` learns, and what it met on its way: strays, rows without a target."""
    about_columns, about_beliefs = divided(wishes)
    if "missing" in about_columns:
        about_columns["missing"], holes = divided_missing(about_columns["missing"])
        about_beliefs |= holes
    settings = NetworkSettings().changed(**about_beliefs)
    source = open_source(table)
    schema = schema_for(source, target, None, about_columns)
    check_declared(settings.class_prior, schema)
    sweeps: list[Encoder] = []

    def batches() -> Iterable[Batch]:
        sweeps.append(Encoder(schema, learning=True))
        return sweeps[-1].batches(source)

    model = prepared(batches, schema, settings, cuts)
    found = model.summary(batches(), threads, progress)
    if not found.labels:
        raise no_rows(source, schema)
    model = replace(model, statistics=found)
    model.check_prior()
    return model, sweeps[-1].report


learned_tan = partial(learned_network, structure="tan")
learned_aode = partial(learned_network, structure="aode")
learned_k_dependence = partial(learned_network, structure="k-dependence")
learned_markov_blanket = partial(learned_network, structure="markov-blanket")


def prepared(
    batches: Batches, schema: Schema, settings: NetworkSettings, cuts: Mapping[str, Any] | None = None
) -> NetworkClassifierModel:
    """The model of no rows, with the cuts and the graph that encoded rows ask for: a sweep for each if need be."""
    given = {name: tuple(float(cut) for cut in found) for name, found in (cuts or {}).items()}
    missing = [name for name in schema.numbers if name not in given]
    found = found_cuts(batches(), schema) if missing else {}
    all_cuts = {name: given.get(name, found.get(name, ())) for name in schema.numbers}
    schema = with_cuts(schema, all_cuts)
    coding = Coding(schema, all_cuts)
    graph = found_graph(batches, coding, settings)
    asked = request_of(coding, settings.needs, graph, settings.holes == "em")
    nothing = summarise([], coding.coded, asked).statistics
    target = schema.target.name if schema.target else "class"
    parents = None if graph is None else graph.to_names(coding.columns, target)
    by_hand = tuple(sorted(name for name in schema.numbers if name in given))
    return NetworkClassifierModel(schema, settings, nothing, all_cuts, parents, by_hand)
