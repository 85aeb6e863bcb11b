"""What cells of several studies measure, and the mechanisms and floors that they measure."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from malaprop.lab.studies.reproduction import MissingDataError
from malaprop.lab.studies.study import NOISE, SPLITS, Measurement, Setting
from malaprop.lab.tasks import sources
from malaprop.lab.tasks.classes import shares_on
from malaprop.lab.tasks.sources import Corpus, Source, Subject
from malaprop.measure.adversaries.labels import TESTED, Predictor, koppel
from malaprop.measure.classification import random_splits
from malaprop.mechanisms import mechanism_named
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import Channel, VectorChannel
from malaprop.privacy.estimate import Estimate, bisect, joint_error, word_ids
from malaprop.privacy.gaussian_noise import WordGaussian
from malaprop.privacy.randomness import seeded_rng

# The mechanism of a setting, and the floors that need none.

_PARAMETERS: Final = {"lambda": "regularization"} | {
    name: name for name in ("epsilon", "tau", "exponent", "dimension", "published")
}
"""Names of settings that are parameters of mechanisms, and what those call them."""
FLOORS: Final = {
    "no noise": sources.unprotected,
    "random table": sources.random_table,
    "random words": sources.random_subject,
}
"""What tasks are done with instead of private words."""
MAJORITY: Final = "majority"
"""The floor that takes the most frequent answer."""


def mechanism_of(setting: Setting, **parameters: Any) -> Any:
    """Return the mechanism that a setting names, with what it takes of setting and parameters."""
    made = mechanism_named(setting["mechanism"])
    given = {own: setting[name] for name, own in _PARAMETERS.items() if name in setting}
    given |= parameters
    return made(**{each.name: given[each.name] for each in fields(made) if each.name in given})


# Means with errors.


def mean_of(measure: str, values: ArrayLike, **setting: Any) -> Measurement:
    """Return the mean of some values, with its standard error."""
    array = np.asarray(values, dtype=np.float64)
    mean, size = float(array.mean()), len(array)
    if size < 2:
        return Measurement(measure, mean, setting)
    error = float(array.std(ddof=1)) / math.sqrt(size)
    return Measurement(measure, mean, setting, error=error, freedom=size - 1)


def summary_of(measure: str, values: Floats, **ends: float) -> Iterator[Measurement]:
    """Measure the mean of some values, and percentiles by name: `p95=95`, `max=100`."""
    yield mean_of(measure, values)
    for end, percent in ends.items():
        yield Measurement(f"{measure}_{end}", float(np.percentile(values, percent)))


def there_or_missing(
    measures: Iterable[str], figures: Iterable[Measurement]
) -> Iterator[Measurement]:
    """Yield the figures, or for each measure one that names the data set that is missing.

    So a cell still measures the rest. Errors that name no data set are raised.
    """
    try:
        yield from list(figures)
    except MissingDataError as missing:
        if not missing.data:
            raise
        yield from (Measurement(name, None, missing=missing.data) for name in measures)


def over_both(measure: str, table: ArrayLike, shared: float) -> Iterator[Measurement]:
    """Return the mean of (noise draws × splits) twice: with its error over draws, and over splits.

    Each draw is scored on the same splits. `shared` is as in `estimated`.
    """
    array = np.asarray(table, dtype=np.float64)
    yield mean_of(measure, array.mean(axis=1))
    by_split = array.mean(axis=0)
    error = float(by_split.std(ddof=1)) * math.sqrt(1.0 / len(by_split) + shared)
    over, freedom = {"spread": SPLITS}, len(by_split) - 1
    yield Measurement(measure, float(array.mean()), over, error=error, freedom=freedom)


def jointly(measure: str, table: ArrayLike, shared: float) -> Iterator[Measurement]:
    """Return the mean of (noise draws × splits) with its error over both, then over each alone.

    The joint error is the root of the sum of both squares. This is cautious: what a draw changes on
    a single split counts in both. A single row has no noise, and only an error over splits.
    """
    draws, splits = over_both(measure, table, shared)
    if draws.error is None or splits.error is None:
        yield replace(splits, setting={})
        return
    error, freedom = joint_error((each.error, each.freedom) for each in (draws, splits))
    known = draws.freedom if freedom is None else round(freedom, 2)  # without any error, the least
    yield Measurement(measure, draws.value, error=error, freedom=known)
    yield replace(draws, setting={"spread": NOISE})
    yield splits


def bootstrapped(
    measure: str, values: Floats, of: Callable[[Any], float], rng: Generator, times: int = 100
) -> Measurement:
    """Return a figure of some values, with the standard error of resampling them."""
    again = [of(rng.choice(values, size=len(values))) for _ in range(times)]
    error = float(np.std(again, ddof=1))
    return Measurement(measure, float(of(values)), error=error, freedom=len(values) - 1)


def estimated(measure: str, estimate: Estimate, shared: float = 0.0) -> Measurement:
    """Return a task's estimate as a figure, with its standard error.

    `shared` is the size of the test part over that of the training part, where runs differ in
    their split: they share training texts, and the plain error would be too small.
    """
    runs = len(estimate.values)
    if runs < 2:
        return Measurement(measure, estimate.value)
    error = estimate.spread * math.sqrt(1.0 / runs + shared)
    return Measurement(measure, estimate.value, error=error, freedom=runs - 1)


# Koppel's method on splits that all mechanisms share: they depend on the labels alone.

Attackers = Sequence[tuple[Predictor, Ids]]
"""For each split, what was trained on one part, and the places of the texts to test it on."""


def koppel_attackers(texts: Sequence[str], labels: Ids, times: int) -> Attackers:
    attackers = []
    for number in range(times):
        (split,) = random_splits(labels, TESTED, 1, seeded_rng(number))
        known = [texts[i] for i in split.train]
        attackers.append((koppel(known, labels[split.train], seeded_rng(number)), split.test))
    return attackers


def authors_named(attackers: Attackers, texts: Sequence[str], labels: Ids) -> list[int]:
    """Return how many authors of texts to test on are named, on each split."""
    guesses = [(predict([texts[i] for i in test]), labels[test]) for predict, test in attackers]
    return [int((guess == truth).sum()) for guess, truth in guesses]


# Shares of words kept, and ε at an equal share kept.

_STEPS = 14  # of a bisection over ε
_SEED = 20


def share_kept(channel: Channel, words: int, rng: Generator, draws: int = 1) -> float:
    """Return the share of words that come out as they went in, words spread over the lexicon."""
    ids = np.repeat(word_ids(channel.lexicon, min(words, len(channel.lexicon))), draws)
    return float(np.mean(channel.substitute(ids, rng) == ids))


def share_in_clear(channel: Channel) -> float:
    """Return the share of words that get no noise at all."""
    if isinstance(channel, VectorChannel) and isinstance(channel.noise, WordGaussian):
        return float(np.mean(channel.noise.sigmas == 0.0)) if channel.noise.bare is None else 0.0
    return 0.0


def both_shares(channel: Channel, words: int, rng: Generator) -> Iterator[Measurement]:
    """Measure what belongs beside every figure of utility: the shares kept and in clear."""
    yield Measurement("kept", share_kept(channel, words, rng))
    yield Measurement("share_in_clear", share_in_clear(channel))


def floor_shares(floor: str, words: int) -> Iterator[Measurement]:
    """State both shares of a floor over so many words; they follow from what it is.

    Random words and vectors do not depend on the word, so that they are its own, or nearest to it,
    by chance alone. The most frequent answer releases nothing.
    """
    shares = {"no noise": (1.0, 1.0), "majority": (0.0, 0.0)}
    kept, clear = shares.get(floor, (1.0 / words, 0.0))
    yield Measurement("kept", kept)
    yield Measurement("share_in_clear", clear)


def epsilon_for_kept(
    bind: Callable[[float], Channel],
    kept: float,
    words: int,
    between: tuple[float, float] = (0.05, 2000.0),
    draws: int = 1,
) -> float:
    """Return the ε at which this share of words stays, by bisection with the same noise.

    Each ε is tried with the same random numbers, so that the share grows smoothly with ε. To tell
    small shares apart, take several `draws` of each word.
    """

    def keeps_less(epsilon: float) -> bool:
        return share_kept(bind(epsilon), words, seeded_rng(_SEED), draws) < kept

    return math.sqrt(math.prod(bisect(keeps_less, *between, steps=_STEPS)))


# A table noised once, drawn only for the words that a task asks for.


def drawn_once(channel: VectorChannel[Any]) -> Subject:
    """Return a channel's noisy vectors, drawn once for each word that is asked for.

    That is a substitution cipher: all places of a word share one vector. The law is that of
    `subject_of(channel, once=True)`, which draws for all words of the lexicon.
    """
    title = f"vectors drawn once for each word: {channel!r}"
    return Subject(title, channel.lexicon, lambda rng: _GrowingTable(channel, rng))


class _GrowingTable(Source):
    def __init__(self, channel: VectorChannel[Any], rng: Generator) -> None:
        super().__init__(channel.lexicon, rng)
        self._channel = channel
        self._table: Floats | None = None
        self._known = np.zeros(len(channel.lexicon), dtype=bool)

    def vectors(self, ids: Ids) -> Floats:
        return self._with(ids)[ids]

    def centroids(self, corpus: Corpus) -> Floats:
        return corpus.means(self._with(corpus.ids))

    def _with(self, ids: Ids) -> Floats:
        asked = np.unique(ids)
        new = asked[~self._known[asked]]
        noisy = self._channel.release_words(new, self._rng)
        if self._table is None:
            self._table = np.zeros((len(self._known), noisy.shape[1]))
        self._table[new], self._known[new] = noisy, True
        return self._table

    def _words(self, ids: Ids) -> Ids:
        distinct, places = np.unique(ids, return_inverse=True)
        words: Ids = self._channel.decoder.decode(self.vectors(distinct), self._rng)[places]
        return words


# Classification on splits that all cells share, with fresh noise for each draw.

SPLIT_TIMES: Final = 5
"""How often texts are split, the same for all cells."""


def classified(
    problem: Any, subject: Subject, measures: Iterable[str], draws: int, rng: Generator
) -> Iterator[Measurement]:
    """Train on private texts and test on private texts; yield each measure with both errors.

    Each draw of the noise is scored on the same splits, which depend on the texts alone. So two
    mechanisms differ by their noise, and by nothing else. Also yield the share of the texts' words
    that stay (`kept_in_texts`).
    """
    splits = random_splits(problem.classes, problem.test, SPLIT_TIMES, seeded_rng(0))
    table, shares = [], []
    for _ in range(draws if subject.noisy else 1):
        source = subject.begin(rng)
        rows = problem.features(source)
        table.append(
            [shares_on(split, problem.model, problem.classes, rows, rows) for split in splits]
        )
        shares.append(source.kept)
    for name in measures:
        scores = [[each[name] for each in row] for row in table]
        yield from over_both(name, scores, shared=problem.shared)
    counted = [share for share in shares if share is not None]
    if counted and subject.noisy:
        yield mean_of("kept_in_texts", counted)
