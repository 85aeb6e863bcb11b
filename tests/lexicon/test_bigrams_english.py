"""The bigram model that ships for `english`."""

from pathlib import Path

import numpy as np
import pytest

import malaprop
from malaprop import Lexicon, LexiconError
from malaprop.lexicon import bigrams
from malaprop.lexicon.bigrams import shipped_model

FOLDER = Path(malaprop.__file__).parent / "data" / "english-bigrams"


def test_it_opens_for_english_with_and_without_its_graph(english: Lexicon) -> None:
    model = shipped_model(english)
    assert model is not None
    model.check_words(english.words)
    graph = shipped_model(english.with_graph())
    assert graph is not None
    assert graph.fingerprint == model.fingerprint
    assert len(model.counts) == 1_655_899


def test_it_knows_english(english: Lexicon) -> None:
    model = shipped_model(english)
    assert model is not None
    of, the, york, new = (english.index[word] for word in ("of", "the", "york", "new"))
    after_of = model.probabilities(np.full(3, of), np.array([the, of, york]))
    assert after_of[0] > 0.15 > 10 * after_of[1]
    assert model.probabilities(np.array([new]), np.array([york]))[0] > 10 * model.prior[york]
    assert int(model.prior.argmax()) == the
    sums = model.probabilities(np.array([[of], [new], [model.start]]), np.arange(len(model)))
    np.testing.assert_allclose(sums.sum(axis=1), 1.0, rtol=1e-6)


def test_it_counts_contractions_as_what_they_are_in_a_private_text(english: Lexicon) -> None:
    model = shipped_model(english)
    assert model is not None
    i, don, im, not_, know, sure = (
        english.index[word] for word in ("i", "don", "im", "not", "know", "sure")
    )
    after_i = model.probabilities(np.full(2, i), np.array([don, not_]))
    assert after_i[0] > 10 * after_i[1]
    assert model.probabilities(np.array([don]), np.array([know]))[0] > 0.05
    assert model.probabilities(np.array([im]), np.array([sure]))[0] > 10 * model.prior[sure]
    assert model.prior[don] > 0.1 * model.prior[not_]


def test_other_lexicons_have_none(plane: Lexicon) -> None:
    assert shipped_model(plane) is None


def test_changed_bytes_are_refused(
    english: Lexicon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = tmp_path / "english-bigrams"
    changed.mkdir()
    for file in FOLDER.iterdir():
        (changed / file.name).write_bytes(file.read_bytes())
    content = bytearray((changed / "unigrams.npy").read_bytes())
    content[-8] ^= 1
    (changed / "unigrams.npy").write_bytes(content)
    monkeypatch.setattr(bigrams, "DATA", tmp_path)
    with pytest.raises(LexiconError, match="this version reads, or it is damaged"):
        shipped_model(english)


def test_it_is_small_and_says_where_it_comes_from(english: Lexicon) -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 12_000_000
    model = shipped_model(english)
    assert model is not None
    readme = (FOLDER / "README.md").read_text("utf-8")
    assert model.fingerprint in readme
    assert all(digest in readme for digest in model.sources.values())
    assert "Apache" in (FOLDER / "LICENSE").read_text("utf-8")
