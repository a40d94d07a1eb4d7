"""Arguments of the wrong type: every call of a network answers with a typed error that says what to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bayeswise.foundation.errors import BayeswiseError
from bayeswise.networks import BeliefNetwork, Node, NoisyMax, NoisyOr
from bayeswise.networks.dynamic import DynamicNetwork, before

STATES = ["yes", "no"]
NETWORK = BeliefNetwork([Node("a", STATES, 0.2), Node("b", STATES, {"yes": 0.9, "no": 0.1}, ["a"])])
DYNAMIC = DynamicNetwork([Node("a", STATES, 0.5)], [Node("a", STATES, [0.7, 0.3], [before("a")])])
STEPS = {"who": ["x", "x"], "t": [1, 2], "at": ["p", "q"]}

CALLS: dict[str, Callable[[Any], object]] = {
    "query": NETWORK.query,
    "query, evidence": lambda value: NETWORK.query("b", value),
    "query, soft": lambda value: NETWORK.query("b", soft=value),
    "query, likelihoods": lambda value: NETWORK.query("b", soft={"a": value}),
    "query, likelihood": lambda value: NETWORK.query("b", soft={"a": {"yes": value, "no": 1.0}}),
    "query, distributions": lambda value: NETWORK.query("b", distributions=value),
    "query, do": lambda value: NETWORK.query("b", do=value),
    "marginals": NETWORK.marginals,
    "most_probable, nodes": lambda value: NETWORK.most_probable(nodes=value),
    "most_probable_of": NETWORK.most_probable_of,
    "most_probable_of, evidence": lambda value: NETWORK.most_probable_of(2, value),
    "mutual_information": NETWORK.mutual_information,
    "mutual_information, evidence": lambda value: NETWORK.mutual_information("a", value),
    "sensitivity, tables": lambda value: NETWORK.sensitivity("a", tables=value),
    "explain": lambda value: NETWORK.explain("a", value),
    "sample, seed": lambda value: NETWORK.sample(3, seed=value),
    "estimate, n_rows": lambda value: NETWORK.estimate("a", n_rows=value),
    "estimate, seed": lambda value: NETWORK.estimate("a", seed=value, n_rows=10),
    "causal_effect, observed": lambda value: NETWORK.causal_effect("a", "b", observed=value),
    "conflict": NETWORK.conflict,
    "do": NETWORK.do,
    "changed": NETWORK.changed,
    "d_separated": lambda value: NETWORK.d_separated(value, "b"),
    "d_connected": NETWORK.d_connected,
    "picture, nodes": lambda value: NETWORK.picture(nodes=value),
    "picture, strengths": lambda value: NETWORK.picture(strengths=value),
    "rename_states": lambda value: NETWORK.edit.rename_states("a", value),
    "Node, states": lambda value: Node("q", value, 0.5),
    "Node, parents": lambda value: Node("q", STATES, 0.5, value),
    "BeliefNetwork": BeliefNetwork,
    "NoisyOr": NoisyOr,
    "NoisyOr, leak": lambda value: NoisyOr([0.5], value),
    "NoisyMax": NoisyMax,
    "NoisyMax, leak": lambda value: NoisyMax([[[0.5, 0.5], [0.0, 1.0]]], value),
    "filtered": lambda value: list(DYNAMIC.filtered(value)),
    "smoothed": DYNAMIC.smoothed,
    "predicted": lambda value: DYNAMIC.predicted(value, 2),
    "most_probable of steps": DYNAMIC.most_probable,
    "unrolled": DYNAMIC.unrolled,
    "DynamicNetwork, later": lambda value: DynamicNetwork([Node("a", STATES, 0.5)], value),
    "learn of steps, sequence": lambda value: DynamicNetwork.learn(STEPS, sequence=value, time="t"),
    "learn of steps, later": lambda value: DynamicNetwork.learn(STEPS, sequence="who", time="t", later=value),
    "learn, parents": lambda value: BeliefNetwork.learn({"x": ["p", "q"]}, parents=value),
    "before": before,
    "read": BeliefNetwork.read,
    "write": NETWORK.write,
}
WRONG = (3.5, object(), [["a"]], {"a": {"yes"}}, {("a",): "yes"}, float("nan"), [object()], np.float64(2.5))


@pytest.mark.parametrize("name", CALLS)
def test_a_value_of_the_wrong_type_is_refused_with_what_to_give(name: str) -> None:
    for value in WRONG:
        try:
            CALLS[name](value)
        except BayeswiseError as error:
            assert error.fix, (name, value)


@pytest.mark.parametrize("name", ["query, evidence", "do", "most_probable_of", "filtered", "predicted", "NoisyOr"])
@pytest.mark.parametrize("value", ["3", "abc"])
def test_a_text_is_not_evidence_a_number_or_a_sequence_of_steps(name: str, value: str) -> None:
    with pytest.raises(BayeswiseError, match="Fix: "):
        CALLS[name](value)


def test_a_graph_of_slices_names_columns_of_the_table() -> None:
    with pytest.raises(BayeswiseError, match="no column 'att'"):
        DynamicNetwork.learn(STEPS, sequence="who", time="t", later={"att": ["at[-1]"]})
