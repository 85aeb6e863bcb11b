"""The audit of sound mechanisms, against losses written out by hand."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from tests.planted import promising

from malaprop import (
    TEM,
    Audit,
    CoordinateLaplace,
    Gaussian,
    Guarantee,
    HyperbolicLaplace,
    Jaccard,
    Kind,
    Laplace,
    LawChannel,
    Lexicon,
    Mahalanobis,
    Mechanism,
    MetricError,
    ParameterError,
    PermuteAndFlip,
    PoincareMetropolis,
    PrivEmb,
    TangentLaplace,
    audit,
    loss_of,
    registry,
)
from malaprop.mechanisms.jaccard import DensityCategories
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.law import Law, allowed_by, normalised, peak_loss, rounding, worst_of_law
from malaprop.privacy.noise import CoordinateLaplaceNoise, EllipticalLaplace

BALL = Lexicon(
    [f"w{i}" for i in range(30)],
    np.random.Generator(np.random.PCG64(8)).normal(size=(30, 3)) / 6,
    "poincare",
)

lexicons = st.tuples(st.integers(2, 9), st.integers(1, 3)).flatmap(
    lambda size: arrays(np.float32, size, elements=st.floats(-8, 8, width=32))
)


def worst(law: NDArray[np.float64], allowed: NDArray[np.float64]) -> float:
    """The definition: over all pairs and outputs."""
    ratios = [
        (law[a, y] - law[b, y]) / allowed[a, b]
        for a in range(len(law))
        for b in range(len(law))
        for y in range(len(law))
        if allowed[a, b] > 0
    ]
    return max(ratios, default=0.0)


@given(
    vectors=lexicons,
    epsilon=st.floats(0.05, 8),
    flip=st.booleans(),
    gamma=st.one_of(st.none(), st.floats(0.1, 20)),
)
def test_it_agrees_with_the_definition(
    vectors: NDArray[np.float32], epsilon: float, flip: bool, gamma: float | None
) -> None:
    lexicon = Lexicon([f"w{i}" for i in range(len(vectors))], vectors)
    mechanism = PermuteAndFlip(epsilon=epsilon) if flip else TEM(epsilon=epsilon, gamma=gamma)
    channel = mechanism.on(lexicon)
    found = audit(channel)
    distances = lexicon.distances(np.arange(len(lexicon)))
    allowed = epsilon * np.minimum(distances, channel.guarantee.cap)
    if distances[distances > 0].min(initial=1.0) > 1e-3:
        law = channel.log_probabilities(np.arange(len(lexicon)))
        assert found.worst_ratio == pytest.approx(worst(law, allowed), rel=1e-7, abs=1e-7)
    assert found.holds is True
    assert found.worst_ratio <= 1.0 + 1e-9


@given(vectors=lexicons, rate=st.floats(0.1, 3.0), flip=st.booleans())
def test_the_closed_form_finds_what_the_search_finds(
    vectors: NDArray[np.float32], rate: float, flip: bool
) -> None:
    """At y = w the loss is largest, for TEM and permute-and-flip with any exponent."""
    lexicon = Lexicon([f"w{i}" for i in range(len(vectors))], vectors)
    mechanism = PermuteAndFlip(epsilon=rate) if flip else TEM(epsilon=rate, exponent="half")
    channel = mechanism.on(lexicon)
    assert isinstance(channel, LawChannel)
    allowed = allowed_by(channel.guarantee)
    peak, sound = peak_loss(channel.law, allowed)
    ids = np.arange(len(lexicon))
    law, bound = normalised(channel.law.log_weights(ids)), allowed(lexicon.distances(ids))
    full = worst_of_law(law, bound, slack=rounding(len(ids)))
    assert sound
    assert peak.ratio == pytest.approx(full.ratio, rel=1e-6, abs=1e-6)


def test_the_pair_and_the_output_attain_it(plane: Lexicon) -> None:
    channel = TEM(epsilon=1.5, exponent="half").on(plane)
    found = audit(channel)
    assert found.pair is not None
    assert found.output is not None
    a, b, y = (plane.index[word] for word in (*found.pair, found.output))
    law = channel.log_probabilities([a, b])
    assert law[0, y] - law[1, y] == pytest.approx(found.loss, rel=1e-12)
    assert found.allowed == pytest.approx(1.5 * plane.distances([a])[0, b], rel=1e-12)
    assert found.loss / found.allowed == pytest.approx(found.worst_ratio, rel=1e-9)


def test_progress_is_reported(plane: Lexicon) -> None:
    large = Lexicon([f"w{i}" for i in range(1500)], np.arange(1500.0).reshape(-1, 1))
    for lexicon in (plane, large):
        told: list[tuple[int, int]] = []
        audit(TEM(epsilon=1.0).on(lexicon), progress=lambda *step, to=told: to.append(step))
        done, total = zip(*told, strict=True)
        assert list(done) == sorted(done)
        assert done[-1] == total[-1]


def test_words_of_one_vector_are_no_pair() -> None:
    twins = Lexicon(["a", "b", "c"], [[1.0], [1.0], [1.0]])
    found = audit(TEM(epsilon=1.0).on(twins))
    assert (found.worst_ratio, found.pair, found.holds) == (0.0, None, True)
    assert audit(TEM(epsilon=1.0).on(Lexicon(["a"], [[1.0]]))).holds is True


@dataclass(frozen=True, eq=False)
class Fixed(Law):
    """A law given as a table."""

    table: Floats

    def log_weights(self, ids: Ids) -> Floats:
        return np.asarray(np.log(self.table[ids]))


def fixed(words: Lexicon, guarantee: Guarantee, *rows: list[float]) -> LawChannel[Fixed]:
    return LawChannel(Fixed(words, np.array(rows)), guarantee)


def test_equal_laws_lose_nothing_and_different_twins_everything() -> None:
    words = Lexicon(["a", "b"], [[0.0], [0.0]])
    promise = Guarantee(kind=Kind.METRIC, epsilon=1.0, metric="euclidean")
    assert audit(fixed(words, promise, [0.3, 0.7], [0.3, 0.7])).holds is True
    found = audit(fixed(words, promise, [0.3, 0.7], [0.31, 0.69]))
    assert found.holds is False
    assert found.worst_ratio == math.inf


@pytest.mark.parametrize(("delta", "holds"), [(0.1001, True), (0.0999, False)])
def test_a_delta_is_computed_exactly(delta: float, holds: bool) -> None:
    """0.6 − e^ln2·0.25 = 0.1 one way, 0.75 − 2·0.4 < 0 the other."""
    words = Lexicon(["a", "b", "far"], [[0.0], [1.0], [50.0]])
    promise = Guarantee(
        kind=Kind.BOUNDED, epsilon=math.log(2.0), delta=delta, radius=2.0, metric="euclidean"
    )
    law = [0.6, 0.4, 1e-9], [0.25, 0.75, 1e-9], [1e-9, 1e-9, 1.0]
    found = audit(fixed(words, promise, *law))
    assert found.holds is holds
    assert found.worst_ratio == pytest.approx(0.1 / delta, rel=1e-6)
    assert found.pair == ("a", "b")


def test_without_a_promise_nothing_holds(plane: Lexicon) -> None:
    found = audit(promising(TEM(epsilon=1.0).on(plane), kind=Kind.NONE, reason="a test"))
    assert found.holds is None
    assert "nothing is promised" in found.method


def test_it_decides_only_what_it_computed() -> None:
    far = Lexicon([f"w{i}" for i in range(2001)], np.arange(2001.0).reshape(-1, 1))
    found = audit(Gaussian(epsilon=1.0).on(far))
    assert found.holds is None
    assert math.isnan(found.worst_ratio)
    assert "not decided" in str(found)
    assert audit(PoincareMetropolis(epsilon=1.0).on(BALL)).holds is None


@pytest.mark.parametrize("decoder", ["nearest", "vickrey", "rank"])
@pytest.mark.parametrize(
    "cls", [Laplace, CoordinateLaplace, Mahalanobis, PrivEmb, HyperbolicLaplace, TangentLaplace]
)
def test_noise_is_decided_with_any_decoder_in_any_dimension(
    cls: type[Mechanism], decoder: str
) -> None:
    """The loss of the vectors is computed, and decoded words reveal no more."""
    rng = np.random.Generator(np.random.PCG64(6))
    space = BALL
    if cls not in (HyperbolicLaplace, TangentLaplace):
        space = Lexicon([f"w{i}" for i in range(40)], rng.normal(size=(40, 7)))
    channel = cls(epsilon=2.5, decoder=decoder).on(space)  # type: ignore[call-arg]
    found = audit(channel)
    assert found.holds is True
    assert found.output is None
    assert found.worst_ratio <= found.at_most <= 1.0 + 1e-8


def test_noise_on_a_small_lexicon_is_audited_by_its_vectors(line: Lexicon) -> None:
    """Words may reveal less, which the audit does not compute."""
    found = audit(Laplace(epsilon=1.3).on(line))
    assert (found.holds, found.output) == (True, None)
    assert found.worst_ratio == found.at_most == pytest.approx(1.0)
    assert "words tell no more" in found.method


def log_density(noise: Any, moves: Floats) -> Floats:
    """Return ln of the density of a move, up to a constant."""
    if isinstance(noise, CoordinateLaplaceNoise):
        lengths = np.abs(moves).sum(axis=1)
    elif isinstance(noise, EllipticalLaplace):
        lengths = noise.ellipsoids[0].norm(moves)
    else:
        lengths = np.linalg.norm(moves, axis=1)
    return np.asarray(-lengths / noise.scale)


def test_losses_of_vectors_are_those_of_the_densities() -> None:
    """The largest difference of two log-densities over many vectors, attained at the word's own."""
    rng = np.random.Generator(np.random.PCG64(7))
    space = Lexicon([f"w{i}" for i in range(5)], rng.normal(size=(5, 3)))
    for cls in (Laplace, CoordinateLaplace, Mahalanobis):
        noise = cls(epsilon=1.3).on(space).noise
        own, other = space.vectors.astype(np.float64)[[0, 1]]
        points = np.concatenate([own[None], rng.normal(size=(20_000, 3)) * 4])
        seen = log_density(noise, points - own) - log_density(noise, points - other)
        loss = noise.density(space).loss()(np.array([0]))[0, 1]
        assert seen.max() <= loss * (1 + 1e-12)
        assert seen[0] == pytest.approx(loss, rel=1e-12)


@pytest.mark.parametrize("name", sorted(registry))
def test_no_registered_mechanism_fails_its_audit(name: str) -> None:
    rng = np.random.Generator(np.random.PCG64(2))
    space = Lexicon([f"w{i}" for i in range(9)], rng.normal(size=(9, 2)) / 5)
    cls = registry[name]
    try:
        channel = cls(epsilon=1.3).on(space)
    except MetricError:
        other = space.with_graph() if cls.needs == "graph" else space.with_metric("poincare")
        channel = cls(epsilon=1.3).on(other)
    found = audit(channel)
    assert found.holds is not False
    if name == "poincare-metropolis":  # which promises nothing
        assert found.holds is None
    else:
        assert found.holds is True


@pytest.mark.parametrize("dimension", [1, 2])
@pytest.mark.parametrize(
    "mechanism",
    [
        Mahalanobis(epsilon=1.0, clusters=2),
        PrivEmb(epsilon=1.0, dimension=1, projection="pca"),
        PrivEmb(epsilon=1.0, dimension=1, projection="gaussian"),
        Jaccard(epsilon=1.0, neighbours=2, categories="public"),
        TangentLaplace(epsilon=0.7),
    ],
)
def test_small_lexicons_are_decided(mechanism: Mechanism, dimension: int) -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    ball = isinstance(mechanism, TangentLaplace)
    vectors = rng.normal(size=(7, dimension)) * (0.2 if ball else 2.0)
    metric = "poincare" if ball else "euclidean"
    assert audit(mechanism.on(Lexicon([f"w{i}" for i in range(7)], vectors, metric))).holds is True


class TestCovers:
    LINE = Lexicon([f"w{i}" for i in range(8)], [[0], [1], [2], [3], [20], [30], [40], [50]])
    IDS = np.arange(8)

    def test_all_pairs_of_metric_privacy(self) -> None:
        assert Laplace(epsilon=1.0).on(self.LINE).covers(self.IDS).all()

    def test_pairs_within_the_radius(self) -> None:
        covers = Gaussian(epsilon=1.0, sensitivity=2.0).on(self.LINE).covers(self.IDS)
        np.testing.assert_array_equal(covers, self.LINE.distances(self.IDS) <= 2.0)

    def test_none_where_nothing_is_promised(self) -> None:
        channel = Jaccard(epsilon=1.0, neighbours=1, published=True).on(self.LINE)
        assert not channel.covers(self.IDS).any()

    def test_public_categories(self) -> None:
        channel = Jaccard(epsilon=1.0, neighbours=2, categories="public").on(self.LINE)
        near = self.LINE.distances(self.IDS) <= channel.guarantee.radius
        assert isinstance(channel.neighbourhoods, DensityCategories)
        dense = channel.neighbourhoods.dense
        expected = near & (dense[:, None] == dense)
        np.testing.assert_array_equal(channel.covers(self.IDS), expected)
        assert loss_of(channel, [("w0", "w1")]).epsilon == 1.0
        assert loss_of(channel, [("w0", "w4")]).epsilon == math.inf

    def test_neighbourhoods_must_be_given(self) -> None:
        channel = promising(Laplace(epsilon=1.0).on(self.LINE), kind=Kind.NEIGHBOURHOOD)
        with pytest.raises(NotImplementedError, match="neighbourhoods"):
            channel.covers(self.IDS)
        assert audit(channel).holds is None


def test_gaussian_at_other_distances(plane: Lexicon) -> None:
    found = audit(Gaussian(epsilon=1.0, delta=1e-5, sensitivity=2.0).on(plane))
    assert found.holds is True
    assert found.worst_ratio <= 1.0


@pytest.mark.parametrize("compute", [audit, lambda thing: loss_of(thing, [])])
@pytest.mark.parametrize("thing", [TEM(epsilon=1.0), "tem", None])
def test_only_channels_are_accepted(compute: Callable[[Any], Any], thing: Any) -> None:
    with pytest.raises(ParameterError, match=r"mechanism\.on\(lexicon\)"):
        compute(thing)


def test_it_is_printed(line: Lexicon) -> None:
    text = str(audit(TEM(epsilon=2.0, exponent="half").on(line)))
    assert "verdict      holds" in text
    assert "worst pair   three and one, at the output three" in text
    assert "ε = 2 (metric-dp)" in text
    assert isinstance(audit(TEM(epsilon=2.0).on(line)), Audit)


@settings(max_examples=5)
@given(
    vectors=st.integers(2, 6).flatmap(
        lambda n: arrays(np.float32, (n, 2), elements=st.floats(-4, 4, width=16))
    ),
    epsilon=st.floats(0.3, 2.0),
)
def test_laplace_in_the_plane_always_holds(vectors: NDArray[np.float32], epsilon: float) -> None:
    space = Lexicon([f"w{i}" for i in range(len(vectors))], vectors)
    assert audit(Laplace(epsilon=epsilon).on(space)).holds is True
