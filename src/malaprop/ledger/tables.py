"""The tables of a ledger and of the service's keys, in SQLite and PostgreSQL.

All that writes takes one lock first: the whole database in SQLite, the one row of `ledger_state`
in PostgreSQL. So writers come one after the other, and what one has read stays true until it has
committed. A commit waits until it is on the disk.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Dialect,
    Engine,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    column,
    create_engine,
    event,
    insert,
    inspect,
    select,
    table,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.types import BigInteger

from malaprop import private_files
from malaprop.privacy.errors import (
    LedgerError,
    MalapropError,
    MissingExtraError,
    OutputError,
    ParameterError,
)

_VERSIONS: Final = "ledger_version"  # others may keep tables in the same database
HEAD: Final = "0001"
"""The newest migration."""
_BUSY_SECONDS: Final = 60
_MIGRATING: Final = 0x6D616C61  # of PostgreSQL's advisory lock


class Amount(TypeDecorator[Decimal]):
    """A decimal number as text: exact, however long, in both databases."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> str | None:
        """Write all digits, without an exponent."""
        return None if value is None else f"{value:f}"

    def process_result_value(self, value: str | None, dialect: Dialect) -> Decimal | None:
        """Read all digits; refuse what is no amount."""
        if value is None:
            return None
        with suppress(InvalidOperation):
            amount = Decimal(value)
            if amount >= 0:
                return amount
        raise LedgerError(
            "An amount in the ledger is damaged: restore the newest database from a backup."
        )


_BIG = BigInteger().with_variant(Integer(), "sqlite")
metadata = MetaData()

state = Table(
    "ledger_state",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("ledger", String(32), nullable=False),  # a random name
    Column("secret", String(64), nullable=False),  # tells the server's secret from others
    Column("last", _BIG, nullable=False),  # the number of the last entry
    Column("head", String(64), nullable=False),  # and its mark
)
accounts = Table(
    "accounts",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("facts", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("listed", Boolean, nullable=False),
)
entries = Table(
    "entries",
    metadata,
    Column("number", _BIG, primary_key=True, autoincrement=False),
    Column("what", String(16), nullable=False),
    Column("receipt", String(32), nullable=False, index=True),
    Column("subject", String(64), nullable=False, index=True),
    Column("key", Text, nullable=False, index=True),
    Column("account", String(32), nullable=False),
    Column("epsilon", Amount, nullable=False),
    Column("worst", Amount, nullable=False),
    Column("rho", Amount, nullable=False),
    Column("delta", Amount, nullable=False),
    Column("detail", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("mark", String(64), nullable=False),
)
balances = Table(
    "balances",
    metadata,
    Column("scope", String(8), primary_key=True),
    Column("owner", Text, primary_key=True),
    Column("account", String(32), primary_key=True),
    Column("epsilon", Amount, nullable=False),
    Column("worst", Amount, nullable=False),
    Column("rho", Amount, nullable=False),
    Column("delta", Amount, nullable=False),
    Column("releases", _BIG, nullable=False),
)
limits = Table(
    "limits",
    metadata,
    Column("scope", String(8), primary_key=True),
    Column("owner", Text, primary_key=True),  # empty: of all that have none of their own
    Column("epsilon", Amount, nullable=True),
    Column("delta", Amount, nullable=True),
)
requests = Table(
    "requests",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("body", String(64), nullable=False),
    Column("receipt", String(32), nullable=False),
    Column("told", Text, nullable=False),  # the receipt, as it was first told
    Column("answered", Boolean, nullable=False),
    Column("answer", LargeBinary, nullable=True),
    Column("expires", Float, nullable=True),
)
api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(12), primary_key=True),
    Column("name", Text, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("scopes", Text, nullable=False),
    Column("mechanisms", Text, nullable=False),  # empty: all
    Column("max_epsilon", Float, nullable=True),
    Column("per_minute", Integer, nullable=True),
    Column("created", String(32), nullable=False),
    Column("expires", String(32), nullable=False),  # empty: never
    Column("revoked", String(32), nullable=False),  # empty: not
)


def database_url(url: str) -> URL:
    """Return the address of a database; refuse one that no ledger can be kept in."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise ParameterError(
            "The `database` of a ledger is an address such as sqlite:///ledger.db or "
            "postgresql://user@host/name."
        ) from None
    kind = parsed.get_backend_name()
    if kind == "sqlite":
        if parsed.database in (None, "", ":memory:") or parsed.query:
            raise ParameterError(
                "A ledger in SQLite needs a file that lasts, as in sqlite:///ledger.db, without "
                "further options."
            )
        return parsed.set(drivername="sqlite+pysqlite")
    if kind in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    raise ParameterError("A ledger is kept in SQLite or PostgreSQL: see the `database` address.")


def shown(url: URL) -> str:
    """Return an address without user and password, for messages."""
    plain = url.set(drivername=url.get_backend_name())
    return private_files.without_passwords(plain.render_as_string(hide_password=True))


def connect(url: URL) -> Engine:
    """Return an engine whose commits last; make the file of a new SQLite database."""
    if url.get_backend_name() == "sqlite":
        path = Path(str(url.database))
        if not path.exists():
            with private_files.output_errors(path), suppress(FileExistsError):
                os.close(private_files.create(path))
        engine = create_engine(
            url,
            connect_args={
                "timeout": _BUSY_SECONDS,
                "check_same_thread": False,
                "isolation_level": None,
            },
        )
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        engine = create_engine(url, pool_pre_ping=True, pool_size=5, max_overflow=20)
    except ImportError:
        raise MissingExtraError("psycopg", "ledger", "A ledger in PostgreSQL") from None
    event.listen(engine, "connect", _prepare_postgresql)
    return engine


def _prepare_sqlite(connection: Any, record: object) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    reads = connection.get_execution_options().get("reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _prepare_postgresql(connection: Any, record: object) -> None:
    before, connection.autocommit = connection.autocommit, True
    connection.execute("SET synchronous_commit = on")
    connection.execute(f"SET lock_timeout = '{_BUSY_SECONDS}s'")
    connection.autocommit = before


_DAMAGE: Final = (ValueError, LookupError, TypeError)
"""What reading a damaged database can raise: it gives no text, no JSON, no account."""


@contextmanager
def failures(url: URL) -> Iterator[None]:
    """Say in plain words that a database fails; its own messages may quote what it was given."""
    try:
        yield
    except OutputError as error:
        raise LedgerError(str(error)) from None
    except MalapropError:
        raise
    except (SQLAlchemyError, sqlite3.Error, *_DAMAGE) as error:
        cause = getattr(error, "orig", None) or error
        reason = type(cause).__name__
        if isinstance(cause, sqlite3.OperationalError) and "locked" in str(cause):
            reason = f"another process has kept it busy for {_BUSY_SECONDS} seconds"
        raise LedgerError(
            f"The ledger in {shown(url)} cannot be read or written ({reason}): check that the "
            "database is there, runs and has space. What was not answered was not released."
        ) from None


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Open a transaction that sees one state of all tables, and writes nothing."""
    options: dict[str, Any] = {"reads": True}
    if engine.dialect.name == "postgresql":
        options["isolation_level"] = "REPEATABLE READ"
    with engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection


_STATE: Final = select(state)
_LOCKED: Final = _STATE.with_for_update()


@contextmanager
def writing(engine: Engine) -> Iterator[tuple[Connection, Any]]:
    """Open the one transaction that may write, and yield it with the row of the state."""
    with engine.connect() as connection, connection.begin():
        query = _LOCKED if engine.dialect.name == "postgresql" else _STATE
        yield connection, connection.execute(query).one_or_none()


@contextmanager
def making(engine: Engine) -> Iterator[Connection]:
    """Open the one transaction that may make tables, or the ledger in them."""
    with engine.connect() as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATING})"))
        yield connection


def read_state(connection: Connection) -> Any:
    """Return the row of the state; None if no ledger was made."""
    return connection.execute(_STATE).one_or_none()


def make_state(connection: Connection, ledger: str, secret: str, mark: str) -> None:
    """Make the ledger."""
    row = {"id": 1, "ledger": ledger, "secret": secret, "last": 0, "head": mark}
    connection.execute(insert(state), row)


def migrate(engine: Engine) -> None:
    """Bring the tables of a database up to date; make them in an empty one."""
    with reading(engine) as connection:
        if inspect(connection).has_table(_VERSIONS):
            found = connection.execute(
                select(column("version_num")).select_from(table(_VERSIONS))
            ).scalar()
            if found == HEAD:
                return
            if found is not None and found > HEAD:
                raise LedgerError(
                    "This ledger was written by a newer version of Malaprop: install that one."
                )
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with making(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
