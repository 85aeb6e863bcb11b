"""Tables 1 to 4 and Figures 2 to 5: how often words stay, and how many different words come out.

Tables 3 and 4 and Figures 4 and 5 are of GloVe. Tables 1 and 2 and Figures 2 and 3 are of fastText.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.random import Generator

from malaprop.core.arrays import Floats
from malaprop.core.randomness import seeded_rng
from malaprop.measure.chosen_words import word_ids
from malaprop.studies.framework.claims import Claim, above, below
from malaprop.studies.framework.items import Figure, Item, crossed
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.measuring import bootstrapped, mean_of
from malaprop.studies.framework.not_at_hand import FASTTEXT
from malaprop.studies.framework.run import Run
from malaprop.studies.mahalanobis.channels import (
    EQUAL_EUCLIDEAN,
    EQUAL_KEPT,
    LAMBDAS,
    SQUARE_ROOT,
    channel_of,
    euclidean_epsilon,
)

RUNS = 100
_ENDS = {"p5": 5, "p50": 50, "p95": 95, "max": 100, "min": 0}
_SPREAD = ("p5", "p50", "p95")
"""The ends with an error over words. Resampling cannot tell how far a maximum would move."""


def grid_of(lexicon: str) -> Any:
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


def words(run: Run, setting: Setting, rng: Generator) -> Iterator[Figure]:
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
        yield Figure("epsilon_used", channel.guarantee.epsilon)
    yield Figure("euclidean_epsilon", euclidean_epsilon(channel))


def _summary(name: str, values: Floats) -> Iterator[Figure]:
    """Measure the mean, the spread over words, percentiles and the maximum."""
    yield mean_of(name, values)
    yield Figure(f"{name}_sd", float(values.std(ddof=1)) if len(values) > 1 else 0.0)
    rng = seeded_rng(0)  # not the cell's: resampling changes no draw
    for title, end in _ENDS.items():
        if title in _SPREAD:
            yield bootstrapped(f"{name}_{title}", values, _percentile(end), rng)
        else:
            yield Figure(f"{name}_{title}", float(np.percentile(values, end)))


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


def _item(name: str, lexicon: str, statistic: str, suffixes: tuple[str, ...]) -> Item:
    measures = tuple(statistic + suffix for suffix in suffixes)
    used = () if lexicon == FASTTEXT else ("epsilon_used",)  # controls are of GloVe
    return Item(
        name=name,
        grid=grid_of(lexicon),
        cell=words,
        key="words",
        revision=4,
        measures=(*measures, *used, "euclidean_epsilon"),
        claims=_claims(statistic, suffixes[:1] if suffixes[0] == "" else suffixes[:3]),
    )


_MEANS = ("", "_sd")
_PERCENTILES = ("_p5", "_p50", "_p95", "_max")
_WITH_LEAST = (*_PERCENTILES, "_min")  # the words that are worst off have a low S_w
TABLE1 = _item("table1", FASTTEXT, "kept", _MEANS)
TABLE2 = _item("table2", FASTTEXT, "distinct", _MEANS)
TABLE3 = _item("table3", "english", "kept", _MEANS)
TABLE4 = _item("table4", "english", "distinct", _MEANS)
FIG2 = _item("fig2", FASTTEXT, "kept", _PERCENTILES)
FIG3 = _item("fig3", FASTTEXT, "distinct", _WITH_LEAST)
FIG4 = _item("fig4", "english", "kept", _PERCENTILES)
FIG5 = _item("fig5", "english", "distinct", _WITH_LEAST)
