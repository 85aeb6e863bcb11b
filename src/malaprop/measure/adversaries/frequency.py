"""One draw for each distinct word: how often it occurs gives it away."""

from dataclasses import dataclass, field

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.core.progress import Progress
from malaprop.measure.attacking.words import Seen, WordAttack

_CANDIDATES = 256  # more than for one draw: the number of places may speak for a less likely word
_SHAPE = 2.0  # of 0.1 to 5, and Poisson's law, the best on 40 film reviews


@dataclass(frozen=True, kw_only=True)
class Frequency(WordAttack, name="frequency"):
    """Guess each word from its one draw and from how often that occurs in the text.

    For texts in which each distinct word has one draw. In a text of n words, an output that occurs
    k times comes from w with a weight of Pr[y | w]·Pr[k | n·π(w)]. Words come in bursts, so the
    law of k is the negative binomial one with mean n·π(w) and shape 2.
    """

    candidates: int = field(
        default=_CANDIDATES, metadata={"help": "how many words to consider for each output"}
    )
    needs_reuse = True

    def guesses(self, seen: Seen, progress: Progress | None = None) -> Ids:
        """Return the likeliest word behind each distinct output of a text."""
        candidates = seen.likelihoods.candidates(
            seen.outputs, np.log(seen.prior), self.candidates, progress
        )
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
