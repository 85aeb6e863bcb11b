"""Bigram models: how likely a word follows another, in public text."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from malaprop.data import DATA
from malaprop.lexicon.formats import untrusted
from malaprop.lexicon.formats.arrays import is_folder, map_folder, write_folder
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.store import SHIPPED
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import LexiconError, OutputError, ParameterError

SKETCH = 1024
"""The most hashes in a sketch."""
_DISCOUNT = 0.75  # D: taken from each count of a pair, and given to pairs that were not seen
_ENOUGH = 0.5  # share of a lexicon's words that must have a public count
_PAIRS = 1 << 28  # most pairs in a model; web-scale lists have less than 1 % of that
_ADDED = 0.5  # to each word's count: a word that the corpus lacks is rare, not impossible
_FORMAT = 3
_ARRAYS = ("unigrams", "totals", "offsets", "nexts", "counts", "places", "sketch")
_LARGEST = 1 << 62  # sums of counts fit 64 bits
_FACTOR = np.uint32(2654435769)  # 2^32 over the golden ratio: spreads keys evenly
_LEAST_BITS = 6  # of the slots of a table
_TRIES = 8  # places that are tried for a word

Values = NDArray[np.float32]
Counts = NDArray[Any]


class PairTable:
    """Values of pairs (first, second); 0 for pairs that are not in the table.

    It looks up a hundred million pairs a second, since nearly all pairs that are asked for are not
    there. A pair has one slot: the place of its first word plus a number of its second word, modulo
    the size of the table. A slot holds a value and, as a tag, the second word: two pairs with the
    same tag never share a slot, since no two first words have the same place.

    >>> firsts, seconds = np.array([0, 0, 2]), np.array([1, 2, 1])
    >>> places, _ = find_places(firsts, seconds, 3)
    >>> table = PairTable(places, firsts, seconds, np.float32([0.5, 0.125, 0.25]), 3)
    >>> table.values(np.array([[0], [1], [2]]), np.array([0, 1]))
    array([[0.  , 0.5 ],
           [0.  , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """

    def __init__(
        self, places: Counts, firsts: Ids, seconds: Ids, values: Values, size: int
    ) -> None:
        """Store the values of distinct pairs of ids below `size`; see `find_places`.

        Values must be `rounded`: then a slot takes 4 bytes for up to 65,535 words.
        """
        bits = _bits(len(firsts), size)
        self._mask = np.uint32((1 << bits) - 1)
        self._places, self._seconds = places.astype(np.uint32), _spread(size) & self._mask
        self._short = size < 1 << 16
        slot, half = (np.uint32, 16) if self._short else (np.uint64, 32)
        self._half: Any = slot(half)
        self._tags: NDArray[Any] = np.arange(1, size + 1, dtype=slot)
        self._low: Any = slot((1 << half) - 1)
        packed: Any = values.view(np.uint32).astype(slot)
        if not self._short:
            packed <<= self._half
        slots = (self._places[firsts] + self._seconds[seconds]) & self._mask
        self._table = np.zeros(1 << bits, dtype=slot)
        self._table[slots] = packed | self._tags[seconds]

    def values(self, firsts: Ids, seconds: Ids) -> Values:
        """Return the value of each pair; the arrays are broadcast against each other."""
        slots = self._places[firsts] + self._seconds[seconds]
        slots &= self._mask
        # All slots are in the table. "wrap" is the fastest way not to check that again.
        found: Any = self._table.take(slots, mode="wrap")
        found ^= self._tags[seconds]  # where the tag is this word, nothing is left of it
        there = (found & self._low) == 0
        if not self._short:
            found = (found >> self._half).astype(np.uint32)
        values: Values = found.view(np.float32)
        values *= there  # much faster than to set the others: what is left of them is finite
        return values


def rounded(values: Floats) -> Values:
    """Round values to 8 significant bits."""
    bits = values.astype(np.float32).view(np.uint32) + np.uint32(1 << 15)
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


def _bits(pairs: int, size: int) -> int:
    """Return the binary logarithm of the slots for so many pairs: four slots or more for each."""
    return max(_LEAST_BITS, (4 * pairs).bit_length(), (_TRIES * size).bit_length())


def _spread(size: int) -> NDArray[np.uint32]:
    """Return different numbers for ids, in no order; their last bits are different, too."""
    with np.errstate(over="ignore"):  # modulo 2^32 is meant
        return np.arange(size, dtype=np.uint32) * _FACTOR


def find_places(firsts: Ids, seconds: Ids, size: int) -> tuple[Counts, NDArray[np.bool_]]:
    """Return a place for each first word, so that few pairs share a slot; and which pairs do not.

    `firsts` rise. Long rows choose first: the place of several where the fewest slots are taken.
    Where pairs share a slot nevertheless, one of them has it. The places are the same each time.
    """
    rng, slots = np.random.default_rng(0), 1 << _bits(len(firsts), size)
    mask = np.uint32(slots - 1)
    # Different places for all first words: a tag is then enough to tell pairs apart.
    offered = iter(rng.permutation(slots).astype(np.uint32))
    numbers, taken = (_spread(size) & mask)[seconds], np.zeros(slots, dtype=np.bool_)
    places, kept = np.empty(size, dtype=np.uint32), np.zeros(len(firsts), dtype=np.bool_)
    rows = np.searchsorted(firsts, np.arange(size + 1))
    lengths = np.diff(rows)
    for word in np.argsort(-lengths, kind="stable").tolist():
        row = slice(rows[word], rows[word + 1])
        tries = list(islice(offered, _TRIES if lengths[word] else 1))
        there = (np.array(tries, dtype=np.uint32)[:, None] + numbers[row]) & mask
        clashes = taken[there]
        best = int(clashes.sum(axis=1).argmin())
        places[word] = tries[best]
        kept[row] = ~clashes[best]
        taken[there[best]] = True
    return places, kept


def corpus_digest(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a corpus, by which a model knows what it was trained on."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def words_digest(words: Sequence[str]) -> str:
    """Return the SHA-256 of a list of words, by which a model knows the words of its ids."""
    listed = "\n".join(words).encode("utf-8", "surrogatepass")
    return hashlib.sha256(b"malaprop words 1\0" + listed).hexdigest()


@dataclass(frozen=True, kw_only=True, eq=False)
class BigramModel:
    """How likely a word follows another, by absolute discounting with back-off to single words.

    p(v | u) = max(c(u, v) − D, 0)/c(u) + λ(u)·π(v), where c counts pairs in a public corpus,
    D = 0.75, π(v) is the share of v among all words, and λ(u) is what makes the sum 1. If only the
    most frequent pairs are listed, c(u) still counts all pairs, so λ(u) is larger.

    The id `start`, one above the last word's, stands for the start of a text.
    """

    words: str
    """The digest of the words that ids stand for: see `words_digest`."""
    unigrams: Counts = field(repr=False)
    totals: Counts = field(repr=False)
    """c(u): how often each word, and last the start of a text, has a word after it."""
    offsets: Counts = field(repr=False)
    """Where the pairs of each first word begin in `nexts` and `counts`, and where the last end."""
    nexts: Counts = field(repr=False)
    """Second words, in rising order for each first word."""
    counts: Counts = field(repr=False)
    """c(u, v) of the listed pairs."""
    places: Counts = field(repr=False)
    """Where the pairs of each first word are in a table: see `find_places`."""
    sketch: Counts = field(repr=False, default_factory=lambda: np.empty(0, dtype=np.uint64))
    """The smallest hashes of the corpus's texts, by which a model knows what it was trained on."""
    sources: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What the counts were taken from, with its SHA-256 or a note."""

    def __post_init__(self) -> None:
        size = len(self.unigrams)
        shapes = (len(self.totals), len(self.offsets), len(self.nexts), len(self.places))
        if not size or shapes != (size + 1, size + 2, len(self.counts), size + 1):
            raise ParameterError("The arrays of a BigramModel must fit each other in length.")

    @classmethod
    def of_pairs(
        cls, firsts: Ids, nexts: Ids, counts: Counts, *, unigrams: Counts, **facts: Any
    ) -> BigramModel:
        """Return the model of some pairs, in rising order; `facts` are the other fields.

        Few pairs are left out: those that find no slot in the table of pairs.
        """
        size = len(unigrams)
        places, kept = find_places(firsts, nexts, size + 1)
        return cls(
            unigrams=unigrams,
            offsets=np.searchsorted(firsts[kept], np.arange(size + 2)).astype(np.uint32),
            nexts=nexts[kept].astype(np.uint16 if size < 1 << 16 else np.uint32),
            counts=counts[kept],
            places=places,
            **facts,
        )

    def __len__(self) -> int:
        return len(self.unigrams)

    @property
    def start(self) -> int:
        """The id of the start of a text."""
        return len(self)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of all that the model says."""
        note = json.dumps([self.words, dict(self.sources)], sort_keys=True)
        digest = hashlib.sha256(b"malaprop bigrams 2\0" + note.encode())
        for array in map(partial(getattr, self), _ARRAYS[:-1]):
            digest.update(len(array).to_bytes(8, "little"))
            digest.update(np.ascontiguousarray(array, dtype="<i8").data)
        digest.update(np.ascontiguousarray(self.sketch, dtype="<u8").data)
        return digest.hexdigest()

    @cached_property
    def prior(self) -> Floats:
        """π: how likely each word is, without context."""
        smoothed = np.asarray(self.unigrams, dtype=np.float64) + _ADDED
        return np.asarray(smoothed / smoothed.sum())

    @cached_property
    def paired(self) -> NDArray[np.bool_]:
        """Whether a listed pair begins or ends with each word."""
        found = np.diff(np.asarray(self.offsets, dtype=np.int64)) > 0
        found[np.asarray(self.nexts)] = True
        return np.asarray(found[: len(self)])

    @cached_property
    def back_off(self) -> Floats:
        """λ(u), the weight of single words after each word, and after the start of a text."""
        sums = np.bincount(_firsts(self.offsets), self._shares, len(self.totals))
        return np.asarray(1.0 - np.minimum(sums, 1.0))

    def probabilities(self, firsts: Ids, seconds: Ids) -> Values:
        """Return p(v | u) for each pair of a first word u and a second word v, in float32.

        Arrays are broadcast against each other.
        """
        probabilities = self.pair_shares(firsts, seconds)
        probabilities += (
            self.back_off.astype(np.float32)[firsts] * self.prior.astype(np.float32)[seconds]
        )
        return probabilities

    def pair_shares(self, firsts: Ids, seconds: Ids) -> Values:
        """Return what p(v | u) has beyond λ(u)·π(v): 0 for pairs that are not listed."""
        return self._table.values(firsts, seconds)

    def check_words(self, words: Sequence[str]) -> None:
        """Raise a ParameterError unless the model was made for these words."""
        if len(words) != len(self) or words_digest(words) != self.words:
            raise ParameterError(
                "The 'model' was made for another lexicon: train one for this lexicon with "
                "malaprop lm train CORPUS -o MODEL --lexicon NAME."
            )

    @cached_property
    def _shares(self) -> Values:
        """max(c(u, v) − D, 0)/c(u) of the listed pairs."""
        discounted = np.maximum(np.asarray(self.counts, dtype=np.float64) - _DISCOUNT, 0.0)
        totals = np.asarray(self.totals, dtype=np.float64)[_firsts(self.offsets)]
        return rounded(discounted / np.maximum(totals, 1.0))

    @cached_property
    def _table(self) -> PairTable:
        nexts = np.asarray(self.nexts, dtype=np.int64)
        size = len(self) + 1
        return PairTable(self.places, _firsts(self.offsets), nexts, self._shares, size)


def _firsts(offsets: Counts) -> Ids:
    """Return the first word of each listed pair."""
    places: Ids = np.asarray(offsets, dtype=np.int64)
    return np.repeat(np.arange(len(places) - 1), places[1:] - places[:-1])


def save_model(model: BigramModel, folder: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a model into a folder of its own, which appears once it is complete."""
    path = Path(folder)
    check_model_folder(path, force=force)
    note = {
        "format": _FORMAT,
        "words": model.words,
        "sources": dict(model.sources),
        "fingerprint": model.fingerprint,
    }
    write_folder(path, note, {name: getattr(model, name) for name in _ARRAYS})


def check_model_folder(path: Path, *, force: bool) -> None:
    """Refuse to write a model where something is, unless it is a model that may be replaced.

    The folder that it is to be in must be there: none is created, as for other outputs.
    """
    if not path.parent.is_dir():
        raise OutputError(f"there is no folder {path.parent}: create it first")
    if not os.path.lexists(path):
        return
    if not is_folder(path):
        raise OutputError(f"{path} is not a model, so it is not replaced: name another folder")
    if not force:
        raise OutputError(f"{path} already exists: name another folder, or use `force=True`")


def open_model(folder: str | os.PathLike[str]) -> BigramModel:
    """Open a model; its arrays are mapped. Raise a LexiconError if there is none.

    A folder can come from a stranger: nothing is unpickled, and all is checked before use.
    """
    path = Path(folder)
    try:
        note, arrays = map_folder(path, _FORMAT, _ARRAYS)
        sources = dict(note["sources"])
        untrusted.check_texts(note["words"], *sources, *sources.values())
        if not _fit(arrays):
            raise ValueError("arrays that do not fit each other")  # noqa: TRY301
        model = BigramModel(words=note["words"], sources=sources, **arrays)
        if model.fingerprint != note["fingerprint"]:
            raise ValueError("a damaged model")  # noqa: TRY301
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        raise LexiconError(
            f"{path} holds no bigram model that this version reads, or it is damaged: train one "
            "with  malaprop lm train CORPUS -o MODEL"
        ) from None
    return model


def shipped_model(lexicon: Lexicon) -> BigramModel | None:
    """Return the model that ships for the words of a lexicon; None if there is none."""
    shipped = SHIPPED["bigrams"].get(words_digest(lexicon.words))
    if shipped is None:
        return None
    name = lexicon.name or "the lexicon"
    return _shipped(DATA / shipped["folder"], shipped["fingerprint"], name)


@cache  # its tables take as long to make as a page of text to privatize
def _shipped(folder: Path, fingerprint: str, name: str) -> BigramModel:
    model = open_model(folder)
    if model.fingerprint != fingerprint:
        raise LexiconError(
            f"The bigrams of {name} are not those that ship with this version: install malaprop "
            "again"
        )
    return model


def _fit(arrays: dict[str, NDArray[Any]]) -> bool:
    """Tell whether arrays are counts that fit each other."""
    unigrams, totals, offsets, nexts, counts, places, sketch = (arrays[name] for name in _ARRAYS)
    size, pairs = len(unigrams), len(nexts)
    shaped = (
        all(array.ndim == 1 and array.dtype.kind in "iu" for array in arrays.values())
        and (len(totals), len(offsets), len(counts), len(places))
        == (size + 1, size + 2, pairs, size + 1)
        and 0 < size <= untrusted.WORDS
        and pairs <= _PAIRS
        and len(sketch) <= SKETCH
        and offsets[0] == 0
        and offsets[-1] == pairs
        and not (offsets[1:] < offsets[:-1]).any()
    )
    if not shaped:
        return False
    for array in (unigrams, totals, nexts, counts, places):
        largest = size - 1 if array is nexts else _LARGEST
        if array.size and not 0 <= array.min() <= array.max() <= largest:
            return False
    sums = np.bincount(_firsts(offsets), counts.astype(np.float64), size + 1)
    return not (sums > totals.astype(np.float64) * (1.0 + 1e-9)).any()


def public_counts(words: Sequence[str]) -> Floats | None:
    """Return how often each word occurs on the web; None if most words have no count.

    A word counts as it is spelled, or else in lower case; one without a count as the rarest does.
    The counts are those of single words that ship for `english`.

    >>> often, seldom = public_counts(["the", "gazebo"])
    >>> bool(often > 1000 * seldom)
    True
    >>> public_counts(["zzyzx", "qwrtp"]) is None
    True
    """
    known = _english()
    counts = np.array([known.get(word, known.get(word.lower(), 0.0)) for word in words])
    if np.count_nonzero(counts) < _ENOUGH * len(counts):
        return None
    return np.where(counts > 0.0, counts, min(known.values()))


@cache
def _english() -> dict[str, float]:
    lexicon = Lexicon.open("english")
    model = shipped_model(lexicon)
    if model is None:
        raise RuntimeError("the counts of english are those of another version of its words")
    return dict(zip(lexicon.words, model.unigrams.astype(np.float64).tolist(), strict=True))
