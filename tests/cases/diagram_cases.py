"""Diagrams for tests: worked ones, random ones, and two oracles that share no code with the solver.

`best_by_enumeration` tries every policy of every decision; `best_by_rollback` unfolds the decision tree and folds it
back from its leaves. Both compute in fractions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from bayeswise.diagrams import Chance, Cost, Decision, InfluenceDiagram, Utility
from bayeswise.tables.schema.labels import Label

YES_NO = ["yes", "no"]
Case = dict[str, Label]


def oil() -> InfluenceDiagram:
    """Raiffa's oil wildcatter (1968): a seismic test first, or not, then to drill, or not."""
    return InfluenceDiagram(
        [
            Chance("oil", ["dry", "wet", "soaking"], [0.5, 0.3, 0.2]),
            Decision("test", YES_NO),
            Chance(
                "report",
                ["closed", "open", "diffuse", "not done"],
                {
                    "yes": {
                        "dry": [0.1, 0.3, 0.6, 0],
                        "wet": [0.3, 0.4, 0.3, 0],
                        "soaking": [0.5, 0.4, 0.1, 0],
                    },
                    "no": "not done",
                },
                parents=["test", "oil"],
            ),
            Decision("drill", YES_NO, knows=["test", "report"]),
            Cost("price of the test", {"yes": 10, "no": 0}, parents=["test"]),
            Utility("gain", {"no": 0, "yes": {"dry": -70, "wet": 50, "soaking": 200}}, parents=["drill", "oil"]),
        ],
        name="oil",
    )


def medical() -> InfluenceDiagram:
    """A disease that one patient in ten has: test or not, then treat or not; the test is a burden, so is treatment."""
    return InfluenceDiagram(
        [
            Chance("disease", YES_NO, 0.1),
            Decision("test", YES_NO),
            Chance(
                "result",
                ["+", "-", "none"],
                {"yes": {"yes": [0.9, 0.1, 0], "no": [0.2, 0.8, 0]}, "no": "none"},
                parents=["test", "disease"],
            ),
            Decision("treat", YES_NO, knows=["result"]),
            Chance("recovery", YES_NO, [0.95, 0.4, 1.0, 1.0], parents=["disease", "treat"]),
            Cost("burden of the test", {"yes": 1, "no": 0}, parents=["test"]),
            Cost("burden of treatment", {"yes": 10, "no": 0}, parents=["treat"]),
            Utility("health", {"yes": 100, "no": 0}, parents=["recovery"]),
        ],
        name="medical",
    )


def random_diagram(
    seed: int, n_nodes: int = 6, n_decisions: int = 2, most_states: int = 2, zeros: float = 0.2
) -> InfluenceDiagram:
    """Tables in sixteenths, so that fractions are short; some entries zero, some utilities tied."""
    generator = np.random.default_rng(seed)
    is_decision = np.zeros(n_nodes, dtype=bool)
    is_decision[generator.choice(n_nodes, size=n_decisions, replace=False)] = True
    pieces: list[Any] = []
    last = None
    for k in range(n_nodes):
        name = f"{'d' if is_decision[k] else 'c'}{k}"
        states = [f"s{j}" for j in range(int(generator.integers(2, most_states + 1)))]
        earlier = [piece.name for piece in pieces]
        n_above = min(k, int(generator.integers(0, 3)))
        above = [str(p) for p in generator.choice(earlier, size=n_above, replace=False)] if n_above else []
        if is_decision[k]:
            knows = above if last is None or last in above else [*above, last]
            pieces.append(Decision(name, states, knows))
            last = name
            continue
        sizes = [len(_levels(piece)) for p in above for piece in pieces if piece.name == p]
        pieces.append(
            Chance(name, states, _table(generator, int(np.prod(sizes, dtype=int)), len(states), zeros), above)
        )
    names = [piece.name for piece in pieces]
    for k in range(int(generator.integers(1, 4))):
        above = [str(p) for p in generator.choice(names, size=int(generator.integers(1, 3)), replace=False)]
        sizes = [len(_levels(piece)) for p in above for piece in pieces if piece.name == p]
        pieces.append(Utility(f"u{k}", generator.integers(-8, 9, sizes) * 0.5, above))
    return InfluenceDiagram(pieces)


def tiger(n_steps: int) -> InfluenceDiagram:
    """A tiger behind one of two doors: listen, which is wrong in 15 of 100 cases, or open one (Cassandra 1994)."""
    doors, heard = ["left", "right"], ["on the left", "on the right"]
    pieces: list[Any] = [Chance("tiger 0", doors, 0.5)]
    for k in range(n_steps):
        act, before = f"act {k}", f"act {k - 1}"
        pieces += [
            Decision(act, ["listen", "open left", "open right"], [f"noise {k - 1}", before] if k else []),
            Utility(f"gain {k}", [[-1, -1], [-100, 10], [10, -100]], [act, f"tiger {k}"]),
            Chance(f"noise {k}", heard, [[0.85, 0.15], [0.15, 0.85], *[[0.5, 0.5]] * 4], [act, f"tiger {k}"]),
            Chance(f"tiger {k + 1}", doors, [[1, 0], [0, 1], *[[0.5, 0.5]] * 4], [act, f"tiger {k}"]),
        ]
    return InfluenceDiagram(pieces)


def chain(seed: int, n_steps: int, n_states: int = 3) -> InfluenceDiagram:
    """A state that moves as one acts on it, seen through a noisy reading before each action."""
    generator = np.random.default_rng(seed)
    states, options = [f"s{k}" for k in range(n_states)], ["left", "right"]
    pieces: list[Any] = [Chance("state 0", states, generator.dirichlet(np.ones(n_states)))]
    for k in range(n_steps):
        reading = generator.dirichlet(np.ones(n_states) * 0.5, n_states)
        moves = generator.dirichlet(np.ones(n_states) * 0.5, 2 * n_states)
        knows = [f"reading {k}", *([f"act {k - 1}"] if k else [])]
        pieces += [
            Chance(f"reading {k}", states, reading, [f"state {k}"]),
            Decision(f"act {k}", options, knows),
            Chance(f"state {k + 1}", states, moves, [f"act {k}", f"state {k}"]),
            Utility(f"gain {k}", generator.normal(size=(2, n_states)), [f"act {k}", f"state {k + 1}"]),
        ]
    return InfluenceDiagram(pieces)


def _levels(piece: Any) -> Any:
    return piece.options if isinstance(piece, Decision) else piece.states


def _table(generator: np.random.Generator, n_rows: int, n_states: int, zeros: float) -> Any:
    parts = np.array([generator.multinomial(16, np.ones(n_states) / n_states) for _ in range(n_rows)])
    certain = generator.random(n_rows) < zeros
    parts[certain] = 0
    parts[certain, generator.integers(0, n_states, int(certain.sum()))] = 16
    return parts / 16.0


# -- oracles --------------------------------------------------------------------------------------------------


def probability(diagram: InfluenceDiagram, name: str, case: Mapping[str, Label]) -> Fraction:
    """P(name | parents) in a case, as the fraction that the double is."""
    row = 0
    for parent in diagram.parents(name):
        row = row * len(diagram.states(parent)) + diagram.states(parent).index(case[parent])
    return Fraction(float(diagram.network.table(name)[row, diagram.states(name).index(case[name])]))


def gain(diagram: InfluenceDiagram, case: Mapping[str, Label]) -> Fraction:
    """What all utilities add in a case."""
    total = Fraction(0)
    for name in diagram.utilities:
        place = tuple(diagram.states(parent).index(case[parent]) for parent in diagram.parents(name))
        total += Fraction(float(diagram.utility(name)[place]))
    return total


def cases(diagram: InfluenceDiagram, names: Any) -> Iterator[Case]:
    """Every combination of states."""
    names = list(names)
    for states in itertools.product(*(diagram.states(name) for name in names)):
        yield dict(zip(names, states, strict=True))


def best_by_enumeration(diagram: InfluenceDiagram) -> Fraction:
    """The greatest expected utility over all policies, each a function of everything that is known then."""
    weights = []  # (case, P(chances | decisions) * gain)
    for case in cases(diagram, diagram.names):
        p = Fraction(1)
        for name in diagram.chances:
            p *= probability(diagram, name, case)
        if p:
            weights.append((case, p * gain(diagram, case)))
    policies = []
    for decision in diagram.decisions:
        known = [tuple(case.values()) for case in cases(diagram, diagram.known(decision))]
        policies.append(
            [
                dict(zip(known, rule, strict=True))
                for rule in itertools.product(diagram.states(decision), repeat=len(known))
            ]
        )
    return max(_followed(diagram, weights, rules) for rules in itertools.product(*policies))


def _followed(diagram: InfluenceDiagram, weights: Any, rules: Any) -> Fraction:
    total = Fraction(0)
    for case, weight in weights:
        if all(
            rule[tuple(case[name] for name in diagram.known(decision))] == case[decision]
            for decision, rule in zip(diagram.decisions, rules, strict=True)
        ):
            total += weight
    return total


def best_by_rollback(diagram: InfluenceDiagram, evidence: Mapping[str, Label] | None = None) -> Fraction:
    """max and sum in the order of time: what a decision observes, the decision, ..., at last what is never observed.

    Weights stay joint probabilities, so that nothing is divided; evidence cuts the branches that contradict it.
    """
    seen = dict(evidence or {})
    order: list[str] = list(seen)
    for decision in diagram.decisions:
        order += [*diagram.known(decision), decision]
    order = list(dict.fromkeys([*order, *diagram.names]))

    def value(rest: list[str], case: Case) -> Fraction:
        if not rest:
            p = Fraction(1)
            for name in diagram.chances:
                p *= probability(diagram, name, case)
            return p * gain(diagram, case)
        name, *later = rest
        states = [seen[name]] if name in seen else diagram.states(name)
        branches = [value(later, {**case, name: state}) for state in states]
        return max(branches) if name in diagram.decisions else sum(branches, Fraction(0))

    def mass(rest: list[str], case: Case) -> Fraction:
        """P(evidence): any option of the open decisions will do, as none of them can change it."""
        if not rest:
            p = Fraction(1)
            for name in diagram.chances:
                p *= probability(diagram, name, case)
            return p
        name, *later = rest
        states = [seen[name]] if name in seen else diagram.states(name)
        chosen = states[:1] if name in diagram.decisions else states
        return sum((mass(later, {**case, name: state}) for state in chosen), Fraction(0))

    return value(order, {}) / (mass(order, {}) if seen else 1)


def best_of_all_policies(diagram: InfluenceDiagram, felt: Callable[[Any], Any] | None = None) -> float:
    """The greatest mean of a function of what is gained in all, over every policy that is allowed.

    A policy is a function of what the decision knows and remembers; forbidden options are left out by the rules as
    they were written down. Shares no code with the solver, the masks or the attitudes.
    """
    order = list(diagram.names)
    shape = [len(diagram.states(name)) for name in order]
    codes = np.indices(shape).reshape(len(order), -1)  # (n_names, n_worlds)
    weight, total = np.ones(codes.shape[1]), np.zeros(codes.shape[1])
    for name in diagram.chances:
        row = np.zeros(codes.shape[1], dtype=int)
        for parent in diagram.parents(name):
            row = row * len(diagram.states(parent)) + codes[order.index(parent)]
        weight = weight * diagram.network.table(name)[row, codes[order.index(name)]]
    for name in diagram.utilities:
        total = total + diagram.utility(name)[tuple(codes[order.index(parent)] for parent in diagram.parents(name))]
    value = weight * (total if felt is None else felt(total))
    every = [_indicators(diagram, decision, order, codes) for decision in diagram.decisions]
    return max(float((value * np.prod(followed, axis=0)).sum()) for followed in itertools.product(*every))


def _indicators(diagram: InfluenceDiagram, decision: str, order: list[str], codes: Any) -> list[Any]:
    """(n_worlds,) of each policy of a decision whether a world follows it."""
    known = list(diagram.known(decision))
    found = []
    per_case = []
    for case in cases(diagram, known):
        options = [
            option
            for option in diagram.states(decision)
            if not any(_forbids({**case, decision: option}, rule) for rule in diagram.decision(decision).forbidden)
        ]
        here = np.ones(codes.shape[1], dtype=bool)
        for name, state in case.items():
            here &= codes[order.index(name)] == diagram.states(name).index(state)
        taken = codes[order.index(decision)]
        per_case.append([here & (taken == diagram.states(decision).index(option)) for option in options])
    for choice in itertools.product(*per_case):
        found.append(np.logical_or.reduce(choice).astype(float))
    return found


def _forbids(case: Mapping[str, Any], rule: Mapping[str, Any]) -> bool:
    return all(case[node] in (given if isinstance(given, list | tuple) else [given]) for node, given in rule.items())


def random_limited(seed: int, *, forbidding: bool = False, n_nodes: int = 5, n_decisions: int = 2) -> InfluenceDiagram:
    """A random diagram whose decisions forget some of what they could remember, or all; some options are forbidden."""
    generator = np.random.default_rng(seed)
    diagram = random_diagram(seed, n_nodes=n_nodes, n_decisions=n_decisions, zeros=0.1)
    for name in diagram.decisions:
        old = diagram.decision(name)
        memory = [node for node in diagram.known(name) if node not in old.knows]
        lost: Any = [node for node in memory if generator.random() < 0.6]
        if generator.random() < 0.3:
            lost = "everything"
        diagram = diagram.changed([Decision(name, old.options, old.knows, forgets=lost)])
    for name in diagram.decisions if forbidding else ():
        old = diagram.decision(name)
        rule: dict[str, Any] = {name: str(generator.choice(list(old.options)))}
        for node in diagram.known(name)[:2]:
            rule[node] = [str(generator.choice(list(diagram.states(node))))]
        if len(rule) > 1:
            diagram = diagram.changed([Decision(name, old.options, old.knows, forgets=old.forgets, forbidden=[rule])])
    return diagram


def pigs(forgets: Any = "everything") -> InfluenceDiagram:
    """Lauritzen and Nilsson (2001): a pig is tested and treated or not in each of three months, then sold.

    The farmer keeps no records: each treatment depends on the test of that month alone.
    """
    pieces: list[Any] = [Chance("health 1", ["ill", "well"], 0.1)]
    for month in (1, 2, 3):
        pieces += [
            Chance(f"test {month}", ["+", "-"], {"ill": 0.8, "well": 0.1}, [f"health {month}"]),
            Decision(f"treat {month}", ["treat", "leave"], [f"test {month}"], forgets=forgets if month > 1 else ()),
            Chance(
                f"health {month + 1}",
                ["ill", "well"],
                {"treat": {"ill": 0.5, "well": 0.1}, "leave": {"ill": 0.9, "well": 0.2}},
                [f"treat {month}", f"health {month}"],
            ),
            Cost(f"price {month}", {"treat": 100, "leave": 0}, [f"treat {month}"]),
        ]
    return InfluenceDiagram([*pieces, Utility("sale", {"ill": 300, "well": 1000}, ["health 4"])], name="pigs")
