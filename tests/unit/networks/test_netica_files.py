"""Netica .dne files: what Netica writes is read, what we write is read back, and hostile files are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation.errors import BayeswiseError, KindError, SourceError
from bayeswise.networks import BeliefNetwork, Node, formats
from bayeswise.networks.formats import dne
from tests.cases.network_cases import asia, random_network

WRITTEN_BY_NETICA = """// ~->[DNET-1]->~
// File created by Netica

bnet Weather_1 {
AutoCompile = TRUE;
whenchanged = 1535042350;

visual V1 {
    defdispform = BELIEFBARS;
    nodefont = font {shape= "Arial"; size= 9;};
    windowposn = (78, 78, 1376, 597);
    NodeSet Node {BuiltIn = 1; Color = 0x00E1E1E1;};
    PrinterSetting A {
        margins = (1270, 1270, 1270, 1270);
        };
    };

node Title1 {
    kind = CONSTANT;
    title = "A drawing; with {brackets}";
    };

node Temp {
    discrete = FALSE;
    levels = (-INFINITY, 10, 20.5, INFINITY);
    kind = NATURE;
    chance = CHANCE;
    parents = ();
    probs =
        // -INFINITY to 10  10 to 20.5  20.5 to INFINITY
          (0.25,            0.5,        0.25);
    visual V1 {
        center = (216, 102);
        height = 1;
        };
    };

node Rain {
    kind = NATURE;
    discrete = TRUE;
    states = (yes, no);
    parents = (Temp);
    probs =
        // yes  no        // Temp
        ((0.8,  0.2),     // -INFINITY to 10
         (0.3,  0.7),     // 10 to 20.5
         (@imposs, 1));   // 20.5 to INFINITY
    title = "Rain today";
    evidence = yes;
    };

node Wet {
    kind = NATURE;
    discrete = TRUE;
    chance = DETERMIN;
    states = (dry, wet);
    parents = (Rain);
    functable =
        (wet,             // yes
         #0);             // no
    };
};
"""

DECISION = """bnet oil { node take { kind = DECISION; discrete = TRUE; states = (go, stay); parents = (rain); };
node rain { kind = NATURE; states = (yes, no); parents = (); probs = (0.3, 0.7); };
node value { kind = UTILITY; discrete = FALSE; chance = DETERMIN; parents = (rain, take);
  functable = ((-5, 1), (20, 0)); }; };"""


def test_a_file_of_netica_is_read_with_levels_impossible_cells_and_determined_states() -> None:
    network = formats.network_of(WRITTEN_BY_NETICA, "weather.dne")
    assert network.names == ("Temp", "Rain", "Wet")
    assert network.states("Temp") == ("< 10", "10 to 20.5", ">= 20.5")
    assert network.table("Rain").tolist() == [[0.8, 0.2], [0.3, 0.7], [0.0, 1.0]]
    assert network.table("Wet").tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert network.query("Rain", {"Temp": 12.0})["yes"] == 0.3
    assert formats.suffix_of(WRITTEN_BY_NETICA) == ".dne"


@pytest.mark.parametrize("seed", range(10))
def test_a_written_network_is_read_back_to_the_last_bit(tmp_path: Path, seed: int) -> None:
    network = random_network(seed)
    assert network.write(tmp_path / "n.dne") == ()
    assert BeliefNetwork.read(tmp_path / "n.dne") == network


def test_levels_names_and_packed_files_come_back(tmp_path: Path) -> None:
    names = ["a b", 'say "x" \\', "ä€", "a|b;{}(),", "// no", "node", "state_0", "x" * 40, "TRUE"]
    cut = Node("temp", ["< 10", "10 to 20.5", ">= 20.5"], [0.25, 0.5, 0.25])
    nodes = [cut, *(Node(name, names, np.full((3, 9), 1 / 9), ["temp"]) for name in names)]
    network = BeliefNetwork(nodes, name='my "net"')
    network.write(tmp_path / "n.dne.gz")
    again = BeliefNetwork.read(tmp_path / "n.dne.gz")
    assert again == network and again.name == network.name
    assert "levels = (-INFINITY, 10.0, 20.5, INFINITY);" in dne.text(formats.Description.of_network(network))


def test_a_diagram_has_the_policy_and_the_value_that_its_file_says(tmp_path: Path) -> None:
    (tmp_path / "oil.dne").write_text(DECISION)
    with pytest.raises(KindError, match="influence diagram"):
        BeliefNetwork.read(tmp_path / "oil.dne")
    diagram = bw.InfluenceDiagram.read(tmp_path / "oil.dne")
    assert diagram.solve().utility == pytest.approx(0.3 * 1 + 0.7 * 20)
    diagram.write(tmp_path / "again.dne")
    assert bw.InfluenceDiagram.read(tmp_path / "again.dne").solve().utility == pytest.approx(14.3)


def test_converting_between_formats_keeps_every_number(tmp_path: Path) -> None:
    asia().write(tmp_path / "a.dne")
    BeliefNetwork.read(tmp_path / "a.dne").write(tmp_path / "a.net")
    assert BeliefNetwork.read(tmp_path / "a.net") == asia()


NODE = "bnet n {{ node a {{ kind = NATURE; {} parents = (); {} }}; }};"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected 'bnet'"),
        ("bnet n {", "found 'the end of the file'"),
        ("bnet n { visual V1 { a = 1;", "there is no '}' from here"),
        ("bnet n { visual " + "V1 { " * 100_000, "there is no '}' from here"),
        (NODE.format("states = (x, y);", ""), "has no table"),
        (NODE.format("states = (x, y);", 'equation = "a = 1";'), "an equation without a table"),
        (NODE.format("states = (x, y);", "probs = (0.5);"), "has 1 numbers; 2 are needed"),
        (NODE.format("states = (x, y);", "probs = (0.5, half);"), "'half' for a number"),
        (NODE.format("states = (x, y);", "probs = (0.5, 0.6);"), "sums to 1.1"),
        (NODE.format("states = (x, y);", "functable = (z);"), "'z', which is not a state"),
        (NODE.format("states = (x, y);", "functable = (#2);"), "'#2', which is not a state"),
        (NODE.format("numstates = 2.5;", "probs = (0.5, 0.5);"), "numstates of 'a' is '2.5'"),
        (NODE.format("numstates = 99999999;", "probs = (1);"), "numstates of 'a'"),
        (NODE.format("discrete = FALSE;", "probs = (1);"), "has 0 states"),
        (NODE.format("discrete = FALSE; levels = (3, 1, 2);", "probs = (0.5, 0.5);"), "do not ascend"),
        (NODE.format("states = (x, y);", "probs = (0.5, 0.5);").replace("parents = ()", "parents = (b)"), "parent 'b'"),
        (NODE.format("states = (x, x);", "probs = (0.5, 0.5);"), "x"),
        (NODE.format("states = (x);", "probs = (1);").replace("NATURE", "ODD"), "kind 'ODD'"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_place(text: str, said: str) -> None:
    with pytest.raises(BayeswiseError, match=r"x\.dne") as refused:
        formats.network_of(text, "x.dne")
    assert said in str(refused.value)


def test_many_parents_do_not_make_a_large_table() -> None:
    nodes = "".join(f"node v{k} {{ states = (x, y); parents = (); probs = (0.5, 0.5); }}; " for k in range(40))
    many = ", ".join(f"v{k}" for k in range(40))
    text = f"bnet n {{ {nodes} node w {{ states = (x, y); parents = ({many}); probs = (1); }}; }};"
    with pytest.raises(SourceError, match="more than"):
        formats.network_of(text, "x.dne")
