"""Similarity of words and of sentences as people see it, and distances that are preserved."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from malaprop.lab.datasets.readers import TextPairs, WordPairs
from malaprop.lab.tasks import Problem, Task
from malaprop.lab.tasks.sources import CorpusReader, Source
from malaprop.lab.tasks.words import known_rows
from malaprop.privacy.arrays import Floats
from malaprop.privacy.errors import ParameterError, require_whole
from malaprop.privacy.mechanism import option
from malaprop.privacy.metrics import MetricSpace


@dataclass(frozen=True, kw_only=True)
class Preservation(Task, name="preservation"):
    """How well distances between private vectors give those between the words (privemb-2021).

    Words are drawn at random, `count` on either side, and all pairs are compared. The score is
    Spearman's correlation of the distances; `measures` has all that `preserved` returns. The words
    are the same in all repetitions, as in the paper, if `vary` is `noise`; they count as the split.
    """

    count: int = option(100, "how many words on either side")

    measure = "distance_spearman"
    kind = object

    def __post_init__(self) -> None:
        require_whole(self, "count", 2)

    def prepare(self, space: MetricSpace) -> Problem:
        if len(space) < 2 * self.count:
            raise ParameterError(
                f"`count` must be at most half of the lexicon's {len(space):,} words. "
                f"Got {self.count}."
            )
        return Problem(score=self._score, items=self.count**2, divided=True)

    def _score(self, source: Source, rng: Generator) -> Mapping[str, float]:
        ids = rng.choice(len(source.space), size=2 * self.count, replace=False)
        true = np.asarray(source.space.vectors[ids], dtype=np.float64)
        return preserved(true, source.vectors(ids))


def preserved(true: Floats, private: Floats) -> dict[str, float]:
    """Compare the pairs of a row of the first half with one of the second, before and after.

    Return absolute errors of distances and of inner products, the error of the best constant, which
    often beats a noisy distance, and correlations.
    """
    from scipy.spatial.distance import cdist

    measures: dict[str, float] = {}
    halves = [np.split(rows, 2) for rows in (true, private)]
    for name, of in (("distance", cdist), ("product", lambda left, right: left @ right.T)):
        was, became = (np.asarray(of(*each)).ravel() for each in halves)
        errors = np.abs(became - was)
        measures |= {
            f"{name}_error": float(errors.mean()),
            f"{name}_error_p95": float(np.percentile(errors, 95)),
            f"{name}_error_max": float(errors.max()),
            f"{name}_error_of_constant": float(np.abs(was - np.median(was)).mean()),
            f"{name}_spearman": spearman(became, was),
            f"{name}_pearson": pearson(became, was),
        }
    return measures


@dataclass(frozen=True, kw_only=True)
class WordSimilarity(Task, name="similarity"):
    """Spearman's correlation of the cosines of pairs of words with people's scores.

    Pairs of several sets are ranked together, as nadp-2023 does; those with a word that the lexicon
    lacks are left out. The scores of each set are first
    brought to 0 … 1, because the sets have different scales. `raw` ranks them as they stand. Each
    set's own correlation is in `measures`, by its name.
    """

    raw: bool = option(False, "rank scores of different scales together")

    measure = "spearman"
    kind = WordPairs
    default = ("men", "simlex", "simverb")

    def prepare(self, space: MetricSpace) -> Problem:
        sets: tuple[WordPairs, ...] = self.sets()
        pairs = [pair for data in sets for pair in zip(data.first, data.second, strict=True)]
        places, rows = known_rows(space, pairs, "pairs of words")
        ids = np.array(rows)
        scores = np.concatenate([self._scaled(data.scores) for data in sets])[places]
        names = np.repeat([data.name for data in sets], [len(data) for data in sets])[places]

        def score(source: Source, rng: Generator) -> Mapping[str, float]:
            similarities = cosines(source.vectors(ids[:, 0]), source.vectors(ids[:, 1]))
            alone = {
                str(name): spearman(similarities[names == name], scores[names == name])
                for name in dict.fromkeys(names.tolist())
            }
            whole = {
                "spearman": spearman(similarities, scores),
                "pearson": pearson(similarities, scores),
            }
            return whole | alone

        return Problem(score=score, items=len(places), covered=len(places) / len(pairs))

    def _scaled(self, scores: tuple[float, ...]) -> Floats:
        values = np.array(scores)
        spread = float(np.ptp(values))
        return values if self.raw or not spread else (values - values.min()) / spread


@dataclass(frozen=True, kw_only=True)
class TextSimilarity(Task, name="sts"):
    """Correlations of the cosines of centroids with people's scores of pairs of sentences.

    The score is Pearson's correlation over all pairs. `measures` has Spearman's, nadp-2023's
    `official` (geometric means of both within each group of pairs, weighted by the group's size),
    and the means over groups weighted by size, `pearson_groups` and `spearman_groups`, as SentEval
    computes them for STS14. Words that the lexicon lacks count as what they map to.
    """

    part: str | None = option("test", "the part of a divided set that is scored")

    measure = "pearson"
    kind = TextPairs
    default = ("stsb",)

    def prepare(self, space: MetricSpace) -> Problem:
        sets: list[TextPairs] = [
            data.part(self.part) if self.part and data.splits else data for data in self.sets()
        ]
        read = CorpusReader(space)
        first = read([text for data in sets for text in data.first])
        second = read([text for data in sets for text in data.second])
        scores = np.array([score for data in sets for score in data.scores])
        names = np.array([n for data in sets for n in data.groups or [data.name] * len(data)])

        def score(source: Source, rng: Generator) -> Mapping[str, float]:
            similarities = cosines(source.centroids(first), source.centroids(second))
            groups = []
            for name in dict.fromkeys(names.tolist()):
                rows = names == name
                values = similarities[rows], scores[rows]
                groups.append((int(rows.sum()), pearson(*values), spearman(*values)))
            sizes, by_pearson, by_spearman = np.array(groups).T
            return {
                "pearson": pearson(similarities, scores),
                "spearman": spearman(similarities, scores),
                "official": official(groups),
                "pearson_groups": float(np.average(by_pearson, weights=sizes)),
                "spearman_groups": float(np.average(by_spearman, weights=sizes)),
            }

        return Problem(score=score, items=len(scores))


def cosines(left: Floats, right: Floats) -> Floats:
    """Return the cosine of each row with the row at the same place; 0 for a vector of length 0.

    >>> cosines(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[2.0, 0.0], [1.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    products = np.einsum("ij,ij->i", left, right)
    return np.asarray(np.divide(products, lengths, out=np.zeros(len(left)), where=lengths > 0))


def pearson(left: Floats, right: Floats) -> float:
    """Return Pearson's correlation; 0 if either side does not vary."""
    left, right = left - left.mean(), right - right.mean()
    size = float(np.sqrt((left @ left) * (right @ right)))
    return float(left @ right) / size if size > 0 else 0.0


def spearman(left: Floats, right: Floats) -> float:
    """Return Spearman's correlation; equal values share their mean rank.

    >>> round(spearman(np.array([1.0, 2.0, 9.0]), np.array([0.0, 5.0, 6.0])), 6)
    1.0
    """
    from scipy.stats import rankdata

    return pearson(rankdata(left), rankdata(right))


def official(of_groups: list[tuple[int, float, float]]) -> float:
    """Return nadp-2023's score: geometric means of both correlations, weighted by group size.

    Each group is its size, Pearson's and Spearman's correlation. A geometric mean needs both above
    0: otherwise the group counts as 0.

    >>> official([(1, 0.5, 0.5), (3, 0.9, 0.9), (4, -0.1, 0.2)])
    0.4
    """
    means = [size * np.sqrt(max(p, 0.0) * max(s, 0.0)) for size, p, s in of_groups]
    return round(float(sum(means)) / sum(size for size, _, _ in of_groups), 12)
