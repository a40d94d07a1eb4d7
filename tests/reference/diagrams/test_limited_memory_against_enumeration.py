"""Decisions that forget, and options that are forbidden, against every policy tried."""

from __future__ import annotations

import math

import pytest

from bayeswise.diagrams import Chance, Decision, InfluenceDiagram, Utility
from bayeswise.diagrams.solving import limited
from tests.cases.diagram_cases import best_of_all_policies, pigs, random_diagram, random_limited
from tests.paths import EXAMPLES


def few_enough(diagram: InfluenceDiagram) -> bool:
    return math.prod(2.0 ** (2 ** len(diagram.known(name))) for name in diagram.decisions) <= 5_000


@pytest.mark.parametrize("seed", range(60))
def test_no_policy_that_forgets_is_better(seed: int) -> None:
    diagram = random_limited(seed, n_nodes=5 + seed % 2, n_decisions=2 + (seed % 3 == 0))
    if few_enough(diagram):
        solution = diagram.solve()
        assert solution.proof.is_optimal
        assert solution.utility == pytest.approx(best_of_all_policies(diagram), abs=1e-11)
        assert diagram.evaluate(solution.policies).utility == pytest.approx(solution.utility, abs=1e-11)


@pytest.mark.parametrize("seed", range(60))
def test_no_policy_without_forbidden_options_is_better(seed: int) -> None:
    diagram = random_limited(500 + seed, forbidding=True, n_nodes=5, n_decisions=1 + seed % 2)
    if few_enough(diagram):
        solution = diagram.solve()
        assert solution.utility == pytest.approx(best_of_all_policies(diagram), abs=1e-11)
        assert diagram.evaluate(solution.policies).utility == pytest.approx(solution.utility, abs=1e-11)


@pytest.mark.parametrize("seed", range(20))
def test_knowing_more_is_worth_what_enumeration_says_where_options_are_forbidden(seed: int) -> None:
    diagram = random_limited(900 + seed, forbidding=True, n_nodes=4, n_decisions=1)
    [decision] = diagram.decisions
    for value in diagram.information_values().values:
        informed = diagram.changed([diagram.decision(decision).knowing(value.nodes)])
        gained = best_of_all_policies(informed) - best_of_all_policies(diagram)
        assert value.value == pytest.approx(gained, abs=1e-11)


def test_a_farmer_without_records_gets_727_for_a_pig_and_729_with_them() -> None:
    limited_memory, full = pigs().solve(), pigs(()).solve()
    assert limited_memory.utility == pytest.approx(best_of_all_policies(pigs()), abs=1e-9)
    assert (round(limited_memory.utility), round(full.utility)) == (727, 729)  # Lauritzen and Nilsson 2001
    assert limited_memory.proof.is_optimal


def test_a_search_says_that_its_optimum_is_local_and_what_no_policies_exceed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "_MOST_TRIED", 0)
    solution = pigs().solve(starts=5)
    assert not solution.proof.is_optimal
    assert (solution.proof.n_starts, solution.utility) == (5, pytest.approx(726.8121))
    assert solution.proof.bound == pytest.approx(pigs(()).solve().utility)
    assert "local optimum: " in str(solution)


def team() -> InfluenceDiagram:
    """Two that cannot talk see one coin each and gain by acting alike."""
    states = ["a", "b"]
    own = {"a": {"a": 1, "b": 0}, "b": {"a": 0, "b": 2}}
    return InfluenceDiagram(
        [
            Chance("x", states, 0.5),
            Chance("y", states, 0.3),
            Decision("p", states, ["x"], forgets="everything"),
            Decision("q", states, ["y"], forgets="everything"),
            Utility("alike", {"a": {"a": 3, "b": 0}, "b": {"a": 0, "b": 2}}, ["p", "q"]),
            Utility("own p", own, ["p", "x"]),
            Utility("own q", own, ["q", "y"]),
        ]
    )


def test_of_several_local_optima_of_a_team_the_best_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert team().solve().utility == pytest.approx(best_of_all_policies(team()), abs=1e-12)
    monkeypatch.setattr(limited, "_MOST_TRIED", 0)
    searched = team().solve()
    assert searched.utility == pytest.approx(best_of_all_policies(team()), abs=1e-12)
    assert searched.proof.n_reached < searched.proof.n_starts  # some starts end lower


@pytest.mark.parametrize("seed", range(40))
def test_forgetting_what_cannot_matter_keeps_the_optimum_and_its_proof(seed: int) -> None:
    diagram = random_diagram(seed, n_nodes=6, n_decisions=2)
    best = diagram.solve()
    last = diagram.decisions[-1]
    idle = [n for n in diagram.known(last) if n not in best.policies[last].knows and n not in diagram.parents(last)]
    old = diagram.decision(last)
    solution = diagram.changed([Decision(last, old.options, old.knows, forgets=idle)]).solve()
    assert solution.utility == pytest.approx(best.utility, abs=1e-12)
    assert solution.proof.is_optimal


def test_the_triage_of_the_examples_is_the_best_of_all_policies() -> None:
    diagram = InfluenceDiagram.read(EXAMPLES / "triage.toml")
    assert diagram.attitude is not None
    solution = diagram.solve()
    best = best_of_all_policies(diagram, diagram.attitude.utility)
    assert solution.utility == pytest.approx(float(diagram.attitude.inverse(best)), abs=1e-12)
    assert solution.proof.is_optimal
    assert set(diagram.known("doctor")) == {"test"}
