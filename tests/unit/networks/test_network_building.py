"""Networks built by hand: what is accepted, and the message of each mistake."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import NetworkError, ParameterError, UsageError
from bayeswise.networks import BeliefNetwork, Node, noisy_max, noisy_or
from tests.cases.network_cases import YES_NO, asia


def test_tables_by_name_by_row_and_by_number_are_the_same() -> None:
    rain = Node("rain", YES_NO, {"yes": 0.3, "no": 0.7})
    forms: list[Any] = [
        {"yes": {"yes": 0.9, "no": 0.1}, "no": {"no": 0.8, "yes": 0.2}},
        {"yes": [0.9, 0.1], "no": 0.2},
        [[0.9, 0.1], [0.2, 0.8]],
        [0.9, 0.2],
    ]
    networks = [BeliefNetwork([Node("wet", YES_NO, form, ["rain"]), rain]) for form in forms]
    for network in networks:
        assert network.table("wet") == pytest.approx(np.array([[0.9, 0.1], [0.2, 0.8]]), abs=1e-15)


def test_the_network_can_be_written_as_one_mapping() -> None:
    network = bw.BeliefNetwork({"a": {"states": [0, 1], "table": [0.5, 0.5]}})
    assert network.states("a") == (0, 1)


@pytest.mark.parametrize(
    ("nodes", "says"),
    [
        ([Node("a", YES_NO, [0.5, 0.6])], "sums to 1.1, not to 1"),
        ([Node("a", YES_NO, [0.5, 0.505])], "sums to 1.005"),
        ([Node("a", YES_NO, [1.5, -0.5])], "has the entry -0.5"),
        ([Node("a", YES_NO, [float("nan"), 1.0])], "has the entry nan"),
        ([Node("a", YES_NO, 0.5, ["b"]), Node("b", YES_NO, 0.5)], "shape"),
        ([Node("a", YES_NO, [0.5, 0.5], ["b"]), Node("b", YES_NO, [0.5, 0.5], ["a"])], "a -> b -> a"),
        ([Node("a", YES_NO, [0.5, 0.5], ["a"])], "a -> a"),
        ([Node("rain", YES_NO, 0.5), Node("a", YES_NO, [0.5, 0.5], ["Rain"])], "did you mean 'rain'?"),
        ([Node("a", YES_NO, 0.5), Node("a", YES_NO, 0.5)], "two nodes 'a'"),
        ([Node("a", ["x", "y", "z"], [0.5, 0.5])], "1 rows of 3"),
        ([Node("b", YES_NO, 0.5), Node("a", YES_NO, {"yes": 0.5}, ["b"])], "no row for ('no',)"),
    ],
)
def test_a_mistake_is_a_typed_error_that_says_where(nodes: list[Node], says: str) -> None:
    with pytest.raises(NetworkError, match=re.escape(says)):
        BeliefNetwork(nodes)


def test_a_cycle_is_shown_along_the_edges() -> None:
    half = [0.5, 0.5]
    nodes = [
        Node("a", YES_NO, 0.5),
        Node("b", YES_NO, [0.5] * 4, ["a", "d"]),
        Node("c", YES_NO, half, ["b"]),
        Node("d", YES_NO, half, ["c"]),
    ]
    with pytest.raises(NetworkError, match="b -> c -> d -> b"):
        BeliefNetwork(nodes)


def test_a_row_that_is_off_by_rounding_is_renormalised_and_noted() -> None:
    network = BeliefNetwork([Node("a", ["x", "y", "z"], [0.3333333, 0.3333333, 0.3333333])])
    assert network.table("a").sum() == pytest.approx(1.0, abs=1e-15)
    assert network.notes == ("a: 1 of 1 rows renormalised; the worst summed to 0.9999999",)


def test_any_text_may_be_a_name_or_a_state() -> None:
    names = ["Asy/Patch", "a b", 'say "x"', "ä€", "it's", "a|b;{}"]
    network = BeliefNetwork([Node(name, [*names, "<5"], [1 / 7] * 7) for name in names])
    assert network.query('say "x"', {"a b": "a|b;{}"})["Asy/Patch"] == pytest.approx(1 / 7)


def test_unknown_names_and_states_are_guessed() -> None:
    network = asia()
    with pytest.raises(ParameterError, match="did you mean 'smoking'"):
        network.query("smokin")
    with pytest.raises(ParameterError, match=r"node 'smoking' has no state 'Yes'.*did you mean 'yes'"):
        network.query("cancer", {"smoking": "Yes"})
    with pytest.raises(UsageError, match="name each node once"):
        network.query(["cancer", "cancer"])
    with pytest.raises(ParameterError, match="no likelihood for the state 'no'"):
        network.query("cancer", soft={"smoking": {"yes": 0.5}})


def test_labels_keep_their_type() -> None:
    network = BeliefNetwork([Node("a", [True, 1, "1"], [0.5, 0.3, 0.2])])
    answer = network.query("a")
    assert (answer[True], answer[1], answer["1"]) == (0.5, 0.3, 0.2)


def test_noisy_or_multiplies_the_chances_of_failing() -> None:
    table = noisy_or({"flu": 0.8, "cold": 0.5}, leak=0.1)
    assert table[:, 1] == pytest.approx([0.9 * 0.2 * 0.5, 0.9 * 0.2, 0.9 * 0.5, 0.9])
    assert table.sum(axis=1) == pytest.approx(np.ones(4), abs=1e-15)


def test_noisy_max_of_two_causes_is_the_stronger_of_two_draws() -> None:
    one, other = np.array([[0.2, 0.3, 0.5], [0.0, 0.0, 1.0]]), np.array([[0.6, 0.1, 0.3], [0.0, 0.2, 0.8]])
    table = noisy_max([one.tolist(), other.tolist()])
    for row, (i, j) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)]):
        both = np.outer(one[i], other[j])
        strongest = [sum(both[a, b] for a in range(3) for b in range(3) if min(a, b) == k) for k in range(3)]
        assert table[row] == pytest.approx(strongest, abs=1e-15)


def test_the_network_is_frozen_and_speaks_for_itself() -> None:
    network = asia()
    with pytest.raises(ValueError, match="read-only"):
        network.table("visit")[0, 0] = 1.0
    assert repr(network).startswith("BeliefNetwork(8 nodes, 8 edges: visit, tuberculosis")
    assert network.parents("either") == ("tuberculosis", "cancer")
    assert network.children("either") == ("x-ray", "dyspnoea")
    assert network.markov_blanket("cancer") == ("tuberculosis", "smoking", "either")
    assert network.n_parameters == 18
    assert network.changed({"visit": 0.5}).table("visit").tolist() == [[0.5, 0.5]]
