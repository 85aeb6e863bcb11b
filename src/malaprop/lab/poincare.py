"""Training vectors in the Poincaré ball from IS-A relations (Nickel & Kiela 2017).

For each word u and each word v above it, training lowers

    −ln( e^−2d(u, v) / (e^−2d(u, v) + Σ e^−2d(u, w)) ),    w over the words that are not above u,

by stochastic gradient descent on the ball. It differs from the paper where that gave better vectors
in less time:

- the start: words are placed around the word above them, general ones near the origin, instead of
  at random. A word near the edge of the ball can hardly turn any more, so training cannot correct a
  start in the wrong direction;
- the factor 2, where the paper has 1: it stresses the w nearest to u, whose order decides the
  quality;
- the sum over w: it always includes the most general words, which are near everything. The others
  are sampled, and stand for those that were not;
- the steps: Riemannian Adam (Bécigneul & Ganea 2019), along geodesics.

On the command line:  malaprop lexicon train-poincare
"""

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.lexicon import store
from malaprop.lexicon.formats import untrusted
from malaprop.lexicon.formats.arrays import read_npz
from malaprop.privacy import metrics
from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.errors import LexiconError, OutputError, checked_number, require_whole
from malaprop.privacy.metrics import conformal
from malaprop.privacy.progress import Progress, report
from malaprop.private_files import atomic_write

LIMIT = 1.0 - 1e-5
"""The largest norm of a trained vector."""
MAX_PAIRS = 20_000_000
"""Most pairs of a word and one above it; all nouns of WordNet have less than a million."""
_START = 5.0  # distance from the origin at which the most specific words start
_OUTWARD = 0.3  # bias of starts away from the origin, against a random direction
_DECAY, _SQUARES_DECAY = 0.9, 0.99  # Adam's β₁ and β₂
_LAST_RATE = 0.02  # fraction of the rate that remains at the end
_TINY = 1e-9  # the gradient of a distance is undefined at distance 0
_LONGEST_FINGERPRINT = 1 << 16

Pair = tuple[str, str]
"""A child and its parent."""


@dataclass(frozen=True)
class Hierarchy:
    """Words and the transitive closure of their IS-A relations.

    The words above word i are `above[starts[i]:starts[i + 1]]`.

    >>> pets = Hierarchy.of([("cat", "mammal"), ("dog", "mammal"), ("mammal", "animal")])
    >>> pets.words
    ('animal', 'cat', 'dog', 'mammal')
    >>> pets.above_of(np.array([1])).tolist()
    [0, 3]
    """

    words: tuple[str, ...]
    starts: Ids
    above: Ids

    @classmethod
    def of(cls, pairs: Iterable[Pair], order: Sequence[str] = ()) -> "Hierarchy":
        """Build it from pairs (child, parent). Words in `order` come first, in that order."""
        parents: dict[str, set[str]] = defaultdict(set)
        for child, parent in pairs:
            parents[child].add(parent)
        names = set(parents).union(*parents.values())
        if not names:
            raise LexiconError("There are no relations to train on: give at least one pair.")
        listed = [word for word in dict.fromkeys(order) if word in names]
        words = (*listed, *sorted(names.difference(listed)))
        index = {word: i for i, word in enumerate(words)}
        above: list[int] = []
        starts = [0]
        for word in words:
            above += sorted(index[other] for other in _all_above(word, parents) - {word})
            starts.append(len(above))
            if len(above) > MAX_PAIRS:
                raise LexiconError(
                    f"The relations give more than {MAX_PAIRS:,} pairs of a word and one above it, "
                    "directly or through others: leave some out."
                )
        return cls(words, np.array(starts, dtype=np.int64), np.array(above, dtype=np.int64))

    @property
    def counts(self) -> Ids:
        """The number of words above each word."""
        return np.diff(self.starts)

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of words and relations."""
        digest = hashlib.sha256("\n".join(self.words).encode())
        digest.update(self.starts.tobytes() + self.above.tobytes())
        return digest.hexdigest()

    def above_of(self, ids: Ids) -> Ids:
        """Return the words above each of `ids`, one list after the other."""
        counts = self.starts[ids + 1] - self.starts[ids]
        ends = np.cumsum(counts)
        places = np.repeat(self.starts[ids] - ends + counts, counts) + np.arange(counts.sum())
        return np.asarray(self.above[places])


def _all_above(word: str, parents: Mapping[str, Iterable[str]]) -> set[str]:
    """Return all that is reached upwards, the word itself only if relations form a cycle."""
    reached: set[str] = set()
    waiting = [word]
    while waiting:
        new = set(parents.get(waiting.pop(), ())) - reached
        reached |= new
        waiting += new
    return reached


def read_pairs(path: Path) -> list[Pair]:
    """Read pairs from a file with a child, a tab and its parent on each line."""
    pairs = []
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: untrusted.line(file, str(path)), b""), 1):
                if line.strip():
                    pairs.append(_pair(line.decode(), f"{path}, line {number}"))
    except UnicodeDecodeError:
        raise LexiconError(
            f"{path} is not UTF-8 text: write one relation per line of text."
        ) from None
    except OSError as error:
        raise LexiconError(f"{path} cannot be read: {error.strerror}.") from None
    return pairs


def _pair(line: str, where: str) -> Pair:
    child, _, parent = line.rstrip("\r\n").partition("\t")
    for word in (child, parent):
        if not word or not word.isprintable() or any(map(str.isspace, word)):
            raise LexiconError(
                f"{where}: a relation must be two words without spaces, the child first, with a "
                "tab between them."
            )
    return child, parent


@dataclass(frozen=True)
class ReconstructionQuality:
    """How well vectors reproduce a hierarchy. Both values are 1 if they do so perfectly.

    As in Table 1 of Nickel & Kiela (2017): of all words in the order of their distance to a word,
    those above it should come first.
    """

    mean_rank: float
    """The mean rank of a word above, among the words that are not above; at best 1."""
    average_precision: float
    """The average precision of the words above a word, averaged over words; at best 1."""


def reconstruction(hierarchy: Hierarchy, vectors: Floats) -> ReconstructionQuality:
    """Return the quality of vectors, over all words that have a word above them."""
    ids = np.flatnonzero(hierarchy.counts)
    squares = 1.0 - conformal(vectors)
    ranks, precisions = [], []
    for block in blocks(len(ids), row_cells=len(vectors)):
        own = ids[block]
        # ‖x − y‖²/(1 − ‖y‖²) orders the y as the distance does.
        rows = squares[own, None] + squares - 2.0 * (vectors[own] @ vectors.T)
        rows /= 1.0 - squares
        rows[np.arange(len(own)), own] = np.inf
        for row, word in zip(rows, own, strict=True):
            above = hierarchy.above_of(np.array([word]))
            far = np.sort(row[above])
            row[above] = np.inf
            # For each word above, nearest first: 1 + how many other words are at least as near.
            rank = 1 + np.searchsorted(np.sort(row[row <= far[-1]]), far, side="right")
            place = np.arange(1, len(rank) + 1)
            ranks.append(rank)
            precisions.append(float(np.mean(place / (place + rank - 1))))
    return ReconstructionQuality(float(np.concatenate(ranks).mean()), float(np.mean(precisions)))


def gradients(
    hierarchy: Hierarchy, vectors: Floats, words: Ids, others: Ids, weights: Floats
) -> tuple[Ids, Floats]:
    """Return the ids of all words involved, and the Euclidean gradient of the loss of `words`.

    The words above them are contrasted with `others`, each of which stands for as many words as its
    weight says.
    """
    # All pairs of a word and one above it: the position of the first, the second's id.
    rows = np.repeat(np.arange(len(words)), hierarchy.counts[words])
    above = hierarchy.above_of(words)
    own = vectors[words]
    negative = _Distances(own, vectors[others])
    decay = negative.decay * weights
    # No word is contrasted with itself, or with a word above it.
    columns = np.full(len(vectors), -1)
    columns[others] = np.arange(len(others))
    excluded = columns[np.concatenate([above, words])]
    present = excluded >= 0
    decay[np.concatenate([rows, np.arange(len(words))])[present], excluded[present]] = 0.0
    total = decay.sum(axis=1)

    positive = _Distances(own[rows], vectors[above], paired=True)
    both = positive.decay + total[rows]
    # Derivatives of the loss with respect to distances: to words above, and to the others.
    pull = 2.0 * total[rows] / both
    push = -2.0 * decay * np.bincount(rows, 1.0 / both, minlength=len(own))[:, None]

    gradient = np.zeros_like(vectors)
    from_own, from_above = positive.backward(pull)
    np.add.at(gradient, words[rows], from_own)
    np.add.at(gradient, above, from_above)
    from_own, from_others = negative.backward(push)
    np.add.at(gradient, words, from_own)
    np.add.at(gradient, others, from_others)
    ids = np.unique(np.concatenate([words, others, above]))
    return ids, gradient[ids]


class _Distances:
    """Distances of all x to all y, or of each x to its y, and their derivatives."""

    def __init__(self, x: Floats, y: Floats, *, paired: bool = False) -> None:
        self._x, self._y, self._paired = x, y, paired
        self._cx, self._cy = conformal(x), conformal(y)
        if paired:
            self._chords = np.einsum("ij,ij->i", x - y, x - y)
            self._scale = 1.0 / (self._cx * self._cy)
        else:
            squares = 2.0 - self._cx[:, None] - self._cy
            self._chords = np.maximum(squares - 2.0 * (x @ y.T), 0.0)
            self._scale = 1.0 / (self._cx[:, None] * self._cy)
        excess = 2.0 * self._chords * self._scale  # cosh d − 1
        self._sinh = np.sqrt(excess * (excess + 2.0))
        decay = 1.0 / (1.0 + excess + self._sinh)
        self.decay: Floats = decay * decay
        """e^−2d"""

    def backward(self, by_distance: Floats) -> tuple[Floats, Floats]:
        """Return the gradients at x and y, given the derivatives with respect to distances.

        ∂d/∂x = 4/(sinh d·(1 − ‖x‖²)(1 − ‖y‖²))·(x − y + ‖x − y‖²/(1 − ‖x‖²)·x)
        """
        factors = 4.0 * by_distance * self._scale / np.maximum(self._sinh, _TINY)
        radial = factors * self._chords
        if self._paired:
            towards = factors[:, None] * (self._x - self._y)
            at_x = towards + (radial / self._cx)[:, None] * self._x
            return at_x, (radial / self._cy)[:, None] * self._y - towards
        own = factors.sum(axis=1) + radial.sum(axis=1) / self._cx
        other = factors.sum(axis=0) + radial.sum(axis=0) / self._cy
        at_x = own[:, None] * self._x - factors @ self._y
        return at_x, other[:, None] * self._y - factors.T @ self._x


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    dimension: int = 10
    epochs: int = 200
    rate: float = 0.3
    negatives: int = 200
    """Words sampled for each batch."""
    general: int = 300
    """Words included in every batch: those with the most words below them."""
    batch: int = 256
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("dimension", "epochs", "negatives", "general", "batch", "seed"):
            require_whole(self, name, 0 if name in ("seed", "general") else 1)
        limits = "above 0 and at most 1"
        checked_number(self.rate, "'rate' of a training", limits, lambda rate: 0.0 < rate <= 1.0)


@dataclass
class _State:
    """The state of a training: the vectors, and Adam's two moving averages of their gradients."""

    epoch: int
    vectors: Floats
    momentum: Floats
    squares: Floats
    updates: Ids

    def save(self, path: Path, fingerprint: str) -> None:
        """Replace a file, from which the training with that fingerprint can resume."""
        with atomic_write(path) as part:
            np.savez(part, token=np.array(fingerprint), **vars(self))

    @classmethod
    def load(cls, path: Path, fingerprint: str, shape: tuple[int, int]) -> "_State | None":
        """Read the state of a training of vectors of this shape; None if there is no file."""
        if not path.is_file():
            return None
        try:
            token = str(read_npz(path, ["token"], _LONGEST_FINGERPRINT)["token"])
            state = cls._read(path, shape) if token == fingerprint else None
        except (OSError, ValueError, TypeError):
            raise LexiconError(
                f"{path} is not a complete checkpoint: train again without resuming."
            ) from None
        if state is None:
            raise LexiconError(
                f"{path} belongs to a training with other relations or settings: use those, or "
                "train again without resuming."
            )
        return state

    @classmethod
    def _read(cls, path: Path, shape: tuple[int, int]) -> "_State":
        arrays = read_npz(path, cls.__dataclass_fields__, 8 * math.prod(shape))
        shapes = {"vectors": shape, "momentum": shape, "squares": shape[:1], "updates": shape[:1]}
        for name, wanted in shapes.items():
            kind = np.int64 if name == "updates" else np.float64
            array = arrays[name]
            if array.shape != wanted or array.dtype != kind or not np.isfinite(array).all():
                raise ValueError("arrays of other shapes or types")
        # Copies, since arrays from the file are read-only and training changes them.
        return cls(int(arrays["epoch"].item()), *(arrays[name].copy() for name in shapes))


def train(
    hierarchy: Hierarchy,
    settings: TrainingSettings,
    *,
    checkpoint: Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> NDArray[np.float32]:
    """Train vectors for the words of a hierarchy: the same for the same settings, resumed or not.

    The state is saved to the file `checkpoint` after each epoch. With `resume`, an interrupted
    training continues from there. `progress` is called with the epochs done and the total.
    """
    fingerprint = f"{hierarchy.fingerprint} {sorted(asdict(settings).items())}"
    shape = (len(hierarchy.words), settings.dimension)
    state = _State.load(checkpoint, fingerprint, shape) if resume and checkpoint else None
    if state is None:
        vectors = _starting_points(hierarchy, settings, _rng(settings, 0))
        updates = np.zeros(shape[0], dtype=np.int64)
        state = _State(0, vectors, np.zeros(shape), np.zeros(shape[0]), updates)
    while state.epoch < settings.epochs:
        _epoch(hierarchy, settings, state)
        if checkpoint is not None:
            state.save(checkpoint, fingerprint)
        report(progress, state.epoch, settings.epochs)
    rounded = state.vectors.astype(np.float32)
    equal = len(rounded) - len(np.unique(rounded, axis=0))
    if equal:
        raise LexiconError(
            f"{equal} words have the same vector as another word, at distance 0: train longer, or "
            "in more dimensions."
        )
    return rounded


def _rng(settings: TrainingSettings, epoch: int) -> Generator:
    """Return a generator of its own for each epoch, so that resuming changes nothing."""
    return Generator(np.random.PCG64([settings.seed, epoch]))


def _starting_points(hierarchy: Hierarchy, settings: TrainingSettings, rng: Generator) -> Floats:
    """Place words around the nearest word above them; the fewer words below, the farther out."""
    size = len(hierarchy.words)
    below = np.bincount(hierarchy.above, minlength=size)
    far = _START * (1.0 - np.log1p(below) / np.log(size + 1))
    directions = _units(rng.standard_normal((size, settings.dimension)))
    vectors = np.zeros((size, settings.dimension))
    placed = np.zeros(size, dtype=bool)
    for word in np.argsort(-below, kind="stable"):
        above = hierarchy.above_of(np.array([word]))
        above = above[placed[above]]
        centre, step, direction = np.zeros((1, settings.dimension)), far[word], directions[[word]]
        if len(above):
            parent = above[np.argmin(below[above])]
            centre, step = vectors[[parent]], max(far[word] - far[parent], 0.3)
            direction = _units(direction + _OUTWARD * _units(centre))
        vectors[word] = metrics.lower(metrics.travel(centre, direction, np.array([step])))[0]
        placed[word] = True
    return vectors


def _units(vectors: Floats) -> Floats:
    """Scale vectors to length 1; zero stays zero."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300))


def _epoch(hierarchy: Hierarchy, settings: TrainingSettings, state: _State) -> None:
    """Train on all words that have a word above them, once."""
    rng = _rng(settings, state.epoch + 1)
    rate = settings.rate * (1.0 - (1.0 - _LAST_RATE) * (state.epoch / settings.epochs))
    order = rng.permutation(np.flatnonzero(hierarchy.counts))
    below = np.bincount(hierarchy.above, minlength=len(state.vectors))
    general, rest = np.split(np.argsort(-below, kind="stable"), [settings.general])
    count = min(settings.negatives, len(rest))
    weights = np.concatenate([np.ones(len(general)), np.full(count, len(rest) / max(count, 1))])
    for start in range(0, len(order), settings.batch):
        others = np.concatenate([general, rng.choice(rest, count, replace=False)])
        words = order[start : start + settings.batch]
        _step(state, *gradients(hierarchy, state.vectors, words, others, weights), rate)
    state.epoch += 1


def _step(state: _State, ids: Ids, gradient: Floats, rate: float) -> None:
    """Take Adam's step along geodesics. Moments are kept in orthonormal frames of the ball."""
    x = state.vectors[ids]
    steepest = gradient * (metrics.conformal(x) / 2.0)[:, None]
    state.updates[ids] += 1
    updates = state.updates[ids]
    momentum = _DECAY * state.momentum[ids] + (1.0 - _DECAY) * steepest
    squares = np.einsum("ij,ij->i", steepest, steepest)
    squares = _SQUARES_DECAY * state.squares[ids] + (1.0 - _SQUARES_DECAY) * squares
    state.momentum[ids], state.squares[ids] = momentum, squares
    scale = rate / np.sqrt(squares / (1.0 - _SQUARES_DECAY**updates) + 1e-16)
    steps = momentum * (scale / (1.0 - _DECAY**updates))[:, None]
    far = np.minimum(np.linalg.norm(steps, axis=1), 1.0)
    moved = metrics.mobius_add(x, -np.tanh(far / 2.0)[:, None] * _units(steps))
    state.vectors[ids] = metrics.shorten(moved, LIMIT)


def train_lexicon(
    hierarchy: Hierarchy,
    name: str,
    settings: TrainingSettings,
    *,
    sources: Iterable[Path],
    licence: str | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> ReconstructionQuality:
    """Train vectors and compile them under a name that `Lexicon.open` then accepts.

    `sources` are the files that relations come from. `resume` continues an interrupted training.
    `force` starts over, and replaces a lexicon of that name.
    """
    folder, checkpoint = check_training(name, resume=resume, force=force)
    digests = {path.name: store.digest_of(path) for path in sources}
    vectors = train(hierarchy, settings, checkpoint=checkpoint, resume=resume, progress=progress)
    store.write(
        folder,
        [(hierarchy.words, vectors)],
        metric="poincare",
        sources=digests,
        licence=licence,
        force=force,
    )
    checkpoint.unlink(missing_ok=True)
    return reconstruction(hierarchy, vectors.astype(np.float64))


def check_training(name: str, *, resume: bool, force: bool) -> tuple[Path, Path]:
    """Return the folder of a lexicon and the file of its training; refuse to replace either."""
    folder = store.folder_for(name, force=force)
    checkpoint = folder.with_name(f".{name}.training.npz")
    if checkpoint.exists() and not (resume or force):
        raise OutputError(
            f"A training of {name} was interrupted: continue it with `resume=True`, or start "
            "over with `force=True`"
        )
    return folder, checkpoint


# IS-A relations between English nouns, from WordNet's files.

_WORD = re.compile("[a-z]+")
# Common nouns and names, but no symbols and acronyms such as He (helium), WHO and IT.
_WRITTEN = re.compile("[a-z]+|[A-Z][a-z]{2,}")
_ABOVE = ("@", "@i")  # hypernym; class of an instance, such as a city


class WordNet:
    """The nouns of WordNet, from a folder with its files.

        index.noun    lemma … synsets, the most frequent sense first
        data.noun     synset, its lemmas as written, its pointers
        cntlist.rev   how often each sense occurs in tagged text, for all parts of speech (optional)

    A word stands for its first sense as a noun. If no word stands for a synset, for instance
    because all its names have several words, its hyponyms are attached to the synsets above it.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._lemmas, self._above = _senses(folder / "data.noun")
            index = _lines(folder / "index.noun")
            self._first = {columns[0]: columns[6 + int(columns[3])] for columns in index}
            self._counts = _counts(folder / "cntlist.rev")
            if not self._above.keys() >= {*self._first.values()}.union(*self._above.values()):
                raise ValueError("senses are missing")  # noqa: TRY301
        except (OSError, ValueError, IndexError):
            raise LexiconError(
                f"{folder} has no index.noun and data.noun in WordNet's format: name the folder "
                "with WordNet's database files."
            ) from None
        names = ("index.noun", "data.noun", "cntlist.rev")
        self.files = [folder / name for name in names if (folder / name).is_file()]

    def relations(self, vocabulary: Collection[str] | None = None) -> list[Pair]:
        """Return each noun with the nouns directly above it, as pairs (child, parent).

        The nouns are those of a `vocabulary` and those above them; by default, all nouns.
        """
        names = self._names(self._first if vocabulary is None else vocabulary)
        nameless = {sense: above for sense, above in self._above.items() if sense not in names}
        pairs = set()
        for synset, words in names.items():
            # The nearest synsets above that have a name.
            nearest = set(self._above[synset])
            nearest = nearest.union(*(_all_above(above, nameless) for above in nearest))
            parents = [parent for above in nearest for parent in names.get(above, ())]
            pairs |= {(word, parent) for word in words for parent in parents}
        return sorted(pairs)

    def _names(self, vocabulary: Collection[str]) -> dict[str, list[str]]:
        """Return the words for each synset: those of the vocabulary, and one for each above."""
        names: dict[str, list[str]] = defaultdict(list)
        for word in sorted(set(vocabulary)):
            if self._is_noun(word):
                names[self._first[word]].append(word)
        for synset in sorted(set[str]().union(*(_all_above(own, self._above) for own in names))):
            if synset not in names:
                nouns = (w for w in self._lemmas[synset] if self._is_noun(w))
                first = next((w for w in nouns if self._first[w] == synset), None)
                if first:
                    names[synset].append(first)
        return dict(names)

    def _is_noun(self, word: str) -> bool:
        """Tell whether a word is a noun, and not more often a verb, an adjective or an adverb."""
        if not _WORD.fullmatch(word) or word not in self._first:
            return False
        written = [w for w in self._lemmas[self._first[word]] if w.lower() == word]
        seen = self._counts.get(word, {})
        return bool(written and _WRITTEN.fullmatch(written[0])) and (
            seen.get("1", 0) >= max(seen.values(), default=0)
        )


def _lines(path: Path) -> Iterator[list[str]]:
    """Yield the fields of each line, without the licence at the top, which is indented."""
    with path.open("rb") as file:
        for line in iter(lambda: untrusted.line(file, path.name), b""):
            if not line.startswith(b"  "):
                yield line.decode().split("|")[0].split()


def _senses(path: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the lemmas of each sense as written, and the senses above it."""
    lemmas, above = {}, {}
    for columns in _lines(path):
        offset, count = columns[0], int(columns[3], 16)
        lemmas[offset] = columns[4 : 4 + 2 * count : 2]
        pointers = columns[5 + 2 * count :]
        starts = range(0, len(pointers) - 3, 4)
        above[offset] = [pointers[i + 1] for i in starts if pointers[i] in _ABOVE]
    return lemmas, above


def _counts(path: Path) -> dict[str, dict[str, int]]:
    """Return how often each lemma occurs, by the digit of its part of speech."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    if path.is_file():
        for key, _, count in _lines(path):
            lemma, _, sense = key.partition("%")
            counts[lemma]["3" if sense[0] == "5" else sense[0]] += int(count)
    return counts
