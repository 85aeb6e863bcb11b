"""Its channels, words in clear, neighbours, skewness."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.lab.studies.figures import bootstrapped, floor_shares, mean_of, share_in_clear
from malaprop.lab.studies.reproduction import GLOVE_42B, VECTORS, MissingDataError, Run
from malaprop.lab.studies.study import (
    Claim,
    Item,
    Line,
    Measurement,
    Results,
    Setting,
    above,
    alike,
    below,
    crossed,
    every,
    exactly,
)
from malaprop.lexicon.lexicon import Lexicon, nearest_words
from malaprop.measure import skewness
from malaprop.mechanisms.coordinate_laplace import CoordinateLaplace
from malaprop.mechanisms.decoders import Nearest
from malaprop.mechanisms.gaussian import Gaussian, diameter
from malaprop.mechanisms.jaccard import Jaccard
from malaprop.mechanisms.laplace import Laplace
from malaprop.mechanisms.mahalanobis import Mahalanobis
from malaprop.mechanisms.nadp import NADP
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.estimate import word_ids
from malaprop.privacy.gaussian_noise import SphericalGaussian, classical_scale
from malaprop.privacy.guarantee import Guarantee, Kind

# The mechanisms that the paper compares, as it ran them and as they are sound.


DELTA = 1.0 / 73404.0
UNSCALED = "laplacian of scale 1/ε"
COMPARED = (
    {"mechanism": "nadp", "published": True, "tau": 0.5},
    {"mechanism": "nadp", "published": True, "tau": 0.1},
    {"mechanism": "mahalanobis", "published": True, "lambda": 1.0},
    {"mechanism": "gaussian", "published": True},
    {"mechanism": "jaccard", "published": True},
    {"mechanism": "laplacian", "published": True},
    {"mechanism": UNSCALED, "published": True},
)
"""What the paper compares. It uses τ = 0.5 in §5.1 and says 0.1 in §5.2. Its Laplacian is read as
one of scale Δ₁/ε, and as one of scale 1/ε."""
SOUND = (
    {"mechanism": "nadp", "published": False, "tau": 0.1},
    {"mechanism": "nadp", "published": False, "tau": 0.5},
    {"mechanism": "gaussian", "published": False},
    {"mechanism": "laplace", "published": False},
)
"""What keeps a promise: NADP by components with no word in clear, the analytic Gaussian for all
pairs of words, and Laplace noise."""


def channel_of(run: Run, setting: Setting, epsilon: float | None = None) -> VectorChannel[Any]:
    """Bind the mechanism of a setting to its lexicon, at its own ε or at another."""
    lexicon = run.lexicon(setting.get("lexicon", "english"))
    value = setting["epsilon"] if epsilon is None else epsilon
    name, published = setting["mechanism"], bool(setting["published"])
    if name == "nadp":
        mechanism: Any = NADP(epsilon=value, delta=DELTA, tau=setting["tau"], published=published)
    elif name == "mahalanobis":
        mechanism = Mahalanobis(epsilon=value, regularization=setting["lambda"])
    elif name == "jaccard":
        mechanism = Jaccard(epsilon=value, delta=DELTA, published=published)
    elif name == "laplacian":
        mechanism = CoordinateLaplace(epsilon=value / _sensitivity(run, lexicon, 1))
    elif name == UNSCALED:
        mechanism = CoordinateLaplace(epsilon=value)
    elif name == "laplace":
        mechanism = Laplace(epsilon=value)
    elif published:
        return _classical(run, lexicon, value)
    else:
        mechanism = Gaussian(epsilon=value, delta=DELTA, sensitivity=_diameter(run, lexicon))
    bound: VectorChannel[Any] = mechanism.on(lexicon)
    return bound


def spherical(
    lexicon: Lexicon, sigma: float, reason: str, epsilon: float = 1.0
) -> VectorChannel[SphericalGaussian]:
    """Return Gaussian noise of any width, which promises nothing."""
    guarantee = Guarantee(kind=Kind.NONE, epsilon=epsilon, metric="euclidean", reason=reason)
    noise = SphericalGaussian(sigma=sigma, epsilon=epsilon)
    return VectorChannel(lexicon, guarantee, noise, Nearest().on(lexicon, epsilon))


def _classical(run: Run, lexicon: Lexicon, epsilon: float) -> VectorChannel[SphericalGaussian]:
    """Return the Gaussian of §3.1 at any ε: σ = Δ·√(2 ln(1.25/δ))/ε, Δ over neighbouring words.

    The formula is proved for ε < 1 only, and `Gaussian` refuses it beyond.
    """
    return spherical(
        lexicon,
        classical_scale(epsilon, DELTA, _sensitivity(run, lexicon, 2)),
        "the paper's formula for σ is proved for ε below 1 only",
        epsilon,
    )


def _sensitivity(run: Run, lexicon: Lexicon, norm: int) -> float:
    """Return the paper's global Δ: the largest distance of a word to its nearest one (m = 2).

    It is Euclidean (`norm` 2) for Gaussian noise, and Manhattan (1) for Laplacian noise.
    """

    def measure() -> float:
        ids = nearest_words(lexicon, 2)
        vectors = lexicon.vectors.astype(np.float64)
        apart = vectors[ids[:, 0]] - vectors[ids[:, 1]]
        return float(np.linalg.norm(apart, ord=norm, axis=1).max())

    return run.once(("sensitivity", lexicon.fingerprint, norm), measure)


def _diameter(run: Run, lexicon: Lexicon) -> float:
    return run.once(("diameter", lexicon.fingerprint), lambda: diameter(lexicon))


# How many words the published mechanism releases as they are.


TAUS = (0.1, 0.2, 0.3, 0.5)


def clear_grid(run: Run) -> Iterator[Setting]:
    """Both mechanisms at each τ; ε plays no part, for a word without noise."""
    return crossed(
        mechanism=["nadp"], published=[True, False], epsilon=[1.0], tau=TAUS, lexicon=["english"]
    )


def clear(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Count the words with σ = 0, which come out as they went in."""
    lexicon = run.lexicon(setting["lexicon"])
    mechanism = NADP(epsilon=setting["epsilon"], tau=setting["tau"], published=setting["published"])
    bare = mechanism.on(lexicon).noise.sigmas == 0.0
    yield Measurement("in_clear", int(np.count_nonzero(bare)))
    yield Measurement("share_in_clear", float(bare.mean()))


CLEAR = Item(
    name="clear",
    grid=clear_grid,
    cell=clear,
    key="clear",
    measures=("in_clear", "share_in_clear"),
    claims=(
        Claim(
            text="NADP discloses no word of the lexicon (Table 1 has five)",
            whose="reading",
            measure="in_clear",
            about=lambda setting: bool(setting["published"]),
            holds=lambda line, results: line.ours == 0,
        ),
    ),
)


# Table 1: the words nearest to the noisy vectors of five words.


WORDS = ("misogynist", "police", "hitler", "wikileaks", "fbi")
_SHOWN = 3
COLUMNS = (
    {"mechanism": "no noise"},
    {"mechanism": "mahalanobis", "published": True, "lambda": 1.0},
    {"mechanism": "nadp", "published": True, "tau": 0.5},
    {"mechanism": "nadp", "published": True, "tau": 0.1},
    {"mechanism": "nadp", "published": False, "tau": 0.1},
)


def neighbour_grid(run: Run) -> Iterator[Setting]:
    """Five words, each without noise and with that of each mechanism; the paper states no ε."""
    for word in WORDS:
        for column in COLUMNS:
            epsilons = run.pick(quick=(10.0,), full=(1.0, 10.0, 20.0))
            for epsilon in epsilons if "published" in column else (None,):
                setting = {**column, "word": word, "spread": "noise draws"}
                yield setting if epsilon is None else {**setting, "epsilon": epsilon}


def table1(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """List the words nearest to a noisy vector, and count how often the word is among them."""
    word = setting["word"]
    lexicon = run.lexicon()
    if word not in lexicon:
        lexicon = run.lexicon(GLOVE_42B, VECTORS[GLOVE_42B])
        if word not in lexicon:
            raise MissingDataError(f"The word {word}", VECTORS[GLOVE_42B])
        setting = {**setting, "lexicon": GLOVE_42B}
    added = {"vectors": setting["lexicon"]} if "lexicon" in setting else {}
    yield from (replace(figure, setting=added) for figure in _near(run, setting, lexicon, rng))


def _near(run: Run, setting: Setting, lexicon: Lexicon, rng: Generator) -> Iterator[Measurement]:
    own = lexicon.index[setting["word"]]
    if setting["mechanism"] == "no noise":
        ids = lexicon.nearest(lexicon.vectors[[own]], _SHOWN + 1)[:, 1:]
        yield Measurement("neighbours", _joined(lexicon.words, ids[0]))
        yield from floor_shares("no noise", len(lexicon))
        return
    channel = channel_of(run, setting)
    noisy = channel.release_words(np.full(run.pick(quick=20, full=200), own), rng)
    ids = lexicon.nearest(noisy, _SHOWN)
    yield Measurement("neighbours", _joined(lexicon.words, ids[0]))
    yield mean_of("disclosed", (ids == own).any(axis=1))
    yield mean_of("kept", ids[:, 0] == own)
    yield Measurement("share_in_clear", share_in_clear(channel))


def _joined(words: tuple[str, ...], ids: object) -> str:
    return ", ".join(words[int(i)] for i in np.asarray(ids))


TABLE1 = Item(
    name="table1",
    grid=neighbour_grid,
    cell=table1,
    key="table1",
    revision=2,
    measures=("neighbours", "disclosed", "kept", "share_in_clear"),
    claims=(
        Claim(
            text="NADP never discloses the original word",
            measure="disclosed",
            about=lambda setting: setting["mechanism"] == "nadp" and setting["published"],
            holds=lambda line, results: line.ours == 0.0,
        ),
        Claim(
            text="Mahalanobis sometimes discloses the original word",
            measure="disclosed",
            about=lambda setting: setting["mechanism"] == "mahalanobis",
            # No draw of 200 that discloses it does not contradict “sometimes”.
            holds=lambda line, results: True if line.ours else None,
        ),
    ),
)


# Figures 3 and 4: how much of a word's neighbourhood noise leaves, and the skewness of that.


M = 10  # nearest words that are compared, as in the authors' code
HALF = {"mechanism": "coin", "control": "half of the words in clear, the others replaced"}
_BINS = 10


def fig3_grid(run: Run) -> Iterator[Setting]:
    """Each mechanism at each ε, NADP at several τ; and a control that hides half of the words."""
    taus = ({"mechanism": "nadp", "published": True, "tau": tau} for tau in (0.2, 0.3))
    for mechanism in (*COMPARED, *taus, *SOUND):
        epsilons = run.pick(quick=(1.0, 20.0), full=(1.0, 5.0, 10.0, 20.0, 40.0))
        for epsilon in epsilons:
            yield {**mechanism, "epsilon": epsilon, "spread": "words"}
    yield {**HALF, "spread": "words"}


def fig3(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure the overlap p of a word's neighbourhood and its noisy vector's, and p's skewness."""
    lexicon = run.lexicon()
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=250, full=1000)))
    if setting["mechanism"] == HALF["mechanism"]:
        hidden = rng.integers(len(lexicon), size=len(ids))
        shown = np.where(np.arange(len(ids)) % 2 == 0, ids, hidden)
        noisy, clear = lexicon.vectors[shown].astype(np.float64), 0.5
    else:
        channel = channel_of(run, setting)
        noisy, clear = channel.release_words(ids, rng), share_in_clear(channel)
    shared, kept = _overlap(run, ids, noisy)
    yield bootstrapped("skewness", shared, skewness, rng)
    yield bootstrapped("skewness_as_in_the_code", shared, _skewness_of_code, rng)
    yield mean_of("overlap", shared)
    yield mean_of("overlap_above_half", shared > 0.5)
    yield mean_of("kept", kept)
    yield Measurement("share_in_clear", clear)


def fig4(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure the histogram of p for Gaussian noise of one width."""
    lexicon = run.lexicon()
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=250, full=1000)))
    noisy, clear = lexicon.vectors[ids].astype(np.float64), 1.0
    if setting["sigma"] > 0.0:
        channel = spherical(lexicon, setting["sigma"], "the width is given, not an ε")
        noisy, clear = channel.release_words(ids, rng), share_in_clear(channel)
    shared, kept = _overlap(run, ids, noisy)
    yield bootstrapped("skewness", shared, skewness, rng)
    yield mean_of("overlap", shared)
    yield mean_of("kept", kept)
    counts, ends = np.histogram(shared, bins=_BINS, range=(0.0, 1.0))
    for count, low in zip(counts, ends, strict=False):
        yield Measurement("share_of_words", count / len(ids), None, {"from": round(float(low), 2)})
    yield Measurement("share_in_clear", clear)


def fig4_grid(run: Run) -> Iterator[Setting]:
    """σ from 0 to 1."""
    steps = run.pick(quick=(0, 1, 4, 8, 20), full=(0, 1, *range(2, 21, 2)))
    return crossed(
        mechanism=["gaussian noise"], sigma=[round(0.05 * n, 2) for n in steps], spread=["words"]
    )


def _overlap(run: Run, ids: Ids, noisy: Floats) -> tuple[Floats, Floats]:
    """Return |A ∩ B| / |A ∪ B| of the m nearest words, and whether a word is its own nearest."""
    lexicon = run.lexicon()
    m = min(M, len(lexicon))
    before = run.once(
        ("nearest", lexicon.fingerprint, len(ids)),
        lambda: lexicon.nearest(lexicon.vectors[ids], m),
    )
    after = lexicon.nearest(noisy, m)
    common = (before[:, :, None] == after[:, None, :]).sum(axis=(1, 2))
    return common / (2 * m - common), np.asarray(after[:, 0] == ids, dtype=np.float64)


def _skewness_of_code(values: Floats) -> float:
    """Return what the authors' code computes: the deviation with n, and 0 if all are equal."""
    n, spread = len(values), float(values.std())
    if spread == 0.0:
        return 0.0
    return float(n / ((n - 1) * (n - 2)) * (((values - values.mean()) / spread) ** 3).sum())


def _is_paper_nadp(setting: Setting) -> bool:
    return setting["mechanism"] == "nadp" and bool(setting.get("published"))


def _lowest(line: Line, results: Results) -> bool | None:
    others = [
        other
        for other in results.lines
        if other.measure == "skewness"
        and other.setting.get("published")
        and other.setting["mechanism"] not in ("nadp", UNSCALED)
        and other.setting["epsilon"] == line.setting["epsilon"]
    ]
    return every(below(line, other) for other in others)


FIG3 = Item(
    name="fig3",
    grid=fig3_grid,
    cell=fig3,
    key="fig3",
    revision=2,
    measures=(
        "skewness",
        "skewness_as_in_the_code",
        "overlap",
        "overlap_above_half",
        "kept",
        "share_in_clear",
    ),
    claims=(
        Claim(
            text="NADP has the lowest skewness of all mechanisms compared",
            measure="skewness",
            about=_is_paper_nadp,
            holds=_lowest,
        ),
        Claim(
            text="for ε below 5, NADP's skewness is near zero: within 0.5",
            whose="reading",
            measure="skewness",
            about=lambda setting: _is_paper_nadp(setting) and setting["epsilon"] < 5,
            holds=lambda line, results: alike(line, exactly(0.0, line), 0.5),
        ),
        Claim(
            text="most words are protected: fewer than half are nearest to their noisy vector",
            whose="reading",
            measure="kept",
            about=_is_paper_nadp,
            holds=lambda line, results: below(line, exactly(0.5, line)),
        ),
        Claim(
            text="skewness grows slightly with τ",
            measure="skewness",
            about=lambda setting: _is_paper_nadp(setting) and setting["tau"] == 0.5,
            holds=lambda line, results: above(line, results.like(line, tau=0.1)),
        ),
    ),
)
FIG4 = Item(
    name="fig4",
    grid=fig4_grid,
    cell=fig4,
    key="fig4",
    revision=2,
    measures=("skewness", "overlap", "kept", "share_in_clear", "share_of_words"),
    claims=(
        Claim(
            text="without noise all words are discovered: p is 1",
            measure="overlap",
            about=lambda setting: setting["sigma"] == 0.0,
            holds=lambda line, results: line.ours == 1.0,
        ),
        Claim(
            text="skewness grows with σ (but for σ = 0.05)",
            measure="skewness",
            about=lambda setting: setting["sigma"] > 0.1,
            holds=lambda line, results: above(line, _before(line, results)),
        ),
    ),
)


def _before(line: Line, results: Results) -> Line | None:
    """Return the line of the next smaller σ, beyond 0.05."""
    own = line.setting["sigma"]
    smaller = [
        other for other in results.others(line, "sigma") if 0.05 < other.setting["sigma"] < own
    ]
    return max(smaller, key=lambda other: float(other.setting["sigma"]), default=None)
