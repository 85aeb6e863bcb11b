"""The text alone: each output by itself."""

from dataclasses import dataclass

import numpy as np

from malaprop.core.arrays import Ids
from malaprop.core.progress import Progress
from malaprop.measure.attacking.words import Seen, WordAttack


@dataclass(frozen=True, kw_only=True)
class Bayes(WordAttack, name="bayes"):
    """Guess each word from its output alone, and from how frequent words are.

    The guess is the word of largest π(w)·Pr[y | w], where π are the shares of words in public text
    (equal shares without a model). No observer who looks at one output at a time, and believes in
    π, is right more often.
    """

    def guesses(self, seen: Seen, progress: Progress | None = None) -> Ids:
        """Return the likeliest word behind each output."""
        best = seen.likelihoods.candidates(seen.outputs, np.log(seen.prior), 1, progress)
        return np.asarray(best.words[best.rows(seen.outputs), 0])
