"""What may be published."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from malaprop._version import __version__
from malaprop.core import html
from malaprop.core.guarantee import Guarantee

VISIBLE = ("protected", "masked", "public_markup")
"""Counts that anybody can read off the private text itself."""
WORDLESS = (
    "the text has no words: its signs are shown as they are, and nothing is promised for them"
)
"""What is said of a text that is signs alone, as Morse code is. Anybody can see that it is so."""


@dataclass(frozen=True, kw_only=True)
class Release:
    """A private text with its guarantee. All that `to_dict` holds may be published.

    `counts` is for the owner of the text only: how many words were in the lexicon, mapped to
    it, dropped and so on depends on the input in ways that the guarantee does not cover, so
    `to_dict` leaves those counts out. How many words came back unchanged is not counted at all:
    together with the private text, it would give words away.
    """

    text: str
    """The private text."""
    guarantee: Guarantee
    """What is promised for the whole text."""
    counts: Mapping[str, int] = field(repr=False)
    """How many tokens of the text were treated in which way; for the owner of the text."""
    mechanism: Mapping[str, object] = field(repr=False)
    """Name and parameters of the mechanism."""
    lexicon: Mapping[str, str] = field(repr=False)
    """Name and fingerprint of the lexicon."""
    policy: Mapping[str, object] = field(repr=False)
    """How words outside the lexicon, values and punctuation were treated."""
    randomness: str
    """`secure`, or `seeded: not private`."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the guarantee does not say: that there was nothing to protect."""
        return (WORDLESS,) if self.counts.get("wordless") else ()

    def to_dict(self) -> dict[str, object]:
        """Return the release as plain values for JSON."""
        return {
            "text": self.text,
            "guarantee": self.guarantee.to_dict(),
            "warnings": list(self.warnings),
            "counts": {name: self.counts[name] for name in VISIBLE if name in self.counts},
            "mechanism": dict(self.mechanism),
            "lexicon": dict(self.lexicon),
            "policy": dict(self.policy),
            "randomness": self.randomness,
            "malaprop": __version__,
        }

    def _repr_html_(self) -> str:
        """Return the release for a notebook: like `to_dict`, only what may be published."""
        values = [f"{k}={v}" for k, v in self.mechanism.items() if k != "name" and v is not None]
        rows = [
            ("warnings", "; ".join(self.warnings)),
            ("guarantee", str(self.guarantee)),
            ("words", f"{self.counts['protected']:,}"),
            ("mechanism", f"{self.mechanism['name']}({', '.join(values)})"),
            ("lexicon", self.lexicon["name"] or self.lexicon["fingerprint"][:12]),
            ("policy", ", ".join(f"{name}={value}" for name, value in self.policy.items())),
            ("randomness", self.randomness),
        ]
        return html.paragraph(self.text) + html.facts(rows)

    def __str__(self) -> str:
        return self.text
