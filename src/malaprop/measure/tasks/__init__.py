"""Tasks: what private texts, words and vectors are still good for.

On the owner's own texts, `classify` trains a classifier on private texts; `Classification` prepares
that for several mechanisms. On public data sets, `run` does any task of the `registry`, on a
lexicon (no noise), a channel or a privatizer, beside floors that need no useful vectors and the
ceiling without noise. A new one needs nothing but its own file here. Models need the extra
`evaluate`.

>>> from malaprop.measure import tasks
>>> sorted(tasks.registry)
['classify', 'classify-pairs', 'classify-text', 'odd-man-out', 'preservation',
 'sentiment-words', 'similarity', 'sts']
"""

import importlib
from typing import TYPE_CHECKING, Any

from malaprop.measure.tasking.base import Problem, Task
from malaprop.measure.tasks.classification import Classification, classify
from malaprop.measure.tasks.copies import private_copies, random_words
from malaprop.measure.tasks.result import Estimate, TaskResult

if TYPE_CHECKING:
    from malaprop.measure.tasking.outcome import BenchmarkResult
    from malaprop.measure.tasking.registered import registry
    from malaprop.measure.tasking.run import run
    from malaprop.measure.tasking.subjects import Subject, subject_of

__all__ = [
    "BenchmarkResult",
    "Classification",
    "Estimate",
    "Problem",
    "Subject",
    "Task",
    "TaskResult",
    "classify",
    "private_copies",
    "random_words",
    "registry",
    "run",
    "subject_of",
]

# Where the other names are, below `malaprop.measure.tasking`.
_HOMES = {
    "BenchmarkResult": "outcome",
    "Subject": "subjects",
    "registry": "registered",
    "run": "run",
    "subject_of": "subjects",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # These import the tasks, which import this package.
    module = importlib.import_module(f"malaprop.measure.tasking.{_HOMES[name]}")
    globals()[name] = getattr(module, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
