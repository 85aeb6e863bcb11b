"""The hidden file beside an output: what was drawn, kept so that it is never redrawn.

While a run lasts, the file is a journal of what was drawn; afterwards, a short record of what the
output was made of. Each line is a checksum, a tag and a value. A line that a crash has cut short,
or a loss of power has mangled, fails its checksum: reading ends before it.

What could tell about the input (its digest, its size, a seed) stands there only as a hash, and
what was drawn is encrypted. The key comes from the user's secret, which is elsewhere, and a salt,
which is drawn for each run: without the secret, the file confirms no guess.
"""

import contextlib
import json
import os
import re
import secrets
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import BinaryIO, Final, NamedTuple

from malaprop.privacy.errors import OutputError
from malaprop.private_files import (
    PartialFile,
    create_locked,
    decrypted,
    encrypted,
    keyed_hash,
    lock,
    open_ours,
    output_errors,
    remove,
    subkey,
    sync_folder,
    write_through,
)

_FORMAT: Final = 2
_HEADER, _SEAL = b"header", b"sealed"
_SALT_BYTES: Final = 16
_SALT: Final = re.compile(r"[0-9a-f]{32}")
_DIGITS: Final = 15  # of the number of a batch

Stamp = tuple[int, int]
"""Size and time of change of a file."""
Place = tuple[int, int]
"""Where a line begins, and its length."""


def side_path(final: Path) -> Path:
    """Return the path of the file beside an output."""
    return final.with_name(f".{final.name}.malaprop")


def new_side_path(final: Path) -> Path:
    """Return the path of a record until it is whole."""
    return final.with_name(f".{final.name}.malaprop-new")


def stamp(status: os.stat_result) -> Stamp:
    """Return size and time of change."""
    return status.st_size, status.st_mtime_ns


@dataclass(frozen=True, kw_only=True)
class Header:
    """Identifies a run.

    `facts` are the hashes of what its output depends on, by name; `proof` tells the key again that
    they were made with; `whole` is the stamp of the output in a record, which has nothing but this
    header.
    """

    facts: Mapping[str, str]
    salt: str
    proof: str
    force: bool = False
    whole: Stamp | None = None

    def line(self) -> bytes:
        value = {
            "note": "made by malaprop; not for publication",
            "format": _FORMAT,
            **asdict(self),
        }
        return _line(_HEADER, json.dumps(value).encode())


@dataclass(frozen=True, kw_only=True)
class ResumeFile:
    """The content of the file beside an output: header, places of batches, end.

    `seen` tells whether the file is still the one that was read.
    """

    header: Header
    batches: Mapping[int, Place]
    sealed: Stamp | None
    end: int
    seen: tuple[int, ...]

    def made(self, final: Path) -> bool:
        """Whether the output is the one that the run completed."""
        whole = self.header.whole or self.sealed
        try:
            return whole is not None and stamp(final.stat()) == whole
        except OSError:
            return False


def _identity(status: os.stat_result) -> tuple[int, ...]:
    """Return what identifies a file and its state: it changes with every write."""
    return status.st_dev, status.st_ino, *stamp(status)


def read_resume_file(final: Path) -> ResumeFile | None:
    """Read the file beside an output, if there is one; refuse one that is not ours."""
    path = side_path(final)
    with output_errors(path):
        try:
            with os.fdopen(open_ours(path), "rb") as file:
                return _read(file)
        except FileNotFoundError:
            return None


def _read(file: BinaryIO) -> ResumeFile | None:
    seen = _identity(os.fstat(file.fileno()))
    header = _header(*(_parse(file.readline()) or (b"", b"")))
    if header is None:
        return None
    batches: dict[int, Place] = {}
    sealed: Stamp | None = None
    end = file.tell()
    # Not `for line in file`, which reads ahead and so cannot tell where it is.
    while parsed := _parse(file.readline()):
        tag, body = parsed
        if tag == _SEAL:
            sealed = _as_stamp(_json(body))
        elif tag.isdigit() and len(tag) <= _DIGITS:
            batches[int(tag)] = (end, file.tell() - end)
        else:
            break
        end = file.tell()
    return ResumeFile(header=header, batches=batches, sealed=sealed, end=end, seen=seen)


def _header(tag: bytes, body: bytes) -> Header | None:
    """Read a header; return None for anything else, also for one of another version."""
    match _json(body) if tag == _HEADER else None:
        case {
            "format": format_,
            "facts": dict(facts),
            "salt": str(salt),
            "proof": str(proof),
            **rest,
        } if format_ == _FORMAT and _SALT.fullmatch(salt):
            force, whole = rest.get("force") is True, _as_stamp(rest.get("whole"))
            return Header(facts=facts, salt=salt, proof=proof, force=force, whole=whole)
    return None


def _as_stamp(value: object) -> Stamp | None:
    match value:
        case [int(size), int(changed)]:
            return size, changed
        case _:
            return None


def _json(body: bytes) -> object:
    """Read JSON, or return None: a checksum shows accidents, not forgeries."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _line(tag: bytes, body: bytes) -> bytes:
    rest = tag + b" " + body
    return b"%08x %s\n" % (zlib.crc32(rest), rest)


def _parse(written: bytes) -> tuple[bytes, bytes] | None:
    """Return tag and value of a line, or None if the line is damaged."""
    checksum, _, rest = written.partition(b" ")
    tag, blank, body = rest.partition(b" ")
    if not blank or not written.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(rest[:-1]):
        return None
    return tag, body[:-1]


def new_salt() -> str:
    return secrets.token_hex(_SALT_BYTES)


def run_key(salt: str) -> bytes:
    return subkey("journal", salt)


def proof_of(key: bytes) -> str:
    """Return a hash that identifies a key."""
    return keyed_hash("the key of this run", key)


def key_of(path: Path, header: Header) -> bytes:
    """Return the key that a header was made with; `path` is its output."""
    key = run_key(header.salt)
    if proof_of(key) != header.proof:
        raise OutputError(
            f"{path} cannot be resumed, as the secret in your state folder is not the one that it "
            "was begun with: set MALAPROP_STATE as it was then, or start over with `force=True` "
            "and without `resume`"
        )
    return key


def write_record(final: Path, header: Header) -> None:
    """Replace the file beside an output by a record."""
    path, new = side_path(final), new_side_path(final)
    with output_errors(path):
        descriptor = create_locked(new, path)
        try:
            with os.fdopen(descriptor, "wb") as file:
                write_through(file, header.line())
                os.replace(new, path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise


# What an output depends on, and whether that is still what it was.

THE_INPUT = "the input"
THE_LAW = "the law of the words (which an audit of the lexicon, or a new word graph, alters)"


def known(settings: Mapping[str, str], key: bytes) -> dict[str, str]:
    """Return what a run depends on besides its input, as keyed hashes."""
    return {name: keyed_hash(value, key) for name, value in settings.items()}


def record_of(header: Header, key: bytes, seen: str, whole: tuple[int, int]) -> Header:
    """Return the record of a whole output; `seen` is what `outside` returned before the run.

    Without a digest of the input: whoever gets hold of the key, too, could compare it with a guess.
    """
    facts = {**header.facts, THE_INPUT: keyed_hash(seen, key)}
    return replace(header, facts=facts, force=False, whole=whole)


def outside(source: Path) -> str:
    """Return what can be seen of an input without reading it: size and time of change.

    To be looked at before the input is read: what changes on the way is then seen afterwards.
    """
    return repr(stamp(source.stat()))


def refuse_changes(path: Path, header: Header, facts: Mapping[str, str]) -> None:
    """Refuse to resume a run of which some facts are not those of its header."""
    changed = [name for name, value in facts.items() if header.facts.get(name) != value]
    if len(changed) > 1:  # the law follows from the others: they say more
        changed = [name for name in changed if name != THE_LAW]
    if changed:
        *first, last = changed
        listed = f"{', '.join(first)} and {last}" if first else last
        raise OutputError(
            f"{path} cannot be resumed, as {listed} changed since it was begun: "
            "set that back, or start over with `force=True` and without `resume`"
        )


# What a power failure destroys was never seen, so it may be redrawn: not every batch has to wait
# for the disk.
_SYNC_SECONDS: Final = 1.0


class Drawn(NamedTuple):
    """The private texts of a batch, and how their tokens were treated.

    None is a text that was not drawn, as a limit refused it.
    """

    texts: list[str | None]
    counts: dict[str, int]


class Journal:
    """The journal of one output. `path` is the output's name as the user gave it.

    With a `side`, the journal of the run that left it. Otherwise a new one, which replaces any file
    of that name beside the output. With `empty`, it is kept even if no batch was drawn.
    """

    def __init__(
        self,
        path: Path,
        final: Path,
        header: Header,
        key: bytes,
        side: ResumeFile | None = None,
        *,
        empty: bool = False,
    ) -> None:
        self._path, self._final, self._key, self._empty = path, final, key, empty
        self._places: dict[int, Place] = dict(side.batches) if side else {}
        with output_errors(path):
            descriptor = self._reopened(side) if side else create_locked(side_path(final), path)
            self._file: BinaryIO = PartialFile(descriptor, path, "r+b")
            with contextlib.ExitStack() as failure:
                failure.callback(self._file.close)
                self._file.truncate(side.end if side else 0)
                self._file.seek(0, os.SEEK_END)
                if side is None:
                    self._append(header.line())
                self._sync()
                sync_folder(final.parent)
                failure.pop_all()

    def _reopened(self, side: ResumeFile) -> int:
        """Open the journal that was read before, if it has not been written to since."""
        descriptor = open_ours(side_path(self._final), os.O_RDWR)
        with contextlib.ExitStack() as failure:
            failure.callback(os.close, descriptor)
            lock(descriptor, self._path)
            if _identity(os.fstat(descriptor)) != side.seen:
                raise self._changed()
            failure.pop_all()
        return descriptor

    def _changed(self) -> OutputError:
        return OutputError(
            f"{side_path(self._final)} was changed by another program: run it again with "
            "`resume=True`, or start over with `force=True` and without `resume`"
        )

    def __contains__(self, number: int) -> bool:
        return number in self._places

    def __len__(self) -> int:
        return len(self._places)

    def recall(self, number: int, texts: list[str]) -> Drawn:
        """Return what was drawn for a batch; refuse it if it was drawn for other texts."""
        with output_errors(self._path):
            place, length = self._places[number]
            self._file.seek(place)
            parsed = _parse(self._file.read(length))
            self._file.seek(0, os.SEEK_END)
        if parsed is None:
            raise self._changed()
        try:
            body = decrypted(parsed[1], self._key).decode("utf-8", "surrogatepass")
        except ValueError:
            raise self._changed() from None
        private, counts, origin = json.loads(body)
        if origin != self._origin(texts):
            raise OutputError(
                f"{self._path} cannot be resumed, as the input changed while an earlier run read "
                "it: start over with `force=True` and without `resume`"
            )
        return Drawn(private, counts)

    def keep(self, number: int, texts: list[str], drawn: Drawn) -> None:
        value = (*drawn, self._origin(texts))
        # This halves the time for ASCII texts.
        ascii_only = all(text is None or text.isascii() for text in drawn.texts)
        body = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
        encoded = encrypted(body.encode("utf-8", "surrogatepass"), self._key)
        self._places[number] = self._append(_line(b"%d" % number, encoded))
        if monotonic() - self._synced >= _SYNC_SECONDS:
            self._sync()

    def close(self) -> None:
        """Close the journal; remove one without a batch, unless its run may have debited one."""
        if self._file.closed:
            return
        if not self._places and not self._empty:
            remove(side_path(self._final))
        with contextlib.suppress(OSError):
            self._file.close()

    def _origin(self, texts: list[str]) -> str:
        """Return the hash of the texts that a batch is drawn for.

        The digest in the header is that of the input before it was read: it may have changed then.
        """
        return keyed_hash("\0".join([str(len(texts)), *texts]), self._key)

    def _append(self, data: bytes) -> Place:
        """Append data; if the disk is full, remove what was written of it."""
        place = self._file.tell()
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except BaseException:
            with contextlib.suppress(OSError):
                self._file.truncate(place)
                self._file.seek(place)
            raise
        return place, len(data)

    def _sync(self) -> None:
        with output_errors(self._path):
            os.fsync(self._file.fileno())
        self._synced = monotonic()


def seal(path: Path, final: Path, whole: Stamp) -> None:
    """Record, before an output gets its name, that all is drawn, and its stamp."""
    flags = os.O_WRONLY | os.O_APPEND
    with output_errors(path), os.fdopen(open_ours(side_path(final), flags), "ab") as file:
        write_through(file, _line(_SEAL, json.dumps(whole).encode()))
