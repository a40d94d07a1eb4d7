"""Policies that choose by chance: soft-max, mixtures, files of policies, and what they lose to the best."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayeswise.diagrams import Decision, Exponential, Policy, mixed
from bayeswise.diagrams.files import read_policies
from bayeswise.foundation.errors import NetworkError, ParameterError, SourceError
from tests.cases.diagram_cases import cases, gain, oil, pigs, probability, random_diagram


def value_by_enumeration(diagram: Any, policies: dict[str, Policy]) -> float:
    """sum over all worlds of P(chances) P(options) gain."""
    total = 0.0
    for case in cases(diagram, diagram.names):
        p = math.prod(float(probability(diagram, name, case)) for name in diagram.chances)
        for decision, policy in policies.items():
            row = 0
            for node in policy.knows:
                row = row * len(diagram.states(node)) + diagram.states(node).index(case[node])
            p *= policy.table[row, diagram.states(decision).index(case[decision])]
        total += p * float(gain(diagram, case))
    return total


@pytest.mark.parametrize("seed", range(20))
def test_a_policy_by_chance_leads_to_the_mean_over_all_worlds(seed: int) -> None:
    diagram = random_diagram(seed, n_nodes=5, n_decisions=2)
    policies = diagram.solve().softmax(0.7)
    comparison = diagram.compare(policies)
    assert comparison.utility == pytest.approx(value_by_enumeration(diagram, policies), abs=1e-12)
    assert comparison.regret == pytest.approx(diagram.solve().utility - comparison.utility, abs=1e-12)


def test_soft_max_goes_from_the_best_option_to_all_alike() -> None:
    solution = oil().solve()
    assert oil().compare(solution.softmax(1e-3)).regret == pytest.approx(0.0, abs=1e-9)
    alike = solution.softmax(1e12)
    assert np.allclose(alike["drill"].table, 0.5)
    losses = [oil().compare(solution.softmax(t)).regret for t in (1, 10, 100, 1_000)]
    assert losses == sorted(losses)
    test = solution.policies["test"].softmax(5.0)
    assert test.table[0, 0] / test.table[0, 1] == pytest.approx(math.exp(2.5 / 5.0))  # 22.5 against 20


def test_soft_max_never_takes_a_forbidden_option() -> None:
    forbidden = [{"drill": "yes", "report": ["diffuse", "not done"]}]
    diagram = oil().changed([Decision("drill", ["yes", "no"], ["test", "report"], forbidden=forbidden)])
    policy = diagram.solve().softmax(50.0)["drill"]
    columns = policy.to_columns()
    for report, p in zip(columns["report"], columns["P(yes)"], strict=True):
        assert (p == 0.0) == (report in ("diffuse", "not done"))
    assert diagram.compare({"drill": policy}).regret > 0.0


def test_a_mixture_is_worth_the_mean_where_one_decision_is_mixed() -> None:
    drill = oil().policy("drill", "yes")
    careful = oil().policy(
        "drill", {"closed": "yes", "open": "yes", "diffuse": "no", "not done": "no"}, knows=["report"]
    )
    both = mixed([drill, careful], [0.25, 0.75])
    values = [oil().evaluate({"test": "yes", "drill": each}).utility for each in (drill, careful, both)]
    assert values[2] == pytest.approx(0.25 * values[0] + 0.75 * values[1])
    assert both.knows == ("report",)


def test_the_best_policy_under_an_attitude_or_without_memory_is_compared_with_its_own_kind() -> None:
    averse = oil().with_attitude(Exponential(200))
    assert str(averse.compare({"test": "no"})).startswith("certainty equivalent 0; the best policies reach 5.89958")
    always = pigs().compare(dict.fromkeys(pigs().decisions, "treat"))
    assert 0.0 < always.regret < 300.0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: oil().solve().softmax(0.0), "the temperature is 0.0"),
        (lambda: oil().solve().softmax(float("nan")), "the temperature is nan"),
        (lambda: oil().policy("drill", "yes").softmax(1.0), "was given"),
        (lambda: mixed([], []), "there are 0 policies"),
        (lambda: mixed([oil().policy("drill", "yes")], [0.5]), "probabilities that add up to 1"),
        (lambda: mixed([oil().policy("drill", "yes")] * 2, [1.5, -0.5]), "probabilities that add up to 1"),
        (lambda: mixed([oil().policy(n, "yes") for n in ("drill", "test")], [0.5, 0.5]), "are two decisions"),
    ],
)
def test_policies_that_make_no_sense_are_refused(make: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        make()


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_policies_are_read_from_files(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"habits{suffix}"
    if suffix == ".toml":
        path.write_text(
            'test = { yes = 0.5, no = 0.5 }\n[drill]\nknows = ["report"]\n'
            'table = { open = "yes", closed = { yes = 0.9, no = 0.1 }, diffuse = "no", "not done" = "no" }\n'
        )
    else:
        path.write_text(
            '{"test": [0.5, 0.5], "drill": {"knows": ["report"], "table": {"open": "yes", '
            '"closed": [0.9, 0.1], "diffuse": "no", "not done": "no"}}}'
        )
    policies = read_policies(oil(), path)
    assert oil().evaluate(policies).utility == pytest.approx(value_by_enumeration(oil(), policies))
    assert policies["drill"].table.tolist() == [[0.9, 0.1], [1, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('dril = "yes"', "no decision 'dril'"),
        ('drill = "maybe"', "maybe"),
        ("test = [0.5, 0.6]", "test"),
        ("test = [nan, 1.0]", "test"),
        ('[drill]\nknows = ["oil"]\ntable = { dry = "no" }', "which is not known then"),
    ],
)
def test_mistakes_in_files_of_policies_are_reported_with_their_decision(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(SourceError, match=rf"p\.toml, .*{said}"):
        read_policies(oil(), tmp_path / "p.toml")


def test_a_decision_that_is_not_named_responds_at_its_best() -> None:
    never_test = oil().compare({"test": "no"})
    assert never_test.utility == pytest.approx(20.0)
    best = max(oil().evaluate({"test": "no", "drill": option}).utility for option in ("yes", "no"))
    assert never_test.utility == pytest.approx(best)
    assert list(itertools.islice(never_test.to_columns()["policies"], 2)) == ["given", "best"]
    with pytest.raises((ParameterError, NetworkError)):
        oil().compare({"test": "perhaps"})
