"""The exact law of walks, by following all of them; for tests."""

from collections import defaultdict

import numpy as np

from malaprop.core.sampling.walks import Edges, Walks

Law = dict[tuple[int, int], float]
"""The probability that a walk ends at a place, with a length."""


def option_chances(walks: Walks, place: int, before: int) -> list[float]:
    """The probability of each option of a walk at a place, as the tables of the walks say."""
    terms = np.diff(walks._ends[place], prepend=0.0)
    bound = walks.bounds[place]
    if before >= 0:
        bound = walks._came[place]
        terms[1 + int((walks._edges.near[place] == before).argmax())] = 0.0
    assert terms.sum() <= bound
    return list((terms / bound).tolist())


def long_chances(walks: Walks, place: int) -> list[tuple[int, float]]:
    """The longer edges of a place, with the probability of each if the walk takes a longer one."""
    edges = walks._edges
    first, count = int(edges.first[place]), int(edges.counts[place])
    found = []
    for edge in range(first, first + count):
        term = walks._falls[edges.lengths[edge]] * walks.bounds[edges.there[edge]]
        assert term <= walks._most[place]
        found.append((edge, float(term / walks._most[place] / count)))
    return found


def law_of_walks(walks: Walks, place: int, length: int) -> Law:
    """The probabilities of the ends of a walk from a place, to which it has a length behind it."""
    edges: Edges = walks._edges
    ends: Law = defaultdict(float)
    states = {(place, -1, length): 1.0}
    while states:
        following: dict[tuple[int, int, int], float] = defaultdict(float)
        for (here, before, behind), chance in states.items():
            longer, *short, stop = option_chances(walks, here, before)
            ends[here, behind] += chance * stop
            for there, step in zip(edges.near[here].tolist(), short, strict=True):
                if step > 0.0 and behind + edges.length < len(walks._falls):
                    following[there, here, behind + edges.length] += chance * step
            for edge, step in long_chances(walks, here) if longer > 0.0 else []:
                total = behind + int(edges.lengths[edge])
                if total < len(walks._falls):
                    following[int(edges.there[edge]), -1, total] += chance * longer * step
        states = following
    return ends
