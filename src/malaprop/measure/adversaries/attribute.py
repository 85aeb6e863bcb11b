"""A label that the text should not give away."""

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.measure.attacking.labels import LabelAttack
from malaprop.measure.attacking.learners import Predictor, regression


@dataclass(frozen=True, kw_only=True)
class Attribute(LabelAttack, name="attribute"):
    """Infer a label of each text, by a regression on n-grams of words and characters.

    The attacker has texts of the same kind with their labels: 70 % of them, at random. The score is
    the share of the other texts whose label is inferred from their private form.
    """

    def learn(self, texts: Sequence[str], labels: Ids, rng: Generator) -> Predictor:
        """Train the regression."""
        return regression(texts, labels)
