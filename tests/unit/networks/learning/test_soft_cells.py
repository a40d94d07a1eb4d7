"""Cells with a likelihood for each state: as soft evidence, as expected counts, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import ParameterError, SchemaError
from bayeswise.networks import Node
from bayeswise.networks.learning.coded_rows import CodedRows

RAIN = bw.BeliefNetwork(
    [Node("rain", ["yes", "no"], 0.3), Node("wet", ["yes", "no"], {"yes": 0.9, "no": 0.2}, parents=["rain"])]
)


def half_soft(n_rows: int) -> dict[str, list[Any]]:
    """What a sensor that is right nine times of ten says stands for half of the cells of `wet`."""
    table: dict[str, list[Any]] = dict(RAIN.sample(n_rows, seed=1))
    generator = np.random.default_rng(0)
    for row, cell in enumerate(table["wet"]):
        if row % 2:
            says_wet = (generator.random() < 0.9) == (cell == "yes")
            table["wet"][row] = "yes=0.9;no=0.1" if says_wet else "yes=0.1; no=0.9"
    return table


def test_a_soft_cell_is_soft_evidence() -> None:
    expected = RAIN.query("rain", soft={"wet": {"yes": 0.8, "no": 0.1}})
    found = RAIN.predict_proba("rain", {"wet": ["yes=0.8;no=0.1", "yes=8;no=1", "no=0.1 ; yes=0.8;"]})
    np.testing.assert_allclose(found, np.tile(expected.probability, (3, 1)), rtol=1e-14)


def test_a_soft_cell_of_one_possible_state_is_this_state() -> None:
    found = RAIN.predict_proba("rain", {"wet": ["yes=1;no=0", "yes", "yes=0;no=1e-320", "no"]})
    np.testing.assert_allclose(found[::2], found[1::2], rtol=1e-14)


def test_a_state_that_is_written_like_a_soft_cell_stays_a_state() -> None:
    odd = bw.BeliefNetwork([Node("a", ["x=1;y=2", "z"], 0.3), Node("b", ["p", "q"], [0.9, 0.2], ["a"])])
    assert odd.predict_proba("b", {"a": ["x=1;y=2"]})[0] == pytest.approx([0.9, 0.1])
    states = {"a": ["x=1;y=2", "z"]}
    learned = bw.BeliefNetwork.learn({"a": ["x=1;y=2", "z"] * 4, "b": ["p", "q"] * 4}, states=states)
    assert learned.states("a") == ("x=1;y=2", "z")


def test_em_finds_the_table_that_noisy_readings_come_from() -> None:
    learned = bw.BeliefNetwork.learn(half_soft(8_000), parents={"wet": ["rain"]}, missing="em")
    table = learned.table("wet")[:, learned.states("wet").index("yes")]
    assert dict(zip(learned.states("rain"), table, strict=True)) == pytest.approx({"yes": 0.9, "no": 0.2}, abs=0.02)


def test_soft_cells_lead_to_the_graph(tmp_path: Path) -> None:
    path = tmp_path / "soft.csv"
    pd.DataFrame(half_soft(2_000)).to_csv(path, index=False)
    by_file, by_frame = (bw.BeliefNetwork.learn(table, missing="em") for table in (path, half_soft(2_000)))
    assert by_file == by_frame
    assert len(by_file.edges) == 1


def test_numbers_are_states_beside_soft_cells_too(tmp_path: Path) -> None:
    path = tmp_path / "soft.csv"
    path.write_text("n,b\n" + "9,x\n10,y\n9=0.5;10=1,y\n9=1;10=0;11=2,x\n".replace("0.5;10=1", "0.5;10=1;11=0") * 3)
    rows = CodedRows.of(path, may_be_soft=True)
    assert tuple(rows.states[0]) == (9, 10, 11)
    assert rows.soft is not None and rows.soft.likelihoods[0].tolist() == [[0.5, 1.0, 0.0], [1.0, 0.0, 2.0]]
    frame = {"n": [9, 10, "9=0.5;10=1"]}
    assert tuple(CodedRows.of(frame, may_be_soft=True).states[0]) == (9, 10)


def test_soft_cells_of_weight_zero_are_not_there() -> None:
    table = {"a": ["x", "y", "x=1;y=2;z=3"], "n": [1.0, 2.0, 0.0]}
    rows = CodedRows.of(table, weight="n", may_be_soft=True)
    assert tuple(rows.states[0]) == ("x", "y") and len(rows.codes) == 2


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("yes=nan;no=1", "negative or not finite"),
        ("yes=-1;no=1", "negative or not finite"),
        ("yes=1e999;no=1", "negative or not finite"),
        ("yes=0;no=0", "has likelihood 0 in every state"),
        ("yes=1;yes=2;no=1", "names the state 'yes' twice"),
        ("yes=0.7;;no=0.2", "has an empty part"),
        ("; yes=0.7;no=0.2", "has an empty part"),
        ("yes=0.7;no=0.2; ;", "has an empty part"),
    ],
)
def test_likelihoods_that_say_nothing_are_refused(cell: str, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        RAIN.predict_proba("rain", {"wet": [cell]})
    with pytest.raises(SchemaError, match=said):
        bw.BeliefNetwork.learn({"wet": ["yes", "no", cell]}, missing="em")


def test_each_state_needs_a_likelihood_and_no_other() -> None:
    with pytest.raises(SchemaError, match="of column 'wet' names 'maybe', which is not a state"):
        RAIN.predict_proba("rain", {"wet": ["yes=1;no=2;maybe=1"]})
    with pytest.raises(SchemaError, match="has no likelihood for the state 'no'"):
        bw.BeliefNetwork.learn({"wet": ["yes", "no", "yes=1;damp=2"]}, missing="em")


@pytest.mark.parametrize("missing", ["error", "drop"])
def test_counting_refuses_soft_cells_and_names_em(missing: str) -> None:
    with pytest.raises(SchemaError, match=r"column 'wet' has the soft cell .* missing='em'"):
        bw.BeliefNetwork.learn(half_soft(20), missing=missing)
    rows = CodedRows.of(half_soft(20), may_be_soft=True)
    with pytest.raises(ParameterError, match="soft cells"):
        bw.BeliefNetwork.learn(rows, missing=missing)


def test_a_noisy_maximum_is_not_learned_from_soft_cells() -> None:
    states = {"rain": ["yes", "no"], "wet": ["yes", "no"]}
    with pytest.raises(ParameterError, match="'wet' has soft cells"):
        bw.BeliefNetwork.learn(half_soft(40), parents={"wet": ["rain"]}, states=states, noisy=["wet"], missing="em")
