"""What a foreign page, a foreign name and a path that leads out get from the workbench: nothing."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from bayeswise.workbench.app import guarded
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.safety import Access, Limits
from bayeswise.workbench.workspace import Workspace
from tests.workbench.conftest import Served


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8642", "127.0.0.1", "127.0.0.1:80", "localhost:8643", ""]
)
def test_a_name_that_leads_here_from_elsewhere_is_refused(client: TestClient, host: str) -> None:
    assert client.get("/api/files", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8642", "localhost:8642", "LOCALHOST:8642", "[::1]:8642"])
def test_the_names_of_this_machine_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/api/files", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:9999", "https://127.0.0.1:8642", "null", "http://localhost"]
)
def test_a_request_from_another_page_is_refused_even_with_the_token(client: TestClient, origin: str) -> None:
    for answer in (
        client.get("/api/files", headers={"origin": origin}),
        client.post("/api/files", headers={"origin": origin}, json={}),
    ):
        assert answer.status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_picture_that_another_page_asks_for_is_refused(client: TestClient, site: str) -> None:
    assert client.get("/api/files", headers={"sec-fetch-site": site}).status_code == 403


def test_nothing_is_answered_without_the_token(stranger: TestClient) -> None:
    for path in ("/", "/data", "/api/files", "/api/openapi.json", "/api/data?table=golf.csv"):
        assert stranger.get(path).status_code == 401, path
    for word in ("Bearer", "Bearer ", "Bearer wrong", "Basic abc", "bearer é"):
        assert stranger.get("/api/files", headers={"authorization": word.encode()}).status_code == 401, word
    assert stranger.get("/?token=wrong").status_code == 401
    assert stranger.get("/healthz").text == "ok\n"


def test_the_opened_url_becomes_a_cookie_that_scripts_and_other_sites_never_see(
    stranger: TestClient, access: Access
) -> None:
    opened = stranger.get(f"/data?table=golf.csv&token={access.token}")
    assert (opened.status_code, opened.headers["location"]) == (303, "/data?table=golf.csv")
    cookie = opened.headers["set-cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=Strict", "Path=/"))
    assert access.token not in cookie
    assert stranger.get("/api/files").status_code == 200


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example", "/%0d%0aset-cookie:x=y"])
def test_the_opened_url_leads_nowhere_else(stranger: TestClient, access: Access, path: str) -> None:
    location = stranger.get(f"{path}?token={access.token}").headers.get("location", "/")
    assert location.startswith("/") and not location.startswith(("//", "/\\")) and "\n" not in location


def test_a_token_in_the_url_of_the_api_counts_for_nothing(stranger: TestClient, access: Access) -> None:
    assert stranger.get(f"/api/files?token={access.token}").status_code == 401


def test_a_cookie_alone_changes_nothing(stranger: TestClient, access: Access) -> None:
    stranger.get(f"/?token={access.token}")
    assert stranger.post("/api/files", json={}).status_code == 403
    assert stranger.post("/api/files", json={}, headers={"origin": "http://127.0.0.1:8642"}).status_code == 405
    assert stranger.post("/api/files", json={}, headers={"sec-fetch-site": "same-origin"}).status_code == 405


def test_there_are_no_websockets(client: TestClient) -> None:
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/api/files"):
        pass


@pytest.mark.parametrize("path", ["/", "/api/files", "/api/nothing", "/api/data?table=..", "/assets/nothing.js"])
def test_every_answer_has_the_headers_of_safety(client: TestClient, path: str) -> None:
    for answer in (client.get(path), client.get(path, headers={"host": "evil.example"})):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answer.headers


class TestBodies:
    @pytest.fixture
    def limits(self) -> Limits:
        return Limits(body_bytes=1_000)

    def test_a_body_that_says_it_is_too_large_is_refused(self, client: TestClient) -> None:
        assert client.post("/api/files", content=b"x" * 1_001).status_code == 413

    @pytest.mark.parametrize("path", ["/api/v1/models/golf/predict", "/api/explain"])
    def test_a_body_in_chunks_is_cut_off_where_it_becomes_too_large(self, client: TestClient, path: str) -> None:
        answer = client.post(path, content=iter([b"x" * 400] * 5), headers={"content-type": "application/json"})
        assert answer.status_code == 413

    def test_a_length_that_is_not_a_number_is_refused(self, client: TestClient) -> None:
        assert client.post("/api/files", content=b"x", headers={"content-length": "-1"}).status_code == 413


OUTSIDE = [
    "../secret.csv",
    "..",
    ".",
    "",
    "/etc/passwd",
    "sub/../../secret.csv",
    "sub/../golf.csv",
    "./golf.csv",
    "golf.csv/",
    "//etc/passwd",
    "~/secret.csv",
    "golf.csv\0.txt",
    "\0",
    "..\\secret.csv",
    "C:\\secret.csv",
    "%2e%2e/secret.csv",
    "..%2fsecret.csv",
    ".hidden.csv",
    "leads-out.csv",
    "leads-out/secret.csv",
    "in-a-circle.csv",
    "a-pipe.csv",
    "x" * 5_000,
    "a/" * 400 + "x.csv",
    "*.csv",
]


@pytest.fixture
def outside(folder: Path) -> Path:
    """What must not be read, and links that lead to it."""
    secret = folder.parent / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    (folder / ".hidden.csv").write_text("a,b\n1,2\n")
    (folder / "leads-out.csv").symlink_to(secret)
    (folder / "leads-out").symlink_to(folder.parent)
    (folder / "in-a-circle.csv").symlink_to(folder / "in-a-circle.csv")
    os.mkfifo(folder / "a-pipe.csv")
    return secret


@pytest.mark.parametrize("name", OUTSIDE, ids=lambda name: repr(name[:30]))
def test_a_name_that_leads_out_of_the_workspace_finds_nothing(client: TestClient, outside: Path, name: str) -> None:
    answer = client.get(f"/api/data?table={quote(name, safe='')}")
    assert answer.status_code in (404, 422), answer.text
    assert "a,b" not in answer.text


@pytest.mark.parametrize("path", ["/assets/..%2findex.html", "/assets/%2e%2e/index.html", "/assets/..\\index.html"])
def test_no_other_file_of_the_package_is_served(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404 or "<div id=" in answer.text


def test_links_that_lead_out_are_not_listed(client: TestClient, outside: Path) -> None:
    listed = {file["name"] for file in client.get("/api/files").json()["files"]}
    assert "golf.csv" in listed
    assert not listed & {"leads-out.csv", "leads-out/secret.csv", ".hidden.csv", "in-a-circle.csv", "a-pipe.csv"}


def test_links_within_the_workspace_are_files_like_any_other(client: TestClient, folder: Path) -> None:
    (folder / "alias.csv").symlink_to(folder / "golf.csv")
    assert client.get("/api/data?table=alias.csv").json()["rows"] == 14


def test_a_proxy_before_the_server_has_its_own_name(folder: Path) -> None:
    access = Access.to(["127.0.0.1"], 8642, ["Models.example"])
    application = guarded(Bench(Workspace(folder)), access)
    with TestClient(application, headers={"authorization": f"Bearer {access.token}"}) as client:
        for host, origin, status in [
            ("models.example", "https://models.example", 200),
            ("models.example", "https://other.example", 403),
            ("other.example", "https://models.example", 421),
            ("127.0.0.1:8642", "https://127.0.0.1:8642", 403),
        ]:
            answer = client.get("http://x/api/files", headers={"host": host, "origin": origin})
            assert answer.status_code == status, (host, origin)


def test_another_address_than_loopback_needs_a_flag(bayeswise: Callable[..., Any], folder: Path) -> None:
    said = bayeswise("serve", folder, "--host", "0.0.0.0", "--no-browser")
    assert said.code == 2
    assert "--allow-remote" in said.err


def test_a_server_on_a_real_socket_refuses_what_the_guard_refuses(shared: Served) -> None:
    token = shared.url.partition("token=")[2]
    port = shared.port

    def answer_of(*lines: str) -> str:
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode())
            return connection.makefile("rb").readline().decode()

    bearer = f"Authorization: Bearer {token}"
    assert " 200 " in answer_of("GET /api/files HTTP/1.1", f"Host: 127.0.0.1:{port}", bearer)
    assert " 421 " in answer_of("GET /api/files HTTP/1.1", "Host: evil.example", bearer)
    assert " 401 " in answer_of("GET /api/files HTTP/1.1", f"Host: 127.0.0.1:{port}")
    upgrade = ("Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
    assert " 101 " not in answer_of("GET /api/files HTTP/1.1", f"Host: 127.0.0.1:{port}", bearer, *upgrade)
    chunked = ("POST /api/v1/models/golf/predict HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Length: 99999999999")
    assert " 413 " in answer_of(*chunked, bearer)
