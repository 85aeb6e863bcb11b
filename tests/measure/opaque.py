"""A channel that hides its law, so that all must be learned from draws."""

import numpy as np

from malaprop import Channel
from malaprop.privacy.arrays import Ids


class Opaque(Channel):
    """A channel that draws as another does, and says nothing about how."""

    def __init__(self, inner: Channel) -> None:
        super().__init__(inner.lexicon, inner.guarantee)
        self._inner = inner

    def _substitute(self, ids: Ids, rng: np.random.Generator) -> Ids:
        return self._inner.substitute(ids, rng)
