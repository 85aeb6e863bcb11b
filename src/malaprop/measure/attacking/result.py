"""What an attack recovered."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Group:
    """The words of one group, and the shares of them that were recovered and kept."""

    name: str
    words: int
    score: float
    kept: float


@dataclass(frozen=True, kw_only=True)
class AttackResult:
    """The share of words that an attack recovered, beside what needs no attack.

    All figures are about one draw of the owner's texts. They are for the owner: they depend on the
    text in ways that the guarantee does not cover.
    """

    attack: str
    """The name of the attack."""
    score: float
    """The share of protected words that were recovered exactly, over all places."""
    interval: tuple[float, float]
    """A 95 % interval of the score: bootstrap over texts."""
    baseline: float
    """The better of `kept` and `floor`: what an observer has without any inference."""
    kept: float
    """The share of words that came out unchanged: who takes the output for the word is right."""
    floor: float
    """The share of the word that the prior has for the most frequent: a guess without the text."""
    content: Group
    """The words that are not function words."""
    occurrences: tuple[Group, ...]
    """By the number of times that a word occurs in its text."""
    words: int
    """How many words were attacked."""
    texts: int
    """How many texts have words."""
    likelihoods: str
    """Whether the probabilities were exact, or how they were estimated."""
    prior: str
    """What the observer knows of words beforehand."""
    model: str = ""
    """The fingerprint of the bigram model; empty if none was used."""
    repeat: str = "fresh"
    """`fresh` draws for all words, or one draw per distinct word of a `document`."""
    mechanism: dict[str, object] = field(default_factory=dict)
    """The mechanism with its parameters."""
    options: dict[str, Any] = field(default_factory=dict)
    """The options of the attack."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return asdict(self) | {"interval": list(self.interval)}

    def __str__(self) -> str:
        low, high = self.interval
        kept = f"{self.kept:.1%} came out unchanged"
        content = self.content
        beside = f"{content.kept:.1%} kept (without function words)"
        lines = [
            f"recovered    {self.score:.1%} of {self.words:,} words, by the attack {self.attack}",
            f"interval     {low:.1%} to {high:.1%} (95 %, over {self.texts:,} texts)",
            f"kept         {kept}; guessing the most frequent word recovers {self.floor:.1%}",
            f"content      {content.score:.1%} of {content.words:,} words recovered, {beside}",
        ]
        for number, group in enumerate(self.occurrences):
            title = "occurring" if number == 0 else ""
            lines.append(
                f"{title:12} {group.name} a text: {group.score:.1%} of {group.words:,} recovered, "
                f"{group.kept:.1%} kept"
            )
        lines += [
            f"channel      {self.likelihoods}",
            f"prior        {self.prior}",
        ]
        return "\n".join(lines)
