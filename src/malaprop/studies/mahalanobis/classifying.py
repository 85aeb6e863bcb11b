"""Figures 6 and 7: classification of private tweets and messages."""

from collections.abc import Iterator
from typing import Any

from numpy.random import Generator

from malaprop.measure import tasks
from malaprop.measure.tasking import subjects
from malaprop.studies.framework.claims import Claim, alike
from malaprop.studies.framework.items import Figure, Item
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import floor_shares, share_in_clear, share_kept
from malaprop.studies.framework.once import drawn_once
from malaprop.studies.framework.run import Run
from malaprop.studies.framework.splitting import classified
from malaprop.studies.mahalanobis.channels import (
    EQUAL_EUCLIDEAN,
    EQUAL_KEPT,
    LAMBDAS,
    channel_of,
    euclidean_epsilon,
)

SETS = {"fig6": "disaster-tweets", "fig7": "sms-spam"}
FLOORS = {
    "no noise": subjects.unprotected,
    "random table": subjects.random_table,
    "random words": subjects.random_words,
}
MAJORITY = "majority"
MEASURES = ("accuracy", "precision", "recall", "balanced_accuracy")
ONCE, EACH = "one table", "each occurrence"
NOISE = "noise draws"
"""What errors are over; there is a second line for each score, with the error over splits."""
_TEST = 0.3


def grid_of(item: str) -> Any:
    """Return the grid of a figure: floors, each λ at each ε, a table noised once, and controls."""

    def grid(run: Run) -> Iterator[Setting]:
        shared = {"data": SETS[item], "spread": NOISE}
        noisy = {**shared, "mechanism": "mahalanobis", "noise": EACH}
        for floor in (*FLOORS, MAJORITY):
            yield {**shared, "mechanism": floor, "control": "floor"}
        for shape in run.pick(quick=(0.0, 1.0), full=LAMBDAS):
            for epsilon in run.pick(quick=(10, 20), full=(5, 10, 20, 40)):
                yield {**noisy, "lambda": shape, "epsilon": epsilon}
        for shape in run.pick(quick=(1.0,), full=(0.0, 1.0)):
            yield {**noisy, "noise": ONCE, "lambda": shape, "epsilon": 10}
        for control in (EQUAL_EUCLIDEAN, EQUAL_KEPT):
            for epsilon in run.pick(quick=(20,), full=(10, 20)):
                yield {**noisy, "lambda": 1.0, "epsilon": epsilon, "control": control}

    return grid


def classifying(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Train a linear model of word n-grams on private texts, and test it on private texts."""
    data, lexicon, name = run.data(setting["data"]), run.lexicon(), setting["mechanism"]
    limit, draws = run.pick(quick=200, full=800), run.pick(quick=2, full=5)
    task = tasks.registry["classify-text"]
    problem: Any = task(data=data, limit=limit, test=_TEST).prepare(lexicon)  # type: ignore[call-arg]
    if name == MAJORITY:
        yield Figure("accuracy", problem.majority)
        yield from floor_shares(name, len(lexicon))
    elif name in FLOORS:
        yield from classified(problem, FLOORS[name](lexicon), MEASURES, draws, rng)
        yield from floor_shares(name, len(lexicon))
    else:
        channel = channel_of(run, setting)
        once = setting["noise"] == ONCE
        subject = drawn_once(channel) if once else tasks.subject_of(channel, release="words")
        yield from classified(problem, subject, MEASURES, draws, rng)
        yield Figure("kept", share_kept(channel, run.pick(quick=200, full=1000), rng))
        yield Figure("share_in_clear", share_in_clear(channel))
        yield Figure("epsilon_used", channel.guarantee.epsilon)
        yield Figure("euclidean_epsilon", euclidean_epsilon(channel))


def _is_claimed(setting: Setting) -> bool:
    """Whether the paper speaks of a setting: fresh noise at a λ, none of our controls."""
    plain = "control" not in setting and setting["spread"] == NOISE
    return plain and setting["noise"] == EACH and setting["lambda"] > 0.0


def _alike(margin: float) -> tuple[Claim, ...]:
    return tuple(
        Claim(
            text=f"utility is at the same level for every λ: within {margin}",
            whose="reading",
            measure=measure,
            about=_is_claimed,
            holds=lambda line, results: alike(line, results.like(line, **{"lambda": 0.0}), margin),
        )
        for measure in MEASURES[:3]
    )


def _item(name: str) -> Item:
    beside = ("kept_in_texts", "kept", "share_in_clear", "epsilon_used", "euclidean_epsilon")
    return Item(
        name=name,
        grid=grid_of(name),
        cell=classifying,
        key="classifying",
        revision=3,
        measures=(*MEASURES, *beside),
        claims=_alike(0.05),
    )


FIG6, FIG7 = _item("fig6"), _item("fig7")
