"""Structure learning: hill climbing beside pyAgrum and pgmpy, exact search, trees of many rows, EM."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from bayeswise.networks import BeliefNetwork
from bayeswise.networks.inference.sampling import sample_codes
from bayeswise.networks.learning import Scores, best_graph, chow_liu, climb, fit_tables
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.statistics import PairCounts
from bayeswise.tables.schema.labels import Vocabulary
from benchmarks.harness import Figure, Race, Row, Size, Task, best_of
from benchmarks.pyagrum_twins import network_twin
from benchmarks.rows.networks import made_network

ALARM = Path(__file__).parents[3] / "shared" / "networks" / "alarm.bif"


@cache
def network_of_37() -> tuple[str, BeliefNetwork]:
    """The public alarm network where it is at hand, else one of its size."""
    if ALARM.exists():
        return "alarm", BeliefNetwork.read(ALARM)
    return "network of 37", made_network(37, 4)


@cache
def sampled(n_rows: int) -> tuple[CodedRows, Any]:
    """Rows of the network, coded for us and as a frame for peers."""
    import pandas as pd

    _, network = network_of_37()
    codes = sample_codes(network, n_rows, np.random.default_rng(2))
    rows = CodedRows(network.names, tuple(Vocabulary(network.states(name)) for name in network), codes)
    labels = {name: [str(network.states(name)[code]) for code in codes[:, k]] for k, name in enumerate(network.names)}
    return rows, pd.DataFrame(labels)


def pyagrum_learner(frame: Any, *more: Any) -> Any:
    """pyAgrum's learner of a frame, without the temporary file that it writes the frame to and then forgets."""
    gum: Any = import_module("pyagrum")
    with tempfile.TemporaryDirectory() as folder, patch.object(tempfile, "tempdir", folder):
        return gum.BNLearner(frame, *more)


def by_pyagrum(n_rows: int) -> Any:
    learner = pyagrum_learner(sampled(n_rows)[1])
    learner.useGreedyHillClimbing()
    learner.useScoreBIC()
    graph = learner.learnDAG()
    return [(learner.nameFromId(parent), learner.nameFromId(child)) for parent, child in graph.arcs()]


def beside_pyagrum(n_rows: int) -> tuple[Task, Task]:
    rows, _ = sampled(n_rows)
    return lambda: climb(Scores(rows, "bic")), lambda: by_pyagrum(n_rows)


def score_beside_pyagrum(n_rows: int) -> float:
    """Our BIC divided by theirs; both are negative, so below 1 ours is the better one."""
    rows, _ = sampled(n_rows)
    scores = Scores(rows, "bic")
    theirs: list[list[int]] = [[] for _ in rows.names]
    for parent, child in by_pyagrum(n_rows):
        theirs[rows.names.index(child)].append(rows.names.index(parent))
    return scores.total(climb(scores)) / scores.total(theirs)


def beside_pgmpy(n_rows: int, n_columns: int) -> tuple[Task, Task]:
    rows, frame = sampled(n_rows)
    fewer = CodedRows(rows.names[:n_columns], rows.states[:n_columns], rows.codes[:, :n_columns])

    def peer() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            search = import_module("pgmpy.estimators").HillClimbSearch(frame[list(fewer.names)])
            return search.estimate(scoring_method="bic-d", show_progress=False)

    return lambda: climb(Scores(fewer, "bic")), peer


def exact_search(n_columns: int) -> float:
    rows, _ = sampled(1_000)
    fewer = CodedRows(rows.names[:n_columns], rows.states[:n_columns], rows.codes[:, :n_columns])
    [best] = best_of(2, lambda: best_graph(Scores(fewer, "bic")))
    return best


def em_beside_pyagrum(n_rows: int, n_nodes: int) -> tuple[Task, Task]:
    """A tenth of the cells is missing; both stop when a step gains less than 1e-4 of the likelihood."""
    import pandas as pd

    network, generator = made_network(n_nodes, 3), np.random.default_rng(0)
    codes = sample_codes(network, n_rows, generator)
    codes[generator.random(codes.shape) < 0.1] = -1
    rows = CodedRows(network.names, tuple(Vocabulary(network.states(name)) for name in network), codes)
    graph = {name: network.parents(name) for name in network}
    labels = {name: ["?" if code < 0 else f"s{code}" for code in codes[:, k]] for k, name in enumerate(network.names)}
    frame, theirs = pd.DataFrame(labels), network_twin(network)

    def peer() -> object:
        learner = pyagrum_learner(frame, theirs, ["?"])
        learner.useSmoothingPrior(1.0)
        learner.useEMWithRateCriterion(1e-4)
        return learner.learnParameters(theirs.dag())

    return lambda: fit_tables(rows, graph, prior="m-estimate", smoothing=3.0, starts=1, tolerance=1e-4), peer


def climbing_with_weights(n_rows: int) -> float:
    """Weights that are not whole: each row is counted by itself, without bitmaps."""
    weighted = sampled(n_rows)[0].weighted(np.random.default_rng(3).exponential(1.0, n_rows))
    [best] = best_of(2, lambda: climb(Scores(weighted, "bic")))
    return best


def tree_of_many_rows(n_rows: int) -> float:
    codes = np.random.default_rng(0).integers(0, 4, (n_rows, 40)).astype(np.int32)
    rows = CodedRows(tuple(f"c{k}" for k in range(40)), (Vocabulary("abcd"),) * 40, codes)
    [best] = best_of(2, lambda: chow_liu(rows))
    return best


def pairs_given_a_class(n_rows: int) -> float:
    """What a tree-augmented classifier of three classes is made of."""
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 4, (n_rows, 40)).astype(np.int32)
    groups = generator.integers(0, 3, n_rows).astype(np.int32)
    start = time.perf_counter()
    PairCounts.of(codes, [Vocabulary("abcd")] * 40, groups, 3)
    return time.perf_counter() - start


def rows(size: Size) -> Iterator[Row]:
    name, _ = network_of_37()
    n_rows = size.rows(50_000)
    yield Race(f"hill climbing, BIC, {n_rows:,} rows of {name} | pyAgrum", partial(beside_pyagrum, n_rows), at_least=2)
    yield Figure("the same, BIC found", partial(score_beside_pyagrum, n_rows), at_most=1.0, unit="of its")
    yield Figure("the same rows with weights", partial(climbing_with_weights, n_rows), at_most=2.0)
    n_rows, n_columns = size.rows(10_000), 37 if size.scale >= 0.5 else 6  # it takes seconds even for a few rows
    race = partial(beside_pgmpy, n_rows, n_columns)
    yield Race(f"hill climbing, BIC, {n_rows:,} x {n_columns} of {name} | pgmpy", race, at_least=50)
    n_columns = 20 if size.scale >= 0.5 else 10
    yield Figure(f"exact search, BIC, 1,000 x {n_columns} of {name}", partial(exact_search, n_columns), at_most=2.0)
    n_rows, n_nodes = size.rows(2_000), 8 if size.scale >= 0.5 else 3
    yield Race(f"EM, {n_rows:,} rows of {n_nodes} nodes | pyAgrum", partial(em_beside_pyagrum, n_rows, n_nodes))
    n_rows = size.rows(1_000_000)
    yield Figure(f"Chow-Liu tree of {n_rows:,} x 40", partial(tree_of_many_rows, n_rows), at_most=2.0)
    yield Figure(f"all pairs of {n_rows:,} x 40 given a class", partial(pairs_given_a_class, n_rows), at_most=2.0)
