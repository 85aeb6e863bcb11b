"""Files for their owner alone: keys, permissions, encryption, locks, atomic replacement, the
state folder.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import errno
import hashlib
import hmac
import io
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from malaprop.privacy.errors import OutputError, SecretError

# Leaves passwords out of what is reported.


# What stands before @ in the authority of a URL; a password may itself hold slashes.
_USER = re.compile(r"(://)(?:[^/@\s]*|[^/@:\s]*:(?!\d+/)[^@\s]*)@")


def without_passwords(text: str) -> str:
    """Remove users and passwords from a command line, a path or a URL.

    >>> without_passwords("s3a://KEY:SEC/RET@bucket/notes hdfs://host:9000/a@b")
    's3a://bucket/notes hdfs://host:9000/a@b'
    """
    return _USER.sub(r"\1", text)


# Writes a file or a folder so that it appears complete, or not at all.


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a path to write to. It replaces `path` at the end unless something fails."""
    part = path.with_name(f".{secrets.token_hex(4)}.{path.name}")  # numpy looks at the ending
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        if path.is_dir():
            _replace_folder(part, path)
        else:
            os.replace(part, path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        elif part.exists():
            part.unlink()


def _replace_folder(part: Path, path: Path) -> None:
    """Rename `part`; what `path` was goes when the new one is in place, and else comes back."""
    old = part.with_name(f"{part.name}.old")
    os.replace(path, old)
    try:
        os.replace(part, path)
    except OSError:
        os.replace(old, path)
        raise
    shutil.rmtree(old, ignore_errors=True)


# Who may read and write a file: permissions that pass from inputs to outputs, and never widen.

_READ_WRITE: Final = 0o666
_GROUP, _OTHERS = 0o070, 0o007


@dataclass(frozen=True)
class Access:
    """The permissions of a file; those in `mode` for a group are for the members of `group`."""

    mode: int
    group: int | None = None

    @classmethod
    def of(cls, status: os.stat_result) -> Access:
        """Return the permissions of a file."""
        return cls(stat.S_IMODE(status.st_mode), status.st_gid)

    def for_group(self, group: int) -> int:
        """Return the mode for a file of a group; for another group, what everybody may do."""
        if self.group in (None, group):
            return self.mode
        return self.mode & ~_GROUP | self.mode & (self.mode & _OTHERS) << 3


OWNER_ONLY: Final = Access(0o600)


def narrowest(limits: Iterable[Access], group: int, widest: int = _READ_WRITE) -> int:
    """Return the widest mode for a new file of a group that the limits and the umask allow."""
    # There is no call that only asks. What others create in between is private at least.
    umask = os.umask(0o077)
    os.umask(umask)
    mode = widest & ~umask
    for access in limits:
        mode &= access.for_group(group)
    return mode


def status_of(stream: Any) -> os.stat_result | None:
    """Return the status of what a stream reads or writes, if it is a regular file."""
    try:
        status = os.fstat(stream.fileno())
    except (AttributeError, OSError, ValueError, io.UnsupportedOperation):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


# Hashes and encryption with a key, for what a run leaves on the disk.
#
# The length of a batch is set by the *input*, and the number of unknown words appears in no output:
# both would reveal something about the input. So each batch is encrypted: a random nonce, the data
# combined (xor) with the bytes that SHAKE-256 makes of key and nonce, and a keyed hash of both, so
# that no change goes unnoticed. The data is padded with blanks, since its length would show where
# the batch ends.

_HASH_BYTES: Final = 16
_READ_BYTES: Final = 2**20
_NONCE_BYTES: Final = 16
_TAG_BYTES: Final = 16
_BLOCK_BYTES: Final = 2**16


def keyed_hash(value: str | bytes, key: bytes) -> str:
    """Hash a value so that only someone who knows the key can compare it with a guess."""
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return hashlib.blake2b(data, key=key, digest_size=_HASH_BYTES).hexdigest()


def keyed_digest(
    source: BinaryIO, key: bytes, progress: Callable[[int], None] = lambda done: None
) -> str:
    """Hash a whole file; calls `progress` with the number of bytes read so far."""
    digest = hashlib.blake2b(key=key, digest_size=_HASH_BYTES)
    done = 0
    while chunk := source.read(_READ_BYTES):
        digest.update(chunk)
        done += len(chunk)
        progress(done)
    return digest.hexdigest()


class ReadDigest:
    """Reads another stream from its start, and hashes what is read.

    >>> digest = ReadDigest(io.BytesIO(b"cold rain"), b"a key")
    >>> digest.read1(4), digest.of_all() == keyed_digest(io.BytesIO(b"cold rain"), b"a key")
    (b'cold', True)
    """

    def __init__(self, source: BinaryIO, key: bytes) -> None:
        self._read: Callable[[int], bytes] = getattr(source, "read1", source.read)
        self._hash = hashlib.blake2b(key=key, digest_size=_HASH_BYTES)

    def read1(self, size: int) -> bytes:
        """Read some bytes, or none at the end."""
        data = self._read(size)
        self._hash.update(data)
        return data

    read = read1

    def of_all(self) -> str:
        """Return the digest of the whole stream; reads what is left of it."""
        while self.read1(_READ_BYTES):
            pass
        return self._hash.hexdigest()


class WriteDigest:
    """Writes to another stream, and hashes what is written."""

    def __init__(self, target: BinaryIO, key: bytes) -> None:
        self._target = target
        self._hash = hashlib.blake2b(key=key, digest_size=_HASH_BYTES)
        self.tell, self.flush = target.tell, target.flush

    def write(self, data: bytes | memoryview[int]) -> int:
        """Write all of it."""
        self._hash.update(data)
        return self._target.write(data)

    def of_all(self) -> str:
        """Return the digest of everything that was written."""
        return self._hash.hexdigest()


def encrypted(data: bytes, key: bytes) -> bytes:
    """Encrypt JSON; return letters and digits, a multiple of 64 kB however long the data is."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    padded = data.ljust(-(-len(data) // _BLOCK_BYTES) * _BLOCK_BYTES)
    sealed = nonce + _mixed(padded, key, nonce)
    return base64.b64encode(_tag(sealed, key) + sealed)


def decrypted(text: bytes, key: bytes) -> bytes:
    """Return the data, padded with blanks; raise ValueError if it was changed."""
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError("this is not encrypted") from None
    tag, sealed = data[:_TAG_BYTES], data[_TAG_BYTES:]
    if not hmac.compare_digest(tag, _tag(sealed, key)):
        raise ValueError("this was encrypted with another key, or changed")
    return _mixed(sealed[_NONCE_BYTES:], key, sealed[:_NONCE_BYTES])


def _tag(sealed: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(sealed, key=key, digest_size=_TAG_BYTES, person=b"journal").digest()


def _mixed(data: bytes, key: bytes, nonce: bytes) -> bytes:
    stream = hashlib.shake_256(key + nonce).digest(len(data))
    return (np.frombuffer(data, np.uint8) ^ np.frombuffer(stream, np.uint8)).tobytes()


# Files that only their owner may read: created exclusively, and opened only if they are ours.
#
# Outputs may lie in folders where others can write, such as /tmp. So no link is followed, and what
# is known of a file is known from its descriptor: between a look at a name and its use, another
# file may take the name.

PRIVATE: Final = 0o600
_OWN_FOLDER, _ANY_FOLDER = 0o700, 0o777
_LINKS: Final = 40  # that are followed, as systems do
# Errors of disks without permissions, such as memory sticks.
_NO_PERMISSIONS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)
# Windows has none of these. Without the second, opening a pipe waits for its other end.
_FLAGS: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def create(path: Path) -> int:
    """Create a file that only its owner may read and write; return a descriptor to write to it.

    Raise FileExistsError if anything has the name, even a link that leads nowhere.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FLAGS, PRIVATE)
    set_mode(descriptor, PRIVATE)  # a folder's access list may have added to it
    return descriptor


def make_folder(path: Path, limits: Iterable[Access]) -> None:
    """Make a folder with the permissions that the limits and the umask allow, and its owner's."""
    with output_errors(path):
        os.mkdir(path, _OWN_FOLDER)
        mode = narrowest(limits, os.lstat(path).st_gid, _ANY_FOLDER)
        with contextlib.suppress(OSError):  # a disk without permissions
            os.chmod(path, mode | _OWN_FOLDER)


def open_ours(path: Path, flags: int = os.O_RDONLY, *, other_names: bool = False) -> int:
    """Open a file that belongs to the current user, and make it private.

    Refuse links, pipes, folders and other users' files; also files that have `other_names`, unless
    that is allowed: whoever made such a link chose which file of ours is opened. Then its
    permissions stay. Raise FileNotFoundError if there is no file.
    """
    try:
        descriptor = os.open(path, flags | _FLAGS)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):  # the latter on FreeBSD
            raise _refusal(path, "is a symbolic link") from None
        if error.errno in (errno.EISDIR, errno.ENXIO):
            raise _refusal(path, "is not a regular file") from None
        raise
    with contextlib.ExitStack() as failure:
        failure.callback(os.close, descriptor)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _refusal(path, "is not a regular file")
        if not _is_ours(status) and status.st_uid != _owner_of_new(path.parent):
            raise _refusal(path, "belongs to another user")
        if status.st_nlink > 1 and not other_names:
            raise _refusal(path, "has a second name (a hard link)")
        if not other_names:
            set_mode(descriptor, PRIVATE)  # it may have been widened
        failure.pop_all()
    return descriptor


def resolved(path: Path) -> Path:
    """Resolve the name of an output; refuse a link that belongs to another user.

    In a folder that others can write to, they choose where such a link leads.
    """
    name = path
    for _ in range(_LINKS):
        try:
            status = os.lstat(name)
        except OSError:  # nothing is there yet, or whoever opens it will say why
            break
        if not stat.S_ISLNK(status.st_mode):
            break
        if not _is_ours(status) and status.st_uid != 0:
            raise OutputError(
                f"{path} is a symbolic link of another user, who may have chosen where it leads: "
                "remove it, or choose another folder"
            )
        name = name.parent / os.readlink(name)
    return Path(os.path.realpath(path))


def set_mode(descriptor: int, mode: int) -> None:
    """Set the permissions of an open file of ours, if the system and the disk have any."""
    if not hasattr(os, "fchmod"):
        return
    try:
        os.fchmod(descriptor, mode)
    except OSError as error:
        if error.errno not in _NO_PERMISSIONS:
            raise


def _is_ours(status: os.stat_result) -> bool:
    """Return whether the current user owns a file, or the system cannot tell."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def _owner_of_new(folder: Path) -> int:
    """Return the owner of new files in a folder: some network disks give all to one user."""
    probe = folder / f".malaprop-{secrets.token_hex(8)}.probe"
    try:
        with os.fdopen(create(probe), "wb") as file:
            return os.fstat(file.fileno()).st_uid
    finally:
        probe.unlink(missing_ok=True)


def _refusal(path: Path, reason: str) -> OutputError:
    return OutputError(
        f"{path} {reason}, so it was not made by Malaprop for you: remove it, or choose another "
        "folder"
    )


# Files that are written for an output: failures in plain words, locks, what is on the disk.

_REASONS: Final = {
    errno.ENOSPC: "no space left on the disk while writing {}",
    errno.EDQUOT: "the disk quota is used up while writing {}",
    errno.EFBIG: "{} grows larger than the disk or the limits of this process allow",
    errno.EACCES: "no permission to write {}: choose another folder with `output`",
    errno.EPERM: "no permission to write {}: choose another folder with `output`",
    errno.EROFS: "{} lies on a disk that can only be read: choose another folder with `output`",
    errno.ENAMETOOLONG: "the name {} is too long: choose a shorter one",
    errno.ENOTDIR: "{} lies in something that is not a folder: choose another one with `output`",
}


@contextlib.contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """Say in plain words why an output cannot be written."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, f"cannot write {{}}: {error.strerror}")
        raise OutputError(reason.format(path)) from None


class PartialFile(io.FileIO):
    """A file whose write errors name the output that the user asked for."""

    def __init__(self, descriptor: int, path: Path, mode: str = "wb") -> None:
        super().__init__(descriptor, mode)
        self._path = path

    def write(self, data: Any, /) -> int:
        """Write data, as far as it fits."""
        with output_errors(self._path):
            return super().write(data)


def create_locked(hidden: Path, path: Path) -> int:
    """Create and lock a private file; remove one that a killed run left behind."""
    while True:
        try:
            made = create(hidden)
        except FileExistsError:
            remove_stale(hidden, path)
            continue
        try:
            lock(made, path)
        except BaseException:
            os.close(made)
            raise
        if _is_at(made, hidden):
            return made
        os.close(made)  # another run took it for a stale one before it was locked


def remove_stale(hidden: Path, path: Path) -> None:
    """Remove a file of ours that no run is writing; `path` is its output."""
    with (
        contextlib.suppress(FileNotFoundError),
        # A run that was killed as it named its output has left a second name of that.
        os.fdopen(open_ours(hidden, os.O_RDWR, other_names=True), "r+b") as file,
    ):
        lock(file.fileno(), path)
        if _is_at(file.fileno(), hidden):
            os.unlink(hidden)


def refuse_locked(hidden: Path, path: Path) -> None:
    """Refuse a file that another run is writing; `path` is its output."""
    with output_errors(path), os.fdopen(open_ours(hidden, os.O_RDWR), "r+b") as file:
        lock(file.fileno(), path)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def lock(descriptor: int, path: Path) -> None:
    """Keep other runs away until the file is closed; workers do not inherit this lock."""
    if sys.platform == "win32":
        return
    import fcntl

    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        raise OutputError(
            f"another run is at work on {path}: wait for its end, or choose another name"
        ) from None


def remove(path: Path) -> None:
    """Remove a file, if it is there."""
    with contextlib.suppress(OSError):
        os.unlink(path)


def write_through(file: BinaryIO, data: bytes) -> None:
    """Write data, and wait until it is on the disk."""
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Flush a folder's names to the disk, where the system can open a folder."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# Keys for hashes that nobody else can compare with a guess.
#
# A hash of a text confirms a guess of the whole text to whoever finds it. So every hash that
# Malaprop leaves on a disk has a key, derived from one secret of the user. The secret lies in the
# user's state folder, and never beside the hashes.
#
# >>> subkey("report")  # doctest: +SKIP
# b'...'

_SECRET_BYTES: Final = 32
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
    return hashlib.blake2b(label, key=_secret(), digest_size=_SECRET_BYTES).digest()


def digest_key() -> bytes:
    """Return the key of all digests in this user's reports."""
    return subkey("report")


def file_digest(path: str | Path) -> str:
    """Return the keyed digest of a file, as this user's reports state it.

    It needs the key in the user's state folder: another user gets another digest.
    """
    with Path(path).open("rb") as file:
        return keyed_digest(file, digest_key())


def _secret() -> bytes:
    """Read the user's secret; make one if there is none."""
    folder = state_folder()
    path = folder / "secret"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_own(folder.stat())
        if not path.exists():
            _make(path)
        # While another run makes it, it has two names; nobody else can write in this folder.
        with os.fdopen(open_ours(path, other_names=True), "rb") as file:
            set_mode(file.fileno(), PRIVATE)
            secret = file.read(_SECRET_BYTES + 1)
    except OutputError as error:
        raise SecretError(str(error)) from None
    except OSError as error:
        raise SecretError(
            f"{folder} cannot hold the key that protects hashes of your files: {error.strerror}. "
            "Name a folder of your own in MALAPROP_STATE"
        ) from None
    if len(secret) != _SECRET_BYTES:
        raise SecretError(
            f"{path} is damaged: remove it. Runs that were stopped before cannot be resumed then"
        )
    return secret


def _check_own(folder: os.stat_result) -> None:
    """Refuse a folder in which others could replace the secret."""
    if not _is_ours(folder):
        raise PermissionError(errno.EPERM, "it belongs to another user")
    if os.name == "posix" and folder.st_mode & _OTHERS_WRITE:
        raise PermissionError(errno.EPERM, "it can be written by others")


def _make(path: Path) -> None:
    """Create the secret in one step; if another run was faster, its secret stays."""
    new = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    try:
        with os.fdopen(create(new), "wb") as file:
            write_through(file, secrets.token_bytes(_SECRET_BYTES))
        try:
            os.link(new, path)  # a rename would replace the secret of another run
        except FileExistsError:
            pass
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            os.rename(new, path)
    finally:
        new.unlink(missing_ok=True)
