"""Networks cut numbers into intervals, and know numbers by their interval ever after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.networks.learning import strengths_in_table
from bayeswise.networks.node import Node, cuts_of, intervals


def table(n: int = 400) -> dict[str, list[Any]]:
    generator = np.random.default_rng(2)
    age = generator.normal(45.0, 12.0, n)
    return {
        "age": age.round(3).tolist(),
        "rooms": generator.integers(1, 5, n).tolist(),
        "ill": np.where(age + generator.normal(size=n) > 50.0, "yes", "no").tolist(),
    }


def test_many_numbers_are_five_intervals_in_numeric_order() -> None:
    network = bw.BeliefNetwork.learn(table())
    states = network.states("age")
    cuts = cuts_of(states)
    assert cuts is not None and len(cuts) == 4 and list(cuts) == sorted(cuts)
    shares = np.histogram(table()["age"], [-np.inf, *cuts, np.inf])[0] / 400
    assert shares == pytest.approx(np.full(5, 0.2), abs=0.01)
    assert network.states("rooms") == (1, 2, 3, 4)
    assert network.notes[0].startswith("age: cut at ")


def test_kinds_and_cuts_are_those_of_the_classifiers() -> None:
    network = bw.BeliefNetwork.learn(table(), kinds={"rooms": "number"}, cuts={"age": [30, 50.125]})
    assert network.states("age") == ("< 30", "30 to 50.125", ">= 50.125")
    assert cuts_of(network.states("rooms")) is not None
    few = {"age": [21, 30, 44] * 30 + list(range(60, 82)), "ill": ["yes", "no"] * 56}
    assert bw.BeliefNetwork.learn(few, kinds={"age": "category"}).states("age")[:3] == (21, 30, 44)
    with pytest.raises(bw.BayeswiseError, match="'number', which is cut"):
        bw.BeliefNetwork.learn(table(), kinds={"age": "text"})


def test_a_number_is_evidence_of_its_interval() -> None:
    network = bw.BeliefNetwork.learn(table(), cuts={"age": [30, 50]})
    for number, words in ((12, "< 30"), (30, "30 to 50"), ("49.9", "30 to 50"), (50.0, ">= 50")):
        assert network.query("ill", {"age": number}) == network.query("ill", {"age": words})


def test_rows_of_numbers_are_those_that_were_learned(tmp_path: Any) -> None:
    """Cuts are rounded to what their words say, so that each row comes into the interval that it was counted in."""
    rows = table()
    network = bw.BeliefNetwork.learn(rows)
    network.write(tmp_path / "ages.bif")
    for known in (network, bw.BeliefNetwork.read(tmp_path / "ages.bif")):
        posterior = known.predict_proba("ill", rows)
        words = intervals(cuts_of(network.states("age")) or (), exact=True)
        coded = [words[k] for k in np.searchsorted(cuts_of(words) or (), rows["age"], side="right")]
        assert np.array_equal(posterior, known.predict_proba("ill", {**rows, "age": coded}))
    assert {(each.parent, each.child) for each in strengths_in_table(rows, network).edges} == set(network.edges)


@pytest.mark.parametrize(
    ("cuts", "states"),
    [
        ([8550, 12550], ("< 8550", "8550 to 12550", ">= 12550")),
        ([123456789, 123456790], ("< 123456789", "123456789 to 123456790", ">= 123456790")),
        ([1e-7, 1e20], ("< 1e-07", "1e-07 to 1e+20", ">= 1e+20")),
    ],
)
def test_intervals_have_names_that_can_be_read_and_told_apart(cuts: list[float], states: tuple[str, ...]) -> None:
    rows = {"pay": [1.0, 2e4, 9e3, 3e8] * 10, "ill": ["yes", "no"] * 20}
    network = bw.BeliefNetwork.learn(rows, cuts={"pay": cuts})
    assert network.states("pay") == states
    assert network.notes[0] == f"pay: cut at {states[0][2:]}, {states[-1][3:]}"
    assert cuts_of(states) == tuple(cuts)


def test_intervals_of_earlier_files_are_still_intervals(tmp_path: Any) -> None:
    """Their large numbers have exponents, and keep them."""
    states = ["< 8550", "8550 to 1.255e+04", ">= 1.255e+04"]
    network = bw.BeliefNetwork([Node("pay", states, [0.2, 0.3, 0.5]), Node("ill", ["yes", "no"], 0.5)])
    assert network.query("ill", {"pay": 12_549}) == network.query("ill", {"pay": "8550 to 1.255e+04"})
    rows = {"pay": [1.0, 2e4, 9e3, 3e8] * 10, "ill": ["yes", "no"] * 20}
    assert bw.BeliefNetwork.learn(rows, states={"pay": states}).states("pay") == tuple(states)
    network.write(tmp_path / "pay.dne")
    assert bw.BeliefNetwork.read(tmp_path / "pay.dne").states("pay") == tuple(states)
    assert cuts_of(["< 3", "3 to 2", ">= 2"]) is None and cuts_of(["< 3", "4 to 5", ">= 5"]) is None
    assert cuts_of(["< 3", ">= inf"]) is None and cuts_of(["< 3", "3 or 4", ">= 4"]) is None
