"""Files that other programs read and write: GeNIe, Hugin, XMLBIF and UAI, there and back."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayeswise.diagrams import Chance, Decision, InfluenceDiagram, Utility
from bayeswise.foundation.errors import KindError, NetworkError, ParameterError, SourceError
from bayeswise.networks import BeliefNetwork, Node, NoisyMax, formats
from tests.cases.network_cases import asia

gum: Any = pytest.importorskip("pyagrum")


def oil() -> InfluenceDiagram:
    """Test or not, then drill or not: the wildcatter."""
    return InfluenceDiagram(
        [
            Chance("oil", ["dry", "wet", "soaking"], [0.5, 0.3, 0.2]),
            Decision("test", ["yes", "no"]),
            Chance(
                "report",
                ["none", "open", "closed", "nothing"],
                {
                    "yes": {"dry": [0.6, 0.3, 0.1, 0], "wet": [0.3, 0.4, 0.3, 0], "soaking": [0.1, 0.4, 0.5, 0]},
                    "no": [0, 0, 0, 1],
                },
                parents=["test", "oil"],
            ),
            Decision("drill", ["yes", "no"], knows=["test", "report"]),
            Utility("gain", {"no": 0, "yes": {"dry": -70, "wet": 50, "soaking": 200}}, parents=["drill", "oil"]),
            Utility("price", {"yes": -10, "no": 0}, parents=["test"]),
        ],
        name="oil",
    )


ROW_MAJOR = (".xdsl", ".uai")  # where pyAgrum lets the first of several parents change fastest, against both formats


def network_of_seed(seed: int, most_parents: int) -> BeliefNetwork:
    """Seven nodes of two to four states, as pyAgrum wants two at least."""
    generator = np.random.default_rng(seed)
    names, sizes = [f"n{k}" for k in range(7)], generator.integers(2, 5, 7).tolist()
    nodes = []
    for k, name in enumerate(names):
        above = sorted(generator.permutation(k)[:most_parents].tolist())
        n_rows = int(np.prod([sizes[each] for each in above]))
        table = generator.dirichlet(np.ones(sizes[k]), n_rows)
        nodes.append(Node(name, [f"s{j}" for j in range(sizes[k])], table, [names[each] for each in above]))
    return BeliefNetwork(nodes)


# -- networks ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".bif", ".bifxml", ".net", ".xdsl", ".uai"])
@pytest.mark.parametrize("seed", range(4))
def test_pyagrum_reads_what_we_write(tmp_path: Path, suffix: str, seed: int) -> None:
    network = network_of_seed(seed, most_parents=1 if suffix in ROW_MAJOR else 2)
    path = tmp_path / f"n{suffix}"
    network.write(path)
    theirs = gum.loadBN(str(path))
    assert theirs.size() == len(network)
    for place, name in enumerate(network):
        table = theirs.cpt(place if suffix == ".uai" else name)
        above = [str(name) for name in network.parents(name)]
        expected = network.table(name)
        order = [*above, name]
        if suffix == ".uai":
            order = [theirs.variable(list(network).index(each)).name() for each in order]
        theirs_cells = table.reorganize(list(reversed(order))).toarray().reshape(expected.shape)
        assert theirs_cells == pytest.approx(expected, rel=1e-6, abs=1e-6)  # they keep seven digits in some formats


@pytest.mark.parametrize("suffix", [".bif", ".bifxml", ".net", ".xdsl", ".uai"])
@pytest.mark.parametrize("seed", range(4))
def test_we_read_what_pyagrum_writes(tmp_path: Path, suffix: str, seed: int) -> None:
    gum.initRandom(seed)
    dag = "a{x|y|z}->b{u|v}->c[3];a->d[2]" if suffix in ROW_MAJOR else "a{x|y|z}->b{u|v}->c[3]<-d[2]<-a;b->d"
    theirs = gum.fastBN(dag)
    path = tmp_path / f"n{suffix}"
    gum.saveBN(theirs, str(path))
    network = BeliefNetwork.read(path)
    inference = gum.LazyPropagation(theirs)
    for place, name in enumerate(theirs.names() if suffix != ".uai" else map(str, range(4))):
        node = name if suffix != ".uai" else place
        expected = inference.posterior(node).tolist()
        assert [*network.query(name).values()] == pytest.approx(expected, abs=1e-6)


# -- diagrams ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".xdsl", ".net", ".xmlbif", ".bifxml.gz", ".toml", ".json"])
def test_a_diagram_comes_back_from_every_format(tmp_path: Path, suffix: str) -> None:
    diagram = oil()
    diagram.write(tmp_path / f"oil{suffix}")
    again = InfluenceDiagram.read(tmp_path / f"oil{suffix}")
    assert again.solve().utility == diagram.solve().utility
    assert {n: again.parents(n) for n in again.decisions} == {n: diagram.parents(n) for n in diagram.decisions}
    assert again.name == "oil"
    again.write(tmp_path / f"again{suffix}")
    assert (tmp_path / f"again{suffix}").read_bytes() == (tmp_path / f"oil{suffix}").read_bytes()


def test_pyagrum_solves_the_diagram_that_we_write(tmp_path: Path) -> None:
    diagram = oil()
    diagram.write(tmp_path / "oil.bifxml")
    theirs = gum.loadID(str(tmp_path / "oil.bifxml"))
    solver = gum.ShaferShenoyLIMIDInference(theirs)
    solver.addNoForgettingAssumption(["test", "drill"])
    solver.makeInference()
    assert solver.MEU()["mean"] == pytest.approx(diagram.solve().utility, rel=1e-6)


def test_we_solve_the_diagram_that_pyagrum_writes(tmp_path: Path) -> None:
    theirs = gum.fastID("c{a|b}->*d{x|y}->$u<-c")
    theirs.cpt("c").fillWith([0.3, 0.7])
    theirs.utility("u").fillWith([10, -5, 2, 4])
    gum.saveID(theirs, str(tmp_path / "d.bifxml"))
    diagram = InfluenceDiagram.read(tmp_path / "d.bifxml")
    solver = gum.ShaferShenoyLIMIDInference(theirs)
    solver.makeInference()
    assert diagram.solve().utility == pytest.approx(solver.MEU()["mean"], rel=1e-6)


GENIE = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!-- as GeNIe writes it -->
<smile version="1.0" id="Network1" numsamples="1000" discsamples="10000">
<nodes>
<cpt id="Success"><state id="Success" /><state id="Failure" /><probabilities>0.2 0.8</probabilities></cpt>
<cpt id="Forecast"><state id="Good" /><state id="Moderate" /><state id="Poor" /><parents>Success</parents>
<probabilities>0.4 0.4 0.2 0.1 0.3 0.6</probabilities></cpt>
<deterministic id="Copy"><state id="s" /><state id="f" /><parents>Success</parents>
<resultingstates>s f</resultingstates></deterministic>
<decision id="Invest"><state id="Invest" /><state id="DoNotInvest" /><parents>Forecast</parents></decision>
<utility id="Gain"><parents>Invest Success</parents><utilities>10000 -5000 500 500</utilities></utility>
</nodes>
<extensions><genie version="1.0" app="GeNIe" name="Network1"><node id="Success"><name>Success</name></node></genie>
</extensions>
</smile>"""


def test_a_file_of_genie_is_solved(tmp_path: Path) -> None:
    """The venture of GeNIe's manual: invest if the forecast is good."""
    path = tmp_path / "venture.xdsl"
    path.write_text(GENIE)
    diagram = InfluenceDiagram.read(path)
    good = 0.2 * 0.4 / (0.2 * 0.4 + 0.8 * 0.1)
    gain = (0.2 * 0.4 + 0.8 * 0.1) * (good * 10000 - (1 - good) * 5000)
    assert diagram.solve().utility == pytest.approx(gain + (1 - 0.16) * 500)
    assert diagram.network.table("Copy").tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(KindError, match="influence diagram"):
        BeliefNetwork.read(path)


def test_a_weighted_sum_of_utilities_is_taken_in(tmp_path: Path) -> None:
    path = tmp_path / "two.xdsl"
    total = '<utility id="Fee"><parents>Invest</parents><utilities>-3 0</utilities></utility>'
    total += '<mau id="Total"><parents>Gain Fee</parents><weights>1 2</weights></mau>'
    path.write_text(GENIE.replace("</nodes>", f"{total}</nodes>"))
    diagram = InfluenceDiagram.read(path)
    assert diagram.utility("Fee").tolist() == [-6.0, 0.0]


# -- what is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("<cpt id=", "<noisymax id=", "mismatched tag"),
        ("0.2 0.8", "0.2", "has 1 numbers; 2 are needed"),
        ("<parents>Success</parents>", "<parents>Sucess</parents>", "there is no node 'Sucess' before this line"),
        ("s f</res", "s g</res", "'Copy' has no state 'g'"),
        ("<smile ", '<!DOCTYPE a [<!ENTITY b "c">]><smile ', "the entity 'b' is declared"),
        ("Invest Success</parents>", "Invest Gain</parents>", "there is no node 'Gain' before this line"),
        ("-5000 500 500", "-5000 500", "the utilities of 'Gain' has 3 numbers"),
    ],
)
def test_a_damaged_file_of_genie_says_where(tmp_path: Path, old: str, new: str, says: str) -> None:
    path = tmp_path / "venture.xdsl"
    path.write_text(GENIE.replace(old, new, 1))
    with pytest.raises(SourceError, match=rf"venture.xdsl, line \d+, column \d+: .*{says}"):
        InfluenceDiagram.read(path)


def test_a_noisy_node_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "noisy.xdsl"
    path.write_text(GENIE.replace("<cpt", "<noisymax").replace("</cpt", "</noisymax"))
    with pytest.raises(SourceError, match="'Success' is a noisymax node"):
        InfluenceDiagram.read(path)


NOISY = """<smile version="1.0" id="N" numsamples="10000"><nodes>
<cpt id="flu"><state id="yes"/><state id="no"/><probabilities>0.1 0.9</probabilities></cpt>
<cpt id="cold"><state id="bad"/><state id="mild"/><state id="no"/><probabilities>0.1 0.2 0.7</probabilities></cpt>
<noisymax id="fever"><state id="high"/><state id="low"/><state id="no"/><parents>flu cold</parents>
<strengths>0 1 0 1 2</strengths>
<parameters>0.6 0.3 0.1 0 0 1 0.2 0.5 0.3 0.1 0.2 0.7 0 0 1 0.01 0.04 0.95</parameters></noisymax>
</nodes></smile>"""


def test_a_noisy_node_of_genie_is_the_strongest_of_its_causes_and_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "noisy.xdsl"
    path.write_text(NOISY)
    network = BeliefNetwork.read(path)
    flu, cold, leak = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.5, 0.3]), np.array([0.01, 0.04, 0.95])
    high = 1 - (1 - flu[0]) * (1 - cold[0]) * (1 - leak[0])
    none = flu[2] * cold[2] * leak[2]
    seen = network.query("fever", {"flu": "yes", "cold": "bad"})
    assert [seen["high"], seen["no"]] == pytest.approx([high, none], rel=1e-12)
    network.write(tmp_path / "again.xdsl")
    again = BeliefNetwork.read(tmp_path / "again.xdsl")
    assert again == network and isinstance(again.node("fever").table, NoisyMax)
    network.write(tmp_path / "expanded.bif")
    expanded = BeliefNetwork.read(tmp_path / "expanded.bif")
    assert dict(expanded.query("flu", {"fever": "low"})) == pytest.approx(dict(network.query("flu", {"fever": "low"})))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("<strengths>0 1 0 1 2<", "<strengths>1 0 0 1 2<", "are not in order from strongest to absent"),
        ("0.1 0 0 1 0.2", "0.1 0 0.1 0.9 0.2", "has an effect of its own"),
        ("0.01 0.04 0.95<", "0.01 0.04<", "17 numbers|18"),
    ],
)
def test_noisy_nodes_that_would_be_misread_are_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in NOISY
    path = tmp_path / "noisy.xdsl"
    path.write_text(NOISY.replace(old, new))
    with pytest.raises(SourceError, match=said):
        BeliefNetwork.read(path)


def test_a_packed_file_is_read_up_to_the_cap_and_no_further(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.bif.gz"
    bomb.write_bytes(gzip.compress(b"/" * (80 << 20)))
    with pytest.raises(SourceError, match="is larger than 64 MB"):
        BeliefNetwork.read(bomb)
    cut = tmp_path / "cut.bif.gz"
    asia().write(cut)
    cut.write_bytes(cut.read_bytes()[:-20])
    with pytest.raises(SourceError, match="ends too early"):
        BeliefNetwork.read(cut)
    cut.write_bytes(b"not packed")
    with pytest.raises(SourceError, match="is not a gzip file"):
        BeliefNetwork.read(cut)
    with pytest.raises(ParameterError, match="unknown suffix for a network file"):
        BeliefNetwork.read(tmp_path / "x.csv.gz")


def test_a_packed_file_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    asia().write(tmp_path / "a.bif.gz")
    asia().write(tmp_path / "b.bif.gz")
    assert (tmp_path / "a.bif.gz").read_bytes() == (tmp_path / "b.bif.gz").read_bytes()


def test_what_a_format_cannot_hold_is_answered(tmp_path: Path) -> None:
    assert asia().write(tmp_path / "a.bif") == ()
    (lost,) = asia().write(tmp_path / "a.uai")
    assert "names of nodes and states are lost" in lost
    with pytest.raises(NetworkError, match="BIF has neither decisions nor utilities"):
        oil().write(tmp_path / "oil.bif")


def test_uai_files_name_nodes_by_position() -> None:
    network = formats.network_of("BAYES 2 2 3 2 1 0 2 0 1 2 .4 .6 6 .1 .2 .7 .3 .3 .4", "x.uai")
    assert network == BeliefNetwork(
        [Node("0", [0, 1], [0.4, 0.6]), Node("1", [0, 1, 2], np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]), ["0"])]
    )
    with pytest.raises(SourceError, match="only BAYES files"):
        formats.network_of("MARKOV 1 2 1 1 0 2 .5 .5", "x.uai")
