"""The service as a process: how it starts, answers under load, and ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from malaprop.ledger import Ledger
from malaprop.server.keys import KeyStore

ALL = "0.0.0.0"  # noqa: S104
SENTENCES = ["the cold rain of may and the warm wind of june were over by noon"] * 1_000


class Process:
    """`malaprop serve` on a free port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.database = folder, f"sqlite:///{folder}/service.db"
        self.log = folder / f"{time.time_ns()}.log"
        with self.log.open("w") as log:
            self.child = subprocess.Popen(
                [
                    *(sys.executable, "-m", "malaprop", "serve", "--port", "0"),
                    *("--database", self.database, "--folder", str(folder / "files"), *options),
                ],
                stderr=log,
            )
        try:
            self.url = self._event("listening")["url"]
            self._event("ready")
        except BaseException:
            self.end()
            raise

    def _event(self, name: str) -> dict[str, Any]:
        until = time.monotonic() + 600
        while time.monotonic() < until:
            for line in self.log.read_text().splitlines():
                with suppress(ValueError):  # half of a line
                    event: dict[str, Any] = json.loads(line)
                    if event["event"] == name:
                        return event
            assert self.child.poll() is None, self.log.read_text()
            time.sleep(0.05)
        raise AssertionError(self.log.read_text())

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=600, **options)

    def end(self, number: int = signal.SIGTERM) -> int:
        if self.child.poll() is None:
            self.child.send_signal(number)
        return self.child.wait(600)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def run(*options: str) -> Process:
        started.append(Process(tmp_path, *options))
        return started[-1]

    yield run
    for process in started:
        if process.child.returncode is None:
            process.end(signal.SIGKILL)


def test_a_fresh_machine_has_a_service(start: Callable[..., Process]) -> None:
    process = start()
    with process.client() as client:
        assert client.get("/v1/ready").status_code == 200
        body = client.post("/v1/privatize", json={"text": "cold", "epsilon": 1.5}).json()
        assert body["receipt"]["spent"] == "1.5"
    assert process.end() == 0


def test_it_answers_what_is_under_way_before_it_ends(start: Callable[..., Process]) -> None:
    process = start()

    def ask() -> int:
        with process.client() as client:
            body = {"texts": SENTENCES, "epsilon": 1.5, "subject": "Ann"}
            return client.post("/v1/privatize", json=body).status_code

    with ThreadPoolExecutor(1) as pool, process.client() as client:
        answer = pool.submit(ask)
        while "malaprop_waiting_requests 1\n" not in client.get("/metrics").text:
            if answer.done():  # it was too fast to be seen
                answer = pool.submit(ask)
        assert process.end() == 0
        assert answer.result() == 200


def test_killed_it_has_debited_all_that_it_answered(start: Callable[..., Process]) -> None:
    process = start()
    answered = 0
    with process.client() as client:
        for _ in range(5):
            body = {"text": "rain", "epsilon": 1.5, "subject": "Ann"}
            answered += client.post("/v1/privatize", json=body).status_code == 200
    assert process.end(signal.SIGKILL) == -signal.SIGKILL
    with Ledger.open(process.database) as ledger:
        assert ledger.budget(subject="Ann").spent == answered * 3 / 2
        assert ledger.verify() == []


def test_a_retry_after_a_kill_gets_the_same_answer(start: Callable[..., Process]) -> None:
    body = {"text": "the cold rain of may", "epsilon": 1.5, "subject": "Ann"}
    headers = {"Idempotency-Key": "k"}
    process = start()
    with process.client() as client:
        first = client.post("/v1/privatize", json=body, headers=headers).json()
    process.end(signal.SIGKILL)
    process = start()
    with process.client() as client:
        again = client.post("/v1/privatize", json=body, headers=headers).json()
    assert again["texts"] == first["texts"]
    with Ledger.open(process.database) as ledger:
        assert str(ledger.budget(subject="Ann").spent) == "1.5"


def test_several_processes_serve_one_budget(start: Callable[..., Process]) -> None:
    process = start("--workers", "2")
    with Ledger.open(process.database) as ledger:
        ledger.set_limits(subject_epsilon=30)

    def ask(_: int) -> int:
        with process.client() as client:
            body = {"text": "rain", "epsilon": 1.5, "subject": "Ann"}
            return client.post("/v1/privatize", json=body).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(ask, range(32)))
    assert sorted(statuses) == [200] * 20 + [402] * 12
    assert process.end() == 0


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        ended = subprocess.run(
            [sys.executable, "-m", "malaprop", "serve", "--port", port, "--folder", str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=600,
        )
    assert ended.returncode == 2
    assert "--port" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_another_address_is_refused_without_a_key_and_served_with_one(
    start: Callable[..., Process], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "malaprop", "serve", "--host", ALL, "--port", "0"]
    options = ["--database", f"sqlite:///{tmp_path}/service.db", "--folder", str(tmp_path / "f")]
    ended = subprocess.run([*command, *options], capture_output=True, text=True, timeout=600)
    assert ended.returncode == 2
    assert "malaprop keys create" in ended.stderr
    made = subprocess.run(
        [sys.executable, "-m", "malaprop", "keys", "create", "me", *options[:2]],
        capture_output=True,
        text=True,
        timeout=600,
    )
    key = made.stdout.strip()
    assert key.startswith("mlp_")
    process = start("--host", ALL)
    url = process.url.replace(ALL, "127.0.0.1")
    body = {"text": "rain", "epsilon": 1.5}
    assert httpx.post(f"{url}/v1/privatize", json=body).status_code == 401
    headers = {"Authorization": f"Bearer {key}"}
    assert httpx.post(f"{url}/v1/privatize", json=body, headers=headers).status_code == 200


def test_a_stopped_file_is_resumed(start: Callable[..., Process]) -> None:
    process = start()
    lines = b"id,note\n" + b"1,the cold rain of may and the warm wind of june\n" * 60_000
    with process.client() as client:
        body = {"epsilon": 1.5, "format": "csv", "columns": ["note"]}
        id_ = client.post("/v1/files", json=body).json()["id"]
        content = {"Content-Type": "application/octet-stream"}
        client.put(f"/v1/files/{id_}/content", content=lines, headers=content)
        wait(lambda: (progress(client, id_) or {}).get("done", 0) > 1_000)
    assert process.end() == 0
    process = start()
    with process.client() as client:
        wait(lambda: client.get(f"/v1/files/{id_}").json()["state"] == "done")
        private = client.get(f"/v1/files/{id_}/result").content
    assert private.count(b"\n") == lines.count(b"\n")
    assert private != lines


def progress(client: httpx.Client, id_: str) -> dict[str, Any] | None:
    found: dict[str, Any] | None = client.get(f"/v1/files/{id_}").json()["progress"]
    return found


def wait(for_: Callable[[], bool], seconds: float = 600.0) -> None:
    until = time.monotonic() + seconds
    while not for_():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_keys_are_made_listed_and_revoked(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/keys.db"

    def keys(*arguments: str) -> str:
        command = [sys.executable, "-m", "malaprop", "keys", *arguments, "--database", database]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    key = keys("create", "the page", "--scope", "read", "--max-epsilon", "2").strip()
    listed = keys("list")
    assert "the page" in listed
    assert "valid" in listed
    assert key not in listed
    assert "is revoked" in keys("revoke", key.split("_")[1])
    assert "revoked" in keys("list")
    store = KeyStore(database)
    assert not store.has_valid()
    store.close()
    assert os.stat(tmp_path / "keys.db").st_mode & 0o077 == 0
