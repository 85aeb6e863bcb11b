"""Classification of the texts of a data set: by centroids, or by words and pairs of words."""

from dataclasses import dataclass
from typing import Any

from malaprop.datasets.values import LabelledTexts
from malaprop.measure.tasking.classes import ClassTask
from malaprop.measure.tasking.corpus import Corpus, CorpusReader
from malaprop.measure.tasking.labelled import LabelledRows
from malaprop.measure.tasking.sources import Source


@dataclass(frozen=True, kw_only=True)
class TextsWithClasses(LabelledRows):
    """Texts with classes."""

    corpus: Corpus

    def features(self, source: Source) -> tuple[Any, Any]:
        """Return the private centroids, and those to test on."""
        private = source.centroids(self.corpus)
        if self.tested == "private":
            return private, private
        return private, self.corpus.means(source.space.vectors)


@dataclass(frozen=True, kw_only=True)
class TextsOfWords(TextsWithClasses):
    """Texts with classes, as words and pairs of words."""

    def features(self, source: Source) -> tuple[Any, Any]:
        """Return the n-grams of the private texts, and of those to test on."""
        private = self.model.features(source.texts(self.corpus))
        if self.tested == "private":
            return private, private
        return private, self.model.features(self.corpus.texts)


@dataclass(frozen=True, kw_only=True)
class _TextClasses(ClassTask):
    kind = LabelledTexts
    default = ("mr",)

    def corpora(self, data: Any, read: CorpusReader) -> dict[str, Corpus]:
        """Return the texts."""
        return {"corpus": read(data.texts)}


@dataclass(frozen=True, kw_only=True)
class CentroidClasses(_TextClasses, name="classify"):
    """How often logistic regression on the centroids of private vectors names the right class.

    It is trained on private texts, and tested on private ones or, with `tested="clean"`, on clean
    ones. A set that its authors divided is divided as they did; others are split at random.
    """

    model = "centroids"
    problem = TextsWithClasses


@dataclass(frozen=True, kw_only=True)
class TextClasses(_TextClasses, name="classify-text"):
    """How often a linear model of words and pairs of words names the right class.

    That is what fastText does without subwords. It needs private texts, so channels draw words;
    vectors play no part.
    """

    model = "ngrams"
    problem = TextsOfWords
