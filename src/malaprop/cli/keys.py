"""`malaprop keys`: who may call the service."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from malaprop.cli.ledger import Database
from malaprop.cli.options import App, argument, option
from malaprop.cli.terminal import print_table, say
from malaprop.privacy.errors import MissingExtraError

if TYPE_CHECKING:
    from malaprop.server.keys import KeyStore

app = App(help="Make, list and revoke the keys of the REST service.", rich_markup_mode=None)


@app.command()
def create(
    name: Annotated[str, argument("NAME", "What to call the key, such as who will have it.")],
    database: Database = None,
    scope: Annotated[
        list[str] | None,
        option(
            "--scope NAME",
            "What the key is for: privatize, files, read, budget or metrics; may be repeated. By "
            "default all but metrics.",
        ),
    ] = None,
    mechanism: Annotated[
        list[str] | None,
        option(
            "--mechanism -m NAME", "A mechanism that it may name; may be repeated. By default all."
        ),
    ] = None,
    max_epsilon: Annotated[
        float | None, option("NUMBER", "The largest ε that a release with it may have.")
    ] = None,
    per_minute: Annotated[int | None, option("NUMBER", "Requests a minute at most.")] = None,
    days: Annotated[float | None, option("NUMBER", "Days after which it expires.")] = None,
) -> None:
    """Make a key, and show it: this once, as only a hash is kept.

    The key alone goes to standard output; its id, for lists and limits, to standard error.
    """
    store = _store(database)
    record, key = store.create(
        name,
        scopes=scope or (),
        mechanisms=mechanism or (),
        max_epsilon=max_epsilon,
        per_minute=per_minute,
        days=days,
    )
    say(f"Key {record.id}, for {', '.join(record.scopes)}. It is shown this once:", err=True)
    say(key)


@app.command("list")
def list_(database: Database = None) -> None:
    """List all keys: what each may do, and whether it still may."""
    now = datetime.now(UTC)
    rows = [
        (
            record.id,
            record.name,
            ", ".join(record.scopes),
            ", ".join(record.mechanisms) or "all",
            "" if record.max_epsilon is None else f"{record.max_epsilon:g}",
            "" if record.per_minute is None else f"{record.per_minute:,}",
            record.expires or "never",
            "revoked" if record.revoked else "valid" if record.is_valid(now) else "expired",
        )
        for record in _store(database).list()
    ]
    head = ("id", "name", "scopes", "mechanisms", "ε up to", "a minute", "expires", "state")
    print_table(head, rows)


@app.command()
def revoke(
    id_: Annotated[str, argument("ID", "The id of the key, as malaprop keys list shows it.")],
    database: Database = None,
) -> None:
    """Revoke a key. A service that runs refuses it within two seconds."""
    record = _store(database).revoke(id_)
    say(f"Key {record.id} is revoked.")


def _store(database: str | None) -> "KeyStore":
    try:
        from malaprop.server.keys import KeyStore
    except ImportError as error:
        raise MissingExtraError(error.name or "sqlalchemy", "server", "malaprop keys") from None
    from malaprop.server.settings import Settings

    return KeyStore(Settings(database=database or "").database_url)
