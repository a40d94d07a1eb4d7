"""Dynamic networks beside pyAgrum, which has to unroll them, and how cost grows with the length of a sequence."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from bayeswise.networks import Node
from bayeswise.networks.dynamic import DynamicNetwork, before
from benchmarks.harness import Figure, Race, Row, Size, Task, best_of
from benchmarks.pyagrum_twins import network_twin
from benchmarks.rows.diagrams import slope


def made_dynamic(n_states: int = 3) -> DynamicNetwork:
    """Two hidden chains, the second driven by the first, and a sign of both that is read at each step."""
    generator = np.random.default_rng(0)
    states = [f"s{k}" for k in range(n_states)]

    def drawn(n_parents: int) -> Any:
        shape = [n_states] * n_parents
        return generator.dirichlet(np.ones(n_states), n_states**n_parents).reshape([*shape, n_states])

    sign = Node("sign", states, drawn(2), parents=["cause", "state"])
    first = [Node("cause", states, drawn(0).ravel()), Node("state", states, drawn(1), parents=["cause"]), sign]
    later = [
        Node("cause", states, drawn(1), parents=[before("cause")]),
        Node("state", states, drawn(2), parents=[before("state"), "cause"]),
        sign,
    ]
    return DynamicNetwork(first, later)


def signs(n_steps: int) -> list[dict[str, str]]:
    found = np.random.default_rng(1).integers(0, 3, n_steps)
    return [{"sign": f"s{k}"} for k in found]


def smoothing(n_steps: int) -> tuple[Task, Task]:
    gum: Any = import_module("pyagrum")
    network, evidence = made_dynamic(), signs(n_steps)
    unrolled = network.unrolled(n_steps)
    placed = {name: step["sign"] for name, step in zip(_of(unrolled, "sign"), evidence, strict=True)}
    hidden = [*_of(unrolled, "cause"), *_of(unrolled, "state")]
    engine = gum.LazyPropagation(network_twin(unrolled))
    engine.setEvidence(placed)
    engine.setTargets(set(hidden))

    def peer() -> Any:
        engine.eraseAllEvidence()
        engine.setEvidence(placed)
        engine.makeInference()
        return [engine.posterior(name) for name in hidden]

    ours = [step["state"]["s0"] for step in network.smoothed(evidence)]
    peer()
    if not np.allclose(ours, [engine.posterior(name)[0] for name in _of(unrolled, "state")], rtol=0, atol=1e-9):
        raise AssertionError("the posteriors differ")
    return lambda: network.smoothed(evidence), peer


def _of(unrolled: Any, name: str) -> list[str]:
    """The copies of a node, in the order of the steps."""
    return [each for each in unrolled if each.startswith(f"{name}[")]


def growth_of_time(lengths: list[int], repeats: int) -> float:
    network = made_dynamic()
    tasks: list[Task] = [partial(network.smoothed, signs(n_steps)) for n_steps in lengths]
    return slope(lengths, best_of(repeats, *tasks, clock=time.process_time))


def memory_of_filtering(few: int, many: int) -> float:
    """The peak of many steps over that of few."""
    network = made_dynamic()
    sum(1 for _ in network.filtered(signs(2)))
    peaks = []
    for n_steps in (few, many):
        evidence = (each for each in [{"sign": "s0"}] for _ in range(n_steps))
        tracemalloc.start()
        sum(1 for _ in network.filtered(evidence))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return peaks[1] / peaks[0]


def rows(size: Size) -> Iterator[Row]:
    n_steps = 500 if size.scale >= 1 else 20
    yield Race(f"dynamic network, {n_steps} steps smoothed | pyAgrum, unrolled", partial(smoothing, n_steps))
    lengths = [n_steps, 4 * n_steps, 16 * n_steps]
    what = f"{lengths[0]:,} to {lengths[-1]:,} steps of a dynamic network"
    yield Figure(
        f"growth of processor time, {what}",
        partial(growth_of_time, lengths, size.repeats),
        at_most=1.2,
        unit="exponent",
    )
    yield Figure(
        f"memory of filtering, {what}", partial(memory_of_filtering, lengths[0], lengths[-1]), at_most=1.2, unit="x"
    )
