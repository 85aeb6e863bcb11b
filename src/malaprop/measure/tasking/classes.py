"""Tasks that name the class of each row of a data set."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from malaprop.core.errors import ParameterError
from malaprop.core.space import MetricSpace
from malaprop.measure.tasking.base import Task
from malaprop.measure.tasking.corpus import Corpus, CorpusReader
from malaprop.measure.tasking.labelled import (
    LabelledRows,
    check_options,
    fixed_split,
    model_for,
    spread_over,
)
from malaprop.measure.tasks.splits import class_numbers


@dataclass(frozen=True, kw_only=True)
class ClassTask(Task):
    """A task that trains a model on private rows with classes, and tests it."""

    test: float = field(default=0.2, metadata={"help": "the share to test on, if not divided"})
    tested: str = field(
        default="private", metadata={"help": "whether the test rows are private or clean"}
    )
    limit: int | None = field(default=None, metadata={"help": "use at most so many rows"})

    measure = "accuracy"
    problem: ClassVar[type[LabelledRows]]
    """The rows, with what `corpora` returns as fields."""

    def __post_init__(self) -> None:
        check_options(self.test, self.tested, self.limit)

    @abstractmethod
    def corpora(self, data: Any, read: CorpusReader) -> Mapping[str, Corpus]:
        """Return the texts of the rows, by the names of the problem's fields."""

    def prepare(self, space: MetricSpace) -> LabelledRows:
        """Read the texts, and number the classes."""
        sets = self.sets()
        if len(sets) != 1:
            raise ParameterError(f"The task {self.name} takes one data set. Got {len(sets)}.")
        data = sets[0].rows(spread_over(len(sets[0]), self.limit))
        fields: dict[str, Any] = dict(self.corpora(data, CorpusReader(space)))
        return self.problem(
            items=len(data),
            covered=len(data) / len(sets[0]),
            classes=class_numbers(data.labels, len(data)),
            model=model_for(self.model, space),
            test=self.test,
            fixed=fixed_split(data.splits),
            tested=self.tested,
            **fields,
        )
