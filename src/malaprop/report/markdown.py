"""The report of a run as a page of Markdown, for whoever has to sign it."""

from collections.abc import Sequence

from malaprop.core.guarantee import Kind
from malaprop.pipeline.passwords import without_passwords
from malaprop.pipeline.report import AUDIENCE, FileRecord, RunReport, counted
from malaprop.report.markup import bullets as _bullets
from malaprop.report.markup import code as _code
from malaprop.report.markup import table as _table
from malaprop.report.markup import text as _text
from malaprop.report.phrases import (
    NO_CHANCE_OF_GUESSING,
    OTHERWISE,
    PROTECTED,
    best_guess,
    content_words,
    fingerprint_of,
    named,
    parameters,
    repetition,
    setting,
)

_MOST_FAULTS = 100
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
        *_guarantee(report),
        *_treatment(report),
        *_repeated(report),
        *_visible(report),
        *_files(report),
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


def _guarantee(report: RunReport) -> list[str]:
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


def _treatment(report: RunReport) -> list[str]:
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


def _repeated(report: RunReport) -> list[str]:
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


def _files(report: RunReport) -> list[str]:
    parts = ["## Files"]
    for file in report.files:
        parts.append(f"### {_name(file.input)} → {_name(file.output)}")
        parts.append(_table(("", ""), _file(file)))
        if file.counts.faults:
            parts.append(_faults(file))
    if any(file.input_digest for file in report.files):
        parts.append(_DIGESTS)
    return parts


def _file(file: FileRecord) -> list[tuple[str, str]]:
    counts, layout = file.counts, file.layout
    rows = [
        ("format", layout.format),
        ("records", f"{counts.records:,}"),
        ("texts", f"{counts.cells:,}"),
        ("protected columns", _names(layout.columns)),
        ("**not protected**", _names(counts.other_columns)),
        ("records without a column asked for", f"{counts.missing:,}" if counts.missing else ""),
        ("digest of the input", _code(file.input_digest or "")),
        ("digest of the output", _code(file.output_digest or "")),
    ]
    if counts.faulty:
        done = "left out" if layout.on_error == "skip" else "texts masked"
        rows.append((f"faulty records, {done}", f"{counts.faulty:,}"))
    return [row for row in rows if row[1]]


def _faults(file: FileRecord) -> str:
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
        ("lexicon", f"{_name(lexicon.name)}, {lexicon.words:,} words, {lexicon.metric}"),
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


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(_name, names))


def _name(name: str) -> str:
    return _text(named(without_passwords(name)))
