"""What private words are still good for: similarity of words, classification, STS."""

from collections.abc import Iterator
from typing import Any

from numpy.random import Generator

from malaprop.measure import tasks
from malaprop.studies.framework.items import Figure
from malaprop.studies.framework.measuring import mean_of
from malaprop.studies.framework.run import Run
from malaprop.studies.framework.splitting import classified
from malaprop.studies.frontier.sampling import noise_draws, some_rows


def served(run: Run, subject: Any, rng: Generator) -> Iterator[Figure]:
    """Do all tasks with the words of a subject, with fresh noise each time."""
    release = None if isinstance(subject, tasks.Subject) else "words"
    options: dict[str, Any] = {"floors": False, "rng": rng, "release": release}
    options["repeats"] = noise_draws(run)
    pairs = tasks.run("similarity", subject, data=some_rows(run, "men"), **options)
    yield mean_of("word_similarity", pairs.score.values)
    own = tasks.subject_of(subject, release=release)
    problem = _problem(run, own.space)
    scores = classified(problem, own, ["accuracy"], noise_draws(run), rng)
    yield from (one for one in scores if one.measure == "accuracy")
    rated = tasks.run("sts", subject, data=some_rows(run, "stsb"), **options)
    yield mean_of("sts", rated.score.values)


def majority(run: Run) -> Figure:
    """Return how often the most frequent class is right."""
    return Figure("accuracy", _problem(run, run.lexicon()).majority)


def _problem(run: Run, space: Any) -> Any:
    return tasks.registry["classify"](data=some_rows(run, "mr")).prepare(space)
