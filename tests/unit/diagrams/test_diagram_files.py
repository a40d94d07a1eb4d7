"""Diagrams in files: what a person writes, what is read back, and what is refused."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

import bayeswise as bw
from bayeswise.diagrams import Chance, Decision, InfluenceDiagram, Utility
from bayeswise.foundation.errors import DataError, SourceError
from tests.cases.diagram_cases import medical, oil

Write = Callable[[str, str], Path]

SMALL = """
[chance.rain]
states = ["yes", "no"]
table = 0.3
[decision.go]
options = ["yes", "no"]
knows = ["rain"]
[utility.fun]
parents = ["go", "rain"]
table = { no = 0, yes = { yes = -1, no = 2 } }
"""


@pytest.fixture
def written(tmp_path: Path) -> Write:
    def write(text: str, name: str = "d.toml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("suffix", [".toml", ".json"])
@pytest.mark.parametrize("make", [oil, medical])
def test_what_is_written_is_read_back(make: type[InfluenceDiagram], suffix: str, tmp_path: Path) -> None:
    make().write(tmp_path / f"d{suffix}")
    assert InfluenceDiagram.read(tmp_path / f"d{suffix}") == make()


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_names_and_labels_of_any_kind_survive(suffix: str, tmp_path: Path) -> None:
    hard = ["a.b", "", 'say "x"\n', "ä\x7f€", "[x]", "=", 1, 2.5, True, "1"]
    one = Chance('a.b [c] "d"\t', hard, [0.1] * 10)
    diagram = InfluenceDiagram(
        [
            one,
            Decision("d", [True, False], [one.name]),
            Utility("u'\\", [[0.1 * k + j for k in range(10)] for j in range(2)], ["d", one.name]),
            Utility("flat", 1e-300),
        ]
    )
    diagram.write(tmp_path / f"d{suffix}")
    assert InfluenceDiagram.read(tmp_path / f"d{suffix}") == diagram


def test_keys_of_files_are_text_whatever_the_states_are(written: Write) -> None:
    text = SMALL.replace('["yes", "no"]', "[true, 1]")
    text = text.replace("{ no = 0, yes = { yes = -1, no = 2 } }", "{ 1 = 0, true = { true = -1, 1 = 2 } }")
    diagram = InfluenceDiagram.read(written(text, "d.toml"))
    assert diagram.utility("fun").tolist() == [[-1.0, 2.0], [0.0, 0.0]]
    assert diagram.solve().policy("go").option({"rain": 1}) is True


def test_chance_nodes_may_come_from_a_network_file(written: Write) -> None:
    path = written(
        """
network = "weather.bif"
[decision.umbrella]
options = ["take", "leave"]
knows = ["forecast"]
[cost.trouble]
parents = ["umbrella", "weather"]
table = { take = 1, leave = { rain = 4, sun = 0 } }
""",
        "d.toml",
    )
    bw.BeliefNetwork(
        {
            "weather": {"states": ["rain", "sun"], "table": 0.3},
            "forecast": {"states": ["bad", "good"], "table": [0.8, 0.1], "parents": ["weather"]},
        }
    ).write(path.with_name("weather.bif"))
    diagram = InfluenceDiagram.read(path)
    assert diagram.solve().in_words() == ["umbrella: take if forecast is bad, else leave"]
    assert diagram.solve().expected_cost == pytest.approx(0.31 + 4 * 0.06)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("table = 0.3", "table = 1.3"), "d.toml: the table of 'rain'"),
        (
            ("table = 0.3", "tabel = 0.3"),
            "d.toml, [chance.rain]: the unknown entry 'tabel'. Fix: did you mean 'table'?",
        ),
        (("table = 0.3", ""), "d.toml, [chance.rain]: there is no table"),
        (('states = ["yes", "no"]', ""), "d.toml, [chance.rain]: there is no states"),
        (('states = ["yes", "no"]', "states = 3"), "d.toml, [chance.rain]: states must be a list"),
        (('knows = ["rain"]', "knows = [3]"), "d.toml, [decision.go]: knows must be a list of texts"),
        (('knows = ["rain"]', 'knows = ["rian"]'), "d.toml: 'go' knows 'rian', which is not a node"),
        (("[utility.fun]", "[utilities.fun]"), "d.toml has the unknown entry 'utilities'"),
        (("[utility.fun]", "[utility.rain]"), "d.toml, [utility.rain]: there are two nodes 'rain'"),
        (("yes = -1, no = 2", "yes = -1"), "d.toml: the utility 'fun' has no entry for go = yes, rain = no"),
        (("yes = -1, no = 2", 'yes = "x", no = 2'), "must be a number; found 'x'"),
        (("yes = -1, no = 2", "yes = nan, no = 2"), "must be finite; found nan"),
        (("[chance.rain]", "chance = 3\n[x]"), "d.toml has the unknown entry 'x'"),
        (("table = 0.3", "table = 0.3 0.4"), "d.toml is not TOML"),
        (("[chance.rain]", 'network = "no.bif"\n[chance.rain]'), "d.toml, network: cannot read"),
        (("[chance.rain]", "name = 3\n[chance.rain]"), "d.toml: name must be a text"),
    ],
)
def test_a_mistake_is_reported_with_its_place(written: Write, change: tuple[str, str], said: str) -> None:
    assert change[0] in SMALL
    with pytest.raises(SourceError) as caught:
        InfluenceDiagram.read(written(SMALL.replace(*change), "d.toml"))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[" * 100_000, "deep.json"),
        ('{"chance": ' * 500 + "1" + "}" * 500, "nested.json"),
        ("x = " + "[" * 50_000, "deep.toml"),
        ('{"chance": {"a": {"states": ["x"], "table": NaN}}}', "nan.json"),
        ('{"name": "a", "name": "b"}', "twice.json"),
        ("[]", "list.json"),
        ('{"chance": {"a": {"states": ' + str(list(range(20_000))) + ', "table": 1}}}', "states.json"),
        ("\x00", "zero.toml"),
        ("", "empty.json"),
        ("{}", "nothing.json"),
        (
            "[utility.u]\ntable = 0\nparents = ["
            + ",".join(f'"c{k}"' for k in range(64))
            + "]\n"
            + "".join(f'[chance.c{k}]\nstates = ["a", "b"]\ntable = 0.5\n' for k in range(64)),
            "wide.toml",
        ),
    ],
)
def test_hostile_files_end_in_a_typed_error_soon(written: Write, text: str, name: str) -> None:
    path = written(text, name)
    start = time.process_time()
    with pytest.raises(DataError):
        InfluenceDiagram.read(path)
    assert time.process_time() - start < 1.0


def test_a_file_that_is_too_large_is_not_read(written: Write) -> None:
    path = written("# " + "x" * (17 << 20), "large.toml")
    with pytest.raises(SourceError, match="larger than 16 MB"):
        InfluenceDiagram.read(path)
