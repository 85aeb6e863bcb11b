"""Too much at one time is refused, without a debit, and what is answered is right."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from typing import Any

import pytest
import uvicorn
from tests.server.conftest import Running

from malaprop.server import run
from malaprop.server.settings import Limits, Settings

TEXTS = ["the cold rain of may and the warm wind of june were over by noon"] * 300


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service in which two requests may wait, and with room for few bodies."""
    folder = tmp_path_factory.mktemp("narrow")
    running = Running(
        Settings(
            folder=str(folder),
            database=f"sqlite:///{folder}/narrow.db",
            limits=Limits(waiting=2, bodies=60_000, cores=1),
        )
    )
    with running.client:
        yield running


def test_too_many_requests_are_refused_and_not_debited(narrow: Running) -> None:
    engine, refused = narrow.gate.service.engine, threading.Semaphore(0)

    def ask(_: int) -> tuple[int, str]:
        answer = narrow.privatize(texts=TEXTS[:200], subject="Ann", epsilon=1)
        if answer.status_code != 200:
            assert int(answer.headers["retry-after"]) >= 1
            assert answer.headers["content-type"] == "application/problem+json"
            refused.release()
        return answer.status_code, answer.json().get("receipt", {}).get("price", "0")

    with ThreadPoolExecutor(12) as pool:
        with engine.cores:  # so that none is answered before ten are refused
            asked = pool.map(ask, range(12))
            assert all(refused.acquire(timeout=600) for _ in range(10))
        answers = list(asked)
    assert sorted(status for status, _ in answers) == [200] * 2 + [503] * 10
    spent = narrow.post("/v1/budget", {"subject": "Ann"}).json()["spent"]
    assert float(spent) == sum(float(price) for _, price in answers)
    assert narrow.privatize(text="cold").status_code == 200  # and it is over


def test_bodies_together_have_a_limit(narrow: Running) -> None:
    text = json.dumps({"texts": TEXTS * 4, "epsilon": 1})
    assert 60_000 < len(text) < 16 << 20
    answer = narrow.client.post(
        "/v1/privatize", content=text, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 503
    assert narrow.privatize(text="cold").status_code == 200


def test_requests_that_are_drawn_together_get_their_own_texts(service: Running) -> None:
    """At a very large ε, each text comes back: whose it is shows."""
    sentences = [f"{word} and {word}" for word in ("rain", "snow", "fever", "wind", "noon")] * 8

    def ask(sentence: str) -> str:
        answer = service.privatize(texts=[sentence, None], epsilon=100, kinds="words")
        private, missing = answer.json()["texts"]
        assert missing is None
        return str(private)

    with ThreadPoolExecutor(8) as pool:
        private = list(pool.map(ask, sentences))
    assert [each.lower().split()[0] for each in private] == [s.split()[0] for s in sentences]


LARGE = 32 << 20


async def large(scope: Any, receive: Any, send: Any) -> None:
    """Answer with more than any buffer between two processes holds."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(LARGE)})


@contextmanager
def listening(app: Any) -> Iterator[tuple[int, uvicorn.Server]]:
    """Serve an application in a thread, as the service does; yield the port, and the server."""
    config = uvicorn.Config(app, http=run.Impatient, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield listener.getsockname()[1], server
        finally:
            server.should_exit = True
            thread.join()


def answered(port: int, sent: bytes, wait: Callable[[], object] = bool) -> bytes:
    """Return all that comes back, read after a wait, until the other side ends the connection."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=600)) as client:
        client.sendall(sent)
        wait()
        read = bytearray()
        with suppress(ConnectionResetError):
            while part := client.recv(1 << 20):
                read += part
    return bytes(read)


def test_those_who_send_no_headers_or_read_no_answer_are_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    begun = threading.Event()
    pause = run.Impatient.pause_writing

    def pausing(connection: run.Impatient) -> None:
        pause(connection)
        begun.set()

    monkeypatch.setattr(run.Impatient, "pause_writing", pausing)
    with listening(large) as (port, server):

        def cut_off() -> None:
            begun.wait()
            while server.server_state.connections:
                time.sleep(0.01)

        assert len(answered(port, asked)) > LARGE
        begun.clear()
        monkeypatch.setattr(run, "_ANSWER_SECONDS", 0.1)
        monkeypatch.setattr(run, "_ANSWER_RATE", 1 << 40)
        assert len(answered(port, asked, cut_off)) < LARGE
        monkeypatch.setattr(run, "_HEADER_SECONDS", 0.1)
        for half in (b"", b"GET / HTTP/1.1\r\nHost:"):
            assert answered(port, half) == b""


def test_what_is_no_http_is_told_in_the_form_of_all_errors() -> None:
    with listening(large) as (port, _):
        head, _, body = answered(port, b"canary\r\n\r\n").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert b"application/problem+json" in head
    assert json.loads(body)["type"] == "urn:malaprop:problem:not-http"
    assert b"canary" not in body
