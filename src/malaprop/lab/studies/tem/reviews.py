"""IMDB's reviews in Appendix C's four parts, and how each part is made private."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.lab.datasets.readers import LabelledTexts
from malaprop.lab.studies.figures import mean_of
from malaprop.lab.studies.reproduction import Run
from malaprop.lab.studies.study import (
    Claim,
    Item,
    Line,
    Measurement,
    Results,
    Setting,
    above,
    at_most,
    crossed,
    over,
)
from malaprop.lab.tasks import sources
from malaprop.lab.tasks.sources import (
    Corpus,
    CorpusReader,
    Source,
    random_subject,
    subject_of,
    unprotected,
)
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.tables import Tables
from malaprop.measure.adversaries import area
from malaprop.measure.adversaries.labels import plain
from malaprop.measure.adversaries.membership import model_outputs, trained_attacker
from malaprop.measure.classification import class_numbers, text_regression
from malaprop.mechanisms.laplace import Laplace
from malaprop.mechanisms.tem import TEM
from malaprop.mechanisms.tem_exponents import build_table
from malaprop.privacy.arrays import Floats, Ids
from malaprop.privacy.channel import Channel
from malaprop.privacy.errors import LexiconError
from malaprop.privacy.estimate import LEVEL
from malaprop.privacy.randomness import seeded_rng

PARTS = ("TR1", "TR2", "TE1", "TE2")
WEAKNESS = 100.0
"""Of the regularization: 20 epochs of fastText learn training texts by heart."""


@dataclass(frozen=True, eq=False)
class Part:
    """Reviews of one part."""

    corpus: Corpus = field(repr=False)
    labels: Ids = field(repr=False)

    @cached_property
    def clean(self) -> list[str]:
        """The reviews as they are, in small letters and without punctuation."""
        return _plain(self.corpus.texts, punctuation=False)

    @cached_property
    def exempt(self) -> float:
        """The share of words that stay whatever is drawn: those that are no place for a draw."""
        drawn = (np.full(len(self.corpus.ids), word) for word in (0, 1))
        first, second = (_plain(self.corpus.rebuilt(ids), punctuation=False) for ids in drawn)
        pairs = zip(" ".join(first).split(), " ".join(second).split(), strict=True)
        return float(np.mean([one == other for one, other in pairs]))

    def clean_form(self, punctuation: bool) -> list[str]:
        """Return the reviews as they are, with punctuation if that is wanted."""
        return _plain(self.corpus.texts, punctuation=True) if punctuation else self.clean

    def private(self, source: Source, punctuation: bool) -> list[str]:
        """Return the reviews with private words."""
        return _plain(source.texts(self.corpus), punctuation=punctuation)


def _plain(texts: list[str], punctuation: bool) -> list[str]:
    return [plain(text, punctuation=punctuation) for text in texts]


def vocabulary(run: Run) -> Lexicon:
    """Return the lexicon's most frequent words."""
    lexicon, size = run.lexicon(), run.pick(quick=2000, full=8000)
    if len(lexicon) <= size:
        return lexicon
    return run.once("vocabulary", lambda: lexicon.subset(lexicon.words[:size]))


def parts_of(run: Run, trial: int) -> dict[str, Part]:
    """Return the four parts of a trial, the same for all mechanisms."""
    return run.once(("parts", trial), lambda: _cut(run, trial))


def _cut(run: Run, trial: int) -> dict[str, Part]:
    data: LabelledTexts = run.data("imdb")
    size, words = run.pick(quick=(250, 60), full=(2000, 60))
    classes = class_numbers(data.labels, len(data))
    rng = seeded_rng(1000 * run.seed + trial)
    reader, chosen = CorpusReader(vocabulary(run)), _places(classes, size, rng)
    return {
        name: Part(reader([_first(data.texts[i], words) for i in places]), classes[places])
        for name, places in zip(PARTS, chosen, strict=True)
    }


def _places(classes: Ids, size: int, rng: Generator) -> list[Ids]:
    """Draw four parts without a common review, each with as many of either class."""
    each = min(size // 2, int(np.bincount(classes).min()) // len(PARTS))
    drawn = [rng.permutation(np.flatnonzero(classes == label)) for label in (0, 1)]
    return [
        np.concatenate([own[part * each : (part + 1) * each] for own in drawn])
        for part in range(len(PARTS))
    ]


def _first(text: str, words: int) -> str:
    return " ".join(text.split()[:words])


def classifier(texts: list[str], labels: Ids, weakness: float = WEAKNESS) -> Any:
    """Train the classifier of reviews: logistic regression on words and pairs of words."""
    return text_regression(texts, labels, characters=False, weakness=weakness)


# The mechanisms of the study: TEM, Madlib, and what needs no words.


BETA = 0.001
TABLE, PLACES = "table", "each place"
EQUAL = "equal share kept"
PUNCTUATION = "punctuation kept"
NO_NOISE, RANDOM_WORDS, RANDOM_TABLE = "no noise", "random words", "random table"
_STEPS = 12  # of a bisection over ε
_TOKENS = 500  # words of reviews that a share kept is estimated from, in that bisection


def channel_of(run: Run, setting: Setting) -> Channel:
    """Return the channel of a setting on the reviews' vocabulary."""
    lexicon, epsilon = vocabulary(run), float(setting["epsilon"])
    if is_at_equal_share(setting):
        epsilon = equal_epsilon(run, setting)
    key = ("channel", setting["mechanism"], setting.get("exponent"), epsilon)
    return run.once(key, lambda: bound(lexicon, setting, epsilon))


def is_at_equal_share(setting: Setting) -> bool:
    """Whether Madlib is to keep as many words as TEM does at the same ε."""
    return str(setting.get("control", "")).startswith(EQUAL)


def bound(lexicon: Lexicon, setting: Setting, epsilon: float) -> Channel:
    """Bind Madlib, or TEM with the paper's exponent and γ, or with the audited exponent."""
    if setting["mechanism"] == "laplace":
        return Laplace(epsilon=epsilon).on(lexicon)
    if setting["exponent"] == "half":
        return TEM(epsilon=epsilon, exponent="half", beta=BETA).on(lexicon)
    try:
        return TEM(epsilon=epsilon, exponent="audited").on(lexicon)
    except LexiconError:  # it was not audited, which takes a while for thousands of words
        table = build_table(lexicon, epsilon=epsilon)
        audited = lexicon.with_tables(Tables(exponents=(table,)))
        return TEM(epsilon=epsilon, exponent="audited").on(audited)


def source_of(run: Run, setting: Setting, rng: Generator) -> Source:
    """Return what the reviews of one trial are drawn from."""
    control, space = setting.get("control", ""), vocabulary(run)
    if control.startswith(NO_NOISE):
        return unprotected(space).begin(rng)
    if control.startswith(RANDOM_WORDS):
        return random_subject(space).begin(rng)
    if control == RANDOM_TABLE:
        return sources.WordTable(space, rng, rng.permutation(len(space)))
    once = setting["noise"] == TABLE
    return subject_of(channel_of(run, setting), once=once, release="words").begin(rng)


def equal_epsilon(run: Run, setting: Setting) -> float:
    """Return the ε at which Madlib keeps as many words of reviews as TEM does at this ε."""
    lexicon = vocabulary(run)
    tem = {**setting, "mechanism": "tem", "exponent": "half"}
    epsilon = float(setting["epsilon"])

    def searched() -> float:
        ids = seeded_rng(run.seed).permutation(parts_of(run, 0)["TR1"].corpus.ids)[:_TOKENS]

        def kept(channel: Channel) -> float:
            return float(np.mean(channel.substitute(ids, seeded_rng(run.seed)) == ids))

        wanted = kept(bound(lexicon, tem, epsilon))
        return _bisected(lambda x: kept(Laplace(epsilon=x).on(lexicon)) < wanted)

    return run.once(("equal", epsilon), searched)


def _bisected(is_too_small: Callable[[float], bool]) -> float:
    low, high = math.log(0.5), math.log(500.0)
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if is_too_small(math.exp(middle)):
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2.0)


# Figure 1: a classifier trained on private reviews, its accuracy, and who was in its training.


EQUAL_PUNCTUATED = f"{EQUAL}, {PUNCTUATION}"
RANDOM_PUNCTUATED = f"{RANDOM_WORDS}, {PUNCTUATION}"
"""The floor where punctuation is kept: what it gives away alone."""
REGULARIZED = "a classifier that learns less by heart"
CLEAN_REGULARIZED = f"no noise, {REGULARIZED}"
_WEAK = 1.0  # its C
STATIC, ADAPTIVE, LOSS = "static", "adaptive", "loss alone"


def trial(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Train on private TR1, test on TE1; then tell TR1 from TR2 by the model's outputs."""
    trials = range(run.pick(quick=2, full=5))
    rows = [_one(run, setting, number, rng) for number in trials]
    for name in rows[0]:
        figure = mean_of(name.partition(":")[0], [row[name] for row in rows])
        attacker = name.partition(":")[2]
        added = {"attacker": attacker} if attacker else {}
        yield replace(figure, setting=added)
        if name == "accuracy":
            yield Measurement("accuracy_ci95", _half_width([row[name] for row in rows]))
    if is_at_equal_share(setting):
        yield Measurement("epsilon_of_equal_share", equal_epsilon(run, setting))
    if setting.get("mechanism") == "tem":
        law: Any = channel_of(run, setting)
        yield Measurement("exponent", float(law.law.exponent))
    yield Measurement("majority", 0.5)  # as many reviews of either class


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

    def _trained(self, texts: list[str], part: Part) -> Any:
        return classifier(texts, part.labels, self.weakness)

    def _right(self, model: Any, texts: list[str]) -> float:
        return float(np.mean(model.predict(texts) == self._parts["TE1"].labels))

    @property
    def _static_attacker(self) -> Any:
        """The attacker that learnt from a shadow trained on clean TE2: the same for all cells."""
        key = ("attacker", self.number, self.punctuation, self.weakness)
        part = self._parts["TE2"]
        return self.run.once(key, lambda: self._attacker(self._trained(self._clean("TE2"), part)))

    def _attacker(self, shadow: Any) -> Any:
        rng = seeded_rng(self.run.seed)
        return trained_attacker(self._outputs(shadow, "TE2"), self._outputs(shadow, "TE1"), rng)

    def _outputs(self, model: Any, name: str) -> Floats:
        """Return what a model says about the clean reviews of a part."""
        labels = self._parts[name].labels
        return model_outputs(model, self._clean(name), labels, np.arange(len(labels)))

    def _areas(self, target: Any, network: Any, attacker: str) -> dict[str, float]:
        """Return the area under the curve with which the attacker tells TR1 from TR2."""
        inside, outside = self._outputs(target, "TR1"), self._outputs(target, "TR2")
        told = [network.predict_proba(rows)[:, 1] for rows in (inside, outside)]
        areas = {f"auc:{attacker}": area(told[0], told[1])}
        if attacker == STATIC:  # the label's own log-probability needs no shadow
            areas[f"auc:{LOSS}"] = area(inside[:, -1], outside[:, -1])
        return areas


# Figure 1a and 1b, and the half against the audited exponent: grids and claims.


SPREAD = "noise and splits"
_CHANCE, _NEAR = 0.5, 0.01
"""An area of 0.50, as the paper prints it, and how far above an area is still at chance."""
_TEM: dict[str, Any] = {"mechanism": "tem", "exponent": "half"}
_BESIDE = {EQUAL: None, EQUAL_PUNCTUATED: PUNCTUATION}
"""For each control of Madlib at an equal share kept, the control of TEM to compare it with."""


def grid(run: Run) -> Iterator[Setting]:
    """TEM and Madlib by ε; the audited exponent, tables noised once, and floors beside them."""
    for setting in _settings(run):
        yield {"task": "imdb", **setting, "spread": SPREAD}


def _settings(run: Run) -> Iterator[dict[str, Any]]:
    for epsilon in run.pick(quick=(2, 4), full=(1, 2, 4, 10)):
        common: dict[str, Any] = {"epsilon": [epsilon], "noise": [PLACES]}
        yield from crossed(mechanism=["tem"], exponent=["half"], **common)
        yield from crossed(mechanism=["laplace"], **common)
    yield from exponents(run)
    common = {"epsilon": [2], "noise": [TABLE]}
    yield from crossed(mechanism=["tem"], exponent=["half"], **common)
    yield from crossed(mechanism=["laplace"], **common)
    at_two: dict[str, Any] = {"epsilon": 2, "noise": PLACES}
    for control in (EQUAL, PUNCTUATION, EQUAL_PUNCTUATED):
        yield {"mechanism": "laplace", **at_two, "control": control}
    for control in (PUNCTUATION, REGULARIZED):
        yield {**_TEM, **at_two, "control": control}
    for control in (NO_NOISE, CLEAN_REGULARIZED, RANDOM_WORDS, RANDOM_PUNCTUATED, RANDOM_TABLE):
        yield {"control": control}


def exponents(run: Run) -> Iterator[dict[str, Any]]:
    """The audited exponent, where words change."""
    epsilons = run.pick(quick=(2,), full=(1, 2))
    return crossed(mechanism=["tem"], exponent=["audited"], epsilon=epsilons, noise=[PLACES])


def exponent_grid(run: Run) -> Iterator[Setting]:
    """Both exponents at the same ε."""
    for audited in exponents(run):
        for exponent in ("half", "audited"):
            yield {"task": "imdb", **audited, "exponent": exponent, "spread": SPREAD}


def spread(setting: Setting, measure: str) -> str:
    """Return what errors are over; which words are in clear depends on the reviews alone."""
    noisy = not str(setting.get("control", "")).startswith(NO_NOISE)
    return over(noisy=noisy and measure != "share_in_clear", divided=True)


def _is_papers(setting: Setting, mechanism: str = "tem") -> bool:
    return (
        setting.get("mechanism") == mechanism
        and setting.get("exponent", "half") == "half"
        and setting.get("noise") == PLACES
        and "control" not in setting
    )


def _madlib(line: Line, results: Results) -> Line | None:
    return results.like(line, mechanism="laplace", exponent=None)


def _is_static(setting: Setting) -> bool:
    """Whether the attacker is the paper's; without data, a line names none."""
    return bool(setting.get("attacker", STATIC) == STATIC)


def is_no_better_than_chance(line: Line) -> bool | None:
    """Whether an area is at chance or below: an attacker who is worse speaks for the paper."""
    return at_most(line, _CHANCE, _NEAR)


FIG1A = Item(
    name="fig1a",
    grid=grid,
    cell=trial,
    key="trial",
    spread=spread,
    revision=2,
    measures=(
        "accuracy",
        "accuracy_ci95",
        "accuracy_private",
        "kept",
        "share_in_clear",
        "majority",
        "epsilon_of_equal_share",
    ),
    claims=(
        Claim(
            text="TEM is more accurate than Madlib at the same ε",
            measure="accuracy",
            about=_is_papers,
            holds=lambda line, results: above(line, _madlib(line, results)),
        ),
        Claim(
            text="TEM is more accurate also where Madlib keeps as many words",
            whose="control",
            measure="accuracy",
            about=lambda setting: setting.get("control") in _BESIDE,
            holds=lambda line, results: above(
                results.like(line, **_TEM, control=_BESIDE[line.setting["control"]]), line
            ),
        ),
    ),
)
FIG1B = Item(
    name="fig1b",
    grid=grid,
    cell=trial,
    key="trial",
    spread=spread,
    measures=("auc", "kept", "share_in_clear"),
    revision=2,
    claims=(
        Claim(
            text="at ε = 2, membership is inferred no better than by chance",
            measure="auc",
            about=lambda s: (
                (_is_papers(s) or _is_papers(s, "laplace")) and s["epsilon"] == 2 and _is_static(s)
            ),
            holds=lambda line, results: is_no_better_than_chance(line),
        ),
        Claim(
            text="at ε = 2, membership is inferred no better than by chance by an attacker who "
            "needs no shadow, either",
            whose="control",
            measure="auc",
            about=lambda s: (
                (_is_papers(s) or _is_papers(s, "laplace"))
                and s["epsilon"] == 2
                and s.get("attacker") == LOSS
            ),
            holds=lambda line, results: is_no_better_than_chance(line),
        ),
        Claim(
            text="at ε ≥ 4, TEM protects less against the attack than Madlib",
            measure="auc",
            about=lambda s: _is_papers(s) and s["epsilon"] >= 4 and _is_static(s),
            holds=lambda line, results: above(line, _madlib(line, results)),
        ),
    ),
)
EXPONENT = Item(
    name="exponent",
    grid=exponent_grid,
    cell=trial,
    key="trial",
    spread=spread,
    measures=("accuracy", "accuracy_private", "auc", "kept", "share_in_clear", "exponent"),
    revision=2,
)
