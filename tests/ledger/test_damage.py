"""Restored backups, changed entries, wrong secrets, clocks that jump, and hostile values."""

import os
import pickle
import shutil
import sqlite3
import time
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text
from tests.ledger.conftest import SECRET
from tests.postgres import Cluster

from malaprop import TEM, Lexicon, ParameterError, Privatizer
from malaprop.ledger import (
    Account,
    AccountError,
    Amounts,
    BudgetError,
    Charge,
    Ledger,
    LedgerError,
    Request,
    change,
    tables,
)
from malaprop.ledger.accounts import exact
from malaprop.privacy.errors import SecretError


def spend(ledger: Ledger, own: Privatizer, times: int = 1, subject: str = "s") -> None:
    charge = ledger.charge(own, ["one"])
    for _ in range(times):
        ledger.debit(charge, subject=subject)


def backup(path: Path, copy: Path) -> None:
    """Copy a database while it is open, as its own tool does."""
    with sqlite3.connect(path) as source, sqlite3.connect(copy) as target:
        source.backup(target)
    source.close()
    target.close()


def restore(copy: Path, path: Path) -> None:
    for left in path.parent.glob(f"{path.name}-*"):
        left.unlink()
    shutil.copy(copy, path)


def test_a_restored_backup_is_refused(tmp_path: Path, tem: Privatizer) -> None:
    path, copy = tmp_path / "ledger.db", tmp_path / "backup.db"
    url = f"sqlite:///{path}"
    with Ledger.open(url, secret=SECRET) as ledger:
        spend(ledger, tem, 2)
        backup(path, copy)
        spend(ledger, tem, 3)
    restore(copy, path)
    with Ledger.open(url, secret=SECRET) as ledger:
        with pytest.raises(
            LedgerError, match="older than what was released: 3 entries are missing"
        ):
            spend(ledger, tem)
        assert any("3 entries are missing" in each for each in ledger.verify())
        ledger.accept()
        spend(ledger, tem)
        assert ledger.verify() == []
        assert ledger.budget(subject="s").spent == Decimal("4.5")
        assert [row["what"] for row in ledger.rows()].count("accepted") == 1


def test_a_backup_that_was_used_elsewhere_is_refused(tmp_path: Path, tem: Privatizer) -> None:
    path, copy = tmp_path / "ledger.db", tmp_path / "backup.db"
    with Ledger.open(f"sqlite:///{path}", secret=SECRET) as ledger:
        spend(ledger, tem, 2)
        backup(path, copy)
        spend(ledger, tem, 1)
    state = os.environ["MALAPROP_STATE"]
    os.environ["MALAPROP_STATE"] = str(tmp_path / "elsewhere")
    with Ledger.open(f"sqlite:///{copy}", secret=SECRET) as ledger:
        spend(ledger, tem, 5, subject="other")
    os.environ["MALAPROP_STATE"] = state
    restore(copy, path)
    with Ledger.open(f"sqlite:///{path}", secret=SECRET) as ledger:
        with pytest.raises(LedgerError, match="other entries than this machine has seen"):
            spend(ledger, tem)
        assert len(ledger.verify()) == 1


def test_a_restored_backup_of_postgresql_is_refused(postgresql: Cluster, tem: Privatizer) -> None:
    url = postgresql.own_database()
    with Ledger.open(url, secret=SECRET) as ledger:
        spend(ledger, tem, 2)
    copy = postgresql.copied(url)
    with Ledger.open(url, secret=SECRET) as ledger:
        spend(ledger, tem, 1)
    with Ledger.open(copy, secret=SECRET) as ledger, pytest.raises(LedgerError, match="older"):
        spend(ledger, tem)


def test_a_database_that_is_restored_under_a_running_ledger_is_noticed(
    tmp_path: Path, tem: Privatizer
) -> None:
    path, copy = tmp_path / "ledger.db", tmp_path / "backup.db"
    with Ledger.open(f"sqlite:///{path}", secret=SECRET) as ledger:
        spend(ledger, tem)
        backup(path, copy)
        spend(ledger, tem)
        with sqlite3.connect(copy) as source, sqlite3.connect(path) as target:
            source.backup(target)
        source.close()
        target.close()
        with pytest.raises(LedgerError, match="older"):
            spend(ledger, tem)


def test_a_lost_or_damaged_witness(tmp_path: Path, tem: Privatizer) -> None:
    url = f"sqlite:///{tmp_path}/ledger.db"
    with Ledger.open(url, secret=SECRET) as ledger:
        spend(ledger, tem)
    (witness,) = (tmp_path / "state").glob("*.witness")
    witness.write_text(witness.read_text().replace("0000", "9999", 1))
    with Ledger.open(url, secret=SECRET) as ledger, pytest.raises(LedgerError, match="damaged"):
        spend(ledger, tem)
    witness.unlink()  # as on a new machine, which has seen nothing
    with Ledger.open(url, secret=SECRET) as ledger:
        spend(ledger, tem)


CHANGES = {
    "an amount": "UPDATE entries SET epsilon = '0.5' WHERE what = 'debit' AND number = 3",
    "a subject": "UPDATE entries SET subject = 'x' WHERE what = 'debit' AND number = 3",
    "a removed entry": "DELETE FROM entries WHERE number = 3",
    "the last entry": "DELETE FROM entries WHERE number = (SELECT max(number) FROM entries)",
    "a balance": "UPDATE balances SET epsilon = '0' WHERE scope = 'subject'",
    "a removed balance": "DELETE FROM balances WHERE scope = 'key'",
    "a limit": "UPDATE limits SET epsilon = '1000'",
    "a removed limit": "DELETE FROM limits",
    "an account": "UPDATE accounts SET facts = replace(facts, 'euclidean', 'angular')",
    "the state": "UPDATE ledger_state SET last = last - 1",
    "a request": "DELETE FROM requests",
    "a free request": "UPDATE requests SET receipt = 'x'",
    "no number": "UPDATE entries SET epsilon = 'x' WHERE number = 3",
}


@pytest.mark.parametrize("what", CHANGES)
def test_each_change_is_found(ledger: Ledger, url: str, tem: Privatizer, what: str) -> None:
    ledger.set_limits(subject_epsilon=9)
    ledger.debit(ledger.charge(tem, ["one"]), subject="s", request=Request("r", b""))
    spend(ledger, tem, 2)
    assert ledger.verify() == []
    engine = create_engine(tables.database_url(url))
    with engine.begin() as connection:
        connection.execute(text(CHANGES[what]))
    engine.dispose()
    assert ledger.verify()


def test_a_mark_that_is_no_text_is_found(tmp_path: Path, tem: Privatizer) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.open(f"sqlite:///{path}", secret=SECRET) as ledger:
        spend(ledger, tem, 4)
        with sqlite3.connect(path) as raw:
            raw.execute("DELETE FROM entries WHERE number = 3")
            raw.execute("UPDATE entries SET mark = x'00' WHERE number = 4")
        raw.close()
        told = [str(finding) for finding in ledger.verify()]
    assert told[0] == "An entry behind 2 cannot be read."


def test_a_ledger_that_is_used_meanwhile_is_no_older_one(
    ledger: Ledger, url: str, tem: Privatizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    spend(ledger, tem)
    read = tables.read_state

    with Ledger.open(url, secret=SECRET) as other:

        def reading(connection: Connection) -> object:
            row = read(connection)
            spend(other, tem)
            return row

        monkeypatch.setattr(tables, "read_state", reading)
        assert ledger.verify() == []


def test_another_secret_opens_no_fresh_budget(ledger: Ledger, url: str) -> None:
    with pytest.raises(SecretError, match="fresh budget"):
        Ledger.open(url, secret=bytes(32))
    for secret in (b"short", b"", "no file"):
        with pytest.raises((ParameterError, SecretError)):
            Ledger.open(url, secret=secret)


def test_a_clock_that_jumps_changes_nothing(
    ledger: Ledger, tem: Privatizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.set_limits(subject_epsilon=6)
    request = Request("r", b"")
    ledger.debit(ledger.charge(tem, ["one"]), subject="s", request=request)
    ledger.store_answer(request, b"private")
    true = time.time

    class Jumping:
        jump = timedelta()

        @classmethod
        def now(cls, zone: tzinfo) -> datetime:
            return datetime.now(zone) + cls.jump

    monkeypatch.setattr(change, "datetime", Jumping)
    monkeypatch.setattr(time, "time", lambda: true() + Jumping.jump.total_seconds())
    for days in (-20_000, 200_000, 0):
        Jumping.jump = timedelta(days=days)
        spend(ledger, tem)
        again = ledger.debit(ledger.charge(tem, ["one"]), subject="s", request=request)
        assert again.answered
        assert ledger.stored_answer(request) == (None if days > 0 else b"private")
    with pytest.raises(BudgetError):
        spend(ledger, tem)
    assert ledger.budget(subject="s").spent == 6
    assert ledger.verify() == []


# Hostile values.


def test_a_subject_is_one_however_it_is_written(ledger: Ledger, tem: Privatizer) -> None:
    for name in ("José", "Jose\u0301", " José ", "Ｊｏｓé"):
        spend(ledger, tem, subject=name)
    assert ledger.budget(subject="José").spent == 6
    spend(ledger, tem, subject="JOSÉ")
    assert ledger.budget(subject="José").spent == 6
    stored = str(list(ledger.rows()))
    assert "Jos" not in stored


@pytest.mark.parametrize(
    "subject", ["", "   ", "x" * 1_001, b"Ann", 7, "\ud800", "\u200b" * 0, ["a"]], ids=repr
)
def test_what_names_nobody_is_refused(ledger: Ledger, tem: Privatizer, subject: str) -> None:
    charge = ledger.charge(tem, ["one"])
    with pytest.raises(ParameterError) as refused:
        ledger.debit(charge, subject=subject)
    assert "Ann" not in str(refused.value)
    assert ledger.budget().spent == 0


@pytest.mark.parametrize("subject", ["'; DROP TABLE entries; --", "\0", "\n", "%", "x" * 1_000])
def test_any_other_name_is_one(ledger: Ledger, tem: Privatizer, subject: str) -> None:
    if not subject.strip():
        return
    spend(ledger, tem, subject=subject)
    assert ledger.budget(subject=subject).spent == Decimal("1.5")
    assert ledger.budget(subject="other").spent == 0


@pytest.mark.parametrize("limit", [-1, float("nan"), float("inf"), "NaN", "x", True, 1e41, "-0.1"])
def test_no_limit_is_negative_or_endless(ledger: Ledger, limit: float) -> None:
    with pytest.raises(ParameterError):
        ledger.set_limits(subject_epsilon=limit)
    assert ledger.limits()["subject"].epsilon is None


@pytest.mark.parametrize("amount", ["-1", "NaN", "sNaN", "-Infinity"])
@pytest.mark.parametrize("name", ["epsilon", "delta", "rho", "worst"])
def test_no_charge_gives_something_back(name: str, amount: str) -> None:
    with pytest.raises(ParameterError):
        Amounts(**{name: Decimal(amount)})


def test_an_endless_charge_is_over_every_limit(ledger: Ledger) -> None:
    endless = Amounts(epsilon=Decimal("Infinity"))
    charge = Charge(amounts={Account(kind="word", step="a step"): endless})
    ledger.set_limits(subject_epsilon="1e40")
    with pytest.raises(BudgetError):
        ledger.debit(charge, subject="s")
    assert ledger.budget().spent == 0


def test_huge_and_tiny_amounts_are_exact(ledger: Ledger, line: Lexicon) -> None:
    assert exact(1e-18, "x") == Decimal("1e-18")
    assert exact(1e-19, "x") == Decimal("1e-18")  # rounded up
    tiny = ledger.charge(Privatizer(line, TEM(epsilon=1e-12)), ["one"])
    huge = ledger.charge(Privatizer(line, TEM(epsilon=1e30)), ["one"])
    ledger.debit(huge, subject="s")
    receipt = ledger.debit(tiny, subject="s")
    assert receipt.spent == Decimal(f"1{'0' * 30}.000000000001")
    ledger.set_limits(subject_epsilon=Decimal(f"1{'0' * 30}.0000000000019"))
    with pytest.raises(BudgetError):
        ledger.debit(tiny, subject="s")
    assert ledger.verify() == []


@pytest.mark.parametrize("key", ["", "x" * 256, "a\nb", "\0", 7], ids=repr)
def test_keys_of_requests_are_checked(ledger: Ledger, tem: Privatizer, key: str) -> None:
    with pytest.raises(ParameterError):
        Request(key, b"")
    with pytest.raises(ParameterError):
        ledger.debit(ledger.charge(tem, ["one"]), key=key)


def test_a_delta_needs_a_limit_of_its_own(ledger: Ledger) -> None:
    account = Account(kind="word", step="no distance", notion="bounded-dp")
    charge = Charge(amounts={account: Amounts(epsilon=Decimal(1), delta=Decimal("1e-6"))})
    ledger.set_limits(subject_epsilon=5)
    with pytest.raises(AccountError, match="`subject_delta`"):
        ledger.debit(charge, subject="s")
    ledger.set_limits(subject_delta="2e-6")
    ledger.debit(charge, subject="s")
    ledger.debit(charge, subject="s")
    with pytest.raises(BudgetError, match="δ"):
        ledger.debit(charge, subject="s")
    # A limit of its own for one subject leaves the other one in force.
    ledger.set_limits(subject="s", subject_delta=1)
    ledger.debit(charge, subject="s")
    assert ledger.limits(subject="s")["subject"].epsilon == 5


def test_an_answer_opens_for_its_own_request_alone(
    ledger: Ledger, url: str, tem: Privatizer
) -> None:
    charge = ledger.charge(tem, ["one"])
    for name in ("one", "two"):
        ledger.debit(charge, subject="s", request=Request(name, b""))
        ledger.store_answer(Request(name, b""), f"private {name}".encode())
    engine = create_engine(tables.database_url(url))
    with engine.begin() as connection:
        stored = connection.execute(text("SELECT answer FROM requests")).scalars().all()
        assert not any(b"private" in bytes(each) for each in stored)
        rows = connection.execute(text("SELECT id, answer FROM requests")).all()
        for row, other in zip(rows, reversed(rows), strict=True):
            values = {"id": row.id, "answer": bytes(other.answer)}
            connection.execute(text("UPDATE requests SET answer = :answer WHERE id = :id"), values)
    engine.dispose()
    for name in ("one", "two"):
        with pytest.raises(LedgerError, match="changed"):
            ledger.stored_answer(Request(name, b""))


def test_a_pickle_is_the_same_ledger(ledger: Ledger, tem: Privatizer) -> None:
    with pickle.loads(pickle.dumps(ledger)) as again:  # noqa: S301
        spend(again, tem)
    amounts = {"price": Decimal(2), "limit": Decimal(3), "remaining": Decimal(1)}
    refused = pickle.loads(pickle.dumps(BudgetError("x", scope="key", **amounts)))  # noqa: S301
    assert (refused.scope, refused.remaining, str(refused)) == ("key", 1, "x")
    assert ledger.budget(subject="s").spent == Decimal("1.5")


def test_a_fork_has_connections_of_its_own(ledger: Ledger, tem: Privatizer) -> None:
    spend(ledger, tem)
    child = os.fork()
    if child == 0:
        try:
            spend(ledger, tem)
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    spend(ledger, tem)
    assert ledger.budget(subject="s").spent == Decimal("4.5")
    assert ledger.verify() == []


@pytest.mark.parametrize(
    "url",
    ["", "ledger.db", "sqlite://", "sqlite:///:memory:", "mysql://x/y", "sqlite:///x?mode=ro"],
)
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(ParameterError):
        Ledger.open(url, secret=SECRET)


def test_no_message_names_a_password(tmp_path: Path) -> None:
    with pytest.raises(LedgerError) as refused:
        Ledger.open("postgresql://ann:hunter2@127.0.0.1:9/none", secret=SECRET)
    assert "hunter2" not in str(refused.value)
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(LedgerError):
        Ledger.open(f"sqlite:///{folder}", secret=SECRET)


def test_files_are_for_their_owner_alone(tmp_path: Path, tem: Privatizer) -> None:
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        spend(ledger, tem)
        files = [*tmp_path.glob("ledger.db*"), *(tmp_path / "state").iterdir()]
        assert len(files) == 5  # the database, its journal and index; secret, witness
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_commits_wait_for_the_disk(ledger: Ledger, url: str) -> None:
    with tables.writing(ledger._parts.engine) as (connection, _):
        if url.startswith("sqlite"):
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        else:
            assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
