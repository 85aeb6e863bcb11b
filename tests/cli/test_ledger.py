"""`malaprop ledger`, from the first limit to an export."""

import csv
import io
import sqlite3
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from malaprop import TEM, Lexicon, Privatizer
from malaprop.ledger import Ledger


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MALAPROP_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("MALAPROP_DATABASE", f"sqlite:///{tmp_path}/ledger.db")
    return f"sqlite:///{tmp_path}/ledger.db"


def test_limits_are_set_shown_and_removed(cli: Cli, url: str) -> None:
    set_ = cli("ledger", "limits", "--subject-epsilon", "3", "--total-epsilon", "1e3")
    assert set_.code == 0, set_.err
    with Ledger.open(url) as ledger:
        assert str(ledger.limits()["subject"].epsilon) == "3"
        assert str(ledger.limits()["total"].epsilon) == "1000"
    own = cli("ledger", "limits", "--subject", "-", "--subject-epsilon", "9", stdin=b"Ann\n")
    assert own.code == 0
    assert "this subject" in own.text
    cli("ledger", "limits", "--subject-epsilon", "none", "--database", url)
    with Ledger.open(url) as ledger:
        assert ledger.limits()["subject"].epsilon is None
        assert str(ledger.limits(subject="Ann")["subject"].epsilon) == "9"
    wrong = cli("ledger", "limits", "--key", "k", "--total-epsilon", "1")
    assert wrong.code == 2
    assert "--key-epsilon" in wrong.err


def test_what_was_spent_is_shown_exported_and_checked(
    cli: Cli, url: str, tmp_path: Path, line: Lexicon
) -> None:
    with Ledger.open(url) as ledger:
        charge = ledger.charge(Privatizer(line, TEM(epsilon=0.75)), ["one one"])
        ledger.debit(charge, subject="Ann", key="k")
    shown = cli("ledger", "show", "--subject", "Ann")
    assert "1.5" in shown.text
    assert "about one word of this subject" in " ".join(shown.text.split())
    assert "Ann" not in shown.text
    assert "1.5" in cli("ledger", "show", "--key", "k").text
    assert "Nothing has been released" in cli("ledger", "show", "--subject", "Bob").text
    rows = list(csv.DictReader(io.StringIO(cli("ledger", "export", "-o", "-").text)))
    assert [row["epsilon"] for row in rows if row["what"] == "debit"] == ["1.5"]
    path = tmp_path / "entries.csv"
    assert cli("ledger", "export", "-o", str(path)).code == 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(csv.DictReader(io.StringIO(path.read_text()))) == rows
    assert cli("ledger", "export", "-o", str(path)).code == 1
    assert cli("ledger", "verify").code == 0
    with sqlite3.connect(tmp_path / "ledger.db") as database:
        database.execute("UPDATE balances SET epsilon = '0' WHERE scope = 'subject'")
    found = cli("ledger", "verify")
    assert found.code == 1
    assert "not the sum of its entries" in found.text


def test_an_account_is_allowed(cli: Cli, url: str) -> None:
    allowed = cli("ledger", "allow", "-e", "1.5")
    assert allowed.code == 0, allowed.err
    assert allowed.text.count("allowed") == 11
    assert "already" in cli("ledger", "allow", "-e", "2").text
