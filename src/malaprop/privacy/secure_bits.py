"""AES in counter mode as a source of bits that no two processes, copies or calls share.

A key comes from the operating system. It is replaced in a new process, and once it is a second
old. Within that second, each call of the library starts at its own counter: 126 fresh bits from
the system. With one secret key, streams from different counters are independent, and
two of n calls with 2^b blocks of noise each overlap with a probability below n²·2^(b − 126).
"""

import hashlib
import os
import struct
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, NoReturn

from randomgen import AESCounter

from malaprop.privacy.errors import ParameterError
from malaprop.privacy.randomness import this_process

_KEY_LIFE = 1.0  # seconds; a key takes 25 µs to set, a counter 5
_STATE: Any = AESCounter.state
_USED_UP = bytes(64)  # encrypted blocks that have been used up


def _refused(what: str) -> Callable[..., NoReturn]:
    """Return a method that refuses what would repeat the noise, or make it known."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise ParameterError(
            f"A secure generator {what}: its noise would be known, and could be undone. For noise "
            "that repeats itself, which is not private, use malaprop.seeded_rng(seed)."
        )

    return refuse


class SecureBits(AESCounter):  # type: ignore[misc]
    """A bit generator that cannot be repeated: it has no seed, and a copy is a new one."""

    def __init__(self) -> None:
        super().__init__(key=_key(b""))
        self._call = object()
        self._settle(self._call)
        with _registering:
            _alive.add(self)

    def begin_call(self) -> None:
        """Make the next draw start with fresh entropy. Without a draw, this costs nothing."""
        self._call = object()

    def notice(self) -> None:
        """Prepare for a draw: take a new key in a new process, fresh entropy in a new call."""
        if self._process is not this_process():
            self.rekey()
        elif self._served is not self._call:
            self._refresh()

    def rekey(self) -> None:
        with self.lock:
            call = self._call
            AESCounter.seed(self, key=_key(self._old))
            self._settle(call)

    def _settle(self, call: object) -> None:
        state = _STATE.__get__(self)
        self._kind, self._round_keys = state["bit_generator"], state["s"]["seed"]
        self._old = self._round_keys.tobytes()
        self._keyed = time.monotonic()
        # Last: whoever sees these finds the new key; after an interrupt, the next draw rekeys.
        self._served = call
        self._process = this_process()

    def _refresh(self) -> None:
        """Go on at a fresh counter, or with a new key once this one is old."""
        with self.lock:
            if not 0.0 <= time.monotonic() - self._keyed < _KEY_LIFE:
                self.rekey()
                return
            call = self._call
            low, high = struct.unpack("=QQ", _fresh(self._old))
            low &= ~3  # four blocks are encrypted together, each with its own counter
            counters = (low, high, low + 1, high, low + 2, high, low + 3, high)
            keys = {"seed": self._round_keys, "counter": counters, "state": _USED_UP, "offset": 64}
            # Python's own numbers: unpacking those of numpy arrays takes three times as long.
            state = {"bit_generator": self._kind, "s": keys, "has_uint32": 0, "uinteger": 0}
            _STATE.__set__(self, state)
            self._served = call

    def random_raw(self, size: Any = None, output: bool = True) -> Any:
        self.notice()
        return super().random_raw(size, output)

    def spawn(self, n_children: int) -> "list[SecureBits]":
        """Make bit generators, each with a key of its own."""
        return [SecureBits() for _ in range(n_children)]

    def jumped(self, iter: int = 1) -> "SecureBits":  # noqa: A002 - as numpy names it
        """Make a new generator: jumping from the same place twice would repeat the noise."""
        return SecureBits()

    def __reduce__(self) -> tuple[type["SecureBits"], tuple[()]]:
        return SecureBits, ()

    def __copy__(self, memo: object = None) -> "SecureBits":
        return SecureBits()

    __deepcopy__ = __copy__

    def seed(self, *seed: Any, **options: Any) -> None:
        """Refused, except for the first key: noise of a known seed is not private."""
        if hasattr(self, "_call"):
            _refused("takes no seed")()
        super().seed(*seed, **options)

    _no_state = _refused("does not reveal its state, nor accept one")
    state = property(_no_state, _no_state)
    advance = _refused("cannot be moved back or forth")
    jump = _refused("cannot be moved back or forth")


def _fresh(old: bytes) -> bytes:
    """Make 16 bytes from the system's entropy, mixed with the old state and the clocks.

    A kernel that does not know that its machine was copied may give both copies the same bytes.
    But the copies do not run in step to the nanosecond.
    """
    clocks = struct.pack("<QQ", time.time_ns(), time.perf_counter_ns())
    return hashlib.blake2b(os.urandom(32) + clocks + old, digest_size=16).digest()


def _key(old: bytes) -> int:
    return int.from_bytes(_fresh(old), "little")


_alive: "weakref.WeakSet[SecureBits]" = weakref.WeakSet()
_registering = threading.RLock()
_held: list[SecureBits] = []


def _hold() -> None:
    # A thread that draws during a fork would leave its generator locked for ever in the child.
    _registering.acquire()
    _held.extend(_alive)
    for bits in _held:
        bits.lock.acquire()


def _release() -> None:
    for bits in _held:
        bits.lock.release()
    _held.clear()
    _registering.release()


def _release_and_rekey() -> None:
    # Each draw notices a fork, but other code may draw from the bits directly.
    forked = list(_held)
    _release()
    for bits in forked:
        bits.rekey()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_release_and_rekey)
