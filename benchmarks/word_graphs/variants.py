"""Word graphs made in many ways; the start is cap 4, five anchors of weight 4, cut-off 10."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from ground import Ground
from numpy.typing import NDArray
from wordlists import WordLists

from malaprop.lexicon import graph as shipped
from malaprop.lexicon.graph import near_words
from malaprop.privacy.arrays import Ids
from malaprop.privacy.word_graph import WordGraph


@dataclass(frozen=True)
class Variant:
    """How a graph is made."""

    cap: int = 4
    anchors: int = 5
    weight: float = 4.0
    """Of anchors."""
    cutoff: float = 10.0
    components: int = 3
    candidates: int = 64
    order: str = "rank-rank"
    """Of candidates: smaller rank, then larger rank; `rank-cos`; `cos`; `shared` neighbours."""
    mutual: bool = False
    """Only pairs that are both among the other's nearest 64."""
    pos: bool = False
    """Only pairs with a common part of speech."""
    inflections: str = "as others"
    """`join`: forms of one lemma come first; `exclude`: they are never a step apart."""
    function: str = "mixed"
    """`apart`: function words are candidates for function words only."""
    capping: str = "tree first"
    """or `greedy`: edges first, then what is apart is joined."""
    second: float = 1.0
    """The weight of edges that neither end ranks first: 1, or more."""

    first: int = 0
    """The cap for edges between a word and its very nearest, taken before others; 0: `cap`."""
    hubs: int = 0
    """An anchor is longer by 2 where an end has this many already, nearer ones first; 0: never."""

    def __str__(self) -> str:
        start = Variant()
        changed = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if getattr(self, f.name) != getattr(start, f.name)
        }
        return ", ".join(f"{k} {v}" for k, v in changed.items()) or "cap 4, weight 4"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {k: str(v) if v == math.inf else v for k, v in asdict(self).items()}


_NO_PAIRS = np.empty((0, 2), dtype=np.int64)
_near: dict[tuple[int, int], tuple[Ids, Any]] = {}


def build(ground: Ground, variant: Variant, lists: WordLists) -> WordGraph:
    """The graph of a variant."""
    key = len(ground), variant.components
    if key not in _near:
        _near.clear()
        _near[key] = near_words(ground.lexicon, 64, variant.components)
    all_near, points = _near[key]
    near = all_near[:, : variant.candidates]
    order = _chosen(_ordered(near, points, variant.order), near, variant, lists)
    if variant.first:
        capped = _nearest_first(len(ground), order, variant, near, points)
    elif variant.capping == "tree first":
        capped = shipped._capped(len(ground), order, variant.cap, points, _NO_PAIRS)
    else:
        capped = _greedy(len(ground), order, variant.cap, points)
    nearest = shipped._nearest_pairs(near[:, : variant.anchors])
    anchored = shipped._without(nearest, capped, len(ground))
    lengths = np.full(len(anchored), variant.weight)
    if variant.hubs:
        lengths += 2.0 * _late(anchored, near, variant.hubs)
    steps = np.where(_first(capped, near), 1.0, variant.second)
    weights = np.concatenate([steps, lengths])
    every = np.concatenate([capped, anchored])
    return WordGraph(len(ground), every, weights, cutoff=variant.cutoff)


def _nearest_first(size: int, order: Ids, variant: Variant, near: Ids, points: Any) -> Ids:
    """Tree first, where a word's very nearest finds a place sooner than others."""
    parts = shipped._Parts(size, variant.first)
    first = _first(order, near)
    for a, b in order[first].tolist():
        parts.join(a, b)
    parts._cap = variant.cap
    others = order[~first]
    taken = np.array([parts.join(a, b) for a, b in others.tolist()])
    parts.join_all(points, _NO_PAIRS)
    return parts.filled(others[~taken])


def _late(pairs: Ids, near: Ids, limit: int) -> NDArray[np.bool_]:
    """Which pairs come when an end has enough, if those with the smallest rank come first."""
    degrees, late = np.zeros(len(near), dtype=np.int64), np.zeros(len(pairs), dtype=np.bool_)
    for place in np.argsort(_smaller_rank(pairs, near), kind="stable"):
        ends = pairs[place]
        late[place] = (degrees[ends] >= limit).any()
        degrees[ends] += not late[place]
    return late


def _first(pairs: Ids, near: Ids) -> NDArray[np.bool_]:
    a, b = pairs.T
    return np.asarray((near[a, 0] == b) | (near[b, 0] == a))


def _ordered(near: Ids, points: Any, order: str) -> Ids:
    pairs = shipped.candidate_edges(near)
    if order == "rank-rank":
        return pairs
    units = points._units
    close = np.concatenate(
        [np.einsum("ij,ij->i", units[p[:, 0]], units[p[:, 1]]) for p in np.array_split(pairs, 64)]
    )
    if order == "cos":
        return pairs[np.argsort(-close, kind="stable")]
    if order == "shared":
        return pairs[np.lexsort((-close, -_shared(pairs, near[:, :10])))]
    return pairs[np.lexsort((-close, _smaller_rank(pairs, near)))]


def _shared(pairs: Ids, near: Ids) -> Ids:
    """How many of their nearest two words have in common, themselves included."""
    from scipy.sparse import csr_array

    own = np.concatenate([near, np.arange(len(near))[:, None]], axis=1)
    starts = np.arange(len(own) + 1) * own.shape[1]
    lists = csr_array((np.ones(own.size), own.ravel(), starts), shape=(len(own), len(own)))
    a, b = pairs.T
    return np.asarray(lists[a].multiply(lists[b]).sum(axis=1)).ravel()


def _smaller_rank(pairs: Ids, near: Ids) -> Ids:
    a, b = pairs.T
    ranks = []
    for here, there in ((a, b), (b, a)):
        hit = near[here] == there[:, None]
        ranks.append(np.where(hit.any(axis=1), hit.argmax(axis=1), near.shape[1]))
    return np.minimum(*ranks)


def _chosen(pairs: Ids, near: Ids, variant: Variant, lists: WordLists) -> Ids:
    a, b = pairs.T
    keep = np.ones(len(pairs), dtype=np.bool_)
    if variant.mutual:
        keep &= (near[a] == b[:, None]).any(axis=1) & (near[b] == a[:, None]).any(axis=1)
    if variant.pos:
        keep &= lists.same_part(a, b)
    if variant.function == "apart":
        keep &= lists.function[a] == lists.function[b]
    if variant.inflections == "exclude":
        keep &= ~lists.same_lemma(a, b)
    pairs = pairs[keep]
    if variant.inflections == "join":
        forms = lists.same_lemma(pairs[:, 0], pairs[:, 1])
        pairs = np.concatenate([pairs[forms], pairs[~forms]])
    return pairs


def _greedy(size: int, order: Ids, cap: int, points: Any) -> Ids:
    """Edges while there is room; then parts are joined, dropping weak edges that are no bridge."""
    links: list[dict[int, None]] = [{} for _ in range(size)]
    for a, b in order.tolist():
        if len(links[a]) < cap and len(links[b]) < cap:
            links[a][b] = links[b][a] = None
    while True:
        parts = _parts(links)
        if len(parts) == 1:
            break
        for part in parts[:-1]:
            _join(links, part, size, cap, points)
    return np.array([(a, b) for a in range(size) for b in links[a] if a < b], dtype=np.int64)


def _join(links: list[dict[int, None]], part: list[int], size: int, cap: int, points: Any) -> None:
    inside = np.zeros(size, dtype=np.bool_)
    inside[_reached(links, part[0])] = True
    own, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    if not len(others):
        return
    own = own[:64]
    close = points.closeness(own, others)
    for place in np.argsort(-close, axis=None, kind="stable")[:4096]:
        i, j = divmod(int(place), len(others))
        a, b = int(own[i]), int(others[j])
        if _room(links, a, cap) and _room(links, b, cap):
            links[a][b] = links[b][a] = None
            return


def _room(links: list[dict[int, None]], word: int, cap: int) -> bool:
    if len(links[word]) < cap:
        return True
    for other in reversed(list(links[word])):
        del links[word][other], links[other][word]
        if _connected(links, word, other):
            return True
        links[word][other] = links[other][word] = None
    return False


def _connected(links: list[dict[int, None]], start: int, end: int) -> bool:
    seen, queue = {start}, deque([start])
    while queue:
        for other in links[queue.popleft()]:
            if other == end:
                return True
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return False


def _reached(links: list[dict[int, None]], start: int) -> list[int]:
    seen, queue = {start: None}, deque([start])
    while queue:
        for other in links[queue.popleft()]:
            if other not in seen:
                seen[other] = None
                queue.append(other)
    return list(seen)


def _parts(links: list[dict[int, None]]) -> list[list[int]]:
    left, parts = set(range(len(links))), []
    while left:
        part = _reached(links, min(left))
        left.difference_update(part)
        parts.append(part)
    return sorted(parts, key=len)
