"""What is measured of each mechanism: attacks on words, tasks, attribution, the guarantee."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.guarantee import Guarantee, Kind
from malaprop.core.randomness import seeded_rng
from malaprop.datasets.values import LabelledTexts
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.search.listed import nearest_words
from malaprop.measure import attack, tasks
from malaprop.measure.attacking.labels import split, with_random_words
from malaprop.measure.attacking.learners import koppel, plain
from malaprop.measure.chosen_words import word_ids
from malaprop.measure.similarity import Similarity
from malaprop.measure.tasking import subjects
from malaprop.pipeline.privatizer import Privatizer
from malaprop.studies.framework.items import Figure
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import estimated, mean_of
from malaprop.studies.framework.run import Run
from malaprop.studies.frontier.mechanisms import lexicon_of, mechanism_of

MEASURES: Final = (
    *("kept", "success_alone", "success_context", "similarity", "word_similarity", "accuracy"),
    *("sts", "attribution", "attribution_adaptive", "guarantee", "euclidean_epsilon"),
    "loss_of_nearest",
)
_TEST = 0.2
_SHARED = _TEST / (1.0 - _TEST)


def frontier(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Measure a mechanism at one ε, or a floor."""
    lexicon = lexicon_of(run, setting)
    if "epsilon" not in setting:
        clean = setting["mechanism"] == "no noise"
        own = (subjects.unprotected if clean else subjects.random_words)(lexicon)
        yield from _tasks(run, own, rng)
        yield from _attribution(run, _floor(lexicon, clean, rng), rng)
        return
    privatizer = Privatizer(lexicon, mechanism_of(setting), rng=rng)
    yield from _attacks(run, privatizer, rng)
    yield from _tasks(run, privatizer.channel, rng)
    yield from _attribution(run, privatizer.texts, rng)
    yield from _promise(lexicon, privatizer.channel.guarantee)


def _some(run: Run, name: str, quick: int, full: int) -> Any:
    """Return rows of a data set, spread over it."""
    data = run.data(name)
    if name == "stsb":
        data = data.part("test")
    step = max(1, len(data) // run.pick(quick=quick, full=full))
    return run.once(("some", name), lambda: data.rows(range(0, len(data), step)))


def _attacks(run: Run, privatizer: Privatizer, rng: Generator) -> Iterator[Figure]:
    """Attack sentences, word by word and with context; taking outputs for words counts, too."""
    texts = list(_some(run, "mr", 60, 300).texts)[: run.pick(quick=25, full=200)]
    draws = privatizer.word_draws(texts)
    alike = Similarity(privatizer.lexicon).between(draws.secret, draws.drawn)
    yield mean_of("similarity", alike)
    options: dict[str, Any] = {"draws": run.pick(quick=1000, full=10_000)}
    options["model"] = run.sets.get("bigrams")  # or the one that ships
    for measure, name in (("success_alone", "bayes"), ("success_context", "context")):
        result: Any = attack(name, privatizer, texts, rng=rng, **options)
        low, high = result.interval
        yield Figure(measure, max(result.score, result.kept), (high - low) / 3.92)
        if name == "context":
            yield Figure("kept", result.kept)


def _tasks(run: Run, subject: Any, rng: Generator) -> Iterator[Figure]:
    release = None if isinstance(subject, subjects.Subject) else "words"
    options: dict[str, Any] = {"floors": False, "rng": rng, "release": release}
    options["repeats"] = run.pick(quick=1, full=2)
    pairs = tasks.run("similarity", subject, data=_some(run, "men", 100, 700), **options)
    yield estimated("word_similarity", pairs.score)
    right = tasks.run("classify", subject, data=_some(run, "mr", 60, 300), test=_TEST, **options)
    yield estimated("accuracy", right.measures["accuracy"], shared=_SHARED)
    rated = tasks.run("sts", subject, data=_some(run, "stsb", 40, 250), **options)
    yield estimated("sts", rated.score)


def _floor(lexicon: Lexicon, clean: bool, rng: Generator) -> Callable[[Sequence[str]], list[str]]:
    """Return what leaves texts as they are, or draws any word for each."""
    if clean:
        return list
    return lambda texts: [with_random_words(text, lexicon.words, rng) for text in texts]


def _attribution(
    run: Run, private: Callable[[Sequence[str]], list[str]], rng: Generator
) -> Iterator[Figure]:
    """Identify authors by Koppel's method, learnt from clean texts or from private ones."""
    data: LabelledTexts = run.data("sotu")
    texts, labels = run.once("authors", lambda: _authors(data, run.pick(quick=15, full=100)))
    static: list[float] = []
    adaptive: list[float] = []
    forms = [plain(text, punctuation=True) for text in texts]
    read = [plain(text, punctuation=True) for text in private(texts)]
    for number in range(run.pick(quick=1, full=4)):
        train, test = split(labels, seeded_rng(number))
        for known, hits in ((forms, static), (read, adaptive)):
            predict = koppel([known[i] for i in train], labels[train], rng)
            hits.append(float(np.mean(predict([read[i] for i in test]) == labels[test])))
    yield mean_of("attribution", static)
    yield mean_of("attribution_adaptive", adaptive)


def _authors(data: LabelledTexts, words: int) -> tuple[list[str], Ids]:
    """Return the beginnings of texts by authors with seven or more."""
    counts = Counter(data.labels)
    names = {name: k for k, name in enumerate(n for n, times in counts.items() if times > 6)}
    rows = [(t, names[a]) for t, a in zip(data.texts, data.labels, strict=True) if a in names]
    beginnings = [" ".join(text.split()[:words]) for text, _ in rows]
    return beginnings, np.array([label for _, label in rows], dtype=np.int64)


def _promise(lexicon: Lexicon, guarantee: Guarantee) -> Iterator[Figure]:
    """State the guarantee, and its bound between a word and its nearest one, the median."""
    delta = f", δ = {guarantee.delta:.2g}" if guarantee.delta else ""
    yield Figure("guarantee", f"{guarantee.kind.value}, {guarantee.metric}{delta}")
    if guarantee.kind is not Kind.METRIC:
        return
    euclidean = guarantee.in_metric("euclidean")
    if euclidean.kind is Kind.METRIC:
        yield Figure("euclidean_epsilon", euclidean.epsilon)
        guarantee = euclidean
    ids = word_ids(lexicon, min(300, len(lexicon)))
    near = nearest_words(lexicon, 2)[ids]
    others = np.where(near[:, 0] == ids, near[:, 1], near[:, 0])
    if guarantee.metric == "euclidean":
        gaps = lexicon.vectors[ids].astype(np.float64) - lexicon.vectors[others]
        apart = np.linalg.norm(gaps, axis=1)
    else:
        rows = lexicon.distances(ids)
        apart = rows[np.arange(len(ids)), others]
    yield Figure("loss_of_nearest", guarantee.epsilon * float(np.median(apart)))
