"""Bounds of sequences of decisions on hidden states, against decision trees in fractions and backward induction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayeswise.diagrams import Chance, Decision, InfluenceDiagram, Utility
from tests.cases.diagram_cases import best_by_rollback, chain, tiger


def unseen(n_steps: int) -> InfluenceDiagram:
    """A state that moves by what is done and is never seen."""
    generator = np.random.default_rng(5)
    pieces: list[Any] = [Chance("state 0", ["a", "b"], 0.5)]
    for k in range(n_steps):
        pieces += [
            Decision(f"act {k}", ["x", "y"], [f"act {k - 1}"] if k else []),
            Chance(f"state {k + 1}", ["a", "b"], generator.dirichlet([1, 1], 4), [f"act {k}", f"state {k}"]),
            Utility(f"gain {k}", generator.normal(size=(2, 2)), [f"act {k}", f"state {k + 1}"]),
        ]
    return InfluenceDiagram(pieces)


CASES = [
    *(pytest.param(chain(seed, 3, 2), id=f"chain {seed}") for seed in (1, 2, 4)),
    pytest.param(tiger(3), id="tiger"),
]


@pytest.mark.parametrize("diagram", CASES)
def test_the_optimum_lies_between_the_bounds_which_close_as_more_is_recalled(diagram: InfluenceDiagram) -> None:
    best = float(best_by_rollback(diagram))
    uppers = []
    for recall in range(3):
        lower, upper = diagram.solve(recall=recall).bounds
        assert upper is not None
        assert lower <= best + 1e-12
        assert upper >= best - 1e-12
        uppers.append(upper)
    assert (np.diff(uppers) <= 1e-12).all()
    assert diagram.solve(recall=2).bounds == pytest.approx((best, best), abs=1e-10)


def test_bounds_hold_given_evidence_and_policies_of_some_decisions() -> None:
    diagram = chain(3, 3, 2)
    seen = {"reading 0": "s1", "act 0": "left"}
    best = float(best_by_rollback(diagram, seen))
    lower, upper = diagram.solve(seen, recall=0).bounds
    assert upper is not None
    assert lower - 1e-12 <= best <= upper + 1e-12
    followed = {"act 1": {"s0": "right", "s1": "left"}}
    policy = diagram.policy("act 1", followed["act 1"], knows=["reading 1"])
    exact = diagram.solve(policies={"act 1": policy}).utility
    lower, upper = diagram.solve(policies={"act 1": policy}, recall=0).bounds
    assert upper is not None
    assert lower - 1e-12 <= exact <= upper + 1e-12


def test_to_recall_nothing_is_bounded_by_the_fast_informed_bound() -> None:
    """W(s, a) = sum over o of the best option given the state before, what was done and o (Hauskrecht 2000)."""
    diagram, n_steps = chain(4, 12), 12
    later = np.zeros((3, 2))  # (state, option)
    for k in reversed(range(n_steps)):
        reading = diagram.network.table(f"reading {k}")  # (state, reading)
        moves = diagram.network.table(f"state {k + 1}").reshape(2, 3, 3)  # (option, state, next state)
        gain = np.einsum("asn,an->sa", moves, diagram.utility(f"gain {k}"))
        if k:
            above = diagram.network.table(f"state {k}").reshape(2, 3, 3)
        else:
            above = np.broadcast_to(diagram.network.table("state 0")[0], (2, 3, 3))
        later = np.einsum("bps,so,sa->pboa", above, reading, gain + later).max(axis=-1).sum(axis=-1)
    assert diagram.solve(recall=0).proof.bound == pytest.approx(later[0, 0], abs=1e-10)


def test_states_that_nothing_shows_are_bounded_too() -> None:
    best = float(best_by_rollback(unseen(4)))
    for recall in range(4):
        lower, upper = unseen(4).solve(recall=recall).bounds
        assert upper is not None
        assert lower - 1e-12 <= best <= upper + 1e-12
    lower, upper = unseen(30).solve().bounds
    assert upper is not None
    assert lower <= upper


def test_a_long_sequence_that_was_refused_has_a_policy_and_bounds() -> None:
    solution = chain(1, 16, 2).solve()
    assert solution.proof.recall is not None
    assert solution.optimality_gap is not None
    assert 0.0 <= solution.optimality_gap < 0.05
    assert sum(solution.parts.values()) == pytest.approx(solution.utility, abs=1e-9)  # what the network says
