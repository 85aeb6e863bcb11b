"""Text in, private text out."""

from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from malaprop.core.channel import Channel
from malaprop.core.errors import ParameterError
from malaprop.core.guarantee import ANY_TWO_WORDS, Guarantee, Kind
from malaprop.core.mechanism import Mechanism
from malaprop.core.randomness import checked_rng, label, secure_rng
from malaprop.lexicon.graph.words import fitting
from malaprop.lexicon.lexicon import Lexicon
from malaprop.mechanisms.balanced import Balanced
from malaprop.pipeline.release import Release
from malaprop.text import Planner, Policy, fill, split
from malaprop.text.articles import SIGNS
from malaprop.text.policy import IN_LEXICON, LEFT_OUT, TAGS, Unknown
from malaprop.text.surface import Punctuation

_UNPROTECTED = ("masked", "dropped", "kept", "punctuation", "spaces", "removed")
COUNTED = (IN_LEXICON, *TAGS.values(), *_UNPROTECTED)


class _Form(NamedTuple):
    """A text taken apart: its public skeleton, and the secret ids that fill its slots."""

    skeleton: Sequence[str | None]
    marks: str
    ids: list[int]
    tags: Sequence[str]


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
        unknown: Unknown = "map",
        punctuation: Punctuation = "keep",
        placeholder: str = "[masked]",
        rng: Generator | None = None,
    ) -> None:
        lexicon, mechanism = _completed(lexicon, mechanism, epsilon)
        if not isinstance(lexicon, Lexicon):
            raise ParameterError(
                "The 'lexicon' parameter of Privatizer must be a Lexicon, as Lexicon.open(name) "
                f"gives one. Got a {type(lexicon).__name__}."
            )
        if not isinstance(mechanism, Mechanism):
            raise ParameterError(
                "The 'mechanism' parameter of Privatizer must be a mechanism with its parameters, "
                "such as Balanced(epsilon=1.5)."
            )
        self._policy = Policy(unknown=unknown, punctuation=punctuation, placeholder=placeholder)
        self._planner = Planner(lexicon.words, self._policy)
        self._articles = lexicon.index.keys() >= SIGNS
        self._lexicon = lexicon
        self._mechanism = mechanism
        self._channel = mechanism.on(lexicon)
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

    def drawing_from(self, rng: Generator) -> "Privatizer":
        """The same privatizer with another generator; what is prepared is shared."""
        other = copy(self)
        other._rng = checked_rng(rng)
        return other

    def __call__(self, text: str) -> Release:
        """The private text of one text."""
        return self.many([text])[0]

    def many(self, texts: Iterable[str]) -> list[Release]:
        """The private texts of several, in order; all their words are drawn together."""
        forms = self._take_apart(texts)
        private = zip(forms, self._put_together(forms), strict=True)
        return [self._release(form, text) for form, text in private]

    def texts(self, texts: Iterable[str]) -> tuple[list[str], dict[str, int]]:
        """The private texts of several, and how all their pieces were treated: `many` in brief."""
        forms = self._take_apart(texts)
        return self._put_together(forms), _counts(forms)

    def share_draws(self) -> None:
        """Have forks of this process draw ahead for each other; see `malaprop.core.ahead`."""
        self._channel.share_draws(self._rng)

    def _take_apart(self, texts: Iterable[str]) -> list[_Form]:
        if isinstance(texts, str):
            raise ParameterError("`many` takes several texts; call the privatizer for one.")
        return [self._form(text) for text in texts]

    def _form(self, text: str) -> _Form:
        if not isinstance(text, str):
            raise ParameterError(f"A text must be a string. Got a {type(text).__name__}.")
        plans = self._planner.plan_all(split(text))
        if not plans:
            return _Form((), "", [], ())
        _, ids, tags, shown, marks = zip(*plans, strict=True)
        if LEFT_OUT in shown:
            shown = tuple(part for part in shown if part != LEFT_OUT)
        return _Form(shown, "".join(marks), [word for word in ids if word >= 0], tags)

    def _put_together(self, forms: list[_Form]) -> list[str]:
        """Draw the words of all forms together, and fill them in."""
        ids = np.fromiter(chain.from_iterable(form.ids for form in forms), dtype=np.int64)
        drawn = self._channel.substitute(ids, self._rng).tolist()
        words = iter(map(self._lexicon.words.__getitem__, drawn))
        punctuation, articles = self._policy.punctuation, self._articles
        return [
            fill(
                form.skeleton,
                list(islice(words, len(form.ids))),
                punctuation=punctuation,
                articles=articles,
                marks=form.marks,
            )
            for form in forms
        ]

    def _release(self, form: _Form, text: str) -> Release:
        return Release(
            text=text,
            guarantee=_for_texts(self._channel.guarantee, self._policy, len(form.ids)),
            counts=_counts([form]),
            randomness=self.randomness,
            **{name: fact.copy() for name, fact in self._facts.items()},
        )


def _counts(forms: list[_Form]) -> dict[str, int]:
    """How the pieces of texts were treated."""
    tags = Counter(chain.from_iterable(form.tags for form in forms))
    protected = sum(len(form.ids) for form in forms)
    return {"protected": protected, **{name: tags[name] for name in COUNTED}}


def _completed(
    lexicon: Lexicon | None, mechanism: Mechanism | None, epsilon: float | None
) -> tuple[Lexicon, Mechanism]:
    """What is not given: `Balanced` with that ε, and `english`, with its word graph if need be."""
    if (mechanism is None) == (epsilon is None):
        raise ParameterError(
            "A Privatizer needs either a mechanism with its parameters, such as "
            "Balanced(epsilon=1.5), or an 'epsilon' alone, which means the same."
        )
    if mechanism is None:
        mechanism = Balanced(epsilon=epsilon)  # type: ignore[arg-type]
    if lexicon is None:
        lexicon = Lexicon.open("english")
    return fitting(lexicon, mechanism), mechanism


@lru_cache(maxsize=1024)  # most texts of a file have as many words as some other one
def _for_texts(guarantee: Guarantee, policy: Policy, words: int) -> Guarantee:
    """A word's guarantee as one for texts that differ in up to so many words, under a policy."""
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
    differ = "differ in one word and " if words <= 1 else ""
    pairs = (
        f"any two texts that {differ}look alike when private ({', '.join(shown)}), "
        "each word counting as the lexicon word that it is mapped to"
    )
    if guarantee.pairs != ANY_TWO_WORDS:
        pairs += f", where the words that differ are {guarantee.pairs}"
    return replace(guarantee, pairs=pairs).for_words(max(1, words))
