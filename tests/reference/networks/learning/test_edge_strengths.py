"""What edges are worth: posteriors against all orders and graphs, resampling that repeats itself."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bayeswise.foundation.errors import ParameterError, TooLargeError
from bayeswise.networks.learning import Constraints, Scores, edge_strengths, hill_climbing
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.search.orders import edge_posteriors
from bayeswise.tables.schema.labels import Vocabulary
from tests.cases.network_cases import asia, random_network


def posteriors_by_enumeration(scores: Scores, rules: Constraints) -> np.ndarray:
    """Every order of the columns, and every choice of parents that come earlier."""
    n = len(scores.names)
    may, required, most = rules.allowed(scores.names), rules.start(scores.names), rules.most(n)
    shift = max(scores.total(graph) for graph in [[()] * n, hill_climbing(scores).parents])
    total, with_edge = 0.0, np.zeros((n, n))
    for order in itertools.permutations(range(n)):
        choices = []
        for rank, node in enumerate(order):
            earlier = [k for k in order[:rank] if may[k, node]]
            sets = itertools.chain.from_iterable(itertools.combinations(earlier, k) for k in range(most + 1))
            choices.append([above for above in sets if required[node] <= set(above)])
        for graph in itertools.product(*choices):
            log_weight = sum(scores.family(node, above) for node, above in zip(order, graph, strict=True))
            weight = math.exp(log_weight - shift)
            total += weight
            for node, above in zip(order, graph, strict=True):
                with_edge[list(above), node] += weight
    return with_edge / total


@pytest.mark.parametrize("score", ["bic", "bdeu", "k2"])
@pytest.mark.parametrize("n_nodes", [1, 3, 4])
def test_edge_posteriors_are_those_of_all_orders_and_graphs(score: str, n_nodes: int) -> None:
    rows = CodedRows.of(random_network(n_nodes, n_nodes=n_nodes, zeros=0.1).sample(40, seed=1))
    scores = Scores(rows, score)
    assert edge_posteriors(scores) == pytest.approx(posteriors_by_enumeration(scores, Constraints()), abs=1e-12)


def test_rules_make_edges_certain_and_impossible() -> None:
    rows = CodedRows.of(random_network(9, n_nodes=4, zeros=0.1).sample(40, seed=1))
    a, b, c, d = rows.names
    rules = Constraints(required=((a, b),), forbidden=((c, d),), max_parents=2)
    found = edge_posteriors(Scores(rows, "bdeu"), rules)
    assert found == pytest.approx(posteriors_by_enumeration(Scores(rows, "bdeu"), rules), abs=1e-12)
    assert found[0, 1] == pytest.approx(1.0, abs=1e-12)
    assert found[1, 0] == found[2, 3] == 0.0


def test_averages_refuse_what_they_cannot_average() -> None:
    rows = CodedRows(tuple(f"c{k}" for k in range(17)), (Vocabulary("ab"),) * 17, np.zeros((3, 17), dtype=np.int32))
    with pytest.raises(TooLargeError, match="up to 16"):
        edge_posteriors(Scores(rows, "bic"))
    with pytest.raises(ParameterError, match="AIC is not a log probability"):
        edge_posteriors(Scores(rows, "aic"))


def test_strong_edges_are_found_in_every_resampled_table() -> None:
    rows = CodedRows.of(asia().sample(1_500, seed=5))
    scores = Scores(rows, "bic")
    graph = hill_climbing(scores).parents
    found = edge_strengths(rows, graph, resamples=30, averaged=True, seed=2)
    assert found.n_resamples == 30
    first = {frozenset((edge.parent, edge.child)): edge for edge in found}[frozenset(("bronchitis", "dyspnoea"))]
    assert first.support_either_way == 1.0
    assert first.score_gain > 100.0
    child = rows.names.index(first.child)
    fewer = [above if k != child else () for k, above in enumerate(graph)]
    if graph[child] == (rows.names.index(first.parent),):
        assert first.score_gain == pytest.approx(scores.total(graph) - scores.total(fewer), rel=1e-9)
    assert all(0.0 <= edge.posterior <= 1.0 for edge in found)
    assert sum(edge.in_graph for edge in found) == sum(map(len, graph))
    assert list(found.columns()) == [
        "parent", "child", "in_graph", "score_gain", "support", "support_either_way", "posterior",
    ]  # fmt: skip
    assert found == edge_strengths(rows, graph, resamples=30, averaged=True, seed=2)
    assert "found in 100%" in str(found)


def test_ctrl_c_ends_the_resampling_early() -> None:
    rows = CodedRows.of(asia().sample(300, seed=5))

    def interrupt(what: str, done: int, total: int | None) -> None:
        if what == "resampled tables" and done == 4:
            raise KeyboardInterrupt

    graph = hill_climbing(Scores(rows, "bic")).parents
    found = edge_strengths(rows, graph, resamples=50, progress=interrupt)
    assert found.n_resamples == 4
    assert all(edge.support <= 1.0 for edge in found)
    with pytest.raises(ParameterError, match="from 0 on"):
        edge_strengths(rows, graph, resamples=-1)
    assert all(math.isnan(edge.support) for edge in edge_strengths(rows, graph))
