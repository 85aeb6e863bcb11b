"""Table III: how many authors are identified by Koppel's method."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Ids
from malaprop.core.randomness import seeded_rng
from malaprop.measure.attacking.labels import TESTED, split
from malaprop.measure.attacking.learners import Predictor, koppel, plain
from malaprop.studies.framework.claims import Claim, below
from malaprop.studies.framework.items import Figure, Item
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import floor_shares, jointly
from malaprop.studies.framework.run import MissingDataError, Run
from malaprop.studies.framework.splitting import SPLITS
from malaprop.studies.framework.spreads import over
from malaprop.studies.hyperbolic.mechanisms import (
    AT_THE_EDGE,
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
    ONCE,
    STOP_WORDS_KEPT,
    Protocol,
    Replacer,
    SlotTexts,
)

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


def grid(run: Run) -> Iterator[Setting]:
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


def spread(setting: Setting, measure: str) -> str:
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


def table3(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
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
    tested = len(split(data.labels, seeded_rng(0))[1])
    (correct, *_) = jointly("correct", rights, shared=TESTED / (1.0 - TESTED))
    yield correct
    yield Figure("tested", tested)
    yield from jointly("accuracy", rights / tested, shared=TESTED / (1.0 - TESTED))
    yield Figure("majority", float(np.bincount(data.labels).max()) / len(data.labels))
    if name == "no noise":
        yield from floor_shares(name, len(lexicon))
        return
    yield Figure("kept", replacer.kept)
    yield Figure("share_in_clear", replacer.in_clear)


def _rights(run: Run, setting: Setting, data: _Authors, private: list[str]) -> list[int]:
    """Return how many authors are named on each split; all mechanisms have the same splits."""
    read = [plain(text, punctuation=setting["punctuation"]) for text in private]
    rights = []
    for number in range(run.pick(quick=2, full=SPLITS)):
        _, test = split(data.labels, seeded_rng(number))
        predict = _attacker(run, setting, data, read, number)
        rights.append(int((predict([read[i] for i in test]) == data.labels[test]).sum()))
    return rights


def _attacker(
    run: Run, setting: Setting, data: _Authors, read: list[str], number: int
) -> Predictor:
    """Train on the private texts of a split, or once in a run on the clean ones."""

    def trained(texts: list[str]) -> Predictor:
        train, _ = split(data.labels, seeded_rng(number))
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
    grid=grid,
    cell=table3,
    key="table3",
    spread=spread,
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
