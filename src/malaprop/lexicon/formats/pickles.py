"""Pickles as plain data: nothing that a pickle names is looked up, imported or called.

A pickle is a program for a stack machine. This is such a machine with a closed list of operations,
those which pickle writes in its binary protocols 2 to 5. Where Python would import a name it
makes a `Name`, and where Python would call it or give it a state, an `Inert` that notes the
arguments. Bytes stay in the file: a `Span` says where.

What it takes is bounded by the file: at most one object for an operation, and at most one operation
for two bytes, beyond a million. Numbers have at most 2,040 bits, and nothing is hashed or compared.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from mmap import mmap
from typing import Any

LONGEST_TEXT = 1 << 16
"""Bytes of a text that is decoded; a longer one stays a `Span`."""
_FREE = 1_000_000
_NAME = 200  # characters of a module or of a class

Buffer = bytes | mmap


class PickleError(ValueError):
    """A pickle is damaged, or does what no file of vectors does."""


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """Bytes in the file."""

    start: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """What a pickle calls a class or a function: `module.name`."""

    text: str


@dataclass(slots=True, eq=False)
class Inert:
    """What would be made by calling `name` with `args`, and its state."""

    name: str
    args: Any
    state: Any = None


class Pairs(list[Any]):
    """A dictionary as it was written: keys and values by turns."""

    __slots__ = ()

    def get(self, wanted: str) -> Any:
        """The last value that was given to a key, or None."""
        for i in range(len(self) - 2, -1, -2):
            key = self[i]
            if isinstance(key, str) and key == wanted:
                return self[i + 1]
        return None


def load(content: Buffer) -> Any:
    """Read the one object of a pickle. Raises PickleError if that cannot be done."""
    try:
        return _Machine(content).run()
    except (IndexError, struct.error, UnicodeDecodeError):
        raise PickleError("a damaged pickle") from None


class _Machine:
    """The stack, the marks in it, and the memo; operations are methods or entries of `_ACTS`."""

    def __init__(self, content: Buffer) -> None:
        self.content, self.at = content, 0
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: list[Any] = []

    def run(self) -> Any:
        """Read operations up to the one that stops."""
        content = self.content
        for _ in range(_FREE + len(content) // 2):
            code = content[self.at]
            self.at += 1
            if code == _STOP:
                break
            act = _ACTS.get(code)
            if act is None:
                raise PickleError("an operation that no file of vectors has")
            act(self)
        else:
            raise PickleError("too many operations for its length")
        if len(self.stack) != 1:
            raise PickleError("not one object")
        return self.stack[0]

    def take(self, length: int) -> int:
        """Go past some bytes, which must be there, and return where they start."""
        start = self.at
        if length > len(self.content) - start:
            raise PickleError("cut off")
        self.at += length
        return start

    def number(self, length: int, signed: bool = False) -> int:
        """Read a whole number."""
        start = self.take(length)
        return int.from_bytes(self.content[start : self.at], "little", signed=signed)

    def text(self, length: int, encoding: str = "utf-8") -> str | Span:
        """Read a text; words of gensim can have halves of surrogate pairs."""
        start = self.take(length)
        if length > LONGEST_TEXT:
            return Span(start, length)
        return self.content[start : self.at].decode(encoding, "surrogatepass")

    def line(self) -> str:
        """Read a line of a name."""
        end = self.content.find(b"\n", self.at, self.at + _NAME)
        if end < 0:
            raise PickleError("a name without end")
        start = self.take(end - self.at + 1)
        return self.content[start:end].decode()

    def marked(self) -> list[Any]:
        """Take what is above the last mark."""
        start = self.marks.pop()
        items = self.stack[start:]
        del self.stack[start:]
        return items

    def keep(self, place: int) -> None:
        """Memorize the top; every pickler numbers its memo from 0 or 1, without gaps."""
        if place > len(self.memo) + 1:
            raise PickleError("a gap in the memo")
        if place == len(self.memo) + 1:
            self.memo.append(None)
        if place == len(self.memo):
            self.memo.append(self.stack[-1])
        else:
            self.memo[place] = self.stack[-1]

    def name(self, module: Any, name: Any) -> None:
        """Note a name where Python would import it."""
        if not (isinstance(module, str) and isinstance(name, str)):
            raise PickleError("a name that is none")
        if len(module) + len(name) > _NAME:
            raise PickleError("a long name")
        self.stack.append(Name(f"{module}.{name}"))

    def call(self, args: Any) -> None:
        """Note a call where Python would make it."""
        called = self.stack.pop()
        if not isinstance(called, Name | Inert) or type(args) is not tuple:
            raise PickleError("a call of what is no name")
        self.stack.append(Inert(called.text if isinstance(called, Name) else "", args))

    def build(self) -> None:
        """Note a state where Python would set it."""
        state, made = self.stack.pop(), self.stack[-1]
        if not isinstance(made, Inert):
            raise PickleError("a state of what has none")
        made.state = state

    def extend(self, items: list[Any], kind: type[list[Any]]) -> None:
        """Add items to the list or the dictionary on top; those of other classes do not matter."""
        into = self.stack[-1]
        if type(into) is kind and not (kind is Pairs and len(items) % 2):
            into.extend(items)
        elif not isinstance(into, Inert):
            raise PickleError("items of what has none")

    def last(self, count: int) -> list[Any]:
        """Take what is on top."""
        if count > len(self.stack):
            raise PickleError("an empty stack")
        items = self.stack[-count:]
        del self.stack[-count:]
        return items


_STOP = ord(".")
_Act = Callable[[_Machine], object]


def _push(value: Callable[[_Machine], Any]) -> _Act:
    return lambda machine: machine.stack.append(value(machine))


def _span(machine: _Machine, size: int) -> Span:
    length = machine.number(size)
    return Span(machine.take(length), length)


def _float(machine: _Machine) -> float:
    start = machine.take(8)
    return float(struct.unpack(">d", machine.content[start : machine.at])[0])


def _class_and_keywords(machine: _Machine) -> None:
    machine.stack.pop()
    machine.call(machine.stack.pop())


_ACTS: dict[int, _Act] = {
    code[0]: act
    for code, act in {
        # Python's names for them stand in the module pickletools.
        b"\x80": lambda m: m.take(1),  # PROTO
        b"\x95": lambda m: m.take(8),  # FRAME
        b"(": lambda m: m.marks.append(len(m.stack)),
        b"0": lambda m: m.stack.pop(),
        b"1": lambda m: m.marked(),
        b"N": _push(lambda m: None),
        b"\x88": _push(lambda m: True),
        b"\x89": _push(lambda m: False),
        b"J": _push(lambda m: m.number(4, signed=True)),
        b"K": _push(lambda m: m.number(1)),
        b"M": _push(lambda m: m.number(2)),
        b"\x8a": _push(lambda m: m.number(m.number(1), signed=True)),
        b"G": _push(_float),
        b"\x8c": _push(lambda m: m.text(m.number(1))),
        b"X": _push(lambda m: m.text(m.number(4))),
        b"\x8d": _push(lambda m: m.text(m.number(8))),
        b"U": _push(lambda m: m.text(m.number(1), "latin-1")),  # of Python 2
        b"T": _push(lambda m: m.text(m.number(4), "latin-1")),
        b"C": _push(lambda m: _span(m, 1)),
        b"B": _push(lambda m: _span(m, 4)),
        b"\x8e": _push(lambda m: _span(m, 8)),
        b"\x96": _push(lambda m: _span(m, 8)),
        b"]": _push(lambda m: []),
        b"a": lambda m: m.extend([m.stack.pop()], list),
        b"e": lambda m: m.extend(m.marked(), list),
        b"\x8f": _push(lambda m: []),  # a set, as a list
        b"\x90": lambda m: m.extend(m.marked(), list),
        b"\x91": _push(lambda m: m.marked()),
        b"}": _push(lambda m: Pairs()),
        b"s": lambda m: m.extend(m.last(2), Pairs),
        b"u": lambda m: m.extend(m.marked(), Pairs),
        b")": _push(lambda m: ()),
        b"t": _push(lambda m: tuple(m.marked())),
        b"\x85": _push(lambda m: tuple(m.last(1))),
        b"\x86": _push(lambda m: tuple(m.last(2))),
        b"\x87": _push(lambda m: tuple(m.last(3))),
        b"c": lambda m: m.name(m.line(), m.line()),
        b"\x93": lambda m: m.name(*m.last(2)),
        b"R": lambda m: m.call(m.stack.pop()),
        b"\x81": lambda m: m.call(m.stack.pop()),
        b"\x92": _class_and_keywords,
        b"b": lambda m: m.build(),
        b"q": lambda m: m.keep(m.number(1)),
        b"r": lambda m: m.keep(m.number(4)),
        b"\x94": lambda m: m.keep(len(m.memo)),
        b"h": _push(lambda m: m.memo[m.number(1)]),
        b"j": _push(lambda m: m.memo[m.number(4)]),
    }.items()
}
"""The operations by their codes. What else there is refers to registries, to buffers outside of
the file, to other objects by their names, or is of the protocols in text."""
