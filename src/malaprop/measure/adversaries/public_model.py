"""The public model that an attack uses, and how one is trained."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np

from malaprop.lexicon.bigrams import SKETCH, Counts, shipped_model, words_digest
from malaprop.lexicon.bigrams import BigramModel as BigramModel
from malaprop.lexicon.bigrams import open_model as open_model
from malaprop.lexicon.bigrams import save_model as save_model
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import DataError, ParameterError, several_texts, type_name
from malaprop.text.parser import TextParser
from malaprop.text.policy import Policy

_SHORTEST = 5  # words: shorter texts are in many corpora


def text_hashes(ids: Ids, lengths: Ids) -> Counts:
    """Return a hash of each distinct text of at least five words, in rising order.

    They tell whether a model was trained on the texts that are attacked.
    """
    hashes = {
        int.from_bytes(hashlib.blake2b(words.tobytes(), digest_size=8).digest(), "little")
        for words in np.split(ids.astype("<i8"), np.cumsum(lengths)[:-1])
        if len(words) >= _SHORTEST
    }
    return np.array(sorted(hashes), dtype=np.uint64)


def sketch_of(hashes: Counts) -> Counts:
    """Return the smallest hashes: those of a sample of texts, the same for every corpus."""
    return np.unique(hashes)[:SKETCH]


def overlap(sketch: Counts, ids: Ids, lengths: Ids) -> float:
    """Estimate the share of texts that a corpus with this sketch has, too."""
    hashes = text_hashes(ids, lengths)
    if len(sketch) >= SKETCH:  # the sketch tells nothing of larger hashes
        hashes = hashes[hashes <= sketch[-1]]
    return float(np.isin(hashes, sketch).mean()) if len(hashes) else 0.0


_SAME = 0.5  # of the texts; some short texts are in every corpus


def model_for(model: Any, lexicon: Lexicon, *, needed: bool) -> BigramModel | None:
    """Return the model that was given, opened and checked, or the one that ships.

    None if there is none and none is needed.
    """
    if model is None:
        shipped = shipped_model(lexicon)
        if shipped is None and needed:
            raise ParameterError(
                "This attack needs a bigram model of the lexicon, and only english comes with "
                "one: train one with  malaprop lm train CORPUS -o MODEL --lexicon NAME  and pass "
                "it as `model`."
            )
        return shipped
    if isinstance(model, str | os.PathLike):
        model = open_model(model)
    if not isinstance(model, BigramModel):
        raise ParameterError(
            "The 'model' option must be a BigramModel or the folder of one, as malaprop lm train "
            f"writes it. Got {type_name(model)}."
        )
    model.check_words(lexicon.words)
    return model


def prior_of(model: BigramModel | None, size: int) -> Floats:
    """Return how likely each word is: by the model, or all equally without one."""
    return np.full(size, 1.0 / size) if model is None else model.prior


def check_corpus(model: BigramModel | None, ids: Ids, lengths: Ids) -> None:
    """Refuse a model that was trained on the texts themselves: it would know the secret."""
    if model is not None and overlap(model.sketch, ids, lengths) >= _SAME:
        raise ParameterError(
            "The 'model' was trained on these texts: an observer does not have them. Train it on "
            "another corpus, or on a part of the texts that is not attacked."
        )


_BATCH = 8192  # texts parsed together


def train_model(
    texts: Iterable[str], lexicon: Lexicon, *, sources: Mapping[str, str] | None = None
) -> BigramModel:
    """Count the words and the pairs of words of a public corpus, as a bigram model.

    Words are mapped to the lexicon's as `Privatizer` maps them. The corpus must be public: the
    model holds its counts, and must not be trained on the texts that are attacked or decoded.
    `sources` is a note on where the corpus comes from, stored with the model.

    >>> tiny = Lexicon(["cold", "so", "hot"], [[0.0], [4.0], [9.0]])
    >>> model = train_model(["So cold!", "So hot.", "so so cold"], tiny)
    >>> model.unigrams.tolist(), model.totals.tolist()
    ([2, 4, 1], [0, 4, 0, 3])
    """
    several_texts(texts, "train_model")
    if not isinstance(lexicon, Lexicon):
        raise ParameterError(f"`train_model` takes a Lexicon. Got {type_name(lexicon)}.")
    from scipy.sparse import csr_matrix

    size, remaining = len(lexicon), iter(texts)
    unigrams: Ids = np.zeros(size, dtype=np.int64)
    pairs: Any = csr_matrix((size + 1, size + 1), dtype=np.int64)
    sketch: Counts = np.empty(0, dtype=np.uint64)
    parser = TextParser(lexicon.words, Policy())
    while batch := list(islice(remaining, _BATCH)):
        for text in batch:
            if not isinstance(text, str):
                raise ParameterError(f"A text must be a string. Got {type_name(text)}.")
        templates, (ids, _) = parser.parse(batch)
        lengths = np.asarray(templates.slot_counts, dtype=np.int64)
        unigrams += np.bincount(ids, minlength=size)
        befores = np.roll(ids, 1)
        befores[(np.cumsum(lengths) - lengths)[lengths > 0]] = size  # the start of a text
        ones = np.ones(len(ids), dtype=np.int64)
        pairs = pairs + csr_matrix((ones, (befores, ids)), pairs.shape)
        sketch = sketch_of(np.concatenate([sketch, text_hashes(ids, lengths)]))
    if not unigrams.any():
        raise DataError("The corpus has no words: a model needs some to count.")
    pairs.sort_indices()
    listed = pairs.tocoo()
    return BigramModel.of_pairs(
        listed.row.astype(np.int64),
        listed.col.astype(np.int64),
        listed.data,
        words=words_digest(lexicon.words),
        unigrams=unigrams,
        totals=np.asarray(pairs.sum(axis=1)).ravel(),
        sketch=sketch,
        sources=dict(sources or {}),
    )
