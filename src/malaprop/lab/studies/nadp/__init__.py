"""nadp-2023: Bollegala et al., a neighbourhood-aware mechanism for static word embeddings."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.lab import tasks
from malaprop.lab.studies import figures
from malaprop.lab.studies.reproduction import GLOVE_42B, VECTORS, MissingDataError, Run
from malaprop.lab.studies.study import Line, Measurement, Setting
from malaprop.lab.tasks.sources import Source, Subject, Table, subject_of
from malaprop.lexicon.lexicon import Lexicon, nearest_words
from malaprop.measure import skewness
from malaprop.mechanisms.decoders import Nearest
from malaprop.mechanisms.gaussian import diameter
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import Channel, VectorChannel
from malaprop.privacy.estimate import word_ids
from malaprop.privacy.gaussian_noise import SphericalGaussian, classical_scale
from malaprop.privacy.guarantee import Guarantee, Kind
from malaprop.privacy.randomness import seeded_rng

# The mechanisms that the paper compares, as it ran them and as they are sound.

DELTA = 1.0 / 73404.0
_ALL = 10**9  # texts, or words: as many as there are
_LAPLACIAN = {"laplacian": "coordinate-laplace", "laplacian of scale 1/ε": "coordinate-laplace"}


def channel_of(run: Run, setting: Setting, epsilon: float | None = None) -> VectorChannel[Any]:
    """Bind the mechanism of a setting to its lexicon, at its own ε or at another."""
    lexicon = run.lexicon(setting.get("lexicon", "english"))
    value = setting["epsilon"] if epsilon is None else epsilon
    name, more = setting["mechanism"], {}
    if name == "gaussian" and setting["published"]:
        return _classical(run, lexicon, value)
    if name == "gaussian":
        more["sensitivity"] = run.once(("diameter", lexicon.fingerprint), lambda: diameter(lexicon))
    if name == "laplacian":
        value /= _sensitivity(run, lexicon, 1)
    made = {**setting, "mechanism": _LAPLACIAN.get(name, name)}
    mechanism = figures.mechanism_of(made, epsilon=value, delta=DELTA, **more)
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


# How many words the published mechanism releases as they are.


def clear(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    bare = figures.mechanism_of(setting).on(run.lexicon(setting["lexicon"])).noise.sigmas == 0.0
    yield Measurement("in_clear", int(np.count_nonzero(bare)))
    yield Measurement("share_in_clear", float(bare.mean()))


# Table 1: the words nearest to the noisy vectors of five words.

_SHOWN = 3


def table1(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """List the words nearest to a noisy vector, and count how often the word is among them."""
    word = setting["word"]
    lexicon = run.lexicon()
    if word not in lexicon:
        lexicon = run.lexicon(GLOVE_42B)
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
        yield from figures.floor_shares("no noise", len(lexicon))
        return
    channel = channel_of(run, setting)
    noisy = channel.release_words(np.full(run.pick(quick=20, full=200), own), rng)
    ids = lexicon.nearest(noisy, _SHOWN)
    yield Measurement("neighbours", _joined(lexicon.words, ids[0]))
    yield figures.mean_of("disclosed", (ids == own).any(axis=1))
    yield figures.mean_of("kept", ids[:, 0] == own)
    yield Measurement("share_in_clear", figures.share_in_clear(channel))


def _joined(words: tuple[str, ...], ids: object) -> str:
    return ", ".join(words[int(i)] for i in np.asarray(ids))


def sometimes(line: Line) -> bool | None:
    """Whether something happens at all; that it did not in so many draws contradicts nothing."""
    return True if line.ours else None


# Figures 3 and 4: how much of a word's neighbourhood noise leaves, and the skewness of that.

M = 10  # nearest words that are compared, as in the authors' code
_BINS = 10


def fig3(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    lexicon = run.lexicon()
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=250, full=1000, paper=_ALL)))
    if setting["mechanism"] == "coin":
        hidden = rng.integers(len(lexicon), size=len(ids))
        shown = np.where(np.arange(len(ids)) % 2 == 0, ids, hidden)
        noisy, clear = lexicon.vectors[shown].astype(np.float64), 0.5
    else:
        channel = channel_of(run, setting)
        noisy, clear = channel.release_words(ids, rng), figures.share_in_clear(channel)
    shared, kept = _overlap(run, ids, noisy)
    yield figures.bootstrapped("skewness", shared, skewness, rng)
    yield figures.bootstrapped("skewness_as_in_the_code", shared, _skewness_of_code, rng)
    yield figures.mean_of("overlap", shared)
    yield figures.mean_of("overlap_above_half", shared > 0.5)
    yield figures.mean_of("kept", kept)
    yield Measurement("share_in_clear", clear)


def fig4(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure the histogram of p for Gaussian noise of one width."""
    lexicon = run.lexicon()
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=250, full=1000, paper=_ALL)))
    noisy, clear = lexicon.vectors[ids].astype(np.float64), 1.0
    if setting["sigma"] > 0.0:
        channel = spherical(lexicon, setting["sigma"], "the width is given, not an ε")
        noisy, clear = channel.release_words(ids, rng), figures.share_in_clear(channel)
    shared, kept = _overlap(run, ids, noisy)
    yield figures.bootstrapped("skewness", shared, skewness, rng)
    yield figures.mean_of("overlap", shared)
    yield figures.mean_of("kept", kept)
    counts, ends = np.histogram(shared, bins=_BINS, range=(0.0, 1.0))
    for count, low in zip(counts, ends, strict=False):
        yield Measurement("share_of_words", count / len(ids), {"from": round(float(low), 2)})
    yield Measurement("share_in_clear", clear)


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


# Figure 2: four tasks, with the noise of each mechanism, by ε; beside floors and controls.

TASKS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "word similarity": ("similarity", "spearman", ("men", "simlex", "simverb")),
    "text similarity": ("sts", "official", ("stsb",)),
    "classification": ("classify", "accuracy", ("mr", "cr", "mpqa")),
    "odd man out": ("odd-man-out", "accuracy", ("odd-8-8-8", "wikisem500")),
}
"""The paper's tasks: the task's name here, its measure, and its data sets."""
_PUBLISHED = {"mechanism": "nadp", "published": True, "tau": 0.5}
_TEST = 0.2
_SEED = 11
_TASK = ("task", "spread", "noise", "control", "epsilon")  # what does not change the channel


def fig2(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Do one task with one mechanism, and measure the shares of words kept and in clear."""
    control = setting.get("control")
    if control == "floor":
        yield from _floor(run, setting, rng)
        return
    if setting["mechanism"] == "coin":
        yield from _with_same_clear(run, setting, rng)
        return
    epsilon = _epsilon(run, setting)
    if control is not None:
        yield Measurement("epsilon_used", epsilon)
    key = (*sorted((name, str(setting[name])) for name in setting if name not in _TASK), epsilon)
    channel = run.latest("channel", key, lambda: channel_of(run, setting, epsilon))
    subject = (
        figures.drawn_once(channel) if setting["noise"] == "one table" else subject_of(channel)
    )
    yield from _scored(run, setting, subject, rng)
    yield Measurement("kept", _kept(run, setting, channel, epsilon))
    yield Measurement("share_in_clear", figures.share_in_clear(channel))


def _scored(run: Run, setting: Setting, subject: Subject, rng: Generator) -> Iterator[Measurement]:
    """Do a task on a subject; a task with several sets to learn from takes their mean."""
    name, measure, sets = TASKS[setting["task"]]
    data = [run.data(one) for one in sets]
    options: dict[str, Any] = {"repeats": run.pick(quick=2, full=5), "floors": False, "rng": rng}
    if name != "classify":
        result = tasks.run(name, subject, data=tuple(data), **options)
        yield figures.mean_of("score", result.measures[measure].values)
        return
    draws = options["repeats"]
    scores = [
        list(figures.classified(_problem(run, one), subject, [measure], draws, rng))[:2]
        for one in data
    ]
    for each in zip(*scores, strict=True):  # the errors over noise draws, then those over splits
        yield _mean(each)


def _problem(run: Run, data: Any) -> Any:
    limit = run.pick(quick=600, full=1000, paper=_ALL)
    made = tasks.registry["classify"](data=data, limit=limit, test=_TEST)  # type: ignore[call-arg]
    return run.once(("classify", data.name), lambda: made.prepare(run.lexicon()))


def _mean(scores: Sequence[Measurement]) -> Measurement:
    value = float(np.mean([one.value for one in scores if isinstance(one.value, float)]))
    errors = [one.error for one in scores if one.error is not None]
    error = math.hypot(*errors) / len(scores) if errors else None
    least = min((one.freedom for one in scores if one.freedom), default=None)  # this is cautious
    return Measurement("score", value, scores[0].setting, error=error, freedom=least)


def _floor(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure what is reached without noise, and without useful vectors."""
    lexicon, floor = run.lexicon(), setting["mechanism"]
    if floor == figures.MAJORITY:
        name, _, sets = TASKS[setting["task"]]
        chosen = tasks.registry[name]
        prepared = [chosen(data=run.data(one)).prepare(lexicon).majority for one in sets]
        shares = [share for share in prepared if share is not None]
        if shares:
            yield Measurement("score", float(np.mean(shares)))
            yield from figures.floor_shares(floor, len(lexicon))
        return
    yield from _scored(run, setting, figures.FLOORS[floor](lexicon), rng)
    yield from figures.floor_shares(floor, len(lexicon))


def _with_same_clear(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Do a task with the words that the published NADP leaves in clear."""
    model = channel_of(run, {**_PUBLISHED, "epsilon": setting["epsilon"]})
    subject = _same_clear(model)
    yield from _scored(run, setting, subject, rng)
    lexicon = run.lexicon()
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=100, full=500)))
    released = subject.begin(seeded_rng(_SEED)).vectors(ids)
    yield Measurement("kept", float(np.mean(lexicon.nearest(released, 1)[:, 0] == ids)))
    yield Measurement("share_in_clear", figures.share_in_clear(model))


def _same_clear(channel: Any) -> Subject:
    """Return words in clear where a channel gives them no noise, and random vectors elsewhere."""
    space, clear = channel.lexicon, channel.noise.sigmas == 0.0
    spread = float(space.vectors.std())

    def begin(rng: Generator) -> Source:
        random: Floats = rng.normal(scale=spread, size=space.vectors.shape)
        return Table(space, rng, np.where(clear[:, None], space.vectors, random))

    return Subject("the same words in clear, all others random", space, begin)


def _kept(run: Run, setting: Setting, channel: Channel, epsilon: float) -> float:
    words = run.pick(quick=100, full=500)
    key = ("kept", setting["mechanism"], setting["published"], setting.get("tau"), epsilon)
    return run.once(key, lambda: figures.share_kept(channel, words, seeded_rng(_SEED)))


def _epsilon(run: Run, setting: Setting) -> float:
    """Return the ε that a mechanism is run at, under the control of a setting."""
    epsilon = float(setting["epsilon"])

    def as_many_kept_as_published() -> float:
        model = channel_of(run, {**_PUBLISHED, "epsilon": setting["epsilon"]})
        words = run.pick(quick=100, full=500)
        target = figures.share_kept(model, words, seeded_rng(_SEED))
        return figures.epsilon_for_kept(
            lambda epsilon: channel_of(run, setting, epsilon), target, words
        )

    if setting.get("control") == "equal share kept":
        return run.once(("matched", setting["mechanism"], epsilon), as_many_kept_as_published)
    if setting.get("control") == "equal Euclidean ε":
        return epsilon**2 / channel_of(run, setting).guarantee.in_metric("euclidean").epsilon
    return epsilon
