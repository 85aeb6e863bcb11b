"""Lemma 4: how much a random projection stretches words, and vectors in general."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.noise.projected import ProjectedLaplace, operator_norm, stretch_chance
from malaprop.measure.chosen_words import word_ids
from malaprop.studies.framework.claims import Claim
from malaprop.studies.framework.items import Figure, Item, crossed
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.run import Run
from malaprop.studies.privemb.mechanisms import DIMENSIONS, M2, SOUND, lexicon_of, mechanism_of

BETAS = (0.5, 0.7, 0.9)
ALL_VECTORS = "all vectors"


def grid(run: Run) -> Iterator[Setting]:
    """The published projection and sound ones."""
    every = [*BETAS, *DIMENSIONS]
    common: dict[str, Any] = {"mechanism": [M2], "epsilon": [1], "spread": ["projections"]}
    yield from crossed(published=[True], projection=["gaussian"], beta=every, **common)
    some = run.pick(quick=[*DIMENSIONS], full=every)
    yield from crossed(published=[False], projection=SOUND, beta=some, **common)


def stretch(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Measure the stretch of several projections, against what their noise makes up for."""
    lexicon = lexicon_of(run, setting)
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=300, full=1000)))
    some = np.asarray(lexicon.vectors[ids], dtype=np.float64)
    seeds = range(1 if setting["projection"] == "pca" else run.pick(quick=2, full=20))
    noises = [mechanism_of(setting, seed, lexicon).bind(lexicon.vectors)[0] for seed in seeds]
    ratios = [_ratios(some, noise) for noise in noises]
    size, covered = len(noises[0].matrix), min(noise.scale for noise in noises)
    for among, largest in (
        ("words", [float(own.max()) for own in ratios]),
        (ALL_VECTORS, [operator_norm(noise.matrix) for noise in noises]),
    ):
        factors = [x / noise.scale for x, noise in zip(largest, noises, strict=True)]
        yield Figure("stretch_max", max(largest), None, {"among": among})
        yield Figure("epsilon_factor", max(factors), None, {"among": among})
    p95 = float(np.mean([np.percentile(own, 95) for own in ratios]))
    yield Figure("stretch_p95", p95, None, {"among": "words"})
    yield Figure("covered", covered)
    yield Figure("dimension", size)
    yield Figure("noise_length", size * covered)
    if setting["published"]:
        yield Figure("chance", stretch_chance(len(lexicon), size, setting["beta"]))


def _ratios(vectors: Floats, noise: ProjectedLaplace) -> Floats:
    """Return how much longer each difference of two words is after the projection."""
    from scipy.spatial.distance import pdist

    before, after = pdist(vectors), pdist(vectors @ noise.matrix.T)
    apart = before > 0.0
    return np.asarray(after[apart] / before[apart])


LEMMA4 = Item(
    name="lemma4",
    grid=grid,
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
