"""Files of networks: exact round trips, errors with line and column, and files that mean harm."""

from __future__ import annotations

import re
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from network_cases import asia, random_network

from bayeswise.foundation.errors import BayeswiseError, NetworkError, ParameterError, SourceError
from bayeswise.networks import BeliefNetwork, Node
from bayeswise.networks.formats import bif, hugin, xmlbif

SUFFIXES = [".bif", ".xmlbif", ".net"]
VARIABLE = "variable a {{ type discrete [ {} ] {{ {} }}; }}\n"
GOOD = VARIABLE.format(2, "yes, no")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_written_network_is_read_back_to_the_last_bit(tmp_path: Path, suffix: str) -> None:
    for seed in range(20):
        network = random_network(seed)
        network.write(tmp_path / f"n{suffix}")
        assert BeliefNetwork.read(tmp_path / f"n{suffix}") == network


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_names_with_any_characters_come_back(tmp_path: Path, suffix: str) -> None:
    names = ["Asy/Patch", "a b", 'say "x" \\', "ä€", "a|b;{}(),", "<5 & 6>", "// no", "node", "%", "12+"]
    nodes = [Node(name, [*names, "z"], np.full((11**k, 11), 1 / 11), names[:k]) for k, name in enumerate(names[:3])]
    network = BeliefNetwork([*nodes, *(Node(name, names, [0.1] * 10) for name in names[3:])], name='my "net"')
    network.write(tmp_path / f"n{suffix}")
    again = BeliefNetwork.read(tmp_path / f"n{suffix}")
    assert again == network
    assert again.name == network.name


def test_the_three_formats_answer_alike(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        asia().write(tmp_path / f"asia{suffix}")
    answers = {BeliefNetwork.read(tmp_path / f"asia{s}").query("cancer", {"x-ray": "yes"})["yes"] for s in SUFFIXES}
    assert len(answers) == 1


def test_bif_tables_of_one_piece_let_the_parents_change_fastest() -> None:
    text = GOOD + GOOD.replace(" a ", " b ") + "probability (a) { table .1 .9; } "
    network = bif.parse(text + "probability (b | a) { table 0.6, 0.05, 0.4, 0.95; }", "x.bif")
    assert network.table("b").tolist() == [[0.6, 0.4], [0.05, 0.95]]


def test_bif_knows_defaults_properties_and_comments() -> None:
    text = "network n { property author x; }\n" + GOOD + GOOD.replace(" a ", " b ") + "/* two\nlines */"
    text += "probability (a) { table .1 .9; } // why\n"
    network = bif.parse(text + "probability (b | a) { default 0.5, 0.5; (no) 0.25, 0.75; }", "x.bif")
    assert network.table("b").tolist() == [[0.5, 0.5], [0.25, 0.75]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("variable a {\n  type discrete [ 2 ] { yes, no }\n}", "line 3, column 1: expected ';'"),
        (VARIABLE.format(3, "yes, no"), "declares 3 states and names 2"),
        (VARIABLE.format(10**9, "yes"), "column 30: the variable 'a' has 1000000000 states"),
        (VARIABLE.format(2, "yes, yes"), "has a state twice"),
        ("variable a { type continuous; }", "only discrete ones"),
        (GOOD + "probability (a | b) { table 1; }", "line 2, column 18: there is no variable 'b'"),
        (GOOD + "probability (a) { table 0.5, half; }", "line 2, column 30: expected a number; found 'half'"),
        (GOOD + "probability (a) { table 0.5; }", "has 1 numbers; 2 are needed"),
        (GOOD + "probability (a) { table 0.5, 0.5", "no ';'"),
        (GOOD, "'a' has no probability block"),
        (GOOD + "/* never ends", "line 2, column 1: a comment has no end"),
        (GOOD + 'probability ( "a', "line 2, column 15: a text in quotes has no end"),
        ("{" * 100_000, "line 1, column 1: expected network, variable or probability"),
        ("network x {" + "{" * 100_000, "line 1, column 12"),
        ("// nothing", "x.bif describes no node"),
    ],
)
def test_an_error_in_a_bif_file_has_its_place(text: str, says: str) -> None:
    with pytest.raises(SourceError, match=re.escape(says)):
        bif.parse(text, "x.bif")


def test_rows_near_one_are_noted_and_rows_off_are_refused() -> None:
    near = bif.parse(GOOD + "probability (a) { table 0.3333333, 0.6666666; }", "x.bif")
    assert "renormalised" in near.notes[0]
    with pytest.raises(NetworkError, match=r"x.bif: the table of 'a' sums to 1.005"):
        bif.parse(GOOD + "probability (a) { table 0.5, 0.505; }", "x.bif")


def hostile_files() -> dict[str, str]:
    wide = "".join(GOOD.replace(" a ", f" v{k} ") for k in range(60))
    parents = ", ".join(f"v{k}" for k in range(1, 60))
    laughs = "".join(f'<!ENTITY l{k + 1} "{f"&l{k};" * 10}">' for k in range(12))
    return {
        "states.bif": VARIABLE.format(10**9, "yes"),
        "states2.bif": VARIABLE.format("9" * 5000, "yes"),
        "table.bif": wide + f"probability (v0 | {parents}) {{ default 0.5, 0.5; }}",
        "nested.bif": "probability " + "(" * 200_000,
        "comment.bif": "/*" + "/ x" * 200_000,
        "quote.bif": '"\\' * 200_000,
        "laughs.xmlbif": f'<!DOCTYPE B [<!ENTITY l0 "ha">{laughs}]><BIF><NETWORK><NAME>&l12;</NAME></NETWORK></BIF>',
        "deep.xmlbif": "<a>" * 200_000,
        "nested.net": "net{} node a { states = " + "(" * 200_000,
        "binary.bif": "\x00\xff" * 1000,
    }


@pytest.mark.parametrize("name", list(hostile_files()))
def test_a_hostile_file_ends_soon_in_a_typed_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(hostile_files()[name], encoding="utf-8")
    start = time.perf_counter()
    with pytest.raises(BayeswiseError):
        BeliefNetwork.read(path)
    assert time.perf_counter() - start < 2.0  # a second, and another for a busy machine
    tracemalloc.start()
    with pytest.raises(BayeswiseError):
        BeliefNetwork.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


def test_a_missing_file_and_an_unknown_suffix_are_typed_errors(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot read"):
        BeliefNetwork.read(tmp_path / "none.bif")
    with pytest.raises(ParameterError, match=r"did you mean '\.bif'"):
        BeliefNetwork.read(tmp_path / "none.biff")


def test_errors_of_the_other_formats_have_their_place() -> None:
    with pytest.raises(SourceError, match=r"x.net, line 2, column 26: expected a number; found 'half'"):
        hugin.parse('node a { states = ("x" "y"); }\npotential (a) { data = ( half 0.5 ); }', "x.net")
    with pytest.raises(SourceError, match=r"x.xml, line 1, column 1"):
        xmlbif.parse("not xml", "x.xml")
    with pytest.raises(SourceError, match=r"line 2, .*no variable 'b'"):
        xmlbif.parse("<BIF><NETWORK>\n<DEFINITION><FOR>b</FOR></DEFINITION></NETWORK></BIF>", "x.xml")
