"""Lemma 4: how much a random projection stretches words, and vectors in general."""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from malaprop.core.noise.projected import ProjectedLaplace, operator_norm, stretch_chance
from malaprop.measure.chosen_words import word_ids
from malaprop.studies.framework.claims import Claim
from malaprop.studies.framework.items import Figure, Item, crossed
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.run import Run
from malaprop.studies.privemb.mechanisms import DIMENSIONS, M2, SOUND, channel_of, lexicon_of

BETAS = (0.5, 0.7, 0.9)
ALL_VECTORS = "all vectors"


def grid(run: Run) -> Iterator[Setting]:
    """The published projection and sound ones; what they stretch: words, or any vectors."""
    common = {"epsilon": [1], "beta": [*BETAS, *DIMENSIONS], "among": ["words", ALL_VECTORS]}
    for setting in crossed(mechanism=[M2], published=[True], projection=["gaussian"], **common):
        yield {**setting, "spread": "projections"}
    for setting in crossed(mechanism=[M2], published=[False], projection=SOUND, **common):
        yield {**setting, "spread": "projections"}


def stretch(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Measure the stretch of several projections, against what their noise makes up for."""
    seeds = range(1 if setting["projection"] == "pca" else run.pick(quick=2, full=5))
    lexicon = lexicon_of(run, setting)
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=300, full=2000)))
    largest, percentiles, factors = [], [], []
    covered = 0.0
    for seed in seeds:
        noise = channel_of(run, setting, seed).noise
        if not isinstance(noise, ProjectedLaplace):
            raise TypeError("PrivEmb's noise is projected.")
        covered = noise.scale * setting["epsilon"]
        if setting["among"] == ALL_VECTORS:
            largest.append(operator_norm(noise.matrix))
        else:
            ratios = _ratios(np.asarray(lexicon.vectors[ids], dtype=np.float64), noise)
            largest.append(float(ratios.max()))
            percentiles.append(float(np.percentile(ratios, 95)))
        factors.append(largest[-1] / covered)
        size = len(noise.matrix)
    yield Figure("stretch_max", max(largest))
    if percentiles:
        yield Figure("stretch_p95", float(np.mean(percentiles)))
    yield Figure("covered", covered)
    yield Figure("epsilon_factor", max(factors))
    yield Figure("dimension", size)
    yield Figure("noise_length", size * covered / setting["epsilon"])
    if setting["published"] and setting["among"] == "words":
        yield Figure("chance", stretch_chance(len(lexicon), size, setting["beta"]))


def _ratios(vectors: np.ndarray, noise: ProjectedLaplace) -> np.ndarray:
    """Return how much longer each difference of two words is after the projection."""
    from scipy.spatial.distance import pdist

    before, after = pdist(vectors), pdist(vectors @ noise.matrix.T)
    apart = before > 0.0
    return np.asarray(after[apart] / before[apart])


LEMMA4 = Item(
    name="lemma4",
    grid=grid,
    cell=stretch,
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
            holds=lambda line, results: isinstance(line.ours, float) and line.ours <= 1.0,
        ),
    ),
)
