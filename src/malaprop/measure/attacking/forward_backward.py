"""Beliefs in the candidates of each place, from their likelihoods and a bigram model.

This is the forward-backward algorithm on all texts at once: a step runs over the places of all
texts. Long texts are cut into pieces that overlap, which changes beliefs by nothing that matters.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.lexicon.bigrams import BigramModel

_PIECE = 256  # words of a long text at a time
_MARGIN = 16  # words before and after a piece that are read, too: context fades within a few
_CELLS = 1 << 23  # transitions at a time: 32 MB
_TINY = np.float32(1e-30)

Beliefs = NDArray[np.float32]
"""In float32: sums are scaled at every place, and what matters is the largest."""


def beliefs(
    model: BigramModel,
    candidates: Ids,
    likelihoods: Floats,
    lengths: Ids,
) -> Beliefs:
    """Return the probability of each candidate of each place, given all outputs of its text.

    `candidates` and `likelihoods`, Pr[output | candidate] up to a factor for each place, are
    (places, candidates); `lengths` are those of the texts.
    """
    posteriors = np.empty(candidates.shape, dtype=np.float32)
    for batch in _batches(_pieces(lengths), candidates.shape[1]):
        _fill(posteriors, model, candidates, likelihoods, batch)
    return posteriors


_Piece = tuple[int, int, int, int, bool]
"""First place read, first and last place believed in, last place read, whether a text starts."""


def _pieces(lengths: Ids) -> Iterator[_Piece]:
    first = 0
    for length in lengths.tolist():
        for start in range(0, length, _PIECE):
            end = min(start + _PIECE, length)
            before, after = max(0, start - _MARGIN), min(length, end + _MARGIN)
            yield first + before, first + start, first + end, first + after, before == 0
        first += length


def _batches(pieces: Iterable[_Piece], count: int) -> Iterator[list[_Piece]]:
    """Yield pieces of similar lengths together, so that little is padded."""
    batch: list[_Piece] = []
    for piece in sorted(pieces, key=lambda piece: piece[3] - piece[0]):
        batch.append(piece)
        if len(batch) * (piece[3] - piece[0]) * count * count >= _CELLS:
            yield batch
            batch = []
    if batch:
        yield batch


def _fill(
    posteriors: Beliefs,
    model: BigramModel,
    candidates: Ids,
    likelihoods: Floats,
    batch: list[_Piece],
) -> None:
    """Compute the beliefs of a batch of pieces, aligned at their first places."""
    firsts = np.array([piece[0] for piece in batch])
    sizes = np.array([piece[3] for piece in batch]) - firsts
    longest = int(sizes.max())
    steps = np.arange(longest)
    there = steps < sizes[:, None]
    places = np.where(there, firsts[:, None] + steps, firsts[:, None])
    words = candidates[places]
    emitted = np.where(there[:, :, None], likelihoods[places], 1.0).astype(np.float32)
    moves = _moves(model, words)
    starts = np.array([piece[4] for piece in batch])
    first_words = words[:, 0]
    opening = np.where(
        starts[:, None],
        model.probabilities(np.full_like(first_words, model.start), first_words),
        model.prior[first_words].astype(np.float32),
    )
    forward = np.empty(words.shape, dtype=np.float32)
    forward[:, 0] = _scaled(opening * emitted[:, 0])
    for step in range(1, longest):
        reached = np.matmul(forward[:, step - 1, None, :], moves[:, step - 1])[:, 0]
        forward[:, step] = _scaled(reached * emitted[:, step])
    backward = np.ones(words.shape, dtype=np.float32)
    for step in range(longest - 2, -1, -1):
        ahead = (emitted[:, step + 1] * backward[:, step + 1])[:, :, None]
        reached = _scaled(np.matmul(moves[:, step], ahead)[:, :, 0])
        backward[:, step] = np.where(there[:, step + 1, None], reached, np.float32(1.0))
    joint = _scaled(forward * backward)
    for row, (first, start, end, _, _) in enumerate(batch):
        posteriors[start:end] = joint[row, start - first : end - first]


def _moves(model: BigramModel, words: Ids) -> Beliefs:
    """Return p(next candidate | candidate) for each two places in a row."""
    return model.probabilities(words[:, :-1, :, None], words[:, 1:, None, :])


def _scaled(values: Beliefs) -> Beliefs:
    """Return the values of each place divided by their sum."""
    return np.asarray(values / np.maximum(values.sum(axis=-1, keepdims=True), _TINY))
