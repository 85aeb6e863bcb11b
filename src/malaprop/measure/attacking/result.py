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
    """How far an attack got, beside what needs no attack.

    The figures are for the owner of the texts: they depend on the text in ways that the guarantee
    does not cover.
    """

    attack: str
    """The name of the attack."""
    score: float
    """The share of words recovered, the accuracy of labels, or the area under the curve."""
    interval: tuple[float, float]
    """A 95 % interval of the score."""
    spread: str = ""
    """What the interval is over: texts, splits, draws of the noise."""
    values: tuple[float, ...] = ()
    """The score of each draw of the noise; for attacks on labels, each has its own split."""
    baseline: float
    """What an observer has without any inference."""
    mechanism: dict[str, object] = field(default_factory=dict)
    """The mechanism with its parameters."""
    options: dict[str, Any] = field(default_factory=dict)
    """The options of the attack."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return asdict(self) | {"interval": list(self.interval), "values": list(self.values)}


@dataclass(frozen=True, kw_only=True)
class RecoveredWords(AttackResult):
    """The share of protected words that an attack recovered exactly, over all places.

    `baseline` is the better of `kept` and `floor`. With several draws of the noise, shares are over
    all of them.
    """

    kept: float
    """The share of words that came out unchanged: who takes the output for the word is right."""
    floor: float
    """The share of the word that the prior has for the most frequent: a guess without the text."""
    content: Group
    """The words that are not function words."""
    occurrences: tuple[Group, ...]
    """By the number of times that a word occurs in its text."""
    words: int
    """How many words were attacked, in each draw."""
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

    def __str__(self) -> str:
        low, high = self.interval
        kept = f"{self.kept:.1%} came out unchanged"
        content = self.content
        beside = f"{content.kept:.1%} kept (without function words)"
        lines = [
            f"recovered    {self.score:.1%} of {self.words:,} words, by the attack {self.attack}",
            f"interval     {low:.1%} to {high:.1%} (95 %: {self.spread})",
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


@dataclass(frozen=True, kw_only=True)
class InferredLabels(AttackResult):
    """How well an attack told labels, or members, from private texts.

    `baseline` is always saying the most frequent label (0.5 for membership).
    """

    measured: str
    """What the score is: accuracy, or the area under the curve."""
    trained_on: str
    """What the attacker trains on: `clean text` (static) or `private text` (adaptive)."""
    unprotected: float
    """The same attack on the texts as they are: how much there is to protect."""
    random_words: float
    """The same attack on texts with random words: what length and punctuation give away."""
    texts: int
    """How many distinct texts took part."""
    labels: int
    """How many labels they have."""
    left_out: int = 0
    """How many texts were left out: repeated ones, and those of labels with too few texts."""

    def __str__(self) -> str:
        low, high = self.interval
        lines = [
            (
                f"inferred     {self.measured} {self.score:.3f} by the attack {self.attack}, "
                f"trained on {self.trained_on}"
            ),
            f"interval     {low:.3f} to {high:.3f} (95 %: {self.spread})",
            f"baseline     {self.baseline:.3f} without any text",
            f"unprotected  {self.unprotected:.3f} on the texts as they are",
            f"random words {self.random_words:.3f} with a random word for each word",
            f"texts        {self.texts:,}, with {self.labels:,} labels; {self.left_out:,} left out",
        ]
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class FoundVectors(AttackResult):
    """The share of words that were recovered from released vectors."""

    floor: float
    """The share of the most frequent word of public text: a guess without the vectors."""
    unprotected: float
    """The same attack on vectors without noise."""
    control: float
    """The same guesses for other places of the text: what chance recovers."""
    candidates: int
    """How many words the attacker chose from."""
    surviving: float | None = None
    """For the attack on floating point: how many words can have led to a vector, on average."""
    words: int
    """How many released vectors were attacked."""

    def __str__(self) -> str:
        low, high = self.interval
        lines = [
            (
                f"recovered    {self.score:.1%} of {self.words:,} words from their vectors, by the "
                f"attack {self.attack}"
            ),
            f"interval     {low:.1%} to {high:.1%} (95 %: {self.spread})",
            (
                f"baseline     {self.baseline:.1%}; guessing the most frequent word recovers "
                f"{self.floor:.1%}"
            ),
            f"unprotected  {self.unprotected:.1%} without noise",
            f"control      {self.control:.1%} with the vectors of other words",
            f"candidates   {self.candidates:,} words",
        ]
        if self.surviving is not None:
            lines.append(f"surviving    {self.surviving:,.1f} of them fit a vector, on average")
        return "\n".join(lines)
