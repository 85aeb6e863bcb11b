"""Adaptive attacks on words: how frequent words are, learnt from the private text itself."""

from dataclasses import replace

import numpy as np

from malaprop.core.arrays import Floats, Ids
from malaprop.lexicon.bigrams import BigramModel
from malaprop.measure.attacking.likelihoods import Likelihoods

_CANDIDATES = 64  # words behind an output that share in it
_ROUNDS = 5  # of expectation and maximisation: on film reviews, more fit the noise
_WEIGHT = 1000.0  # words of private text that the public shares count for


def adapted_prior(
    likelihoods: Likelihoods, outputs: Ids, prior: Floats, model: BigramModel | None
) -> tuple[Floats, BigramModel | None]:
    """Return the shares of words that explain the outputs best, and the model with those shares.

    An observer who sees much private text learns from it how frequent words are in such texts,
    without knowing any of them: expectation and maximisation, from the public shares on, which
    keep the weight of 1,000 words. Pairs of words stay those of the public model.
    """
    distinct, counts = np.unique(outputs, return_counts=True)
    nearest = likelihoods.candidates(distinct, np.log(prior), _CANDIDATES)
    likely = np.exp(nearest.logs - nearest.logs.max(axis=1, keepdims=True))
    adapted = prior
    for _ in range(_ROUNDS):
        joint = adapted[nearest.words] * likely
        joint *= (counts / joint.sum(axis=1))[:, None]
        expected = np.bincount(nearest.words.ravel(), joint.ravel(), len(prior))
        adapted = (expected + _WEIGHT * prior) / (len(outputs) + _WEIGHT)
    if model is None:
        return adapted, None
    # A model's shares are those of its counts: give it counts in these shares.
    scale = max(1.0, 1e9 / len(prior))
    return adapted, replace(model, unigrams=np.rint(adapted * scale * len(prior)).astype(np.int64))
