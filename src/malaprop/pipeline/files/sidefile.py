"""The hidden file beside an output: how its lines are written, read and told from torn ones.

While a run lasts, the file is a journal of what was drawn; afterwards, a short record of what
the output was made of. Each line is a checksum, a tag and a JSON value. A line that a crash has
cut short, or a loss of power has mangled, fails its checksum: reading ends before it.

What could tell about the input (its digest, its size, a seed) stands there only as a hash with a
key, which is drawn for each run and stands in the same file. So the file is for its owner alone.
"""

import hashlib
import json
import os
import secrets
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from malaprop.pipeline.files.disk import refusing

_FORMAT: Final = 1
_HEADER, _SEAL = b"header", b"sealed"
_READ_BYTES: Final = 2**20

Stamp = tuple[int, int]
"""Size and time of change of a file."""
Place = tuple[int, int]
"""Where a line begins, and its length."""


def side_path(final: Path) -> Path:
    """Where the file beside an output lies."""
    return final.with_name(f".{final.name}.malaprop")


def stamp(found: os.stat_result) -> Stamp:
    """Size and time of change."""
    return found.st_size, found.st_mtime_ns


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a run is about.

    `facts` are the hashes of what its output depends on, by name; `whole` is the stamp of the
    output in a record, which has nothing but this header.
    """

    facts: Mapping[str, str]
    key: str
    force: bool = False
    whole: Stamp | None = None

    def line(self) -> bytes:
        """The header as the first line of its file."""
        value = {
            "note": "made by malaprop privatize; not for publication",
            "format": _FORMAT,
            "key": self.key,
            "facts": dict(self.facts),
            "force": self.force,
            "whole": self.whole,
        }
        return line(_HEADER, value)


@dataclass(frozen=True, kw_only=True)
class Side:
    """What stands in the file beside an output: the header, where each batch begins, the end."""

    header: Header
    batches: Mapping[int, Place]
    sealed: Stamp | None
    end: int

    @property
    def whole(self) -> Stamp | None:
        """The stamp of the output that was made, if one was."""
        return self.header.whole or self.sealed


def look(final: Path) -> Side | None:
    """What stands beside an output, if anything does that can be read."""
    path = side_path(final)
    with refusing(path):
        try:
            with path.open("rb") as file:
                return _read(file)
        except FileNotFoundError:
            return None


def _read(file: BinaryIO) -> Side | None:
    header: Header | None = None
    batches: dict[int, Place] = {}
    sealed: Stamp | None = None
    end = 0
    for tag, body in _lines(file):
        if header is None:
            header = _header(tag, body)
            if header is None:
                return None
        elif tag == _SEAL:
            sealed = _stamp(json.loads(body))
        else:
            batches[int(tag)] = (end, file.tell() - end)
        end = file.tell()
    if header is None:
        return None
    return Side(header=header, batches=batches, sealed=sealed, end=end)


def _header(tag: bytes, body: bytes) -> Header | None:
    value = json.loads(body) if tag == _HEADER else {}
    if value.get("format") != _FORMAT:
        return None
    return Header(
        facts=value["facts"],
        key=value["key"],
        force=value["force"],
        whole=_stamp(value["whole"]),
    )


def _stamp(value: list[int] | None) -> Stamp | None:
    return (value[0], value[1]) if value else None


def line(tag: bytes, value: Any, *, ascii_only: bool = False) -> bytes:
    """A line of the file; with `ascii_only`, for a value whose texts are, in half the time."""
    text = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    rest = tag + b" " + text.encode("utf-8", "surrogatepass")
    return b"%08x %s\n" % (zlib.crc32(rest), rest)


def seal_line(whole: Stamp) -> bytes:
    """The line that says that all is drawn, and what the output's stamp is."""
    return line(_SEAL, whole)


def parse(written: bytes) -> tuple[bytes, bytes] | None:
    """The tag of a line and its value in JSON, if the line is as it was written."""
    checksum, _, rest = written.partition(b" ")
    tag, blank, body = rest.partition(b" ")
    if not blank or not written.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(rest[:-1]):
        return None
    return tag, body[:-1]


def _lines(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    # Not `for line in file`, which reads ahead and so cannot tell where it is.
    while found := parse(file.readline()):
        yield found


def new_key() -> str:
    """A key for the hashes of one run."""
    return secrets.token_hex(32)


def hashed(value: str, key: str) -> str:
    """A hash that only somebody who knows the key can compare with a guess."""
    encoded = value.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(encoded, key=bytes.fromhex(key), digest_size=16).hexdigest()


def digest(source: BinaryIO, key: str, progress: Callable[[int], None]) -> str:
    """The same for all that is in a file."""
    found = hashlib.blake2b(key=bytes.fromhex(key), digest_size=16)
    done = 0
    while chunk := source.read(_READ_BYTES):
        found.update(chunk)
        done += len(chunk)
        progress(done)
    return found.hexdigest()


def write_record(final: Path, header: Header) -> None:
    """Put a record in the place of whatever stands beside an output."""
    path = side_path(final)
    new = path.with_name(f"{path.name}-new")
    with refusing(path):
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(header.line())
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise
