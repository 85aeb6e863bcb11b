"""Eight tasks, authors."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from malaprop.lab import tasks
from malaprop.lab.studies.figures import SPLITS, estimated, floor_shares, jointly
from malaprop.lab.studies.hyperbolic.mechanisms import (
    ALL_WORDS,
    AT_THE_EDGE,
    EQUAL_EUCLIDEAN,
    EQUAL_KEPT,
    HIERARCHY,
    NO_WORDS,
    ONCE,
    PUBLISHED,
    RARE_TRANSITIONS,
    SOUND,
    STOP_WORDS_KEPT,
    Protocol,
    Replacer,
    SlotTexts,
    channel_of,
    ids_of,
    lexicon_of,
    subject,
)
from malaprop.lab.studies.reproduction import ENCODERS, MissingDataError, Run
from malaprop.lab.studies.study import (
    Claim,
    Item,
    Line,
    Measurement,
    Setting,
    above,
    alike,
    below,
    over,
)
from malaprop.lab.tasks import sources
from malaprop.lexicon.bigrams import shipped_model
from malaprop.measure.adversaries.labels import TESTED, Predictor, koppel, plain
from malaprop.measure.classification import random_splits
from malaprop.privacy.arrays import Ids
from malaprop.privacy.randomness import seeded_rng

# Table III: how many authors are identified by Koppel's method.


PAN: Final = ("pan11-small", "pan11-large", "pan12-A", "pan12-C", "pan12-D", "pan12-I")
GET_PAN: Final = "ask for PAN-2011 and PAN-2012 at https://pan.webis.de/data.html"
EPSILONS: Final = (0.5, 1, 2, 8)
NONE: Final[dict[str, Any]] = {"mechanism": "no noise"}
RANDOM: Final[dict[str, Any]] = {"mechanism": "random words", "control": "floor"}
TABLE: Final[dict[str, Any]] = {"mechanism": "random table", "control": "floor"}
"""A random word for each word, always the same: a cipher, which keeps a style as it is."""
_FEWEST = 4  # texts of an author
_SHARED: Final = {"lexicon": HIERARCHY, "spread": "noise draws and splits"}
_PLAIN: Final = {"attacker": "static", "punctuation": True, "protocol": STOP_WORDS_KEPT}
"""The paper's attacker and protocol."""


def author_grid(run: Run) -> Iterator[Setting]:
    """PAN's settings, which need its data; then ours on two other sets, with controls."""
    for data in PAN:
        yield {"data": data, **NONE, **_PLAIN, **_SHARED}
        for epsilon in EPSILONS:
            yield {"data": data, **PUBLISHED, "epsilon": epsilon, **_PLAIN, **_SHARED}
    for data in ("sotu", "gutenberg"):
        for form in _forms(run, data):
            yield from ({"data": data, **one, **form, **_SHARED} for one in _compared(run, form))
        for control in (EQUAL_KEPT, AT_THE_EDGE):
            yield {"data": data, **SOUND, "epsilon": 8, "control": control, **_PLAIN, **_SHARED}


def _compared(run: Run, form: Setting) -> Iterator[dict[str, Any]]:
    """Without protection, the floor, and both mechanisms: at each ε for the plain attacker."""
    yield from (NONE, RANDOM, TABLE)
    common = form["attacker"] == "static" and form["punctuation"]
    for epsilon in EPSILONS if common else run.pick(quick=(8,), full=(1, 8)):
        for one in (PUBLISHED, SOUND):
            yield {**one, "epsilon": epsilon}
    if form["punctuation"]:
        yield {**PUBLISHED, "epsilon": 8, "control": ONCE}


def author_spread(setting: Setting, measure: str) -> str:
    """Return what errors are over: splits, and noise where there is any."""
    return over(noisy=setting["mechanism"] != "no noise", divided=True)


def _forms(run: Run, data: str) -> Iterator[dict[str, Any]]:
    """Attackers and protocols: all, but in a quick run on books only the plain attacker."""
    for protocol in (STOP_WORDS_KEPT, ALL_WORDS):
        for attacker in ("static", "adaptive"):
            for punctuation in (True, False):
                if not run.quick or data == "sotu" or (punctuation and attacker == "static"):
                    yield {"attacker": attacker, "punctuation": punctuation, "protocol": protocol}


@dataclass(frozen=True, eq=False)
class _Authors:
    """Texts with their authors."""

    texts: SlotTexts
    clean: list[str]
    labels: Ids


def table3(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Identify the authors of private texts: each draw of the noise on the same splits."""
    if setting["data"] in PAN and setting["data"] not in run.sets:
        raise MissingDataError(f"The data set {setting['data']}", GET_PAN)
    lexicon = lexicon_of(run, setting)
    data = run.once(("authors", setting["data"], lexicon.fingerprint), lambda: _read(run, setting))
    name = setting["mechanism"]
    channel = channel_of(run, setting) if "epsilon" in setting else None
    once = name == TABLE["mechanism"] or setting.get("control") == ONCE
    replacer = Replacer(ids_of(run, lexicon), channel, Protocol(setting["protocol"]), once)
    draws = [data.clean]
    if name != "no noise":
        count = range(run.pick(quick=2, full=3))
        draws = [data.texts.joined(replacer.words_of(data.texts, rng)) for _ in count]
    rights = np.array([_rights(run, setting, data, private) for private in draws])
    tested = len(random_splits(data.labels, TESTED, 1, seeded_rng(0))[0].test)
    (correct, *_) = jointly("correct", rights, shared=TESTED / (1.0 - TESTED))
    yield correct
    yield Measurement("tested", tested)
    yield from jointly("accuracy", rights / tested, shared=TESTED / (1.0 - TESTED))
    yield Measurement("majority", float(np.bincount(data.labels).max()) / len(data.labels))
    if name == "no noise":
        yield from floor_shares(name, len(lexicon))
        return
    yield Measurement("kept", replacer.kept)
    yield Measurement("share_in_clear", replacer.in_clear)


def _rights(run: Run, setting: Setting, data: _Authors, private: list[str]) -> list[int]:
    """Return how many authors are named on each split; all mechanisms have the same splits."""
    read = [plain(text, punctuation=setting["punctuation"]) for text in private]
    rights = []
    for number in range(run.pick(quick=2, full=SPLITS)):
        test = random_splits(data.labels, TESTED, 1, seeded_rng(number))[0].test
        predict = _attacker(run, setting, data, read, number)
        rights.append(int((predict([read[i] for i in test]) == data.labels[test]).sum()))
    return rights


def _attacker(
    run: Run, setting: Setting, data: _Authors, read: list[str], number: int
) -> Predictor:
    """Train on the private texts of a split, or once in a run on the clean ones."""

    def trained(texts: list[str]) -> Predictor:
        train = random_splits(data.labels, TESTED, 1, seeded_rng(number))[0].train
        return koppel([texts[i] for i in train], data.labels[train], seeded_rng(number))

    marks = setting["punctuation"]
    if setting["attacker"] == "adaptive":
        return trained(read)
    return run.once(
        ("koppel", setting["data"], marks, number),
        lambda: trained([plain(text, punctuation=marks) for text in data.clean]),
    )


def _read(run: Run, setting: Setting) -> _Authors:
    """Read the texts of authors with enough of them; cut books into parts."""
    data = run.data(setting["data"])
    words, most = run.pick(quick=(100, 4), full=(250, 8))
    texts, authors = [], []
    for text, author in zip(data.texts, data.labels, strict=True):
        listed = text.split()
        parts = most if setting["data"] == "gutenberg" else 1
        step = max(words, len(listed) // parts)
        cut = [" ".join(listed[k * step : k * step + words]) for k in range(parts)]
        texts += cut
        authors += [author] * len(cut)
    counts = Counter(authors)
    chosen = _spread(run, [i for i, one in enumerate(authors) if counts[one] >= _FEWEST], authors)
    names = {name: number for number, name in enumerate(dict.fromkeys(authors[i] for i in chosen))}
    read = SlotTexts([texts[i] for i in chosen], ids_of(run, lexicon_of(run, setting)))
    return _Authors(
        read, read.joined(read.flat), np.array([names[authors[i]] for i in chosen], dtype=np.int64)
    )


def _spread(run: Run, places: list[int], authors: list[str]) -> list[int]:
    """Leave out authors in a quick run: some have to do."""
    few = list(dict.fromkeys(authors[i] for i in places))[:: run.pick(quick=4, full=1)]
    return [i for i in places if authors[i] in few]


def _unprotected(line: Any, results: Any) -> Any:
    gone = dict.fromkeys(("epsilon", "sigma", "published", "control"))
    return results.like(line, mechanism="no noise", spread=over(noisy=False, divided=True), **gone)


def _other_attack(setting: Setting) -> str:
    """Name what differs from the paper's attacker and protocol."""
    names = {"attacker": "an adaptive attacker", "punctuation": "no punctuation"}
    names["protocol"] = ALL_WORDS
    return ", ".join(names[key] for key, value in _PLAIN.items() if setting[key] != value)


TABLE3 = Item(
    name="table3",
    grid=author_grid,
    cell=table3,
    key="table3",
    spread=author_spread,
    revision=4,
    measures=("correct", "tested", "accuracy", "majority", "kept", "share_in_clear"),
    claims=(
        Claim(
            text="fewer authors are identified than without protection",
            measure="correct",
            about=lambda setting: "epsilon" in setting and "control" not in setting,
            beyond=_other_attack,
            holds=lambda line, results: below(line, _unprotected(line, results)),
        ),
        Claim(
            text="more authors are identified at ε = 8 than at a smaller ε",
            measure="correct",
            about=lambda setting: setting.get("epsilon", 8) < 8 and "control" not in setting,
            beyond=_other_attack,
            holds=lambda line, results: below(line, results.like(line, epsilon=8)),
        ),
    ),
)


# Table VI: eight tasks on texts whose slots, words of rare transitions, are private.


TASKS: Final = {
    **dict.fromkeys(("mr", "cr", "mpqa", "sst5", "trec"), "classify"),
    **dict.fromkeys(("sick", "mrpc"), "classify-pairs"),
    "sts14": "sts",
}
DIVIDED: Final = ("mr", "cr", "mpqa")
"""The sets that are split at random; the others come with a part to test on, or train nothing."""
UTILITY_EPSILONS: Final = (0.125, 1, 8)
UTILITY_NONE: Final = {"mechanism": "no noise"}
UTILITY_RANDOM: Final = {"mechanism": "random words"}
FLAT: Final = {**SOUND, "space": "Euclidean, 300 dimensions"}
"""The sound mechanism on GloVe's distances of the same words: what the hierarchy adds to it."""
_NOT_PRINTED = (("SkipThought", "sst5"), ("SkipThought", "mrpc"))
_RARE: Final = {"slots": RARE_TRANSITIONS}
_EVERY: Final = {"slots": ALL_WORDS, "control": ALL_WORDS}
_SPREAD = "noise draws and splits"
_TEST = 0.2
_UTILITY_SHARED = _TEST / (1.0 - _TEST)


def utility_grid(run: Run) -> Iterator[Setting]:
    """For each task: both bounds and floors, each mechanism at each ε, and controls."""
    for data in TASKS:
        for setting in (*_bounds(data), *_private(run)):
            yield {**setting, "data": data, "lexicon": HIERARCHY, "spread": _SPREAD}


def _bounds(data: str) -> Iterator[dict[str, Any]]:
    yield {**UTILITY_NONE}
    yield {"mechanism": "majority", "control": "floor"}
    yield {"mechanism": "random table", "control": "floor"}
    for form in (_RARE, _EVERY):
        yield {**UTILITY_RANDOM, **form}
    yield from ({"mechanism": name} for name in ENCODERS if (name, data) not in _NOT_PRINTED)


def _private(run: Run) -> Iterator[dict[str, Any]]:
    for epsilon in UTILITY_EPSILONS:
        for one in (PUBLISHED, SOUND):
            yield {**one, "epsilon": epsilon, **_RARE}
    for epsilon in run.pick(quick=(8,), full=(1, 8)):
        for one in (PUBLISHED, SOUND):
            yield {**one, "epsilon": epsilon, **_EVERY}
        for one, control in ((SOUND, EQUAL_KEPT), (PUBLISHED, ONCE)):
            yield {**one, "epsilon": epsilon, **_RARE, "control": control}
    for control in (EQUAL_KEPT, EQUAL_EUCLIDEAN):
        yield {**FLAT, "epsilon": UTILITY_EPSILONS[-1], **_RARE, "control": control}


def utility_spread(setting: Setting, measure: str) -> str:
    """Return what errors are over: noise if there is any, and splits if a set has no test part."""
    return over(noisy=setting["mechanism"] != "no noise", divided=setting["data"] in DIVIDED)


def table6(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
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
        yield from _scores(task, tasks.run(task, sources.random_table(space), **options))
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
    yield Measurement("kept", replacer.kept)
    yield Measurement("share_in_clear", replacer.in_clear)
    if channel is not None:
        yield Measurement("epsilon_used", float(channel.guarantee.epsilon))


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


def _majority(task: str, data: Any, space: Any) -> Iterator[Measurement]:
    if task != "sts":
        most = tasks.registry[task](data=data).prepare(space).majority
        yield Measurement("accuracy", most)
        yield from floor_shares("majority", len(space))


def _scores(task: str, result: tasks.BenchmarkResult) -> Iterator[Measurement]:
    if task == "sts":
        yield estimated("pearson", result.measures["pearson_groups"])
        yield estimated("spearman", result.measures["spearman_groups"])
        return
    shared = _UTILITY_SHARED if "splits" in result.over else 0.0
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
    return results.like(
        line, mechanism="no noise", spread=utility_spread(own, line.measure), **gone
    )


TABLE6 = Item(
    name="table6",
    grid=utility_grid,
    cell=table6,
    key="table6",
    spread=utility_spread,
    revision=5,
    measures=("accuracy", "pearson", "spearman", "kept", "share_in_clear", "epsilon_used"),
    claims=(*_claims("accuracy"), *_claims("pearson"), *_claims("spearman")),
)
