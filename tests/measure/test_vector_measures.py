"""Figures of vectors against closed forms, calibration, and the scale of noise."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from malaprop import Gaussian, Laplace, Mahalanobis, ParameterError, PrivEmb, seeded_rng
from malaprop.measure import calibrate_vectors, noise_and_scale, vector_figures, vector_noise
from malaprop.measure.vector_noise import sample_of, typical_distance

CLOUD = seeded_rng(1).normal(size=(300, 10))
TWO = np.array([[0.0], [3.0]])


def test_inversion_of_two_points_is_what_the_density_says() -> None:
    """Of two points s apart on a line, the nearer is wrong with the chance ½·e^(−εs/2)."""
    for epsilon in (0.3, 1.0):
        found = vector_figures(Laplace(epsilon=epsilon).for_vectors(1), TWO, seeded_rng(2))
        truth = 1.0 - 0.5 * math.exp(-epsilon * 1.5)
        assert abs(found.inversion - truth) < 5 * math.sqrt(truth * (1 - truth) / 2048)
        assert found.inversion < found.most_inversion
        assert math.isnan(found.correlation)  # all pairs are equally far apart
        assert found.candidates == 2


def test_told_apart_is_exact_for_gaussian_noise() -> None:
    free = Gaussian(epsilon=1.0, sensitivity=1.0).for_vectors(1)
    compared = noise_and_scale(free, scale=3.0)
    assert compared is not None
    sigma = free.noise.sigma  # type: ignore[attr-defined]
    assert compared.told_apart == pytest.approx(norm.cdf(1.5 / sigma))
    found = vector_figures(free, TWO, seeded_rng(2))
    assert found.inversion == pytest.approx(compared.told_apart, abs=0.06)


def test_correlation_is_one_without_noise_and_none_with_much() -> None:
    clear = vector_figures(Laplace(epsilon=1e4).for_vectors(10), CLOUD, seeded_rng(1))
    assert clear.correlation > 0.999
    assert clear.least_correlation < clear.correlation
    drowned = vector_figures(Laplace(epsilon=0.01).for_vectors(10), CLOUD, seeded_rng(1))
    assert abs(drowned.correlation) < 0.08
    assert drowned.inversion < 0.02


@pytest.mark.parametrize("target", [0.7, 0.9])
def test_the_largest_epsilon_keeps_to_the_inversion(target: float) -> None:
    found = calibrate_vectors(Laplace, TWO, inversion=target, rng=seeded_rng(3))
    exact = -2.0 / 3.0 * math.log(2.0 * (1.0 - target))
    assert 0.8 * exact < found.epsilon <= exact
    assert found.value <= target
    epsilons, values = zip(*found.curve, strict=True)
    assert list(epsilons) == sorted(epsilons)
    assert list(values) == sorted(values)


@pytest.mark.parametrize(
    "made",
    ["laplace", PrivEmb(epsilon=1.0, projection="pca", dimension=9), Mahalanobis(epsilon=1.0)],
)
def test_the_smallest_epsilon_reaches_the_correlation(made: Any) -> None:
    found = calibrate_vectors(made, CLOUD, correlation=0.8, rng=seeded_rng(4))
    again = calibrate_vectors(made, CLOUD * 8, correlation=0.8, rng=seeded_rng(4))
    assert again.epsilon == pytest.approx(found.epsilon / 8, rel=0.02)  # only ε × distance matters
    cls = Laplace if made == "laplace" else type(made)
    options = {} if made == "laplace" else {k: v for k, v in vars(made).items() if k != "epsilon"}
    free = cls(epsilon=found.epsilon, **options).for_vectors(10, CLOUD)
    fresh = vector_figures(free, CLOUD, seeded_rng(5))
    assert 0.78 < fresh.correlation < 0.85
    below = cls(epsilon=0.9 * found.epsilon, **options).for_vectors(10, CLOUD)
    assert vector_figures(below, CLOUD, seeded_rng(5)).correlation < fresh.correlation


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "one target"),
        ({"correlation": 0.5, "inversion": 0.5}, "one target"),
        ({"correlation": 1.0}, "between 0 and 1"),
        ({"inversion": True}, "between 0 and 1"),
    ],
)
def test_wrong_targets_are_refused(options: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        calibrate_vectors("laplace", CLOUD, **options)


def test_targets_out_of_reach_and_samples_that_tell_nothing() -> None:
    with pytest.raises(ParameterError, match=r"out of reach.*smallest"):
        calibrate_vectors("laplace", TWO, inversion=0.4)  # a blind guess is right half the time
    narrow = PrivEmb(epsilon=1.0, dimension=1)
    with pytest.raises(ParameterError, match=r"out of reach.*largest"):
        calibrate_vectors(narrow, CLOUD, correlation=0.9)  # the projection alone loses too much
    with pytest.raises(ParameterError, match="equally far apart"):
        calibrate_vectors("laplace", TWO, correlation=0.5)
    with pytest.raises(ParameterError, match="at least 2 different"):
        calibrate_vectors("laplace", [[1.0], [1.0]], inversion=0.5)
    with pytest.raises(ParameterError, match="releases no vectors"):
        calibrate_vectors("tem", CLOUD, inversion=0.5)
    with pytest.raises(ParameterError, match="words of a lexicon only"):
        calibrate_vectors("nadp", CLOUD, inversion=0.5)


def test_the_sample_has_different_rows_and_a_median_distance() -> None:
    assert len(sample_of(np.repeat(CLOUD, 30, axis=0))) == 300
    assert len(sample_of(seeded_rng(1).normal(size=(9000, 2)))) == 4096
    pairs = np.linalg.norm(CLOUD[:, None] - CLOUD, axis=2)[np.triu_indices(300, 1)]
    assert typical_distance(CLOUD) == pytest.approx(float(np.median(pairs)), rel=0.02)


def test_the_scale_is_stated_or_public_or_unknown() -> None:
    free = Laplace(epsilon=2.0).for_vectors(10)
    assert noise_and_scale(free) is None
    stated = noise_and_scale(free, scale=4.0)
    public = noise_and_scale(free, public=CLOUD, rng=seeded_rng(1))
    both = noise_and_scale(free, scale=4.0, public=CLOUD, rng=seeded_rng(1))
    assert stated is not None
    assert public is not None
    assert both is not None
    assert (stated.source, stated.loss, stated.figures) == ("stated", 8.0, None)
    assert stated.ratio == pytest.approx(math.sqrt(110) / 2.0 / 4.0)
    assert public.distance == pytest.approx(typical_distance(CLOUD))
    assert (both.distance, both.figures is None) == (4.0, False)
    bounded = noise_and_scale(Gaussian(epsilon=1.0, sensitivity=1.0).for_vectors(10), scale=4.0)
    assert bounded is not None
    assert bounded.loss is None
    for wrong in (0.0, -1.0, math.nan, math.inf, "1", True):
        with pytest.raises(ParameterError, match="'scale'"):
            noise_and_scale(free, scale=wrong)  # type: ignore[arg-type]


def test_a_calibration_looks_at_the_sample_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Any] = []

    def counted(look: Any) -> Any:
        def counting(rows: Any) -> Any:
            looks.append(look)
            return look(rows)

        return counting

    for look in (sample_of, typical_distance):
        monkeypatch.setattr(vector_noise, look.__name__, counted(look))
    calibrate_vectors(Laplace, CLOUD, inversion=0.5, rng=seeded_rng(3))
    assert looks == [sample_of, typical_distance]
