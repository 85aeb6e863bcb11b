"""Table VI: eight tasks on texts whose slots, words of rare transitions, are private."""

from collections.abc import Iterator
from typing import Any, Final

from numpy.random import Generator

from malaprop.lexicon.bigrams import shipped_model
from malaprop.measure import tasks
from malaprop.measure.tasking import subjects
from malaprop.studies.framework.claims import Claim, above, alike
from malaprop.studies.framework.items import Figure, Item
from malaprop.studies.framework.lines import Line, Setting
from malaprop.studies.framework.measuring import estimated, floor_shares
from malaprop.studies.framework.not_at_hand import ENCODERS
from malaprop.studies.framework.run import MissingDataError, Run
from malaprop.studies.framework.spreads import over
from malaprop.studies.hyperbolic.mechanisms import (
    EQUAL_EUCLIDEAN,
    EQUAL_KEPT,
    HIERARCHY,
    PUBLISHED,
    SOUND,
    channel_of,
    ids_of,
    lexicon_of,
)
from malaprop.studies.hyperbolic.slots import (
    ALL_WORDS,
    NO_WORDS,
    ONCE,
    RARE_TRANSITIONS,
    Protocol,
    Replacer,
    subject,
)

TASKS: Final = {
    **dict.fromkeys(("mr", "cr", "mpqa", "sst5", "trec"), "classify"),
    **dict.fromkeys(("sick", "mrpc"), "classify-pairs"),
    "sts14": "sts",
}
DIVIDED: Final = ("mr", "cr", "mpqa")
"""The sets that are split at random; the others come with a part to test on, or train nothing."""
EPSILONS: Final = (0.125, 1, 8)
NONE: Final = {"mechanism": "no noise"}
RANDOM: Final = {"mechanism": "random words"}
FLAT: Final = {**SOUND, "space": "Euclidean, 300 dimensions"}
"""The sound mechanism on GloVe's distances of the same words: what the hierarchy adds to it."""
_NOT_PRINTED = (("SkipThought", "sst5"), ("SkipThought", "mrpc"))
_RARE: Final = {"slots": RARE_TRANSITIONS}
_EVERY: Final = {"slots": ALL_WORDS, "control": ALL_WORDS}
_SPREAD = "noise draws and splits"
_TEST = 0.2
_SHARED = _TEST / (1.0 - _TEST)


def grid(run: Run) -> Iterator[Setting]:
    """For each task: both bounds and floors, each mechanism at each ε, and controls."""
    for data in TASKS:
        for setting in (*_bounds(data), *_private(run)):
            yield {**setting, "data": data, "lexicon": HIERARCHY, "spread": _SPREAD}


def _bounds(data: str) -> Iterator[dict[str, Any]]:
    yield {**NONE}
    yield {"mechanism": "majority", "control": "floor"}
    yield {"mechanism": "random table", "control": "floor"}
    for form in (_RARE, _EVERY):
        yield {**RANDOM, **form}
    yield from ({"mechanism": name} for name in ENCODERS if (name, data) not in _NOT_PRINTED)


def _private(run: Run) -> Iterator[dict[str, Any]]:
    for epsilon in EPSILONS:
        for one in (PUBLISHED, SOUND):
            yield {**one, "epsilon": epsilon, **_RARE}
    for epsilon in run.pick(quick=(8,), full=(1, 8)):
        for one in (PUBLISHED, SOUND):
            yield {**one, "epsilon": epsilon, **_EVERY}
        for one, control in ((SOUND, EQUAL_KEPT), (PUBLISHED, ONCE)):
            yield {**one, "epsilon": epsilon, **_RARE, "control": control}
    for control in (EQUAL_KEPT, EQUAL_EUCLIDEAN):
        yield {**FLAT, "epsilon": EPSILONS[-1], **_RARE, "control": control}


def spread(setting: Setting, measure: str) -> str:
    """Return what errors are over: noise if there is any, and splits if a set has no test part."""
    return over(noisy=setting["mechanism"] != "no noise", divided=setting["data"] in DIVIDED)


def table6(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Run a task on private texts; vectors of words are those of `english`."""
    space, name = run.lexicon(), setting["mechanism"]
    if name in ENCODERS:
        raise MissingDataError(name, ENCODERS[name], _measures(setting["data"]))
    task, data = TASKS[setting["data"]], _some(run, setting["data"])
    options: dict[str, Any] = {"data": data, "floors": False, "rng": rng}
    options["repeats"] = run.pick(quick=2, full=5)
    if name == "majority":
        yield from _majority(task, data, space)
        return
    if name == "random table":
        yield from _scores(task, tasks.run(task, subjects.random_table(space), **options))
        yield from floor_shares(name, len(space))
        return
    channel = channel_of(run, setting) if "epsilon" in setting else None
    lexicon = lexicon_of(run, setting)
    once = setting.get("control") == ONCE
    replacer = Replacer(ids_of(run, lexicon), channel, _protocol(run, setting), once)
    yield from _scores(task, tasks.run(task, subject(space, replacer), **options))
    if name == "no noise":
        yield from floor_shares(name, len(lexicon))
        return
    yield Figure("kept", replacer.kept)
    yield Figure("share_in_clear", replacer.in_clear)
    if channel is not None:
        yield Figure("epsilon_used", float(channel.guarantee.epsilon))


def _protocol(run: Run, setting: Setting) -> Protocol:
    words = run.lexicon()
    slots = setting.get("slots", NO_WORDS)
    if slots != RARE_TRANSITIONS:
        return Protocol(slots)
    model = run.sets.get("bigrams") or run.once("bigrams", lambda: shipped_model(words))
    if model is None:
        raise MissingDataError("A bigram model", "malaprop lm train CORPUS -o MODEL")
    return Protocol(RARE_TRANSITIONS, model, words)


def _some(run: Run, name: str) -> Any:
    """Return a part of a data set, spread over it and over the parts that it is divided into."""
    data, most = run.data(name), run.pick(quick=100, full=1500)
    step = max(1, len(data) // most)
    return run.once(("some", name), lambda: data.rows(range(0, len(data), step)))


def _measures(data: str) -> tuple[str, ...]:
    return ("pearson", "spearman") if TASKS[data] == "sts" else ("accuracy",)


def _majority(task: str, data: Any, space: Any) -> Iterator[Figure]:
    if task != "sts":
        most = tasks.registry[task](data=data).prepare(space).majority
        yield Figure("accuracy", most)
        yield from floor_shares("majority", len(space))


def _scores(task: str, result: tasks.BenchmarkResult) -> Iterator[Figure]:
    if task == "sts":
        yield estimated("pearson", result.measures["pearson_groups"])
        yield estimated("spearman", result.measures["spearman_groups"])
        return
    shared = _SHARED if "splits" in result.over else 0.0
    yield estimated("accuracy", result.measures["accuracy"], shared=shared)


def _random(line: Line, results: Any) -> Any:
    gone = dict.fromkeys(("epsilon", "sigma", "published"))
    return results.like(line, mechanism="random words", **gone)


def _is_of_the_paper(setting: Setting) -> bool:
    return "epsilon" in setting and "control" not in setting


def _claims(measure: str) -> tuple[Claim, ...]:
    return (
        Claim(
            text="the task goes better than with random words in the slots",
            measure=measure,
            about=_is_of_the_paper,
            holds=lambda line, results: above(line, _random(line, results)),
        ),
        Claim(
            text="utility is higher at ε = 8 than at ε = 0.125",
            measure=measure,
            about=lambda setting: _is_of_the_paper(setting) and setting["epsilon"] == 8,
            holds=lambda line, results: above(line, results.like(line, epsilon=0.125)),
        ),
        Claim(
            text="at ε = 8 the score is close to that without noise: within 0.05",
            whose="reading",
            measure=measure,
            about=lambda setting: _is_of_the_paper(setting) and setting["epsilon"] == 8,
            holds=lambda line, results: alike(line, _without_noise(line, results), 0.05),
        ),
    )


def _without_noise(line: Line, results: Any) -> Any:
    gone = dict.fromkeys(("epsilon", "sigma", "published", "slots"))
    own = {**line.setting, "mechanism": "no noise"}
    return results.like(line, mechanism="no noise", spread=spread(own, line.measure), **gone)


TABLE6 = Item(
    name="table6",
    grid=grid,
    cell=table6,
    key="table6",
    spread=spread,
    revision=5,
    measures=("accuracy", "pearson", "spearman", "kept", "share_in_clear", "epsilon_used"),
    claims=(*_claims("accuracy"), *_claims("pearson"), *_claims("spearman")),
)
