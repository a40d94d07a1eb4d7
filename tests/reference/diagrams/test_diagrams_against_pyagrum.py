"""Maximum expected utilities and policies against pyAgrum's LIMID inference, which is handed our tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayeswise.diagrams import Chance, Decision, InfluenceDiagram, Utility
from benchmarks.pyagrum_twins import diagram_twin
from tests.cases.diagram_cases import best_by_rollback, chain, medical, oil, random_diagram

gum = pytest.importorskip("pyagrum")


def solved(diagram: InfluenceDiagram) -> Any:
    engine = gum.ShaferShenoyLIMIDInference(diagram_twin(diagram))
    engine.addNoForgettingAssumption(list(diagram.decisions))
    engine.makeInference()
    return engine


@pytest.mark.parametrize("make", [oil, medical])
def test_the_worked_examples(make: Any) -> None:
    theirs = solved(make())
    ours = make().solve()
    assert ours.utility == pytest.approx(theirs.MEU()["mean"], abs=1e-10)
    for name in make().chances:
        assert ours.query(name).cells == pytest.approx(theirs.posterior(name).toarray(), abs=1e-10)


def test_random_diagrams_gain_what_pyagrum_finds_or_more() -> None:
    """pyAgrum 3.3 stays below the optimum on some diagrams; the decision tree says who errs."""
    n_equal = 0
    for seed in range(60):
        diagram = random_diagram(seed, n_nodes=8, n_decisions=2, zeros=0.0)
        ours, theirs = diagram.solve().utility, solved(diagram).MEU()["mean"]
        if ours == pytest.approx(theirs, abs=1e-10):
            n_equal += 1
        else:
            assert ours > theirs
            assert ours == pytest.approx(float(best_by_rollback(diagram)), abs=1e-12)
    assert n_equal >= 40


@pytest.mark.parametrize("seed", range(8))
def test_long_chains_of_decisions(seed: int) -> None:
    diagram = chain(seed, n_steps=4)
    assert diagram.solve().utility == pytest.approx(solved(diagram).MEU()["mean"], abs=1e-10)


def test_the_mean_and_variance_of_a_utility() -> None:
    mean, variance = solved(oil()).meanVar("gain").values()
    found = oil().solve().scenarios()
    gain = found.utilities["gain"]
    assert found.probability @ gain == pytest.approx(mean)
    assert found.probability @ (gain - mean) ** 2 == pytest.approx(variance)


@pytest.mark.parametrize("seed", range(10))
def test_a_soluble_diagram_with_limited_memory_is_solved_as_by_pyagrum(seed: int) -> None:
    """The second decision sees the state itself, and forgets the sign that the first one had."""
    generator = np.random.default_rng(seed)
    states = ["0", "1"]
    diagram = InfluenceDiagram(
        [
            Chance("x", states, generator.dirichlet([1, 1])),
            Chance("sign", states, generator.dirichlet([1, 1], 2), ["x"]),
            Decision("a", states, ["sign"]),
            Chance("y", states, generator.dirichlet([1, 1], 4), ["x", "a"]),
            Decision("b", states, ["y"], forgets="everything"),
            Utility("u", generator.normal(size=(2, 2)), ["y", "b"]),
            Utility("v", generator.normal(size=2), ["a"]),
        ]
    )
    engine = gum.ShaferShenoyLIMIDInference(diagram_twin(diagram))
    assert engine.isSolvable()
    engine.makeInference()
    solution = diagram.solve()
    assert solution.utility == pytest.approx(engine.MEU()["mean"], abs=1e-10)
    assert str(solution.proof).startswith("proven optimum: soluble")
