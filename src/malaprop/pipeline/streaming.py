"""Read, draw, write: the one loop that every text of a file goes through.

Batches are read ahead and drawn by workers, in any order; they are written in the order in which
they were read. What a journal holds is never drawn again.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Generic, NamedTuple, Protocol, TypeVar

from malaprop.pipeline.outputs.journal import Drawn, Journal
from malaprop.pipeline.workers import WorkerPool

Key = tuple[int, int]
"""The number of a file in its run, and of a batch in its file."""
_END = -1  # in place of the number of a batch


class CopyStream(Protocol):
    """A file that is being copied, as the loop sees it."""

    @property
    def number(self) -> int:
        """The number of the file in its run."""

    @property
    def journal(self) -> Journal | None:
        """What was drawn for the file, if that is kept."""

    def batches(self) -> Iterator[list[str]]:
        """Yield the texts of each batch."""

    def write(self, private: list[str]) -> None:
        """Write the first batch that is not yet written, with these texts."""

    def finish(self) -> object:
        """Write the end of the file, once all batches are written."""


StreamT = TypeVar("StreamT", bound=CopyStream)


class Step(NamedTuple, Generic[StreamT]):
    """A batch of a stream was written, or all of it finished; `counts` are those of the batch."""

    stream: StreamT
    counts: dict[str, int]
    finished: bool = False


def copy_streams(streams: Iterable[StreamT], pool: WorkerPool) -> Iterator[Step[StreamT]]:
    """Copy files one after the other with private texts; yield after each batch and each file."""
    begun: dict[int, StreamT] = {}

    def read() -> Iterator[Item]:
        for stream in streams:
            begun[stream.number] = stream
            for number, texts in enumerate(stream.batches()):
                yield Item((stream.number, number), texts, stream.journal)
            yield Item((stream.number, _END), [], last=True)

    for item, drawn in draw_all(read(), pool):
        stream = begun[item.key[0]]
        if item.last:
            stream.finish()
        else:
            stream.write(drawn.texts)
        yield Step(stream, drawn.counts, finished=item.last)


class Item(NamedTuple):
    """A batch of texts to draw; `journal` is that of its file, if there is one.

    With `last`, the end of a file, which has nothing to draw.
    """

    key: Key
    texts: list[str]
    journal: Journal | None = None
    last: bool = False

    @property
    def drawn_before(self) -> bool:
        """Whether the journal holds it."""
        return self.journal is not None and self.key[1] in self.journal


def draw_all(items: Iterable[Item], pool: WorkerPool) -> Iterator[tuple[Item, Drawn]]:
    """Yield what is drawn for each item, in order; the items may be of several files.

    Takes what a journal holds from there, and writes what is drawn to the journal before it is
    used. Reads at most twice as many items ahead as the pool has workers.
    """
    drawing = _Drawing(pool)
    items = iter(items)
    ahead = 2 * pool.size if pool.size > 1 else 1
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
    """The items that are being drawn, or are drawn and wait for their turn."""

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool
        self._begun: dict[Key, Item] = {}
        self._ready: dict[Key, Drawn] = {}

    def begin(self, item: Item) -> None:
        """Have an item drawn, unless it was drawn before."""
        if not item.texts:
            self._ready[item.key] = Drawn([], {})
        elif not item.drawn_before:
            self._begun[item.key] = item
            self._pool.add(item.key, item.texts)

    def end(self, item: Item) -> Drawn:
        """Return what was drawn for an item; wait for it if need be."""
        if item.journal and item.drawn_before and item.key not in self._ready:
            return item.journal.recall(item.key[1], item.texts)
        while item.key not in self._ready:
            for key, drawn in self._pool.results():
                self._keep(key, drawn)
        return self._ready.pop(item.key)

    def _keep(self, key: Key, drawn: Drawn) -> None:
        item = self._begun.pop(key)
        if item.journal is not None:
            item.journal.keep(key[1], item.texts, drawn)
        self._ready[key] = drawn
