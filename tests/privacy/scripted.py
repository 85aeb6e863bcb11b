"""A generator that follows a script, for draws that chance would never show."""

import numpy as np
from numpy.random import Generator


class Scripted(Generator):
    """A generator whose uniform numbers are given; all later ones are 0."""

    def __init__(self, *numbers: float) -> None:
        super().__init__(np.random.PCG64(1))
        self.numbers = iter(numbers)

    def random(self, size: int | tuple[int, int]) -> np.ndarray:  # type: ignore[override]
        return np.array([next(self.numbers, 0.0) for _ in range(np.prod(size))]).reshape(size)
