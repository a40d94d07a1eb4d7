"""Posteriors as bytes, decision files with versions, and costs that agree with the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

import bayeswise as bw
from bayeswise.decisions.costs.decision_file import DecisionFile


@pytest.fixture
def credit(folder: Path) -> Path:
    bw.fit(str(folder / "credit.csv"), target="repaid", model="naive-bayes").save(folder / "credit.bayeswise")
    return folder


def test_posteriors_come_once_as_bytes(client: TestClient, credit: Path) -> None:
    request = {"model": "credit.bayeswise", "table": "credit-test.csv"}
    view = client.get("/api/costs/rows", params=request).json()
    data = client.get("/api/costs/rows.bin", params=request).content
    n, k = view["rows"], len(view["states"])
    assert len(data) == view["bytes"] == 8 * n * k + 8 * n + 8 * n * len(view["columns"]) + 4 * n
    posterior = np.frombuffer(data, "<f8", n * k).reshape(n, k)
    assert (posterior == bw.load(credit / "credit.bayeswise").predict_proba(str(credit / "credit-test.csv"))).all()
    truth = np.frombuffer(data, "<i4", offset=len(data) - 4 * n)
    assert np.bincount(truth).tolist() == [89, 411]
    assert view["columns"] == ["income", "amount"]


def test_rows_that_were_learned_are_left_out_one_by_one(client: TestClient, folder: Path) -> None:
    request = {"model": "golf.bayeswise", "table": "golf.csv"}
    assert client.get("/api/costs/rows", params=request).json()["how"] == "leave-one-out"
    posterior = np.frombuffer(client.get("/api/costs/rows.bin", params=request).content, "<f8", 28).reshape(14, 2)
    assert (posterior == bw.load(folder / "golf.bayeswise").leave_one_out(str(folder / "golf.csv"))).all()


def test_a_table_without_the_target_has_posteriors_too(client: TestClient) -> None:
    view = client.get("/api/costs/rows", params={"model": "golf.bayeswise", "table": "golf-tomorrow.csv"}).json()
    assert not view["has_truth"]


def test_costs_are_those_of_check(client: TestClient, credit: Path, bayeswise: Callable[..., Any]) -> None:
    request = {"model": "credit.bayeswise", "table": "credit-test.csv", "decision": "credit.toml"}
    facts = client.post("/api/costs/evaluate", json=request).json()["facts"]
    said = bayeswise(
        *("check", credit / "credit.bayeswise", credit / "credit-test.csv"),
        *("--costs", credit / "credit.toml", "--json"),
    )
    by_command = json.loads(said.out)
    assert facts == {name: by_command[name] for name in facts}


def test_a_decision_file_is_read_changed_and_saved(client: TestClient, folder: Path) -> None:
    view = client.get("/api/decision?file=credit.toml").json()
    assert view["actions"] == ["refuse", "lend", "ask"]
    assert view["document"]["costs"]["lend"] == {"yes": "-0.12 * amount", "no": "0.6 * amount"}
    document = view["document"]
    document["costs"]["refuse"] = {"yes": 20, "no": 0}
    document["unit"] = "EUR"
    saved = client.put("/api/decision", json={"file": "credit.toml", "version": view["version"], "document": document})
    assert saved.status_code == 200, saved.text
    read = DecisionFile.read(folder / "credit.toml")
    assert read.costs.to_dict()["refuse"] == {"yes": 20.0, "no": 0.0}
    assert (read.target, read.costs.reject, read.costs.unit) == ("repaid", "ask", "EUR")
    late = client.put("/api/decision", json={"file": "credit.toml", "version": view["version"], "document": document})
    assert late.status_code == 409


def test_two_tabs_that_save_at_once_do_not_lose_what_the_other_wrote(client: TestClient) -> None:
    view = client.get("/api/decision?file=credit.toml").json()
    request = {"file": "credit.toml", "version": view["version"], "document": view["document"]}
    request["document"]["costs"]["ask"] = {"yes": 7, "no": 7}
    answers = [client.put("/api/decision", json=request).status_code for _ in range(2)]
    assert answers == [200, 409]


def test_thresholds_are_those_of_the_rule(client: TestClient) -> None:
    costs = {"bin": {"spam": 0, "ham": 10}, "keep": {"spam": 1, "ham": 0}, "ask": {"spam": 0.5, "ham": 0.5}}
    view = client.post("/api/decision/check", json={"costs": costs}).json()
    assert [(piece["action"], piece["low"]) for piece in view["rule"]] == [("bin", 0.95), ("ask", 0.5), ("keep", 0.0)]


@pytest.mark.parametrize(
    "costs",
    [
        {"go": {"no": "rm -rf /", "yes": 0}},
        {"go": {"no": "__import__('os')", "yes": 0}},
        {"go": {"no": 1e400, "yes": 0}},
        {"": {"no": 1}},
        {},
    ],
)
def test_costs_that_mean_nothing_are_refused_and_not_written(client: TestClient, folder: Path, costs: Any) -> None:
    text = json.dumps({"file": "new.toml", "document": {"costs": costs}})
    answer = client.put("/api/decision", content=text, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422), answer.text
    assert not (folder / "new.toml").exists()


def test_any_name_survives_the_file(client: TestClient) -> None:
    name = 'a "b" = [c]\n\t# \x7f é 😀'
    document = {"target": name, "costs": {name: {"x y": 1.5, "z": -2}, "other": {"x y": 0, "z": 0}}}
    saved = client.put("/api/decision", json={"file": "odd.toml", "document": document})
    assert saved.status_code == 200, saved.text
    read = client.get("/api/decision?file=odd.toml").json()["document"]
    assert (read["target"], read["costs"]) == (document["target"], document["costs"])


def test_no_costs_at_all_are_refused(client: TestClient, credit: Path) -> None:
    request = {"model": "credit.bayeswise", "table": "credit-test.csv", "costs": {}}
    assert client.post("/api/costs/evaluate", json=request).status_code == 422


def test_capacity_gives_the_rows_prices_and_costs_of_decide(
    client: TestClient, credit: Path, bayeswise: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    document = client.get("/api/decision", params={"file": "credit.toml"}).json()["document"]
    request = {"model": "credit.bayeswise", "table": "credit-test.csv", "file": "credit.toml", "document": document}
    limits = {"ask": {"rows": 40}, "lend": {"share": 0.5}}
    view = client.post("/api/costs/limited", json={**request, "at_most": limits}).json()
    assert view["same_as"]["shell"] == (
        "bayeswise decide credit.bayeswise credit-test.csv --costs credit.toml --at-most ask=40 --at-most lend=50%"
    )
    monkeypatch.chdir(credit)
    said = json.loads(bayeswise(*view["same_as"]["shell"].split()[1:], "--json").out)
    assert {each["action"]: each["rows"] for each in view["actions"]} == {
        each["action"]: each["rows"] for each in said["decided"]
    }
    assert {each["action"]: each["price"] for each in view["actions"] if each["price"] is not None} == said["price"]
    assert view["expected"] * view["rows"] == pytest.approx(said["expected_cost"])
    paid = view["paid"]
    assert paid["low"] < paid["mean"] < paid["high"] and paid["interval"] == "95 % interval"
    assert view["moved"] > 0 and view["unlimited"] < view["expected"]
    names: dict[str, Any] = {}
    exec(view["same_as"]["python"].replace("within_capacity(decisions", "found = within_capacity(decisions"), names)
    assert names["found"].n_moved == view["moved"]


@pytest.mark.parametrize(
    ("at_most", "word"),
    [
        ({"ask": {}}, "unclear"),
        ({"ask": {"rows": 1, "share": 0.1}}, "unclear"),
        ({"forgive": {"rows": 1}}, "forgive"),
        ({"ask": {"rows": 1}, "lend": {"rows": 1}, "refuse": {"rows": 1}}, "3 places for 500 rows"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused(
    client: TestClient, credit: Path, at_most: dict[str, Any], word: str
) -> None:
    document = client.get("/api/decision", params={"file": "credit.toml"}).json()["document"]
    request = {"model": "credit.bayeswise", "table": "credit-test.csv", "document": document, "at_most": at_most}
    answer = client.post("/api/costs/limited", json=request)
    assert 400 <= answer.status_code < 500
    assert word in answer.json()["what"] and answer.json()["fix"]
