"""The report of a run over files, as a value: what was protected, how, and what stays visible.

`malaprop.report` renders it. It is for the owner of the text: its counts depend on the input in
ways that the guarantee does not cover, so it says of itself that it is not for publication.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from time import monotonic
from typing import Any

from malaprop._version import __version__
from malaprop.core import html
from malaprop.core.guarantee import Guarantee
from malaprop.pipeline.counting import common_words
from malaprop.pipeline.formats import Layout
from malaprop.pipeline.guessing import Guessed
from malaprop.pipeline.keeping import Keeping
from malaprop.pipeline.passwords import without_passwords
from malaprop.pipeline.privatizer import Privatizer
from malaprop.pipeline.promising import declared_public
from malaprop.pipeline.recovering import recovered_shares
from malaprop.pipeline.repetition import MANY, Repetition, split_repeats
from malaprop.pipeline.rewriting import FileCounts

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
        """Return the record as plain values."""
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
        """A warning of records that could not be processed, without their content."""
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


@dataclass(frozen=True)
class Clock:
    """Tells when a run started, and how long it took so far. `command` is what was typed."""

    command: str = ""
    _date: datetime = field(default_factory=lambda: datetime.now(UTC))
    _since: float = field(default_factory=monotonic)

    def occasion(self) -> Occasion:
        """Return when and how the run was made, up to now."""
        return Occasion(
            started=self._date,
            seconds=monotonic() - self._since,
            command=without_passwords(self.command),
        )


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
    """What `privatize_files` did: guarantee, counts, what stays visible, and each file.

    `malaprop.report` renders it for a terminal, as Markdown and as JSON. Not for publication: the
    counts depend on the input in ways that the guarantee does not cover.
    """

    occasion: Occasion
    guarantee: Guarantee
    randomness: str
    keeping: Keeping
    guess: Callable[[], Guessed] = field(repr=False, compare=False)
    """Computes the share of words that an observer without context guesses right: see `guessed`."""
    cautions: tuple[str, ...]
    """What the user should know before the work."""
    hint: str
    counts: Mapping[str, int]
    visible: tuple[str, ...]
    files: tuple[FileRecord, ...]
    mechanism: Mapping[str, Any]
    policy: Mapping[str, Any]
    lexicon: LexiconFacts
    repetition: Repetition
    engine: Mapping[str, Any] = field(default_factory=dict)
    already: tuple[str, ...] = ()
    """Outputs that an earlier run had completed: nothing was done for them."""
    version: str = __version__

    @cached_property
    def guessed(self) -> Guessed:
        """The share of words that an observer without context guesses right.

        It is computed when a rendering first asks for it, so that a run that shows no report does
        not wait for it.
        """
        return self.guess()

    @property
    def findings(self) -> tuple[str, ...]:
        """Warnings about what the texts and files held, without their content."""
        wordless = _wordless(self.counts.get("wordless", 0))
        return tuple(filter(None, [wordless, *(file.fault_warning for file in self.files)]))

    @property
    def warnings(self) -> tuple[str, ...]:
        """All warnings: those before the work and those after it."""
        return self.cautions + self.findings

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values for JSON."""
        return {
            "audience": AUDIENCE,
            "malaprop": self.version,
            "date": self.occasion.started.isoformat(timespec="seconds"),
            "seconds": round(self.occasion.seconds, 3),
            "command": self.occasion.command,
            "guarantee": self.guarantee.to_dict(),
            "randomness": self.randomness,
            "expected_share_unchanged": round(self.keeping.share, 4),
            "expected_share_guessed": round(self.guessed.share, 4),
            "guessed_at_least": self.guessed.at_least,
            "warnings": list(self.warnings),
            "hint": self.hint,
            "counts": dict(self.counts),
            "repetition": self.repetition.to_dict(),
            "visible": list(self.visible),
            "files": [file.to_dict() for file in self.files],
            "mechanism": dict(self.mechanism),
            "policy": dict(self.policy),
            "lexicon": vars(self.lexicon).copy(),
            **({"engine": dict(self.engine)} if self.engine else {}),
        }

    def _repr_html_(self) -> str:
        """Return the main facts for a notebook; `malaprop.report` renders the whole report."""
        words = counted(self.counts.get("protected", 0), "word")
        rows = [
            ("Guarantee", str(self.guarantee)),
            ("Randomness", self.randomness),
            ("Drawn", words),
            ("Unchanged", f"{self.keeping.share:.0%} of words, expected over the lexicon"),
            (
                "Guessed right",
                f"{self.guessed} of single words, without context, all words being equally likely",
            ),
            ("Visible", "; ".join(self.visible)),
            *(("File", _file_line(file)) for file in self.files),
            *(("Already there", without_passwords(name)) for name in self.already),
        ]
        warned = (html.paragraph(f"Warning: {text}.", bold=True) for text in self.warnings)
        return html.paragraph(AUDIENCE) + "".join(warned) + html.facts(rows)


def _file_line(file: FileRecord) -> str:
    names = f"{without_passwords(file.input)} → {without_passwords(file.output)}"
    return f"{names}: {counted(file.counts.records, 'record')}"


def run_report(
    privatizer: Privatizer,
    files: Sequence[FileRecord],
    counts: Mapping[str, int],
    occasion: Occasion,
    *,
    cautions: Sequence[str] = (),
    engine: Mapping[str, Any] | None = None,
    already: Sequence[str] = (),
) -> RunReport:
    """Build the report of a run; `cautions` are added to the privatizer's warnings."""
    lexicon = privatizer.lexicon
    treated, repeats = split_repeats(counts)
    return RunReport(
        occasion=occasion,
        guarantee=privatizer.guarantee,
        randomness=privatizer.randomness,
        keeping=privatizer.keeping,
        guess=partial(getattr, privatizer, "guessed"),
        cautions=(*privatizer.warnings, *cautions),
        hint=privatizer.channel.hint,
        counts=treated,
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
        repetition=repetition_of(privatizer, repeats),
        engine=engine or {},
        already=tuple(already),
    )


_DRAWS = (3, 5, 10)  # for which the share of recovered words is given


def repetition_of(privatizer: Privatizer, repeats: Mapping[int, int]) -> Repetition:
    """Return how often content words occur in a text, and what as many draws of a word tell.

    `repeats` says how many texts have a content word that often. Equal words that share one draw
    are not drawn several times: then there is nothing to tell.
    """
    most = max(repeats, default=0)
    fresh = privatizer.policy.repeat == "fresh"
    draws = [number for number in _DRAWS if fresh and number <= most]
    return Repetition(
        common=common_words(len(privatizer.lexicon)),
        most=most,
        texts=sum(texts for number, texts in repeats.items() if number >= MANY),
        recovered=recovered_shares(privatizer.channel, draws),
    )


def counted(number: int, noun: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "record"), counted(2000, "record")
    ('1 record', '2,000 records')
    """
    return f"{number:,} {noun}" + "s" * (number != 1)


def visible(privatizer: Privatizer) -> tuple[str, ...]:
    """List what anybody can still see in the private text, outside the guarantee."""
    shown = ["how many words there are, and in which places"]
    if privatizer.policy.kinds == "typed":
        shown.append(
            "which of them are numbers, dates, times, identifiers or addresses, and their formats"
        )
    kept = privatizer.policy.punctuation == "keep"
    shown.append("punctuation and spacing" if kept else "line breaks between words")
    if privatizer.policy.unknown == "mask":
        shown.append("which words are not in the lexicon (masked)")
    if privatizer.policy.unknown == "keep":
        shown.append("the words that are not in the lexicon, as they are")
    if declared := declared_public(privatizer.policy):
        gaps = "" if kept else ", and gaps beside it"
        shown.append(f"what you declared public, as it is{gaps}: {'; '.join(declared)}")
    if privatizer.policy.keep:
        shown.append("that the other words are not among those to keep")
    if privatizer.policy.repeat == "document":
        values = " or values" if privatizer.policy.kinds == "typed" else ""
        shown.append(f"which places of a text hold equal words{values}")
    shown.append("how many records there are, and in which order")
    return tuple(shown)


def _wordless(texts: int) -> str:
    if not texts:
        return ""
    has, its = ("has", "its") if texts == 1 else ("have", "their")
    return (
        f"NOTHING IS PROMISED for {counted(texts, 'text')} that {has} no words: {its} signs are "
        "shown as they are. Drop punctuation, too, or leave such texts out"
    )
