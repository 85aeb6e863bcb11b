"""What is known of small lexicons in closed form, written out."""

import numpy as np

from malaprop import LawChannel
from malaprop.privacy.arrays import Floats
from malaprop.privacy.law import Law


def nearest_on_a_line(places: Floats, epsilon: float) -> Floats:
    """Return Pr[y|w] of Laplace noise of rate ε on a line, decoded to the nearest word."""
    order = np.argsort(places)
    middles = (places[order][:-1] + places[order][1:]) / 2.0
    far = epsilon * (np.concatenate([[-np.inf], middles, [np.inf]]) - places[:, None])
    below = np.where(far < 0.0, np.exp(-np.abs(far)) / 2.0, 1.0 - np.exp(-np.abs(far)) / 2.0)
    law = np.empty((len(places), len(places)))
    law[:, order] = np.diff(below, axis=1)
    return law


def assert_guarantee_holds(channel: LawChannel[Law]) -> None:
    """Compare the loss of each pair, over all outputs, with what the guarantee allows."""
    ids = np.arange(len(channel.lexicon))
    p, distances = channel.log_probabilities(ids), channel.lexicon.distances(ids)
    losses = (p[:, None, :] - p[None, :, :]).max(axis=2)
    for loss, distance in zip(losses.flat, distances.flat, strict=True):
        assert loss <= channel.guarantee.loss(distance) * (1 + 1e-9) + 1e-9
