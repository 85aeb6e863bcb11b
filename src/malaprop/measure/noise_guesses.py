"""Bounds on the best guess where noise is added to vectors, so that the law of words is unknown.

From above: who sees the noisy vectors guesses at least as well as who sees the words that they
become, and the best guess at a vector is known, from the density of the noise. From below: some
words near the outputs are tried out, and the one that gave those outputs most often is guessed.
"""

from typing import Any, Final

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats, Ids
from malaprop.core.channel import Channel, VectorChannel
from malaprop.core.noise.noise import ExponentialDensity, GaussianDensity
from malaprop.core.space import blocks
from malaprop.measure.intervals import clopper_pearson
from malaprop.pipeline.nearby_guesses import FEW, draws_of_words, nearest_words

_TRIALS: Final = 256
_SEEN: Final = 1_000  # trials of the observer of vectors
_SLOW: Final = 1 << 31  # differences of coordinates, where a distance is no matrix product
_UNSEEN: Final = 0.1  # draws of an output that a word never gave


def noise_success(
    channel: Channel, belief: Floats, draws: int, rng: Generator
) -> tuple[float, tuple[float, float]]:
    """Return what a guess from `draws` outputs achieves, and 95 % bounds on the best guess.

    The upper bound is 1 if the density of the noise is unknown.
    """
    truth = rng.choice(len(belief), size=_TRIALS, p=belief)
    drawn = channel.substitute(np.repeat(truth, draws), rng).reshape(_TRIALS, draws)
    hits = int((_tried_out(channel, belief, drawn, rng) == truth).sum())
    low, _ = clopper_pearson(hits, _TRIALS).tolist()
    value = hits / _TRIALS
    # By chance, the guess may have done better than the bound on all guesses.
    high = max(value, seen_vectors_bound(channel, belief, draws, rng))
    return value, (low, high)


def _tried_out(channel: Channel, belief: Floats, drawn: Ids, rng: Generator) -> Ids:
    """Guess, for each trial, the near word that explains its outputs best in draws of its own."""
    trials, draws = drawn.shape
    near = nearest_words(channel, drawn.ravel(), max(1, FEW // draws)).reshape(trials, -1)
    words, which = np.unique(near, return_inverse=True)
    samples = draws_of_words(channel, words, rng)
    with np.errstate(divide="ignore"):
        logs = np.log(belief)
    guesses = np.empty(trials, dtype=np.int64)
    for trial, rows in enumerate(which.reshape(near.shape)):
        given = (samples[rows][:, :, None] == drawn[trial]).sum(axis=1)
        scores = np.log(given + _UNSEEN).sum(axis=1) + logs[near[trial]]
        guesses[trial] = near[trial, scores.argmax()]
    return guesses


def seen_vectors_bound(channel: Channel, belief: Floats, draws: int, rng: Generator) -> float:
    """Return the upper end of a 95 % interval for the best guess at `draws` noisy vectors.

    Words are computed from these vectors, so that they tell no more. 1 if the density of the noise
    is unknown, or that of a mixture. The density is the one before rounding to a fine grid.
    """
    density = _density(channel)
    if density is None or not isinstance(channel, VectorChannel):
        return 1.0
    trials = _SEEN
    if isinstance(density, ExponentialDensity) and density.metric == "manhattan":
        trials = int(min(trials, max(100, _SLOW // (density.centres.size * draws))))
    with np.errstate(divide="ignore"):
        logs = np.log(belief)
    truth = rng.choice(len(belief), size=trials, p=belief)
    hits = 0
    for block in blocks(trials, row_cells=len(belief) * draws):
        words = truth[block]
        noisy = channel.release_words(np.repeat(words, draws), rng)
        scores = _log_densities(density, noisy).reshape(len(words), draws, -1).sum(axis=1)
        hits += int(((scores + logs).argmax(axis=1) == words).sum())
    return float(clopper_pearson(hits, trials)[1])


def _density(channel: Channel) -> ExponentialDensity | GaussianDensity | None:
    """Return the density of the noise, if words are drawn by way of it and it can be evaluated."""
    if type(channel) is not VectorChannel:  # a subclass may draw in another way
        return None
    density: Any = channel.noise.density(channel.lexicon)
    if isinstance(density, GaussianDensity):
        return density if bool((density.sigmas > 0.0).all()) else None
    if not isinstance(density, ExponentialDensity) or not density.is_sane or density.in_ball:
        return None
    plain = len(density.roots) <= 1  # no mixture
    return density if plain and density.metric in ("euclidean", "manhattan") else None


def _log_densities(density: ExponentialDensity | GaussianDensity, noisy: Floats) -> Floats:
    """Return ln of the density of each word at each vector, but for a constant."""
    centres = density.centres
    if isinstance(density, GaussianDensity):
        squares = _squares(noisy, centres)
        return np.asarray(
            -squares / (2.0 * density.sigmas**2) - centres.shape[1] * np.log(density.sigmas)
        )
    if density.metric == "manhattan":
        from scipy.spatial.distance import cdist

        return np.asarray(-density.rate * cdist(noisy, centres, "cityblock"))
    if density.roots:
        inverse = np.linalg.inv(density.roots[0])
        noisy, centres = noisy @ inverse, centres @ inverse
    return np.asarray(-density.rate * np.sqrt(_squares(noisy, centres)))


def _squares(noisy: Floats, centres: Floats) -> Floats:
    middle = centres.mean(axis=0)
    one, other = noisy - middle, centres - middle
    squares = (one**2).sum(axis=1)[:, None] - 2.0 * one @ other.T + (other**2).sum(axis=1)
    return np.asarray(np.maximum(squares, 0.0))
