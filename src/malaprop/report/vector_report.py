"""The report of released vectors: a value, and the same facts as text, Markdown, HTML and
JSON.
"""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from malaprop._version import __version__
from malaprop.measure.vector_noise import NoiseAndScale
from malaprop.privacy.guarantee import Guarantee, Kind
from malaprop.private_files import without_passwords
from malaprop.report.page import (
    Bullets,
    Facts,
    Page,
    Section,
    counted,
    is_web_page,
    json_text,
    named,
    render,
    report_path,
)
from malaprop.report.run_report import (
    LexiconFacts,
    Occasion,
    as_bytes,
    parameters,
)

AUDIENCE = "For the owner of the data, not for publication."
NO_SCALE = (
    "nobody said how far apart such vectors are, so nothing tells whether this ε leaves anything "
    "of them, or protects anything: give `scale`, a typical distance of two of them, or `public` "
    "vectors of the same kind"
)
Rows = list[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class EmbeddedTexts:
    """What texts were embedded with, and what was in them."""

    lexicon: LexiconFacts
    words: int
    """How many words all texts have."""
    wordless: int
    """How many texts have none: their centroid is taken to be 0."""
    nearest_words: float
    """The median distance of a word of the lexicon to its nearest one."""

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        return {**vars(self), "lexicon": vars(self.lexicon).copy()}


@dataclass(frozen=True, kw_only=True)
class VectorReport:
    """What `release_files` or `embed_files` did: guarantee, scale of the noise, and the files."""

    occasion: Occasion
    guarantee: Guarantee
    randomness: str
    mechanism: Mapping[str, Any]
    input: str
    output: str
    format: str
    part: str
    """The array or the column that was read, where a file can have several."""
    rows: int
    columns: int
    """Of the true vectors."""
    released_columns: int
    beside: tuple[str, ...]
    """What stands in the output as it is, and is not protected."""
    left_out: tuple[str, ...]
    """What the output does not have."""
    scale: NoiseAndScale | None
    cautions: tuple[str, ...] = ()
    texts: EmbeddedTexts | None = None
    input_digest: str | None = None
    output_digest: str | None = None
    already: bool = False
    """Whether an earlier run had completed the output: nothing was done."""
    version: str = __version__

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know: about the guarantee, and at which end of the range ε is."""
        said = self.cautions + (self.scale.warnings if self.scale else ())
        return tuple(text.replace("`", "") for text in said)  # a page names parameters as words

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
            "mechanism": dict(self.mechanism),
            "warnings": list(self.warnings),
            "scale": self.scale.to_dict() if self.scale else None,
            "input": without_passwords(self.input),
            "output": without_passwords(self.output),
            "input_digest": self.input_digest,
            "output_digest": self.output_digest,
            "format": self.format,
            "part": self.part,
            "rows": self.rows,
            "columns": self.columns,
            "released_columns": self.released_columns,
            "not_protected": list(self.beside),
            "left_out": list(self.left_out),
            "texts": self.texts.to_dict() if self.texts else None,
        }


def rendered_vectors(report: VectorReport, path: Path) -> bytes:
    """Return the bytes of the report in the form that its file's name says."""
    if report_path(path).name.lower().endswith(".json"):
        content = json_text(report.to_dict())
    else:
        page = vector_page(report)
        content = render(page, "html" if is_web_page(path) else "markdown")
    return as_bytes(content)


def readable_vectors(report: VectorReport, width: int = 96) -> str:
    """Return the report for a terminal, wrapped to a width, without the warnings."""
    lines = [f"{name:<12}{value}" for _, rows in _sections(report) for name, value in rows]
    indent = " " * 12
    return "".join(
        textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False) + "\n"
        for line in lines
    )


def vector_page(report: VectorReport) -> Page:
    """Return the report as a page."""
    about = "a vector" if report.texts is None else "a text"
    beside = (
        *map(_name, report.beside),
        "how many vectors there are, and in which order",
        f"what {about} is about, as far as a noisy place among others tells",
    )
    sections = [Section(title, (Facts(tuple(rows)),)) for title, rows in _sections(report)]
    sections.insert(1, Section("What is not protected", (Bullets(beside),)))
    return Page(
        title="Report of private vectors",
        audience=AUDIENCE,
        figures=_figures(report),
        warnings=report.warnings,
        sections=tuple(sections),
    )


def _figures(report: VectorReport) -> tuple[tuple[str, str], ...]:
    none = report.guarantee.kind is Kind.NONE
    figures = [
        (f"{report.rows:,}", "vectors released"),
        ("none" if none else f"ε = {report.guarantee.epsilon:g}", "guarantee"),
    ]
    if (scale := report.scale) is not None:
        figures += [
            (f"{scale.ratio:.3g}", "is the length of the noise, in typical distances"),
            (f"{scale.told_apart:.0%}", "of guesses between two typical candidates are right"),
        ]
    return tuple(figures)


def _sections(report: VectorReport) -> list[tuple[str, Rows]]:
    """Return the facts under their headings; those that do not apply are left out."""
    every = [
        ("What is guaranteed", _promise(report)),
        ("How the noise compares", _compared(report.scale)),
        ("Files", _files(report)),
        ("The run", _run(report)),
    ]
    shown = [(title, [row for row in rows if row[1]]) for title, rows in every]
    return [section for section in shown if section[1]]


def _promise(report: VectorReport) -> list[tuple[str, str]]:
    guarantee = report.guarantee
    return [
        ("Guarantee", str(guarantee)),
        (
            "",
            _one_word(report)
            if report.texts
            else "Releasing the same vectors again costs ε again.",
        ),
        ("Public", "; ".join(guarantee.public)),
        ("Arithmetic", guarantee.numerics),
    ]


def _one_word(report: VectorReport) -> str:
    return (
        "Two texts of n words that differ in one of them have centroids d/n apart, d being the "
        f"distance of the two words, so that a loss of {report.guarantee.epsilon:g}·d/n remains: "
        "long texts protect their words more than short ones."
    )


def _compared(scale: NoiseAndScale | None) -> list[tuple[str, str]]:
    if scale is None:
        return []
    rows = [
        (
            "Noise",
            (
                f"{scale.noise:.4g} long (root mean square), {scale.ratio:.3g} times the typical "
                f"distance of two vectors, {scale.distance:.4g} ({scale.source})"
            ),
        ),
        (
            "Observer",
            "of two candidates a typical distance apart, the nearer one is the true one in about "
            f"{scale.told_apart:.1%} of cases"
            + ("" if scale.loss is None else f"; the odds change by e^{scale.loss:.3g} at most"),
        ),
    ]
    if (figures := scale.figures) is not None:
        rows.append(
            (
                "Sample",
                (
                    f"released, {figures.candidates:,} public vectors have distances with a "
                    f"correlation of {figures.correlation:.2f} with the true ones, and "
                    f"{figures.inversion:.1%} of them are found again by taking the nearest"
                ),
            )
        )
    return rows


def _files(report: VectorReport) -> list[tuple[str, str]]:
    rows = [
        (
            "File",
            (
                f"{_name(report.input)} → {_name(report.output)}: "
                f"{counted(report.rows, 'vector')}, {report.columns} columns to "
                f"{report.released_columns}"
            ),
        ),
        ("Part", _name(report.part) if report.part else ""),
        ("Unprotected", ", ".join(map(_name, report.beside))),
        ("Left out", ", ".join(map(_name, report.left_out))),
    ]
    if report.texts:
        facts = report.texts
        rows.append(
            (
                "Texts",
                (
                    f"{counted(facts.words, 'word')}; {counted(facts.wordless, 'text')} without "
                    "words, taken to be 0"
                ),
            )
        )
    digests = [report.input_digest, report.output_digest]
    rows.append(("Digests", " → ".join(filter(None, digests))))
    return rows


def _run(report: VectorReport) -> list[tuple[str, str]]:
    rows = [("Mechanism", parameters(report.mechanism))]
    if report.texts:
        lexicon = report.texts.lexicon
        near = f"the nearest word is {report.texts.nearest_words:.3g} away, in the median"
        rows.append(("Lexicon", f"{_name(lexicon.name)}, {lexicon.words:,} words; {near}"))
        rows.append(("Its fingerprint", lexicon.fingerprint))
    return [
        *rows,
        ("Randomness", report.randomness),
        ("Date", report.occasion.started.isoformat(timespec="seconds")),
        ("Seconds", f"{report.occasion.seconds:,.1f}"),
        ("Command", _name(report.occasion.command)),
        ("Malaprop", report.version),
    ]


def _name(name: str) -> str:
    return named(without_passwords(name)) if name else ""
