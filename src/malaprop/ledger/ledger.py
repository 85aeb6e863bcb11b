"""The ledger: what has been released about whom, and what may still be.

A debit is one transaction that ends before anything is drawn. It either debits every account that
a release touches, for its subject, for its key and in all, or none of them.
"""

import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Final, TypeVar, Unpack
from weakref import WeakKeyDictionary

from malaprop.ledger.accounts import Account, Charge, Parts, Prices, accounts_of, exact
from malaprop.ledger.budgets import Batch, Budget, Finding, Limit, Receipt, Request, Scope
from malaprop.ledger.secret import (
    NOTHING_SEEN,
    Hashes,
    Keys,
    Witness,
    checked_secret,
    key_name,
    make_secret,
    opened,
    read_secret,
    sealed,
    secret_path,
    subject_name,
)
from malaprop.privacy.errors import (
    BudgetError,
    MissingExtraError,
    ParameterError,
    SecretError,
)
from malaprop.privacy.randomness import this_process
from malaprop.private_files import state_folder
from malaprop.privatizer import Privatizer

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from malaprop.ledger.change import Change, Owner

T = TypeVar("T")
LOCAL: Final = "local"
"""The key of calls that have none, on this machine."""
_NAMED: Final = "MALAPROP_DATABASE", "MALAPROP_LEDGER_SECRET"
_DAY: Final = 86_400.0
Amount = Decimal | float | str | EllipsisType | None
"""A limit; None removes it, and `...` leaves it as it is."""


def default_database() -> str:
    """Return the address of the ledger that is meant if none is named.

    It is what $MALAPROP_DATABASE says; else a file in the user's state folder.
    """
    if named := os.environ.get(_NAMED[0]):
        return named
    folder = state_folder().absolute()
    for place in (folder, folder / "service"):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return f"sqlite:///{folder / 'service' / 'malaprop.db'}"


class Ledger:
    """What has been released about whom, in SQLite or PostgreSQL.

    Threads and processes may share a ledger: each debit is one transaction. Debits of several
    threads of a process share a commit, which takes some milliseconds.

        with Ledger.open("sqlite:///ledger.db") as ledger:
            ledger.set_limits(subject_epsilon=4)
            charge = ledger.charge(privatizer, texts)
            receipt = ledger.debit(charge, subject="patient 7")
            releases = privatizer.many(texts)
    """

    def __init__(self, url: str, secret: bytes | Path | None, *, witnessed: bool = True) -> None:
        """Open the ledger; call `Ledger.open`."""
        self._url, self._lock, self._witnessed = url, threading.Lock(), witnessed
        self._parts = _Parts.open(url, secret, witnessed=witnessed)
        self._keys, self._hashes = self._parts.keys, self._parts.hashes
        self._prices: WeakKeyDictionary[Privatizer, Prices] = WeakKeyDictionary()

    @classmethod
    def open(cls, url: str, *, secret: bytes | Path | str | None = None) -> "Ledger":
        """Open the ledger in a database, `sqlite:///file` or `postgresql://…`; make it if need be.

        `secret` is the server's secret: random bytes, or the path of a file that holds them. By
        default, it is the file that $MALAPROP_LEDGER_SECRET names; else one in the user's state
        folder, which is made with the ledger. All workers must have the same. Back it up, apart
        from the database: without it, no subject can be found again.
        """
        if secret is None:
            secret = os.environ.get(_NAMED[1]) or None
        return cls(url, Path(secret) if isinstance(secret, str) else secret)

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrived, (self._url, self._keys.secret)

    def __repr__(self) -> str:
        return f"Ledger({self._parts.shown})"

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections of this process."""
        self._parts.close()

    @property
    def name(self) -> str:
        """A random name that tells this ledger from others."""
        return self._keys.ledger

    @staticmethod
    def check_subject(subject: str) -> None:
        """Refuse what cannot be the name of a subject."""
        subject_name(subject)

    # Debits.

    def charge(self, privatizer: Privatizer, texts: Iterable[str], **more: Unpack[Parts]) -> Charge:
        """Return the exact price of releasing some texts that are about one subject; draw nothing.

        It is ε times the most draws of one value, added up over the texts, for each account.
        `entities` and `spans` are as for `Privatizer.most_draws`.
        """
        prices = self._prices.get(privatizer)
        if prices is None:
            prices = self._prices[privatizer] = Prices(privatizer)
        return prices.all(texts, **more)

    def debit(
        self,
        charge: Charge,
        *,
        subject: str | None = None,
        key: str = LOCAL,
        dry_run: bool = False,
        request: Request | None = None,
    ) -> Receipt:
        """Debit a release before it is drawn; return when that is on the disk.

        Without a subject, the release counts as one about the key's own account. Raise BudgetError
        if a limit would be exceeded: nothing is debited then. With `dry_run`, only tell.

        A `request` that was debited before is not debited again: see `Receipt.replayed`. If it was
        answered, send `stored_answer`, and draw nothing. If not, nothing was sent: draw again.
        Raise RequestError if its body is another one.
        """
        key = key_name(key)
        owner = None if subject is None else self._hashes.subject(subject)
        name = "" if request is None else self._request(key, request)
        body = "" if request is None else self._hashes.body(request.body)

        from malaprop.ledger.change import told_receipt

        def debit(change: "Change") -> Receipt:
            if name and (before := change.known(name, body)) is not None:
                return change.receipt_of(before, charge)
            receipt = change.debit(owner, key, charge, name, dry=dry_run)
            if name and not dry_run:
                change.remember(name, body, receipt.id, told_receipt(receipt))
            return receipt

        return self._run(debit, *_needs([owner], key, name))

    def debit_batch(self, batch: Batch, *, key: str = LOCAL) -> list[BudgetError | None]:
        """Debit records before they are drawn, all in one transaction.

        Return None for each record that may be drawn, and the error for each that may not. With
        `OnRefusal.ALL`, raise the first error, and debit none of them. A batch that was debited
        before is not debited again, and has the same result.
        """
        key = key_name(key)
        owners = [None if each is None else self._hashes.subject(each) for each in batch.subjects]
        name, body = self._request(key, Request(batch.id, b"")), self._hashes.body(b"")

        from malaprop.ledger.change import refused_before

        def debit(change: "Change") -> list[BudgetError | None]:
            before = change.known(name, body)
            if before is None:
                return change.debit_batch(owners, key, batch, name)
            refused = set(json.loads(before["told"])["refused"])
            return [refused_before() if n in refused else None for n in range(len(owners))]

        return self._run(debit, *_needs(owners, key, name))

    # Answers to repeated requests.

    def store_answer(
        self, request: Request, answer: bytes, *, key: str = LOCAL, lifetime: float = _DAY
    ) -> bytes:
        """Keep a private answer, encrypted, before it is sent; return the answer to send.

        That is the given one, or the one of a call that was faster: the other must not be sent.
        """
        name, body = self._request(key, request), self._hashes.body(request.body)
        secret = self._hashes.answer_key(key, request.idempotency_key)
        stored, expires = sealed(answer, secret, name), time.time() + lifetime
        first = self._run(lambda change: change.store(name, body, stored, expires), (), (name,))
        return answer if first is None else opened(first, secret, name)

    def stored_answer(self, request: Request, *, key: str = LOCAL) -> bytes | None:
        """Return the answer to a request that was answered before; None if it has expired."""
        from malaprop.ledger.change import other_body, read_request

        name = self._request(key, request)
        with self._reading() as connection:
            row = read_request(connection, name)
        if row is None:
            return None
        if row.body != self._hashes.body(request.body):
            raise other_body()
        if row.answer is None or row.expires < time.time():
            return None
        return opened(row.answer, self._hashes.answer_key(key, request.idempotency_key), name)

    def forget_answers(self) -> int:
        """Delete the answers that have expired; return how many. Their receipts stay."""
        return self._run(lambda change: change.forget(time.time()))

    # Limits, and accounts.

    def set_limits(
        self,
        *,
        subject_epsilon: Amount = ...,
        key_epsilon: Amount = ...,
        total_epsilon: Amount = ...,
        subject_delta: Amount = ...,
        key_delta: Amount = ...,
        total_delta: Amount = ...,
        subject: str | None = None,
        key: str | None = None,
    ) -> None:
        """Set the limits that are named, or with None, remove them.

        `subject_epsilon` is the largest Σε of each account of each subject; `key_epsilon` that of
        each key, over all its subjects; `total_epsilon` that of the whole ledger. With a `subject`
        or a `key`, set its own limit, in place of that of all others. A mechanism with a δ needs a
        limit of Σδ beside that of Σε.
        """
        wanted: dict[Scope, dict[str, Amount]] = {
            "subject": {"epsilon": subject_epsilon, "delta": subject_delta},
            "key": {"epsilon": key_epsilon, "delta": key_delta},
            "total": {"epsilon": total_epsilon, "delta": total_delta},
        }
        changes: list[tuple[Owner, dict[str, Decimal | None]]] = []
        for scope, given in wanted.items():
            limits = {
                name: None if value is None else exact(value, f"limit `{scope}_{name}`")
                for name, value in given.items()
                if not isinstance(value, EllipsisType)
            }
            named = {"subject": subject, "key": key}.get(scope)
            if limits:
                changes.append((self._owner(scope, named), limits))
            elif named is not None:
                raise ParameterError(f"With a `{scope}`, name its limit: `{scope}_epsilon`.")

        def change(change: "Change") -> None:
            for owner, limits in changes:
                change.set_limit(owner, limits)

        self._run(change)

    def limits(self, *, subject: str | None = None, key: str | None = None) -> dict[Scope, Limit]:
        """Return the limits of every subject, of every key and in all; or those of one of them."""
        from malaprop.ledger.change import limit_in, read_limits

        owners = [self._owner("subject", subject), self._owner("key", key), ("total", "")]
        with self._reading() as connection:
            known = read_limits(connection, owners)
        return {owner[0]: limit_in(known, owner) for owner in owners}

    def allow(self, privatizer: Privatizer) -> list[Account]:
        """Put the accounts of a privatizer on the list; return those that are new on it.

        Under a limit, the first account of each kind is listed when it is first debited. Another
        one, as an extended lexicon has, would open a fresh budget: it must be allowed.
        """
        accounts = list(accounts_of(privatizer))
        return self._run(lambda change: [each for each in accounts if change.list_account(each)])

    # Looking.

    def budget(self, *, subject: str | None = None, key: str | None = None) -> Budget:
        """Return what a subject, a key, or all releases together have spent, and what is left."""
        from malaprop.ledger.change import read_budget

        if subject is not None and key is not None:
            raise ParameterError("A budget is that of a `subject` or of a `key`, not of both.")
        scope: Scope = (
            "total" if subject is key is None else "key" if subject is None else "subject"
        )
        owner = self._owner(scope, subject if key is None else key)
        with self._reading() as connection:
            return read_budget(connection, owner)

    def rows(self) -> Iterator[dict[str, str]]:
        """Yield all entries, oldest first, as plain texts: for an export. No subject is named."""
        from malaprop.ledger.change import read_entries

        with self._reading() as connection:
            yield from read_entries(connection)

    def verify(self) -> list[Finding]:
        """Compute all sums again from the entries; return what is not as it should be.

        Finds entries that were changed, removed or added without the secret, balances, limits and
        accounts that do not follow from them, and a database that is older than what was seen.
        """
        from malaprop.ledger.verify import findings

        with self._reading() as connection:
            return findings(connection, self._hashes, self._parts.witness)

    def check(self) -> None:
        """Refuse a database that is older than what this machine has seen."""
        self._run(lambda change: None)

    def accept(self) -> None:
        """Go on with the database as it is, though it is older than what was seen here.

        What was released since then is forgotten: the budgets of its subjects are too large.
        """
        from malaprop.ledger.change import read_seen

        with self._reading() as connection:
            last = read_seen(connection)
        self._at_home().witness.see(last, forget=True)
        self._run(lambda change: change.enter("accepted", detail={"last": last.number}))

    def _owner(self, scope: Scope, name: str | None) -> "Owner":
        if name is None:
            return scope, ""
        return scope, self._hashes.subject(name) if scope == "subject" else key_name(name)

    def _request(self, key: str, request: Request) -> str:
        return self._hashes.request(key_name(key), request.idempotency_key)

    def _run(
        self,
        work: "Callable[[Change], T]",
        owners: "tuple[Owner, ...]" = (),
        requests: tuple[str, ...] = (),
    ) -> T:
        from malaprop.ledger.change import Needs

        return self._at_home().group.run(work, Needs(owners, requests))

    def _at_home(self) -> "_Parts":
        """Return the connections of this process: a fork must not use its parent's."""
        if self._parts.process is not this_process():
            with self._lock:
                if self._parts.process is not this_process():
                    # What is inherited must not be closed: the parent still uses it.
                    _inherited.append(self._parts)
                    secret = self._keys.secret
                    self._parts = _Parts.open(self._url, secret, witnessed=self._witnessed)
        return self._parts

    @contextmanager
    def _reading(self) -> "Iterator[Connection]":
        from malaprop.ledger import tables

        engine = self._at_home().engine
        with tables.failures(engine.url), tables.reading(engine) as connection:
            yield connection


def _needs(
    subjects: Iterable[str | None], key: str, request: str
) -> "tuple[tuple[Owner, ...], tuple[str, ...]]":
    from malaprop.ledger.change import owners_of

    owners = tuple(owner for subject in subjects for owner in owners_of(subject, key))
    return owners, (request,) if request else ()


class _Parts:
    """What belongs to one process: connections, the witness, the threads that wait."""

    def __init__(self, engine: "Engine", keys: Keys, *, witnessed: bool) -> None:
        from malaprop.ledger.change import Group
        from malaprop.ledger.tables import shown

        self.process, self.engine, self.keys = this_process(), engine, keys
        self.hashes = Hashes(keys)
        path = state_folder() / f"ledger-{keys.ledger}.witness" if witnessed else None
        self.witness = Witness(path, keys)
        self.group = Group(engine, self.hashes, self.witness)
        self.shown = shown(engine.url)

    @classmethod
    def open(cls, url: str, secret: bytes | Path | None, *, witnessed: bool) -> "_Parts":
        """Connect to the database; make the ledger in it if there is none."""
        try:
            from malaprop.ledger import tables
        except ImportError as error:
            lacking = (error.name or "sqlalchemy").partition(".")[0]
            raise MissingExtraError(lacking, "ledger", "A ledger") from None
        address = tables.database_url(url)
        with tables.failures(address):
            engine = tables.connect(address)
            try:
                tables.migrate(engine)
                return cls(engine, _keys(engine, secret), witnessed=witnessed)
            except BaseException:
                engine.dispose()
                raise

    def close(self) -> None:
        self.engine.dispose()
        self.witness.close()


_inherited: "list[_Parts]" = []


@lru_cache(maxsize=8)
def _arrived(url: str, secret: bytes) -> Ledger:
    """Open a ledger that was pickled, once in a process; where it was, its witness is."""
    return Ledger(url, secret, witnessed=False)


def _keys(engine: "Engine", secret: bytes | Path | None) -> Keys:
    """Return the keys of the ledger in a database; make the ledger, and its secret, if need be."""
    from malaprop.ledger import tables

    with tables.reading(engine) as connection:
        row = tables.read_state(connection)
    if row is None:
        with tables.making(engine) as connection:
            row = tables.read_state(connection)
            if row is None:
                keys = Keys(_secret(secret, name := _new_name(), make=True), name)
                tables.make_state(connection, name, Hashes(keys).check, NOTHING_SEEN.mark)
                return keys
    keys = Keys(_secret(secret, row.ledger), row.ledger)
    if Hashes(keys).check != row.secret:
        raise SecretError(
            "The secret is not the one that this ledger was made with. With another one, every "
            "subject would have a fresh budget: restore the right one from your backup, or name it "
            "with `secret`."
        )
    return keys


def _new_name() -> str:
    return secrets.token_hex(16)


def _secret(given: bytes | Path | None, ledger: str, *, make: bool = False) -> bytes:
    if isinstance(given, bytes):
        return checked_secret(given)
    path = given or secret_path(ledger)
    known = read_secret(path)
    if known is None:
        if not make:
            raise SecretError(
                f"The secret of this ledger is not there: {path}. Copy it from the machine on "
                "which the ledger was made, or from your backup, or name it with `secret`."
            )
        known = make_secret(path)
    return known
