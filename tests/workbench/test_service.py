"""The service: the answers of the library, row by row, in three forms; bad rows have their error in their place."""

from __future__ import annotations

import csv
import io
import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from starlette.testclient import TestClient

import bayeswise as bw

SUNNY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}


@pytest.fixture
def credit(folder: Path) -> Path:
    """A model of loans, with its decision beside it."""
    bw.fit(str(folder / "credit.csv"), target="repaid", model="naive-bayes").save(folder / "credit.bayeswise")
    return folder


@pytest.fixture
def applicants(folder: Path) -> list[dict[str, Any]]:
    with (folder / "credit-test.csv").open() as file:
        rows = [dict(row) for row in csv.DictReader(file)]
    return [{**row, "income": float(row["income"]), "amount": float(row["amount"])} for row in rows]


def test_one_row_is_predicted_as_by_the_library(client: TestClient, folder: Path) -> None:
    answer = client.post("/api/v1/models/golf/predict", json={"rows": [SUNNY]}).json()
    expected = bw.load(folder / "golf.bayeswise").predict_proba(SUNNY)[0]
    assert answer["rows"] == [
        {"prediction": "no", "probability": {"no": pytest.approx(expected[0]), "yes": pytest.approx(expected[1])}}
    ]
    assert answer["errors"] == 0


def test_json_csv_arrow_and_columns_give_the_same_decisions(
    client: TestClient, credit: Path, applicants: list[dict[str, Any]]
) -> None:
    model, url = bw.load(credit / "credit.bayeswise"), "/api/v1/models/credit/decide"
    expected = bw.decide(model, str(credit / "credit-test.csv"), bw.Costs.read(credit / "credit.toml"))
    by_rows = client.post(url, json={"rows": applicants}).json()["rows"]
    assert [row["action"] for row in by_rows] == expected.action.tolist()
    assert [row["expected_cost"] for row in by_rows] == expected.least_cost.tolist()
    columns = {name: [row[name] for row in applicants] for name in applicants[0]}
    assert client.post(url, json={"columns": columns}).json()["columns"]["action"] == expected.action.tolist()
    text = client.post(url, content=(credit / "credit-test.csv").read_bytes(), headers={"content-type": "text/csv"})
    assert [row["action"] for row in csv.DictReader(io.StringIO(text.text))] == expected.action.tolist()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, (table := pa.table(columns)).schema) as writer:
        writer.write_table(table)
    kind = "application/vnd.apache.arrow.stream"
    answer = client.post(url, content=bytes(sink.getvalue()), headers={"content-type": kind})
    assert answer.headers["content-type"] == kind
    assert pa.ipc.open_stream(answer.content).read_all()["action"].to_pylist() == expected.action.tolist()


def test_a_bad_row_has_its_error_in_its_place(client: TestClient, credit: Path, applicants: list[Any]) -> None:
    rows: list[Any] = applicants[:200]
    clean = client.post("/api/v1/models/credit/decide", json={"rows": rows}).json()["rows"]
    rows[3] = {**rows[3], "income": "a lot"}
    rows[77] = "not an object"
    rows[150] = {**rows[150], "income": 1e999}
    rows[199] = {**rows[199], "amount": None}  # the costs need it
    text = json.dumps({"rows": rows}).replace("Infinity", "1e999")
    answer = client.post("/api/v1/models/credit/decide", content=text.replace("1e999", '"inf"')).json()
    bad = [place for place, row in enumerate(answer["rows"]) if "error" in row]
    assert bad == [3, 77, 150, 199]
    assert answer["errors"] == 4
    assert "income" in answer["rows"][3]["what"] and answer["rows"][3]["fix"]
    assert [row for place, row in enumerate(answer["rows"]) if place not in bad] == [
        row for place, row in enumerate(clean) if place not in bad
    ]


def test_columns_that_are_not_there_are_missing_and_others_are_left_alone(client: TestClient, folder: Path) -> None:
    rows = [{"wind": "strong", "moon": "full"}, {"moon": "full"}, SUNNY]
    answer = client.post("/api/v1/models/golf/predict", json={"rows": rows}).json()
    model = bw.load(folder / "golf.bayeswise")
    alone = {**dict.fromkeys(SUNNY), "wind": "strong"}
    assert answer["rows"][0]["probability"]["yes"] == pytest.approx(model.predict_proba(alone)[0][1])
    assert answer["rows"][1]["error"] == "MissingColumnError"
    assert answer["ignored"] == ["moon"]


def test_explanations_add_up(client: TestClient) -> None:
    (row,) = client.post("/api/v1/models/golf/explain", json={"rows": [SUNNY]}).json()["rows"]
    found = row["explanation"]
    terms = np.array([part["log_likelihood"] for part in found["contributions"]])
    joint = np.exp(np.array(found["log_prior"]) + terms.sum(axis=0))
    assert found["posterior"] == pytest.approx((joint / joint.sum()).tolist())


@pytest.mark.parametrize("verb", ["predict", "decide", "explain"])
def test_no_rows_are_answered_by_the_same_columns_without_cells(
    client: TestClient, credit: Path, applicants: list[Any], verb: str
) -> None:
    url = f"/api/v1/models/credit/{verb}"
    none = client.post(url, json={"rows": []})
    assert none.status_code == 200, none.text
    assert (none.json()["rows"], none.json()["errors"]) == ([], 0)

    columns = {name: [row[name] for row in applicants[:2]] for name in applicants[0]}
    empty = client.post(url, json={"columns": {name: [] for name in columns}}).json()["columns"]
    some = client.post(url, json={"columns": columns}).json()["columns"]
    assert list(empty) == list(some)
    assert empty.get("probability") == (None if verb == "explain" else {"no": [], "yes": []})

    head, first = (credit / "credit-test.csv").read_text().splitlines()[:2]
    kind = {"content-type": "text/csv"}
    header = client.post(url, content=f"{head}\n", headers=kind)
    assert (
        header.text.splitlines() == client.post(url, content=f"{head}\n{first}\n", headers=kind).text.splitlines()[:1]
    )


def test_a_regression_answers_no_rows_with_no_numbers(client: TestClient, folder: Path) -> None:
    rows = [{"size": size % 7 + 0.5, "price": 3.0 * (size % 7) + size % 3} for size in range(40)]
    bw.fit(rows, target="price", model="linear").save(folder / "house.bayeswise")
    answer = client.post("/api/v1/models/house/predict", json={"rows": []})
    assert (answer.status_code, answer.json()["rows"]) == (200, [])


def test_a_regression_answers_with_a_number(client: TestClient, folder: Path) -> None:
    rows = [{"size": size % 7 + 0.5, "price": 3.0 * (size % 7) + size % 3} for size in range(40)]
    bw.fit(rows, target="price", model="linear").save(folder / "house.bayeswise")
    (row,) = client.post("/api/v1/models/house/predict", json={"rows": [{"size": 100.0}]}).json()["rows"]
    found = bw.load(folder / "house.bayeswise").predictive([{"size": 100.0}])
    assert (row["prediction"], row["stddev"]) == pytest.approx((found.mean[0], found.stddev[0]))
    assert client.post("/api/v1/models/house/decide", json={"rows": [{"size": 1.0}]}).status_code == 422


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", "application/json", 400),
        (b"[", "application/json", 400),
        (b"3", "application/json", 400),
        (b'{"rows": 3}', "application/json", 400),
        (b'{"rows": [], "columns": {}}', "application/json", 400),
        (b'{"columns": {"wind": ["weak"], "outlook": []}}', "application/json", 400),
        (b'{"rows": [{}], "coats": {}}', "application/json", 400),
        (b"<xml/>", "application/xml", 400),
        (b"", "text/csv", 422),
        (b"\x00\x01\x02", "application/vnd.apache.arrow.stream", 422),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(client: TestClient, body: bytes, kind: str, status: int) -> None:
    answer = client.post("/api/v1/models/golf/predict", content=body, headers={"content-type": kind})
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error", "what", "fix"}


def test_models_that_are_not_there_are_not_found(client: TestClient, folder: Path) -> None:
    for name in ("none", "../golf", "golf.bayeswise", "%2e%2e/golf", "/etc/passwd", "golf%00"):
        assert client.post(f"/api/v1/models/{name}/predict", json={"rows": [{}]}).status_code in (404, 405), name
    (folder / "torn.bayeswise").write_bytes((folder / "golf.bayeswise").read_bytes()[:-9])
    assert client.post("/api/v1/models/torn/predict", json={"rows": [{}]}).status_code == 422


def test_a_changed_file_is_served_whole_and_a_torn_one_not_at_all(client: TestClient, folder: Path) -> None:
    def answer_of() -> dict[str, float]:
        answer = client.post("/api/v1/models/golf/predict", json={"rows": [SUNNY]})
        assert answer.status_code == 200, answer.text
        found: dict[str, float] = answer.json()["rows"][0]["probability"]
        return found

    table = str(folder / "golf.csv")
    models = [bw.fit(table, target="play", smoothing=smoothing, model="naive-bayes") for smoothing in (1.0, 50.0)]
    expected = [float(model.predict_proba(SUNNY)[0][0]) for model in models]
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            for model in models:
                model.save(folder / "golf.bayeswise")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        seen = {round(answer_of()["no"], 9) for _ in range(150)}
    finally:
        stop.set()
        writer.join()
    assert seen <= {round(p, 9) for p in expected}
    models[0].save(folder / "golf.bayeswise")
    os.utime(folder / "golf.bayeswise")
    import time

    time.sleep(0.06)
    assert answer_of()["no"] == pytest.approx(expected[0])
    (folder / "golf.bayeswise").write_bytes(b"torn")
    time.sleep(0.06)
    assert answer_of()["no"] == pytest.approx(expected[0])
    assert "bayeswise_model_load_failures 1" in client.get("/metrics").text


def test_metrics_count_requests(client: TestClient) -> None:
    client.post("/api/v1/models/golf/predict", json={"rows": [SUNNY, 3, SUNNY]})
    client.post("/api/v1/models/none/predict", json={"rows": [SUNNY]})
    text = client.get("/metrics").text
    assert 'bayeswise_requests_total{model="golf",verb="predict",status="200"} 1' in text
    assert 'bayeswise_rows_total{model="golf",verb="predict"} 3' in text
    assert 'bayeswise_row_errors_total{model="golf",verb="predict"} 1' in text
    assert 'bayeswise_requests_total{model="",verb="predict",status="404"} 1' in text
    assert client.get("/readyz").text == "ready\n"


def test_what_is_served_is_listed(client: TestClient, credit: Path) -> None:
    listed = {each["name"]: each for each in client.get("/api/v1/models").json()}
    assert listed["credit"]["actions"] == ["refuse", "lend", "ask"]
    assert listed["golf"]["classes"] == ["no", "yes"]


def test_an_answer_for_which_no_thread_can_be_started_says_so(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def at_the_limit(*_: Any, **__: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("fastapi.routing.run_in_threadpool", at_the_limit)
    client = TestClient(
        client.app, base_url=str(client.base_url), headers=client.headers, raise_server_exceptions=False
    )
    answer = client.get("/api/v1/models")
    assert answer.status_code == 503
    assert "thread" in answer.json()["what"] and "ulimit -u" in answer.json()["fix"]


def test_a_flag_is_sent_as_a_boolean_or_as_one_and_zero_and_as_nothing_else(client: TestClient, folder: Path) -> None:
    table = {"paid": [True, False, True, False] * 5, "y": ["a", "b", "b", "b"] * 5}
    bw.fit(table, "y", model="naive-bayes").save(folder / "flags.bayeswise")
    rows = [{"paid": cell} for cell in (True, 1, False, 0, "yes", 2)]
    url = "/api/v1/models/flags/predict"
    answered = [client.post(url, json={"rows": [row]}).json()["rows"][0] for row in rows]
    assert answered[0] == answered[1] and answered[2] == answered[3] and answered[0] != answered[2]
    assert all("error" in row and "'paid'" in row["what"] for row in answered[4:]), answered
    sent = client.post(url, content="paid\nyes\n1\n", headers={"content-type": "text/csv"}).text
    assert "column 'paid' is binary; found 'yes'" in sent
