"""A sample of texts, prepared once, on which every setting is measured."""

from collections.abc import Sequence
from functools import cached_property
from time import monotonic
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from malaprop.core.arrays import Floats, Ids
from malaprop.core.errors import DataError
from malaprop.core.mechanism import Mechanism
from malaprop.core.progress import Progress, report, stage
from malaprop.lexicon.graph.lookup import with_graph_if_needed
from malaprop.lexicon.lexicon import Lexicon
from malaprop.measure.attacking.models import check_corpus
from malaprop.measure.evaluating.attackers import Attackers
from malaprop.measure.evaluating.cells import Accuracies, Bounds, Cell
from malaprop.measure.evaluating.settings import EvaluationSettings
from malaprop.measure.intervals import LEVEL
from malaprop.measure.similarity import Similarity
from malaprop.measure.tasks.classification import Classification
from malaprop.measure.tasks.copies import private_copies
from malaprop.measure.tasks.result import Estimate, spread_of
from malaprop.pipeline.privatizer import Privatizer
from malaprop.pipeline.word_draws import WordDraws
from malaprop.text import Policy, TextOptions, TextParser


class Bench:
    """The sample with its labels, and what is measured on it.

    `rng` draws splits and the words of floors. Noise comes from `noise`, fresh for every draw.
    """

    def __init__(
        self,
        texts: Sequence[str],
        labels: Sequence[object] | None,
        lexicon: Lexicon,
        settings: EvaluationSettings,
        options: TextOptions,
        rng: Generator,
        noise: Generator,
    ) -> None:
        self._texts, self._labels, self._lexicon = list(texts), labels, lexicon
        self._settings, self._options, self._noise, self._rng = settings, options, noise, rng
        policy = Policy(**options)
        self._tasks = {} if labels is None else self._prepared(labels, policy, rng)
        self._secret, self.lengths = self._parsed()
        if not len(self._secret):
            raise DataError("The texts have no words to measure on.")
        check_corpus(settings.model, self._secret, self.lengths)
        self._attackers = Attackers(settings, self._texts, labels)

    def _prepared(
        self, labels: Sequence[object], policy: Policy, rng: Generator
    ) -> dict[str, Classification]:
        # The same splits for all models: their generators start alike.
        seed = int(rng.integers(2**62))
        return {
            model: Classification(
                self._texts,
                labels,
                self._lexicon,
                model=model,
                runs=self._settings.runs,
                policy=policy,
                rng=np.random.Generator(np.random.PCG64(seed)),
            )
            for model in self._settings.models
        }

    def _parsed(self) -> tuple[Ids, Ids]:
        parsed = TextParser(self._lexicon.words, Policy(kinds="words")).parse(self._texts)
        return parsed.ids, np.asarray(parsed.slot_counts, dtype=np.int64)

    @property
    def attacked(self) -> int:
        """How many texts are attacked: all, or as many as have the words that are wanted."""
        enough = np.searchsorted(np.cumsum(self.lengths), self._settings.attacked)
        return min(len(self._texts), int(enough) + 1)

    @property
    def about_runs(self) -> str:
        """What the runs differ in, for classifiers."""
        return next((task.about_runs for task in self._tasks.values()), "")

    @property
    def classes(self) -> int:
        """How many classes the labels have; 0 without labels."""
        return next((task.classes for task in self._tasks.values()), 0)

    def privatizer(self, mechanism: Mechanism) -> Privatizer:
        """Return the privatizer of a mechanism."""
        lexicon = with_graph_if_needed(self._lexicon, mechanism)
        return Privatizer(lexicon, mechanism, rng=self._noise, **self._options)

    def bounds(self) -> Bounds:
        """Measure what useless and what clean texts reach."""
        others = self._rng.integers(0, len(self._lexicon), size=len(self._secret))
        tasks = self._tasks
        return Bounds(
            kept=float(np.mean(others == self._secret)),
            similarity=float(self._similarity.between(self._secret, others).mean()),
            text_similarity=float(
                self._similarity.of_texts(self._secret, others, self.lengths).mean()
            ),
            majority=next((task.majority for task in tasks.values()), None),
            random_words={model: task.random_words for model, task in tasks.items()},
            unprotected={model: task.unprotected for model, task in tasks.items()},
        )

    def cell(self, mechanism: Mechanism, progress: Progress | None = None) -> Cell:
        """Measure one mechanism."""
        started = monotonic()
        privatizer = self.privatizer(mechanism)
        draws = []
        for done in range(self._settings.runs):
            draws.append(privatizer.word_draws(self._texts))
            report(stage(progress, 0, 3), done + 1, self._settings.runs)
        words = self._words(draws)
        accuracy = self._accuracy(privatizer, stage(progress, 1, 3))
        attacks = self._attackers.figures(
            privatizer,
            [each.first(self.attacked) for each in draws],
            self._rng,
            stage(progress, 2, 3),
        )
        return Cell(
            mechanism=mechanism.to_dict(),
            kept=words[0],
            similarity=words[1],
            text_similarity=words[2],
            accuracy=accuracy,
            attacks=attacks,
            seconds=monotonic() - started,
        )

    def _words(self, draws: Sequence[WordDraws]) -> tuple[Estimate, Estimate, Estimate]:
        """Return the words kept, their similarity, and that of texts, over several draws."""
        kept, words, texts = [], [], []
        for each in draws:
            kept.append(_by_text(each.secret == each.drawn, each))
            words.append(_by_text(self._similarity.between(each.secret, each.drawn), each))
            texts.append(self._similarity.of_texts(each.secret, each.drawn, each.lengths))
        lengths = draws[0].lengths
        sizes = lengths[lengths > 0].astype(np.float64)
        return (
            _over_texts(kept, sizes),
            _over_texts(words, sizes, (-1.0, 1.0)),
            _over_texts(texts, np.ones_like(sizes), (-1.0, 1.0)),
        )

    def _accuracy(self, privatizer: Privatizer, progress: Progress | None) -> Accuracies:
        if not self._tasks:
            return {}
        copies = private_copies(
            privatizer, self._texts, self._settings.runs, stage(progress, 0, 1 + len(self._tasks))
        )
        scores = {}
        for number, (model, task) in enumerate(self._tasks.items(), 1):
            results = task.of_copies(copies, stage(progress, number, 1 + len(self._tasks)))
            scores[model] = {result.tested: result.score for result in results}
        return scores

    @cached_property
    def _similarity(self) -> Similarity:
        return Similarity(self._lexicon)


def _by_text(values: NDArray[Any], draws: WordDraws) -> Floats:
    """Return the sum of values of words in each text that has any."""
    lengths = draws.lengths[draws.lengths > 0]
    starts = np.cumsum(lengths) - lengths
    return np.add.reduceat(values.astype(np.float64), starts)


def _over_texts(
    sums: Sequence[Floats], sizes: Floats, between: tuple[float, float] = (0.0, 1.0)
) -> Estimate:
    """Return a mean over all texts and draws, with a 95 % interval over texts and their noise.

    The mean is Σsᵢ/Σnᵢ with the sums and sizes of texts, and its error that of the residuals
    sᵢ − mean·nᵢ, by Student's law. One text says nothing of others: its interval is all there is.
    """
    from scipy.stats import t

    values = [float(each.sum() / sizes.sum()) for each in sums]
    average = np.mean(sums, axis=0)
    mean = float(np.mean(values))
    margin = np.inf
    if len(sizes) > 1:
        residuals = (average - mean * sizes) * len(sizes) / sizes.sum()
        sure = float(t.ppf(0.5 + LEVEL / 2.0, len(sizes) - 1))
        margin = sure * float(np.std(residuals, ddof=1)) / len(sizes) ** 0.5
    return Estimate(
        value=mean,
        spread=spread_of(values),
        interval=(max(between[0], mean - margin), min(between[1], mean + margin)),
        values=tuple(values),
    )
