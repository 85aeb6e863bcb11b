"""From the share of words that an observer recovers with context to ε."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.errors import ParameterError
from malaprop.core.mechanism import Mechanism
from malaprop.core.parameters import several_texts, type_name
from malaprop.core.progress import Progress
from malaprop.core.randomness import checked_rng, secure_rng, seeded_rng
from malaprop.core.space import MetricSpace
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.context_figures import ContextCurve, context_curve
from malaprop.measure.figures import normalised
from malaprop.measure.searching import (
    Calibration,
    Figure,
    largest_epsilon,
)
from malaprop.pipeline.privatizer import Privatizer

_TEXTS = 1000  # of a sample, at most


def require_success_alone(
    success: float | None, occurrences: int, others: Iterable[object], *, context: bool
) -> None:
    """Refuse targets and options that say nothing about an observer with context."""
    if not context:
        raise ParameterError("A `sample` goes with `context=True`.")
    if success is None or occurrences != 1 or any(value is not None for value in others):
        raise ParameterError(
            "`context=True` goes with the target `success` alone: an observer with context knows "
            "how frequent words are, and sees them once."
        )


def calibrate_context(
    make: Callable[[float], Mechanism],
    lexicon: MetricSpace,
    success: float,
    sample: Sequence[str] | None,
    rng: Generator | None,
    progress: Progress | None,
) -> Calibration:
    """Return the largest ε at which an observer with context recovers at most a share of words.

    On a sample, the texts are attacked at each ε that is tried, and the upper end of the 95 %
    interval must keep to the share. Without one, stored figures of film reviews are interpolated.
    """
    rng = secure_rng() if rng is None else checked_rng(rng)
    if sample is not None:
        return _on_sample(make, lexicon, success, sample, rng, progress)
    curve = context_curve(make(1.0), lexicon)
    if curve is None:
        raise ParameterError(
            "What an observer recovers with context was measured for balanced, tem and laplace on "
            "english, with their usual parameters: for others, give public texts as `sample`."
        )
    return _on_stored(curve, lexicon, success)


def _target(success: float, where: str) -> str:
    return f"an observer with context recovers at most {success:g} of the words of {where}"


def _on_stored(curve: ContextCurve, lexicon: MetricSpace, success: float) -> Calibration:
    """Interpolate: the largest ε at which the upper end of the interval keeps to the share."""
    upper = np.maximum.accumulate(curve.upper)
    if not upper[0] <= success <= upper[-1]:
        raise ParameterError(
            f"The share of {success:g} is beyond what was measured on {curve.sample}: "
            f"{upper[0]:.3g} (ε = {curve.epsilons[0]:g}) to {upper[-1]:.3g} "
            f"(ε = {curve.epsilons[-1]:g}). Give public texts as `sample`."
        )
    epsilon = float(np.interp(success, upper, curve.epsilons))
    figure = curve.at(epsilon)
    value = success if figure is None else figure.context
    points = sorted([*zip(curve.epsilons, curve.context, strict=True), (epsilon, value)])
    return Calibration(
        epsilon=epsilon,
        target=f"{_target(success, curve.sample)}, from bigrams of {curve.prior}",
        value=value,
        curve=tuple(points),
        bounds=tuple(np.interp([each for each, _ in points], curve.epsilons, upper).tolist()),
        normalised=normalised(lexicon, epsilon),
        exact=False,
    )


def _on_sample(
    make: Callable[[float], Mechanism],
    lexicon: MetricSpace,
    success: float,
    sample: Sequence[str],
    rng: Generator,
    progress: Progress | None,
) -> Calibration:
    texts = _checked(sample)
    if not isinstance(lexicon, Lexicon):
        raise ParameterError(f"A `sample` needs a Lexicon. Got {type_name(lexicon)}.")
    seed = int(rng.integers(2**63))  # the same noise at each ε, so that the curve is smooth

    def figure(epsilon: float) -> Figure:
        from malaprop.measure.attacking.run import attack

        privatizer = Privatizer(lexicon, make(epsilon), rng=seeded_rng(seed))
        result: Any = attack("context", privatizer, texts, rng=seeded_rng(seed))
        return Figure(result.score, result.interval[1])

    target = _target(success, f"{len(texts):,} public texts")
    epsilon, tried = largest_epsilon(
        figure, lambda each: each.unsafe <= success, target, progress=progress
    )
    return Calibration.of_search(
        epsilon,
        tried,
        target=target,
        normalised=normalised(lexicon, epsilon),
        exact=False,
    )


def _checked(sample: Any) -> list[str]:
    """Return up to 1,000 texts, spread evenly over the sample."""
    texts = list(several_texts(sample, "sample"))
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ParameterError("`sample` takes one text or more, all of them strings.")
    chosen = np.linspace(0, len(texts) - 1, min(len(texts), _TEXTS)).astype(np.int64)
    return [texts[i] for i in chosen]
