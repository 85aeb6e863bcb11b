"""The lexicon: a finite metric space of words."""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from malaprop.lexicon import store
from malaprop.lexicon.formats import read, untrusted
from malaprop.lexicon.search import NearestSearch, search_on
from malaprop.lexicon.tables import Tables, kept_tables, tables_of
from malaprop.privacy.arrays import Floats, Ids, Keys, checked_ids
from malaprop.privacy.errors import LexiconError, MetricError, ParameterError, printable
from malaprop.privacy.guarantee import proved
from malaprop.privacy.lazy_rows import NearWords
from malaprop.privacy.metrics import (
    Custom,
    DistanceRows,
    Euclidean,
    KeyedDistances,
    Metric,
    MetricSpace,
    as_metric,
)
from malaprop.privacy.word_graph import Steps, WordGraph, graph_of


def _checked_words(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words, or refuse them: empty, repeated, or not writable on a line."""
    if isinstance(words, str):
        raise LexiconError("The words of a lexicon must be a list of words, not one string.")
    checked = tuple(words)
    if not checked:
        raise LexiconError("A lexicon needs at least one word. Got none.")
    for place, word in enumerate(checked):
        if not isinstance(word, str) or not word or not _writable(word):
            raise LexiconError(
                "The words of a lexicon must be non-empty strings of valid Unicode without line "
                f"breaks or control characters; word {place} is not."
            )
    if len(set(checked)) < len(checked):
        raise LexiconError(
            f"The words of a lexicon must be distinct; {len(checked) - len(set(checked))} of them "
            "occur again. `malaprop lexicon import` keeps the first of each."
        )
    return checked


def _writable(word: str) -> bool:
    """Tell whether a word can stand on a line of a UTF-8 file, and can be seen there."""
    seen = any(sign.isprintable() and not sign.isspace() for sign in word)
    return seen and not untrusted.CONTROL.search(word)


def _checked_vectors(vectors: Any, count: int) -> NDArray[np.float32]:
    """Return a read-only float32 matrix of `count` finite rows, or refuse the vectors."""
    with np.errstate(over="ignore"):  # what overflows is infinite, and refused below
        try:
            # Of complex numbers, numpy would drop the imaginary parts.
            real = not np.iscomplexobj(vectors)
            array = np.array(vectors, dtype=np.float32, order="C") if real else None
        except (TypeError, ValueError):
            array = None
    if array is None:
        raise LexiconError("The vectors of a lexicon must be a matrix of numbers, a row a word.")
    if array.ndim != 2 or array.shape[1] == 0:
        raise LexiconError(
            f"The vectors of a lexicon must be a matrix, a row a word. Got shape {array.shape}; "
            "one-dimensional vectors are a column: array.reshape(-1, 1)."
        )
    if len(array) != count:
        raise LexiconError(f"A lexicon needs a row a word. Got {count} words, {len(array)} rows.")
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array).all(axis=1)))
        raise LexiconError(
            f"The vectors of a lexicon must be finite in float32; row {row} has NaN or infinity."
        )
    array.setflags(write=False)
    return array


@proved("docs/proofs/audit.md")
class Lexicon:
    """Words, their vectors and a metric. It is public, read-only, and never grows.

    It carries `tables`, what was computed for it beforehand: audited exponents, balances, lists of
    nearest words. `Lexicon.open`, `with_graph` and `with_metric` look for them in the package and
    in the user's folder; the constructor does not: see `with_kept_tables`.

    >>> lexicon = Lexicon(["cold", "cool", "hot"], [[0.0], [1.0], [9.0]])
    >>> len(lexicon), lexicon.index["hot"], str(lexicon.metric)
    (3, 2, 'euclidean')
    >>> lexicon.distances([0])
    array([[0., 1., 9.]])
    >>> lexicon.neighbours("cool", 2)
    [('cold', 1.0), ('hot', 8.0)]
    """

    language = "english"
    """The language of its words, the only one so far. The fingerprint leaves it out."""
    name: str = ""
    """The name that it was opened by, or nothing."""
    words: tuple[str, ...]
    """The words; a word's place is its id."""
    vectors: NDArray[np.float32]
    """The words' vectors, a row each, read-only."""
    metric: Metric
    """What distances are measured in."""
    made: tuple[str, ...] = ()
    """How it was made of other lexicons, a line for each step; empty for most."""
    _stated = ""  # the fingerprint, as the folder that it was opened from states it
    _tables = Tables()

    def __init__(
        self,
        words: Iterable[str],
        vectors: Any,
        metric: str | Metric | Callable[[Any, Any], Any] = "euclidean",
    ) -> None:
        """Make a lexicon of `words` and their `vectors`, a row each.

        Duplicate or empty words, NaN, infinity, and sizes that do not match are refused;
        `malaprop lexicon import` repairs files that have them.
        """
        checked = _checked_words(words)
        vectors = _checked_vectors(vectors, len(checked))
        self.__dict__.update(words=checked, vectors=vectors, metric=as_metric(metric))
        self._rows  # noqa: B018  a user's own function is checked now, not at its first use

    @classmethod
    def open(cls, name_or_path: str | os.PathLike[str]) -> "Lexicon":
        """Open an embedded or imported lexicon by name, or one from a file, with its tables.

        Files may be GloVe, word2vec or fastText text (also in gz or zip), word2vec binary, and
        .npy or .safetensors with a vocabulary beside; see docs/howto/lexicons.md.
        """
        path = store.resolve(name_or_path)
        if not path.is_dir():
            return cls(*read(path)).with_kept_tables()
        stored = store.load(path)
        return cls._of(
            words=stored.words,
            vectors=stored.vectors,
            metric=stored.metric,
            name=path.name,
            made=tuple(stored.meta.get("made", ())),
            _stated=stored.fingerprint,
            # By what the folder states: `tables` computes the fingerprint before giving them out.
            _tables=kept_tables(stored.fingerprint),
        )

    @classmethod
    def _of(cls, **checked: Any) -> "Lexicon":
        self = cls.__new__(cls)
        self.__dict__.update(checked)
        return self

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the lexicon, its graph included, into a folder that `Lexicon.open` opens.

        Tables are not written there: whoever opens the folder could not trust them.
        """
        if isinstance(self.metric, Custom):
            raise LexiconError(
                "A lexicon with a function of your own for its metric cannot be written: code can "
                "change. Use one of the named metrics, or a word graph."
            )
        words = [(self.words, self.vectors)]
        store.write(Path(folder), words, metric=self.metric, made=self.made, force=force)

    def with_metric(self, metric: str | Metric | Callable[[Any, Any], Any]) -> "Lexicon":
        """Return the same words and vectors under another metric, with the tables kept for it."""
        kept = {"words": self.words, "vectors": self.vectors, "name": self.name, "made": self.made}
        other = Lexicon._of(metric=as_metric(metric), **kept)
        other._rows  # noqa: B018  as in the constructor
        if "fingerprint" in self.__dict__:
            token = other.metric.token(other.vectors).hex()
            if known := store.SHIPPED["fingerprints"].get(self.fingerprint, {}).get(token):
                other.__dict__["fingerprint"] = known
        return other.with_kept_tables()

    def with_graph(
        self,
        *,
        edges: Iterable[tuple[str, str] | tuple[str, str, float]] | None = None,
        progress: Callable[[int, int], None] | None = None,
        **options: Any,
    ) -> "Lexicon":
        """Return the same words under the metric `graph`, steps between near words.

        The graph is made from the vectors by the `options` of `malaprop.GraphOptions` (cap,
        candidates, components, anchors, anchor_weight, cutoff, apart); one that was shipped or
        kept is opened at once, with its balances. Or it is made of your own `edges`, pairs of
        words with a weight or without (1); then `cutoff` is the only option.

        >>> colours = Lexicon(["red", "rose", "blue"], [[0.0], [1.0], [9.0]])
        >>> near = colours.with_graph(edges=[("red", "rose"), ("rose", "blue", 3)])
        >>> near.steps("red", "blue"), near.path("red", "blue")
        (4.0, ['red', 'rose', 'blue'])
        """
        from malaprop.lexicon.graph import graph_for, graph_of_edges

        if edges is None:
            return self.with_metric(Steps(graph_for(self, options, progress)))
        return self.with_metric(Steps(graph_of_edges(self, edges, options)))

    def subset(self, words: Iterable[str]) -> "Lexicon":
        """Return a lexicon of those `words` that are in this one, in this one's order.

        A word graph would be another one, so that is refused. The subset carries no tables: what
        was computed for all words does not hold for some of them.

        >>> colours = Lexicon(["red", "rose", "blue"], [[0.0], [1.0], [9.0]])
        >>> colours.subset(["blue", "red", "mauve"]).words
        ('red', 'blue')
        """
        if graph_of(self.metric) is not None:
            raise MetricError(
                "Some words of a word graph make another graph: take the subset first, then use "
                "with_graph()."
            )
        wanted = set(words)
        ids = [i for i, word in enumerate(self.words) if word in wanted]
        if not ids:
            raise LexiconError("None of these words is in the lexicon.")
        part = Lexicon([self.words[i] for i in ids], self.vectors[ids], self.metric)
        return part.made_from(self, f"of which {len(ids):,} words were kept")

    def extend(
        self,
        words: Iterable[str],
        vectors: "str | os.PathLike[str] | Mapping[str, Any] | None" = None,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> "Lexicon":
        """Return a lexicon with more words after those of this one; you declare them public.

        `vectors`, a file or a mapping, may have vectors for them, of this lexicon's own space. For
        the others vectors are made up from known words that are near in meaning, by the public
        vocabulary, or else in spelling. Words are folded (`fold`). Those that the lexicon has, that
        come again, or that no token can be, are left out; `made` says how many were added. The
        result carries no tables, and word graphs are refused, as by `subset`.

        >>> drugs = Lexicon(["fever", "warfarin", "insulin"], [[0.0], [1.0], [2.0]])
        >>> drugs.extend(["Clopidogrel", "fever", "500mg"]).words
        ('fever', 'warfarin', 'insulin', 'clopidogrel')
        """
        from malaprop.lexicon.extend import extend

        return extend(self, words, vectors, progress=progress)

    def made_from(self, source: "Lexicon", how: str) -> "Lexicon":
        """Return the same lexicon with a note of the one that it was made of."""
        called = f"{source.name or 'a lexicon'} ({len(source):,} words, fingerprint "
        note = f"{called}{source.fingerprint}), {how}"
        return self._of(**self.__dict__ | {"made": (*source.made, printable(note))})

    @property
    def tables(self) -> Tables:
        """The tables computed for exactly this lexicon; mechanisms read them instead of files."""
        if self._tables.all:
            self.fingerprint  # noqa: B018  raises if the files are not those that it states
        return self._tables

    def with_tables(self, tables: Tables) -> "Lexicon":
        """Return the same lexicon carrying these tables and no others; you vouch for them."""
        if any(table.fingerprint != self.fingerprint for table in tables.all):
            raise LexiconError(
                "A lexicon can carry only tables that were made for it: the fingerprint of one of "
                "these tables is not the lexicon's."
            )
        return self._of(**self.__dict__ | {"_tables": tables})

    def with_kept_tables(self) -> "Lexicon":
        """Return the same lexicon with the tables that are in the package and the user's folder.

        For lexicons made in memory, and to see tables that were kept since this one was opened.
        """
        if isinstance(self.metric, Custom):  # code can change, so nothing is kept for it
            return self
        return self.with_tables(kept_tables(self.fingerprint))

    def steps(self, word: str, other: str) -> float:
        """Return the length of a shortest path between two words; the cut-off does not apply."""
        return float(self._graph.lengths(self._id(word))[self._id(other)])

    def path(self, word: str, other: str) -> list[str]:
        """Return the words on a shortest path between two words in the word graph."""
        return [self.words[i] for i in self._graph.path(self._id(word), self._id(other))]

    def neighbours_by_step(self, word: str, steps: float = 2) -> dict[float, list[str]]:
        """Return the words within `steps` steps, by their distance; the cut-off does not apply."""
        row = self._graph.lengths(self._id(word))
        return {
            float(step): [self.words[i] for i in np.flatnonzero(row == step)]
            for step in np.unique(row[(row > 0) & (row <= steps)])
        }

    @property
    def _graph(self) -> WordGraph:
        graph = graph_of(self.metric)
        if graph is None:
            raise MetricError(
                f"This lexicon measures {self.metric} distances and has no word graph. Use "
                "lexicon.with_graph()."
            )
        return graph

    def _id(self, word: str) -> int:
        if not isinstance(word, str) or word not in self.index:
            raise LexiconError(
                "That word is not in the lexicon; `lexicon.index` has those that are."
            )
        return self.index[word]

    @cached_property
    def _rows(self) -> DistanceRows:
        return self.metric.on(self.vectors)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("A lexicon is read-only: make another one.")

    def __getstate__(self) -> dict[str, Any]:
        # What can be computed again need not travel, and closures cannot. Tables do. In order:
        # equal lexicons give equal pickles, whatever was asked of them first.
        names = sorted(self.__dict__.keys() - {"_rows", "index"})
        return {name: self.__dict__[name] for name in names}

    @property
    def opened_as(self) -> str:
        """The name that opens this very lexicon again, its metric included, or nothing."""
        return self.name if self._stated else ""

    @cached_property
    def index(self) -> Mapping[str, int]:
        """From a word to its id."""
        return MappingProxyType({word: i for i, word in enumerate(self.words)})

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of words, vectors and metric: equal exactly where the lexicons are."""
        computed = store.fingerprint(self.words, self.vectors, self.metric.token(self.vectors))
        if self._stated not in ("", computed):
            raise LexiconError(
                f"The files of the lexicon {self.name} are not those that its fingerprint was "
                "made of: somebody changed them. Import it again."
            )
        return computed

    def to_dict(self) -> dict[str, str]:
        """Return what identifies the lexicon, as plain values for JSON.

        Where the metric is `graph`, the fingerprint is that of the lexicon with its word graph.
        """
        return {"name": self.name, "metric": str(self.metric), "fingerprint": self.fingerprint}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    def __repr__(self) -> str:
        called = f"{self.name!r}, " if self.name else ""
        n, d = self.vectors.shape
        return f"Lexicon({called}{n:,} words × {d} dimensions, {self.metric})"

    def distances(self, ids: Any) -> Floats:
        """Return the distances from the words `ids` to all words: (len(ids), len(self)), float64.

        A word is at distance 0 from itself, exactly.
        """
        return self._rows(checked_ids(ids, len(self)))

    def keys(self, ids: Any) -> Keys:
        """Return numbers that grow with the distances and are cheaper to compute; see `lengths`."""
        rows = self._rows.keys if isinstance(self._rows, KeyedDistances) else self._rows
        return rows(checked_ids(ids, len(self)))

    def lengths(self, keys: Keys) -> Floats:
        """Return the distances that belong to keys.

        >>> line = Lexicon(["a", "b", "c"], [[0.0], [1.0], [3.0]])
        >>> line.keys([0]).tolist(), line.lengths(line.keys([0])).tolist()
        ([[0.0, 1.0, 9.0]], [[0.0, 1.0, 3.0]])
        """
        return self._rows.lengths(keys) if isinstance(self._rows, KeyedDistances) else keys

    def near_words(self, ids: Any) -> NearWords | None:
        """Return the nearest words of `ids`, if the lexicon carries a list of them."""
        nearest = self.tables.nearest
        pairs = self._rows.pairs if isinstance(self._rows, KeyedDistances) else None
        if nearest is None or pairs is None:
            return None
        return nearest.of(checked_ids(ids, len(self)), pairs)

    def nearest(self, vectors: Any, k: int = 1) -> NDArray[np.int64]:
        """Return the ids of the `k` words nearest to each of `vectors`, the nearest first.

        Distances are Euclidean, or hyperbolic if those are the lexicon's. The search is exact.

        >>> line = Lexicon(["a", "b", "c"], [[0.0], [1.0], [3.0]])
        >>> line.nearest([[2.2], [-5.0]], k=2).tolist()
        [[2, 1], [0, 1]]
        """
        if str(self.metric) not in ("euclidean", "poincare"):
            raise MetricError(
                "The words nearest to any vector are found by euclidean or poincare distance; this "
                f"lexicon measures {self.metric} ones."
            )
        if k < 1:
            raise ParameterError(f"The number of nearest words must be 1 or more. Got {k}.")
        queries, columns = np.asarray(vectors, dtype=np.float64), self.vectors.shape[1]
        if queries.ndim != 2 or queries.shape[1] != columns:
            raise ParameterError(
                f"Vectors must be a matrix with {columns} columns, the lexicon's dimension. "
                f"Got shape {queries.shape}."
            )
        return search_on(self).nearest(queries, k)

    def neighbours(self, word: str, k: int = 10) -> list[tuple[str, float]]:
        """Return the `k` words nearest to `word` and their distances, the nearest first."""
        own = self._id(word)
        if k < 1:
            raise ParameterError(f"The number of neighbours must be 1 or more. Got {k}.")
        row = self.distances([own])[0]
        row[own] = -1.0  # itself first, also where another word has the same vector
        return [(self.words[i], float(row[i])) for i in np.argsort(row, kind="stable")[1 : k + 1]]


# For lexicons of our own class only: their vectors cannot change.
_searched: "WeakKeyDictionary[Lexicon, Ids]" = WeakKeyDictionary()


def nearest_words(space: MetricSpace, k: int) -> Ids:
    """Return ids of the `k` nearest words of each word by Euclidean distance: (words, k).

    A word is the first of its own nearest, unless a lower one shares its vector. Ties go to the
    lowest id.
    """
    k = min(k, len(space))
    table = tables_of(space).nearest
    if table is not None and type(space.metric) is Euclidean and k <= table.listed.shape[1]:
        return table.listed[:, :k].astype(np.int64)
    if type(space) is not Lexicon:
        return NearestSearch(space.vectors).nearest(space.vectors, k)
    kept = _searched.get(space)
    if kept is None or kept.shape[1] < k:
        kept = _searched[space] = NearestSearch(space.vectors).nearest(space.vectors, k)
    return kept[:, :k]
