"""Text in, private text out."""

from collections import Counter
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import Any, Unpack, cast, overload

import numpy as np
from numpy.random import Generator

from malaprop.batched_columns import BatchedColumns
from malaprop.draws import DrawnSlots, SlotDraws
from malaprop.lexicon.lexicon import Lexicon
from malaprop.owner import SideBySide, WordDraws, common_words, count_repeats, most_draws
from malaprop.privacy.arrays import Ids
from malaprop.privacy.best_guess import BestGuess, KeptShare, best_guess_of, kept_share
from malaprop.privacy.channel import Channel
from malaprop.privacy.errors import ParameterError, require_text, several_texts
from malaprop.privacy.guarantee import Guarantee, Kind
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.randomness import SECURE, checked_rng, label, secure_rng
from malaprop.recipe import Chosen, LexiconChoice, MechanismChoice, choose, interned
from malaprop.release import (
    WORDLESS,
    ListRelease,
    Release,
    of_length,
    smoothed_by,
    text_guarantee,
    with_entities,
    with_values,
)
from malaprop.smoother import Smoother, smoother_for
from malaprop.text.kinds import ValueForm
from malaprop.text.markup import MarkedText, Markup
from malaprop.text.missing import MaybeText, is_missing, map_beside, map_non_null
from malaprop.text.parser import Secrets, Templates, TextParser
from malaprop.text.policy import Policy, TextOptions, policy_with
from malaprop.text.tokens import TokenKind, kind_of
from malaprop.text.treatment import BoundPolicy

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
    and `dates` say how long a step is and how 03/04/2023 is read. See docs/reference/kinds.md.

    `repeat` is `fresh` or `document`: whether equal words of a text share one draw. `redraw`
    replaces names and places by others from public lists, and a `detector` finds what else does:
    see docs/howto/people.md. `keep` and `markup` declare words, placeholders and tags public: see
    docs/howto/public-pieces.md. `readable` smooths what was drawn by public bigrams, those in the
    folder `model` or those of `english`; `"fluent"` does more of it: see docs/howto/smoothing.md.

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
        self._parsers = {self._policy.markup: self._parser}
        self._slots = SlotDraws(self._channel, self._policy)
        setting, folder = self._policy.smoothing, cast(str | None, self._policy.model)
        self.smoother = smoother_for(self._channel, lexicon, setting, folder) if setting else None
        self._promise = with_values(self._channel.guarantee, self._policy)
        detector = self._policy.detector is not None
        if detector:
            self._promise = with_entities(self._promise, self._policy)
        if self.smoother is not None and setting:
            self._promise = smoothed_by(self._promise, self.smoother.model.fingerprint, setting)
        self._guarantee = text_guarantee(self._promise, self._policy, entities=detector)
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
    def treatment(self) -> BoundPolicy:
        """What happens to each token under the policy."""
        return self._parser.bound

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

    def __call__(self, text: str, *, entities: Iterable[object] | None = None) -> Release:
        """Return the release of one text. A missing text is refused: there is nothing to release.

        `entities` are what a detector found: `(start, end, label)`, dictionaries with these,
        Presidio's results, or spaCy's `Doc.ents`. Each becomes a stand-in of its class, all else
        goes through the mechanism, and where they are shows: see docs/howto/people.md. `many` and
        `texts` leave missing texts as they are.

        >>> private = Privatizer(epsilon=20.0)
        >>> private("Seen by Xq Ng.", entities=[(8, 13, "CODE")]).text
        'Seen by [ENTITY].'
        """
        require_text(text)
        return self._releases([text], None if entities is None else [entities])[0]

    def spans(self, text: str, spans: Iterable[object]) -> Release:
        """Return the release of a text of which only some spans are private, (start, end) each.

        All else is shown as it is. Spans may come in any order, may touch and overlap, and be
        given like entities; no `detector` is asked. If one found them, they depend on the secret:
        see docs/howto/public-pieces.md.

        >>> Privatizer(epsilon=20.0).spans("Seen by Ann today.", [(8, 11)]).text
        'Seen by Ann today.'
        """
        require_text(text)
        promise = text_guarantee(self._promise, self._policy, spans=True)
        templates, secrets = self._parser.parse_spans(text, spans)
        return self._released(templates, secrets, partial(of_length, promise))[0]

    @overload
    def many(
        self, texts: Iterable[str], *, entities: Iterable[object] | None = None
    ) -> list[Release]: ...
    @overload
    def many(
        self, texts: Iterable[MaybeText], *, entities: Iterable[object] | None = None
    ) -> list[Release | MaybeText]: ...
    def many(self, texts: Iterable[Any], *, entities: Iterable[object] | None = None) -> list[Any]:
        """Return the releases of several texts, in order; all their words are drawn together.

        Missing texts (None, NaN, pandas' NA and NaT) stay as they are, at their places. `entities`
        has a list for each text, or None.
        """
        return map_beside(texts, entities, "many", self._releases)

    def together(
        self, texts: Iterable[str | MaybeText], *, entities: Iterable[object] | None = None
    ) -> ListRelease:
        """Return the release of several texts with one guarantee, four times as fast as `many`.

        >>> private = Privatizer(epsilon=1.5).together(["Cold.", None, "Cold and wet."])
        >>> len(private.texts), private.guarantee.words
        (3, 3)
        """
        return self._together(texts, entities, "together")

    def _together(
        self, texts: Iterable[Any], entities: Iterable[object] | None, name: str
    ) -> ListRelease:
        promise = self._promise_for(entities is not None)
        words, wordless = 1, 0

        def private(there: list[str], found: list[object] | None) -> list[str]:
            nonlocal words, wordless
            templates, secrets = self._parser.parse(there, found)
            drawn = self._slots.draw(templates, secrets, self._rng)
            words = max(drawn.draws, default=1)
            wordless = secrets.tallies.total().get("wordless", 0)
            return self._texts(templates, drawn)

        done = map_beside(texts, entities, name, private)
        warnings = (WORDLESS,) if wordless else ()
        return ListRelease(texts=done, guarantee=promise(words), warnings=warnings)

    @overload
    def texts(
        self, texts: Iterable[str], *, entities: Iterable[object] | None = None
    ) -> list[str]: ...
    @overload
    def texts(
        self, texts: Iterable[MaybeText], *, entities: Iterable[object] | None = None
    ) -> list[str | MaybeText]: ...
    def texts(self, texts: Iterable[Any], *, entities: Iterable[object] | None = None) -> list[Any]:
        """Return several private texts, in order: `many` without guarantees and counts.

        Missing texts (None, NaN, pandas' NA and NaT) stay as they are, at their places. `entities`
        has a list for each text, or None.
        """

        return self._together(texts, entities, "texts").texts

    def batch(self, texts: Iterable[str]) -> tuple[list[str], dict[str, int]]:
        """Return several private texts, and how all their tokens were treated, for a report.

        No text may be missing. The counts of several batches add up. A text that says in which
        markup it is (`HtmlText`, `MarkdownText`) is read as that, whatever the policy says.
        """
        texts = _checked(texts, "batch")
        places = self._by_markup(texts)
        private, counts = texts.copy(), Counter[str]()
        for markup in sorted(places, key=str):  # the same draws for the same seed
            alike = places[markup]
            drawn, of_these = self._batch([str(texts[n]) for n in alike], self._parser_of(markup))
            counts.update(of_these)
            for place, text in zip(alike, drawn, strict=True):
                private[place] = text
        return private, dict(counts)

    def _by_markup(self, texts: Iterable[str]) -> dict[Markup | None, list[int]]:
        """Return the places of the texts in each markup."""
        places: dict[Markup | None, list[int]] = {}
        for place, text in enumerate(texts):
            markup = text.markup if isinstance(text, MarkedText) else self._policy.markup
            places.setdefault(markup, []).append(place)
        return places

    def _batch(self, texts: list[str], parser: TextParser) -> tuple[list[str], dict[str, int]]:
        templates, secrets = parser.parse(texts)
        words = np.where(templates.typed, -1, secrets.ids)
        repeats = count_repeats(words, templates.slot_counts, self._common)
        drawn = self._slots.draw(templates, secrets, self._rng)
        return self._texts(templates, drawn), secrets.tallies.total() | repeats

    def batched(self, *columns: str) -> BatchedColumns:
        """Return a function from columns to private columns, to map over batches of a data set.

        With Hugging Face's datasets: `dataset.map(privatizer.batched("text"), batched=True)`. Its
        hash is stable: a result that datasets finds in its cache draws nothing, and is the same
        release.

        >>> private = Privatizer(epsilon=1.5).batched("text")
        >>> [len(text.split()) for text in private({"text": ["a cold"], "id": [7]})["text"]]
        [2]
        """
        return BatchedColumns(self, columns)

    def _parser_of(self, markup: Markup | None) -> TextParser:
        """Return what parses texts in a language of markup."""
        if markup not in self._parsers:
            policy = replace(self._policy, markup=markup)
            self._parsers[markup] = TextParser(self.lexicon.words, policy)
        return self._parsers[markup]

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
        texts = _checked(texts, "smoothed")
        templates, released = self._parser.parse_released(texts)
        words = self._smoothed(templates, released.ids, self.smoother)
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

    def side_by_side(self, text: str, *, also: Smoother | None = None) -> SideBySide:
        """Draw for a text, and return it part by part beside the text itself, for its owner.

        What it returns holds the secret: do not publish it. `also` is another smoother, for this
        channel, to which the same draw is shown.

        >>> done = Privatizer(epsilon=20.0).side_by_side("Cold on 3 May 2021.")
        >>> done.original, done.tags
        (['', 'Cold', ' ', 'on', ' ', '3 May 2021', '.'], ['in_lexicon', 'in_lexicon', 'dates'])
        >>> len(done.private) == len(done.original)
        True
        """
        require_text(text)
        templates, secrets, original, tags = self._parser.parse_beside(text)
        drawn = self._slots.draw(templates, secrets, self._rng)
        words = self._smoothed(templates, drawn.words, self.smoother)
        others = self._smoothed(templates, drawn.words, also)
        ((as_drawn,), (private,), (otherwise,)) = (
            templates.parts(version, drawn.values) for version in (drawn.words, words, others)
        )
        return SideBySide(
            original=original,
            private=private,
            as_drawn=as_drawn,
            tags=tags,
            secret=np.where(templates.typed, -1, secrets.ids),
            drawn=np.where(templates.typed, -1, drawn.words),
            shown=np.where(templates.typed, -1, words),
            also=otherwise,
            shown_also=np.where(templates.typed, -1, others),
            guarantee=self._guarantee_for(drawn.draws[0]),
        )

    def most_draws(
        self,
        texts: Iterable[str],
        *,
        entities: Iterable[object] | None = None,
        spans: Iterable[Iterable[object] | None] | None = None,
    ) -> list[dict[str, int]]:
        """Return how often one value of each text will be drawn at most, by kind; draws nothing.

        That is how many times ε the text loses about one value: the price of its release. It
        depends on the text, and is for its owner. `entities` are those of each text, as for `many`;
        `spans` those that will be private, as for `spans`, or None for the whole text.

        >>> Privatizer(epsilon=1.5).most_draws(["Rain, rain, go away!", "Room 12", "?"])
        [{'word': 2}, {'word': 1, 'number': 1}, {}]
        """
        texts = _checked(texts, "most_draws")
        if spans is not None:
            return [
                self.most_draws([text])[0]
                if own is None
                else most_draws(*self._parser.parse_spans(text, own), self._policy)[0]
                for text, own in zip(texts, spans, strict=True)
            ]
        if entities is not None:
            return most_draws(*self._parser.parse(texts, list(entities)), self._policy)
        draws: list[dict[str, int]] = [{} for _ in texts]
        for markup, places in self._by_markup(texts).items():
            parsed = self._parser_of(markup).parse([str(texts[place]) for place in places])
            for place, counts in zip(places, most_draws(*parsed, self._policy), strict=True):
                draws[place] = counts
        return draws

    def share_draws(self) -> Callable[[float], None]:
        """Have forks of this process draw ahead for each other; see `malaprop.privacy.stock`.

        They also share what smoothing knows of outputs. Returns a callback; call it with about how
        many batches there will be in all.
        """
        if self.smoother is not None:
            self.smoother.share()
        return self._slots.share(self._rng)

    def _releases(self, texts: list[str], entities: list[object] | None = None) -> list[Release]:
        promise = self._promise_for(entities is not None)
        return self._released(*self._parser.parse(texts, entities), promise)

    def _promise_for(self, entities: bool) -> Callable[[int], Guarantee]:
        """Return what tells the guarantee of texts by their numbers of words."""
        if entities and self._policy.detector is None:
            return partial(of_length, self._guarantee_with_entities)
        return self._guarantee_for

    @cached_property
    def _guarantee_with_entities(self) -> Guarantee:
        return text_guarantee(
            with_entities(self._promise, self._policy), self._policy, entities=True
        )

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
        return templates.fill(self._smoothed(templates, drawn.words, self.smoother), drawn.values)

    def _smoothed(self, templates: Templates, words: Ids, smoother: Smoother | None) -> Ids:
        """Return the smoothed words of all slots, given those that were drawn."""
        if smoother is None:
            return words
        places = np.flatnonzero(~templates.typed)
        texts = None
        if self._policy.repeat == "document":
            counts = templates.slot_counts
            texts = np.repeat(np.arange(len(counts)), counts)[places]
        words = words.copy()
        words[places] = smoother.smooth(words[places], templates.before()[places], texts)
        return words


def _checked(texts: Iterable[str], name: str) -> list[str]:
    """Return texts of which none is missing; `name` is that of the method called."""
    checked = list(several_texts(texts, name))
    for text in checked:
        require_text(text)
    return checked


def _revived(chosen: Chosen, options: tuple[tuple[str, Any], ...], rng: Generator) -> Privatizer:
    self = Privatizer.__new__(Privatizer)
    self._prepare(chosen, Policy(**dict(options)), rng)
    return self
