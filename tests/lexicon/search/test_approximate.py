"""The approximate search: a public function of the noisy vector, mostly right, refused for laws."""

import numpy as np
import pytest
from numpy.typing import NDArray

import malaprop
from malaprop import Laplace, LawChannel, Lexicon, ParameterError, audit, registry, seeded_rng
from malaprop.core.arrays import Floats
from malaprop.lexicon.search import approximate
from malaprop.lexicon.search.approximate import ApproximateSearch
from malaprop.lexicon.search.exact import NearestSearch
from malaprop.lexicon.search.poincare import search_on

SIZE = 5000


def words() -> NDArray[np.float32]:
    """Words in clusters, as those of a language are."""
    rng = np.random.Generator(np.random.PCG64(1))
    centres = rng.normal(size=(100, 20))
    return (centres[rng.integers(100, size=SIZE)] + 0.5 * rng.normal(size=(SIZE, 20))).astype("f4")


def noisy(vectors: NDArray[np.float32], spread: float) -> Floats:
    rng = np.random.Generator(np.random.PCG64(2))
    return vectors[:1500] + spread * rng.normal(size=(1500, 20))


@pytest.fixture(scope="module")
def searched() -> ApproximateSearch:
    return ApproximateSearch(words())


@pytest.mark.parametrize(("spread", "agreement"), [(0.0, 1.0), (0.3, 0.97), (2.0, 0.6)])
def test_it_mostly_finds_the_nearest(
    searched: ApproximateSearch, spread: float, agreement: float
) -> None:
    queries = noisy(words(), spread)
    found, nearest = (s.nearest(queries)[:, 0] for s in (searched, NearestSearch(words())))
    assert np.mean(found == nearest) >= agreement
    # Where it finds another word, that one is hardly farther than the nearest.
    ratio = searched.distances(queries, found) / searched.distances(queries, nearest).clip(1e-9)
    assert (ratio[found != nearest] >= 1.0).all()
    assert np.median(ratio) <= 1.05


def test_it_is_the_nearest_of_all_if_all_cells_are_searched(
    searched: ApproximateSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approximate, "_SEARCHED", SIZE)
    queries = noisy(words(), 1.0)
    for k in (1, 2, 7):
        expected = NearestSearch(words()).nearest(queries, k)
        assert np.array_equal(searched.nearest(queries, k), expected)


@pytest.mark.parametrize("k", [1, 2, 50, SIZE])
def test_several_are_distinct_and_in_order(searched: ApproximateSearch, k: int) -> None:
    queries = noisy(words(), 0.5)[:20]
    found = searched.nearest(queries, k)
    assert found.shape == (20, k)
    assert all(len(np.unique(row)) == k for row in found)
    away = np.stack([searched.distances(queries, ids) for ids in found.T], axis=1)
    assert (np.diff(away, axis=1) >= -1e-5).all()


def test_it_depends_on_the_vector_only(searched: ApproximateSearch) -> None:
    """The result depends neither on the other vectors of the call nor on the object."""
    queries = noisy(words(), 0.7)
    whole = searched.nearest(queries)
    assert np.array_equal(whole, ApproximateSearch(words()).nearest(queries))
    parts = [searched.nearest(queries[start : start + 7]) for start in range(0, 1500, 7)]
    assert np.mean(np.concatenate(parts) == whole) >= 0.999  # but for float32's last bits


def test_words_of_one_vector_and_huge_ones() -> None:
    same = ApproximateSearch(np.ones((SIZE, 3), dtype=np.float32))
    assert same.nearest(np.zeros((4, 3)), 2).shape == (4, 2)
    huge = (1e30 * words()).astype(np.float32)
    queries = huge[:60].astype(np.float64)
    assert ApproximateSearch(huge).nearest(queries)[:, 0].tolist() == list(range(60))


def test_small_lexicons_are_searched_exactly_and_the_ball_not_at_all(plane: Lexicon) -> None:
    assert type(search_on(plane, "approximate")) is NearestSearch
    large = Lexicon([f"w{i}" for i in range(SIZE)], words())
    assert type(search_on(large, "approximate")) is ApproximateSearch
    assert type(search_on(large)) is NearestSearch
    ball = Lexicon(["a", "b"], [[0.5], [0.1]], metric="poincare")
    with pytest.raises(ParameterError, match="use search='exact'"):
        malaprop.TangentLaplace(epsilon=3.0, search="approximate").on(ball)


@pytest.mark.parametrize("decoder", ["nearest", "vickrey", "rank"])
def test_the_mechanism_says_so_and_its_guarantee_stays(decoder: str) -> None:
    lexicon = Lexicon([f"w{i}" for i in range(SIZE)], words())
    exact, near = (
        Laplace(epsilon=30.0, decoder=decoder, search=search) for search in ("exact", "approximate")
    )
    assert exact.to_dict()["search"] == "exact"
    assert near.to_dict()["search"] == "approximate"
    channel = near.on(lexicon)
    assert channel.guarantee == exact.on(lexicon).guarantee
    assert audit(channel).holds is True
    ids = np.arange(300)
    drawn, other = (made.on(lexicon).substitute(ids, seeded_rng(3)) for made in (exact, near))
    assert np.mean(drawn == other) >= 0.95


def test_laws_refuse_it_with_the_reason(plane: Lexicon) -> None:
    laws = []
    for name, cls in registry.items():
        space = plane.with_graph() if cls.needs == "graph" else plane
        if cls.needs != "poincare" and isinstance(cls(epsilon=1.0).on(space), LawChannel):
            laws.append(name)
            with pytest.raises(ParameterError, match="the guarantee would not hold"):
                cls(epsilon=1.0, search="approximate")  # type: ignore[call-arg]
    assert {"tem", "permute-and-flip", "balanced"} <= set(laws)


def test_other_values_are_refused() -> None:
    with pytest.raises(ParameterError, match="must be one of exact, approximate"):
        Laplace(epsilon=1.0, search="quick")
