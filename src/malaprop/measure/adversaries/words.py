"""Attacks on words: what an observer sees and knows, and the share of words recovered."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from malaprop.lexicon.bigrams import BigramModel
from malaprop.measure.adversaries import (
    Attack,
    Flags,
    RecoveredWords,
    Target,
    by_occurrence,
    group,
    recovered_share,
    share,
)
from malaprop.measure.adversaries.likelihoods import Likelihoods, likelihoods_of
from malaprop.measure.adversaries.public_model import check_corpus, model_for, prior_of
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import DataError, ParameterError
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.progress import Progress, stage
from malaprop.privatizer import Privatizer, WordDraws
from malaprop.text.language import FUNCTION_WORDS

# Adaptive attacks on words: how frequent words are, learnt from the private text itself.


_CANDIDATES = 64  # words behind an output that share in it
_ROUNDS = 5  # of expectation and maximisation: on film reviews, more fit the noise
_WEIGHT = 1000.0  # words of private text that the public shares count for


def adapted_prior(
    likelihoods: Likelihoods, outputs: Ids, prior: Floats, model: BigramModel | None
) -> tuple[Floats, BigramModel | None]:
    """Return the shares of words that explain the outputs best, and the model with those shares.

    An observer who sees much private text learns from it how frequent words are in such texts,
    without knowing any of them: expectation and maximisation, from the public shares on, which
    keep the weight of 1,000 words. Pairs of words stay those of the public model.
    """
    distinct, counts = np.unique(outputs, return_counts=True)
    nearest = likelihoods.candidates(distinct, np.log(prior), _CANDIDATES)
    likely = np.exp(nearest.logs - nearest.logs.max(axis=1, keepdims=True))
    adapted = prior
    for _ in range(_ROUNDS):
        joint = adapted[nearest.words] * likely
        joint *= (counts / joint.sum(axis=1))[:, None]
        expected = np.bincount(nearest.words.ravel(), joint.ravel(), len(prior))
        adapted = (expected + _WEIGHT * prior) / (len(outputs) + _WEIGHT)
    if model is None:
        return adapted, None
    # A model's shares are those of its counts: give it counts in these shares.
    scale = max(1.0, 1e9 / len(prior))
    return adapted, replace(model, unigrams=np.rint(adapted * scale * len(prior)).astype(np.int64))


CANDIDATES = 32
"""How many words are considered for each output."""
DRAWS = 50_000
"""How many words are drawn to estimate a channel whose law is not known."""
_PART = 1 << 16  # words of texts at a time, about


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """What an observer sees and knows: private words, the channel, public models.

    The secret words are not in it.
    """

    outputs: Ids = field(repr=False)
    """The private words, text by text."""
    lengths: Ids = field(repr=False)
    """How many words each text has."""
    same: Ids = field(repr=False)
    """A label of each place: places of one text that hold the same secret word share one.

    An observer may know which places those are, in a form with fixed fields for example. Only
    attacks that say so use it.
    """
    reused: bool
    """Whether a text has one draw for each distinct word, not a fresh one for each place."""
    likelihoods: Likelihoods = field(repr=False)
    """How likely each output is for each word."""
    prior: Floats = field(repr=False)
    """How likely each word is, without context."""
    model: BigramModel | None = None
    """Which words follow which, in public text."""

    @property
    def texts(self) -> Ids:
        """The number of the text that each word is in."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def parts(self) -> "list[Seen]":
        """Return the texts some at a time, so that memory does not grow with their number."""
        ends = np.cumsum(self.lengths)
        cuts = np.flatnonzero(np.diff(ends // _PART, prepend=0))
        parts = []
        for first, last in pairwise([0, *cuts.tolist(), len(ends)]):
            if last > first:
                start = int(ends[first] - self.lengths[first])
                words = slice(start, int(ends[last - 1]))
                parts.append(
                    replace(
                        self,
                        outputs=self.outputs[words],
                        lengths=self.lengths[first:last],
                        same=self.same[words],
                    )
                )
        return parts


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """Draws of the same texts, and what is public about them: several attacks can share it."""

    privatizer: Privatizer
    draws: Sequence[WordDraws] = field(repr=False)
    """The same words each time, each time with fresh noise."""
    model: BigramModel | None
    prior: Floats = field(repr=False)
    likelihoods: Likelihoods = field(repr=False)
    same: Ids = field(repr=False)
    """As in `Seen`."""


@dataclass(frozen=True, kw_only=True)
class WordAttack(Attack):
    """An attempt to recover words from private text."""

    model: Any = field(
        default=None,
        metadata={
            "help": "a bigram model of public text, or its folder; by default the one that ships "
            "for english"
        },
    )
    draws: int = field(
        default=DRAWS,
        metadata={"help": "how many words to draw to estimate a channel without a known law"},
    )
    adaptive: bool = field(
        default=False,
        metadata={"help": "learn how frequent words are from the private text, too"},
    )
    repeats: int = field(
        default=1, metadata={"help": "how many draws of the noise, each attacked by itself"}
    )

    needs_model: ClassVar[bool] = False
    """Whether the attack cannot do without a model."""
    knows: ClassVar[str] = ""
    """What the observer knows besides public text, as a clause; empty for nothing."""
    needs_reuse: ClassVar[bool] = False
    """Whether the attack is on one draw for each distinct word of a text."""
    observer: ClassVar[str] = ""
    """Who attacks, as the subject of a sentence; by default, the attack by its name."""

    @abstractmethod
    def guesses(self, seen: Seen, progress: Progress | None = None) -> Ids:
        """Return the observer's guess for each private word."""

    def run(self, target: Target) -> RecoveredWords:
        """Privatize the texts, and return the share of words that were recovered."""
        privatizer = target.privatizer
        draws = [privatizer.word_draws(target.texts) for _ in range(self.repeats)]
        return self.recover(self.drawn(privatizer, draws, target.rng), target.rng, target.progress)

    def drawn(self, privatizer: Privatizer, draws: Sequence[WordDraws], rng: Generator) -> Drawn:
        """Return draws of some texts with what is public about them."""
        model = model_for(self.model, privatizer.lexicon, needed=self.needs_model)
        first = draws[0]
        if not first.secret.size:
            raise DataError("The texts have no words to attack.")
        check_corpus(model, first.secret, first.lengths)
        prior = prior_of(model, len(privatizer.lexicon))
        return Drawn(
            privatizer=privatizer,
            draws=draws,
            model=model,
            prior=prior,
            likelihoods=likelihoods_of(privatizer.channel, prior, self.draws, rng),
            same=_same(first, len(privatizer.lexicon)),
        )

    def recover(
        self, drawn: Drawn, rng: Generator, progress: Progress | None = None
    ) -> RecoveredWords:
        """Attack each draw by itself, and return the share of words that were recovered."""
        guesses, floors = [], []
        secret = drawn.draws[0].secret
        for number, draws in enumerate(drawn.draws):
            seen = self._seen(drawn, draws)
            guesses.append(self.guesses(seen, stage(progress, number, len(drawn.draws))))
            floors.append(share(secret == int(seen.prior.argmax())))
        hits = np.stack(guesses) == secret
        kept = np.stack([draws.drawn for draws in drawn.draws]) == secret
        return self._result(drawn, hits, kept, float(np.mean(floors)), rng)

    def check(self, mechanism: Mechanism, repeat: str) -> None:
        """Refuse fresh draws if the attack is on words that share one."""
        if self.needs_reuse and repeat == "fresh":
            raise ParameterError(
                f"The attack {self.name} is on texts in which each distinct word has one draw: "
                'make the privatizer with `repeat="document"`.'
            )

    def _seen(self, drawn: Drawn, draws: WordDraws) -> Seen:
        """Return what the observer of one draw gets: everything but the secret words."""
        prior, model = drawn.prior, drawn.model
        if self.adaptive:
            prior, model = adapted_prior(drawn.likelihoods, draws.drawn, prior, model)
        return Seen(
            outputs=draws.drawn,
            lengths=draws.lengths,
            same=drawn.same,
            reused=drawn.privatizer.policy.repeat != "fresh",
            likelihoods=drawn.likelihoods,
            prior=prior,
            model=model,
        )

    def _result(
        self, drawn: Drawn, hits: Flags, kept: Flags, floor: float, rng: Generator
    ) -> RecoveredWords:
        privatizer, first = drawn.privatizer, drawn.draws[0]
        words = privatizer.lexicon.words
        functional = np.array([word.lower() in FUNCTION_WORDS for word in words])
        values = self.values()
        values["model"] = "" if drawn.model is None else drawn.model.fingerprint
        return RecoveredWords(
            attack=self.name,
            estimate=recovered_share(hits, first.lengths, rng),
            baseline=max(share(kept), floor),
            kept=share(kept),
            floor=floor,
            content=group("content words", ~functional[first.secret], hits, kept),
            occurrences=by_occurrence(drawn.same, hits, kept),
            words=len(first.secret),
            texts=int((first.lengths > 0).sum()),
            likelihoods=drawn.likelihoods.source,
            prior=_prior(drawn.model, self.knows, adaptive=self.adaptive),
            model=values["model"],
            repeat=privatizer.policy.repeat,
            mechanism=privatizer.mechanism.to_dict(),
            options=values,
        )


def _same(draws: WordDraws, size: int) -> Ids:
    """Label each place by its text and its word; the labels do not say which word it is."""
    texts = np.repeat(np.arange(len(draws.lengths)), draws.lengths)
    keys, first, places = np.unique(
        texts * size + draws.secret, return_index=True, return_inverse=True
    )
    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[np.argsort(first)] = np.arange(len(keys))  # in the order of the text
    return ranks[places]


def _prior(model: BigramModel | None, knows: str, *, adaptive: bool) -> str:
    if model is None:
        told = "even: all words are equally likely"
    else:
        named = ", ".join(model.sources) or "a corpus without a name"
        told = f"a bigram model of {named}, fingerprint {model.fingerprint[:16]}"
    adapted = "the shares of words adapted to the private text" if adaptive else ""
    return "; ".join(filter(None, (told, adapted, knows)))


# The text alone: each output by itself.


@dataclass(frozen=True, kw_only=True)
class Bayes(WordAttack, name="bayes"):
    """Guess each word from its output alone, and from how frequent words are.

    The guess is the word of largest π(w)·Pr[y | w], where π are the shares of words in public text
    (equal shares without a model). No observer who looks at one output at a time, and believes in
    π, is right more often.
    """

    observer = "an observer of single words"

    def guesses(self, seen: Seen, progress: Progress | None = None) -> Ids:
        """Return the likeliest word behind each output."""
        best = seen.likelihoods.candidates(seen.outputs, np.log(seen.prior), 1, progress)
        return np.asarray(best.words[best.rows(seen.outputs), 0])
