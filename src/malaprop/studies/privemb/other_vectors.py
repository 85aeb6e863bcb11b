"""Figures 5 to 7: the first three again with fastText's vectors, and with GloVe's smaller ones."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from malaprop.studies.framework.claims import Claim
from malaprop.studies.framework.items import Item, crossed
from malaprop.studies.framework.lines import Setting
from malaprop.studies.framework.not_at_hand import FASTTEXT
from malaprop.studies.framework.run import Run
from malaprop.studies.privemb import linear, preservation
from malaprop.studies.privemb.mechanisms import EQUAL, FLOORS, M1, grid_of

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
        for setting in (*equal, *({"control": control} for control in preservation.FLOORS)):
            yield {**setting, "lexicon": name, "spread": preservation.SPREAD}


def linear_grid(run: Run) -> Iterator[Setting]:
    """Figure 7: both mechanisms, M1 at an equal share of words kept, and floors."""
    epsilons = run.pick(quick=(10,), full=linear.epsilons(run))
    betas = run.pick(quick=(0.9,), full=(0.5, 0.7, 0.9))
    for name, setting in _on(run, epsilons, betas):
        yield {**setting, "lexicon": name, "spread": linear.SPREAD}
    for name in run.pick(quick=STANDINS[:1], full=STANDINS):
        equal = crossed(mechanism=[M1], epsilon=[10], beta=[0.9], control=[EQUAL])
        for setting in (*equal, *({"control": control} for control in FLOORS)):
            yield {**setting, "lexicon": name, "spread": linear.SPREAD}


def _restated(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Return the claims on fastText, and apart from them on vectors that the paper did not use."""
    return tuple(replace(claim, beyond=_other_vectors) for claim in claims)


def _other_vectors(setting: Setting) -> str:
    return "vectors of 50 and 100 dimensions" if setting.get("lexicon") in STANDINS else ""


def _again(item: Item, name: str, grid: Any) -> Item:
    return replace(item, name=name, grid=grid, claims=_restated(item.claims))


FIG5 = _again(preservation.FIG1, "fig5", distance_grid)
FIG6 = _again(preservation.FIG2, "fig6", distance_grid)
FIG7 = _again(linear.FIG3, "fig7", linear_grid)
