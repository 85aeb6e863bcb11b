"""What tasks draw from: noise for each place, a table, texts, chance."""

import numpy as np
import pytest

from malaprop import TEM, Laplace, Lexicon, ParameterError, Privatizer, seeded_rng
from malaprop.lab.tasks.sources import (
    Corpus,
    CorpusReader,
    Source,
    Subject,
    random_subject,
    random_table,
    subject_of,
    unprotected,
)

TEXTS = ["w1, w2 w2!", "...", "w3", "w4 w5 w6 w7 w8 w9 " * 50]
SAME = np.full(3000, 7)


@pytest.fixture(scope="module")
def corpus(plane: Lexicon) -> Corpus:
    return CorpusReader(plane)(TEXTS)


def _begin(subject: Subject, seed: int = 1) -> Source:
    return subject.begin(seeded_rng(seed))


def test_without_noise_all_is_as_it_was(plane: Lexicon, corpus: Corpus) -> None:
    source = _begin(subject_of(plane))
    assert source.vectors(np.array([3, 1])).tolist() == plane.vectors[[3, 1]].tolist()
    one, two, three = (plane.vectors[i].astype(np.float64) for i in (1, 2, 3))
    centroids = source.centroids(corpus)
    np.testing.assert_allclose(centroids[:3], [(one + two + two) / 3, 0 * one, three], atol=1e-12)
    assert [text.lower() for text in source.texts(corpus)] == TEXTS


def test_each_place_has_noise_of_its_own(plane: Lexicon) -> None:
    channel = Laplace(epsilon=1.0).on(plane)
    noisy = _begin(subject_of(channel)).vectors(SAME)
    assert len(np.unique(noisy, axis=0)) == len(SAME)
    words = _begin(subject_of(channel, release="words"))
    assert len(np.unique(words.vectors(SAME), axis=0)) > 3


def test_a_table_has_one_draw_for_each_word(plane: Lexicon) -> None:
    for channel in (Laplace(epsilon=1.0).on(plane), TEM(epsilon=1.0).on(plane)):
        subject = subject_of(channel, once=True)
        table = _begin(subject).vectors(SAME)
        assert len(np.unique(table, axis=0)) == 1
        other = _begin(subject, seed=2).vectors(np.arange(40))
        assert not np.array_equal(other, _begin(subject).vectors(np.arange(40)))


def test_the_words_of_a_table_are_those_nearest_to_its_vectors(plane: Lexicon) -> None:
    source = _begin(subject_of(Laplace(epsilon=1.0).on(plane), once=True))
    words, vectors = source.words(np.arange(40)), source.vectors(np.arange(40))
    gaps = ((vectors[:, None] - plane.vectors[None]) ** 2).sum(axis=2)
    assert words.tolist() == gaps.argmin(axis=1).tolist()


def test_noisy_centroids_are_means_of_noisy_vectors(
    plane: Lexicon, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    precise = _begin(subject_of(Laplace(epsilon=1e5).on(plane)))
    clean = _begin(unprotected(plane)).centroids(corpus)
    np.testing.assert_allclose(precise.centroids(corpus), clean, atol=1e-3)
    # A text that is cut by a block counts once.
    cut = lambda count, row_cells: [slice(i, min(i + 4, count)) for i in range(0, count, 4)]  # noqa: E731
    monkeypatch.setattr("malaprop.lab.tasks.sources.blocks", cut)
    np.testing.assert_allclose(precise.centroids(corpus), clean, atol=1e-3)


def test_the_noise_of_a_centroid_shrinks_with_its_words(plane: Lexicon, corpus: Corpus) -> None:
    channel = Laplace(epsilon=0.5).on(plane)
    clean = _begin(unprotected(plane)).centroids(corpus)
    errors = [
        np.linalg.norm(_begin(subject_of(channel), seed).centroids(corpus) - clean, axis=1)
        for seed in range(200)
    ]
    of_one, of_300 = np.sqrt(np.mean(np.square(errors), axis=0))[[2, 3]]
    assert of_one / of_300 == pytest.approx(np.sqrt(300), rel=0.3)


def test_words_that_stay_are_counted(plane: Lexicon) -> None:
    always, never = (subject_of(TEM(epsilon=e).on(plane)) for e in (1e6, 1e-6))
    sure, unsure = _begin(always), _begin(never)
    assert sure.kept is None
    sure.words(SAME)
    unsure.words(SAME)
    assert sure.kept == 1.0
    assert unsure.kept is not None
    assert unsure.kept == pytest.approx(1 / 40, abs=0.02)


def test_a_privatizer_gives_private_texts(plane: Lexicon, corpus: Corpus) -> None:
    precise = Privatizer(plane, TEM(epsilon=1e6), rng=seeded_rng(9))
    source = _begin(subject_of(precise))
    assert [text.lower() for text in source.texts(corpus)] == TEXTS
    clean = _begin(unprotected(plane)).centroids(corpus)
    np.testing.assert_allclose(source.centroids(corpus), clean, atol=1e-12)
    assert source.kept == 1.0
    vague = subject_of(Privatizer(plane, TEM(epsilon=0.1), rng=seeded_rng(9)))
    assert _begin(vague).texts(corpus) == _begin(vague).texts(corpus)  # the run's own noise
    assert _begin(vague).texts(corpus) != _begin(vague, 2).texts(corpus)


def test_floors(plane: Lexicon) -> None:
    table = _begin(random_table(plane)).vectors(np.array([3, 3, 4]))
    assert table[0].tolist() == table[1].tolist() != table[2].tolist()
    cipher = _begin(random_table(plane)).words(np.arange(40))
    assert sorted(cipher) == list(range(40))
    assert (cipher != np.arange(40)).sum() > 30
    drawn = _begin(random_subject(plane)).words(np.zeros(40_000, dtype=np.int64))
    shares = np.bincount(drawn, minlength=40) / len(drawn)
    assert np.abs(shares - 1 / 40).max() < 5.5 * np.sqrt(1 / 40 / len(drawn))


def test_what_does_not_fit_is_refused(plane: Lexicon) -> None:
    with pytest.raises(ParameterError, match="`release` must be"):
        subject_of(plane, release="texts")
    with pytest.raises(ParameterError, match="has no noisy vectors"):
        subject_of(TEM(epsilon=1.0).on(plane), release="vectors")
    with pytest.raises(ParameterError, match="give its channel"):
        subject_of(Privatizer(plane, TEM(epsilon=1.0)), once=True)
    with pytest.raises(ParameterError, match="A task takes a lexicon"):
        subject_of([[0.0, 1.0]])
