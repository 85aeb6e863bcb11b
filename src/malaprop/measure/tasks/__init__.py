"""Tasks: what private texts are still good for.

A task is prepared once, from clean texts and what belongs to them. It then scores any number of
mechanisms on the same splits, beside floors that need no useful text and the ceiling that clean
text reaches. Models need the extra `malaprop[evaluate]`.
"""

from malaprop.measure.tasks.classification import Classification, classify
from malaprop.measure.tasks.copies import private_copies, random_words
from malaprop.measure.tasks.result import Estimate, TaskResult

__all__ = [
    "Classification",
    "Estimate",
    "TaskResult",
    "classify",
    "private_copies",
    "random_words",
]
