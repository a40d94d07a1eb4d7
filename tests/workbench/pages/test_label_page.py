"""One case after the other: answers are in the journal before they are confirmed, whoever ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bayeswise.workbench.app import guarded
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.safety import Access
from bayeswise.workbench.workspace import Workspace
from tests.workbench.conftest import HOME

START = {"table": "golf-tomorrow.csv", "target": "play", "session": "labels", "classes": ["no", "yes"]}


def answer_of(client: TestClient, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"/api/label/{path}", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_session_from_the_first_case_to_the_table(
    client: TestClient, folder: Path, bayeswise: Callable[..., Any]
) -> None:
    view = answer_of(client, "start", **START)
    first = view["case"]["row"]
    assert set(view["case"]["believed"]) == {"no", "yes"} and view["open"] == 3
    view = answer_of(client, "answer", session="labels", row=first, label="yes")
    assert view["labels"] == 1
    late = client.post("/api/label/answer", json={"session": "labels", "row": first, "label": "no"})
    assert late.status_code == 409
    view = answer_of(client, "answer", session="labels", row=view["case"]["row"], label="no")
    view = answer_of(client, "answer", session="labels", row=view["case"]["row"], other="undo")
    assert view["labels"] == 1
    wrong = client.post("/api/label/answer", json={"session": "labels", "row": view["case"]["row"], "label": "perhaps"})
    assert wrong.status_code == 400
    end = answer_of(client, "end", session="labels")
    assert (end["labels"], end["labelled"]) == (1, "labels/labelled.csv")
    assert (folder / "labels" / "labelled.csv").read_text().splitlines()[1].endswith(",yes")
    assert {file["name"]: file["kind"] for file in client.get("/api/files").json()["files"]}["labels"] == "labels"


def test_what_was_confirmed_is_there_after_a_kill(client: TestClient, folder: Path, access: Access) -> None:
    view = answer_of(client, "start", **START)
    view = answer_of(client, "answer", session="labels", row=view["case"]["row"], label="yes")
    bench = Bench(Workspace(folder))
    with TestClient(guarded(bench, access), base_url=HOME) as other:
        other.headers["authorization"] = f"Bearer {access.token}"
        locked = other.post("/api/label/start", json=START)
        assert locked.status_code in (400, 422), locked.text  # the journal has one writer
    from bayeswise.workbench.pages.label import Sessions

    sessions = Sessions(Workspace(folder))
    client.post("/api/label/end", json={"session": "labels"})
    again = sessions.start("labels", ["golf-tomorrow.csv", "--target", "play", "--classes", "no,yes"])
    again.process.kill()
    again.process.wait()
    sessions.close()
    view = answer_of(client, "start", **START)
    assert view["labels"] == 1


@pytest.mark.parametrize("session", ["../labels", "/tmp/labels", ".labels", "a\\b", "x/../../y"])
def test_a_session_stays_in_the_workspace(client: TestClient, session: str) -> None:
    assert client.post("/api/label/start", json={**START, "session": session}).status_code in (404, 422)


def test_what_cannot_be_started_says_why(client: TestClient) -> None:
    answer = client.post("/api/label/start", json={**START, "classes": ["no"]})
    assert answer.status_code == 422
    assert "two classes" in answer.json()["what"]
    assert client.get("/api/label?session=labels").status_code == 404
