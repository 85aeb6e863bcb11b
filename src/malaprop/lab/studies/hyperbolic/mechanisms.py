"""The published mechanism and its sound replacements, on the words of a hierarchy."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.lab.studies.figures import epsilon_for_kept, share_kept
from malaprop.lab.studies.reproduction import DEFAULT_LEXICON, GLOVE_200, VECTORS, Run
from malaprop.lab.studies.study import Claim, Item, Measurement, Setting, crossed
from malaprop.lab.tasks.sources import Corpus, CorpusReader, Source, Subject
from malaprop.lexicon.bigrams import BigramModel
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms.hyperbolic_laplace import HyperbolicLaplace
from malaprop.mechanisms.laplace import Laplace
from malaprop.mechanisms.poincare_metropolis import MetropolisWalk, PoincareMetropolis
from malaprop.mechanisms.tangent_laplace import TangentLaplace
from malaprop.mechanisms.tem import TEM
from malaprop.privacy import metrics
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import Channel, VectorChannel
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.randomness import seeded_rng
from malaprop.text.language import FUNCTION_WORDS

# Figure 3: the density of Eq. 7, its mass in n dimensions, and what the random walk draws.


EPSILONS = (0.5, 1.0, 2.0, 8.0)
PLACES = (0.0, 0.25, 0.5, 0.75, 0.9)
_GRID = 20_001
_STEPS = 1000


def density(x: Floats | float, epsilon: float) -> Floats:
    """Return the density of Eq. 7, with the paper's constant (1 + ε)/(2·₂F₁(1, ε; 2 + ε; −1))."""
    from scipy.special import hyp2f1

    constant = 2.0 * float(hyp2f1(1.0, epsilon, 2.0 + epsilon, -1.0)) / (1.0 + epsilon)
    norms = np.abs(np.asarray(x, dtype=np.float64))
    return ((1.0 - norms) / (1.0 + norms)) ** epsilon / constant


def fig3(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Compute the density, its mass, and the distance of the walk's places from it."""
    epsilon, dimension = setting["epsilon"], setting["dimension"]
    radii = np.linspace(0.0, 1.0, _GRID)
    # The surface of the unit sphere: 2 in one dimension.
    surface = 2.0 * math.pi ** (dimension / 2.0) / math.gamma(dimension / 2.0)
    weights = surface * radii ** (dimension - 1) * density(radii, epsilon)
    sums = np.concatenate([[0.0], np.cumsum((weights[1:] + weights[:-1]) / 2.0 * radii[1])])
    if dimension == 1:
        for place in PLACES:
            yield Measurement("density", float(density(place, epsilon)), None, {"x": place})
    yield Measurement("mass", float(sums[-1]))
    walks = run.pick(quick=200, full=1000)
    drawn = np.sort(np.linalg.norm(_walk(walks, dimension, setting["sigma"], epsilon, rng), axis=1))
    expected = np.interp(drawn, radii, sums / sums[-1])
    empirical = np.arange(1, walks + 1) / walks
    apart = np.maximum(np.abs(empirical - expected), np.abs(empirical - 1.0 / walks - expected))
    error = 0.5 / math.sqrt(walks)
    yield Measurement("ks_distance", float(apart.max()), error, freedom=walks - 1)
    yield Measurement("never_moved", float(np.mean(drawn == 0.0)))


def _walk(rows: int, dimension: int, sigma: float, epsilon: float, rng: Generator) -> Floats:
    """Return the places of Algorithm 2's walk, in any dimension."""
    places, scores = np.zeros((rows, dimension)), np.zeros(rows)
    for _ in range(_STEPS):
        proposed = metrics.lower(places + sigma * rng.standard_normal(places.shape))
        norms = np.minimum(np.linalg.norm(proposed, axis=1), metrics.EDGE)
        reached = -2.0 * epsilon * np.arctanh(norms)
        accepted = np.log(rng.random(rows)) <= reached - scores
        places[accepted], scores[accepted] = proposed[accepted], reached[accepted]
    return places


FIG3 = Item(
    name="fig3",
    grid=lambda run: crossed(
        dimension=(1, 10, 100), epsilon=EPSILONS, sigma=(0.3, 1.0), spread=["walks"]
    ),
    cell=fig3,
    key="fig3",
    measures=("density", "mass", "ks_distance", "never_moved"),
    claims=(
        Claim(
            text="Eq. 7 is a probability density: its mass is 1 (Z does not depend on n)",
            measure="mass",
            about=lambda setting: True,
            holds=lambda line, results: abs(float(line.ours or 0.0) - 1.0) < 1e-3,
        ),
        Claim(
            text="the walk of Algorithm 2 samples from Eq. 7 (Kolmogorov–Smirnov, 4 errors)",
            measure="ks_distance",
            about=lambda setting: True,
            holds=lambda line, results: float(line.ours or 0.0) < 4.0 * (line.error or 0.0),
        ),
    ),
)


# Texts with slots: which words are replaced, and by what. The others stay in clear.


STOP_WORDS_KEPT: Final = "stop words kept"
RARE_TRANSITIONS: Final = "rare transitions"
ALL_WORDS: Final = "all words"
NO_WORDS: Final = "no words"
ONCE: Final = "a table noised once"
RARE: Final = 1e-3
"""A word is a slot if it follows the word before it with a smaller probability."""
Flags = NDArray[np.bool_]
_WORD = re.compile(r"[^\W\d_]+")


class WordIds:
    """The ids of words in a lexicon; a word that it lacks has the id of what it maps to."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._read = CorpusReader(lexicon)
        self._mapped: dict[str, int] = {}

    def __call__(self, words: Sequence[str]) -> Ids:
        """Return the id of each word."""
        index, mapped = self.lexicon.index, self._mapped
        others = [w for w in dict.fromkeys(words) if w not in index and w not in mapped]
        corpus = self._read(others)
        ends = np.cumsum(corpus.counts)
        for word, end, count in zip(others, ends.tolist(), corpus.counts.tolist(), strict=True):
            mapped[word] = int(corpus.ids[end - 1]) if count else 0
        return np.array([index[w] if w in index else mapped[w] for w in words], dtype=np.int64)


class SlotTexts:
    """Texts cut into words, in small letters, and what stands between them."""

    def __init__(self, texts: Sequence[str], ids: WordIds) -> None:
        words = [_WORD.findall(text) for text in texts]
        self._between = [_WORD.split(text) for text in texts]
        self.counts = np.array([len(row) for row in words], dtype=np.int64)
        self.flat = [word.lower() for row in words for word in row]
        self.ids, self._lexicon = ids, ids.lexicon

    @cached_property
    def known(self) -> Flags:
        """Which words the lexicon has."""
        return np.array([word in self._lexicon.index for word in self.flat], dtype=bool)

    @cached_property
    def content(self) -> Flags:
        """Which words are no stop words."""
        return np.array([word not in FUNCTION_WORDS for word in self.flat], dtype=bool)

    def transitions(self, model: BigramModel, words: Lexicon) -> Floats:
        """Return how likely each word is after the one before it; 0 where one is unknown."""
        chances = np.zeros(len(self.flat))
        seconds = np.array([words.index.get(word, -1) for word in self.flat], dtype=np.int64)
        firsts = np.roll(seconds, 1)
        firsts[(np.cumsum(self.counts) - self.counts)[self.counts > 0]] = model.start
        both = (firsts >= 0) & (seconds >= 0)
        chances[both] = model.probabilities(firsts[both], seconds[both])
        return chances

    def replaced(self, slots: Flags, drawn: Ids) -> list[str]:
        """Return all words, with other ones in the slots."""
        flat = list(self.flat)
        for place, word in zip(np.flatnonzero(slots).tolist(), drawn.tolist(), strict=True):
            flat[place] = self._lexicon.words[word].lower()
        return flat

    def joined(self, flat: Sequence[str]) -> list[str]:
        """Return texts of other words, with what stands between them as it was."""
        texts, begin = [], 0
        for count, between in zip(self.counts.tolist(), self._between, strict=True):
            own = flat[begin : begin + count]
            begin += count
            texts.append("".join(a + b for a, b in zip(between, [*own, ""], strict=True)))
        return texts


@dataclass(frozen=True)
class Protocol:
    """Which words are replaced.

    `stop words kept` is the paper's rule in Table III, `rare transitions` its rule in Table VI.
    With both, words that the lexicon lacks stay in clear. `all words` is ours: every word is
    replaced, and what the lexicon lacks goes in as what it maps to.
    """

    name: str
    model: BigramModel | None = None
    words: Lexicon | None = None
    """The words of the model."""

    def slots(self, texts: SlotTexts) -> Flags:
        """Return which words of the texts are replaced."""
        if self.name in (ALL_WORDS, NO_WORDS):
            return np.full(len(texts.flat), self.name == ALL_WORDS, dtype=bool)
        if self.name == STOP_WORDS_KEPT:
            return texts.known & texts.content
        if self.model is None or self.words is None:
            raise ValueError("rare transitions need a bigram model and its words")
        rare: Flags = texts.transitions(self.model, self.words) < RARE
        return texts.known & rare


@dataclass(eq=False)
class Replacer:
    """Replaces words of texts by draws from a channel; counts what stays."""

    ids: WordIds
    channel: Channel | None
    """None for words drawn evenly from the lexicon."""
    protocol: Protocol
    once: bool = False
    """Whether each word has one draw for all its places: a substitution cipher."""
    words: int = 0
    replaced: int = 0
    same: int = 0

    def words_of(self, texts: SlotTexts, rng: Generator) -> list[str]:
        """Return all words of texts, with drawn words in the slots."""
        slots = self.protocol.slots(texts)
        ids = self.ids([texts.flat[place] for place in np.flatnonzero(slots).tolist()])
        drawn = self._drawn(ids, rng)
        self.words += len(slots)
        self.replaced += len(ids)
        self.same += int((drawn == ids).sum())
        return texts.replaced(slots, drawn)

    def _drawn(self, ids: Ids, rng: Generator) -> Ids:
        own, places = np.unique(ids, return_inverse=True) if self.once else (ids, None)
        if self.channel is None:
            drawn = rng.integers(0, len(self.ids.lexicon), len(own))
        else:
            drawn = self.channel.substitute(own, rng)
        return drawn if places is None else drawn[places]

    @property
    def kept(self) -> float:
        """The share of the words in slots that stay."""
        return self.same / max(1, self.replaced)

    @property
    def in_clear(self) -> float:
        """The share of all words that are not in slots."""
        return 1.0 - self.replaced / max(1, self.words)


class _SlotSource(Source):
    """A repetition of private texts with slots, for tasks on other vectors."""

    def __init__(
        self,
        space: MetricSpace,
        rng: Generator,
        replacer: Replacer,
        cut: dict[int, SlotTexts],
        index: Mapping[str, int],
    ) -> None:
        super().__init__(space, rng)
        self._replacer, self._cut, self._index = replacer, cut, index

    def centroids(self, corpus: Corpus) -> Floats:
        """Return the mean vector of each private text's words, of those that have one."""
        from scipy.sparse import csr_matrix

        if id(corpus) not in self._cut:  # the task holds its corpora as long as it runs
            self._cut[id(corpus)] = SlotTexts(corpus.texts, self._replacer.ids)
        texts = self._cut[id(corpus)]
        flat = self._replacer.words_of(texts, self._rng)
        ids = np.array([self._index.get(word, -1) for word in flat], dtype=np.int64)
        known = ids >= 0
        rows = np.repeat(np.arange(len(corpus)), texts.counts)[known]
        shape = (len(corpus), len(self.space))
        sums = csr_matrix((np.ones(len(rows)), (rows, ids[known])), shape) @ self.space.vectors
        sizes = np.maximum(np.bincount(rows, minlength=len(corpus)), 1)
        return np.asarray(sums / sizes[:, None])

    def _words(self, ids: Ids) -> Ids:
        raise NotImplementedError("slots are places in texts, not words")


def subject(space: Lexicon, replacer: Replacer) -> Subject:
    """Return private texts to run tasks on, whose words are looked up in `space`."""
    cut: dict[int, SlotTexts] = {}
    return Subject(
        "texts with slots",
        space,
        lambda rng: _SlotSource(space, rng, replacer, cut, space.index),
        noisy=replacer.protocol.name != NO_WORDS,
    )


# Euclidean spaces of the hierarchy's words, and what an ε of hyperbolic distance means there.


TRAINED: Final = {
    "Euclidean, 50 dimensions": "glove-6b-50d",
    "Euclidean, 100 dimensions": "glove-6b-100d",
    "Euclidean, 200 dimensions": GLOVE_200,
    "Euclidean, 300 dimensions": DEFAULT_LEXICON,
}
"""GloVe's vectors, trained with so many dimensions."""
COMPONENTS: Final = {
    "50 principal components": 50,
    "100 principal components": 100,
    "200 principal components": 200,
}
"""The control: those of 300 dimensions, reduced after training."""
_AT_ONCE = 512


def euclidean(run: Run, space: str, words: tuple[str, ...]) -> Lexicon:
    """Return the vectors of a space for those of the words that have one, centred."""
    name = TRAINED.get(space, DEFAULT_LEXICON)

    def make() -> Lexicon:
        lexicon = run.lexicon(name, VECTORS.get(name, ""))
        known = run.lexicon().subset(words).words  # the same words in every space
        size = COMPONENTS.get(space) or lexicon.vectors.shape[1]
        return reduced(lexicon.subset(known), size)

    return run.once(("euclidean", space), make)


def reduced(lexicon: Lexicon, dimension: int) -> Lexicon:
    """Return the leading principal components of a lexicon's vectors, centred."""
    vectors = lexicon.vectors.astype(np.float64)
    vectors -= vectors.mean(axis=0)
    if dimension >= vectors.shape[1]:
        return Lexicon(lexicon.words, vectors)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    return Lexicon(lexicon.words, vectors @ directions[:, -dimension:])


def largest_ratio(hierarchy: Lexicon, other: Lexicon, every: int = 1) -> float:
    """Return the largest hyperbolic distance of two words over their Euclidean one.

    A mechanism that promises ε times the former promises ε times this ratio times the latter, and
    no less. `every` leaves out words in one of the two places: then it is a lower bound.
    """
    common = [word for word in other.words if word in hierarchy.index]
    curved, flat = hierarchy.subset(common), other.subset(common)
    largest = 0.0
    for begin in range(0, len(common), _AT_ONCE * every):
        ids = np.arange(begin, min(begin + _AT_ONCE, len(common)))
        lengths = flat.distances(ids)
        lengths[lengths == 0.0] = np.inf  # a word and itself
        largest = max(largest, float((curved.distances(ids) / lengths).max()))
    return largest


HIERARCHY: Final = "english-hierarchy"
DRAWN_IN: Final = 0.2
"""What hyperbolic distances from the origin are multiplied by, so that words lie as far out as the
paper's own N_w suggests; the shipped vectors lie at the edge of the ball."""
AT_THE_EDGE: Final = "words at the edge"
EQUAL_KEPT: Final = "equal share kept"
EQUAL_EUCLIDEAN: Final = "equal Euclidean ε"
PUBLISHED: Final[dict[str, Any]] = {
    "mechanism": "poincare-metropolis",
    "published": True,
    "sigma": 0.3,
}
"""The paper does not state Σ. At σ = 0.3, N_w grows with ε as in the paper; see Figure 5."""
WIDE: Final = {**PUBLISHED, "sigma": 1.0, "control": "another Σ"}
NARROW: Final = {**PUBLISHED, "sigma": 0.1, "control": "another Σ"}
SOUND: Final = {"mechanism": "tem", "published": False}
SHORT: Final = {**PUBLISHED, "steps": 200, "control": "a shorter walk"}
_SEED = 21


def lexicon_of(run: Run, setting: Setting) -> Lexicon:
    """Return the words of a hierarchy, drawn in towards the origin unless they stay at the edge.

    A setting with a Euclidean `space` has the same words there.
    """
    shipped = run.lexicon(setting.get("lexicon", HIERARCHY))
    if "space" in setting:
        return euclidean(run, setting["space"], shipped.words)
    if setting.get("control") == AT_THE_EDGE:
        return shipped
    return run.once(("drawn in", shipped.fingerprint), lambda: drawn_in(shipped, DRAWN_IN))


def ids_of(run: Run, lexicon: Lexicon) -> WordIds:
    """Return what looks up words in a lexicon, made once in a run."""
    return run.once(("ids", lexicon.fingerprint), lambda: WordIds(lexicon))


def drawn_in(lexicon: Lexicon, factor: float) -> Lexicon:
    """Return a lexicon in the ball with all hyperbolic distances from the origin shortened."""
    vectors = lexicon.vectors.astype(np.float64)
    norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    inner = np.tanh(factor * np.arctanh(np.minimum(norms, 1.0 - 1e-12)))
    return Lexicon(lexicon.words, vectors / norms * inner, "poincare")


def channel_of(run: Run, setting: Setting) -> Channel:
    """Bind the mechanism of a setting.

    Under `equal share kept`, ε is the one at which as many words stay as with the published
    mechanism at the setting's ε; under `equal Euclidean ε`, what the setting's ε for hyperbolic
    distance promises for a Euclidean one.
    """
    lexicon, epsilon = lexicon_of(run, setting), float(setting["epsilon"])
    if setting.get("control") == EQUAL_KEPT:
        epsilon = _matched(run, lexicon, setting["mechanism"], epsilon)
    elif setting.get("control") == EQUAL_EUCLIDEAN and "space" in setting:
        epsilon *= ratio_to(run, setting["space"])
    if setting["mechanism"] != PUBLISHED["mechanism"]:
        return _bound(lexicon, setting["mechanism"], epsilon)
    steps, sigma = int(setting.get("steps", _STEPS)), float(setting["sigma"])
    return _published(run, lexicon, epsilon, sigma, steps)


def ratio_to(run: Run, space: str) -> float:
    """Return how much Euclidean ε an ε of hyperbolic distance is: see `largest_ratio`."""
    hierarchy = lexicon_of(run, {})
    other = euclidean(run, space, hierarchy.words)
    every = run.pick(quick=8, full=1)
    return run.once(("ratio", space), lambda: largest_ratio(hierarchy, other, every))


def _bound(lexicon: Lexicon, name: str, epsilon: float) -> Channel:
    if name == "laplace":
        return Laplace(epsilon=epsilon).on(lexicon)
    if name == "tem":
        return TEM(epsilon=epsilon, exponent="half").on(lexicon)
    if name == "tangent-laplace":
        return TangentLaplace(epsilon=epsilon).on(lexicon)
    return HyperbolicLaplace(epsilon=epsilon).on(lexicon)


@dataclass(frozen=True, kw_only=True, eq=False)
class PooledWalks(MetropolisWalk):
    """The ends of walks that were made beforehand: a walk does not depend on the word."""

    ends: Floats

    def _walk(self, shape: tuple[int, ...], rng: Generator) -> Floats:
        return self.ends[rng.integers(0, len(self.ends), shape[0])]


def _published(run: Run, lexicon: Lexicon, epsilon: float, sigma: float, steps: int) -> Channel:
    """Bind the published mechanism, with walks that were made once in a run."""
    channel = PoincareMetropolis(epsilon=epsilon, spread=sigma, steps=steps).on(lexicon)
    shape = (run.pick(quick=1500, full=10_000), lexicon.vectors.shape[1])
    ends = run.once(
        ("walks", epsilon, sigma, steps, shape),
        # From the origin, which stays inside the ball, the noise is the end of the walk.
        lambda: channel.noise.release(np.zeros(shape), seeded_rng(_SEED + run.seed)),
    )
    noise = PooledWalks(epsilon=epsilon, spread=sigma, steps=steps, ends=ends)
    return VectorChannel(lexicon, channel.guarantee, noise, channel.decoder)


def _matched(run: Run, lexicon: Lexicon, name: str, epsilon: float) -> float:
    words = run.pick(quick=100, full=400)

    def search() -> float:
        hierarchy = lexicon_of(run, {})
        published = _published(run, hierarchy, epsilon, float(PUBLISHED["sigma"]), _STEPS)
        kept = share_kept(published, words, seeded_rng(20), draws=10)
        return epsilon_for_kept(lambda e: _bound(lexicon, name, e), kept, words, (0.05, 200.0))

    return run.once(("matched", lexicon.fingerprint, name, epsilon), search)
