"""Whether an output is still to be made, can be resumed, or is there already."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from malaprop.core.errors import OutputError
from malaprop.pipeline.outputs.cipher import keyed_digest, keyed_hash
from malaprop.pipeline.outputs.disk import refuse_locked
from malaprop.pipeline.outputs.owned import resolved
from malaprop.pipeline.outputs.sidefile import (
    Header,
    Side,
    key_of,
    look,
    side_path,
    stamp,
)

THE_INPUT = "the input"
THE_LAW = "the law of the words (which an audit of the lexicon, or a new word graph, alters)"


@dataclass(frozen=True, kw_only=True)
class Outset:
    """Where the work on an output starts.

    `side` is what an earlier run left to resume. `whole` says that nothing is left to do, and
    `replace` that an existing file of the output's name may be replaced.
    """

    final: Path
    side: Side | None = None
    whole: bool = False
    replace: bool = False


def start_over(path: Path, *, force: bool) -> Outset:
    """Return the outset of a run that starts over; `force` discards what could be resumed."""
    final = resolved(path)
    side = look(final)
    if side and side.batches and not force and not _is_made(final, side):
        refuse_locked(side_path(final), path)  # it may still be at work
        raise OutputError(
            f"an earlier run that was to write {path} was interrupted: resume it with "
            "`resume=True`, or start over with `force=True`"
        )
    return Outset(final=final, replace=force)


def go_on(path: Path, source: Path, settings: Mapping[str, str], *, force: bool) -> Outset:
    """Return the outset of a run that resumes an earlier one, if it is the same run.

    The input of a journal whose output is not yet whole is not looked at: `same_input` does.
    """
    final = resolved(path)
    side = look(final)
    if side and _is_made(final, side):
        key = key_of(path, side.header)
        facts = {**known(settings, key), THE_INPUT: _input_as_in(side.header, source, key)}
        _refuse_changes(path, side.header, facts)
        return Outset(final=final, side=side, whole=True)
    if side and not side.header.whole:
        _refuse_changes(path, side.header, known(settings, key_of(path, side.header)))
        return Outset(final=final, side=side, replace=force or side.header.force)
    if final.exists() and not force:
        told = "has changed since it was made" if side else "is of unknown origin"
        raise OutputError(
            f"{path} exists already and {told}, so that there is nothing to resume: choose "
            "another name, or replace it with `force=True`"
        )
    return Outset(final=final, replace=force)


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


def _is_made(final: Path, side: Side) -> bool:
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
