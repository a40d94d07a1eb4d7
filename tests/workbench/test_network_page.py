"""Networks under evidence, edited and learned; diagrams solved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import bayeswise as bw
from tests.workbench.test_model_page import ended


@pytest.fixture
def sprinkler(folder: Path) -> Path:
    """Rain or a sprinkler make the grass wet."""
    network = bw.BeliefNetwork(
        {
            "rain": {"states": ["no", "yes"], "table": [0.8, 0.2]},
            "sprinkler": {"states": ["off", "on"], "parents": ["rain"], "table": [[0.6, 0.4], [0.99, 0.01]]},
            "grass": {
                "states": ["dry", "wet"],
                "parents": ["sprinkler", "rain"],
                "table": [[1.0, 0.0], [0.2, 0.8], [0.1, 0.9], [0.01, 0.99]],
            },
        }
    )
    network.write(folder / "sprinkler.bif")
    return folder / "sprinkler.bif"


def asked(client: TestClient, **question: Any) -> dict[str, Any]:
    answer = client.post("/api/network/query", json={"network": "sprinkler.bif", **question})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_wet_grass_is_evidence_of_rain_by_hand(client: TestClient, sprinkler: Path) -> None:
    wet_and_rain = 0.2 * (0.99 * 0.8 + 0.01 * 0.99)
    wet_and_dry_sky = 0.8 * (0.6 * 0.0 + 0.4 * 0.9)
    view = asked(client, evidence={"grass": "wet"}, target="rain")
    assert view["beliefs"]["rain"][1] == pytest.approx(wet_and_rain / (wet_and_rain + wet_and_dry_sky))
    assert view["probability"] == pytest.approx(wet_and_rain + wet_and_dry_sky)
    assert set(view["worth"]) == {"sprinkler"}
    assert view["findings"][0]["node"] == "grass"


def test_not_this_state_and_likelihoods_are_evidence_too(client: TestClient, sprinkler: Path) -> None:
    certain = asked(client, evidence={"grass": "wet"})
    assert asked(client, excluded={"grass": ["dry"]})["beliefs"]["rain"] == pytest.approx(certain["beliefs"]["rain"])
    soft = asked(client, soft={"rain": {"no": 1.0, "yes": 4.0}})["beliefs"]["rain"][1]
    assert soft == pytest.approx(0.2 * 4 / (0.2 * 4 + 0.8))


def test_nodes_that_say_nothing_are_named(client: TestClient, sprinkler: Path, folder: Path) -> None:
    bw.BeliefNetwork(
        {
            "a": {"states": ["0", "1"], "table": [0.5, 0.5]},
            "b": {"states": ["0", "1"], "parents": ["a"], "table": [[0.9, 0.1], [0.2, 0.8]]},
            "c": {"states": ["0", "1"], "parents": ["b"], "table": [[0.9, 0.1], [0.2, 0.8]]},
        }
    ).write(folder / "chain.bif")
    view = client.post(
        "/api/network/query", json={"network": "chain.bif", "evidence": {"b": "1"}, "target": "c"}
    ).json()
    assert view["separated"] == ["a"]


def test_the_same_on_the_command_line_is_a_command_that_runs(
    client: TestClient, sprinkler: Path, bayeswise: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import json
    import shlex

    view = asked(client, evidence={"grass": "wet"}, soft={"sprinkler": {"on": 0.5, "off": 1.0}}, target="rain")
    monkeypatch.chdir(sprinkler.parent)
    said = bayeswise(*shlex.split(view["same_as"]["shell"])[1:], "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out)["posterior"]["rain"]["yes"] == pytest.approx(view["beliefs"]["rain"][1])


def test_an_edit_is_checked_and_saved_once(client: TestClient, sprinkler: Path) -> None:
    view = client.get("/api/network?network=sprinkler.bif").json()
    assert view["edges"] == [["rain", "sprinkler"], ["sprinkler", "grass"], ["rain", "grass"]]
    cycle = {"network": "sprinkler.bif", "edits": [{"change": "add-edge", "node": "rain", "parent": "grass"}]}
    answer = client.post("/api/network/edit", json=cycle)
    assert answer.status_code == 422 and "rain" in answer.json()["what"]
    rows = {"change": "set-table", "node": "rain", "rows": [[3.0, 1.0]]}
    wrong = {"network": "sprinkler.bif", "edits": [rows]}
    assert client.post("/api/network/edit", json=wrong).status_code == 422
    right = {**wrong, "edits": [{**rows, "normalise": True}], "output": "sprinkler.bif", "version": view["version"]}
    saved = client.post("/api/network/edit", json=right)
    assert saved.status_code == 200, saved.text
    assert bw.BeliefNetwork.read(sprinkler).query("rain")["yes"] == pytest.approx(0.25)
    assert client.post("/api/network/edit", json=right).status_code == 409
    assert not [path for path in sprinkler.parent.iterdir() if path.name.startswith(".")]


def test_the_table_of_a_node_says_what_each_row_is_about(client: TestClient, sprinkler: Path) -> None:
    table = client.get("/api/network/table?network=sprinkler.bif&node=sprinkler").json()
    assert (table["configurations"], table["rows"]) == ([["no"], ["yes"]], [[0.6, 0.4], [0.99, 0.01]])


def test_a_network_is_learned_with_edges_that_are_forbidden(client: TestClient) -> None:
    asked = {"table": "golf.csv", "output": "golf.bif", "forbid": [["humidity", "play"], ["play", "humidity"]]}
    job = ended(client, client.post("/api/network/learn", json=asked).json())
    assert job["state"] == "done", job
    edges = client.get("/api/network?network=golf.bif").json()["edges"]
    assert ["humidity", "play"] not in edges and ["play", "humidity"] not in edges


@pytest.mark.parametrize(
    "question",
    [
        {"evidence": {"snow": "yes"}},
        {"evidence": {"rain": "maybe"}},
        {"soft": {"rain": {"no": 0.0, "yes": 0.0}}},
        {"excluded": {"rain": ["no", "yes"]}},
        {"target": "snow"},
    ],
)
def test_a_question_that_means_nothing_says_so(client: TestClient, sprinkler: Path, question: dict[str, Any]) -> None:
    answer = client.post("/api/network/query", json={"network": "sprinkler.bif", **question})
    assert answer.status_code in (400, 422), answer.text


def test_the_oil_wildcatter_tests_first(client: TestClient) -> None:
    kinds = {piece["name"]: piece["kind"] for piece in client.get("/api/diagram?diagram=oil.toml").json()["pieces"]}
    assert kinds["drill"] == "decision" and kinds["oil"] == "chance" and kinds["gain"] == "utility"
    solved = client.post("/api/diagram/solve", json={"diagram": "oil.toml"}).json()
    assert solved["utility"] == pytest.approx(22.5)
    assert {policy["decision"] for policy in solved["policies"]} == {"test", "drill"}
    assert solved["information"][0]["value"] == pytest.approx(32.5)
    assert solved["tornado"][0]["entry"] == "P(oil = dry)"


def test_diagrams_and_decisions_are_told_apart(client: TestClient) -> None:
    kinds = {file["name"]: file["kind"] for file in client.get("/api/files").json()["files"]}
    assert (kinds["oil.toml"], kinds["credit.toml"]) == ("diagram", "decision")
