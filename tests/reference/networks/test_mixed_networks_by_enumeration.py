"""Networks of states and numbers against enumeration of the states and the joint normal of the numbers given them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

from bayeswise.foundation.errors import NetworkError, ParameterError, TooLargeError
from bayeswise.networks import Node
from bayeswise.networks.mixed import GaussianNode, MixedNetwork, NormalMixture
from tests.cases.network_cases import random_mixed_network


def joint_normal(network: MixedNetwork, states: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of all numbers given all states: x = (I - B)^-1 (a + noise)."""
    names = list(network.numbers)
    d = len(names)
    b, a, noise = np.zeros((d, d)), np.zeros(d), np.zeros(d)
    for k, name in enumerate(names):
        node = network.node(name)
        assert isinstance(node, GaussianNode)
        row = 0
        for parent in node.given:
            levels = network.discrete.states(parent)
            row = row * len(levels) + levels.index(states[parent])
        a[k], noise[k] = node.intercept[row], node.stddev[row]
        for parent, weight in node.weights.items():
            b[k, names.index(parent)] = weight[row]
    inverse = np.linalg.inv(np.eye(d) - b)
    return inverse @ a, inverse @ np.diag(noise**2) @ inverse.T


def enumerated(network: MixedNetwork, evidence: dict[str, Any]) -> list[tuple[dict[str, Any], float, Any, Any]]:
    """Each configuration of all states, its log weight with the evidence, and the mean and covariance given it."""
    numbers = list(network.numbers)
    seen = [k for k, name in enumerate(numbers) if name in evidence]
    free = [k for k in range(len(numbers)) if k not in seen]
    found = []
    for labels in itertools.product(*(network.discrete.states(name) for name in network.discrete)):
        states = dict(zip(network.discrete, labels, strict=True))
        if any(states[name] != value for name, value in evidence.items() if name in states):
            continue
        log_weight = network.discrete.log_evidence(states)
        mean, covariance = joint_normal(network, states)
        if seen:
            values = np.array([evidence[numbers[k]] for k in seen])
            log_weight += multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)]).logpdf(values)
            gain = covariance[np.ix_(free, seen)] @ np.linalg.inv(covariance[np.ix_(seen, seen)])
            mean_free = mean[free] + gain @ (values - mean[seen])
            covariance_free = covariance[np.ix_(free, free)] - gain @ covariance[np.ix_(seen, free)]
        else:
            mean_free, covariance_free = mean[free], covariance[np.ix_(free, free)]
        found.append((states, log_weight, mean_free, covariance_free))
    return found


def some_evidence(network: MixedNetwork, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed + 1000)
    row = network.sample(1, seed)
    return {name: row[name][0] for name in network if rng.random() < 0.4}


@pytest.mark.parametrize("seed", range(40))
def test_every_answer_is_that_of_enumeration(seed: int) -> None:
    network = random_mixed_network(seed)
    evidence = some_evidence(network, seed)
    cases = enumerated(network, evidence)
    logs = np.array([case[1] for case in cases])
    total = logsumexp(logs)
    weights = np.exp(logs - total)
    assert network.log_evidence(evidence) == pytest.approx(total, rel=1e-10, abs=1e-10)
    free = [name for name in network.numbers if name not in evidence]
    means = np.array([case[2] for case in cases])
    mean = weights @ means
    off = means - mean
    covariance = np.einsum("c,cij->ij", weights, np.array([case[3] for case in cases]))
    covariance += np.einsum("c,ci,cj->ij", weights, off, off)
    if free:
        found = network.moments(free, evidence)
        np.testing.assert_allclose(found.mean, mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.covariance, covariance, rtol=1e-8, atol=1e-9)
    for k, name in enumerate(free):
        answer = network.query(name, evidence)
        assert isinstance(answer, NormalMixture)
        assert answer.mean == pytest.approx(mean[k], rel=1e-9, abs=1e-9)
        assert answer.stddev == pytest.approx(math.sqrt(covariance[k, k]), rel=1e-9)
        at = mean[k] + 0.7
        exact = sum(w * norm(c[2][k], math.sqrt(c[3][k, k])).cdf(at) for w, c in zip(weights, cases, strict=True))
        assert float(answer.cdf(at)) == pytest.approx(exact, abs=1e-10)
        assert answer.quantile(float(answer.cdf(at))) == pytest.approx(at, abs=1e-8)
        assert answer.log_evidence == pytest.approx(total, rel=1e-10, abs=1e-10)
    for name in network.discrete:
        beliefs = network.query(name, evidence)
        for state in network.discrete.states(name):
            exact = sum(w for w, case in zip(weights, cases, strict=True) if case[0][name] == state)
            assert beliefs[state] == pytest.approx(exact, abs=1e-10)  # type: ignore[index]


@pytest.mark.parametrize("seed", range(10))
def test_setting_a_node_by_hand_cuts_it_from_its_parents(seed: int) -> None:
    network = random_mixed_network(seed)
    rng = np.random.default_rng(seed)
    by_hand = {"x1": 0.7} if rng.random() < 0.5 else {"s1": "v0"}
    nodes: list[Node | GaussianNode] = []
    for name in network:
        node = network.node(name)
        if name == "x1" and name in by_hand:
            node = GaussianNode("x1", 0.7, stddev=1e-9)
        elif name == "s1" and name in by_hand:
            states = network.discrete.states("s1")
            node = Node("s1", states, np.eye(len(states))[:1])
        nodes.append(node)
    cut = MixedNetwork(nodes)
    for name in network:
        if name in by_hand:
            continue
        mine, theirs = network.query(name, {"x4": 1.0} if name != "x4" else {}, do=by_hand), None
        theirs = cut.query(name, {"x4": 1.0} if name != "x4" else {})
        if isinstance(mine, NormalMixture) and isinstance(theirs, NormalMixture):
            assert mine.mean == pytest.approx(theirs.mean, abs=1e-6)
            assert mine.stddev == pytest.approx(theirs.stddev, rel=1e-6)
        else:
            assert dict(mine) == pytest.approx(dict(theirs), abs=1e-6)  # type: ignore[call-overload]


@pytest.mark.parametrize("seed", range(6))
def test_sampled_answers_lie_within_their_errors(seed: int) -> None:
    network = random_mixed_network(seed)
    evidence = some_evidence(network, seed)
    for name in network:
        exact, estimate = network.query(name, evidence), network.estimate(name, evidence, n_rows=20_000, seed=seed)
        if isinstance(exact, NormalMixture):
            assert isinstance(estimate, NormalMixture)
            assert abs(estimate.mean - exact.mean) <= 5 * estimate.standard_error + 1e-9 * (1 + abs(exact.mean))
        else:
            assert not isinstance(estimate, NormalMixture)
            for state, p in exact.items():
                assert abs(estimate.probability[state] - p) <= 5 * estimate.standard_error[state] + 1e-12


def test_large_numbers_beside_small_deviations_lose_no_digits() -> None:
    """Two measurements of one number near 1e9 with deviations of 1e-3: the mean lies between them."""
    network = MixedNetwork([
        GaussianNode("truth", 1e9, stddev=1e3),
        GaussianNode("first", 0, {"truth": 1.0}, stddev=1e-3),
        GaussianNode("second", 0, {"truth": 1.0}, stddev=1e-3),
    ])  # fmt: skip
    found = network.query("truth", {"first": 1e9 + 0.25, "second": 1e9 + 0.5})
    assert isinstance(found, NormalMixture)
    assert found.mean - 1e9 == pytest.approx(0.375, abs=1e-6)
    assert found.stddev == pytest.approx(1e-3 / math.sqrt(2), rel=1e-6)


def test_a_hundred_numbers_agree_with_the_joint_normal() -> None:
    """As many as arth150 has, and as sparse: 107 nodes, about 150 edges."""
    rng = np.random.default_rng(7)
    nodes: list[Node | GaussianNode] = []
    for k in range(107):
        above = rng.choice(k, size=min(k, int(rng.integers(0, 4))), replace=False) if k else []
        nodes.append(
            GaussianNode(f"g{k}", rng.normal(), {f"g{j}": rng.normal(scale=0.7) for j in above}, rng.uniform(0.3, 1.5))
        )
    network = MixedNetwork(nodes)
    evidence = {f"g{k}": float(rng.normal()) for k in range(0, 107, 9)}
    ((_, log_weight, mean, covariance),) = enumerated(network, evidence)
    free = [name for name in network if name not in evidence]
    found = network.moments(free, evidence)
    assert network.log_evidence(evidence) == pytest.approx(log_weight, rel=1e-9)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_a_learned_network_comes_near_the_one_that_made_the_rows(seed: int) -> None:
    network = random_mixed_network(seed, n_states=2, n_numbers=4)
    rows = network.sample(20_000, seed)
    learned = MixedNetwork.learn(rows, parents={name: network.parents(name) for name in network})
    for name in network.numbers:
        mine, theirs = learned.node(name), network.node(name)
        assert isinstance(mine, GaussianNode) and isinstance(theirs, GaussianNode)
        seen = list(zip(*(rows[parent] for parent in theirs.given), strict=True)) or [()] * 20_000
        levels = itertools.product(*(network.discrete.states(parent) for parent in theirs.given))
        n_rows = np.array([seen.count(configuration) for configuration in levels])
        off = np.abs(np.log(mine.stddev / theirs.stddev)) * np.sqrt(2.0 * n_rows)
        assert (off < 5.0).all()  # log of a standard deviation from n rows: standard error 1 / sqrt(2 n)
    found = MixedNetwork.learn(rows)
    test = network.sample(300, seed + 50)
    one_by_one = [{name: test[name][k] for name in network} for k in range(300)]
    lost = sum(network.log_evidence(row) - found.log_evidence(row) for row in one_by_one) / 300
    assert abs(lost) < 0.05  # nats for a row it has not seen


def test_lines_are_those_of_least_squares() -> None:
    rng = np.random.default_rng(3)
    x, z, kind = rng.normal(50, 9, 400), rng.normal(size=400), rng.choice(["a", "b"], 400)
    y = np.where(kind == "a", 3 + 2 * x, -x) + z + rng.normal(size=400)
    rows = {"kind": kind.tolist(), "x": x, "z": z, "y": y}
    learned = MixedNetwork.learn(rows, parents={"y": ["kind", "x", "z"]}).node("y")
    assert isinstance(learned, GaussianNode)
    for place, label in enumerate("ab"):
        chosen = kind == label
        design = np.column_stack([np.ones(chosen.sum()), x[chosen], z[chosen]])
        line, (rest,), *_ = np.linalg.lstsq(design, y[chosen], rcond=None)
        assert learned.intercept[place] == pytest.approx(line[0], rel=1e-8)
        assert [learned.weights["x"][place], learned.weights["z"][place]] == pytest.approx(line[1:].tolist(), rel=1e-8)
        assert learned.stddev[place] == pytest.approx(math.sqrt(rest / chosen.sum()), rel=1e-8)


def test_the_order_of_rows_changes_no_bit(tmp_path: Any) -> None:
    rows = random_mixed_network(5, n_states=2, n_numbers=3).sample(500, 5)
    turned = {name: list(reversed(list(column))) for name, column in rows.items()}
    names = ["first.bayeswise", "second.bayeswise"]
    for name, table in zip(names, (rows, turned), strict=True):
        MixedNetwork.learn(table).save(tmp_path / name)
    assert (tmp_path / names[0]).read_bytes() == (tmp_path / names[1]).read_bytes()


def test_a_file_gives_back_the_same_network(tmp_path: Any) -> None:
    import bayeswise as bw

    network = random_mixed_network(11)
    network.save(tmp_path / "m.bayeswise")
    again = bw.load(tmp_path / "m.bayeswise")
    assert again == network and again.query("x2").mean == network.query("x2").mean  # type: ignore[union-attr]


def test_what_cannot_be_is_refused_with_a_remedy() -> None:
    state, number = Node("s", ["a", "b"], 0.5), GaussianNode("x")
    with pytest.raises(NetworkError, match="its parent 'x' is a number"):
        MixedNetwork([number, Node("s", ["a", "b"], [0.1, 0.2], ["x"])])
    with pytest.raises(NetworkError, match="put it into given"):
        MixedNetwork([state, GaussianNode("y", 0, {"s": 1.0})])
    with pytest.raises(NetworkError, match="standard deviation of 'y' is 0"):
        MixedNetwork([GaussianNode("y", stddev=0)])
    with pytest.raises(NetworkError, match="not given for \\('b',\\)"):
        MixedNetwork([state, GaussianNode("y", {"a": 1}, given=["s"])])
    network = MixedNetwork([state, GaussianNode("y", {"a": 1, ...: 2}, given=["s"])])
    for value in ("tall", math.nan, None):
        with pytest.raises(ParameterError, match="node 'y' is a number"):
            network.query("s", {"y": value})
    with pytest.raises(ParameterError, match="both observed and set"):
        network.query("s", {"y": 1.0}, do={"y": 2.0})
    many = [Node(f"s{k}", ["a", "b"], 0.5) for k in range(20)]
    line = [GaussianNode(f"x{k}", {"a": 0, "b": 1}, {f"x{k - 1}": 1} if k else {}, given=[f"s{k}"]) for k in range(20)]
    with pytest.raises(TooLargeError, match="1,048,576 configurations"):
        MixedNetwork([*many, *line]).query("x19")
    estimate = MixedNetwork([*many, *line]).estimate("x19", n_rows=5_000)
    assert isinstance(estimate, NormalMixture)
    assert abs(estimate.mean - 10.0) < 5 * estimate.standard_error
