"""Figure 4: fewer dimensions in training, or after it."""

from collections.abc import Iterator
from typing import Any

from numpy.random import Generator

from malaprop.studies.framework.claims import Claim, Results, above
from malaprop.studies.framework.items import Figure, Item, crossed
from malaprop.studies.framework.lines import Line, Setting
from malaprop.studies.framework.not_at_hand import GLOVE_200
from malaprop.studies.framework.run import Run
from malaprop.studies.privemb.linear import SPREAD, linear, spread
from malaprop.studies.privemb.mechanisms import (
    A1,
    DIMENSIONS,
    EQUAL,
    FLOORS,
    M2,
    SCALED,
    SOUND,
    grid_of,
)
from malaprop.studies.privemb.preservation import is_published

TRAINED = {50: "glove-6b-50d", 100: "glove-6b-100d", 200: GLOVE_200}
"""GloVe's vectors that were trained with fewer dimensions, all on one corpus."""
ONE_CORPUS = "100 dimensions of the same corpus"
_SMALLER = {size: beta for beta, size in DIMENSIONS.items()}


def grid(run: Run) -> Iterator[Setting]:
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


def dimension(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
    """Measure as for Figure 3."""
    return linear(run, setting, rng)


def _in_training(line: Line, results: Results) -> Line | None:
    """Return A1's line at the same ε with as many dimensions."""
    gone = dict.fromkeys(("published", "beta", "control"))
    lexicon = TRAINED[int(line.setting["dimension"])]
    return results.like(line, mechanism=A1, lexicon=lexicon, **gone)


FIG4 = Item(
    name="fig4",
    grid=grid,
    cell=dimension,
    key="dimension",
    spread=spread,
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
