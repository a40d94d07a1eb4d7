"""`bayeswise network edit`: each change as `network.edit` makes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from bayeswise.networks import BeliefNetwork, Node
from tests.cases.network_cases import asia

Command = Callable[..., SimpleNamespace]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    asia().write(tmp_path / "asia.bif")
    return tmp_path / "asia.bif"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--remove-node", "x-ray"], asia().edit.remove_node("x-ray")),
        (["--remove-edge", "smoking -> cancer"], asia().edit.remove_edge("smoking", "cancer")),
        (["--rename-node", "cancer=lung"], asia().edit.rename_node("cancer", "lung")),
        (["--rename-state", "x-ray:yes=dark"], asia().edit.rename_states("x-ray", {"yes": "dark"})),
        (["--add-state", "x-ray=unclear"], asia().edit.add_state("x-ray", "unclear")),
        (["--remove-state", "visit=yes"], asia().edit.remove_state("visit", "yes")),
        (
            ["--add-node", "age=young,old", "--add-edge", "age -> smoking"],
            asia().edit.add_node(Node("age", ["young", "old"], 0.5)).edit.add_edge("age", "smoking"),
        ),
        (
            ["--rename-node", "cancer=lung", "x-ray=image", "--add-edge", "smoking->image", "--remove-node", "visit"],
            asia()
            .edit.remove_node("visit")
            .edit.rename_node("cancer", "lung")
            .edit.rename_node("x-ray", "image")
            .edit.add_edge("smoking", "image"),
        ),
    ],
)
def test_an_edit_writes_the_network_that_python_makes(
    bayeswise: Command, file: Path, tmp_path: Path, words: list[str], expected: BeliefNetwork
) -> None:
    done = bayeswise("network", "edit", file, "-o", tmp_path / "new.bif", *words)
    assert done.code == 0, done.err
    assert BeliefNetwork.read(tmp_path / "new.bif") == expected


def test_what_was_written_is_reported_as_json(bayeswise: Command, file: Path, tmp_path: Path) -> None:
    done = bayeswise("network", "edit", file, "-o", tmp_path / "new.uai", "--remove-node", "x-ray", "--json")
    facts = json.loads(done.out)
    assert {node["name"] for node in facts["nodes"]} == {*asia()} - {"x-ray"}
    assert "names of nodes" in facts["lost"][0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no change is given"),
        (["--remove-node", "x-rey"], "did you mean 'x-ray'"),
        (["--remove-edge", "x-ray -> visit"], "there is no edge"),
        (["--add-edge", "dyspnoea -> visit"], "cycle"),
        (["--rename-node", "cancer=x-ray"], "there is a node 'x-ray' already"),
        (["--rename-state", "x-ray=yes"], "is not NODE:STATE=NEW"),
        (["--add-node", "age"], "names no states"),
        (["--remove-state", "x-ray=maybe"], "has no state 'maybe'"),
    ],
)
def test_mistakes_leave_no_file(bayeswise: Command, file: Path, tmp_path: Path, words: list[str], said: str) -> None:
    refused = bayeswise("network", "edit", file, "-o", tmp_path / "new.bif", *words)
    assert refused.code != 0 and said in refused.err
    assert not (tmp_path / "new.bif").exists()
