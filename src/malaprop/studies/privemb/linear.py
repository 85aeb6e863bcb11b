"""Figure 3: a linear model that tells positive from negative words."""

from collections.abc import Iterator

from numpy.random import Generator

from malaprop.measure.tasking.base import task_with
from malaprop.measure.tasking.run import run as run_task
from malaprop.studies.framework.claims import Claim, above
from malaprop.studies.framework.items import Figure, Item, crossed
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import estimated
from malaprop.studies.framework.run import Run
from malaprop.studies.framework.spreads import over
from malaprop.studies.privemb.mechanisms import (
    EQUAL,
    FLOORS,
    M1,
    MAJORITY,
    channel_of,
    grid_of,
    lexicon_of,
    shares_of,
    subject_for,
)
from malaprop.studies.privemb.preservation import (
    against_m1,
    is_published,
    matched_epsilon,
    onto,
    smaller,
)

_TEST, _TRAIN = 0.2, 0.8
SPREAD = "noise and splits"


def epsilons(run: Run) -> tuple[float, ...]:
    """The paper's plot has several ε; our copy of it does not show which."""
    return run.pick(quick=(5, 10), full=(1, 5, 10, 20))


def grid(run: Run) -> Iterator[Setting]:
    """All mechanisms by ε and β, M1 at an equal share of words kept, and floors."""
    betas = run.pick(quick=(0.5, 0.9), full=(0.5, 0.7, 0.9))
    least = run.pick(quick=10, full=0)  # ε for the sound projections
    for setting in grid_of(epsilons(run), betas):
        if setting["published"] or (setting["beta"] == betas[-1] and setting["epsilon"] >= least):
            yield {**setting, "spread": SPREAD}
    for setting in crossed(mechanism=[M1], epsilon=[5, 10], beta=[0.9], control=[EQUAL]):
        yield {**setting, "spread": SPREAD}
    for control in FLOORS:
        yield {"control": control, "spread": SPREAD}


def linear(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Train a linear SVM on the private vectors of opinion words; test it on a fifth of them."""
    if setting.get("control") == MAJORITY:
        task = task_with("sentiment-words", {"data": run.data("opinion-words"), "test": _TEST})
        yield Figure("accuracy", task.prepare(lexicon_of(run, setting)).majority)
        yield from shares_of(run, setting, rng)
        return
    result = run_task(
        "sentiment-words",
        subject_for(run, setting),
        data=run.data("opinion-words"),
        repeats=run.pick(quick=3, full=20),
        floors=False,
        rng=rng,
        test=_TEST,
    )
    for name in ("accuracy", "auc"):
        yield estimated(name, result.measures[name], shared=_TEST / _TRAIN)
    yield Figure("words", result.items)
    yield from shares_of(run, setting, rng)
    if setting.get("control") in FLOORS:
        return
    channel = channel_of(run, setting)
    yield from onto(channel)
    yield from matched_epsilon(setting, channel)


def spread(setting: Setting, measure: str) -> str:
    """Return what errors are over: splits, and noise where there is any."""
    return over(noisy=setting.get("control") != "no noise", divided=True)


MEASURES = (
    *("accuracy", "auc", "kept", "share_in_clear"),
    *("epsilon_of_equal_share", "words", "m"),
)
FIG3 = Item(
    name="fig3",
    grid=grid,
    cell=linear,
    key="linear",
    spread=spread,
    revision=3,
    measures=MEASURES,
    claims=(
        Claim(
            text="M2 is more accurate than M1 at the same ε",
            measure="accuracy",
            about=is_published,
            holds=lambda line, results: above(line, against_m1(line, results)),
        ),
        Claim(
            text="M2 has a larger area under the curve than M1 at the same ε",
            measure="auc",
            about=is_published,
            holds=lambda line, results: above(line, against_m1(line, results)),
        ),
        Claim(
            text="M2 becomes more accurate as β grows",
            measure="accuracy",
            about=lambda setting: is_published(setting) and setting["beta"] > 0.5,
            holds=lambda line, results: above(line, smaller(line, results, "beta")),
        ),
    ),
)
