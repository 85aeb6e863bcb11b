"""The report of a run, as a value and as a page."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from html import escape
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from malaprop._version import __version__
from malaprop.draws import MANY, Repetition, split_repeats
from malaprop.measure.profile import Comparison, Profile
from malaprop.privacy import notebook
from malaprop.privacy.best_guess import (
    NO_CHANCE_OF_GUESSING,
    UNIFORM,
    BestGuess,
    KeptShare,
    best_guess_of_several,
)
from malaprop.privacy.errors import MissingExtraError, printable
from malaprop.privacy.guarantee import Guarantee, Kind
from malaprop.privacy.word_graph import Steps
from malaprop.private_files import without_passwords
from malaprop.privatizer import Privatizer
from malaprop.release import common_words, declared_public
from malaprop.report.file_counts import FileCounts
from malaprop.report.page import (
    bullets,
    counted,
    document,
    is_web_page,
    json_text,
    key_figures,
    named,
    opened,
    page_files,
    render,
    report_path,
    table,
)
from malaprop.report.page import (
    code as _code,
)
from malaprop.report.page import (
    html_bullets as _bullets,
)
from malaprop.report.page import (
    html_table as _table,
)
from malaprop.report.page import (
    html_text as _text,
)
from malaprop.report.plots import occurrence_table, profile_plots

if TYPE_CHECKING:
    from malaprop.report.page import Page


# The report of a run over files, as a value: what was protected, how, and what stays visible.
#
# `malaprop.report` renders it. It is for the owner of the text: its counts depend on the input in
# ways that the guarantee does not cover, so it says of itself that it is not for publication.


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
    format: str
    columns: tuple[str, ...]
    on_error: str
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
            "format": self.format,
            "protected_columns": list(self.columns),
            "unprotected_columns": list(self.counts.other_columns),
            "records": self.counts.records,
            "texts": self.counts.cells,
            "records_without_the_column": self.counts.missing,
            "on_error": self.on_error,
            "faulty_records": self.counts.faulty,
            "faults": [fault._asdict() for fault in self.counts.faults],
        }

    @property
    def fault_warning(self) -> str:
        """A warning of records that could not be processed, without their content."""
        if not self.counts.faulty:
            return ""
        done = "left out" if self.on_error == "skip" else "texts masked"
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
    keeping: KeptShare
    guess: Callable[[], BestGuess] = field(repr=False, compare=False)
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
    def guessed(self) -> BestGuess:
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
        warned = (notebook.paragraph(f"Warning: {text}.", bold=True) for text in self.warnings)
        return notebook.paragraph(AUDIENCE) + "".join(warned) + notebook.facts(rows)


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
        recovered=best_guess_of_several(privatizer.channel, draws),
    )


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


# Phrases that all renderings of a report share.


PROTECTED = {
    "in_lexicon": "in the lexicon",
    "mapped": "mapped to words of it",
    "numbers": "as numbers",
    "urls": "as web addresses",
    "emails": "as e-mail addresses",
    "mentions": "as mentions",
    "hashtags": "as hashtags",
    "emoji": "as emoji or symbols",
    "dates": "as dates",
    "times": "as times",
    "money": "as amounts of money",
    "percentages": "as percentages",
    "ordinals": "as ordinals",
    "identifiers": "as identifiers",
}
OTHERWISE = {
    "masked": "masked",
    "dropped": "dropped",
    "kept": "KEPT AS THEY ARE, without protection",
    "removed": "invisible characters removed",
    "public_markup": "pieces of markup shown as they are, declared public",
    "public_placeholders": "placeholders shown as they are, declared public",
    "public_words": "words shown as they are, declared public",
    "public_spans": "passages outside the spans shown as they are, declared public",
}


def best_guess(guessed: BestGuess) -> str:
    """Say how often an observer without context guesses a word right.

    >>> print(best_guess(BestGuess(0.342))[:75])
    about 34% of single words are guessed right by an observer without context,
    """
    return f"{guessed} of single words are guessed right by {UNIFORM}"


def repetition(facts: Repetition, repeat: str) -> list[str]:
    """Say how often content words occur in a text, and what an observer makes of it."""
    if not facts.most:
        return []
    texts = f"{facts.texts:,} text{' has' if facts.texts == 1 else 's have'}"
    often = f"a content word occurs up to {facts.most:,} times in one text"
    lines = [f"{often}, and {texts} one that occurs 5 times or more"]
    if repeat == "document":
        lines.append("all its places share one draw, and which places are equal can be seen")
    elif facts.recovered:
        shares = ", ".join(f"{k} draws {share:.0%}" for k, share in facts.recovered)
        lines.append(
            f"each place is a draw of its own: of public words, an observer without context "
            f"recovers from {shares}, about; one draw for all is repeat = document"
        )
    return lines


def content_words(facts: Repetition) -> str:
    """Say what counts as a content word."""
    return f"Content words are all but the first {facts.common:,} of the lexicon."


def fingerprint_of(metric: object) -> str:
    """Name the fingerprint of a lexicon under a metric, as `malaprop lexicon info` does.

    >>> fingerprint_of("graph")
    'fingerprint with graph'
    """
    return "fingerprint with graph" if str(metric) == Steps.name else "fingerprint"


def parameters(mechanism: Mapping[str, object]) -> str:
    """Return a mechanism as it is written in Python."""
    values = [f"{k}={v}" for k, v in mechanism.items() if k != "name" and v is not None]
    return f"{mechanism['name']}({', '.join(values)})"


def setting(value: object) -> str:
    """Return the value of a setting, which may be several by name."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {each}" for name, each in value.items())
    return str(value)


def listed(names: Mapping[str, str], counts: Mapping[str, int]) -> list[str]:
    """List the counts that are not 0, each with what it counts."""
    return [f"{counts[tag]:,} {text}" for tag, text in names.items() if counts.get(tag)]


# The report of a run as one page of HTML, for whoever has to sign it.
#
# The page holds everything that it shows: no script, no font, no picture from elsewhere. It reads
# on a phone and prints on paper.


_MOST_FAULTS = 100
_NUMBERS = frozenset({1, 2})  # columns of numbers
_TITLE = "Report on a privatized text"


def as_html(report: RunReport, profile: Profile | None = None) -> str:
    """Return the report as a page; `profile` adds the figures of the mechanism."""
    parts = [
        f"<h1>{_TITLE}</h1>",
        f'<p class="audience">{escape(AUDIENCE)}</p>',
        _key_figures(report, profile),
        *(f'<p class="warning">{escape(opened(w))}</p>' for w in report.warnings),
        *_guarantee(report, profile),
        *_unprotected(report),
        *(_observer(profile) if profile else ()),
        *_treatment(report),
        *_repeated(report),
        *_files(report),
        *_method(report, profile),
    ]
    return document(_TITLE, parts)


def _key_figures(report: RunReport, profile: Profile | None) -> str:
    records = sum(file.counts.records for file in report.files)
    none = report.guarantee.kind is Kind.NONE
    figures = [
        (f"{report.counts.get('protected', 0):,}", "words replaced" if none else "words protected"),
        (f"{records:,}", f"records in {counted(len(report.files), 'file')}"),
        ("none" if none else f"ε = {report.guarantee.epsilon:g}", "guarantee"),
        (f"{report.keeping.share:.0%}", "of words are expected to stay as they are"),
    ]
    guessed = _guessed(profile) if profile else report.guessed
    least = "at least " if guessed.at_least else ""
    figures.append(
        (
            f"{least}{guessed.share:.0%}",
            f"of single words are guessed right by {UNIFORM}",
        )
    )
    if profile and profile.context:
        figure = profile.context
        recovered, known = f"of the words of {figure.sample} are recovered", figure.prior
        figures += [
            (f"{figure.alone:.0%}", f"{recovered} word by word, from word frequencies in {known}"),
            (f"{figure.context:.0%}", f"{recovered} with context, from bigrams of {known}"),
        ]
    return key_figures(figures)


def _guessed(profile: Profile) -> BestGuess:
    success = profile.chosen.success
    return BestGuess(success.value, bool(success.bound))


def _guarantee(report: RunReport, profile: Profile | None) -> list[str]:
    parts = ["<h2>What is guaranteed</h2>", f"<p>{escape(str(report.guarantee))}</p>"]
    if report.guarantee.kind is Kind.NONE:
        return parts
    if profile:
        parts.append("<p>For example:</p>")
        parts.append(bullets(map(_example, profile.comparisons)))
    parts.append(
        "<p>Where texts differ in several words, the losses add up. Privatizing the same text "
        "again doubles the loss.</p>"
    )
    return parts


def _example(pair: Comparison) -> str:
    words = f"“{pair.word}” and “{pair.other}”, {pair.distance:.4g} apart"
    if pair.loss is None:
        return f"{words}: nothing is promised."
    factor = f"{_factor(pair.loss)}"
    verdict = " That is next to no protection." if pair.loss > 6.0 else ""
    return (
        f"{words}: whatever comes out, it changes the odds between them by a factor of at most "
        f"{factor}.{verdict}"
    )


def _factor(loss: float) -> str:
    from math import exp

    from malaprop.privacy.guarantee import rounded_up

    if loss > 12.0:
        return f"e^{rounded_up(loss)}"
    factor = rounded_up(exp(loss), 3)
    return f"{float(factor):,.0f}" if "e" in factor else factor


def _unprotected(report: RunReport) -> list[str]:
    others = sorted({name for file in report.files for name in file.counts.other_columns})
    shown = [*report.visible, "what the text is about: near words stay near"]
    if others:
        shown.append(f"the columns that were not named, as they are: {_names(others)}")
    return ["<h2>What is not protected</h2>", bullets(shown)]


def _observer(profile: Profile) -> list[str]:
    point, how = profile.chosen, "computed from the law" if profile.exact else "estimated by draws"
    least = "at least " if point.success.bound else ""
    told = (
        "<p>An observer who knows the mechanism and sees one word, without context, guesses it "
        f"right in {least}{point.success.value:.1%} of cases, all words being equally likely. "
        "<b>Context raises that, sometimes to twice as much, and so does repetition</b>: language "
        "lets an observer rule out words that do not fit. <code>malaprop attack context</code> "
        "measures it on your own text.</p>"
    )
    parts = ["<h2>What an observer learns</h2>", told]
    if profile.context:
        parts.append(f"<p>{escape(opened(str(profile.context)))}</p>")
    if profile.occurrences:
        parts.append(table(*occurrence_table(profile), _NUMBERS))
    words = ", ".join(f"{escape(word)} ({share:.0%})" for word, share in profile.worst_words)
    parts.append(
        f"<p>Of {profile.words:,} words spread over the lexicon, these stay as they are most "
        f"often: {words}. These shares are {how}. The shares of right guesses may be estimates.</p>"
    )
    return [*parts, _plots(profile)]


def _plots(profile: Profile) -> str:
    try:
        figures = [(paint(), caption) for paint, caption in profile_plots(profile)]
    except MissingExtraError as error:
        return f"<p>Without plots: {escape(str(error))}</p>"
    cells = (
        f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
        for svg, caption in figures
    )
    return f'<div class="plots">{"".join(cells)}</div>'


def _treatment(report: RunReport) -> list[str]:
    done = "replaced" if report.guarantee.kind is Kind.NONE else "protected"
    names = {"protected": f"words {done}"}
    names |= {tag: f"of these, {text}" for tag, text in PROTECTED.items()} | OTHERWISE
    names |= {
        "punctuation": "runs of punctuation",
        "wordless": "texts without words, shown as they are",
        "mostly_signs": "texts with more signs than words",
    }
    rows = [
        (text, f"{report.counts[tag]:,}") for tag, text in names.items() if report.counts.get(tag)
    ]
    return [f"<h2>What was {done}</h2>", table(("what", "how many"), rows, _NUMBERS)]


def _repeated(report: RunReport) -> list[str]:
    lines = repetition(report.repetition, report.policy["repeat"])
    if not lines:
        return []
    listed = bullets(opened(line) for line in lines)
    return [
        "<h2>Repeated words</h2>",
        listed,
        f"<p>{escape(content_words(report.repetition))}</p>",
    ]


def _files(report: RunReport) -> list[str]:
    parts = ["<h2>Files</h2>"]
    for file in report.files:
        parts.append(f"<h3>{_name(file.input)} → {_name(file.output)}</h3>")
        parts.append(table((), _file(file)))
        if file.counts.faults:
            parts.append(table(("record", "what is wrong with it"), _faults(file)))
    return parts


def _file(file: FileRecord) -> list[tuple[str, str]]:
    counts = file.counts
    done = "left out" if file.on_error == "skip" else "texts masked"
    rows = [
        ("format", file.format),
        ("records", f"{counts.records:,}"),
        ("texts", f"{counts.cells:,}"),
        ("protected columns", _names(file.columns)),
        ("not protected", _names(counts.other_columns)),
        ("records without a column asked for", f"{counts.missing:,}" if counts.missing else ""),
        (f"faulty records, {done}", f"{counts.faulty:,}" if counts.faulty else ""),
        ("digest of the input (keyed)", file.input_digest or ""),
        ("digest of the output (keyed)", file.output_digest or ""),
    ]
    return [(what, value) for what, value in rows if value]


def _faults(file: FileRecord) -> list[tuple[str, str]]:
    shown = file.counts.faults[:_MOST_FAULTS]
    rows = [(f"{fault.record:,}", fault.reason) for fault in shown]
    if file.counts.faulty > len(shown):
        rows.append(("…", f"and {file.counts.faulty - len(shown):,} more"))
    return rows


def _method(report: RunReport, profile: Profile | None) -> list[str]:
    occasion, lexicon = report.occasion, report.lexicon
    rows = [
        ("date", occasion.started.isoformat(timespec="seconds")),
        ("seconds", f"{occasion.seconds:,.1f}"),
        ("command", named(occasion.command) if occasion.command else ""),
        ("malaprop", report.version),
        ("mechanism", parameters(report.mechanism)),
        ("lexicon", f"{named(lexicon.name)}, {lexicon.words:,} words, {lexicon.metric}"),
        (f"its {fingerprint_of(lexicon.metric)}", lexicon.fingerprint),
        *((f"policy: {name}", setting(value)) for name, value in report.policy.items()),
        ("randomness", report.randomness),
        *((f"engine: {name}", str(value)) for name, value in report.engine.items()),
        ("taken to be public", "; ".join(report.guarantee.public)),
        ("arithmetic", report.guarantee.numerics),
        ("proof", report.guarantee.proof),
        ("hint", report.hint),
    ]
    return ["<h2>Method and versions</h2>", table((), [row for row in rows if row[1]])]


def _names(names: Sequence[str]) -> str:
    return ", ".join(named(without_passwords(name)) for name in names)


def _name(name: str) -> str:
    return escape(named(without_passwords(name)))


# The report of a run as a page of Markdown, for whoever has to sign it.


_DIGESTS = (
    "The digests are keyed hashes: only you can compute them, with the key in your state folder, "
    "so that nobody can confirm a guess of a text by them. `malaprop.file_digest(path)` computes "
    "that of a file."
)


def as_markdown(report: RunReport) -> str:
    """Return the report as a page of Markdown."""
    sections = [
        "# Report of a privatized text",
        f"*{AUDIENCE}*",
        *_summary(report),
        *_warnings(report),
        *_markdown_guarantee(report),
        *_markdown_treatment(report),
        *_markdown_repeated(report),
        *_visible(report),
        *_markdown_files(report),
        *_run(report),
    ]
    return "\n\n".join(sections) + "\n"


def _warnings(report: RunReport) -> list[str]:
    if not report.warnings:
        return []
    return ["## Warnings", _bullets(f"**{_text(_opened(w))}.**" for w in report.warnings)]


def _summary(report: RunReport) -> list[str]:
    files = counted(len(report.files), "file")
    records = counted(sum(file.counts.records for file in report.files), "record")
    words = counted(report.counts.get("protected", 0), "word")
    done = "Replaced, with no guarantee" if _nothing(report) else "Protected"
    share = f"{report.keeping.share:.0%} of words are expected to stay as they are"
    guessed = f"{_opened(best_guess(report.guessed))}; {NO_CHANCE_OF_GUESSING}"
    return [
        f"{done}: {words} in {records} of {files}.",
        f"{share}, on average over the lexicon. {guessed}.",
    ]


def _markdown_guarantee(report: RunReport) -> list[str]:
    parts = ["## What is guaranteed", _text(str(report.guarantee))]
    if not _nothing(report):
        parts.append(
            "Where texts differ in several words, the losses add up. Privatizing the same "
            "text again doubles the loss."
        )
        public = "; ".join(map(_text, report.guarantee.public))
        rows = [
            ("taken to be public", public),
            ("arithmetic", _text(report.guarantee.numerics)),
            ("proof", _code(report.guarantee.proof)),
        ]
        parts.append(_table(("", ""), [row for row in rows if row[1]]))
    return parts


def _markdown_treatment(report: RunReport) -> list[str]:
    done = "replaced" if _nothing(report) else "protected"
    names = {"protected": f"**words {done}**"}
    names |= {tag: f"of these, {text}" for tag, text in PROTECTED.items()} | OTHERWISE
    if report.policy["punctuation"] == "keep":
        names["punctuation"] = "runs of punctuation, shown as they are"
    names |= {
        "wordless": "texts without words, shown as they are",
        "mostly_signs": "texts with more signs than words",
    }
    rows = [(text, f"{report.counts[tag]:,}") for tag, text in names.items() if _has(report, tag)]
    return [f"## What was {done}", _table(("what", "how many"), rows, right=True)]


def _markdown_repeated(report: RunReport) -> list[str]:
    lines = repetition(report.repetition, report.policy["repeat"])
    if not lines:
        return []
    listed = _bullets(_text(f"{_opened(line)}.") for line in lines)
    return ["## Repeated words", listed, content_words(report.repetition)]


def _visible(report: RunReport) -> list[str]:
    others = sorted({name for file in report.files for name in file.counts.other_columns})
    shown = list(report.visible)
    if others:
        shown.append("all columns that were not named, as they are: see below")
    return ["## What stays visible", _bullets(map(_text, shown))]


def _markdown_files(report: RunReport) -> list[str]:
    parts = ["## Files"]
    for file in report.files:
        parts.append(f"### {_markdown_name(file.input)} → {_markdown_name(file.output)}")
        parts.append(_table(("", ""), _markdown_file(file)))
        if file.counts.faults:
            parts.append(_markdown_faults(file))
    if any(file.input_digest for file in report.files):
        parts.append(_DIGESTS)
    return parts


def _markdown_file(file: FileRecord) -> list[tuple[str, str]]:
    counts = file.counts
    rows = [
        ("format", file.format),
        ("records", f"{counts.records:,}"),
        ("texts", f"{counts.cells:,}"),
        ("protected columns", _markdown_names(file.columns)),
        ("**not protected**", _markdown_names(counts.other_columns)),
        ("records without a column asked for", f"{counts.missing:,}" if counts.missing else ""),
        ("digest of the input", _code(file.input_digest or "")),
        ("digest of the output", _code(file.output_digest or "")),
    ]
    if counts.faulty:
        done = "left out" if file.on_error == "skip" else "texts masked"
        rows.append((f"faulty records, {done}", f"{counts.faulty:,}"))
    return [row for row in rows if row[1]]


def _markdown_faults(file: FileRecord) -> str:
    shown = file.counts.faults[:_MOST_FAULTS]
    rows = [(f"{fault.record:,}", _text(fault.reason)) for fault in shown]
    if file.counts.faulty > len(shown):
        rows.append(("…", f"and {file.counts.faulty - len(shown):,} more"))
    return _table(("record", "what is wrong with it"), rows)


def _run(report: RunReport) -> list[str]:
    occasion, lexicon = report.occasion, report.lexicon
    rows = [
        ("date", occasion.started.isoformat(timespec="seconds")),
        ("seconds", f"{occasion.seconds:,.1f}"),
        ("command", _code(occasion.command)),
        ("malaprop", report.version),
        ("mechanism", _code(parameters(report.mechanism))),
        ("lexicon", f"{_markdown_name(lexicon.name)}, {lexicon.words:,} words, {lexicon.metric}"),
        (f"its {fingerprint_of(lexicon.metric)}", _code(lexicon.fingerprint)),
        *((f"policy: {name}", _text(setting(value))) for name, value in report.policy.items()),
        ("randomness", report.randomness),
        *((f"engine: {name}", _text(str(value))) for name, value in report.engine.items()),
        ("hint", _text(report.hint)),
    ]
    return ["## The run", _table(("", ""), [row for row in rows if row[1]])]


def _nothing(report: RunReport) -> bool:
    return report.guarantee.kind is Kind.NONE


def _has(report: RunReport, tag: str) -> bool:
    return bool(report.counts.get(tag))


def _opened(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _markdown_names(names: Sequence[str]) -> str:
    return ", ".join(map(_markdown_name, names))


def _markdown_name(name: str) -> str:
    return _text(named(without_passwords(name)))


# The report of a run for a terminal.


_MOST_NAMES = 20  # columns that are named; the JSON names all
_TERMINAL_MOST_FAULTS = 5  # likewise


def readable(report: RunReport, width: int = 96) -> str:
    """Return the report for people, wrapped to a width, without the warnings."""
    return "".join(f"{_wrapped(line, width)}\n" for line in _lines(report))


def _lines(report: RunReport) -> list[str]:
    none = report.guarantee.kind is Kind.NONE
    lines = [f"Guarantee   {report.guarantee}"]
    if not none:
        lines.append("            Where texts differ in several words, the losses add up.")
        lines.append(f"Arithmetic  {report.guarantee.numerics}")
    share = f"{report.keeping.share:.0%} of words, expected over the lexicon"
    lines += [
        f"Mechanism   {parameters(report.mechanism)} on {_named(report.lexicon)}",
        f"Randomness  {report.randomness}",
        f"Unchanged   {share}",
        f"Guessed     {best_guess(report.guessed)}; {NO_CHANCE_OF_GUESSING}",
        f"{'Replaced' if none else 'Protected':<12}{_protected(report)}",
        *_otherwise(report),
        *_signs(report),
        *_terminal_repeated(report),
        f"Visible     {'; '.join(report.visible)}",
    ]
    if report.hint:
        lines.append(f"Hint        {report.hint}")
    for file in report.files:
        lines += _file_lines(file)
    return lines


def _wrapped(line: str, width: int) -> str:
    return textwrap.fill(line, width, subsequent_indent=" " * 12, break_on_hyphens=False)


def _named(lexicon: LexiconFacts) -> str:
    mark = f"{fingerprint_of(lexicon.metric)} {lexicon.fingerprint[:12]}…"
    size = f"{lexicon.words:,} words, {lexicon.metric}, {mark}"
    return f"{named(lexicon.name or 'a lexicon')} ({size})"


def _protected(report: RunReport) -> str:
    parts = listed(PROTECTED, report.counts)
    words = counted(report.counts.get("protected", 0), "word")
    return words + (f": {', '.join(parts)}" if parts else "")


def _otherwise(report: RunReport) -> list[str]:
    parts = listed(OTHERWISE, report.counts)
    return [f"Otherwise   {', '.join(parts)}"] if parts else []


def _signs(report: RunReport) -> list[str]:
    """Say how many texts show much of the input as it is."""
    parts = []
    if texts := report.counts.get("wordless"):
        parts.append(f"{counted(texts, 'text')} without words, SHOWN AS WRITTEN")
    if texts := report.counts.get("mostly_signs"):
        parts.append(f"{counted(texts, 'text')} with more signs than words")
    return [f"Signs       {'; '.join(parts)}"] if parts else []


def _terminal_repeated(report: RunReport) -> list[str]:
    parts = repetition(report.repetition, report.policy["repeat"])
    return [f"Repeated    {'; '.join(parts)}"] if parts else []


def _file_lines(file: FileRecord) -> list[str]:
    source, target = (named(without_passwords(name)) for name in (file.input, file.output))
    lines = [f"File        {source} → {target}: {counted(file.counts.records, 'record')}"]
    if others := file.counts.other_columns:
        shown = [named(name) for name in others[:_MOST_NAMES]]
        more = [f"and {len(others) - _MOST_NAMES:,} more"] if len(others) > _MOST_NAMES else []
        lines.append(f"            not protected: {', '.join(shown + more)}")
    if lacking := file.counts.missing:
        lines.append(f"            without a column asked for: {counted(lacking, 'record')}")
    if file.counts.faulty:
        done = "left out" if file.on_error == "skip" else "masked"
        lines.append(f"            {done}: {_terminal_faults(file)}")
    return lines


def _terminal_faults(file: FileRecord) -> str:
    faulty, shown = file.counts.faulty, file.counts.faults[:_TERMINAL_MOST_FAULTS]
    if not shown:  # on a cluster, no task knows the positions of its records
        return counted(faulty, "record")
    faults = [f"{fault.record:,} {fault.reason}" for fault in shown]
    more = (
        [f"and {faulty - _TERMINAL_MOST_FAULTS:,} more"] if faulty > _TERMINAL_MOST_FAULTS else []
    )
    return f"record {', '.join(faults + more)}"


# The report of a run as a file: JSON, Markdown or HTML, as its name says.


def as_json(report: RunReport, profile: "Profile | None" = None) -> str:
    """Return the report as JSON, with the figures of the mechanism if they were computed."""
    value = report.to_dict() | ({"profile": profile.to_dict()} if profile else {})
    return json_text(value)


def as_bytes(text: str) -> bytes:
    """Return a page or JSON for a file; names in it may hold what cannot be seen, or half of it."""
    return printable(text, lines=True).encode()


def rendered(report: RunReport, path: Path, profile: "Profile | None" = None) -> bytes:
    """Return the bytes of the report in the form that its file's name says."""

    name = report_path(path).name.lower()
    if name.endswith(".json"):
        text = as_json(report, profile)
    else:
        text = as_html(report, profile) if is_web_page(path) else as_markdown(report)
    return as_bytes(text)


def rendered_page(page: "Page", value: Mapping[str, Any], path: Path) -> bytes:
    """Return the bytes of a page in the form that its file's name says; `value` is the JSON."""
    if path.name.lower().endswith(".md"):
        return as_bytes(render(page, "markdown"))
    return page_files(page, path, value)[path]
