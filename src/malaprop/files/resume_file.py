"""The hidden file beside an output, and whether a run can be resumed."""

import json
import os
import re
import secrets
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

from malaprop.privacy.errors import OutputError
from malaprop.private_files import (
    create_locked,
    keyed_digest,
    keyed_hash,
    open_ours,
    output_errors,
    refuse_locked,
    resolved,
    subkey,
)

# The hidden file beside an output: how its lines are written, read and told from torn ones.
#
# While a run lasts, the file is a journal of what was drawn; afterwards, a short record of what the
# output was made of. Each line is a checksum, a tag and a value. A line that a crash has cut short,
# or a loss of power has mangled, fails its checksum: reading ends before it.
#
# What could tell about the input (its digest, its size, a seed) stands there only as a hash, and
# what was drawn is encrypted. The key comes from the user's secret, which is elsewhere, and a salt,
# which is drawn for each run: without the secret, the file confirms no guess.


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
        """Return the header as the first line of its file."""
        value = {
            "note": "made by malaprop; not for publication",
            "format": _FORMAT,
            "salt": self.salt,
            "proof": self.proof,
            "facts": dict(self.facts),
            "force": self.force,
            "whole": self.whole,
        }
        return line(_HEADER, json.dumps(value).encode())


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

    @property
    def whole(self) -> Stamp | None:
        """The stamp of the output that was made, if one was."""
        return self.header.whole or self.sealed


def identity(status: os.stat_result) -> tuple[int, ...]:
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
    seen = identity(os.fstat(file.fileno()))
    lines = _lines(file)
    header = _header(*next(lines, (b"", b"")))
    if header is None:
        return None
    batches: dict[int, Place] = {}
    sealed: Stamp | None = None
    end = file.tell()
    for tag, body in lines:
        if tag == _SEAL:
            sealed = _stamp(body)
        elif tag.isdigit() and len(tag) <= _DIGITS:
            batches[int(tag)] = (end, file.tell() - end)
        else:
            break
        end = file.tell()
    return ResumeFile(header=header, batches=batches, sealed=sealed, end=end, seen=seen)


def _header(tag: bytes, body: bytes) -> Header | None:
    """Read a header; return None for anything else, also for one of another version."""
    value = _json(body) if tag == _HEADER else None
    if not isinstance(value, dict) or value.get("format") != _FORMAT:
        return None
    facts, salt, proof = (value.get(name) for name in ("facts", "salt", "proof"))
    if not isinstance(facts, dict) or not isinstance(proof, str):
        return None
    if not isinstance(salt, str) or not _SALT.fullmatch(salt):
        return None
    return Header(
        facts=facts,
        salt=salt,
        proof=proof,
        force=value.get("force") is True,
        whole=_as_stamp(value.get("whole")),
    )


def _stamp(body: bytes) -> Stamp | None:
    return _as_stamp(_json(body))


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


def line(tag: bytes, body: bytes) -> bytes:
    """Return a line of the file."""
    rest = tag + b" " + body
    return b"%08x %s\n" % (zlib.crc32(rest), rest)


def seal_line(whole: Stamp) -> bytes:
    """Return the line that says that all is drawn, with the output's stamp."""
    return line(_SEAL, json.dumps(whole).encode())


def parse(written: bytes) -> tuple[bytes, bytes] | None:
    """Return tag and value of a line, or None if the line is damaged."""
    checksum, _, rest = written.partition(b" ")
    tag, blank, body = rest.partition(b" ")
    if not blank or not written.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(rest[:-1]):
        return None
    return tag, body[:-1]


def _lines(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    # Not `for line in file`, which reads ahead and so cannot tell where it is.
    while parsed := parse(file.readline()):
        yield parsed


def new_salt() -> str:
    """Return a salt for the key of one run."""
    return secrets.token_hex(_SALT_BYTES)


def run_key(salt: str) -> bytes:
    """Return the key of the run with a salt."""
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
                file.write(header.line())
                file.flush()
                os.fsync(file.fileno())
                os.replace(new, path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise


# Whether an output is still to be made, can be resumed, or is there already.


THE_INPUT = "the input"
THE_LAW = "the law of the words (which an audit of the lexicon, or a new word graph, alters)"


@dataclass(frozen=True, kw_only=True)
class ResumeState:
    """Where the work on an output starts.

    `side` is what an earlier run left to resume. `whole` says that nothing is left to do, and
    `replace` that an existing file of the output's name may be replaced.
    """

    final: Path
    side: ResumeFile | None = None
    whole: bool = False
    replace: bool = False


def start_over(path: Path, *, force: bool) -> ResumeState:
    """Return the outset of a run that starts over; `force` discards what could be resumed."""
    final = resolved(path)
    side = read_resume_file(final)
    if side and side.batches and not force and not _is_made(final, side):
        refuse_locked(side_path(final), path)  # it may still be at work
        raise OutputError(
            f"an earlier run that was to write {path} was interrupted: resume it with "
            "`resume=True`, or start over with `force=True`"
        )
    return ResumeState(final=final, replace=force)


def resume(path: Path, source: Path, settings: Mapping[str, str], *, force: bool) -> ResumeState:
    """Return the outset of a run that resumes an earlier one, if it is the same run.

    The input of a journal whose output is not yet whole is not looked at: `same_input` does.
    """
    final = resolved(path)
    side = read_resume_file(final)
    if side and _is_made(final, side):
        key = key_of(path, side.header)
        facts = {**known(settings, key), THE_INPUT: _input_as_in(side.header, source, key)}
        _refuse_changes(path, side.header, facts)
        return ResumeState(final=final, side=side, whole=True)
    if side and not side.header.whole:
        _refuse_changes(path, side.header, known(settings, key_of(path, side.header)))
        return ResumeState(final=final, side=side, replace=force or side.header.force)
    if final.exists() and not force:
        told = "has changed since it was made" if side else "is of unknown origin"
        raise OutputError(
            f"{path} exists already and {told}, so that there is nothing to resume: choose "
            "another name, or replace it with `force=True`"
        )
    return ResumeState(final=final, replace=force)


def known(settings: Mapping[str, str], key: bytes) -> dict[str, str]:
    """Return what a run depends on besides its input, as keyed hashes."""
    return {name: keyed_hash(value, key) for name, value in settings.items()}


def same_input(path: Path, header: Header, digest: str) -> None:
    """Refuse to resume with another input; `digest` is that of the input."""
    _refuse_changes(path, header, {THE_INPUT: digest})


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


def _input_as_in(header: Header, source: Path, key: bytes) -> str:
    """Return the input's hash as a header has it: a record's of its stamp, a journal's of all."""
    if header.whole:
        return keyed_hash(outside(source), key)
    with source.open("rb") as file:
        return keyed_digest(file, key)


def _is_made(final: Path, side: ResumeFile) -> bool:
    """Whether the output is the one that a run completed."""
    try:
        return side.whole is not None and stamp(final.stat()) == side.whole
    except OSError:
        return False


def _refuse_changes(path: Path, header: Header, facts: Mapping[str, str]) -> None:
    changed = [name for name, value in facts.items() if header.facts.get(name) != value]
    if len(changed) > 1:  # the law follows from the others: they say more
        changed = [name for name in changed if name != THE_LAW]
    if changed:
        raise OutputError(
            f"{path} cannot be resumed, as {_listed(changed)} changed since it was begun: "
            "set that back, or start over with `force=True` and without `resume`"
        )


def _listed(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


# What tells whether a file changed while it was read.


Sight = tuple[int, ...]
"""Which file it is, its size, and the times of its last changes."""


def file_stamp(status: os.stat_result) -> Sight:
    """Return a value that every change of a file changes.

    A program can set the size and `st_mtime` back to what they were, but not `st_ctime`.
    """
    times = status.st_mtime_ns, status.st_ctime_ns
    return status.st_dev, status.st_ino, status.st_size, *times
