"""Classification on splits that all cells share, with fresh noise for each draw."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from numpy.random import Generator

from malaprop.core.randomness import seeded_rng
from malaprop.measure import tasks
from malaprop.measure.tasking.labelled import shares_right, with_known_columns
from malaprop.measure.tasking.sources import Source
from malaprop.measure.tasks.splits import Split, random_splits
from malaprop.studies.framework.items import Figure
from malaprop.studies.framework.measuring import mean_of, over_both

SPLITS = 5
"""How often texts are split, the same for all cells."""


def classified(
    problem: Any, subject: tasks.Subject, measures: Iterable[str], draws: int, rng: Generator
) -> Iterator[Figure]:
    """Train on private texts and test on private texts; yield each measure with both errors.

    Each draw of the noise is scored on the same splits, which depend on the texts alone. So two
    mechanisms differ by their noise, and by nothing else. Also yield the share of the texts' words
    that stay (`kept_in_texts`).
    """
    splits = random_splits(problem.classes, problem.test, SPLITS, seeded_rng(0))
    table, shares = [], []
    for _ in range(draws if subject.noisy else 1):
        source = subject.begin(rng)
        table.append(_scores(problem, source, splits))
        shares.append(source.kept)
    for name in measures:
        rows = [[scores[name] for scores in row] for row in table]
        yield from over_both(name, rows, shared=problem.shared)
    counted = [share for share in shares if share is not None]
    if counted and subject.noisy:
        yield mean_of("kept_in_texts", counted)


def _scores(problem: Any, source: Source, splits: Sequence[Split]) -> list[dict[str, float]]:
    rows, _ = problem.features(source)
    scores = []
    for split in splits:
        train, test = with_known_columns(rows[split.train], rows[split.test])
        (guesses,) = problem.model.predictions(train, problem.classes[split.train], test)
        scores.append(shares_right(guesses, problem.classes[split.test]))
    return scores
