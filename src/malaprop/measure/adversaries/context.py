"""The text with its context: which words follow which."""

from dataclasses import dataclass

import numpy as np

from malaprop.measure.adversaries.words import CANDIDATES, Seen, WordAttack
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.likelihoods import Candidates
from malaprop.privacy.mechanism import option
from malaprop.smoother import Beliefs, beliefs
from malaprop.text.template import BEGINS, FOLLOWS


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
        words, _, belief = self.weighed(seen, candidates)
        return np.asarray(words[np.arange(len(words)), belief.argmax(axis=1)])

    def weighed(self, seen: Seen, candidates: Candidates) -> tuple[Ids, Floats, "Floats | Beliefs"]:
        """Return, for each output, its candidates, ln of how likely it is, and their belief."""
        if seen.model is None:
            raise ParameterError(f"The attack {self.name} needs a 'model'.")
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
        before = np.full(len(words), FOLLOWS)
        lengths = seen.lengths[seen.lengths > 0]
        before[np.cumsum(lengths) - lengths] = BEGINS
        belief: Floats | Beliefs = beliefs(seen.model, words, likely, before)
        if seen.reused:
            own = np.log(np.maximum(belief.astype(np.float64), 1e-30))
            sums = np.zeros((len(sizes), own.shape[1]))
            np.add.at(sums, groups, own)
            # Each place's belief contains the prior, which must count once.
            belief = sums[groups] - (counts - 1.0) * np.log(seen.prior[words])
        return words, logs, belief
