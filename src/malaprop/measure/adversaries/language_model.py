"""The text with its context, as a neural model of language reads it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from malaprop.lexicon.bigrams import BigramModel
from malaprop.measure.adversaries.context import Context
from malaprop.measure.adversaries.words import Seen
from malaprop.measure.neural import CausalModel, MaskedModel, Prefix, open_language_model
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.likelihoods import Candidates
from malaprop.privacy.mechanism import option

_WINDOW = 64  # words that are read together
_TOGETHER = 12  # texts whose readings are extended in one step
_SWEEPS = 2  # of a masked model over a text
_LONGEST = 3  # tokens of a word that a masked model fills in


@dataclass(frozen=True, kw_only=True)
class LanguageModel(Context, name="language-model"):
    """Guess the words of a text together, with a neural model of language.

    The bigrams of `context` leave the likeliest candidates of each output. A causal model then
    keeps the best readings of the text so far (a beam): the score of a reading is ln of its
    probability by the model, and of the outputs given its words, plus ln of what `context`
    believes of them. A masked model starts from the guesses of `context`, and fills each place in
    turn. A larger model would recover more.
    """

    model: Any = option(None, "a GGUF file, or a folder of a Hugging Face model")
    few: int = option(12, "how many candidates of each output the model weighs")
    beam: int = option(5, "how many readings of a text to keep")
    alone = True
    needs_model = False
    observer = "an observer with a neural model of language"

    @classmethod
    def opened(cls, model: Any) -> Any:
        """Return the model of a path."""
        return model if isinstance(model, CausalModel | MaskedModel) else open_language_model(model)

    @property
    def bigrams(self) -> Any:
        return None  # those that ship: `model` is the neural one

    @property
    def reader(self) -> CausalModel | MaskedModel:
        if self.model is None:
            raise ParameterError(
                "The attack language-model needs a `model`: a GGUF file, or a folder."
            )
        opened: CausalModel | MaskedModel = self.opened(self.model)
        return opened

    def _knowledge(self, model: BigramModel | None) -> str:
        reader = self.reader
        read = f"the language model {reader.name}, SHA-256 {reader.fingerprint[:16]}"
        return f"{super()._knowledge(model)}; {read}"

    def likeliest(self, seen: Seen, candidates: Candidates) -> Ids:
        if seen.model is None:
            rows = candidates.rows(seen.outputs)
            words, logs = candidates.words[rows], candidates.logs[rows]
            belief = logs + np.log(seen.prior[words])
        else:
            words, logs, both = self.weighed(seen, candidates)
            belief = both.astype(np.float64)
            # The geometric mean of both models: bigrams know what comes after, too.
            logs = logs + np.log(np.maximum(belief, 1e-12))
        best = np.argsort(-belief, axis=1, kind="stable")[:, : self.few]
        words, logs = np.take_along_axis(words, best, 1), np.take_along_axis(logs, best, 1)
        guesses = words[:, 0].copy()
        reader, spelled = self.reader, _Spelled(self.reader, seen.words)
        runs = [slice(at, end) for at, end in _windows(seen.lengths)]
        if isinstance(reader, MaskedModel):
            for run in runs:
                guesses[run] = _filled(reader, spelled, words[run], logs[run])
            return guesses
        for first in range(0, len(runs), _TOGETHER):
            texts = [(words[run], logs[run]) for run in runs[first : first + _TOGETHER]]
            readings = _readings(reader, spelled, texts, self.beam)
            for run, guess in zip(runs[first:], readings, strict=False):
                guesses[run] = guess
        return guesses


def _windows(lengths: Ids) -> Iterator[tuple[int, int]]:
    """Yield runs of words of one text, each short enough to be read at once."""
    start = 0
    for length in lengths.tolist():
        for at in range(start, start + length, _WINDOW):
            yield at, min(at + _WINDOW, start + length)
        start += length


class _Spelled:
    """The tokens of words, each with the space before it."""

    def __init__(self, reader: CausalModel | MaskedModel, words: Sequence[str]) -> None:
        self._reader, self._words = reader, words
        self._known: dict[int, tuple[int, ...]] = {}

    def __call__(self, word: int) -> tuple[int, ...]:
        if word not in self._known:
            self._known[word] = self._reader.tokens(f" {self._words[word]}")
        return self._known[word]


class _Reading(NamedTuple):
    score: float
    words: tuple[int, ...]
    prefix: Prefix


def _readings(
    reader: CausalModel, spelled: _Spelled, texts: list[tuple[Ids, Floats]], beam: int
) -> Iterator[Ids]:
    """Yield the likeliest words of each text, place by place over all texts at once.

    A word's first token tells which readings are worth reading on; its other tokens then count.
    """
    start = reader.start()
    kept = [[_Reading(0.0, (), start)] for _ in texts]
    for place in range(max(len(words) for words, _ in texts)):
        steps: list[tuple[int, _Reading, int, float]] = []
        for number, (words, logs) in enumerate(texts):
            if place < len(words):
                steps += _promising(number, kept[number], words[place], logs[place], spelled, beam)
        read = reader.extended([(old.prefix, spelled(word)) for _, old, word, _ in steps])
        longer: dict[int, list[_Reading]] = {number: [] for number, *_ in steps}
        for (number, old, word, log), (more, prefix) in zip(steps, read, strict=True):
            score = old.score + log + more
            longer[number].append(_Reading(score, (*old.words, word), prefix))
        for number, found in longer.items():
            found.sort(key=lambda each: -each.score)
            reader.forget([each.prefix for each in (*kept[number], *found[beam:])])
            kept[number] = found[:beam]
    for readings in kept:
        yield _by_place(readings)


def _promising(
    number: int, readings: list[_Reading], words: Ids, logs: Floats, spelled: _Spelled, beam: int
) -> list[tuple[int, _Reading, int, float]]:
    """Return the readings with one word more that look best by its first token."""
    first = np.array([spelled(word)[0] for word in words.tolist()])
    scores = np.array([each.score + logs + each.prefix.next[first] for each in readings])
    best = np.argsort(-scores, axis=None, kind="stable")[: beam + 1]
    pairs = [divmod(int(at), len(words)) for at in best]
    return [(number, readings[i], int(words[j]), float(logs[j])) for i, j in pairs]


def _by_place(readings: list[_Reading]) -> Ids:
    """Return the word of each place that has most weight among the readings."""
    scores = np.array([each.score for each in readings])
    weights = np.exp(scores - scores.max())
    rows = np.array([each.words for each in readings], dtype=np.int64)
    return np.array(
        [
            max(dict.fromkeys(column.tolist()), key=lambda word: weights[column == word].sum())
            for column in rows.T
        ],
        dtype=np.int64,
    )


def _filled(reader: MaskedModel, spelled: _Spelled, words: Ids, logs: Floats) -> Ids:
    """Return the words that a masked model puts into each place, given the others."""
    guesses = words[:, 0].copy()
    for _ in range(_SWEEPS):
        for place in range(len(guesses)):
            left = [token for word in guesses[:place].tolist() for token in spelled(word)]
            right = [token for word in guesses[place + 1 :].tolist() for token in spelled(word)]
            options = [spelled(word)[:_LONGEST] for word in words[place].tolist()]
            sizes = sorted({len(each) for each in options})
            rows = dict(
                zip(sizes, reader.filled([(left, size, right) for size in sizes]), strict=True)
            )
            likely = [rows[len(own)][np.arange(len(own)), list(own)].sum() for own in options]
            guesses[place] = words[place][int(np.argmax(logs[place] + np.array(likely)))]
    return guesses
