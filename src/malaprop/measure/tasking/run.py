"""Run a task: the noise, the floors, and the spread."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.errors import ParameterError
from malaprop.core.progress import Progress, report
from malaprop.core.randomness import checked_rng, secure_rng, seeded_rng
from malaprop.measure.tasking.base import Problem, Task, task_with
from malaprop.measure.tasking.outcome import BenchmarkResult
from malaprop.measure.tasking.registered import registry as _registered
from malaprop.measure.tasking.subjects import (
    Subject,
    random_table,
    random_words,
    subject_of,
    unprotected,
)
from malaprop.measure.tasks.result import Estimate

VARY = ("both", "noise", "splits")
_ANY = (-float("inf"), float("inf"))  # errors of distances have no upper end
registry = _registered  # all tasks are defined


def run(
    task: str | Task,
    subject: Any,
    *,
    once: bool = False,
    release: str | None = None,
    repeats: int = 5,
    vary: str = "both",
    floors: bool = True,
    rng: Generator | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> BenchmarkResult:
    """Run a task on a lexicon (no noise), a channel or a privatizer; return score and spread.

    `task` is one of `malaprop.measure.tasks.registry`, and `options` are that task's, such as
    `data`. `once` and `release` say how a channel draws: see `subject_of`. Each of the `repeats`
    has noise of its own and, if the data set has no parts of its own, a split of its own; `vary`
    holds one of the two fixed: `both`, `noise` or `splits`. With `floors`, the same task is run on
    a random table, on random words and without noise, once each on the first split.

    >>> from malaprop import Laplace, Lexicon, seeded_rng
    >>> from malaprop.datasets import WordPairs
    >>> line = Lexicon(["cold", "cool", "warm", "hot"], [[0, 1], [1, 4], [3, 2], [4, 0]])
    >>> rated = WordPairs(name="made up", first=("cold", "cold", "warm"),
    ...                   second=("cool", "hot", "hot"), scores=(9.0, 1.0, 6.0))
    >>> run("similarity", line, data=rated).value
    1.0
    >>> noisy = Laplace(epsilon=1.0).on(line)
    >>> len(run("similarity", noisy, data=rated, repeats=3, rng=seeded_rng(1)).score.values)
    3
    """
    if vary not in VARY or repeats < 1:
        raise ParameterError(
            f"`vary` must be one of {', '.join(VARY)}, and `repeats` 1 or more. "
            f"Got {vary!r} and {repeats}."
        )
    chosen = _checked_task(task, options)
    drawn_from = subject_of(subject, once=once, release=release)
    seeds = _Seeds(secure_rng() if rng is None else checked_rng(rng), repeats, vary)
    problem = chosen.prepare(drawn_from.space)
    over = _over(drawn_from, problem, vary)
    count = 1 if over == "nothing" else repeats
    steps = count + (len(_BOUNDS) if floors else 0)
    runs = []
    for number in range(count):
        runs.append(_once(problem, drawn_from, *seeds[number]))
        report(progress, number + 1, steps)
    bounds = {}
    for number, (title, begin) in enumerate(_BOUNDS if floors else (), count):
        bounds[title] = dict(_once(problem, begin(drawn_from.space), *seeds[0])[0])
        report(progress, number + 1, steps)
    return _result(chosen, problem, drawn_from, over, runs, bounds)


_BOUNDS = (
    ("unprotected", unprotected),
    ("random_table", random_table),
    ("random_words", random_words),
)
_Run = tuple[Mapping[str, float], float | None]


class _Seeds:
    """The generators of each repetition: for noise, and for splits."""

    def __init__(self, rng: Generator, repeats: int, vary: str) -> None:
        self._seeds = rng.integers(2**63, size=(repeats, 2))
        self._vary = vary

    def __getitem__(self, number: int) -> tuple[Generator, Generator]:
        noise = 0 if self._vary == "splits" else number
        splits = 0 if self._vary == "noise" else number
        return seeded_rng(int(self._seeds[noise, 0])), seeded_rng(int(self._seeds[splits, 1]))


def _checked_task(task: str | Task, options: Mapping[str, Any]) -> Task:
    if isinstance(task, str):
        return task_with(task, options)
    if options:
        raise ParameterError("Give a task its options when you make it, not when you run it.")
    return task


def _over(subject: Subject, problem: Problem, vary: str) -> str:
    noise = subject.noisy and vary != "splits"
    splits = problem.divided and vary != "noise"
    both = [title for title, is_so in (("noise", noise), ("splits", splits)) if is_so]
    return " and ".join(both) or "nothing"


def _once(problem: Problem, subject: Subject, noise: Generator, splits: Generator) -> _Run:
    source = subject.begin(noise)
    return problem.score(source, splits), source.kept if subject.noisy else None


def _result(
    task: Task,
    problem: Problem,
    subject: Subject,
    over: str,
    runs: list[_Run],
    bounds: Mapping[str, Mapping[str, float]],
) -> BenchmarkResult:
    shared = problem.shared if "splits" in over else 0.0
    measures = {
        name: Estimate.of([values[name] for values, _ in runs], shared=shared, between=_ANY)
        for name in runs[0][0]
    }
    floors = {name: Estimate.of([of[task.measure]]) for name, of in bounds.items()}
    ceiling = floors.pop("unprotected", Estimate.of([float("nan")]))
    if problem.majority is not None:
        floors["majority"] = Estimate.of([problem.majority])
    shares = [share for _, share in runs if share is not None]
    return BenchmarkResult(
        task=task.name,
        measure=task.measure,
        model=task.model,
        tested=getattr(task, "tested", ""),
        score=measures[task.measure],
        floors=floors,
        ceiling=ceiling,
        runs=f"{len(runs)} runs that differ in {over}",
        data=task.set_names,
        subject=subject.title,
        over=over,
        measures=measures,
        bounds=bounds,
        kept=float(np.mean(shares)) if shares else None,
        items=problem.items,
        covered=problem.covered,
    )
