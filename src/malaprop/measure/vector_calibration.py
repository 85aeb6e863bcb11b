"""From a target for vectors to ε: what is left of their distances, or how many are found again."""

import math
from collections.abc import Callable
from typing import Any

from numpy.random import Generator

from malaprop.core.errors import ParameterError
from malaprop.core.mechanism import Mechanism
from malaprop.core.noise.free_vectors import FreeVectors, TakesVectors
from malaprop.core.progress import Progress
from malaprop.core.randomness import checked_rng, secure_rng, seeded_rng
from malaprop.measure.searching import (
    Calibration,
    Figure,
    largest_epsilon,
    maker_of,
    share_of,
    smallest_epsilon,
)
from malaprop.measure.vector_measures import (
    VectorFigures,
    sample_of,
    typical_distance,
    vector_figures,
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
    make = maker_of(mechanism)
    name, bound = check_vector_target(make(1.0), correlation=correlation, inversion=inversion)
    rows = sample_of(vectors)
    figures = _measured(make, rows, checked_rng(rng) if rng else secure_rng())
    # About where noise along a direction is as long as the typical distance.
    distance = typical_distance(rows)
    start = math.sqrt(rows.shape[1]) / distance
    if name == "correlation":
        target = f"a correlation of distances of at least {bound:g}"
        epsilon, tried = smallest_epsilon(
            lambda e: _correlation(figures(e)),
            lambda figure: figure.unsafe >= bound,
            target,
            start=start,
            progress=progress,
        )
    else:
        target = f"an observer finds at most {bound:g} of vectors among {len(rows):,}"
        epsilon, tried = largest_epsilon(
            lambda e: _inversion(figures(e)),
            lambda figure: figure.unsafe <= bound,
            target,
            start=start,
            progress=progress,
        )
    return Calibration.of_search(
        epsilon,
        tried,
        target=target,
        normalised={
            "epsilon_times_median_distance": epsilon * distance,
            "median_distance": distance,
            "columns": float(rows.shape[1]),
        },
        exact=False,
    )


def check_vector_target(
    mechanism: Mechanism, *, correlation: float | None, inversion: float | None
) -> tuple[str, float]:
    """Return the one target and its bound; refuse mechanisms that release no vectors."""
    given = {"correlation": correlation, "inversion": inversion}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise ParameterError(
            "Calibrating on vectors takes one target of correlation, inversion. "
            f"Got {', '.join(named) or 'none'}."
        )
    _taking_vectors(mechanism)
    return named[0], share_of(named[0], given[named[0]])


def _taking_vectors(mechanism: Mechanism) -> TakesVectors:
    if not isinstance(mechanism, TakesVectors):
        raise ParameterError(
            f"{type(mechanism).__name__} replaces words, and releases no vectors: name a mechanism "
            "that adds noise to them, such as laplace or priv-emb."
        )
    return mechanism


def _measured(
    make: Callable[[float], Mechanism], rows: Any, rng: Generator
) -> Callable[[float], VectorFigures]:
    """Return what measures the mechanism with some ε."""

    def bind(epsilon: float) -> FreeVectors:
        return _taking_vectors(make(epsilon)).for_vectors(rows.shape[1], public=rows)

    # The same noise at each ε, only longer or shorter: the curve is smooth, and an unlucky draw
    # does not get another chance at each step of the search. Nothing private rests on it.
    seed = int(rng.integers(2**63))
    return lambda epsilon: vector_figures(bind(epsilon), rows, seeded_rng(seed))


def _correlation(figures: VectorFigures) -> Figure:
    if math.isnan(figures.correlation):
        raise ParameterError(
            "All vectors of the sample are equally far apart, so that no correlation of distances "
            "can be measured: give more vectors, or use the target inversion."
        )
    return Figure(figures.correlation, figures.least_correlation)


def _inversion(figures: VectorFigures) -> Figure:
    return Figure(figures.inversion, figures.most_inversion)
