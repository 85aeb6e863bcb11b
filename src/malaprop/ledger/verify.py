"""Computes a ledger again from its entries, and finds what does not follow from them."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, select

from malaprop.ledger import tables
from malaprop.ledger.accounts import NOTHING, Account, Amounts
from malaprop.ledger.budgets import Finding
from malaprop.ledger.change import (
    Owner,
    amounts_of,
    check_seen,
    mark_of,
    owners_of,
    streamed,
    told_amount,
)
from malaprop.ledger.secret import NOTHING_SEEN, Hashes, Seen, Witness
from malaprop.privacy.errors import LedgerError

_MOST_LISTED = 20


def findings(connection: Connection, hashes: Hashes, witness: Witness) -> list[Finding]:
    """Return what is not as it should be in a ledger; an empty list if all is well."""
    found: list[Finding] = []
    try:
        for each in _found(connection, hashes, witness):
            found.append(Finding(each))
            if len(found) == _MOST_LISTED:
                found.append(Finding("There may be more: these are the first."))
                break
    except LedgerError as error:  # what cannot be read
        found.append(Finding(str(error)))
    return found


def _found(connection: Connection, hashes: Hashes, witness: Witness) -> Iterator[str]:
    try:
        seen, unreadable = witness.seen(), ""  # first: meanwhile, others may go on
    except LedgerError as error:
        seen, unreadable = NOTHING_SEEN, str(error)
    if connection.dialect.name == "sqlite":
        answer = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
        if answer != "ok":
            yield "The file of the database is damaged: restore it from a backup."
    row = tables.read_state(connection)
    if row is None:
        yield "The database has tables of a ledger, but no ledger in them."
        return
    last = Seen(row.last, row.head)
    if unreadable:
        yield unreadable
    try:
        check_seen(connection, last, seen)
    except LedgerError as error:
        yield str(error)
    sums = _Sums()
    yield from _entries(connection, hashes, last, sums)
    yield from _balances(connection, sums)
    yield from _settings(connection, sums)
    yield from _requests(connection, sums)


class _Sums:
    """What follows from the entries."""

    def __init__(self) -> None:
        self.balances: dict[tuple[Owner, str], tuple[Amounts, int]] = {}
        self.limits: dict[Owner, tuple[str | None, str | None]] = {}
        self.accounts: dict[str, dict[str, Any]] = {}
        self.requests: dict[str, set[str]] = defaultdict(set)

    def add(self, row: Any) -> None:
        detail = json.loads(row["detail"])
        if row["what"] == "limit":
            told = detail["epsilon"], detail["delta"]
            self.limits[detail["scope"], detail["owner"]] = told
        elif row["what"] == "account":
            self.accounts[row["account"]] = detail["facts"]
        elif row["what"] == "debit":
            if "request" in detail:
                self.requests[detail["request"]].add(row["receipt"])
            if row["account"]:
                amounts = Amounts(**{name: row[name] for name in NOTHING.texts()})
                for owner in owners_of(row["subject"] or None, row["key"]):
                    place = (owner, row["account"])
                    before, releases = self.balances.get(place, (NOTHING, 0))
                    self.balances[place] = before + amounts, releases + detail["releases"]


def _entries(connection: Connection, hashes: Hashes, last: Seen, sums: _Sums) -> Iterator[str]:
    query = select(tables.entries).order_by(tables.entries.c.number)
    before = NOTHING_SEEN
    broken = False
    for row in streamed(connection, query):
        if not (isinstance(row["number"], int) and isinstance(row["mark"], str)):
            broken = True
            yield f"An entry behind {before.number:,} cannot be read."
            continue
        if row["number"] != before.number + 1:
            yield f"Entry {before.number + 1:,} is missing."
        elif not broken and row["mark"] != mark_of(hashes, before.mark, row):
            broken = True
            yield (
                f"Entry {row['number']:,}, or one before it, was changed: its mark does not follow "
                "from it."
            )
        before = Seen(row["number"], row["mark"])
        try:
            sums.add(row)
        except (KeyError, TypeError, ValueError, ArithmeticError):
            yield f"Entry {row['number']:,} cannot be read."
    if before != last:
        yield (
            f"The last entry is {before.number:,}, and the ledger states {last.number:,}: entries "
            "were removed or added."
        )


def _balances(connection: Connection, sums: _Sums) -> Iterator[str]:
    expected = dict(sums.balances)
    for row in connection.execute(select(tables.balances)):
        place = ((row.scope, row.owner), row.account)
        if expected.pop(place, None) != (amounts_of(row), row.releases):
            yield f"A balance of a {row.scope} is not the sum of its entries."
    if expected:
        yield f"{len(expected):,} balance(s) are missing that follow from the entries."


def _settings(connection: Connection, sums: _Sums) -> Iterator[str]:
    limits = {owner: told for owner, told in sums.limits.items() if told != (None, None)}
    found = {
        (row.scope, row.owner): (told_amount(row.epsilon), told_amount(row.delta))
        for row in connection.execute(select(tables.limits))
    }
    if limits != found:
        yield "The limits are not those that were set: one was changed, added or removed."
    accounts = {
        row.id: json.loads(row.facts) for row in connection.execute(select(tables.accounts))
    }
    if accounts != sums.accounts or any(
        Account(**facts).id != name for name, facts in accounts.items()
    ):
        yield "The list of accounts is not the one that the entries made."


def _requests(connection: Connection, sums: _Sums) -> Iterator[str]:
    columns = tables.requests.c
    wrong = 0
    for name, receipt in connection.execute(select(columns.id, columns.receipt)):
        debited = sums.requests.pop(name, None)
        # A batch of which every record was refused has no entry.
        wrong += debited is not None and debited != {receipt}
        wrong += debited is None and receipt != ""
    if wrong:
        yield f"{wrong:,} request(s) are kept as debited, and no entry says so."
    if sums.requests:
        yield (
            f"{len(sums.requests):,} request(s) were debited and are not kept: they could be "
            "debited again."
        )
