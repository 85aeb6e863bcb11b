"""Figures 1 and 2: distances and inner products between private vectors, and between words."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.lab.studies.figures import (
    both_shares,
    epsilon_for_kept,
    floor_shares,
    mean_of,
    share_kept,
)
from malaprop.lab.studies.reproduction import DEFAULT_LEXICON, VECTORS, Run
from malaprop.lab.studies.study import (
    NOISE,
    Claim,
    Item,
    Line,
    Measurement,
    Results,
    Setting,
    below,
    crossed,
)
from malaprop.lab.tasks import sources
from malaprop.lab.tasks.similarity import pearson, spearman
from malaprop.lab.tasks.sources import Subject, random_subject, subject_of, unprotected
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms.laplace import Laplace
from malaprop.mechanisms.priv_emb import PrivEmb
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.estimate import word_ids
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.noise import (
    Noise,
    ProjectedLaplace,
    SphericalLaplace,
    operator_norm,
    stretch_chance,
)
from malaprop.privacy.randomness import seeded_rng

# The mechanisms of the study: the paper's two, sound projections, and what needs no words.


M1, M2, A1 = "laplace", "priv-emb", "a1"
"""A1 is M1's noise on vectors that were trained with fewer dimensions."""
SOUND = ("orthonormal", "pca", "gaussian")
DIMENSIONS = {0.93: 50, 0.66: 100, 0.468: 200}
"""m where the paper names it. For other β we compute m as the paper must have done."""
EQUAL = "equal share kept"
SCALED = "distances as in english"
"""The control that makes a word vector's ε that of `english`: the same loss for a typical pair."""
MAJORITY = "majority"
FLOORS = ("random table", "random words", "no noise", MAJORITY)
_DECODED = {True: 300, False: 4000}  # words decoded for the share kept, in a quick run or not
_SMALL = 0.01  # a share of words kept that takes several draws to tell:
_SMALL_DRAWS = {True: 5, False: 40}  # so many, in a quick run or not
_TYPICAL = 1000  # words whose distances give the scale of vectors

Vectors = VectorChannel[Noise]


def grid_of(
    epsilons: Sequence[float], betas: Sequence[float], sound: Sequence[str] = SOUND
) -> Iterator[dict[str, Any]]:
    """M1, M2 as published, and M2 with noise for what each projection really stretches."""
    yield from crossed(mechanism=[M1], published=[True], epsilon=epsilons)
    yield from crossed(mechanism=[M2], published=[True], epsilon=epsilons, beta=betas)
    yield from crossed(
        mechanism=[M2], published=[False], projection=sound, epsilon=epsilons, beta=betas
    )


def lexicon_of(run: Run, setting: Setting) -> Lexicon:
    """Return the lexicon that a setting names, `english` by default, in the scale that it asks."""
    name = setting.get("lexicon", DEFAULT_LEXICON)
    lexicon = run.lexicon(name, VECTORS.get(name, ""))
    if name in VECTORS:  # of what a user imports, the words that all other vectors here are of
        words = run.lexicon().words
        lexicon = run.once(("part", name), lambda: lexicon.subset(words))
    if setting.get("control") != SCALED:
        return lexicon
    return run.once(("scaled", name), lambda: _scaled(lexicon, run.lexicon()))


def _scaled(lexicon: Lexicon, like: Lexicon) -> Lexicon:
    """Return vectors of the scale at which the median distance is that of another lexicon."""
    common = [word for word in lexicon.words if word in like.index]
    chosen = common[:: max(1, len(common) // _TYPICAL)]
    medians = [_median_distance(each, chosen) for each in (lexicon, like)]
    vectors = lexicon.vectors.astype(np.float64) * (medians[1] / medians[0])
    return Lexicon(lexicon.words, vectors)


def _median_distance(lexicon: Lexicon, words: Sequence[str]) -> float:
    from scipy.spatial.distance import pdist

    return float(np.median(pdist(lexicon.vectors[[lexicon.index[word] for word in words]])))


def channel_of(run: Run, setting: Setting, seed: int = 0) -> Vectors:
    """Return the channel of a setting; `seed` draws the projection. The last one is held."""

    def bind() -> Vectors:
        lexicon = lexicon_of(run, setting)
        if setting.get("control") == EQUAL:
            return bound(lexicon, {**setting, "epsilon": _equal_epsilon(run, setting)}, seed)
        return bound(lexicon, setting, seed)

    return run.latest("channel", (dict(setting), seed), bind)


def bound(lexicon: Lexicon, setting: Setting, seed: int) -> Vectors:
    """Bind the mechanism of a setting to a lexicon."""
    if setting["mechanism"] in (M1, A1):
        return Laplace(epsilon=setting["epsilon"]).on(lexicon)
    return mechanism_of(setting, seed, lexicon).on(lexicon)


def mechanism_of(setting: Setting, seed: int, lexicon: Lexicon) -> PrivEmb:
    """Return M2, as published or with noise for what its projection really stretches."""
    beta = setting["beta"]
    common: dict[str, Any] = {"epsilon": setting["epsilon"], "projection_seed": seed}
    if setting["published"]:
        return PrivEmb(published=True, beta=beta, dimension=DIMENSIONS.get(beta), **common)
    if beta in DIMENSIONS:
        common["dimension"] = min(DIMENSIONS[beta], lexicon.vectors.shape[1])
    else:
        common["beta"] = beta
    return PrivEmb(projection=setting["projection"], **common)


def shares_of(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure the shares of words kept and in clear.

    A word is kept if the nearest neighbour of its private vector gives it away. It is in clear if
    its vector has no noise.
    """
    if setting.get("control") in FLOORS:
        yield from floor_shares(setting["control"], len(lexicon_of(run, setting)))
    else:
        yield from both_shares(channel_of(run, setting), _DECODED[run.quick], rng)


def _equal_epsilon(run: Run, setting: Setting) -> float:
    """Return the ε at which M1, or A1, keeps as many words as the published M2 does there."""
    lexicon = lexicon_of(run, setting)
    source = run.lexicon() if setting["mechanism"] == A1 else lexicon
    other = bound(source, {**setting, "mechanism": M2, "published": True}, 0)

    def searched() -> float:
        words, draws = run.pick(quick=200, full=1000), 1
        kept = share_kept(other, words, np.random.default_rng(run.seed))
        if kept < _SMALL:
            draws = _SMALL_DRAWS[run.quick]
            kept = share_kept(other, words, np.random.default_rng(run.seed), draws)
        between = (0.5, 500.0)
        return epsilon_for_kept(
            lambda epsilon: Laplace(epsilon=epsilon).on(lexicon), kept, words, between, draws
        )

    key = ("equal", lexicon.fingerprint, setting["epsilon"], setting["beta"])
    return run.once(key, searched)


def subject_for(run: Run, setting: Setting) -> Subject:
    """Return what a task of this setting draws from: a channel, or a floor without one."""
    control = setting.get("control")
    if control not in FLOORS:
        once = setting.get("noise") == "table"
        return subject_of(channel_of(run, setting), once=once, release="vectors")
    space = lexicon_of(run, setting)
    if control == "no noise":
        return unprotected(space)
    if control == "random words":
        return random_subject(space)
    return _random_table(space, int(setting.get("dimension", space.vectors.shape[1])))


def _random_table(space: MetricSpace, dimension: int) -> Subject:
    """Return a random vector of so many dimensions for each word."""

    def begin(rng: Generator) -> sources.Source:
        return sources.Table(space, rng, rng.normal(size=(len(space), dimension)))

    return Subject(f"a random table of {dimension} dimensions", space, begin)


EPSILONS = (1, 2, 5)
BETAS = (0.5, 0.6, 0.7)
COUNT = 100
"""Words on either side, as in the paper; the same ones in all cells."""
DELTA = 1e-6
SPREAD = "noise"
PRESERVATION_FLOORS = ("random table", "random words")
"""The best constant, the counterpart of a majority class, is a figure of each cell."""


def preservation_grid(run: Run) -> Iterator[Setting]:
    """Both mechanisms at the paper's ε and β, sound ones at one β or all, and a random table."""
    betas = run.pick(quick=(0.5, 0.7), full=BETAS)
    for setting in grid_of(EPSILONS, betas):
        if setting["published"] or setting["beta"] == betas[-1] or not run.quick:
            yield {**setting, "spread": SPREAD}
    yield {"mechanism": M1, "epsilon": 5, "beta": 0.7, "control": EQUAL, "spread": SPREAD}
    for control in PRESERVATION_FLOORS:
        yield {"control": control, "spread": SPREAD}


def preservation(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Compare all pairs of 100 words with 100 others, before and after."""
    lexicon = lexicon_of(run, setting)
    count = min(COUNT, len(lexicon) // 2)
    ids = seeded_rng(run.seed).choice(len(lexicon), size=2 * count, replace=False)
    true = np.asarray(lexicon.vectors[ids], dtype=np.float64)
    channel = channel_of(run, setting) if "mechanism" in setting else None
    length = 0.0 if channel is None else squared_length(channel.noise)
    rows: list[dict[str, float]] = []
    for _ in range(run.pick(quick=3, full=30)):
        if channel is None:
            private = _without_words(setting["control"], lexicon, true, rng)
        else:
            private = channel.release_words(ids, rng)
        rows.append(compared(true, private, count, length))
    for name in rows[0]:
        yield mean_of(name, [row[name] for row in rows])
    yield from shares_of(run, setting, rng)
    if channel is not None:
        yield from onto(channel)
        yield from bounds(setting, channel, true)
        yield from matched_epsilon(setting, channel)


def _without_words(floor: str, lexicon: Lexicon, true: Floats, rng: Generator) -> Floats:
    """Return random vectors as long as those of words, or the vectors of random words."""
    if floor == "random words":
        drawn = lexicon.vectors[rng.integers(len(lexicon), size=len(true))]
        return np.asarray(drawn, dtype=np.float64)
    length = float(np.linalg.norm(true, axis=1).mean())
    random: Floats = rng.normal(size=true.shape) * length
    return random / math.sqrt(true.shape[1])


def compared(true: Floats, private: Floats, count: int, noise: float) -> dict[str, float]:
    """Return errors and correlations; `noise` is the expected squared length of the noise."""
    measures: dict[str, float] = {}
    for name, of in (("distance", _distances), ("product", _products)):
        was, became = of(true, count), of(private, count)
        errors = np.abs(became - was)
        measures |= {
            f"{name}_error": float(errors.mean()),
            f"{name}_error_p95": float(np.percentile(errors, 95)),
            f"{name}_error_max": float(errors.max()),
            f"{name}_error_of_constant": float(np.abs(was - np.median(was)).mean()),
            f"{name}_spearman": spearman(became, was),
            f"{name}_pearson": pearson(became, was),
        }
    # The length of the noise is public, and can be taken off.
    was, became = _distances(true, count), _distances(private, count)
    corrected = np.sqrt(np.maximum(became**2 - 2.0 * noise, 0.0))
    return measures | {"distance_error_corrected": float(np.abs(corrected - was).mean())}


def squared_length(noise: Noise) -> float:
    """Return E‖κ‖² of spherical Laplace noise: m(m + 1)·scale²."""
    if isinstance(noise, ProjectedLaplace):
        size = len(noise.matrix)
    elif isinstance(noise, SphericalLaplace):
        size = noise.dimension
    else:
        raise TypeError(f"This noise is not spherical: {type(noise).__name__}.")
    return size * (size + 1) * noise.scale**2


def onto(channel: Vectors) -> Iterator[Measurement]:
    """Tell how many dimensions remain. The formula for m may ask for more than there are."""
    if isinstance(channel.noise, ProjectedLaplace):
        yield Measurement("m", len(channel.noise.matrix))


def matched_epsilon(setting: Setting, channel: Vectors) -> Iterator[Measurement]:
    """Tell at which ε a mechanism keeps as many words as another, under that control."""
    if setting.get("control") == EQUAL:
        yield Measurement("epsilon_of_equal_share", float(channel.guarantee.epsilon))


def bounds(setting: Setting, channel: Vectors, true: Floats) -> Iterator[Measurement]:
    """Compute the bounds of Propositions 7 and 8, which hold with probability 1 − δ."""
    if setting["mechanism"] != M2 or not setting["published"]:
        return
    noise, beta, epsilon = channel.noise, setting["beta"], setting["epsilon"]
    size = len(noise.matrix) if isinstance(noise, ProjectedLaplace) else 0
    longest = float(np.linalg.norm(true, axis=1).max())
    length = size * math.log(2 * len(true) * size / DELTA) / epsilon
    yield Measurement("distance_bound", 2 * beta * longest + 4 * length)
    yield Measurement("product_bound", beta * longest**2 + 8 * longest * length + (2 * length) ** 2)


def _distances(rows: Floats, count: int) -> Floats:
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(rows[:count], rows[count:])).ravel()


def _products(rows: Floats, count: int) -> Floats:
    return np.asarray(rows[:count] @ rows[count:].T).ravel()


def is_published(setting: Setting) -> bool:
    """Whether a setting is M2 as the paper ran it."""
    return (
        setting.get("mechanism") == M2
        and bool(setting.get("published"))
        and "control" not in setting
    )


def against_m1(line: Line, results: Results) -> Line | None:
    """Return M1's line at the same ε."""
    return results.like(line, mechanism=M1, beta=None)


def smaller(line: Line, results: Results, name: str) -> Line | None:
    """Return the line with the next smaller value of `name`, or None."""
    lower = [o for o in results.others(line, name) if o.setting.get(name, 0) < line.setting[name]]
    return max(lower, key=lambda other: float(other.setting[name]), default=None)


def _claims(kind: str) -> tuple[Claim, ...]:
    error = f"{kind}_error"
    return (
        Claim(
            text="the error of M2 is smaller than that of M1 at the same ε",
            measure=error,
            about=is_published,
            holds=lambda line, results: below(line, against_m1(line, results)),
        ),
        Claim(
            text="the error of M2 falls as ε grows",
            measure=error,
            about=lambda setting: is_published(setting) and setting["epsilon"] > EPSILONS[0],
            holds=lambda line, results: below(line, smaller(line, results, "epsilon")),
        ),
        Claim(
            text="the error of M2 falls as β grows",
            measure=error,
            about=lambda setting: is_published(setting) and setting["beta"] > BETAS[0],
            holds=lambda line, results: below(line, smaller(line, results, "beta")),
        ),
        Claim(
            text="values between private vectors approximate those between words: better than "
            "one constant for all pairs",
            whose="reading",
            measure=error,
            about=is_published,
            holds=lambda line, results: below(line, results.like(line, f"{error}_of_constant")),
        ),
        Claim(
            text="M2 preserves more than M1: their order, by Spearman's correlation",
            whose="reading",
            measure=f"{kind}_spearman",
            about=is_published,
            holds=lambda line, results: below(against_m1(line, results), line),
        ),
        Claim(
            text="no error is above the bound of the proposition",
            measure=f"{error}_max",
            about=is_published,
            holds=lambda line, results: below(line, results.like(line, f"{kind}_bound")),
        ),
    )


def spread(setting: Setting, measure: str) -> str:
    """Return what errors are over: noise, on the same words and with the same projection."""
    return NOISE


def _measures(kind: str) -> tuple[str, ...]:
    ends = ("", "_p95", "_max", "_of_constant")
    errors = tuple(f"{kind}_error{end}" for end in ends)
    beside = ("kept", "share_in_clear", "m", "epsilon_of_equal_share")
    return (*errors, f"{kind}_spearman", f"{kind}_pearson", f"{kind}_bound", *beside)


FIG1 = Item(
    name="fig1",
    grid=preservation_grid,
    cell=preservation,
    key="preservation",
    spread=spread,
    revision=3,
    measures=(*_measures("distance"), "distance_error_corrected"),
    claims=_claims("distance"),
)
FIG2 = Item(
    name="fig2",
    grid=preservation_grid,
    cell=preservation,
    key="preservation",
    spread=spread,
    revision=3,
    measures=_measures("product"),
    claims=_claims("product"),
)


# Lemma 4: how much a random projection stretches words, and vectors in general.


PROJECTION_BETAS = (0.5, 0.7, 0.9)
ALL_VECTORS = "all vectors"


def projection_grid(run: Run) -> Iterator[Setting]:
    """The published projection and sound ones."""
    every = [*PROJECTION_BETAS, *DIMENSIONS]
    common: dict[str, Any] = {"mechanism": [M2], "epsilon": [1], "spread": ["projections"]}
    yield from crossed(published=[True], projection=["gaussian"], beta=every, **common)
    some = run.pick(quick=[*DIMENSIONS], full=every)
    yield from crossed(published=[False], projection=SOUND, beta=some, **common)


def stretch(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure the stretch of several projections, against what their noise makes up for."""
    lexicon = lexicon_of(run, setting)
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=300, full=1000)))
    some = np.asarray(lexicon.vectors[ids], dtype=np.float64)
    seeds = range(1 if setting["projection"] == "pca" else run.pick(quick=2, full=20))
    noises = [mechanism_of(setting, seed, lexicon).on(lexicon).noise for seed in seeds]
    ratios = [_ratios(some, noise) for noise in noises]
    size, covered = len(noises[0].matrix), min(noise.scale for noise in noises)
    for among, largest in (
        ("words", [float(own.max()) for own in ratios]),
        (ALL_VECTORS, [operator_norm(noise.matrix) for noise in noises]),
    ):
        factors = [x / noise.scale for x, noise in zip(largest, noises, strict=True)]
        yield Measurement("stretch_max", max(largest), None, {"among": among})
        yield Measurement("epsilon_factor", max(factors), None, {"among": among})
    p95 = float(np.mean([np.percentile(own, 95) for own in ratios]))
    yield Measurement("stretch_p95", p95, None, {"among": "words"})
    yield Measurement("covered", covered)
    yield Measurement("dimension", size)
    yield Measurement("noise_length", size * covered)
    if setting["published"]:
        yield Measurement("chance", stretch_chance(len(lexicon), size, setting["beta"]))


def _ratios(vectors: Floats, noise: ProjectedLaplace) -> Floats:
    """Return how much longer each difference of two words is after the projection."""
    from scipy.spatial.distance import pdist

    before, after = pdist(vectors), pdist(vectors @ noise.matrix.T)
    apart = before > 0.0
    return np.asarray(after[apart] / before[apart])


LEMMA4 = Item(
    name="lemma4",
    grid=projection_grid,
    cell=stretch,
    key="stretch",
    revision=2,
    measures=(
        "stretch_max",
        "stretch_p95",
        "covered",
        "epsilon_factor",
        "dimension",
        "noise_length",
        "chance",
    ),
    claims=(
        Claim(
            text="no difference is stretched by more than 1 + β, but with probability δ = 1e-6",
            measure="epsilon_factor",
            about=lambda setting: bool(setting["published"]),
            # The lemma is about the vectors of a model, not about all that there are.
            beyond=lambda setting: ALL_VECTORS if setting.get("among") == ALL_VECTORS else "",
            holds=lambda line, results: isinstance(line.ours, float) and line.ours <= 1.0,
        ),
    ),
)
