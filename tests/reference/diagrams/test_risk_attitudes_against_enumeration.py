"""Exponential and piecewise-linear utility of the sum, against every policy tried and mpmath."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from bayeswise.diagrams import Chance, Decision, Exponential, InfluenceDiagram, PiecewiseLinear, Utility
from bayeswise.diagrams.attitude import Attitude
from tests.cases.diagram_cases import best_of_all_policies, oil, random_diagram, random_limited

ATTITUDES: list[Attitude] = [
    Exponential(2.0),
    Exponential(-3.0),
    Exponential(0.3),
    PiecewiseLinear([(-1, -3), (0, 0), (2, 1), (5, 2)]),
]


def few_enough(diagram: InfluenceDiagram) -> bool:
    return math.prod(2.0 ** (2 ** len(diagram.known(name))) for name in diagram.decisions) <= 5_000


@pytest.mark.parametrize("attitude", ATTITUDES, ids=str)
@pytest.mark.parametrize("seed", range(20))
def test_no_policy_has_a_greater_certainty_equivalent(seed: int, attitude: Attitude) -> None:
    diagram = random_limited(seed, forbidding=seed % 2 == 1, n_nodes=5, n_decisions=2).with_attitude(attitude)
    if few_enough(diagram):
        solution = diagram.solve()
        at = solution.utility  # utilities are taken around it, so that the oracle loses no digits either
        felt = best_of_all_policies(diagram, lambda sums: attitude.utility(sums, at))
        best = float(attitude.inverse(felt, at))
        assert solution.certainty_equivalent == pytest.approx(best, abs=1e-11)
        assert diagram.evaluate(solution.policies).utility == pytest.approx(best, abs=1e-11)
        assert solution.risk().certainty_equivalent(attitude) == pytest.approx(best, abs=1e-11)
        assert solution.risk().mean == pytest.approx(solution.expected_value, abs=1e-11)


@pytest.mark.parametrize("attitude", ATTITUDES, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_evidence_is_conditioned_on_as_by_the_risk_profile(seed: int, attitude: Attitude) -> None:
    diagram = random_diagram(300 + seed, n_nodes=5, n_decisions=2, zeros=0.0).with_attitude(attitude)
    first = diagram.decisions[0]
    for option in diagram.states(first):
        solution = diagram.solve({first: option})
        assert solution.utility == pytest.approx(solution.risk().certainty_equivalent(attitude), abs=1e-11)
        others = [diagram.solve({first: option}, policies={d: o}) for d in diagram.decisions[1:] for o in ("s0", "s1")]
        assert all(other.utility <= solution.utility + 1e-11 for other in others)


@pytest.mark.parametrize("seed", range(10))
def test_the_utility_of_a_case_is_the_certainty_equivalent_of_what_follows(seed: int) -> None:
    """One decision that can change every utility: given the case, a lottery of the whole sum."""
    attitude = Exponential(1.5)
    generator = np.random.default_rng(seed)
    diagram = InfluenceDiagram(
        [
            Chance("x", ["0", "1"], generator.dirichlet([1, 1])),
            Chance("sign", ["0", "1"], generator.dirichlet([1, 1], 2), ["x"]),
            Decision("act", ["0", "1", "2"], ["sign"]),
            Utility("a", generator.normal(size=(3, 2)), ["act", "x"]),
            Utility("b", generator.normal(size=3), ["act"]),
        ],
        attitude=attitude,
    )
    policy = diagram.solve().policy("act")
    for case, sign in enumerate(diagram.states("sign")):
        belief = diagram.network.query("x", {"sign": sign}).probability.ravel()
        for option in range(3):
            sums = diagram.utility("a")[option] + diagram.utility("b")[option]
            assert policy.expected is not None
            expected = attitude.certainty_equivalent(sums, belief)
            assert policy.expected[case, option] == pytest.approx(expected, abs=1e-12)


def test_a_small_tolerance_is_computed_to_the_last_digits() -> None:
    """mpmath at 50 digits for tolerances at which exp(-x / tolerance) spans 200 orders of magnitude."""
    for tolerance in (0.6, 1.0, 5.0, 1e9):
        policy = {"test": "yes", "drill": "yes"}
        profile = oil().evaluate(policy).risk()
        with mpmath.workdps(50):
            pairs = zip(profile.values.tolist(), profile.probability.tolist(), strict=True)
            mean = mpmath.fsum(mpmath.mpf(p) * mpmath.exp(-mpmath.mpf(x) / tolerance) for x, p in pairs)
            exact = float(-tolerance * mpmath.log(mean))
        found = oil().with_attitude(Exponential(tolerance)).evaluate(policy).utility
        assert found == pytest.approx(exact, rel=1e-12 if tolerance < 1e6 else 1e-6)


@pytest.mark.parametrize("attitude", [Exponential(200.0), PiecewiseLinear([(-100, -1.5), (0, 0), (200, 2)])], ids=str)
def test_pieces_of_a_probability_are_those_of_solving_again(attitude: Attitude) -> None:
    diagram = oil().with_attitude(attitude)
    found = diagram.sensitivity("oil", "dry")
    for p in np.linspace(0.02, 0.98, 13):
        changed = diagram.changed([Chance("oil", ["dry", "wet", "soaking"], [p, (1 - p) * 0.6, (1 - p) * 0.4])])
        assert found.utility_at(float(p)) == pytest.approx(changed.solve().utility, abs=1e-9)
    assert len(found.thresholds) >= 2


def test_knowing_everything_is_worth_what_it_adds_to_the_certainty_equivalent() -> None:
    diagram = oil().with_attitude(Exponential(200.0))
    informed = diagram.changed([diagram.decision("test").knowing(["oil"])])
    perfect = Exponential(200.0).certainty_equivalent([0, 50, 200], [0.5, 0.3, 0.2])
    assert informed.solve().utility == pytest.approx(perfect, abs=1e-12)
    assert diagram.perfect_information().value == pytest.approx(perfect - diagram.solve().utility, abs=1e-12)


def test_a_long_process_under_exponential_utility_keeps_what_matters_small() -> None:
    """States that are seen: the sum so far is a factor that changes no choice, so that no history is needed."""
    generator = np.random.default_rng(0)
    states, options = ["0", "1", "2"], ["l", "r"]
    pieces: list[object] = [Chance("s 0", states, generator.dirichlet([1, 1, 1]))]
    for k in range(25):
        knows = [f"s {k}", *([f"a {k - 1}"] if k else [])]
        moves = generator.dirichlet([1, 1, 1], 6)
        pieces += [
            Decision(f"a {k}", options, knows),
            Chance(f"s {k + 1}", states, moves, [f"a {k}", f"s {k}"]),
            Utility(f"u {k}", generator.normal(size=(2, 3)), [f"a {k}", f"s {k + 1}"]),
        ]
    diagram = InfluenceDiagram(pieces, attitude=Exponential(1.0))  # type: ignore[arg-type]
    value = np.zeros(3)  # log E exp(-sum of what is still to come), by state
    for k in reversed(range(25)):
        moves = diagram.network.table(f"s {k + 1}").reshape(2, 3, 3)
        value = np.log((moves * np.exp(-diagram.utility(f"u {k}") + value)[:, None, :]).sum(axis=-1)).min(axis=0)
    expected = -math.log(float(diagram.network.table("s 0").ravel() @ np.exp(value)))
    solution = diagram.solve()
    assert solution.utility == pytest.approx(expected, abs=1e-10)
    assert all(set(policy.knows) <= {f"s {k}"} for k, policy in enumerate(solution.policies.values()))
