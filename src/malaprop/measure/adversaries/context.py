"""The text with its context: which words follow which."""

from dataclasses import dataclass, field

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import ParameterError
from malaprop.core.progress import Progress, report, stage
from malaprop.lexicon.bigrams import BigramModel
from malaprop.measure.attacking.forward_backward import Beliefs, beliefs
from malaprop.measure.attacking.likelihoods import Candidates
from malaprop.measure.attacking.words import CANDIDATES, Seen, WordAttack


@dataclass(frozen=True, kw_only=True)
class Context(WordAttack, name="context"):
    """Guess each word from all outputs of its text, with a bigram model of public text.

    For each output, the words of largest π(w)·Pr[y | w] are candidates. The forward-backward
    algorithm gives the probability of each candidate, and the guess is the likeliest one. If a text
    has one draw for each distinct word, each distinct output counts as evidence once, and all its
    places get the same guess. A larger model of language would recover more: the score is a lower
    bound of what context gives away.
    """

    candidates: int = field(
        default=CANDIDATES, metadata={"help": "how many words to consider for each output"}
    )
    needs_model = True

    def guesses(self, seen: Seen, progress: Progress | None = None) -> Ids:
        """Return the likeliest candidate of each place."""
        if seen.model is None:
            raise ParameterError("The attack context needs a 'model'.")
        candidates = seen.likelihoods.candidates(
            seen.outputs, np.log(seen.prior), self.candidates, stage(progress, 0, 2)
        )
        parts = seen.parts()
        guesses = []
        for done, part in enumerate(parts, 1):
            guesses.append(_likeliest(part, seen.model, candidates))
            report(stage(progress, 1, 2), done, len(parts))
        return np.concatenate(guesses)


def _likeliest(seen: Seen, model: BigramModel, candidates: Candidates) -> Ids:
    """Return the likeliest candidate of each place."""
    rows = candidates.rows(seen.outputs)
    words, logs = candidates.words[rows], candidates.logs[rows]
    repeats = _Repeats(seen) if seen.reused else None
    if repeats is not None:
        logs = logs / repeats.counts[:, None]
    likely = np.exp(logs - logs.max(axis=1, keepdims=True))
    belief = beliefs(model, words, likely, seen.lengths)
    best = belief if repeats is None else repeats.combined(belief, words, seen.prior)
    return np.asarray(words[np.arange(len(words)), best.argmax(axis=1)])


class _Repeats:
    """Places of a text with the same output, where that stands for the same word.

    Each of k places carries a k-th of the output's evidence. The contexts of all places then speak
    of one word, and are combined as independent evidence of it.
    """

    def __init__(self, seen: Seen) -> None:
        keys = seen.texts * (int(seen.outputs.max(initial=0)) + 1) + seen.outputs
        _, self._groups, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        self.counts: Floats = sizes[self._groups].astype(np.float64)

    def combined(self, belief: Beliefs, words: Ids, prior: Floats) -> Floats:
        """Return the belief in each candidate from all places of its output."""
        logs = np.log(np.maximum(belief.astype(np.float64), 1e-30))
        sums = np.zeros((int(self._groups.max(initial=-1)) + 1, logs.shape[1]))
        np.add.at(sums, self._groups, logs)
        # Each place's belief contains the prior, which must count once.
        extra = (self.counts - 1.0)[:, None] * np.log(prior[words])
        return np.asarray(sums[self._groups] - extra)
