import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.stats import kstest

import malaprop
from malaprop import NADP, Kind, Lexicon, LexiconError, MetricError, ParameterError, seeded_rng
from malaprop.mechanisms.nadp import NeighbourGraph
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.gaussian_noise import WordGaussian, gaussian_delta, spherical_delta


def lexicon_of(vectors: Any) -> Lexicon:
    return Lexicon([f"w{i}" for i in range(len(vectors))], vectors)


def parts(channel: VectorChannel[WordGaussian]) -> NeighbourGraph:
    found = channel.neighbourhoods
    assert isinstance(found, NeighbourGraph)
    return found


def gaussian_lexicon(words: int, dimension: int, seed: int = 4) -> Lexicon:
    return lexicon_of(seeded_rng(seed).normal(size=(words, dimension)))


# Two couples, near each other, and a word far away: with τ = 1 and m = 2, it alone is isolated.
COUPLES = lexicon_of([[0.0], [1.0], [10.0], [12.0], [30.0]])

# Whole coordinates: ties and words of one vector abound.
lattices = st.tuples(st.integers(2, 14), st.integers(1, 3)).flatmap(
    lambda size: arrays(np.int64, size, elements=st.integers(-4, 4))
)
readings = st.fixed_dictionaries(
    {
        "m_edge": st.integers(1, 4),
        "m_jaccard": st.integers(1, 6),
        "include_self": st.booleans(),
        "tau": st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 1.0]),
    }
)


def algorithm_1(
    points: NDArray[Any], m_edge: int, m_jaccard: int, include_self: bool, tau: float
) -> set[tuple[int, int]]:
    """The paper's graph, written out on distinct points; ties go to the lowest id."""

    def nearest(x: int, m: int) -> set[int]:
        by_distance = sorted(range(len(points)), key=lambda y: (math.dist(points[x], points[y]), y))
        return set(by_distance[:m] if include_self else by_distance[1 : m + 1])

    edges = set()
    for x, y in itertools.permutations(range(len(points)), 2):
        mine, its = nearest(x, m_jaccard), nearest(y, m_jaccard)
        if y in nearest(x, m_edge) and len(mine & its) / len(mine | its) >= tau:
            edges.add((min(x, y), max(x, y)))
    return edges


class TestGraph:
    @given(vectors=lattices, reading=readings)
    def test_it_is_algorithm_1(self, vectors: NDArray[np.int64], reading: dict[str, Any]) -> None:
        points = np.array(list(dict.fromkeys(map(tuple, vectors.tolist()))))
        assume(len(points) > 1)
        graph = NeighbourGraph.of(vectors.astype(np.float32), **reading)
        assert np.array_equal(graph.points, points)
        assert np.array_equal(graph.points[graph.place], vectors)
        assert set(map(tuple, graph.edges.tolist())) == algorithm_1(points, **reading)

    @given(vectors=lattices, reading=readings)
    def test_neighbourhoods_are_what_edges_connect(
        self, vectors: NDArray[np.int64], reading: dict[str, Any]
    ) -> None:
        assume(len(np.unique(vectors, axis=0)) > 1)
        graph = NeighbourGraph.of(vectors.astype(np.float32), **reading).attached()
        reach = np.eye(len(graph.points), dtype=bool)
        for _ in graph.points:
            for a, b in graph.edges:
                reach[a] = reach[b] = reach[a] | reach[b]
        joined = reach[graph.place][:, graph.place]
        assert np.array_equal(joined, graph.labels[:, None] == graph.labels[None, :])
        assert not graph.isolated.any()

    def test_one_m_for_both_with_itself_joins_mutual_neighbours_only(self) -> None:
        """Jaccard is 1/3 or 1 on every candidate: τ = 0.5 leaves the mutual nearest neighbours."""
        vectors = gaussian_lexicon(400, 20).vectors
        at = {t: NeighbourGraph.of(vectors, 2, 2, True, t) for t in (0.0, 1 / 3, 0.5, 1.0)}
        assert np.array_equal(at[0.0].edges, at[1 / 3].edges)
        assert np.array_equal(at[0.5].edges, at[1.0].edges)
        nearest = at[0.5].nearest
        mutual = {(min(x, y), max(x, y)) for x, y in enumerate(nearest) if nearest[y] == x}
        assert set(map(tuple, at[0.5].edges.tolist())) == mutual
        assert at[0.5].isolated.mean() > 0.5

    @pytest.mark.parametrize("m", [2, 3, 5])
    def test_one_m_for_both_without_itself_tops_out(self, m: int) -> None:
        """Jaccard is (m − 1)/(m + 1) at most; for m = 2 and τ = 0.5 there are no edges at all."""
        vectors = gaussian_lexicon(400, 2).vectors
        assert len(NeighbourGraph.of(vectors, m, m, False, (m - 1) / (m + 1)).edges)
        assert len(NeighbourGraph.of(vectors, m, m, False, (m - 1) / (m + 1) + 1e-9).edges) == 0

    def test_the_reading_of_the_experiments_is_between(self) -> None:
        vectors = gaussian_lexicon(400, 3).vectors
        isolated = NeighbourGraph.of(vectors, 2, 10, True, 0.5).isolated.mean()
        assert 0.02 < isolated < 0.6

    def test_words_of_one_vector_are_one_point(self) -> None:
        """Alone in their neighbourhood, they would have Δ = 0."""
        twins = lexicon_of([[0.0, -0.0], [0.0, 0.0], [5.0, 0.0], [5.0, 0.0], [6.0, 0.0]])
        channel = NADP(epsilon=1.0, tau=1.0).on(twins)
        assert (parts(channel).sensitivities > 0).all()
        assert channel.noise.sigmas[0] == channel.noise.sigmas[1]
        with pytest.raises(LexiconError, match="different vectors"):
            NADP(epsilon=1.0).on(lexicon_of([[1.0], [1.0]]))
        with pytest.raises(LexiconError, match="different vectors"):
            NADP(epsilon=1.0).on(lexicon_of([[1.0]]))

    @pytest.mark.parametrize("offset", [0.0, 1000.0])
    def test_diameters_are_exact_far_from_the_origin_too(self, offset: float) -> None:
        vectors = (seeded_rng(1).normal(size=(600, 7)) + offset).astype(np.float32)
        graph = NeighbourGraph.of(vectors, 40, 40, True, 0.0)
        long = vectors.astype(np.float64)
        widest = max(float(np.linalg.norm(long - x, axis=1).max()) for x in long)
        assert np.all(graph.sensitivities >= widest)
        assert graph.sensitivities[0] == pytest.approx(widest, rel=1e-12)


class TestGuarantee:
    @given(vectors=lattices, reading=readings, epsilon=st.floats(0.05, 20))
    def test_every_pair_of_a_neighbourhood_is_protected(
        self, vectors: NDArray[np.int64], reading: dict[str, Any], epsilon: float
    ) -> None:
        assume(len(np.unique(vectors, axis=0)) > 1)
        channel = NADP(epsilon=epsilon, delta=1e-5, **reading).on(lexicon_of(vectors))
        assert channel.guarantee.kind is Kind.NEIGHBOURHOOD
        assert (parts(channel).sensitivities > 0).all()
        for x, y in itertools.combinations(range(len(vectors)), 2):
            if parts(channel).labels[x] == parts(channel).labels[y]:
                distance = math.dist(vectors[x], vectors[y])
                assert channel.noise.sigmas[x] == channel.noise.sigmas[y]
                assert distance <= parts(channel).sensitivities[x]
                exact = gaussian_delta(epsilon, distance / channel.noise.sigmas[x])
                assert exact <= 1e-5 * (1 + 1e-9)

    @given(vectors=lattices, reading=readings)
    def test_by_edges_the_ends_of_every_edge_are_protected(
        self, vectors: NDArray[np.int64], reading: dict[str, Any]
    ) -> None:
        assume(len(np.unique(vectors, axis=0)) > 1)
        channel = NADP(epsilon=1.0, delta=1e-5, scope="edge", **reading).on(lexicon_of(vectors))
        first = [
            int(np.flatnonzero(parts(channel).place == p)[0])
            for p in range(len(parts(channel).points))
        ]
        for a, b in parts(channel).edges:
            x, y = first[a], first[b]
            assert channel.noise.sigmas[x] == channel.noise.sigmas[y]
            assert math.dist(vectors[x], vectors[y]) <= parts(channel).sensitivities[x]
        assert (parts(channel).sensitivities > 0).all()

    @pytest.mark.parametrize("scope", ["component", "edge"])
    @pytest.mark.parametrize("isolated", ["attach", "suppress"])
    def test_an_exact_audit_finds_it_true(self, scope: str, isolated: str, plane: Lexicon) -> None:
        channel = NADP(epsilon=1.0, tau=0.5, scope=scope, isolated=isolated).on(plane)
        found = malaprop.audit(channel)
        assert found.holds
        assert found.worst_ratio == pytest.approx(1.0, rel=1e-9)

    def test_which_pairs_are_covered(self) -> None:
        chain = lexicon_of([[0.0], [1.0], [1.0], [2.0], [50.0], [51.5]])
        whole = NADP(epsilon=1.0, tau=0.0).on(chain).covers(np.arange(6))
        assert np.array_equal(whole, np.array([[i < 4] * 4 + [i >= 4] * 2 for i in range(6)]))
        edges = NADP(epsilon=1.0, tau=0.0, scope="edge").on(chain).covers(np.arange(6))
        missing = np.zeros((6, 6), dtype=bool)
        missing[0, 3] = missing[3, 0] = True
        assert np.array_equal(edges, whole & ~missing)

    def test_edges_do_not_cover_a_chain(self) -> None:
        """Words that are k edges apart have k times the distance that σ was made for."""
        chain = lexicon_of(np.arange(6.0)[:, None])
        by_edge = NADP(epsilon=1.0, delta=1e-5, tau=0.0, scope="edge").on(chain)
        assert len(np.unique(parts(by_edge).labels)) == 1
        deltas = [gaussian_delta(1.0, k / by_edge.noise.sigmas[0]) for k in (1, 2, 3, 5)]
        assert deltas == pytest.approx([1e-5, 0.0104, 0.064, 0.257], rel=6e-3)
        assert "joined" in by_edge.guarantee.pairs
        whole = NADP(epsilon=1.0, delta=1e-5, tau=0.0).on(chain)
        assert gaussian_delta(1.0, 5 / whole.noise.sigmas[0]) == pytest.approx(1e-5, rel=1e-9)

    @pytest.mark.parametrize(("ratio", "variation"), [(1.05, 0.45), (1.2, 0.97)])
    def test_the_neighbourhood_is_given_away(self, ratio: float, variation: float) -> None:
        """In 300 dimensions the length of the noise tells one σ from another."""
        assert spherical_delta(0.0, 1.0, ratio, 0.0, 300) == pytest.approx(variation, abs=0.005)

    def test_the_scale_is_the_papers(self) -> None:
        pair = lexicon_of([[0.0], [1.0]])
        channel = NADP(epsilon=1.0, delta=1 / 73404).on(pair)
        assert channel.noise.sigmas[0] == pytest.approx(3.66069952632413, rel=1e-12)

    def test_it_says_what_is_not_protected(self, plane: Lexicon) -> None:
        guarantee = NADP(epsilon=1.0).on(plane).guarantee
        assert "no protection across" in str(guarantee)
        assert "which neighbourhood each word is in" in guarantee.public
        assert guarantee.delta == 1e-6

    def test_a_power_of_two_of_scale_changes_nothing(self, plane: Lexicon) -> None:
        ids = np.arange(40).repeat(20)
        here = NADP(epsilon=1.1).on(plane).substitute(ids, seeded_rng(2))
        scaled = Lexicon(plane.words, plane.vectors * 8.0)
        assert np.array_equal(here, NADP(epsilon=1.1).on(scaled).substitute(ids, seeded_rng(2)))

    def test_english(self, english: Lexicon) -> None:
        common = Lexicon(english.words[:2000], english.vectors[:2000])
        channel = NADP(epsilon=1.0).on(common)
        assert parts(channel).sensitivities.min() > 0.5
        clear = NADP(epsilon=1.0, tau=0.5, published=True).on(common)
        assert clear.guarantee.kind is Kind.NONE
        assert (clear.noise.sigmas == 0).mean() > 0.5


class TestIsolated:
    def test_attached_words_join_the_neighbourhood_of_the_nearest(self) -> None:
        channel = NADP(epsilon=1.0, tau=1.0, m_jaccard=2).on(COUPLES)
        assert parts(channel).labels[4] == parts(channel).labels[3]
        assert parts(channel).sensitivities == pytest.approx([1.0, 1.0, 20.0, 20.0, 20.0])

    def test_suppressed_words_all_give_one_constant(self) -> None:
        two = lexicon_of([[0.0], [1.0], [10.0], [12.0], [30.0], [-50.0]])
        channel = NADP(epsilon=1.0, tau=1.0, m_jaccard=2, isolated="suppress").on(two)
        assert channel.guarantee.kind is Kind.NEIGHBOURHOOD
        assert "2 isolated words" in str(channel.guarantee)
        assert not channel.release_words([4, 5, 4], seeded_rng(1)).any()
        assert np.unique(channel.substitute([4, 5] * 50, seeded_rng(1))).tolist() == [0]
        assert len(np.unique(channel.release_words([0] * 50, seeded_rng(1)))) > 40

    def test_they_can_be_an_error(self) -> None:
        with pytest.raises(ParameterError, match=r"1 of the 5 words .* lower tau"):
            NADP(epsilon=1.0, tau=1.0, m_jaccard=2, isolated="error").on(COUPLES)
        NADP(epsilon=1.0, tau=0.0, isolated="error").on(COUPLES)

    def test_the_paper_releases_them_in_clear(self) -> None:
        channel = NADP(epsilon=1.0, tau=1.0, m_jaccard=2, published=True).on(COUPLES)
        assert str(channel.guarantee) == (
            "No guarantee: 1 of 5 words have no neighbour and are released in clear."
        )
        assert channel.release_words([4] * 9, seeded_rng(1)).tolist() == [[30.0]] * 9
        assert set(channel.substitute([4] * 50, seeded_rng(1)).tolist()) == {4}

    def test_the_paper_without_isolated_words_protects_edges(self) -> None:
        channel = NADP(epsilon=1.0, tau=0.0, published=True).on(COUPLES)
        assert channel.guarantee.kind is Kind.NEIGHBOURHOOD
        assert "joined" in channel.guarantee.pairs


class TestRelease:
    def noise(self, word: int, epsilon: float = 1.0) -> NDArray[np.float64]:
        """Noise of a word, in units of what σ should be at ε = 1."""
        lexicon = lexicon_of([[0.0, 0.0], [1.0, 0.0], [50.0, 0.0], [50.0, 3.0]])
        released = NADP(epsilon=epsilon).on(lexicon).release_words([word] * 40_000, seeded_rng(3))
        sigmas = NADP(epsilon=1.0).on(lexicon).noise.sigmas
        return np.asarray((released - lexicon.vectors[word]) / sigmas[word])

    @pytest.mark.parametrize("word", [0, 3])
    def test_it_is_normal(self, word: int) -> None:
        z = self.noise(word)
        for axis in ([1.0, 0.0], [0.0, 1.0], [0.6, -0.8]):
            assert kstest(z @ np.array(axis), "norm").pvalue > 1e-6

    @pytest.mark.parametrize("epsilon", [0.94, 1.06])
    def test_a_scale_off_by_5_percent_is_noticed(self, epsilon: float) -> None:
        z = self.noise(0, epsilon)
        assert abs(z.std() - 1.0) < 0.06
        assert kstest(np.square(z).sum(axis=1) / 2, "expon").pvalue < 1e-6

    def test_it_lies_on_a_grid_of_the_neighbourhood(self) -> None:
        channel = NADP(epsilon=1.0, tau=1.0, m_jaccard=2).on(COUPLES)
        for word, sigma in enumerate(channel.noise.sigmas):
            step = 2.0 ** (np.floor(np.log2(sigma)) - 10)
            y = channel.release_words([word] * 500, seeded_rng(1)) / step
            assert np.array_equal(y, np.rint(y))
            assert not np.array_equal(y / 4, np.rint(y / 4))

    def test_rows_of_the_lexicon_are_released_as_its_words(self, plane: Lexicon) -> None:
        channel = NADP(epsilon=1.0).on(plane)
        words = channel.release_words([3, 3, 9], seeded_rng(4))
        assert np.array_equal(words, channel.release(plane.vectors[[3, 3, 9]], seeded_rng(4)))
        assert channel.release(np.empty((0, 2)), seeded_rng(4)).shape == (0, 2)

    def test_other_vectors_are_refused(self, plane: Lexicon) -> None:
        channel = NADP(epsilon=1.0).on(plane)
        row = plane.vectors[3].astype(np.float64)
        for other in (row + 1e-12, row * 2, [0.0, 0.0]):
            with pytest.raises(ParameterError, match="row 1 is not one"):
                channel.release(np.stack([row, other]), seeded_rng(1))
        with pytest.raises(ParameterError):
            channel.release([[np.nan, 0.0]], seeded_rng(1))

    def test_a_zero_has_no_sign(self) -> None:
        channel = NADP(epsilon=1.0).on(lexicon_of([[-0.0, 1.0], [2.0, 0.0]]))
        assert channel.release([[0.0, 1.0], [2.0, -0.0]], seeded_rng(1)).shape == (2, 2)

    def test_noise_that_float64_cannot_hide_is_refused(self) -> None:
        narrow: dict[str, Any] = {"epsilon": 1.0, "tau": 1.0, "m_jaccard": 2}
        NADP(**narrow).on(lexicon_of([[1e5], [1e5 + 0.0625], [2e5], [2.1e5]]))
        with pytest.raises(ParameterError, match="float64"):
            NADP(**narrow).on(lexicon_of([[1e5], [1e5 + 0.0625], [1e12], [1.1e12]]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"delta": 0.0},
        {"delta": 1.0},
        {"tau": -0.1},
        {"tau": 1.1},
        {"tau": math.nan},
        {"m_edge": 0},
        {"m_edge": 1.5},
        {"m_edge": True},
        {"m_jaccard": "10"},
        {"m_jaccard": math.inf},
        {"include_self": "no"},
        {"include_self": 1},
        {"scope": "words"},
        {"isolated": "ignore"},
        {"published": None},
        {"decoder": "farthest"},
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        NADP(epsilon=1.0, **wrong)


def test_whole_numbers_may_be_written_as_floats() -> None:
    assert NADP(epsilon=1.0, m_edge=3.0) == NADP(epsilon=1.0, m_edge=3)  # type: ignore[arg-type]


def test_it_needs_the_euclidean_metric(plane: Lexicon) -> None:
    with pytest.raises(MetricError, match="TEM"):
        NADP(epsilon=1.0).on(plane.with_metric("manhattan"))
