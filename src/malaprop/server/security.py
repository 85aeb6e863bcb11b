"""Who may call: the gate that each request passes before anything of its body is looked at.

Without keys, a service on loopback trusts whoever runs programs on this machine, and nobody else.
A web page that the user visits must not reach it, neither by a forged request nor through a name
that was made to point here. So the Host must be loopback, a foreign Origin is refused, bodies have
media types that a page cannot send without asking first, and what a proxy forwarded is refused.
"""

import asyncio
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from malaprop.ledger import LOCAL
from malaprop.privacy.errors import LedgerError
from malaprop.server.problems import Problem, busy, of_library
from malaprop.server.settings import Limits, Settings
from malaprop.server.telemetry import METHODS, UNKNOWN, Log, Metrics

PUBLIC: Final = frozenset(("/v1/health", "/v1/ready", "/openapi.json"))
"""Paths that need no key: they tell nothing about anybody. So do the files of the page."""
SCOPES: Final = ("privatize", "files", "read", "budget", "metrics")
"""What a key may be for. `read` is what depends on no text of anybody's: explain and so on."""
_FORWARDED: Final = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
_BODIES: Final = {"POST": "application/json", "PUT": "application/octet-stream"}
_MIB: Final = 1 << 20
_NOTHING: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What a page of this service may load: its own files, and nothing inline."""
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": _NOTHING,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who calls, and what that key allows."""

    id: str
    scopes: frozenset[str] = frozenset(SCOPES)
    mechanisms: frozenset[str] | None = None
    """The mechanisms that the key may name; None for all of the service's."""
    max_epsilon: float | None = None
    """The largest ε that a release may have; None for no limit."""
    per_minute: int | None = None
    """Requests a minute; None for no limit."""

    def require(self, scope: str) -> None:
        """Refuse what the key is not for."""
        if scope not in self.scopes:
            raise Problem("forbidden", f"This key is not for this. It lacks the scope {scope}.")

    def check(self, mechanism: str, *epsilons: float | None) -> None:
        """Refuse a mechanism or an ε that the key does not allow."""
        if self.mechanisms is not None and mechanism not in self.mechanisms:
            allowed = ", ".join(sorted(self.mechanisms))
            raise Problem("forbidden", f"This key is for these mechanisms only: {allowed}.")
        most = self.max_epsilon
        if most is not None and any(e is not None and e > most for e in epsilons):
            raise Problem("forbidden", f"This key allows an ε of {most:g} at most.")


LOOPBACK: Final = Caller(id=LOCAL)
"""Who calls without a key, from this machine."""


class KeyRing(Protocol):
    """Finds the caller of a key."""

    async def caller(self, key: str) -> Caller | None:
        """Return who has this key; None if nobody has, or has it no more."""


class Gate:
    """Lets a request through to the app, or answers it; adds headers, logs and counts."""

    def __init__(
        self, app: ASGIApp, settings: Settings, keys: KeyRing, log: Log, metrics: Metrics
    ) -> None:
        self._app, self._settings, self._keys = app, settings, keys
        self._log, self._metrics, self._limits = log, metrics, settings.limits
        self._rates, self._bodies = _Rates(settings.workers), _Bodies(settings.limits)
        self._under_way = 0
        self.open_paths: frozenset[str] = PUBLIC
        """Paths that need no key."""
        self.service: Any = None
        """What is behind the gate."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, as ASGI has it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:  # no endpoint speaks WebSocket
            await send({"type": "websocket.close", "code": 1000})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, status, request_id = time.perf_counter(), 0, secrets.token_hex(8)

        async def with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers["X-Request-Id"] = request_id
            await send(message)

        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        self._under_way += 1
        try:
            with self._bodies.held() as hold:
                caller = state["caller"] = await self._admit(scope)
                body = _Body(scope, receive, self._limits, hold)
                await self._app(scope, body.receive, with_headers)
        except Exception as error:
            if not status:  # else it was answered, and logged
                problem = self._problem(error, request_id)
                self._metrics.count("malaprop_refused_total", problem=problem.name)
                await problem.response()(scope, receive, with_headers)
        finally:
            self._under_way -= 1
        route, caller = _route(scope), state.get("caller")
        seconds = time.perf_counter() - began
        method = scope["method"] if scope["method"] in METHODS else UNKNOWN
        self._metrics.count(
            "malaprop_requests_total", route=route, method=method, status=str(status or 499)
        )
        self._metrics.observe(route, seconds)
        self._log.write(
            "request",
            request=request_id,
            method=method,
            route=route,
            status=status or 499,
            ms=round(1e3 * seconds, 2),
            **({"key": caller.id} if caller else {}),
        )

    def _problem(self, error: Exception, request_id: str) -> Problem:
        if isinstance(error, Problem):
            return error
        self._log.failure(error, request=request_id)
        if isinstance(error, LedgerError):  # where the keys are
            return of_library(error)
        return Problem("internal", f"The service's log has it as request {request_id}.")

    async def _admit(self, scope: Scope) -> Caller | None:
        if self._under_way > self._limits.under_way:
            raise busy("Too many requests are under way.")
        headers = Headers(scope=scope)
        caller = None
        if key := _bearer(headers):
            caller = await self._keys.caller(key)
            if caller is None:
                raise _no_key("The key is not known, has expired, or was revoked.")
        elif not self._settings.needs_keys:
            _require_loopback(scope, headers)
            caller = LOOPBACK
        elif scope["path"] not in self.open_paths:
            raise _no_key("Send your key in the header  Authorization: Bearer KEY")
        needed = _BODIES.get(scope["method"])
        sent = headers.get("content-type", "").partition(";")[0].strip().lower()
        if needed and sent != needed:
            raise Problem("wrong-media-type", f"Send the body with  Content-Type: {needed}")
        if caller is not None:
            self._rates.take(caller)
        return caller


def _route(scope: Scope) -> str:
    """Return the template of the endpoint that was found, never the path that was asked for."""
    return str(getattr(scope.get("route"), "path", UNKNOWN))


def _no_key(detail: str) -> Problem:
    return Problem("no-key", detail, headers={"WWW-Authenticate": "Bearer"})


def _bearer(headers: Headers) -> str:
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if not scheme:
        return ""
    if scheme.lower() != "bearer" or not key.strip():
        raise _no_key("Send your key in the header  Authorization: Bearer KEY")
    return key.strip()


def _require_loopback(scope: Scope, headers: Headers) -> None:
    host = headers.get("host", "")
    if len(headers.getlist("host")) != 1 or not _LOOPBACK.fullmatch(host):
        raise Problem(
            "forbidden",
            "Without keys, this service answers only to 127.0.0.1, [::1] and localhost: the Host "
            "of the request must be one of them.",
        )
    origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
    foreign = origin is not None and origin != f"{scope['scheme']}://{host}"
    # A link from elsewhere may open the page: it holds nothing, and nobody sees what opens.
    opened = scope["path"] == "/" and headers.get("sec-fetch-mode") == "navigate"
    if foreign or (site not in ("none", "same-origin") and not opened):
        raise Problem("forbidden", "Without keys, this service answers no page of another origin.")
    if any(name in headers for name in _FORWARDED):
        raise Problem(
            "forbidden",
            "Without keys, this service answers nothing that a proxy forwards: start it by  "
            "malaprop serve --key-needed  and send a key.",
        )


_LOOPBACK: Final = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?", re.I | re.A)


class _Rates:
    """A bucket of requests for each caller with a limit; each worker process has its share."""

    _MOST = 10_000  # callers that are remembered

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: Caller) -> None:
        if caller.per_minute is None:
            return
        rate = caller.per_minute / 60.0 / self._workers
        most = max(1.0, 10.0 * rate)  # what may come at once
        now = time.monotonic()
        left, then = self._buckets.pop(caller.id, (most, now))
        left = min(most, left + (now - then) * rate)
        enough = left >= 1.0
        self._buckets[caller.id] = (left - enough, now)
        while len(self._buckets) > self._MOST:
            self._buckets.popitem(last=False)
        if not enough:
            raise Problem(
                "rate-limited",
                f"This key allows {caller.per_minute:,} requests a minute.",
                retry_after=(1.0 - left) / rate,
            )


Hold = Callable[[int], None]
"""Called with the bytes of a body that have come; raises a Problem if there is no room."""


class _Bodies:
    """The room for all bodies that are being read or worked on."""

    def __init__(self, limits: Limits) -> None:
        self._most, self._used = limits.bodies, 0

    @contextmanager
    def held(self) -> Iterator[Hold]:
        """Yield what takes room for a request; at its end, the room is free again."""
        own = 0

        def hold(size: int) -> None:
            nonlocal own
            if self._used + size > self._most:
                raise busy("The service has no room for another body at present.")
            own += size
            self._used += size

        try:
            yield hold
        finally:
            self._used -= own


class _Body:
    """Receives a body within the limits of size and time."""

    def __init__(self, scope: Scope, receive: Receive, limits: Limits, hold: Hold) -> None:
        self._receive, self._hold, self._size = receive, hold, 0
        self._is_file = scope["method"] == "PUT"  # written to disk as it comes, and not held
        self._most = limits.file if self._is_file else limits.body
        self._seconds, self._began = limits.read_seconds, time.monotonic()
        self._whole = False
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdigit() and int(declared[:20]) > self._most:
            raise self._too_large()

    async def receive(self) -> Message:
        if self._whole:  # what follows is the end of the connection
            return await self._receive()
        allowed = self._seconds * (1 + (self._size // _MIB if self._is_file else 0))
        left = self._began + allowed - time.monotonic()
        try:
            message: Message = await asyncio.wait_for(self._receive(), max(left, 0.001))
        except TimeoutError:
            raise Problem(
                "slow",
                f"The body did not arrive within {allowed:g} seconds.",
                headers={"Connection": "close"},
            ) from None
        if message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            if self._size > self._most:
                raise self._too_large()
            if not self._is_file:
                self._hold(len(message.get("body", b"")))
            self._whole = not message.get("more_body", False)
        return message

    def _too_large(self) -> Problem:
        return Problem(
            "too-large",
            f"The body may have {self._most:,} bytes at most.",
            headers={"Connection": "close"},
        )


def caller_of(scope: Any) -> Caller:
    """Return who calls. The gate has admitted nobody else."""
    caller: Caller | None = scope["state"].get("caller")
    if caller is None:
        raise _no_key("Send your key in the header  Authorization: Bearer KEY")
    return caller
