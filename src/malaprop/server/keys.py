"""API keys: shown once, kept as hashes, in the database of the ledger.

A key is `mlp_ID_SECRET`. The secret has 256 random bits, so a plain SHA-256 of it can be kept:
there is nothing to guess. Hashes are compared in constant time, also where there is no such key.
"""

import asyncio
import hashlib
import hmac
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, insert, select, update

from malaprop.ledger import tables
from malaprop.ledger.tables import api_keys
from malaprop.mechanisms import mechanism_named
from malaprop.privacy.errors import ParameterError, entry
from malaprop.server.security import SCOPES, Caller

_FORM: Final = re.compile(r"mlp_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NOBODY: Final = "0" * 64
_USUAL: Final = ("privatize", "files", "read", "budget")
_LOOKED_UP: Final = 2.0  # seconds for which a key need not be looked up again
_MOST: Final = 10_000  # keys that are remembered
_LARGEST: Final = 1_000_000  # of what limits a key; as days, 2,700 years


@dataclass(frozen=True, kw_only=True)
class KeyRecord:
    """What is known of a key; the key itself is not."""

    id: str
    name: str
    scopes: tuple[str, ...]
    mechanisms: tuple[str, ...]
    """The mechanisms that it may name; empty for all."""
    max_epsilon: float | None
    per_minute: int | None
    created: str
    expires: str
    revoked: str

    def is_valid(self, now: datetime) -> bool:
        """Whether the key may be used."""
        return not self.revoked and (not self.expires or _text(now) < self.expires)

    @property
    def caller(self) -> Caller:
        """Who calls with this key."""
        return Caller(
            id=self.id,
            scopes=frozenset(self.scopes),
            mechanisms=frozenset(self.mechanisms) if self.mechanisms else None,
            max_epsilon=self.max_epsilon,
            per_minute=self.per_minute,
        )


class KeyStore:
    """Makes, lists and revokes keys, and finds who has one."""

    def __init__(self, url: str) -> None:
        """Open the database; make its tables if they are not there."""
        self._url = tables.database_url(url)
        self._known: OrderedDict[str, tuple[float, KeyRecord | None, str]] = OrderedDict()
        with tables.failures(self._url):
            self._engine = tables.connect(self._url)
            tables.migrate(self._engine)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def create(
        self,
        name: str,
        *,
        scopes: Iterable[str] = (),
        mechanisms: Iterable[str] = (),
        max_epsilon: float | None = None,
        per_minute: int | None = None,
        days: float | None = None,
    ) -> tuple[KeyRecord, str]:
        """Make a key; return what is kept of it, and the key, which is not kept."""
        if not 0 < len(name) <= 100 or not name.isprintable():
            raise ParameterError("The name of a key has 1 to 100 printable characters.")
        wanted = tuple(scopes) or _USUAL
        for scope in wanted:
            entry("scope", scope, dict.fromkeys(SCOPES, scope))
        for what, value in (
            ("max_epsilon", max_epsilon),
            ("per_minute", per_minute),
            ("days", days),
        ):
            if value is not None and not 0 < value <= _LARGEST:
                raise ParameterError(
                    f"`{what}` must be a number above 0, and at most {_LARGEST:,}."
                )
        now = datetime.now(UTC)
        record = KeyRecord(
            id=secrets.token_hex(6),
            name=name,
            scopes=tuple(scope for scope in SCOPES if scope in wanted),
            mechanisms=tuple(sorted(mechanism_named(each).name for each in mechanisms)),
            max_epsilon=max_epsilon,
            per_minute=per_minute,
            created=_text(now),
            expires="" if days is None else _text(now + timedelta(days=days)),
            revoked="",
        )
        secret = secrets.token_urlsafe(32)
        row = vars(record) | {
            "hash": _hash(secret),
            "scopes": " ".join(record.scopes),
            "mechanisms": " ".join(record.mechanisms),
        }
        with tables.failures(self._url), self._engine.begin() as connection:
            connection.execute(insert(api_keys).values(**row))
        return record, f"mlp_{record.id}_{secret}"

    def list(self) -> list[KeyRecord]:
        """Return all keys, those that were revoked included."""
        with tables.failures(self._url), tables.reading(self._engine) as connection:
            rows = connection.execute(
                select(api_keys).order_by(api_keys.c.created, api_keys.c.id)
            ).all()
        return [_record(row) for row in rows]

    def revoke(self, id_: str) -> KeyRecord:
        """Revoke a key, from now on; return it."""
        with tables.failures(self._url), self._engine.begin() as connection:
            row = connection.execute(select(api_keys).where(api_keys.c.id == id_)).one_or_none()
            if row is None:
                raise ParameterError(
                    "There is no key with this id: malaprop keys list shows them. An id is what "
                    "stands between the first and the second underscore of a key."
                )
            if not row.revoked:
                now = _text(datetime.now(UTC))
                connection.execute(update(api_keys).where(api_keys.c.id == id_).values(revoked=now))
        return _record(row)

    def has_valid(self) -> bool:
        """Whether anybody has a key."""
        now = datetime.now(UTC)
        return any(record.is_valid(now) for record in self.list())

    async def caller(self, key: str) -> Caller | None:
        """Return who has this key; None if nobody has, or has it no more.

        What was looked up is good for two seconds, so a revoked key works for no longer.
        """
        form = _FORM.fullmatch(key)
        if form is None:
            return None
        id_, secret = form.groups()
        known = self._known.get(id_)
        if known is None or time.monotonic() - known[0] > _LOOKED_UP:
            known = await asyncio.to_thread(self._look_up, id_)
        _, record, kept = known
        right = hmac.compare_digest(_hash(secret), kept)
        if not right or record is None or not record.is_valid(datetime.now(UTC)):
            return None
        return record.caller

    def is_valid(self, id_: str) -> bool:
        """Whether the key with this id may be used."""
        record = self._look_up(id_)[1]
        return record is not None and record.is_valid(datetime.now(UTC))

    def _look_up(self, id_: str) -> tuple[float, KeyRecord | None, str]:
        now = time.monotonic()
        with tables.failures(self._url), tables.reading(self._engine) as connection:
            row = connection.execute(select(api_keys).where(api_keys.c.id == id_)).one_or_none()
        found = (now, None, _NOBODY) if row is None else (now, _record(row), str(row.hash))
        self._known[id_] = found
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
        return found


def _record(row: Row[Any]) -> KeyRecord:
    facts = dict(row._mapping)
    del facts["hash"]
    for name in ("scopes", "mechanisms"):
        facts[name] = tuple(facts[name].split())
    return KeyRecord(**facts)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
