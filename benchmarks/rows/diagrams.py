"""Influence diagrams beside pyAgrum: plans made and run, or run again, with the same utility."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from bayeswise.diagrams import Chance, Cost, Decision, InfluenceDiagram, Utility
from benchmarks.harness import Figure, Race, Row, Size, Task, best_of
from benchmarks.pyagrum_twins import diagram_twin


def oil() -> InfluenceDiagram:
    """The oil wildcatter: test, then drill."""
    seismic = {"dry": [0.1, 0.3, 0.6, 0], "wet": [0.3, 0.4, 0.3, 0], "soaking": [0.5, 0.4, 0.1, 0]}
    return InfluenceDiagram(
        [
            Chance("oil", ["dry", "wet", "soaking"], [0.5, 0.3, 0.2]),
            Decision("test", ["yes", "no"]),
            Chance(
                "report",
                ["closed", "open", "diffuse", "none"],
                {"yes": seismic, "no": "none"},
                parents=["test", "oil"],
            ),
            Decision("drill", ["yes", "no"], knows=["test", "report"]),
            Cost("price", {"yes": 10, "no": 0}, parents=["test"]),
            Utility("gain", {"no": 0, "yes": [-70, 50, 200]}, parents=["drill", "oil"]),
        ]
    )


def chain(n_steps: int) -> InfluenceDiagram:
    """A hidden state that moves as one acts on it, read with noise before each action; nothing is forgotten."""
    generator = np.random.default_rng(0)
    states = ["s0", "s1", "s2"]
    pieces: list[Any] = [Chance("state0", states, generator.dirichlet(np.ones(3)))]
    for k in range(n_steps):
        pieces += [
            Chance(f"reading{k}", states, generator.dirichlet(np.ones(3), 3), [f"state{k}"]),
            Decision(f"act{k}", ["left", "right"], [f"reading{k}", *([f"act{k - 1}"] if k else [])]),
            Chance(f"state{k + 1}", states, generator.dirichlet(np.ones(3), 6), [f"act{k}", f"state{k}"]),
            Utility(f"gain{k}", generator.normal(size=(2, 3)), [f"act{k}", f"state{k + 1}"]),
        ]
    return InfluenceDiagram(pieces)


def made_diagram(n_nodes: int, n_decisions: int) -> InfluenceDiagram:
    """Nodes that depend on some of the few before them, each decision observing the last ones; most of it is past."""
    generator = np.random.default_rng(1)
    states = ["s0", "s1", "s2"]
    block = n_nodes // n_decisions
    pieces: list[Any] = []
    names: list[str] = []
    for k in range(n_nodes):
        near = names[max(0, k - 4) :]
        if k % block == block - 1:
            observed = [name for name in names[-2:] if name.startswith("c")]
            pieces.append(Decision(f"d{k}", states, [*observed, *[n for n in names if n.startswith("d")][-1:]]))
        else:
            above = [str(n) for n in generator.choice(near, size=min(len(near), 2), replace=False)] if near else []
            pieces.append(Chance(f"c{k}", states, generator.dirichlet(np.ones(3), 3 ** len(above)), above))
        names.append(pieces[-1].name)
    for k in range(n_decisions):
        parents = [str(n) for n in generator.choice(names[k * block : (k + 1) * block], size=2, replace=False)]
        parents = list(dict.fromkeys([*parents, names[-1 - k]]))
        pieces.append(Utility(f"u{k}", generator.normal(size=[3] * len(parents)), parents))
    return InfluenceDiagram(pieces)


def stages(n_stages: int, n_states: int = 4, n_options: int = 3) -> InfluenceDiagram:
    """A state that is seen before each action and moves as one acts on it."""
    generator = np.random.default_rng(0)
    states, options = [f"s{k}" for k in range(n_states)], [f"a{k}" for k in range(n_options)]
    moves = generator.dirichlet(np.ones(n_states), n_states * n_options)
    gains = generator.normal(size=(n_states, n_options))
    pieces: list[Any] = [Chance("state0", states, generator.dirichlet(np.ones(n_states)))]
    for k in range(n_stages):
        pieces += [
            Decision(f"act{k}", options, [f"state{k}"]),
            Utility(f"gain{k}", gains, [f"state{k}", f"act{k}"]),
            Chance(f"state{k + 1}", states, moves, [f"state{k}", f"act{k}"]),
        ]
    return InfluenceDiagram(pieces)


def growth_of_time(sizes: Sequence[int], repeats: int) -> float:
    """The slope of log time of the processor over log stages: 1 is linear."""
    tasks = [partial(solved_afresh, stages(n)) for n in sizes]
    return slope(sizes, best_of(repeats, *tasks, clock=time.process_time))


def growth_of_memory(sizes: Sequence[int]) -> float:
    """The slope of log peak over log stages, of the memory that Python and NumPy take for making and solving."""
    peaks = []
    for n in sizes:
        tracemalloc.start()
        stages(n).solve()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return slope(sizes, peaks)


def slope(sizes: Sequence[int], found: Sequence[float]) -> float:
    return max(0.0, float(np.polyfit(np.log(sizes), np.log(found), 1)[0]))


def fresh(diagram: InfluenceDiagram) -> InfluenceDiagram:
    """The same diagram with nothing planned."""
    diagram._solvers.clear()
    return diagram


def solved_afresh(diagram: InfluenceDiagram) -> float:
    return fresh(diagram).solve().utility


def solving(make: Callable[[], InfluenceDiagram], planned: bool, forgetting: bool = False) -> tuple[Task, Task]:
    """`forgetting`: pyAgrum is not set to remember, which costs it much and changes nothing where states are seen."""
    gum: Any = import_module("pyagrum")
    diagram = make()
    theirs = diagram_twin(diagram)

    def peer() -> Any:
        engine = gum.ShaferShenoyLIMIDInference(theirs)
        if not forgetting:
            engine.addNoForgettingAssumption(list(diagram.decisions))
        engine.makeInference()
        return engine.MEU()["mean"]

    if not np.isclose(diagram.solve().utility, peer(), rtol=0, atol=1e-9):
        raise AssertionError("the utilities differ")
    return lambda: (diagram if planned else fresh(diagram)).solve(), peer


def rows(size: Size) -> Iterator[Row]:
    yield Race("oil wildcatter, solved afresh | pyAgrum", partial(solving, oil, False))
    yield Race("oil wildcatter, planned before | pyAgrum", partial(solving, oil, True))
    yield Race(
        "chain of 5 decisions, nothing forgotten | pyAgrum",
        partial(solving, partial(chain, 5), False),
        at_least=3,
    )
    yield Race(
        "diagram of 30 nodes, 5 decisions | pyAgrum",
        partial(solving, partial(made_diagram, 30, 5), False),
        at_least=3,
    )
    n_stages = 200 if size.scale >= 1 else 20
    yield Race(
        f"{n_stages} stages whose state is seen, solved afresh | pyAgrum",
        partial(solving, partial(stages, n_stages), False, True),
        at_least=5,
    )
    yield Race(
        f"{n_stages} stages whose state is seen, planned before | pyAgrum",
        partial(solving, partial(stages, n_stages), True, True),
        at_least=5,
    )
    sizes = (50, 100, 200, 400) if size.scale >= 1 else (5, 10)
    name = f"{sizes[0]} to {sizes[-1]} stages"
    yield Figure(f"growth of processor time, {name}", partial(growth_of_time, sizes, size.repeats), 1.2, "(exponent)")
    yield Figure(f"growth of memory, {name}", partial(growth_of_memory, sizes), 1.2, "(exponent)")
