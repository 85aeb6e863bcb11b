"""Attacks on labels: who wrote a text, or something else that it should not give away."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.mechanism import Mechanism
from malaprop.core.progress import report
from malaprop.measure.attacking.base import Attack, Target
from malaprop.measure.attacking.labelled import LabelledTexts, labelled_texts
from malaprop.measure.attacking.learners import Predictor, plain, require_sklearn
from malaprop.measure.attacking.result import InferredLabels
from malaprop.measure.attacking.scoring import Flags, interval_of_repeats
from malaprop.pipeline.privatizer import Privatizer
from malaprop.text import TokenKind, kind_of, tokenize

_SILENT = (TokenKind.SPACE, TokenKind.PUNCTUATION, TokenKind.INVISIBLE)
TESTED = 0.3
"""The share of each label's texts that a split tests on."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Forms:
    """The texts in three forms, each ready to learn from: one draw of the noise."""

    clean: list[str] = field(repr=False)
    private: list[str] = field(repr=False)
    random: list[str] = field(repr=False)
    """The private texts with a random word for each word: what else they give away."""


@dataclass(frozen=True, kw_only=True)
class LabelAttack(Attack):
    """An attempt to infer a label of each private text, from texts whose labels are known."""

    adaptive: bool = field(
        default=False,
        metadata={"help": "the attacker trains on private text, instead of clean text"},
    )
    punctuation: bool = field(
        default=True, metadata={"help": "the attacker uses punctuation, which stays as it is"}
    )
    repeats: int = field(
        default=5,
        metadata={"help": "how many random splits, each with a draw of the noise of its own"},
    )

    on: ClassVar[str] = "labels"
    noun: ClassVar[str] = "label"
    """What a label is called in messages."""
    fewest: ClassVar[int] = 4
    """How many texts a label must have."""

    @abstractmethod
    def learn(self, texts: Sequence[str], labels: Ids, rng: Generator) -> Predictor:
        """Train on texts and their labels; return what predicts labels of other texts."""

    def run(self, target: Target) -> InferredLabels:
        """Infer the labels of private texts, over several splits and draws of the noise."""
        data, rng = self.checked(target.texts, target.labels), target.rng
        tested: list[Ids] = []
        hits: list[Flags] = []
        bounds = []
        for forms in self.draws(data.texts, target):
            train, test = split(data.labels, rng)
            private, *others = self._correct(forms, data.labels, train, test, rng)
            tested.append(test)
            hits.append(private)
            bounds.append([each.mean() for each in others])
        clean, random = np.mean(bounds, axis=0).tolist()
        every = np.concatenate(tested)
        return InferredLabels(
            attack=self.name,
            measured="accuracy",
            score=float(np.concatenate(hits).mean()),
            values=tuple(float(each.mean()) for each in hits),
            interval=interval_of_repeats(tested, hits, rng),
            spread=self.about_interval,
            baseline=float((data.labels[every] == data.majority).mean()),
            unprotected=clean,
            random_words=random,
            **self.facts(data, target.privatizer),
        )

    def check(self, mechanism: Mechanism, repeat: str) -> None:
        """Refuse to go on without the package that learns labels."""
        require_sklearn()

    def checked(self, texts: Sequence[Any], labels: Sequence[object] | None) -> LabelledTexts:
        """Return the texts with their labels; refuse what cannot be attacked."""
        data = labelled_texts(self.name, texts, labels, fewest=self.fewest, noun=self.noun)
        require_sklearn()
        return data

    @property
    def about_interval(self) -> str:
        """What the interval is over."""
        one = self.repeats == 1
        splits = "one split with" if one else f"{self.repeats} splits, each with"
        return f"bootstrap over texts and {splits} its own noise"

    def facts(self, data: LabelledTexts, privatizer: Privatizer) -> dict[str, Any]:
        """Return what a result says of the data and of the attack."""
        return {
            "trained_on": "private text" if self.adaptive else "clean text",
            "texts": len(data.texts),
            "labels": data.classes,
            "left_out": data.left_out,
            "mechanism": privatizer.mechanism.to_dict(),
            "options": self.values(),
        }

    def draws(self, texts: list[str], target: Target) -> Iterator[Forms]:
        """Yield all forms of the texts for each draw of the noise."""
        for done in range(self.repeats):
            yield self._forms(texts, target.privatizer, target.rng)
            report(target.progress, done + 1, self.repeats)

    def _forms(self, texts: list[str], privatizer: Privatizer, rng: Generator) -> Forms:
        """Draw private texts, and return all forms of the texts as the attacker reads them."""
        private = privatizer.texts(texts)
        words = privatizer.lexicon.words
        random = [with_random_words(text, words, rng) for text in private]
        read = [
            [plain(text, punctuation=self.punctuation) for text in form]
            for form in (texts, private, random)
        ]
        return Forms(clean=read[0], private=read[1], random=read[2])

    def _correct(
        self, forms: Forms, labels: Ids, train: Ids, test: Ids, rng: Generator
    ) -> list[Flags]:
        """Return which labels were right: of private texts, clean ones, and random words."""
        every = (forms.private, forms.clean, forms.random)
        if not self.adaptive:
            predict = self.learn(_of(forms.clean, train), labels[train], rng)
            return [predict(_of(form, test)) == labels[test] for form in every]
        learnt = [self.learn(_of(form, train), labels[train], rng) for form in every]
        pairs = zip(learnt, every, strict=True)
        return [predict(_of(form, test)) == labels[test] for predict, form in pairs]


def _of(texts: list[str], places: Ids) -> list[str]:
    return [texts[place] for place in places.tolist()]


def split(labels: Ids, rng: Generator, test: float = TESTED) -> tuple[Ids, Ids]:
    """Return texts to train on and texts to test, with a share of each label in both."""
    chosen = np.zeros(len(labels), dtype=bool)
    for label in range(int(labels.max()) + 1):
        own = rng.permutation(np.flatnonzero(labels == label))
        chosen[own[: max(1, round(test * len(own)))]] = True
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)


def with_random_words(text: str, words: Sequence[str], rng: Generator) -> str:
    """Return a text with a random word of a lexicon for each word and number.

    >>> from malaprop import seeded_rng
    >>> with_random_words("Cold, so cold!", ["hot"], seeded_rng(1))
    'hot, hot hot!'
    """
    tokens = list(tokenize(text))
    drawn = rng.integers(0, len(words), len(tokens)).tolist()
    return "".join(
        token if kind_of(token) in _SILENT else words[place]
        for token, place in zip(tokens, drawn, strict=True)
    )
