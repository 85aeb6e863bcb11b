"""Words from released vectors: the nearest, and the last bits."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator

import malaprop
from malaprop import TEM, DataError, Laplace, Lexicon, ParameterError, Privatizer
from malaprop.measure import FoundVectors, attack
from malaprop.measure.adversaries.inversion import _grid, _reachable
from malaprop.mechanisms.decoders import VectorMechanism
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.estimate import clopper_pearson
from malaprop.privacy.noise import SphericalLaplace, spherical_laplace

WORDS = [f"{a}{b}{c}{d}" for a in "bdfgk" for b in "aeio" for c in "lmnr" for d in "aeiou"]


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    """400 words in 300 dimensions."""
    return Lexicon(WORDS, np.random.Generator(np.random.PCG64(5)).normal(size=(400, 300)))


def texts(words: int = 300) -> list[str]:
    rng = np.random.Generator(np.random.PCG64(6))
    return [" ".join(WORDS[i] for i in rng.integers(0, 400, 10)) for _ in range(words // 10)]


@dataclass(frozen=True, kw_only=True)
class RawNoise(SphericalLaplace):
    """Laplace's noise with all its bits: what nobody should release."""

    def release(self, vectors: Floats, rng: Generator) -> Floats:
        return vectors + spherical_laplace(vectors.shape, self.scale, rng)


@dataclass(frozen=True, kw_only=True)
class RawLaplace(VectorMechanism):
    """Releases raw noise."""

    def on(self, lexicon: Any) -> VectorChannel[RawNoise]:
        noise = RawNoise(scale=1.0 / self.epsilon, dimension=lexicon.vectors.shape[1])
        promise = Laplace(epsilon=self.epsilon).on(lexicon).guarantee
        return VectorChannel(lexicon, promise, noise, self.decoder_on(lexicon))


def run(name: str, lexicon: Lexicon, mechanism: Any, **options: Any) -> FoundVectors:
    own = Privatizer(lexicon, mechanism, rng=malaprop.seeded_rng(1))
    result = attack(name, own, texts(), rng=malaprop.seeded_rng(2), **options)
    assert isinstance(result, FoundVectors)
    return result


def test_the_last_bits_of_raw_noise_give_every_word_away(lexicon: Lexicon) -> None:
    """At this ε the nearest word is right as seldom as a guess."""
    raw = run("float", lexicon, RawLaplace(epsilon=1.0), words=100)
    assert raw.baseline < 0.1
    assert raw.score > 0.9
    assert raw.surviving is not None
    assert raw.surviving < 2.0


@pytest.mark.parametrize("epsilon", [0.5, 5.0, 40.0])
def test_a_grid_leaves_every_word_possible(lexicon: Lexicon, epsilon: float) -> None:
    ours = run("float", lexicon, Laplace(epsilon=epsilon), words=100)
    assert ours.score == ours.baseline
    assert ours.surviving == 400.0


@pytest.mark.parametrize("mechanism", ["mahalanobis", "gaussian", "coordinate-laplace", "priv-emb"])
def test_no_mechanism_of_ours_betrays_its_bits(lexicon: Lexicon, mechanism: str) -> None:
    from malaprop.mechanisms import mechanism_named

    made = mechanism_named(mechanism)(epsilon=0.5)
    found = run("float", lexicon, made, words=40)
    assert found.surviving == 400.0
    assert found.score == found.baseline


def test_the_nearest_word_without_noise_and_with_much(lexicon: Lexicon) -> None:
    open_ = run("inversion", lexicon, Laplace(epsilon=500.0))
    assert open_.score == open_.unprotected == 1.0
    hidden = run("inversion", lexicon, Laplace(epsilon=0.05))
    assert hidden.score < 0.05
    assert hidden.baseline == hidden.floor == 1 / 400
    for result in (open_, hidden):
        assert result.control < 0.05
        assert (result.words, result.candidates) == (300, 400)
        bounds = clopper_pearson(round(300 * result.score), 300, 0.95)
        assert result.interval == tuple(map(float, bounds))


def test_inversion_is_what_the_nearest_decoder_finds(lexicon: Lexicon) -> None:
    """Drawn words of the mechanism stay as often as vectors are inverted."""
    own = Privatizer(lexicon, Laplace(epsilon=3.0), rng=malaprop.seeded_rng(1))
    result = attack("inversion", own, texts(2000), rng=malaprop.seeded_rng(2))
    draws = own.word_draws(texts(2000))
    kept = float((draws.secret == draws.drawn).mean())
    assert 0.2 < kept < 0.98
    # 4.9 standard errors of a difference are a probability of 1e-6.
    assert abs(result.score - kept) < 4.9 * np.sqrt(2 * kept * (1 - kept) / 2000)


def test_projected_vectors_are_inverted_where_they_are(lexicon: Lexicon) -> None:
    from malaprop.mechanisms.priv_emb import PrivEmb

    assert run("inversion", lexicon, PrivEmb(epsilon=500.0)).score == 1.0


def test_points_of_a_ball_are_inverted_by_their_own_distance() -> None:
    from malaprop.mechanisms.hyperbolic_laplace import HyperbolicLaplace

    points = np.random.Generator(np.random.PCG64(5)).normal(size=(400, 3))
    points *= 0.9 / np.linalg.norm(points, axis=1).max()
    ball = Lexicon(WORDS, points, metric="poincare")
    assert run("inversion", ball, HyperbolicLaplace(epsilon=500.0)).score > 0.9
    with pytest.raises(ParameterError, match="Poincaré"):
        run("float", ball, HyperbolicLaplace(epsilon=20.0))


@pytest.mark.parametrize("name", ["inversion", "float"])
def test_what_releases_no_vectors_is_refused(lexicon: Lexicon, name: str) -> None:
    with pytest.raises(ParameterError, match="tem releases words only"):
        run(name, lexicon, TEM(epsilon=1.0))
    own = Privatizer(lexicon, Laplace(epsilon=1.0), rng=malaprop.seeded_rng(1))
    with pytest.raises(ParameterError, match="takes no labels"):
        attack(name, own, texts(), ["a"] * 30)
    with pytest.raises(DataError, match="no words"):
        attack(name, own, ["?!", None])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="must be a string, None or NaN"):
        attack(name, own, [3])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="no option 'adaptive'"):
        attack(name, own, texts(), adaptive=True)


def test_some_words_are_attacked_at_random(lexicon: Lexicon) -> None:
    assert run("inversion", lexicon, Laplace(epsilon=5.0), words=50).words == 50


def test_the_result_is_shown(lexicon: Lexicon) -> None:
    shown = str(run("float", lexicon, Laplace(epsilon=5.0), words=10))
    for part in ("recovered", "interval", "baseline", "unprotected", "control", "surviving"):
        assert part in shown


def test_the_grid_of_numbers_is_found() -> None:
    assert _grid(np.array([[0.75, -3.0], [0.0, 0.25]])) == 0.25
    assert _grid(np.zeros((2, 2))) == 0.0
    assert _grid(np.array([[3.0 * 2.0**-30, 2.0**40]])) == 2.0**-30


def test_reachable_numbers_are_those_that_a_float_leads_to() -> None:
    """Compared with all floats near y − x; sums of the kind x + z always are reachable."""
    rng = np.random.Generator(np.random.PCG64(1))
    x, z = rng.normal(size=200), rng.normal(size=200) * 3.0
    assert _reachable(x, x + z, 0.0).all()
    y = rng.normal(size=200)
    expected = []
    for a, b in zip(x, y, strict=True):
        near = b - a
        around = [near]
        for side in (-np.inf, np.inf):
            step = near
            for _ in range(20):
                step = np.nextafter(step, side)
                around.append(step)
        expected.append(any(a + c == b for c in around))
    assert _reachable(x, y, 0.0).tolist() == expected
    assert not all(expected)
