"""Keys for hashes that nobody else can compare with a guess.

A hash of a text confirms a guess of the whole text to whoever finds it. So every hash that Malaprop
leaves on a disk has a key, derived from one secret of the user. The secret lies in the user's state
folder, and never beside the hashes.

>>> subkey("report")  # doctest: +SKIP
b'...'
"""

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from malaprop.core.errors import OutputError, SecretError
from malaprop.pipeline.outputs.owned import PRIVATE, create, is_ours, open_ours, set_mode

SECRET_BYTES: Final = 32
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
# Errors of systems that have no hard links on the disk.
NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def state_folder() -> Path:
    """Return the folder of the user's secret: $MALAPROP_STATE, else the system's own."""
    if chosen := os.environ.get("MALAPROP_STATE"):
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_state_dir("malaprop", appauthor=False))


def subkey(purpose: str, salt: str = "") -> bytes:
    """Derive a key from the user's secret, which is made when it is first needed.

    Keys for other purposes or salts tell nothing about this one. Raise SecretError if the secret
    cannot be read or kept: go without the hash then, never without the key.
    """
    label = f"malaprop {purpose}\0{salt}".encode()
    return hashlib.blake2b(label, key=_secret(), digest_size=SECRET_BYTES).digest()


def _secret() -> bytes:
    """Read the user's secret; make one if there is none."""
    folder = state_folder()
    path = folder / "secret"
    try:
        _prepare(folder)
        with contextlib.suppress(FileNotFoundError):
            return _read(path)
        _make(path)
        return _read(path)
    except OutputError as error:
        raise SecretError(str(error)) from None
    except OSError as error:
        raise SecretError(
            f"{folder} cannot hold the key that protects hashes of your files: {error.strerror}. "
            "Name a folder of your own in MALAPROP_STATE"
        ) from None


def _prepare(folder: Path) -> None:
    """Make the folder; refuse one in which others could replace the secret."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if not is_ours(status):
        reason = "belongs to another user"
    elif os.name == "posix" and status.st_mode & _OTHERS_WRITE:
        reason = "can be written by others"
    else:
        return
    raise SecretError(
        f"{folder} {reason}, so it cannot hold the key that protects hashes of your files: name a "
        "folder of your own in MALAPROP_STATE"
    )


def _read(path: Path) -> bytes:
    # While another run makes it, it has two names; nobody else can write in this folder.
    with os.fdopen(open_ours(path, other_names=True), "rb") as file:
        set_mode(file.fileno(), PRIVATE)
        secret = file.read(SECRET_BYTES + 1)
    if len(secret) != SECRET_BYTES:
        raise SecretError(
            f"{path} is damaged: remove it. Runs that were stopped before cannot be resumed then"
        )
    return secret


def _make(path: Path) -> None:
    """Create the secret in one step; if another run was faster, its secret stays."""
    new = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        with os.fdopen(create(new), "wb") as file:
            file.write(secrets.token_bytes(SECRET_BYTES))
            file.flush()
            os.fsync(file.fileno())
        _name(new, path)
    finally:
        new.unlink(missing_ok=True)


def _name(new: Path, path: Path) -> None:
    """Give the secret its name, unless another one has it, which a rename would replace."""
    try:
        os.link(new, path)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        os.rename(new, path)
