"""What draws the texts of a batch, in this process or in a worker."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.mechanism import Mechanism
from malaprop.core.randomness import secure_rng, seeded_rng
from malaprop.lexicon.lexicon import Lexicon
from malaprop.pipeline.outputs.journal import Drawn
from malaprop.pipeline.privatizer import Privatizer
from malaprop.pipeline.streaming import Key
from malaprop.text import Policy


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that a privatizer is made of: a worker that starts afresh builds its own."""

    lexicon: Lexicon | str
    mechanism: Mechanism
    policy: Policy = field(default_factory=Policy)
    seed: int | None = None

    @property
    def title(self) -> str:
        """Mechanism and lexicon in a few words."""
        lexicon = self.lexicon.name if isinstance(self.lexicon, Lexicon) else self.lexicon
        return f"{self.mechanism.name} on {lexicon or 'a lexicon'}"

    def privatizer(self) -> Privatizer:
        """Build the privatizer."""
        return Privatizer(
            Lexicon.open(self.lexicon) if isinstance(self.lexicon, str) else self.lexicon,
            self.mechanism,
            rng=secure_rng() if self.seed is None else seeded_rng(self.seed),
            **self.policy.options(),
        )


class BatchDraw:
    """Privatizes the texts of a batch, in any process.

    With a seed, the noise of a batch follows from the seed and the batch's key alone: a
    demonstration gives the same result with any number of workers.
    """

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self.privatizer = recipe.privatizer()

    def __reduce__(self) -> tuple[Any, ...]:
        return BatchDraw, (self._recipe,)

    def __call__(self, key: Key, texts: list[str]) -> Drawn:
        """Return the private texts, and how their tokens were treated."""
        privatizer = self.privatizer
        if self._recipe.seed is not None:
            privatizer = privatizer.drawing_from(_seeded(self._recipe.seed, key))
        return Drawn(*privatizer.batch(texts))


def _seeded(seed: int, key: Key) -> Generator:
    return Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))
