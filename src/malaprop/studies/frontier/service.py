"""What private words are still good for: similarity of words, classification, STS."""

from collections.abc import Iterator
from typing import Any

from numpy.random import Generator

from malaprop.measure import tasks
from malaprop.studies.framework.items import Figure
from malaprop.studies.framework.measuring import mean_of, there_or_missing
from malaprop.studies.framework.run import Run
from malaprop.studies.framework.splitting import classified
from malaprop.studies.frontier.sampling import noise_draws, some_rows


def served(run: Run, subject: Any, rng: Generator) -> Iterator[Figure]:
    """Do all tasks with the words of a subject, with fresh noise each time."""
    release = None if isinstance(subject, tasks.Subject) else "words"
    options: dict[str, Any] = {"floors": False, "rng": rng, "release": release}
    options["repeats"] = noise_draws(run)

    def correlated(measure: str, task: str, data: str) -> Iterator[Figure]:
        result = tasks.run(task, subject, data=some_rows(run, data), **options)
        yield mean_of(measure, result.score.values)

    def trained() -> Iterator[Figure]:
        own = tasks.subject_of(subject, release=release)
        scores = classified(_problem(run, own.space), own, ["accuracy"], noise_draws(run), rng)
        yield from (one for one in scores if one.measure == "accuracy")

    words, sentences = ("word_similarity", "similarity", "men"), ("sts", "sts", "stsb")
    yield from there_or_missing(words[:1], correlated(*words))
    yield from there_or_missing(["accuracy"], trained())
    yield from there_or_missing(sentences[:1], correlated(*sentences))


def majority(run: Run) -> Iterator[Figure]:
    """Return how often the most frequent class is right."""

    def counted() -> Iterator[Figure]:
        yield Figure("accuracy", _problem(run, run.lexicon()).majority)

    return there_or_missing(["accuracy"], counted())


def _problem(run: Run, space: Any) -> Any:
    return tasks.registry["classify"](data=some_rows(run, "mr")).prepare(space)
