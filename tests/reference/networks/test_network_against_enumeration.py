"""Exact inference against the sum over the whole joint distribution, on random networks with zeros in their tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayeswise.foundation.errors import ImpossibleEvidenceError
from tests.cases.network_cases import joint_by_enumeration, random_network, summed

CLOSE = 1e-12


@pytest.mark.parametrize("block", range(10))
def test_any_question_to_any_network_is_answered_as_by_enumeration(block: int) -> None:
    impossible = 0
    for seed in range(30 * block, 30 * block + 30):
        network = random_network(seed)
        joint = joint_by_enumeration(network)
        generator = np.random.default_rng(seed)
        names = list(generator.permutation(network.names))
        n_seen, n_queried = int(generator.integers(0, 4)), int(generator.integers(1, 4))
        evidence = {name: generator.choice(network.states(name)) for name in names[:n_seen]}
        queried = names[1 : 1 + n_queried]  # may contain an observed node
        soft = {name: {state: generator.random() for state in network.states(name)} for name in names[-1:]}
        expected, total = summed(network, joint, queried, evidence, soft)
        if total == 0.0:
            impossible += 1
            with pytest.raises(ImpossibleEvidenceError):
                network.query(queried, evidence, soft=soft)
            with pytest.raises(ImpossibleEvidenceError):
                network.marginals(evidence, soft=soft)
            assert network.log_evidence(evidence, soft=soft) == -math.inf
            continue
        answer = network.query(queried, evidence, soft=soft)
        keys = [states[0] if len(queried) == 1 else states for states in expected]
        assert [answer[key] for key in keys] == pytest.approx([p / total for p in expected.values()], abs=CLOSE)
        assert network.log_evidence(evidence, soft=soft) == pytest.approx(math.log(total), abs=CLOSE)
        assert answer.log_evidence == pytest.approx(math.log(total), abs=CLOSE)
        for name, marginal in network.marginals(evidence, soft=soft).items():
            alone, _ = summed(network, joint, [name], evidence, soft)
            assert marginal.cells == pytest.approx([p / total for p in alone.values()], abs=CLOSE)
        assert_best(network, joint, list(network.names), None, evidence, soft)
        assert_best(network, joint, queried, queried, evidence, soft)
    assert impossible < 30


def assert_best(network, joint, nodes, queried, evidence, soft) -> None:  # type: ignore[no-untyped-def]
    by_states, total = summed(network, joint, nodes, evidence, soft)
    best = network.most_probable(evidence, nodes=queried, soft=soft)
    assert math.exp(best.log_joint) == pytest.approx(max(by_states.values()), rel=1e-9)
    assert by_states[tuple(best.states[name] for name in nodes)] == pytest.approx(max(by_states.values()), rel=1e-9)
    assert best.probability == pytest.approx(max(by_states.values()) / total, rel=1e-9)
