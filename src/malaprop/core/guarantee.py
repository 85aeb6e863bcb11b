"""What a mechanism promises, as a value that can be inspected, compared and printed."""

import math
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from numbers import Integral

from malaprop.core import html
from malaprop.core.errors import ParameterError
from malaprop.core.proofs import proved

PUBLIC = ("the lexicon", "the mechanism and its parameters")
"""What every guarantee assumes to be public."""
EACH_WORD = "word"
"""Each occurrence of a word has a draw of its own."""
EACH_DISTINCT_WORD = "distinct word"
"""All occurrences of a word in a text share one draw."""
_NO_OTHER_PATTERN = (
    " Nothing is promised where other places hold equal words: this is neither more nor less than "
    "what fresh draws promise."
)

ANY_TWO_WORDS = "any two words of the lexicon"


@proved("docs/proofs/audit.md")
class Kind(StrEnum):
    """The notions of privacy that a mechanism can attain.

    `METRIC`: ln Pr[y|w] − ln Pr[y|w'] ≤ ε·d(w, w') for all words and outputs.
    `NEIGHBOURHOOD`: (ε, δ) between words of the same public neighbourhood.
    `BOUNDED`: (ε, δ) between words within a given distance.
    `NONE`: nothing is promised; the guarantee's `reason` says why.
    """

    METRIC = "metric-dp"
    NEIGHBOURHOOD = "neighbourhood-dp"
    BOUNDED = "bounded-dp"
    NONE = "none"


@proved("docs/proofs/audit.md")
@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A privacy guarantee: what is promised, for which pairs, and under which assumptions.

    >>> one = Guarantee(kind=Kind.METRIC, epsilon=2.0, metric="euclidean", cap=3.0)
    >>> one.loss(1.0), one.loss(10.0)
    (2.0, 6.0)
    >>> one.for_words(5).loss(10.0)
    20.0
    """

    kind: Kind
    """Which notion of privacy."""
    epsilon: float
    """The ε that was asked for: loss per unit of distance."""
    metric: str
    """The name of the metric that distances are measured in."""
    lexicon: str = ""
    """The fingerprint of the lexicon that the distances belong to."""
    delta: float = 0.0
    """The δ in Pr[S | w] ≤ e^loss·Pr[S | w'] + δ."""
    cap: float = math.inf
    """The distance beyond which the loss of one word grows no further (TEM's γ)."""
    radius: float = math.inf
    """For `bounded-dp`: the largest distance between two words that are protected."""
    zcdp: float = math.inf
    """ρ per squared distance, if known: words d apart are zcdp·min(d, γ)²-zCDP."""
    equivalents: tuple[tuple[str, float], ...] = ()
    """The same guarantee in other metrics: their names, each with its ε."""
    words: int = 1
    """How many words the guarantee is for; distances add up over the positions."""
    per: str = EACH_WORD
    """What has a draw of its own: each "word" of a text, or each "distinct word"."""
    pairs: str = ANY_TWO_WORDS
    """Which pairs of words are protected from each other."""
    texts: str = ""
    """For texts: what any two of them must have in common, apart from the words that differ."""
    public: tuple[str, ...] = PUBLIC
    """What is assumed to be public."""
    proof: str = ""
    """The page with the proof."""
    numerics: str = ""
    """What floating-point arithmetic adds to the loss."""
    reason: str = ""
    """For `none`: why nothing is promised."""

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < math.inf:
            raise ParameterError(
                f"The 'epsilon' of a guarantee must be finite and above 0. Got {self.epsilon!r}."
            )
        for name in ("delta", "cap", "radius"):
            if not getattr(self, name) >= 0:
                raise ParameterError(
                    f"The '{name}' of a guarantee must be 0 or more. Got {getattr(self, name)!r}."
                )
        if self.per not in (EACH_WORD, EACH_DISTINCT_WORD):
            raise ParameterError(
                f"The 'per' of a guarantee must be '{EACH_WORD}' or '{EACH_DISTINCT_WORD}'."
            )

    def loss(self, distance: float) -> float:
        """Return the largest log-ratio of probabilities, in nats, between inputs `distance` apart.

        For `bounded-dp` and `neighbourhood-dp` it is ε, up to the δ, for the covered pairs.
        """
        if self.kind is Kind.NONE:
            return math.inf
        if not distance >= 0:
            raise ParameterError(f"A distance must be 0 or more. Got {distance!r}.")
        if self.kind is Kind.METRIC:
            return self.epsilon * min(distance, self.cap * self.words)
        # Distances of several words add up: if the sum is within the radius, so is each of them.
        return self.epsilon * self.words if distance <= self.radius else math.inf

    def in_metric(self, name: str) -> "Guarantee":
        """Return the guarantee in another metric, by `equivalents`; `none` if it is not listed."""
        if name == self.metric or self.kind is Kind.NONE:
            return self
        for other, epsilon in self.equivalents:
            if other == name:
                # γ and ρ are in the units of the first metric.
                return replace(
                    self,
                    metric=name,
                    epsilon=epsilon,
                    equivalents=(),
                    cap=math.inf,
                    zcdp=math.inf,
                )
        reason = f"it is stated in {self.metric} distance, not in {name}"
        return replace(self, metric=name, kind=Kind.NONE, reason=reason)

    def for_words(self, n: int) -> "Guarantee":
        """Return the guarantee for texts of `n` words each; distances add up over the positions.

        Each word, or each distinct word, has its own independent draw, so log-ratios add up to
        ε·Σ min(dᵢ, γ), and so do the δ. If the words that differ are known, `malaprop.loss_of`
        gives a smaller loss.
        """
        if not isinstance(n, Integral) or n < 1:
            raise ParameterError("A text must have a whole number of words, 1 or more.")
        return replace(self, words=n, delta=self.delta / self.words * n)

    @property
    def between(self) -> str:
        """Which inputs are protected from each other: two words, or texts that differ in words."""
        if self.words == 1 and not self.texts:
            return self.pairs
        differ = f"one {self.per}" if self.words == 1 else f"up to {self.words:,} {self.per}s"
        if self.per == EACH_DISTINCT_WORD:
            each = "in all its places" if self.words == 1 else "each in all its places"
            differ += f", {each}, the same places holding equal words,"
        alike = f" and {self.texts}" if self.texts else ""
        which = f", where the words that differ are {self.pairs}"
        every = self.pairs == ANY_TWO_WORDS
        return f"any two texts that differ in {differ}{alike}{'' if every else which}"

    def to_dict(self) -> dict[str, object]:
        """Return the guarantee as values that JSON can hold (no infinity: `null` for no cap)."""
        plain = asdict(self)
        plain["kind"] = str(self.kind)
        plain["public"] = list(self.public)
        plain["cap"] = None if math.isinf(self.cap) else self.cap
        plain["radius"] = None if math.isinf(self.radius) else self.radius
        plain["zcdp"] = None if math.isinf(self.zcdp) else self.zcdp
        plain["equivalents"] = dict(self.equivalents)
        plain["statement"] = str(self)
        return plain

    def _repr_html_(self) -> str:
        """Return the guarantee for a notebook: the statement, and what it rests on."""
        rows = [
            ("kind", str(self.kind)),
            ("taken to be public", "; ".join(self.public)),
            ("arithmetic", self.numerics),
            ("proof", self.proof),
        ]
        return html.paragraph(str(self)) + html.facts(rows)

    def __str__(self) -> str:
        if self.kind is Kind.NONE:
            return f"No guarantee: {self.reason}."
        epsilon = repr(self.epsilon).removesuffix(".0")  # exactly: a bound must not be rounded down
        slip = (
            f", and by a δ of {rounded_up(min(1.0, self.delta))} beyond that" if self.delta else ""
        )
        if self.kind is not Kind.METRIC:
            within = ""
            if math.isfinite(self.radius):
                within = f", at most {rounded_down(self.radius)} apart in {self.metric} distance"
            return (
                f"ε = {epsilon}, δ = {rounded_up(min(1.0, self.delta))} ({self.kind}): between "
                f"{self.between}{within}, the chances of any set of outputs differ by a factor of "
                f"at most e^{rounded_up(self.epsilon * self.words)}{slip}."
                f"{_NO_OTHER_PATTERN if self.per == EACH_DISTINCT_WORD else ''}"
            )
        worst = self.epsilon * self.cap * self.words
        capped = "" if math.isinf(worst) else f", and never by more than e^{rounded_up(worst)}"
        also = "".join(f" In {name} distance, ε = {rounded_up(e)}." for name, e in self.equivalents)
        return (
            f"ε = {epsilon} ({self.kind}): between {self.between}, the odds of any output "
            f"differ by at most e^({epsilon}·d), d being their {_distance_in(self.metric)}"
            f"{'' if self.words == 1 else ', added up over the words'}{capped}{slip}.{also}"
            f"{_NO_OTHER_PATTERN if self.per == EACH_DISTINCT_WORD else ''}"
        )


def _distance_in(metric: str) -> str:
    return "distance in steps of the word graph" if metric == "graph" else f"{metric} distance"


def rounded_up(bound: float, digits: int = 4) -> str:
    """Format a bound in a few digits, never below its value.

    >>> rounded_up(34.60101), rounded_up(2.0), rounded_up(1e-9, 1)
    ('34.61', '2', '1e-09')
    """
    text = f"{bound:.{digits}g}"
    if float(text) < bound:
        unit = 10.0 ** (math.floor(math.log10(bound)) + 1 - digits)
        text = f"{float(text) + unit:.{digits}g}"
    return text


def rounded_down(reach: float, digits: int = 4) -> str:
    """Format a reach in a few digits, never above its value.

    >>> rounded_down(14.28460), rounded_down(2.0)
    ('14.28', '2')
    """
    text = f"{reach:.{digits}g}"
    if float(text) > reach:
        unit = 10.0 ** (math.floor(math.log10(reach)) + 1 - digits)
        text = f"{float(text) - unit:.{digits}g}"
    return text
