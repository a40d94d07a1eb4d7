"""Why a case is answered as it is, and whether posteriors are calibrated."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import bayeswise as bw
from bayeswise.evaluation.reliability import reliability

SUNNY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}


def test_golf_on_a_sunny_cool_humid_and_windy_day(client: TestClient, folder: Path) -> None:
    bw.fit(str(folder / "golf.csv"), target="play", smoothing=0, model="naive-bayes").save(folder / "golf.bayeswise")
    view = client.post("/api/explain", json={"model": "golf.bayeswise", "cells": SUNNY}).json()
    no, yes = 5 / 14 * 3 / 5 * 1 / 5 * 4 / 5 * 3 / 5, 9 / 14 * 2 / 9 * 1 / 3 * 1 / 3 * 1 / 3
    assert view["states"] == ["no", "yes"]
    assert view["posterior"][0] == pytest.approx(no / (no + yes))  # 0.795
    assert view["log_odds"] == pytest.approx(math.log(no / yes))
    weights = {part["column"]: part["weight"] for part in view["parts"]}
    assert weights["outlook"] == pytest.approx(math.log((3 / 5) / (2 / 9)))
    assert view["log_prior_odds"] + sum(weights.values()) == pytest.approx(view["log_odds"])
    assert view["change"]["to"] == "yes"
    assert view["start"] == "prior"


def test_a_regression_starts_at_the_means(client: TestClient, folder: Path) -> None:
    bw.fit(str(folder / "golf.csv"), target="play", model="logistic").save(folder / "golf.bayeswise")
    view = client.post("/api/explain", json={"model": "golf.bayeswise", "cells": SUNNY}).json()
    assert view["start"] == "at the means"


def test_the_nomogram_adds_up(client: TestClient) -> None:
    view = client.post("/api/explain", json={"model": "golf.bayeswise", "cells": SUNNY}).json()
    found = view["nomogram"]
    points = sum(line["points"][line["current"]] for line in found["lines"])
    assert points == pytest.approx(found["total"])
    assert found["at_zero"] + found["per_point"] * points == pytest.approx(view["log_odds"])


def test_an_action_is_explained_by_its_costs(client: TestClient, folder: Path) -> None:
    bw.fit(str(folder / "credit.csv"), target="repaid", model="naive-bayes").save(folder / "credit.bayeswise")
    rows = client.get("/api/rows", params={"table": "credit-test.csv", "start": 2, "count": 1}).json()
    cells = dict(zip(rows["columns"], rows["rows"][0], strict=True))
    request = {"model": "credit.bayeswise", "cells": cells, "decision": "credit.toml"}
    action = client.post("/api/explain", json=request).json()["action"]
    assert action["action"] == min(action["expected_cost"], key=action["expected_cost"].__getitem__)
    del cells["history"]
    request = {"model": "credit.bayeswise", "cells": cells, "decision": "credit.toml"}
    tests = client.post("/api/explain", json=request).json()["action"]["tests"]
    assert [test["column"] for test in tests] == ["history"]


def test_rows_of_a_table_are_shown_as_they_are_written(client: TestClient) -> None:
    page = client.get("/api/rows", params={"table": "golf.csv", "start": 14, "count": 5}).json()
    assert page["rows"] == [["rainy", "mild", "high", "strong", "no"]]
    assert not page["more"]


def test_cells_that_no_row_had_are_named(client: TestClient, folder: Path) -> None:
    bw.fit(str(folder / "credit.csv"), target="repaid", model="naive-bayes").save(folder / "credit.bayeswise")
    unseen = client.post("/api/explain", json={"model": "golf.bayeswise", "cells": {"outlook": "<b>"}}).json()
    assert unseen["parts"][0]["note"].startswith("unseen")
    answer = client.post("/api/explain", json={"model": "credit.bayeswise", "cells": {"income": "3a"}})
    assert answer.status_code in (200, 422)


def test_trust_is_what_the_report_is_drawn_from(client: TestClient, folder: Path) -> None:
    bw.fit(str(folder / "credit.csv"), target="repaid", model="naive-bayes").save(folder / "credit.bayeswise")
    request = {"model": "credit.bayeswise", "table": "credit-test.csv", "decision": "credit.toml"}
    view = client.get("/api/trust", params=request).json()
    for each in view["reliability"]:  # the sentence counts the marks that the page draws
        bins = zip(each["predicted"], each["low"], each["high"], strict=True)
        outside = sum(not low <= predicted <= high for predicted, low, high in bins)
        assert each["verdict"].startswith(f"{outside} of " if outside else "All ")
    found = bw.evaluate(bw.load(folder / "credit.bayeswise"), str(folder / "credit-test.csv"))
    assert view["rows"] == 500
    assert view["facts"]["cost_per_case"]["mean"] == pytest.approx(-341.12)
    assert sum(view["reliability"][0]["count"]) == 500
    posterior = found.decisions.posterior[:, 1]
    assert view["reliability"][1]["ece"] == pytest.approx(reliability(posterior, found.truth == 1, "yes").ece)
    assert view["coverage"] is not None and view["novelty"]["rows"] == 500


def test_a_report_runs_no_script(client: TestClient, folder: Path) -> None:
    (folder / "evil.html").write_text("<script>alert(1)</script>")
    answer = client.get("/api/report?file=evil.html")
    policy = answer.headers["content-security-policy"]
    assert "sandbox" in policy and "script-src" not in policy and "default-src 'none'" in policy
    assert client.get("/api/report?file=golf.csv").status_code == 422
