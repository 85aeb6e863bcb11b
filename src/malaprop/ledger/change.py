"""One transaction of a ledger: what it reads, what it decides, what it writes.

All that waits goes into one transaction. Each piece of work decides by what the ones before it have
left, and either changes all that it has to or nothing. What changed is written at the end.
"""

import json
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

from sqlalchemy import Connection, Engine, Select, bindparam, delete, insert, select, tuple_, update

from malaprop.ledger import tables
from malaprop.ledger.accounts import NOTHING, ZERO, Account, Amounts, Charge, left_of
from malaprop.ledger.budgets import (
    Batch,
    Budget,
    Limit,
    Line,
    OnRefusal,
    Receipt,
    Scope,
)
from malaprop.ledger.secret import Hashes, Seen, Witness
from malaprop.privacy.errors import AccountError, BudgetError, LedgerError, RequestError

T = TypeVar("T")
Costs = dict[Account, tuple[Amounts, int]]
"""What was debited from each account, and by how many releases."""
Owner = tuple[Scope, str]
AMOUNTS: Final = ("epsilon", "worst", "rho", "delta")
TOTAL: Final[Owner] = ("total", "")
_ENTRY: Final = tuple(column.name for column in tables.entries.columns if column.name != "mark")
_MOST_TOGETHER: Final = 256  # pieces of work in a transaction
_CHUNK: Final = 400  # values in a query: SQLite takes 999 parameters, or more
_CALLED: Final[Mapping[str, str]] = {
    "subject": "this subject",
    "key": "this key",
    "total": "this ledger",
}


def _several(place: Any) -> Any:
    return place.in_(bindparam("several", expanding=True))


class Needs(NamedTuple):
    """What a piece of work will read, so that one query reads it for all of them."""

    owners: tuple[Owner, ...] = ()
    requests: tuple[str, ...] = ()


# Statements that every debit makes, built once: building them takes longer than running them.

_STATE = update(tables.state).values(last=bindparam("last"), head=bindparam("head"))
_ENTRIES, _BALANCES = insert(tables.entries), insert(tables.balances)
_ACCOUNTS = select(tables.accounts)
_LIMITS_OF = select(tables.limits).where(_several(tables.limits.c.owner))
_ANY_LIMIT = select(tables.limits.c.scope).limit(1)
_BALANCES_OF = select(tables.balances).where(
    _several(tuple_(tables.balances.c.scope, tables.balances.c.owner))
)
_REQUESTS_OF = select(tables.requests).where(_several(tables.requests.c.id))


def amounts_of(row: Any) -> Amounts:
    """Return the amounts of a row."""
    return Amounts(epsilon=row.epsilon, worst=row.worst, rho=row.rho, delta=row.delta)


def read_accounts(connection: Connection) -> dict[str, tuple[Account, bool]]:
    """Return all accounts by their ids, and whether each is on the list."""
    rows = connection.execute(_ACCOUNTS).all()
    return {row.id: (Account(**json.loads(row.facts)), row.listed) for row in rows}


def read_limit(connection: Connection, owner: Owner) -> Limit:
    """Return the limit of an owner: its own, or that of its scope."""
    found = read_limits(connection, [owner])
    return limit_in(found, owner)


def read_limits(connection: Connection, owners: Iterable[Owner]) -> dict[Owner, Limit]:
    """Return the limits of some owners, and of all scopes."""
    names = ["", *{owner for _, owner in owners}]
    found: dict[Owner, Limit] = {}
    for part in _chunks(names):
        for row in connection.execute(_LIMITS_OF, {"several": part}):
            found[row.scope, row.owner] = Limit(row.epsilon, row.delta)
    return found


def limit_in(limits: Mapping[Owner, Limit], owner: Owner) -> Limit:
    """Return the limits of an owner: its own, else those of its scope, given both."""
    own, usual = limits.get(owner, Limit()), limits.get((owner[0], ""), Limit())
    return Limit(
        usual.epsilon if own.epsilon is None else own.epsilon,
        usual.delta if own.delta is None else own.delta,
    )


def read_request(connection: Connection, name: str) -> Any:
    """Return the row of a request; None if there is none."""
    return connection.execute(
        select(tables.requests).where(tables.requests.c.id == name)
    ).one_or_none()


def read_seen(connection: Connection) -> Seen:
    """Return the last entry."""
    row = tables.read_state(connection)
    return Seen(row.last, row.head)


def read_budget(connection: Connection, owner: Owner) -> Budget:
    """Return what an owner has spent, and its limits."""
    known, limit = read_accounts(connection), read_limit(connection, owner)
    table = tables.balances
    query = select(table).where(table.c.scope == owner[0], table.c.owner == owner[1])
    lines = [
        Line(
            account=known[row.account][0],
            spent=amounts_of(row),
            limit=limit.epsilon,
            releases=row.releases,
        )
        for row in connection.execute(query)
    ]
    lines.sort(key=lambda line: (-line.spent.epsilon, line.account.kind))
    return Budget(scope=owner[0], lines=tuple(lines), limit=limit.epsilon, delta_limit=limit.delta)


def streamed(connection: Connection, query: Select[Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a query, a thousand at a time."""
    result = connection.execute(query.execution_options(yield_per=1_000))
    with closing(result):
        for row in result.mappings():
            yield dict(row)


def read_entries(connection: Connection) -> Iterator[dict[str, str]]:
    """Yield all entries as plain texts."""
    known = {name: str(account) for name, (account, _) in read_accounts(connection).items()}
    query = select(tables.entries).order_by(tables.entries.c.number)
    for row in streamed(connection, query):
        entry = {name: str(value) for name, value in row.items()}
        entry |= {name: f"{row[name]:f}" for name in AMOUNTS}
        yield entry | {"unit": known.get(row["account"], "")}


def mark_of(hashes: Hashes, before: str, entry: Mapping[str, Any]) -> str:
    """Return the mark of an entry, given that of the one before."""
    told = [f"{entry[name]:f}" if name in AMOUNTS else entry[name] for name in _ENTRY]
    return hashes.mark(before, json.dumps(told, ensure_ascii=True).encode())


def check_seen(connection: Connection, last: Seen, seen: Seen) -> None:
    """Refuse a database that lacks what was seen."""
    if seen.number > last.number:
        missing = seen.number - last.number
        raise LedgerError(
            f"The database of this ledger is older than what was released: {missing:,} "
            f"entr{'y is' if missing == 1 else 'ies are'} missing that this machine has seen. "
            "Restore a newer backup. To go on without them, and give their subjects a budget that "
            "is too large, use malaprop ledger verify --accept."
        )
    mark: str | None = last.mark
    if 0 < seen.number < last.number:
        column = tables.entries.c
        mark = connection.execute(
            select(column.mark).where(column.number == seen.number)
        ).scalar_one_or_none()
    if seen.number and mark != seen.mark:
        raise LedgerError(
            "The database of this ledger has other entries than this machine has seen: a backup "
            "was restored and used, or the entries were changed. Restore the newest database. To "
            "go on with this one, use malaprop ledger verify --accept."
        )


class Change:
    """A transaction that holds the ledger's lock."""

    def __init__(self, connection: Connection, row: Any, hashes: Hashes, seen: Seen | None) -> None:
        if row is None:
            raise LedgerError("The database has tables of a ledger, but no ledger in them.")
        self._connection, self._hashes = connection, hashes
        self.seen = Seen(row.last, row.head)
        """The last entry."""
        if seen is not None:
            check_seen(connection, self.seen, seen)
        self._now = datetime.now(UTC).isoformat(timespec="seconds")
        self._entries: list[dict[str, Any]] = []
        self._balances: dict[tuple[Owner, str], tuple[Amounts, int]] = {}
        self._stored: set[tuple[Owner, str]] = set()
        self._changed: dict[tuple[Owner, str], None] = {}
        self._limits: dict[Owner, Limit] = {}
        self._loaded: set[Owner] = set()
        self._requests: dict[str, Any] = {}
        self._known_accounts: dict[str, tuple[Account, bool]] | None = None
        self._limited: bool | None = None

    @property
    def wrote(self) -> bool:
        """Whether there are new entries."""
        return bool(self._entries)

    # Reading.

    def load(self, needs: Needs) -> None:
        """Read what some work will need."""
        owners = [owner for owner in dict.fromkeys(needs.owners) if owner not in self._loaded]
        if owners:
            self._limits |= read_limits(self._connection, owners)
            for part in _chunks(owners):
                for row in self._connection.execute(_BALANCES_OF, {"several": part}):
                    place = ((row.scope, row.owner), row.account)
                    self._balances[place] = amounts_of(row), row.releases
                    self._stored.add(place)
            self._loaded.update(owners)
        names = [name for name in dict.fromkeys(needs.requests) if name not in self._requests]
        for some in _chunks(names):
            self._requests |= dict.fromkeys(some)
            for row in self._connection.execute(_REQUESTS_OF, {"several": some}):
                self._requests[row.id] = row._mapping

    @property
    def _accounts(self) -> dict[str, tuple[Account, bool]]:
        if self._known_accounts is None:
            self._known_accounts = read_accounts(self._connection)
        return self._known_accounts

    # Debits.

    def debit(
        self, subject: str | None, key: str, charge: Charge, request: str = "", *, dry: bool = False
    ) -> Receipt:
        """Debit all accounts of a charge, or raise BudgetError and debit none."""
        owners = owners_of(subject, key)
        self.load(Needs(owners))
        self._check(owners, charge)
        receipt = "" if dry else secrets.token_hex(16)
        if not dry:
            self._apply(owners, charge)
            costs = {account: (cost, 1) for account, cost in charge.amounts.items()}
            self._enter_debit(receipt, subject, key, costs, request)
        spent = self._spent(owners[0])
        limit = limit_in(self._limits, owners[0]).epsilon
        return Receipt(
            id=receipt,
            price=charge.price,
            spent=spent,
            remaining=None if limit is None else left_of(limit, spent),
            scope=owners[0][0],
            accounts=tuple(
                Line(account=account, spent=amounts) for account, amounts in charge.amounts.items()
            ),
        )

    def debit_batch(
        self, subjects: Sequence[str | None], key: str, batch: Batch, request: str
    ) -> list[BudgetError | None]:
        """Debit a batch of records; return what was refused."""
        self.load(Needs(tuple(owner for each in subjects for owner in owners_of(each, key))))
        refused: list[BudgetError | None] = []
        taken: dict[str | None, Costs] = {}
        before = self._balances.copy(), self._changed.copy()
        for place, (subject, charge) in enumerate(zip(subjects, batch.charges, strict=True)):
            owners = owners_of(subject, key)
            try:
                self._check(owners, charge)
            except (BudgetError, AccountError) as error:
                if batch.refusal is OnRefusal.ALL or not isinstance(error, BudgetError):
                    self._balances, self._changed = before
                    if isinstance(error, BudgetError):
                        error.position = place
                    raise
                refused.append(error)
                continue
            refused.append(None)
            self._apply(owners, charge)
            costs = taken.setdefault(subject, {})  # also if it costs nothing
            for account, cost in charge.amounts.items():
                sum_, releases = costs.get(account, (NOTHING, 0))
                costs[account] = sum_ + cost, releases + 1
        receipt = secrets.token_hex(16) if taken else ""
        for subject, costs in taken.items():
            self._enter_debit(receipt, subject, key, costs, request)
        told = {"refused": [n for n, error in enumerate(refused) if error is not None]}
        self.remember(request, self._hashes.body(b""), receipt, told)
        return refused

    def _check(self, owners: Sequence[Owner], charge: Charge) -> None:
        """Raise an error if an account is not on the list, or a limit would be exceeded."""
        worst: BudgetError | None = None
        for account, price in charge.amounts.items():
            self._check_listed(account)
            for owner in owners:
                limit = limit_in(self._limits, owner)
                spent = self._balances.get((owner, account.id), (NOTHING, 0))[0]
                after = spent + price
                if limit.epsilon is not None and price.delta and limit.delta is None:
                    raise AccountError(
                        f"This mechanism has a δ, and {_CALLED[owner[0]]} has a limit of ε alone. "
                        f"Set a limit of Σδ, too: `{owner[0]}_delta`."
                    )
                for name in ("epsilon", "delta"):
                    most: Decimal | None = getattr(limit, name)
                    cost: Decimal = getattr(price, name)
                    if most is None or not cost or getattr(after, name) <= most:
                        continue
                    left = left_of(most, getattr(spent, name))
                    if worst is None or left < worst.remaining:
                        worst = _refusal(owner[0], account, name, cost, most, left)
        if worst is not None:
            raise worst

    def _check_listed(self, account: Account) -> None:
        """Refuse an account that is not on the list; under limits, all but the first of a kind."""
        if self._accounts.get(account.id, (account, False))[1]:
            return
        if self._limited is None:
            self._limited = self._has_limits()
        listed = [each.kind for each, is_listed in self._accounts.values() if is_listed]
        if self._limited and account.kind in listed:
            raise AccountError(
                f"The account of this release, {account}, is not on the ledger's list. It would "
                "have a budget of its own, beside that of the account that is there. Use the "
                "lexicon, the mechanism and the steps that were used before; or put it on the list "
                "with `malaprop ledger allow`."
            )

    def _has_limits(self) -> bool:
        return self._connection.execute(_ANY_LIMIT).first() is not None

    def list_account(self, account: Account) -> bool:
        """Put an account on the list; return whether it was not there."""
        known = self._accounts.get(account.id)
        if known is not None and known[1]:
            return False
        facts = json.dumps(account.to_dict(), sort_keys=True)
        row = {"id": account.id, "facts": facts, "kind": account.kind, "listed": True}
        if known is None:
            self._connection.execute(insert(tables.accounts), row)
        else:
            table = tables.accounts
            self._connection.execute(
                update(table).where(table.c.id == account.id).values(listed=True)
            )
        self._accounts[account.id] = account, True
        self.enter("account", account=account.id, detail={"facts": account.to_dict()})
        return True

    def _apply(self, owners: Iterable[Owner], charge: Charge) -> None:
        for account, price in charge.amounts.items():
            for owner in owners:
                place = (owner, account.id)
                spent, releases = self._balances.get(place, (NOTHING, 0))
                self._balances[place] = spent + price, releases + 1
                self._changed[place] = None

    def _spent(self, owner: Owner) -> Decimal:
        own = (spent.epsilon for (whose, _), (spent, _) in self._balances.items() if whose == owner)
        return max(own, default=ZERO)

    def _enter_debit(
        self, receipt: str, subject: str | None, key: str, costs: Costs, request: str
    ) -> None:
        about = {"request": request} if request else {}
        if not costs:
            self.enter("debit", receipt, subject or "", key, detail=about)
        for account, (cost, releases) in costs.items():
            self.list_account(account)
            detail = about | {"releases": releases}
            self.enter("debit", receipt, subject or "", key, account.id, cost, detail)

    def enter(
        self,
        what: str,
        receipt: str = "",
        subject: str = "",
        key: str = "",
        account: str = "",
        amounts: Amounts = NOTHING,
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        """Add an entry."""
        entry: dict[str, Any] = {
            "number": self.seen.number + 1,
            "what": what,
            "receipt": receipt,
            "subject": subject,
            "key": key,
            "account": account,
            "epsilon": amounts.epsilon,
            "worst": amounts.worst,
            "rho": amounts.rho,
            "delta": amounts.delta,
            "detail": json.dumps(detail or {}, sort_keys=True),
            "at": self._now,
        }
        entry["mark"] = mark_of(self._hashes, self.seen.mark, entry)
        self.seen = Seen(entry["number"], entry["mark"])
        self._entries.append(entry)

    # Requests that may be repeated.

    def receipt_of(self, row: Mapping[str, Any], charge: Charge) -> Receipt:
        """Return the receipt of a request that was debited before, as it was told then.

        Raise an error if nothing was sent yet, and it would cost something else by now.
        """
        told = json.loads(row["told"])
        price = {account.id: amounts.texts() for account, amounts in charge.amounts.items()}
        if not row["answered"] and price != told["accounts"]:
            raise other_body()
        lines = (
            Line(
                account=self._accounts[name][0],
                spent=Amounts(**{each: Decimal(amount) for each, amount in amounts.items()}),
            )
            for name, amounts in told["accounts"].items()
        )
        remaining = told["remaining"]
        return Receipt(
            id=row["receipt"],
            price=Decimal(told["price"]),
            spent=Decimal(told["spent"]),
            remaining=None if remaining is None else Decimal(remaining),
            scope=told["scope"],
            accounts=tuple(lines),
            replayed=True,
            answered=row["answered"],
        )

    def known(self, name: str, body: str) -> Mapping[str, Any] | None:
        """Return a request that was debited before; refuse another body."""
        self.load(Needs(requests=(name,)))
        row: Mapping[str, Any] | None = self._requests[name]
        if row is not None and row["body"] != body:
            raise other_body()
        return row

    def remember(self, name: str, body: str, receipt: str, told: Mapping[str, Any]) -> None:
        """Keep a request, and what it was told."""
        row = {
            "id": name,
            "body": body,
            "receipt": receipt,
            "told": json.dumps(told),
            "answered": False,
            "answer": None,
            "expires": None,
        }
        self._connection.execute(insert(tables.requests), row)
        self._requests[name] = row

    def store(self, name: str, body: str, answer: bytes, expires: float) -> bytes | None:
        """Keep an answer; return the one that is there already, if there is one."""
        row = self.known(name, body)
        if row is None:
            raise RequestError("This request was not debited, so that it can have no answer.")
        if row["answered"]:
            if row["answer"] is None:
                raise RequestError(
                    "This request was answered before, and the answer has expired: nothing may "
                    "be sent again."
                )
            return cast(bytes, row["answer"])
        new = {"answered": True, "answer": answer, "expires": expires}
        table = tables.requests
        self._connection.execute(update(table).where(table.c.id == name).values(**new))
        self._requests[name] = {**row, **new}
        return None

    def forget(self, now: float) -> int:
        """Delete the answers that have expired."""
        table = tables.requests
        query = update(table).where(table.c.expires < now, table.c.answer.is_not(None))
        self._requests.clear()
        return int(self._connection.execute(query.values(answer=None)).rowcount)

    # Limits.

    def set_limit(self, owner: Owner, wanted: Mapping[str, Decimal | None]) -> None:
        """Set the limits of an owner that are wanted; keep the others."""
        known = read_limits(self._connection, [owner])
        old = known.get(owner, Limit())
        new = Limit(wanted.get("epsilon", old.epsilon), wanted.get("delta", old.delta))
        table = tables.limits
        self._connection.execute(
            delete(table).where(table.c.scope == owner[0], table.c.owner == owner[1])
        )
        if new != Limit():
            row = {"scope": owner[0], "owner": owner[1]}
            row |= {"epsilon": new.epsilon, "delta": new.delta}  # type: ignore[dict-item]
            self._connection.execute(insert(table), row)
        self._limits.pop(owner, None)
        self._limits |= read_limits(self._connection, [owner])
        self._limited = None
        told = {"scope": owner[0], "owner": owner[1], "epsilon": told_amount(new.epsilon)}
        self.enter("limit", detail=told | {"delta": told_amount(new.delta)})

    # Writing.

    def write(self) -> None:
        """Write all that has changed."""
        if not self._entries:
            return
        self._connection.execute(_ENTRIES, self._entries)
        rows = []
        for owner, account in self._changed:
            spent, releases = self._balances[owner, account]
            amounts = {name: getattr(spent, name) for name in AMOUNTS}
            rows.append((owner, account, {**amounts, "releases": releases}))
        new = [
            {"scope": owner[0], "owner": owner[1], "account": account, **values}
            for owner, account, values in rows
            if (owner, account) not in self._stored
        ]
        old = [
            {"b_scope": owner[0], "b_owner": owner[1], "b_account": account, **values}
            for owner, account, values in rows
            if (owner, account) in self._stored
        ]
        if new:
            self._connection.execute(_BALANCES, new)
        if old:
            self._connection.execute(_UPDATE, old)
        self._connection.execute(_STATE, {"last": self.seen.number, "head": self.seen.mark})


_COLUMNS = tables.balances.c
_UPDATE: Final = (
    update(tables.balances)
    .where(
        _COLUMNS.scope == bindparam("b_scope"),
        _COLUMNS.owner == bindparam("b_owner"),
        _COLUMNS.account == bindparam("b_account"),
    )
    .values({name: bindparam(name) for name in (*AMOUNTS, "releases")})
)


def told_receipt(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as it is kept for a repeated request."""
    return {
        "price": f"{receipt.price:f}",
        "spent": f"{receipt.spent:f}",
        "remaining": told_amount(receipt.remaining),
        "scope": receipt.scope,
        "accounts": {line.account.id: line.spent.texts() for line in receipt.accounts},
    }


def refused_before() -> BudgetError:
    """Return the error for a record that was refused when its batch was debited."""
    return BudgetError("The budget did not suffice when the batch was debited.")


def told_amount(amount: Decimal | None) -> str | None:
    """Return an amount as JSON holds it: a string, as it is exact."""
    return None if amount is None else f"{amount:f}"


def other_body() -> RequestError:
    """Return the error for a key that is used again for another request."""
    return RequestError(
        "This idempotency key was used for another request before: choose a new key for a new "
        "request, or send the same body again."
    )


def owners_of(subject: str | None, key: str) -> tuple[Owner, ...]:
    """Return whose accounts a release debits: first the one that its receipt is about."""
    own: tuple[Owner, ...] = () if subject is None else (("subject", subject),)
    return (*own, ("key", key), TOTAL)


def _refusal(
    scope: Scope, account: Account, name: str, cost: Decimal, most: Decimal, left: Decimal
) -> BudgetError:
    sign = "ε" if name == "epsilon" else "δ"
    return BudgetError(
        f"The budget of {_CALLED[scope]} does not suffice: the release costs {sign} = {cost:f}, "
        f"and {left:f} of {most:f} remains, for each {account.kind}. Nothing was debited, and "
        "nothing is drawn.",
        scope=scope,
        price=cost,
        limit=most,
        remaining=left,
    )


Part = TypeVar("Part")


def _chunks(values: Sequence[Part]) -> Iterable[Sequence[Part]]:
    return (values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK))


# The calls of several threads in one transaction.


@dataclass(eq=False)
class _Work(Generic[T]):
    """A piece of work, and what became of it."""

    do: Callable[[Change], T]
    needs: Needs
    ready: threading.Event = field(default_factory=threading.Event)
    leads: bool = False
    result: T | None = None
    error: BaseException | None = None


class Group:
    """The threads of a process that wait for a transaction; one of them makes it for all.

    A commit waits for the disk. Those who come meanwhile share the next one.
    """

    def __init__(self, engine: Engine, hashes: Hashes, witness: Witness) -> None:
        self._engine, self._hashes, self._witness = engine, hashes, witness
        self._lock = threading.Lock()
        self._waiting: list[_Work[Any]] = []
        self._busy = False

    def run(self, do: Callable[[Change], T], needs: Needs) -> T:
        """Do a piece of work; return when it is on the disk."""
        own = _Work(do, needs)
        with self._lock:
            self._waiting.append(cast("_Work[Any]", own))
            own.leads, self._busy = not self._busy, True
        if not own.leads:
            own.ready.wait()
        if own.leads:
            self._lead()
        if own.error is not None:
            raise own.error
        return cast(T, own.result)

    def _lead(self) -> None:
        with self._lock:
            several = self._waiting[:_MOST_TOGETHER]
            del self._waiting[:_MOST_TOGETHER]
        try:
            self._commit(several)
        finally:
            with self._lock:
                self._busy = bool(self._waiting)
                if self._waiting:
                    self._waiting[0].leads = True
                    self._waiting[0].ready.set()
            for work in several:
                work.ready.set()

    def _commit(self, several: Sequence[_Work[Any]]) -> None:
        try:
            with tables.failures(self._engine.url):
                with tables.writing(self._engine) as (connection, row):
                    change = Change(connection, row, self._hashes, self._witness.seen())
                    change.load(
                        Needs(
                            tuple(owner for work in several for owner in work.needs.owners),
                            tuple(name for work in several for name in work.needs.requests),
                        )
                    )
                    for work in several:
                        try:
                            work.result = work.do(change)
                        except (BudgetError, AccountError, RequestError) as refusal:
                            work.error = refusal
                    change.write()
                if change.wrote:
                    self._witness.see(change.seen)
        except BaseException as error:
            for work in several:
                work.error = error
            if not isinstance(error, Exception):
                raise
