"""mahalanobis-2020: channels, words, density, λ, classification."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.lab import tasks
from malaprop.lab.studies.figures import (
    bootstrapped,
    classified,
    drawn_once,
    epsilon_for_kept,
    floor_shares,
    mean_of,
    share_in_clear,
    share_kept,
)
from malaprop.lab.studies.reproduction import FASTTEXT, VECTORS, Run
from malaprop.lab.studies.study import (
    Claim,
    Item,
    Measurement,
    Setting,
    Study,
    above,
    alike,
    below,
    crossed,
)
from malaprop.lab.tasks import sources
from malaprop.lab.tasks.sources import subject_of
from malaprop.lexicon.lexicon import Lexicon, nearest_words
from malaprop.measure import best_lambda, density
from malaprop.mechanisms.mahalanobis import Mahalanobis
from malaprop.privacy.arrays import Floats
from malaprop.privacy.channel import VectorChannel
from malaprop.privacy.errors import ParameterError
from malaprop.privacy.estimate import word_ids
from malaprop.privacy.randomness import seeded_rng

# The mechanism at a nominal ε, and at equal Euclidean ε or an equal share of words kept.


LAMBDAS = (0.0, 0.25, 0.5, 0.75, 1.0)
EQUAL_EUCLIDEAN = "equal Euclidean ε"
EQUAL_KEPT = "equal share kept"
SQUARE_ROOT = "noise that shrinks with √ε, the same at ε = 20"
_WORDS = 400


def lexicon_of(run: Run, setting: Setting) -> Lexicon:
    """Open the lexicon of a setting; fastText's vectors are the user's to import."""
    name = setting.get("lexicon", "english")
    return run.lexicon(name, VECTORS.get(name, ""))


def channel_of(run: Run, setting: Setting) -> VectorChannel[Any]:
    """Bind the mechanism of a setting; λ = 0 is the Laplace mechanism.

    Under `equal Euclidean ε`, the nominal ε is that whose Euclidean guarantee is the setting's ε.
    Under `equal share kept`, it is that which keeps as many words as Laplace at the setting's ε.
    The square root is a guess at how the paper's noise may have been scaled.
    """
    lexicon, control = lexicon_of(run, setting), setting.get("control")
    shape, epsilon = setting["lambda"], setting["epsilon"]
    if control == EQUAL_EUCLIDEAN:
        epsilon /= _euclidean(run, lexicon, shape)
    elif control == SQUARE_ROOT:
        epsilon = math.sqrt(20.0 * epsilon)
    elif control == EQUAL_KEPT:
        epsilon = _matched(run, lexicon, shape, epsilon)
    return _bound(lexicon, shape, epsilon)


def euclidean_epsilon(channel: VectorChannel[Any]) -> float:
    """Return ε per unit of Euclidean distance: ε/√λ_min(A)."""
    return channel.guarantee.in_metric("euclidean").epsilon


def _euclidean(run: Run, lexicon: Lexicon, shape: float) -> float:
    """Return the Euclidean ε of the nominal ε 1."""
    return run.once(
        ("euclidean", lexicon.fingerprint, shape),
        lambda: euclidean_epsilon(_bound(lexicon, shape, 1.0)),
    )


def _matched(run: Run, lexicon: Lexicon, shape: float, epsilon: float) -> float:

    words = run.pick(quick=100, full=_WORDS)

    def search() -> float:
        kept = share_kept(_bound(lexicon, 0.0, epsilon), words, seeded_rng(20))
        around = (epsilon / 4.0, epsilon * math.sqrt(lexicon.vectors.shape[1]))
        return epsilon_for_kept(lambda e: _bound(lexicon, shape, e), kept, words, around)

    return run.once(("matched", lexicon.fingerprint, shape, epsilon), search)


def _bound(lexicon: Lexicon, shape: float, epsilon: float) -> VectorChannel[Any]:
    return Mahalanobis(epsilon=epsilon, regularization=shape).on(lexicon)


# Figures 6 and 7: classification of private tweets and messages.


SETS = {"fig6": "disaster-tweets", "fig7": "sms-spam"}
FLOORS = {
    "no noise": sources.unprotected,
    "random table": sources.random_table,
    "random words": sources.random_subject,
}
MAJORITY = "majority"
MEASURES = ("accuracy", "precision", "recall", "balanced_accuracy")
ONCE, EACH = "one table", "each occurrence"
NOISE = "noise draws"
"""What errors are over; there is a second line for each score, with the error over splits."""
_TEST = 0.3


def class_grid(item: str) -> Any:
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


def classifying(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Train a linear model of word n-grams on private texts, and test it on private texts."""
    data, lexicon, name = run.data(setting["data"]), run.lexicon(), setting["mechanism"]
    limit, draws = run.pick(quick=200, full=800), run.pick(quick=2, full=5)
    task = tasks.registry["classify-text"]
    problem: Any = task(data=data, limit=limit, test=_TEST).prepare(lexicon)  # type: ignore[call-arg]
    if name == MAJORITY:
        yield Measurement("accuracy", problem.majority)
        yield from floor_shares(name, len(lexicon))
    elif name in FLOORS:
        yield from classified(problem, FLOORS[name](lexicon), MEASURES, draws, rng)
        yield from floor_shares(name, len(lexicon))
    else:
        channel = channel_of(run, setting)
        once = setting["noise"] == ONCE
        subject = drawn_once(channel) if once else subject_of(channel, release="words")
        yield from classified(problem, subject, MEASURES, draws, rng)
        yield Measurement("kept", share_kept(channel, run.pick(quick=200, full=1000), rng))
        yield Measurement("share_in_clear", share_in_clear(channel))
        yield Measurement("epsilon_used", channel.guarantee.epsilon)
        yield Measurement("euclidean_epsilon", euclidean_epsilon(channel))


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


def _class_item(name: str) -> Item:
    beside = ("kept_in_texts", "kept", "share_in_clear", "epsilon_used", "euclidean_epsilon")
    return Item(
        name=name,
        grid=class_grid(name),
        cell=classifying,
        key="classifying",
        revision=3,
        measures=(*MEASURES, *beside),
        claims=_alike(0.05),
    )


FIG6, FIG7 = _class_item("fig6"), _class_item("fig7")


# Table 5: the two data sets, and how unevenly their words lie.


DENSITY_SETS = ("disaster-tweets", "sms-spam")
_WORD = re.compile(r"[a-z]+")
_FEW = 50


def table5(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Count records and words, and compare distances to the nearest word of the vocabulary."""
    records = [_WORD.findall(text.lower()) for text in run.data(setting["data"]).texts]
    vocabulary = {word for record in records for word in record}
    lengths = np.array([len(record) for record in records], dtype=np.float64)
    lexicon = run.lexicon().subset(vocabulary)
    lies = density(lexicon).to_dict()
    yield Measurement("records", len(records))
    yield Measurement("words_per_record", float(lengths.mean()))
    yield Measurement("words_per_record_sd", float(lengths.std(ddof=1)))
    yield Measurement("vocabulary", len(vocabulary))
    yield Measurement("vocabulary_in_lexicon", len(lexicon))
    yield Measurement("largest_over_smallest", lies["largest_over_smallest"])
    yield Measurement("sparsest_over_densest", lies["sparsest_over_densest"])
    yield Measurement("records_with_sparse_word", _rareness(lexicon, records))


def _rareness(lexicon: Lexicon, records: Sequence[Sequence[str]]) -> float:
    """Return the mean share of records that contain one of the 50 words in sparsest regions."""
    nearest = nearest_words(lexicon, 2)
    vectors = lexicon.vectors.astype(np.float64)
    apart = np.linalg.norm(vectors[nearest[:, 0]] - vectors[nearest[:, -1]], axis=1)
    sparse = [lexicon.words[i] for i in np.argsort(-apart, kind="stable")[:_FEW]]
    sets = [set(record) for record in records]
    return float(np.mean([np.mean([word in record for record in sets]) for word in sparse]))


TABLE5 = Item(
    name="table5",
    grid=lambda run: crossed(data=DENSITY_SETS),
    cell=table5,
    key="table5",
    measures=(
        "records",
        "words_per_record",
        "words_per_record_sd",
        "vocabulary",
        "vocabulary_in_lexicon",
        "largest_over_smallest",
        "sparsest_over_densest",
        "records_with_sparse_word",
    ),
    claims=(
        Claim(
            text="words lie unevenly: the sparsest are over twice as far apart as the densest",
            whose="reading",
            measure="sparsest_over_densest",
            about=lambda setting: True,
            holds=lambda line, results: float(line.ours or 0.0) > 2.0,
        ),
        Claim(
            text="words in sparse regions are rare: fewer than 1 % of records have one",
            whose="reading",
            measure="records_with_sparse_word",
            about=lambda setting: True,
            holds=lambda line, results: float(line.ours or 0.0) < 0.01,
        ),
    ),
)


# §6: λ by a grid, the largest utility under a bound on privacy; with both ε.


def lambda_grid(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Look for the λ of the largest similarity with at most a share of words kept."""
    lexicon = run.lexicon()
    shapes = run.pick(quick=(0.0, 1.0), full=LAMBDAS)
    words = min(len(lexicon), run.pick(quick=8, full=200))
    bound = setting["kept_at_most"]
    try:
        choice = best_lambda(
            lexicon, setting["epsilon"], kept=bound, grid=shapes, words=words, rng=rng
        )
    except ParameterError:  # no λ keeps to the bound
        yield Measurement("chosen_lambda", None)
        return
    yield Measurement("chosen_lambda", choice.regularization)
    yield Measurement("chosen_euclidean_epsilon", choice.best.euclidean)
    for row in choice.rows:
        own = {"lambda": row.regularization}
        yield Measurement("kept", row.kept, None, own)
        yield Measurement("similarity", row.similarity, None, own)
        yield Measurement("euclidean_epsilon", row.euclidean, None, own)
        channel = channel_of(run, {**own, "epsilon": setting["epsilon"]})
        yield Measurement("share_in_clear", share_in_clear(channel), None, own)


GRID = Item(
    name="grid",
    grid=lambda run: crossed(
        mechanism=["mahalanobis"],
        epsilon=run.pick(quick=[10], full=[10, 20]),
        kept_at_most=[0.5, 0.999],
    ),
    cell=lambda_grid,
    key="lambda_grid",
    revision=3,
    measures=(
        "chosen_lambda",
        "chosen_euclidean_epsilon",
        "kept",
        "share_in_clear",
        "similarity",
        "euclidean_epsilon",
    ),
)


# Tables 1 to 4 and Figures 2 to 5: how often words stay, and how many different words come out.
#
# Tables 3 and 4 and Figures 4 and 5 are of GloVe. Tables 1 and 2 and Figures 2 and 3 are of
# fastText.


RUNS = 100
_ENDS = {"p5": 5, "p50": 50, "p95": 95, "max": 100, "min": 0}
_SPREAD = ("p5", "p50", "p95")
"""The ends with an error over words. Resampling cannot tell how far a maximum would move."""


def word_grid(lexicon: str) -> Any:
    """Return the grid for a lexicon: each λ at each nominal ε, and controls."""

    def grid(run: Run) -> Iterator[Setting]:
        some = run.quick and lexicon != FASTTEXT  # what is missing costs nothing
        shared: dict[str, Any] = {"mechanism": ["mahalanobis"], "lexicon": [lexicon]}
        yield from crossed(
            **shared,
            **{"lambda": (0.0, 0.5, 1.0) if some else LAMBDAS},
            epsilon=(5, 10, 20) if some else (1, 5, 10, 20, 40),
            spread=["words"],
        )
        if lexicon != FASTTEXT:
            yield from crossed(
                **shared,
                **{"lambda": [0.0] if some else [0.0, 1.0]},
                epsilon=[10] if some else [1, 5, 10, 20, 40],
                spread=["words"],
                control=[SQUARE_ROOT],
            )
            yield from crossed(
                **shared,
                **{"lambda": [1.0] if some else [0.5, 1.0]},
                epsilon=[20] if some else [10, 20, 40],
                spread=["words"],
                control=[EQUAL_EUCLIDEAN],
            )
            yield from crossed(
                **shared,
                **{"lambda": [1.0] if some else [0.5, 1.0]},
                epsilon=[10] if some else [10, 20],
                spread=["words"],
                control=[EQUAL_KEPT],
            )

    return grid


def words(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Run the mechanism 100 times on each of some words; count as the paper does."""
    channel = channel_of(run, setting)
    size = len(channel.lexicon)
    ids = word_ids(channel.lexicon, min(size, run.pick(quick=12, full=300)))
    drawn = channel.substitute(np.repeat(ids, RUNS), rng).reshape(len(ids), RUNS)
    stayed = (drawn == ids[:, None]).sum(axis=1).astype(np.float64)
    different = np.array([len(np.unique(row)) for row in drawn], dtype=np.float64)
    yield from _summary("kept", stayed)
    yield from _summary("distinct", different)
    if "control" in setting:
        yield Measurement("epsilon_used", channel.guarantee.epsilon)
    yield Measurement("euclidean_epsilon", euclidean_epsilon(channel))


def _summary(name: str, values: Floats) -> Iterator[Measurement]:
    """Measure the mean, the spread over words, percentiles and the maximum."""
    yield mean_of(name, values)
    yield Measurement(f"{name}_sd", float(values.std(ddof=1)) if len(values) > 1 else 0.0)
    rng = seeded_rng(0)  # not the cell's: resampling changes no draw
    for title, end in _ENDS.items():
        if title in _SPREAD:
            yield bootstrapped(f"{name}_{title}", values, _percentile(end), rng)
        else:
            yield Measurement(f"{name}_{title}", float(np.percentile(values, end)))


def _percentile(end: int) -> Callable[[Floats], float]:
    return lambda values: float(np.percentile(values, end))


def _claims(name: str, suffixes: tuple[str, ...]) -> tuple[Claim, ...]:
    lower = name == "kept"
    return tuple(
        Claim(
            text=f"at the same ε, Mahalanobis has a {'lower N_w' if lower else 'higher S_w'} than "
            "Laplace (ε = 5, 10, 20)",
            measure=name + suffix,
            about=lambda setting: (
                setting["lambda"] > 0
                and setting["epsilon"] in (5, 10, 20)
                and "control" not in setting
            ),
            holds=lambda line, results: (below if lower else above)(
                line, results.like(line, **{"lambda": 0.0})
            ),
        )
        for suffix in suffixes
    )


def _word_item(name: str, lexicon: str, statistic: str, suffixes: tuple[str, ...]) -> Item:
    measures = tuple(statistic + suffix for suffix in suffixes)
    used = () if lexicon == FASTTEXT else ("epsilon_used",)  # controls are of GloVe
    return Item(
        name=name,
        grid=word_grid(lexicon),
        cell=words,
        key="words",
        revision=4,
        measures=(*measures, *used, "euclidean_epsilon"),
        claims=_claims(statistic, suffixes[:1] if suffixes[0] == "" else suffixes[:3]),
    )


_MEANS = ("", "_sd")
_PERCENTILES = ("_p5", "_p50", "_p95", "_max")
_WITH_LEAST = (*_PERCENTILES, "_min")  # the words that are worst off have a low S_w
TABLE1 = _word_item("table1", FASTTEXT, "kept", _MEANS)
TABLE2 = _word_item("table2", FASTTEXT, "distinct", _MEANS)
TABLE3 = _word_item("table3", "english", "kept", _MEANS)
TABLE4 = _word_item("table4", "english", "distinct", _MEANS)
FIG2 = _word_item("fig2", FASTTEXT, "kept", _PERCENTILES)
FIG3 = _word_item("fig3", FASTTEXT, "distinct", _WITH_LEAST)
FIG4 = _word_item("fig4", "english", "kept", _PERCENTILES)
FIG5 = _word_item("fig5", "english", "distinct", _WITH_LEAST)


# mahalanobis-2020: Xu et al., text perturbation with a regularized Mahalanobis metric.


STUDY = Study(
    name="mahalanobis",
    items=(TABLE1, TABLE2, TABLE3, TABLE4, FIG2, FIG3, FIG4, FIG5, TABLE5, FIG6, FIG7, GRID),
)
