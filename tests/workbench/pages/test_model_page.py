"""Fitting and comparing in the background, and settings that answer at once."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

import bayeswise as bw
from bayeswise.workbench.safety import Limits


def ended(client: TestClient, job: dict[str, Any], seconds: float = 60.0) -> dict[str, Any]:
    """The job when it is over."""
    until = time.monotonic() + seconds
    while job["state"] in ("queued", "running") and time.monotonic() < until:
        time.sleep(0.05)
        job = client.get(f"/api/jobs/{job['id']}").json()
    return job


def test_a_fit_in_the_background_writes_the_file_that_the_command_line_writes(client: TestClient, folder: Path) -> None:
    request: dict[str, Any] = {"table": "golf.csv", "target": "play", "output": "new.bayeswise"}
    request |= {"model": "naive-bayes", "settings": {"smoothing": 2.5}}
    started = client.post("/api/fit", json=request)
    assert started.status_code == 202, started.text
    job = ended(client, started.json())
    assert job["state"] == "done", job
    assert job["command"] == (
        "bayeswise fit golf.csv --target play --model naive-bayes --smoothing 2.5 --output new.bayeswise"
    )
    assert job["result"]["model"] == "new.bayeswise"
    bw.fit(str(folder / "golf.csv"), target="play", smoothing=2.5, model="naive-bayes").save(
        folder / "by-hand.bayeswise"
    )
    assert (folder / "new.bayeswise").read_bytes() == (folder / "by-hand.bayeswise").read_bytes()
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_file_that_somebody_else_changed_is_not_replaced(client: TestClient, folder: Path) -> None:
    request = {"table": "golf.csv", "target": "play", "output": "golf.bayeswise"}
    assert client.post("/api/fit", json=request).status_code == 409
    version = client.get("/api/model?model=golf.bayeswise").json()["version"]
    assert ended(client, client.post("/api/fit", json={**request, "version": version}).json())["state"] == "done"
    bw.fit(str(folder / "golf.csv"), target="wind", model="naive-bayes").save(folder / "golf.bayeswise")
    assert client.post("/api/fit", json={**request, "version": version}).status_code == 409


def test_a_job_that_fails_says_why(client: TestClient) -> None:
    request = {"table": "golf.csv", "target": "plya", "output": "new.bayeswise"}
    job = ended(client, client.post("/api/fit", json=request).json())
    assert job["state"] == "failed"
    assert "plya" in job["problem"]["what"] and "play" in job["problem"]["fix"]


def slowdown() -> float:
    """How many seconds pass on this machine, as busy as it is now, for one second of the processor."""
    began, used = time.monotonic(), time.thread_time()
    while time.thread_time() - used < 0.2:
        pass
    return (time.monotonic() - began) / 0.2


def test_a_job_that_is_cancelled_leaves_nothing_and_the_server_goes_on(client: TestClient, folder: Path) -> None:
    rng = np.random.default_rng(0)
    lines = ["a,b,c,d,y", *(",".join(map(str, row)) for row in rng.integers(0, 9, size=(40_000, 5)))]
    (folder / "long.csv").write_text("\n".join(lines) + "\n")
    request = {"table": "long.csv", "target": "y", "output": "long.bayeswise", "model": "auto"}
    job = client.post("/api/fit", json=request).json()
    while client.get(f"/api/jobs/{job['id']}").json()["state"] == "queued":
        time.sleep(0.01)
    began = time.monotonic()
    client.post(f"/api/jobs/{job['id']}/cancel")
    assert ended(client, job, 300.0)["state"] == "cancelled"
    assert time.monotonic() - began < 10 * max(slowdown(), 1.0)
    assert not (folder / "long.bayeswise").exists()
    assert client.get("/api/files").status_code == 200


def test_a_job_that_is_cancelled_while_its_process_starts_is_ended(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, cancelled = subprocess.Popen, []

    def cancelled_first(*arguments: Any, **settings: Any) -> Any:
        (job,) = [each for each in client.get("/api/jobs").json() if each["state"] == "running"]
        cancelled.append(client.post(f"/api/jobs/{job['id']}/cancel").json()["id"])
        return started([sys.executable, "-c", "import time; time.sleep(600)"], **settings)

    monkeypatch.setattr(subprocess, "Popen", cancelled_first)
    job = client.post("/api/fit", json={"table": "golf.csv", "target": "play", "output": "new.bayeswise"}).json()
    assert ended(client, job)["state"] == "cancelled"
    assert cancelled == [job["id"]]
    assert not (folder / "new.bayeswise").exists()


class TestLimits:
    @pytest.fixture
    def limits(self) -> Limits:
        return Limits(job_seconds=0.05)

    def test_a_job_that_takes_too_long_is_ended(self, client: TestClient) -> None:
        request = {"table": "golf.csv", "target": "play", "output": "new.bayeswise"}
        job = ended(client, client.post("/api/fit", json=request).json())
        assert (job["state"], job["problem"]["error"]) == ("failed", "TimeLimit")


class TestMemory:
    @pytest.fixture
    def limits(self) -> Limits:
        return Limits(job_bytes=60 << 20)

    @pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is bounded on Linux only")
    def test_a_job_that_takes_too_much_memory_ends_alone(self, client: TestClient) -> None:
        request = {"table": "golf.csv", "target": "play", "output": "new.bayeswise"}
        job = ended(client, client.post("/api/fit", json=request).json())
        assert job["state"] == "failed"
        assert client.get("/api/files").status_code == 200


def test_models_are_compared_by_rows_that_they_never_saw(client: TestClient) -> None:
    request = {"table": "golf.csv", "target": "play", "models": ["naive-bayes", "tan"], "folds": 3}
    job = ended(client, client.post("/api/compare", json=request).json())
    assert job["state"] == "done", job
    assert {line["model"] for line in job["result"]["models"]} == {"naive-bayes", "tan"}


def test_smoothing_is_changed_without_another_pass(client: TestClient, folder: Path) -> None:
    model = bw.load(folder / "golf.bayeswise")
    for smoothing in (0.1, 1.0, 30.0):
        answer = client.post(
            "/api/model/live", json={"model": "golf.bayeswise", "table": "golf.csv", "smoothing": smoothing}
        ).json()
        left_out = model.changed(smoothing=smoothing).leave_one_out(str(folder / "golf.csv"))
        truth = [0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0]
        expected = -np.mean([math.log(row[state]) for row, state in zip(left_out, truth, strict=True)])
        assert answer["rows"] == 14
        assert answer["log_loss"] == pytest.approx(expected, rel=1e-12)


def test_settings_are_listed_with_the_options_that_set_them(client: TestClient) -> None:
    kinds = {kind["name"]: kind for kind in client.get("/api/kinds").json()}
    smoothing = next(each for each in kinds["naive-bayes"]["settings"] if each["option"] == "smoothing")
    assert smoothing["number"] and smoothing["live"]
    assert set(kinds) >= {"naive-bayes", "gaussian", "logistic", "tan", "auto"}


@pytest.mark.parametrize("settings", [{"output": "x"}, {"smoothing": "--force"}, {"-o": "x"}, {"smoothing=1 --x": 1}])
def test_a_setting_is_never_another_option(client: TestClient, settings: dict[str, Any], folder: Path) -> None:
    request = {"table": "golf.csv", "target": "play", "output": "new.bayeswise", "settings": settings}
    answer = client.post("/api/fit", json=request)
    if answer.status_code == 202:
        assert ended(client, answer.json())["state"] == "failed"
    else:
        assert answer.status_code == 400
    assert not (folder / "new.bayeswise").exists()


@pytest.mark.parametrize("output", ["../x.bayeswise", "/tmp/x.bayeswise", "x.csv", "none/x.bayeswise", ".x.bayeswise"])
def test_a_model_is_written_into_the_workspace_only(client: TestClient, output: str) -> None:
    answer = client.post("/api/fit", json={"table": "golf.csv", "target": "play", "output": output})
    assert answer.status_code in (400, 404)
