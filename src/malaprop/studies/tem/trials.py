"""Figure 1: a classifier trained on private reviews, its accuracy, and who was in its training."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.randomness import seeded_rng
from malaprop.measure.adversaries.membership import model_outputs, trained_attacker
from malaprop.measure.attacking.learners import Regression
from malaprop.measure.attacking.scoring import area
from malaprop.measure.intervals import LEVEL
from malaprop.studies.framework.items import Figure
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import mean_of
from malaprop.studies.framework.run import Run
from malaprop.studies.tem.mechanisms import NO_NOISE, TABLE, channel_of, equal_epsilon, source_of
from malaprop.studies.tem.reviews import Part, classifier, parts_of

PUNCTUATION = "punctuation kept"
MORE = (2, 10)
"""ε at which Madlib is also attacked adaptively: each needs twice as many nearest words."""
STATIC, ADAPTIVE, LOSS = "static", "adaptive", "loss alone"


def trial(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Train on private TR1, test on TE1; then tell TR1 from TR2 by the model's outputs."""
    trials = range(run.pick(quick=2, full=5))
    rows = [_one(run, setting, number, rng) for number in trials]
    for name in rows[0]:
        figure = mean_of(name.partition(":")[0], [row[name] for row in rows])
        attacker = name.partition(":")[2]
        added = {"attacker": attacker} if attacker else {}
        yield Figure(figure.measure, figure.value, figure.error, added)
        if name == "accuracy":
            yield Figure("accuracy_ci95", _half_width([row[name] for row in rows]))
    if setting.get("control") == "equal share kept":
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
    parts = parts_of(run, number)
    punctuation = setting.get("control") == PUNCTUATION
    source = source_of(run, setting, rng)
    trained = parts["TR1"].private(source, punctuation)
    target = classifier(trained, parts["TR1"].labels)
    kept = source.kept if setting.get("control") != NO_NOISE else 1.0
    figures = {"accuracy": _right(target, parts["TE1"], parts["TE1"].clean_form(punctuation))}
    figures["kept"] = 0.0 if kept is None else kept
    shadow = _shadow(run, number, punctuation)
    figures |= _areas(run, (number, punctuation), target, shadow, parts, STATIC, punctuation)
    if _is_cheap(setting):
        figures |= _adaptive(run, source, target, parts, punctuation)
    return figures


def _is_cheap(setting: Setting) -> bool:
    """Whether TE1 and TE2 are made private, too: Madlib does so at some ε only."""
    if setting.get("mechanism") != "laplace":
        return True
    return bool(setting["noise"] == TABLE or setting["epsilon"] in MORE)


def _right(model: Regression, part: Part, texts: list[str]) -> float:
    return float(np.mean(model(texts) == part.labels))


def _shadow(run: Run, number: int, punctuation: bool) -> Regression:
    """Return the shadow model, which is trained on clean TE2."""
    part = parts_of(run, number)["TE2"]
    return run.once(
        ("shadow", number, punctuation),
        lambda: classifier(part.clean_form(punctuation), part.labels),
    )


def _adaptive(
    run: Run, source: Any, target: Regression, parts: dict[str, Part], punctuation: bool
) -> dict[str, float]:
    """Test on private TE1, and attack with a shadow that is trained on private TE2."""
    private = parts["TE1"].private(source, punctuation)
    shadowed = classifier(parts["TE2"].private(source, punctuation), parts["TE2"].labels)
    right = {"accuracy_private": _right(target, parts["TE1"], private)}
    return right | _areas(run, None, target, shadowed, parts, ADAPTIVE, punctuation)


def _areas(
    run: Run,
    key: Any,
    target: Regression,
    shadow: Regression,
    parts: dict[str, Part],
    attacker: str,
    punctuation: bool,
) -> dict[str, float]:
    """Return the areas under the curve of an attacker; all reviews are asked in clean form."""

    def outputs(model: Regression, name: str) -> Floats:
        part = parts[name]
        every = np.arange(len(part.labels))
        return model_outputs(model, part.clean_form(punctuation), part.labels, every)

    def learnt() -> Any:
        rng = seeded_rng(run.seed)
        return trained_attacker(outputs(shadow, "TE2"), outputs(shadow, "TE1"), rng)

    network = learnt() if key is None else run.once(("attacker", key), learnt)
    inside, outside = outputs(target, "TR1"), outputs(target, "TR2")
    told = [network.predict_proba(rows)[:, 1] for rows in (inside, outside)]
    areas = {f"auc:{attacker}": area(told[0], told[1])}
    if attacker == STATIC:  # the label's own log-probability needs no shadow
        areas[f"auc:{LOSS}"] = area(inside[:, -1], outside[:, -1])
    return areas
