"""States as pandas hands them over, and files as other programs write and read them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyagrum
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import NetworkError, ParameterError
from bayeswise.networks import Node, formats
from bayeswise.networks.formats import bif
from bayeswise.networks.formats.description import Description
from tests.paths import PUBLIC_NETWORKS


# -- 1 and 1.0 are one state -------------------------------------------------------------------------------------------
def test_integers_that_pandas_turned_into_floats_stay_the_states_they_were() -> None:
    whole = pd.DataFrame({"a": [0, 1] * 20, "b": [0, 1, 1, 1] * 10})
    with_missing = whole.astype({"a": float})
    with_missing.loc[3, "a"] = np.nan
    for frame in (whole, with_missing):
        network = bw.BeliefNetwork.learn(frame, parents={"a": [], "b": ["a"]}, missing="em")
        assert network.states("a") == (0, 1) and all(type(state) is int for state in network.states("a"))
        assert network.query("b", {"a": 1}) == network.query("b", {"a": 1.0})
        rows = pd.DataFrame({"a": [0, 1, None]})  # floats
        posterior = network.predict_proba("b", rows)
        np.testing.assert_allclose(posterior[:2], network.predict_proba("b", pd.DataFrame({"a": [0, 1]})), rtol=1e-12)


def test_a_number_and_a_flag_are_two_states() -> None:
    network = bw.BeliefNetwork.learn(pd.DataFrame({"a": [True, False] * 20, "b": [0, 1, 1, 0] * 10}))
    assert network.states("a") == (False, True)
    for state in (1, 1.0):
        with pytest.raises(ParameterError, match="node 'a' has no state 1"):
            network.query("b", {"a": state})


def test_declared_states_take_numbers_of_either_type() -> None:
    table = {"a": [1.0, 2.0, 1.0], "b": [1, 2, 2]}
    network = bw.BeliefNetwork.learn(table, states={"a": [2, 1], "b": [1.0, 2.0, 3.0]})
    assert network.states("a") == (2, 1) and len(network.states("b")) == 3


def test_numbers_that_are_not_whole_stay_numbers() -> None:
    network = bw.BeliefNetwork.learn({"a": [1.0, 2.5, 1.0, 2.5], "b": ["x", "y", "x", "x"]})
    assert network.states("a") == (1.0, 2.5)


# -- BIF of others -----------------------------------------------------------------------------------------------------
def test_javabayes_needs_no_mark_between_a_variable_and_its_parents() -> None:
    text = """network "Dog" { //2 variables
     property "by JavaBayes";
    }
    variable "family-out" { type discrete[2] { "true" "false" }; property "position = (1, 2)"; }
    variable "light-on" { type discrete[2] { "true" "false" }; }
    probability ( "family-out" ) { table 0.15 0.85; }
    probability ( "light-on" "family-out" ) { table 0.6 0.05 0.4 0.95; }
    """
    network = formats.network_of(text, "dog.bif")
    assert network.parents("light-on") == ("family-out",)
    assert network.table("light-on").tolist() == [[0.6, 0.4], [0.05, 0.95]]


def test_labels_are_in_quotes_only_where_they_are_more_than_a_word() -> None:
    states = ["0", "12", "-1", "0-5", "<5", ">=7.5", "Asy/Patch", "no answer", "a,b", "(x)", "//", ""]
    network = bw.BeliefNetwork([Node("a", states, [1 / 12] * 12)])
    text = bif.text(Description.of_network(network))
    line = next(line for line in text.splitlines() if "discrete" in line)
    assert line.strip() == (
        'type discrete [ 12 ] { 0, 12, -1, 0-5, <5, >=7.5, Asy/Patch, "no answer", "a,b", "(x)", "//", "" };'
    )
    assert formats.network_of(text, "a.bif").states("a") == tuple(states)


def test_pyagrum_reads_numbers_for_states(tmp_path: Path) -> None:
    nodes = [Node("n", ["0", "1", "2"], [0.2, 0.3, 0.5]), Node("m", ["0", "1"], [0.1, 0.5, 0.9], parents=["n"])]
    path = tmp_path / "numbers.bif"
    bw.BeliefNetwork(nodes).write(path)
    theirs = pyagrum.loadBN(str(path))
    assert theirs.variable("n").labels() == ("0", "1", "2")
    np.testing.assert_allclose(theirs.cpt("m").toarray(), [[0.1, 0.9], [0.5, 0.5], [0.9, 0.1]])


@pytest.mark.skipif(not PUBLIC_NETWORKS.is_dir(), reason="the networks of the repository are not here")
def test_pyagrum_reads_what_it_can_read_of_others_after_us_too(tmp_path: Path) -> None:
    for path in sorted(PUBLIC_NETWORKS.glob("*.bif")):
        ours = tmp_path / path.name
        bw.BeliefNetwork.read(path).write(ours)
        assert _is_read(ours) >= _is_read(path), path.name


def _is_read(path: Path) -> bool:
    try:
        pyagrum.loadBN(str(path))
    except Exception:
        return False
    return True


# -- rows of few digits ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("third", ["0.333333", "0.3333", "0.333"])
def test_a_row_of_thirds_is_accepted_by_the_digits_it_is_written_with(third: str) -> None:
    network = formats.network_of(
        f"variable a {{ type discrete [ 3 ] {{ x, y, z }}; }} probability ( a ) {{ table {third}, {third}, {third}; }}",
        "thirds.bif",
    )
    assert network.table("a").tolist() == [[1 / 3, 1 / 3, 1 / 3]]
    assert network.notes == (f"a: 1 of 1 rows renormalised; the worst summed to {3 * float(third):.9g}",)


@pytest.mark.parametrize("row", ["0.335, 0.335, 0.335", "0.5, 0.2, 0.2", "0.3333, 0.3333, 0.3336", "0.33, 0.33, 0.33"])
def test_a_row_that_rounding_does_not_explain_is_refused(row: str) -> None:
    with pytest.raises(NetworkError, match=r"the table of 'a' sums to .*, not to 1"):
        text = f"variable a {{ type discrete [ 3 ] {{ x, y, z }}; }} probability ( a ) {{ table {row}; }}"
        formats.network_of(text, "x.bif")


# -- a file and a frame of the same table ------------------------------------------------------------------------------
def test_a_csv_file_and_a_frame_of_it_have_the_same_states(tmp_path: Path) -> None:
    path = tmp_path / "loans.csv"
    path.write_text("duration,paid,rate,code,grade\n" + "6,true,1,01,a\n12,false,2.5,02,b\n9,true,2.5,02,7\n" * 5)
    frame = pd.read_csv(path, dtype={"code": str})
    learned = {
        "file": bw.BeliefNetwork.learn(path, parents={"paid": ["duration"]}),
        "frame": bw.BeliefNetwork.learn(frame, parents={"paid": ["duration"]}),
    }
    for network in learned.values():
        assert network.states("duration") == (6, 9, 12) and network.states("paid") == (False, True)
        assert network.states("rate") == (1.0, 2.5) and network.states("code") == ("01", "02")
        assert network.states("grade") == ("7", "a", "b")
        assert network.query("paid", {"duration": 12})[False] > 0.9
    assert learned["file"] == learned["frame"]


def test_states_that_are_given_are_found_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "loans.csv"
    path.write_text("duration,grade\n6,1\n12,2\n6,2\n")
    network = bw.BeliefNetwork.learn(path, states={"duration": [12, 6, 24], "grade": ["2", "1"]})
    assert network.states("duration") == (12, 6, 24) and network.states("grade") == ("2", "1")


def test_a_network_from_a_file_knows_numbers_by_their_text_and_text_by_its_number(tmp_path: Path) -> None:
    nodes = [Node("n", [6, 12], 0.5), Node("paid", [False, True], [0.1, 0.7], ["n"])]
    network = bw.BeliefNetwork(nodes)
    network.write(tmp_path / "n.bif")
    in_file = bw.BeliefNetwork.read(tmp_path / "n.bif")
    for made in (network, in_file):
        by_number, by_text = (made.query("paid", {"n": state}) for state in (12, "12"))
        assert by_number.probability.tolist() == by_text.probability.tolist()
        soft = {"n": {"6": 0.2, 12: 1.0}}
        assert made.query("n", soft=soft).probability == pytest.approx([1 / 6, 5 / 6])
        with pytest.raises(ParameterError, match="has no state '012'"):
            made.query("paid", {"n": "012"})
