"""Tables from rows with missing values: the likelihood never falls, whole rows are counted, weights are copies."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswise.networks.learning import FamilyCounts
from bayeswise.networks.learning.coded_rows import CodedRows
from bayeswise.networks.learning.em.fitted_tables import em_steps, fit_tables, gradient_steps
from bayeswise.networks.learning.em.incomplete import IncompleteRows
from tests.cases.network_cases import random_network


def case(seed: int, share: float, hidden: bool) -> tuple[CodedRows, dict[str, tuple[str, ...]]]:
    network = random_network(seed, n_nodes=5, zeros=0.2)
    rows = CodedRows.of(network.sample(60, seed=seed), states={name: network.states(name) for name in network})
    codes = rows.codes.copy()
    codes[np.random.default_rng(seed).random(codes.shape) < share] = -1
    codes[:, 0] = -1 if hidden else codes[:, 0]
    return CodedRows(rows.names, rows.states, codes), {name: network.parents(name) for name in network}


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.0, 0.2, 0.6]),
    hidden=st.booleans(),
    steps=st.sampled_from([em_steps, gradient_steps]),
    prior=st.sampled_from(["none", "bdeu", "m-estimate"]),
)
def test_no_step_falls(seed: int, share: float, hidden: bool, steps, prior: str) -> None:  # type: ignore[no-untyped-def]
    rows, parents = case(seed, share, hidden)
    above = [tuple(rows.names.index(p) for p in parents[name]) for name in rows.names]
    seen = IncompleteRows.of(rows, above)
    generator = np.random.default_rng(seed)
    start = seen.layout.normalised(generator.gamma(1.0, size=seen.layout.starts[-1]) + 0.01)
    found = [
        point.objective for point in itertools.islice(steps(seen, start, seen.layout.pseudo_counts(prior, 1.0)), 25)
    ]
    assert (np.diff(found) >= -1e-10 * (1.0 + np.abs(found[:-1]))).all()


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), prior=st.sampled_from(["bdeu", "m-estimate", "none"]))
def test_nothing_missing_is_counting(seed: int, prior: str) -> None:
    rows, parents = case(seed, 0.0, hidden=False)
    states = {name: list(rows.states[k]) for k, name in enumerate(rows.names)}
    counted = FamilyCounts.of_rows(rows, parents, states=states).network(prior=prior, smoothing=3.0)
    found = fit_tables(rows, parents, prior=prior, smoothing=3.0)
    for name in counted:
        assert found.network.states(name) == counted.states(name)
        assert found.network.table(name) == pytest.approx(counted.table(name), abs=1e-14)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_weight_of_k_is_k_copies_and_order_does_not_matter(seed: int) -> None:
    rows, parents = case(seed, 0.3, hidden=False)
    generator = np.random.default_rng(seed)
    times = generator.integers(0, 4, len(rows.codes))
    copies = CodedRows(rows.names, rows.states, generator.permutation(np.repeat(rows.codes, times, axis=0)))
    weighted = fit_tables(rows, parents, weights=times, most_steps=5)
    assert weighted.trace == fit_tables(copies, parents, most_steps=5).trace
