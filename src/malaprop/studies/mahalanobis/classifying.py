"""Figures 6 and 7: classification of private tweets and messages."""

from collections.abc import Iterator
from typing import Any

from numpy.random import Generator

from malaprop.measure import tasks
from malaprop.measure.tasking import subjects
from malaprop.studies.framework.claims import Claim, alike
from malaprop.studies.framework.items import Figure, Item
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import estimated, share_kept
from malaprop.studies.framework.run import Run
from malaprop.studies.mahalanobis.channels import (
    EQUAL_EUCLIDEAN,
    EQUAL_KEPT,
    channel_of,
    euclidean_epsilon,
)

SETS = {"fig6": "disaster-tweets", "fig7": "sms-spam"}
FLOORS = ("no noise", "random words", "majority")
MEASURES = ("accuracy", "precision", "recall", "balanced_accuracy")
_TEST = 0.3
_SHARED = _TEST / (1.0 - _TEST)


def grid_of(item: str) -> Any:
    """Return the grid of a figure: floors, each λ at each ε, and controls at one of them."""

    def grid(run: Run) -> Iterator[Setting]:
        shared = {"data": SETS[item], "spread": "noise draws and splits"}
        noisy = {**shared, "mechanism": "mahalanobis", "noise": "each occurrence"}
        for floor in FLOORS:
            yield {**shared, "mechanism": floor, "control": "floor"}
        for shape in run.pick(quick=(0.0, 1.0), full=(0.0, 0.5, 1.0)):
            for epsilon in run.pick(quick=(10, 20), full=(5, 10, 20, 40)):
                yield {**noisy, "lambda": shape, "epsilon": epsilon}
        for control in (EQUAL_EUCLIDEAN, EQUAL_KEPT):
            for epsilon in run.pick(quick=(20,), full=(10, 20)):
                yield {**noisy, "lambda": 1.0, "epsilon": epsilon, "control": control}

    return grid


def classifying(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Train a linear model of word n-grams on private texts, and test it on private texts."""
    data, lexicon = run.data(setting["data"]), run.lexicon()
    options: dict[str, Any] = {
        "data": data,
        "limit": run.pick(quick=300, full=800),
        "test": _TEST,
        "repeats": run.pick(quick=2, full=3),
        "floors": False,
        "rng": rng,
    }
    if setting["mechanism"] == "majority":
        most = tasks.registry["classify-text"](data=data).prepare(lexicon).majority
        yield Figure("accuracy", most)
        return
    if setting.get("control") == "floor":
        none = setting["mechanism"] == "no noise"
        subject = (subjects.unprotected if none else subjects.random_words)(lexicon)
        yield from _scores(tasks.run("classify-text", subject, **options))
        return
    channel = channel_of(run, setting)
    result = tasks.run("classify-text", channel, release="words", **options)
    yield from _scores(result)
    yield Figure("kept_in_texts", result.kept)
    yield Figure("kept", share_kept(channel, run.pick(quick=200, full=1000), rng))
    yield Figure("epsilon_used", channel.guarantee.epsilon)
    yield Figure("euclidean_epsilon", euclidean_epsilon(channel))


def _scores(result: tasks.BenchmarkResult) -> Iterator[Figure]:
    for name in MEASURES:
        yield estimated(name, result.measures[name], shared=_SHARED)


def _alike(margin: float) -> tuple[Claim, ...]:
    return tuple(
        Claim(
            text=f"utility is at the same level for every λ (within {margin})",
            measure=measure,
            about=lambda setting: setting.get("lambda", 0.0) > 0.0 and "control" not in setting,
            holds=lambda line, results: alike(line, results.like(line, **{"lambda": 0.0}), margin),
        )
        for measure in MEASURES[:3]
    )


def _item(name: str) -> Item:
    return Item(
        name=name,
        grid=grid_of(name),
        cell=classifying,
        measures=(*MEASURES, "kept_in_texts", "kept", "epsilon_used", "euclidean_epsilon"),
        claims=_alike(0.05),
    )


FIG6, FIG7 = _item("fig6"), _item("fig7")
