"""What all pages about measurements share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from malaprop._version import __version__
from malaprop.core.guarantee import Guarantee
from malaprop.core.space import MetricSpace
from malaprop.pipeline.report import Occasion
from malaprop.report.page import Bullets, Facts, Paragraph, Section
from malaprop.report.phrases import fingerprint_of, named, parameters

PUBLIC: Final = "Computed from public data alone: the mechanism and the lexicon."
DESCRIPTIVE: Final = (
    "The figures describe what the mechanism does to words. The guarantee is another matter: it "
    "holds for every word, also where a figure looks bad, and a good figure proves none."
)
NO_CONTEXT: Final = (
    "The observer here sees one word at a time. Context and repetition raise what is learned, "
    "sometimes to twice as much: malaprop attack context measures it on your own text."
)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What was measured, when, and by which command."""

    occasion: Occasion
    mechanism: Mapping[str, Any]
    lexicon: MetricSpace | None = None
    name: str = ""
    """What the lexicon was called."""
    guarantee: Guarantee | str = ""

    def method(self, *rows: tuple[str, str]) -> Section:
        """Return how it was measured, and with which versions."""
        return Section(
            "Method and versions",
            (
                Facts(
                    (
                        *rows,
                        ("date", self.occasion.started.isoformat(timespec="seconds")),
                        ("seconds", f"{self.occasion.seconds:,.1f}"),
                        ("command", named(self.occasion.command or "none")),
                        ("malaprop", __version__),
                        ("mechanism", parameters(self.mechanism)),
                        *self._of_lexicon(),
                    )
                ),
            ),
        )

    def _of_lexicon(self) -> list[tuple[str, str]]:
        space = self.lexicon
        if space is None:
            return []
        rows = [("lexicon", f"{named(self.name)}, {len(space):,} words, {space.metric}")]
        fingerprint = getattr(space, "fingerprint", "")
        return [*rows, (f"its {fingerprint_of(space.metric)}", str(fingerprint))]

    def promise(self) -> Section:
        """Return what is guaranteed."""
        return Section("What is guaranteed", (Paragraph(str(self.guarantee)),))


def not_said(*lines: str) -> Section:
    """Return what a page does not say."""
    return Section("What this does not say", (Bullets(lines),))
