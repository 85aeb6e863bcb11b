"""The mechanisms of the study: the paper's two, sound projections, and what needs no words."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.channel import VectorChannel
from malaprop.core.noise.noise import Noise
from malaprop.core.space import MetricSpace
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.tasking import sources
from malaprop.measure.tasking.subjects import Subject, random_words, subject_of, unprotected
from malaprop.mechanisms.laplace import Laplace
from malaprop.mechanisms.priv_emb import PrivEmb
from malaprop.studies.framework.items import Figure, crossed
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import (
    both_shares,
    epsilon_for_kept,
    floor_shares,
    share_kept,
)
from malaprop.studies.framework.not_at_hand import VECTORS
from malaprop.studies.framework.run import DEFAULT_LEXICON, Run

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


def shares_of(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
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
        return random_words(space)
    return _random_table(space, int(setting.get("dimension", space.vectors.shape[1])))


def _random_table(space: MetricSpace, dimension: int) -> Subject:
    """Return a random vector of so many dimensions for each word."""

    def begin(rng: Generator) -> sources.Source:
        return sources.Table(space, rng, rng.normal(size=(len(space), dimension)))

    return Subject(f"a random table of {dimension} dimensions", space, begin)
