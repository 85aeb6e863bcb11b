"""Training of bigram models on corpora."""

from collections.abc import Iterator

import numpy as np
import pytest

from malaprop import DataError, Lexicon, ParameterError
from malaprop.measure import train_model
from malaprop.measure.adversaries import public_model
from malaprop.measure.adversaries.public_model import overlap, sketch_of, text_hashes


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon(["so", "cold", "hot"], [[0.0], [1.0], [9.0]])


def corpus(count: int) -> Iterator[str]:
    rng = np.random.Generator(np.random.PCG64(1))
    for _ in range(count):
        yield " ".join(rng.choice(["so", "cold", "hot"], size=rng.integers(0, 9)))


def test_batches_change_nothing(lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = train_model(corpus(200), lexicon)
    monkeypatch.setattr(public_model, "_BATCH", 7)
    assert train_model(corpus(200), lexicon).fingerprint == whole.fingerprint


def test_counts_are_those_of_the_texts(lexicon: Lexicon) -> None:
    model = train_model(corpus(200), lexicon)
    texts = [text.split() for text in corpus(200)]
    words = ["so", "cold", "hot"]
    assert model.unigrams.tolist() == [sum(text.count(word) for text in texts) for word in words]
    pairs = [(text[i], text[i + 1]) for text in texts for i in range(len(text) - 1)]
    row = slice(*model.offsets[1:3].tolist())
    counted = dict(zip(model.nexts[row].tolist(), model.counts[row].tolist(), strict=True))
    assert counted == {i: pairs.count(("cold", word)) for i, word in enumerate(words)}
    assert model.totals[3] == sum(bool(text) for text in texts)


def test_contractions_count_as_what_is_drawn_for_them() -> None:
    english = Lexicon.open("english")
    model = train_model(["I don't know.", "i DON’T know", "dont know", "I'm here"], english)
    words = ("don", "know", "i", "im", "not")
    assert [int(model.unigrams[english.index[word]]) for word in words] == [3, 3, 2, 1, 0]


@pytest.mark.parametrize("texts", ["so cold", [b"so"], [None]])
def test_what_is_not_texts_is_refused(lexicon: Lexicon, texts: object) -> None:
    with pytest.raises(ParameterError):
        train_model(texts, lexicon)  # type: ignore[arg-type]


def test_a_corpus_without_words_is_refused(lexicon: Lexicon) -> None:
    with pytest.raises(DataError, match="no words"):
        train_model(["", "!?"], lexicon)


def test_a_sketch_tells_how_many_texts_two_corpora_share(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    ids, lengths = rng.integers(0, 1000, size=5000 * 6), np.full(5000, 6)
    sketch = sketch_of(text_hashes(ids, lengths))
    assert len(sketch) == 1024
    assert overlap(sketch, ids, lengths) == 1.0
    other = rng.integers(0, 1000, size=5000 * 6)
    assert overlap(sketch, other, lengths) == 0.0
    half = np.concatenate([ids[:15_000], other[:15_000]])
    assert 0.4 < overlap(sketch, half, lengths) < 0.6
    assert overlap(sketch, ids[:4], np.array([4])) == 0.0  # too short to tell
