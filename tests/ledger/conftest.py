"""A ledger in each of the two databases."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from malaprop import TEM, Lexicon, Privatizer
from malaprop.ledger import Ledger

SECRET = bytes(range(32))


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.xdist_group("pg"))])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    address: str = request.getfixturevalue("postgresql").database()
    return address


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALAPROP_STATE", str(tmp_path / "state"))


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    """An empty ledger without limits."""
    with Ledger.open(url, secret=SECRET) as made:
        yield made


@pytest.fixture(scope="session")
def tem(line: Lexicon) -> Privatizer:
    """Words alone, ε = 1.5."""
    return Privatizer(line, TEM(epsilon=1.5))


@pytest.fixture(scope="session")
def typed() -> Privatizer:
    """Words and values, ε = 1.5."""
    return Privatizer(epsilon=1.5)
