"""Mutual information, sensitivity and weights of evidence beside sums over the whole joint, in fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

from bayeswise.foundation.errors import ParameterError
from bayeswise.networks import BeliefNetwork, Node
from bayeswise.networks.explaining.account import entropy
from bayeswise.networks.explaining.sensitivity import Sensitivity
from bayeswise.render.numbers import percent
from tests.cases.network_cases import asia, joint_by_enumeration, random_network, summed


def possible_evidence(network: BeliefNetwork, seed: int) -> dict[str, object]:
    """Two nodes in states that occur together."""
    row = network.sample(1, seed=seed)
    names = np.random.default_rng(seed).choice(list(network), 2, replace=False)
    return {str(name): row[str(name)][0] for name in names}


# -- mutual information -----------------------------------------------------------------------------------------


def information_by_sums(
    network: BeliefNetwork,
    query: str,
    other: str,
    evidence: Mapping[str, object],
    soft: Mapping[str, Mapping[object, float]] | None = None,
) -> float:
    joint = joint_by_enumeration(network)
    both, total = summed(network, joint, [query, other], evidence, soft)
    left, _ = summed(network, joint, [query], evidence, soft)
    right, _ = summed(network, joint, [other], evidence, soft)
    return sum(p / total * math.log2(p * total / (left[(q,)] * right[(x,)])) for (q, x), p in both.items() if p > 0.0)


@pytest.mark.parametrize("seed", range(40))
def test_mutual_information_is_that_of_the_joint(seed: int) -> None:
    network = random_network(seed)
    evidence = possible_evidence(network, seed)
    query = next(name for name in network if name not in evidence)
    found = network.mutual_information(query, evidence)
    assert set(found) == set(network) - {query, *evidence}
    assert list(found.values()) == sorted(found.values(), reverse=True)
    for other, bits in found.items():
        assert bits == pytest.approx(information_by_sums(network, query, other, evidence), abs=1e-12)
        assert bits <= entropy(network.query(query, evidence).cells) + 1e-12


def test_mutual_information_is_symmetric_and_zero_where_the_graph_says_so() -> None:
    network = asia()
    evidence = {"dyspnoea": "yes"}
    from_cancer = network.mutual_information("cancer", evidence)
    assert from_cancer["x-ray"] == pytest.approx(network.mutual_information("x-ray", evidence)["cancer"], abs=1e-14)
    assert network.mutual_information("visit")["smoking"] == 0.0
    with pytest.raises(ParameterError, match="is observed"):
        network.mutual_information("dyspnoea", evidence)


@pytest.mark.parametrize("seed", range(40))
def test_mutual_information_beside_soft_evidence_is_that_of_the_joint(seed: int) -> None:
    network = random_network(seed)
    hinted, query = list(network)[seed % 6], list(network)[(seed + 1) % 6]
    soft = {hinted: {state: 1.0 / (2 + k) for k, state in enumerate(network.states(hinted))}}
    for other, bits in network.mutual_information(query, soft=soft).items():
        assert bits == pytest.approx(information_by_sums(network, query, other, {}, soft), abs=1e-12)


def test_soft_evidence_about_an_effect_joins_its_causes() -> None:
    causes = [Node("rain", ["yes", "no"], 0.2), Node("hose", ["yes", "no"], 0.3)]
    wet = Node("wet", ["yes", "no"], np.array([[1.0, 0.0], [0.9, 0.1], [0.8, 0.2], [0.0, 1.0]]), ["rain", "hose"])
    network = BeliefNetwork([*causes, wet])
    soft = {"wet": {"yes": 1.0, "no": 0.1}}
    weight = {each.node: each for each in network.explain("rain", {"hose": "yes"}, state="yes", soft=soft).findings}

    def log_odds(evidence: dict[str, str]) -> float:
        p = network.query("rain", evidence, soft=soft)["yes"]
        return math.log(p / (1 - p))

    assert weight["hose"].relevant
    assert weight["hose"].beside == pytest.approx(log_odds({"hose": "yes"}) - log_odds({}), abs=1e-12)
    assert network.d_separated("rain", "hose")
    assert not network.d_separated("rain", "hose", soft=["wet"])
    assert network.d_connected("rain") == ("wet",)
    assert network.d_connected("rain", soft=["wet"]) == ("hose", "wet")
    assert network.d_connected("rain", ["wet"]) == ("hose",)


# -- paths ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_in_a_tree_a_finding_has_one_path_and_all_that_passes_arrives(seed: int) -> None:
    generator = np.random.default_rng(seed)
    above = [None, *(int(generator.integers(0, k)) for k in range(1, 8))]
    nodes = [
        Node(f"n{k}", [0, 1, 2], generator.dirichlet(np.ones(3), 1 if p is None else 3), [] if p is None else [f"n{p}"])
        for k, p in enumerate(above)
    ]
    network = BeliefNetwork(nodes)
    (path,) = network.explain("n7", {"n3": 1}).paths()

    def upwards(k: int) -> list[int]:
        parent = above[k]
        return [k] if parent is None else [k, *upwards(parent)]

    meeting = next(k for k in upwards(3) if k in upwards(7))
    down = upwards(7)[: upwards(7).index(meeting)]
    assert path.nodes == tuple(f"n{k}" for k in [*upwards(3)[: upwards(3).index(meeting) + 1], *reversed(down)])
    p, q = network.query("n7", {"n3": 1}).cells, network.query("n7").cells
    assert path.bits == pytest.approx(float((p * np.log2(p / q)).sum()), rel=1e-9)


def test_paths_run_through_effects_that_are_observed_and_not_through_others() -> None:
    network = asia()
    paths = network.explain("cancer", {"smoking": "yes", "dyspnoea": "yes"}).paths()
    assert {path.nodes for path in paths} == {
        ("smoking", "cancer"),
        ("smoking", "bronchitis", "dyspnoea", "either", "cancer"),
        ("dyspnoea", "either", "cancer"),  # and not by bronchitis and smoking, which is observed
    }
    assert [path.bits for path in paths] == sorted((path.bits for path in paths), reverse=True)
    assert {path.nodes for path in network.explain("cancer", {"smoking": "yes"}).paths()} == {("smoking", "cancer")}
    assert network.explain("cancer", {"smoking": "yes", "dyspnoea": "yes"}).paths(1) == paths[:1]
    with pytest.raises(ParameterError, match="paths"):
        network.explain("cancer", {"smoking": "yes"}).paths(-1)


# -- sensitivity ------------------------------------------------------------------------------------------------


def exact_answer(
    network: BeliefNetwork, entry: Sensitivity, t: Fraction, evidence: Mapping[str, object]
) -> list[Fraction]:
    """P(query | evidence) with the entry set to t, summed in fractions."""
    tables: dict[str, list[list[Fraction]]] = {
        n: [list(map(Fraction, row)) for row in network.table(n).tolist()] for n in network
    }
    row = 0
    for parent in network.parents(entry.node):
        row = row * len(network.states(parent)) + network.states(parent).index(entry.given[parent])
    k = network.states(entry.node).index(entry.state)
    old = tables[entry.node][row]
    rest = sum(p for j, p in enumerate(old) if j != k)
    share = [p / rest if rest else Fraction(1, max(1, len(old) - 1)) for p in old]
    tables[entry.node][row] = [t if j == k else (1 - t) * share[j] for j in range(len(old))]
    places = {name: j for j, name in enumerate(network)}
    answer = dict.fromkeys(network.states(entry.query), Fraction(0))
    for states in itertools.product(*(network.states(name) for name in network)):
        if any(states[places[name]] != state for name, state in evidence.items()):
            continue
        p = Fraction(1)
        for name, state in zip(network, states, strict=True):
            at = 0
            for parent in network.parents(name):
                at = at * len(network.states(parent)) + network.states(parent).index(states[places[parent]])
            p *= tables[name][at][network.states(name).index(state)]
        answer[states[places[entry.query]]] += p
    total = sum(answer.values())
    return [p / total for p in answer.values()] if total else []


@pytest.mark.parametrize("seed", range(8))
def test_the_sensitivity_function_is_the_answer_of_the_changed_network(seed: int) -> None:
    network = random_network(seed, n_nodes=4)
    evidence = dict(list(possible_evidence(network, seed).items())[:1])
    query = next(name for name in network if name not in evidence)
    generator = np.random.default_rng(seed)
    entries = [each for each in network.sensitivity(query, evidence) if len(network.states(each.node)) > 1]
    for entry in generator.choice(np.array(entries, dtype=object), min(6, len(entries)), replace=False):
        for t in (Fraction(1, 7), Fraction(3, 4), Fraction(entry.value)):
            exact = exact_answer(network, entry, t, evidence)
            if not exact:
                continue
            for state, p in zip(entry.states, exact, strict=True):
                assert entry.probability(state, float(t)) == pytest.approx(float(p), abs=1e-12)
                a, b, c, d = entry.coefficients(state)
                assert (a * float(t) + b) / (c * float(t) + d) == pytest.approx(float(p), abs=1e-11)
            step = Fraction(1, 10**9)
            beyond = exact_answer(network, entry, t + step, evidence)
            if beyond and t + step < 1:
                for state, p, q in zip(entry.states, exact, beyond, strict=True):
                    slope = float((q - p) / step)  # exact but for the second derivative
                    assert entry.derivative(state, float(t)) == pytest.approx(slope, abs=1e-6, rel=1e-6)


def test_the_best_state_stays_best_within_the_range_and_not_beyond() -> None:
    network = asia()
    for entry in network.sensitivity("bronchitis", {"dyspnoea": "yes", "visit": "yes"})[:12]:
        low, high = entry.stable_range()
        assert low <= entry.value <= high
        for t in (low, (low + high) / 2, high):
            others = [entry.probability(state, t) for state in entry.states if state != entry.best]
            assert entry.probability(entry.best, t) >= max(others) - 1e-12
        if high < 1.0:
            assert entry.probability(entry.best, high + 1e-6) < 0.5
        if low > 0.0:
            assert entry.probability(entry.best, low - 1e-6) < 0.5


def test_the_range_for_a_threshold_ends_where_the_probability_reaches_it() -> None:
    entry = next(
        each
        for each in asia().sensitivity("cancer", {"x-ray": "yes"})
        if each.entry == "P(cancer = yes | smoking = yes)"
    )
    low, high = entry.range_for("yes", low=0.5) or (math.nan, math.nan)
    assert entry.probability("yes", low) == pytest.approx(0.5, abs=1e-12)
    assert high == 1.0
    assert entry.range_for("yes", low=0.999) is None


def test_tables_that_cannot_matter_have_no_influence() -> None:
    network = asia()
    below = network.sensitivity("smoking", {"cancer": "yes"}, tables=["x-ray", "dyspnoea", "visit"])
    assert {entry.impact for entry in below} == {0.0}
    with pytest.raises(ParameterError, match="is observed"):
        network.sensitivity("smoking", {"smoking": "yes"})


def test_evidence_beyond_doubles_has_a_sensitivity_too() -> None:
    """P(evidence) is about 1e-600: two hundred readings of one cause."""
    nodes = [Node("cause", ["yes", "no"], 0.5)]
    nodes += [Node(f"r{k}", ["yes", "no"], [1e-3, 1.01e-3], ["cause"]) for k in range(200)]
    network = BeliefNetwork(nodes)
    [entry, *_] = network.sensitivity("cause", {f"r{k}": "yes" for k in range(200)}, tables=["cause"])
    assert entry.probability("yes") == pytest.approx(1 / (1 + 1.01**200), rel=1e-9)


# -- weights of evidence ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_weights_are_changes_of_the_log_odds_of_the_joint(seed: int) -> None:
    network = random_network(seed, zeros=0.1)
    joint = joint_by_enumeration(network)
    evidence = possible_evidence(network, seed)
    query = next(name for name in network if name not in evidence and len(network.states(name)) > 1)
    account = network.explain(query, evidence)

    def log_odds(seen: Mapping[str, object]) -> float:
        found, total = summed(network, joint, [query], seen)
        p, rest = found[(account.state,)], total - found[(account.state,)]
        return math.inf if rest <= 1e-15 * total else math.log(p) - math.log(rest) if p else -math.inf

    for finding in account.findings:
        others = {name: state for name, state in evidence.items() if name != finding.node}
        for weight, before, after in (
            (finding.alone, log_odds({}), log_odds({finding.node: finding.value})),
            (finding.beside, log_odds(others), log_odds(evidence)),
        ):
            if weight is None:
                assert math.isinf(before)
            elif math.isinf(weight):
                assert math.isinf(after)
            else:
                assert weight == pytest.approx(after - before, abs=1e-9)
    log_apart = sum(math.log(summed(network, joint, [], {n: s})[1]) for n, s in evidence.items())
    assert account.conflict == pytest.approx(log_apart - math.log(summed(network, joint, [], evidence)[1]), abs=1e-9)


def test_a_finding_that_the_graph_separates_says_nothing() -> None:
    account = asia().explain("cancer", {"smoking": "yes", "bronchitis": "yes", "visit": "no"})
    silent = {finding.node for finding in account.findings if not finding.relevant}
    assert silent == {"bronchitis", "visit"}
    assert all(finding.beside == 0.0 for finding in account.findings if not finding.relevant)
    assert "No effect given the others: bronchitis = yes; visit = no." in account.to_text()


def test_the_faces_of_an_account_say_the_same() -> None:
    account = asia().explain("cancer", {"visit": "yes"}, state="yes", soft={"x-ray": {"yes": 0.8, "no": 0.1}})
    facts = account.to_dict()
    assert facts["posterior"]["yes"] == account.posterior["yes"]
    assert {finding["node"] for finding in facts["findings"]} == {"visit", "x-ray"}
    assert account.to_text().startswith(f"Why cancer = yes: {account.posterior['yes']:.4g}, and 0.055 before")
    assert all(len(line) <= 80 for line in account.to_text().splitlines())
    assert percent(account.posterior["yes"]) in account.to_html()
    assert "<svg" in account.to_html()
    assert "Why" in account._repr_html_()


def test_what_is_certain_is_said_to_be_certain() -> None:
    account = asia().explain("either", {"cancer": "yes", "tuberculosis": "yes"})
    assert [finding.beside for finding in account.findings] == [None, None]
    assert account.uncertainty == 0.0
    assert "certain" in account.to_text()
    assert "certain" in account.to_html()
    with pytest.raises(ParameterError, match="is observed"):
        asia().explain("cancer", {"cancer": "yes"})


def test_hostile_names_stay_text_in_an_account() -> None:
    bad = '<img src=x onerror="alert(1)">'
    network = BeliefNetwork([Node(bad, [bad, "b"], 0.5), Node("c", [bad, "d"], [0.1, 0.8], [bad])])
    account = network.explain(bad, {"c": bad})
    assert "<img" not in account.to_html()
    assert "<img" not in account._repr_html_()
