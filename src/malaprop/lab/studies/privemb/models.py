"""Linear models and texts, by dimensions and vectors."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.lab.datasets.readers import LabelledTexts
from malaprop.lab.studies.figures import estimated
from malaprop.lab.studies.privemb import preservation
from malaprop.lab.studies.privemb.preservation import (
    A1,
    DIMENSIONS,
    EQUAL,
    FLOORS,
    M1,
    M2,
    MAJORITY,
    SCALED,
    SOUND,
    against_m1,
    channel_of,
    grid_of,
    is_published,
    lexicon_of,
    matched_epsilon,
    onto,
    shares_of,
    smaller,
    subject_for,
)
from malaprop.lab.studies.reproduction import ENCODERS, FASTTEXT, GLOVE_200, MissingDataError, Run
from malaprop.lab.studies.study import (
    Claim,
    Item,
    Line,
    Measurement,
    Results,
    Setting,
    above,
    crossed,
    over,
)
from malaprop.lab.tasks import run as run_task
from malaprop.lab.tasks import task_with
from malaprop.measure.classification import random_splits

# Figure 3: a linear model that tells positive from negative words.


_TEST, _TRAIN = 0.2, 0.8
SPREAD = "noise and splits"


def model_epsilons(run: Run) -> tuple[float, ...]:
    """The paper's plot has several ε; our copy of it does not show which."""
    return run.pick(quick=(5, 10), full=(1, 5, 10, 20))


def model_grid(run: Run) -> Iterator[Setting]:
    """All mechanisms by ε and β, M1 at an equal share of words kept, and floors."""
    betas = run.pick(quick=(0.5, 0.9), full=(0.5, 0.7, 0.9))
    least = run.pick(quick=10, full=0)  # ε for the sound projections
    for setting in grid_of(model_epsilons(run), betas):
        if setting["published"] or (setting["beta"] == betas[-1] and setting["epsilon"] >= least):
            yield {**setting, "spread": SPREAD}
    for setting in crossed(mechanism=[M1], epsilon=[5, 10], beta=[0.9], control=[EQUAL]):
        yield {**setting, "spread": SPREAD}
    for control in FLOORS:
        yield {"control": control, "spread": SPREAD}


def linear(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Train a linear SVM on the private vectors of opinion words; test it on a fifth of them."""
    if setting.get("control") == MAJORITY:
        task = task_with("sentiment-words", {"data": run.data("opinion-words"), "test": _TEST})
        yield Measurement("accuracy", task.prepare(lexicon_of(run, setting)).majority)
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
    yield Measurement("words", result.items)
    yield from shares_of(run, setting, rng)
    if setting.get("control") in FLOORS:
        return
    channel = channel_of(run, setting)
    yield from onto(channel)
    yield from matched_epsilon(setting, channel)


def linear_spread(setting: Setting, measure: str) -> str:
    """Return what errors are over: splits, and noise where there is any."""
    return over(noisy=setting.get("control") != "no noise", divided=True)


MEASURES = (
    *("accuracy", "auc", "kept", "share_in_clear"),
    *("epsilon_of_equal_share", "words", "m"),
)
FIG3 = Item(
    name="fig3",
    grid=model_grid,
    cell=linear,
    key="linear",
    spread=linear_spread,
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


# Figure 4: fewer dimensions in training, or after it.


TRAINED = {50: "glove-6b-50d", 100: "glove-6b-100d", 200: GLOVE_200}
"""GloVe's vectors that were trained with fewer dimensions, all on one corpus."""
ONE_CORPUS = "100 dimensions of the same corpus"
_SMALLER = {size: beta for beta, size in DIMENSIONS.items()}


def dimension_grid(run: Run) -> Iterator[Setting]:
    """M2 onto 50, 100 and 200 dimensions, sound ones beside it; A1; controls for both."""
    for setting in _settings(run, run.pick(quick=(10,), full=(5, 10))):
        yield {**setting, "spread": SPREAD}


def _settings(run: Run, epsilons: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    sound: tuple[str, ...] = run.pick(quick=("pca",), full=SOUND)
    for beta, size in DIMENSIONS.items():
        for setting in grid_of(epsilons, (beta,), sound):
            if setting["mechanism"] == M2:
                yield {**setting, "dimension": size}
    for size in run.pick(quick=(50, 200), full=(50, 100, 200)):
        yield from _trained(size, epsilons)
    # What A1 is compared with in the paper differs in its corpus as well. Here it does not.
    for setting in grid_of(epsilons, (_SMALLER[50],), ("pca",)) if not run.quick else ():
        if setting["mechanism"] == M2:
            yield {**setting, "dimension": 50, "lexicon": TRAINED[100], "control": ONE_CORPUS}
    yield from crossed(control=FLOORS, dimension=[300])
    yield from crossed(control=["random table"], dimension=[*DIMENSIONS.values()])


def _trained(size: int, epsilons: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    own = {"mechanism": [A1], "epsilon": epsilons, "dimension": [size], "lexicon": [TRAINED[size]]}
    yield from crossed(**own)
    if size == 200:  # one line says how to get the vectors
        return
    yield from crossed(**own, control=[SCALED])
    yield from crossed(**own, beta=[_SMALLER[size]], control=[EQUAL])
    yield from crossed(control=FLOORS, dimension=[size], lexicon=[TRAINED[size]])


def dimension(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Measure as for Figure 3."""
    return linear(run, setting, rng)


def _in_training(line: Line, results: Results) -> Line | None:
    """Return A1's line at the same ε with as many dimensions."""
    gone = dict.fromkeys(("published", "beta", "control"))
    lexicon = TRAINED[int(line.setting["dimension"])]
    return results.like(line, mechanism=A1, lexicon=lexicon, **gone)


FIG4 = Item(
    name="fig4",
    grid=dimension_grid,
    cell=dimension,
    key="dimension",
    spread=linear_spread,
    revision=3,
    measures=("accuracy", "auc", "kept", "share_in_clear", "epsilon_of_equal_share", "words"),
    claims=(
        Claim(
            text="reducing the dimension in training (A1) is better than after it (M2)",
            measure="accuracy",
            about=is_published,
            holds=lambda line, results: above(_in_training(line, results), line),
        ),
        Claim(
            text="reducing the dimension in training (A1) is better than after it (M2), "
            "both from one corpus: 50 dimensions, and 100 reduced to 50",
            whose="control",
            measure="accuracy",
            about=lambda setting: setting.get("control") == ONE_CORPUS and setting["published"],
            holds=lambda line, results: above(_in_training(line, results), line),
        ),
    ),
)


# Figures 5 to 7: the first three again with fastText's vectors, and with GloVe's smaller ones.


STANDINS = ("glove-6b-50d", "glove-6b-100d")
"""Vectors beside those of Figures 1 to 3 that packages carry; none carries fastText's."""


def _on(
    run: Run, epsilons: Sequence[float], betas: Sequence[float]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The paper's settings with fastText; with the other vectors, a sound projection as well."""
    for setting in grid_of(epsilons, betas, ()):
        yield FASTTEXT, setting
    for name in run.pick(quick=STANDINS[:1], full=STANDINS):
        for setting in grid_of(epsilons, betas, ("pca",)):
            yield name, setting


def distance_grid(run: Run) -> Iterator[Setting]:
    """Figures 5 and 6: both mechanisms, M1 at an equal share of words kept, and floors."""
    epsilons = run.pick(quick=preservation.EPSILONS[-1:], full=preservation.EPSILONS)
    betas = run.pick(quick=preservation.BETAS[-1:], full=preservation.BETAS)
    for name, setting in _on(run, epsilons, betas):
        yield {**setting, "lexicon": name, "spread": preservation.SPREAD}
    for name in run.pick(quick=STANDINS[:1], full=STANDINS):
        equal = crossed(mechanism=[M1], epsilon=[5], beta=[0.7], control=[EQUAL])
        for setting in (
            *equal,
            *({"control": control} for control in preservation.PRESERVATION_FLOORS),
        ):
            yield {**setting, "lexicon": name, "spread": preservation.SPREAD}


def linear_grid(run: Run) -> Iterator[Setting]:
    """Figure 7: both mechanisms, M1 at an equal share of words kept, and floors."""
    epsilons = run.pick(quick=(10,), full=model_epsilons(run))
    betas = run.pick(quick=(0.9,), full=(0.5, 0.7, 0.9))
    for name, setting in _on(run, epsilons, betas):
        yield {**setting, "lexicon": name, "spread": SPREAD}
    for name in run.pick(quick=STANDINS[:1], full=STANDINS):
        equal = crossed(mechanism=[M1], epsilon=[10], beta=[0.9], control=[EQUAL])
        for setting in (*equal, *({"control": control} for control in FLOORS)):
            yield {**setting, "lexicon": name, "spread": SPREAD}


def _restated(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Return the claims on fastText, and apart from them on vectors that the paper did not use."""
    return tuple(replace(claim, beyond=_other_vectors) for claim in claims)


def _other_vectors(setting: Setting) -> str:
    return "vectors of 50 and 100 dimensions" if setting.get("lexicon") in STANDINS else ""


def _again(item: Item, name: str, grid: Any) -> Item:
    return replace(item, name=name, grid=grid, claims=_restated(item.claims))


FIG5 = _again(preservation.FIG1, "fig5", distance_grid)
FIG6 = _again(preservation.FIG2, "fig6", distance_grid)
FIG7 = _again(FIG3, "fig7", linear_grid)


# Table 1: sentences classified by the mean of their private word vectors.


SETS = ("mr", "cr", "mpqa", "sst5", "trec")
WITH_PARTS = ("sst5", "trec")
"""The sets that come with a part to test on; of the others, splits are drawn."""
BETA, EPSILON, SIZE = 0.9, 10, 54
TABLE, PLACES = "table", "each place"
_TEXT_TEST = 0.1


def text_grid(run: Run) -> Iterator[Setting]:
    """The paper's cells, with a table noised once and noise for each place; then controls."""
    for task in SETS:
        for setting in _of_task(run):
            noise = "noise" in setting or str(setting.get("control")).startswith("random")
            spread = "noise and splits" if noise else "splits"
            if task in WITH_PARTS:
                spread = "noise" if noise else "nothing"
            yield {"task": task, **setting, "spread": spread}


def text_spread(setting: Setting, measure: str) -> str:
    """Return what errors are over.

    Two sets come with a test part, but sentences to hold out in training are drawn for each set.
    """
    control = str(setting.get("control", ""))
    noisy = "noise" in setting or control.startswith("random")
    divided = setting["task"] not in WITH_PARTS or measure == "train_accuracy"
    return over(noisy=noisy, divided=divided)


def _of_task(run: Run) -> Iterator[dict[str, Any]]:
    common: dict[str, Any] = {"epsilon": [EPSILON], "noise": [TABLE, PLACES]}
    yield from crossed(mechanism=[M1], published=[True], **common)
    yield from crossed(mechanism=[M2], published=[True], beta=[BETA], **common)
    common |= {"noise": [TABLE], "beta": [BETA]}
    sound = run.pick(quick=["pca"], full=SOUND)
    yield from crossed(mechanism=[M2], published=[False], projection=sound, **common)
    yield from crossed(mechanism=[M1], control=[EQUAL], **common)
    yield {"control": "random table", "dimension": 300}
    yield {"control": "random table", "dimension": SIZE}
    for control in FLOORS[1:]:
        yield {"control": control}
    yield from crossed(mechanism=[*ENCODERS])  # the paper took its figures from other papers


def texts(run: Run, setting: Setting, rng: Generator) -> Iterator[Measurement]:
    """Train on private centroids of sentences, test on private ones."""
    name = setting.get("mechanism")
    if name in ENCODERS:
        raise MissingDataError(name, ENCODERS[name], ("accuracy",))
    data: LabelledTexts = run.data(setting["task"])
    limit = run.pick(quick=600, full=None)
    if setting.get("control") == MAJORITY:
        yield Measurement("accuracy", _majority(run, data))
        yield from shares_of(run, setting, rng)
        return
    subject = subject_for(run, setting)
    common: dict[str, Any] = {
        "repeats": run.pick(quick=2, full=10),
        "floors": False,
        "rng": rng,
        "test": _TEXT_TEST,
        "limit": limit,
    }
    tested = run_task("classify", subject, data=data, **common)
    shared = 0.0 if data.splits else _TEXT_TEST / (1.0 - _TEXT_TEST)
    yield estimated("accuracy", tested.score, shared=shared)
    yield from shares_of(run, setting, rng)
    if not is_run_by_the_paper(setting):
        return
    # What SentEval prints beside the test accuracy is that on held-out training sentences.
    held_out = run_task("classify", subject, data=_training_part(data, run.seed), **common)
    yield estimated("train_accuracy", held_out.score, shared=_TEXT_TEST / (1.0 - _TEXT_TEST))


def is_run_by_the_paper(setting: Setting) -> bool:
    """Whether the paper has a figure for a setting."""
    published = "control" not in setting and bool(setting.get("published"))
    return published and setting["noise"] == TABLE


def _training_part(data: LabelledTexts, seed: int) -> LabelledTexts:
    """Return the sentences that a set gives to train on, without parts of their own."""
    if data.splits:
        places = [place for place, part in enumerate(data.splits) if part != "test"]
    else:
        labels = np.unique(np.array(data.labels), return_inverse=True)[1]
        rng = np.random.default_rng(seed)
        places = random_splits(labels, _TEXT_TEST, 1, rng)[0].train.tolist()
    return LabelledTexts(
        name=data.name,
        texts=tuple(data.texts[place] for place in places),
        labels=tuple(data.labels[place] for place in places),
    )


def _majority(run: Run, data: LabelledTexts) -> float:
    problem = task_with("classify", {"data": data, "test": _TEXT_TEST}).prepare(run.lexicon())
    return float(problem.majority or 0.0)


def _above_floor(line: Line, results: Results) -> bool | None:
    """Whether a figure is above that of a random table of the same dimension."""
    floors = [
        other
        for other in results.lines
        if other.measure == line.measure
        and other.setting["task"] == line.setting["task"]
        and other.setting.get("control") == "random table"
        and other.setting["dimension"] == (SIZE if line.setting["mechanism"] == M2 else 300)
    ]
    return above(line, floors[0]) if floors else None


TABLE1 = Item(
    name="table1",
    grid=text_grid,
    cell=texts,
    key="texts",
    spread=text_spread,
    revision=4,
    measures=("accuracy", "train_accuracy", "kept", "share_in_clear"),
    claims=(
        Claim(
            text="M2's test accuracy is above M1's at the same ε",
            measure="accuracy",
            about=is_published,
            beyond=lambda setting: "noise for each place" if setting["noise"] == PLACES else "",
            holds=lambda line, results: above(line, results.like(line, mechanism=M1, beta=None)),
        ),
        Claim(
            text="private vectors are useful: more than a random vector for each word",
            whose="reading",
            measure="accuracy",
            about=is_run_by_the_paper,
            holds=_above_floor,
        ),
    ),
)
