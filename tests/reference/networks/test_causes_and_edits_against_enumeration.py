"""Interventions, adjustment, edits, several explanations and conflicts beside sums over all cells."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bayeswise.foundation.errors import NetworkError, ParameterError
from bayeswise.networks import BeliefNetwork, Node
from tests.cases.network_cases import asia, random_network


def joint(network: BeliefNetwork) -> dict[tuple[object, ...], float]:
    """The probability of every combination of states, as the product of its entries."""
    cells = {}
    for states in itertools.product(*(network.states(name) for name in network)):
        row = dict(zip(network, states, strict=True))
        p = 1.0
        for name in network:
            place = 0
            for parent in network.parents(name):
                place = place * len(network.states(parent)) + network.states(parent).index(row[parent])
            p *= float(network.table(name)[place, network.states(name).index(row[name])])
        cells[states] = p
    return cells


def smoking() -> BeliefNetwork:
    """A gene that nobody sees makes smoking and cancer more likely; smoking acts through tar alone."""
    return BeliefNetwork(
        [
            Node("gene", ["y", "n"], 0.3),
            Node("smoking", ["y", "n"], [0.8, 0.3], ["gene"]),
            Node("tar", ["y", "n"], [0.9, 0.05], ["smoking"]),
            Node("cancer", ["y", "n"], [0.7, 0.4, 0.3, 0.05], ["tar", "gene"]),
        ]
    )


# -- causes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_an_intervention_drops_the_factor_of_the_node(seed: int) -> None:
    """P(rest | do(x)) is the joint without P(x | parents), at x."""
    network = random_network(seed, n_nodes=6)
    names = list(network)
    cause, effect = names[2], names[5]
    state = network.states(cause)[-1]
    done = network.query(effect, do={cause: state})
    for label in network.states(effect):
        expected = 0.0
        others = [name for name in names if name not in (cause, effect)]
        for states in itertools.product(*(network.states(name) for name in others)):
            row = dict(zip(others, states, strict=True)) | {cause: state, effect: label}
            p = 1.0
            for name in names:
                if name != cause:
                    place = 0
                    for parent in network.parents(name):
                        place = place * len(network.states(parent)) + network.states(parent).index(row[parent])
                    p *= float(network.table(name)[place, network.states(name).index(row[name])])
            expected += p
        assert done[label] == pytest.approx(expected, abs=1e-12)


def test_the_back_door_formula_gives_the_effect() -> None:
    network = smoking()
    effect = network.causal_effect("smoking", "cancer")
    assert effect.adjusted_by == ("gene",)
    for x in ("y", "n"):
        by_formula = sum(
            network.query("cancer", {"smoking": x, "gene": z})["y"] * network.query("gene")[z] for z in ("y", "n")
        )
        assert effect.done[x]["y"] == pytest.approx(by_formula, abs=1e-12)
    assert effect.difference("y", "y", "n") < effect.seen["y"]["y"] - effect.seen["n"]["y"]
    assert "adjust for gene" in str(effect)


def test_the_front_door_formula_gives_the_effect_where_the_confounder_is_hidden() -> None:
    network = smoking()
    effect = network.causal_effect("smoking", "cancer", observed=["smoking", "tar", "cancer"])
    assert effect.adjusted_by is None
    assert effect.through == ("tar",)
    for x in ("y", "n"):
        by_formula = sum(
            network.query("tar", {"smoking": x})[z]
            * sum(network.query("cancer", {"smoking": w, "tar": z})["y"] * network.query("smoking")[w] for w in "yn")
            for z in "yn"
        )
        assert effect.done[x]["y"] == pytest.approx(by_formula, abs=1e-12)
    hidden = network.causal_effect("smoking", "cancer", observed=["smoking", "cancer"])
    assert hidden.adjusted_by is None and hidden.through is None
    assert "neither" in str(hidden)


@pytest.mark.parametrize("seed", range(12))
def test_every_back_door_set_gives_the_effect(seed: int) -> None:
    network = random_network(seed, n_nodes=6, zeros=0.0)
    names = list(network)
    for cause, effect in itertools.permutations(names, 2):
        for chosen in network.adjustment_sets(cause, effect):
            for x in network.states(cause):
                done = network.query(effect, do={cause: x})
                total = dict.fromkeys(done, 0.0)
                for states in itertools.product(*(network.states(name) for name in chosen)):
                    given = dict(zip(chosen, states, strict=True))
                    weight = network.evidence_probability(given) if given else 1.0
                    for state, p in network.query(effect, {cause: x, **given}).items():
                        total[state] += weight * p
                assert [total[s] for s in done] == pytest.approx([done[s] for s in done], abs=1e-9)


def test_setting_an_effect_says_nothing_about_its_causes() -> None:
    network = asia()
    assert network.query("smoking", do={"cancer": "yes"})["yes"] == pytest.approx(network.query("smoking")["yes"])
    with pytest.raises(ParameterError, match="both cause and effect"):
        network.causal_effect("cancer", "cancer")
    with pytest.raises(ParameterError, match="has no state"):
        network.do({"cancer": "perhaps"})


# -- edits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_an_edge_that_is_added_and_removed_changes_nothing(seed: int) -> None:
    network = random_network(seed, n_nodes=6)
    for parent, child in itertools.permutations(network, 2):
        if child in network.parents(parent) or parent in network.parents(child):
            continue
        try:
            wider = network.edit.add_edge(parent, child)
        except NetworkError as error:
            assert "cycle" in str(error)
            continue
        for name in network:
            assert [*wider.query(name).values()] == pytest.approx([*network.query(name).values()], abs=1e-12)
        again = wider.edit.remove_edge(parent, child)
        assert again.parents(child) == network.parents(child)
        assert again.table(child) == pytest.approx(network.table(child), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_a_removed_edge_leaves_the_child_as_it_is_on_average(seed: int) -> None:
    network = random_network(seed, n_nodes=6, zeros=0.0)
    for parent, child in network.edges:
        others = [name for name in network.parents(child) if name != parent]
        cut = network.edit.remove_edge(parent, child)
        for states in itertools.product(*(network.states(name) for name in others)):
            given = dict(zip(others, states, strict=True))
            expected = network.query(child, given)
            found = cut.table(child)[_place(cut, child, given)]
            assert found == pytest.approx([*expected.values()], abs=1e-12)


def _place(network: BeliefNetwork, name: str, given: dict[str, object]) -> int:
    place = 0
    for parent in network.parents(name):
        place = place * len(network.states(parent)) + network.states(parent).index(given[parent])
    return place


def test_nodes_and_states_are_renamed_added_and_removed() -> None:
    network = asia()
    renamed = network.edit.rename_node("cancer", "lung cancer").edit.rename_states("x-ray", {"yes": "shadow"})
    before = network.query("smoking", {"cancer": "yes", "x-ray": "yes"})["yes"]
    assert renamed.query("smoking", {"lung cancer": "yes", "x-ray": "shadow"})["yes"] == before
    wider = network.edit.add_state("smoking", "formerly")
    assert wider.query("cancer")["yes"] == pytest.approx(network.query("cancer")["yes"])
    assert wider.edit.remove_state("smoking", "formerly") == network
    smaller = network.edit.remove_node("bronchitis")
    assert "bronchitis" not in smaller
    assert smaller.query("dyspnoea")["yes"] == pytest.approx(network.query("dyspnoea")["yes"], abs=0.05)
    more = network.edit.add_node(Node("cough", ["yes", "no"], [0.8, 0.1], ["bronchitis"]))
    assert more.query("cough")["yes"] == pytest.approx(0.8 * 0.45 + 0.1 * 0.55)


def test_what_cannot_be_edited_is_said() -> None:
    network = asia()
    with pytest.raises(NetworkError, match="there is a node 'smoking' already"):
        network.edit.rename_node("cancer", "smoking")
    with pytest.raises(ParameterError, match="there is an edge smoking -> cancer already"):
        network.edit.add_edge("smoking", "cancer")
    with pytest.raises(ParameterError, match="there is no edge cancer -> smoking"):
        network.edit.remove_edge("cancer", "smoking")
    with pytest.raises(NetworkError, match="cycle"):
        network.edit.add_edge("dyspnoea", "smoking")
    with pytest.raises(NetworkError, match="only one state"):
        BeliefNetwork([Node("a", ["x"], [1.0])]).edit.remove_state("a", "x")


# -- several explanations, conflict, influence --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_the_best_explanations_are_those_of_the_joint(seed: int) -> None:
    network = random_network(seed, n_nodes=6, most_states=3)
    observed = list(network)[3]
    state = max(network.query(observed).items(), key=lambda pair: pair[1])[0]
    cells = joint(network)
    place = list(network).index(observed)
    expected = sorted((p for states, p in cells.items() if states[place] == state and p > 0.0), reverse=True)
    found = network.most_probable_of(15, {observed: state})
    assert [math.exp(each.log_joint) for each in found] == pytest.approx(expected[:15], rel=1e-9)
    assert len({tuple(each.states.values()) for each in found}) == len(found)
    for each in found:
        assert cells[tuple(each.states[name] for name in network)] == pytest.approx(math.exp(each.log_joint))
        assert each.probability == pytest.approx(math.exp(each.log_joint) / sum(expected))


def test_soft_evidence_counts_in_every_explanation() -> None:
    network = BeliefNetwork([Node("a", ["x", "y", "z"], [0.5, 0.3, 0.2])])
    found = network.most_probable_of(9, soft={"a": {"x": 0.1, "y": 1.0, "z": 1.0}})
    assert [each.states["a"] for each in found] == ["y", "z", "x"]
    assert [each.probability for each in found] == pytest.approx([0.3 / 0.55, 0.2 / 0.55, 0.05 / 0.55])
    for wrong in (0, "3"):
        with pytest.raises(ParameterError, match=f"n_explanations is {wrong!r}"):
            network.most_probable_of(wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="do takes"):
        network.do("a")  # type: ignore[arg-type]


def test_a_conflict_is_the_ratio_of_the_products() -> None:
    network = asia()
    evidence = {"visit": "yes", "smoking": "no", "x-ray": "yes"}
    found = network.conflict(evidence)
    product = math.prod(network.query(name)[state] for name, state in evidence.items())
    assert found.bits == pytest.approx(math.log2(product / network.evidence_probability(evidence)))
    others = {name: state for name, state in evidence.items() if name != "smoking"}
    product = math.prod(network.query(name)[state] for name, state in others.items())
    assert found.without["smoking"] == pytest.approx(math.log2(product / network.evidence_probability(others)))


def test_a_conflict_that_a_rare_state_explains_names_it() -> None:
    """An X-ray and no cause of one among the findings: what would explain it is looked for among all states."""
    network = asia()
    found = network.conflict({"smoking": "no", "x-ray": "yes", "bronchitis": "no", "dyspnoea": "yes"})
    assert (found.bits > 0.0) == bool(found.without) and "conflict" in str(found)
    for name, state, bits in found.explained_by:
        product = math.prod(network.query(n)[s] for n, s in {**found.findings, name: state}.items())
        together = network.evidence_probability({**found.findings, name: state})
        assert math.log2(product / together) == pytest.approx(bits)
        assert bits <= 0.0


def test_an_influence_is_a_distance_between_rows() -> None:
    network = BeliefNetwork([Node("a", ["x", "y"], 0.5), Node("b", ["u", "v"], [1.0, 0.0], ["a"])])
    copy = network.influences()["a", "b"]
    assert copy == pytest.approx(1.0)
    weak = BeliefNetwork([Node("a", ["x", "y"], 0.5), Node("b", ["u", "v"], [0.5, 0.5], ["a"])])
    assert weak.influences()["a", "b"] == 0.0
    some = asia().influences()["smoking", "cancer"]
    p, q = np.array([0.1, 0.9]), np.array([0.01, 0.99])
    assert some == pytest.approx(math.sqrt(1.0 - np.sqrt(p * q).sum()))


def test_what_no_directed_path_leads_from_is_not_a_cause() -> None:
    network = BeliefNetwork([Node("repaid", ["yes", "no"], 0.5), Node("owner", ["yes", "no"], [0.8, 0.2], ["repaid"])])
    effect = network.causal_effect("owner", "repaid")
    assert not effect.is_cause and effect.difference("yes", "yes", "no") == 0.0
    assert "owner is not a cause of repaid: no directed path leads there, the effect is 0" in str(effect)
    assert network.causal_effect("repaid", "owner").is_cause
