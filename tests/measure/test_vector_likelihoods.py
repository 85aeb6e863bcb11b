"""What an observer of noisy vectors achieves, for each kind of noise."""

import numpy as np
import pytest

from malaprop import (
    NADP,
    CoordinateLaplace,
    Gaussian,
    HyperbolicLaplace,
    Laplace,
    Lexicon,
    Mahalanobis,
    PoincareMetropolis,
    PrivEmb,
    TangentLaplace,
    seeded_rng,
)
from malaprop.measure.bayes import (
    BEST_GUESS,
    success_by_occurrences,
    vector_bounds,
    vector_likelihoods,
)
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.noise import Noise

CLOUD = Lexicon([f"w{i}" for i in range(60)], seeded_rng(5).normal(size=(60, 4)))
BALL = Lexicon(CLOUD.words, CLOUD.vectors[:, :2] / 8.0, "poincare")
EVEN = np.full(60, 1 / 60)
KINDS: list[tuple[Mechanism, Lexicon]] = [
    (Laplace(epsilon=3.0), CLOUD),
    (CoordinateLaplace(epsilon=1.5), CLOUD),
    (Mahalanobis(epsilon=3.0, regularization=0.5), CLOUD),
    (Mahalanobis(epsilon=3.0, clusters=3), CLOUD),
    (Gaussian(epsilon=1.0, sensitivity=1.0), CLOUD),
    (NADP(epsilon=1.0, isolated="suppress", tau=0.5), CLOUD),
    (NADP(epsilon=1.0, published=True, tau=0.5), CLOUD),
    (PrivEmb(epsilon=3.0, dimension=3), CLOUD),
    (HyperbolicLaplace(epsilon=3.0), BALL),
    (TangentLaplace(epsilon=3.0), BALL),
]


def _channel(mechanism: Mechanism, lexicon: Lexicon) -> VectorChannel[Noise]:
    channel = mechanism.on(lexicon)
    assert isinstance(channel, VectorChannel)
    return channel


@pytest.mark.parametrize(("mechanism", "lexicon"), KINDS)
def test_both_ways_to_compute_densities_agree(mechanism: Mechanism, lexicon: Lexicon) -> None:
    channel = _channel(mechanism, lexicon)
    likelihoods = vector_likelihoods(channel)
    assert likelihoods is not None
    words, rng = np.arange(60), seeded_rng(1)
    noisy = channel.release_words(words, rng)
    if likelihoods.slow:
        return
    fast, exact = likelihoods.of_all(noisy), likelihoods.of_some(noisy, words)
    known = np.isfinite(exact)
    assert (np.isfinite(fast) == known).all()
    assert fast[known] == pytest.approx(exact[known], rel=1e-4, abs=1e-2)


@pytest.mark.parametrize(("mechanism", "lexicon"), KINDS)
def test_a_density_is_the_noise_s_own(mechanism: Mechanism, lexicon: Lexicon) -> None:
    """The true word's density is larger on average than that of any other (Gibbs)."""
    channel = _channel(mechanism, lexicon)
    likelihoods = vector_likelihoods(channel)
    assert likelihoods is not None
    rng = seeded_rng(2)
    for word in (0, 31):
        noisy = channel.release_words(np.full(4_000, word), rng)
        told = ~likelihoods.untold(noisy, np.full(4_000, word))
        if told.any():
            means = likelihoods.of_some(noisy[told], np.arange(60)).mean(axis=0)
            assert means[word] >= means.max() - 0.02


@pytest.mark.parametrize(("mechanism", "lexicon"), KINDS)
def test_bounds_enclose_and_rise_with_occurrences(mechanism: Mechanism, lexicon: Lexicon) -> None:
    points = success_by_occurrences(mechanism.on(lexicon), (1, 4), rng=seeded_rng(3))
    assert list(points) == [1, 4]
    for point in points.values():
        assert point.bound == "at least"
        assert point.over == BEST_GUESS
        assert point.low <= point.value <= point.high
    assert points[1].high <= points[4].high + 0.1


def test_words_without_noise_count_as_found() -> None:
    """Such a word is released as it is, which a density does not say."""
    far = Lexicon(["a", "b", "c", "far"], [[0.0], [0.1], [0.2], [9.0]])
    channel = _channel(NADP(epsilon=1.0, published=True, m_edge=1, m_jaccard=2, tau=0.9), far)
    belief = (np.asarray(channel.noise.density(far).sigmas) == 0.0).astype(float)  # type: ignore[union-attr]
    assert belief.any()
    bounds = vector_bounds(channel, belief / belief.sum(), [1], seeded_rng(1), trials=50)
    assert bounds.tolist() == [1.0]


def test_an_unknown_density_bounds_nothing() -> None:
    channel = PoincareMetropolis(epsilon=2.0, steps=5).on(BALL)
    assert vector_bounds(channel, EVEN, [1, 3], seeded_rng(1), trials=9).tolist() == [1.0, 1.0]
