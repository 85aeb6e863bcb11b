"""The report of a run over files, as a value: what was protected, how, and what stays visible.

`terminal`, `markdown` and `written` render it. It is for the owner of the text: its counts depend
on the input in ways that the guarantee does not cover, so it says of itself that it is not for
publication.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from malaprop._version import __version__
from malaprop.core.guarantee import Guarantee
from malaprop.pipeline.formats import Layout
from malaprop.pipeline.keeping import Keeping
from malaprop.pipeline.privatizer import Privatizer
from malaprop.pipeline.rewriting import FileCounts
from malaprop.report.phrases import counted
from malaprop.report.secrets import without_passwords

AUDIENCE = (
    "For the owner of the text, not for publication: the counts depend on the input in ways that "
    "the guarantee does not cover."
)


@dataclass(frozen=True, kw_only=True)
class FileRecord:
    """One input and what became of it.

    The digests are keyed hashes of all that was read and written, if they were asked for.
    """

    input: str
    output: str
    layout: Layout
    counts: FileCounts
    input_digest: str | None = None
    output_digest: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The record as plain values."""
        return {
            "input": without_passwords(self.input),
            "output": without_passwords(self.output),
            "input_digest": self.input_digest,
            "output_digest": self.output_digest,
            "format": self.layout.format,
            "protected_columns": list(self.layout.columns),
            "unprotected_columns": list(self.counts.other_columns),
            "records": self.counts.records,
            "texts": self.counts.cells,
            "records_without_the_column": self.counts.missing,
            "on_error": self.layout.on_error,
            "faulty_records": self.counts.faulty,
            "faults": [fault._asdict() for fault in self.counts.faults],
        }

    @property
    def fault_warning(self) -> str:
        """What a user should know of records that could not be processed; never what they held."""
        if not self.counts.faulty:
            return ""
        done = "left out" if self.layout.on_error == "skip" else "texts masked"
        records = counted(self.counts.faulty, "record")
        return f"{records} of {without_passwords(self.input)} could not be processed: {done}"


@dataclass(frozen=True, kw_only=True)
class Occasion:
    """When and how a run was made. `command` is what was typed: file names and options."""

    started: datetime
    seconds: float
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class LexiconFacts:
    """What identifies a lexicon."""

    name: str
    words: int
    dimension: int
    metric: str
    fingerprint: str


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """All that is to be said of a run."""

    occasion: Occasion
    guarantee: Guarantee
    randomness: str
    keeping: Keeping
    cautions: tuple[str, ...]
    """What was to be known before the work."""
    hint: str
    counts: Mapping[str, int]
    visible: tuple[str, ...]
    files: tuple[FileRecord, ...]
    mechanism: Mapping[str, Any]
    policy: Mapping[str, str]
    lexicon: LexiconFacts
    engine: Mapping[str, Any] = field(default_factory=dict)
    version: str = __version__

    @property
    def findings(self) -> tuple[str, ...]:
        """What a user should know of what was found in the texts and files; never what it was."""
        found = [_wordless(self.counts.get("wordless", 0))]
        return tuple(filter(None, [*found, *(file.fault_warning for file in self.files)]))

    @property
    def warnings(self) -> tuple[str, ...]:
        """All that a user should know."""
        return self.cautions + self.findings

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values that JSON can hold."""
        return {
            "audience": AUDIENCE,
            "malaprop": self.version,
            "date": self.occasion.started.isoformat(timespec="seconds"),
            "seconds": round(self.occasion.seconds, 3),
            "command": self.occasion.command,
            "guarantee": self.guarantee.to_dict(),
            "randomness": self.randomness,
            "expected_share_unchanged": round(self.keeping.share, 4),
            "warnings": list(self.warnings),
            "hint": self.hint,
            "counts": dict(self.counts),
            "visible": list(self.visible),
            "files": [file.to_dict() for file in self.files],
            "mechanism": dict(self.mechanism),
            "policy": dict(self.policy),
            "lexicon": vars(self.lexicon).copy(),
            **({"engine": dict(self.engine)} if self.engine else {}),
        }


def run_report(
    privatizer: Privatizer,
    files: Sequence[FileRecord],
    counts: Mapping[str, int],
    occasion: Occasion,
    *,
    cautions: Sequence[str] = (),
    engine: Mapping[str, Any] | None = None,
) -> RunReport:
    """Gather the report of a run; `cautions` are further ones than the privatizer's."""
    lexicon = privatizer.lexicon
    return RunReport(
        occasion=occasion,
        guarantee=privatizer.guarantee,
        randomness=privatizer.randomness,
        keeping=privatizer.keeping,
        cautions=(*privatizer.warnings, *cautions),
        hint=privatizer.channel.hint,
        counts=dict(counts),
        visible=visible(privatizer),
        files=tuple(files),
        mechanism=privatizer.mechanism.to_dict(),
        policy=privatizer.policy.to_dict(),
        lexicon=LexiconFacts(
            name=lexicon.name,
            words=len(lexicon),
            dimension=lexicon.vectors.shape[1],
            metric=str(lexicon.metric),
            fingerprint=lexicon.fingerprint,
        ),
        engine=engine or {},
    )


def visible(privatizer: Privatizer) -> tuple[str, ...]:
    """What anybody can still see in the private text, outside the guarantee."""
    shown = ["how many words there are, and in which places"]
    kept = privatizer.policy.punctuation == "keep"
    shown.append("punctuation and spacing" if kept else "line breaks between words")
    if privatizer.policy.unknown == "mask":
        shown.append("which words are not in the lexicon (masked)")
    if privatizer.policy.unknown == "keep":
        shown.append("the words that are not in the lexicon, as they are")
    return tuple(shown)


def _wordless(texts: int) -> str:
    if not texts:
        return ""
    has, its = ("has", "its") if texts == 1 else ("have", "their")
    return (
        f"NOTHING IS PROMISED for {counted(texts, 'text')} that {has} no words: {its} signs are "
        "shown as they are. Use --punctuation drop, or leave such texts out"
    )
