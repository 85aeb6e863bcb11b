"""Runs the service: binds its address, and starts uvicorn with one process or several."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from malaprop.privacy.errors import ParameterError
from malaprop.server.app import create_app
from malaprop.server.keys import KeyStore
from malaprop.server.problems import MEDIA_TYPE, Problem
from malaprop.server.settings import ENVIRONMENT, Settings
from malaprop.server.telemetry import Log, quiet

_SECONDS_TO_STOP: Final = 30
_BACKLOG: Final = 1024
_HEADER_SECONDS: Final = 10.0
_ANSWER_SECONDS: Final = 30.0
_ANSWER_RATE: Final = 32_768  # bytes a second, at least


def run(settings: Settings) -> None:
    """Serve until a signal asks to stop; answer what is under way first."""
    settings.make_folder()
    if settings.needs_keys and not _has_keys(settings):
        raise ParameterError(
            "An address that others can reach needs a key, and so does `key_needed`: there is "
            "none yet. Make one with  malaprop keys create NAME."
        )
    log = Log()
    quiet(log)
    sys.setswitchinterval(0.001)  # the event loop must not wait long for computing threads
    with _bound(settings) as listener:
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        log.write("listening", url=f"http://{shown}:{port}", keys=settings.needs_keys)
        if settings.workers == 1:
            _Server(_config(settings, create_app(settings, log))).run(sockets=[listener])
            return
        os.environ[ENVIRONMENT] = settings.to_json()
        config = _config(settings, "malaprop.server.app:from_environment")
        config.workers = settings.workers
        Multiprocess(config, sockets=[listener]).run()


def _has_keys(settings: Settings) -> bool:
    store = KeyStore(settings.database_url)
    try:
        return store.has_valid()
    finally:
        store.close()


class _Server(uvicorn.Server):
    """A server that ends well when it was asked to stop: uvicorn would raise the signal again."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class Impatient(H11Protocol):
    """Ends connections of clients that send no headers, or read no answer: uvicorn would wait."""

    _headers: asyncio.TimerHandle | None = None
    _answer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the headers of the first request."""
        super().connection_made(transport)
        self._expect_headers()

    def data_received(self, data: bytes) -> None:
        """Take what a client sends; wait for the rest if it is not yet a whole header."""
        super().data_received(data)
        self._expect_headers()

    def _expect_headers(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            _stop(self._headers)
            self._headers = None
        elif self._headers is None:
            self._headers = self.loop.call_later(_HEADER_SECONDS, self.transport.abort)

    def pause_writing(self) -> None:
        """Wait for a client to read, as long as a slow line takes."""
        super().pause_writing()
        seconds = _ANSWER_SECONDS + self.transport.get_write_buffer_size() / _ANSWER_RATE
        self._answer = self.loop.call_later(seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: it has read."""
        super().resume_writing()
        _stop(self._answer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        _stop(self._headers)
        _stop(self._answer)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP in the form of all errors."""
        answer = Problem("not-http", "The request is not HTTP/1.1, or its headers are too long.")
        headers = [("Content-Type", MEDIA_TYPE), ("Connection", "close")]
        for event in (
            h11.Response(status_code=answer.status_code, headers=headers),
            h11.Data(data=bytes(answer.response().body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


def _config(settings: Settings, app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=isinstance(app, str),
        host=settings.host,
        port=settings.port,
        log_config=None,  # its logs quote requests; ours do not
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws="none",
        http=Impatient,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_SECONDS_TO_STOP,
    )


@contextmanager
def _bound(settings: Settings) -> Iterator[socket.socket]:
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM
        )
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.set_inheritable(True)
            yield listener
    except OSError as error:
        raise ParameterError(
            f"The address {settings.host}, port {settings.port}, cannot be listened on: "
            f"{error.strerror}. Choose another with `host` or `port`."
        ) from None
