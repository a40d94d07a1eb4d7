"""MIIC beside pyAgrum's, its information against its definition, common causes that are not columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.models.description_length.bits import log_regret
from bayeswise.networks.learning import Scores
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.constraints import Constraints
from bayeswise.networks.learning.search.miic import _Information, miic
from bayeswise.networks.learning.search.scores import NmlScores
from tests.cases.network_cases import asia, pyagrum_learner
from tests.paths import PUBLIC_NETWORKS

ALARM = PUBLIC_NETWORKS / "alarm.bif"


def skeleton(edge: Any, names: tuple[str, ...]) -> set[frozenset[str]]:
    return {frozenset((names[u], names[v])) for u, v in np.argwhere(edge)}


def by_pyagrum(rows: dict[str, list[Any]], correction: str) -> set[frozenset[str]]:
    pytest.importorskip("pyagrum")
    pd: Any = pytest.importorskip("pandas")
    learner = pyagrum_learner(pd.DataFrame({name: [str(cell) for cell in column] for name, column in rows.items()}))
    learner.useMIIC()
    getattr(learner, f"use{correction}Correction")()
    graph = learner.learnPDAG()
    return {frozenset(map(learner.nameFromId, edge)) for edge in (*graph.arcs(), *graph.edges())}


@pytest.mark.parametrize(("score", "correction"), [("nml", "NML"), ("bic", "MDL")])
@pytest.mark.parametrize("seed", [1, 2])
def test_edges_of_asia_are_those_of_pyagrum(score: str, correction: str, seed: int) -> None:
    rows = asia().sample(5_000, seed=seed)
    found = bw.BeliefNetwork.learn(rows, method="miic", score=score)
    mine, known = {frozenset(edge) for edge in found.edges}, {frozenset(edge) for edge in asia().edges}
    assert mine == by_pyagrum(rows, correction)
    assert mine <= known and len(mine) >= 6


@pytest.mark.skipif(not ALARM.exists(), reason="the public file is not here")
def test_as_many_edges_of_alarm_are_found_as_by_pyagrum() -> None:
    network = bw.BeliefNetwork.read(ALARM)
    rows = network.sample(1_000, seed=1)
    coded = CodedRows.of(rows)
    graph = miic(NmlScores(coded)).found
    known = {frozenset(edge) for edge in network.edges}
    mine, theirs = skeleton(graph.edge, coded.names), by_pyagrum(rows, "NML")
    assert len(mine & known) >= len(theirs & known) - 1
    assert len(mine - known) <= len(theirs - known) + 3
    assert len(mine & theirs) >= 0.9 * len(mine | theirs)


def test_information_is_that_of_counts_minus_its_complexity() -> None:
    rng = np.random.default_rng(0)
    u = rng.integers(0, 2, 400)
    x = (u + rng.integers(0, 3, 400)) % 3
    y = (x + rng.integers(0, 2, 400)) % 2
    rows = CodedRows.of({"x": x.tolist(), "y": y.tolist(), "u": u.tolist()})
    n = np.zeros((2, 3, 2))
    np.add.at(n, (u, x, y), 1)
    shares = n * n.sum(axis=(1, 2), keepdims=True) / (n.sum(axis=2, keepdims=True) * n.sum(axis=1, keepdims=True))
    nats = float((n * np.log(shares)).sum())
    mdl = 0.5 * math.log(400) * 2 * 1 * 2
    assert _Information(Scores(rows, "bic")).of_pair(0, 1, (2,)) == pytest.approx(nats - mdl, rel=1e-10)
    regrets = [
        sum(log_regret(int(k), other) for k in n.sum(axis=axis).ravel())
        - sum(log_regret(int(k), other) for k in n.sum(axis=(1, 2)))
        for axis, other in ((2, 2), (1, 3))  # rows of (u, x) over y, rows of (u, y) over x
    ]
    assert _Information(NmlScores(rows)).of_pair(0, 1, (2,)) == pytest.approx(nats - sum(regrets) / 2, rel=1e-10)


def noisy(rng: np.random.Generator, *causes: Any) -> Any:
    majority = sum(causes) >= (1 if len(causes) == 1 else 1.5)
    return np.where(rng.random(len(majority)) < 0.9, majority, ~majority).astype(int)


def hidden_cause(n: int = 5_000) -> dict[str, list[Any]]:
    """one -> a <- hidden -> b <- other."""
    rng = np.random.default_rng(3)
    one, hidden, other = (rng.integers(0, 2, n) for _ in range(3))
    share = np.array([0.05, 0.5, 0.6, 0.95])
    a, b = ((rng.random(n) < share[2 * hidden + each]).astype(int) for each in (one, other))
    return {name: column.tolist() for name, column in (("one", one), ("a", a), ("b", b), ("other", other))}


def test_a_common_cause_that_is_not_a_column_shows_as_two_arrowheads() -> None:
    rows = hidden_cause()
    graph = miic(NmlScores(CodedRows.of(rows)))
    assert graph.common_causes == ((1, 2),)
    learned = bw.BeliefNetwork.learn(rows, method="miic")
    assert "a latent common cause may explain a <-> b" in learned.notes
    assert {("one", "a"), ("other", "b")} <= set(learned.edges) and len(learned.edges) == 3


def test_edges_that_are_required_or_forbidden_and_tiers_hold() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 500)
    b = noisy(rng, a)
    c = noisy(rng, b)
    rows = {"a": a.tolist(), "b": b.tolist(), "c": c.tolist()}
    assert set(bw.BeliefNetwork.learn(rows, method="miic", tiers=[["c"], ["b"], ["a"]]).edges) == {
        ("c", "b"),
        ("b", "a"),
    }
    forbidden = bw.BeliefNetwork.learn(rows, method="miic", forbidden=[("a", "b"), ("b", "a")])
    assert ("a", "b") not in forbidden.edges and ("b", "a") not in forbidden.edges
    assert ("c", "a") in bw.BeliefNetwork.learn(rows, method="miic", required=[("c", "a")]).edges
    plain = miic(Scores(CodedRows.of(rows)))
    assert skeleton(plain.found.edge, ("a", "b", "c")) == {frozenset("ab"), frozenset("bc")}
    assert plain.found.undirected == [(0, 1), (1, 2)] and not plain.common_causes
    few = miic(Scores(CodedRows.of(rows)), Constraints(max_parents=0))
    assert few.found.edge.sum() == 6  # nothing is collected, so that all pairs stay


def test_a_row_of_weight_k_counts_as_k_rows() -> None:
    rows = asia().sample(600, seed=1)
    weights = (1 + np.arange(600) % 3).tolist()
    repeated = {
        name: [cell for cell, n in zip(column, weights, strict=True) for _ in range(n)] for name, column in rows.items()
    }
    one, other = (
        bw.BeliefNetwork.learn(rows, method="miic", weights=weights),
        bw.BeliefNetwork.learn(repeated, method="miic"),
    )
    assert one.edges == other.edges and one.notes == other.notes
