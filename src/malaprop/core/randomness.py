"""Where noise comes from.

Privacy needs noise that nobody can predict: `secure_rng` takes its key from the operating
system and runs AES in counter mode. It is fresh in every process: a fork gets a new key, and
a copy or a pickle is a new generator, so that two workers can never draw the same noise.

`seeded_rng` repeats itself on purpose, for tests and demonstrations. Whoever knows the seed
can undo the mechanism, so what is made with it is labelled `seeded: not private`.
"""

import os
import secrets
import weakref
from collections.abc import Callable
from numbers import Integral

import numpy as np
from numpy.random import Generator

from malaprop.core.errors import ParameterError

SECURE = "secure"
SEEDED = "seeded: not private"


def _fresh_aes() -> np.random.BitGenerator:
    from randomgen import AESCounter

    bits: np.random.BitGenerator = AESCounter(key=secrets.randbits(128))
    return bits


class SecureGenerator(Generator):
    """A numpy generator over AES in counter mode, keyed by the operating system.

    It cannot be repeated: it takes no seed, a fork rekeys it, and a copy is another one.
    """

    def __init__(self) -> None:
        super().__init__(_fresh_aes())
        _alive.add(self)

    def rekey(self) -> None:
        """Take a new key from the operating system."""
        self.bit_generator.state = _fresh_aes().state

    def spawn(self, n_children: int) -> list[Generator]:
        """Make `n_children` generators, each with a key of its own."""
        return [SecureGenerator() for _ in range(n_children)]

    def __reduce__(self) -> tuple[Callable[[], "SecureGenerator"], tuple[()]]:  # type: ignore[override]
        # A pickled state would be the same noise twice.
        return SecureGenerator, ()

    def __copy__(self) -> "SecureGenerator":
        return SecureGenerator()

    def __deepcopy__(self, memo: object) -> "SecureGenerator":
        return SecureGenerator()


_alive: "weakref.WeakSet[SecureGenerator]" = weakref.WeakSet()


_held: list[SecureGenerator] = []


def _hold() -> None:
    # A thread that draws during a fork would leave its generator locked in the child for ever.
    _held.extend(_alive)
    for generator in _held:
        generator.bit_generator.lock.acquire()


def _release() -> None:
    for generator in _held:
        generator.bit_generator.lock.release()
    _held.clear()


def _release_and_rekey() -> None:
    generators = list(_held)
    _release()
    for generator in generators:
        generator.rekey()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_release_and_rekey)


def secure_rng() -> Generator:
    """A cryptographic generator, keyed by the operating system, fresh in every process."""
    return SecureGenerator()


def seeded_rng(seed: int) -> Generator:
    """A generator that repeats itself, for tests and demonstrations: not private.

    >>> int(seeded_rng(7).integers(1000)) == int(seeded_rng(7).integers(1000))
    True
    """
    if not isinstance(seed, Integral) or seed < 0:
        raise ParameterError("A seed must be a whole number, 0 or more.")
    return Generator(np.random.PCG64(int(seed)))


def checked_rng(rng: object) -> Generator:
    """`rng`, if it is a generator."""
    if not isinstance(rng, Generator):
        raise ParameterError(
            f"Randomness must be a numpy.random.Generator, as malaprop.secure_rng() makes one. "
            f"Got a {type(rng).__name__}."
        )
    return rng


def label(rng: Generator) -> str:
    """What a release says of its randomness.

    Only a generator made by `secure_rng` counts as secure: of any other, Malaprop cannot know
    who else knows its state.
    """
    return SECURE if isinstance(rng, SecureGenerator) else SEEDED
