"""Figure 2: four tasks, with the noise of each mechanism, by ε; beside floors and controls."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.lab import tasks
from malaprop.lab.studies.figures import (
    classified,
    drawn_once,
    epsilon_for_kept,
    floor_shares,
    mean_of,
    share_in_clear,
)
from malaprop.lab.studies.figures import share_kept as kept_by
from malaprop.lab.studies.nadp.words import COMPARED, SOUND, channel_of
from malaprop.lab.studies.reproduction import Run
from malaprop.lab.studies.study import (
    NOISE,
    SPLITS,
    Claim,
    Item,
    Line,
    Measurement,
    Results,
    Setting,
    above,
    alike,
    below,
    crossed,
    every,
)
from malaprop.lab.tasks.sources import Source, Subject, Table, subject_of
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import Channel
from malaprop.privacy.estimate import word_ids
from malaprop.privacy.randomness import seeded_rng

TASKS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "word similarity": ("similarity", "spearman", ("men", "simlex", "simverb")),
    "text similarity": ("sts", "official", ("stsb",)),
    "classification": ("classify", "accuracy", ("mr", "cr", "mpqa")),
    "odd man out": ("odd-man-out", "accuracy", ("odd-8-8-8", "wikisem500")),
}
"""The paper's tasks: the task's name here, its measure, and its data sets."""
ONCE, EACH = "one table", "each occurrence"
FLOORS = ("no noise", "random table", "random words", "majority")
EQUAL = "equal share kept"
SAME_CLEAR = "the same words in clear, all others random"
NADP = {"mechanism": "nadp", "published": True, "tau": 0.5}
EQUAL_EUCLIDEAN = "equal Euclidean ε"
_TEST = 0.2
_SEED = 11
_OVER = "noise draws, and splits where there are any"  # of a grid; no other task has splits
_TASK = ("task", "spread", "noise", "control", "epsilon")  # what does not change the channel


def fig2_grid(run: Run) -> Iterator[Setting]:
    """Each task with each mechanism at each ε, then floors and controls."""
    few = run.pick(quick=(10.0,), full=(1.0, 10.0, 40.0))
    many = run.pick(quick=(1.0, 10.0), full=(1.0, 5.0, 10.0, 20.0, 40.0))
    floors = [{"mechanism": floor, "control": "floor"} for floor in FLOORS]
    compared = crossed(of=COMPARED, epsilon=many, noise=[ONCE])
    each = run.pick(quick=[COMPARED[0], COMPARED[2], *SOUND[1:]], full=[*COMPARED, *SOUND])
    anew = crossed(of=each, epsilon=few, noise=[EACH])
    controls: list[dict[str, Any]] = [{"mechanism": "coin", "control": SAME_CLEAR}]
    controls += [{**mechanism, "control": EQUAL} for mechanism in COMPARED[2:4]]
    controls += [{**COMPARED[2], "control": EQUAL_EUCLIDEAN}]
    controlled = crossed(of=controls, epsilon=few, noise=[ONCE])
    settings = [*floors, *compared, *anew, *controlled]
    for setting in settings:
        for task in TASKS:  # one after the other with the same channel
            own = {**setting.get("of", {}), **setting}
            spread = NOISE if task == "classification" else _OVER
            yield {"task": task, "spread": spread, **_without(own, "of")}


def spread(setting: Setting, measure: str) -> str:
    """Return what errors are over. Scores of classification also have a line over splits."""
    return NOISE


def _without(setting: Setting, name: str) -> dict[str, Any]:
    return {key: value for key, value in setting.items() if key != name}


def fig2(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Do one task with one mechanism, and measure the shares of words kept and in clear."""
    control = setting.get("control")
    if control == "floor":
        yield from _floor(run, setting, rng)
        return
    if control == SAME_CLEAR:
        yield from _with_same_clear(run, setting, rng)
        return
    epsilon = _epsilon(run, setting)
    if control is not None:
        yield Measurement("epsilon_used", epsilon)
    key = (*sorted((name, str(setting[name])) for name in setting if name not in _TASK), epsilon)
    channel = run.latest("channel", key, lambda: channel_of(run, setting, epsilon))
    subject = drawn_once(channel) if setting["noise"] == ONCE else subject_of(channel)
    yield from _scored(run, setting, subject, rng)
    yield Measurement("kept", _kept(run, setting, channel, epsilon))
    yield Measurement("share_in_clear", share_in_clear(channel))


def _scored(run: Run, setting: Setting, subject: Subject, rng: Generator) -> Iterator[Measurement]:
    """Do a task on a subject; a task with several sets to learn from takes their mean."""
    name, measure, sets = TASKS[setting["task"]]
    data = [run.data(one) for one in sets]
    options: dict[str, Any] = {"repeats": run.pick(quick=2, full=5), "floors": False, "rng": rng}
    if name != "classify":
        result = tasks.run(name, subject, data=tuple(data), **options)
        yield mean_of("score", result.measures[measure].values)
        return
    draws = options["repeats"]
    figures = [
        list(classified(_problem(run, one), subject, [measure], draws, rng))[:2] for one in data
    ]
    for each in zip(*figures, strict=True):  # the errors over noise draws, then those over splits
        yield _mean(each)


def _problem(run: Run, data: Any) -> Any:
    """Return a set to classify, read once in a run."""
    limit = run.pick(quick=600, full=1000)
    made = tasks.registry["classify"](data=data, limit=limit, test=_TEST)  # type: ignore[call-arg]
    return run.once(("classify", data.name), lambda: made.prepare(run.lexicon()))


def _mean(figures: Sequence[Measurement]) -> Measurement:
    """Return the mean of several sets' scores, with its error."""
    value = float(np.mean([one.value for one in figures if isinstance(one.value, float)]))
    errors = [one.error for one in figures if one.error is not None]
    error = math.hypot(*errors) / len(figures) if errors else None
    least = min((one.freedom for one in figures if one.freedom), default=None)  # this is cautious
    return Measurement("score", value, error, figures[0].setting, freedom=least)


def _floor(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure what is reached without noise, and without useful vectors."""
    from malaprop.lab.tasks import sources

    lexicon, floor = run.lexicon(), setting["mechanism"]
    if floor == "majority":
        name, _, sets = TASKS[setting["task"]]
        chosen = tasks.registry[name]
        prepared = [chosen(data=run.data(one)).prepare(lexicon).majority for one in sets]
        shares = [share for share in prepared if share is not None]
        if shares:
            yield Measurement("score", float(np.mean(shares)))
            yield from floor_shares(floor, len(lexicon))
        return
    make = {
        "no noise": sources.unprotected,
        "random table": sources.random_table,
        "random words": sources.random_subject,
    }[floor]
    yield from _scored(run, setting, make(lexicon), rng)
    yield from floor_shares(floor, len(lexicon))


def _with_same_clear(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Do a task with the words that the published NADP leaves in clear."""
    model = channel_of(run, {**NADP, "epsilon": setting["epsilon"]})
    subject = _same_clear(model)
    yield from _scored(run, setting, subject, rng)
    lexicon = run.lexicon()
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=100, full=500)))
    released = subject.begin(seeded_rng(_SEED)).vectors(ids)
    yield Measurement("kept", float(np.mean(lexicon.nearest(released, 1)[:, 0] == ids)))
    yield Measurement("share_in_clear", share_in_clear(model))


def _same_clear(channel: Any) -> Subject:
    """Return words in clear where a channel gives them no noise, and random vectors elsewhere."""
    space, clear = channel.lexicon, channel.noise.sigmas == 0.0
    spread = float(space.vectors.std())

    def begin(rng: Generator) -> Source:
        random: Floats = rng.normal(scale=spread, size=space.vectors.shape)
        return Table(space, rng, np.where(clear[:, None], space.vectors, random))

    return Subject(SAME_CLEAR, space, begin)


def _kept(run: Run, setting: Setting, channel: Channel, epsilon: float) -> float:
    words = run.pick(quick=100, full=500)
    key = ("kept", setting["mechanism"], setting["published"], setting.get("tau"), epsilon)
    return run.once(key, lambda: kept_by(channel, words, seeded_rng(_SEED)))


def _epsilon(run: Run, setting: Setting) -> float:
    """Return the ε that a mechanism is run at, under the control of a setting."""
    epsilon = float(setting["epsilon"])
    if setting.get("control") == EQUAL:
        return _matched(run, setting)
    if setting.get("control") == EQUAL_EUCLIDEAN:
        return epsilon**2 / channel_of(run, setting).guarantee.in_metric("euclidean").epsilon
    return epsilon


def _matched(run: Run, setting: Setting) -> float:
    """Return the ε at which a mechanism keeps as many words as the published NADP."""

    def search() -> float:
        model = channel_of(run, {**NADP, "epsilon": setting["epsilon"]})
        words = run.pick(quick=100, full=500)
        target = kept_by(model, words, seeded_rng(_SEED))
        return epsilon_for_kept(lambda epsilon: channel_of(run, setting, epsilon), target, words)

    return run.once(("matched", setting["mechanism"], setting["epsilon"]), search)


# Figure 2's claims: NADP before all others, and how those compare.


_OTHERS = ("mahalanobis", "gaussian", "jaccard", "laplacian")
_BY_WORDS = ("word similarity", "classification", "odd man out")


def _is(setting: Setting, mechanism: str) -> bool:
    """Whether a setting is one of the paper's: a table noised once, no control of ours."""
    return (
        setting["mechanism"] == mechanism
        and bool(setting.get("published"))
        and setting.get("noise") == ONCE
        and "control" not in setting
        and setting["spread"] != SPLITS
        and setting.get("tau", 0.5) == NADP["tau"]
    )


def _is_control(setting: Setting, control: str) -> bool:
    return setting.get("control") == control and setting["spread"] != SPLITS


def _other(line: Line, results: Results, mechanism: str) -> Line | None:
    """Return the line of another mechanism at the same ε on the same task."""
    return next(
        (
            other
            for other in results.lines
            if other.measure == line.measure
            and _is(other.setting, mechanism)
            and other.setting["task"] == line.setting["task"]
            and other.setting["epsilon"] == line.setting["epsilon"]
        ),
        None,
    )


def _best(line: Line, results: Results) -> bool | None:
    return every(above(line, _other(line, results, name)) for name in _OTHERS)


def _second(line: Line, results: Results) -> bool | None:
    return every(above(line, _other(line, results, name)) for name in _OTHERS[1:])


def _worst(line: Line, results: Results) -> bool | None:
    return every(below(line, _other(line, results, name)) for name in _OTHERS[1:])


FIG2 = Item(
    name="fig2",
    grid=fig2_grid,
    cell=fig2,
    key="fig2",
    revision=3,
    spread=spread,
    measures=("score", "kept", "share_in_clear", "epsilon_used"),
    claims=(
        Claim(
            text="NADP is best on all four tasks at every ε",
            measure="score",
            about=lambda setting: _is(setting, "nadp"),
            holds=_best,
        ),
        Claim(
            text="Mahalanobis is second best, but for text similarity",
            measure="score",
            about=lambda setting: _is(setting, "mahalanobis") and setting["task"] in _BY_WORDS,
            holds=_second,
        ),
        Claim(
            text="Mahalanobis is worst in text similarity",
            measure="score",
            about=lambda setting: _is(setting, "mahalanobis") and setting["task"] not in _BY_WORDS,
            holds=_worst,
        ),
        Claim(
            text="Jaccard and Gaussian perform similarly: within 0.05",
            whose="reading",
            measure="score",
            about=lambda setting: _is(setting, "jaccard"),
            holds=lambda line, results: alike(line, _other(line, results, "gaussian"), 0.05),
        ),
        Claim(
            text="at high ε (20 or more) Gaussian outperforms Laplacian, but for text similarity",
            measure="score",
            about=lambda setting: (
                _is(setting, "gaussian")
                and setting["task"] in _BY_WORDS
                and setting["epsilon"] >= 20
            ),
            holds=lambda line, results: above(line, _other(line, results, "laplacian")),
        ),
        Claim(
            text="NADP is better than a mechanism that keeps as many words",
            whose="control",
            measure="score",
            about=lambda setting: _is_control(setting, EQUAL),
            holds=lambda line, results: below(line, _other(line, results, "nadp")),
        ),
        Claim(
            text="NADP is better than the same words in clear and random others",
            whose="control",
            measure="score",
            about=lambda setting: _is_control(setting, SAME_CLEAR),
            holds=lambda line, results: below(line, _other(line, results, "nadp")),
        ),
    ),
)
