"""The Lexicon class; files are in the other modules of this folder."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from malaprop import Lexicon, LexiconError, MalapropError, ParameterError
from malaprop.lexicon import store
from malaprop.lexicon.search import NearestSearch
from malaprop.privacy.metrics import NAMED


def test_what_it_holds(line: Lexicon) -> None:
    assert line.words == ("zero", "one", "three")
    assert line.index["three"] == 2
    assert len(line) == 3
    assert "one" in line
    assert "two" not in line
    assert line.vectors.dtype == np.float32
    assert str(line.metric) == "euclidean"
    assert repr(line) == "Lexicon(3 words × 1 dimensions, euclidean)"


def test_it_cannot_be_changed(line: Lexicon) -> None:
    with pytest.raises(ValueError, match="read-only"):
        line.vectors[0] = 5.0
    with pytest.raises(TypeError):
        line.index["new"] = 3  # type: ignore[index]


def test_it_does_not_change_with_the_array_it_was_made_of() -> None:
    vectors = np.ones((2, 2), dtype=np.float32)
    lexicon = Lexicon(["a", "b"], vectors)
    vectors[:] = 7.0
    assert (lexicon.vectors == 1.0).all()


@pytest.mark.parametrize(
    ("words", "vectors", "complaint"),
    [
        ([], [], "at least one word"),
        (["a", "a"], [[1.0], [2.0]], "distinct"),
        (["a", ""], [[1.0], [2.0]], "non-empty"),
        (["a", "b\nc"], [[1.0], [2.0]], "line breaks"),
        (["a", "\ud800"], [[1.0], [2.0]], "valid Unicode"),
        (["a", 5], [[1.0], [2.0]], "non-empty strings"),
        ("ab", [[1.0], [2.0]], "list of words"),
        (["a"], [[1.0], [2.0]], "1 words, 2 rows"),
        (["a", "b"], [1.0, 2.0], "reshape"),
        (["a", "b"], [[], []], "matrix"),
        (["a", "b"], [[1.0], [float("nan")]], "row 1 has NaN"),
        (["a", "b"], [[float("inf")], [1.0]], "row 0 has NaN or infinity"),
        (["a", "b"], [[1e300], [1.0]], "finite in float32"),
        (["a", "b"], [[1.0], [1.0, 2.0]], "matrix of numbers"),
        (["a", "b"], [["x"], ["y"]], "matrix of numbers"),
        (["a", "b"], [[1j], [2.0]], "matrix of numbers"),
        (["a", " "], [[1.0], [2.0]], "non-empty"),
        (["a", "\u200b"], [[1.0], [2.0]], "non-empty"),
    ],
)
def test_wrong_input_is_refused(words: Any, vectors: Any, complaint: str) -> None:
    with pytest.raises(LexiconError, match=complaint) as caught:
        Lexicon(words, vectors)
    assert isinstance(caught.value, MalapropError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("metric", sorted(set(NAMED) - {"poincare"}))
def test_distances(plane: Lexicon, metric: str) -> None:
    lexicon = plane.with_metric(metric)
    d = lexicon.distances([4, 4, 9])
    assert d.shape == (3, 40)
    assert d.dtype == np.float64
    assert d[0, 4] == d[1, 4] == d[2, 9] == 0.0
    assert lexicon.distances([]).shape == (0, 40)
    with pytest.raises(ParameterError):
        lexicon.distances([40])


def test_neighbours(line: Lexicon) -> None:
    assert line.neighbours("one", 5) == [("zero", 1.0), ("three", 2.0)]
    assert line.neighbours("one", 1) == [("zero", 1.0)]
    with pytest.raises(LexiconError):
        line.neighbours("two", 1)
    with pytest.raises(ParameterError):
        line.neighbours("one", 0)


def test_a_word_is_never_its_own_neighbour() -> None:
    twins = Lexicon(["a", "b", "c"], [[1.0], [1.0], [2.0]])
    assert twins.neighbours("b", 2) == [("a", 0.0), ("c", 1.0)]


def test_the_fingerprint_is_of_words_vectors_and_metric(line: Lexicon) -> None:
    same = Lexicon(line.words, line.vectors.astype(np.float64))
    others = [
        Lexicon(["zero", "one", "four"], line.vectors),
        Lexicon(line.words, line.vectors + 1),
        line.with_metric("manhattan"),
    ]
    assert same.fingerprint == line.fingerprint
    assert len({lexicon.fingerprint for lexicon in [line, *others]}) == 4


def test_another_metric_is_another_lexicon(line: Lexicon) -> None:
    other = line.with_metric("chebyshev")
    assert str(other.metric) == "chebyshev"
    assert str(line.metric) == "euclidean"
    assert other.words is line.words


def test_it_can_travel_to_another_process(plane: Lexicon) -> None:
    plane.distances([0])
    again = pickle.loads(pickle.dumps(plane))  # noqa: S301
    assert again.fingerprint == plane.fingerprint
    assert np.array_equal(again.distances([3]), plane.distances([3]))


def test_changed_files_are_noticed(tmp_path: Path, line: Lexicon) -> None:
    """A release must not certify a lexicon that was not used."""
    folder = tmp_path / "line"
    store.write(folder, [(line.words, line.vectors)], metric="euclidean")
    assert Lexicon.open(folder).fingerprint == line.fingerprint
    (folder / "words.txt").write_text("one\nzero\nthree\n", "utf-8")
    with pytest.raises(LexiconError, match="changed"):
        _ = Lexicon.open(folder).fingerprint


def test_a_file_is_opened_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "tiny.txt"
    path.write_text("cold 0 1\ncool 0.5 1\n", "utf-8")
    lexicon = Lexicon.open(path)
    assert lexicon.words == ("cold", "cool")
    assert lexicon.distances([0]).tolist() == [[0.0, 0.5]]
    assert Lexicon.open(str(path)).fingerprint == lexicon.fingerprint


def test_the_embedded_lexicon_is_exact(english: Lexicon) -> None:
    """Squared distances are integers over 1024; no two words are at distance 0."""
    ids = np.array([0, 77, 5000, 32527])
    d = english.distances(ids)
    whole = np.rint(english.vectors.astype(np.float64) * 32)
    for row, i in zip(d, ids, strict=True):
        squares = ((whole - whole[i]) ** 2).sum(axis=1)
        assert np.array_equal(row, np.sqrt(squares / 1024.0))
        assert (np.delete(row, i) > 0).all()


class TestNearestSearch:
    @given(
        arrays(np.float32, (7, 3), elements=st.floats(-9, 9, width=32)),
        arrays(np.float64, (5, 3), elements=st.floats(-30, 30)),
    )
    def test_it_is_exact(self, vectors: NDArray[np.float32], queries: NDArray[np.float64]) -> None:
        found = NearestSearch(vectors).nearest(queries)[:, 0]
        d = cdist(queries, vectors.astype(np.float64))
        assert (d[np.arange(5), found] <= d.min(axis=1) + 1e-12).all()

    def test_it_decides_what_float32_cannot(self) -> None:
        """Two vectors that a float32 product cannot tell apart, 3 million from the query."""
        vectors = np.array([[1.0, 0.0], [1.0 + 2**-22, 0.0], [1.0, 2**-20]], dtype=np.float32)
        queries = np.array([[3e6, 0.0], [-3e6, 0.0], [0.0, 3e6]])
        assert NearestSearch(vectors).nearest(queries).tolist() == [[1], [0], [2]]

    @given(
        arrays(np.float32, (7, 2), elements=st.floats(-9, 9, width=32)),
        arrays(np.float64, (5, 2), elements=st.floats(-30, 30)),
        st.integers(1, 9),
    )
    def test_several_are_the_nearest_in_order(
        self, vectors: NDArray[np.float32], queries: NDArray[np.float64], k: int
    ) -> None:
        found = NearestSearch(vectors).nearest(queries, k)
        d = cdist(queries, vectors.astype(np.float64))
        assert found.shape == (5, min(k, 7))
        np.testing.assert_allclose(
            np.take_along_axis(d, found, axis=1), np.sort(d, axis=1)[:, :k], atol=1e-12
        )

    def test_ties_go_to_the_lowest_id(self) -> None:
        vectors = np.array([[1.0], [-1.0], [1.0]], dtype=np.float32)
        assert NearestSearch(vectors).nearest(np.array([[0.0], [2.0]])).tolist() == [[0], [0]]

    def test_huge_queries_do_not_overflow(self) -> None:
        vectors = np.array([[1.0, 2.0], [-1.0, 0.0]], dtype=np.float32)
        assert NearestSearch(vectors).nearest(np.array([[1e150, 0.0]])).tolist() == [[0]]
