"""Laws of belief networks, on random ones with zeros in their tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayeswise.foundation.errors import ImpossibleEvidenceError
from tests.cases.network_cases import random_network

CLOSE = 1e-12
seeds = st.integers(0, 10_000)


def drawn(seed: int, n_seen: int):  # type: ignore[no-untyped-def]
    """A network, and evidence that can happen because it was sampled from it."""
    network = random_network(seed, n_nodes=9)
    row = network.sample(1, seed)
    names = list(np.random.default_rng(seed).permutation(network.names))
    return network, names, {name: row[name][0] for name in names[:n_seen]}


@given(seeds)
def test_the_marginal_of_the_joint_is_the_posterior(seed: int) -> None:
    network, names, evidence = drawn(seed, 2)
    joint = network.query(names[-2:], evidence).probability
    assert joint.sum(axis=1) == pytest.approx(network.query(names[-2], evidence).cells, abs=CLOSE)
    assert joint.sum(axis=0) == pytest.approx(network.query(names[-1], evidence).cells, abs=CLOSE)


@given(seeds)
def test_the_chain_rule_holds(seed: int) -> None:
    network, names, evidence = drawn(seed, 3)
    total = 0.0
    for k, name in enumerate(names[:3]):
        before = {each: evidence[each] for each in names[:k]}
        total += float(np.log(network.query(name, before)[evidence[name]]))
    assert network.log_evidence(evidence) == pytest.approx(total, abs=CLOSE)


@given(seeds)
def test_evidence_that_is_d_separated_changes_nothing(seed: int) -> None:
    network, names, evidence = drawn(seed, 4)
    extra, *given_names = names[:4]
    for target in names[4:]:
        if network.d_separated(target, extra, given_names):
            without = network.query(target, {name: evidence[name] for name in given_names})
            assert network.query(target, evidence).cells == pytest.approx(without.cells, abs=CLOSE)


@given(seeds)
def test_the_order_of_evidence_does_not_matter(seed: int) -> None:
    network, names, evidence = drawn(seed, 3)
    turned = dict(reversed(list(evidence.items())))
    assert network.query(names[-1], evidence).cells.tolist() == network.query(names[-1], turned).cells.tolist()


@given(seeds)
def test_all_marginals_at_once_and_one_by_one_agree(seed: int) -> None:
    network, _, evidence = drawn(seed, 3)
    for name, marginal in network.marginals(evidence).items():
        assert marginal.cells == pytest.approx(network.query(name, evidence).cells, abs=CLOSE)


@given(seeds)
def test_rows_of_a_table_are_answered_as_queries_or_refused_as_queries(seed: int) -> None:
    network = random_network(seed, n_nodes=7)
    generator = np.random.default_rng(seed)
    target, *others = generator.permutation(network.names)
    rows = [
        {name: generator.choice([*network.states(name), None]) for name in others}  # type: ignore[list-item]
        for _ in range(4)
    ]
    for row in rows:
        seen = {name: state for name, state in row.items() if state is not None}
        try:
            expected = network.query(target, seen).cells
        except ImpossibleEvidenceError:
            with pytest.raises(ImpossibleEvidenceError, match="row 1"):
                network.predict_proba(target, [row])
        else:
            assert network.predict_proba(target, [row])[0] == pytest.approx(expected, abs=CLOSE)
