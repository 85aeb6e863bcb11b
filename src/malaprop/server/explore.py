"""What the page asks for: a text beside a draw of it, and the neighbourhood of a word.

Answers here may hold the original, part by part. They are for whoever sent it.
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np

from malaprop.ledger import Ledger
from malaprop.measure.explain import word_law
from malaprop.owner import SideBySide
from malaprop.privacy.arrays import Ids
from malaprop.privacy.channel import Channel
from malaprop.privacy.randomness import secure_rng
from malaprop.privacy.word_graph import WordGraph
from malaprop.release import WORDLESS
from malaprop.server.engine import Engine, Ready
from malaprop.server.models import NeighbourhoodRequest, Options, PageRequest
from malaprop.server.problems import invalid, library_errors
from malaprop.server.security import Caller
from malaprop.server.work import told_receipt

_NEAR: Final = 2.0  # steps of a neighbourhood that is shown
_SHOWN: Final = 36  # words of it at most
_NEXT: Final = 16  # of them one step away


@cache
def examples() -> dict[str, dict[str, str]]:
    """Return the page's own texts by name: invented, about nobody."""
    path = files("malaprop.server") / "page" / "examples.json"
    found: dict[str, dict[str, str]] = json.loads(path.read_text("utf-8"))
    return found


def drawn_beside(
    engine: Engine, ledger: Ledger, request: PageRequest, caller: Caller
) -> dict[str, Any]:
    """Debit the budget unless the text is an example; then draw, and return both part by part."""
    text = _text(request)
    with library_errors(*request.written, text):
        with engine.cores:
            ready = engine.ready(request)
            charge = ready.prices.of(ready.privatizer.most_draws([text]))
        receipt = None
        if request.example is None:
            receipt = ledger.debit(
                charge, subject=request.subject, key=caller.id, dry_run=request.dry_run
            )
        told: dict[str, Any] = {
            "receipt": None if receipt is None else told_receipt(receipt),
            "price": f"{charge.price:f}",
        }
        if request.dry_run:
            guarantee = json.loads(ready.guarantee(1))
            return dict.fromkeys(_PARTS) | told | {"guarantee": guarantee, "warnings": []}
        with engine.cores:
            return _drawn(ready, text, engine.graph(request.lexicon)) | told


_PARTS: Final = (
    *("original", "private", "fluent", "drawn", "tags", "counts_as"),
    *("steps", "steps_fluent", "steps_drawn"),
)


def _text(request: PageRequest) -> str:
    if request.text is not None:
        return request.text
    known = examples()
    if request.example not in known:
        raise invalid("example", f"must be one of {', '.join(known)}")
    return known[request.example]["text"]


def _drawn(ready: Ready, text: str, graph: WordGraph | None) -> dict[str, Any]:
    also = ready.fluent if ready.privatizer.smoother else None
    done: SideBySide = ready.drawing().side_by_side(text, also=also)
    words = ready.privatizer.lexicon.words
    versions = (done.shown, done.shown_also, done.drawn)
    steps, steps_fluent, steps_drawn = _steps(graph, done.secret, versions)
    return {
        "original": done.original,
        "private": done.private,
        "fluent": done.also,
        "drawn": done.as_drawn,
        "tags": done.tags,
        "counts_as": [None if i < 0 else words[i] for i in done.secret.tolist()],
        "steps": steps,
        "steps_fluent": steps_fluent,
        "steps_drawn": steps_drawn,
        "guarantee": done.guarantee.to_dict(),
        "warnings": [] if done.tags else [WORDLESS],
    }


def _steps(
    graph: WordGraph | None, words: Ids, versions: Sequence[Ids]
) -> list[list[float | None]]:
    """Return how many steps words are from those of each version: a public function of words."""
    found: list[list[float | None]] = [[None] * len(words) for _ in versions]
    if graph is None or not (known := np.flatnonzero(words >= 0)).size:
        return found
    distinct, rows = np.unique(words[known], return_inverse=True)
    distances = graph.distances(distinct)
    for steps, others in zip(found, versions, strict=True):
        for place, distance in zip(
            known.tolist(), distances[rows, others[known]].tolist(), strict=True
        ):
            steps[place] = distance
    return found


def neighbourhood(engine: Engine, request: NeighbourhoodRequest) -> dict[str, Any]:
    """Return the words near a word, with the chance of each, and the edges between them."""
    options = Options(
        epsilon=request.epsilon, mechanism=request.mechanism, lexicon=request.lexicon, kinds="words"
    )
    with library_errors(*options.written, request.word), engine.cores:
        graph = engine.graph(request.lexicon)
        if graph is None:
            raise invalid("lexicon", "has no word graph, and so no neighbourhood to draw")
        ready = engine.ready(options)
        own = ready.privatizer.lexicon.index[ready.privatizer.mapped(request.word)]
        channel = ready.privatizer.channel
        return _near(graph, channel, own)


def _near(graph: WordGraph, channel: Channel, own: int) -> dict[str, Any]:
    chances = word_law(channel, own, secure_rng()).probabilities
    steps = graph.distances(np.array([own]))[0]
    near = np.flatnonzero((steps <= _NEAR) & (np.arange(len(steps)) != own))
    likeliest = near[np.lexsort((-chances[near], steps[near]))]
    first = likeliest[steps[likeliest] <= 1.0][:_NEXT]
    chosen = [own, *first.tolist()]
    chosen += likeliest[steps[likeliest] > 1.0][: _SHOWN - len(first)].tolist()
    return {
        "words": [
            {
                "word": channel.lexicon.words[i],
                "steps": float(steps[i]),
                "chance": float(chances[i]),
            }
            for i in chosen
        ],
        "edges": _edges(graph, chosen),
        "others": 1 + len(near) - len(chosen),
    }


def _edges(graph: WordGraph, chosen: Sequence[int]) -> list[list[float]]:
    place = np.full(graph.size, -1)
    place[list(chosen)] = np.arange(len(chosen))
    ends = place[graph.edges]
    both = (ends >= 0).all(axis=1)
    joined = zip(ends[both].tolist(), graph.weights[both].tolist(), strict=True)
    return [[*pair, length] for pair, length in joined]
