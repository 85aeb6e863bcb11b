"""What the operator of a service chooses: one value, which its worker processes share."""

import ipaddress
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from malaprop.privacy.errors import OutputError, ParameterError

ENVIRONMENT: Final = "MALAPROP_SERVICE"
"""The variable through which `malaprop serve` hands the settings to its worker processes."""
_MIB: Final = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the service takes at most; beyond that it answers 413, 429 or 503."""

    body: int = 8 * _MIB
    """Bytes of a JSON body."""
    bodies: int = 32 * _MIB
    """Bytes of all bodies that are read or worked on at one time."""
    texts: int = 20_000
    """Texts in a request."""
    file: int = 1024 * _MIB
    """Bytes of an uploaded file."""
    files: int = 16
    """File jobs of one caller that are not done yet."""
    under_way: int = 1024
    """Requests that are read, worked on or answered."""
    waiting: int = 256
    """Requests that wait for a thread."""
    read_seconds: float = 30.0
    """How long the body of a request may take to arrive; a file may take as long for each MiB."""
    work_seconds: float = 60.0
    """How long a request may take in all."""
    kept_hours: float = 24.0
    """How long a file stays after its job has ended, or was left alone."""
    privatizers: int = 16
    """Privatizers that are kept ready, one for each choice of mechanism and options."""
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)
    """Requests that compute at one time."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a service runs. All have defaults that suit one machine.

    >>> Settings().is_loopback, Settings(host="0.0.0.0").is_loopback
    (True, False)
    """

    host: str = "127.0.0.1"
    port: int = 8000
    database: str = ""
    """The database of budgets and keys; empty for that of `malaprop.ledger.default_database`."""
    folder: str = ""
    """Where uploaded files are kept; empty for the user's state folder."""
    secret: str = ""
    """The file of the server's secret; empty for one in the user's state folder."""
    workers: int = 1
    """Processes that answer requests."""
    lexicons: tuple[str, ...] = ("english",)
    """The lexicons that requests may name: names, never paths."""
    mechanisms: tuple[str, ...] = ("balanced", "laplace", "priv-emb", "tem")
    """The mechanisms that requests may name, each of which takes ε alone."""
    key_needed: bool = False
    """Whether loopback needs a key, too, as it does behind a proxy."""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not 0 <= self.port < 1 << 16:
            raise ParameterError(f"A port is a number below 65,536. Got {self.port!r}.")
        if self.workers < 1:
            raise ParameterError(f"`workers` must be 1 or more. Got {self.workers!r}.")
        for name in self.lexicons:
            if os.path.basename(name) != name or not name:
                raise ParameterError(
                    "The service takes lexicons by name, not by path: import the file first, with "
                    "malaprop lexicon import."
                )

    @property
    def is_loopback(self) -> bool:
        """Whether nobody but this machine can reach the address."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:  # a name, which may lead anywhere
            return False

    @property
    def needs_keys(self) -> bool:
        """Whether every call needs a key."""
        return self.key_needed or not self.is_loopback

    def make_folder(self) -> None:
        """Make the folder of the service's state, for its owner alone."""
        try:
            self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"The folder {self.state} cannot be made: {error.strerror}. Name another one with "
                "`folder`."
            ) from None

    @property
    def state(self) -> Path:
        """The folder of files and of SQLite's database."""
        from malaprop.private_files import state_folder

        return Path(self.folder) if self.folder else state_folder() / "service"

    @property
    def database_url(self) -> str:
        """The URL of the database; a password may be in it."""
        from malaprop.ledger import default_database

        return self.database or default_database()

    def to_json(self) -> str:
        """Return the settings as JSON, for the environment of a worker process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Settings":
        """Return the settings that `to_json` wrote.

        >>> Settings.from_json(Settings(port=9).to_json()) == Settings(port=9)
        True
        """
        plain: dict[str, Any] = json.loads(text)
        plain["limits"] = Limits(**plain["limits"])
        for name in ("lexicons", "mechanisms"):
            plain[name] = tuple(plain[name])
        return cls(**plain)
