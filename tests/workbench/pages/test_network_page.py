"""Networks under evidence, edited and learned; diagrams solved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import bayeswise as bw
from tests.cases.diagram_cases import tiger
from tests.workbench.pages.test_model_page import ended


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


def answer_of(client: TestClient, **question: Any) -> dict[str, Any]:
    answer = client.post("/api/network/query", json={"network": "sprinkler.bif", **question})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_wet_grass_is_evidence_of_rain_by_hand(client: TestClient, sprinkler: Path) -> None:
    wet_and_rain = 0.2 * (0.99 * 0.8 + 0.01 * 0.99)
    wet_and_dry_sky = 0.8 * (0.6 * 0.0 + 0.4 * 0.9)
    view = answer_of(client, evidence={"grass": "wet"}, target="rain")
    assert view["beliefs"]["rain"][1] == pytest.approx(wet_and_rain / (wet_and_rain + wet_and_dry_sky))
    assert view["probability"] == pytest.approx(wet_and_rain + wet_and_dry_sky)
    assert set(view["worth"]) == {"sprinkler"}
    assert view["findings"][0]["node"] == "grass"


def test_not_this_state_and_likelihoods_are_evidence_too(client: TestClient, sprinkler: Path) -> None:
    certain = answer_of(client, evidence={"grass": "wet"})
    assert answer_of(client, excluded={"grass": ["dry"]})["beliefs"]["rain"] == pytest.approx(
        certain["beliefs"]["rain"]
    )
    soft = answer_of(client, soft={"rain": {"no": 1.0, "yes": 4.0}})["beliefs"]["rain"][1]
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

    view = answer_of(client, evidence={"grass": "wet"}, soft={"sprinkler": {"on": 0.5, "off": 1.0}}, target="rain")
    monkeypatch.chdir(sprinkler.parent)
    said = bayeswise(*shlex.split(view["same_as"]["shell"])[1:], "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out)["posterior"]["rain"]["yes"] == pytest.approx(view["beliefs"]["rain"][1])


def run_python(code: str, folder: Path) -> dict[str, Any]:
    """What the lines of Python on the page define, run in the workspace."""
    import contextlib

    names: dict[str, Any] = {}
    with contextlib.chdir(folder):
        exec(code, names)
    return names


def test_setting_a_node_is_not_observing_it(client: TestClient, sprinkler: Path, bayeswise: Any) -> None:
    import contextlib
    import json
    import shlex

    seen = answer_of(client, evidence={"sprinkler": "on"}, target="rain")
    done = answer_of(client, do={"sprinkler": "on"}, evidence={"grass": "wet"}, target="rain")
    assert answer_of(client, do={"sprinkler": "on"})["beliefs"]["rain"][1] == pytest.approx(0.2)
    assert seen["beliefs"]["rain"][1] == pytest.approx(0.2 * 0.01 / (0.2 * 0.01 + 0.8 * 0.4))
    wet = {"yes": 0.2 * 0.99, "no": 0.8 * 0.9}
    assert done["beliefs"]["rain"][1] == pytest.approx(wet["yes"] / sum(wet.values()))
    with contextlib.chdir(sprinkler.parent):
        said = bayeswise(*shlex.split(done["same_as"]["shell"])[1:], "--json")
    assert json.loads(said.out)["posterior"]["rain"]["yes"] == pytest.approx(done["beliefs"]["rain"][1])
    network = run_python(done["same_as"]["python"], sprinkler.parent)["network"]
    assert network.query("rain", {"grass": "wet"})["yes"] == pytest.approx(done["beliefs"]["rain"][1])


def test_the_effect_of_a_cause_stands_beside_what_is_seen(
    client: TestClient, sprinkler: Path, bayeswise: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import json
    import shlex

    url = "/api/network/effect?network=sprinkler.bif&cause=sprinkler&effect=grass"
    view = client.get(url).json()
    assert view["done"][1][1] == pytest.approx(0.8 * 0.9 + 0.2 * 0.99)
    assert view["seen"][1][1] == pytest.approx((0.8 * 0.4 * 0.9 + 0.2 * 0.01 * 0.99) / (0.8 * 0.4 + 0.2 * 0.01))
    assert view["adjusted_by"] == ["rain"]
    monkeypatch.chdir(sprinkler.parent)
    said = json.loads(bayeswise(*shlex.split(view["same_as"]["shell"])[1:], "--json").out)
    assert said["done"]["on"]["wet"] == pytest.approx(view["done"][1][1])
    run_python(view["same_as"]["python"], sprinkler.parent)
    assert client.get(url.replace("effect=grass", "effect=sprinkler")).status_code == 400


def test_findings_are_weighed_by_the_paths_they_take_and_by_how_they_agree(client: TestClient) -> None:
    question = {"network": "asia.bif", "evidence": {"xray": "yes", "dysp": "no"}, "target": "lung"}
    view = client.post("/api/network/query", json=question).json()
    assert view["paths"][0]["nodes"] == ["xray", "either", "lung"]
    assert view["state"] == "no" and view["conflict"]["bits"] > 0
    assert {each["node"] for each in view["conflict"]["explained_by"]} <= {"bronc", "smoke", "either", "lung", "tub"}
    assert view["explained_as"].startswith("bayeswise network explain asia.bif lung --given xray=yes")
    assert client.post("/api/network/query", json={**question, "evidence": {}}).json()["paths"] == []


def test_the_explanation_on_the_command_line_has_the_same_paths(
    client: TestClient, folder: Path, bayeswise: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import json
    import shlex

    question = {"network": "asia.bif", "evidence": {"xray": "yes", "smoke": "yes"}, "target": "lung", "state": "yes"}
    view = client.post("/api/network/query", json=question).json()
    monkeypatch.chdir(folder)
    words = shlex.split(view["explained_as"])[1:]
    assert json.loads(bayeswise(*words, "--json").out)["paths"] == view["paths"]
    assert "xray - either - lung" in bayeswise(*words).out


def test_soft_evidence_about_an_effect_joins_its_causes_in_the_colours(client: TestClient) -> None:
    question = {"network": "asia.bif", "target": "lung", "evidence": {}}
    assert "asia" in client.post("/api/network/query", json=question).json()["separated"]
    hinted = {**question, "soft": {"xray": {"yes": 1.0, "no": 0.2}}}
    assert "asia" not in client.post("/api/network/query", json=hinted).json()["separated"]


def test_nodes_and_states_are_added_renamed_and_removed_with_their_tables(client: TestClient, sprinkler: Path) -> None:
    edits = [
        {"change": "add-node", "node": "slip", "states": ["no", "yes"]},
        {"change": "add-edge", "node": "slip", "parent": "grass"},
        {"change": "set-table", "node": "slip", "rows": [[0.99, 0.01], [0.9, 0.1]]},
        {"change": "add-state", "node": "grass", "name": "flooded"},
        {"change": "rename-state", "node": "rain", "state": "yes", "name": "pouring"},
        {"change": "rename-node", "node": "sprinkler", "name": "hose"},
        {"change": "remove-state", "node": "grass", "state": "flooded"},
        {"change": "remove-edge", "node": "hose", "parent": "rain"},
    ]
    question = {"network": "sprinkler.bif", "edits": edits, "table": "slip"}
    tried = client.post("/api/network/edit", json=question).json()
    assert tried["graph"]["edges"] == [["hose", "grass"], ["rain", "grass"], ["grass", "slip"]]
    assert tried["table"]["rows"] == [[0.99, 0.01], [0.9, 0.1]]
    saved = client.post("/api/network/edit", json={**question, "output": "lawn.bif"}).json()
    page = bw.BeliefNetwork.read(sprinkler.parent / "lawn.bif")
    (sprinkler.parent / "lawn.bif").unlink()
    run_python(saved["graph"]["same_as"]["python"], sprinkler.parent)
    typed = bw.BeliefNetwork.read(sprinkler.parent / "lawn.bif")
    assert typed.edges == page.edges
    assert typed.query("slip")["yes"] == pytest.approx(page.query("slip")["yes"])
    assert page.states("rain") == ("no", "pouring")


def test_a_network_is_drawn_from_nothing(client: TestClient, folder: Path) -> None:
    edits = [{"change": "add-node", "node": "coin", "states": ["heads", "tails"]}]
    answer = client.post("/api/network/edit", json={"network": None, "edits": edits, "output": "coin.bif"})
    assert answer.status_code == 200, answer.text
    assert bw.BeliefNetwork.read(folder / "coin.bif").query("coin")["heads"] == 0.5
    again = client.post("/api/network/edit", json={"network": None, "edits": edits, "output": "coin.bif"})
    assert again.status_code == 409


@pytest.mark.parametrize(
    "edit",
    [
        {"change": "remove-state", "node": "rain", "state": "snow"},
        {"change": "add-state", "node": "rain", "name": "yes"},
        {"change": "rename-state", "node": "rain", "state": "no", "name": "yes"},
        {"change": "rename-node", "node": "rain", "name": "grass"},
        {"change": "add-node", "node": "rain"},
        {"change": "add-edge", "node": "grass", "parent": "grass"},
        {"change": "remove-state", "node": "rain"},
    ],
)
def test_an_edit_that_cannot_be_says_what_to_do(client: TestClient, sprinkler: Path, edit: dict[str, Any]) -> None:
    answer = client.post("/api/network/edit", json={"network": "sprinkler.bif", "edits": [edit]})
    assert answer.status_code in (400, 422), answer.text
    assert answer.json()["fix"]


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
    request = {"table": "golf.csv", "output": "golf.bif", "forbid": [["humidity", "play"], ["play", "humidity"]]}
    job = ended(client, client.post("/api/network/learn", json=request).json())
    assert job["state"] == "done", job
    edges = client.get("/api/network?network=golf.bif").json()["edges"]
    assert ["humidity", "play"] not in edges and ["play", "humidity"] not in edges


def test_learning_is_the_same_on_the_command_line_and_in_python(
    client: TestClient, folder: Path, bayeswise: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import json
    import shlex

    request = {
        "table": "golf.csv",
        "output": "golf.bif",
        "score": "aic",
        "require": [["wind", "play"]],
        "forbid": [["outlook", "play"]],
        "ignore": ["temperature"],
        "resamples": 5,
        "max_parents": 2,
    }
    job = ended(client, client.post("/api/network/learn", json=request).json())
    assert job["state"] == "done", job
    edges = [tuple(edge) for edge in job["result"]["edges"]]
    assert ("wind", "play") in edges and ("outlook", "play") not in edges
    assert all(0 <= each["support"] <= 1 for each in job["result"]["strengths"])
    same = client.post("/api/network/learn/same_as", json=request).json()
    monkeypatch.chdir(folder)
    (folder / "golf.bif").unlink()
    said = bayeswise(*shlex.split(same["shell"])[1:], "--json")
    assert json.loads(said.out)["edges"] == job["result"]["edges"]
    (folder / "golf.bif").unlink()
    assert list(run_python(same["python"], folder)["network"].edges) == edges
    assert (folder / "golf.bif").is_file()


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
    assert solved["options"]["test"] == pytest.approx([22.5, 20.0])  # Raiffa: the test is worth 2.5 more than no test
    assert sum(solved["parts"].values()) == pytest.approx(solved["utility"])
    assert solved["beliefs"]["test"] == [1.0, 0.0]


def test_limits_of_decisions_and_an_attitude_to_risk_are_respected(client: TestClient) -> None:
    solved = client.post("/api/diagram/solve", json={"diagram": "triage.toml"}).json()
    assert solved["text"].startswith("certainty equivalent 0.894654 (risk tolerance 0.5)")
    doctor = next(policy for policy in solved["policies"] if policy["decision"] == "doctor")
    assert doctor["knows"] == ["test"]
    assert doctor["columns"]["utility of operate"][1:] == [None, None]  # forbidden
    assert solved["attitude"] == "risk tolerance 0.5" and solved["proof"].startswith("proven optimum")
    assert solved["expected_value"] - solved["risk_premium"] == pytest.approx(solved["utility"])


def test_a_diagram_that_is_bounded_shows_its_bounds_and_its_gap(client: TestClient, folder: Path) -> None:
    longer = tiger(14)
    longer.write(folder / "tiger.toml")
    solved = client.post("/api/diagram/solve", json={"diagram": "tiger.toml"}).json()
    expected = longer.solve()
    assert (solved["utility"], solved["upper_bound"]) == pytest.approx(expected.bounds)
    assert solved["optimality_gap"] == pytest.approx(solved["upper_bound"] - solved["utility"])
    assert solved["recall"] == 3 and solved["proof"].startswith("not proven to be the best: no policies exceed 15.6985")
    assert solved["options"] == {} and solved["information"] == solved["tornado"] == []
    run_python(solved["same_as"]["python"], folder)


def test_a_diagram_that_is_solved_has_no_gap(client: TestClient) -> None:
    solved = client.post("/api/diagram/solve", json={"diagram": "oil.toml"}).json()
    assert solved["proof"] is solved["upper_bound"] is solved["recall"] is solved["attitude"] is None
    assert solved["optimality_gap"] == 0.0


def test_what_is_observed_or_decided_changes_the_best_policy(
    client: TestClient, folder: Path, bayeswise: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import json
    import shlex

    question = {"diagram": "oil.toml", "evidence": {"test": "yes", "report": "diffuse"}}
    solved = client.post("/api/diagram/solve", json=question).json()
    assert solved["beliefs"]["report"] == [0.0, 0.0, 1.0, 0.0]
    assert solved["beliefs"]["oil"][0] == pytest.approx(0.3 / 0.41)
    assert solved["beliefs"]["drill"] == [0.0, 1.0]
    monkeypatch.chdir(folder)
    solve, value, tornado = (shlex.split(line)[1:] for line in solved["same_as"]["shell"].splitlines())
    assert json.loads(bayeswise(*solve, "--json").out)["expected_utility"] == pytest.approx(solved["utility"])
    assert bayeswise(*value).code == bayeswise(*tornado).code == 0
    run_python(solved["same_as"]["python"], folder)


def test_diagrams_and_decisions_are_distinguished(client: TestClient) -> None:
    kinds = {file["name"]: file["kind"] for file in client.get("/api/files").json()["files"]}
    assert (kinds["oil.toml"], kinds["credit.toml"]) == ("diagram", "decision")


@pytest.mark.parametrize("suffix", ["xdsl", "net", "xmlbif"])
def test_diagrams_of_other_programs_are_diagrams(client: TestClient, folder: Path, suffix: str) -> None:
    bw.InfluenceDiagram.read(folder / "oil.toml").write(folder / f"oil.{suffix}")
    bw.BeliefNetwork.read(folder / "asia.bif").write(folder / f"asia.{suffix}")
    kinds = {file["name"]: file["kind"] for file in client.get("/api/files").json()["files"]}
    assert (kinds[f"oil.{suffix}"], kinds[f"asia.{suffix}"]) == ("diagram", "network")
    solved = client.post("/api/diagram/solve", json={"diagram": f"oil.{suffix}"}).json()
    assert solved["utility"] == pytest.approx(22.5)
