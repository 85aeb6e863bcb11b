"""Text in, private text out."""

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, Unpack

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.channel import Channel
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.mechanism import Mechanism
from malaprop.core.randomness import SECURE, checked_rng, label, secure_rng
from malaprop.core.sampling.stocked import StockedChannel
from malaprop.lexicon.graph.lookup import with_graph_if_needed
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms.balanced import Balanced
from malaprop.pipeline.keeping import Keeping, keeping_of
from malaprop.pipeline.release import Release
from malaprop.pipeline.word_draws import WordDraws
from malaprop.text import ParsedTexts, Policy, TextOptions, TextParser


class Privatizer:
    """A lexicon, a mechanism and a policy, ready to privatize texts.

    Every word goes through the mechanism, stop words too. A word that is not in the lexicon is
    treated as `unknown` says: `map` it by a public function to a lexicon word and protect that
    (default), `mask` it, `drop` it, or `keep` it as it is, which forfeits the guarantee. Numbers,
    web and e-mail addresses, mentions, hashtags and emoji are never kept. `punctuation` is `keep`
    or `drop`. Capitals are never copied from the input, but those of words that are kept.

    `Privatizer(epsilon=1.5)` alone is `Balanced` on the word graph of `english`.

    >>> from malaprop import Lexicon, Privatizer, TEM, seeded_rng
    >>> tiny = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
    >>> privatizer = Privatizer(tiny, TEM(epsilon=2.0), rng=seeded_rng(3))
    >>> release = privatizer("Cold, so COLD! Hot?")
    >>> release.text, release.randomness
    ('Cold, hot cold! Hot?', 'seeded: not private')
    >>> release.counts["in_lexicon"], release.counts["mapped"]
    (3, 1)
    """

    def __init__(
        self,
        lexicon: Lexicon | None = None,
        mechanism: Mechanism | None = None,
        *,
        epsilon: float | None = None,
        rng: Generator | None = None,
        **options: Unpack[TextOptions],
    ) -> None:
        lexicon, mechanism = _completed(lexicon, mechanism, epsilon)
        self._policy = Policy(**options)
        self._parser = TextParser(lexicon.words, self._policy)
        self._lexicon = lexicon
        self._mechanism = mechanism
        self._channel = mechanism.on(lexicon)
        self._stocked = StockedChannel(self._channel)
        self._guarantee = _for_texts(self._channel.guarantee, self._policy, words=1)
        self._rng = secure_rng() if rng is None else checked_rng(rng)
        self._facts: dict[str, dict[str, Any]] = {
            "mechanism": mechanism.to_dict(),
            "lexicon": {"name": lexicon.name, "fingerprint": lexicon.fingerprint},
            "policy": self._policy.to_dict(),
        }

    def __repr__(self) -> str:
        return f"Privatizer({self._lexicon!r}, {self._mechanism!r}, {self.randomness})"

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon that words are taken from."""
        return self._lexicon

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism with its parameters."""
        return self._mechanism

    @property
    def channel(self) -> Channel:
        """The mechanism bound to the lexicon."""
        return self._channel

    @property
    def policy(self) -> Policy:
        """How words outside the lexicon and punctuation are treated."""
        return self._policy

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for texts that differ in one word."""
        return self._guarantee

    @property
    def randomness(self) -> str:
        """`secure`, or `seeded: not private`."""
        return label(self._rng)

    @cached_property
    def keeping(self) -> Keeping:
        """The share of words that is expected to stay unchanged; computed at first use."""
        return keeping_of(self._mechanism, self._channel)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know before the work; nothing is printed or raised.

        That nothing is guaranteed, that a seed undoes the noise, or that ε protects little: see
        `keeping`, which takes up to a second on `english`.
        """
        warnings = []
        if self._guarantee.kind is Kind.NONE:
            warnings.append(f"NOTHING IS GUARANTEED: {self._guarantee.reason}")
        if self.randomness != SECURE:
            warnings.append(
                "made with a seed: NOT PRIVATE. Whoever knows the seed can undo it; the guarantee "
                "holds only for a run without one"
            )
        return (*warnings, *filter(None, [self.keeping.warning]))

    def drawing_from(self, rng: Generator) -> "Privatizer":
        """Return the same privatizer with another generator; prepared tables are shared."""
        other = copy(self)
        other._rng = checked_rng(rng)
        return other

    def __call__(self, text: str) -> Release:
        """Return the release of one text."""
        return self.many([text])[0]

    def many(self, texts: Iterable[str]) -> list[Release]:
        """Return the releases of several texts, in order; all their words are drawn together."""
        parsed = self._parse(texts)
        counts = map(
            _counts,
            parsed.slot_counts,
            parsed.word_counts,
            parsed.punctuation_counts,
            parsed.counts_of_each(),
        )
        return [self._release(*part) for part in zip(self._private(parsed), counts, strict=True)]

    def texts(self, texts: Iterable[str]) -> tuple[list[str], dict[str, int]]:
        """Return several private texts, and how all their tokens were treated: `many` in brief."""
        parsed = self._parse(texts)
        words, punctuation = np.asarray(parsed.word_counts), np.asarray(parsed.punctuation_counts)
        counts = _counts(sum(parsed.slot_counts), words, punctuation, parsed.counts())
        return self._private(parsed), counts

    def word_draws(self, texts: Iterable[str]) -> WordDraws:
        """Draw for the words of several texts; return the secret words beside the drawn ones.

        This is for the owner's own measurements, such as `malaprop.measure.attack`. What it
        returns holds the secret: do not publish it.
        """
        parsed = self._parse(texts)
        return WordDraws(
            secret=parsed.ids,
            drawn=self._drawn(parsed),
            lengths=np.asarray(parsed.slot_counts, dtype=np.int64),
        )

    def share_draws(self) -> Callable[[float], None]:
        """Have forks of this process draw ahead for each other; see `malaprop.core.sampling.stock`.

        Returns a callback; call it with the fraction of work done.
        """
        return self._stocked.share(self._rng)

    def _parse(self, texts: Iterable[str]) -> ParsedTexts:
        if isinstance(texts, str):
            raise ParameterError("`many` takes several texts; call the privatizer for one.")
        texts = list(texts)
        for text in texts:
            if not isinstance(text, str):
                raise ParameterError(f"A text must be a string. Got {type(text).__name__}.")
        return self._parser.parse(texts)

    def _private(self, parsed: ParsedTexts) -> list[str]:
        """Return the private texts; the words of all of them are drawn together."""
        return parsed.rebuild(self._drawn(parsed))

    def _drawn(self, parsed: ParsedTexts) -> Ids:
        return self._stocked.substitute(parsed.ids, self._rng)

    def _release(self, text: str, counts: dict[str, int]) -> Release:
        return Release(
            text=text,
            guarantee=_for_texts(self._channel.guarantee, self._policy, counts["protected"]),
            counts=counts,
            randomness=self.randomness,
            **{name: fact.copy() for name, fact in self._facts.items()},
        )


def _counts(drawn: int, words: Any, punctuation: Any, treated: dict[str, int]) -> dict[str, int]:
    """Return how many words were drawn, how many texts show mostly signs, and the rest.

    `words` and `punctuation` are the counts of one text, or arrays for several texts.
    """
    return {
        "protected": drawn,
        "wordless": int(np.sum((words == 0) & (punctuation > 0))),
        "mostly_signs": int(np.sum((words > 0) & (punctuation > words))),
        **treated,
    }


def _completed(
    lexicon: Lexicon | None, mechanism: Mechanism | None, epsilon: float | None
) -> tuple[Lexicon, Mechanism]:
    """Return lexicon and mechanism; by default `english` and `Balanced` with that ε."""
    if (mechanism is None) == (epsilon is None):
        raise ParameterError(
            "A Privatizer needs either a mechanism with its parameters, such as "
            "Balanced(epsilon=1.5), or an 'epsilon' alone, which means the same."
        )
    if mechanism is None:
        mechanism = Balanced(epsilon=epsilon)  # type: ignore[arg-type]
    if lexicon is None:
        lexicon = Lexicon.open("english")
    _check_kinds(lexicon, mechanism)
    return with_graph_if_needed(lexicon, mechanism), mechanism


def _check_kinds(lexicon: Any, mechanism: Any) -> None:
    if not isinstance(lexicon, Lexicon):
        raise ParameterError(
            "The 'lexicon' parameter of Privatizer must be a Lexicon, as Lexicon.open(name) "
            f"gives one. Got {type(lexicon).__name__}."
        )
    if not isinstance(mechanism, Mechanism):
        raise ParameterError(
            "The 'mechanism' parameter of Privatizer must be a mechanism with its parameters, "
            f"such as Balanced(epsilon=1.5). Got {type(mechanism).__name__}."
        )


@lru_cache(maxsize=1024)  # most texts of a file have as many words as some other one
def _for_texts(guarantee: Guarantee, policy: Policy, words: int) -> Guarantee:
    """Extend a word's guarantee to texts that differ in up to `words` words, under a policy."""
    if policy.unknown == "keep":
        return replace(
            guarantee,
            kind=Kind.NONE,
            reason="words outside the lexicon are kept as they are (unknown = keep); "
            f"for the words of the lexicon alone, {guarantee}".rstrip("."),
        )
    shown = ["words' places", "line breaks" if policy.punctuation == "drop" else "punctuation"]
    if policy.punctuation == "keep":
        shown.append("spacing")
    if policy.unknown == "mask":
        shown.append("masks")
    texts = (
        f"look alike when private ({', '.join(shown)}), each word counting as the lexicon word "
        "that it is mapped to"
    )
    return replace(guarantee, texts=texts).for_words(max(1, words))
