"""Scores and searches beside pyAgrum, which takes logarithms to base 2."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from bayeswise.networks.learning import Scores, best_graph, hill_climbing
from bayeswise.networks.learning.coded_rows import CodedRows
from tests.cases.network_cases import asia, pyagrum_learner, random_network

gum: Any = pytest.importorskip("pyagrum")
pd: Any = pytest.importorskip("pandas")


@pytest.mark.parametrize(("score", "use", "digits"), [("bic", "useScoreBIC", 1e-12), ("k2", "useScoreK2", 1e-7)])
def test_scores_of_families_are_those_of_pyagrum(score: str, use: str, digits: float) -> None:
    rows = asia().sample(1_500, seed=1)
    learner = pyagrum_learner(pd.DataFrame(rows))
    getattr(learner, use)()
    coded = CodedRows.of(rows)
    scores = Scores(coded, score)
    for node, parents in itertools.product(("dyspnoea", "either"), (["cancer", "bronchitis"], ["smoking"], [])):
        ours = scores.family(coded.names.index(node), [coded.names.index(parent) for parent in parents])
        assert learner.score(node, parents) * math.log(2) == pytest.approx(ours, rel=digits)


@pytest.mark.parametrize("seed", range(4))
def test_no_graph_of_pyagrum_scores_better(seed: int) -> None:
    network = random_network(seed, n_nodes=9, zeros=0.0, most_states=3)
    rows = {
        name: column
        for name, column in network.sample(800, seed=seed).items()
        if len(set(column)) > 1  # pyAgrum wants at least two states
    }
    coded = CodedRows.of(rows)
    scores = Scores(coded, "bic")
    learner = pyagrum_learner(pd.DataFrame(rows))
    learner.useGreedyHillClimbing()
    learner.useScoreBIC()
    theirs: list[list[int]] = [[] for _ in coded.names]
    for parent, child in learner.learnDAG().arcs():
        theirs[coded.names.index(learner.nameFromId(child))].append(coded.names.index(learner.nameFromId(parent)))
    best = best_graph(scores).score
    assert scores.total(theirs) <= best + 1e-9
    assert scores.total(theirs) <= hill_climbing(scores, restarts=10).score + 1e-9
