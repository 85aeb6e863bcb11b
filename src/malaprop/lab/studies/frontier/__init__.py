"""All mechanisms on the same words, tasks and attacks: the study."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from malaprop.lab import tasks
from malaprop.lab.datasets.readers import LabelledTexts
from malaprop.lab.studies.figures import (
    FLOORS,
    MAJORITY,
    SPLIT_TIMES,
    authors_named,
    classified,
    floor_shares,
    koppel_attackers,
    mean_of,
    mechanism_of,
    over_both,
    share_in_clear,
    summary_of,
    there_or_missing,
)
from malaprop.lab.studies.reproduction import Run
from malaprop.lab.studies.study import Measurement, Setting
from malaprop.lab.tasks.sources import CorpusReader, Subject, random_table, subject_of
from malaprop.lexicon.lexicon import Lexicon, nearest_words
from malaprop.measure.adversaries.context import Context
from malaprop.measure.adversaries.labels import TESTED, plain, with_random_words
from malaprop.measure.adversaries.public_model import check_corpus, model_for, prior_of
from malaprop.measure.adversaries.words import Bayes, Seen
from malaprop.measure.classification import random_splits
from malaprop.measure.word_statistics import Similarity, statistics_of
from malaprop.privacy.arrays import Ids
from malaprop.privacy.channel import Channel
from malaprop.privacy.estimate import word_ids
from malaprop.privacy.guarantee import Guarantee, Kind
from malaprop.privacy.likelihoods import likelihoods_of
from malaprop.privacy.randomness import seeded_rng
from malaprop.privatizer import Privatizer

# How much is measured. The texts and pairs are those of all mechanisms.


SIZES: Final[Mapping[str, tuple[int, int]]] = {
    "mr": (60, 450),  # about so many rows of data sets
    "attacked": (25, 200),  # of the reviews
    "men": (100, 700),
    "stsb": (40, 250),
    "draws": (2, 5),  # of the noise, for each figure
    "splits": (SPLIT_TIMES, SPLIT_TIMES),
    "words": (20, 100),  # of the lexicon, that N_w is measured for
    "runs": (100, 100),  # of a word, for N_w where there is no law
    "nearest": (300, 300),  # words that the median loss to the nearest word is over
}
"""How many are measured: in a quick run, and in a full one."""


def size_of(run: Run, name: str) -> int:
    """Return how many of something a run measures."""
    quick, full = SIZES[name]
    return run.pick(quick=quick, full=full)


def some_rows(run: Run, name: str) -> Any:
    """Return rows of a data set, spread over it."""
    data = run.data(name)
    if name == "stsb":
        data = data.part("test")
    step = max(1, len(data) // size_of(run, name))
    return run.once(("some", name), lambda: data.rows(range(0, len(data), step)))


# What an observer recovers of words, with and without context, over several draws of noise.


_RECOVERED: Final = ("kept", "success_alone", "success_context", "similarity")


def _attacked(run: Run, privatizer: Privatizer, rng: Generator) -> Iterator[Measurement]:
    """Attack sentences word by word and with context; taking outputs for words counts, too.

    All draws are attacked with the same knowledge.
    """
    texts = list(some_rows(run, "mr").texts)[: size_of(run, "attacked")]
    lexicon, channel = privatizer.lexicon, privatizer.channel
    model = model_for(run.sets.get("bigrams"), lexicon, needed=True)  # or the one that ships
    prior = prior_of(model, len(lexicon))
    known = likelihoods_of(channel, prior, run.pick(quick=1000, full=10_000), rng)
    similarity, rows = Similarity(lexicon), []
    for _ in range(size_of(run, "draws")):
        draws = privatizer.word_draws(texts)
        check_corpus(model, draws.secret, draws.lengths)
        seen = Seen(
            outputs=draws.drawn,
            lengths=draws.lengths,
            same=np.arange(len(draws.drawn)),  # nobody tells the observer which places are alike
            reused=False,
            likelihoods=known,
            prior=prior,
            model=model,
        )
        kept = np.mean(draws.drawn == draws.secret)
        alone = np.mean(Bayes().guesses(seen) == draws.secret)
        context = np.mean(Context().guesses(seen) == draws.secret)
        similar = np.mean(similarity.between(draws.secret, draws.drawn))
        rows.append((kept, max(alone, kept), max(context, kept), similar))
    yield from map(mean_of, _RECOVERED, np.transpose(rows))


# Whether private texts still tell who wrote them: Koppel's method, static and adaptive.


Private = Callable[[Sequence[str]], list[str]]
"""Draws private texts."""
_FEWEST = 7  # texts of an author
_SHARED = TESTED / (1.0 - TESTED)


def _attributed(run: Run, private: Private, noisy: bool = True) -> Iterator[Measurement]:
    """Identify authors with attackers who learn from clean texts, or from private ones.

    They read punctuation, which no mechanism changes, or (`_no_marks`) they do not.
    """
    texts, labels = _authors_of(run)
    tested = len(random_splits(labels, TESTED, 1, seeded_rng(0))[0].test)
    draws = [private(texts) for _ in range(size_of(run, "draws") if noisy else 1)]
    for marks, ending in ((True, ""), (False, "_no_marks")):
        clean = [plain(text, punctuation=marks) for text in texts]
        read = [[plain(text, punctuation=marks) for text in each] for each in draws]
        static = koppel_attackers(clean, labels, SPLIT_TIMES)
        adaptive = [koppel_attackers(seen, labels, SPLIT_TIMES) for seen in read]
        for name, each in (("", [static] * len(read)), ("_adaptive", adaptive)):
            both = zip(each, read, strict=True)
            hits = np.array([authors_named(attackers, seen, labels) for attackers, seen in both])
            yield from over_both(f"attribution{name}{ending}", hits / tested, shared=_SHARED)


def _authors_of(run: Run) -> tuple[list[str], Ids]:
    """Return the beginnings of texts by authors with enough of them."""
    data: LabelledTexts = run.data("sotu")

    def beginnings() -> tuple[list[str], Ids]:
        usual = (name for name, times in Counter(data.labels).items() if times >= _FEWEST)
        names = {name: number for number, name in enumerate(usual)}
        rows = [(t, names[a]) for t, a in zip(data.texts, data.labels, strict=True) if a in names]
        words = run.pick(quick=15, full=100)
        texts = [" ".join(text.split()[:words]) for text, _ in rows]
        return texts, np.array([label for _, label in rows], dtype=np.int64)

    return run.once("authors", beginnings)


# What a mechanism promises, and how often the words of the lexicon stay.


def _kept_words(run: Run, channel: Channel, rng: Generator) -> Iterator[Measurement]:
    """Measure N_w of words spread over the lexicon: exactly if there is a law, else by runs."""
    lexicon = channel.lexicon
    ids = word_ids(lexicon, min(size_of(run, "words"), len(lexicon)))
    values = statistics_of(channel, ids, "kept", size_of(run, "runs"), rng)
    yield from summary_of("kept_of_lexicon", values, p95=95, max=100)


def _promised(run: Run, lexicon: Lexicon, guarantee: Guarantee) -> Iterator[Measurement]:
    """State the guarantee, and its bound between a word and its nearest one, the median."""
    delta = f", δ = {guarantee.delta:.2g}" if guarantee.delta else ""
    yield Measurement("guarantee", f"{guarantee.kind.value}, {guarantee.metric}{delta}")
    if guarantee.kind is not Kind.METRIC:
        return
    euclidean = guarantee.in_metric("euclidean")
    if euclidean.kind is Kind.METRIC:
        yield Measurement("euclidean_epsilon", euclidean.epsilon)
        guarantee = euclidean
    ids = word_ids(lexicon, min(size_of(run, "nearest"), len(lexicon)))
    near = nearest_words(lexicon, 2)[ids]
    others = np.where(near[:, 0] == ids, near[:, 1], near[:, 0])
    if guarantee.metric == "euclidean":
        gaps = lexicon.vectors[ids].astype(np.float64) - lexicon.vectors[others]
        apart = np.linalg.norm(gaps, axis=1)
    else:
        rows = lexicon.distances(ids)
        apart = rows[np.arange(len(ids)), others]
    yield Measurement("loss_of_nearest", guarantee.epsilon * float(np.median(apart)))


# What private words are still good for: similarity of words, classification, STS.


def _served(run: Run, subject: Any, rng: Generator) -> Iterator[Measurement]:
    """Do all tasks with the words of a subject, with fresh noise each time."""
    release = None if isinstance(subject, Subject) else "words"
    options: dict[str, Any] = {"floors": False, "rng": rng, "release": release}
    options["repeats"] = size_of(run, "draws")

    def correlated(measure: str, task: str, data: str) -> Iterator[Measurement]:
        result = tasks.run(task, subject, data=some_rows(run, data), **options)
        yield mean_of(measure, result.score.values)

    def trained() -> Iterator[Measurement]:
        own = subject_of(subject, release=release)
        scores = classified(_problem(run, own.space), own, ["accuracy"], size_of(run, "draws"), rng)
        yield from (one for one in scores if one.measure == "accuracy")

    words = correlated("word_similarity", "similarity", "men")
    yield from there_or_missing(["word_similarity"], words)
    yield from there_or_missing(["accuracy"], trained())
    yield from there_or_missing(["sts"], correlated("sts", "sts", "stsb"))


def _problem(run: Run, space: Any) -> Any:
    return tasks.registry["classify"](data=some_rows(run, "mr")).prepare(space)


# What is measured of each mechanism: attacks on words, tasks, attribution, the guarantee.


RECOMMENDED: Final = "balanced"
_AUTHORS: Final = (
    *("attribution", "attribution_adaptive"),
    *("attribution_no_marks", "attribution_adaptive_no_marks"),
)


def frontier(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure a mechanism at one ε, or a floor. If a data set is missing, measure the rest."""
    lexicon, name = run.lexicon(), setting["mechanism"]
    if "epsilon" not in setting:
        yield from floor_shares(name, len(lexicon))
        yield from _majorities(run) if name == MAJORITY else _floor(run, name, lexicon, rng)
        return
    if name == RECOMMENDED:  # which counts steps between near words
        lexicon = run.once(("graph", lexicon.fingerprint), lexicon.with_graph)
    privatizer = Privatizer(lexicon, mechanism_of(setting), rng=rng)
    yield from there_or_missing(_RECOVERED, _attacked(run, privatizer, rng))
    yield from _served(run, privatizer.channel, rng)
    yield from there_or_missing(_AUTHORS, _attributed(run, privatizer.texts))
    yield from _kept_words(run, privatizer.channel, rng)
    yield from _promised(run, lexicon, privatizer.channel.guarantee)
    yield Measurement("share_in_clear", share_in_clear(privatizer.channel))


def _majorities(run: Run) -> Iterator[Measurement]:
    """Measure how often the most frequent class is right, and the author of most texts."""

    def reviews() -> Iterator[Measurement]:
        yield Measurement("accuracy", _problem(run, run.lexicon()).majority)

    def authors() -> Iterator[Measurement]:
        counts = np.bincount(_authors_of(run)[1])
        yield Measurement("attribution", float(counts.max() / counts.sum()))

    yield from there_or_missing(["accuracy"], reviews())
    yield from there_or_missing(["attribution"], authors())


def _floor(run: Run, name: str, lexicon: Lexicon, rng: Generator) -> Iterator[Measurement]:
    """Measure what needs no mechanism: no noise, or no meaning."""
    yield from _served(run, FLOORS[name](lexicon), rng)
    read = CorpusReader(lexicon)
    private: Mapping[str, Private] = {
        "no noise": list,
        # Any word for each word, the same in all its places: a cipher.
        "random table": lambda texts: random_table(lexicon).begin(rng).texts(read(texts)),
        "random words": lambda texts: [
            with_random_words(text, lexicon.words, rng) for text in texts
        ],
    }
    attributed = _attributed(run, private[name], noisy=name != "no noise")
    yield from there_or_missing(_AUTHORS, attributed)
