"""An output from what an earlier run left of it to the record that it is complete."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from malaprop._version import __version__
from malaprop.core.errors import InputChangedError, ParameterError
from malaprop.jobs.job import PIPE, FileJob, Job
from malaprop.pipeline.formats import Layout
from malaprop.pipeline.formats.copying import BATCH_RULES
from malaprop.pipeline.outputs import journal as journals
from malaprop.pipeline.outputs.access import Access, status_of
from malaprop.pipeline.outputs.cipher import keyed_digest
from malaprop.pipeline.outputs.journal import Journal
from malaprop.pipeline.outputs.resuming import (
    THE_INPUT,
    THE_LAW,
    Outset,
    go_on,
    known,
    outside,
    record_of,
    same_input,
    start_over,
)
from malaprop.pipeline.outputs.sidefile import (
    Header,
    Stamp,
    key_of,
    new_salt,
    proof_of,
    run_key,
    stamp,
    write_record,
)
from malaprop.pipeline.outputs.staging import Staging
from malaprop.pipeline.outputs.watching import Sight, sight
from malaprop.pipeline.privatizer import Privatizer

JobT = TypeVar("JobT", bound=FileJob)


@dataclass
class Output(Generic[JobT]):
    """The output of one job. What goes through a pipe has no journal and cannot be resumed."""

    job: JobT
    number: int
    target: BinaryIO | None = None
    journal: Journal | None = None
    _outset: Outset | None = None
    _header: Header | None = None
    _kept: bool = False
    _key: bytes = b""
    _seen: str = ""  # of the input, before it was read
    _sight: Sight | None = None  # the same, in finer grain

    @property
    def path(self) -> Path:
        """The output's name."""
        return Path(self.job.target)

    @property
    def whole(self) -> bool:
        """Whether the output is complete already."""
        return self._outset is not None and self._outset.whole

    def claim(self, stage: Staging, limits: Sequence[Access], *, force: bool) -> None:
        """Open the output for a run that starts at the beginning."""
        if self.job.lasting:
            self._outset = start_over(self.path, force=force)
        self.target = self.job.open_target(stage, limits, force=force)

    def reclaim(
        self,
        stage: Staging,
        limits: Sequence[Access],
        settings: dict[str, str],
        *,
        force: bool,
    ) -> None:
        """Open the output for a run that resumes an earlier one."""
        self._seen = outside(Path(self.job.source))
        self._outset = go_on(self.path, Path(self.job.source), settings, force=force)
        if not self.whole:
            self.target = self.job.open_target(stage, limits, force=self._outset.replace)

    def watch(self) -> None:
        """Look at the input before it is read."""
        self._sight = self.job.sight()

    def check_input(self, source: BinaryIO | None = None) -> None:
        """Refuse an input that has changed since `watch`: what was read would mix two states of it.

        `source` is the open input; without it, the file of that name is checked.
        """
        status = status_of(source) if source else self.job.status()
        if self._sight != (status and sight(status)):
            name = "standard input" if self.job.source == PIPE else self.job.source
            raise InputChangedError(
                f"{name} changed while it was read: start over with `force=True` when nothing "
                "writes to it. `resume=True` continues only if its content is what it was"
            )

    def begin(
        self, settings: dict[str, str], progress: Callable[[int], None], *, keep: bool
    ) -> None:
        """Open the journal if draws must be kept; refuse to resume with another input."""
        if not self.job.lasting or self._outset is None:
            return
        self._seen = outside(Path(self.job.source))
        side = self._outset.side
        salt = side.header.salt if side else new_salt()
        self._key = key = run_key(salt)
        facts = known(settings, key)
        if side or keep:
            with self.job.open_source() as source:
                facts[THE_INPUT] = keyed_digest(source, key, progress)
        if side:
            same_input(self.path, side.header, facts[THE_INPUT])
        self._header = Header(
            facts=facts, salt=salt, proof=proof_of(key), force=self._outset.replace
        )
        if side or keep:
            self.journal = Journal(self.path, self._outset.final, self._header, key, side)

    def seal(self, stamps: dict[Path, Stamp]) -> None:
        """Record, before the output gets its name, its stamp when it is whole."""
        if self._header is None or self._outset is None:
            return
        if self._kept:
            journals.seal(self.path, self._outset.final, stamps[self.path])
        else:
            record = record_of(self._header, self._key, self._seen, stamps[self.path])
            write_record(self._outset.final, record)

    def conclude(self) -> None:
        """Replace the journal of a whole output by a record."""
        if self._outset is None:
            return
        side = self._outset.side
        header = side.header if self.whole and side and side.batches else self._header
        if header:
            key = key_of(self.path, header)
            whole = stamp(self._outset.final.stat())
            write_record(self._outset.final, record_of(header, key, self._seen, whole))

    def close(self) -> bool:
        """Close the journal; return whether it holds something to resume."""
        if self.journal is not None:
            self._kept = bool(len(self.journal))
            self.journal.close()
        return self._kept


def check_resumable(jobs: list[Job]) -> None:
    """Refuse to resume what comes or goes through a pipe: it leaves no trace."""
    for job in jobs:
        if not job.lasting:
            raise ParameterError(
                "only files can be resumed, not what comes or goes through a pipe: name a file on "
                "both sides, or leave out `resume`"
            )


def settings_of(
    privatizer: Privatizer, layout: Layout, seed: int | None, number: int
) -> dict[str, str]:
    """Return what an output depends on besides its input, by names that a message can use.

    `on_error` is not included: the texts that are drawn do not depend on it.
    """
    shape = {name: value for name, value in asdict(layout).items() if name != "on_error"}
    return {
        "the version of Malaprop": f"{__version__} {BATCH_RULES}",
        "the lexicon": privatizer.lexicon.fingerprint,
        "the mechanism or its parameters": _text(privatizer.mechanism.to_dict()),
        THE_LAW: _text([_short(fact) for fact in privatizer.channel.drawn_by]),
        "the treatment of texts": _text(_treatment(privatizer)),
        "the columns, the format or the encoding": _text(shape),
        "the seed": "none" if seed is None else f"{seed} {number}",
    }


def _treatment(privatizer: Privatizer) -> dict[str, object]:
    """Return the policy; an ε of values that is the mechanism's own is named there already."""
    policy = privatizer.policy.to_dict()
    if policy.get("kind_epsilon") == privatizer.channel.guarantee.epsilon:
        del policy["kind_epsilon"]
    return policy


def _short(fact: object) -> object:
    """Round a number to nine digits: another processor may compute other last digits."""
    return f"{fact:.9g}" if isinstance(fact, float) else fact


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=repr)
