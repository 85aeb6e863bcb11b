"""A service in this process, and what talks to it."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from malaprop.ledger import Ledger
from malaprop.server.app import create_app
from malaprop.server.jobs import Jobs
from malaprop.server.keys import KeyStore
from malaprop.server.security import Gate
from malaprop.server.settings import Limits, Settings
from malaprop.server.telemetry import Log


class Running:
    """A service that runs, its client, and what it has logged."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.written = settings, io.StringIO()
        self.gate: Gate = create_app(settings, Log(self.written))
        self.client = TestClient(
            self.gate, base_url="http://localhost:8000", raise_server_exceptions=False
        )

    def post(self, path: str, body: object, **options: Any) -> Any:
        headers = {"Content-Type": "application/json"} | options.pop("headers", {})
        return self.client.post(path, content=json.dumps(body), headers=headers, **options)

    def privatize(self, **body: Any) -> Any:
        return self.post("/v1/privatize", {"epsilon": 1.5} | body)

    @property
    def jobs(self) -> Jobs:
        jobs: Jobs = self.gate.service.jobs
        return jobs

    @property
    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written.getvalue().splitlines()]


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service without keys, as a fresh machine has it."""
    folder = tmp_path_factory.mktemp("service")
    running = Running(Settings(folder=str(folder), database=f"sqlite:///{folder}/service.db"))
    with running.client:
        yield running


@pytest.fixture(scope="session")
def files_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="session")
def files(files_folder: Path) -> Iterator[Running]:
    """A service that takes three files of a caller at one time."""
    running = Running(
        Settings(
            folder=str(files_folder),
            database=f"sqlite:///{files_folder}/files.db",
            limits=Limits(files=3),
        )
    )
    with running.client:
        yield running


@pytest.fixture(scope="session")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with a limit of ε = 4 for each subject."""
    folder = tmp_path_factory.mktemp("limited")
    settings = Settings(folder=str(folder), database=f"sqlite:///{folder}/limited.db")
    with Ledger.open(settings.database_url) as ledger:
        ledger.set_limits(subject_epsilon=4)
    running = Running(settings)
    with running.client:
        yield running


class Keyed(Running):
    """A service that needs keys."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.store = KeyStore(settings.database_url)

    def key(self, **options: Any) -> dict[str, str]:
        """Make a key, and return the header that sends it."""
        return {"Authorization": f"Bearer {self.store.create('test', **options)[1]}"}


@pytest.fixture(scope="session")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    folder = tmp_path_factory.mktemp("keyed")
    running = Keyed(
        Settings(
            host="0.0.0.0",  # noqa: S104  nothing listens
            folder=str(folder),
            database=f"sqlite:///{folder}/keys.db",
            limits=Limits(body=100_000, texts=50, bodies=150_000),
        )
    )
    with running.client:
        yield running
