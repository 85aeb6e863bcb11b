"""All mechanisms on the same words, tasks and attacks: the study."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, cast

import numpy as np
from numpy.random import Generator

from malaprop.lab import tasks
from malaprop.lab.datasets.readers import LabelledTexts
from malaprop.lab.sentences import SentenceModel
from malaprop.lab.studies import figures
from malaprop.lab.studies.reproduction import Run
from malaprop.lab.studies.study import Measurement, Setting
from malaprop.lab.tasks.similarity import cosines, pearson
from malaprop.lab.tasks.sources import Corpus, CorpusReader, Subject, random_table, subject_of
from malaprop.lexicon.bigrams import BigramModel
from malaprop.lexicon.graph import with_graph_if_needed
from malaprop.lexicon.lexicon import Lexicon, nearest_words
from malaprop.measure.adversaries.context import Context
from malaprop.measure.adversaries.labels import TESTED, plain, with_random_words
from malaprop.measure.adversaries.public_model import check_corpus, model_for
from malaprop.measure.adversaries.words import Bayes, Seen
from malaprop.measure.classification import random_splits
from malaprop.measure.word_statistics import Similarity, statistics_of
from malaprop.owner import WordDraws
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import Channel
from malaprop.privacy.estimate import word_ids
from malaprop.privacy.guarantee import Guarantee, Kind
from malaprop.privacy.likelihoods import Likelihoods, likelihoods_of
from malaprop.privacy.mechanism import Mechanism
from malaprop.privacy.randomness import seeded_rng
from malaprop.privatizer import Privatizer
from malaprop.smoother import Smoother
from malaprop.text.template import BEGINS, FOLLOWS

# How much is measured. The texts and pairs are those of all mechanisms.

SIZES: Final[Mapping[str, tuple[int, int]]] = {
    "mr": (60, 450),  # about so many rows of data sets
    "attacked": (25, 200),  # of the reviews
    "men": (100, 700),
    "stsb": (40, 250),
    "draws": (2, 5),  # of the noise, for each figure
    "sentences": (20, 100),  # of the attacked ones, that are compared as a whole,
    "compared": (2, 2),  # in so many draws
    "splits": (figures.SPLIT_TIMES, figures.SPLIT_TIMES),
    "words": (20, 100),  # of the lexicon, that N_w is measured for
    "runs": (100, 100),  # of a word, for N_w where there is no law
    "nearest": (300, 300),  # words that the median loss to the nearest word is over
}
"""How many are measured: in a quick run, and in a full one."""


def size_of(run: Run, name: str) -> int:
    quick, full = SIZES[name]
    return run.pick(quick=quick, full=full)


def some_rows(run: Run, name: str) -> Any:
    """Return rows of a data set, spread over it."""
    data = run.data(name)
    if name == "stsb":
        data = data.part("test")
    step = max(1, len(data) // size_of(run, name))
    return run.once(("some", name), lambda: data.rows(range(0, len(data), step)))


# What an observer recovers of words, with and without context, over several draws of noise, and
# what smoothing makes of the same draws.

_FREQUENT: Final = 150
"""The most frequent words, which are no content."""
_RECOVERED: Final = (
    *("kept", "success_alone", "success_context"),
    *("kept_content", "success_alone_content", "success_context_content"),
    *("similarity", "similarity_smoothed"),
)
_SENTENCES: Final = ("sentences", "sentences_smoothed")


@dataclass(frozen=True, kw_only=True)
class Observed:
    """Draws of sentences by a mechanism, what an observer knows, and what smoothing makes of them.

    All draws are attacked, and smoothed, with the same knowledge.
    """

    run: Run
    privatizer: Privatizer
    rng: Generator

    @cached_property
    def model(self) -> BigramModel:
        """The run's bigrams, or those that ship."""
        model = model_for(self.run.sets.get("bigrams"), self.privatizer.lexicon, needed=True)
        return cast(BigramModel, model)

    @cached_property
    def likelihoods(self) -> Likelihoods:
        draws, prior = self.run.pick(quick=1000, full=10_000), self.model.prior
        return likelihoods_of(self.privatizer.channel, prior, draws, self.rng)

    @cached_property
    def smoother(self) -> Smoother:
        return Smoother(self.privatizer.channel, self.model, likelihoods=self.likelihoods)

    @cached_property
    def draws(self) -> list[tuple[WordDraws, Ids]]:
        """Some draws of sentences, each with the smoothed words."""
        texts = list(some_rows(self.run, "mr").texts)[: size_of(self.run, "attacked")]
        draws = [self.privatizer.word_draws(texts) for _ in range(size_of(self.run, "draws"))]
        return [(each, self.smoothed(each.drawn, each.lengths)) for each in draws]

    def smoothed(self, drawn: Ids, lengths: Ids) -> Ids:
        """Return the smoothed words of texts, each of which is a chain."""
        before = np.full(len(drawn), FOLLOWS)
        before[(np.cumsum(lengths) - lengths)[lengths > 0]] = BEGINS
        return self.smoother.smooth(drawn, before)

    def attacked(self) -> Iterator[Measurement]:
        """Attack sentences word by word and with context, and compare words.

        Taking outputs for words, as drawn or smoothed, counts as an attack, too.
        """
        prior, rows = self.model.prior, []
        content = np.argsort(np.argsort(-prior, kind="stable")) >= _FREQUENT
        similarity = Similarity(self.privatizer.lexicon)
        for draws, smoothed in self.draws:
            secret, drawn = draws.secret, draws.drawn
            check_corpus(self.model, secret, draws.lengths)
            seen = Seen(
                outputs=drawn,
                lengths=draws.lengths,
                same=np.arange(len(drawn)),  # nobody tells the observer which places are alike
                reused=False,
                likelihoods=self.likelihoods,
                prior=prior,
                model=self.model,
            )
            guesses = (drawn, Bayes().guesses(seen), Context().guesses(seen), smoothed)
            row = []
            for side in (np.ones(len(secret), dtype=np.bool_), content[secret]):
                shares = [
                    np.mean(own[side] == secret[side]) if side.any() else 0.0 for own in guesses
                ]
                kept, alone, context, taken = shares
                row += [kept, max(alone, kept), max(context, kept, taken)]
            row += [np.mean(similarity.between(secret, own)) for own in (drawn, smoothed)]
            rows.append(row)
        yield from map(figures.mean_of, _RECOVERED, np.transpose(rows))

    def sentences(self) -> Iterator[Measurement]:
        """Compare whole sentences with the original ones, written as words alone."""
        data = self.run.data("minilm")
        encoder = self.run.once("minilm", lambda: SentenceModel(data))
        count, words = size_of(self.run, "sentences"), self.privatizer.lexicon.words

        def vectors(ids: Ids, lengths: Ids) -> Any:
            pieces = np.split(ids, np.cumsum(lengths))[:count]
            return encoder.vectors([" ".join(words[word] for word in ids) for ids in pieces])

        rows = []
        for draws, smoothed in self.draws[: size_of(self.run, "compared")]:
            clean = vectors(draws.secret, draws.lengths)
            both = (vectors(own, draws.lengths) for own in (draws.drawn, smoothed))
            rows.append([float(np.einsum("ij,ij->i", clean, own).mean()) for own in both])
        yield from map(figures.mean_of, _SENTENCES, np.transpose(rows))

    def pairs(self) -> Iterator[Measurement]:
        """Compare the STS pairs by smoothed words."""
        data, space = some_rows(self.run, "stsb"), self.privatizer.lexicon
        read, scores = CorpusReader(space), np.array(data.scores)
        corpora = read(data.first), read(data.second)

        def means(corpus: Corpus) -> Floats:
            drawn = self.privatizer.channel.substitute(corpus.ids, self.rng)
            return corpus.means(space.vectors, self.smoothed(drawn, corpus.counts))

        values = [
            pearson(cosines(*map(means, corpora)), scores)
            for _ in range(size_of(self.run, "draws"))
        ]
        yield figures.mean_of("sts_smoothed", values)


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
        static = figures.koppel_attackers(clean, labels, figures.SPLIT_TIMES)
        adaptive = [figures.koppel_attackers(seen, labels, figures.SPLIT_TIMES) for seen in read]
        for name, each in (("", [static] * len(read)), ("_adaptive", adaptive)):
            both = zip(each, read, strict=True)
            hits = np.array([figures.authors_named(who, seen, labels) for who, seen in both])
            yield from figures.over_both(
                f"attribution{name}{ending}", hits / tested, shared=_SHARED
            )


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
    yield from figures.summary_of("kept_of_lexicon", values, p95=95, max=100)


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
        apart = lexicon.distances(ids)[np.arange(len(ids)), others]
    yield Measurement("loss_of_nearest", guarantee.epsilon * float(np.median(apart)))


# What private words are still good for: similarity of words, classification, STS.


def _served(run: Run, subject: Any, rng: Generator) -> Iterator[Measurement]:
    """Do all tasks with the words of a subject, with fresh noise each time."""
    release = None if isinstance(subject, Subject) else "words"
    options: dict[str, Any] = {"floors": False, "rng": rng, "release": release}
    options["repeats"] = size_of(run, "draws")

    def correlated(measure: str, task: str, data: str) -> Iterator[Measurement]:
        result = tasks.run(task, subject, data=some_rows(run, data), **options)
        yield figures.mean_of(measure, result.score.values)

    def trained() -> Iterator[Measurement]:
        own = subject_of(subject, release=release)
        scores = figures.classified(
            _problem(run, own.space), own, ["accuracy"], size_of(run, "draws"), rng
        )
        yield from (one for one in scores if one.measure == "accuracy")

    words = correlated("word_similarity", "similarity", "men")
    yield from figures.there_or_missing(["word_similarity"], words)
    yield from figures.there_or_missing(["accuracy"], trained())
    yield from figures.there_or_missing(["sts"], correlated("sts", "sts", "stsb"))


def _problem(run: Run, space: Any) -> Any:
    return tasks.registry["classify"](data=some_rows(run, "mr")).prepare(space)


# What is measured of each mechanism: attacks on words, tasks, attribution, the guarantee.

RECOMMENDED: Final = "balanced"
_AUTHORS: Final = (
    *("attribution", "attribution_adaptive"),
    *("attribution_no_marks", "attribution_adaptive_no_marks"),
)


def own_privatizer(run: Run, mechanism: Mechanism, rng: Generator) -> Privatizer:
    """Return a privatizer on the run's lexicon, with its graph if the mechanism counts steps."""
    lexicon = run.lexicon()
    key = ("graph", lexicon.fingerprint, type(mechanism))
    graphed = run.once(key, lambda: with_graph_if_needed(lexicon, mechanism))
    return Privatizer(graphed, mechanism, rng=rng)


def frontier(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure a mechanism at one ε, or a floor. If a data set is missing, measure the rest."""
    lexicon, name = run.lexicon(), setting["mechanism"]
    if "epsilon" not in setting:
        yield from figures.floor_shares(name, len(lexicon))
        yield from _majorities(run) if name == figures.MAJORITY else _floor(run, name, lexicon, rng)
        return
    own = run.own.get(name)
    made = replace(own, epsilon=setting["epsilon"]) if own else figures.mechanism_of(setting)
    privatizer = own_privatizer(run, made, rng)
    lexicon = privatizer.lexicon
    observed = Observed(run=run, privatizer=privatizer, rng=rng)
    yield from figures.there_or_missing(_RECOVERED, observed.attacked())
    yield from figures.there_or_missing(_SENTENCES, observed.sentences())
    yield from figures.there_or_missing(["sts_smoothed"], observed.pairs())
    yield from _served(run, privatizer.channel, rng)
    yield from figures.there_or_missing(_AUTHORS, _attributed(run, privatizer.texts))
    yield from _kept_words(run, privatizer.channel, rng)
    yield from _promised(run, lexicon, privatizer.channel.guarantee)
    yield Measurement("share_in_clear", figures.share_in_clear(privatizer.channel))


def _majorities(run: Run) -> Iterator[Measurement]:
    """Measure how often the most frequent class is right, and the author of most texts."""

    def reviews() -> Iterator[Measurement]:
        yield Measurement("accuracy", _problem(run, run.lexicon()).majority)

    def authors() -> Iterator[Measurement]:
        counts = np.bincount(_authors_of(run)[1])
        yield Measurement("attribution", float(counts.max() / counts.sum()))

    yield from figures.there_or_missing(["accuracy"], reviews())
    yield from figures.there_or_missing(["attribution"], authors())


def _floor(run: Run, name: str, lexicon: Lexicon, rng: Generator) -> Iterator[Measurement]:
    """Measure what needs no mechanism: no noise, or no meaning."""
    yield from _served(run, figures.FLOORS[name](lexicon), rng)
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
    yield from figures.there_or_missing(_AUTHORS, attributed)
