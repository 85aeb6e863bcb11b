"""The report of a run for a terminal."""

import textwrap

from malaprop.core.guarantee import Kind
from malaprop.pipeline.passwords import without_passwords
from malaprop.pipeline.report import FileRecord, LexiconFacts, RunReport, counted
from malaprop.report.phrases import (
    NO_CHANCE_OF_GUESSING,
    OTHERWISE,
    PROTECTED,
    best_guess,
    fingerprint_of,
    listed,
    named,
    parameters,
    repetition,
)

_MOST_NAMES = 20  # columns that are named; the JSON names all
_MOST_FAULTS = 5  # likewise


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
        *_repeated(report),
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


def _repeated(report: RunReport) -> list[str]:
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
        done = "left out" if file.layout.on_error == "skip" else "masked"
        lines.append(f"            {done}: {_faults(file)}")
    return lines


def _faults(file: FileRecord) -> str:
    faulty, shown = file.counts.faulty, file.counts.faults[:_MOST_FAULTS]
    if not shown:  # on a cluster, no task knows the positions of its records
        return counted(faulty, "record")
    faults = [f"{fault.record:,} {fault.reason}" for fault in shown]
    more = [f"and {faulty - _MOST_FAULTS:,} more"] if faulty > _MOST_FAULTS else []
    return f"record {', '.join(faults + more)}"
