"""The report of a run over files: what was protected, how, and what stays visible.

It is for the owner of the text. Its counts depend on the input in ways that the guarantee does
not cover, so it says of itself that it is not for publication.
"""

import json
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from malaprop._version import __version__
from malaprop.core.guarantee import Kind
from malaprop.core.randomness import SECURE
from malaprop.pipeline.files import FileCounts, Layout
from malaprop.pipeline.privatizer import Privatizer

_LITTLE_PROTECTION = 0.9
_LITTLE_LEFT = 0.01
_MOST_NAMES = 20  # columns that the readable report names; the JSON names all
_MOST_FAULTS = 5  # likewise
_AUDIENCE = (
    "For the owner of the text, not for publication: the counts depend on the input in ways that "
    "the guarantee does not cover."
)
_TAGS = {
    "in_lexicon": "in the lexicon",
    "mapped": "mapped to words of it",
    "numbers": "as numbers",
    "urls": "as web addresses",
    "emails": "as e-mail addresses",
    "mentions": "as mentions",
    "hashtags": "as hashtags",
    "emoji": "as emoji or symbols",
}


@dataclass(frozen=True, kw_only=True)
class FileRecord:
    """One input and what became of it."""

    input: str
    output: str
    layout: Layout
    counts: FileCounts

    def to_dict(self) -> dict[str, Any]:
        """The record as plain values."""
        return {
            "input": self.input,
            "output": self.output,
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


def run_report(
    privatizer: Privatizer, files: Sequence[FileRecord], counts: Counter[str], share: float
) -> dict[str, Any]:
    """The report of a run as plain values that JSON can hold.

    `share` is the share of words that are expected to stay: `unchanged_share(channel)`.
    """
    lexicon = privatizer.lexicon
    return {
        "audience": _AUDIENCE,
        "malaprop": __version__,
        "guarantee": privatizer.guarantee.to_dict(),
        "randomness": privatizer.randomness,
        "expected_share_unchanged": round(share, 4),
        "warnings": warnings(privatizer, share),
        "hint": privatizer.channel.hint,
        "counts": dict(counts),
        "visible": visible(privatizer),
        "files": [file.to_dict() for file in files],
        "mechanism": privatizer.mechanism.to_dict(),
        "policy": privatizer.policy.to_dict(),
        "lexicon": {
            "name": lexicon.name,
            "words": len(lexicon),
            "dimension": lexicon.vectors.shape[1],
            "metric": str(lexicon.metric),
            "fingerprint": lexicon.fingerprint,
        },
    }


def visible(privatizer: Privatizer) -> list[str]:
    """What anybody can still see in the private text, outside the guarantee."""
    shown = ["how many words there are, and in which places"]
    kept = privatizer.policy.punctuation == "keep"
    shown.append("punctuation and spacing" if kept else "line breaks between words")
    if privatizer.policy.unknown == "mask":
        shown.append("which words are not in the lexicon (masked)")
    if privatizer.policy.unknown == "keep":
        shown.append("the words that are not in the lexicon, as they are")
    return shown


def warnings(privatizer: Privatizer, share: float) -> list[str]:
    """What a user should know before all the work is done."""
    found = []
    if privatizer.guarantee.kind is Kind.NONE:
        found.append(f"NOTHING IS GUARANTEED: {privatizer.guarantee.reason}")
    if privatizer.randomness != SECURE:
        found.append(
            "made with a seed: NOT PRIVATE. Whoever knows the seed can undo it; the guarantee "
            "holds only for a run without one"
        )
    if share >= _LITTLE_PROTECTION:
        found.append(
            f"this epsilon protects next to nothing: {share:.0%} of the lexicon's words are "
            "expected to stay as they are. Take a smaller one"
        )
    elif share <= _LITTLE_LEFT:
        found.append(
            f"this epsilon leaves next to nothing of the text: {share:.2%} of the lexicon's words "
            "are expected to stay. Take a larger one if the text is to be of use"
        )
    return found


def fault_warnings(report: dict[str, Any]) -> list[str]:
    """What a user should know of records that could not be processed: never what they held."""
    return [
        f"{_count(file['faulty_records'], 'record')} of {file['input']} could not be processed: "
        + ("left out" if file["on_error"] == "skip" else "texts masked")
        for file in report["files"]
        if file["faulty_records"]
    ]


def readable(report: dict[str, Any], width: int = 96) -> str:
    """The report for people, in lines of a width; the warnings have been said before the work."""
    return "".join(f"{_wrapped(line, width)}\n" for line in _sections(report))


def as_json(report: dict[str, Any]) -> bytes:
    """The report as a JSON file."""
    text = json.dumps(report, indent=2, ensure_ascii=False, allow_nan=False)
    # Names of files and columns may hold half characters; their escapes are JSON's own.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _sections(report: dict[str, Any]) -> list[str]:
    lines = [f"Guarantee   {report['guarantee']['statement']}"]
    if report["guarantee"]["kind"] != "none":
        lines.append("            Where texts differ in several words, the losses add up.")
        lines.append(f"Arithmetic  {report['guarantee']['numerics']}")
    lines += [
        f"Mechanism   {_parameters(report['mechanism'])} on {_named(report['lexicon'])}",
        f"Randomness  {report['randomness']}",
        f"Unchanged   {report['expected_share_unchanged']:.0%} of words, expected over the lexicon",
        f"{_protected_or_not(report):<12}{_protected(report['counts'])}",
        *_other_counts(report["counts"]),
        f"Visible     {'; '.join(report['visible'])}",
    ]
    if report["hint"]:
        lines.append(f"Hint        {report['hint']}")
    for file in report["files"]:
        lines += _file_lines(file)
    return lines


def _wrapped(line: str, width: int) -> str:
    return textwrap.fill(line, width, subsequent_indent=" " * 12, break_on_hyphens=False)


def _named(lexicon: dict[str, Any]) -> str:
    size = f"{lexicon['words']:,} words, {lexicon['metric']}, {lexicon['fingerprint'][:12]}"
    return f"{lexicon['name'] or 'a lexicon'} ({size})"


def _parameters(mechanism: dict[str, Any]) -> str:
    values = [f"{k}={v}" for k, v in mechanism.items() if k != "name" and v is not None]
    return f"{mechanism['name']}({', '.join(values)})"


def _protected_or_not(report: dict[str, Any]) -> str:
    return "Replaced" if report["guarantee"]["kind"] == "none" else "Protected"


def _protected(counts: dict[str, int]) -> str:
    parts = [f"{counts[tag]:,} {text}" for tag, text in _TAGS.items() if counts.get(tag)]
    return _count(counts.get("protected", 0), "word") + (f": {', '.join(parts)}" if parts else "")


def _other_counts(counts: dict[str, int]) -> list[str]:
    names = {
        "masked": "masked",
        "dropped": "dropped",
        "kept": "KEPT AS THEY ARE, without protection",
        "removed": "invisible characters removed",
    }
    parts = [f"{counts[tag]:,} {text}" for tag, text in names.items() if counts.get(tag)]
    return [f"Otherwise   {', '.join(parts)}"] if parts else []


def _file_lines(file: dict[str, Any]) -> list[str]:
    records = _count(file["records"], "record")
    lines = [f"File        {file['input']} → {file['output']}: {records}"]
    if others := file["unprotected_columns"]:
        named = [_printable(name) for name in others[:_MOST_NAMES]]
        more = [f"and {len(others) - _MOST_NAMES:,} more"] if len(others) > _MOST_NAMES else []
        lines.append(f"            not protected: {', '.join(named + more)}")
    if lacking := file["records_without_the_column"]:
        lines.append(f"            without a column asked for: {_count(lacking, 'record')}")
    if faulty := file["faulty_records"]:
        shown = file["faults"][:_MOST_FAULTS]
        faults = [f"{fault['record']:,} {fault['reason']}" for fault in shown]
        more = [f"and {faulty - _MOST_FAULTS:,} more"] if faulty > _MOST_FAULTS else []
        done = "left out" if file["on_error"] == "skip" else "masked"
        # Where many machines share the work, nobody knows the records' numbers.
        told = f"record {', '.join(faults + more)}" if faults else _count(faulty, "record")
        lines.append(f"            {done}: {told}")
    return lines


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)


def _printable(name: str) -> str:
    """A name from a file, which could hold anything: also what a terminal takes for orders."""
    return name if name.strip() and name.isprintable() else ascii(name)
