"""Requests made up from the OpenAPI description: an answer or a problem with its reason, never a bug."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

import bayeswise as bw
from bayeswise.workbench.app import application
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.workspace import Workspace
from tests.workbench.conftest import EXAMPLES

# Names that lead somewhere: with random ones alone every answer would be that there is no such file.
KNOWN = {
    "table": ["golf.csv", "golf-tomorrow.csv"],
    "model": ["golf.bayeswise"],
    "name": ["golf"],
    "decision": ["golf.toml"],
    "file": ["golf.toml"],
    "network": ["golf.bif"],
    "diagram": ["oil.toml"],
    "target": ["play", "wind"],
    "node": ["play", "wind"],
}
# What starts processes is tried once each below: a process takes a second.
STARTING = ("/api/fit", "/api/compare", "/api/report", "/api/network/learn", "/api/label/start")

PATHS = list(application(Bench(Workspace(EXAMPLES))).openapi()["paths"])
COSTS = 'target = "play"\n[costs]\ngo = { no = 3, yes = 0 }\nstay = { no = 0, yes = 1 }\n'


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The application on a folder with a model, a decision and a network."""
    folder = tmp_path_factory.mktemp("fuzzed")
    for example in ("golf.csv", "golf-tomorrow.csv", "oil.toml"):
        shutil.copy(EXAMPLES / example, folder)
    bw.fit(str(folder / "golf.csv"), target="play", model="naive-bayes").save(folder / "golf.bayeswise")
    (folder / "golf.toml").write_text(COSTS)
    bw.BeliefNetwork.learn(str(folder / "golf.csv")).write(folder / "golf.bif")
    return application(Bench(Workspace(folder)))


@pytest.fixture(scope="module")
def description(app: Any) -> Any:
    """What the API says of itself."""
    return schemathesis.openapi.from_asgi("/api/openapi.json", app)


@schemathesis.hook
def map_query(context: schemathesis.HookContext, query: dict[str, object] | None) -> dict[str, object] | None:
    return _leading_somewhere(query)


@schemathesis.hook
def map_body(context: schemathesis.HookContext, body: object) -> object:
    return _leading_somewhere(body) if isinstance(body, dict) else body


@schemathesis.hook
def map_path_parameters(context: schemathesis.HookContext, parameters: dict[str, object]) -> dict[str, object]:
    return _leading_somewhere(parameters) or {}


def _leading_somewhere(parameters: dict[str, object] | None) -> dict[str, object] | None:
    """Two of three names are replaced by one that is there."""
    if not parameters:
        return parameters
    made = dict(parameters)
    for name, known in KNOWN.items():
        if name in made and isinstance(made[name], str) and len(str(made[name])) % 3:
            made[name] = known[len(str(made[name])) % len(known)]
    return made


@pytest.mark.parametrize("path", [path for path in PATHS if path not in STARTING])
def test_no_request_is_answered_by_a_bug(description: Any, path: str) -> None:
    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def ask(operation: Any, data: st.DataObject) -> None:
        case = data.draw(operation.as_strategy())
        answer = case.call(headers={"host": "127.0.0.1:8642"})
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400:
            assert set(answer.json()) == {"error", "what", "fix"}, answer.text

    for method in description[path]:
        ask(description[path][method])


@pytest.mark.parametrize("path", STARTING)
@pytest.mark.parametrize("body", [{}, [], {"table": 3}, {"table": "golf.csv", "target": "", "output": "x"}, "x", None])
def test_what_starts_a_process_checks_first(app: Any, path: str, body: object) -> None:
    with TestClient(app, raise_server_exceptions=False) as client:
        assert client.post(path, json=body).status_code in (400, 404, 422)
