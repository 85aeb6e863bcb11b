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
    RecoveredWords,
    Target,
    by_occurrence,
    group,
    recovered_share,
    share,
)
from malaprop.measure.adversaries.public_model import check_corpus, model_for, open_model, prior_of
from malaprop.owner import WordDraws
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import DataError, ParameterError
from malaprop.privacy.likelihoods import Candidates, Likelihoods, likelihoods_of
from malaprop.privacy.mechanism import Mechanism, option
from malaprop.privacy.progress import Progress, report, stage
from malaprop.privatizer import Privatizer
from malaprop.text import english

CANDIDATES = 32
"""How many words are considered for each output."""
_PART = 1 << 16  # words of texts at a time, about
_ADAPTED = 64  # words behind an output that share in it, for observers who adapt
_ROUNDS = 5  # of expectation and maximisation: on film reviews, more fit the noise
_WEIGHT = 1000.0  # words of private text that the public shares count for


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
    words: Sequence[str] = field(default=(), repr=False)
    """The words of the lexicon."""

    @property
    def texts(self) -> Ids:
        """The number of the text that each word is in."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def adapted(self) -> "Seen":
        """Return what an observer knows who learns from the outputs how frequent words are.

        The shares of words are those that explain the outputs best: expectation and maximisation,
        from the public shares on, which keep the weight of 1,000 words. Pairs of words stay those
        of the public model.
        """
        distinct, counts = np.unique(self.outputs, return_counts=True)
        nearest = self.likelihoods.candidates(distinct, np.log(self.prior), _ADAPTED)
        likely = np.exp(nearest.logs - nearest.logs.max(axis=1, keepdims=True))
        prior, size = self.prior, len(self.prior)
        for _ in range(_ROUNDS):
            joint = prior[nearest.words] * likely
            joint *= (counts / joint.sum(axis=1))[:, None]
            expected = np.bincount(nearest.words.ravel(), joint.ravel(), size)
            prior = (expected + _WEIGHT * self.prior) / (len(self.outputs) + _WEIGHT)
        if self.model is None:
            return replace(self, prior=prior)
        # A model's shares are those of its counts: give it counts in these shares.
        counts = np.rint(prior * max(1.0, 1e9 / size) * size).astype(np.int64)
        return replace(self, prior=prior, model=replace(self.model, unigrams=counts))


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """Draws of the same words, and what is seen of each: several attacks can share it."""

    privatizer: Privatizer
    secret: Ids = field(repr=False)
    seen: Sequence[Seen] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class WordAttack(Attack):
    """An attempt to recover words from private text."""

    model: Any = option(
        None,
        "a bigram model of public text, or its folder; by default the one that ships for english",
    )
    draws: int = option(50_000, "how many words to draw to estimate a channel without a known law")
    adaptive: bool = option(False, "learn how frequent words are from the private text, too")
    repeats: int = option(1, "how many draws of the noise, each attacked by itself")

    alone: ClassVar[bool] = False
    """Whether it has a model of its own, so that no evaluation runs it beside others."""
    needs_model: ClassVar[bool] = False
    """Whether the attack cannot do without a model."""
    knows: ClassVar[str] = ""
    """What the observer knows besides public text, as a clause; empty for nothing."""
    needs_reuse: ClassVar[bool] = False
    """Whether the attack is on one draw for each distinct word of a text."""
    observer: ClassVar[str] = ""
    """Who attacks, as the subject of a sentence; by default, the attack by its name."""

    @property
    def bigrams(self) -> Any:
        """The bigram model, or its folder; None for the one that ships."""
        return self.model

    @classmethod
    def opened(cls, model: str) -> Any:
        """Return the model that a path stands for."""
        return open_model(model)

    @abstractmethod
    def likeliest(self, seen: Seen, candidates: Candidates) -> Ids:
        """Return the observer's guess for each private word, from the words it may come from."""

    def guesses(self, seen: Seen, progress: Progress | None = None) -> Ids:
        """Return the observer's guess for each private word.

        Texts are guessed at some at a time, so that memory does not grow with their number.
        """
        count = getattr(self, "candidates", 1)  # an option of attacks that weigh several words
        candidates = seen.likelihoods.candidates(
            seen.outputs, np.log(seen.prior), count, stage(progress, 0, 2)
        )
        ends = np.cumsum(seen.lengths)
        cuts = np.flatnonzero(np.diff(ends // _PART, prepend=0))
        guesses = []
        for first, last in pairwise([0, *cuts.tolist(), len(ends)]):
            if last > first:
                words = slice(int(ends[first] - seen.lengths[first]), int(ends[last - 1]))
                part = replace(
                    seen,
                    outputs=seen.outputs[words],
                    lengths=seen.lengths[first:last],
                    same=seen.same[words],
                )
                guesses.append(self.likeliest(part, candidates))
                report(stage(progress, 1, 2), words.stop, len(seen.outputs))
        return np.concatenate(guesses)

    def run(self, target: Target) -> RecoveredWords:
        privatizer = target.privatizer
        draws = [privatizer.word_draws(target.texts) for _ in range(self.repeats)]
        return self.recover(self.drawn(privatizer, draws, target.rng), target.rng, target.progress)

    def drawn(self, privatizer: Privatizer, draws: Sequence[WordDraws], rng: Generator) -> Drawn:
        size, first = len(privatizer.lexicon), draws[0]
        model = model_for(self.bigrams, privatizer.lexicon, needed=self.needs_model)
        if not first.secret.size:
            raise DataError("The texts have no words to attack.")
        check_corpus(model, first.secret, first.lengths)
        prior = prior_of(model, size)
        seen = Seen(
            outputs=first.drawn,
            lengths=first.lengths,
            same=_same(first, size),
            reused=privatizer.policy.repeat != "fresh",
            likelihoods=likelihoods_of(privatizer.channel, prior, self.draws, rng),
            prior=prior,
            model=model,
            words=privatizer.lexicon.words,
        )
        every = [replace(seen, outputs=each.drawn) for each in draws]
        return Drawn(privatizer=privatizer, secret=first.secret, seen=every)

    def recover(
        self, drawn: Drawn, rng: Generator, progress: Progress | None = None
    ) -> RecoveredWords:
        """Attack each draw by itself, and return the share of words that were recovered."""
        guesses, floors = [], []
        secret, privatizer, first = drawn.secret, drawn.privatizer, drawn.seen[0]
        for number, each in enumerate(drawn.seen):
            seen = each.adapted() if self.adaptive else each
            guesses.append(self.guesses(seen, stage(progress, number, len(drawn.seen))))
            floors.append(share(secret == int(seen.prior.argmax())))
        hits, floor = np.stack(guesses) == secret, float(np.mean(floors))
        kept = np.stack([seen.outputs for seen in drawn.seen]) == secret
        words = privatizer.lexicon.words
        content = np.array([word.lower() not in english.FUNCTION_WORDS for word in words])
        fingerprint = "" if first.model is None else first.model.fingerprint
        return RecoveredWords(
            attack=self.name,
            estimate=recovered_share(hits, first.lengths, rng),
            baseline=max(share(kept), floor),
            kept=share(kept),
            floor=floor,
            content=group("content words", content[secret], hits, kept),
            occurrences=by_occurrence(first.same, hits, kept),
            words=len(secret),
            texts=int((first.lengths > 0).sum()),
            likelihoods=first.likelihoods.source,
            prior=self._knowledge(first.model),
            model=fingerprint,
            repeat=privatizer.policy.repeat,
            mechanism={**privatizer.mechanism.to_dict(), **privatizer.channel.chosen},
            options=vars(self) | {"model": fingerprint},
        )

    def check(self, mechanism: Mechanism, repeat: str) -> None:
        self.check_reuse(repeat)

    @classmethod
    def check_reuse(cls, repeat: str) -> None:
        """Refuse fresh draws if the attack is on one draw for each distinct word of a text."""
        if cls.needs_reuse and repeat == "fresh":
            raise ParameterError(
                f"The attack {cls.name} is on texts in which each distinct word has one draw: "
                'use `repeat="document"`.'
            )

    def _knowledge(self, model: BigramModel | None) -> str:
        told = "even: all words are equally likely"
        if model is not None:
            named = ", ".join(model.sources) or "a corpus without a name"
            told = f"a bigram model of {named}, fingerprint {model.fingerprint[:16]}"
        adapted = "the shares of words adapted to the private text" if self.adaptive else ""
        return "; ".join(filter(None, (told, adapted, self.knows)))


def _same(draws: WordDraws, size: int) -> Ids:
    """Label each place by its text and its word; the labels do not say which word it is."""
    texts = np.repeat(np.arange(len(draws.lengths)), draws.lengths)
    keys, first, places = np.unique(
        texts * size + draws.secret, return_index=True, return_inverse=True
    )
    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[np.argsort(first)] = np.arange(len(keys))  # in the order of the text
    return ranks[places]


@dataclass(frozen=True, kw_only=True)
class Bayes(WordAttack, name="bayes"):
    """Guess each word from its output alone, and from how frequent words are.

    The guess is the word of largest π(w)·Pr[y | w], where π are the shares of words in public text
    (equal shares without a model). No observer who looks at one output at a time, and believes in
    π, is right more often.
    """

    observer = "an observer of single words"

    def likeliest(self, seen: Seen, candidates: Candidates) -> Ids:
        return np.asarray(candidates.words[candidates.rows(seen.outputs), 0])
