"""Figure 1: a classifier trained on private reviews, its accuracy, and who was in its training."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.randomness import seeded_rng
from malaprop.measure.adversaries.membership import model_outputs, trained_attacker
from malaprop.measure.attacking.learners import Regression
from malaprop.measure.attacking.scoring import area
from malaprop.measure.intervals import LEVEL
from malaprop.measure.tasking.sources import Source
from malaprop.studies.framework.items import Figure
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import mean_of
from malaprop.studies.framework.run import Run
from malaprop.studies.tem.mechanisms import (
    EQUAL,
    NO_NOISE,
    PUNCTUATION,
    RANDOM_WORDS,
    channel_of,
    equal_epsilon,
    is_at_equal_share,
    source_of,
)
from malaprop.studies.tem.reviews import WEAKNESS, Part, classifier, parts_of

EQUAL_PUNCTUATED = f"{EQUAL}, {PUNCTUATION}"
RANDOM_PUNCTUATED = f"{RANDOM_WORDS}, {PUNCTUATION}"
"""The floor where punctuation is kept: what it gives away alone."""
REGULARIZED = "a classifier that learns less by heart"
CLEAN_REGULARIZED = f"no noise, {REGULARIZED}"
_WEAK = 1.0  # its C
STATIC, ADAPTIVE, LOSS = "static", "adaptive", "loss alone"


def trial(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Train on private TR1, test on TE1; then tell TR1 from TR2 by the model's outputs."""
    trials = range(run.pick(quick=2, full=5))
    rows = [_one(run, setting, number, rng) for number in trials]
    for name in rows[0]:
        figure = mean_of(name.partition(":")[0], [row[name] for row in rows])
        attacker = name.partition(":")[2]
        added = {"attacker": attacker} if attacker else {}
        yield replace(figure, setting=added)
        if name == "accuracy":
            yield Figure("accuracy_ci95", _half_width([row[name] for row in rows]))
    if is_at_equal_share(setting):
        yield Figure("epsilon_of_equal_share", equal_epsilon(run, setting))
    if setting.get("mechanism") == "tem":
        law: Any = channel_of(run, setting)
        yield Figure("exponent", float(law.law.exponent))
    yield Figure("majority", 0.5)  # as many reviews of either class


def _half_width(values: Sequence[float]) -> float | None:
    """Return half of Student's 95 % interval of a mean."""
    from scipy.stats import t

    if len(values) < 2:
        return None
    sure = float(t.ppf(0.5 + LEVEL / 2.0, len(values) - 1))
    return sure * float(np.std(values, ddof=1)) / math.sqrt(len(values))


def _one(run: Run, setting: Setting, number: int, rng: Generator) -> dict[str, float]:
    """Return the figures of one trial; those of attackers are named `auc:attacker`."""
    control = setting.get("control", "")
    trial = _Trial(
        run,
        number,
        punctuation=control.endswith(PUNCTUATION),
        weakness=_WEAK if control in (REGULARIZED, CLEAN_REGULARIZED) else WEAKNESS,
    )
    figures = trial.figures(source_of(run, setting, rng))
    clear = 1.0 if control.startswith(NO_NOISE) else parts_of(run, number)["TR1"].exempt
    return {**figures, "share_in_clear": clear}


@dataclass(frozen=True)
class _Trial:
    """One trial: a split of its own, and the classifiers that are trained on its parts."""

    run: Run
    number: int
    punctuation: bool
    weakness: float

    def figures(self, source: Source) -> dict[str, float]:
        """Train on private TR1; return accuracies, the share of words kept, and areas."""
        target = self._trained(self._private("TR1", source), self._parts["TR1"])
        kept = source.kept
        tested = self._private("TE1", source)
        shadow = self._trained(self._private("TE2", source), self._parts["TE2"])
        return {
            "accuracy": self._right(target, self._clean("TE1")),
            "accuracy_private": self._right(target, tested),
            "kept": 1.0 if kept is None else kept,
            **self._areas(target, self._static_attacker, STATIC),
            **self._areas(target, self._attacker(shadow), ADAPTIVE),
        }

    @property
    def _parts(self) -> dict[str, Part]:
        return parts_of(self.run, self.number)

    def _private(self, name: str, source: Source) -> list[str]:
        return self._parts[name].private(source, self.punctuation)

    def _clean(self, name: str) -> list[str]:
        return self._parts[name].clean_form(self.punctuation)

    def _trained(self, texts: list[str], part: Part) -> Regression:
        return classifier(texts, part.labels, self.weakness)

    def _right(self, model: Regression, texts: list[str]) -> float:
        return float(np.mean(model(texts) == self._parts["TE1"].labels))

    @property
    def _static_attacker(self) -> Any:
        """The attacker that learnt from a shadow trained on clean TE2: the same for all cells."""
        key = ("attacker", self.number, self.punctuation, self.weakness)
        part = self._parts["TE2"]
        return self.run.once(key, lambda: self._attacker(self._trained(self._clean("TE2"), part)))

    def _attacker(self, shadow: Regression) -> Any:
        rng = seeded_rng(self.run.seed)
        return trained_attacker(self._outputs(shadow, "TE2"), self._outputs(shadow, "TE1"), rng)

    def _outputs(self, model: Regression, name: str) -> Floats:
        """Return what a model says about the clean reviews of a part."""
        labels = self._parts[name].labels
        return model_outputs(model, self._clean(name), labels, np.arange(len(labels)))

    def _areas(self, target: Regression, network: Any, attacker: str) -> dict[str, float]:
        """Return the area under the curve with which the attacker tells TR1 from TR2."""
        inside, outside = self._outputs(target, "TR1"), self._outputs(target, "TR2")
        told = [network.predict_proba(rows)[:, 1] for rows in (inside, outside)]
        areas = {f"auc:{attacker}": area(told[0], told[1])}
        if attacker == STATIC:  # the label's own log-probability needs no shadow
            areas[f"auc:{LOSS}"] = area(inside[:, -1], outside[:, -1])
        return areas
