"""privemb-2021: Feyisetan and Kasiviswanathan, private release of text embedding vectors."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.lab.datasets.readers import LabelledTexts
from malaprop.lab.studies import figures
from malaprop.lab.studies.reproduction import (
    DEFAULT_LEXICON,
    ENCODERS,
    VECTORS,
    MissingDataError,
    Run,
)
from malaprop.lab.studies.study import Measurement, Setting
from malaprop.lab.tasks import run as run_task
from malaprop.lab.tasks import sources, task_with
from malaprop.lab.tasks.similarity import preserved
from malaprop.lab.tasks.sources import Subject, subject_of
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.classification import random_splits
from malaprop.mechanisms.laplace import Laplace
from malaprop.mechanisms.priv_emb import PrivEmb
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.estimate import word_ids
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.noise import (
    Noise,
    ProjectedLaplace,
    operator_norm,
    stretch_chance,
)
from malaprop.privacy.randomness import seeded_rng

# The mechanisms of the study: the paper's two, sound projections, and what needs no words.

M1, M2, A1 = "laplace", "priv-emb", "a1"
"""A1 is M1's noise on vectors that were trained with fewer dimensions."""
DIMENSIONS = {0.93: 50, 0.66: 100, 0.468: 200}
"""m where the paper names it. For other β we compute m as the paper must have done."""
EQUAL = "equal share kept"
SCALED = "distances as in english"
"""The control that makes a word vector's ε that of `english`: the same loss for a typical pair."""
_DECODED = {True: 300, False: 4000}  # words decoded for the share kept, in a quick run or not
_SMALL = 0.01  # a share of words kept that takes several draws to tell:
_SMALL_DRAWS = {True: 5, False: 40}  # so many, in a quick run or not
_TYPICAL = 1000  # words whose distances give the scale of vectors

Vectors = VectorChannel[Noise]


def lexicon_of(run: Run, setting: Setting) -> Lexicon:
    """Return the lexicon that a setting names, `english` by default, in the scale that it asks."""
    name = setting.get("lexicon", DEFAULT_LEXICON)
    lexicon = run.lexicon(name)
    if name in VECTORS:  # of what a user imports, the words that all other vectors here are of
        lexicon = run.once(("part", name), lambda: lexicon.subset(run.lexicon().words))
    if setting.get("control") != SCALED:
        return lexicon
    return run.once(("scaled", name), lambda: _scaled(lexicon, run.lexicon()))


def _scaled(lexicon: Lexicon, like: Lexicon) -> Lexicon:
    """Return vectors of the scale at which the median distance is that of another lexicon."""
    from scipy.spatial.distance import pdist

    common = [word for word in lexicon.words if word in like.index]
    chosen = common[:: max(1, len(common) // _TYPICAL)]
    medians = [
        float(np.median(pdist(each.vectors[[each.index[word] for word in chosen]])))
        for each in (lexicon, like)
    ]
    return Lexicon(lexicon.words, lexicon.vectors.astype(np.float64) * (medians[1] / medians[0]))


def channel_of(run: Run, setting: Setting) -> Vectors:
    """Return the channel of a setting. The last one is held."""

    def bind() -> Vectors:
        lexicon = lexicon_of(run, setting)
        if setting.get("control") == EQUAL:
            return bound(lexicon, {**setting, "epsilon": _equal_epsilon(run, setting)})
        return bound(lexicon, setting)

    return run.latest("channel", dict(setting), bind)


def bound(lexicon: Lexicon, setting: Setting) -> Vectors:
    if setting["mechanism"] in (M1, A1):
        return Laplace(epsilon=setting["epsilon"]).on(lexicon)
    return _projecting(setting, lexicon).on(lexicon)


def _projecting(setting: Setting, lexicon: Lexicon, seed: int = 0) -> PrivEmb:
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


def _is_floor(setting: Setting) -> bool:
    return setting.get("control") in (*figures.FLOORS, figures.MAJORITY)


def shares_of(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure the shares of words kept and in clear.

    A word is kept if the nearest neighbour of its private vector gives it away. It is in clear if
    its vector has no noise.
    """
    if _is_floor(setting):
        yield from figures.floor_shares(setting["control"], len(lexicon_of(run, setting)))
    else:
        yield from figures.both_shares(channel_of(run, setting), _DECODED[run.quick], rng)


def _equal_epsilon(run: Run, setting: Setting) -> float:
    """Return the ε at which M1, or A1, keeps as many words as the published M2 does there."""
    lexicon = lexicon_of(run, setting)
    source = run.lexicon() if setting["mechanism"] == A1 else lexicon
    other = bound(source, {**setting, "mechanism": M2, "published": True})

    def searched() -> float:
        words, draws = run.pick(quick=200, full=1000), 1
        kept = figures.share_kept(other, words, np.random.default_rng(run.seed))
        if kept < _SMALL:
            draws = _SMALL_DRAWS[run.quick]
            kept = figures.share_kept(other, words, np.random.default_rng(run.seed), draws)
        between = (0.5, 500.0)
        return figures.epsilon_for_kept(
            lambda epsilon: Laplace(epsilon=epsilon).on(lexicon), kept, words, between, draws
        )

    return run.once(("equal", lexicon.fingerprint, setting["epsilon"], setting["beta"]), searched)


def subject_for(run: Run, setting: Setting) -> Subject:
    """Return what a task of this setting draws from: a channel, or a floor without one."""
    if not _is_floor(setting):
        once = setting.get("noise") == "table"
        return subject_of(channel_of(run, setting), once=once, release="vectors")
    space = lexicon_of(run, setting)
    if setting["control"] == "random table":
        return _random_table(space, int(setting.get("dimension", space.vectors.shape[1])))
    return figures.FLOORS[setting["control"]](space)


def _random_table(space: MetricSpace, dimension: int) -> Subject:
    def begin(rng: Generator) -> sources.Source:
        return sources.Table(space, rng, rng.normal(size=(len(space), dimension)))

    return Subject(f"a random table of {dimension} dimensions", space, begin)


# Figures 1 and 2: distances and inner products between private vectors, and between words.

COUNT = 100
"""Words on either side, as in the paper; the same ones in all cells."""
DELTA = 1e-6


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
        corrected = {"distance_error_corrected": _corrected_error(true, private, length)}
        rows.append(preserved(true, private) | corrected)
    for name in rows[0]:
        yield figures.mean_of(name, [row[name] for row in rows])
    yield from shares_of(run, setting, rng)
    if channel is not None:
        yield from _about(setting, channel)
        yield from _bounds(setting, channel, true)


def _without_words(floor: str, lexicon: Lexicon, true: Floats, rng: Generator) -> Floats:
    """Return random vectors as long as those of words, or the vectors of random words."""
    if floor == "random words":
        drawn = lexicon.vectors[rng.integers(len(lexicon), size=len(true))]
        return np.asarray(drawn, dtype=np.float64)
    random: Floats = rng.normal(size=true.shape) * float(np.linalg.norm(true, axis=1).mean())
    return random / math.sqrt(true.shape[1])


def _corrected_error(true: Floats, private: Floats, length: float) -> float:
    """Return the error of distances after the noise's length, which is public, was taken off."""
    from scipy.spatial.distance import cdist

    was, became = (cdist(*np.split(rows, 2)) for rows in (true, private))
    corrected = np.sqrt(np.maximum(became**2 - 2.0 * length, 0.0))
    return float(np.abs(corrected - was).mean())


def squared_length(noise: Any) -> float:
    """Return E‖κ‖² of spherical Laplace noise: m(m + 1)·scale²."""
    size = len(noise.matrix) if isinstance(noise, ProjectedLaplace) else noise.dimension
    return float(size * (size + 1) * noise.scale**2)


def _about(setting: Setting, channel: Vectors) -> Iterator[Measurement]:
    """Tell how many dimensions remain, and at which ε as many words are kept as with another.

    The formula for m may ask for more dimensions than there are.
    """
    if isinstance(channel.noise, ProjectedLaplace):
        yield Measurement("m", len(channel.noise.matrix))
    if setting.get("control") == EQUAL:
        yield Measurement("epsilon_of_equal_share", float(channel.guarantee.epsilon))


def _bounds(setting: Setting, channel: Vectors, true: Floats) -> Iterator[Measurement]:
    """Compute the bounds of Propositions 7 and 8, which hold with probability 1 − δ."""
    if setting["mechanism"] != M2 or not setting["published"]:
        return
    noise, beta, epsilon = channel.noise, setting["beta"], setting["epsilon"]
    size = len(noise.matrix) if isinstance(noise, ProjectedLaplace) else 0
    longest = float(np.linalg.norm(true, axis=1).max())
    length = size * math.log(2 * len(true) * size / DELTA) / epsilon
    yield Measurement("distance_bound", 2 * beta * longest + 4 * length)
    yield Measurement("product_bound", beta * longest**2 + 8 * longest * length + (2 * length) ** 2)


# Lemma 4: how much a random projection stretches words, and vectors in general.


def stretch(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure the stretch of several projections, against what their noise makes up for."""
    lexicon = lexicon_of(run, setting)
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=300, full=1000)))
    some = np.asarray(lexicon.vectors[ids], dtype=np.float64)
    seeds = range(1 if setting["projection"] == "pca" else run.pick(quick=2, full=20))
    noises = [_projecting(setting, lexicon, seed).on(lexicon).noise for seed in seeds]
    ratios = [_ratios(some, noise) for noise in noises]
    size, covered = len(noises[0].matrix), min(noise.scale for noise in noises)
    for among, largest in (
        ("words", [float(own.max()) for own in ratios]),
        ("all vectors", [operator_norm(noise.matrix) for noise in noises]),
    ):
        factors = [x / noise.scale for x, noise in zip(largest, noises, strict=True)]
        yield Measurement("stretch_max", max(largest), {"among": among})
        yield Measurement("epsilon_factor", max(factors), {"among": among})
    p95 = float(np.mean([np.percentile(own, 95) for own in ratios]))
    yield Measurement("stretch_p95", p95, {"among": "words"})
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


# Figure 3: a linear model that tells positive from negative words.

_TEST, _TRAIN = 0.2, 0.8


def linear(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Train a linear SVM on the private vectors of opinion words; test it on a fifth of them."""
    if setting.get("control") == figures.MAJORITY:
        task = task_with("sentiment-words", {"data": run.data("opinion-words"), "test": _TEST})
        yield Measurement("accuracy", task.prepare(lexicon_of(run, setting)).majority)
        yield from shares_of(run, setting, rng)
        return
    result = run_task(
        "sentiment-words",
        subject_for(run, setting),
        data=run.data("opinion-words"),
        repeats=run.pick(quick=3, full=20),
        floors=False,
        rng=rng,
        test=_TEST,
    )
    for name in ("accuracy", "auc"):
        yield figures.estimated(name, result.measures[name], shared=_TEST / _TRAIN)
    yield Measurement("words", result.items)
    yield from shares_of(run, setting, rng)
    if not _is_floor(setting):
        yield from _about(setting, channel_of(run, setting))


dimension = partial(linear)  # Figures 4 and 7 draw by a name of their own


# Table 1: sentences classified by the mean of their private word vectors.

_TEXT_TEST = 0.1


def texts(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Train on private centroids of sentences, test on private ones."""
    name = setting.get("mechanism")
    if name in ENCODERS:
        raise MissingDataError(name, ENCODERS[name], ("accuracy",))
    data: LabelledTexts = run.data(setting["task"])
    if setting.get("control") == figures.MAJORITY:
        problem = task_with("classify", {"data": data, "test": _TEXT_TEST}).prepare(run.lexicon())
        yield Measurement("accuracy", float(problem.majority or 0.0))
        yield from shares_of(run, setting, rng)
        return
    subject = subject_for(run, setting)
    common: dict[str, Any] = {
        "repeats": run.pick(quick=2, full=10),
        "floors": False,
        "rng": rng,
        "test": _TEXT_TEST,
        "limit": run.pick(quick=600, full=None),
    }
    tested = run_task("classify", subject, data=data, **common)
    shared = 0.0 if data.splits else _TEXT_TEST / (1.0 - _TEXT_TEST)
    yield figures.estimated("accuracy", tested.score, shared=shared)
    yield from shares_of(run, setting, rng)
    if "control" in setting or not setting.get("published") or setting["noise"] != "table":
        return  # the paper did not run it
    # What SentEval prints beside the test accuracy is that on held-out training sentences.
    held_out = run_task("classify", subject, data=_training_part(data, run.seed), **common)
    shared = _TEXT_TEST / (1.0 - _TEXT_TEST)
    yield figures.estimated("train_accuracy", held_out.score, shared=shared)


def _training_part(data: LabelledTexts, seed: int) -> LabelledTexts:
    """Return the sentences that a set gives to train on, without parts of their own."""
    if data.splits:
        places = [place for place, part in enumerate(data.splits) if part != "test"]
    else:
        labels = np.unique(np.array(data.labels), return_inverse=True)[1]
        places = random_splits(labels, _TEXT_TEST, 1, np.random.default_rng(seed))[0].train.tolist()
    return replace(data.rows(places), splits=())
