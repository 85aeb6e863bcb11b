"""A table noised once: each word has one vector, wherever it stands."""

import numpy as np

from malaprop import Laplace, Lexicon, seeded_rng
from malaprop.lab.studies.figures import drawn_once
from malaprop.lab.tasks.sources import CorpusReader


def test_all_places_of_a_word_share_its_vector(tiny: Lexicon) -> None:
    source = drawn_once(Laplace(epsilon=1.0).on(tiny)).begin(seeded_rng(1))
    vectors = source.vectors(np.array([3, 5, 3]))
    assert (vectors[0] == vectors[2]).all()
    assert (vectors[0] != vectors[1]).all()
    assert (source.vectors(np.array([5]))[0] == vectors[1]).all()
    assert (vectors[0] != tiny.vectors[3]).any()


def test_centroids_are_means_of_the_same_vectors(tiny: Lexicon) -> None:
    source = drawn_once(Laplace(epsilon=1.0).on(tiny)).begin(seeded_rng(1))
    corpus = CorpusReader(tiny)([f"{tiny.words[3]} {tiny.words[5]}", tiny.words[3]])
    centroids, vectors = source.centroids(corpus), source.vectors(np.array([3, 5]))
    assert np.allclose(centroids[0], vectors.mean(axis=0))
    assert np.allclose(centroids[1], vectors[0])


def test_another_repetition_has_other_noise(tiny: Lexicon) -> None:
    subject = drawn_once(Laplace(epsilon=1.0).on(tiny))
    one, two = (subject.begin(seeded_rng(seed)).vectors(np.array([3])) for seed in (1, 2))
    assert (one != two).all()


def test_all_places_of_a_word_become_the_same_word(tiny: Lexicon) -> None:
    source = drawn_once(Laplace(epsilon=0.5).on(tiny)).begin(seeded_rng(1))
    words = source.words(np.array([3, 5, 3, 7]))
    assert words[0] == words[2]
    assert (source.words(np.array([7, 3])) == words[[3, 0]]).all()
    assert (words != [3, 5, 3, 7]).any()
