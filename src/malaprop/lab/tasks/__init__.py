"""Tasks: what private texts, words and vectors are still good for.

On public data sets, `run` does any task of the `registry`, on a lexicon (no noise), a channel or a
privatizer, beside floors that need no useful vectors and the ceiling without noise. A new one needs
nothing but its own file here: it registers itself by being defined with a name. Models need
scikit-learn.

>>> from malaprop.lab import tasks
>>> sorted(tasks.registry)
['classify', 'classify-pairs', 'classify-text', 'odd-man-out', 'preservation',
 'sentiment-words', 'similarity', 'sts']
"""

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from malaprop.lab.tasks.sources import (
    Source,
    Subject,
    random_subject,
    random_table,
    subject_of,
    unprotected,
)
from malaprop.measure.classification import plain_value
from malaprop.privacy.errors import DataError, ParameterError, made_with, type_name
from malaprop.privacy.estimate import Estimate
from malaprop.privacy.mechanism import option
from malaprop.privacy.metrics import MetricSpace
from malaprop.privacy.progress import Progress, report
from malaprop.privacy.randomness import checked_rng, secure_rng, seeded_rng

__all__ = [
    "BenchmarkResult",
    "Problem",
    "Subject",
    "Task",
    "registry",
    "run",
    "subject_of",
]

_registry: "dict[str, type[Task]]" = {}
registry: "Mapping[str, type[Task]]" = MappingProxyType(_registry)
"""All tasks, by name."""
_VARY = ("both", "noise", "splits")
_ANY = (-float("inf"), float("inf"))  # errors of distances have no upper end
_BOUNDS = (
    ("unprotected", unprotected),
    ("random_table", random_table),
    ("random_words", random_subject),
)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A task on a lexicon: all that does not depend on the noise."""

    score: Callable[[Source, Generator], Mapping[str, float]] = field(repr=False)
    """Returns the measures of one repetition; the generator draws splits, and nothing else."""
    items: int
    """How many rows are scored."""
    covered: float = 1.0
    """Their share of all rows."""
    majority: float | None = None
    """The score of the commonest answer; None if the task has no such thing."""
    divided: bool = False
    """Whether `score` draws a split, so that it differs without noise, too."""
    shared: float = 0.0
    """The size of the test part over that of the training part; 0 without a random split."""


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """Something to do with words or texts, and how well it goes; its fields are its options."""

    data: Any = option(None, "the name of a data set or several, or values as `load` returns them")

    name: ClassVar[str] = ""
    """The name in the registry."""
    measure: ClassVar[str] = ""
    """The measure that is the score."""
    model: ClassVar[str] = ""
    """The model that is trained; empty if none is."""
    kind: ClassVar[type[Any]]
    """The kind of data that it takes, such as `WordPairs`."""
    default: ClassVar[tuple[str, ...]] = ()
    """The data sets that it takes if none is named."""

    def __init_subclass__(cls, *, name: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = name
        if name:
            _registry[name] = cls

    @abstractmethod
    def prepare(self, space: MetricSpace) -> Problem:
        """Return the task on a lexicon: read the data, map the words."""

    @property
    def given(self) -> tuple[Any, ...]:
        """The data sets, by name or as values."""
        given = self.default if self.data is None else self.data
        return tuple(given) if isinstance(given, tuple | list) else (given,)

    def sets(self) -> tuple[Any, ...]:
        """Return the data that the task was given, or load what it names."""
        from malaprop.lab.datasets import load

        if not self.given:
            raise ParameterError(f"The task {self.name} needs `data`: the name of a data set.")
        values = tuple(load(value) if isinstance(value, str) else value for value in self.given)
        for value in values:
            if not isinstance(value, self.kind):
                raise DataError(
                    f"The task {self.name} takes {self.kind.__name__}. Got {type_name(value)}."
                )
        return values


def task_with(name: str, options: Mapping[str, Any]) -> Task:
    """Return the task of that name with its options; refuse options that it does not have."""
    return made_with("task", name, registry, options)


@dataclass(frozen=True, kw_only=True)
class BenchmarkResult:
    """How well a task of the registry went, beside what useless and what clean data reach."""

    task: str
    """The name of the task, such as `classify`."""
    measure: str
    """What is measured, such as `accuracy`."""
    model: str
    """The model that does the task; empty if none is trained."""
    tested: str
    """Which texts the model is tested on: `clean` or `private`; empty if there is no choice."""
    score: Estimate
    """The task's own measure with noise."""
    floors: Mapping[str, Estimate]
    """What is reached without useful data: `random_table`, a random vector for each word;
    `random_words`, any word for each place; `majority`, the commonest answer."""
    ceiling: Estimate
    """What is reached without noise."""
    runs: str
    """What the runs differ in, and what the intervals therefore cover."""
    data: tuple[str, ...]
    """The names of the data sets."""
    subject: str
    """What the task was run on."""
    over: str
    """What changes from one run to the next: `noise`, `splits`, `noise and splits`, `nothing`."""
    measures: Mapping[str, Estimate]
    """All measures, that of `score` among them."""
    bounds: Mapping[str, Mapping[str, float]]
    """All measures of `unprotected`, `random_table` and `random_words`; empty without floors."""
    kept: float | None
    """The share of words that came out unchanged; None if vectors were released, not words."""
    items: int
    """How many rows were scored."""
    covered: float
    """Their share of all rows: the others have words that the lexicon lacks."""

    @property
    def value(self) -> float:
        """The mean score."""
        return self.score.value

    @property
    def spread(self) -> float:
        """The standard deviation between runs."""
        return self.score.spread

    @property
    def interval(self) -> tuple[float, float]:
        """A 95 % interval of the mean score."""
        return self.score.interval

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON: all fields, and those of `score`."""
        plain: dict[str, Any] = {}
        for name, value in vars(self).items():
            own = {"unprotected" if name == "ceiling" else name: plain_value(value)}
            plain |= self.score.to_dict() if name == "score" else own
        return plain

    def __str__(self) -> str:
        low, high = self.interval
        floors = ", ".join(f"{name} {floor.value:.3f}" for name, floor in self.floors.items())
        return (
            f"{self.measure} {self.value:.3f} ({low:.3f} to {high:.3f}); "
            f"unprotected {self.ceiling.value:.3f}; {floors}"
        )


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

    `task` is one of `malaprop.lab.tasks.registry`, and `options` are that task's, such as
    `data`. `once` and `release` say how a channel draws: see `subject_of`. Each of the `repeats`
    has noise of its own and, if the data set has no parts of its own, a split of its own; `vary`
    holds one of the two fixed: `both`, `noise` or `splits`. With `floors`, the same task is run on
    a random table, on random words and without noise, once each on the first split.

    >>> from malaprop import Laplace, Lexicon, seeded_rng
    >>> from malaprop.lab.datasets import WordPairs
    >>> line = Lexicon(["cold", "cool", "warm", "hot"], [[0, 1], [1, 4], [3, 2], [4, 0]])
    >>> rated = WordPairs(name="made up", first=("cold", "cold", "warm"),
    ...                   second=("cool", "hot", "hot"), scores=(9.0, 1.0, 6.0))
    >>> run("similarity", line, data=rated).value
    1.0
    >>> noisy = Laplace(epsilon=1.0).on(line)
    >>> len(run("similarity", noisy, data=rated, repeats=3, rng=seeded_rng(1)).score.values)
    3
    """
    if vary not in _VARY or repeats < 1:
        raise ParameterError(
            f"`vary` must be one of {', '.join(_VARY)}, and `repeats` 1 or more. "
            f"Got {vary!r} and {repeats}."
        )
    if isinstance(task, str):
        task = task_with(task, options)
    elif options:
        raise ParameterError("Give a task its options when you make it, not when you run it.")
    drawn_from = subject_of(subject, once=once, release=release)
    seeds = (secure_rng() if rng is None else checked_rng(rng)).integers(2**63, size=(repeats, 2))
    problem = task.prepare(drawn_from.space)
    varied = {
        "noise": drawn_from.noisy and vary != "splits",
        "splits": problem.divided and vary != "noise",
    }
    over = " and ".join(title for title, varies in varied.items() if varies) or "nothing"
    steps = [("", drawn_from)] * (1 if over == "nothing" else repeats)
    steps += [(title, begin(drawn_from.space)) for title, begin in _BOUNDS if floors]
    runs, bounds, shares = [], {}, []
    for number, (title, each) in enumerate(steps):
        row = 0 if title else number
        noise = seeded_rng(int(seeds[0 if vary == "splits" else row, 0]))
        source = each.begin(noise)
        splits = seeded_rng(int(seeds[0 if vary == "noise" else row, 1]))
        measures = problem.score(source, splits)
        if title:
            bounds[title] = dict(measures)
        else:
            runs.append(measures)
            shares.append(source.kept if each.noisy else None)
        report(progress, number + 1, len(steps))
    kept = [share for share in shares if share is not None]
    return BenchmarkResult(
        task=task.name,
        measure=task.measure,
        model=task.model,
        tested=getattr(task, "tested", ""),
        **_figures(task.measure, problem, over, runs, bounds),
        runs=f"{len(runs)} runs that differ in {over}",
        data=tuple(getattr(value, "name", value) for value in task.given),
        subject=drawn_from.title,
        over=over,
        bounds=bounds,
        kept=float(np.mean(kept)) if kept else None,
        items=problem.items,
        covered=problem.covered,
    )


def _figures(
    measure: str,
    problem: Problem,
    over: str,
    runs: Sequence[Mapping[str, float]],
    bounds: Mapping[str, Mapping[str, float]],
) -> dict[str, Any]:
    """Return the figures of a result: its score with floors and ceiling, and all measures."""
    shared = problem.shared if "splits" in over else 0.0
    measures = {
        name: Estimate.of_runs([values[name] for values in runs], shared=shared, between=_ANY)
        for name in runs[0]
    }
    floors = {name: Estimate.of_runs([of[measure]]) for name, of in bounds.items()}
    ceiling = floors.pop("unprotected", Estimate.of_runs([float("nan")]))
    if problem.majority is not None:
        floors["majority"] = Estimate.of_runs([problem.majority])
    return {"score": measures[measure], "floors": floors, "ceiling": ceiling, "measures": measures}


for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
