"""tem-2021: Carvalho et al., the truncated exponential mechanism."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from malaprop.lab.datasets.readers import LabelledTexts
from malaprop.lab.studies.figures import FLOORS, mean_of, mechanism_of, summary_of
from malaprop.lab.studies.reproduction import Run
from malaprop.lab.studies.study import Line, Measurement, Setting
from malaprop.lab.tasks import sources
from malaprop.lab.tasks.sources import Corpus, CorpusReader, Source, subject_of
from malaprop.lexicon.lexicon import Lexicon
from malaprop.lexicon.tables import Tables
from malaprop.measure.adversaries import area
from malaprop.measure.adversaries.labels import plain
from malaprop.measure.adversaries.membership import model_outputs, trained_attacker
from malaprop.measure.classification import class_numbers, text_regression
from malaprop.measure.word_statistics import statistics_of
from malaprop.mechanisms.tem_exponents import build_table
from malaprop.privacy.arrays import Floats, Ids, blocks
from malaprop.privacy.errors import LexiconError
from malaprop.privacy.estimate import bisect, chance_margin, spread_of, word_ids
from malaprop.privacy.randomness import seeded_rng

# What follows from the law, exactly: Theorem 3's tail, and what an exponent does to words.

_ALL = 10**9  # texts, or words: as many as there are
_STAR = 400
_ROUNDING = 1e-9
_RUNS = 100


def tail(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    mechanism = mechanism_of(setting, beta=setting["beta"])
    lexicon = run.lexicon(setting["lexicon"])
    if setting.get("control") == "all words beyond γ":
        apart = np.eye(_STAR) * (mechanism.threshold(_STAR) + 1.0)
        lexicon = Lexicon([f"w{i}" for i in range(_STAR)], apart)
    channel = mechanism.on(lexicon)
    gamma = channel.law.gamma
    ids = word_ids(lexicon, min(len(lexicon), run.pick(quick=60, full=300)))
    masses, beyond = [], []
    for block in blocks(len(ids), row_cells=len(lexicon)):
        far = lexicon.distances(ids[block]) > gamma
        masses.append((np.exp(channel.log_probabilities(ids[block])) * far).sum(axis=1))
        beyond.append(far.mean(axis=1))
    yield from summary_of("tail", np.concatenate(masses), p95=95, max=100)
    yield Measurement("share_beyond", float(np.concatenate(beyond).mean()))
    yield Measurement("gamma", gamma)
    yield Measurement("cap", setting["epsilon"] * gamma)


def is_within_beta(line: Line) -> bool | None:
    if not isinstance(line.ours, float):
        return None
    return bool(line.ours <= line.setting["beta"] + _ROUNDING)


def words(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Compute N_w and S_w, exactly for TEM, from draws for Madlib."""
    lexicon, epsilon = run.lexicon(setting["lexicon"]), float(setting["epsilon"])
    channel = mechanism_of(setting, epsilon=epsilon).on(lexicon)
    chosen = run.pick(quick=10, full=60)
    if setting["mechanism"] == "tem":
        chosen = run.pick(quick=60, full=500)
        yield Measurement("exponent", channel.law.exponent)
        yield Measurement("exponent_share", channel.law.exponent / epsilon)
    ids = word_ids(lexicon, min(chosen, len(lexicon)))
    kept = statistics_of(channel, ids, "kept", _RUNS, rng)
    distinct = statistics_of(channel, ids, "distinct", _RUNS, rng)
    yield from summary_of("kept", kept, p95=95, max=100)
    yield from summary_of("distinct", distinct, p5=5, min=0)


# IMDB's reviews in Appendix C's four parts, and how each part is made private.

PARTS = ("TR1", "TR2", "TE1", "TE2")
_WORDS = 60  # of a review


class Part(NamedTuple):
    corpus: Corpus
    labels: Ids


def share_exempt(corpus: Corpus) -> float:
    """Return the share of words that stay whatever is drawn: that are no place for a draw."""
    drawn = (np.full(len(corpus.ids), word) for word in (0, 1))
    first, second = (_plain(corpus.rebuilt(ids), punctuation=False) for ids in drawn)
    pairs = zip(" ".join(first).split(), " ".join(second).split(), strict=True)
    return float(np.mean([one == other for one, other in pairs]))


def _plain(texts: list[str], punctuation: bool) -> list[str]:
    return [plain(text, punctuation=punctuation) for text in texts]


def vocabulary(run: Run) -> Lexicon:
    """Return the lexicon's most frequent words."""
    lexicon, size = run.lexicon(), run.pick(quick=2000, full=8000, paper=_ALL)
    if len(lexicon) <= size:
        return lexicon
    return run.once("vocabulary", lambda: lexicon.subset(lexicon.words[:size]))


def parts_of(run: Run, trial: int) -> dict[str, Part]:
    """Return the four parts of a trial, the same for all mechanisms.

    They have no review in common, and as many of either class.
    """

    def cut() -> dict[str, Part]:
        data: LabelledTexts = run.data("imdb")
        classes = class_numbers(data.labels, len(data))
        rng, reader = seeded_rng(1000 * run.seed + trial), CorpusReader(vocabulary(run))
        each = min(
            run.pick(quick=125, full=1000, paper=_ALL),
            int(np.bincount(classes).min()) // len(PARTS),
        )
        drawn = [rng.permutation(np.flatnonzero(classes == label)) for label in (0, 1)]
        words = run.pick(quick=_WORDS, full=_WORDS, paper=_ALL)
        parts = {}
        for place, name in enumerate(PARTS):
            chosen = np.concatenate([own[place * each : (place + 1) * each] for own in drawn])
            texts = [" ".join(data.texts[i].split()[:words]) for i in chosen]
            parts[name] = Part(reader(texts), classes[chosen])
        return parts

    return run.once(("parts", trial), cut)


# The mechanisms of the study: TEM, Madlib (laplace), and what needs no words.

_STEPS = 12  # of a bisection over ε
_TOKENS = 500  # words of reviews that a share kept is estimated from, in that bisection


def channel_of(run: Run, setting: Setting) -> Any:
    lexicon, epsilon = vocabulary(run), float(setting["epsilon"])
    if is_at_equal_share(setting):
        epsilon = equal_epsilon(run, setting)
    key = ("channel", setting["mechanism"], setting.get("exponent"), epsilon)
    return run.once(key, lambda: bound(lexicon, setting, epsilon))


def is_at_equal_share(setting: Setting) -> bool:
    """Whether Madlib is to keep as many words as TEM does at the same ε."""
    return str(setting.get("control", "")).startswith("equal share kept")


def bound(lexicon: Lexicon, setting: Setting, epsilon: float) -> Any:
    """Bind Madlib, or TEM with the paper's exponent and γ, or with the audited exponent."""
    if setting.get("exponent") != "audited":
        return mechanism_of(setting, epsilon=epsilon, beta=0.001).on(lexicon)
    mechanism = mechanism_of(setting, epsilon=epsilon)
    try:
        return mechanism.on(lexicon)
    except LexiconError:  # it was not audited, which takes a while for thousands of words
        table = build_table(lexicon, epsilon=epsilon)
        return mechanism.on(lexicon.with_tables(Tables(exponents=(table,))))


def source_of(run: Run, setting: Setting, rng: Generator) -> Source:
    floor, space = str(setting.get("control", "")).partition(",")[0], vocabulary(run)
    if floor == "random table":  # of words, not of vectors
        return sources.Source(space, rng, rng.permutation(len(space)).__getitem__)
    if floor in FLOORS:
        return FLOORS[floor](space).begin(rng)
    once = setting["noise"] == "table"
    return subject_of(channel_of(run, setting), once=once, release="words").begin(rng)


def equal_epsilon(run: Run, setting: Setting) -> float:
    """Return the ε at which Madlib keeps as many words of reviews as TEM does at this ε."""
    lexicon, epsilon = vocabulary(run), float(setting["epsilon"])

    def searched() -> float:
        ids = seeded_rng(run.seed).permutation(parts_of(run, 0)["TR1"].corpus.ids)[:_TOKENS]

        def kept(mechanism: str, epsilon: float) -> float:
            channel = bound(lexicon, {"mechanism": mechanism, "exponent": "half"}, epsilon)
            return float(np.mean(channel.substitute(ids, seeded_rng(run.seed)) == ids))

        wanted = kept("tem", epsilon)
        ends = bisect(lambda x: kept("laplace", x) < wanted, 0.5, 500.0, steps=_STEPS)
        return math.sqrt(math.prod(ends))

    return run.once(("equal", epsilon), searched)


# Figure 1: a classifier trained on private reviews, its accuracy, and who was in its training.

_WEAKNESS = 100.0
"""Of the regularization: 20 epochs of fastText learn training texts by heart."""
_WEAK = 1.0  # that of a classifier that learns less by heart


def trial(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Train on private TR1, test on TE1; then tell TR1 from TR2 by the model's outputs."""
    rows = [_one(run, setting, number, rng) for number in range(run.pick(quick=2, full=5))]
    for name in rows[0]:
        measure, _, attacker = name.partition(":")
        added = {"attacker": attacker} if attacker else {}
        values = [row[name] for row in rows]
        yield mean_of(measure, values, **added)
        if name == "accuracy":  # with half of its 95 % interval
            margin = chance_margin([(spread_of(values), len(values) - 1)])
            yield Measurement("accuracy_ci95", margin / math.sqrt(len(values)))
    if is_at_equal_share(setting):
        yield Measurement("epsilon_of_equal_share", equal_epsilon(run, setting))
    if setting.get("mechanism") == "tem":
        yield Measurement("exponent", float(channel_of(run, setting).law.exponent))
    yield Measurement("majority", 0.5)  # as many reviews of either class


def _one(run: Run, setting: Setting, number: int, rng: Generator) -> dict[str, float]:
    """Return the figures of one trial; those of attackers are named `auc:attacker`."""
    control = setting.get("control", "")
    marks = control.endswith("punctuation kept")
    weakness = _WEAK if control.endswith("a classifier that learns less by heart") else _WEAKNESS
    parts, source = parts_of(run, number), source_of(run, setting, rng)
    clean: dict[str, list[str]] = run.once(
        ("clean", number, marks),
        lambda: {name: _plain(part.corpus.texts, marks) for name, part in parts.items()},
    )

    def private(name: str) -> list[str]:
        return _plain(source.texts(parts[name].corpus), marks)

    def trained(texts: list[str], name: str) -> Any:
        return text_regression(texts, parts[name].labels, characters=False, weakness=weakness)

    def outputs(model: Any, name: str) -> Floats:
        labels = parts[name].labels
        return model_outputs(model, clean[name], labels, np.arange(len(labels)))

    def attacker(shadow: Any) -> Any:
        inside, outside = outputs(shadow, "TE2"), outputs(shadow, "TE1")
        return trained_attacker(inside, outside, seeded_rng(run.seed))

    exempt = run.once(("exempt", number), lambda: share_exempt(parts["TR1"].corpus))
    target = trained(private("TR1"), "TR1")
    kept = source.kept
    tests = {"accuracy": clean["TE1"], "accuracy_private": private("TE1")}
    attackers = {
        "static": run.once(  # whose shadow is trained on clean reviews: the same for all cells
            ("attacker", number, marks, weakness), lambda: attacker(trained(clean["TE2"], "TE2"))
        ),
        "adaptive": attacker(trained(private("TE2"), "TE2")),
    }
    inside, outside = outputs(target, "TR1"), outputs(target, "TR2")
    told = {
        name: [network.predict_proba(rows)[:, 1] for rows in (inside, outside)]
        for name, network in attackers.items()
    }
    right = {name: target.predict(texts) == parts["TE1"].labels for name, texts in tests.items()}
    return {
        **{name: float(np.mean(each)) for name, each in right.items()},
        "kept": 1.0 if kept is None else kept,
        "auc:static": area(*told["static"]),
        "auc:loss alone": area(inside[:, -1], outside[:, -1]),  # which needs no shadow
        "auc:adaptive": area(*told["adaptive"]),
        "share_in_clear": 1.0 if control.startswith("no noise") else exempt,
    }
