"""Evidence that is a distribution: Jeffrey's rule for one node, fitting for several."""

from __future__ import annotations

import pytest

from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, PriorError
from bayeswise.networks import BeliefNetwork, Node
from tests.cases.network_cases import YES_NO, asia


def test_one_distribution_is_a_mean_over_its_states() -> None:
    network, target = asia(), {"yes": 0.7, "no": 0.3}
    answer = network.query("smoking", {"visit": "yes"}, distributions={"dyspnoea": target})
    parts = [network.query("smoking", {"visit": "yes", "dyspnoea": state})["yes"] for state in YES_NO]
    assert answer["yes"] == pytest.approx(0.7 * parts[0] + 0.3 * parts[1], abs=1e-12)


def test_several_distributions_hold_at_once() -> None:
    network = asia()
    target = {"smoking": {"yes": 0.8, "no": 0.2}, "bronchitis": {"yes": 0.35, "no": 0.65}}
    for name, distribution in target.items():
        assert network.query(name, distributions=target)["yes"] == pytest.approx(distribution["yes"], abs=1e-11)


def test_a_distribution_holds_beside_hard_and_soft_evidence() -> None:
    """The rest of the joint is scaled within each state of the node, so that its states have given probabilities."""
    network, soft = asia(), {"x-ray": {"yes": 0.9, "no": 0.2}}
    target = {"bronchitis": {"yes": 0.25, "no": 0.75}}
    answer = network.query("cancer", {"dyspnoea": "yes"}, soft=soft, distributions=target)
    parts = [network.query("cancer", {"dyspnoea": "yes", "bronchitis": b}, soft=soft)["yes"] for b in YES_NO]
    assert answer["yes"] == pytest.approx(0.25 * parts[0] + 0.75 * parts[1], abs=1e-12)
    with pytest.raises(ParameterError, match="both evidence and a distribution"):
        network.query("cancer", soft=soft, distributions={"x-ray": {"yes": 0.5, "no": 0.5}})


def test_the_impossible_and_the_improper_are_refused() -> None:
    sure = BeliefNetwork([Node("a", YES_NO, [0.0, 1.0])])
    with pytest.raises(ImpossibleEvidenceError, match=r"a = yes has probability 0, and its target is 0\.5"):
        sure.query("a", distributions={"a": {"yes": 0.5, "no": 0.5}})
    with pytest.raises(PriorError):
        asia().query("cancer", distributions={"smoking": {"yes": 0.5, "no": 0.6}})


def test_a_belief_that_is_not_a_distribution_is_called_a_belief() -> None:
    for wrong, what in (({"yes": 0.8, "no": 0.3}, "sums to 1.1"), ({"yes": 1.0}, "has no entry for state 'no'")):
        with pytest.raises(PriorError, match=f"^the belief about dyspnoea {what}"):
            asia().query("cancer", distributions={"dyspnoea": wrong})
