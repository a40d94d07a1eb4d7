"""The solver against two oracles in fractions: every policy tried, and the decision tree rolled back."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from bayeswise.diagrams import InfluenceDiagram, Utility
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError
from tests.cases.diagram_cases import (
    best_by_enumeration,
    best_by_rollback,
    cases,
    gain,
    medical,
    oil,
    probability,
    random_diagram,
)


@pytest.mark.parametrize("make", [oil, medical])
def test_the_worked_examples_are_those_of_the_decision_tree(make: type[InfluenceDiagram]) -> None:
    assert make().solve().utility == pytest.approx(float(best_by_rollback(make())), abs=1e-12)


@pytest.mark.parametrize("seed", range(120))
def test_no_policy_is_better_on_random_diagrams(seed: int) -> None:
    diagram = random_diagram(seed, n_nodes=4 + seed % 2, n_decisions=1 + seed % 2)
    n_policies = np.prod([2.0 ** (2 ** len(diagram.known(d))) for d in diagram.decisions])
    found = diagram.solve().utility
    if n_policies <= 5_000:
        assert found == pytest.approx(float(best_by_enumeration(diagram)), abs=1e-12)
    assert found == pytest.approx(float(best_by_rollback(diagram)), abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_of_options_that_are_exactly_equal_the_first_is_taken(seed: int) -> None:
    diagram = random_diagram(6_000 + seed, n_nodes=5, n_decisions=1, most_states=3)
    [decision] = diagram.decisions
    policy = diagram.solve().policies[decision]
    for known in cases(diagram, diagram.known(decision)):
        gains = [Fraction(0)] * len(diagram.states(decision))
        mass = Fraction(0)
        for case in cases(diagram, diagram.names):
            if known.items() <= case.items():
                p = Fraction(1)
                for name in diagram.chances:
                    p *= probability(diagram, name, case)
                gains[diagram.states(decision).index(case[decision])] += p * gain(diagram, case)
                mass += p
        if mass > 0:
            assert policy.option(known) == diagram.states(decision)[gains.index(max(gains))]


@pytest.mark.parametrize("seed", range(60))
def test_three_decisions_and_three_states_roll_back_to_the_same(seed: int) -> None:
    diagram = random_diagram(1_000 + seed, n_nodes=7, n_decisions=3, most_states=3)
    assert diagram.solve().utility == pytest.approx(float(best_by_rollback(diagram)), abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_the_policies_that_are_found_gain_what_is_promised(seed: int) -> None:
    """A second algorithm: the junction tree of the network in which decisions follow their policies."""
    solution = random_diagram(2_000 + seed, n_nodes=7, n_decisions=3, most_states=3).solve()
    assert sum(solution.parts.values()) == pytest.approx(solution.utility, abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_evidence_is_known_before_everything_else(seed: int) -> None:
    diagram = random_diagram(3_000 + seed, n_nodes=6, n_decisions=2, most_states=3)
    generator = np.random.default_rng(seed)
    free = [
        name
        for name in diagram.chances
        if all(diagram.network.d_separated(decision, name) for decision in diagram.decisions)
    ]
    if not free:
        pytest.skip("every chance node follows from a decision")
    name = str(generator.choice(free))
    evidence = {name: diagram.states(name)[int(generator.integers(len(diagram.states(name))))]}
    if diagram.network.evidence_probability(evidence) == 0.0:
        with pytest.raises(ImpossibleEvidenceError):
            diagram.solve(evidence)
        return
    assert diagram.solve(evidence).utility == pytest.approx(float(best_by_rollback(diagram, evidence)), abs=1e-12)


@pytest.mark.parametrize("seed", [*range(5_000, 5_060), 30_323])  # the last one: nothing is left in the middle of a sum
def test_evidence_on_any_nodes_is_evaluated_or_refused(seed: int) -> None:
    generator = np.random.default_rng(seed)
    n_nodes, n_decisions = int(generator.integers(4, 8)), int(generator.integers(1, 4))
    diagram = random_diagram(seed, n_nodes, n_decisions, zeros=float(generator.choice([0.0, 0.3])))
    evidence = {
        name: diagram.states(name)[int(generator.integers(len(diagram.states(name))))]
        for name in diagram.names
        if generator.random() < 0.35
    }
    try:
        found = diagram.solve(evidence)
    except ParameterError as error:
        assert "which is still open" in str(error)
    except ImpossibleEvidenceError:
        assert diagram.network.evidence_probability(evidence) == 0.0
    else:
        assert found.utility == pytest.approx(float(best_by_rollback(diagram, evidence)), abs=1e-12)
        assert sum(found.parts.values()) == pytest.approx(found.utility, abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_a_decision_that_is_made_is_cut_from_what_it_would_have_known(seed: int) -> None:
    diagram = random_diagram(4_000 + seed, n_nodes=6, n_decisions=2)
    first = diagram.decisions[0]
    for option in diagram.states(first):
        assert diagram.solve({first: option}).utility == pytest.approx(
            float(best_by_rollback(_forced(diagram, first, option))), abs=1e-12
        )


def _forced(diagram: InfluenceDiagram, decision: str, option: object) -> InfluenceDiagram:
    """Other options cost a million."""
    codes = np.array([0.0 if state == option else -1e6 for state in diagram.states(decision)])
    return diagram.changed([Utility("force", codes, [decision])])
