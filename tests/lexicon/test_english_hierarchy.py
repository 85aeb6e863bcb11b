"""The embedded lexicon of English nouns is what its README says."""

import re
from pathlib import Path

import numpy as np
import pytest

from malaprop import TEM, HyperbolicLaplace, Lexicon, seeded_rng
from malaprop.lexicon import store
from malaprop.privacy import metrics


@pytest.fixture(scope="module")
def nouns() -> Lexicon:
    return Lexicon.open("english-hierarchy")


@pytest.fixture(scope="module")
def folder() -> Path:
    return store.embedded()["english-hierarchy"]


def test_it_is_in_the_ball_and_whole(nouns: Lexicon) -> None:
    assert str(nouns.metric) == "poincare"
    assert nouns.vectors.shape[1] == 10
    token = nouns.metric.token(nouns.vectors)
    assert store.fingerprint(nouns.words, nouns.vectors, token) == nouns.fingerprint
    metrics.in_ball(nouns.vectors.astype(np.float64))
    assert all(re.fullmatch("[a-z]+", word) for word in nouns.words)


def test_no_two_words_are_at_distance_0(nouns: Lexicon) -> None:
    assert len(np.unique(nouns.vectors, axis=0)) == len(nouns)


def test_general_words_are_near_the_origin(nouns: Lexicon) -> None:
    norms = dict(zip(nouns.words, np.linalg.norm(nouns.vectors, axis=1), strict=True))
    for chain in (["entity", "animal", "poodle"], ["entity", "person", "scientist"]):
        known = [float(norms[word]) for word in chain if word in norms]
        assert len(known) > 1
        assert known == sorted(known)


def test_symbols_and_function_words_are_no_nouns(nouns: Lexicon) -> None:
    assert not {"he", "it", "who", "us", "have", "in", "at"} & set(nouns.words)
    assert {"london", "doctor", "city"} <= set(nouns.words)


def test_mechanisms_work_on_it(nouns: Lexicon) -> None:
    ids = np.arange(0, len(nouns), 997)
    for mechanism in (TEM(epsilon=2.0), HyperbolicLaplace(epsilon=12.0)):
        drawn = mechanism.on(nouns).substitute(ids, seeded_rng(1))
        assert drawn.shape == ids.shape


def test_readme_and_licence(nouns: Lexicon, folder: Path) -> None:
    readme = (folder / "README.md").read_text("utf-8")
    assert nouns.fingerprint in readme
    assert f"{len(nouns):,} English nouns" in readme
    found = re.search(r"\| MAP \| (0\.\d+)", readme)
    assert found
    assert float(found[1]) > 0.851
    assert "Princeton University" in (folder / "LICENSE").read_text("utf-8")
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1_500_000
