"""Files of networks: exact round trips, errors with line and column, and files that mean harm."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import KindError, NetworkError, ParameterError, SourceError, StoreError, TooLargeError
from bayeswise.models.files import save_model
from bayeswise.networks import BeliefNetwork, Node, formats
from bayeswise.networks.formats import bif, hugin, tokens
from bayeswise.networks.formats.description import Description
from bayeswise.networks.learning import FamilyCounts
from tests.cases.network_cases import asia, random_network
from tests.paths import PUBLIC_NETWORKS

SUFFIXES = [".bif", ".xmlbif", ".net", ".xdsl", ".dne", ".xdsl.gz", ".bif.gz"]
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


def test_the_formats_answer_alike(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        asia().write(tmp_path / f"asia{suffix}")
    answers = {BeliefNetwork.read(tmp_path / f"asia{s}").query("cancer", {"x-ray": "yes"})["yes"] for s in SUFFIXES}
    assert len(answers) == 1


def test_bif_tables_of_one_piece_let_the_parents_change_fastest() -> None:
    text = GOOD + GOOD.replace(" a ", " b ") + "probability (a) { table .1 .9; } "
    network = formats.network_of(text + "probability (b | a) { table 0.6, 0.05, 0.4, 0.95; }", "x.bif")
    assert network.table("b").tolist() == [[0.6, 0.4], [0.05, 0.95]]


def test_bif_knows_defaults_properties_and_comments() -> None:
    text = "network n { property author x; }\n" + GOOD + GOOD.replace(" a ", " b ") + "/* two\nlines */"
    text += "probability (a) { table .1 .9; } // why\n"
    network = formats.network_of(text + "probability (b | a) { default 0.5, 0.5; (no) 0.25, 0.75; }", "x.bif")
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
        formats.network_of(text, "x.bif")


def test_rows_near_one_are_noted_and_rows_off_are_refused() -> None:
    near = formats.network_of(GOOD + "probability (a) { table 0.3333333, 0.6666666; }", "x.bif")
    assert "renormalised" in near.notes[0]
    with pytest.raises(NetworkError, match=r"x.bif: the table of 'a' sums to 1.005"):
        formats.network_of(GOOD + "probability (a) { table 0.5, 0.505; }", "x.bif")


@pytest.mark.parametrize("piece", [1, 2, 7, 64])
def test_where_the_text_is_cut_into_pieces_does_not_matter(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    names = ["a b", "c/d", 'say "x" \\', "// no", "/* no */", "%"]
    nodes = [Node(name, ["u v", "w"], np.full((2**k, 2), 0.5), names[:k]) for k, name in enumerate(names)]
    network = BeliefNetwork(nodes)
    described = Description.of_network(network)
    commented = bif.text(described).replace("{", "{ // why {\n /* { * / \n */").replace("|", "|/**/")
    whole = hugin.text(described)
    monkeypatch.setattr(tokens, "_PIECE", piece)
    monkeypatch.setattr(tokens, "_MOST_PASSED", piece)
    assert formats.network_of(commented, "x.bif") == network
    assert formats.network_of(whole, "x.net") == network
    with pytest.raises(SourceError, match="line 3, column 4: expected a number; found 'half'"):
        formats.network_of(GOOD + "probability (a) { table 0.5,\n   half; }", "x.bif")
    with pytest.raises(SourceError, match="line 2, column 12: a comment has no end"):
        formats.network_of(GOOD + "probability/* never ends", "x.bif")
    with pytest.raises(SourceError, match="line 2, column 15: a text in quotes has no end"):
        formats.network_of(GOOD + 'probability ( "a', "x.bif")


def test_every_public_network_comes_back_from_every_format_to_the_last_bit(tmp_path: Path) -> None:
    paths = sorted(PUBLIC_NETWORKS.glob("*.bif"))
    if not paths:
        pytest.skip("the public networks are not here")
    for path in paths:
        network = BeliefNetwork.read(path)
        for suffix in (*SUFFIXES, ".bayeswise"):
            network.write(tmp_path / f"n{suffix}")
            again = BeliefNetwork.read(tmp_path / f"n{suffix}")
            assert again == network, (path.name, suffix)
            assert again.name == network.name


def test_a_model_file_keeps_the_types_of_states_and_is_loaded_like_any_model(tmp_path: Path) -> None:
    network = BeliefNetwork([Node("n", [1, "1", True, 2.5], [0.1, 0.2, 0.3, 0.4]), Node("m", [0, 1], [0.5] * 4, ["n"])])
    network.save(tmp_path / "n.bayeswise")
    again = bw.load(tmp_path / "n.bayeswise")
    assert again == network
    assert [type(state) for state in again.states("n")] == [int, str, bool, float]
    network.save(tmp_path / "same.bayeswise")
    assert (tmp_path / "same.bayeswise").read_bytes() == (tmp_path / "n.bayeswise").read_bytes()


def test_counts_of_families_are_a_model_file_that_merges_after_loading(tmp_path: Path) -> None:
    rows = asia().sample(100, seed=1)
    graph = {name: asia().parents(name) for name in asia()}
    counts = FamilyCounts.of(rows, graph)
    save_model(counts, tmp_path / "counts.bayeswise")
    again = bw.load(tmp_path / "counts.bayeswise")
    assert again == counts
    assert again.merge(counts).forget(rows) == counts
    with pytest.raises(KindError, match="holds a FamilyCounts, not a network"):
        BeliefNetwork.read(tmp_path / "counts.bayeswise")


def test_a_model_file_whose_tables_were_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "n.bayeswise"
    asia().save(path)
    broken = path.read_bytes()[:-8] + b"\x00" * 8
    path.write_bytes(broken)
    with pytest.raises(StoreError):
        bw.load(path)


def test_a_file_that_could_not_be_read_again_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "LARGEST_FILE", 100)
    with pytest.raises(TooLargeError, match="model file"):
        asia().write(tmp_path / "asia.bif")
    assert not (tmp_path / "asia.bif").exists()


def hostile_files() -> dict[str, str]:
    wide = "".join(GOOD.replace(" a ", f" v{k} ") for k in range(60))
    parents = ", ".join(f"v{k}" for k in range(1, 60))
    laughs = "".join(f'<!ENTITY l{k + 1} "{f"&l{k};" * 10}">' for k in range(12))
    xml = "<BIF><NETWORK><VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>"
    return {
        "states.bif": VARIABLE.format(10**9, "yes"),
        "states2.bif": VARIABLE.format("9" * 5000, "yes"),
        "table.bif": wide + f"probability (v0 | {parents}) {{ default 0.5, 0.5; }}",
        "parents.bif": wide + f"probability (v0 | {', '.join(['v1'] * 1_000_000)}) {{ default 0.5, 0.5; }}",
        "nested.bif": "probability " + "(" * 10_000_000,
        "comment.bif": "/*" + "/ x" * 3_000_000,
        "line.bif": "//" + "x" * 10_000_000,
        "quote.bif": '"\\' * 3_000_000,
        "word.bif": "variable " + "x" * 10_000_000,
        "property.bif": "network x { property " + "a " * 200_000,
        "empty.net": "net { name = ; } node a { states = ; }",
        "laughs.xmlbif": f'<!DOCTYPE B [<!ENTITY l0 "ha">{laughs}]><BIF><NETWORK><NAME>&l12;</NAME></NETWORK></BIF>',
        "deep.xmlbif": "<a>" * 3_000_000,
        "parents.xmlbif": f"{xml}<DEFINITION><FOR>a</FOR>{'<GIVEN>a</GIVEN>' * 200_000}<TABLE>1</TABLE></DEFINITION>",
        "outcomes.xmlbif": f"<BIF><NETWORK><VARIABLE><NAME>a</NAME>{'<OUTCOME>x</OUTCOME>' * 200_000}</VARIABLE>",
        "nested.net": "net{} node a { states = " + "(" * 3_000_000,
        "parents.net": 'net{} node a { states = ("x" "y"); } potential (a | ' + "a " * 1_000_000 + ") { data = (1); }",
        "nested.dne": "bnet n { visual " + "V { " * 2_000_000,
        "states.dne": "bnet n { node a { states = (" + "x, " * 1_000_000,
        "binary.bif": "\x00\xff" * 1000,
    }


MEASURE = """
import os, resource, sys, time
from bayeswise.networks import BeliefNetwork, formats
from bayeswise.foundation.errors import BayeswiseError
for path in sys.argv[1:]:
    if os.fork():  # a fresh process for each file, in which everything is imported already
        os.wait()
        continue
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        BeliefNetwork.read(path)
        kind = "read"
    except BayeswiseError as error:
        kind = f"{type(error).__name__} {len(str(error))}"
    except BaseException as error:
        kind = f"raw {type(error).__name__}"
    seconds = time.process_time() - start
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(os.path.basename(path), seconds, kilobytes, kind, flush=True)
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each file has a process of its own")
def test_a_hostile_file_ends_soon_in_a_typed_error_and_needs_little_memory(tmp_path: Path) -> None:
    """Below one second of work and 100 MB, whatever is in it, the import of the package apart."""
    for name, text in hostile_files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    paths = [str(tmp_path / name) for name in hostile_files()]
    answer = subprocess.run([sys.executable, "-c", MEASURE, *paths], capture_output=True, text=True, check=True)
    lines = [line.split(maxsplit=3) for line in answer.stdout.splitlines()]
    assert [name for name, *_ in lines] == list(hostile_files())
    for name, seconds, kilobytes, kind in lines:
        assert kind.split()[0] in ("SourceError", "NetworkError"), (name, kind)
        assert int(kind.split()[1]) < 1_000, (name, kind)  # characters of the message
        assert float(seconds) < 1.0, (name, seconds)
        assert int(kilobytes) < 100_000, (name, kilobytes)


def test_a_missing_file_and_an_unknown_suffix_are_typed_errors(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot read"):
        BeliefNetwork.read(tmp_path / "none.bif")
    with pytest.raises(ParameterError, match=r"did you mean '\.bif'"):
        BeliefNetwork.read(tmp_path / "none.biff")


def test_errors_of_the_other_formats_have_their_place() -> None:
    with pytest.raises(SourceError, match=r"x.net, line 2, column 26: expected a number; found 'half'"):
        formats.network_of('node a { states = ("x" "y"); }\npotential (a) { data = ( half 0.5 ); }', "x.net")
    with pytest.raises(SourceError, match=r"x.xml, line 1, column 1"):
        formats.network_of("not xml", "x.xml")
    with pytest.raises(SourceError, match=r"line 2, .*no variable 'b'"):
        formats.network_of("<BIF><NETWORK>\n<DEFINITION><FOR>b</FOR></DEFINITION></NETWORK></BIF>", "x.xml")
