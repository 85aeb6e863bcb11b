"""The server's secret, what is derived from it, and the witness beside it.

The secret turns a subject's name into a hash that nobody else can compare with a guess, marks the
entries, and encrypts answers. It is kept apart from the database: without it, a copy of the
database names nobody; and with another one, every subject would have a fresh budget.

The witness is a small file beside the secret. It holds the number and the mark of the last entry
that this machine has seen. A database that lacks that entry is older than what was released.
"""

import hashlib
import hmac
import os
import secrets
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, cast

from malaprop import private_files
from malaprop.privacy.errors import LedgerError, OutputError, ParameterError, SecretError

_BYTES: Final = 32
_LONGEST_SUBJECT: Final = 1_000
_LONGEST_KEY: Final = 200
_FIRST_MARK: Final = "0" * 64


def subject_name(subject: object) -> str:
    """Return a subject's name in the one form that it is hashed in.

    Letters with accents are the same however they are encoded, and blanks around a name do not
    count. Capitals do: they may be part of an identifier.

    >>> subject_name(" Jose\\u0301 ") == subject_name("Jos\\u00e9")
    True
    """
    if not isinstance(subject, str):
        raise ParameterError(f"A `subject` must be a string. Got {type(subject).__name__}.")
    try:
        subject.encode()
    except UnicodeEncodeError:
        raise ParameterError("A `subject` must not hold half of a surrogate pair.") from None
    if len(subject) > _LONGEST_SUBJECT:
        raise ParameterError(f"A `subject` must have at most {_LONGEST_SUBJECT:,} characters.")
    name = unicodedata.normalize("NFKC", subject).strip()
    if not name:
        raise ParameterError("A `subject` must not be empty: leave it out, or name somebody.")
    return name


def key_name(key: object) -> str:
    """Return the name of an API key: not the key itself."""
    if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or not key.isprintable():
        raise ParameterError(
            f"The name of a `key` must be a string of 1 to {_LONGEST_KEY} printable characters."
        )
    return key


@dataclass(frozen=True)
class Keys:
    """The keys of one ledger, derived from the server's secret and the ledger's own name."""

    secret: bytes
    ledger: str

    def __repr__(self) -> str:
        return f"Keys({self.ledger})"

    def derived(self, purpose: str, more: bytes = b"") -> bytes:
        """Derive a key by HKDF; keys for other purposes tell nothing about it."""
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        about = f"malaprop ledger {self.ledger} {purpose}\0".encode() + more
        return HKDF(algorithm=SHA256(), length=_BYTES, salt=None, info=about).derive(self.secret)


class Hashes:
    """The keyed hashes of one ledger."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        names = ("subject", "entries", "request", "body")
        self._derived = {name: keys.derived(name) for name in names}
        self.check = keys.derived("check").hex()
        """Tells this secret from others, and nothing else."""

    def _hash(self, purpose: str, *parts: bytes) -> str:
        digest = hashlib.blake2b(key=self._derived[purpose], digest_size=_BYTES)
        for part in parts:
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
        return digest.hexdigest()

    def subject(self, subject: str) -> str:
        """Return what a subject is stored as."""
        return self._hash("subject", subject_name(subject).encode())

    def mark(self, before: str, entry: bytes) -> str:
        """Return the mark of an entry, which depends on all entries before it."""
        return self._hash("entries", before.encode(), entry)

    def request(self, key: str, idempotency_key: str) -> str:
        """Return what a request is stored as."""
        return self._hash("request", key.encode(), idempotency_key.encode())

    def body(self, body: bytes) -> str:
        """Return what the body of a request is stored as."""
        return self._hash("body", body)

    def answer_key(self, key: str, idempotency_key: str) -> bytes:
        """Return the key that an answer is encrypted with; it needs the idempotency key."""
        parts = (key.encode(), idempotency_key.encode())
        told = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return self._keys.derived("answer", told)


def sealed(answer: bytes, key: bytes, about: str) -> bytes:
    """Encrypt an answer by AES-GCM; it opens only beside what it is `about`."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(12)
    return nonce + AESGCM(key).encrypt(nonce, answer, about.encode())


def opened(stored: bytes, key: bytes, about: str) -> bytes:
    """Decrypt an answer; refuse one that was changed."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(stored[:12], stored[12:], about.encode())
    except InvalidTag:
        raise LedgerError(
            "A stored answer was changed, or belongs to another request. Nothing is released."
        ) from None


# Where the secret is kept.


def secret_path(ledger: str) -> Path:
    """Return where the secret of a ledger is kept by default: in the user's state folder."""
    return private_files.state_folder() / f"ledger-{ledger}.secret"


def checked_secret(secret: bytes) -> bytes:
    """Refuse a secret that can be guessed."""
    if not isinstance(secret, bytes) or len(secret) < _BYTES:
        raise ParameterError(
            f"The `secret` of a ledger must be {_BYTES} random bytes or more, or the path of a "
            "file that holds them."
        )
    return secret


def read_secret(path: Path) -> bytes | None:
    """Read a secret from a file; None if there is none. It may be mounted there by the operator."""
    try:
        with path.open("rb") as file:
            return checked_secret(file.read(4096))
    except FileNotFoundError:
        return None
    except ParameterError:
        raise SecretError(
            f"{path} holds no secret of a ledger, which has {_BYTES} bytes or more: restore it "
            "from your backup."
        ) from None
    except OSError as error:
        raise SecretError(f"{path} cannot be read: {error.strerror}") from None


def make_secret(path: Path) -> bytes:
    """Make the file of a secret, for its owner alone; return what it holds."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(private_files.create(path), "wb") as file:
            made = secrets.token_bytes(_BYTES)
            private_files.write_through(file, made)
        private_files.sync_folder(path.parent)
    except OSError as error:
        raise SecretError(
            f"{path} cannot be written: {error.strerror}. Name another place with `secret`, or a "
            "folder of your own in MALAPROP_STATE."
        ) from None
    return made


# The witness.


def _opened(path: Path) -> int:
    with suppress(FileNotFoundError):
        return private_files.open_ours(path, os.O_RDWR)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        return private_files.create(path)
    return private_files.open_ours(path, os.O_RDWR)


class Seen(NamedTuple):
    """The number and the mark of an entry."""

    number: int
    mark: str


NOTHING_SEEN: Final = Seen(0, _FIRST_MARK)


class Witness:
    """The last entry that this machine has seen; it never goes back.

    Written after each commit, and not flushed: after a power cut it may be older than the database,
    which is harmless.
    """

    def __init__(self, path: Path | None, keys: Keys) -> None:
        """Take the path of the file; without one, this process alone remembers."""
        self.path, self._key = path, keys.derived("witness")
        self._file: int | None = None
        self._seen = NOTHING_SEEN

    def seen(self) -> Seen:
        """Return the last entry that was seen here."""
        if self.path is None:
            return self._seen
        line = os.pread(self._open(), 256, 0)
        if not line:
            return NOTHING_SEEN
        number, _, rest = line.decode("ascii", "replace").strip().partition(" ")
        mark, _, proof = rest.partition(" ")
        if not number.isdigit() or not hmac.compare_digest(proof, self._proof(number, mark)):
            raise LedgerError(
                f"The witness {self.path} of this ledger is damaged. If the database was not "
                "restored from a backup, accept it as it is: malaprop ledger verify --accept."
            )
        return Seen(int(number), mark)

    def see(self, entry: Seen, *, forget: bool = False) -> None:
        """Remember an entry, if it is newer than what was seen, or in place of that."""
        import fcntl

        if self.path is None:
            self._seen = entry if forget else max(entry, self._seen)
            return
        file = self._open()
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            if forget or entry.number > self.seen().number:
                number = f"{entry.number:020d}"
                proof = self._proof(number, entry.mark)
                os.pwrite(file, f"{number} {entry.mark} {proof}\n".encode(), 0)
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        if self._file is None and self.path is not None:
            try:
                self._file = _opened(self.path)
            except (OSError, OutputError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                raise SecretError(
                    f"The witness {self.path} cannot be opened: {reason}. Name a folder of your "
                    "own in MALAPROP_STATE."
                ) from None
        return cast(int, self._file)

    def _proof(self, number: str, mark: str) -> str:
        told = f"{int(number)} {mark}".encode()
        return hashlib.blake2b(told, key=self._key, digest_size=16).hexdigest()
