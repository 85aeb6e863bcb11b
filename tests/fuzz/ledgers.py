"""Fuzz the ledger and the service's keys: calls beside a model, damaged databases, made-up keys."""

import asyncio
import os
import random
import string
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal, localcontext
from pathlib import Path

from tests.fuzz.mutations import mutated

from malaprop.ledger import (
    Account,
    Amounts,
    BudgetError,
    Charge,
    Ledger,
    Request,
    RequestError,
)
from malaprop.privacy.errors import MalapropError, ParameterError
from malaprop.server.keys import KeyStore

_SECRET = bytes(range(32))
_ACCOUNTS = (Account(kind="word", step="a step"), Account(kind="date", step="a week"))
_SUBJECTS = ("Ann", "Bob", None)
_KEYS = ("one", "two")
_AMOUNTS = ("0", "0.1", "0.3", "1.5", "1e-18", "7e20", "0.30000000000000004")
_LIMITS = ("0", "0.3", "2", "1e21", "1.000000000000000001", None)
_STRANGE = ("\0", "é", "\ud800", " ", "_", "mlp_", "mlp__", "\u2028", "'; DROP TABLE api_keys; --")
Owner = tuple[str, str]


@contextmanager
def _folder() -> Iterator[Path]:
    """Make a folder that holds the state, too."""
    before = os.environ.get("MALAPROP_STATE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MALAPROP_STATE"] = f"{folder}/state"
        try:
            yield Path(folder)
        finally:
            del os.environ["MALAPROP_STATE"]
            if before is not None:
                os.environ["MALAPROP_STATE"] = before


class _Model:
    """A ledger beside a plain dictionary that must always agree with it."""

    def __init__(self, url: str, choices: random.Random) -> None:
        self.url, self.choices = url, choices
        self.ledger = Ledger.open(url, secret=_SECRET)
        self.spent: dict[tuple[Owner, Account], Decimal] = defaultdict(Decimal)
        self.limits: dict[Owner, Decimal | None] = {}
        # No request is ever answered, so that its price must stay what it was.
        self.requests: dict[str, tuple[bytes, list[Decimal], str]] = {}

    def limit(self, owner: Owner) -> Decimal | None:
        own = self.limits.get(owner)
        return self.limits.get((owner[0], "")) if own is None else own

    def fits(self, owner: Owner, account: Account, cost: Decimal) -> bool:
        most = self.limit(owner)
        return most is None or not cost or self.spent[owner, account] + cost <= most

    def debit(self) -> str:
        choose = self.choices.choice
        subject, key, dry = choose(_SUBJECTS), choose(_KEYS), self.choices.random() < 0.2
        name = choose(("a", "b", "c", None))
        request = None if name is None else Request(name, choose((b"", b"x")))
        before = self.requests.get(f"{key} {name}")
        costs = {account: Decimal(choose(_AMOUNTS)) for account in _ACCOUNTS}
        if before is not None and self.choices.random() < 0.7:
            costs = dict(zip(_ACCOUNTS, before[1], strict=True))
        owners: list[Owner] = [("key", key), ("total", "")]
        if subject is not None:
            owners.append(("subject", subject))
        fits = all(
            self.fits(owner, account, costs[account]) for account in costs for owner in owners
        )
        charge = Charge(amounts={a: Amounts(epsilon=cost) for a, cost in costs.items()})
        try:
            receipt = self.ledger.debit(
                charge, subject=subject, key=key, dry_run=dry, request=request
            )
        except BudgetError:
            assert before is None
            assert not fits, "a debit that fits was refused"
            return "refused"
        except RequestError:
            assert request is not None
            assert before is not None
            assert before[:2] != (request.body, list(costs.values()))
            return "another request"
        if before is not None:
            assert request is not None
            assert before == (request.body, list(costs.values()), receipt.id)
            assert receipt.replayed
            return "repeated"
        assert fits, "more was debited than the limit allows"
        if dry:
            return "dry"
        if request is not None:
            self.requests[f"{key} {name}"] = request.body, list(costs.values()), receipt.id
        for account, cost in costs.items():
            for owner in owners:
                self.spent[owner, account] += cost
        return "debited"

    def set_limit(self) -> str:
        scope = self.choices.choice(("subject", "key", "total"))
        names = {"subject": ("", "Ann", "Bob"), "key": ("", *_KEYS), "total": ("",)}[scope]
        name, most = self.choices.choice(names), self.choices.choice(_LIMITS)
        wanted = {f"{scope}_epsilon": most} | ({scope: name} if name else {})
        self.ledger.set_limits(**wanted)
        self.limits[scope, name] = None if most is None else Decimal(most)
        return "limit"

    def reopen(self) -> str:
        self.ledger.close()
        self.ledger = Ledger.open(self.url, secret=_SECRET)
        return "opened again"

    def check(self, ledger: Ledger) -> None:
        """All that was spent is what the model says."""
        for scope, names in (("subject", ("Ann", "Bob")), ("key", _KEYS), ("total", ("",))):
            for name in names:
                budget = ledger.budget(**({scope: name} if name else {}))
                amounts = {line.account: line.spent.epsilon for line in budget.lines}
                for account in _ACCOUNTS:
                    assert amounts.get(account, 0) == self.spent[(scope, name), account]
                assert budget.limit == self.limit((scope, name))


def fuzz(cases: int, seed: int) -> dict[str, int]:
    """Make as many calls beside a model, then damage the database as often."""
    figures: Counter[str] = Counter()
    choices = random.Random(seed)
    with _folder() as folder, localcontext(prec=200):
        path = folder / "ledger.db"
        model = _Model(f"sqlite:///{path}", choices)
        calls = (*8 * (model.debit,), model.set_limit, model.reopen)
        for _ in range(cases):
            figures[choices.choice(calls)()] += 1
        model.check(model.ledger)
        assert model.ledger.verify() == []
        model.ledger.close()
        whole = path.read_bytes()
        for _ in range(cases):
            figures[_damaged(folder, mutated(whole, choices), model)] += 1
    return dict(figures)


def _damaged(folder: Path, data: bytes, model: _Model) -> str:
    """A damaged database is refused, or the damage is found, or it changes no budget."""
    path = folder / "damaged.db"
    for left in folder.glob("damaged.db*"):
        left.unlink()
    path.write_bytes(data)
    try:
        with Ledger.open(f"sqlite:///{path}", secret=_SECRET) as ledger:
            if ledger.verify():
                return "damage found"
            model.check(ledger)
    except MalapropError:
        return "damage refused"
    return "damage without effect"


def fuzz_keys(cases: int, seed: int) -> dict[str, int]:
    """Make keys of strange names, and try keys that nobody has."""
    figures: Counter[str] = Counter()
    choices = random.Random(seed)
    with _folder() as folder:
        store = KeyStore(f"sqlite:///{folder}/keys.db")
        _, key = store.create("sample")
        for _ in range(cases):
            figures[_made(store, choices)] += 1
            tried = _made_up(key, choices)
            caller = asyncio.run(store.caller(tried))
            assert (caller is not None) == (tried == key), "a made-up key was taken"
            figures["the key" if caller else "no key"] += 1
        store.close()
    return dict(figures)


def _made(store: KeyStore, choices: random.Random) -> str:
    name = "".join(choices.choices((*string.printable, *_STRANGE), k=choices.randint(0, 110)))
    most = choices.choice((None, 1.0, -1.0, 0.0, float("nan"), float("inf"), 1e300))
    try:
        record, key = store.create(name, max_epsilon=most, days=choices.choice((None, 1.0, -1.0)))
    except ParameterError:
        return "not made"
    assert asyncio.run(store.caller(key)) is not None
    store.revoke(record.id)
    return "made"


def _made_up(key: str, choices: random.Random) -> str:
    if choices.random() < 0.1:
        return key
    tried = list(key)
    for _ in range(choices.randint(1, 4)):
        place = choices.randrange(len(tried))
        tried[place] = choices.choice((*string.printable, *_STRANGE, ""))
    with suppress(ValueError):
        tried.remove("")
    return "".join(tried)
