"""What a mechanism promises, as a value that can be inspected, compared and printed."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from enum import StrEnum
from itertools import groupby
from numbers import Integral
from types import NoneType
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from malaprop.privacy import notebook
from malaprop.privacy.arrays import Ids
from malaprop.privacy.errors import ParameterError

# Marks of proof: which classes do what docs/proofs/ says that they do.
#
# The audit certifies a channel only if each part that could betray a word is marked. A mark belongs
# to one class and is not inherited: a subclass may draw in another way.

T = TypeVar("T")

_MARK = "__proof__"
_PLAIN = (NoneType, bool, int, float, str)
_ARRAYS = (np.ndarray, np.memmap, *set(np.sctypeDict.values()))


def proved(proof: str) -> Callable[[type[T]], type[T]]:
    """Mark a class as doing what a proof says; `proof` names the page.

    Whoever marks a class vouches for it: the audit then trusts what the class states about itself.

    >>> @proved("docs/proofs/laplace.md")
    ... class Noise: ...
    >>> class Derived(Noise): ...
    >>> proof_of(Noise()), proof_of(Derived())
    ('docs/proofs/laplace.md', '')
    """

    def mark(cls: type[T]) -> type[T]:
        setattr(cls, _MARK, proof)
        return cls

    return mark


def proof_of(thing: object) -> str:
    """Return the proof page of a thing's exact class; empty if it has none."""
    return str(vars(type(thing)).get(_MARK, ""))


def is_proved(thing: object) -> bool:
    """Whether a thing's exact class is proved and, for a dataclass, those of all its fields.

    Numbers, strings and arrays of numbers need no proof, but must be exactly that: a subclass of
    float may calculate in its own way.

    >>> is_proved((1.0, "a", np.ones(2))), is_proved([1.0])
    (True, False)
    """
    if type(thing) in _PLAIN:
        return True
    if isinstance(thing, np.ndarray | np.generic) and type(thing) in _ARRAYS:
        return thing.dtype.kind in "fiub"
    if type(thing) is tuple:
        return all(is_proved(part) for part in thing)
    if not proof_of(thing):
        return False
    parts = fields(thing) if is_dataclass(thing) else ()
    return all(is_proved(getattr(thing, part.name)) for part in parts)


WORD = "word"
"""The kind of everything that has no kind of its own."""


@proved("docs/proofs/kinds.md")
@dataclass(frozen=True, kw_only=True)
class KindPromise:
    """The loss between two values of one kind: ε·min(d, cap), d being counted in its own steps.

    An `epsilon` of 0 means that values are drawn anew: between two values of the same shape, the
    output tells nothing. Between values of different kinds nothing is promised.
    """

    name: str
    """The kind, in the singular: "word", "number", "date"."""
    epsilon: float
    """ε per step, or 0 if values are drawn anew."""
    step: str = ""
    """What a step is, in words: "a tenth", "1 year", "1 week"."""
    cap: float = math.inf
    """The distance beyond which the loss grows no further. There is none on a path."""
    zcdp: float = math.inf
    """ρ per squared step, if known."""
    plural: str = ""
    """The plural of the name, if it is not the name and an s."""
    together: str = ""
    """If all values of a text move by one shift: how far they do. They then differ together."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.epsilon < math.inf:
            raise ParameterError(
                f"The 'epsilon' of a kind must be finite and 0 or more. Got {self.epsilon!r}."
            )
        _require_0_or_more(self, "kind", ("cap", "zcdp"))
        if self.epsilon and not self.step:
            raise ParameterError("A kind with an 'epsilon' above 0 needs a 'step', in words.")

    @property
    def drawn_anew(self) -> bool:
        """Whether values are drawn without looking at anything but their shape."""
        return self.epsilon == 0.0

    @property
    def values(self) -> str:
        """The plural: numbers, dates."""
        return self.plural or f"{self.name}s"

    def to_dict(self) -> dict[str, object]:
        plain = _without_infinities(asdict(self))
        if not self.together:
            del plain["together"]
        return plain


def _require_0_or_more(promise: object, what: str, names: tuple[str, ...]) -> None:
    for name in names:
        if not (value := getattr(promise, name)) >= 0.0:
            raise ParameterError(f"The '{name}' of a {what} must be 0 or more. Got {value!r}.")


def _without_infinities(plain: dict[str, Any]) -> dict[str, object]:
    return {name: None if value == math.inf else value for name, value in plain.items()}


ANY_TWO_WORDS = "any two words of the lexicon"
STEPS_OF = "steps of "
"""How the name of a path's metric begins; the length of a step follows."""
EACH_WORD = "word"
"""Each occurrence of a word has a draw of its own."""
EACH_DISTINCT_WORD = "distinct word"
"""All occurrences of a word in a text share one draw."""


def _of_kinds(kinds: Sequence[KindPromise], words: int) -> str:
    """Say how the losses of several kinds of tokens differ, words being the first of them."""
    own, *others = kinds
    sentences = []
    worst = own.epsilon * own.cap * words
    if math.isfinite(worst):
        sentences.append(f"Where only words differ, that is at most e^{rounded_up(worst)}.")
    on_paths = [kind for kind in others if not (kind.drawn_anew or kind.together)]
    if on_paths:
        sentences.append(_in_steps(on_paths, own.epsilon))
    for kind in (kind for kind in others if kind.together):
        other = "" if kind.epsilon == own.epsilon else f", ε = {exactly(kind.epsilon)}"
        sentences.append(
            f"All {kind.values} of a text move by one secret shift ({kind.step} a step{other}; "
            f"{kind.together}): texts whose {kind.values} all differ by the same span are that far "
            "apart once, and where one alone differs, nothing is promised, for intervals show."
        )
    anew = [kind.values for kind in others if kind.drawn_anew]
    if anew:
        named = " and ".join([", ".join(anew[:-1]), anew[-1]] if anew[1:] else anew)
        sentences.append(
            f"{named[0].upper()}{named[1:]} are drawn anew: nothing is lost between two of one "
            "shape."
        )
    sentences.append("Between values of different kinds or shapes, nothing is promised.")
    return " ".join(sentences)


def _in_steps(kinds: Sequence[KindPromise], usual: float) -> str:
    epsilons = {kind.epsilon for kind in kinds}
    # An ε that all of them share is said once.
    common = epsilons.pop() if len(epsilons) == 1 else usual

    def instead(epsilon: float) -> str:
        return f", with ε = {exactly(epsilon)} in place of {exactly(usual)}"

    def steps_of(kind: KindPromise) -> str:
        other = "" if kind.epsilon in (common, usual) else instead(kind.epsilon)
        capped = "" if math.isinf(kind.cap) else f", never more than {rounded_up(kind.cap)} steps"
        return f"{kind.step}{other}{capped}"

    stepped = (
        f"{', '.join(kind.values for kind in alike)} ({how})"
        for how, alike in groupby(kinds, key=steps_of)
    )
    other = "" if common == usual else instead(common)
    return (
        f"Values of other kinds count in steps of their own{other}, without a cut-off: "
        f"{', '.join(stepped)}."
    )


def exactly(number: float) -> str:
    """Format a number in all its digits: a bound must not be rounded down."""
    return repr(number).removesuffix(".0")


def rounded_up(bound: float, digits: int = 4) -> str:
    """Format a bound in a few digits, never below its value.

    >>> rounded_up(34.60101), rounded_up(2.0), rounded_up(1e-9, 1)
    ('34.61', '2', '1e-09')
    """
    return _rounded(bound, digits, 1)


def _rounded(number: float, digits: int, way: int) -> str:
    """Format a number in a few digits, rounded up or down: `way` is 1 or −1."""
    text = f"{number:.{digits}g}"
    if way * (float(text) - number) < 0.0:
        unit = 10.0 ** (math.floor(math.log10(number)) + 1 - digits)
        text = f"{float(text) + way * unit:.{digits}g}"
    return text


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
        _require_0_or_more(self, "guarantee", ("delta", "cap", "radius"))
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
        in the steps of its kind; `malaprop.privacy.accounting.loss_over` gives a smaller one.
        """
        if self.kind is Kind.NONE:
            return math.inf
        if not distance >= 0:
            raise ParameterError(f"A distance must be 0 or more. Got {distance!r}.")
        if self.kind is Kind.METRIC:
            steepest = max(self.epsilon, *(kind.epsilon for kind in self.kinds), 0.0)
            return steepest * min(distance, self.cap * self.words)
        # Distances of several words add up: if the sum is within the radius, so is each of them.
        return self.epsilon * self.words if distance <= self.radius else math.inf

    def with_kinds(self, others: Iterable[KindPromise]) -> "Guarantee":
        """Return the guarantee of texts that hold these kinds of values beside words.

        What this guarantee says of `cap` and `zcdp` stays true for words: `of_kind("word")`.

        >>> one = Guarantee(kind=Kind.METRIC, epsilon=2.0, metric="graph", cap=3.0)
        >>> text = one.with_kinds([KindPromise(name="date", epsilon=1.0, step="1 week")])
        >>> text.loss(10.0), text.of_kind("word").loss(10.0), text.of_kind("date").loss(10.0)
        (20.0, 6.0, 10.0)
        """
        own, unit = self.of_kind(WORD), f"a unit of {self.metric} distance"
        step = "a step of the word graph" if self.metric == "graph" else unit
        words = KindPromise(name=WORD, epsilon=own.epsilon, step=step, cap=own.cap, zcdp=own.zcdp)
        return replace(own, cap=math.inf, zcdp=math.inf, kinds=(words, *others))

    def of_kind(self, name: str) -> "Guarantee":
        """Return the guarantee for texts that differ in values of one kind only."""
        if not self.kinds and name == WORD:
            return self
        kind = next((kind for kind in self.kinds if kind.name == name), None)
        if kind is None:
            known = ", ".join(kind.values for kind in self.kinds) or "words"
            raise ParameterError(f"This guarantee is about {known} only.")
        if name == WORD:
            return replace(self, epsilon=kind.epsilon, cap=kind.cap, zcdp=kind.zcdp, kinds=())
        own = replace(self, kinds=(), equivalents=(), proof="docs/proofs/kinds.md")
        pairs = f"any two {kind.values}"
        if kind.drawn_anew:  # no distance counts, whatever ε is
            return replace(own, metric="shape", cap=0.0, zcdp=0.0, pairs=f"{pairs} of one shape")
        if kind.together:
            pairs = f"the {kind.values} of any two texts, if all of them differ by the same span"
        promised = replace(own, epsilon=kind.epsilon, cap=kind.cap, zcdp=kind.zcdp)
        return replace(promised, metric=STEPS_OF + kind.step, pairs=pairs)

    def in_metric(self, name: str) -> "Guarantee":
        """Return the guarantee in another metric, by `equivalents`; `none` if it is not listed."""
        if name == self.metric or self.kind is Kind.NONE:
            return self
        epsilon = dict(self.equivalents).get(name)
        if epsilon is None:
            reason = f"it is stated in {self.metric} distance, not in {name}"
            return replace(self, metric=name, kind=Kind.NONE, reason=reason)
        if self.kinds:
            return self.of_kind(WORD).in_metric(name).with_kinds(self.kinds[1:])
        # γ and ρ are in the units of the first metric.
        first = replace(self, cap=math.inf, zcdp=math.inf, equivalents=())
        return replace(first, metric=name, epsilon=epsilon)

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
        shared, value = self.per == EACH_DISTINCT_WORD, " or value" if self.kinds else ""
        if self.words == 1 and not (self.texts or self.kinds or shared):
            return self.pairs
        one = self.words == 1
        differ = f"one {self.per}" if one else f"up to {self.words:,} {self.per}s"
        differ += value if one else value and " or values"
        if shared:
            differ += ", in all its places, " if one else ", each in all its places, "
            differ += "the same places holding equal " + ("ones" if value else "words")
        joined = ", and " if shared else " and "
        alike = f"{joined}{self.texts}" if self.texts else ""
        which = f", where the words that differ are {self.pairs}"
        every = self.pairs == ANY_TWO_WORDS
        return f"any two texts that differ in {differ}{alike}{'' if every else which}"

    def to_dict(self) -> dict[str, object]:
        """Return the guarantee as values that JSON can hold (no infinity: `null` for no cap)."""
        return _without_infinities(asdict(self)) | {
            "kind": str(self.kind),
            "public": list(self.public),
            "equivalents": dict(self.equivalents),
            "kinds": [kind.to_dict() for kind in self.kinds],
            "statement": str(self),
        }

    def _repr_html_(self) -> str:
        rows = [
            ("kind", str(self.kind)),
            ("taken to be public", "; ".join(self.public)),
            ("arithmetic", self.numerics),
            ("proof", self.proof),
        ]
        return notebook.paragraph(str(self)) + notebook.facts(rows)

    def __str__(self) -> str:
        if self.kind is Kind.NONE:
            return f"No guarantee: {self.reason}."
        if self.kind is not Kind.METRIC:
            statement = self._within_radius()
        elif self.cap == 0.0:
            statement = (
                f"({self.kind}): between {self.between}, the odds of any output are the same."
            )
        else:
            statement = self._by_distance()
        if self.per == EACH_DISTINCT_WORD:
            statement += (
                " Nothing is promised where other places hold equal words: this is neither more "
                "nor less than what fresh draws promise."
            )
        return statement

    @property
    def _slip(self) -> str:
        delta = rounded_up(min(1.0, self.delta))
        return f", and by a δ of {delta} beyond that" if self.delta else ""

    def _within_radius(self) -> str:
        within = ""
        if math.isfinite(self.radius):
            radius = _rounded(self.radius, 4, -1)
            within = f", at most {radius} apart in {self.metric} distance"
        return (
            f"ε = {exactly(self.epsilon)}, δ = {rounded_up(min(1.0, self.delta))} ({self.kind}): "
            f"between {self.between}{within}, the chances of any set of outputs differ by a factor "
            f"of at most e^{rounded_up(self.epsilon * self.words)}{self._slip}."
        )

    def _by_distance(self) -> str:
        epsilon, worst = exactly(self.epsilon), self.epsilon * self.cap * self.words
        capped = "" if math.isinf(worst) else f", and never by more than e^{rounded_up(worst)}"
        also = "".join(f" In {name} distance, ε = {rounded_up(e)}." for name, e in self.equivalents)
        over = ", added up over the words" + (" and values" if self.kinds else "")
        distance = f"{self.metric} distance"
        if self.metric == "graph" or self.metric.startswith(STEPS_OF):
            steps = "steps of the word graph" if self.metric == "graph" else self.metric
            distance = f"distance in {steps}"
        return (
            f"ε = {epsilon} ({self.kind}): between {self.between}, the odds of any output differ "
            f"by at most e^({epsilon}·d), d being their {distance}{'' if self.words == 1 else over}"
            f"{capped}{self._slip}.{also}"
            + (f" {_of_kinds(self.kinds, self.words)}" if self.kinds else "")
        )


class Neighbourhoods(Protocol):
    """Public neighbourhoods of words, within which a guarantee holds."""

    @property
    def pairs(self) -> str:
        """A phrase that says which two words are protected: the guarantee's `pairs`."""

    def covers(self, ids: Ids) -> NDArray[np.bool_]:
        """Whether each word of `ids` shares a neighbourhood with each word: (len(ids), words)."""
