"""The loss of all pairs of words of a small lexicon, written out."""

import numpy as np

from malaprop import LawChannel
from malaprop.core.law import Law


def assert_guarantee_holds(channel: LawChannel[Law]) -> None:
    """Compare the loss of each pair, over all outputs, with what the guarantee allows."""
    ids = np.arange(len(channel.lexicon))
    p, distances = channel.log_probabilities(ids), channel.lexicon.distances(ids)
    losses = (p[:, None, :] - p[None, :, :]).max(axis=2)
    for loss, distance in zip(losses.flat, distances.flat, strict=True):
        assert loss <= channel.guarantee.loss(distance) * (1 + 1e-9) + 1e-9
