"""What a task on a data set came to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from malaprop.measure.tasks.result import Estimate, TaskResult


@dataclass(frozen=True, kw_only=True)
class BenchmarkResult(TaskResult):
    """How well a task of the registry went, with all its measures and bounds.

    `score` is the task's own measure. The bounds are in `floors` and `ceiling`: `random_table`, a
    random vector for each word; `random_words`, any word for each place; `majority`, the commonest
    answer; without noise.
    """

    data: tuple[str, ...]
    """The names of the data sets."""
    subject: str
    """What the task was run on."""
    over: str
    """What changes from one run to the next: `noise`, `splits`, `noise and splits`, `nothing`."""
    measures: Mapping[str, Estimate] = field(default_factory=dict)
    """All measures, that of `score` among them."""
    bounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """All measures of `unprotected`, `random_table` and `random_words`; empty without floors."""
    kept: float | None = None
    """The share of words that came out unchanged; None if vectors were released, not words."""
    items: int = 0
    """How many rows were scored."""
    covered: float = 1.0
    """Their share of all rows: the others have words that the lexicon lacks."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON."""
        return super().to_dict() | {
            "data": list(self.data),
            "subject": self.subject,
            "over": self.over,
            "measures": {name: value.to_dict() for name, value in self.measures.items()},
            "bounds": {name: dict(values) for name, values in self.bounds.items()},
            "kept": self.kept,
            "items": self.items,
            "covered": self.covered,
        }
