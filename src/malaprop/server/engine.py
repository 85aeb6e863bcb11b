"""Privatizers that are kept ready, and the threads that they work in.

The computing is Python and numpy, beside which the event loop must go on answering. So it is done
in threads: as many compute at one time as there are cores, and others may wait for the database.
How many requests wait is limited, and one that waited too long is refused before a debit.
"""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock, Semaphore
from typing import Any, Final, TypeVar, cast

from malaprop._version import __version__
from malaprop.ledger import Prices
from malaprop.lexicon.graph import with_known_graph
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms import mechanism_named
from malaprop.privacy.errors import LexiconError
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.word_graph import Steps, WordGraph, graph_of
from malaprop.privatizer import Privatizer
from malaprop.release import Release, of_length
from malaprop.server.models import Options
from malaprop.server.problems import busy, invalid
from malaprop.server.settings import Settings
from malaprop.smoother import Smoother, smoother_for

T = TypeVar("T")
Entities = Sequence[Sequence[tuple[int, int, str]] | None] | None
"""What was found in each of several texts: start, end and label; None if nobody looked."""

_THREADS: Final = 32  # of requests; most wait for the database
_FACTS: Final = ("mechanism", "lexicon", "policy", "randomness")  # common to all releases
_MOST_MEASURES: Final = 64  # requests for figures that wait
_SMALL: Final = 32  # texts of a request that is drawn together with others
_REMEMBERED: Final = 256  # calibrations


def compact(value: object) -> str:
    """Return a value as JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class Ready:
    """A privatizer with what its answers have in common, as JSON."""

    def __init__(self, privatizer: Privatizer, cores: Semaphore) -> None:
        self.privatizer, self._cores = privatizer, cores
        facts = privatizer("").to_dict()  # nothing is drawn for a text without words
        self.facts = {name: facts[name] for name in _FACTS}
        self.told = compact(self.facts | {"malaprop": __version__})[1:-1]
        self.guarantee = lru_cache(maxsize=1024)(self._guarantee)
        self._prices: Prices | None = None
        self._gathered: list[_Waiting] = []
        self._gathering, self._drawing = Lock(), Lock()
        self._drawer = copy(privatizer)  # has a generator of its own, for one thread at a time

    def _guarantee(self, words: int) -> str:
        return compact(of_length(self.privatizer.guarantee, words).to_dict())

    @property
    def prices(self) -> Prices:
        """What tells the prices of texts; raises an error if nothing is promised."""
        if self._prices is None:
            self._prices = Prices(self.privatizer)
        return self._prices

    @cached_property
    def fluent(self) -> Smoother:
        """What makes a draw fluent."""
        return smoother_for(self.privatizer.channel, self.privatizer.lexicon, "fluent")

    def drawing(self) -> Privatizer:
        """Return the privatizer with a generator of its own, for one thread."""
        return copy(self.privatizer)

    def draw(self, texts: Sequence[str | None], entities: Entities = None) -> "Drawn":
        """Draw texts, with the entities of each, if any were looked for.

        Small requests that come while others are drawn are drawn together, which takes half of the
        time that they would take one by one. Whoever waits for that holds no core.
        """
        if len(texts) <= _SMALL and entities is None:
            return self._gathered_draw(texts)
        with self._cores:
            done = self.drawing().together(texts, entities=entities)
        guarantee = done.guarantee
        known = entities is None
        return Drawn(
            texts=cast("list[str | None]", done.texts),
            guarantee=self.guarantee(guarantee.words) if known else compact(guarantee.to_dict()),
            warnings=done.warnings,
        )

    def _gathered_draw(self, texts: Sequence[str | None]) -> "Drawn":
        own = _Waiting(texts)
        with self._gathering:
            self._gathered.append(own)
        with self._drawing:
            if not own.done:  # by whoever drew before
                with self._cores:
                    with self._gathering:
                        together, self._gathered = self._gathered, []
                    self._draw_all(together)
        if own.error is not None:
            raise own.error
        made = [release for release in own.releases if release is not None]
        return Drawn(
            texts=[None if release is None else release.text for release in own.releases],
            guarantee=self.guarantee(max((each.guarantee.words for each in made), default=1)),
            warnings=tuple({warning: None for each in made for warning in each.warnings}),
        )

    def _draw_all(self, together: "list[_Waiting]") -> None:
        try:
            texts = [text for each in together for text in each.texts]
            drawn = cast("list[Release | None]", self._drawer.many(texts))
        except Exception as error:
            for each in together:
                each.error, each.done = error, True
            return
        start = 0
        for each in together:
            each.releases = drawn[start : start + len(each.texts)]
            each.done = True
            start += len(each.texts)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Private texts, the JSON of their guarantee, and warnings."""

    texts: list[str | None]
    guarantee: str
    warnings: tuple[str, ...]


class _Waiting:
    """The texts of a request that waits to be drawn, and what was drawn for them."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        self.texts, self.done = texts, False
        self.releases: list[Release | None] = []
        self.error: Exception | None = None


class _Threads:
    """Threads for some kind of work, and how many requests wait for one or work in one."""

    def __init__(self, count: int, most: int) -> None:
        self.pool, self.most, self.waiting = ThreadPoolExecutor(count), most, 0

    def done(self, future: "asyncio.Future[Any]") -> None:
        """Count one less."""
        self.waiting -= 1
        if not future.cancelled():
            future.exception()  # it was told, or nobody waits for it any more


class Engine:
    """Makes privatizers, and runs work on them in threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self.limits = settings, settings.limits
        self.lexicons: dict[str, Lexicon] = {}
        self._made: OrderedDict[str, object] = OrderedDict()
        self._graphed: dict[str, Lexicon] = {}
        self._ready: OrderedDict[str, Ready] = OrderedDict()
        self._lock = Lock()
        self.cores = Semaphore(self.limits.cores)
        """Whoever draws holds one."""
        self._requests = _Threads(_THREADS, self.limits.waiting)
        # What measures has a core less and a queue of its own: releases must not wait for it.
        self._measures = _Threads(max(1, self.limits.cores - 1), _MOST_MEASURES)

    def open(self) -> None:
        """Open the lexicons, and make the usual privatizer ready."""
        named = map(mechanism_named, self._settings.mechanisms)
        graphs = any(mechanism.needs == Steps.name for mechanism in named)
        for name in self._settings.lexicons:
            self.lexicons[name] = known = Lexicon.open(name)
            if graphs:
                with suppress(LexiconError):  # it has none: a request that needs it says so
                    self._graphed[name] = with_known_graph(known)
        if "english" in self.lexicons and "balanced" in self._settings.mechanisms:
            self.ready(Options(epsilon=1.5)).draw(["A first text takes longer."])

    def close(self) -> None:
        """Refuse new work, and wait for what is under way."""
        for threads in (self._requests, self._measures):
            threads.pool.shutdown(cancel_futures=True)

    @property
    def waiting(self) -> int:
        """Requests that wait for a thread or work in one."""
        return self._requests.waiting + self._measures.waiting

    @property
    def is_ready(self) -> bool:
        """Whether all lexicons are open."""
        return len(self.lexicons) == len(self._settings.lexicons)

    async def measure(self, work: Callable[..., T], *args: Any) -> T:
        """Run work that releases nothing, and may take seconds."""
        return await self.run(work, *args, threads=self._measures)

    async def run(self, work: Callable[..., T], *args: Any, threads: "_Threads | None" = None) -> T:
        """Run work in a thread, and wait for it; refuse it if too much waits already."""
        threads = threads or self._requests
        if threads.waiting >= threads.most:
            raise busy("Too many requests are waiting.")
        began = time.monotonic()

        def begun() -> T:
            if time.monotonic() - began > self.limits.work_seconds:
                raise busy("The request waited too long.")
            return work(*args)

        threads.waiting += 1
        future = asyncio.get_running_loop().run_in_executor(threads.pool, begun)
        future.add_done_callback(threads.done)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self.limits.work_seconds)
        except TimeoutError:
            raise busy("The request took too long.", 10.0) from None

    def lexicon(self, name: str) -> Lexicon:
        """Return a lexicon of the service's list."""
        known = self.lexicons.get(name)
        if known is None:
            listed = ", ".join(self._settings.lexicons)
            raise invalid("lexicon", f"must be one of those that this service has: {listed}")
        return known

    def mechanism(self, name: str, epsilon: float) -> Mechanism:
        """Return a mechanism of the service's list."""
        if name not in self._settings.mechanisms:
            listed = ", ".join(self._settings.mechanisms)
            raise invalid("mechanism", f"must be one of those that this service has: {listed}")
        return mechanism_named(name)(epsilon=epsilon)

    def chosen(self, mechanism: str, lexicon: str, epsilon: float) -> tuple[Lexicon, Mechanism]:
        """Return lexicon and mechanism, the lexicon with the graph that the mechanism needs."""
        made, known = self.mechanism(mechanism, epsilon), self.lexicon(lexicon)
        if made.needs == Steps.name:
            known = self._graphed.get(lexicon) or with_known_graph(known)
        return known, made

    def graph(self, lexicon: str) -> WordGraph | None:
        """Return the word graph of a lexicon of the service's list; None if it has none."""
        known = self._graphed.get(lexicon)
        return None if known is None else graph_of(known.metric)

    def remembered(self, key: str, make: Callable[[], T]) -> T:
        """Return what was made for a key, or make it: for what takes seconds and never changes."""
        with self._lock:
            if key in self._made:
                return cast(T, self._made[key])
        made = make()
        with self._lock:
            self._made[key] = made
            while len(self._made) > _REMEMBERED:
                self._made.popitem(last=False)
        return made

    def ready(self, options: Options, *, keep: bool = True) -> Ready:
        """Return the privatizer of some options; keep the usual ones ready."""
        policy = options.text_options()
        key = json.dumps(
            [options.mechanism, options.epsilon, options.lexicon, policy], sort_keys=True
        )
        with self._lock:
            if found := self._ready.get(key):
                self._ready.move_to_end(key)
                return found
        lexicon, mechanism = self.chosen(options.mechanism, options.lexicon, options.epsilon)
        if options.readable and mechanism.needs != Steps.name:
            raise invalid(
                "readable",
                "must be false with this mechanism, whose first text would take minutes: use "
                "balanced, or upload a file",
            )
        made = Ready(Privatizer(lexicon, mechanism, **policy), self.cores)
        if not keep:
            return made
        with self._lock:
            made = self._ready.setdefault(key, made)
            while len(self._ready) > self.limits.privatizers:
                self._ready.popitem(last=False)
        return made
