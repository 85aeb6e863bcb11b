"""The attack on raw floating-point sums, and that rounding to a grid ends it.

For a vector x only some float64 numbers y can occur as fl(x + z), whatever float z is. So whoever
sees y can ask of every word whether it can have produced y at all, knowing nothing of the noise.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from malaprop import CoordinateLaplace, Gaussian, Laplace, Lexicon, Mahalanobis, seeded_rng
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.noise import AdditiveNoise, Grid

WORDS, DIMENSION = 400, 300
VECTORS = 0.4 * np.random.Generator(np.random.PCG64(2)).normal(size=(WORDS, DIMENSION))
LEXICON = Lexicon([f"w{i}" for i in range(WORDS)], VECTORS)
MECHANISMS = [
    Laplace(epsilon=5.0),
    CoordinateLaplace(epsilon=0.1),
    Gaussian(epsilon=1.0, delta=1e-5, sensitivity=4.0),
    Mahalanobis(epsilon=5.0),
]


def survivors(y: NDArray[np.float64], words: NDArray[np.float64]) -> set[int]:
    """The words x for which each coordinate of y is fl(x + z) for some float z."""
    z = y - words
    possible = np.zeros(words.shape, dtype=bool)
    for direction in (-np.inf, np.inf):
        near = z
        for _ in range(3):
            possible |= words + near == y
            near = np.nextafter(near, direction)
    return set(np.flatnonzero(possible.all(axis=1)))


def releases(
    channel: VectorChannel[AdditiveNoise], word: int, *, snapped: bool, seed: int
) -> NDArray[np.float64]:
    rng = seeded_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        if not snapped:
            patch.setattr(Grid, "snap", lambda grid, values: values)
        return np.asarray(channel.release_words([word], rng)[0])


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
def test_raw_sums_betray_the_word_and_rounded_ones_do_not(mechanism: Laplace) -> None:
    channel = mechanism.on(LEXICON)
    words = LEXICON.vectors.astype(np.float64)
    raw_left = []
    for trial in range(4):
        raw = survivors(releases(channel, 7 + trial, snapped=False, seed=trial), words)
        assert 7 + trial in raw
        raw_left.append(len(raw))
        rounded = survivors(releases(channel, 7 + trial, snapped=True, seed=trial), words)
        assert len(rounded) == WORDS
    assert np.median(raw_left) <= 3, raw_left
