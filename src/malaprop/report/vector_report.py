"""The report of released vectors: a value, and the page that people read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from malaprop._version import __version__
from malaprop.measure.vector_noise import NoiseAndScale
from malaprop.privacy.guarantee import Guarantee, Kind
from malaprop.private_files import without_passwords
from malaprop.report.page import Bullets, Facts, Page, Section, code, counted, named
from malaprop.report.promise import factor, promise_pieces
from malaprop.report.run_report import LexiconFacts, Occasion, method, summary_page

_FACTS = ["input_digest", "output_digest", "format", "part", "rows", "columns", "released_columns"]
AUDIENCE = "For the owner of the data, not for publication."
NO_SCALE = (
    "nobody said how far apart such vectors are, so nothing tells whether this ε leaves anything "
    "of them, or protects anything: give `scale`, a typical distance of two of them, or `public` "
    "vectors of the same kind"
)


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
        return {
            "audience": AUDIENCE,
            "malaprop": self.version,
            **self.occasion.to_dict(),
            "guarantee": self.guarantee.to_dict(),
            "randomness": self.randomness,
            "mechanism": dict(self.mechanism),
            "warnings": list(self.warnings),
            "scale": self.scale.to_dict() if self.scale else None,
            "input": without_passwords(self.input),
            "output": without_passwords(self.output),
            **{name: getattr(self, name) for name in _FACTS},
            "not_protected": list(self.beside),
            "left_out": list(self.left_out),
            "texts": self.texts.to_dict() if self.texts else None,
        }

    def page(self) -> Page:
        none, scale, texts = self.guarantee.kind is Kind.NONE, self.scale, self.texts
        figures = [
            (f"{self.rows:,}", "vectors released"),
            ("none" if none else f"ε = {self.guarantee.epsilon:g}", "guarantee"),
        ]
        if scale is not None:
            figures += [
                (f"{scale.ratio:.3g}", "is the length of the noise, in typical distances"),
                (f"{scale.told_apart:.0%}", "of guesses between two typical candidates are right"),
            ]
        size = f"{self.columns} columns to {self.released_columns}"
        files = [
            (
                "file",
                (
                    f"{named(self.input)} → {named(self.output)}: "
                    f"{counted(self.rows, 'vector')}, {size}"
                ),
            ),
            ("part", _listed([self.part])),
            ("not protected", _listed(self.beside)),
            ("left out", _listed(self.left_out)),
            ("digest of the input (keyed)", code(self.input_digest or "")),
            ("digest of the output (keyed)", code(self.output_digest or "")),
        ]
        made = [("randomness", self.randomness)]
        if texts:
            wordless = f"{counted(texts.wordless, 'text')} without words, taken to be 0"
            files.append(("texts", f"{counted(texts.words, 'word')}; {wordless}"))
            near = f"the nearest word is {texts.nearest_words:.3g} away, in the median"
            made.append(("distances of words", near))
        return Page(
            title="Report of private vectors",
            audience=AUDIENCE,
            figures=tuple(figures),
            warnings=self.warnings,
            sections=(
                Section("What is guaranteed", promise_pieces(self.guarantee, *_promise(self))),
                Section("What is not protected", (Bullets(_visible(self)),)),
                Section("How the noise compares", (Facts(_compared(scale)),)),
                Section("Files", (Facts(tuple(files)),)),
                method(self.occasion, self.mechanism, texts.lexicon if texts else None, *made),
            ),
        )

    def summary(self, where: str) -> Page:
        promised, *_ = _promise(self) or [str(self.guarantee)]
        work = f"{counted(self.rows, 'vector')} of {named(self.input)}"
        return summary_page(promised, "; ".join(_visible(self)), f"{work}; {where}")


def _promise(report: VectorReport) -> tuple[str, ...]:
    guarantee, scale = report.guarantee, report.scale
    if guarantee.kind is not Kind.METRIC or guarantee.delta:
        return ()
    typical = (
        f": two that are a typical distance apart by a factor of at most {factor(scale.loss)}"
        if scale is not None and scale.loss is not None
        else ""
    )
    told = (
        f"With ε = {guarantee.epsilon:g}, what comes out shifts the odds between two vectors that "
        f"may have gone in, the less the nearer they are to each other{typical}."
    )
    one_word = (
        "Two texts of n words that differ in one of them have centroids d/n apart, d being the "
        f"distance of the two words, so that a loss of {guarantee.epsilon:g}·d/n remains: long "
        "texts protect their words more than short ones."
    )
    return told, one_word if report.texts else "Releasing the same vectors again costs ε again."


def _visible(report: VectorReport) -> tuple[str, ...]:
    about = "a vector" if report.texts is None else "a text"
    return (
        *map(named, report.beside),
        "how many vectors there are, and in which order",
        f"what {about} is about, as far as a noisy place among others tells",
    )


def _compared(scale: NoiseAndScale | None) -> tuple[tuple[str, str], ...]:
    if scale is None:
        return ()
    odds = "" if scale.loss is None else f"; the odds change by e^{scale.loss:.3g} at most"
    rows = [
        (
            "noise",
            (
                f"{scale.noise:.4g} long (root mean square), {scale.ratio:.3g} times the typical "
                f"distance of two vectors, {scale.distance:.4g} ({scale.source})"
            ),
        ),
        (
            "observer",
            (
                "of two candidates a typical distance apart, the nearer one is the true one in "
                f"about {scale.told_apart:.1%} of cases{odds}"
            ),
        ),
    ]
    if (figures := scale.figures) is not None:
        rows.append(
            (
                "sample",
                (
                    f"released, {figures.candidates:,} public vectors have distances with a "
                    f"correlation of {figures.correlation:.2f} with the true ones, and "
                    f"{figures.inversion:.1%} of them are found again by taking the nearest"
                ),
            )
        )
    return tuple(rows)


def _listed(names: "tuple[str, ...] | list[str]") -> str:
    return ", ".join(named(name) for name in names if name)
