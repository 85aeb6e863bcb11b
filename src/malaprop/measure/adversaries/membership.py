"""Whether a text was among those that a model was trained on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from malaprop.measure.adversaries import InferredLabels, Target, area, mean_area
from malaprop.measure.adversaries.labels import Forms, LabelAttack, chosen
from malaprop.measure.classification import text_regression, trained
from malaprop.privacy.arrays import Floats, Ids

_WEAKNESS = 100.0  # of the regularisation: models that learn by heart tell most
_HIDDEN = (64, 64)
_ROUNDS = 20
_LEAST = 1e-12


@dataclass(frozen=True, kw_only=True)
class Membership(LabelAttack, name="membership"):
    """Tell which texts a classifier was trained on in their private form, with a shadow model.

    The texts are cut into four parts. A classifier of the labels is trained on the private form of
    the first. The attacker trains a shadow of it on the third part (on clean text, or adaptively on
    private text), and learns from its outputs for the third and the fourth part how texts that a
    model was trained on differ from others. The score is the area under the curve with which the
    first part is then told from the second, all texts being asked in their clean form. After
    Carvalho et al. 2021, Appendix C.
    """

    fewest: ClassVar[int] = 8

    def run(self, target: Target) -> InferredLabels:
        data, rng = self.checked(target.texts, target.labels), target.rng
        scores: list[list[tuple[Floats, Floats]]] = [[], [], []]
        for forms in self.draws(data.texts, target):
            of_part = np.empty(len(data.labels), dtype=np.int64)  # each has a quarter of each label
            for label in range(int(data.labels.max()) + 1):
                own = rng.permutation(np.flatnonzero(data.labels == label))
                of_part[own] = np.arange(len(own)) % 4
            parts = [np.flatnonzero(of_part == part) for part in range(4)]
            for kept, form in zip(scores, forms, strict=True):
                kept.append(self._told(form, forms, data.labels, parts, rng))
        clean, random = (float(np.mean([area(*pair) for pair in own])) for own in scores[1:])
        return InferredLabels(
            attack=self.name,
            measured="area under the curve",
            estimate=mean_area(scores[0], rng),
            baseline=0.5,
            unprotected=clean,
            random_words=random,
            **self.facts(data, target.privatizer),
        )

    def _told(
        self, form: list[str], forms: Forms, labels: Ids, parts: list[Ids], rng: Generator
    ) -> tuple[Floats, Floats]:
        """Return how sure the attacker is of members and of other texts.

        `form` is the form of the texts that the target was trained on.
        """
        members, others, shadowed, fresh = parts
        target = _classifier(chosen(form, members), labels[members])
        own = form if self.adaptive else forms.clean
        shadow = _classifier(chosen(own, shadowed), labels[shadowed])
        inside, outside = (
            model_outputs(shadow, forms.clean, labels, part) for part in (shadowed, fresh)
        )
        attacker = trained_attacker(inside, outside, rng)
        told = [
            attacker.predict_proba(model_outputs(target, forms.clean, labels, part))[:, 1]
            for part in (members, others)
        ]
        return told[0], told[1]


def _classifier(texts: Sequence[str], labels: Ids) -> Any:
    return text_regression(texts, labels, characters=False, weakness=_WEAKNESS)


def model_outputs(model: Any, texts: list[str], labels: Ids, places: Ids) -> Floats:
    """Return what an attacker sees of a model: the largest probabilities, and the label's own."""
    logs = np.log(np.maximum(model.predict_proba(chosen(texts, places)), _LEAST))
    own = logs[np.arange(len(places)), labels[places]]
    return np.column_stack([-np.sort(-logs, axis=1)[:, :2], own])


def trained_attacker(inside: Floats, outside: Floats, rng: Generator) -> Any:
    """Train the network that tells members by a model's outputs."""
    from sklearn.neural_network import MLPClassifier  # type: ignore[import-untyped]
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]

    network = MLPClassifier(  # 20 rounds are what the paper trains for
        _HIDDEN, batch_size=64, max_iter=_ROUNDS, random_state=int(rng.integers(2**31))
    )
    members = np.repeat([1, 0], [len(inside), len(outside)])
    return trained(np.concatenate([inside, outside]), members, StandardScaler(), network)
