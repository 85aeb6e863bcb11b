"""Text in, private text out."""

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any, Unpack, cast, overload

import numpy as np
from numpy.random import Generator

from malaprop.draws import DrawnSlots, SlotDraws
from malaprop.lexicon.lexicon import Lexicon
from malaprop.privacy.arrays import Ids
from malaprop.privacy.best_guess import BestGuess, KeptShare, best_guess_of, kept_share
from malaprop.privacy.channel import Channel
from malaprop.privacy.errors import ParameterError, require_text, several_texts
from malaprop.privacy.guarantee import Guarantee, Kind
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.randomness import SECURE, checked_rng, label, secure_rng
from malaprop.recipe import Chosen, LexiconChoice, MechanismChoice, choose, interned
from malaprop.release import (
    Release,
    common_words,
    count_repeats,
    of_length,
    smoothed_by,
    text_guarantee,
    with_values,
)
from malaprop.smoother import Smoother, smoother_for
from malaprop.text.kinds import ValueForm
from malaprop.text.missing import MaybeText, is_missing, map_non_null
from malaprop.text.parser import Secrets, Templates, TextParser
from malaprop.text.policy import Policy, TextOptions, policy_with
from malaprop.text.public import Span
from malaprop.text.tokens import TokenKind, kind_of


@dataclass(frozen=True, kw_only=True, eq=False)
class WordDraws:
    """The words of several texts, and one private draw of each.

    It holds the secret: it is for measurements by the owner, and never to be published.
    """

    secret: Ids = field(repr=False)
    """The ids of the lexicon words that the texts were mapped to, text by text."""
    drawn: Ids = field(repr=False)
    """The id that was drawn for each of them."""
    lengths: Ids = field(repr=False)
    """How many words each text has."""

    def first(self, texts: int) -> "WordDraws":
        """Return the draws of the first texts alone."""
        lengths = self.lengths[:texts]
        words = int(lengths.sum())
        return WordDraws(secret=self.secret[:words], drawn=self.drawn[:words], lengths=lengths)


_NO_WORDS = (TokenKind.SPACE, TokenKind.PUNCTUATION, TokenKind.INVISIBLE)


class Privatizer:
    """A lexicon, a mechanism and a policy, ready to privatize texts.

    Every word goes through the mechanism, stop words too. A word that is not in the lexicon is
    treated as `unknown` says: `map` it by a public function to a lexicon word and protect that
    (default), `mask` it, `drop` it, or `keep` it as it is, which forfeits the guarantee. Numbers,
    web and e-mail addresses, mentions, hashtags and emoji are never kept. `punctuation` is `keep`
    or `drop`. Capitals are never copied from the input, but those of words that are kept.

    With `kinds="typed"`, the default for mechanisms on a word graph, a number becomes a number, a
    date a date, and an identifier one of the same shape; with `"words"` they all become words. The
    ε of a step is `kind_epsilon`, by default the mechanism's if that counts in steps, too; `steps`
    and `dates` say how long a step is and how 03/04/2023 is read. See docs/kinds.md.

    `repeat` is `fresh` or `document`: whether equal words of a text share one draw. `redraw`
    replaces names and places by others from public lists: see docs/people.md. `keep` and `markup`
    declare words, placeholders and tags public: see docs/public-pieces.md. `readable` smooths what
    was drawn by public bigrams: see docs/smoothing.md.

    `Privatizer(epsilon=1.5)` alone is `Balanced` on the word graph of `english`. Lexicon and
    mechanism can be given by name, `Privatizer("english", "tem", epsilon=1.5)`; a mechanism with
    other parameters than ε is given as a value. A pickle is the recipe, not the tables: see
    `malaprop.recipe`.

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
        lexicon: LexiconChoice | None = None,
        mechanism: MechanismChoice | None = None,
        *,
        epsilon: float | None = None,
        rng: Generator | None = None,
        **options: Unpack[TextOptions],
    ) -> None:
        """Choose a lexicon and a mechanism, as values or by name; `options` are a policy's."""
        policy = policy_with(options, Privatizer)
        chosen = choose(lexicon, mechanism, epsilon)
        self._prepare(chosen, policy, secure_rng() if rng is None else checked_rng(rng))

    def _prepare(self, chosen: Chosen, policy: Policy, rng: Generator) -> None:
        self._chosen, self._rng = chosen, rng
        lexicon, mechanism = chosen.lexicon, chosen.mechanism
        self._common = common_words(len(lexicon))
        self._channel = mechanism.on(lexicon)
        self._policy = policy.with_chosen_kinds(self._channel.guarantee)
        self._parser = TextParser(lexicon.words, self._policy)
        self._slots = SlotDraws(self._channel, self._policy)
        readable = self._policy.readable
        self.smoother = smoother_for(self._channel, lexicon, readable) if readable else None
        self._promise = with_values(self._channel.guarantee, self._policy)
        if self.smoother is not None:
            self._promise = smoothed_by(self._promise, self.smoother.model.fingerprint)
        self._guarantee = text_guarantee(self._promise, self._policy)
        # Most texts have as many words as another one.
        self._guarantee_for = lru_cache(maxsize=1024)(partial(of_length, self._guarantee))
        self._facts: dict[str, dict[str, Any]] = {
            "mechanism": mechanism.to_dict(),
            "lexicon": lexicon.to_dict(),
            "policy": self._policy.to_dict(),
        }

    def __repr__(self) -> str:
        return f"Privatizer({self.lexicon!r}, {self.mechanism!r}, {self.randomness})"

    def __reduce__(self) -> tuple[Any, ...]:
        # The recipe alone: no table, no draw made ahead, no word of the user's texts.
        options = interned(tuple(self._policy.options().items()))
        return _revived, (self._chosen, options, self._rng)

    def __copy__(self) -> "Privatizer":
        return self.drawing_from(copy(self._rng))

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon that words are taken from."""
        return self._chosen.lexicon

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism with its parameters."""
        return self._chosen.mechanism

    @property
    def channel(self) -> Channel:
        """The mechanism bound to the lexicon."""
        return self._channel

    @property
    def policy(self) -> Policy:
        """How words outside the lexicon, punctuation and repeated words are treated."""
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
    def keeping(self) -> KeptShare:
        """The share of words that is expected to stay unchanged; computed at first use."""
        return kept_share(self.mechanism, self._channel)

    @cached_property
    def guessed(self) -> BestGuess:
        """The share of words that an observer without context guesses right.

        About, or at least where the law has no cheap form; computed at first use, which takes up to
        two seconds on `english`.
        """
        keeping = self.keeping
        return keeping.guessed or best_guess_of(self._channel, keeping.share)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know before the work; nothing is printed or raised.

        That nothing is guaranteed, that a seed undoes the noise, that a table is missing which
        would keep more of the text, or that ε protects little: see `keeping`, which takes up to a
        second on `english`.
        """
        warnings = []
        if self._guarantee.kind is Kind.NONE:
            warnings.append(f"NOTHING IS GUARANTEED: {self._guarantee.reason}")
        if self.randomness != SECURE:
            warnings.append(
                "made with a seed: NOT PRIVATE. Whoever knows the seed can undo it; the guarantee "
                "holds only for a run without one"
            )
        return (*warnings, *filter(None, [self._channel.hint, self.keeping.warning]))

    def drawing_from(self, rng: Generator) -> "Privatizer":
        """Return the same privatizer with another generator; prepared tables are shared."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._rng = checked_rng(rng)
        return other

    def mapped(self, word: str) -> str:
        """Return the lexicon's word that a word counts as: itself if the lexicon has it.

        A number, a date or a time counts as the nearest one of its grid, if it is drawn as such.

        >>> Privatizer(epsilon=1.5).mapped("clopidogrel")
        'warfarin'
        """
        if self._policy.kinds == "typed" and isinstance(word, str):
            read = self._parser.bound.read_value
            if (value := read(word)) is not None:
                if isinstance(value.form, ValueForm):
                    return value.form.write(value.secret)
                raise ParameterError(
                    "Identifiers and addresses count as no word: they are drawn anew."
                )
            if any(map(read, self._parser.bound.cut(word))):
                raise ParameterError(
                    "`mapped` takes one word or one value: this is a value and something beside "
                    "it, which are drawn on their own."
                )
        if not isinstance(word, str) or kind_of(word) in _NO_WORDS:
            raise ParameterError("`mapped` takes one word, without spaces or punctuation.")
        return self.lexicon.words[self._parser.words.map(word)]

    def __call__(self, text: str) -> Release:
        """Return the release of one text. A missing text is refused: there is nothing to release.

        `many` and `texts` leave missing texts as they are.
        """
        require_text(text)
        return self._releases([text])[0]

    def spans(self, text: str, spans: Iterable[Span]) -> Release:
        """Return the release of a text of which only some spans are private, (start, end) each.

        All else is shown as it is. Spans may come in any order and may touch, but not overlap. If
        a detector found them, they depend on the secret: see docs/public-pieces.md.

        >>> Privatizer(epsilon=20.0).spans("Seen by Ann today.", [(8, 11)]).text
        'Seen by Ann today.'
        """
        require_text(text)
        promise = text_guarantee(self._promise, self._policy, spans=True)
        templates, secrets = self._parser.parse_spans(text, spans)
        return self._released(templates, secrets, partial(of_length, promise))[0]

    @overload
    def many(self, texts: Iterable[str]) -> list[Release]: ...
    @overload
    def many(self, texts: Iterable[MaybeText]) -> list[Release | MaybeText]: ...
    def many(self, texts: Iterable[Any]) -> list[Any]:
        """Return the releases of several texts, in order; all their words are drawn together.

        Missing texts (None, NaN, pandas' NA and NaT) stay as they are, at their places.
        """
        return map_non_null(texts, "many", self._releases)

    @overload
    def texts(self, texts: Iterable[str]) -> list[str]: ...
    @overload
    def texts(self, texts: Iterable[MaybeText]) -> list[str | MaybeText]: ...
    def texts(self, texts: Iterable[Any]) -> list[Any]:
        """Return several private texts, in order: `many` without guarantees and counts.

        Missing texts (None, NaN, pandas' NA and NaT) stay as they are, at their places.
        """

        def private(there: list[str]) -> list[str]:
            templates, secrets = self._parser.parse(there)
            return self._texts(templates, self._slots.draw(templates, secrets, self._rng))

        return map_non_null(texts, "texts", private)

    def batch(self, texts: Iterable[str]) -> tuple[list[str], dict[str, int]]:
        """Return several private texts, and how all their tokens were treated, for a report.

        No text may be missing. The counts of several batches add up.
        """
        texts = list(several_texts(texts, "batch"))
        for text in texts:
            require_text(text)
        templates, secrets = self._parser.parse(texts)
        words = np.where(templates.typed, -1, secrets.ids)
        repeats = count_repeats(words, templates.slot_counts, self._common)
        drawn = self._slots.draw(templates, secrets, self._rng)
        return self._texts(templates, drawn), secrets.tallies.total() | repeats

    def smoothed(self, texts: Iterable[str]) -> list[str]:
        """Return private texts, as they were drawn, in a readable form; nothing is drawn.

        That is what a reader does with texts that this privatizer, or one like it, released as
        drawn. It needs `readable`. What is no word of the lexicon is left as it is.

        >>> Privatizer(epsilon=1.5, readable=True).smoothed(["Hers urine shocks becomes higher."])
        ['Her blood pressure is higher.']
        """
        return self.smooth_batch(texts)[0]

    def smooth_batch(self, texts: Iterable[str]) -> tuple[list[str], dict[str, int]]:
        """Return `smoothed` texts, and how many words were looked at, changed and left alone."""
        if self.smoother is None:
            raise ParameterError("`smoothed` needs a privatizer that was made with `readable`.")
        texts = list(several_texts(texts, "smoothed"))
        for text in texts:
            require_text(text)
        templates, released = self._parser.parse_released(texts)
        words = self._smoothed(templates, released.ids)
        changed = int((words != released.ids).sum())
        left = released.tallies.total()["kept"]
        return templates.fill(words), {"words": len(words), "changed": changed, "left": left}

    def word_draws(self, texts: Iterable[str]) -> WordDraws:
        """Draw for the words of several texts; return the secret words beside the drawn ones.

        This is for the owner's own measurements, such as `malaprop.measure.attack`. What it
        returns holds the secret: do not publish it. Missing texts, and values that are not words,
        are left out.
        """
        there = [text for text in map_non_null(texts, "word_draws", list) if not is_missing(text)]
        templates, secrets = self._parser.parse(there)
        words, texts_of = ~templates.typed, np.repeat(np.arange(len(there)), templates.slot_counts)
        return WordDraws(
            secret=secrets.ids[words],
            drawn=self._slots.draw(templates, secrets, self._rng).words[words],
            lengths=np.bincount(texts_of[words], minlength=len(there)),
        )

    def share_draws(self) -> Callable[[float], None]:
        """Have forks of this process draw ahead for each other; see `malaprop.privacy.stock`.

        Returns a callback; call it with about how many batches there will be in all.
        """
        return self._slots.share(self._rng)

    def _releases(self, texts: list[str]) -> list[Release]:
        return self._released(*self._parser.parse(texts), self._guarantee_for)

    def _released(
        self, templates: Templates, secrets: Secrets, guarantee_for: Callable[[int], Guarantee]
    ) -> list[Release]:
        drawn = self._slots.draw(templates, secrets, self._rng)
        texts = self._texts(templates, drawn)
        raw = templates.fill(drawn.words, drawn.values) if self.smoother else texts
        return [
            Release(
                text=text,
                drawn=as_drawn,
                guarantee=guarantee_for(draws),
                counts=counts,
                randomness=self.randomness,
                **{name: fact.copy() for name, fact in self._facts.items()},
            )
            for text, as_drawn, draws, counts in zip(
                texts, raw, drawn.draws, secrets.tallies.each(), strict=True
            )
        ]

    def _texts(self, templates: Templates, drawn: DrawnSlots) -> list[str]:
        """Write drawn words and values into templates; smooth the words if they are to be readable.

        From here on, nothing is secret.
        """
        words = drawn.words if self.smoother is None else self._smoothed(templates, drawn.words)
        return templates.fill(words, drawn.values)

    def _smoothed(self, templates: Templates, words: Ids) -> Ids:
        """Return the smoothed words of all slots, given those that were drawn."""
        smoother, places = cast(Smoother, self.smoother), np.flatnonzero(~templates.typed)
        texts = None
        if self._policy.repeat == "document":
            counts = templates.slot_counts
            texts = np.repeat(np.arange(len(counts)), counts)[places]
        words = words.copy()
        words[places] = smoother.smooth(words[places], templates.before()[places], texts)
        return words


def _revived(chosen: Chosen, options: tuple[tuple[str, Any], ...], rng: Generator) -> Privatizer:
    self = Privatizer.__new__(Privatizer)
    self._prepare(chosen, Policy(**dict(options)), rng)
    return self
