"""The report of a run over files: a value, and the page that people read.

It is for the owner of the text: its counts depend on the input in ways that the guarantee does not
cover, so it says of itself that it is not for publication.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from time import monotonic
from typing import Any, NamedTuple

from malaprop._version import __version__
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.profile import ContextFigure, Profile, context_figure
from malaprop.owner import MANY, Repetition, common_words, split_repeats
from malaprop.privacy.best_guess import (
    UNIFORM,
    BestGuess,
    KeptShare,
    best_guess_of_several,
)
from malaprop.privacy.guarantee import Guarantee, Kind
from malaprop.privacy.word_graph import Steps
from malaprop.private_files import without_passwords
from malaprop.privatizer import Privatizer
from malaprop.release import ENTITIES, INTERVALS, declared_public, redrawn_facts, with_shown
from malaprop.report.file_counts import FileCounts
from malaprop.report.page import (
    Bullets,
    Facts,
    Page,
    Piece,
    Section,
    Table,
    code,
    counted,
    named,
    opened,
    render,
)
from malaprop.report.plots import occurrence_table, profile_plots
from malaprop.report.promise import (
    Comparison,
    comparisons,
    kinds_promise,
    plain_promise,
    promise_pieces,
    short_promise,
)
from malaprop.text.policy import Policy, Readable
from malaprop.text.treatment import DRAWN_TAGS

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
    encoding: str = ""
    """Of files of text;"""
    guessed: bool = False
    """and whether a detector found it."""
    input_digest: str | None = None
    output_digest: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "input": without_passwords(self.input),
            "output": without_passwords(self.output),
            "input_digest": self.input_digest,
            "output_digest": self.output_digest,
            "format": self.format,
            **({"encoding": self.encoding, "guessed": self.guessed} if self.encoding else {}),
            "protected_columns": list(self.columns),
            "unprotected_columns": list(self.counts.other_columns),
            "records": self.counts.records,
            "texts": self.counts.cells,
            "records_without_the_column": self.counts.missing,
            "on_error": self.on_error,
            "faulty_records": self.counts.faulty,
            "faults": [fault._asdict() for fault in self.counts.faults],
            **({"left_out": dict(self.counts.left_out)} if self.counts.left_out else {}),
        }

    @property
    def encoding_warning(self) -> str:
        """A warning of an encoding that nobody named."""
        if not self.guessed:
            return ""
        return (
            f"{without_passwords(self.input)} is not UTF-8, and was read and written as "
            f"{self.encoding}, which is a guess: if it is wrong, name the encoding with `encoding`"
        )

    @property
    def fault_warning(self) -> str:
        """A warning of records that could not be processed, without their content."""
        if not self.counts.faulty:
            return ""
        done = "left out" if self.on_error == "skip" else "texts masked"
        records = counted(self.counts.faulty, "record")
        return f"{records} of {without_passwords(self.input)} could not be processed: {done}"


class LeftOut(NamedTuple):
    """A file, or a folder, that was not copied, and why."""

    path: str
    reason: str


def reasons_of(left_out: Iterable[LeftOut]) -> str:
    """Say why files were left out, and how many for each reason."""
    reasons = Counter(each.reason for each in left_out)
    return "; ".join(f"{reason} ({count:,})" for reason, count in sorted(reasons.items()))


class FolderFacts(NamedTuple):
    """A folder whose files were privatized, and what was left out of it."""

    source: str
    target: str
    left_out: tuple[LeftOut, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "input": without_passwords(self.source),
            "output": without_passwords(self.target),
            "left_out": [each._asdict() for each in self.left_out],
        }

    @property
    def warning(self) -> str:
        """Say how many files were left out, and why, without their names."""
        if not self.left_out:
            return ""
        return (
            f"left out of {without_passwords(self.source)}, and not copied: "
            f"{reasons_of(self.left_out)}. A report names them"
        )


@dataclass(frozen=True, kw_only=True)
class Occasion:
    """When and how a run was made. `command` is what was typed: file names and options."""

    started: datetime
    seconds: float
    command: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "date": self.started.isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 3),
            "command": self.command,
        }


@dataclass(frozen=True)
class Clock:
    """Tells when a run started, and how long it took so far. `command` is what was typed."""

    command: str = ""
    _date: datetime = field(default_factory=lambda: datetime.now(UTC))
    _since: float = field(default_factory=monotonic)

    def occasion(self) -> Occasion:
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

    @classmethod
    def of(cls, lexicon: Lexicon, name: str = "") -> "LexiconFacts":
        """Return what identifies a lexicon, by another name if one is given."""
        return cls(
            name=name or lexicon.name,
            words=len(lexicon),
            dimension=lexicon.vectors.shape[1],
            metric=str(lexicon.metric),
            fingerprint=lexicon.fingerprint,
        )


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """What `privatize_files` did: guarantee, counts, what stays visible, and each file.

    `to_dict` gives its JSON, `page` its page. Not for publication: the counts depend on the
    input in ways that the guarantee does not cover.
    """

    occasion: Occasion
    guarantee: Guarantee
    randomness: str
    keeping: KeptShare
    guess: Callable[[], BestGuess] = field(repr=False, compare=False)
    """Computes the share of words that an observer without context guesses right: see `guessed`."""
    compare: Callable[[], tuple[Comparison, ...]] = field(repr=False, compare=False)
    """Compares some pairs of words, as examples of the guarantee: see `examples`."""
    cautions: tuple[str, ...]
    """What the user should know before the work."""
    hint: str
    counts: Mapping[str, int]
    visible: tuple[str, ...]
    in_brief: tuple[str, ...] = field(repr=False)
    """What stays visible, for one line."""
    files: tuple[FileRecord, ...]
    mechanism: Mapping[str, Any]
    policy: Mapping[str, Any]
    lexicon: LexiconFacts
    repetition: Repetition
    engine: Mapping[str, Any] = field(default_factory=dict)
    already: tuple[str, ...] = ()
    """Outputs that an earlier run had completed: nothing was done for them."""
    smoothed_by: str = ""
    """The fingerprint of the bigrams by which texts were made readable; none if they were not."""
    setting: Readable | None = None
    """The setting by which texts were made readable; None if they were not."""
    made_readable: ContextFigure | None = None
    """The share of original words in readable text of a public sample; None if not measured."""
    folder: FolderFacts | None = None
    """The folder, if one was the input."""
    version: str = __version__

    @cached_property
    def guessed(self) -> BestGuess:
        """The share of words that an observer without context guesses right.

        It is computed when a page first asks for it, so that a run that shows no report does not
        wait for it.
        """
        return self.guess()

    @cached_property
    def examples(self) -> tuple[Comparison, ...]:
        """Pairs of words, near ones first, and what is promised for them."""
        return self.compare()

    @property
    def findings(self) -> tuple[str, ...]:
        """Warnings about what the texts and files held, without their content."""
        wordless = _wordless(self.counts.get("wordless", 0))
        faults = [file.fault_warning for file in self.files if file.counts.faulty]
        guesses = [file.encoding_warning for file in self.files if file.guessed]
        told = [
            wordless,
            _unlisted(self.counts),
            self.folder.warning if self.folder else "",
            *_first(guesses, "such encodings"),
            *_first(faults, "such records"),
        ]
        return tuple(filter(None, told))

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.cautions + self.findings

    def to_dict(self) -> dict[str, Any]:
        figure = self.made_readable
        return {
            "audience": AUDIENCE,
            "malaprop": self.version,
            **self.occasion.to_dict(),
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
            **({"folder": self.folder.to_dict()} if self.folder else {}),
            **({"complete_already": list(self.already)} if self.already else {}),
            "files": [file.to_dict() for file in self.files],
            "mechanism": dict(self.mechanism),
            "policy": dict(self.policy),
            "lexicon": vars(self.lexicon).copy(),
            **({"smoothed_by": self.smoothed_by} if self.smoothed_by else {}),
            **(
                {"readable": _share_when_readable(figure, self.setting)}
                if figure and self.setting
                else {}
            ),
            **({"engine": dict(self.engine)} if self.engine else {}),
        }

    def page(self, profile: Profile | None = None) -> Page:
        """Return the page; `profile` adds what an observer learns, by ε and by occurrences."""
        none = self.guarantee.kind is Kind.NONE
        done = "replaced" if none else "protected"
        visible = [*self.visible, "what the text is about: near words stay near"]
        if others := _unnamed(self):
            visible.append(f"the columns that were not named, as they are: {others}")
        return Page(
            title="Report on a privatized text",
            audience=AUDIENCE,
            figures=_figures(self, profile),
            warnings=self.warnings,
            sections=(
                Section(
                    "What is guaranteed",
                    promise_pieces(
                        self.guarantee,
                        *plain_promise(self.guarantee, self.examples),
                        *kinds_promise(self.guarantee),
                    ),
                ),
                Section("What is not protected", (Bullets(tuple(visible)),)),
                Section("What an observer learns", tuple(_observer(self, profile))),
                Section("Readable texts", _readable(self)),
                Section(f"What was {done}", (_treatment(self, done),)),
                Section("Repeated words", _repeated(self, profile)),
                Section("Files", tuple(_files(self.files, self.folder, self.already))),
                method(
                    self.occasion,
                    self.mechanism,
                    self.lexicon,
                    *((f"policy: {name}", _setting(value)) for name, value in self.policy.items()),
                    ("randomness", self.randomness),
                    *((f"engine: {name}", str(value)) for name, value in self.engine.items()),
                    ("hint", self.hint),
                ),
            ),
        )

    def summary(self, where: str) -> Page:
        """Return three lines for a terminal; `where` says where the whole report is."""
        records = counted(sum(file.counts.records for file in self.files), "record")
        words = counted(self.counts.get("protected", 0), "word")
        others = _unnamed(self)
        readable = f", readable ({self.setting})" if self.setting else ""
        files = f"{counted(len(self.files), 'file')}{readable}"
        return summary_page(
            short_promise(self.guarantee, self.examples),
            ", ".join([*self.in_brief, *([f"other columns: {others}"] if others else [])]),
            f"{words} in {records} of {files}; {where}",
        )

    def _repr_html_(self) -> str:
        return render(self.page(), "notebook")


def run_report(
    privatizer: Privatizer,
    files: Sequence[FileRecord],
    counts: Mapping[str, int],
    occasion: Occasion,
    *,
    cautions: Sequence[str] = (),
    engine: Mapping[str, Any] | None = None,
    already: Sequence[str] = (),
    public: Sequence[str] = (),
    folder: FolderFacts | None = None,
) -> RunReport:
    """Build the report of a run; `cautions` are added to the privatizer's warnings.

    `public` is what the formats of the files show of texts.
    """
    treated, repeats = split_repeats(counts)
    shown = visible(privatizer) | dict.fromkeys(public, "the structure of documents")
    if folder:
        shown["the names of files and folders, as they are"] = "names of files"
    return RunReport(
        occasion=occasion,
        guarantee=with_shown(privatizer.guarantee, public),
        randomness=privatizer.randomness,
        keeping=privatizer.keeping,
        guess=partial(getattr, privatizer, "guessed"),
        compare=partial(comparisons, privatizer.channel),
        cautions=(*privatizer.warnings, *cautions),
        hint=privatizer.channel.hint,
        counts=treated,
        visible=tuple(shown),
        in_brief=tuple(dict.fromkeys(filter(None, shown.values()))),
        files=tuple(files),
        mechanism={**privatizer.mechanism.to_dict(), **privatizer.channel.chosen},
        policy=privatizer.policy.to_dict(),
        lexicon=LexiconFacts.of(privatizer.lexicon),
        repetition=_repetition_of(privatizer, repeats),
        engine=engine or {},
        already=tuple(already),
        folder=folder,
        smoothed_by=privatizer.smoother.model.fingerprint if privatizer.smoother else "",
        setting=privatizer.policy.smoothing,
        made_readable=_made_readable(privatizer),
    )


def _made_readable(privatizer: Privatizer) -> ContextFigure | None:
    figure = context_figure(privatizer.mechanism, privatizer.lexicon)
    if privatizer.smoother is None or figure is None:
        return None
    if figure.model != privatizer.smoother.model.fingerprint:
        return None
    return figure if privatizer.policy.smoothing in figure.readable else None


def _share_when_readable(figure: ContextFigure, setting: Readable) -> dict[str, Any]:
    shares = {"share_of_original_words": figure.readable[setting], "as_drawn": figure.kept}
    rounded: dict[str, Any] = {name: round(share, 4) for name, share in shares.items()}
    return rounded | {"measured_on": figure.sample}


_DRAWS = (3, 5, 10)  # for which the share of recovered words is given


def _repetition_of(privatizer: Privatizer, repeats: Mapping[int, int]) -> Repetition:
    # `repeats` says how many texts have a content word that often. Equal words that share one draw
    # are not drawn several times: then there is nothing to tell.
    most = max(repeats, default=0)
    fresh = privatizer.policy.repeat == "fresh"
    draws = [number for number in _DRAWS if fresh and number <= most]
    return Repetition(
        common=common_words(len(privatizer.lexicon)),
        most=most,
        texts=sum(texts for number, texts in repeats.items() if number >= MANY),
        recovered=best_guess_of_several(privatizer.channel, draws),
    )


def visible(privatizer: Privatizer) -> dict[str, str]:
    """List what anybody can still see in the private text, outside the guarantee, and in brief."""
    policy = privatizer.policy
    kept, typed = policy.punctuation == "keep", policy.kinds == "typed"
    shown = {"how many words there are, and in which places": "places of words"}
    if typed:
        kinds = "which of them are numbers, dates, times, identifiers or addresses"
        shown[f"{kinds}, and their formats"] = "kinds and formats of values"
    if kept:
        shown["punctuation and spacing"] = "punctuation"
    else:
        shown["line breaks between words"] = "line breaks"
    if policy.unknown == "mask":
        shown["which words are not in the lexicon (masked)"] = "which words are unknown"
    if policy.unknown == "keep":
        shown["the words that are not in the lexicon, as they are"] = "unknown words, as they are"
    if declared := declared_public(policy):
        gaps = "" if kept else ", and gaps beside it"
        what = f"what you declared public, as it is{gaps}: {'; '.join(declared)}"
        shown[what] = "what you declared public"
    if policy.keep:
        shown["that the other words are not among those to keep"] = ""
    shown |= _visible_anew(policy)
    if policy.repeat == "document":
        values = " or values" if typed else ""
        shown[f"which places of a text hold equal words{values}"] = "which words are equal"
    shown["how many records there are, and in which order"] = "order of records"
    return shown


def _visible_anew(policy: Policy) -> dict[str, str]:
    """List what can be seen of what is drawn anew or moved together."""
    shown = {INTERVALS: "intervals between dates"} if policy.shift_dates else {}
    if policy.redraw:
        classes, equal = redrawn_facts(policy)
        shown |= {classes: f"which words are {' and '.join(policy.redraw)}", equal: ""}
    if policy.detector is not None:
        shown[f"{ENTITIES}: the detector may depend on all of the text"] = "where entities are"
    return shown


def _wordless(texts: int) -> str:
    if not texts:
        return ""
    has, its = ("has", "its") if texts == 1 else ("have", "their")
    return (
        f"NOTHING IS PROMISED for {counted(texts, 'text')} that {has} no words: {its} signs are "
        "shown as they are. Drop punctuation, too, or leave such texts out"
    )


_UNLISTED = ("mapped", "masked", "dropped", "kept")
_FOREIGN, _FEWEST_JUDGED = 0.4, 20
"""From which share of words on that the lexicon lacks, and among how many, it is said."""


def _unlisted(counts: Mapping[str, int]) -> str:
    unlisted = sum(counts.get(tag, 0) for tag in _UNLISTED)
    words = unlisted + counts.get("in_lexicon", 0)
    if words < _FEWEST_JUDGED or unlisted < _FOREIGN * words:
        return ""
    return (
        f"{unlisted / words:.0%} of the words are not in the lexicon. Are the texts in its "
        "language? The guarantee holds, but little of their meaning stays. `malaprop lexicon "
        "import` makes a lexicon of another language, `malaprop lexicon extend` adds words to one"
    )


def _first(warnings: list[str], what: str) -> list[str]:
    """Return the first of many warnings about files, and how many more there are."""
    if len(warnings) <= _MOST_WARNED:
        return warnings
    return [*warnings[:_MOST_WARNED], f"{len(warnings) - _MOST_WARNED:,} more files had {what}"]


_PROTECTED = {
    "in_lexicon": "in the lexicon",
    "mapped": "mapped to words of it",
    "urls": "as web addresses",
    "emails": "as e-mail addresses",
    "emoji": "as emoji or symbols",
    "money": "as amounts of money",
    "names": "as names, redrawn",
    "places": "as places, redrawn",
    "entities": "as entities, drawn anew",
}
"""How tokens were drawn, by their tag, where it is not simply “as” that tag."""
_OTHERWISE = {
    "masked": "masked",
    "dropped": "dropped",
    "kept": "KEPT AS THEY ARE, without protection",
    "removed": "invisible characters removed",
    "public_markup": "pieces of markup shown as they are, declared public",
    "public_placeholders": "placeholders shown as they are, declared public",
    "public_words": "words shown as they are, declared public",
    "public_spans": "passages outside the spans shown as they are, declared public",
    "punctuation": "runs of punctuation",
    "wordless": "texts without words, shown as they are",
    "mostly_signs": "texts with more signs than words",
}
_DIGESTS = (
    "The digests are keyed hashes: only you can compute them, with the key in your state folder, "
    "so that nobody can confirm a guess of a text by them. `malaprop.file_digest(path)` computes "
    "that of a file."
)
_MOST_FAULTS = 100  # that a page names; JSON names a thousand
_MOST_FILES = 100  # as well
_MOST_WARNED = 10  # files with faulty records that warnings name
_MOST_NAMES = 20  # columns that are named; JSON names all


def summary_page(promised: str, visible: str, report: str) -> Page:
    """Return what a terminal shows after a run: the promise, what stays visible, the report."""
    rows = (("Promised", promised), ("Visible", visible), ("Report", report))
    return Page(title="", sections=(Section("", (Facts(rows),)),))


def _unnamed(report: RunReport) -> str:
    """List the columns that were not named, and stay as they are."""
    return _names(
        dict.fromkeys(name for file in report.files for name in file.counts.other_columns)
    )


def _figures(report: RunReport, profile: Profile | None) -> tuple[tuple[str, str], ...]:
    records = sum(file.counts.records for file in report.files)
    none = report.guarantee.kind is Kind.NONE
    figures = [
        (f"{report.counts.get('protected', 0):,}", "words replaced" if none else "words protected"),
        (f"{records:,}", f"records in {counted(len(report.files), 'file')}"),
        ("none" if none else f"ε = {report.guarantee.epsilon:g}", "guarantee"),
        (f"{report.keeping.share:.0%}", "of words are expected to stay as they are"),
        (_guessed(report), f"of single words are guessed right by {UNIFORM}"),
    ]
    if (readable := report.made_readable) and report.setting:
        named = f"of the words of {readable.sample} are the original ones in readable text"
        share = readable.readable[report.setting]
        figures.append((f"{share:.0%}", f"{named}, and {readable.kept:.0%} as drawn"))
    if profile and profile.context:
        figure = profile.context
        recovered, known = f"of the words of {figure.sample} are recovered", figure.prior
        figures += [
            (f"{figure.alone:.0%}", f"{recovered} word by word, from word frequencies in {known}"),
            (f"{figure.context:.0%}", f"{recovered} with context, from bigrams of {known}"),
        ]
    return tuple(figures)


def _guessed(report: RunReport) -> str:
    return str(report.guessed).removeprefix("about ")


def _observer(report: RunReport, profile: Profile | None) -> Iterator[Piece]:
    guessed = f"{report.guessed} of single words are guessed right by {UNIFORM}"
    yield (
        f"{opened(guessed)} Context raises that, sometimes to twice as much, and so does "
        "repetition: language lets an observer rule out words that do not fit. `malaprop attack "
        "context` measures it on your own text."
    )
    if not report.policy.get("redraw") and not report.policy.get("detector"):
        yield (
            "Names of people and places are words like others here: some stay as they are. "
            "`malaprop privatize --redraw people` makes up others for those that it finds."
        )
    if profile is None:
        return
    yield opened(str(profile.context)) if profile.context else ""
    yield occurrence_table(profile, _guessed(report))
    how = "computed from the law" if profile.exact else "estimated by draws"
    words = ", ".join(f"{named(word)} ({share:.0%})" for word, share in profile.worst_words)
    yield (
        f"Of {profile.words:,} words spread over the lexicon, these stay as they are most often: "
        f"{words}. These shares are {how}. The shares of right guesses may be estimates."
    )
    yield from profile_plots(profile)


def _readable(report: RunReport) -> tuple[Piece, ...]:
    """Warn of what smoothed texts look like, and say what the figures refer to."""
    if not report.setting:
        return ()
    told = (
        "Fluent text can be wrong: do not take a sentence for what somebody wrote. The words were "
        "drawn, and then smoothed by public bigrams, which is post-processing: the guarantee is "
        "that of the drawn words. The shares of words that stay, are recovered or are guessed "
        "right refer to the drawn words, too. A readable text shows what an observer could infer "
        "from them."
    )
    if figure := report.made_readable:
        told += f" {opened(figure.made_readable(report.setting))}"
        told += " Your texts may do better or worse."
    if report.setting == "fluent":
        told += " The fluent setting lets more of the rare words give way to frequent ones."
    facts = (("setting", report.setting), ("fingerprint of the bigrams", code(report.smoothed_by)))
    return told, Facts(facts)


def _treatment(report: RunReport, done: str) -> Table:
    names = {"protected": f"words {done}"}
    names |= {tag: f"of these, {_PROTECTED.get(tag, f'as {tag}')}" for tag in DRAWN_TAGS}
    names |= _OTHERWISE
    rows = [
        (text, f"{report.counts[tag]:,}") for tag, text in names.items() if report.counts.get(tag)
    ]
    return Table(("what", "how many"), tuple(rows))


def _repeated(report: RunReport, profile: Profile | None) -> tuple[Piece, ...]:
    facts = report.repetition
    if not facts.most:
        return ()
    texts = f"{facts.texts:,} text{' has' if facts.texts == 1 else 's have'}"
    often = f"A content word occurs up to {facts.most:,} times in one text"
    lines = [f"{often}, and {texts} one that occurs 5 times or more."]
    if report.policy["repeat"] == "document":
        lines.append("All its places share one draw, and which places are equal can be seen.")
    elif facts.recovered:
        shares = ", ".join(f"{k} draws {share:.0%}" for k, share in facts.recovered)
        told = (
            "the table above says what as many draws tell"
            if profile
            else (f"of public words, an observer without context recovers from {shares}, about")
        )
        lines.append(
            f"Each place is a draw of its own: {told}. One draw for all is "
            "`malaprop privatize --repeat document`."
        )
    return (
        Bullets(tuple(lines)),
        f"Content words are all but the first {facts.common:,} of the lexicon.",
    )


def _files(
    every: Sequence[FileRecord], folder: FolderFacts | None, already: Sequence[str]
) -> Iterator[Piece]:
    """Yield a table of files, without the columns that are empty for all of them."""
    files = every[:_MOST_FILES]
    names = [f"{named(file.input)} → {named(file.output)}" for file in files]
    columns = {
        "file": names,
        "format": [file.format for file in files],
        "encoding": [
            f"{file.encoding}{' (a guess)' if file.guessed else ''}"
            if file.encoding not in ("", "utf-8")
            else ""
            for file in files
        ],
        "records": [f"{file.counts.records:,}" for file in files],
        "texts": [f"{file.counts.cells:,}" for file in files],
        "protected columns": [_names(file.columns) for file in files],
        "not protected": [_names(file.counts.other_columns) for file in files],
        "records without a column asked for": [
            f"{file.counts.missing:,}" if file.counts.missing else "" for file in files
        ],
        "left out": [
            ", ".join(f"{number:,} {what}" for what, number in file.counts.left_out)
            for file in files
        ],
        "faulty records": [
            f"{file.counts.faulty:,} {'left out' if file.on_error == 'skip' else 'masked'}"
            if file.counts.faulty
            else ""
            for file in files
        ],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    yield Table(tuple(shown), tuple(zip(*shown.values(), strict=True)))
    if more := len(every) - len(files):
        yield f"And {more:,} more files, which the report in JSON lists."
    if already:
        done = f"{counted(len(already), 'file')} of an earlier run"
        yield f"Beside these, {done} had been complete: this page says nothing about them."
    if folder and folder.left_out:
        yield _left_out(folder)
    for file in files:
        if file.counts.faults:
            faults = file.counts.faults[:_MOST_FAULTS]
            rows = [(f"{fault.record:,}", fault.reason) for fault in faults]
            if file.counts.faulty > len(faults):
                rows.append(("…", f"and {file.counts.faulty - len(faults):,} more"))
            table = Table(("record", "what is wrong with it"), tuple(rows))
            yield Section(f"Faulty records of {named(file.input)}", (table,))
    digests = tuple(
        (name, code(file.input_digest), code(file.output_digest or ""))
        for name, file in zip(names, files, strict=True)
        if file.input_digest
    )
    head = ("file", "digest of the input", "digest of the output")
    yield Section("Digests", (Table(head, digests), _DIGESTS if digests else ""), folded=True)


def _left_out(folder: FolderFacts) -> Section:
    rows = [(named(each.path), each.reason) for each in folder.left_out[:_MOST_FILES]]
    if more := len(folder.left_out) - len(rows):
        rows.append(("…", f"and {more:,} more, which the report in JSON lists"))
    return Section("Left out", (Table(("file", "why it was not copied"), tuple(rows)),))


def _names(names: Iterable[str]) -> str:
    listed = [named(name) for name in names]
    more = [f"and {len(listed) - _MOST_NAMES:,} more"] if len(listed) > _MOST_NAMES else []
    return ", ".join(listed[:_MOST_NAMES] + more)


def _setting(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {each}" for name, each in value.items())
    return str(value)


def method(
    occasion: Occasion,
    mechanism: Mapping[str, Any],
    lexicon: LexiconFacts | None,
    *rows: tuple[str, str],
) -> Section:
    """Return how something was made, and with which versions."""
    values = [f"{k}={v}" for k, v in mechanism.items() if k != "name" and v is not None]
    facts = [
        ("date", occasion.started.isoformat(timespec="seconds")),
        ("seconds", f"{occasion.seconds:,.1f}"),
        ("command", code(occasion.command)),
        ("malaprop", __version__),
        ("mechanism", code(f"{mechanism['name']}({', '.join(values)})")),
    ]
    if lexicon is not None:
        size = f"{lexicon.words:,} words, {lexicon.metric}"
        mark = "fingerprint with graph" if lexicon.metric == Steps.name else "fingerprint"
        facts += [
            ("lexicon", f"{named(lexicon.name or 'a lexicon')}, {size}"),
            (f"its {mark}", code(lexicon.fingerprint)),
        ]
    return Section("Method and versions", (Facts((*facts, *rows)),))
