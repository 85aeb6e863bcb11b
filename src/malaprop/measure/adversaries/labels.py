"""Attacks on labels: who wrote a text, or something else that it should not give away."""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator

from malaprop.measure.adversaries import (
    Attack,
    Flags,
    InferredLabels,
    Target,
    repeated_share,
)
from malaprop.measure.classification import (
    Split,
    is_missing_label,
    random_splits,
    require_sklearn,
    text_regression,
)
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import DataError, ParameterError, require_choice, type_name
from malaprop.privacy.mechanism import Mechanism, option
from malaprop.privacy.progress import report
from malaprop.privatizer import Privatizer
from malaprop.text.missing import is_missing
from malaprop.text.tokens import TokenKind, kind_of, tokenize


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelledTexts:
    """Distinct texts with their labels, which are whole numbers from 0 on."""

    texts: list[str] = field(repr=False)
    labels: Ids = field(repr=False)
    left_out: int
    """How many texts are not among them: repeated ones, and those of labels with too few texts."""


Predictor = Callable[[Sequence[str]], Ids]
"""From texts to labels."""

_GRAM = 4  # characters
_GRAMS = 100_000  # the most frequent ones, as in Koppel et al. 2011
_SUBSPACES = 100
_PART = 0.4  # of the n-grams, in each subspace
_MARKS = re.compile(r"[^\w\s]|_")


def plain(text: str, *, punctuation: bool) -> str:
    """Return a text in small letters, and without punctuation if that is not wanted.

    >>> plain("Well, it's COLD!", punctuation=False)
    'well it s cold'
    """
    lowered = text.lower()
    return lowered if punctuation else " ".join(_MARKS.sub(" ", lowered).split())


def grams(text: str) -> list[str]:
    """Return the character 4-grams of a text that contain no space, and its shorter words.

    >>> grams("the cats")
    ['the', 'cats']
    """
    pieces = []
    for word in text.split():
        pieces += [word[i : i + _GRAM] for i in range(max(1, len(word) - _GRAM + 1))]
    return pieces


def koppel(texts: Sequence[str], labels: Ids, rng: Generator) -> Predictor:
    """Train Koppel's method: the most similar author in most of 100 random subspaces.

    An author is the counts of 4-grams of all of the author's texts. In each subspace, of 40 % of
    the 4-grams, a text votes for the author of the largest cosine. Koppel, Schler and Argamon,
    "Authorship attribution in the wild", Language Resources and Evaluation 45 (2011).
    """
    require_sklearn()
    from sklearn.feature_extraction.text import CountVectorizer  # type: ignore[import-untyped]

    total = Counter(gram for text in texts for gram in grams(text))
    if not total:
        raise DataError("The texts have no words to learn from.")
    columns = {gram: column for column, (gram, _) in enumerate(total.most_common(_GRAMS))}
    counter = CountVectorizer(analyzer=grams, vocabulary=columns, dtype=np.float64)
    authors = np.asarray(counter.transform(texts).T @ np.eye(int(labels.max()) + 1)[labels]).T
    masks = rng.random((_SUBSPACES, len(columns))) < _PART
    return lambda others: _votes(counter.transform(others), authors, masks)


def _votes(texts: Any, authors: Floats, masks: Any) -> Ids:
    """Return the author with the most votes of all subspaces, for each text.

    A text's own length in a subspace does not matter for which author is the most similar one.
    """
    votes = np.zeros((texts.shape[0], len(authors)))
    rows = np.arange(texts.shape[0])
    for mask in masks:
        own = authors * mask
        lengths = np.maximum(np.linalg.norm(own, axis=1), 1e-12)
        votes[rows, np.asarray(texts @ (own / lengths[:, None]).T).argmax(axis=1)] += 1
    return np.asarray(votes.argmax(axis=1), dtype=np.int64)


_SILENT = (TokenKind.SPACE, TokenKind.PUNCTUATION, TokenKind.INVISIBLE)
TESTED = 0.3
"""The share of each label's texts that a split tests on."""


class Forms(NamedTuple):
    """The texts in three forms, each ready to learn from: one draw of the noise."""

    private: list[str]
    clean: list[str]
    random: list[str]
    """The private texts with a random word for each word: what else they give away."""


@dataclass(frozen=True, kw_only=True)
class LabelAttack(Attack):
    """An attempt to infer a label of each private text, from texts whose labels are known."""

    adaptive: bool = option(False, "the attacker trains on private text, instead of clean text")
    punctuation: bool = option(True, "the attacker uses punctuation, which stays as it is")
    repeats: int = option(5, "how many random splits, each with a draw of the noise of its own")

    on: ClassVar[str] = "labels"
    noun: ClassVar[str] = "label"
    """What a label is called in messages."""
    fewest: ClassVar[int] = 4
    """How many texts a label must have."""

    @abstractmethod
    def run(self, target: Target) -> InferredLabels:
        """Infer labels, or members, over several splits and draws of the noise."""

    def check(self, mechanism: Mechanism, repeat: str) -> None:
        require_sklearn("An attack on labels")

    def checked(self, texts: Sequence[Any], labels: Sequence[object] | None) -> LabelledTexts:
        """Check texts and labels, and keep each distinct text once, with its first label.

        A text that occurs twice could be learnt and then tested. Texts of labels with too few
        texts are left out. Messages never show a label.
        """
        require_sklearn("An attack on labels")
        name, noun, fewest = self.name, self.noun, self.fewest
        if labels is None:
            raise ParameterError(
                f"The attack {name} needs a {noun} for each text: pass them as `labels`."
            )
        if len(texts) != len(labels):
            raise ParameterError(
                f"The attack {name} needs as many labels as texts. Got {len(labels):,} labels "
                f"for {len(texts):,} texts."
            )
        if unlabelled := sum(map(is_missing_label, labels)):
            raise DataError(
                f"{unlabelled:,} of {len(labels):,} texts have no {noun}: name a column that has "
                "one for each text, or leave these texts out."
            )
        distinct: dict[str, object] = {}
        for text, label in zip(texts, labels, strict=True):
            if is_missing(text):
                continue
            if not isinstance(text, str):
                raise ParameterError(f"A text must be a string. Got {type_name(text)}.")
            if text.strip():
                distinct.setdefault(text, label)
        counts = Counter(distinct.values())
        enough = [label for label, count in counts.items() if count >= fewest]
        if len(counts) == 1:
            raise DataError(
                f"All texts have the same {noun}, so there is nothing to tell apart: the attack "
                f"{name} needs two {noun}s or more."
            )
        if len(enough) < 2:
            raise DataError(
                f"The attack {name} needs at least two {noun}s with {fewest} distinct texts or "
                f"more each. Of {len(counts):,} {noun}s, {len(enough)} "
                f"{'has' if len(enough) == 1 else 'have'} as many."
            )
        numbers = {label: number for number, label in enumerate(enough)}
        kept = [(text, numbers[label]) for text, label in distinct.items() if label in numbers]
        return LabelledTexts(
            texts=[text for text, _ in kept],
            labels=np.array([number for _, number in kept], dtype=np.int64),
            left_out=len(texts) - len(kept),
        )

    def facts(self, data: LabelledTexts, privatizer: Privatizer) -> dict[str, Any]:
        return {
            "trained_on": "private text" if self.adaptive else "clean text",
            "texts": len(data.texts),
            "labels": int(data.labels.max()) + 1,
            "left_out": data.left_out,
            "mechanism": {**privatizer.mechanism.to_dict(), **privatizer.channel.chosen},
            "options": dict(vars(self)),
        }

    def draws(self, texts: list[str], target: Target) -> Iterator[Forms]:
        """Yield all forms of the texts, as the attacker reads them, for each draw of the noise."""
        words = target.privatizer.lexicon.words
        for done in range(self.repeats):
            private = target.privatizer.texts(texts)
            random = [with_random_words(text, words, target.rng) for text in private]
            yield Forms(
                *(
                    [plain(text, punctuation=self.punctuation) for text in form]
                    for form in (private, texts, random)
                )
            )
            report(target.progress, done + 1, self.repeats)


def chosen(texts: Sequence[str], places: Ids) -> list[str]:
    """Return the texts at some places."""
    return [texts[place] for place in places.tolist()]


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


@dataclass(frozen=True, kw_only=True)
class Attribute(LabelAttack, name="attribute"):
    """Infer a label of each text, by a regression on n-grams of words and characters.

    The attacker has texts of the same kind with their labels: 70 % of them, at random. The score is
    the share of the other texts whose label is inferred from their private form.
    """

    def learn(self, texts: Sequence[str], labels: Ids, rng: Generator) -> Predictor:
        predict: Predictor = text_regression(texts, labels).predict
        return predict

    def run(self, target: Target) -> InferredLabels:
        data, rng = self.checked(target.texts, target.labels), target.rng
        tested, hits, bounds = [], [], []
        for forms in self.draws(data.texts, target):
            (split,) = random_splits(data.labels, TESTED, 1, rng)
            private, *others = self._correct(forms, data.labels, split, rng)
            tested.append(split.test)
            hits.append(private)
            bounds.append([each.mean() for each in others])
        clean, random = np.mean(bounds, axis=0).tolist()
        every, majority = np.concatenate(tested), int(np.bincount(data.labels).argmax())
        return InferredLabels(
            attack=self.name,
            measured="accuracy",
            estimate=repeated_share(tested, hits, rng),
            baseline=float((data.labels[every] == majority).mean()),
            unprotected=clean,
            random_words=random,
            **self.facts(data, target.privatizer),
        )

    def _correct(self, forms: Forms, labels: Ids, split: Split, rng: Generator) -> list[Flags]:
        """Return which labels were right: of private texts, clean ones, and random words."""

        def learnt(form: list[str]) -> Predictor:
            return self.learn(chosen(form, split.train), labels[split.train], rng)

        predictors = list(map(learnt, forms)) if self.adaptive else [learnt(forms.clean)] * 3
        return [
            predict(chosen(form, split.test)) == labels[split.test]
            for predict, form in zip(predictors, forms, strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class Authorship(Attribute, name="authorship"):
    """Infer the author of each text, by a regression on n-grams or by Koppel's random subspaces.

    The attacker has texts of all authors: 70 % of them, at random. The score is the share of the
    other texts whose author is inferred from their private form. The regression is the stronger of
    the two on the texts that we measured, so it is the default.
    """

    model: str = option(
        "regression", "regression (words and characters) or koppel (character 4-grams)"
    )

    noun: ClassVar[str] = "author"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice(self, "model", ("regression", "koppel"))

    def learn(self, texts: Sequence[str], labels: Ids, rng: Generator) -> Predictor:
        if self.model == "koppel":
            return koppel(texts, labels, rng)
        return super().learn(texts, labels, rng)
