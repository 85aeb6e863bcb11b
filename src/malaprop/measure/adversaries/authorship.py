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
    """Infer the author of each text, by a regression on n-grams or by Koppel's random subspaces.

    The attacker has texts of all authors: 70 % of them, at random. The score is the share of the
    other texts whose author is inferred from their private form. The regression is the stronger of
    the two on the texts that we measured, so it is the default.
    """

    model: str = field(
        default="regression",
        metadata={"help": "regression (words and characters) or koppel (character 4-grams)"},
    )

    noun: ClassVar[str] = "author"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choice(self, "model", ("regression", "koppel"))

    def learn(self, texts: Sequence[str], labels: Ids, rng: Generator) -> Predictor:
        """Train the model that was chosen."""
        if self.model == "koppel":
            return koppel(texts, labels, rng)
        return regression(texts, labels)
