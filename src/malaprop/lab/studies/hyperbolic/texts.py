"""Texts with private slots: authors that are identified (Table III), and tasks (Table VI)."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.lab import tasks
from malaprop.lab.datasets.entries import AUTHORS, GET_AUTHORS
from malaprop.lab.studies import figures
from malaprop.lab.studies.hyperbolic.mechanisms import channel_of, lexicon_of
from malaprop.lab.studies.reproduction import ENCODERS, MissingDataError, Run
from malaprop.lab.studies.study import Measurement, Setting
from malaprop.lab.tasks.sources import Corpus, CorpusReader, Source, Subject, random_table
from malaprop.lexicon.bigrams import BigramModel, shipped_model
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.adversaries.labels import TESTED, plain
from malaprop.measure.classification import random_splits
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import Channel
from malaprop.privacy.randomness import seeded_rng
from malaprop.text import english

# Texts with slots: which words are replaced, and by what. The others stay in clear.

RARE: Final = 1e-3
"""A word is a slot if it follows the word before it with a smaller probability."""
Flags = NDArray[np.bool_]
_WORD = re.compile(r"[^\W\d_]+")


class WordIds:
    """The ids of words in a lexicon; a word that it lacks has the id of what it maps to."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._read = CorpusReader(lexicon)
        self._mapped: dict[str, int] = {}

    def __call__(self, words: Sequence[str]) -> Ids:
        index, mapped = self.lexicon.index, self._mapped
        others = [w for w in dict.fromkeys(words) if w not in index and w not in mapped]
        corpus = self._read(others)
        ends = np.cumsum(corpus.counts)
        for word, end, count in zip(others, ends.tolist(), corpus.counts.tolist(), strict=True):
            mapped[word] = int(corpus.ids[end - 1]) if count else 0
        return np.array([index[w] if w in index else mapped[w] for w in words], dtype=np.int64)


class SlotTexts:
    """Texts cut into words, in small letters, and what stands between them."""

    def __init__(self, texts: Sequence[str], lexicon: Lexicon) -> None:
        words = [_WORD.findall(text) for text in texts]
        self._between = [_WORD.split(text) for text in texts]
        self._lexicon = lexicon
        self.counts = np.array([len(row) for row in words], dtype=np.int64)
        self.flat = [word.lower() for row in words for word in row]

    @cached_property
    def known(self) -> Flags:
        return np.array([word in self._lexicon.index for word in self.flat], dtype=bool)

    def replaced(self, slots: Flags, drawn: Ids) -> list[str]:
        flat = list(self.flat)
        for place, word in zip(np.flatnonzero(slots).tolist(), drawn.tolist(), strict=True):
            flat[place] = self._lexicon.words[word].lower()
        return flat

    def joined(self, flat: Sequence[str]) -> list[str]:
        texts, begin = [], 0
        for count, between in zip(self.counts.tolist(), self._between, strict=True):
            own = flat[begin : begin + count]
            begin += count
            texts.append("".join(a + b for a, b in zip(between, [*own, ""], strict=True)))
        return texts


Protocol = Callable[[SlotTexts], Flags]
"""Tells which words of texts are replaced."""


def stop_words_kept(texts: SlotTexts) -> Flags:
    """The paper's rule in Table III; words that the lexicon lacks stay in clear, too."""
    content: Flags = np.array(
        [word not in english.FUNCTION_WORDS for word in texts.flat], dtype=bool
    )
    return texts.known & content


def rare_transitions(model: BigramModel, words: Lexicon) -> Protocol:
    """Return the paper's rule in Table VI: words that are rare after the word before them."""

    def slots(texts: SlotTexts) -> Flags:
        chances = np.zeros(len(texts.flat))  # 0 where a word is unknown
        seconds = np.array([words.index.get(word, -1) for word in texts.flat], dtype=np.int64)
        firsts = np.roll(seconds, 1)
        firsts[(np.cumsum(texts.counts) - texts.counts)[texts.counts > 0]] = model.start
        both = (firsts >= 0) & (seconds >= 0)
        chances[both] = model.probabilities(firsts[both], seconds[both])
        rare: Flags = chances < RARE
        return texts.known & rare

    return slots


PROTOCOLS: Final[Mapping[str, Protocol]] = {
    "stop words kept": stop_words_kept,
    "all words": lambda texts: np.ones(len(texts.flat), dtype=bool),
    "no words": lambda texts: np.zeros(len(texts.flat), dtype=bool),
}
"""`all words` is ours: what the lexicon lacks goes in as what it maps to."""


@dataclass(eq=False)
class Replacer:
    """Replaces words of texts by draws from a channel; counts what stays."""

    ids: WordIds
    channel: Channel | None
    """None for words drawn evenly from the lexicon."""
    protocol: Protocol
    once: bool = False
    """Whether each word has one draw for all its places: a substitution cipher."""
    words: int = 0
    replaced: int = 0
    same: int = 0

    def words_of(self, texts: SlotTexts, rng: Generator) -> list[str]:
        slots = self.protocol(texts)
        ids = self.ids([texts.flat[place] for place in np.flatnonzero(slots).tolist()])
        own, places = np.unique(ids, return_inverse=True) if self.once else (ids, slice(None))
        if self.channel is None:
            drawn = rng.integers(0, len(self.ids.lexicon), len(own))[places]
        else:
            drawn = self.channel.substitute(own, rng)[places]
        self.words += len(slots)
        self.replaced += len(ids)
        self.same += int((drawn == ids).sum())
        return texts.replaced(slots, drawn)

    @property
    def kept(self) -> float:
        """The share of the words in slots that stay."""
        return self.same / max(1, self.replaced)

    @property
    def in_clear(self) -> float:
        """The share of all words that are not in slots."""
        return 1.0 - self.replaced / max(1, self.words)


class _SlotSource(Source):
    """A repetition of private texts with slots, for tasks on other vectors."""

    def __init__(
        self, space: Lexicon, rng: Generator, replacer: Replacer, cut: dict[int, SlotTexts]
    ) -> None:
        super().__init__(space, rng)
        self._index, self._replacer, self._cut = space.index, replacer, cut

    def centroids(self, corpus: Corpus) -> Floats:
        from scipy.sparse import csr_matrix

        if id(corpus) not in self._cut:  # the task holds its corpora as long as it runs
            self._cut[id(corpus)] = SlotTexts(corpus.texts, self._replacer.ids.lexicon)
        texts = self._cut[id(corpus)]
        flat = self._replacer.words_of(texts, self._rng)
        ids = np.array([self._index.get(word, -1) for word in flat], dtype=np.int64)
        known = ids >= 0
        rows = np.repeat(np.arange(len(corpus)), texts.counts)[known]
        shape = (len(corpus), len(self.space))
        sums = csr_matrix((np.ones(len(rows)), (rows, ids[known])), shape) @ self.space.vectors
        return np.asarray(sums / np.maximum(np.bincount(rows, minlength=len(corpus)), 1)[:, None])

    def _words(self, ids: Ids) -> Ids:
        raise NotImplementedError("slots are places in texts, not words")


def _replacer(run: Run, setting: Setting, protocol: Protocol) -> Replacer:
    lexicon = lexicon_of(run, setting)
    channel = channel_of(run, setting) if "epsilon" in setting else None
    once = setting["mechanism"] == "random table" or setting.get("control") == "a table noised once"
    ids = run.once(("ids", lexicon.fingerprint), lambda: WordIds(lexicon))
    return Replacer(ids, channel, protocol, once)


# Table III: how many authors are identified by Koppel's method.

_FEWEST = 4  # texts of an author


def table3(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Identify the authors of private texts: each draw of the noise on the same splits."""
    if setting["data"] in AUTHORS and setting["data"] not in run.sets:
        raise MissingDataError(f"The data set {setting['data']}", GET_AUTHORS)
    lexicon = lexicon_of(run, setting)
    key = ("authors", setting["data"], lexicon.fingerprint)
    texts, labels = run.once(key, lambda: _read(run, setting))
    clean = texts.joined(texts.flat)
    name = setting["mechanism"]
    replacer = _replacer(run, setting, PROTOCOLS[setting["protocol"]])
    draws = [clean]
    if name != "no noise":
        count = range(run.pick(quick=2, full=3))
        draws = [texts.joined(replacer.words_of(texts, rng)) for _ in count]
    rights = np.array([_rights(run, setting, clean, labels, private) for private in draws])
    tested = len(random_splits(labels, TESTED, 1, seeded_rng(0))[0].test)
    (correct, *_) = figures.jointly("correct", rights, shared=TESTED / (1.0 - TESTED))
    yield correct
    yield Measurement("tested", tested)
    yield from figures.jointly("accuracy", rights / tested, shared=TESTED / (1.0 - TESTED))
    yield Measurement("majority", float(np.bincount(labels).max()) / len(labels))
    if name == "no noise":
        yield from figures.floor_shares(name, len(lexicon))
        return
    yield Measurement("kept", replacer.kept)
    yield Measurement("share_in_clear", replacer.in_clear)


def _rights(
    run: Run, setting: Setting, clean: list[str], labels: Ids, private: list[str]
) -> list[int]:
    """Return how many authors are named on each split; clean texts are learnt once in a run."""
    marks, times = setting["punctuation"], run.pick(quick=2, full=figures.SPLIT_TIMES)
    read = [plain(text, punctuation=marks) for text in private]
    if setting["attacker"] == "adaptive":
        return figures.authors_named(figures.koppel_attackers(read, labels, times), read, labels)
    static = run.once(
        ("koppel", setting["data"], marks),
        lambda: figures.koppel_attackers(
            [plain(text, punctuation=marks) for text in clean], labels, times
        ),
    )
    return figures.authors_named(static, read, labels)


def _read(run: Run, setting: Setting) -> tuple[SlotTexts, Ids]:
    """Read the texts of authors with enough of them; cut books into parts."""
    data = run.data(setting["data"])
    words, most = run.pick(quick=(100, 4), full=(250, 8))
    texts, authors = [], []
    for text, author in zip(data.texts, data.labels, strict=True):
        listed = text.split()
        parts = most if setting["data"] == "gutenberg" else 1
        step = max(words, len(listed) // parts)
        cut = [" ".join(listed[k * step : k * step + words]) for k in range(parts)]
        texts += cut
        authors += [author] * len(cut)
    usual = [name for name, count in Counter(authors).items() if count >= _FEWEST]
    few = usual[:: run.pick(quick=4, full=1)]  # some have to do
    chosen = [i for i, author in enumerate(authors) if author in few]
    names = {name: number for number, name in enumerate(few)}
    read = SlotTexts([texts[i] for i in chosen], lexicon_of(run, setting))
    return read, np.array([names[authors[i]] for i in chosen], dtype=np.int64)


# Table VI: eight tasks on texts whose slots, words of rare transitions, are private.

TASKS: Final = {
    **dict.fromkeys(("mr", "cr", "mpqa", "sst5", "trec"), "classify"),
    **dict.fromkeys(("sick", "mrpc"), "classify-pairs"),
    "sts14": "sts",
}
_TEST = 0.2


def table6(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Run a task on private texts; vectors of words are those of `english`."""
    space, name = run.lexicon(), setting["mechanism"]
    task = TASKS[setting["data"]]
    if name in ENCODERS:
        measures = ("pearson", "spearman") if task == "sts" else ("accuracy",)
        raise MissingDataError(name, ENCODERS[name], measures)
    data = _some(run, setting["data"])
    options: dict[str, Any] = {"data": data, "floors": False, "rng": rng}
    options["repeats"] = run.pick(quick=2, full=5)
    if name == figures.MAJORITY:
        if task != "sts":
            yield Measurement("accuracy", tasks.registry[task](data=data).prepare(space).majority)
            yield from figures.floor_shares(name, len(space))
        return
    if name == "random table":
        yield from _scores(task, tasks.run(task, random_table(space), **options))
        yield from figures.floor_shares(name, len(space))
        return
    replacer, cut = _replacer(run, setting, _protocol(run, setting)), dict[int, SlotTexts]()
    subject = Subject(
        "texts with slots",
        space,
        lambda rng: _SlotSource(space, rng, replacer, cut),
        noisy=name != "no noise",
    )
    yield from _scores(task, tasks.run(task, subject, **options))
    if name == "no noise":
        yield from figures.floor_shares(name, len(replacer.ids.lexicon))
        return
    yield Measurement("kept", replacer.kept)
    yield Measurement("share_in_clear", replacer.in_clear)
    if replacer.channel is not None:
        yield Measurement("epsilon_used", float(replacer.channel.guarantee.epsilon))


def _protocol(run: Run, setting: Setting) -> Protocol:
    slots, words = setting.get("slots", "no words"), run.lexicon()
    if slots in PROTOCOLS:
        return PROTOCOLS[slots]
    model = run.sets.get("bigrams") or run.once("bigrams", lambda: shipped_model(words))
    if model is None:
        raise MissingDataError("A bigram model", "malaprop lm train CORPUS -o MODEL")
    return rare_transitions(model, words)


def _some(run: Run, name: str) -> Any:
    """Return a part of a data set, spread over it and over the parts that it is divided into."""
    data, most = run.data(name), run.pick(quick=100, full=1500, paper=10**9)
    step = max(1, len(data) // most)
    return run.once(("some", name), lambda: data.rows(range(0, len(data), step)))


def _scores(task: str, result: tasks.BenchmarkResult) -> Iterator[Measurement]:
    if task == "sts":
        yield figures.estimated("pearson", result.measures["pearson_groups"])
        yield figures.estimated("spearman", result.measures["spearman_groups"])
        return
    shared = _TEST / (1.0 - _TEST) if "splits" in result.over else 0.0
    yield figures.estimated("accuracy", result.measures["accuracy"], shared=shared)
