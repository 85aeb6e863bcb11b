"""What noise leaves of vectors, and hides; ε for them."""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.measure.calibration import SURE, Calibration, mechanism_at, searched
from malaprop.measure.targets import Target, chosen_target
from malaprop.privacy.arrays import Floats, Ids, blocks, checked_vectors
from malaprop.privacy.errors import ParameterError, checked_number
from malaprop.privacy.estimate import Estimate, clopper_pearson
from malaprop.privacy.guarantee import Kind
from malaprop.privacy.mechanism import FreeVectors, Mechanism, TakesVectors
from malaprop.privacy.progress import Progress
from malaprop.privacy.randomness import checked_rng, secure_rng, seeded_rng

_PAIRS = 4096  # of vectors whose distances are compared
_DRAWS = 2048  # released vectors that an observer looks up
_CANDIDATES = 4096  # the most vectors in the observer's list
_SURE = 0.9  # two-sided, so that each end is one of 95 %


@dataclass(frozen=True, kw_only=True)
class VectorFigures:
    """What is left of the distances of public vectors, and how many of them are found again."""

    correlation: float
    """Pearson's correlation of distances before and after, over pairs drawn at random."""
    least_correlation: float
    """Its lower bound, with 95 % confidence."""
    inversion: float
    """How often the nearest of all vectors to a released one is the true one."""
    most_inversion: float
    """Its upper bound, with 95 % confidence."""
    candidates: int
    """How many vectors an observer chose from: among more, fewer are found."""
    distance: float
    """The median distance of two vectors."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON; None for what cannot be measured."""
        return {name: None if math.isnan(value) else value for name, value in vars(self).items()}


def sample_of(public: Any) -> Floats:
    """Return the different rows among public vectors, at most 4,096 spread evenly over them."""
    rows = checked_vectors(public)
    if len(rows) > _CANDIDATES:
        rows = rows[np.linspace(0, len(rows) - 1, _CANDIDATES).astype(np.int64)]
    rows = rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]
    if len(rows) < 2:
        raise ParameterError(
            "Figures of vectors need a sample of public vectors, at least 2 different ones."
        )
    return rows


def typical_distance(rows: Floats) -> float:
    """Return the median distance of two of some different rows, drawn with a fixed seed.

    >>> typical_distance(np.array([[0.0, 0.0], [3.0, 4.0]]))
    5.0
    """
    first, second = _pairs(len(rows), np.random.Generator(np.random.PCG64(0)))
    return float(np.median(np.linalg.norm(rows[first] - rows[second], axis=1)))


def vector_figures(free: FreeVectors, public: Any, rng: Generator | None = None) -> VectorFigures:
    """Release public vectors, and measure what is left of them and what can be found again.

    The observer takes the nearest of all vectors, in Euclidean distance and after the projection
    if there is one.

    >>> from malaprop import Laplace, seeded_rng
    >>> public = seeded_rng(1).normal(size=(500, 8))
    >>> figures = vector_figures(Laplace(epsilon=1000.0).for_vectors(8), public, seeded_rng(2))
    >>> round(figures.correlation, 2), round(figures.inversion, 2)
    (1.0, 1.0)
    """
    rng, rows = secure_rng() if rng is None else checked_rng(rng), sample_of(public)
    return _figures(free, rows, typical_distance(rows), rng)


def _figures(free: FreeVectors, rows: Floats, distance: float, rng: Generator) -> VectorFigures:
    r, least = _correlation(free, rows, rng)
    hits = _recovered(free, rows, rng)
    return VectorFigures(
        correlation=r,
        least_correlation=least,
        inversion=hits / _DRAWS,
        most_inversion=float(clopper_pearson(hits, _DRAWS, _SURE)[1]),
        candidates=len(rows),
        distance=distance,
    )


def _pairs(size: int, rng: Generator) -> tuple[Ids, Ids]:
    """Draw pairs of different rows, each independently."""
    first = rng.integers(size, size=_PAIRS)
    second = rng.integers(size - 1, size=_PAIRS)
    return first, second + (second >= first)


def _correlation(free: FreeVectors, rows: Floats, rng: Generator) -> tuple[float, float]:
    """Return the correlation of distances, and its lower bound by Fisher's transformation."""
    first, second = _pairs(len(rows), rng)
    before = np.linalg.norm(rows[first] - rows[second], axis=1)
    after = np.empty(_PAIRS)
    for block in blocks(_PAIRS, row_cells=free.columns):
        ends = (free.release(rows[ids[block]], rng) for ids in (first, second))
        after[block] = np.linalg.norm(next(ends) - next(ends), axis=1)
    if np.ptp(before) <= 1e-9 * before.max():
        return math.nan, math.nan  # all are equally far apart: there is nothing to keep
    r = float(np.corrcoef(before, after)[0, 1])
    spread = SURE / math.sqrt(_PAIRS - 3)
    return r, math.tanh(math.atanh(min(r, 1.0 - 1e-15)) - spread)


def _recovered(free: FreeVectors, rows: Floats, rng: Generator) -> int:
    """Count released vectors of which the nearest candidate is the true one."""
    places = free.places(rows)
    half = np.einsum("ij,ij->i", places, places) / 2.0
    truth = rng.integers(len(rows), size=_DRAWS)
    hits = 0
    for block in blocks(_DRAWS, row_cells=max(free.columns, len(rows))):
        private = free.release(rows[truth[block]], rng)
        nearest = np.argmax(private @ places.T - half, axis=1)
        hits += int(np.count_nonzero(nearest == truth[block]))
    return hits


# How noise compares with the scale of vectors: stated, or that of public ones.
#
# The scale is never taken from the private vectors: a report that told it would tell about them.

_MUCH = 10.0  # times the typical distance: less than a hundredth of a squared distance is left
_UNRELATED = 0.1  # a correlation of distances that serves nothing
_RECOGNISED = 0.1  # a share of vectors found again that shows that something is left
_CLEAR = 4.0  # half of the typical distance, in deviations of the noise along a direction
_RECOVERED = 0.9  # a share of vectors that are found again


@dataclass(frozen=True, kw_only=True)
class NoiseAndScale:
    """The length of the noise beside the typical distance of two vectors."""

    noise: float
    """The root mean square length of the noise."""
    distance: float
    source: str
    """Where the typical distance comes from: `stated`, or `public sample`."""
    told_apart: float
    """About how often the nearer of two candidates, so far apart, is the true one."""
    loss: float | None
    """The guarantee for two vectors that far apart, in nats; None if nothing is promised."""
    figures: VectorFigures | None = None
    """What a public sample loses, and how many of its vectors are found again."""

    @property
    def ratio(self) -> float:
        return self.noise / self.distance

    @property
    def warnings(self) -> tuple[str, ...]:
        drowned, why = self.ratio > _MUCH, ""
        clear = NormalDist().inv_cdf(min(self.told_apart, 1.0 - 1e-16)) > _CLEAR
        found, measured = "nearly every vector", self.figures
        if measured is not None:
            clear = measured.inversion > _RECOVERED
            found = f"{measured.inversion:.0%} of {measured.candidates:,} public vectors"
        if measured is not None and not math.isnan(measured.correlation):
            recognised = measured.inversion > _RECOGNISED
            drowned = measured.correlation < _UNRELATED and not recognised
            why = f" (the correlation of distances is {measured.correlation:.2f})"
        warnings = []
        if drowned:
            warnings.append(
                f"the noise is {self.ratio:.3g} times as long as the typical distance of two "
                f"vectors, so that hardly anything is left of a single one{why}: use a larger ε, "
                "or fewer dimensions"
            )
        if clear:
            warnings.append(
                f"an observer who has a list of candidates finds {found} by taking the nearest, so "
                "that hardly anything is protected: use a smaller ε"
            )
        return tuple(warnings)

    def to_dict(self) -> dict[str, Any]:
        return {
            "noise_length": self.noise,
            "typical_distance": self.distance,
            "source": self.source,
            "noise_to_distance": self.ratio,
            "told_apart": self.told_apart,
            "loss_at_typical_distance": self.loss,
            "public_sample": None if self.figures is None else self.figures.to_dict(),
        }


def check_scale(scale: Any) -> None:
    """Refuse a typical distance that is none."""
    if scale is not None:
        what, constraint = "'scale' of vectors", "a finite number above 0"
        checked_number(scale, what, constraint, lambda number: 0.0 < number < math.inf)


def noise_and_scale(
    free: FreeVectors,
    *,
    scale: float | None = None,
    public: Any = None,
    rng: Generator | None = None,
) -> NoiseAndScale | None:
    """Compare the noise with a stated typical distance, or with that of public vectors.

    None if neither is given, or if the noise has no length.

    >>> from malaprop import Laplace
    >>> noise = noise_and_scale(Laplace(epsilon=10.0).for_vectors(300), scale=2**0.5)
    >>> round(noise.ratio), len(noise.warnings)
    (21, 1)
    """
    check_scale(scale)
    length = free.noise_length
    if length is None or (scale is None and public is None):
        return None
    figures = None if public is None else vector_figures(free, public, rng)
    distance = figures.distance if scale is None and figures is not None else float(scale or 0.0)
    along, promise = length / math.sqrt(free.onto), free.guarantee.in_metric("euclidean")
    loss = promise.loss(distance)
    return NoiseAndScale(
        noise=length,
        distance=distance,
        source="stated" if scale is not None else "public sample",
        told_apart=NormalDist().cdf(distance / (2.0 * along)),
        loss=None if promise.kind is Kind.NONE or math.isinf(loss) else loss,
        figures=figures,
    )


def calibrate_vectors(
    mechanism: type[Mechanism] | Mechanism | str,
    vectors: Any,
    *,
    correlation: float | None = None,
    inversion: float | None = None,
    rng: Generator | None = None,
    progress: Progress | None = None,
) -> Calibration:
    """Return the ε of a vector mechanism that meets one target on public sample vectors.

    - `correlation`: the smallest ε at which the distances of released vectors have at least this
      correlation with the true ones.
    - `inversion`: the largest ε at which an observer who has the sample as a list finds at most
      this share of released vectors in it, by taking the nearest. Among fewer candidates than the
      sample has, more are found.

    The vectors must be public: the answer depends on them. Up to 4,096 of them are used. Figures
    are estimated from draws, and their errors counted in, with a one-sided confidence of 95 %.
    `mechanism` is a class, a registered name, or a mechanism whose other parameters are kept;
    what it needs to know about vectors, it takes from these.

    >>> from malaprop import seeded_rng
    >>> sample = seeded_rng(1).normal(size=(300, 20))
    >>> calibration = calibrate_vectors("laplace", sample, correlation=0.9, rng=seeded_rng(2))
    >>> 0.9 <= calibration.value < 0.93
    True
    """
    make = mechanism_at(mechanism)
    target, bound = check_vector_target(make(1.0), correlation=correlation, inversion=inversion)
    rows, rng = sample_of(vectors), checked_rng(rng) if rng else secure_rng()
    distance = typical_distance(rows)
    # The same noise at each ε, only longer or shorter: the curve is smooth, and an unlucky draw
    # does not get another chance at each step of the search. Nothing private rests on it.
    seed = int(rng.integers(2**63))

    def figure(epsilon: float) -> Estimate:
        made: Any = make(epsilon)
        free = made.for_vectors(rows.shape[1], public=rows)
        figures = _figures(free, rows, distance, seeded_rng(seed))
        if target.name == "inversion":
            return Estimate.one_sided(figures.inversion, figures.most_inversion)
        if math.isnan(figures.correlation):
            raise ParameterError(
                "All vectors of the sample are equally far apart, so that no correlation of "
                "distances can be measured: give more vectors, or use the target inversion."
            )
        return Estimate.one_sided(figures.correlation, figures.least_correlation)

    return searched(
        figure,
        target,
        bound,
        target.text.format(bound=bound, candidates=len(rows)),
        lambda epsilon: {
            "epsilon_times_median_distance": epsilon * distance,
            "median_distance": distance,
            "columns": float(rows.shape[1]),
        },
        smallest=target.at_least,
        # About where noise along a direction is as long as the typical distance.
        start=math.sqrt(rows.shape[1]) / distance,
        progress=progress,
    )


def check_vector_target(
    mechanism: Mechanism, *, correlation: float | None, inversion: float | None
) -> tuple[Target, float]:
    """Return the one target and its bound; refuse mechanisms that release no vectors."""
    chosen = chosen_target("vectors", {"correlation": correlation, "inversion": inversion})
    if not isinstance(mechanism, TakesVectors):
        raise ParameterError(
            f"{type(mechanism).__name__} replaces words, and releases no vectors: name a mechanism "
            "that adds noise to them, such as laplace or priv-emb."
        )
    return chosen
