"""Long sequences of decisions: work in proportion to their length, counted, and the values of backward induction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayeswise.diagrams import Chance, Decision, InfluenceDiagram, Utility

MOVES = np.random.default_rng(3).dirichlet(np.ones(3), (3, 2))  # (state, option, next state)
GAINS = np.random.default_rng(4).normal(size=(3, 2))
START = np.array([0.2, 0.3, 0.5])


def stages(n_stages: int, gains: Any = GAINS, moves: Any = MOVES, start: Any = START) -> InfluenceDiagram:
    """A state that is seen before each action and moves as one acts on it."""
    states, options = ["a", "b", "c"], ["stay", "go"]
    pieces: list[Any] = [Chance("state 0", states, start)]
    for k in range(n_stages):
        pieces += [
            Decision(f"act {k}", options, [f"state {k}"]),
            Utility(f"gain {k}", gains, [f"state {k}", f"act {k}"]),
            Chance(f"state {k + 1}", states, np.reshape(moves, (6, 3)), [f"state {k}", f"act {k}"]),
        ]
    return InfluenceDiagram(pieces)


def by_backward_induction(n_stages: int) -> float:
    value = np.zeros(3)
    for _ in range(n_stages):
        value = (GAINS + MOVES @ value).max(axis=1)
    return float(START @ value)


def work(n_stages: int) -> dict[str, int]:
    """What solving looks at: nodes visited by balls, steps of the plans, tables in and cells of the largest."""
    diagram = stages(n_stages)
    diagram.solve()
    [solver] = diagram._solvers.values()
    return {
        "visits": solver.n_visits,
        "steps": sum(each.plan._elimination.n_steps for each in solver.passes),
        "tables": sum(len(each.sources) for each in solver.passes),
        "cells": int(sum(each.plan.n_cells for each in solver.passes)),
    }


def test_work_grows_by_the_same_amount_for_each_stage() -> None:
    few, more, many = work(50), work(100), work(200)
    for kind in few:
        assert many[kind] - more[kind] == 2 * (more[kind] - few[kind])


@pytest.mark.parametrize("n_stages", [1, 2, 60])
def test_values_are_those_of_backward_induction(n_stages: int) -> None:
    assert stages(n_stages).solve().utility == pytest.approx(by_backward_induction(n_stages), rel=1e-12)


def test_ties_in_every_stage_of_a_long_sequence_are_found() -> None:
    solution = stages(400, gains=np.ones((3, 2))).solve()
    assert solution.utility == pytest.approx(400.0)
    assert solution.policy("act 7").in_words() == "stay (every option is as good)"


def test_states_that_nobody_gets_into_are_left_out_however_late_they_would_be() -> None:
    closed = np.array([[[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [0, 0, 1]]])
    solution = stages(20, moves=closed, start=[0.5, 0.5, 0.0]).solve()
    assert solution.policies["act 19"].possible is not None
    assert solution.policies["act 19"].possible.tolist() == [True, True, False]
    assert solution.policy("act 19").to_columns()["state 19"] == ["a", "b"]
