"""The attacks, one file each. A new one needs nothing but its own file here.

There are three kinds: a `WordAttack` recovers words, a `LabelAttack` infers labels of texts, a
`VectorAttack` recovers words from vectors. `malaprop.measure.attacks`, the command line and
`evaluate` have those that are defined.
"""

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.errors import (
    ParameterError,
    made_with,
    require_choice,
    require_whole,
    several_texts,
    type_name,
)
from malaprop.privacy.estimate import Estimate, clopper_pearson
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.progress import Progress
from malaprop.privacy.randomness import checked_rng, secure_rng
from malaprop.privatizer import Privatizer

_OWN = ("attack", "estimate")  # fields of a result that JSON has in another form


@dataclass(frozen=True, kw_only=True)
class Group:
    """The words of one group, and the shares of them that were recovered and kept."""

    name: str
    words: int
    score: float
    kept: float


@dataclass(frozen=True, kw_only=True)
class AttackResult(ABC):
    """How far an attack got, beside what needs no attack.

    The figures are for the owner of the texts: they depend on the text in ways that the guarantee
    does not cover.
    """

    attack: str
    estimate: Estimate
    """The share of words recovered, the accuracy of labels, or the area under the curve."""
    baseline: float
    """What an observer has without any inference."""
    mechanism: dict[str, object] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    spec: ClassVar[str] = ".1%"
    """How the score is written, as in `format`."""

    @property
    def score(self) -> float:
        return self.estimate.value

    @property
    def interval(self) -> tuple[float, float]:
        """A 95 % interval of the score."""
        return self.estimate.interval

    @property
    def spread(self) -> str:
        """What the interval is over: texts, splits, draws of the noise."""
        return self.estimate.over

    @property
    def values(self) -> tuple[float, ...]:
        """The score of each draw of the noise; for attacks on labels, each has its own split."""
        return self.estimate.values

    @abstractmethod
    def facts(self) -> list[tuple[str, str]]:
        """Return what to tell people of it: names and sentences, the score first."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "attack": self.attack,
            "score": self.score,
            "interval": list(self.interval),
            "spread": self.spread,
            "values": list(self.values),
            **{name: value for name, value in asdict(self).items() if name not in _OWN},
        }

    def _interval(self) -> tuple[str, str]:
        low, high = (f"{end:{self.spec}}" for end in self.interval)
        return "interval", f"{low} to {high} (95 %: {self.spread})"

    def __str__(self) -> str:
        return "\n".join(f"{name:<13}{sentence}" for name, sentence in self.facts())


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

    measured: ClassVar[str] = "share of words"
    unprotected: ClassVar[float] = 1.0

    def facts(self) -> list[tuple[str, str]]:
        content = self.content
        guessed = f"guessing the most frequent word recovers {self.floor:.1%}"
        recovered = f"{content.score:.1%} of {content.words:,} words recovered"
        by_occurrence = [
            f"{own.name} a text: {own.score:.1%} of {own.words:,} recovered, {own.kept:.1%} kept"
            for own in self.occurrences
        ]
        return [
            ("recovered", f"{self.score:.1%} of {self.words:,} words, by the attack {self.attack}"),
            self._interval(),
            ("kept", f"{self.kept:.1%} came out unchanged; {guessed}"),
            ("content", f"{recovered}, {content.kept:.1%} kept (without function words)"),
            *(("" if place else "occurring", line) for place, line in enumerate(by_occurrence)),
            ("channel", self.likelihoods),
            ("prior", self.prior),
        ]


@dataclass(frozen=True, kw_only=True)
class InferredLabels(AttackResult):
    """How well an attack told labels, or members, from private texts.

    `baseline` is always saying the most frequent label (0.5 for membership).
    """

    spec: ClassVar[str] = ".3f"
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

    @property
    def floor(self) -> float:
        """What useless texts give away: the attack on random words."""
        return self.random_words

    def facts(self) -> list[tuple[str, str]]:
        how = f"by the attack {self.attack}, trained on {self.trained_on}"
        count = f"{self.texts:,}, with {self.labels:,} labels; {self.left_out:,} left out"
        return [
            ("inferred", f"{self.measured} {self.score:.3f} {how}"),
            self._interval(),
            ("baseline", f"{self.baseline:.3f} without any text"),
            ("unprotected", f"{self.unprotected:.3f} on the texts as they are"),
            ("random words", f"{self.random_words:.3f} with a random word for each word"),
            ("texts", count),
        ]


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

    def facts(self) -> list[tuple[str, str]]:
        recovered = f"{self.score:.1%} of {self.words:,} words from their vectors"
        guessed = f"guessing the most frequent word recovers {self.floor:.1%}"
        facts = [
            ("recovered", f"{recovered}, by the attack {self.attack}"),
            self._interval(),
            ("baseline", f"{self.baseline:.1%}; {guessed}"),
            ("unprotected", f"{self.unprotected:.1%} without noise"),
            ("control", f"{self.control:.1%} with the vectors of other words"),
            ("candidates", f"{self.candidates:,} words"),
        ]
        if self.surviving is not None:
            facts.append(("surviving", f"{self.surviving:,.1f} of them fit a vector, on average"))
        return facts


_registry: "dict[str, type[Attack]]" = {}

attacks: "Mapping[str, type[Attack]]" = MappingProxyType(_registry)


@dataclass(frozen=True, kw_only=True, eq=False)
class Target:
    """What is attacked: texts, with what they go through."""

    privatizer: Privatizer
    texts: Sequence[Any] = field(repr=False)
    labels: Sequence[object] | None = field(repr=False)
    """A label for each text, for attacks on labels."""
    rng: Generator
    """Splits and resamples; private words come from the privatizer's own generator."""
    progress: Progress | None = None


@dataclass(frozen=True, kw_only=True)
class Attack(ABC):
    """An attack on private texts or vectors; its fields are its options."""

    name: ClassVar[str] = ""
    """The name in the registry and on the command line."""
    on: ClassVar[str] = "words"
    """What the attack recovers: words, labels or vectors."""

    def __init_subclass__(cls, *, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = name
        if name:
            _registry[name] = cls

    def __post_init__(self) -> None:
        for option in fields(self):
            if option.type is int:
                require_whole(self, option.name, 1)
            if option.type is bool:
                require_choice(self, option.name, (True, False))

    def check(self, mechanism: Mechanism, repeat: str) -> None:  # noqa: B027  most take all
        """Refuse a mechanism, or a treatment of repeated words, that the attack has no use for."""

    @abstractmethod
    def run(self, target: Target) -> AttackResult:
        """Privatize the texts, attack what comes out, and return how far the attack got."""

    @classmethod
    def summary(cls) -> str:
        return (cls.__doc__ or "").strip().split("\n")[0]


def attack_with(name: str, options: Mapping[str, Any]) -> Attack:
    """Return the attack of that name with its options; refuse options that it does not have."""
    return made_with("attack", name, attacks, options)


def attack(
    name: str,
    privatizer: Privatizer,
    texts: Iterable[str],
    labels: Iterable[object] | None = None,
    *,
    rng: Generator | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> AttackResult:
    """Privatize texts, attack the result, and return how far the attack got.

    The texts go through the privatizer's own parser and channel. The observer knows everything
    public: the mechanism, its parameters, the lexicon, and public text; not the texts. `name` is
    one of `malaprop.measure.attacks`, and `options` are that attack's, such as `model`,
    `adaptive` or `punctuation`. `labels` are for attacks on labels, one for each text.

    `score` is the share of words recovered, the accuracy of inferred labels, or the area under the
    curve for membership; `baseline` is what needs no attack, and `interval` is one of 95 %. `rng`
    splits and resamples texts, adds noise to vectors, and estimates channels without a known law;
    private words come from the privatizer's own generator.
    """
    chosen = attack_with(name, options)
    if not isinstance(privatizer, Privatizer):
        raise ParameterError(f"`attack` takes a Privatizer. Got {type_name(privatizer)}.")
    several_texts(texts, "attack")
    if isinstance(labels, str):
        raise ParameterError("`labels` must have one label for each text, not be one string.")
    if labels is not None and chosen.on != "labels":
        raise ParameterError(f"The attack {name} is on {chosen.on}, and takes no labels.")
    chosen.check(privatizer.mechanism, privatizer.policy.repeat)
    target = Target(
        privatizer=privatizer,
        texts=list(texts),
        labels=None if labels is None else list(labels),
        rng=secure_rng() if rng is None else checked_rng(rng),
        progress=progress,
    )
    return chosen.run(target)


_RESAMPLES = 1000
_FEW = 20  # texts: with fewer, runs of words are resampled
_RUN = 25  # words
_OCCURRENCES = (("once", 1, 1), ("twice", 2, 2), ("3 or 4 times", 3, 4), ("5 to 9 times", 5, 9))
_MANY = ("10 times or more", 10, np.iinfo(np.int64).max)

Flags = NDArray[np.bool_]


def share(hits: Flags) -> float:
    """Return the share of hits; 0 if there are none to count."""
    return float(hits.mean()) if hits.size else 0.0


def group(name: str, of: Flags, hits: Flags, kept: Flags) -> Group:
    """Return the shares among some words; hits may have a row for each draw of the noise."""
    return Group(
        name=name, words=int(of.sum()), score=share(hits[..., of]), kept=share(kept[..., of])
    )


def by_occurrence(same: Ids, hits: Flags, kept: Flags) -> tuple[Group, ...]:
    """Return the shares by how often a word occurs in its text; `same` labels equal words."""
    _, places, counts = np.unique(same, return_inverse=True, return_counts=True)
    times = counts[places]
    ranges = [
        (name, (times >= low) & (times <= high)) for name, low, high in (*_OCCURRENCES, _MANY)
    ]
    return tuple(group(name, chosen, hits, kept) for name, chosen in ranges if chosen.any())


def recovered_share(hits: Flags, lengths: Ids, rng: Generator) -> Estimate:
    """Return the share of hits with a 95 % interval, by bootstrap over texts of these lengths.

    `hits` has a row for each draw of the noise. Draws are independent from text to text, so a text
    is resampled with all its draws: the interval then covers both what texts differ in and the
    noise. With fewer than 20 texts, runs of 25 words are resampled instead: neighbours share a
    context. A bootstrap over fewer than 20 runs, or over texts that are all alike, knows too little
    of what else could be: the interval is then no narrower than Clopper and Pearson's for as many
    independent words.
    """
    lengths, each = lengths[lengths > 0], hits.mean(axis=0)
    texts = "one text" if len(lengths) == 1 else f"{len(lengths):,} texts"
    if len(lengths) < _FEW:
        texts = f"runs of words in {texts}"
        lengths = np.diff(np.unique([*range(0, len(each), _RUN), *np.cumsum(lengths)]), prepend=0)
        lengths = lengths[lengths > 0]
    sums = np.add.reduceat(each, np.cumsum(lengths) - lengths)
    shares = []
    for part in blocks(_RESAMPLES, row_cells=len(lengths)):
        chosen = rng.integers(0, len(lengths), size=(part.stop - part.start, len(lengths)))
        shares.append(sums[chosen].sum(axis=1) / lengths[chosen].sum(axis=1))
    low, high = np.percentile(np.concatenate(shares), [2.5, 97.5])
    if len(lengths) < _FEW or low == high:
        exact = clopper_pearson(each.sum(), len(each))
        low, high = min(low, exact[0]), max(high, exact[1])
    noise = "one draw of the noise" if len(hits) == 1 else f"{len(hits)} draws of the noise each"
    return Estimate(
        value=share(hits),
        low=float(low),
        high=float(high),
        over=f"bootstrap over {texts}, with {noise}",
        values=tuple(hits.mean(axis=1).tolist()),
    )


def repeated_share(tested: Sequence[Ids], hits: Sequence[Flags], rng: Generator) -> Estimate:
    """Return a share of hits over repeated splits, each with its own noise.

    `tested[r]` are the texts that repetition r tested, and `hits[r]` whether each was right. Texts
    and repetitions are resampled: a text is drawn, or not, in all repetitions alike.
    """
    size = 1 + max(int(places.max()) for places in tested)

    def resampled() -> float:
        weights = np.bincount(rng.integers(0, size, size), minlength=size)
        right = total = 0
        for r in rng.integers(0, len(tested), len(tested)).tolist():
            own = weights[tested[r]]
            right += int(own[hits[r]].sum())
            total += int(own.sum())
        return right / total if total else float(np.mean(hits[0]))

    return _bootstrapped(share(np.concatenate(hits)), [share(own) for own in hits], resampled)


def area(inside: Floats, outside: Floats) -> float:
    """Return the area under the curve: how often a member scores higher than another text."""
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([inside, outside]))[: len(inside)]
    least = len(inside) * (len(inside) + 1) / 2
    return float((ranks.sum() - least) / (len(inside) * len(outside)))


def mean_area(scores: Sequence[tuple[Floats, Floats]], rng: Generator) -> Estimate:
    """Return the mean area over repetitions, by bootstrap over texts and repetitions."""

    def resampled() -> float:
        areas = []
        for r in rng.integers(0, len(scores), len(scores)).tolist():
            parts = (own[rng.integers(0, len(own), len(own))] for own in scores[r])
            areas.append(area(*parts))
        return float(np.mean(areas))

    values = [area(*own) for own in scores]
    return _bootstrapped(float(np.mean(values)), values, resampled)


def _bootstrapped(
    value: float, values: Sequence[float], resampled: Callable[[], float]
) -> Estimate:
    low, high = np.percentile([resampled() for _ in range(_RESAMPLES)], [2.5, 97.5]).tolist()
    splits = "one split with" if len(values) == 1 else f"{len(values)} splits, each with"
    over = f"bootstrap over texts and {splits} its own noise"
    return Estimate(value=value, low=low, high=high, over=over, values=tuple(values))


__all__ = ["attacks"]

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
