"""Batches of texts in, private texts out: in order, with workers, and never drawn twice."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from malaprop.core.mechanism import Mechanism
from malaprop.core.randomness import secure_rng, seeded_rng
from malaprop.lexicon.lexicon import Lexicon
from malaprop.pipeline.outputs.journal import Drawn, Journal
from malaprop.pipeline.privatizer import Privatizer
from malaprop.pipeline.workers import Crew
from malaprop.text.policy import Unknown
from malaprop.text.surface import Punctuation

Key = tuple[int, int]
"""The number of a file in its run, and of a batch in its file."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All that a privatizer is made of: what a worker that starts anew needs to know."""

    lexicon: str
    mechanism: Mechanism
    unknown: Unknown = "map"
    punctuation: Punctuation = "keep"
    seed: int | None = None

    def privatizer(self) -> Privatizer:
        """The privatizer."""
        return Privatizer(
            Lexicon.open(self.lexicon),
            self.mechanism,
            unknown=self.unknown,
            punctuation=self.punctuation,
            rng=secure_rng() if self.seed is None else seeded_rng(self.seed),
        )


class BatchDraw:
    """Privatizes the texts of a batch, in whatever process.

    With a seed, the noise of a batch follows from the seed and the batch's key alone, so that a
    demonstration repeats itself with any number of workers.
    """

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self.privatizer = recipe.privatizer()

    def __reduce__(self) -> tuple[Any, ...]:
        return BatchDraw, (self._recipe,)

    def __call__(self, key: Key, texts: list[str]) -> Drawn:
        """The private texts, and how their pieces were treated."""
        privatizer = self.privatizer
        if self._recipe.seed is not None:
            privatizer = privatizer.drawing_from(_seeded(self._recipe.seed, key))
        return Drawn(*privatizer.texts(texts))


def _seeded(seed: int, key: Key) -> Generator:
    return Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


class Item(NamedTuple):
    """A batch of texts to be drawn; `journal` is that of its file, if there is one.

    With `last`, what comes after the last batch of a file, with nothing to be drawn.
    """

    key: Key
    texts: list[str]
    journal: Journal | None = None
    last: bool = False

    @property
    def drawn_before(self) -> bool:
        """Whether there is nothing to be done but to look it up."""
        return self.journal is not None and self.key[1] in self.journal


def draw_all(items: Iterable[Item], crew: Crew) -> Iterator[tuple[Item, Drawn]]:
    """Yield what is drawn for each item, in order; they may be of several files.

    What a journal holds is taken from there; what is drawn goes into it before it is used. Only
    so many items are read ahead as the crew can work on, and as many again.
    """
    drawing = _Drawing(crew)
    items = iter(items)
    ahead = 2 * crew.size if crew.size > 1 else 1
    waiting: deque[Item] = deque()
    while True:
        while len(waiting) < ahead and (item := next(items, None)):
            drawing.begin(item)
            waiting.append(item)
        if not waiting:
            return
        item = waiting.popleft()
        yield item, drawing.end(item)


class _Drawing:
    """The items that are being drawn, or were."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._begun: dict[Key, Item] = {}
        self._ready: dict[Key, Drawn] = {}

    def begin(self, item: Item) -> None:
        """Have an item drawn, if it was not drawn before."""
        if not item.texts:
            self._ready[item.key] = Drawn([], {})
        elif not item.drawn_before:
            self._begun[item.key] = item
            self._crew.add(item.key, item.texts)

    def end(self, item: Item) -> Drawn:
        """Return an item that was begun; wait for it, if need be."""
        if item.journal and item.drawn_before and item.key not in self._ready:
            return item.journal.recall(item.key[1], item.texts)
        while item.key not in self._ready:
            for key, drawn in self._crew.results():
                self._keep(key, drawn)
        return self._ready.pop(item.key)

    def _keep(self, key: Key, drawn: Drawn) -> None:
        item = self._begun.pop(key)
        if item.journal is not None:
            item.journal.keep(key[1], item.texts, drawn)
        self._ready[key] = drawn
