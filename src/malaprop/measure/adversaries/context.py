"""The text with its context: which words follow which."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon.bigrams import BigramModel
from malaprop.measure.adversaries import option
from malaprop.measure.adversaries.words import CANDIDATES, Seen, WordAttack
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.likelihoods import Candidates

_PIECE = 256  # words of a long text at a time
_MARGIN = 16  # words before and after a piece that are read, too: context fades within a few
_CELLS = 1 << 23  # transitions at a time: 32 MB
_TINY = np.float32(1e-30)

Beliefs = NDArray[np.float32]
"""In float32: sums are scaled at every place, and what matters is the largest."""


def beliefs(model: BigramModel, candidates: Ids, likelihoods: Floats, lengths: Ids) -> Beliefs:
    """Return the probability of each candidate of each place, given all outputs of its text.

    This is the forward-backward algorithm on all texts at once: a step runs over the places of all
    texts. Long texts are cut into pieces that overlap, which changes beliefs by nothing that
    matters.

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
    # p(next candidate | candidate) for each two places in a row
    moves = model.probabilities(words[:, :-1, :, None], words[:, 1:, None, :])
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


def _scaled(values: Beliefs) -> Beliefs:
    return np.asarray(values / np.maximum(values.sum(axis=-1, keepdims=True), _TINY))


@dataclass(frozen=True, kw_only=True)
class Context(WordAttack, name="context"):
    """Guess each word from all outputs of its text, with a bigram model of public text.

    For each output, the words of largest π(w)·Pr[y | w] are candidates. The forward-backward
    algorithm gives the probability of each candidate, and the guess is the likeliest one. If a text
    has one draw for each distinct word, each distinct output counts as evidence once, and all its
    places get the same guess. A larger model of language would recover more: the score is a lower
    bound of what context gives away.
    """

    candidates: int = option(CANDIDATES, "how many words to consider for each output")
    needs_model = True
    observer = "an observer with context"

    def likeliest(self, seen: Seen, candidates: Candidates) -> Ids:
        if seen.model is None:
            raise ParameterError("The attack context needs a 'model'.")
        rows = candidates.rows(seen.outputs)
        words, logs = candidates.words[rows], candidates.logs[rows]
        if seen.reused:
            # Each of k places with the same output, which stands for the same word, carries a k-th
            # of the output's evidence. The contexts of all places then speak of one word.
            keys = seen.texts * (int(seen.outputs.max(initial=0)) + 1) + seen.outputs
            _, groups, sizes = np.unique(keys, return_inverse=True, return_counts=True)
            counts = sizes[groups].astype(np.float64)[:, None]
            logs = logs / counts
        likely = np.exp(logs - logs.max(axis=1, keepdims=True))
        belief = beliefs(seen.model, words, likely, seen.lengths)
        best: Floats | Beliefs = belief
        if seen.reused:
            own = np.log(np.maximum(belief.astype(np.float64), 1e-30))
            sums = np.zeros((len(sizes), own.shape[1]))
            np.add.at(sums, groups, own)
            # Each place's belief contains the prior, which must count once.
            best = sums[groups] - (counts - 1.0) * np.log(seen.prior[words])
        return np.asarray(words[np.arange(len(words)), best.argmax(axis=1)])
