"""What a mechanism promises, as a value that can be inspected, compared and printed."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from numbers import Integral

from malaprop.core import html, statements
from malaprop.core.errors import ParameterError
from malaprop.core.kind_promise import WORD, KindPromise
from malaprop.core.proofs import proved
from malaprop.core.statements import (
    ANY_TWO_WORDS,
    EACH_DISTINCT_WORD,
    EACH_WORD,
    STEPS_OF,
    rounded_down,
    rounded_up,
)

__all__ = [
    "ANY_TWO_WORDS",
    "PUBLIC",
    "PUBLIC_ON_PATHS",
    "Guarantee",
    "Kind",
    "rounded_down",
    "rounded_up",
]

PUBLIC = ("the lexicon", "the mechanism and its parameters")
"""What every guarantee assumes to be public."""
PUBLIC_ON_PATHS = ("the grid of values and its steps", "the mechanism and its parameters")
"""What a guarantee about values on a path assumes to be public."""


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
    kinds: tuple[KindPromise, ...] = ()
    """For texts of several kinds of tokens: the promise for each, words first; see `with_kinds`."""
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
        if self.kinds:
            self._check_kinds()

    def _check_kinds(self) -> None:
        names = [kind.name for kind in self.kinds]
        if names[0] != WORD or len(set(names)) < len(names):
            raise ParameterError("The kinds of a guarantee must differ, and words come first.")
        if self.kind not in (Kind.METRIC, Kind.NONE) or self.delta:
            raise ParameterError(
                "Several kinds of tokens need a guarantee of ε per unit of distance for words, "
                f"without a δ. This one is {self.kind}: treat numbers and dates as words."
            )
        if self.kinds[0].epsilon != self.epsilon or not math.isinf(self.cap + self.zcdp):
            raise ParameterError(
                "With several kinds, 'cap' and 'zcdp' belong to each kind. Use `with_kinds`."
            )

    def loss(self, distance: float) -> float:
        """Return the largest log-ratio of probabilities, in nats, between inputs `distance` apart.

        For `bounded-dp` and `neighbourhood-dp` it is ε, up to the δ, for the covered pairs. With
        several kinds it is a bound for any of them, `distance` being the sum over all values, each
        in the steps of its kind; `malaprop.core.accounting.loss_over_kinds` gives a smaller one.
        """
        if self.kind is Kind.NONE:
            return math.inf
        if not distance >= 0:
            raise ParameterError(f"A distance must be 0 or more. Got {distance!r}.")
        if self.kind is Kind.METRIC:
            return self.steepest * min(distance, self.cap * self.words)
        # Distances of several words add up: if the sum is within the radius, so is each of them.
        return self.epsilon * self.words if distance <= self.radius else math.inf

    @property
    def steepest(self) -> float:
        """The largest ε of all kinds; ε itself if there are only words."""
        return max(self.epsilon, *(kind.epsilon for kind in self.kinds), 0.0)

    def with_kinds(self, others: Iterable[KindPromise]) -> "Guarantee":
        """Return the guarantee of texts that hold these kinds of values beside words.

        What this guarantee says of `cap` and `zcdp` stays true for words: `of_kind("word")`.

        >>> one = Guarantee(kind=Kind.METRIC, epsilon=2.0, metric="graph", cap=3.0)
        >>> text = one.with_kinds([KindPromise(name="date", epsilon=1.0, step="1 week")])
        >>> text.loss(10.0), text.of_kind("word").loss(10.0), text.of_kind("date").loss(10.0)
        (20.0, 6.0, 10.0)
        """
        own = self.of_kind(WORD)
        words = KindPromise(
            name=WORD,
            epsilon=own.epsilon,
            step=statements.step_in(own.metric),
            cap=own.cap,
            zcdp=own.zcdp,
        )
        return replace(own, cap=math.inf, zcdp=math.inf, kinds=(words, *others))

    def of_kind(self, name: str) -> "Guarantee":
        """Return the guarantee for texts that differ in values of one kind only."""
        if not self.kinds and name == WORD:
            return self
        for kind in self.kinds:
            if kind.name == name == WORD:
                return replace(self, epsilon=kind.epsilon, cap=kind.cap, zcdp=kind.zcdp, kinds=())
            if kind.name == name:
                return self._of_values(kind)
        raise ParameterError(
            f"This guarantee is about {', '.join(k.values for k in self.kinds) or 'words'} only."
        )

    def _of_values(self, kind: KindPromise) -> "Guarantee":
        if kind.drawn_anew:  # whatever ε is: no distance counts
            pairs, metric, cap, zcdp = f"any two {kind.values} of one shape", "shape", 0.0, 0.0
        else:
            pairs, metric = f"any two {kind.values}", STEPS_OF + kind.step
            cap, zcdp = kind.cap, kind.zcdp
        return replace(
            self,
            epsilon=kind.epsilon or self.epsilon,
            metric=metric,
            cap=cap,
            zcdp=zcdp,
            pairs=pairs,
            equivalents=(),
            kinds=(),
            proof="docs/proofs/kinds.md",
        )

    def in_metric(self, name: str) -> "Guarantee":
        """Return the guarantee in another metric, by `equivalents`; `none` if it is not listed."""
        if name == self.metric or self.kind is Kind.NONE:
            return self
        for other, epsilon in self.equivalents:
            if other == name:
                # γ and ρ are in the units of the first metric.
                if self.kinds:
                    words = self.of_kind(WORD).in_metric(name)
                    return words.with_kinds(self.kinds[1:])
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
        return statements.between(self)

    @property
    def _unlike_fresh_draws(self) -> str:
        return statements.NO_OTHER_PATTERN if self.per == EACH_DISTINCT_WORD else ""

    def to_dict(self) -> dict[str, object]:
        """Return the guarantee as values that JSON can hold (no infinity: `null` for no cap)."""
        plain = asdict(self)
        plain["kind"] = str(self.kind)
        plain["public"] = list(self.public)
        plain["cap"] = None if math.isinf(self.cap) else self.cap
        plain["radius"] = None if math.isinf(self.radius) else self.radius
        plain["zcdp"] = None if math.isinf(self.zcdp) else self.zcdp
        plain["equivalents"] = dict(self.equivalents)
        plain["kinds"] = [kind.to_dict() for kind in self.kinds]
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
        epsilon = statements.exactly(self.epsilon)
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
                f"{self._unlike_fresh_draws}"
            )
        worst = self.epsilon * self.cap * self.words
        if worst == 0.0:
            return (
                f"({self.kind}): between {self.between}, the odds of any output are the same."
                f"{self._unlike_fresh_draws}"
            )
        capped = "" if math.isinf(worst) else f", and never by more than e^{rounded_up(worst)}"
        also = "".join(f" In {name} distance, ε = {rounded_up(e)}." for name, e in self.equivalents)
        over = "words and values" if self.kinds else "words"
        kinds = f" {statements.of_kinds(self.kinds, self.words)}" if self.kinds else ""
        return (
            f"ε = {epsilon} ({self.kind}): between {self.between}, the odds of any output "
            f"differ by at most e^({epsilon}·d), d being their "
            f"{statements.distance_in(self.metric)}"
            f"{'' if self.words == 1 else f', added up over the {over}'}"
            f"{capped}{slip}.{also}{kinds}{self._unlike_fresh_draws}"
        )
