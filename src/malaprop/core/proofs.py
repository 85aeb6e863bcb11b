"""Marks of proof: which classes do what docs/proofs/ says that they do.

The audit certifies a channel only if each part that could betray a word is marked. A mark belongs
to one class and is not inherited: a subclass may draw in another way.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import TypeVar

import numpy as np

T = TypeVar("T")

_MARK = "__proof__"
_PLAIN = (NoneType, bool, int, float, str)
_ARRAYS = (np.ndarray, np.memmap, *set(np.sctypeDict.values()))


def proved(proof: str) -> Callable[[type[T]], type[T]]:
    """Mark a class as doing what a proof says; `proof` names the page.

    Whoever marks a class vouches for it: the audit then trusts what the class states about itself.

    >>> @proved("docs/proofs/laplace.md")
    ... class Noise: ...
    >>> class Derived(Noise): ...
    >>> proof_of(Noise()), proof_of(Derived())
    ('docs/proofs/laplace.md', '')
    """

    def mark(cls: type[T]) -> type[T]:
        setattr(cls, _MARK, proof)
        return cls

    return mark


def proof_of(thing: object) -> str:
    """Return the proof page of a thing's exact class; empty if it has none."""
    return str(vars(type(thing)).get(_MARK, ""))


def is_proved(thing: object) -> bool:
    """Whether a thing's exact class is proved and, for a dataclass, those of all its fields.

    Numbers, strings and arrays of numbers need no proof, but must be exactly that: a subclass of
    float may calculate in its own way.

    >>> is_proved((1.0, "a", np.ones(2))), is_proved([1.0])
    (True, False)
    """
    if type(thing) in _PLAIN:
        return True
    if isinstance(thing, np.ndarray | np.generic) and type(thing) in _ARRAYS:
        return thing.dtype.kind in "fiub"
    if type(thing) is tuple:
        return all(is_proved(part) for part in thing)
    if not proof_of(thing):
        return False
    parts = fields(thing) if is_dataclass(thing) else ()
    return all(is_proved(getattr(thing, part.name)) for part in parts)
