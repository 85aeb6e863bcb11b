"""`malaprop serve`: the REST service."""

from typing import Annotated

from malaprop.cli.ledger import Database, Secret
from malaprop.cli.options import option
from malaprop.privacy.errors import MissingExtraError

Folder = Annotated[
    str | None,
    option(
        "FOLDER",
        "Where uploaded files are kept; by default in your state folder.",
    ),
]


def serve(
    host: Annotated[
        str,
        option(
            "NAME",
            "The address to listen on. One that others can reach needs a key: see malaprop keys.",
        ),
    ] = "127.0.0.1",
    port: Annotated[int, option("NUMBER", "The port to listen on.", min=0, max=65535)] = 8000,
    database: Database = None,
    secret: Secret = None,
    lexicon: Annotated[
        list[str] | None,
        option(
            "--lexicon -l NAME",
            "A lexicon that requests may name; may be repeated; by default english.",
        ),
    ] = None,
    mechanism: Annotated[
        list[str] | None,
        option(
            "--mechanism -m NAME",
            "A mechanism that requests may name; may be repeated. By default those that malaprop "
            "mechanisms lists.",
        ),
    ] = None,
    workers: Annotated[int, option("NUMBER", "Processes that answer requests.", min=1)] = 1,
    key_needed: Annotated[
        bool, option("--key-needed", "Ask for a key on loopback, too, as behind a proxy.")
    ] = False,
    folder: Folder = None,
) -> None:
    """Serve the REST API, with budgets, on this machine.

    Without any option: on loopback, where no key is needed, with budgets in SQLite. See
    docs/howto/service.md.
    """
    try:
        from malaprop.server.run import run
    except ImportError as error:
        raise MissingExtraError(error.name or "fastapi", "server", "malaprop serve") from None
    from malaprop.server.settings import Settings

    usual = Settings()
    run(
        Settings(
            host=host,
            port=port,
            database=database or "",
            secret="" if secret is None else str(secret),
            lexicons=tuple(lexicon or usual.lexicons),
            mechanisms=tuple(mechanism or usual.mechanisms),
            workers=workers,
            key_needed=key_needed,
            folder=folder or "",
        )
    )
