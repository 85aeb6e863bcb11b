"""A channel with stocks of draws: the same law, and much faster word by word."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.channel import Channel, LawChannel
from malaprop.core.law import Law
from malaprop.core.randomness import SecureGenerator, for_a_call
from malaprop.core.sampling.draws import each_word_once
from malaprop.core.sampling.stock import DrawStock
from malaprop.core.space import checked_ids


class StockedChannel:
    """Draws from a channel, with a stock if its law is known and its noise secure.

    A seeded generator must give the same words for the same call, whatever was drawn before: it
    gets no stock. Nor does noise on vectors, for which nothing can be prepared.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel, self._size = channel, len(channel.lexicon)
        self._stocks: WeakKeyDictionary[SecureGenerator, DrawStock] = WeakKeyDictionary()

    def substitute(self, ids: Any, rng: Generator) -> Ids:
        """Return a private word for each of `ids`, each drawn independently."""
        channel = self._channel
        if not isinstance(channel, LawChannel) or not isinstance(rng, SecureGenerator):
            return channel.substitute(ids, rng)
        return self._from_stock(channel, ids, rng)

    def share(self, rng: Generator) -> Callable[[float], None]:
        """Share one stock with all processes that are forked from now on.

        Returns a callback; call it with about how many calls of `substitute` there will be.
        """
        if not isinstance(self._channel, LawChannel) or not isinstance(rng, SecureGenerator):
            return lambda orders: None
        stock = self._stocks[rng] = DrawStock(len(self._channel.lexicon), shared=True)
        return stock.expect_orders

    def _from_stock(self, channel: LawChannel[Law], ids: Any, rng: SecureGenerator) -> Ids:
        for_a_call(rng)
        stock = self._stocks.get(rng)
        if stock is None:
            stock = self._stocks[rng] = DrawStock(self._size)

        def rows(words: Ids, least: Ids, counts: Ids) -> list[Ids]:
            return channel.draw_words(words, counts, rng, least)

        return each_word_once(
            checked_ids(ids, self._size),
            self._size,
            lambda words, counts: stock.take(words, counts, rows),
        )

    def __getstate__(self) -> dict[str, Any]:
        # The same draws must not be given out twice.
        return {"_channel": self._channel}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["_channel"])  # type: ignore[misc]
