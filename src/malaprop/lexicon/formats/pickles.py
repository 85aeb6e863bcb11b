"""Reads pickles as plain data: nothing that a pickle names is looked up, imported or called.

A pickle is a program for a stack machine. This is such a machine with a closed list of operations,
those of the binary protocols 2 to 5. Where Python would import a name, it makes a `GlobalName`.
Where Python would call it or set its state, it makes an `Inert` that records the arguments. Bytes
stay in the file: a `Span` says where.

The length of the file bounds time and memory: at most one object per operation, and beyond a
million operations at most one for two bytes. Integers have at most 2,040 bits, and nothing is
hashed or compared.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from mmap import mmap
from typing import Any

LONGEST_TEXT = 1 << 16
"""Most bytes of a string that is decoded; a longer one stays a `Span`."""
_FREE_OPERATIONS = 1_000_000
_LONGEST_NAME = 200  # characters of a module and a class together

Buffer = bytes | mmap


class PickleError(ValueError):
    """A pickle is damaged, or does what no file of vectors does."""


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """A range of bytes in the file."""

    start: int
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class GlobalName:
    """The name of a class or a function in a pickle: `module.name`."""

    text: str


@dataclass(slots=True, eq=False)
class Inert:
    """The object that calling `name` with `args` would make, and its state."""

    name: str
    args: Any
    state: Any = None


class Pairs(list[Any]):
    """A dictionary as written: keys and values in turn."""

    __slots__ = ()

    def get(self, wanted: str) -> Any:
        """Return the last value given to a key, or None."""
        for i in range(len(self) - 2, -1, -2):
            key = self[i]
            if isinstance(key, str) and key == wanted:
                return self[i + 1]
        return None


def load(content: Buffer) -> Any:
    """Read the object in a pickle. Raises PickleError if there is not exactly one."""
    try:
        return _Machine(content).run()
    except (IndexError, struct.error, UnicodeDecodeError):
        raise PickleError("a damaged pickle") from None


class _Machine:
    """The stack, its marks, and the memo. Operations are methods or entries of `_OPERATIONS`."""

    def __init__(self, content: Buffer) -> None:
        self.content, self.at = content, 0
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: list[Any] = []

    def run(self) -> Any:
        """Run operations up to STOP."""
        content = self.content
        for _ in range(_FREE_OPERATIONS + len(content) // 2):
            code = content[self.at]
            self.at += 1
            if code == _STOP:
                break
            operation = _OPERATIONS.get(code)
            if operation is None:
                raise PickleError("an operation that no file of vectors uses")
            operation(self)
        else:
            raise PickleError("too many operations for its length")
        if len(self.stack) != 1:
            raise PickleError("not exactly one object")
        return self.stack[0]

    def take(self, length: int) -> int:
        """Skip bytes, which must be there, and return where they start."""
        start = self.at
        if length > len(self.content) - start:
            raise PickleError("truncated")
        self.at += length
        return start

    def number(self, length: int, signed: bool = False) -> int:
        """Read an integer."""
        start = self.take(length)
        return int.from_bytes(self.content[start : self.at], "little", signed=signed)

    def text(self, length: int, encoding: str = "utf-8") -> str | Span:
        """Read a string; gensim's words can have halves of surrogate pairs."""
        start = self.take(length)
        if length > LONGEST_TEXT:
            return Span(start, length)
        return self.content[start : self.at].decode(encoding, "surrogatepass")

    def line(self) -> str:
        """Read a line with a name."""
        end = self.content.find(b"\n", self.at, self.at + _LONGEST_NAME)
        if end < 0:
            raise PickleError("an unterminated name")
        start = self.take(end - self.at + 1)
        return self.content[start:end].decode()

    def marked(self) -> list[Any]:
        """Pop everything above the last mark."""
        start = self.marks.pop()
        items = self.stack[start:]
        del self.stack[start:]
        return items

    def keep(self, place: int) -> None:
        """Memoize the top. Every pickler numbers its memo from 0 or 1, without gaps."""
        if place > len(self.memo) + 1:
            raise PickleError("a gap in the memo")
        if place == len(self.memo) + 1:
            self.memo.append(None)
        if place == len(self.memo):
            self.memo.append(self.stack[-1])
        else:
            self.memo[place] = self.stack[-1]

    def name(self, module: Any, name: Any) -> None:
        """Push a name where Python would import it."""
        if not (isinstance(module, str) and isinstance(name, str)):
            raise PickleError("a name that is not a string")
        if len(module) + len(name) > _LONGEST_NAME:
            raise PickleError("a name that is too long")
        self.stack.append(GlobalName(f"{module}.{name}"))

    def call(self, args: Any) -> None:
        """Record a call where Python would make it."""
        called = self.stack.pop()
        if not isinstance(called, GlobalName | Inert) or type(args) is not tuple:
            raise PickleError("a call of something without a name")
        self.stack.append(Inert(called.text if isinstance(called, GlobalName) else "", args))

    def build(self) -> None:
        """Record a state where Python would set it."""
        state, made = self.stack.pop(), self.stack[-1]
        if not isinstance(made, Inert):
            raise PickleError("a state for something that has none")
        made.state = state

    def extend(self, items: list[Any], kind: type[list[Any]]) -> None:
        """Add items to the list or dictionary on top. Items of other objects are ignored."""
        into = self.stack[-1]
        if type(into) is kind and not (kind is Pairs and len(items) % 2):
            into.extend(items)
        elif not isinstance(into, Inert):
            raise PickleError("items for something that has none")

    def last(self, count: int) -> list[Any]:
        """Pop the top items."""
        if count > len(self.stack):
            raise PickleError("an empty stack")
        items = self.stack[-count:]
        del self.stack[-count:]
        return items


_STOP = ord(".")
_Operation = Callable[[_Machine], object]


def _push(value: Callable[[_Machine], Any]) -> _Operation:
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


_OPERATIONS: dict[int, _Operation] = {
    code[0]: operation
    for code, operation in {
        # The module pickletools has Python's names for them.
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
        b"U": _push(lambda m: m.text(m.number(1), "latin-1")),  # from Python 2
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
"""Operations by their codes. The others refer to registries, to buffers outside the file or to
persistent objects, or belong to the text protocols."""
