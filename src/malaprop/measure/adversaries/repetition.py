"""Repeated words: majority of draws, and frequency of shared draws."""

from dataclasses import dataclass

import numpy as np

from malaprop.measure.adversaries import option
from malaprop.measure.adversaries.words import CANDIDATES, Seen, WordAttack
from malaprop.privacy.arrays import Ids
from malaprop.privacy.likelihoods import Candidates


@dataclass(frozen=True, kw_only=True)
class Majority(WordAttack, name="majority"):
    """Guess each word from all its draws in a text, knowing which places hold the same word.

    The guess is the word of largest π(w)·Π Pr[y | w], over the outputs y of those places. Whoever
    knows who a text is about often knows where the name stands. One draw for each distinct word of
    a text leaves nothing to combine.
    """

    candidates: int = option(CANDIDATES, "how many words to consider for each output")
    observer = "an observer who knows which places hold the same word"
    knows = "the observer knows which places of a text hold the same word"

    def likeliest(self, seen: Seen, candidates: Candidates) -> Ids:
        log_prior = np.log(seen.prior)
        groups = np.unique(seen.same, return_inverse=True)[1]
        (of_group, outputs), times = np.unique(
            np.stack([groups, seen.outputs]), axis=1, return_counts=True
        )
        if seen.reused:  # the same draw again says nothing new
            times = np.ones_like(times)
        alone = np.bincount(of_group)[of_group] == 1
        best = np.empty(int(groups.max(initial=-1)) + 1, dtype=np.int64)
        # Groups whose places all have the same output.
        rows = candidates.rows(outputs[alone])
        words = candidates.words[rows]
        scores = log_prior[words] + candidates.logs[rows] * times[alone][:, None]
        best[of_group[alone]] = words[np.arange(len(words)), scores.argmax(axis=1)]
        several = of_group[~alone], outputs[~alone], times[~alone]
        owners, words = _of_several(seen, candidates, *several)
        best[owners] = words
        return best[groups]


def _of_several(
    seen: Seen, candidates: Candidates, of_group: Ids, outputs: Ids, times: Ids
) -> tuple[Ids, Ids]:
    """Return the groups with several outputs, in rising order, and the likeliest word of each."""
    # All candidates of a group's outputs, each once.
    words = candidates.words[candidates.rows(outputs)]
    labels = np.repeat(of_group, words.shape[1])
    owners, proposed = np.unique(np.stack([labels, words.ravel()]), axis=1)
    # The places of all pairs of a proposed word and an output of its group.
    starts = np.searchsorted(of_group, owners)
    counts = np.searchsorted(of_group, owners, "right") - starts
    left = np.repeat(np.arange(len(owners)), counts)
    right = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(len(left))
    logs = seen.likelihoods.of_pairs(proposed[left], outputs[right])
    scores = np.log(seen.prior)[proposed] + np.bincount(left, logs * times[right], len(proposed))
    order = np.lexsort((scores, owners))
    distinct = np.unique(of_group)
    last = np.searchsorted(owners[order], distinct, "right")
    return distinct, np.asarray(proposed[order[last - 1]])


_CANDIDATES = 256  # more than for one draw: the number of places may speak for a less likely word
_SHAPE = 2.0  # of 0.1 to 5, and Poisson's law, the best on 40 film reviews


@dataclass(frozen=True, kw_only=True)
class Frequency(WordAttack, name="frequency"):
    """Guess each word from its one draw and from how often that occurs in the text.

    For texts in which each distinct word has one draw. In a text of n words, an output that occurs
    k times comes from w with a weight of Pr[y | w]·Pr[k | n·π(w)]. Words come in bursts, so the
    law of k is the negative binomial one with mean n·π(w) and shape 2.
    """

    candidates: int = option(_CANDIDATES, "how many words to consider for each output")
    needs_reuse = True
    observer = "an observer who counts equal outputs"

    def likeliest(self, seen: Seen, candidates: Candidates) -> Ids:
        texts, size = seen.texts, int(seen.outputs.max(initial=0)) + 1
        keys, groups, counts = np.unique(
            texts * size + seen.outputs, return_inverse=True, return_counts=True
        )
        rows = candidates.rows(keys % size)
        words = candidates.words[rows]
        expected = seen.lengths[keys // size][:, None] * seen.prior[words]
        # ln of the negative binomial law, but for terms that are the same for all words.
        bursts = counts[:, None] * np.log(expected / (expected + _SHAPE))
        scores = candidates.logs[rows] + bursts - _SHAPE * np.log1p(expected / _SHAPE)
        best = words[np.arange(len(words)), scores.argmax(axis=1)]
        return np.asarray(best[groups])
