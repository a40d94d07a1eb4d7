"""What every request passes first: the right host, no foreign origin, a token, a body of bounded size.

The server listens on this machine, and so does every page that the user's browser has open. A foreign page can send
requests here (cross-site posts, images, websockets), and by a name that it controls even read the answers (DNS
rebinding). So the Host must be ours, an Origin must be ours, and a request needs the token: as a bearer, or as the
cookie that the opened URL sets (HttpOnly, SameSite=Strict). Pages on other ports of localhost are "same-site" to a
browser and send the cookie, so a cookie counts only on requests that no other origin made.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import field, replace
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlencode

from bayeswise.foundation.dataclass import dataclass

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_NO_STORE = (b"cache-control", b"no-store")
_OPEN = ("/healthz", "/readyz", "/assets/")
_READING = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True)
class Limits:
    """How much one request or one job may take."""

    body_bytes: int = 64 << 20
    rows: int = 1_000_000
    columns: int = 20_000
    job_seconds: float = 3_600.0
    job_bytes: int = 8 << 30
    jobs: int = 2


@dataclass(frozen=True)
class Access:
    """Who has access: the token of the opened URL, the cookie that it becomes, and the names of this server."""

    hosts: frozenset[str]
    origins: frozenset[str]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    cookie: str = "bayeswise"

    @classmethod
    def to(cls, names: Iterable[str], port: int, proxied: Iterable[str] = ()) -> Access:
        """Access by these host names; a cookie is not bound to a port, so its name contains the port.

        `proxied` are names of a proxy before the server, which has its own port and may use TLS.

        >>> sorted(Access.to(["localhost", "::1"], 8000, ["models.example"]).hosts)
        ['[::1]:8000', 'localhost:8000', 'models.example', 'models.example:8000']
        """
        own = {f"[{name}]:{port}" if ":" in name else f"{name.lower()}:{port}" for name in names}
        others = {host for name in proxied for host in (name.lower(), f"{name.lower()}:{port}")}
        origins = {f"http://{host}" for host in own | others} | {f"https://{host}" for host in others}
        return cls(frozenset(own | others), frozenset(origins), cookie=f"bayeswise-{port}")

    def with_token(self, token: str) -> Access:
        """The same with a given token."""
        return replace(self, token=token)

    @property
    def session(self) -> str:
        """The value of the cookie, which follows from the token: a page goes on after a restart with the same one."""
        return hmac.digest(self.token.encode(), self.cookie.encode(), "sha256").hex()

    def knows(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def has_cookie(self, header: str) -> bool:
        pairs = (pair.strip().partition("=") for pair in header.split(";"))
        return any(
            name == self.cookie and hmac.compare_digest(value.encode("utf-8", "replace"), self.session.encode())
            for name, _, value in pairs
        )


class Refusal(Exception):
    """A request that is not answered, and why."""

    def __init__(self, status: int, what: str, fix: str) -> None:
        super().__init__(what)
        self.status, self.what, self.fix = status, what, fix


class Guard:
    """The application behind these checks; headers of safety on every answer."""

    def __init__(self, application: Application, access: Access, limits: Limits) -> None:
        self.application, self.access, self.limits = application, access, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":  # there are none
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        started = False
        seen = 0

        async def sending(message: Message) -> None:
            nonlocal started
            if seen > self.limits.body_bytes and not started:
                raise _too_large(self.limits.body_bytes)  # whatever the application makes of half a body
            if message["type"] == "http.response.start":
                started = True
                given = {name for name, _ in message.get("headers", ())}
                extra = [header for header in (*_HEADERS, _NO_STORE) if header[0] not in given]
                message = {**message, "headers": [*message.get("headers", ()), *extra]}
            await send(message)

        async def receiving() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.limits.body_bytes:
                raise _too_large(self.limits.body_bytes)
            return message

        try:
            headers = _header_values(scope)
            self._check(scope, headers)
            if (place := self._opened(scope)) is not None:
                await _answer(sending, 303, b"", [(b"location", place.encode()), (b"set-cookie", self._set_cookie())])
                return
            self._check_token(scope, headers)
            await self.application(scope, receiving, sending)
        except Refusal as refusal:
            if started:
                raise
            seen = 0
            body = json.dumps({"error": "Refused", "what": refusal.what, "fix": refusal.fix}).encode()
            await _answer(sending, refusal.status, body, [(b"content-type", b"application/json")])

    def _check(self, scope: Scope, headers: dict[bytes, list[str]]) -> None:
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.access.hosts:
            raise Refusal(
                421, "this server does not answer to that name", "open the URL that `bayeswise serve` printed"
            )
        origins = headers.get(b"origin", [])
        if any(origin.lower() not in self.access.origins for origin in origins):
            raise Refusal(403, "the request comes from another page", "send it from a page of this server")
        foreign = any(site not in ("same-origin", "none") for site in headers.get(b"sec-fetch-site", []))
        if foreign and (scope["method"] != "GET" or scope["path"].startswith("/api/")):
            raise Refusal(403, "the request comes from another page", "send it from a page of this server")
        lengths = headers.get(b"content-length", [])
        if any(not length.isdigit() or int(length) > self.limits.body_bytes for length in lengths):
            raise _too_large(self.limits.body_bytes)

    def _opened(self, scope: Scope) -> str | None:
        """Where to go on without the token that the opened URL has; None if it has none that is right."""
        if scope["method"] != "GET" or scope["path"].startswith("/api/") or b"token=" not in scope["query_string"]:
            return None
        pairs = parse_qsl(scope["query_string"].decode("ascii", "replace"), keep_blank_values=True)
        if not any(name == "token" and self.access.knows(value) for name, value in pairs):
            return None
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        path = "/" + scope["path"].lstrip("/\\") if scope["path"].isascii() and scope["path"].isprintable() else "/"
        return path + (f"?{rest}" if rest else "")

    def _set_cookie(self) -> bytes:
        return f"{self.access.cookie}={self.access.session}; HttpOnly; SameSite=Strict; Path=/".encode()

    def _check_token(self, scope: Scope, headers: dict[bytes, list[str]]) -> None:
        if scope["path"].startswith(_OPEN):
            return
        for word in headers.get(b"authorization", []):
            scheme, _, token = word.partition(" ")
            if scheme.lower() == "bearer" and self.access.knows(token.strip()):
                return
        if any(map(self.access.has_cookie, headers.get(b"cookie", []))):
            ours = bool(headers.get(b"origin")) or headers.get(b"sec-fetch-site") == ["same-origin"]
            if scope["method"] in _READING or ours:
                return
            raise Refusal(403, "the request does not name the page that sent it", "send an Origin, or a bearer token")
        raise Refusal(
            401,
            "the request has no token",
            "open the URL that `bayeswise serve` printed, or send `Authorization: Bearer TOKEN`",
        )


def _header_values(scope: Scope) -> dict[bytes, list[str]]:
    values: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        values.setdefault(name.lower(), []).append(value.decode("latin-1"))
    return values


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"the body is larger than {most:,} bytes", "send fewer rows at once")


async def _answer(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    headers = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
