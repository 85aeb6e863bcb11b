"""Trains vectors on relations and compiles them into a lexicon that opens by its name."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from malaprop.core.errors import LexiconError, OutputError
from malaprop.core.progress import Progress
from malaprop.lexicon import catalogue, importer, store
from malaprop.lexicon.poincare.quality import ReconstructionQuality, reconstruction
from malaprop.lexicon.poincare.relations import Hierarchy
from malaprop.lexicon.poincare.training import TrainingSettings, train


@dataclass(frozen=True)
class TrainingReport:
    """The result of a training: the folder, its size, and how well it reproduces the relations."""

    folder: Path
    count: int
    dimension: int
    pairs: int
    quality: ReconstructionQuality


def train_lexicon(
    hierarchy: Hierarchy,
    name: str,
    settings: TrainingSettings,
    *,
    sources: Mapping[str, str],
    licence: str | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> TrainingReport:
    """Train vectors and compile them under a name that `Lexicon.open` then accepts.

    `resume` continues an interrupted training. `force` starts over, and replaces a lexicon of that
    name.
    """
    folder, checkpoint = check_training(name, resume=resume, force=force)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        vectors = train(
            hierarchy, settings, checkpoint=checkpoint, resume=resume, progress=progress
        )
    except OSError as error:
        raise OutputError(f"{checkpoint} cannot be written: {error.strerror}") from None
    store.write(
        folder,
        [(hierarchy.words, vectors)],
        metric="poincare",
        sources=sources,
        licence=licence,
        force=force,
    )
    checkpoint.unlink(missing_ok=True)
    quality = reconstruction(hierarchy, vectors.astype(np.float64))
    count, dimension = vectors.shape
    return TrainingReport(folder, count, dimension, len(hierarchy.above), quality)


def check_training(name: str, *, resume: bool, force: bool) -> tuple[Path, Path]:
    """Return the folder of a lexicon and the file of its training; refuse to replace either."""
    importer.check_name(name)
    folder = catalogue.lexicons() / name
    if folder.exists() and not force:
        raise OutputError(
            f"A lexicon named {name} exists already: choose another name, or use `force=True`"
        )
    checkpoint = folder.with_name(f".{name}.training.npz")
    if checkpoint.exists() and not (resume or force):
        raise OutputError(
            f"A training of {name} was interrupted: continue it with `resume=True`, or start "
            "over with `force=True`"
        )
    return folder, checkpoint


def sha256_of(*files: Path) -> dict[str, str]:
    """Return the SHA-256 of each file, by its name."""
    digests = {}
    for path in files:
        try:
            with path.open("rb") as file:
                digests[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise LexiconError(f"{path} cannot be read: {error.strerror}.") from None
    return digests
