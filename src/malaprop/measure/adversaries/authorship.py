"""Who wrote a text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.parameters import require_choice
from malaprop.measure.attacking.labels import LabelAttack
from malaprop.measure.attacking.learners import Predictor, koppel, regression


@dataclass(frozen=True, kw_only=True)
class Authorship(LabelAttack, name="authorship"):
    """Infer the author of each text, by Koppel's random subspaces or by a regression on n-grams.

    The attacker has texts of all authors: 70 % of them, at random. The score is the share of the
    other texts whose author is inferred from their private form.
    """

    model: str = field(
        default="koppel",
        metadata={"help": "koppel (character 4-grams) or regression (words and characters)"},
    )

    noun: ClassVar[str] = "author"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice(self, "model", ("koppel", "regression"))

    def learn(self, texts: Sequence[str], labels: Ids, rng: Generator) -> Predictor:
        """Train the model that was chosen."""
        if self.model == "koppel":
            return koppel(texts, labels, rng)
        return regression(texts, labels)
