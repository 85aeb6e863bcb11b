"""Figures 1 and 2: distances and inner products between private vectors, and between words."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.noise.laplace import SphericalLaplace
from malaprop.core.noise.noise import Noise
from malaprop.core.noise.projected import ProjectedLaplace
from malaprop.core.randomness import seeded_rng
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.tasking.correlations import pearson, spearman
from malaprop.studies.framework.claims import Claim, Results, below
from malaprop.studies.framework.items import Figure, Item
from malaprop.studies.framework.lines import Line, Setting
from malaprop.studies.framework.measuring import mean_of
from malaprop.studies.framework.run import Run
from malaprop.studies.framework.spreads import NOISE
from malaprop.studies.privemb.mechanisms import (
    EQUAL,
    M1,
    M2,
    Vectors,
    channel_of,
    grid_of,
    lexicon_of,
    shares_of,
)

EPSILONS = (1, 2, 5)
BETAS = (0.5, 0.6, 0.7)
COUNT = 100
"""Words on either side, as in the paper; the same ones in all cells."""
DELTA = 1e-6
SPREAD = "noise"
FLOORS = ("random table", "random words")
"""The best constant, the counterpart of a majority class, is a figure of each cell."""


def grid(run: Run) -> Iterator[Setting]:
    """Both mechanisms at the paper's ε and β, sound ones at one β or all, and a random table."""
    betas = run.pick(quick=(0.5, 0.7), full=BETAS)
    for setting in grid_of(EPSILONS, betas):
        if setting["published"] or setting["beta"] == betas[-1] or not run.quick:
            yield {**setting, "spread": SPREAD}
    yield {"mechanism": M1, "epsilon": 5, "beta": 0.7, "control": EQUAL, "spread": SPREAD}
    for control in FLOORS:
        yield {"control": control, "spread": SPREAD}


def preservation(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
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


def onto(channel: Vectors) -> Iterator[Figure]:
    """Tell how many dimensions remain. The formula for m may ask for more than there are."""
    if isinstance(channel.noise, ProjectedLaplace):
        yield Figure("m", len(channel.noise.matrix))


def matched_epsilon(setting: Setting, channel: Vectors) -> Iterator[Figure]:
    """Tell at which ε a mechanism keeps as many words as another, under that control."""
    if setting.get("control") == EQUAL:
        yield Figure("epsilon_of_equal_share", float(channel.guarantee.epsilon))


def bounds(setting: Setting, channel: Vectors, true: Floats) -> Iterator[Figure]:
    """Compute the bounds of Propositions 7 and 8, which hold with probability 1 − δ."""
    if setting["mechanism"] != M2 or not setting["published"]:
        return
    noise, beta, epsilon = channel.noise, setting["beta"], setting["epsilon"]
    size = len(noise.matrix) if isinstance(noise, ProjectedLaplace) else 0
    longest = float(np.linalg.norm(true, axis=1).max())
    length = size * math.log(2 * len(true) * size / DELTA) / epsilon
    yield Figure("distance_bound", 2 * beta * longest + 4 * length)
    yield Figure("product_bound", beta * longest**2 + 8 * longest * length + (2 * length) ** 2)


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
    grid=grid,
    cell=preservation,
    key="preservation",
    spread=spread,
    revision=3,
    measures=(*_measures("distance"), "distance_error_corrected"),
    claims=_claims("distance"),
)
FIG2 = Item(
    name="fig2",
    grid=grid,
    cell=preservation,
    key="preservation",
    spread=spread,
    revision=3,
    measures=_measures("product"),
    claims=_claims("product"),
)
