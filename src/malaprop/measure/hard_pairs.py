"""Pairs of words that are hard to protect, for the audit by draws."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel
from malaprop.core.guarantee import Kind
from malaprop.core.space import blocks
from malaprop.pipeline.privatizer import Privatizer
from malaprop.pipeline.spreading import spread


class Side(NamedTuple):
    """One word of a pair, and how it is written."""

    word: int
    text: str


class HardPair(NamedTuple):
    """Two words that are hard to protect, or one word in two spellings."""

    one: Side
    two: Side
    why: str

    @property
    def is_one_word(self) -> bool:
        """Whether both sides are the same word, so that no output may tell them apart."""
        return self.one.word == self.two.word


def hard_pairs(subject: Channel | Privatizer, count: int, ids: Ids) -> list[HardPair]:
    """Choose pairs that start from some words and that the guarantee covers, of each sort in turn.

    The sorts are words spread over the lexicon with their nearest, the closest of all, isolated
    words with their nearest, the densest with the sparsest, and for a `Privatizer` one word in two
    spellings.
    """
    channel = subject.channel if isinstance(subject, Privatizer) else subject
    sorts = _sorts(channel, count, ids, spelled=isinstance(subject, Privatizer))
    mixed = (pair for pair in chain.from_iterable(zip_longest(*sorts)) if pair is not None)
    chosen: list[HardPair] = []
    seen = set[frozenset[Side]]()
    for pair in mixed:
        both = frozenset((pair.one, pair.two))
        if len(both) == 2 and both not in seen and _is_covered(subject, pair):
            seen.add(both)
            chosen.append(pair)
        if len(chosen) == count:
            break
    return chosen


def nearest_words(channel: Channel, ids: Ids) -> tuple[Ids, Floats]:
    """Return the nearest other word of each of some words, and its distance."""
    nearest, distances = np.empty_like(ids), np.empty(len(ids))
    for block in blocks(len(ids), row_cells=len(channel.lexicon)):
        rows = channel.lexicon.distances(ids[block])
        rows[np.arange(len(rows)), ids[block]] = np.inf
        nearest[block], distances[block] = rows.argmin(axis=1), rows.min(axis=1)
    return nearest, distances


def _sorts(channel: Channel, count: int, ids: Ids, *, spelled: bool) -> list[Iterable[HardPair]]:
    nearest, distances = nearest_words(channel, ids)
    words = channel.lexicon.words
    dense = np.argsort(distances, kind="stable")
    sparse = dense[::-1]

    def pairs(why: str, ones: Ids, twos: Ids) -> Iterator[HardPair]:
        for one, two in zip(ones.tolist(), twos.tolist(), strict=True):
            yield HardPair(Side(one, words[one]), Side(two, words[two]), why)

    some = spread(len(ids), max(count, 3))
    sorts: list[Iterable[HardPair]] = [
        pairs("nearest", ids[some], nearest[some]),
        pairs("closest of all", ids[dense], nearest[dense]),
        pairs("isolated", ids[sparse], nearest[sparse]),
        pairs("densest and sparsest", ids[dense], ids[sparse]),
    ]
    if spelled:
        sorts.append(_spelled(words, int(ids[dense[0]])))
    return sorts


def _spelled(words: Sequence[str], word: int) -> Iterator[HardPair]:
    """Pair a word with itself in capitals: a private text must not show them."""
    text = words[word]
    for capitals in (text.capitalize(), text.upper()):
        yield HardPair(Side(word, text), Side(word, capitals), "one word, two spellings")


def _is_covered(subject: Channel | Privatizer, pair: HardPair) -> bool:
    if isinstance(subject, Privatizer):
        channel = subject.channel
        if not (_is_private(subject, pair.one) and _is_private(subject, pair.two)):
            return False
    else:
        channel = subject
    if pair.is_one_word or channel.guarantee.kind is Kind.NONE:
        return True  # for `none`, compare with what the promise would have been
    return bool(channel.covers(np.array([pair.one.word]))[0, pair.two.word])


def _is_private(private: Privatizer, side: Side) -> bool:
    """Whether a text counts as this word, and is neither public nor a value."""
    return bool(private.word_draws([side.text]).secret.tolist() == [side.word])
